//! Columns in the few types that the conversions know: wide decimals become narrower ones, and arrays text.

use crate::diagnostics::{Failure, Result, State};
use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Decimal256Type, Schema};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use std::sync::Arc;

/// Digits of a Decimal128, as far as Arrow counts. Values of 39 digits fit nevertheless.
const DIGITS: u8 = 38;

/// The type that a column has for the conversions.
pub(crate) fn data_type(of: &DataType) -> DataType {
    match of {
        DataType::Decimal256(_, scale) => DataType::Decimal128(DIGITS, *scale),
        DataType::List(_) => DataType::Utf8,
        of => of.clone(),
    }
}

/// A batch whose columns have these types. Nothing is copied of columns that have them already.
pub(crate) fn batch(batch: RecordBatch) -> Result<RecordBatch> {
    let is_other =
        |column: &ArrayRef| matches!(column.data_type(), DataType::Decimal256(..) | DataType::List(_));
    if !batch.columns().iter().any(is_other) {
        return Ok(batch);
    }
    let schema = batch.schema();
    let fields = schema.fields().iter().map(|field| {
        let other = data_type(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(other))
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let columns = batch.columns().iter().map(column).collect::<Result<Vec<_>, ArrowError>>();
    let batch = columns.and_then(|columns| RecordBatch::try_new(schema, columns));
    batch.map_err(|error| Failure::new(State::GENERAL, error.to_string()))
}

fn column(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.data_type() {
        DataType::Decimal256(_, scale) => {
            let wide = column.as_primitive::<Decimal256Type>();
            let narrow = |value: arrow::datatypes::i256| {
                // The engine's own numbers have 128 bits.
                value
                    .to_i128()
                    .ok_or_else(|| ArrowError::ComputeError("a number has more than 128 bits".into()))
            };
            let values = wide.iter().map(|value| value.map(narrow).transpose());
            let values = values.collect::<Result<Decimal128Array, _>>()?;
            Ok(Arc::new(values.with_data_type(DataType::Decimal128(DIGITS, *scale))))
        }
        DataType::List(_) => {
            let mut text = StringBuilder::with_capacity(column.len(), 16 * column.len());
            for row in 0..column.len() {
                match column.is_null(row) {
                    true => text.append_null(),
                    false => {
                        let mut rendered = String::new();
                        render(column.as_list::<i32>().value(row).as_ref(), &mut rendered)?;
                        text.append_value(rendered);
                    }
                }
            }
            Ok(Arc::new(text.finish()))
        }
        _ => Ok(Arc::clone(column)),
    }
}

/// Writes the elements of an array in braces, those of inner dimensions within them.
fn render(elements: &dyn Array, to: &mut String) -> Result<(), ArrowError> {
    let options = FormatOptions::new().with_null("NULL").with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"));
    let lists = elements.as_list_opt::<i32>();
    let formatter = match lists {
        Some(_) => None,
        None => Some(ArrayFormatter::try_new(elements, &options)?),
    };
    to.push('{');
    for at in 0..elements.len() {
        if at > 0 {
            to.push_str(", ");
        }
        match (lists, &formatter) {
            (Some(lists), _) if lists.is_null(at) => to.push_str("NULL"),
            (Some(lists), _) => render(lists.value(at).as_ref(), to)?,
            (None, Some(formatter)) => to.push_str(&formatter.value(at).try_to_string()?),
            (None, None) => {}
        }
    }
    to.push('}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal256Array, Int32Array, ListArray};
    use arrow::datatypes::{Int32Type, i256};

    #[test]
    fn wide_decimals_and_arrays_change_their_type_alone() {
        let largest = i256::from_i128(i128::MAX);
        let wide =
            Decimal256Array::from(vec![Some(largest), None]).with_data_type(DataType::Decimal256(39, 2));
        let lists =
            ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None, Some(3)]), None]);
        let plain = Int32Array::from(vec![7, 8]);
        let columns: [(&str, ArrayRef); 3] =
            [("W", Arc::new(wide)), ("L", Arc::new(lists)), ("P", Arc::new(plain))];
        let normal = batch(RecordBatch::try_from_iter(columns).expect("a batch")).expect("it converts");
        let decimals = normal.column(0).as_any().downcast_ref::<Decimal128Array>().expect("decimals");
        assert_eq!((decimals.value(0), decimals.is_null(1), decimals.scale()), (i128::MAX, true, 2));
        let text = normal.column(1).as_string::<i32>();
        assert_eq!((text.value(0), text.is_null(1)), ("{1, NULL, 3}", true));
        assert_eq!(normal.column(2).as_primitive::<Int32Type>().values(), &[7, 8]);
        assert_eq!(
            normal.schema().field(1).data_type(),
            &data_type(&DataType::new_list(DataType::Int32, true))
        );
    }
}
