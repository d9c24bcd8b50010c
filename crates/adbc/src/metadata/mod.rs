//! Facts about the driver, the server and the database, as the record batches that ADBC prescribes.
//!
//! ```text
//!  Session::info ────────────► info
//!  driver: described_tables ─► objects       as nested lists
//!          statistics ───────► statistics    "
//!          table_schema ─────► table_schema
//! ```
//!
//! Firebird up to 5.0 has neither catalogs nor schemas, so there is one nameless catalog with one nameless schema.

mod info;
mod nested;
mod objects;
mod statistics;
mod table_schema;
mod table_types;
mod xdbc;

pub use info::info;
pub use objects::{ObjectFilter, objects};
pub use statistics::{INDEX_SELECTIVITY, statistic_names, statistics};
pub use table_schema::table_schema;
pub use table_types::table_types;

use firearrow::catalog::Name;

/// Whether a catalog or schema name matches the nameless one.
fn is_nameless(name: Option<&str>) -> bool {
    name.is_none_or(str::is_empty)
}

/// Whether a filter for catalogs or schemas matches the nameless one: no filter, an empty one, or a pattern for any
/// name.
fn has_nameless(filter: Option<&str>) -> bool {
    filter.is_none_or(|pattern| pattern.bytes().all(|byte| byte == b'%'))
}

/// Converts a filter for names.
fn pattern(filter: Option<&str>) -> Name<'_> {
    filter.map_or(Name::Any, Name::Like)
}
