//! The driver as applications see it: the library loaded by the driver manager, against real servers and the embedded
//! engine. Each test is written once and stamped per platform.

mod bind;
mod cancel;
mod errors;
mod ingest;
mod misuse;
mod options;
mod options_document;
mod panics;
mod partitions;
mod raw;
mod statements;
mod streams;
mod support;
mod transactions;
mod types;
