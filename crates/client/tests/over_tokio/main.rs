//! The tests of `it` on the asynchronous API: the same files, compiled with another `firearrow`.
//!
//! Where they say `firearrow`, they get this crate: everything that the real one has, but for the types of the blocking
//! API. Those are wrappers that wait for the asynchronous ones, so whatever a test says of one API it says of the other.
#![allow(dead_code, reason = "not every module of `it` has tests for both")]

extern crate firearrow as real;
extern crate self as firearrow;

mod api;
mod waiting;

pub(crate) use api::{
    BlobReader, Catalog, Connection, Cursor, EventListener, PartitionedQuery, RowsCursor, ScrollCursor,
    Statement, Transaction,
};
pub(crate) use real::*;

macro_rules! tests {
    ($($file:literal $name:ident),+ $(,)?) => { $( #[path = $file] mod $name; )+ };
}

tests! {
    "../it/support.rs" support,
    "../it/transactions.rs" transactions,
}
