//! Results as Arrow batches.
//!
//! Rows are read so that every value becomes a Python object whole; Arrow's consumers get the types that the connection's options
//! ask for. Most columns are the same in both. The others are converted here: decimals to their declared precision, and times
//! with a zone.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use firearrow::{Date, Time, Timestamp};
use std::sync::Arc;

/// Converts the columns whose types differ.
pub(crate) fn convert(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
        true => Ok(Arc::clone(column)),
        false => converted(column, field.data_type())
            .map_err(|failed| ArrowError::CastError(format!("column {}: {failed}", field.name()))),
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
}

fn converted(column: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    match (column.data_type(), to) {
        (DataType::Decimal128(_, from), DataType::Decimal128(precision, scale)) if from == scale => {
            let array = column.as_primitive::<arrow::datatypes::Decimal128Type>().clone();
            array.validate_decimal_precision(*precision)?;
            Ok(Arc::new(array.with_precision_and_scale(*precision, *scale)?))
        }
        (DataType::Utf8, DataType::Timestamp(TimeUnit::Microsecond, Some(_))) => {
            let texts = column.as_string();
            let moments = (0..texts.len()).map(|row| instant(texts, row)).collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(TimestampMicrosecondArray::from(moments).with_data_type(to.clone())))
        }
        _ => cast_with_options(column, to, &CastOptions { safe: false, ..CastOptions::default() }),
    }
}

/// The instant of a text such as `2024-10-27 02:30:00.0000 +02:00 Europe/Berlin`.
fn instant(texts: &StringArray, row: usize) -> Result<Option<i64>, ArrowError> {
    if texts.is_null(row) {
        return Ok(None);
    }
    let text = texts.value(row);
    let parsed = parse(text).ok_or_else(|| ArrowError::CastError(format!("'{text}' is no time with a zone")));
    parsed.map(Some)
}

fn parse(text: &str) -> Option<i64> {
    let mut parts = text.split(' ');
    let mut date = parts.next()?.split('-').map(|part| part.parse::<u32>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (whole, fraction) = parts.next()?.split_once('.')?;
    let mut clock = whole.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let micros = format!("{fraction:0<6}").parse().ok()?;
    let offset = parts.next()?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
    let minutes = if offset.starts_with('-') { -minutes } else { minutes };
    let date = Date::new(i32::try_from(year).ok()?, month, day)?;
    let time = Time::new(hour, minute, second, micros)?;
    Some(Timestamp::new(date, time).unix_micros() - minutes * 60_000_000)
}
