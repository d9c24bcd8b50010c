//! Emulates a network link with a TCP proxy: each byte takes half a round trip, and each direction is limited to a
//! rate. Needs neither root nor a second machine.
//!
//! ```text
//!   client ──► [read] ─► line ─► queue ─► [write] ──► target
//!          ◄── [write] ◄─ queue ◄─ line ◄─ [read] ◄──
//! ```
//!
//! All connections share the two lines, one per direction: bytes queue after those of other connections. A queue
//! belongs to one connection and direction; while it is full, the proxy reads nothing more, which slows the sender
//! down.
//!
//! The kernel answers TCP's own handshake at once, so a client connects without a wait. To make up for it, the first
//! bytes of a connection, in either direction, wait for one round trip before they leave.
//!
//! Not emulated: loss, congestion control (a connection has the whole rate from its first byte) and headers (the rate
//! is that of the payload).

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
