//! Rows that several connections read.

use super::shared::Shared;
use super::{Cursor, Statement, Transaction, flow};
use crate::backend::Backend;
use crate::error::Result;
use crate::parallel::{ParallelPlan, Readers, WhyPlain};
use crate::params::Params;
use crate::stats::Meter;
use arrow::array::RecordBatch;
use std::result;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// The readers of a result, threads of their own, and the snapshot that they read. Dropping it ends them in the
/// background.
pub(super) struct ParallelRows {
    readers: Readers,
    /// Holds the snapshot, unless the transaction of the query does.
    _leader: Option<Transaction>,
}

impl ParallelRows {
    /// Lets several connections read a query, if they can.
    pub(super) async fn open(
        statement: &Statement,
        transaction: &Transaction,
        parameters: &Params,
    ) -> Result<result::Result<Cursor, WhyPlain>> {
        let Statement { inner, how } = statement;
        if how.parallel.is_none() {
            return Ok(Err(WhyPlain::NotWanted));
        }
        let meters = vec![Meter::default(), inner.meter.clone()];
        let call = inner.shared.begin();
        let (owner, how, parameters, id) =
            (Arc::clone(inner), how.clone(), parameters.clone(), transaction.id);
        let check = flow!(session => {
            let plan = session.plan_parallel(&owner.prepared, id, &parameters, &how).await?;
            Ok(plan.map(|ParallelPlan { job, reading, leader }| {
                let leader = leader.map(|id| Transaction::of(&owner.shared, id));
                (job, reading, leader)
            }))
        });
        let (job, reading, leader) = match call.run(meters.clone(), check).await? {
            Ok(plan) => plan,
            Err(why) => return Ok(Err(why)),
        };
        let readers = match Readers::start(job, &meters) {
            Ok(readers) => readers,
            Err(why) => return Ok(Err(why)),
        };
        let ready = readers.until_ready(&call.operation).await?;
        Ok(ready.map(|()| Cursor::read_by(inner, reading, meters, Self { readers, _leader: leader })))
    }

    pub(super) fn readers(&self) -> usize {
        self.readers.count()
    }

    pub(super) fn decoding(&self) -> Duration {
        self.readers.decoding()
    }

    pub(super) fn share(&self) -> f64 {
        self.readers.share()
    }

    pub(super) fn peak(&self) -> usize {
        self.readers.peak()
    }

    /// Returns the next batch; `None` at the end.
    pub(super) async fn next(&self, shared: &Shared) -> Result<Option<RecordBatch>> {
        let call = shared.begin();
        call.operation.check()?;
        loop {
            let ping = flow!(session => session.backend.ping().await);
            if self.readers.wants_ping()
                && let Err(error) = shared.run_until(Some(Instant::now()), ping).await
            {
                // Nobody needs this connection as long as rows come.
                tracing::debug!(%error, "keeping a connection alive failed");
            }
            if let Poll::Ready(next) = self.readers.until_next(&call.operation).await? {
                return Ok(next);
            }
        }
    }

    /// Closes the connections of the readers.
    pub(super) async fn end(&self, shared: &Shared) {
        self.readers.until_end(&shared.begin().operation).await;
    }
}
