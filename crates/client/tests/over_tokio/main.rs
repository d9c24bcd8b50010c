//! The tests of `it` on the asynchronous API: the same files, compiled with another `firearrow`.
//!
//! Where they say `firearrow`, they get this crate: everything that the real one has, but for the types of the blocking
//! API. Those are wrappers that wait for the asynchronous ones, so whatever a test says of one API it says of the other.
//! Left out are files about values and their conversion, in which no facade has a part, and those that use both APIs or
//! none.
#![allow(dead_code, reason = "not every module of `it` has tests for both")]

extern crate firearrow as real;
extern crate self as firearrow;

mod api;
mod waiting;

pub(crate) use api::{
    Connection, Cursor, EventListener, PartitionedQuery, RowsCursor, ScrollCursor, Statement, Transaction,
};
pub(crate) use real::*;

macro_rules! tests {
    ($($file:literal $name:ident),+ $(,)?) => { $( #[path = $file] mod $name; )+ };
}

tests! {
    "../it/support.rs" support,
    "../it/blobs.rs" blobs,
    "../it/campaign.rs" campaign,
    "../it/cancel.rs" cancel,
    "../it/catalog.rs" catalog_tables,
    "../it/event_cases.rs" event_cases,
    "../it/events.rs" events,
    "../it/faults.rs" faults,
    "../it/known.rs" known,
    "../it/lazy_blobs.rs" lazy_blobs,
    "../it/limbo.rs" limbo,
    "../it/limbo_cases.rs" limbo_cases,
    "../it/lost_commits.rs" lost_commits,
    "../it/many_rows.rs" many_rows,
    "../it/parallel.rs" parallel,
    "../it/partitions.rs" partitions,
    "../it/query_cases.rs" query_cases,
    "../it/query_rows.rs" query_rows,
    "../it/round_trips.rs" round_trips,
    "../it/savepoints.rs" savepoints,
    "../it/scroll.rs" scroll,
    "../it/scroll_model.rs" scroll_model,
    "../it/statements.rs" statements,
    "../it/time_limits.rs" time_limits,
    "../it/transactions.rs" transactions,
    "../it/warnings.rs" warnings,
    "../it/wire_stats.rs" wire_stats,
    "../it/write_cases.rs" write_cases,
    "../it/writes.rs" writes,
}
