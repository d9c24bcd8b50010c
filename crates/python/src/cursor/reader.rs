//! The rows that are left as a stream of Arrow batches, which are read when the stream is.

use super::result::Fetched;
use crate::connection::{Dependent, Shared};
use crate::flow::convert;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use firearrow::CancelToken;
use firearrow::arrow::schema;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The rows that are left of a result.
pub(super) struct Reader {
    schema: SchemaRef,
    source: Arc<Source>,
    token: CancelToken,
}

/// What a reader has, and its connection ends.
struct Source {
    shared: Arc<Shared>,
    left: Mutex<Left>,
}

enum Left {
    Rows {
        come: VecDeque<RecordBatch>,
        rows: Box<Fetched>,
    },
    /// It was read to its end, or has failed.
    Over,
    /// The connection was closed before that.
    Lost,
}

impl Source {
    fn lock(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dependent for Source {
    fn end(&self) {
        let mut left = self.lock();
        if matches!(*left, Left::Rows { .. }) {
            *left = Left::Lost;
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let left = self.left.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Left::Rows { rows, .. } = std::mem::replace(left, Left::Over) else { return };
        match self.shared.calls.enter().filter(|_| self.shared.facts.is_here()) {
            Some(_call) => drop(rows.close()),
            None => self.shared.facts.discard(rows),
        }
    }
}

/// The error of a stream that cannot go on, which Arrow's consumers take for one of input and output.
fn lost(why: &'static str) -> ArrowError {
    ArrowError::IoError(why.to_owned(), io::Error::other(why))
}

fn closed() -> ArrowError {
    lost("the connection of this stream was closed before all rows were read")
}

impl Reader {
    pub(super) fn new(shared: &Arc<Shared>, mut rows: Fetched) -> firearrow::Result<Self> {
        let read = shared.declared(rows.buffer.descriptors())?;
        let schema = schema(rows.buffer.descriptors(), &read)?;
        let left = Left::Rows { come: rows.buffer.take(), rows: Box::new(rows) };
        let source = Arc::new(Source { shared: Arc::clone(shared), left: Mutex::new(left) });
        let weak: Weak<Source> = Arc::downgrade(&source);
        shared.dependents.adopt(weak);
        Ok(Self { schema, source, token: CancelToken::new() })
    }

    fn read(&self) -> Result<Option<RecordBatch>, ArrowError> {
        let Source { shared, .. } = &*self.source;
        if !shared.facts.is_here() {
            return Err(lost(
                "the connection of this stream belongs to the process that opened it: open another one after a fork",
            ));
        }
        let mut left = self.source.lock();
        let (come, rows) = match &mut *left {
            Left::Rows { come, rows } => (come, rows),
            Left::Over => return Ok(None),
            Left::Lost => return Err(closed()),
        };
        let Some(_call) = shared.calls.enter() else { return Err(closed()) };
        let batch = match come.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.token.run(|| rows.next_of_source()),
        };
        let batch = match batch {
            Ok(batch) => batch.map(|batch| convert(&batch, &self.schema)).transpose(),
            Err(_) if shared.calls.is_closing() => Err(closed()),
            Err(failed) => Err(ArrowError::ExternalError(Box::new(failed))),
        };
        if !matches!(batch, Ok(Some(_)))
            && let Left::Rows { rows, .. } = std::mem::replace(&mut *left, Left::Over)
        {
            drop(rows.close());
        }
        batch
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
