//! Queries in parts.

use super::shared::{Shared, Work};
use super::{Transaction, flow};
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
    pub(super) async fn open(shared: &Arc<Shared>, divide: Work<Divided>) -> Result<Self> {
        let owner = Arc::clone(shared);
        let open = flow!(session => {
            let Divided { schema, partitions, why_plain, leader } = divide(session).await?;
            Ok(Self { schema, partitions, why_plain, _leader: Transaction::of(&owner, leader) })
        });
        shared.run(open).await
    }

    /// Columns of every partition.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
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
