//! Turns the rows of either backend into record batches.
//!
//! ```text
//!  loop {
//!      start += builder.push(&rows, start)?;         // as many rows as fit
//!      while let Some(blob) = builder.next_blob() {  // as many BLOBs as fit
//!          builder.fill_blob(&blob, &contents)?;
//!      }
//!      if builder.is_full() || no more rows {
//!          yield builder.finish()?;                  // until it is None at the end
//!      }
//!  }
//! ```

use super::columns::ColumnBuilder;
use super::error::{ColumnError, DecodeError, DecodeErrorKind, Fault};
use super::options::{MaxBlob, ReadOptions};
use super::schema::SchemaError;
#[cfg(test)]
use super::schema::schema;
use crate::value::Raw;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::row::RowSource;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The limits of a batch. The first limit reached completes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchLimits {
    /// Maximum number of rows.
    pub rows: usize,
    /// Maximum bytes of values in Arrow's representation. A single row may be larger.
    pub bytes: usize,
    /// Whether every batch but the last one must reach a limit, however long that takes. Otherwise the first batches
    /// of a result end early: when the next rows have not arrived and the first row of the batch has waited for 5 ms,
    /// four times that in the second batch, and so on. Rows that wait for the contents of their BLOBs do not end a
    /// batch early. Files and bulk loads are better off with full batches.
    pub full: bool,
}

firearrow_proto::setters! { BatchLimits { rows: usize, bytes: usize, full: bool } }

impl Default for BatchLimits {
    fn default() -> Self {
        Self { rows: 8192, bytes: 16 << 20, full: false }
    }
}

/// How long the first row of a result waits for others to share its batch.
const FIRST_WAIT: Duration = Duration::from_millis(5);
/// The factor by which this grows from batch to batch.
const WAIT_GROWTH: u32 = 4;

/// Maximum bytes of a batch, so that 32-bit offsets never overflow, not even if every byte of a code page becomes three
/// bytes of UTF-8.
const MAX_BYTES: usize = 512 << 20;

/// Number of rows that pass through all columns before the next rows do, so that they stay in the CPU cache.
pub(super) const BLOCK: usize = 256;

/// Number of rows that may wait for their BLOBs at a time.
pub(crate) const MAX_WAITING: usize = 4096;

/// Collects rows into record batches.
///
/// After an error about a value (of any kind but [`DecodeErrorKind::Misuse`]), the builder is poisoned: rows are
/// incomplete, and all further calls return the same error.
#[derive(Debug)]
pub(crate) struct BatchBuilder {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    /// Indices of the BLOB and array columns.
    blobs: Vec<usize>,
    limits: BatchLimits,
    /// Maximum bytes that one row can add, not counting BLOBs.
    width: usize,
    rows: usize,
    bytes: usize,
    /// Number of rows in earlier batches.
    emitted: u64,
    /// Where the search for the next pending BLOB continues: the row, and the index into `blobs`.
    next: (usize, usize),
    failed: Option<DecodeError>,
    max_blob: MaxBlob,
    /// Since when the first row of the batch has been here.
    since: Instant,
    /// Whether no rows after the first batch will be read.
    is_only_batch: bool,
    /// How long it waits for others; `None` = for as long as it takes to fill the batch.
    first_row_wait: Option<Duration>,
    /// Time spent in the builder.
    spent: Duration,
}

/// A BLOB or array whose contents a batch needs. An array is also read as a BLOB, under its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingBlob {
    /// 0-based index of the column.
    pub(crate) column: usize,
    /// 0-based row within the whole result.
    pub(crate) row: u64,
    /// The id, valid in the transaction that read the row.
    pub(crate) id: u64,
}

impl BatchBuilder {
    /// Returns a builder for results with these columns, fetched in this layout. `schema` must be what
    /// `schema(columns, options)` returns.
    pub(crate) fn with_schema(
        schema: SchemaRef,
        columns: &[Descriptor],
        layout: &Arc<RowLayout>,
        options: &ReadOptions,
        limits: BatchLimits,
    ) -> Result<Self, SchemaError> {
        let mut builders = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let data_type = schema.field(index).data_type();
            let field = layout.fields().get(index);
            let builder = field.and_then(|field| ColumnBuilder::new(column, field, data_type, options));
            builders.push(builder.ok_or_else(|| SchemaError {
                column: index,
                column_name: column.label().into(),
                message: format!(
                    "cannot make {data_type} from {:?}; fetch in the layout of output_layout()",
                    field.map(|field| field.kind)
                ),
            })?);
        }
        let blobs = (0..builders.len()).filter(|&column| builders[column].filled().is_some()).collect();
        let width = builders.iter().map(ColumnBuilder::width).sum::<usize>().max(1);
        let mut builder = Self {
            schema,
            columns: builders,
            blobs,
            limits,
            width,
            rows: 0,
            bytes: 0,
            emitted: 0,
            next: (0, 0),
            failed: None,
            max_blob: options.max_blob,
            since: Instant::now(),
            is_only_batch: false,
            first_row_wait: None,
            spent: Duration::ZERO,
        };
        builder.begin_result(limits);
        Ok(builder)
    }

    /// Begins a result with batches of these limits.
    pub(crate) fn begin_result(&mut self, limits: BatchLimits) {
        self.limits = BatchLimits {
            rows: limits.rows.clamp(1, i32::MAX as usize),
            bytes: limits.bytes.clamp(1, MAX_BYTES),
            full: limits.full,
        };
        self.first_row_wait = (!limits.full).then_some(FIRST_WAIT);
        self.is_only_batch = false;
    }

    /// No rows after the first batch will be read.
    pub(crate) fn expect_only_batch(&mut self) {
        self.is_only_batch = true;
    }

    pub(crate) fn is_only_batch(&self) -> bool {
        self.is_only_batch
    }

    /// Drops all rows, so that the builder can be used for another result; `false` if it cannot.
    pub(crate) fn clear(&mut self) -> bool {
        (self.rows, self.bytes, self.emitted, self.next) = (0, 0, 0, (0, 0));
        self.spent = Duration::ZERO;
        self.failed.is_none() && self.columns.iter_mut().all(ColumnBuilder::clear)
    }

    /// The number of rows that are here.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// A value of a row that is here. `None` if the value exists only in a finished array, for example of a list.
    pub(crate) fn raw(&self, column: usize, row: usize) -> Option<Raw<'_>> {
        self.columns.get(column).filter(|_| row < self.rows)?.raw(row)
    }

    /// Whether a text of the first row is not UTF-8, which only [`finish`](Self::finish) reports in full.
    pub(crate) fn has_bad_text(&self) -> bool {
        let fields = self.schema.fields().iter().enumerate();
        let mut texts = fields.filter(|(_, field)| field.data_type().is_string());
        texts.any(|(column, _)| match self.raw(column, 0) {
            Some(Raw::Bytes(bytes)) => std::str::from_utf8(bytes).is_err(),
            _ => false,
        })
    }

    pub(crate) fn schema_ref(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the schema of the batches.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Whether it holds no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether a limit is reached, so that `finish` should be called. Never while the first row waits for a BLOB.
    pub(crate) fn is_full(&self) -> bool {
        (self.rows >= self.limits.rows || self.has_enough_bytes()) && self.complete() > 0
    }

    /// Whether the batch should be handed out instead of waiting for more rows: its rows are complete, and the first of
    /// them has waited as long as it may.
    pub(crate) fn is_ripe(&self) -> bool {
        let is_late = |wait| self.since.elapsed() >= wait;
        self.rows > 0 && !self.is_waiting() && self.first_row_wait.is_some_and(is_late)
    }

    fn has_enough_bytes(&self) -> bool {
        self.bytes >= self.limits.bytes
    }

    /// Returns the time spent decoding so far.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    /// Takes rows from `start` on until a limit is reached, and returns their number: at least one if the builder is
    /// empty and `rows` has one; none if it is full or too many rows wait for their BLOBs.
    pub(crate) fn push<S: RowSource>(&mut self, rows: &S, start: usize) -> Result<usize, DecodeError> {
        self.timed(|builder, now| builder.push_rows(rows, start, now))
    }

    /// Does some work, and adds the time that it took.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Self, Instant) -> T) -> T {
        let begin = Instant::now();
        let result = work(self, begin);
        self.spent += begin.elapsed();
        result
    }

    fn push_rows<S: RowSource>(
        &mut self,
        rows: &S,
        start: usize,
        now: Instant,
    ) -> Result<usize, DecodeError> {
        self.check()?;
        let mut at = start;
        loop {
            let count = self.room().min(BLOCK).min(rows.row_count().saturating_sub(at));
            if count == 0 {
                return Ok(at.saturating_sub(start));
            }
            for column in 0..self.columns.len() {
                if let Err(error) = self.columns[column].push(rows, at..at + count, column) {
                    let row = (self.rows + error.row.saturating_sub(at)) as u64;
                    return Err(self.poison(column, self.emitted + row, error.fault));
                }
            }
            if self.rows == 0 {
                self.since = now;
            }
            at += count;
            self.rows += count;
            self.count_bytes();
        }
    }

    /// Whether the builder can take a row now.
    pub(crate) fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// Returns the number of rows that fit without checking the limits in between.
    fn room(&self) -> usize {
        if self.has_enough_bytes() && self.rows > 0 {
            return 0;
        }
        // Assumes rows of their declared length. If they are shorter, as VARCHARs usually are, room is left and this is
        // called again.
        let by_bytes = (self.limits.bytes.saturating_sub(self.bytes) / self.width).max(1);
        let waiting = if self.blobs.is_empty() { 0 } else { self.rows - self.complete() };
        by_bytes.min(self.limits.rows.saturating_sub(self.rows)).min(MAX_WAITING.saturating_sub(waiting))
    }

    fn count_bytes(&mut self) {
        self.bytes = self.columns.iter().map(ColumnBuilder::byte_len).sum();
    }

    /// Returns the number of rows, from the front, that have all their BLOBs.
    fn complete(&self) -> usize {
        let filled = self.blobs.iter().filter_map(|&column| self.columns[column].filled());
        filled.min().unwrap_or(self.rows)
    }

    /// Whether rows wait for the contents of their BLOBs.
    pub(crate) fn is_waiting(&self) -> bool {
        self.complete() < self.rows
    }

    /// Limits the rows of batches from now on.
    pub(crate) fn limit_rows(&mut self, rows: usize) {
        self.limits.rows = rows.clamp(1, i32::MAX as usize);
    }

    /// Whether the batch has room for the contents of more BLOBs; always, until its first row is complete.
    pub(crate) fn wants_blobs(&self) -> bool {
        !self.has_enough_bytes() || self.complete() == 0
    }

    /// Returns the next BLOB to read, row by row and from left to right; `None` also if the batch has enough of them.
    /// Several may be taken before the first is filled in. NULLs and empty BLOBs are skipped.
    pub(crate) fn next_blob(&mut self) -> Option<PendingBlob> {
        if !self.wants_blobs() {
            return None;
        }
        let (mut row, mut blob) = self.next;
        while row < self.rows {
            while let Some(&column) = self.blobs.get(blob) {
                blob += 1;
                if let Some(id) = self.columns[column].pending(row) {
                    self.next = (row, blob);
                    return Some(PendingBlob { column, row: self.emitted + row as u64, id });
                }
            }
            (row, blob) = (row + 1, 0);
        }
        self.next = (row, blob);
        None
    }

    /// Fills in the contents of a BLOB. Within a column, BLOBs must come in the order of [`BatchBuilder::next_blob`].
    pub(crate) fn fill_blob(&mut self, blob: &PendingBlob, contents: &[u8]) -> Result<(), DecodeError> {
        self.check()?;
        let expected = self.columns.get(blob.column).and_then(ColumnBuilder::wanted);
        let row = blob.row.checked_sub(self.emitted).and_then(|row| usize::try_from(row).ok());
        if expected.is_none() || row != expected || expected >= Some(self.rows) {
            let message = "this BLOB is not the next of its column to be filled in";
            return Err(self.error(blob.column, blob.row, Fault::new(DecodeErrorKind::Misuse, message)));
        }
        let column = &mut self.columns[blob.column];
        let before = column.byte_len();
        let begin = Instant::now();
        if let Err(fault) = column.fill(contents) {
            return Err(self.poison(blob.column, blob.row, fault));
        }
        self.spent += begin.elapsed();
        self.bytes += column.byte_len() - before;
        Ok(())
    }

    /// Returns the maximum length of a BLOB read as a value.
    pub(crate) fn max_blob(&self) -> MaxBlob {
        self.max_blob
    }

    /// Returns the maximum stored length of the contents, if the column declares one.
    pub(crate) fn most_stored(&self, blob: &PendingBlob) -> Option<u64> {
        self.columns.get(blob.column).and_then(ColumnBuilder::most_stored)
    }

    /// Adds the column and row of the BLOB to an error.
    pub(crate) fn place(&self, error: crate::Error, blob: &PendingBlob) -> crate::Error {
        let name = self.schema.fields().get(blob.column).map_or("", |field| field.name());
        let error = error.in_column(blob.column, name);
        let error = match usize::try_from(blob.row) {
            Ok(row) => error.in_row(row),
            Err(_) => error,
        };
        error.context(format_args!(
            "column {} (\"{name}\"), row {} (counted from 0)",
            blob.column + 1,
            blob.row
        ))
    }

    /// Returns the rows up to the first one that waits for a BLOB as a batch; the others stay. Returns `None` if there
    /// are no rows, and an error of kind [`DecodeErrorKind::Misuse`] if the first row waits.
    pub(crate) fn finish(&mut self) -> Result<Option<RecordBatch>, DecodeError> {
        self.timed(|builder, _| builder.finish_batch())
    }

    fn finish_batch(&mut self) -> Result<Option<RecordBatch>, DecodeError> {
        self.check()?;
        let rows = self.complete();
        if rows == 0 {
            return match self.next_waiting() {
                None => Ok(None),
                Some(column) => {
                    let message = "its BLOB has not been filled in; see next_blob()";
                    Err(self.error(column, self.emitted, Fault::new(DecodeErrorKind::Misuse, message)))
                }
            };
        }
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for column in 0..self.columns.len() {
            match self.columns[column].finish(rows) {
                Ok(array) => arrays.push(array),
                Err(ColumnError { row, fault }) => {
                    return Err(self.poison(column, self.emitted + row as u64, fault));
                }
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema(), arrays, &options).map_err(|error| {
            self.poison(0, self.emitted, Fault::new(DecodeErrorKind::Malformed, error.to_string()))
        })?;
        self.rows -= rows;
        self.emitted += rows as u64;
        self.since = Instant::now();
        self.first_row_wait = self.first_row_wait.map(|wait| wait.saturating_mul(WAIT_GROWTH));
        self.next = if self.next.0 < rows { (0, 0) } else { (self.next.0 - rows, self.next.1) };
        self.count_bytes();
        Ok(Some(batch))
    }

    /// Returns the first column that the first row waits for.
    fn next_waiting(&self) -> Option<usize> {
        let waits = |&column: &usize| self.columns[column].filled() == Some(0);
        self.blobs.iter().copied().find(waits).filter(|_| self.rows > 0)
    }

    fn check(&self) -> Result<(), DecodeError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn poison(&mut self, column: usize, row: u64, fault: Fault) -> DecodeError {
        let error = self.error(column, row, fault);
        self.failed = Some(error.clone());
        error
    }

    fn error(&self, column: usize, row: u64, fault: Fault) -> DecodeError {
        let column_name =
            self.schema.fields().get(column).map_or_else(String::new, |field| field.name().clone());
        DecodeError { column_name, column, row, kind: fault.kind, message: fault.message }
    }
}

#[cfg(test)]
impl BatchBuilder {
    /// Returns a builder for results with these columns, fetched in this layout.
    pub(crate) fn new(
        columns: &[Descriptor],
        layout: &Arc<RowLayout>,
        options: &ReadOptions,
        limits: BatchLimits,
    ) -> Result<Self, SchemaError> {
        Self::with_schema(schema(columns, options)?, columns, layout, options, limits)
    }

    /// Bytes of their values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
