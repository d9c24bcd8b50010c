//! Writes many rows: sends record batches to the backend in pieces, and repeats pieces that fail as a whole.

use super::execute::refuse_cursor;
use super::run::How;
use super::{Prepared, Session, has_rows};
use crate::arrow::{EncodedParams, ParamEncoder, ParamError, WriteOptions};
use crate::backend::{Backend, Chunk, Failed, Method, RowFailure, Sql, TransactionId, Writer, Written};
use crate::error::{Error, Kind, Result};
use ::arrow::array::RecordBatch;
use ::arrow::datatypes::Schema;
use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

/// Size of the first piece in bytes: small, because a statement may fail for every row.
const FIRST_BYTES: usize = 64 << 10;
/// Size of the next piece after a row that cannot be encoded: the rows around the next such row are encoded twice.
const CAREFUL_BYTES: usize = 4 << 10;
/// Total size up to which BLOBs travel through the bulk interface; servers buffer 16 MB of them.
const BLOBS_IN_BULK: usize = 8 << 20;

/// Rows being written with a statement.
pub(crate) struct Writing {
    prepared: Prepared,
    pub(super) writer: Writer,
    encoder: ParamEncoder,
    /// Size of the next piece, and of the longest one.
    bytes: usize,
    most_bytes: usize,
    /// Number of rows accepted so far.
    pub(super) rows: usize,
    /// Rows that cannot be encoded, in order.
    refused: Vec<RowFailure>,
    /// Number of engine failures already returned.
    handed_out: usize,
    /// Whether BLOBs have gone through the bulk interface.
    has_bulk_blobs: bool,
}

impl Writing {
    /// Whether to stop taking rows.
    pub(crate) fn should_stop(&self) -> bool {
        self.writer.should_stop() || (self.writer.stops_at_error && !self.refused.is_empty())
    }

    /// Encodes the next piece of a batch. Returns the error of the row after it, if that row cannot be encoded.
    pub(super) fn cut(
        &mut self,
        batch: &RecordBatch,
        start: usize,
    ) -> Result<(EncodedParams, Option<ParamError>)> {
        let end = start + self.encoder.fit(batch, start..batch.num_rows(), self.bytes);
        self.bytes = (self.bytes * 4).min(self.most_bytes);
        self.encode(batch, start..end)
    }

    /// Records the next row as refused by the client.
    pub(super) fn refuse(&mut self, error: ParamError) {
        let error = Error::from(ParamError { row: Some(self.rows), ..error });
        self.refused.push(RowFailure { row: self.rows, error });
        self.rows += 1;
    }

    /// Encodes these rows up to the first one that cannot be encoded.
    fn encode(
        &mut self,
        batch: &RecordBatch,
        mut rows: Range<usize>,
    ) -> Result<(EncodedParams, Option<ParamError>)> {
        let mut refused = None;
        loop {
            match self.encoder.encode(batch, rows.clone()) {
                Ok(encoded) => return Ok((encoded, refused)),
                // Columns are encoded one by one, so the next column may fail at an earlier row.
                Err(error) => match error.row.filter(|row| rows.contains(row)) {
                    Some(row) => (rows.end, refused) = (row, Some(error)),
                    None => return Err(error.into()),
                },
            }
            self.bytes = CAREFUL_BYTES;
        }
    }

    /// Returns the number of rows, from the first, whose outcome is known.
    pub(crate) fn known_rows(&self) -> usize {
        self.writer.written.rows
    }

    /// Returns the rows refused by the engine since the last call.
    pub(crate) fn new_failures(&mut self) -> &mut [RowFailure] {
        let failures = &mut self.writer.written.failures;
        let start = mem::replace(&mut self.handed_out, failures.len());
        &mut failures[start..]
    }

    /// Returns the outcome of the rows, as far as it is known.
    pub(crate) fn into_written(self) -> Written {
        let mut written = self.writer.written;
        written.failures.extend(self.refused);
        written.failures.sort_by_key(|failure| failure.row);
        written.failures.dedup_by_key(|failure| failure.row);
        written.failures.retain(|failure| failure.row < written.rows);
        if let Some(by_row) = &mut written.by_row {
            by_row.resize(written.rows, None);
        }
        written
    }
}

impl<B: Backend> Session<B> {
    /// Prepares to write rows of one schema.
    pub(crate) fn start_writing(
        &self,
        prepared: &Prepared,
        transaction: TransactionId,
        schema: &Schema,
        stops_at_error: bool,
        how: &How,
    ) -> Result<Writing> {
        self.expect_open(transaction)?;
        refuse_cursor(prepared)?;
        self.writing(prepared, transaction, schema, stops_at_error, !prepared.inserts_one_row, how)
    }

    pub(super) fn writing(
        &self,
        prepared: &Prepared,
        transaction: TransactionId,
        schema: &Schema,
        stops_at_error: bool,
        asks_counts: bool,
        how: &How,
    ) -> Result<Writing> {
        let info = &prepared.info;
        let most_bytes =
            how.write.piece_bytes.clamp(*WriteOptions::PIECE_BYTES.start(), *WriteOptions::PIECE_BYTES.end());
        let statement = (prepared.id, info.kind);
        Ok(Writing {
            prepared: prepared.clone(),
            has_bulk_blobs: false,
            writer: Writer::new(statement, transaction, has_rows(info), asks_counts, stops_at_error),
            encoder: self.encoder(prepared, schema, &how.params())?,
            bytes: FIRST_BYTES.min(most_bytes),
            most_bytes,
            rows: 0,
            refused: Vec::new(),
            handed_out: 0,
        })
    }

    /// Sends all rows of a batch, or those before the failure that stops it. Failures of single rows are part of the
    /// outcome; after an error, no more rows can be written.
    pub(crate) async fn write_rows(&mut self, writing: &mut Writing, batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() && !writing.should_stop() {
            let (encoded, refused) = writing.cut(batch, start)?;
            start += encoded.rows;
            if encoded.rows > 0 {
                self.write_piece(writing, encoded).await?;
            }
            if let Some(error) = refused {
                writing.refuse(error);
                start += 1;
            }
        }
        Ok(())
    }

    /// Waits for all rows sent. Must be called after an error, too, to keep the connection in step.
    pub(crate) async fn finish_writing(&mut self, writing: &mut Writing) -> Result<()> {
        let result = self.settle_writer(&mut writing.writer).await;
        if writing.has_bulk_blobs && result.is_ok() {
            // In a later transaction of the same statement, the engine would throw away new temporary BLOBs whose numbers are
            // those of this one: it forgets them only if the statement ends before the transaction (release_blobs in exe.cpp).
            let Prepared { id, sql, dialect, info, .. } = &writing.prepared;
            let sql = Sql { text: sql, dialect: *dialect };
            // The rows are written, whatever becomes of it.
            let _ = self.backend.renew(*id, writing.writer.transaction, sql, info).await;
        }
        if result.is_ok() {
            // These rows were refused after the last row sent.
            writing.writer.written.rows = writing.rows;
        }
        result
    }

    async fn write_piece(&mut self, writing: &mut Writing, mut encoded: EncodedParams) -> Result<()> {
        let writer = &mut writing.writer;
        if writer.layout.as_ref().is_some_and(|layout| *layout != encoded.layout) {
            // The bulk interface takes one message format.
            self.settle_writer(writer).await?;
        }
        if writer.wants_bulk(&encoded) {
            let is_open = self.backend.open_bulk(writer, &encoded.layout).await?;
            writer.method = if is_open { Method::Bulk } else { Method::Executions };
            writer.layout = is_open.then(|| encoded.layout.clone());
        }
        let travel = writer.method == Method::Bulk && encoded.blob_length() <= BLOBS_IN_BULK;
        writing.has_bulk_blobs |= writer.method == Method::Bulk && !encoded.blobs.is_empty();
        if travel {
            encoded.number_blobs();
        } else {
            self.create_blobs(writer.transaction, &mut encoded).await?;
        }
        self.create_arrays(writer.transaction, &mut encoded).await?;
        let rows = encoded.rows;
        let chunk = writer.chunk(writing.rows, encoded, !travel);
        self.backend.write(writer, chunk).await?;
        writing.rows += rows;
        if !writer.failed.is_empty() {
            self.settle_writer(writer).await?;
        }
        Ok(())
    }

    /// Waits for all rows sent, and repeats those that failed as a whole. After an error, it only rolls them back.
    async fn settle_writer(&mut self, writer: &mut Writer) -> Result<()> {
        let mut result = self.backend.settle(writer).await;
        writer.layout = None;
        while !writer.failed.is_empty() && !self.backend.is_failed() {
            let undone = self.undo_failed(writer).await;
            result = match (result, undone) {
                (Ok(()), Ok(chunks)) => self.repeat(writer, chunks).await,
                (result, undone) => result.and(undone.map(|_| ())),
            };
            result = result.and(self.backend.settle(writer).await);
        }
        result
    }

    /// Rolls back to the savepoint of the first failed bulk chunk. Returns the chunks to send again.
    async fn undo_failed(&mut self, writer: &mut Writer) -> Result<VecDeque<Chunk>> {
        let Some(Failed { savepoint, error, chunks }) = writer.take_failed() else {
            return Ok(VecDeque::new());
        };
        for sql in savepoint.undo() {
            if let Err(undo) = self.backend.execute_immediate(writer.transaction, sql.as_str().into()).await {
                // Without the savepoint, only this error can be reported.
                return Err(error.unwrap_or(undo));
            }
        }
        match error {
            Some(error) if matches!(error.kind(), Kind::Cancelled | Kind::Timeout) => Err(error),
            error => {
                tracing::debug!(?error, "a bulk chunk failed as a whole; its rows are executed one by one");
                Ok(chunks)
            }
        }
    }

    async fn repeat(&mut self, writer: &mut Writer, chunks: VecDeque<Chunk>) -> Result<()> {
        for mut chunk in chunks {
            // The rollback has removed BLOBs that a row had taken.
            self.create_blobs(writer.transaction, &mut chunk.rows).await?;
            self.backend.write(writer, chunk).await?;
        }
        Ok(())
    }
}
