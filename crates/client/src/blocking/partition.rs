//! Queries in parts.

use super::Transaction;
use super::shared::{BlockingSession, Shared};
use crate::error::Result;
use crate::parallel::WhyPlain;
use crate::partition::{Divided, Partition};
use arrow::datatypes::SchemaRef;
use std::sync::Arc;

/// A query in parts. As long as it lives it holds the snapshot that they read.
#[derive(Debug)]
pub struct PartitionedQuery {
    schema: SchemaRef,
    partitions: Vec<Partition>,
    why_plain: Option<WhyPlain>,
    /// Its snapshot is the one that the partitions read.
    _leader: Transaction,
}

impl PartitionedQuery {
    pub(super) fn open(
        shared: &Arc<Shared>,
        divide: impl AsyncFnOnce(&mut BlockingSession) -> Result<Divided>,
    ) -> Result<Self> {
        let Divided { schema, partitions, why_plain, leader } = shared.run(divide)?;
        Ok(Self { schema, partitions, why_plain, _leader: Transaction::of(shared, leader) })
    }

    /// Columns of every partition.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The parts, in the order of the table; at least one.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// Returns why the query is not divided, if there is one part only.
    pub fn why_plain(&self) -> Option<&WhyPlain> {
        self.why_plain.as_ref()
    }
}
