//! Partitioned results: one query, read by any number of sessions from one snapshot.

use crate::error::{Error, Result};
use crate::option::StatementOptions;
use crate::rows::Rows;
use crate::session::Session;
use crate::stream::Stream;
use firearrow::{Params, Partition, PartitionedQuery};
use std::sync::Arc;

/// A divided query, which holds the snapshot of its partitions.
pub(crate) struct Division {
    /// `None` at the very end only.
    query: Option<PartitionedQuery>,
    session: Arc<Session>,
}

impl Division {
    /// Divides a query with one row of parameters, or without any.
    pub(crate) fn new(
        session: &Arc<Session>,
        options: &StatementOptions,
        sql: &str,
        rows: Option<Rows>,
    ) -> Result<Self> {
        let parameters = match rows.filter(|rows| rows.columns() > 0) {
            None => Params::none(),
            Some(mut rows) => rows.single()?.map(Params::from).ok_or_else(|| {
                Error::argument("a query in partitions takes one row of parameters; run it once for each row")
            })?,
        };
        let connection = session.connection()?;
        let query = connection.partition_reading(sql, parameters, &options.partitions, &options.read)?;
        Ok(Self { query: Some(query), session: Arc::clone(session) })
    }

    pub(crate) fn query(&self) -> Result<&PartitionedQuery> {
        self.query.as_ref().ok_or_else(|| Error::internal("a divided query got lost"))
    }
}

impl Drop for Division {
    fn drop(&mut self) {
        self.session.discard(self.query.take(), drop);
    }
}

/// Reads one part of a query, which this or another session has divided.
///
/// # Errors
/// The bytes are no partition; those of the server.
pub fn read_partition(session: &Arc<Session>, bytes: &[u8], options: &StatementOptions) -> Result<Stream> {
    let read = || {
        let partition = Partition::from_bytes(bytes)?;
        let connection = session.connection()?;
        let task = session.begin_task();
        task.limit(options.timeout);
        let cursor = task.run(|| Ok(connection.read_partition(&partition, options.limits)?))?;
        Ok(Stream::of_cursor(cursor, None, Arc::default()).within(session, &task))
    };
    session.contain(read).flatten()
}
