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
//! Batches are what analytics wants. For rows one at a time, [`BatchExt::rows`] walks through a batch and
//! [`Row::get`] reads values as Rust types; [`params!`] makes parameters of them:
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
//! use arrow::array::{ArrayRef, Int32Array, StringArray};
//! use std::sync::Arc;
//!
//! let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(1..=1000));
//! let names: ArrayRef = Arc::new(StringArray::from_iter_values((1..=1000).map(|id| format!("note {id}"))));
//!
//! let connection = Connection::connect("firebird://db.example/employee?wire_crypt=required")?;
//! let statement = connection.prepare("INSERT INTO project_note (id, name) VALUES (?, ?)")?;
//! let mut transaction = connection.begin(Default::default())?;
//! statement.execute(&mut transaction, params![0, "zero"])?;
//! statement.execute(&mut transaction, params![ids, names])?; // a thousand rows; or a RecordBatch
//! let count: i64 = transaction.query("SELECT COUNT(*) FROM project_note")?.value()?;
//! println!("{count} notes");
//! transaction.commit()?;
//! # Ok(())
//! # }
//! ```
//!
//! After an error of [`Kind::Conflict`], roll back and repeat the work in a new transaction: within the old snapshot
//! it would fail again.
//!
//! # Performance
//!
//! [`Statement::with_parallel`] lets several connections read one large table at once, in the order of one and from its
//! snapshot:
//!
//! ```no_run
//! use firearrow::{Connection, TransactionOptions};
//!
//! # fn main() -> firearrow::Result<()> {
//! let connection = Connection::connect("firebird://localhost/employee")?;
//! let transaction = connection.begin(TransactionOptions::reading())?;
//! let statement = transaction.prepare("SELECT * FROM sales WHERE total_value > ?")?.with_parallel(0);
//! let cursor = statement.query(&transaction, [1000])?.owning(transaction);
//! println!("{}", cursor.parallel());
//! for batch in cursor {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A batch is complete when it has 8192 rows or 16 MiB; [`Statement::with_limits`] takes other [`BatchLimits`]. The
//! first batches of a result end earlier if the next rows are late; for files and bulk loads use
//! [`BatchLimits::full`].
//!
//! How BLOBs travel is a matter of [`BlobPolicy`](crate::arrow::BlobPolicy), the option `blobs`: the default adapts
//! to the statement and the link, and `lazy` leaves the contents of most BLOBs where they are.
//!
//! A statement that is prepared once and executed often costs one write and one read each time;
//! [`Statement::one_row`] reads a single row without making a batch of it.
//!
//! # Cancelling and time limits
//!
//! A [`CancelToken`] ends whatever runs within it, by hand or by the clock. Futures of the asynchronous API are
//! cancelled by dropping them, so `tokio::time::timeout` works as well.
//!
//! ```no_run
//! use firearrow::{CancelToken, Connection};
//! use std::time::Duration;
//!
//! # fn main() -> firearrow::Result<()> {
//! let connection = Connection::connect("firebird://db.example/employee?wire_crypt=required")?;
//! let token = CancelToken::after(Duration::from_secs(2));
//! let count: i64 = token.run(|| connection.query("SELECT COUNT(*) FROM big_table")?.value())?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Statement::with_timeout`] lets the server end a statement, [`Connection::limit_session`] all of them; the option
//! `read_timeout` ends a connection whose server does not answer.
//!
//! # Warnings
//!
//! [`Connection::warnings`] has what is wrong with the connection, such as clear text on a network.
//! [`Connection::take_statement_warnings`] has what the engine warned of in statements that succeeded, those of other
//! threads on this connection included; [`Warning::gds_codes`] identifies each.
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
#[doc(hidden)]
pub mod codec;
pub mod config;
mod db_key;
#[cfg(feature = "embedded")]
mod engines;
mod error;
mod event;
mod executed;
mod info;
mod lost_commit;
mod parallel;
mod params;
mod partition;
mod precision;
mod row;
mod rows;
mod savepoint;
mod scroll;
mod session;
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
#[cfg(feature = "embedded")]
pub use engines::{Engine, engines};
pub use error::{Error, Kind, Result};
pub use event::EventCounts;
pub use executed::Executed;
pub use firearrow_proto::api::array::ArrayShape;
pub use firearrow_proto::api::describe::{RecordCounts, StatementInfo, StatementKind};
pub use firearrow_proto::api::descriptor::Descriptor;
pub use firearrow_proto::api::dialect::Dialect;
pub use firearrow_proto::api::gds;
pub use firearrow_proto::api::status::{StatusArg, StatusVector};
pub use firearrow_proto::api::transaction::{Isolation, LockResolution, TransactionOptions};
pub use info::ServerInfo;
pub use lost_commit::{CommitOutcome, LostCommit};
pub use parallel::{Parallelism, WhyPlain};
#[doc(hidden)]
pub use params::Scalar;
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
