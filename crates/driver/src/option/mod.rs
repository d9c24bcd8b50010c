//! Options as plain values. The front ends define their texts or attribute numbers.

mod ingest;
mod session;
mod statement;

pub use ingest::{IngestNames, IngestOptions, Mode, TextAs};
pub use session::{Level, Purpose, SessionOptions};
pub use statement::StatementOptions;
