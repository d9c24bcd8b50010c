//! Partitioned results.

use crate::error::{Result, not_implemented};
use crate::reader::Stream;
use adbc_core::PartitionedResult;

/// Splits a query.
pub(crate) fn execute() -> Result<PartitionedResult> {
    Err(not_implemented("partitioned results are not available yet"))
}

/// Reads a part of one.
pub(crate) fn read(_: &[u8]) -> Result<Stream> {
    Err(not_implemented("partitioned results are not available yet"))
}
