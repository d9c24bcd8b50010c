//! Results as streams of record batches.

use super::call::given_up;
use super::parallel::ParallelRows;
use super::shared::{Shared, Work};
use super::statement::Inner;
use super::{BlobReader, Transaction, flow};
use crate::backend::End;
use crate::error::{Error, Result};
use crate::parallel::{Parallelism, WhyPlain};
use crate::row::{OnlyRow, Row, no_value};
use crate::session::reading::Reading;
use crate::stats::{Meter, WireStats};
use crate::value::FromValue;
use arrow::array::{LargeBinaryArray, RecordBatch, UInt64Array};
use arrow::datatypes::SchemaRef;
use firearrow_proto::api::describe::RecordCounts;
use futures_core::Stream;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Mutex;

/// The rows of a query, read batch by batch, or as a [`Stream`]. Memory is bounded by the limits of a few batches. Dropping it
/// [closes](Self::close) it in the background.
#[must_use = "a result that is dropped before its end is closed; a query of a Connection is then rolled back, with whatever it wrote"]
pub struct Cursor {
    state: Arc<State>,
    schema: SchemaRef,
    parallel: Parallelism,
    /// The call that the stream waits for. The mutex is never locked; it only makes the cursor `Sync`.
    next: Option<std::sync::Mutex<Next>>,
    /// A call is running, or was given up.
    is_waiting: bool,
    /// The stream has ended.
    has_ended: bool,
}

type Next = Pin<Box<dyn Future<Output = Result<Option<RecordBatch>>> + Send>>;

fn lock<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State shared by a cursor and its running call.
struct State {
    shared: Arc<Shared>,
    /// Locked by whoever has the session, so that nobody waits for it.
    reading: Arc<Mutex<Reading>>,
    /// Nothing of it is left to be ended.
    is_over: Arc<AtomicBool>,
    /// Its own, and the statement's.
    meters: Vec<Meter>,
    /// The prepared statement, until the cursor is closed: it prevents others from altering its tables.
    statement: std::sync::Mutex<Option<Arc<Inner>>>,
    /// Those that read the rows, until their end.
    parallel_rows: std::sync::Mutex<Option<Arc<ParallelRows>>>,
    /// What they spent decoding.
    decoding: std::sync::Mutex<Duration>,
}

impl State {
    fn parallel_rows(&self) -> Option<Arc<ParallelRows>> {
        lock(&self.parallel_rows).clone()
    }

    /// Waits for the end of the readers.
    async fn end_readers(&self) {
        if let Some(rows) = self.parallel_rows() {
            rows.end(&self.shared).await;
            *lock(&self.decoding) = rows.decoding();
            lock(&self.parallel_rows).take();
        }
    }

    /// The readers have failed, or the wait for them.
    async fn fail_readers(&self, error: Error) -> Error {
        self.end_readers().await;
        let (reading, is_over) = (Arc::clone(&self.reading), Arc::clone(&self.is_over));
        let failed = error.clone();
        let fail = flow!(session => {
            let mut reading = reading.lock().await;
            let error = session.fail(&mut reading, failed).await;
            is_over.store(reading.is_over(), Ordering::SeqCst);
            Ok(error)
        });
        lock(&self.statement).take();
        self.shared.finish(self.meters.clone(), fail).await.unwrap_or(error)
    }

    async fn next_batch(&self) -> Result<Option<RecordBatch>> {
        // A connection that was lost does not fail before the reading has ended, when the snapshot is given up.
        let rows = self.parallel_rows();
        if let Some(rows) = &rows {
            match rows.next(&self.shared).await {
                Ok(None) => self.end_readers().await,
                Ok(Some(batch)) => return Ok(Some(batch)),
                Err(error) => return Err(self.fail_readers(error).await),
            }
        }
        let (reading, meters) = (Arc::clone(&self.reading), self.meters.clone());
        let is_over = Arc::clone(&self.is_over);
        let next = flow!(session => {
            let mut reading = reading.lock().await;
            let batch = session.next(&mut reading).await;
            is_over.store(reading.is_over(), Ordering::SeqCst);
            if let Some(own) = meters.first() {
                own.note(reading.counts(), reading.decoding());
            }
            batch
        });
        let batch = self.shared.metered(self.meters.clone(), next).await;
        if !matches!(batch, Ok(Some(_))) {
            lock(&self.statement).take();
        }
        batch
    }
}

impl Cursor {
    pub(super) async fn open(
        shared: &Arc<Shared>,
        statement: Option<&Arc<Inner>>,
        open: Work<Reading>,
    ) -> Result<Self> {
        let meters: Vec<Meter> = [Meter::default()]
            .into_iter()
            .chain(statement.map(|statement| statement.meter.clone()))
            .collect();
        let (owner, own, statement) = (Arc::clone(shared), meters.clone(), statement.cloned());
        // Made in the task of the call: should nobody wait any more, it is closed there.
        let open = flow!(session => {
            let reading = open(session).await?;
            if let Some(own) = own.first() {
                own.note(reading.counts(), reading.decoding());
            }
            let schema = reading.schema();
            let reading = Arc::new(Mutex::new(reading));
            let is_over = Arc::default();
            let statement = std::sync::Mutex::new(statement);
            let (parallel_rows, decoding) = Default::default();
            let state = State { shared: owner, reading, is_over, meters: own, statement, parallel_rows, decoding };
            Ok(Self::of(state, schema))
        });
        shared.metered(meters, open).await
    }

    fn of(state: State, schema: SchemaRef) -> Self {
        let parallel = Parallelism::Plain(WhyPlain::NotWanted);
        Self { state: Arc::new(state), schema, parallel, next: None, is_waiting: false, has_ended: false }
    }

    /// Of a prepared statement that others read.
    pub(super) fn read_by(
        statement: &Arc<Inner>,
        reading: Reading,
        meters: Vec<Meter>,
        rows: ParallelRows,
    ) -> Self {
        let (schema, parallel) = (reading.schema(), Parallelism::Readers(rows.readers()));
        let state = State {
            shared: Arc::clone(&statement.shared),
            reading: Arc::new(Mutex::new(reading)),
            is_over: Arc::default(),
            meters,
            statement: std::sync::Mutex::new(Some(Arc::clone(statement))),
            parallel_rows: std::sync::Mutex::new(Some(Arc::new(rows))),
            decoding: Default::default(),
        };
        Self { parallel, ..Self::of(state, schema) }
    }

    /// Read by its own connection, for this reason.
    pub(super) fn plain(self, why: WhyPlain) -> Self {
        Self { parallel: Parallelism::Plain(why), ..self }
    }

    /// Returns how many connections read the rows, or why only one does; see
    /// [`Statement::with_parallel`](crate::asynchronous::Statement::with_parallel).
    pub fn parallel(&self) -> &Parallelism {
        &self.parallel
    }

    /// The share of the table whose rows were handed out, from 0 to 1, while several connections read it; see
    /// [`parallel`](Self::parallel). Otherwise `None`: the engine does not tell how many rows a query has.
    pub fn progress(&self) -> Option<f64> {
        self.state.parallel_rows().map(|rows| rows.share())
    }

    /// The most batches of the readers that waited or were being made at a time, for tests.
    #[doc(hidden)]
    pub fn most_batches_ahead(&self) -> usize {
        self.state.parallel_rows().map_or(0, |rows| rows.peak())
    }

    /// Ends `transaction` together with the cursor: commits it at the end of the rows, and rolls it back when the
    /// cursor fails or is closed earlier.
    pub async fn owning(self, transaction: Transaction) -> Self {
        let mut reading = self.state.reading.lock().await;
        reading.own(transaction.into_id());
        drop(reading);
        self
    }

    /// Columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Rows that a statement with RETURNING changed, where the engine counts them.
    pub fn affected_rows(&self) -> Option<u64> {
        self.record_counts().map(|counts| counts.affected())
    }

    /// The same, broken down by operation.
    pub fn record_counts(&self) -> Option<RecordCounts> {
        self.state.meters.first().and_then(Meter::counts)
    }

    /// Returns what this result has cost so far, from its execution on. Each packet counts toward the call that sent
    /// it: preparing known SQL is sent with its execution, and rows requested ahead may arrive while another call
    /// waits. All zero for an engine in this process.
    pub fn wire_stats(&self) -> WireStats {
        self.state.meters.first().map(Meter::read).unwrap_or_default()
    }

    /// Returns the time spent making Arrow values of this result so far.
    pub fn decode_time(&self) -> Duration {
        let rows = self.state.parallel_rows();
        let readers = rows.map_or_else(|| *lock(&self.state.decoding), |rows| rows.decoding());
        readers + self.state.meters.first().map(Meter::decoding).unwrap_or_default()
    }

    /// Returns the value that `read` takes from the only row; `None` if there are no rows. For a column that may be NULL,
    /// let `T` be an `Option`. The rows are read to their end first, so a transaction that the result
    /// [owns](Self::owning) is committed before `read` runs.
    ///
    /// ```no_run
    /// # use firearrow::asynchronous::Connection;
    /// # use firearrow::params;
    /// # async fn one() -> Result<(), Box<dyn std::error::Error>> {
    /// # let connection = Connection::connect("firebird://localhost/employee").await?;
    /// let sql = "SELECT currency FROM country WHERE country = ?";
    /// let cursor = connection.query_with(sql, params!["Japan"]).await?;
    /// let currency: Option<String> = cursor.one_row(|row| row.get(0)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Kind::Data`](crate::Kind::Data) if there are several rows; those of `read`.
    pub async fn one_row<T>(mut self, read: impl FnOnce(Row<'_>) -> Result<T>) -> Result<Option<T>> {
        let mut only = OnlyRow::default();
        while let Some(batch) = self.next_batch().await? {
            only.add(batch)?;
        }
        only.read(read)
    }

    /// Returns the first column of the only row: `connection.query("SELECT COUNT(*) FROM t").await?.value().await?`. For a column
    /// that may be NULL, let `T` be an `Option`.
    ///
    /// # Errors
    /// Those of [`one_row`](Self::one_row), and [`Kind::Data`](crate::Kind::Data) if there is no row.
    pub async fn value<T: for<'a> FromValue<'a>>(self) -> Result<T> {
        let value = self.one_row(|row| row.get(0)).await?;
        value.ok_or_else(no_value)
    }

    /// Returns the next batch; `None` at the end, and from then on. A failed cursor repeats its error. Dropping the
    /// future fails the cursor: the rows in transit are lost. As a [`Stream`] it continues to wait instead.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if std::mem::replace(&mut self.is_waiting, true) {
            return Err(given_up());
        }
        let batch = match self.next.take() {
            Some(next) => next.into_inner().unwrap_or_else(PoisonError::into_inner).await,
            None => self.state.next_batch().await,
        };
        self.is_waiting = false;
        batch
    }

    /// Returns the contents of BLOBs whose ids this cursor returned (option `blobs=lazy`), in the same order; NULL for
    /// NULL. Text is UTF-8. One round trip fetches hundreds. Once BLOBs of a statement have been read, short ones come with its
    /// rows the next time, where the server supports that.
    ///
    /// # Errors
    /// [`Kind::Misuse`](crate::Kind::Misuse) once the cursor's own transaction has ended, which for
    /// [`Connection::query`](crate::Connection::query) is at its last row.
    pub async fn read_blobs(&self, ids: &UInt64Array) -> Result<LargeBinaryArray> {
        let (reading, ids) = (Arc::clone(&self.state.reading), ids.clone());
        let read = flow!(session => {
            let reading = reading.lock().await;
            session.read_blobs_of(&reading, &ids).await
        });
        self.state.shared.metered(self.state.meters.clone(), read).await
    }

    /// Returns the contents of BLOBs whose ids this cursor returned, in the same order, until `enough` bytes have come: the
    /// result is shorter than `ids` then. NULL for NULL, and for BLOBs longer than `longest` bytes, which
    /// [`open_blob`](Self::open_blob) streams. Text is UTF-8.
    ///
    /// # Errors
    /// Those of [`read_blobs`](Self::read_blobs).
    pub async fn read_short_blobs(
        &self,
        ids: &UInt64Array,
        longest: u64,
        enough: usize,
    ) -> Result<LargeBinaryArray> {
        let (reading, ids) = (Arc::clone(&self.state.reading), ids.clone());
        let read = flow!(session => {
            let reading = reading.lock().await;
            session.read_short_blobs_of(&reading, &ids, longest, enough).await
        });
        self.state.shared.metered(self.state.meters.clone(), read).await
    }

    /// Opens a BLOB whose id this cursor returned as a stream of bytes, as
    /// [`Transaction::open_blob`](crate::asynchronous::Transaction::open_blob) does.
    ///
    /// # Errors
    /// Those of [`read_blobs`](Self::read_blobs).
    pub async fn open_blob(&self, id: u64) -> Result<BlobReader> {
        let transaction = self.state.reading.lock().await.transaction();
        BlobReader::open(&self.state.shared, transaction, id).await
    }

    /// Closes the cursor before its end and drops the unread rows. A server that is still producing rows is
    /// interrupted. If another fetch is already queued, `close` waits until the server is done or the call is
    /// [cancelled](crate::CancelHandle). A transaction that the cursor owns is rolled back.
    pub async fn close(self) -> Result<()> {
        self.leave(End::Rollback).await
    }

    /// Like [`close`](Self::close), but commits a transaction that the cursor owns: what the statement has done so far
    /// stays.
    pub async fn close_and_commit(self) -> Result<()> {
        self.leave(End::Commit).await
    }

    async fn leave(mut self, end: End) -> Result<()> {
        self.next = None;
        self.state.end_readers().await;
        let reading = Arc::clone(&self.state.reading);
        let leave = flow!(session => {
            let mut reading = reading.lock().await;
            session.leave(&mut reading, end).await
        });
        self.state.shared.finish(self.state.meters.clone(), leave).await
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.is_over.load(Ordering::SeqCst) {
            return;
        }
        let reading = Arc::clone(&self.reading);
        self.shared.discard(flow!(session => {
            let mut reading = reading.lock().await;
            session.leave(&mut reading, End::Rollback).await
        }));
    }
}

impl Stream for Cursor {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        if self.is_waiting {
            self.has_ended = true;
            return Poll::Ready(Some(Err(given_up())));
        }
        let state = Arc::clone(&self.state);
        let next = || std::sync::Mutex::new(Box::pin(async move { state.next_batch().await }) as Next);
        let next = self.next.get_or_insert_with(next).get_mut().unwrap_or_else(PoisonError::into_inner);
        let Poll::Ready(batch) = next.as_mut().poll(context) else { return Poll::Pending };
        self.next = None;
        // A stream ends after its error; next_batch would repeat it for ever.
        self.has_ended = !matches!(batch, Ok(Some(_)));
        Poll::Ready(batch.transpose())
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").finish_non_exhaustive()
    }
}
