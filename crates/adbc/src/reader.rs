//! Streams: results as record batches, which live on when the handles that made them are gone.

use crate::activity::Task;
use crate::ahead::Ahead;
use crate::attachment::{Attachment, Membership};
use crate::bind::{Failure, Rows};
use crate::error::{Result, into_arrow, invalid_state, of, of_row};
use crate::progress::Progress;
use adbc_core::error::{Error, Status};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use firearrow::{Cursor, OnFailure, RowsCursor, RowsExecuted, Statement, Transaction};
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

/// A result.
pub(crate) struct Stream {
    schema: SchemaRef,
    source: Source,
    attachment: Option<Arc<Attachment>>,
    task: Option<Arc<Task>>,
    /// The transaction of manual mode that it belongs to, if it does.
    membership: Option<Membership>,
    progress: Arc<Progress>,
    /// Another stream hands it on, and ends the task.
    is_read_ahead: bool,
}

/// Where rows come from.
enum Source {
    /// From memory.
    Batches(VecDeque<RecordBatch>),
    /// From the server.
    Cursor(Box<Cursor>),
    /// From a thread that reads ahead.
    Ahead(Ahead),
    /// From a query that is run once for each row of parameters.
    Bound(Box<BoundQuery>),
    /// From a test.
    #[cfg(test)]
    Test(Box<dyn FnMut() -> Result<Option<RecordBatch>> + Send>),
}

impl Source {
    fn end(self, stays: bool) {
        // Nobody is left to be told of a failure.
        match self {
            Self::Cursor(cursor) if stays => drop(cursor.close_and_commit()),
            Self::Bound(query) if stays => drop(query.close_and_commit()),
            _ => {}
        }
    }
}

/// A query that is run once for each row of parameters.
pub(crate) struct BoundQuery {
    cursor: RowsCursor,
    /// The transaction of this execution; else it is that of the connection.
    transaction: Option<Transaction>,
    failure: Failure,
}

impl Stream {
    /// Batches that are there already.
    pub(crate) fn of_batches(schema: SchemaRef, batches: impl Into<VecDeque<RecordBatch>>) -> Self {
        Self::new(schema, Source::Batches(batches.into()), Arc::default())
    }

    /// No columns, no rows.
    pub(crate) fn empty() -> Self {
        Self::of_batches(Arc::new(Schema::empty()), [])
    }

    pub(crate) fn of_cursor(cursor: Cursor, progress: Arc<Progress>) -> Self {
        Self::new(cursor.schema(), Source::Cursor(Box::new(cursor)), progress)
    }

    pub(crate) fn of_bound(query: BoundQuery, progress: Arc<Progress>) -> Self {
        Self::new(query.schema(), Source::Bound(Box::new(query)), progress)
    }

    #[cfg(test)]
    pub(crate) fn of_test(next: impl FnMut() -> Result<Option<RecordBatch>> + Send + 'static) -> Self {
        Self::new(Arc::new(Schema::empty()), Source::Test(Box::new(next)), Arc::default())
    }

    fn new(schema: SchemaRef, source: Source, progress: Arc<Progress>) -> Self {
        Self {
            schema,
            source,
            attachment: None,
            task: None,
            membership: None,
            progress,
            is_read_ahead: false,
        }
    }

    /// Reads through an attachment; what that costs belongs to `task`.
    pub(crate) fn within(mut self, attachment: &Arc<Attachment>, task: &Arc<Task>) -> Self {
        self.attachment = Some(Arc::clone(attachment));
        self.task = Some(Arc::clone(task));
        self
    }

    /// Ends with the transaction of manual mode.
    pub(crate) fn until(mut self, membership: Membership) -> Self {
        self.membership = Some(membership);
        self
    }

    /// Reads this many batches ahead, on another thread.
    pub(crate) fn ahead(mut self, batches: usize) -> Result<Self> {
        let Some(waiting) = batches.checked_sub(1) else { return Ok(self) };
        let (schema, progress) = (Arc::clone(&self.schema), Arc::clone(&self.progress));
        let (attachment, task) = (self.attachment.clone(), self.task.clone());
        let membership = self.membership.clone();
        self.is_read_ahead = true;
        let ahead = Ahead::start(waiting, task.clone(), move || self.next_batch())?;
        let source = Source::Ahead(ahead);
        Ok(Self { schema, source, attachment, task, membership, progress, is_read_ahead: false })
    }

    fn check(&self) -> Result<()> {
        let Some(attachment) = &self.attachment else { return Ok(()) };
        // Only that the connection can be used.
        attachment.connection()?;
        match &self.membership {
            Some(membership) if !attachment.includes(membership) => {
                Err(invalid_state("the transaction of this result has ended"))
            }
            _ => Ok(()),
        }
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        if let Source::Ahead(ahead) = &self.source {
            return ahead.next_batch();
        }
        let begin = Instant::now();
        let Self { source, progress, .. } = self;
        let (attachment, task) = (self.attachment.as_deref(), self.task.as_deref());
        let mut next = || match source {
            Source::Batches(batches) => Ok(batches.pop_front()),
            Source::Cursor(cursor) => {
                let batch = cursor.next_batch().map_err(of);
                progress.set_wire(&cursor.wire_stats());
                progress.set_decoding(cursor.decode_time());
                batch
            }
            // Taken above.
            Source::Ahead(_) => Ok(None),
            Source::Bound(query) => query.next(progress),
            #[cfg(test)]
            Source::Test(next) => next(),
        };
        let mut contained = || match attachment {
            Some(attachment) => attachment.contain(&mut next),
            None => crate::panic::contain(|| (), &mut next),
        };
        let batch = match task {
            Some(task) => task.run(contained).and_then(|batch| task.check().map(|()| batch)),
            None => contained(),
        };
        progress.add_time(begin.elapsed());
        if let Ok(Some(batch)) = &batch {
            progress.add_batch(batch.num_rows());
        }
        batch
    }

    /// The next batch. Nothing comes after an error: some consumers would read it for ever.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let result = self.check().and_then(|()| self.read());
        match result {
            Ok(Some(batch)) => Ok(Some(batch)),
            Ok(None) => {
                self.finish(true);
                Ok(None)
            }
            Err(error) => {
                // The server says many things when a transaction is taken away from below a cursor.
                let error =
                    self.check().err().filter(|error| error.status == Status::InvalidState).unwrap_or(error);
                self.finish(false);
                Err(error)
            }
        }
    }

    /// Nothing more comes. If it `stays`, what the statement has done in a transaction of its own is committed.
    fn finish(&mut self, stays: bool) {
        let task = self.task.take().filter(|_| !self.is_read_ahead);
        self.membership = None;
        let source = mem::replace(&mut self.source, Source::Batches(VecDeque::new()));
        let attachment = self.attachment.take();
        let end = || match attachment {
            Some(attachment) => attachment.discard(source, |source| source.end(stays)),
            None => drop(source),
        };
        match task {
            // A server that is busy with more rows may take its time.
            Some(task) => {
                task.finish(end);
                task.end();
            }
            None => end(),
        }
    }
}

impl BoundQuery {
    /// Runs it until its first rows are there.
    pub(crate) fn open(statement: &Statement, transaction: &Transaction, rows: Rows) -> Result<Self> {
        let failure = rows.failure();
        let opened = statement.query_stream(transaction, rows, OnFailure::Stop);
        let cursor = opened.map_err(|error| of_rows(error, &failure))?;
        Ok(Self { cursor, transaction: None, failure })
    }

    /// Ends `transaction` together with it.
    pub(crate) fn owning(self, transaction: Transaction) -> Self {
        Self { transaction: Some(transaction), ..self }
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.cursor.schema()
    }

    /// Ends it before its end; what it has done until then stays.
    fn close_and_commit(self) -> Result<()> {
        let Self { cursor, transaction, .. } = self;
        drop(cursor);
        transaction.map_or(Ok(()), |transaction| transaction.commit().map_err(of))
    }

    /// What became of the rows of parameters, once all have been read.
    pub(crate) fn executed(&self) -> &RowsExecuted {
        self.cursor.executed()
    }

    pub(crate) fn next(&mut self, progress: &Progress) -> Result<Option<RecordBatch>> {
        let batch = self.cursor.next_batch();
        progress.set_wire(&self.cursor.wire_stats());
        progress.set_decoding(self.cursor.decode_time());
        let batch = batch.map_err(|error| of_rows(error, &self.failure))?;
        if batch.is_none()
            && let Some(transaction) = self.transaction.take()
        {
            transaction.commit().map_err(of)?;
        }
        Ok(batch)
    }
}

/// An error that ended an execution for many rows: that of the row, of the reader, or of the whole.
fn of_rows(error: firearrow::Error, failure: &Failure) -> Error {
    match error.rows_executed().and_then(|done| done.failures.first()) {
        Some(failed) => of_row(failed.row, failed.error.clone()),
        None => failure.instead_of(of(error)),
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(into_arrow).transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Released before its end; so that procedures do not depend on how many of their rows are read.
        let is_cancelled = self.task.as_ref().is_some_and(|task| task.check().is_err());
        self.finish(!is_cancelled);
    }
}
