//! `firearrow bench`
//!
//! ```text
//!  fetch: verify (checksums) ─► ours, reference, ours, reference … ─► report ─► terminal, JSON, files
//!                                 │          │
//!                              measure    a process that loops over fetchNext
//!
//!  insert, adbc, wire: the same for rows in, for the driver, and of several ways to a server: see their modules
//! ```

mod adbc;
mod contest;
mod fetch;
mod insert;
mod machine;
mod measure;
mod reference;
mod report;
mod sample;
mod save;
mod server;
mod statistics;
mod table;
mod verify;
mod wire;

pub(crate) use adbc::run as adbc;
pub(crate) use fetch::run as fetch;
pub(crate) use insert::run as insert;
pub(crate) use report::time;
pub(crate) use wire::run as wire;
