//! A thread that reads ranges of a query's table on a connection of its own.

use super::KEEP_ALIVE;
use super::eligibility::ReadJob;
use super::ranges::{Range, Yield};
use super::reorder::{Claim, ReorderBuffer};
use crate::blocking::{Connection, Statement, Transaction};
use crate::cancel::{CancelToken, Operation};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::partition::Identity;
use crate::stats::Meter;
use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) struct Reader {
    pub(super) buffer: Arc<ReorderBuffer>,
    pub(super) job: Arc<ReadJob>,
    /// What ends all readers.
    pub(super) token: CancelToken,
    /// What counts the costs of the result.
    pub(super) meters: Vec<Meter>,
}

/// Tells the others that this reader has gone, however it went.
struct Gone(Arc<ReorderBuffer>);

impl Drop for Gone {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(Error::new(Kind::Closed, "a thread that reads a part of the query panicked"));
        }
        self.0.gone();
    }
}

impl Reader {
    pub(super) fn work(self) {
        let _gone = Gone(Arc::clone(&self.buffer));
        if let Err(error) = self.token.run(|| self.read()) {
            self.buffer.fail(error);
        }
    }

    fn read(&self) -> Result<()> {
        let job = &self.job;
        let connection = Connection::open(&job.config)?;
        let transaction = connection.begin_lazy(job.options)?;
        self.check_snapshot(&connection, &transaction)?;
        let statement = transaction.prepare_in(job.dialect, &job.sql)?;
        if statement.columns() != job.info.columns {
            return Err(Error::new(Kind::Changed, "the columns of the query have changed: run it again"));
        }
        let statement = Statement { how: job.how.clone(), ..statement };
        self.buffer.ready();
        let mut before = crate::WireStats::default();
        while let Some(claim) = self.buffer.claim() {
            let mut decoding = Duration::ZERO;
            let read = self.range(&connection, &statement, &transaction, &claim, &mut decoding);
            let spent = connection.wire_stats();
            self.meters.iter().for_each(|meter| meter.add(spent.since(&before)));
            before = spent;
            let has_failed = read.is_err();
            self.buffer.end(&claim, read, decoding);
            if has_failed {
                break;
            }
        }
        Ok(())
    }

    /// Whether this is the database, and the snapshot the one that the leader holds.
    fn check_snapshot(&self, connection: &Connection, transaction: &Transaction) -> Result<()> {
        let (job, id) = (&self.job, transaction.id);
        let leader = Some(job.snapshot.leader);
        let here = connection.shared.run(async |session| Identity::of(session, id, true, leader).await)?;
        if here.database == job.database && here.has_leader {
            return Ok(());
        }
        Err(Error::new(Kind::Misuse, "a reader connected to a different database, or the snapshot is gone"))
    }

    fn range(
        &self,
        connection: &Connection,
        statement: &Statement,
        transaction: &Transaction,
        claim: &Claim,
        decoding: &mut Duration,
    ) -> Result<Yield> {
        let (mut got, operation) = (Yield::default(), Operation::new());
        let mut cursor = statement.query(transaction, self.parameters(claim.range))?;
        while !cursor.is_drained() {
            while self.buffer.reserve(claim, &operation, Instant::now() + KEEP_ALIVE)?.is_pending() {
                connection.ping()?;
            }
            let batch = cursor.next_batch();
            *decoding = cursor.decode_time();
            let Some(batch) = batch? else { break };
            got.rows += batch.num_rows();
            got.batches += 1;
            got.most = got.most.max(batch.num_rows());
            self.buffer.put(claim, batch);
        }
        Ok(got)
    }

    /// The parameters of the query, then the range.
    fn parameters(&self, range: Range) -> Params {
        let given = self.job.parameters.as_ref().map(RecordBatch::columns).unwrap_or_default();
        let borders = [range.from, range.to].map(|page| Arc::new(Int64Array::from(vec![page])) as ArrayRef);
        Params::row(given.iter().cloned().chain(borders))
    }
}
