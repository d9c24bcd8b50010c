//! Executes a statement for many parameter rows and streams the results in order.

use super::fetch::{Fetching, new_fetching};
use super::run::How;
use super::write::Writing;
use super::{Prepared, Session, has_rows};
use crate::backend::{Backend, Series, TransactionId, Written};
use crate::error::{Error, Kind, Result};
use ::arrow::array::RecordBatch;
use ::arrow::datatypes::{Schema, SchemaRef};
use std::time::Duration;

/// A statement that is executed once for each parameter row, and its results.
pub(crate) struct Querying {
    writing: Writing,
    series: Series,
    fetching: Fetching,
    /// Rows of parameters, and how many of them were taken on.
    batch: Option<RecordBatch>,
    next: usize,
    has_all: bool,
}

/// How far a series has come.
pub(crate) enum Step {
    /// Rows are available.
    Batch(RecordBatch),
    /// Parameters are needed.
    Parameters,
    /// All rows have been returned.
    End,
}

impl Querying {
    pub(crate) fn schema(&self) -> SchemaRef {
        self.fetching.schema()
    }

    /// Time spent decoding.
    pub(crate) fn decoding(&self) -> Duration {
        self.fetching.decoding()
    }

    /// More rows of parameters; none means that there are no more.
    pub(crate) fn supply(&mut self, batch: Option<RecordBatch>) {
        self.has_all = batch.is_none();
        (self.batch, self.next) = (batch, 0);
    }

    /// Rows of parameters that have not been taken on, unless a failure has ended it.
    fn rest(&self) -> Option<&RecordBatch> {
        self.batch.as_ref().filter(|batch| self.next < batch.num_rows() && !self.writing.should_stop())
    }

    /// The outcome of the parameter rows, as far as it is known.
    pub(crate) fn into_written(self) -> Written {
        self.writing.into_written()
    }
}

impl<B: Backend> Session<B> {
    /// Prepares to execute a statement for rows of one schema.
    pub(crate) fn start_querying(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        schema: &Schema,
        stops_at_error: bool,
        how: &How,
    ) -> Result<Querying> {
        self.expect_open(transaction)?;
        if !has_rows(&prepared.info) {
            return Err(Error::new(Kind::Misuse, "the statement gives no rows: use execute_rows"));
        }
        let has_cursor = prepared.info.has_cursor;
        let asks_counts = match has_cursor {
            true => prepared.may_return_changes,
            false => !prepared.inserts_one_row,
        };
        let writing = self.writing(prepared, transaction, schema, stops_at_error, asks_counts, how)?;
        let (fetching, output) = new_fetching(prepared, transaction, &how.read, how.limits)?;
        self.choose_inline_blobs(prepared, how.read.blobs);
        let series = Series::new(&prepared.sql, prepared.dialect, has_cursor, output);
        Ok(Querying { writing, series, fetching, batch: None, next: 0, has_all: false })
    }

    /// Continues until there is a batch of rows, or nothing more to do.
    pub(crate) async fn go_on(&mut self, querying: &mut Querying) -> Result<Step> {
        loop {
            if querying.series.left() == 0 && querying.rest().is_some() {
                self.take_on(querying).await?;
            }
            let Querying { writing, series, fetching, .. } = &mut *querying;
            let is_done = self.backend.collect(&mut writing.writer, series, &mut fetching.builder).await?;
            self.fill_blobs(fetching).await?;
            if is_done && !fetching.builder.is_full() {
                if querying.rest().is_some() {
                    continue;
                }
                if !querying.has_all && !querying.writing.should_stop() {
                    return Ok(Step::Parameters);
                }
            }
            match self.finish(&mut querying.fetching)? {
                Some(batch) => return Ok(Step::Batch(batch)),
                None if is_done => return Ok(Step::End),
                None => {}
            }
        }
    }

    /// Takes on the next rows of parameters.
    async fn take_on(&mut self, querying: &mut Querying) -> Result<()> {
        let Querying { writing, series, batch: Some(batch), next, .. } = querying else { return Ok(()) };
        let (mut encoded, refused) = writing.cut(batch, *next)?;
        let rows = encoded.rows;
        if rows > 0 {
            let transaction = writing.writer.transaction;
            self.create_blobs(transaction, &mut encoded).await?;
            self.create_arrays(transaction, &mut encoded).await?;
            series.supply(writing.writer.chunk(writing.rows, encoded, true));
            writing.rows += rows;
            *next += rows;
        }
        if let Some(error) = refused {
            writing.refuse(error);
            *next += 1;
        }
        Ok(())
    }

    /// Waits for the outstanding responses. Also due after an error, so that the connection ends in step.
    pub(crate) async fn finish_querying(&mut self, querying: &mut Querying, is_complete: bool) -> Result<()> {
        let Querying { writing, series, .. } = querying;
        series.cut();
        let result = self.backend.end_series(&mut writing.writer, series).await;
        if is_complete && result.is_ok() && !series.is_cut {
            // Rows that were refused after the last one sent.
            writing.writer.written.rows = writing.rows;
        }
        result
    }
}
