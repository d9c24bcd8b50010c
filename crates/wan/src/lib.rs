//! Emulates a network link with a TCP proxy: each byte travels for half a round trip, and no direction carries more
//! than a rate. Needs neither root nor a second machine.
//!
//! ```text
//!   client ──► [read] ─► line ─► queue ─► [write] ──► target
//!          ◄── [write] ◄─ queue ◄─ line ◄─ [read] ◄──
//! ```
//!
//! The two lines, one per direction, belong to all connections: bytes stand in line behind those of others. A queue
//! belongs to one connection and direction; while it is full, nothing more is read, and the sender feels it.
//!
//! The kernel answers TCP's own handshake at once, and a client is connected without a wait. The round trip of it is made
//! up for by the first bytes of a connection, whoever sends them: they wait for one before they leave.
//!
//! What it leaves out: loss, congestion control (a connection has the whole rate from its first byte) and headers (the
//! rate is that of the payload).

#![forbid(unsafe_code)]

mod connection;
mod line;
mod link;
mod problem;
mod proxy;
mod queue;
mod timer;

pub use link::Link;
pub use problem::Problem;
pub use proxy::{Totals, WanProxy};
