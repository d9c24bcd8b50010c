//! Rows changed through a cursor: `SQLSetPos`, `SQLBulkOperations`, and `WHERE CURRENT OF`.
//!
//! ```text
//!  text of the query ─► Query ─┐
//!  columns, catalog ───────────┴─► BaseTable: which columns identify a row, which can be written
//!  rows at hand ──► Condition: WHERE key = ? …, and its values ─┬─► Changer: one batch for all rows of a call
//!  bound columns ─► buffers: what SET and VALUES get ───────────┘
//! ```
//!
//! Rows come in batches, so the server's cursor is ahead of the application's. Rows are therefore found by their key, which is read
//! from the row in the client.

mod base_table;
mod buffers;
mod bulk;
mod changer;
mod clause;
mod condition;
mod current;
mod name;
mod operation;
mod query;
mod report;
mod state;

pub(crate) use changer::Changer;
pub(crate) use current::Reference;
pub(crate) use state::Positioned;
