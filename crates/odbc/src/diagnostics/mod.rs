//! Failures, their SQLSTATEs, and the diagnostic records of a handle.

mod failure;
pub(crate) mod function;
mod records;
mod server;
mod state;

pub(crate) use failure::Failure;
pub(crate) use records::{Diagnostics, Record};
pub(crate) use state::State;

/// A call's result: a failure becomes the first record of its handle.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;
