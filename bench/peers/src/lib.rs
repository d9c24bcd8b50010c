//! The loops that a C++ program would write, as the measure for everything else.
//!
//! Values are moved in the format that the library has them in, and nothing is made of them. A client that
//! delivers or takes columns has to do more than this in less time.
//!
//! | loop | what it does |
//! |---|---|
//! | [`raw_loop`] | fetches rows one by one into one buffer |
//! | [`blob_loop`] | the same, and reads the BLOBs of each row |
//! | [`select_loop`] | runs a small query again and again |
//! | [`oltp_terminals`] | does the operations of `firearrow oltp` |
//! | [`insert_loop`] | inserts rows of integers, one by one or by the batch interface |
#![forbid(unsafe_code)]

pub mod arguments;
mod blobs;
pub mod cpu;
mod fetch;
mod insert;
mod lap;
mod oltp;
mod select;
mod wire;

pub use blobs::{BlobLoop, blob_loop, checksum};
pub use fetch::{RawLoop, raw_loop};
pub use insert::{InsertLoop, Method, insert_loop, value};
pub use oltp::oltp_terminals;
pub use select::{SelectLoop, select_loop};
pub use wire::Wire;

/// Snapshot, wait, read only.
const READ_ONLY: &[u8] = &[3, 2, 6, 8];
