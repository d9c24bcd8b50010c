//! Results as record batches.

use super::parallel::ParallelRows;
use super::shared::{BlockingSession, Shared};
use super::statement::Inner;
use super::{BlobReader, Transaction};
use crate::backend::End;
use crate::error::{Error, Result};
use crate::parallel::{Parallelism, WhyPlain};
use crate::row::{OnlyRow, Row, no_value};
use crate::session::reading::Reading;
use crate::stats::{Meter, WireStats};
use crate::value::FromValue;
use arrow::array::{LargeBinaryArray, RecordBatch, RecordBatchReader, UInt64Array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use firearrow_proto::api::describe::RecordCounts;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The rows of a query, read batch by batch. Memory is bounded by the limits of a few batches. Dropping it [closes](Self::close) it.
#[must_use = "a result that is dropped before its end is closed; a query of a Connection is then rolled back, with whatever it wrote"]
pub struct Cursor {
    shared: Arc<Shared>,
    /// The prepared statement, until the cursor is closed: it prevents others from altering its tables.
    statement: Option<Arc<Inner>>,
    reading: Reading,
    /// Its own, and the statement's.
    meters: Vec<Meter>,
    /// Those that read the rows, until their end.
    parallel_rows: Option<ParallelRows>,
    parallel: Parallelism,
    /// What the readers spent decoding, when they have gone.
    decoding: Duration,
}

impl Cursor {
    /// Of SQL text.
    pub(super) fn open(
        shared: &Arc<Shared>,
        open: impl AsyncFnOnce(&mut BlockingSession) -> Result<Reading>,
    ) -> Result<Self> {
        let meters = vec![Meter::default()];
        let reading = shared.metered(&meters, open)?;
        Ok(Self::new(Arc::clone(shared), None, reading, meters))
    }

    /// Of a prepared statement.
    pub(super) fn of(statement: &Arc<Inner>, open: impl FnOnce(&[Meter]) -> Result<Reading>) -> Result<Self> {
        let meters = vec![Meter::default(), statement.meter.clone()];
        let reading = open(&meters)?;
        let shared = Arc::clone(&statement.shared);
        Ok(Self::new(shared, Some(Arc::clone(statement)), reading, meters))
    }

    /// Of a prepared statement that others read.
    pub(super) fn read_by(
        statement: &Arc<Inner>,
        reading: Reading,
        meters: Vec<Meter>,
        rows: ParallelRows,
    ) -> Self {
        let parallel = Parallelism::Readers(rows.readers());
        let shared = Arc::clone(&statement.shared);
        let mut cursor = Self::new(shared, Some(Arc::clone(statement)), reading, meters);
        (cursor.parallel, cursor.parallel_rows) = (parallel, Some(rows));
        cursor
    }

    fn new(shared: Arc<Shared>, statement: Option<Arc<Inner>>, reading: Reading, meters: Vec<Meter>) -> Self {
        let parallel = Parallelism::Plain(WhyPlain::NotWanted);
        Self { shared, statement, reading, meters, parallel_rows: None, parallel, decoding: Duration::ZERO }
    }

    /// Read by its own connection, for this reason.
    pub(super) fn plain(mut self, why: WhyPlain) -> Self {
        self.parallel = Parallelism::Plain(why);
        self
    }

    /// Ends `transaction` together with the cursor: commits it at the end of the rows, and rolls it back when the
    /// cursor fails or is closed earlier.
    pub fn owning(mut self, transaction: Transaction) -> Self {
        self.reading.own(transaction.into_id());
        self
    }

    /// Columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        self.reading.schema()
    }

    /// Rows that a statement with RETURNING changed, where the engine counts them.
    pub fn affected_rows(&self) -> Option<u64> {
        self.record_counts().map(|counts| counts.affected())
    }

    /// The same, broken down by operation.
    pub fn record_counts(&self) -> Option<RecordCounts> {
        self.reading.counts()
    }

    /// Returns what this result has cost so far, from its execution on. Each packet counts toward the call that sent
    /// it: preparing known SQL is sent with its execution, and rows requested ahead may arrive while another call
    /// waits. All zero for an engine in this process.
    pub fn wire_stats(&self) -> WireStats {
        self.meters.first().map(Meter::read).unwrap_or_default()
    }

    /// Returns the time spent making Arrow values of this result so far.
    pub fn decode_time(&self) -> Duration {
        let readers = self.parallel_rows.as_ref().map_or(self.decoding, ParallelRows::decoding);
        readers + self.reading.decoding()
    }

    /// Returns the value that `read` takes from the only row; `None` if there are no rows. For a column that may be NULL,
    /// let `T` be an `Option`. The rows are read to their end first, so a transaction that the result
    /// [owns](Self::owning) is committed before `read` runs.
    ///
    /// ```no_run
    /// # use firearrow::{Connection, params};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let connection = Connection::connect("firebird://localhost/employee")?;
    /// let sql = "SELECT currency FROM country WHERE country = ?";
    /// let cursor = connection.query_with(sql, params!["Japan"])?;
    /// let currency: Option<String> = cursor.one_row(|row| row.get(0))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Kind::Data`](crate::Kind::Data) if there are several rows; those of `read`.
    pub fn one_row<T>(mut self, read: impl FnOnce(Row<'_>) -> Result<T>) -> Result<Option<T>> {
        let mut only = OnlyRow::default();
        while let Some(batch) = self.next_batch()? {
            only.add(batch)?;
        }
        only.read(read)
    }

    /// Returns the first column of the only row: `connection.query("SELECT COUNT(*) FROM t")?.value()?`. For a column
    /// that may be NULL, let `T` be an `Option`.
    ///
    /// # Errors
    /// Those of [`one_row`](Self::one_row), and [`Kind::Data`](crate::Kind::Data) if there is no row.
    pub fn value<T: for<'a> FromValue<'a>>(self) -> Result<T> {
        let value = self.one_row(|row| row.get(0))?;
        value.ok_or_else(no_value)
    }

    /// Returns the next batch; `None` at the end, and from then on. A failed cursor repeats its error.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(outcome) = self.reading.outcome() {
            return outcome.map(|()| None);
        }
        if let Some(rows) = &self.parallel_rows {
            match rows.next(&self.shared) {
                Ok(None) => self.end_readers(),
                Ok(Some(batch)) => return Ok(Some(batch)),
                Err(error) => return Err(self.fail_readers(error)),
            }
        }
        let Self { shared, reading, meters, .. } = self;
        let batch = shared.metered(meters, async |session| session.next(reading).await);
        if !self.reading.is_open() {
            self.statement = None;
        }
        batch
    }

    /// Returns the contents of BLOBs whose ids this cursor returned (option `blobs=lazy`), in the same order; NULL for
    /// NULL. Text is UTF-8. One round trip fetches hundreds. Once BLOBs of a statement have been read, short ones come with its
    /// rows the next time, where the server supports that.
    ///
    /// # Errors
    /// [`Kind::Misuse`](crate::Kind::Misuse) once the cursor's own transaction has ended, which for
    /// [`Connection::query`](crate::Connection::query) is at its last row.
    pub fn read_blobs(&self, ids: &UInt64Array) -> Result<LargeBinaryArray> {
        let Self { shared, reading, meters, .. } = self;
        shared.metered(meters, async |session| session.read_blobs_of(reading, ids).await)
    }

    /// Returns the contents of BLOBs whose ids this cursor returned, in the same order, until `enough` bytes have come: the
    /// result is shorter than `ids` then. NULL for NULL, and for BLOBs longer than `longest` bytes, which
    /// [`open_blob`](Self::open_blob) streams. Text is UTF-8.
    ///
    /// # Errors
    /// Those of [`read_blobs`](Self::read_blobs).
    pub fn read_short_blobs(
        &self,
        ids: &UInt64Array,
        longest: u64,
        enough: usize,
    ) -> Result<LargeBinaryArray> {
        let Self { shared, reading, meters, .. } = self;
        let read = async |session: &mut BlockingSession| {
            session.read_short_blobs_of(reading, ids, longest, enough).await
        };
        shared.metered(meters, read)
    }

    /// Opens a BLOB whose id this cursor returned as a stream of bytes, as
    /// [`Transaction::open_blob`](crate::Transaction::open_blob) does.
    ///
    /// # Errors
    /// Those of [`read_blobs`](Self::read_blobs).
    pub fn open_blob(&self, id: u64) -> Result<BlobReader> {
        BlobReader::open(&self.shared, self.reading.transaction(), id)
    }

    /// Closes the cursor before its end and drops the unread rows. A server that is still producing rows is
    /// interrupted. If another fetch is already queued, `close` waits until the server is done or the call is
    /// [cancelled](crate::CancelHandle). A transaction that the cursor owns is rolled back.
    pub fn close(mut self) -> Result<()> {
        self.leave(End::Rollback)
    }

    /// Like [`close`](Self::close), but commits a transaction that the cursor owns: what the statement has done so far
    /// stays.
    pub fn close_and_commit(mut self) -> Result<()> {
        self.leave(End::Commit)
    }

    /// Returns how many connections read the rows, or why only one does; see
    /// [`Statement::with_parallel`](crate::Statement::with_parallel).
    pub fn parallel(&self) -> &Parallelism {
        &self.parallel
    }

    /// The share of the table whose rows were handed out, from 0 to 1, while several connections read it; see
    /// [`parallel`](Self::parallel). Otherwise `None`: the engine does not tell how many rows a query has.
    pub fn progress(&self) -> Option<f64> {
        self.parallel_rows.as_ref().map(ParallelRows::share)
    }

    /// The most batches of the readers that waited or were being made at a time, for tests.
    #[doc(hidden)]
    pub fn most_batches_ahead(&self) -> usize {
        self.parallel_rows.as_ref().map_or(0, ParallelRows::peak)
    }

    /// Whether no more rows will come, known without asking.
    pub(crate) fn is_drained(&self) -> bool {
        self.reading.is_drained()
    }

    fn end_readers(&mut self) {
        if let Some(rows) = self.parallel_rows.take() {
            self.decoding = rows.decoding();
            rows.end(&self.shared);
        }
    }

    /// The readers have failed, or the wait for them.
    fn fail_readers(&mut self, error: Error) -> Error {
        self.end_readers();
        let Self { shared, reading, meters, .. } = self;
        let failed = shared.finish(meters, async |session| Ok(session.fail(reading, error.clone()).await));
        self.statement = None;
        failed.unwrap_or(error)
    }

    fn leave(&mut self, end: End) -> Result<()> {
        self.end_readers();
        if self.reading.is_over() {
            return Ok(());
        }
        let Self { shared, reading, meters, .. } = self;
        let left = shared.finish(meters, async |session| session.leave(reading, end).await);
        self.statement = None;
        left
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        if let Err(error) = self.leave(End::Rollback) {
            tracing::debug!(%error, "closing a cursor failed");
        }
    }
}

impl Iterator for Cursor {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(batch) => batch.map(Ok),
            Err(error) => {
                // A stream ends after its error; next_batch would repeat it for ever.
                self.reading.forget_failure();
                Some(Err(error.into()))
            }
        }
    }
}

impl RecordBatchReader for Cursor {
    fn schema(&self) -> SchemaRef {
        self.reading.schema()
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("is_open", &self.reading.is_open()).finish_non_exhaustive()
    }
}
