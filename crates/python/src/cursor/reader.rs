//! The rows that are left as a stream of Arrow batches, which are read when the stream is.

use super::result::Fetched;
use crate::connection::{Hurry, Shared};
use crate::dependent::Dependent;
use crate::failure::{Failure, OTHER_PROCESS};
use crate::flow::{Limit, convert};
use crate::lock::{own, plain};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use firearrow::CancelToken;
use firearrow::arrow::schema;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, Weak};

/// The rows that are left of a result.
pub(super) struct Reader {
    schema: SchemaRef,
    source: Arc<Source>,
    token: CancelToken,
    limit: Limit,
}

/// What a reader has; its connection ends it.
struct Source {
    shared: Arc<Shared>,
    left: Mutex<Left>,
}

enum Left {
    /// Batches that have arrived already, the source of the others, and the number of rows and bytes that were read.
    Rows { come: VecDeque<RecordBatch>, rows: Box<Fetched>, kept: (u64, u64) },
    /// It was read to its end, or has failed.
    Over,
    /// The connection was closed before that.
    Lost,
}

impl Dependent for Source {
    fn end(&self) {
        let mut left = plain(&self.left);
        if matches!(*left, Left::Rows { .. }) {
            *left = Left::Lost;
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let left = own(&mut self.left);
        if let Left::Rows { rows, .. } = std::mem::replace(left, Left::Over) {
            self.shared.discard(Hurry::No, || drop(rows.close()));
        }
    }
}

impl Reader {
    pub(super) fn new(shared: &Arc<Shared>, mut rows: Fetched, limit: Limit) -> firearrow::Result<Self> {
        let read = shared.declared(rows.buffer.columns(), rows.buffer.arrow())?;
        let schema = schema(rows.buffer.columns(), &read)?;
        let left = Left::Rows { come: rows.buffer.take(), rows: Box::new(rows), kept: (0, 0) };
        let source = Arc::new(Source { shared: Arc::clone(shared), left: Mutex::new(left) });
        let weak: Weak<Source> = Arc::downgrade(&source);
        shared.dependents.adopt(weak);
        Ok(Self { schema, source, token: CancelToken::new(), limit })
    }

    /// Reads the next batch.
    pub(super) fn read(&self) -> Result<Option<RecordBatch>, Failure> {
        let Source { shared, .. } = &*self.source;
        if !shared.facts.is_owner_process() {
            return Err(Failure::OtherProcess);
        }
        let mut left = plain(&self.source.left);
        let (come, rows, kept) = match &mut *left {
            Left::Rows { come, rows, kept } => (come, rows, kept),
            Left::Over => return Ok(None),
            Left::Lost => return Err(Failure::Closed),
        };
        let Some(_call) = shared.calls.enter() else { return Err(Failure::Closed) };
        let batch = match come.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.token.run(|| rows.next_of_source()),
        };
        let batch = match batch {
            Ok(Some(batch)) => {
                *kept = (kept.0 + batch.num_rows() as u64, kept.1 + self.limit.bytes([&batch]));
                let checked = self.limit.check(kept.0, kept.1);
                checked.and_then(|()| convert(&batch, &self.schema).map(Some))
            }
            Ok(None) => Ok(None),
            Err(_) if shared.calls.is_closing() => Err(Failure::Closed),
            Err(failed) => Err(failed.into()),
        };
        if !matches!(batch, Ok(Some(_)))
            && let Left::Rows { rows, .. } = std::mem::replace(&mut *left, Left::Over)
        {
            drop(rows.close());
        }
        batch
    }

    /// Reads all batches.
    pub(super) fn read_all(&self) -> Result<Vec<RecordBatch>, Failure> {
        let reading = self.source.shared.whole.begin();
        let mut batches = Vec::new();
        loop {
            // If it is cancelled between two batches, it reads no further one.
            let batch = reading.token.run(|| self.read())?;
            match batch {
                Some(batch) => batches.push(batch),
                None => return Ok(batches),
            }
        }
    }
}

/// The error for Arrow's consumers: one of input and output if rows were lost with the connection.
fn of_stream(failed: Failure) -> ArrowError {
    let lost = |why: &'static str| ArrowError::IoError(why.to_owned(), io::Error::other(why));
    match failed {
        Failure::Client(failed) => ArrowError::ExternalError(Box::new(failed)),
        Failure::Reader(failed) => failed,
        Failure::OtherProcess => lost(OTHER_PROCESS),
        _ => lost("the connection of this stream was closed before all rows were read"),
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map_err(of_stream).transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
