//! The Firebird wire protocol and data formats, without IO.
//!
//! ```text
//!  socket bytes ─► wire::Connection ─► events (responses, blocks of packed rows)
//!  socket bytes ◄─ wire::Connection ◄─ requests
//!                         │
//!                  api: parameter buffers, info buffers, descriptors, row layouts, values, status vectors
//! ```
//!
//! [`api`] is what a Firebird engine speaks on any transport; the embedded engine and the network share it.
//! [`wire`] is the remote protocol: packets, authentication, encryption, compression and the state machine
//! that pairs answers with requests. Nothing here opens a socket, reads a clock or starts a thread.
#![forbid(unsafe_code)]

pub mod api;
pub mod wire;
