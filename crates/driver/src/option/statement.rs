//! How statements read and write.

use firearrow::{BatchLimits, PartitionOptions, ReadOptions, WriteOptions};
use std::time::Duration;

/// Options of a statement.
#[derive(Clone, Debug, Default)]
pub struct StatementOptions {
    /// How columns become Arrow arrays.
    pub read: ReadOptions,
    /// How large the batches of a result are.
    pub limits: BatchLimits,
    /// How parameters are encoded.
    pub write: WriteOptions,
    /// Batches to read ahead, on a separate thread.
    pub prefetch: usize,
    /// The time limit of an execution, reading its rows included.
    pub timeout: Option<Duration>,
    /// Whether fields of the rows of parameters go to `:name` markers by name instead of to `?` by position.
    pub by_name: bool,
    /// How a query is divided.
    pub partitions: PartitionOptions,
}
