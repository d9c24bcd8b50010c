//! `firearrow bench`
//!
//! ```text
//!  fetch: verify (checksums) ─► ours, reference, ours, reference … ─► report ─► terminal, JSON, files
//!                                 │          │
//!                              measure    a process that loops over fetchNext
//! ```

mod fetch;
mod insert;
mod machine;
mod measure;
mod reference;
mod report;
mod save;
mod statistics;
mod verify;

pub(crate) use fetch::run as fetch;
pub(crate) use insert::run as insert;
