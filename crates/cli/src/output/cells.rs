//! Values as text.

use super::json::{Shape, push, shape};
use crate::failure::{Failure, Result};
use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int16Type, TimeUnit, TimestampMicrosecondType};
use arrow::temporal_conversions::timestamp_us_to_datetime;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use std::fmt::Write;
use std::sync::Arc;

/// The columns of a batch, prepared for writing cell by cell.
#[derive(Debug)]
pub(super) struct Columns(Vec<ArrayRef>);

impl Columns {
    pub(super) fn new(batch: &RecordBatch) -> Result<Self> {
        batch.columns().iter().map(printable).collect::<Result<_>>().map(Self)
    }

    /// One formatter per column.
    pub(super) fn cells(&self) -> Result<Vec<Cells<'_>>> {
        self.0.iter().map(Cells::new).collect()
    }
}

/// The values of one column.
pub(super) struct Cells<'a> {
    array: &'a dyn Array,
    form: Form<'a>,
}

enum Form<'a> {
    Scalar(ArrayFormatter<'a>),
    /// The items, where each list ends, and the JSON form of an item.
    Lists(Box<Cells<'a>>, &'a [i32], Shape),
}

impl<'a> Cells<'a> {
    fn new(array: &'a ArrayRef) -> Result<Self> {
        let form = match array.as_list_opt::<i32>() {
            Some(lists) => {
                let shape = shape(lists.values().data_type());
                Form::Lists(Box::new(Self::new(lists.values())?), lists.value_offsets(), shape)
            }
            None => {
                let options = FormatOptions::default().with_display_error(false);
                Form::Scalar(ArrayFormatter::try_new(array, &options)?)
            }
        };
        Ok(Self { array, form })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        // The type Null has no validity bitmap.
        self.array.is_null(row) || self.array.data_type() == &DataType::Null
    }

    /// Appends the value of a row; a list becomes JSON, and NULL appends nothing.
    pub(super) fn write(&self, row: usize, text: &mut String) -> Result<()> {
        let (items, offsets, shape) = match &self.form {
            Form::Scalar(formatter) => return Ok(formatter.value(row).write(text)?),
            Form::Lists(items, offsets, shape) => (items, offsets, *shape),
        };
        if self.is_null(row) {
            return Ok(());
        }
        let mut value = String::new();
        text.push('[');
        for index in offsets[row] as usize..offsets[row + 1] as usize {
            if index > offsets[row] as usize {
                text.push(',');
            }
            value.clear();
            items.write(index, &mut value)?;
            if items.is_null(index) { text.push_str("null") } else { push(shape, &value, text)? }
        }
        text.push(']');
        Ok(())
    }
}

/// Converts the two types that the formatter cannot show: it supports displacements but not time zone names, and it
/// shows a timestamp with offset as two values.
fn printable(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) if zone.as_ref() == "UTC" => {
            let instants = array.as_primitive::<TimestampMicrosecondType>().clone();
            Ok(Arc::new(instants.with_timezone("+00:00")))
        }
        DataType::Struct(fields) if fields.len() == 2 && fields[1].name() == "offset_minutes" => {
            let (instants, offsets) = (array.as_struct().column(0), array.as_struct().column(1));
            let instants = instants.as_primitive::<TimestampMicrosecondType>();
            let offsets = offsets.as_primitive::<Int16Type>();
            let texts = (0..array.len()).map(|row| {
                let valid = array.is_valid(row);
                valid.then(|| with_offset(instants.value(row), offsets.value(row))).transpose()
            });
            Ok(Arc::new(texts.collect::<Result<StringArray>>()?))
        }
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let values = printable(lists.values())?;
            let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
            Ok(Arc::new(ListArray::new(field, lists.offsets().clone(), values, lists.nulls().cloned())))
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// `2024-05-01T14:30:00+02:00`.
fn with_offset(instant: i64, minutes: i16) -> Result<String> {
    let local = timestamp_us_to_datetime(instant + i64::from(minutes) * 60_000_000);
    let local =
        local.ok_or_else(|| Failure::other(format!("the instant {instant} µs is outside the calendar")))?;
    let (sign, absolute) = if minutes < 0 { ('-', -minutes) } else { ('+', minutes) };
    let mut text = local.format("%Y-%m-%dT%H:%M:%S%.f").to_string();
    // Writing to a String cannot fail.
    let _ = write!(text, "{sign}{:02}:{:02}", absolute / 60, absolute % 60);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::TimestampMicrosecondArray;

    #[test]
    fn instants_are_shown_with_their_displacement() {
        assert_eq!(with_offset(0, -90).unwrap(), "1969-12-31T22:30:00-01:30");
        assert_eq!(with_offset(1_500_000, 120).unwrap(), "1970-01-01T02:00:01.500+02:00");
        let utc: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_000_100]).with_timezone("UTC"));
        let array = printable(&utc).unwrap();
        let mut text = String::new();
        Cells::new(&array).unwrap().write(0, &mut text).unwrap();
        assert_eq!(text, "1970-01-01T00:00:01.000100Z");
    }

    #[test]
    fn lists_are_json() {
        let lists = |values: ArrayRef, lengths: &[usize]| -> ArrayRef {
            let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
            let offsets = arrow::buffer::OffsetBuffer::from_lengths(lengths.iter().copied());
            Arc::new(ListArray::new(item, offsets, values, None))
        };
        let utc: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_000_100]).with_timezone("UTC"));
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a, \"b\""), None, Some("")]));
        for (list, row, expected) in [
            (lists(utc, &[1]), 0, "[\"1970-01-01T00:00:01.000100Z\"]"),
            (lists(lists(texts, &[1, 0, 2]), &[0, 3]), 1, "[[\"a, \\\"b\\\"\"],[],[null,\"\"]]"),
        ] {
            let list = printable(&list).unwrap();
            let mut text = String::new();
            Cells::new(&list).unwrap().write(row, &mut text).unwrap();
            assert_eq!(text, expected);
        }
    }
}
