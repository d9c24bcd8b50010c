//! Options as plain values. What texts or attribute numbers they have is for the front ends to say.

mod ingest;
mod session;
mod statement;

pub use ingest::{IngestNames, IngestOptions, Mode, TextAs};
pub use session::{Level, Purpose, SessionOptions};
pub use statement::StatementOptions;
