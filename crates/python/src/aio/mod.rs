//! The asynchronous classes: calls become tasks of a Tokio runtime, and their results go to futures of the event loop.
//!
//! ```text
//!  event loop                                     runtime's threads
//!  Cursor.execute ──► Operation ── spawn ───────► client's future
//!        ▲                │ dropped: aborts it        │
//!        └── future ◄── Bridge ◄── socket ◄── Queue ◄─┘
//! ```
//!
//! The runtime's threads never wait for Python's lock: whatever needs Python (parameters, rows, exceptions) happens in the
//! thread of the event loop.

mod blob;
mod bridge;
mod catalog;
mod connection;
mod cursor;
mod event;
mod ingest;
mod json;
mod many;
mod operation;
mod partition;
mod runtime;
mod transaction;

pub(crate) use blob::{BlobReader, BlobWriter};
pub(crate) use bridge::Bridge;
pub(crate) use connection::Connection;
pub(crate) use cursor::{Cursor, Prepared};
pub(crate) use event::Events;
pub(crate) use ingest::Ingestion;
pub(crate) use json::JsonStream;
pub(crate) use many::Many;
pub(crate) use operation::Operation;
pub(crate) use partition::{Part, Partitions};
pub(crate) use transaction::Transaction;
