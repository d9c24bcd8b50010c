//! Parameters of statements.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;

/// Rows of parameters: one column per `?`, in order. Names do not matter.
#[derive(Clone, Debug, Default)]
pub struct Params(Option<RecordBatch>);

impl Params {
    /// No parameters.
    pub fn none() -> Self {
        Self(None)
    }

    /// One row of texts (`None` = NULL); the server converts each to the type that its parameter has.
    pub fn texts<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        Self::row(values.into_iter().map(|value| Arc::new(StringArray::from(vec![value])) as ArrayRef))
    }

    /// One parameter per array; the arrays must have equal lengths, the number of rows.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn row(columns: impl IntoIterator<Item = ArrayRef>) -> Self {
        let columns: Vec<ArrayRef> = columns.into_iter().collect();
        let fields: Vec<Field> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| Field::new(format!("{}", index + 1), column.data_type().clone(), true))
            .collect();
        let rows = columns.first().map_or(1, |column| column.len());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
        Self(Some(batch.expect("parameter columns have equal lengths")))
    }

    pub(crate) fn batch(&self) -> Option<&RecordBatch> {
        // A batch without columns and a statement without parameters fit.
        self.0.as_ref().filter(|batch| batch.num_columns() > 0)
    }
}

impl From<RecordBatch> for Params {
    fn from(batch: RecordBatch) -> Self {
        Self(Some(batch))
    }
}

impl From<&RecordBatch> for Params {
    fn from(batch: &RecordBatch) -> Self {
        Self(Some(batch.clone()))
    }
}

impl From<()> for Params {
    fn from((): ()) -> Self {
        Self::none()
    }
}
