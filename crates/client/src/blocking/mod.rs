//! The blocking API: each method runs a flow of the session.

mod blob;
mod blob_writer;
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
mod turn;
mod writing;

pub use blob::BlobReader;
pub use blob_writer::BlobWriter;
pub use catalog::Catalog;
pub use connection::Connection;
pub use cursor::Cursor;
pub use event::{EventListener, EventReports};
pub use partition::PartitionedQuery;
pub use rows_cursor::RowsCursor;
pub use scroll::ScrollCursor;
pub use statement::Statement;
pub use transaction::Transaction;
