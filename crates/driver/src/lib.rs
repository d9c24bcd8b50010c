//! The common part of Firebird drivers: ADBC, ODBC and Python's DB-API translate their calls, options and errors into
//! those of this crate.
//!
//! ```text
//!  front end ─► Session ─► Statement ─┬─ execution: once, or once for each row of parameters ─► Outcome ─► Stream
//!                  │                  └─ ingest: rows into a table that is made for them
//!                  ▼
//!           firearrow: Connection, Transaction, Statement, Cursor
//! ```
//!
//! | | |
//! |---|---|
//! | [`Session`] | autocommit and manual mode, DDL, panics, processes that forked |
//! | [`Statement`] | executes, describes, ingests, divides |
//! | [`Rows`] | rows of parameters from the caller's reader |
//! | [`Stream`] | a result, which lives on when its statement and session are gone |
//! | [`Blob`] | a long value of a result, in pieces |
//! | [`Activity`], [`Task`] | cancelling, and time limits |
//! | [`Latest`], [`Progress`] | counters of an execution, while it goes on |
//! | [`RowOutcome`] | what became of one row of parameters |
//! | [`foreign_sql`] | what to write in place of SQL that only other databases understand |
//! | [`metadata`] | tables and what belongs to them, schemas, statistics |
//! | [`Error`] | class, SQLSTATE, details, and the client's error |
#![forbid(unsafe_code)]

mod activity;
mod ahead;
mod blob;
mod bound;
mod error;
mod execution;
mod failed;
pub mod foreign_sql;
mod ingest;
mod kept;
pub mod metadata;
mod option;
pub mod panic;
mod partition;
mod progress;
mod report;
mod rows;
pub mod script;
mod session;
pub mod sql;
mod statement;
mod stream;

pub use activity::{Activity, Task};
pub use blob::Blob;
pub use error::{Class, Detail, Error, Result, shortened};
pub use execution::Outcome;
pub use ingest::{AHEAD_BYTES, columns_of_table, renamed, similar_table};
pub use option::{
    IngestNames, IngestOptions, Level, Mode, Purpose, SessionOptions, StatementOptions, TextAs,
};
pub use partition::read_partition;
pub use progress::{Latest, Progress};
pub use report::RowOutcome;
pub use rows::{Rows, size_of_rows};
pub use session::Session;
pub use statement::{Description, Statement};
pub use stream::Stream;
