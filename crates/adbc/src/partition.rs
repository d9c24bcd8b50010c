//! Partitioned results: one query, read by any number of connections from one snapshot.

use crate::attachment::Attachment;
use crate::bind::Rows;
use crate::error::{Result, invalid_argument, of};
use crate::option::StatementOptions;
use crate::reader::Stream;
use adbc_core::PartitionedResult;
use firearrow::{Params, Partition, PartitionedQuery};
use std::sync::Arc;

/// A divided query. Its partitions can be read as long as it lives.
pub(crate) struct Division {
    query: Option<PartitionedQuery>,
    attachment: Arc<Attachment>,
}

impl Division {
    /// Divides a query with one row of parameters, or without any.
    pub(crate) fn new(
        attachment: &Arc<Attachment>,
        options: &StatementOptions,
        sql: &str,
        rows: Option<Rows>,
    ) -> Result<Self> {
        let parameters = match rows.filter(|rows| rows.columns() > 0) {
            None => Params::none(),
            Some(mut rows) => rows.single()?.map(Params::from).ok_or_else(|| {
                invalid_argument(
                    "a query in partitions takes one row of parameters; run it once for each row",
                )
            })?,
        };
        let connection = attachment.connection()?;
        let query = connection.partition_reading(sql, parameters, &options.partitions, &options.read).map_err(of)?;
        Ok(Self { query: Some(query), attachment: Arc::clone(attachment) })
    }

    /// Descriptors and columns.
    pub(crate) fn result(&self) -> Result<PartitionedResult> {
        let query = self.query.as_ref().ok_or_else(|| crate::error::internal("a divided query got lost"))?;
        let descriptors = query.partitions().iter().map(|partition| partition.to_bytes().map_err(of));
        Ok(PartitionedResult {
            partitions: descriptors.collect::<Result<_>>()?,
            schema: query.schema().as_ref().clone(),
            rows_affected: -1,
        })
    }
}

impl Drop for Division {
    fn drop(&mut self) {
        self.attachment.discard(self.query.take(), drop);
    }
}

/// Reads one part of a query, which this or another connection has divided.
pub(crate) fn read(
    attachment: &Arc<Attachment>,
    descriptor: &[u8],
    options: &StatementOptions,
) -> Result<Stream> {
    let partition = Partition::from_bytes(descriptor).map_err(of)?;
    let connection = attachment.connection()?;
    let task = attachment.begin_task();
    task.limit(options.timeout());
    let cursor = task.run(|| connection.read_partition(&partition, options.limits).map_err(of))?;
    Ok(Stream::of_cursor(cursor, Arc::default()).within(attachment, &task))
}
