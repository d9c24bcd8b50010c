//! The ADBC driver for Firebird.
//!
//! ```text
//!  driver manager ─► ffi ─► Driver ─► Database ─► Connection ─► Statement
//!                                                     ▼             ▼
//!  consumer ◄── ffi/stream ◄── Stream ◄── firearrow_driver: Session, Statement
//! ```
//!
//! It only translates calls, options and errors; `firearrow_driver` does the work. Batches come from the `firearrow`
//! crate and reach the consumer without copying a value. Rust programs can use the driver through the traits of
//! `adbc_core`, but `firearrow` suits them better.
//!
//! [`option::OPTIONS`] lists all options; docs/adbc-options.md is generated from it.
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
