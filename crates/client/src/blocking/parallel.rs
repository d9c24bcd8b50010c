//! Rows that several connections read.

use super::shared::Shared;
use super::{Cursor, Statement, Transaction};
use crate::backend::Backend;
use crate::error::Result;
use crate::parallel::{ParallelPlan, Readers, WhyPlain};
use crate::params::Params;
use crate::stats::Meter;
use arrow::array::RecordBatch;
use std::result;
use std::task::Poll;
use std::time::{Duration, Instant};

/// The readers of a result, and the snapshot that they read.
pub(super) struct ParallelRows {
    readers: Readers,
    /// Holds the snapshot, unless the transaction of the query does.
    leader: Option<Transaction>,
}

impl ParallelRows {
    /// Lets several connections read a query, if they can.
    pub(super) fn open(
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
        let prepared = &inner.prepared;
        let plan = call.run(&meters, async |session| {
            session.plan_parallel(prepared, transaction.id, parameters, how).await
        })?;
        let ParallelPlan { job, reading, leader } = match plan {
            Ok(plan) => plan,
            Err(why) => return Ok(Err(why)),
        };
        let leader = leader.map(|id| Transaction::of(&inner.shared, id));
        let readers = match Readers::start(job, &meters) {
            Ok(readers) => readers,
            Err(why) => return Ok(Err(why)),
        };
        let ready = readers.wait_ready(call.operation())?;
        Ok(ready.map(|()| Cursor::read_by(inner, reading, meters, Self { readers, leader })))
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
    pub(super) fn next(&self, shared: &Shared) -> Result<Option<RecordBatch>> {
        let call = shared.begin();
        call.operation().check()?;
        loop {
            if self.readers.wants_ping()
                && let Err(error) =
                    shared.run_until(Some(Instant::now()), async |session| session.backend.ping().await)
            {
                // Nobody needs this connection as long as rows come.
                tracing::debug!(%error, "keeping a connection alive failed");
            }
            if let Poll::Ready(next) = self.readers.wait_next(call.operation())? {
                return Ok(next);
            }
        }
    }

    /// Closes their connections, then ends the snapshot.
    pub(super) fn end(self, shared: &Shared) {
        let Self { readers, leader } = self;
        readers.wait_end(shared.begin().operation());
        drop(leader);
    }
}
