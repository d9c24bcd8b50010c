//! The Firebird wire protocol and data formats, without IO.
//!
//! ```text
//!  socket bytes ─► wire::Connection ─► events (responses, blocks of packed rows)
//!  socket bytes ◄─ wire::Connection ◄─ requests
//!                         │
//!                  api: parameter buffers, info buffers, descriptors, row layouts, values, status vectors
//! ```
//!
//! [`api`] has the data formats of every transport, shared by the embedded engine and the network. [`wire`] is the
//! remote protocol: packets, authentication, encryption, compression and the state machine that pairs answers with
//! requests. Nothing here opens a socket, reads a clock or starts a thread.
#![forbid(unsafe_code)]

pub mod api;
mod setters;
pub mod wire;
