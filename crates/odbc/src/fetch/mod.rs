//! Rows on their way to an application.
//!
//! ```text
//!  driver::Stream ─► Window: batches at hand ─┬─► convert: the row set into bound buffers
//!                └─► Blobs: short ones ahead ──┴─► GetData: one value, in pieces
//!                └─► LongValue: a BLOB as it arrives ──┘
//! ```

mod binding;
mod blobs;
mod bookmark;
mod by_bookmark;
mod cursor;
mod direction;
mod get_data;
mod long;
pub(crate) mod normal;
mod rows;
mod window;

pub(crate) use binding::{Bound, moved, slots, wanted};
pub(crate) use cursor::Cursor;
pub(crate) use get_data::GetData;
pub(crate) use rows::Report;
