//! Answers to the client's own questions: their columns are checked as those of any other query are.

use crate::error::{Error, Kind, Result};
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch, StringArray};
use firearrow_proto::wire::Limits;

/// A column of text.
pub(crate) fn texts(answer: &RecordBatch, column: usize) -> Result<&StringArray> {
    let array = array(answer, column)?;
    array.as_string_opt::<i32>().ok_or_else(|| other_type(array, column, "text"))
}

/// A column of numbers.
pub(crate) fn numbers<T: ArrowPrimitiveType>(
    answer: &RecordBatch,
    column: usize,
) -> Result<&PrimitiveArray<T>> {
    let array = array(answer, column)?;
    array.as_primitive_opt::<T>().ok_or_else(|| other_type(array, column, T::DATA_TYPE))
}

/// The text in a row; `None` is NULL.
pub(crate) fn text(answer: &RecordBatch, column: usize, row: usize) -> Result<Option<&str>> {
    let array = texts(answer, column)?;
    has_row(answer, row)?;
    Ok(array.is_valid(row).then(|| array.value(row)))
}

/// The number in a row; `None` is NULL.
pub(crate) fn number<T: ArrowPrimitiveType>(
    answer: &RecordBatch,
    column: usize,
    row: usize,
) -> Result<Option<T::Native>> {
    let array = numbers::<T>(answer, column)?;
    has_row(answer, row)?;
    Ok(array.is_valid(row).then(|| array.value(row)))
}

/// A column of any type.
pub(crate) fn array(answer: &RecordBatch, column: usize) -> Result<&ArrayRef> {
    let missing = || {
        let text = format!(
            "a question of the client was answered with {} columns, column {} is missing",
            answer.num_columns(),
            column + 1
        );
        Error::new(Kind::Protocol, text)
    };
    answer.columns().get(column).ok_or_else(missing)
}

fn has_row(answer: &RecordBatch, row: usize) -> Result<()> {
    let empty = || Error::new(Kind::Protocol, "a question of the client was answered without a row");
    (row < answer.num_rows()).then_some(()).ok_or_else(empty)
}

fn other_type(array: &ArrayRef, column: usize, expected: impl std::fmt::Display) -> Error {
    let text = format!(
        "a question of the client was answered with {} in column {}, where {expected} belongs",
        array.data_type(),
        column + 1
    );
    Error::new(Kind::Protocol, text)
}

/// Bounds the bytes of an answer of many batches.
#[derive(Debug, Default)]
pub(crate) struct Size(usize);

impl Size {
    /// Counts another batch.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        // What is made from a row takes more than the row.
        self.0 += batch.get_array_memory_size() + batch.num_rows() * ROW;
        let limit = Limits::default().answer;
        if self.0 <= limit {
            return Ok(());
        }
        let text = format!("the answer to a question of the client has more than {limit} bytes");
        Err(Error::new(Kind::Protocol, text))
    }
}

/// What a row of an answer takes beside its values.
const ROW: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int32Array;
    use arrow::datatypes::{Int32Type, Int64Type};
    use std::sync::Arc;

    #[test]
    fn columns_that_are_not_what_was_asked_for_are_errors() {
        let ids: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
        let answer = RecordBatch::try_from_iter_with_nullable([("id", ids, true)]).expect("one column");
        assert_eq!(number::<Int32Type>(&answer, 0, 0).expect("a number"), Some(7));
        assert_eq!(number::<Int32Type>(&answer, 0, 1).expect("NULL"), None);
        for error in [
            number::<Int64Type>(&answer, 0, 0).map(drop),
            number::<Int32Type>(&answer, 0, 2).map(drop),
            number::<Int32Type>(&answer, 1, 0).map(drop),
            text(&answer, 0, 0).map(drop),
        ] {
            assert_eq!(error.expect_err("it is something else").kind(), Kind::Protocol);
        }
    }
}
