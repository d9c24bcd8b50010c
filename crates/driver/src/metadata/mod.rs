//! What is known about tables beyond single answers of the [catalog](firearrow::catalog).
//!
//! ```text
//!  Catalog ─┬─► tables, described_tables
//!           ├─► table_schema        and the server's own description
//!           └─► statistics          and the rows themselves
//! ```
//!
//! Front ends convert these values to the formats of their standards. Names are case-sensitive.

mod statistics;
mod table;
mod table_schema;

pub use statistics::{Measure, Statistic, Value, statistics};
pub use table::{DescribedTable, described_tables, tables};
pub use table_schema::table_schema;
