//! The asynchronous classes: calls run in the thread of the event loop, and those that go on for long in a Tokio runtime; their
//! results go to futures of the event loop.
//!
//! ```text
//!  event loop                                                   runtime's threads
//!  Cursor.execute ──► Operation ── begins ──► Tasks ── often ──► client's future
//!        ▲                │ dropped: ends it   │  ▲ │                 │
//!        └── future ◄── Bridge ◄───────────────┘  │ └◄────────────────┘
//!                         ▲ one descriptor        │
//!                         └── Sockets ────────────┘
//! ```
//!
//! The runtime's threads never wait for Python's lock: whatever needs Python (parameters, rows, exceptions) happens in the
//! thread of the event loop. Decision 41 tells why.

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
mod reactor;
mod runtime;
mod task;
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
