//! The rows that are left as a stream of Arrow batches, which are read when the stream is.

use super::result::Fetched;
use crate::connection::Shared;
use crate::flow::convert;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use firearrow::CancelToken;
use firearrow::arrow::schema;
use std::collections::VecDeque;
use std::sync::Arc;

/// The rows that are left of a result.
pub(super) struct Reader {
    schema: SchemaRef,
    rest: VecDeque<RecordBatch>,
    rows: Option<Fetched>,
    token: CancelToken,
}

impl Reader {
    pub(super) fn new(shared: &Shared, mut rows: Fetched) -> firearrow::Result<Self> {
        let read = shared.declared(rows.buffer.descriptors())?;
        let schema = schema(rows.buffer.descriptors(), &read)?;
        let rest = rows.buffer.take();
        Ok(Self { schema, rest, rows: Some(rows), token: CancelToken::new() })
    }

    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if let Some(rest) = self.rest.pop_front() {
            return convert(&rest, &self.schema).map(Some);
        }
        let Some(rows) = &mut self.rows else { return Ok(None) };
        let batch = self.token.run(|| rows.next_of_source());
        let batch = batch.map_err(|failed| ArrowError::ExternalError(Box::new(failed)))?;
        batch.map(|batch| convert(&batch, &self.schema)).transpose()
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.read();
        if !matches!(batch, Ok(Some(_)))
            && let Some(rows) = self.rows.take()
        {
            drop(rows.close());
        }
        batch.transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(rows) = self.rows.take() {
            drop(rows.close());
        }
    }
}
