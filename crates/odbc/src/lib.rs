//! The ODBC 3.8 driver for Firebird.
//!
//! ```text
//!  entry: the C functions ─► handle: environment, connection, statement, descriptor
//!                                 │
//!        connect ◄────────────────┼──► execute ─► params: buffers ─► Arrow rows ─► firearrow-driver
//!        info, types, catalog ◄───┴──► fetch ──► convert: Arrow columns ─► buffers
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`abi`] | what the standard defines: types, structures, numbers |
//! | [`diagnostics`] | failures, their SQLSTATEs, and the records of a handle |
//! | [`text`] | text in and out, UTF-8 and UTF-16 |
//! | [`types`] | SQL types and their sizes |
//!
//! Nothing in here calls an exported function: within a process that has a driver manager, its functions have the same
//! names.

// Until the entry points use them.
#![allow(dead_code)]

mod abi;
mod diagnostics;
mod table;
mod text;
mod types;
