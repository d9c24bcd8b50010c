//! The ADBC driver for Firebird.
//!
//! ```text
//!  driver manager ─► ffi ─► Driver ─► Database ─► Connection ─► Statement
//!                                                     ▼             ▼
//!  consumer ◄── ffi/stream ◄── Stream ◄── firearrow_driver: Session, Statement
//! ```
//!
//! It translates calls, options and errors, and nothing else: what they do is in `firearrow_driver`. Batches are those of the
//! `firearrow` crate, and go to the consumer without copying a value. Rust programs may use it by the traits of `adbc_core` as
//! well, but will find `firearrow` more to the point.
//!
//! [`option::OPTIONS`] lists all options; docs/adbc-options.md is written from it.
#![deny(unsafe_code)]

mod canceller;
mod connection;
mod counter;
mod database;
mod driver;
pub mod error;
mod ffi;
mod handover;
pub mod metadata;
pub mod option;
mod panic;
mod statement;

pub use connection::Connection;
pub use database::Database;
pub use driver::Driver;
pub use ffi::{AdbcDriverFirebirdInit, AdbcDriverInit};
pub use statement::Statement;
