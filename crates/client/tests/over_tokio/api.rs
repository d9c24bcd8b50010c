//! The types of the blocking API as wrappers of the asynchronous ones.

use crate::waiting::{enter, wait};
use arrow::array::{LargeBinaryArray, RecordBatch, RecordBatchReader, UInt64Array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use futures_core::Stream;
use real::asynchronous as inner;
use real::catalog::{Column, Constraint, Index, Name, Table};
use real::config::Config;
use real::{
    BatchLimits, CancelHandle, Counters, DatabaseStatistics, Dialect, EventCounts, Executed, OnFailure,
    Params, Partition, PartitionOptions, Position, ReadOptions, Result, RowsExecuted, ScrollOptions,
    ServerInfo, TransactionOptions, Warning, WireStats, WriteOptions,
};
use std::io;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Something that ends in the background when it is dropped, which takes a runtime.
#[derive(Debug)]
pub(crate) struct Held<T>(Option<T>);

impl<T> Held<T> {
    fn take(mut self) -> T {
        self.0.take().expect("it is taken once")
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is taken at its end")
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is taken at its end")
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        let _entered = enter();
        drop(self.0.take());
    }
}

macro_rules! wrappers {
    ($($name:ident),+) => { $(
        #[derive(Debug)]
        pub(crate) struct $name(Held<inner::$name>);

        impl From<inner::$name> for $name {
            fn from(inner: inner::$name) -> Self {
                Self(Held(Some(inner)))
            }
        }
    )+ };
}

wrappers!(
    Connection,
    Transaction,
    Cursor,
    RowsCursor,
    ScrollCursor,
    Catalog,
    EventListener,
    PartitionedQuery
);

/// Clones are the same statement.
#[derive(Clone, Debug)]
pub(crate) struct Statement(std::sync::Arc<Held<inner::Statement>>);

impl From<inner::Statement> for Statement {
    fn from(inner: inner::Statement) -> Self {
        Self(std::sync::Arc::new(Held(Some(inner))))
    }
}

/// Methods that wait for those of the same name.
macro_rules! waits {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> $result:ty;)+) => { $(
        pub(crate) fn $name(&self $(, $argument: $type)*) -> Result<$result> {
            Ok(wait(self.0.$name($($argument),*))?.into())
        }
    )+ };
}

macro_rules! waits_mut {
    ($(fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) -> $result:ty;)+) => { $(
        pub(crate) fn $name(&mut self $(, $argument: $type)*) -> Result<$result> {
            Ok(wait(self.0.$name($($argument),*))?.into())
        }
    )+ };
}

impl Connection {
    pub(crate) fn connect(url: &str) -> Result<Self> {
        Ok(wait(inner::Connection::connect(url))?.into())
    }

    pub(crate) fn open(config: &Config) -> Result<Self> {
        Ok(wait(inner::Connection::open(config))?.into())
    }

    pub(crate) fn create(config: &Config) -> Result<Self> {
        Ok(wait(inner::Connection::create(config))?.into())
    }

    waits! {
        fn begin(&self, options: TransactionOptions) -> Transaction;
        fn begin_lazy(&self, options: TransactionOptions) -> Transaction;
        fn prepare(&self, sql: &str) -> Statement;
        fn prepare_in(&self, dialect: Dialect, sql: &str) -> Statement;
        fn query(&self, sql: &str) -> Cursor;
        fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Cursor;
        fn execute(&self, sql: &str) -> Executed;
        fn execute_with(&self, sql: &str, parameters: impl Into<Params>) -> Executed;
        fn info(&self) -> ServerInfo;
        fn limit_session(&self, statement: Option<Duration>, idle: Option<Duration>) -> ();
        fn ping(&self) -> ();
        fn reset(&self) -> ();
        fn catalog(&self) -> Catalog;
        fn statistics(&self) -> DatabaseStatistics;
        fn counters(&self) -> Counters;
        fn partition(&self, sql: &str, parameters: impl Into<Params>, options: &PartitionOptions) -> PartitionedQuery;
        fn read_partition(&self, partition: &Partition, limits: BatchLimits) -> Cursor;
        fn limbo_transactions(&self) -> Vec<u64>;
        fn recover(&self, number: u64) -> Transaction;
        fn events(&self, names: &[&str]) -> EventListener;
    }

    pub(crate) fn partition_reading(
        &self,
        sql: &str,
        parameters: impl Into<Params>,
        options: &PartitionOptions,
        read: &ReadOptions,
    ) -> Result<PartitionedQuery> {
        Ok(wait(self.0.partition_reading(sql, parameters, options, read))?.into())
    }

    pub(crate) fn wire_stats(&self) -> WireStats {
        self.0.wire_stats()
    }

    pub(crate) fn warnings(&self) -> &[Warning] {
        self.0.warnings()
    }

    pub(crate) fn take_statement_warnings(&self) -> Vec<Warning> {
        self.0.take_statement_warnings()
    }

    pub(crate) fn cancel_handle(&self) -> CancelHandle {
        self.0.cancel_handle()
    }

    /// After whatever still ends in the background.
    pub(crate) fn is_failed(&self) -> bool {
        self.0.is_failed() || wait(self.0.ping()).is_err() && self.0.is_failed()
    }

    pub(crate) fn has_firebird4(&self) -> bool {
        self.0.has_firebird4()
    }

    pub(crate) fn read_options(&self) -> &ReadOptions {
        self.0.read_options()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    pub(crate) fn close(self) -> Result<()> {
        wait(self.0.take().close())
    }

    pub(crate) fn drop_database(self) -> Result<()> {
        wait(self.0.take().drop_database())
    }
}

impl Transaction {
    waits! {
        fn prepare(&self, sql: &str) -> Statement;
        fn prepare_in(&self, dialect: Dialect, sql: &str) -> Statement;
        fn recall(&self, sql: &str) -> Statement;
        fn query(&self, sql: &str) -> Cursor;
        fn query_in(&self, dialect: Dialect, sql: &str) -> Cursor;
        fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Cursor;
        fn query_scrollable(&self, sql: &str) -> ScrollCursor;
        fn read_blobs(&self, ids: &UInt64Array) -> LargeBinaryArray;
        fn number(&self) -> u64;
        fn snapshot_number(&self) -> u64;
        fn has_changes(&self) -> bool;
    }

    waits_mut! {
        fn execute(&mut self, sql: &str) -> Executed;
        fn execute_with(&mut self, sql: &str, parameters: impl Into<Params>) -> Executed;
        fn execute_immediate(&mut self, sql: &str) -> ();
        fn prepare_commit(&mut self, message: &[u8]) -> ();
        fn commit_retaining(&mut self) -> ();
        fn rollback_retaining(&mut self) -> ();
        fn savepoint(&mut self, name: &str) -> ();
        fn rollback_to_savepoint(&mut self, name: &str) -> ();
        fn release_savepoint(&mut self, name: &str) -> ();
    }

    pub(crate) fn open_blob(&self, id: u64) -> Result<BlobReader> {
        let reader = wait(self.0.open_blob(id))?;
        Ok(BlobReader { reader: Held(Some(reader)), piece: Vec::new(), taken: 0, end: 0 })
    }

    pub(crate) fn commit(self) -> Result<()> {
        wait(self.0.take().commit())
    }

    pub(crate) fn rollback(self) -> Result<()> {
        wait(self.0.take().rollback())
    }
}

impl Statement {
    fn with(&self, with: impl FnOnce(inner::Statement) -> inner::Statement) -> Self {
        with(self.0.as_ref().deref().clone()).into()
    }

    pub(crate) fn with_read_options(self, options: ReadOptions) -> Self {
        self.with(|statement| statement.with_read_options(options))
    }

    pub(crate) fn with_limits(self, limits: BatchLimits) -> Self {
        self.with(|statement| statement.with_limits(limits))
    }

    pub(crate) fn with_write_options(self, options: WriteOptions) -> Self {
        self.with(|statement| statement.with_write_options(options))
    }

    pub(crate) fn with_timeout(self, timeout: Option<Duration>) -> Self {
        self.with(|statement| statement.with_timeout(timeout))
    }

    pub(crate) fn interruptible(self) -> Self {
        self.with(|statement| statement.interruptible())
    }

    pub(crate) fn with_parallel(self, readers: usize) -> Self {
        self.with(|statement| statement.with_parallel(readers))
    }

    pub(crate) fn with_scroll_options(self, options: ScrollOptions) -> Self {
        self.with(|statement| statement.with_scroll_options(options))
    }

    pub(crate) fn is_outdated_by(&self, error: &real::Error) -> bool {
        self.0.is_outdated_by(error)
    }

    pub(crate) fn kind(&self) -> real::StatementKind {
        self.0.kind()
    }

    pub(crate) fn has_rows(&self) -> bool {
        self.0.has_rows()
    }

    pub(crate) fn has_cursor(&self) -> bool {
        self.0.has_cursor()
    }

    pub(crate) fn columns(&self) -> &[real::Descriptor] {
        self.0.columns()
    }

    pub(crate) fn parameters(&self) -> &[real::Descriptor] {
        self.0.parameters()
    }

    pub(crate) fn schema(&self) -> Result<SchemaRef> {
        self.0.schema()
    }

    pub(crate) fn wire_stats(&self) -> WireStats {
        self.0.wire_stats()
    }

    waits! {
        fn plan(&self, detailed: bool) -> String;
    }

    pub(crate) fn query(&self, transaction: &Transaction, parameters: impl Into<Params>) -> Result<Cursor> {
        Ok(wait(self.0.query(&transaction.0, parameters))?.into())
    }

    pub(crate) fn query_scrollable(
        &self,
        transaction: &Transaction,
        parameters: impl Into<Params>,
    ) -> Result<ScrollCursor> {
        Ok(wait(self.0.query_scrollable(&transaction.0, parameters))?.into())
    }

    pub(crate) fn execute(
        &self,
        transaction: &mut Transaction,
        parameters: impl Into<Params>,
    ) -> Result<Executed> {
        wait(self.0.execute(&mut transaction.0, parameters))
    }

    pub(crate) fn execute_last(
        &self,
        transaction: Transaction,
        parameters: impl Into<Params>,
    ) -> Result<Executed> {
        wait(self.0.execute_last(transaction.0.take(), parameters))
    }

    pub(crate) fn execute_rows(
        &self,
        transaction: &mut Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        wait(self.0.execute_rows(&mut transaction.0, rows, on_failure))
    }

    pub(crate) fn execute_stream(
        &self,
        transaction: &mut Transaction,
        reader: impl RecordBatchReader + Send + Unpin,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        let schema = reader.schema();
        wait(self.0.execute_stream(&mut transaction.0, schema, Reader(reader), on_failure))
    }

    pub(crate) fn query_rows(
        &self,
        transaction: &Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<RowsCursor> {
        Ok(wait(self.0.query_rows(&transaction.0, rows, on_failure))?.into())
    }

    pub(crate) fn query_stream(
        &self,
        transaction: &Transaction,
        reader: impl RecordBatchReader + Send + Unpin + 'static,
        on_failure: OnFailure,
    ) -> Result<RowsCursor> {
        let schema = reader.schema();
        Ok(wait(self.0.query_stream(&transaction.0, schema, Reader(reader), on_failure))?.into())
    }
}

/// A blocking reader as a stream. It may use a wrapper of this API, so that it waits aside.
struct Reader<R>(R);

impl<R: RecordBatchReader + Unpin> Stream for Reader<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(tokio::task::block_in_place(|| self.get_mut().0.next()))
    }
}

macro_rules! reads {
    ($($name:ident),+) => { $(
        impl $name {
            pub(crate) fn schema(&self) -> SchemaRef {
                self.0.schema()
            }

            pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
                wait(self.0.next_batch())
            }

            pub(crate) fn wire_stats(&self) -> WireStats {
                self.0.wire_stats()
            }

            pub(crate) fn decode_time(&self) -> Duration {
                self.0.decode_time()
            }
        }

        impl RecordBatchReader for $name {
            fn schema(&self) -> SchemaRef {
                self.0.schema()
            }
        }
    )+ };
}

reads!(Cursor, RowsCursor);

impl Iterator for Cursor {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = wait(std::future::poll_fn(|context| Pin::new(&mut *self.0).poll_next(context)));
        next.map(|batch| batch.map_err(ArrowError::from))
    }
}

impl Iterator for RowsCursor {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl Cursor {
    pub(crate) fn owning(self, transaction: Transaction) -> Self {
        wait(self.0.take().owning(transaction.0.take())).into()
    }

    pub(crate) fn parallel(&self) -> &real::Parallelism {
        self.0.parallel()
    }

    pub(crate) fn progress(&self) -> Option<f64> {
        self.0.progress()
    }

    pub(crate) fn most_batches_ahead(&self) -> usize {
        self.0.most_batches_ahead()
    }

    pub(crate) fn affected_rows(&self) -> Option<u64> {
        self.0.affected_rows()
    }

    pub(crate) fn record_counts(&self) -> Option<real::RecordCounts> {
        self.0.record_counts()
    }

    waits! {
        fn read_blobs(&self, ids: &UInt64Array) -> LargeBinaryArray;
        fn read_short_blobs(&self, ids: &UInt64Array, longest: u64, enough: usize) -> LargeBinaryArray;
    }

    pub(crate) fn open_blob(&self, id: u64) -> Result<BlobReader> {
        let reader = wait(self.0.open_blob(id))?;
        Ok(BlobReader { reader: Held(Some(reader)), piece: Vec::new(), taken: 0, end: 0 })
    }

    pub(crate) fn close(self) -> Result<()> {
        wait(self.0.take().close())
    }

    pub(crate) fn close_and_commit(self) -> Result<()> {
        wait(self.0.take().close_and_commit())
    }
}

impl RowsCursor {
    pub(crate) fn executed(&self) -> &RowsExecuted {
        self.0.executed()
    }

    pub(crate) fn close(self) -> Result<RowsExecuted> {
        wait(self.0.take().close())
    }
}

impl ScrollCursor {
    pub(crate) fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    pub(crate) fn is_native(&self) -> bool {
        self.0.is_native()
    }

    pub(crate) fn fetch(&mut self, to: Position, rows: usize) -> Result<Option<RecordBatch>> {
        wait(self.0.fetch(to, rows))
    }

    pub(crate) fn next(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        wait(self.0.next(rows))
    }

    pub(crate) fn prior(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        wait(self.0.prior(rows))
    }

    pub(crate) fn first(&mut self) -> Result<Option<RecordBatch>> {
        wait(self.0.first())
    }

    pub(crate) fn last(&mut self) -> Result<Option<RecordBatch>> {
        wait(self.0.last())
    }

    pub(crate) fn absolute(&mut self, row: i64) -> Result<Option<RecordBatch>> {
        wait(self.0.absolute(row))
    }

    pub(crate) fn relative(&mut self, by: i64) -> Result<Option<RecordBatch>> {
        wait(self.0.relative(by))
    }

    pub(crate) fn close(self) -> Result<()> {
        wait(self.0.take().close())
    }
}

impl Catalog {
    pub(crate) fn with_system_tables(self, with_system: bool) -> Self {
        self.0.take().with_system_tables(with_system).into()
    }

    waits! {
        fn tables(&self, name: Name<'_>) -> Vec<Table>;
        fn reacts_to_rows(&self, table: Name<'_>) -> bool;
        fn columns(&self, table: Name<'_>, column: Name<'_>) -> Vec<Column>;
        fn constraints(&self, table: Name<'_>) -> Vec<Constraint>;
        fn indexes(&self, table: Name<'_>) -> Vec<Index>;
    }
}

impl PartitionedQuery {
    pub(crate) fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    pub(crate) fn partitions(&self) -> &[Partition] {
        self.0.partitions()
    }

    pub(crate) fn why_plain(&self) -> Option<&firearrow::WhyPlain> {
        self.0.why_plain()
    }
}

impl Drop for EventListener {
    /// In the foreground, as that of the blocking API.
    fn drop(&mut self) {
        let _ = wait(self.0.close());
    }
}

impl EventListener {
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.names()
    }

    /// Ends after an error.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<EventCounts>> {
        let mut has_failed = false;
        std::iter::from_fn(move || {
            let report = if has_failed { return None } else { wait(self.0.report()) };
            has_failed = report.is_err();
            report.transpose()
        })
    }

    waits! {
        fn wait(&self, timeout: Duration) -> Option<EventCounts>;
        fn close(&self) -> ();
    }
}

/// A BLOB, by the traits of `std::io`.
#[derive(Debug)]
pub(crate) struct BlobReader {
    reader: Held<inner::BlobReader>,
    piece: Vec<u8>,
    taken: usize,
    /// Offset of the end of the piece.
    end: u64,
}

impl BlobReader {
    pub(crate) fn stored_length(&self) -> u64 {
        self.reader.stored_length()
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.reader.is_stream()
    }
}

impl io::Read for BlobReader {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() {
            self.piece = wait(self.reader.next_piece()).map_err(io::Error::other)?.unwrap_or_default();
            self.taken = 0;
            self.end += self.piece.len() as u64;
        }
        let count = io::Read::read(&mut &self.piece[self.taken..], target)?;
        self.taken += count;
        Ok(count)
    }
}

impl io::Seek for BlobReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let here = self.end - (self.piece.len() - self.taken) as u64;
        let target = match to {
            io::SeekFrom::Start(offset) => Some(offset),
            io::SeekFrom::End(offset) => self.stored_length().checked_add_signed(offset),
            io::SeekFrom::Current(offset) => here.checked_add_signed(offset),
        };
        let target = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        self.end = wait(self.reader.seek(target)).map_err(io::Error::other)?;
        self.piece.clear();
        self.taken = 0;
        Ok(self.end)
    }
}
