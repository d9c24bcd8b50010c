//! Rows that several connections read.

use super::shared::Shared;
use super::{Cursor, Statement, Transaction};
use crate::backend::Backend;
use crate::error::Result;
use crate::parallel::{Charted, Crew, WhyPlain};
use crate::params::Params;
use crate::stats::Meter;
use arrow::array::RecordBatch;
use std::result;
use std::task::Poll;
use std::time::{Duration, Instant};

/// The readers of a result, and the snapshot that they read.
pub(super) struct Led {
    crew: Crew,
    /// Holds the snapshot, unless the transaction of the query does.
    leader: Option<Transaction>,
}

impl Led {
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
        let charted = call
            .run(&meters, async |session| session.chart(prepared, transaction.id, parameters, how).await)?;
        let Charted { course, reading, leader } = match charted {
            Ok(charted) => charted,
            Err(why) => return Ok(Err(why)),
        };
        let leader = leader.map(|id| Transaction::of(&inner.shared, id));
        let crew = match Crew::start(course, &meters) {
            Ok(crew) => crew,
            Err(why) => return Ok(Err(why)),
        };
        let ready = crew.wait_ready(call.operation())?;
        Ok(ready.map(|()| Cursor::led(inner, reading, meters, Self { crew, leader })))
    }

    pub(super) fn readers(&self) -> usize {
        self.crew.readers()
    }

    pub(super) fn decoding(&self) -> Duration {
        self.crew.decoding()
    }

    pub(super) fn peak(&self) -> usize {
        self.crew.peak()
    }

    /// Returns the next batch; `None` at the end.
    pub(super) fn next(&self, shared: &Shared) -> Result<Option<RecordBatch>> {
        let call = shared.begin();
        call.operation().check()?;
        loop {
            if self.crew.wants_ping()
                && let Err(error) =
                    shared.run_until(Some(Instant::now()), async |session| session.backend.ping().await)
            {
                // Nobody needs this connection as long as rows come.
                tracing::debug!(%error, "keeping a connection alive failed");
            }
            if let Poll::Ready(next) = self.crew.wait_next(call.operation())? {
                return Ok(next);
            }
        }
    }

    /// Closes their connections, then ends the snapshot.
    pub(super) fn end(self, shared: &Shared) {
        let Self { crew, leader } = self;
        crew.wait_end(shared.begin().operation());
        drop(leader);
    }
}
