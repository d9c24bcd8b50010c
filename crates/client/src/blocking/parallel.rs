//! Rows that several connections read.

use super::shared::Shared;
use super::{Cursor, Statement, Transaction};
use crate::error::Result;
use crate::parallel::{ParallelPlan, Readers, WhyPlain};
use crate::params::Params;
use crate::stats::Meter;
use arrow::array::RecordBatch;
use std::result;
use std::time::Duration;

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
        let ready = |readers: &Readers| readers.wait_ready(call.operation());
        match Readers::start(job, &meters).and_then(|readers| Ok(ready(&readers)?.map(|()| readers))) {
            Ok(Ok(readers)) => Ok(Ok(Cursor::read_by(inner, reading, meters, Self { readers, leader }))),
            Ok(Err(error)) => Ok(Err(WhyPlain::Readers(error.to_string()))),
            Err(error) => Err(error),
        }
    }

    pub(super) fn readers(&self) -> usize {
        self.readers.count()
    }

    pub(super) fn decoding(&self) -> Duration {
        self.readers.decoding()
    }

    pub(super) fn peak(&self) -> usize {
        self.readers.peak()
    }

    /// Returns the next batch; `None` at the end.
    pub(super) fn next(&self, shared: &Shared) -> Result<Option<RecordBatch>> {
        let call = shared.begin();
        call.operation().check()?;
        self.readers.wait_next(call.operation())
    }

    /// Closes their connections, then ends the snapshot.
    pub(super) fn end(self) {
        let Self { readers, leader } = self;
        readers.wait_end();
        drop(leader);
    }
}
