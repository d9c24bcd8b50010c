//! The ADBC driver for Firebird.
//!
//! ```text
//!  driver manager ─► ffi ─► Driver ─► Database ─► Connection ─► Statement
//!                                                     │             │ execution: SQL · ingest: tables
//!                                                     ▼             ▼
//!  consumer ◄── ffi/stream ◄── reader::Stream ◄── firearrow: Connection, Transaction, Statement, Cursor
//! ```
//!
//! It is a front end and nothing else: batches are those of the `firearrow` crate, and go to the consumer without a copy of a
//! single value. Rust programs may use it by the traits of `adbc_core` as well, but will find `firearrow` more to the point.
//!
//! [`option::OPTIONS`] lists all options; docs/adbc-options.md is written from it.
#![deny(unsafe_code)]

mod activity;
mod ahead;
mod attachment;
mod bind;
mod connection;
mod database;
mod ddl;
mod driver;
pub mod error;
mod execution;
mod ffi;
mod handover;
mod ingest;
pub mod metadata;
pub mod option;
mod panic;
mod partition;
mod progress;
mod reader;
mod sql;
mod statement;

pub use connection::Connection;
pub use database::Database;
pub use driver::Driver;
pub use ffi::{AdbcDriverFirebirdInit, AdbcDriverInit};
pub use statement::Statement;
