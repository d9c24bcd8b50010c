//! The bodies of the fuzz targets. Each file is also a module of the target of its name (`fuzz/fuzz_targets/`);
//! here `corpus.rs` runs them on every input kept so far, on a stable compiler.

pub(crate) mod array;
pub(crate) mod auth_data;
pub(crate) mod completion;
pub(crate) mod connection;
pub(crate) mod decfloat;
pub(crate) mod event;
pub(crate) mod info;
pub(crate) mod packed_row;
pub(crate) mod packet;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod xdr;
