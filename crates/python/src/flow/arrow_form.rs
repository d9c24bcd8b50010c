//! Results as Arrow batches.
//!
//! Rows are read so that every value becomes a Python object whole; Arrow's consumers get the types that the connection's options
//! ask for. Most columns are the same in both. The others are converted here: decimals to their declared precision, and times
//! with a zone.

use crate::failure::Failure;
use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Float64Array, Int16Array, ListArray, RecordBatch, StringArray,
    StructArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, FieldRef, Fields, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use firearrow::{Date, Decimal, Time, Timestamp};
use std::fmt::Display;
use std::sync::Arc;

/// Converts the columns whose types differ.
pub(crate) fn convert(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Failure> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| {
        converted(column, field.data_type())
            .map_err(|Unfit(text)| Failure::Value(format!("column {}: {text}", field.name())))
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?).map_err(Failure::Reader)
}

/// Why a column cannot be of its type: a value would be changed.
struct Unfit(String);

impl From<ArrowError> for Unfit {
    fn from(error: ArrowError) -> Self {
        Self(error.to_string())
    }
}

/// Every pair of types that the options of a connection can make of what rows are read as. `arrow`'s `cast` would round decimals,
/// and brings 2 MB of code.
fn converted(column: &ArrayRef, to: &DataType) -> Result<ArrayRef, Unfit> {
    match (column.data_type(), to) {
        (from, to) if from == to => Ok(Arc::clone(column)),
        (DataType::List(_), DataType::List(item)) => {
            let lists = column.as_list();
            let values = converted(lists.values(), item.data_type())?;
            Ok(with_values(lists, Arc::clone(item), values)?)
        }
        (DataType::Decimal128(_, from), DataType::Decimal128(precision, scale)) if from == scale => {
            decimals(column.as_primitive::<Decimal128Type>().clone(), *precision, *scale)
        }
        (DataType::Decimal256(_, from), DataType::Decimal128(precision, scale)) if from == scale => {
            let wide = column.as_primitive::<Decimal256Type>();
            let narrow: Decimal128Array = wide.unary_opt(|value| value.to_i128());
            if let Some(row) = (0..wide.len()).find(|&row| narrow.is_null(row) && wide.is_valid(row)) {
                return Err(too_long(wide.value_as_string(row), to));
            }
            decimals(narrow, *precision, *scale)
        }
        (DataType::Decimal256(..), DataType::Utf8) => {
            let wide = column.as_primitive::<Decimal256Type>();
            let texts = (0..wide.len()).map(|row| wide.is_valid(row).then(|| wide.value_as_string(row)));
            Ok(Arc::new(texts.collect::<StringArray>()))
        }
        (DataType::Utf8, DataType::Float64) => {
            let number = |text: &str| if text.ends_with("NaN") { Some(f64::NAN) } else { text.parse().ok() };
            Ok(Arc::new(Float64Array::from(each(column, to, number)?)))
        }
        (DataType::Utf8, DataType::Decimal128(precision, scale)) => {
            let unscaled = |text: &str| match is_zero(text) {
                true => Some(0),
                false => Some(text.parse::<Decimal>().ok()?.rescale(*scale)?.unscaled),
            };
            decimals(Decimal128Array::from(each(column, to, unscaled)?), *precision, *scale)
        }
        (DataType::Utf8, DataType::Time64(TimeUnit::Microsecond)) => {
            Ok(Arc::new(Time64MicrosecondArray::from(each(column, to, time_in_utc)?)))
        }
        (DataType::Utf8, DataType::Timestamp(TimeUnit::Microsecond, Some(_))) => {
            let moments = each(column, to, |text| Some(moment(text)?.0))?;
            Ok(Arc::new(TimestampMicrosecondArray::from(moments).with_data_type(to.clone())))
        }
        (DataType::Utf8, DataType::Struct(fields)) => with_offset(column, fields),
        (from, to) => Err(Unfit(format!("{from} cannot become {to}"))),
    }
}

/// The same lists with other values of their items.
pub(super) fn with_values(
    lists: &ListArray,
    item: FieldRef,
    values: ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(item, offsets, values, nulls)?))
}

fn decimals(array: Decimal128Array, precision: u8, scale: i8) -> Result<ArrayRef, Unfit> {
    let array = array.with_precision_and_scale(precision, scale)?;
    let limit = 10_u128.pow(u32::from(precision));
    match array.iter().flatten().find(|value| value.unsigned_abs() >= limit) {
        Some(value) => Err(too_long(Decimal::new(value, scale), array.data_type())),
        None => Ok(Arc::new(array)),
    }
}

/// Whether a DECFLOAT is zero, which may have any exponent.
fn is_zero(text: &str) -> bool {
    text.split('E').next().is_some_and(|digits| digits.chars().all(|c| matches!(c, '-' | '0' | '.')))
}

fn too_long(value: impl Display, to: &DataType) -> Unfit {
    Unfit(format!("{value} does not fit {to}: set decfloat=utf8, int128=utf8 or decimal_precision=range"))
}

/// What each text becomes. NULL stays NULL.
fn each<T>(
    column: &ArrayRef,
    to: &DataType,
    value: impl Fn(&str) -> Option<T>,
) -> Result<Vec<Option<T>>, Unfit> {
    let values = column.as_string::<i32>().iter().map(|text| {
        let Some(text) = text else { return Ok(None) };
        value(text).map(Some).ok_or_else(|| {
            Unfit(match to {
                DataType::Decimal128(..) | DataType::Float64 => {
                    format!("{text} is not exact in {to}: set decfloat=utf8")
                }
                DataType::Time64(_) => format!("{text} has no offset to UTC: set timetz=utf8"),
                _ => format!("{text} cannot be converted to UTC: set timestamptz=utf8"),
            })
        })
    });
    values.collect()
}

/// The extension type `arrow.timestamp_with_offset`: its two parts are not NULL.
fn with_offset(column: &ArrayRef, fields: &Fields) -> Result<ArrayRef, Unfit> {
    let moments = each(column, &DataType::Struct(fields.clone()), moment)?;
    let (instants, offsets): (Vec<i64>, Vec<i16>) =
        moments.into_iter().map(Option::unwrap_or_default).unzip();
    let zone = fields.first().map_or(DataType::Null, |field| field.data_type().clone());
    let instants = TimestampMicrosecondArray::from(instants).with_data_type(zone);
    let parts: Vec<ArrayRef> = vec![Arc::new(instants), Arc::new(Int16Array::from(offsets))];
    Ok(Arc::new(StructArray::try_new(fields.clone(), parts, column.nulls().cloned())?))
}

/// The instant in µs since 1970 and the offset in minutes of a text such as `2024-10-27 02:30:00.0000 +02:00 Europe/Berlin`.
fn moment(text: &str) -> Option<(i64, i16)> {
    let (date, time) = text.split_once(' ')?;
    let mut date = date.split('-').map(|part| part.parse::<u32>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let date = Date::new(i32::try_from(year).ok()?, month, day)?;
    let (time, offset) = clock(time)?;
    Some((Timestamp::new(date, time).unix_micros() - i64::from(offset) * MINUTE, offset))
}

/// The time in UTC, in µs since midnight, of a text such as `02:30:00.0000 +02:00`.
fn time_in_utc(text: &str) -> Option<i64> {
    let (time, offset) = clock(text)?;
    Some((time.micros() - i64::from(offset) * MINUTE).rem_euclid(24 * 60 * MINUTE))
}

/// In microseconds.
const MINUTE: i64 = 60_000_000;

/// A time and its offset in minutes, of a text such as `02:30:00.0000 +02:00 Europe/Berlin`.
fn clock(text: &str) -> Option<(Time, i16)> {
    let mut parts = text.split(' ');
    let (whole, fraction) = parts.next()?.split_once('.')?;
    let mut clock = whole.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let micros = format!("{fraction:0<6}").parse().ok()?;
    let offset = parts.next()?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let minutes = i16::from(hours.parse::<u8>().ok()?) * 60 + i16::from(minutes.parse::<u8>().ok()?);
    let minutes = if offset.starts_with('-') { -minutes } else { minutes };
    Some((Time::new(hour, minute, second, micros)?, minutes))
}
