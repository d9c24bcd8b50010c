//! The protocol core against recorded and scripted servers.
//!
//! ```text
//! transcript ─► player ─┬─► handshake statements stats     recorded servers: every byte sent, every event
//!               sessions├─► splits                         the same events however the bytes arrive
//!                       └─► robustness                     cut, damaged and endless streams
//! script ──────► player ──► negotiation compression rows limits   servers no recording has
//! bodies ──────────────────► corpus                        the fuzz targets, on all inputs kept so far
//! ```

mod bodies;
mod compression;
mod corpus;
mod describe;
mod handshake;
mod limits;
mod memory;
mod negotiation;
mod player;
mod requests;
mod robustness;
mod script;
mod sessions;
mod rows;
mod splits;
mod statements;
mod stats;
mod transcript;
