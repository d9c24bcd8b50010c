//! Firebird at Arrow speed.
//!
//! ```no_run
//! use firearrow::Connection;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // User and password come from FIREARROW_USER and FIREARROW_PASSWORD.
//! let connection = Connection::connect("firebird://db.example/employee?wire_crypt=required")?;
//! for batch in connection.query("SELECT * FROM country")? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//!  Connection ─► Transaction ─► Statement ─► Cursor ─► RecordBatch …
//!      │
//!      └─ session: one async flow per verb ─► Backend ─┬─ wire: packets over a Link (TCP)
//!                                                      └─ embedded: the engine in this process
//! ```
//!
//! # Rows and parameters
//!
//! Batches are what analytics wants. For rows one at a time, [`BatchExt::rows`] walks through a batch and [`Row::get`] reads values as
//! Rust types; [`params!`] makes parameters of them:
//!
//! ```no_run
//! use firearrow::{BatchExt, Connection, Date, Decimal, params};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let connection = Connection::connect("firebird://db.example/employee?wire_crypt=required")?;
//! let hired = Date::new(2020, 1, 1).expect("a valid date");
//! let sql = "SELECT emp_no, phone_ext, salary FROM employee WHERE hire_date < ? AND job_country = ?";
//! for batch in connection.query_with(sql, params![hired, "USA"])? {
//!     let batch = batch?;
//!     for row in batch.rows() {
//!         let number: i64 = row.get(0)?;
//!         let extension: Option<&str> = row.get("PHONE_EXT")?;
//!         let salary: Decimal = row.get("SALARY")?;
//!         println!("{number} {} {salary}", extension.unwrap_or("-"));
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Transactions and statements
//!
//! Each query or statement of a [`Connection`] runs in a transaction of its own. To do several things or none, begin
//! one; dropping it without [`commit`](Transaction::commit) rolls back. A prepared statement runs many rows of
//! parameters in few round trips:
//!
//! ```no_run
//! use firearrow::{Connection, params};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use arrow::array::{Int32Array, RecordBatch, StringArray};
//! # let ids = std::sync::Arc::new(Int32Array::from(vec![1, 2]));
//! # let names = std::sync::Arc::new(StringArray::from(vec!["one", "two"]));
//! # let rows = RecordBatch::try_from_iter([("ID", ids as _), ("NAME", names as _)])?;
//! let connection = Connection::connect("firebird://db.example/employee?wire_crypt=required")?;
//! let statement = connection.prepare("INSERT INTO project_note (id, name) VALUES (?, ?)")?;
//! let mut transaction = connection.begin(Default::default())?;
//! statement.execute(&mut transaction, params![0, "zero"])?;
//! statement.execute(&mut transaction, rows)?; // a RecordBatch of parameters
//! let count = transaction.query("SELECT COUNT(*) FROM project_note")?.one_row(|row| row.get::<i64>(0))?;
//! println!("{count:?} notes");
//! transaction.commit()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! `embedded` (default) loads the engine into the process. `tokio` adds the asynchronous API, `asynchronous`: the same
//! names and the same flows, for `async` code.
//!
//! Rows are decoded into Arrow columns once, straight from the receive buffer or the engine's messages.
//! Nothing is truncated, rounded or lost without an error.
#![forbid(unsafe_code)]

mod answer;
pub mod arrow;
#[cfg(feature = "tokio")]
pub mod asynchronous;
mod backend;
mod blocking;
mod cancel;
pub mod catalog;
pub mod config;
mod db_key;
mod error;
mod event;
mod executed;
mod info;
mod lost_commit;
mod params;
mod partition;
mod precision;
mod row;
mod rows;
mod savepoint;
mod scroll;
mod session;
mod setters;
pub mod sql;
mod sql_type;
mod statistics;
mod stats;
pub mod testing;
mod value;
mod warning;

pub use arrow::{BatchLimits, ReadOptions, TimeRounding, WriteOptions};
pub use backend::RowFailure;
pub use blocking::{
    BlobReader, BlobWriter, Connection, Cursor, EventListener, EventReports, PartitionedQuery, RowsCursor,
    ScrollCursor, Statement, Transaction,
};
pub use cancel::{CancelHandle, CancelToken};
pub use config::Config;
pub use error::{Error, Kind, Result};
pub use event::EventCounts;
pub use executed::Executed;
pub use firearrow_proto::api::array::ArrayShape;
pub use firearrow_proto::api::describe::{RecordCounts, StatementKind};
pub use firearrow_proto::api::descriptor::Descriptor;
pub use firearrow_proto::api::dialect::Dialect;
pub use firearrow_proto::api::gds;
pub use firearrow_proto::api::status::{StatusArg, StatusVector};
pub use firearrow_proto::api::transaction::{Isolation, LockResolution, TransactionOptions};
pub use info::ServerInfo;
pub use lost_commit::{CommitOutcome, LostCommit};
pub use params::{Params, ToParam};
pub use partition::{Partition, PartitionOptions};
pub use row::{BatchExt, ColumnIndex, Row, Rows};
pub use rows::{OnFailure, RowsExecuted};
pub use scroll::{Position, ScrollOptions};
pub use sql_type::{Searchable, SqlTypeInfo, TypeCode, sql_types};
pub use statistics::{Counters, DatabaseStatistics, TableCounters};
pub use stats::WireStats;
pub use value::{
    Date, Decimal, FromValue, FromValueError, ParseDecimalError, Time, Timestamp, TimestampTz, Value,
};
pub use warning::Warning;
