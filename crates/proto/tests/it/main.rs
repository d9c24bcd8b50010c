//! The protocol core against recorded and scripted servers.
//!
//! ```text
//! transcript ─► player ─┬─► handshake statements describe stats   recorded servers: every byte sent, every event
//!   requests    sessions├─► splits                                the same events however the bytes arrive
//!                       └─► robustness hostile                    streams cut and damaged at every byte, or by a seed
//! script ──────► player ──► negotiation encryption compression    servers that no recording has
//!                           rows limits writes
//! bodies ──────────────────► corpus                               the fuzz targets, on all inputs kept so far
//! ```

mod bodies;
mod compression;
mod corpus;
mod describe;
mod encryption;
mod handshake;
mod hostile;
mod limits;
mod memory;
mod negotiation;
mod player;
mod requests;
mod requests_layout;
mod robustness;
mod rows;
mod script;
mod sessions;
mod splits;
mod statements;
mod stats;
mod transcript;
mod writes;
