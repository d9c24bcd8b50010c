//! Rows of parameters from a reader of the caller's.

use crate::activity::Task;
use crate::error::{Error, Result};
use crate::panic::text;
use crate::progress::Progress;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchReader};
use arrow::datatypes::{DataType, Field, Int8Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The error of the rows' producer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<Error>>>);

impl Failure {
    /// The producer's error, if it failed, instead of the wrapped form in which it arrived.
    pub(crate) fn instead_of(&self, error: Error) -> Error {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or(error)
    }

    /// What ended the rows, though the producer did not fail.
    fn keep(&self, error: Error) -> ArrowError {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        error.into()
    }

    fn note(&self, error: ArrowError) -> ArrowError {
        let error: Error = match error {
            // The C interface passes only text.
            ArrowError::CDataInterface(text) => Error::argument(text),
            error => error.into(),
        };
        self.keep(error.context("reading the bound data failed"))
    }
}

/// Rows of parameters. Batches without rows are left out.
pub struct Rows {
    reader: Option<Box<dyn RecordBatchReader + Send>>,
    schema: SchemaRef,
    /// Columns of the reader that are truth values stored as int8.
    flags: Vec<usize>,
    /// The columns of the reader that are wanted, in order.
    columns: Option<Vec<usize>>,
    /// Batches that were looked at.
    ahead: VecDeque<RecordBatch>,
    /// What comes after them, if there are no more.
    end: Option<ArrowError>,
    failure: Failure,
    progress: Option<Arc<Progress>>,
    /// Their purpose.
    task: Option<Arc<Task>>,
}

impl Rows {
    /// Takes the rows of a reader.
    ///
    /// # Errors
    /// The reader panics.
    pub fn new(reader: Box<dyn RecordBatchReader + Send>) -> Result<Self> {
        let schema = crate::panic::contain(|| (), || reader.schema())?;
        let flags: Vec<usize> =
            (0..schema.fields().len()).filter(|&column| is_bool8(schema.field(column))).collect();
        let fields = schema.fields().iter().map(|field| match is_bool8(field) {
            true => Arc::new(Field::new(field.name(), DataType::Boolean, field.is_nullable())),
            false => Arc::clone(field),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let failure = Failure::default();
        let ahead = VecDeque::new();
        Ok(Self {
            reader: Some(reader),
            schema,
            flags,
            columns: None,
            ahead,
            end: None,
            failure,
            progress: None,
            task: None,
        })
    }

    /// Counts them as they are taken.
    pub(crate) fn counted(self, progress: &Arc<Progress>) -> Self {
        Self { progress: Some(Arc::clone(progress)), ..self }
    }

    /// Ends with the task.
    pub(crate) fn within(self, task: &Arc<Task>) -> Self {
        Self { task: Some(Arc::clone(task)), ..self }
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        self.ahead.pop_front().map(Ok).or_else(|| self.end.take().map(Err)).or_else(|| self.read())
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.schema.fields().len()
    }

    /// Puts the columns into the order of these names; each may be wanted several times.
    pub(crate) fn by_name(mut self, names: &[String]) -> Result<Self> {
        let columns = names.iter().map(|name| {
            let fields = self.schema.fields();
            let exact = fields.iter().position(|field| field.name() == name);
            exact
                .or_else(|| fields.iter().position(|field| field.name().eq_ignore_ascii_case(name)))
                .ok_or_else(|| Error::argument(format!("the bound data has no field for the marker :{name}")))
        });
        let columns = columns.collect::<Result<Vec<usize>>>()?;
        let fields: Vec<_> =
            columns.iter().map(|&column| Arc::clone(&self.schema.fields()[column])).collect();
        self.schema = Arc::new(Schema::new(fields));
        self.columns = Some(columns);
        Ok(self)
    }

    /// Remembers the producer's error.
    pub(crate) fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// No more than so many of them.
    pub(crate) fn part(&mut self, rows: usize) -> Part<'_> {
        Part { rows: self, left: rows }
    }

    /// Makes sure that this many batches, or the last one, are there.
    pub(crate) fn look_ahead(&mut self, batches: usize) -> Result<&VecDeque<RecordBatch>> {
        while self.ahead.len() < batches {
            match self.end.take().map(Err).or_else(|| self.read()) {
                Some(Ok(batch)) => self.ahead.push_back(batch),
                Some(Err(error)) => return Err(self.failure.instead_of(error.into())),
                None => break,
            }
        }
        Ok(&self.ahead)
    }

    /// Makes sure that the rows up to so many bytes are there. Returns whether these are all. The producer's failure comes after
    /// them.
    pub(crate) fn look_far_ahead(&mut self, bytes: usize) -> bool {
        let mut size: usize = self.ahead.iter().map(size_of_rows).sum();
        while size < bytes {
            match self.read() {
                Some(Ok(batch)) => {
                    size += size_of_rows(&batch);
                    self.ahead.push_back(batch);
                }
                Some(Err(error)) => self.end = Some(error),
                None => (),
            }
            if self.reader.is_none() {
                return true;
            }
        }
        false
    }

    /// The only row, if there is no other one.
    pub(crate) fn single(&mut self) -> Result<Option<RecordBatch>> {
        if self.look_ahead(1)?.front().is_none_or(|batch| batch.num_rows() != 1) {
            return Ok(None);
        }
        Ok(match self.look_ahead(2)?.len() {
            1 => self.ahead.pop_front(),
            _ => None,
        })
    }

    /// The batch as the statement wants it; nothing is copied but truth values.
    fn shape(&self, mut batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        if !self.flags.is_empty() {
            let mut columns = batch.columns().to_vec();
            let mut fields = batch.schema().fields().to_vec();
            for &column in &self.flags {
                let values =
                    columns.get(column).and_then(|values| values.as_primitive_opt::<Int8Type>()).ok_or_else(
                        || ArrowError::SchemaError(format!("column {} is missing or not Int8", column + 1)),
                    )?;
                columns[column] = Arc::new(BooleanArray::from_unary(values, |value| value != 0));
                fields[column] = Arc::new(Field::new(fields[column].name(), DataType::Boolean, true));
            }
            batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
        }
        match &self.columns {
            Some(columns) => batch.project(columns),
            None => Ok(batch),
        }
    }

    /// The next batch that has rows, from the reader. After an error there is nothing more.
    fn read(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        let reader = self.reader.as_mut()?;
        // Producers are foreign code: neither their panics nor panics over their data may harm the connection.
        let next = catch_unwind(AssertUnwindSafe(|| {
            reader.find(|batch| !matches!(batch, Ok(batch) if batch.num_rows() == 0))
        }));
        let next = next.unwrap_or_else(|panic| {
            Some(Err(ArrowError::CDataInterface(format!("the producer panicked: {}", text(&*panic)))))
        });
        let next = next.map(|batch| batch.and_then(|batch| self.shape(batch)));
        // It may have taken long.
        if let Some(Err(error)) = self.task.as_ref().map(|task| task.check()) {
            self.reader = None;
            return Some(Err(self.failure.keep(error)));
        }
        match next {
            Some(Ok(batch)) => {
                if let Some(progress) = &self.progress {
                    progress.add_taken(batch.num_rows());
                }
                Some(Ok(batch))
            }
            Some(Err(error)) => {
                self.reader = None;
                Some(Err(self.failure.note(error)))
            }
            None => {
                self.reader = None;
                None
            }
        }
    }
}

/// The next rows of many.
pub(crate) struct Part<'a> {
    rows: &'a mut Rows,
    left: usize,
}

impl Iterator for Part<'_> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let batch = match self.rows.next_batch()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        let count = batch.num_rows().min(self.left);
        self.left -= count;
        if count < batch.num_rows() {
            self.rows.ahead.push_front(batch.slice(count, batch.num_rows() - count));
        }
        Some(Ok(batch.slice(0, count)))
    }
}

impl RecordBatchReader for Part<'_> {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch()
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Bytes of the rows of a batch: not what its buffers hold for other batches.
pub fn size_of_rows(batch: &RecordBatch) -> usize {
    let size = |column: &ArrayRef| {
        match column.data_type() {
            DataType::Utf8View => viewed(column.len(), column.as_string_view().lengths()),
            DataType::BinaryView => viewed(column.len(), column.as_binary_view().lengths()),
            // Their values are shared.
            DataType::Dictionary(key, _) => column.len() * key.primitive_width().unwrap_or(0),
            // Unknown for a few types, of which too much is counted.
            _ => column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size()),
        }
    };
    batch.columns().iter().map(size).sum()
}

fn viewed(rows: usize, lengths: impl Iterator<Item = u32>) -> usize {
    rows * size_of::<u128>() + lengths.map(|length| length as usize).sum::<usize>()
}

/// The canonical extension type of truth values in whole bytes.
fn is_bool8(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.bool8") && *field.data_type() == DataType::Int8
}
