//! Loads the Firebird client library or embedded engine and calls its interfaces.
//!
//! This is the only crate of the workspace that calls foreign code. It knows interfaces, lifetimes and raw
//! messages; it knows nothing of columns.
//!
//! ```text
//!  Runtime::discover ─► Library::load ─► attach ─► Attachment ─► start_transaction ─► Transaction
//!   which files          once per                      │                                  │
//!                        process                       ├─► prepare ─► Statement ─► open_cursor
//!                                                      │                  │               │
//!                                                      │                  │           ResultSet ─► fetch_block
//!                                                      │                  │                    rows as messages
//!                                                      │            create_batch
//!                                                      │                  └─► Batch ─► add, execute ─► Completion
//!                                                      ├─► open_blob, create_blob ─► Blob
//!                                                      └─► queue_events ─► Events
//! ```
//!
//! * Children keep their parents alive, so values may be dropped in any order. Dropping closes and ignores errors; the
//!   closing methods report them.
//! * Every type can be sent to another thread. Only [`Library`] and [`Canceller`] can be shared.
//! * A message is bytes in the engine's own layout, which [`Metadata`] describes and
//!   [`RowLayout`](firearrow_proto::api::layout::RowLayout) predicts.
//!
//! ```no_run
//! use firearrow_fbapi::{Library, LoadOptions, MessageBuffer, Runtime, RuntimeHint};
//! use firearrow_proto::api::dialect::Dialect;
//!
//! # fn main() -> Result<(), firearrow_fbapi::Error> {
//! let runtime = Runtime::discover(&RuntimeHint::default())?;
//! let library = Library::load(&runtime, &LoadOptions::default())?;
//! // Database parameter block, version 1: lc_ctype = UTF8.
//! let attachment = library.attach("/data/employee.fdb", b"\x01\x30\x04UTF8")?;
//! let transaction = attachment.start_transaction(&[])?;
//! let mut statement = attachment.prepare(&transaction, "select EMP_NO from EMPLOYEE", Dialect::Three)?;
//! let mut cursor = statement.open_cursor(&transaction, None, None, Default::default())?;
//! let stride = cursor.stride();
//! let mut messages = MessageBuffer::new(1000 * stride);
//! loop {
//!     let (rows, is_last) = cursor.fetch_block(&mut messages, stride, 1000)?;
//!     println!("{rows} rows in {:?}", &messages.bytes()[..rows * stride]);
//!     if is_last {
//!         break Ok(());
//!     }
//! }
//! # }
//! ```
#![deny(unsafe_op_in_unsafe_fn)]

mod abi;
mod array;
mod attachment;
mod batch;
mod blob;
mod blob_stream;
mod completion;
mod error;
mod event;
mod info;
mod library;
mod message;
mod metadata;
mod options;
mod place;
mod platform;
mod result_set;
mod runtime;
mod statement;
mod status;
mod transaction;
mod trust;

pub use attachment::{Attachment, CancelKind, Canceller};
pub use batch::{Batch, BatchOptions, BlobPolicy};
pub use blob::{Blob, SEGMENT};
pub use blob_stream::BlobStream;
pub use completion::{Completion, RecordFailure, RecordState};
pub use error::Error;
pub use event::Events;
pub use library::Library;
pub use message::MessageBuffer;
pub use metadata::Metadata;
pub use options::{LoadOptions, Providers, ServerMode};
pub use result_set::ResultSet;
pub use runtime::{Runtime, RuntimeHint, RuntimeKind};
pub use statement::{CursorFlags, Input, Output, Statement, StatementFlags, StatementKind};
pub use transaction::Transaction;

/// Checks the promise about threads at compile time.
const _: () = {
    const fn is_send<T: Send>() {}
    const fn is_shared<T: Send + Sync>() {}
    is_send::<Attachment>();
    is_send::<Transaction>();
    is_send::<Statement>();
    is_send::<ResultSet>();
    is_send::<Metadata>();
    is_send::<Blob>();
    is_send::<Batch>();
    is_send::<Events>();
    is_shared::<Library>();
    is_shared::<Canceller>();
};
