//! The client against real servers and the embedded engine. Each test is written once and stamped per platform.

mod arrays;
mod blobs;
mod bounds;
mod budget;
mod campaign;
mod cancel;
mod cases;
mod elements;
mod encryption;
mod errors;
mod faults;
mod known;
mod lazy_blobs;
mod login;
mod many_rows;
mod round_trips;
mod round_trips_document;
mod scroll;
mod scroll_model;
mod statements;
mod support;
mod transactions;
mod types;
mod types_document;
mod wire_stats;
