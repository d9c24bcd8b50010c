//! The client against real servers and the embedded engine. Each test is written once and stamped per platform.

mod blobs;
mod bounds;
mod cancel;
mod cases;
mod encryption;
mod errors;
mod event_cases;
mod events;
mod faults;
mod known;
mod lazy_blobs;
mod limbo;
mod limbo_cases;
mod login;
mod many_rows;
mod round_trips;
mod savepoints;
mod statements;
mod statistics;
mod support;
mod transactions;
mod types;
mod types_document;
