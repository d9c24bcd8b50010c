//! Values as text.

use crate::failure::{Failure, Result};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Int16Type, TimeUnit, TimestampMicrosecondType};
use arrow::temporal_conversions::timestamp_us_to_datetime;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use std::fmt::Write;
use std::sync::Arc;

/// The columns of a batch, ready to be written cell by cell.
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
    formatter: ArrayFormatter<'a>,
}

impl<'a> Cells<'a> {
    fn new(array: &'a ArrayRef) -> Result<Self> {
        let options = FormatOptions::default().with_display_error(false);
        Ok(Self { array, formatter: ArrayFormatter::try_new(array, &options)? })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        // The type Null has no validity bitmap to ask.
        self.array.is_null(row) || self.array.data_type() == &DataType::Null
    }

    /// Appends the value of a row; NULL appends nothing.
    pub(super) fn write(&self, row: usize, text: &mut String) -> Result<()> {
        Ok(self.formatter.value(row).write(text)?)
    }
}

/// The two types that the formatter cannot show: it knows displacements but no names of time zones, and shows the
/// two halves of a timestamp with offset side by side.
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
        _ => Ok(Arc::clone(array)),
    }
}

/// `2024-05-01T14:30:00+02:00`.
fn with_offset(instant: i64, minutes: i16) -> Result<String> {
    let local = timestamp_us_to_datetime(instant + i64::from(minutes) * 60_000_000);
    let local = local.ok_or_else(|| Failure::other(format!("no calendar has the instant {instant} µs")))?;
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
}
