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
//! | `abi` | what the standard defines: types, structures, numbers |
//! | `entry` | the C functions |
//! | `handle` | what handles stand for, and how they are found |
//! | `attributes`, `descriptor` | what applications set and ask |
//! | `connect`, `connection_string` | connecting: keywords, and the settings they stand for |
//! | [`setup`] | drivers and data sources of the driver manager |
//! | `execute` | preparing and executing |
//! | `params` | parameters: from buffers to Arrow rows |
//! | `escape` | ODBC escape sequences and SQL text |
//! | `fetch` | cursors, row sets, single values |
//! | `positioned` | rows that are changed through a cursor |
//! | `convert` | Arrow columns into the buffers of an application |
//! | `types`, `column`, `describe` | SQL types, columns, and what is told about them |
//! | `info`, `type_info`, `catalog` | what the driver, the server and the database have |
//! | `platform` | what differs between systems |
//! | `diagnostics` | failures, their SQLSTATEs, and the records of a handle |
//! | `text` | text in and out: UTF-8, code pages and UTF-16 |
//!
//! Nothing in here calls an exported function: within a process that has a driver manager, its functions have the same
//! names.

#[allow(dead_code, reason = "groups of the standard's numbers are listed whole")]
mod abi;
mod attributes;
mod catalog;
mod column;
mod connect;
mod connection_string;
mod convert;
mod describe;
mod descriptor;
mod diagnostics;
mod entry;
mod escape;
mod execute;
mod fetch;
mod handle;
mod info;
mod params;
mod platform;
mod positioned;
pub mod setup;
mod table;
mod text;
mod type_info;
mod types;
