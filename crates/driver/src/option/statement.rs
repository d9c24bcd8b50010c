//! How statements read and write.

use firearrow::{BatchLimits, OnFailure, PartitionOptions, ReadOptions, WriteOptions};
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
    /// How many readers a query has, as [`Statement::with_parallel`](firearrow::Statement::with_parallel) has
    /// it; `None` = one.
    pub parallel: Option<usize>,
    /// The time limit of an execution, reading its rows included.
    pub timeout: Option<Duration>,
    /// Whether fields of the rows of parameters go to `:name` markers by name instead of to `?` by position.
    pub by_name: bool,
    /// What a parameter row that fails does to an execution.
    ///
    /// - [`OnFailure::Stop`]: its failure is that of the execution. Autocommit mode rolls back all rows; in manual mode
    ///   those that were executed stay.
    /// - [`OnFailure::Continue`]: all other rows are executed, and the execution succeeds even if none of them does;
    ///   [`Progress::row_outcomes`](crate::Progress::row_outcomes) has the outcome of each, also of a single one.
    ///   Autocommit mode commits the rows that succeeded. Only failures that concern no single row, such as a lost
    ///   connection, wrong SQL, a reader's error or a time limit, are errors of the execution. Autocommit mode then rolls
    ///   back all rows; in manual mode those that were executed stay.
    pub on_failure: OnFailure,
    /// How a query is divided.
    pub partitions: PartitionOptions,
}
