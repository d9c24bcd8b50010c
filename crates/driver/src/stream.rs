//! Results as record batches, which outlive the handles that made them.

use crate::activity::Task;
use crate::ahead::Ahead;
use crate::blob::Blob;
use crate::bound::BoundQuery;
use crate::error::{Class, Error, Result};
use crate::progress::Progress;
use crate::session::{Membership, Session};
use arrow::array::{LargeBinaryArray, RecordBatch, RecordBatchReader, UInt64Array};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::error::ArrowError;
use firearrow::{Cursor, Transaction};
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

/// A result. Nothing comes after an error.
pub struct Stream {
    schema: SchemaRef,
    source: Source,
    session: Option<Arc<Session>>,
    task: Option<Arc<Task>>,
    /// The transaction of manual mode that it belongs to, if it does.
    membership: Option<Membership>,
    progress: Arc<Progress>,
    /// Another stream hands it on, and ends the task.
    is_read_ahead: bool,
    /// Whether its BLOBs can be read until it is dropped.
    keeps_blobs: bool,
}

/// Where rows come from.
enum Source {
    /// From memory.
    Batches(VecDeque<RecordBatch>),
    /// From the server. A cursor whose BLOBs can be read after its last row does not end its transaction itself.
    Cursor(Box<Cursor>, Option<Transaction>),
    /// From a thread that reads ahead.
    Ahead(Ahead),
    /// From a query that is run once for each row of parameters.
    Bound(Box<BoundQuery>),
    /// From a function of the front end.
    Function(Box<dyn FnMut() -> Result<Option<RecordBatch>> + Send>),
}

/// Runs calls of the client for a result: its session contains their panics, and its task interrupts them.
pub(crate) fn contained<T>(
    session: Option<&Session>,
    task: Option<&Task>,
    call: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let contained = || match session {
        Some(session) => session.contain(call).flatten(),
        None => crate::panic::contain(|| (), call).flatten(),
    };
    match task {
        Some(task) => task.run(contained),
        None => contained(),
    }
}

impl Source {
    fn end(self, stays: bool) {
        // No caller is left to report a failure to.
        match self {
            Self::Cursor(cursor, kept) if stays => {
                drop(cursor.close_and_commit());
                drop(kept.map(Transaction::commit));
            }
            Self::Bound(query) if stays => drop(query.close_and_commit()),
            _ => {}
        }
    }
}

impl Stream {
    /// Returns batches from memory.
    pub fn of_batches(schema: SchemaRef, batches: impl Into<VecDeque<RecordBatch>>) -> Self {
        Self::new(schema, Source::Batches(batches.into()), Arc::default())
    }

    /// Returns a result without columns and rows.
    pub fn empty() -> Self {
        Self::of_batches(Arc::new(Schema::empty()), [])
    }

    /// The rows of a cursor, and the transaction that ends with them, if they have one of their own. Ids of BLOBs are good until
    /// the stream is dropped.
    pub(crate) fn of_cursor(
        cursor: Cursor,
        transaction: Option<Transaction>,
        progress: Arc<Progress>,
    ) -> Self {
        let schema = cursor.schema();
        // Nothing but the ids of BLOBs has this type.
        let has_ids = schema.fields().iter().any(|field| *field.data_type() == DataType::UInt64);
        let (cursor, kept) = match transaction {
            Some(transaction) if !has_ids => (cursor.owning(transaction), None),
            transaction => (cursor, transaction),
        };
        let source = Source::Cursor(Box::new(cursor), kept);
        let mut stream = Self::new(schema, source, progress);
        stream.keeps_blobs = has_ids;
        stream
    }

    pub(crate) fn of_bound(query: BoundQuery, progress: Arc<Progress>) -> Self {
        Self::new(query.schema(), Source::Bound(Box::new(query)), progress)
    }

    /// Returns the batches of `next`, up to `None` or an error.
    pub fn of_function(
        schema: SchemaRef,
        next: impl FnMut() -> Result<Option<RecordBatch>> + Send + 'static,
    ) -> Self {
        Self::new(schema, Source::Function(Box::new(next)), Arc::default())
    }

    fn new(schema: SchemaRef, source: Source, progress: Arc<Progress>) -> Self {
        Self {
            schema,
            source,
            session: None,
            task: None,
            membership: None,
            progress,
            is_read_ahead: false,
            keeps_blobs: false,
        }
    }

    /// Keeps the session alive; the task, which can be cancelled, ends with the result.
    pub fn within(mut self, session: &Arc<Session>, task: &Arc<Task>) -> Self {
        self.session = Some(Arc::clone(session));
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
        let (session, task) = (self.session.clone(), self.task.clone());
        let membership = self.membership.clone();
        self.is_read_ahead = true;
        let ahead = Ahead::start(waiting, task.clone(), move || self.next_batch())?;
        let source = Source::Ahead(ahead);
        let (is_read_ahead, keeps_blobs) = (false, false);
        Ok(Self { schema, source, session, task, membership, progress, is_read_ahead, keeps_blobs })
    }

    fn check(&self) -> Result<()> {
        let Some(session) = &self.session else { return Ok(()) };
        // Only that the connection can be used.
        session.connection()?;
        match &self.membership {
            Some(membership) if !session.includes(membership) => {
                Err(Error::state("the transaction of this result has ended"))
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
        let (session, task) = (self.session.as_deref(), self.task.as_deref());
        let mut next = || match source {
            Source::Batches(batches) => Ok(batches.pop_front()),
            Source::Cursor(cursor, _) => {
                let batch = cursor.next_batch();
                progress.set_cost(&cursor.wire_stats(), cursor.decode_time());
                Ok(batch?)
            }
            // Taken above.
            Source::Ahead(_) => Ok(None),
            Source::Bound(query) => query.next(),
            Source::Function(next) => next(),
        };
        let batch = contained(session, task, &mut next).and_then(|batch| match (batch, task) {
            (Some(batch), Some(task)) => task.check().map(|()| Some(batch)),
            // Without a batch, it was committed.
            (batch, _) => Ok(batch),
        });
        progress.add_time(begin.elapsed());
        if let Ok(Some(batch)) = &batch {
            progress.add_batch(batch.num_rows());
        }
        batch
    }

    /// Reads the next batch. Nothing comes after an error: some consumers would read it again and again.
    ///
    /// # Errors
    /// Those of the execution; [`Class::State`] if its transaction has ended.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let result = self.check().and_then(|()| self.read());
        match result {
            Ok(Some(batch)) => Ok(Some(batch)),
            Ok(None) => {
                if !self.keeps_blobs {
                    self.finish(true);
                }
                Ok(None)
            }
            Err(error) => {
                // The server reports various errors when a cursor's transaction ends under it.
                let ended = self.check().err().filter(|error| error.class() == Class::State);
                let error = ended.unwrap_or(error);
                self.finish(false);
                Err(error)
            }
        }
    }

    /// Asks the cursor for BLOBs whose ids it returned.
    fn ask<T>(&self, question: impl FnOnce(&Cursor) -> firearrow::Result<T>) -> Result<T> {
        self.check()?;
        let Source::Cursor(cursor, _) = &self.source else {
            return Err(Error::state("the result has no BLOBs that can be read by their ids"));
        };
        contained(self.session.as_deref(), self.task.as_deref(), || Ok(question(cursor)?))
    }

    /// Returns the contents of short BLOBs by their ids (option `blobs=lazy`), as
    /// [`Cursor::read_short_blobs`](firearrow::Cursor::read_short_blobs) does.
    ///
    /// # Errors
    /// Those of the server; [`Class::State`] if its transaction has ended, or if it does not come straight from a cursor.
    pub fn read_short_blobs(
        &self,
        ids: &UInt64Array,
        longest: u64,
        enough: usize,
    ) -> Result<LargeBinaryArray> {
        self.ask(|cursor| cursor.read_short_blobs(ids, longest, enough))
    }

    /// Opens a BLOB by its id (option `blobs=lazy`). It can be read until the result is dropped.
    ///
    /// # Errors
    /// Those of [`read_short_blobs`](Self::read_short_blobs).
    pub fn open_blob(&self, id: u64) -> Result<Blob> {
        let reader = self.ask(|cursor| cursor.open_blob(id))?;
        Ok(Blob::new(reader, self.session.clone(), self.task.clone()))
    }

    /// Nothing more comes. If it `stays`, the effect of the statement in a separate transaction is committed.
    fn finish(&mut self, stays: bool) {
        let task = self.task.take().filter(|_| !self.is_read_ahead);
        self.membership = None;
        let source = mem::replace(&mut self.source, Source::Batches(VecDeque::new()));
        let session = self.session.take();
        let end = || match session {
            Some(session) => session.discard(source, |source| source.end(stays)),
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

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // It may not have come to its end: the effect of procedures must not depend on how many of their rows are read.
        let is_cancelled = self.task.as_ref().is_some_and(|task| task.check().is_err());
        self.finish(!is_cancelled);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("schema", &self.schema).finish_non_exhaustive()
    }
}
