//! The driver as applications see it: the library loaded by the driver manager, against real servers and the embedded
//! engine. Each test is written once and stamped per platform.

mod bind;
mod cancel;
mod counters;
mod dialect;
mod errors;
mod foreign;
mod idle;
mod ingest;
mod ingest_options;
mod lost_commits;
mod mappings;
mod misuse;
mod nothing_lost;
mod options;
mod options_document;
mod panics;
mod parallel;
mod partitions;
mod prefetch;
mod raw;
mod replace;
mod statements;
mod streams;
mod support;
mod time_limits;
mod transactions;
mod types;
mod types_document;
mod watching;
