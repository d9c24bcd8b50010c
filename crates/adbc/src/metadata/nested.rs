//! Lists and structs in the shapes that ADBC prescribes.

use crate::error::{Result, internal};
use arrow::array::{ArrayRef, ListArray, RecordBatch, StructArray, new_null_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, SchemaRef};
use std::sync::Arc;

/// Builds structs of this type from their members.
pub(super) fn structs(data_type: &DataType, members: Vec<ArrayRef>) -> Result<ArrayRef> {
    let DataType::Struct(fields) = data_type else {
        return Err(internal("ADBC's schema has no struct here"));
    };
    Ok(Arc::new(StructArray::try_new(fields.clone(), members, None)?))
}

/// Builds lists of these lengths, `None` for NULL, that contain `items` in order.
pub(super) fn lists(items: ArrayRef, lengths: impl IntoIterator<Item = Option<usize>>) -> Result<ArrayRef> {
    let lengths: Vec<Option<usize>> = lengths.into_iter().collect();
    let valid: NullBuffer = lengths.iter().map(Option::is_some).collect();
    let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|length| length.unwrap_or(0)));
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let valid = Some(valid).filter(|valid| valid.null_count() > 0);
    Ok(Arc::new(ListArray::try_new(field, offsets, items, valid)?))
}

/// Builds `count` NULL lists of this item type.
pub(super) fn no_lists(item: &DataType, count: usize) -> ArrayRef {
    new_null_array(&DataType::new_list(item.clone(), true), count)
}

/// Builds the row of the nameless catalog with its schemas; no row for `None`.
pub(super) fn catalog(schema: &SchemaRef, schemas: Option<ArrayRef>) -> Result<RecordBatch> {
    let Some(schemas) = schemas else { return Ok(RecordBatch::new_empty(schema.clone())) };
    Ok(RecordBatch::try_new(schema.clone(), vec![new_null_array(&DataType::Utf8, 1), schemas])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray, Int32Array};

    #[test]
    fn lists_share_out_their_items() {
        let lists =
            lists(Arc::new(Int32Array::from(vec![1, 2, 3])), [Some(2), None, Some(0), Some(1)]).unwrap();
        let lists = lists.as_list::<i32>();
        assert_eq!((lists.value_length(0), lists.value_length(2), lists.value_length(3)), (2, 0, 1));
        assert_eq!((0..4).map(|row| lists.is_null(row)).collect::<Vec<_>>(), [false, true, false, false]);
    }
}
