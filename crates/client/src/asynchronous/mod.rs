//! The asynchronous API, over Tokio: the same names and the same flows as the blocking one.
//!
//! ```no_run
//! use firearrow::asynchronous::Connection;
//!
//! # async fn example() -> firearrow::Result<()> {
//! let connection = Connection::connect("firebird://db.example/employee").await?;
//! let mut cursor = connection.query("SELECT * FROM country").await?;
//! while let Some(batch) = cursor.next_batch().await? {
//!     println!("{} rows", batch.num_rows());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Each call runs as a task of its own in the runtime that calls it; calls of one connection take turns. A future that is
//! dropped cancels its call and nothing else: the server is told to stop, the answers that are under way are read, and
//! the connection can be used again, or is closed and [known](Connection::is_failed) to be. A server that is running an
//! INSERT, UPDATE or DELETE cannot always be interrupted; then the connection is closed after two seconds. A commit whose
//! future was dropped may or may not have happened.
//!
//! What is dropped without being closed (a cursor, a transaction) ends in the background; outside of a runtime, with the
//! next call of its connection. Until then a transaction keeps its locks, so prefer `rollback().await` and
//! `close().await`.
//!
//! An engine in this process blocks, so its calls run on the runtime's threads for blocking work. There are 512 of them
//! unless the runtime was built with another bound; statements that wait for locks occupy one each.
//!
//! What differs from the blocking API: [`Cursor`] is a `Stream` whose errors are [`Error`](crate::Error)s; parameter rows
//! come as a schema and a stream (`execute_stream`, `query_stream`); [`BlobReader`] has `next_piece` and `seek` instead of
//! the traits of `std::io`, [`EventListener`] has `report` instead of an iterator; [`Connection`]s can be cloned;
//! [`testing`](crate::testing) is for the blocking API.
//!
//! Because calls of one connection take turns, queries that shall run side by side need a connection each. Pools find
//! [`is_alive`](Connection::is_alive) and [`reset`](Connection::reset). The runtime needs IO and time (`enable_all`).
//!
//! A connection may be used in several runtimes; the one that opened it sends its keep-alive packets. A runtime that shuts down in the middle of a call closes the connection.

mod blob;
mod blob_writer;
mod call;
mod catalog;
mod connection;
mod cursor;
mod event;
mod parallel;
mod partition;
mod rows_cursor;
mod scroll;
mod shared;
mod statement;
mod transaction;
mod writing;

pub use crate::backend::link::reactor::{Reactor, Readiness, within};
pub use blob::BlobReader;
pub use blob_writer::BlobWriter;
pub use catalog::Catalog;
pub use connection::Connection;
pub use cursor::Cursor;
pub use event::EventListener;
pub use partition::PartitionedQuery;
pub use rows_cursor::RowsCursor;
pub use scroll::ScrollCursor;
pub use statement::Statement;
pub use transaction::Transaction;

/// A flow of the session as a value: `flow!(session => session.begin(&options).await)`.
macro_rules! flow {
    ($session:ident => $flow:expr) => {
        $crate::asynchronous::shared::flow(move |$session| Box::pin(async move { $flow }))
    };
}
use flow;
