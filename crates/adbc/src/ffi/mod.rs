//! The C interface: the generated functions, with replacements for those that return streams or take arrays. All unsafe
//! code of the driver is in this folder.
//!
//! ```text
//!  manager ─► AdbcDriverFirebirdInit ─► table ─┬─ most functions: adbc_ffi ─► the traits of adbc_core
//!                                              ├─ counters while a statement executes: ours
//!                                              ├─ arrays and streams to bind: ours ─► import ─► handover ─► adbc_ffi
//!                                              └─ streams: ours ─► adbc_ffi ─► traits ─► handover ─┐
//!  consumer ◄── get_next, get_last_error, ErrorFromArrayStream: ours ◄──────── Stream ◄────────────┘
//! ```
#![allow(unsafe_code)]

mod error;
mod getters;
mod import;
mod init;
mod overlay;
mod stream;

pub use init::{AdbcDriverFirebirdInit, AdbcDriverInit};
