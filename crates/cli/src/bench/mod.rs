//! `firearrow bench`
//!
//! ```text
//!  fetch: verify (checksums) ─► ours, reference, ours, reference … ─► report ─► terminal, JSON, files
//!                                 │          │
//!                              measure    a process that loops over fetchNext
//!
//!  wire: the same of several ways to a server: see its module
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
