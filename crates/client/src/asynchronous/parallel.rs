//! Rows that several connections read.

use super::shared::Shared;
use super::{Cursor, Statement, Transaction, flow};
use crate::backend::Backend;
use crate::error::Result;
use crate::parallel::{Charted, Crew, WhyPlain};
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
pub(super) struct Led {
    crew: Crew,
    /// Holds the snapshot, unless the transaction of the query does.
    _leader: Option<Transaction>,
}

impl Led {
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
        let chart = flow!(session => {
            let charted = session.chart(&owner.prepared, id, &parameters, &how).await?;
            Ok(charted.map(|Charted { course, reading, leader }| {
                let leader = leader.map(|id| Transaction::of(&owner.shared, id));
                (course, reading, leader)
            }))
        });
        let (course, reading, leader) = match call.run(meters.clone(), chart).await? {
            Ok(charted) => charted,
            Err(why) => return Ok(Err(why)),
        };
        let crew = match Crew::start(course, &meters) {
            Ok(crew) => crew,
            Err(why) => return Ok(Err(why)),
        };
        let ready = crew.until_ready(&call.operation).await?;
        Ok(ready.map(|()| Cursor::led(inner, reading, meters, Self { crew, _leader: leader })))
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
    pub(super) async fn next(&self, shared: &Shared) -> Result<Option<RecordBatch>> {
        let call = shared.begin();
        call.operation.check()?;
        loop {
            let ping = flow!(session => session.backend.ping().await);
            if self.crew.wants_ping()
                && let Err(error) = shared.run_until(Some(Instant::now()), ping).await
            {
                // Nobody needs this connection as long as rows come.
                tracing::debug!(%error, "keeping a connection alive failed");
            }
            if let Poll::Ready(next) = self.crew.until_next(&call.operation).await? {
                return Ok(next);
            }
        }
    }

    /// Closes the connections of the readers.
    pub(super) async fn end(&self, shared: &Shared) {
        self.crew.until_end(&shared.begin().operation).await;
    }
}
