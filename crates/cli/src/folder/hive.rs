//! Folders named after the value that all their rows have in a column: `COUNTRY=DE`, as Hive, Spark and DuckDB do.

use crate::datetime;
use crate::failure::{Failure, Result};
use arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, LargeStringArray, PrimitiveArray, StringArray,
    StringViewArray, UInt32Array, new_null_array,
};
use arrow::compute::kernels::cast_utils::{Parser, parse_decimal};
use arrow::compute::take;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Field, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Stands for NULL.
pub(crate) const NULL: &str = "__HIVE_DEFAULT_PARTITION__";
/// Bytes that a name may have on all usual file systems.
const LONGEST: usize = 255;

/// The values of one column, as parts of folder names.
pub(crate) struct Names<'a> {
    column: &'a str,
    array: &'a ArrayRef,
    formatter: ArrayFormatter<'a>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(column: &'a str, array: &'a ArrayRef) -> Result<Self> {
        Ok(Self { column, array, formatter: ArrayFormatter::try_new(array, &FORMAT)? })
    }

    /// Returns the name of the folder for the value of a row.
    ///
    /// # Errors
    /// The value is too long, or its text does not stand for it alone.
    pub(crate) fn of(&self, row: usize) -> Result<String> {
        let column = self.column;
        if self.array.is_null(row) {
            return Ok(format!("{}={NULL}", encode(column)));
        }
        let text = self.formatter.value(row).try_to_string()?;
        let name = format!("{}={}", encode(column), encode_value(&text));
        if name.len() > LONGEST {
            let text =
                format!("a value of {column} has {} bytes, too many for the name of a folder", text.len());
            return Err(Failure::other(format!("{text}; choose another column for --partition-by")));
        }
        if value(Some(&text), self.array.data_type())?.as_ref() != self.array.slice(row, 1).as_ref() {
            let text = format!("the value {text} of {column} cannot be the name of a folder without loss");
            return Err(Failure::other(format!("{text}; choose another column for --partition-by")));
        }
        Ok(name)
    }
}

/// Fails for types whose values are no names of folders.
pub(crate) fn check_type(field: &Field) -> Result<()> {
    match field.data_type() {
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Decimal128(..)
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Date32
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(_, None) => Ok(()),
        other => Err(Failure::usage(format!(
            "--partition-by {}: values of type {other} are not names of folders; convert them in the query, \
             for example CAST(… AS VARCHAR(40))",
            field.name()
        ))),
    }
}

/// Returns an array of one value: that of a text, or NULL.
pub(crate) fn value(text: Option<&str>, data_type: &DataType) -> Result<ArrayRef> {
    let Some(text) = text else { return Ok(new_null_array(data_type, 1)) };
    parse(text, data_type)
        .ok_or_else(|| Failure::other(format!("the folder name {text} is no value of type {data_type}")))
}

/// `arrow`'s `cast` does that, too; but it brings every conversion between two types into the program (docs/decisions/0050).
fn parse(text: &str, data_type: &DataType) -> Option<ArrayRef> {
    let array: ArrayRef = match *data_type {
        DataType::Boolean => {
            Arc::new(BooleanArray::from(vec![text.to_ascii_lowercase().parse::<bool>().ok()?]))
        }
        DataType::Int8 => parsed::<Int8Type>(text)?,
        DataType::Int16 => parsed::<Int16Type>(text)?,
        DataType::Int32 => parsed::<Int32Type>(text)?,
        DataType::Int64 => parsed::<Int64Type>(text)?,
        DataType::Date32 => parsed::<Date32Type>(text)?,
        // The parsers of times and decimals cut digits off that the type has no place for.
        DataType::Time32(TimeUnit::Second) if decimals(text) == 0 => parsed::<Time32SecondType>(text)?,
        DataType::Time32(TimeUnit::Millisecond) if decimals(text) <= 3 => {
            parsed::<Time32MillisecondType>(text)?
        }
        DataType::Time64(TimeUnit::Microsecond) if decimals(text) <= 6 => {
            parsed::<Time64MicrosecondType>(text)?
        }
        DataType::Time64(TimeUnit::Nanosecond) if decimals(text) <= 9 => {
            parsed::<Time64NanosecondType>(text)?
        }
        DataType::Timestamp(unit, None) => timestamp(text, unit)?,
        DataType::Decimal128(precision, scale) => {
            // It would also take exponents.
            let is_exact = usize::try_from(scale).is_ok_and(|scale| decimals(text) <= scale)
                && !text.contains(['e', 'E']);
            let value = parse_decimal::<Decimal128Type>(text, precision, scale).ok().filter(|_| is_exact)?;
            Arc::new(Decimal128Array::from(vec![value]).with_data_type(data_type.clone()))
        }
        DataType::Utf8 => Arc::new(StringArray::from(vec![text])),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(vec![text])),
        DataType::Utf8View => Arc::new(StringViewArray::from(vec![text])),
        _ => return None,
    };
    Some(array)
}

/// The number of digits after the point that are no trailing zeros.
fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.trim_end_matches('0').len())
}

fn parsed<T: Parser>(text: &str) -> Option<ArrayRef> {
    Some(one::<T>(T::parse(text)?))
}

fn one<T: ArrowPrimitiveType>(value: T::Native) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values([value]))
}

/// Arrow's own parser goes through nanoseconds, of which there are 64 bits: the years 1677 to 2262.
fn timestamp(text: &str, unit: TimeUnit) -> Option<ArrayRef> {
    let micros = datetime::timestamp(text).filter(|_| decimals(text) <= 6)?;
    let exact = |per_unit: i64| (micros % per_unit == 0).then_some(micros / per_unit);
    Some(match unit {
        TimeUnit::Second => one::<TimestampSecondType>(exact(1_000_000)?),
        TimeUnit::Millisecond => one::<TimestampMillisecondType>(exact(1_000)?),
        TimeUnit::Microsecond => one::<TimestampMicrosecondType>(micros),
        TimeUnit::Nanosecond => one::<TimestampNanosecondType>(micros.checked_mul(1_000)?),
    })
}

/// Splits the name of a folder into its column and its value, where `None` is NULL.
pub(crate) fn split(name: &str) -> Option<(String, Option<String>)> {
    let (column, value) = name.split_once('=')?;
    let value = if value == NULL { None } else { Some(decode(value)?) };
    Some((decode(column).filter(|column| !column.is_empty())?, value))
}

/// Returns the type that all these texts have, as DuckDB chooses it: BIGINT, DATE, TIMESTAMP or text.
pub(crate) fn infer<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> DataType {
    let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
    let all = |data_type: &DataType, looks: fn(&str) -> bool| {
        let mut texts = texts.clone().peekable();
        texts.peek().is_some() && texts.all(|text| looks(text) && value(Some(text), data_type).is_ok())
    };
    let number = |text: &str| text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let date = |text: &str| text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    if all(&DataType::Int64, number) {
        DataType::Int64
    } else if all(&DataType::Date32, date) {
        DataType::Date32
    } else if all(&timestamp, |text| text.len() > 10 && text.contains(':')) {
        timestamp
    } else {
        DataType::Utf8
    }
}

/// Encodes a value so that it differs from the mark of NULL and does not end with a dot, which Windows drops.
fn encode_value(text: &str) -> String {
    match text.strip_suffix('.') {
        Some(start) => encode(start) + "%2E",
        None if text == NULL => NULL.replacen('_', "%5F", 1),
        None => encode(text),
    }
}

/// Letters, digits and `-_.` stay as they are, and so does what is not ASCII.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        let is_plain = character.is_alphanumeric() || matches!(character, '-' | '_' | '.');
        if is_plain || !character.is_ascii() && !character.is_control() {
            encoded.push(character);
            continue;
        }
        let mut bytes = [0; 4];
        for byte in character.encode_utf8(&mut bytes).bytes() {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

/// Returns the array of a column that has one value in all rows.
pub(crate) fn repeated(value: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    Ok(take(value, &UInt32Array::from(vec![0; rows]), None)?)
}

const FORMAT: FormatOptions<'static> = FormatOptions::new()
    .with_display_error(false)
    .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
    .with_time_format(Some("%H:%M:%S%.f"));

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Date32Array, Int16Array, Time64MicrosecondArray, TimestampMicrosecondArray};

    #[test]
    fn values_come_back_from_names() {
        let decimals = Decimal128Array::from(vec![-150, 0]).with_precision_and_scale(18, 2).unwrap();
        let texts = [
            "DE",
            "",
            "a b",
            "ä/ö\\",
            "x=y",
            "..",
            "Acme Inc.",
            NULL,
            "50%",
            "tail  ",
            "line\nfeed",
            "%41",
            "\u{85}",
        ];
        let arrays: [ArrayRef; 7] = [
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(Int16Array::from(vec![-7, 0, i16::MAX])),
            Arc::new(BooleanArray::from(vec![true, false])),
            Arc::new(decimals),
            Arc::new(Date32Array::from(vec![0, -719_162, 2_932_896])),
            Arc::new(TimestampMicrosecondArray::from(vec![
                0,
                1_714_550_400_123_400,
                -62_135_596_800_000_000,
            ])),
            Arc::new(Time64MicrosecondArray::from(vec![0, 86_399_999_900])),
        ];
        for array in &arrays {
            let names = Names::new("A b", array).unwrap();
            for row in 0..array.len() {
                let name = names.of(row).unwrap();
                assert!(!name.contains(['/', '\\', ' ', '\n']) && !name.ends_with('.'), "{name}");
                let (column, text) = split(&name).unwrap();
                assert_eq!(column, "A b");
                let value = value(text.as_deref(), array.data_type()).unwrap();
                assert_eq!(value.as_ref(), array.slice(row, 1).as_ref(), "{name}");
            }
        }
        let null: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>]));
        assert_eq!(Names::new("C", &null).unwrap().of(0).unwrap(), "C=__HIVE_DEFAULT_PARTITION__");
        assert_eq!(split("C=__HIVE_DEFAULT_PARTITION__"), Some(("C".to_owned(), None)));
        let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(300)]));
        assert!(Names::new("C", &long).unwrap().of(0).unwrap_err().text(false).contains("300 bytes"));
    }

    #[test]
    fn names_that_a_type_cannot_hold_are_refused() {
        for (text, data_type) in [
            ("1.005", DataType::Decimal128(9, 2)),
            ("1e-3", DataType::Decimal128(9, 2)),
            ("12345678", DataType::Decimal128(9, 2)),
            ("300", DataType::Int8),
            ("1.5", DataType::Int32),
            ("yes", DataType::Boolean),
            ("10:00:00.0005", DataType::Time32(TimeUnit::Second)),
            ("2024-05-01 10:00:00.5", DataType::Timestamp(TimeUnit::Second, None)),
            ("2024-05-01 10:00:00+02:00", DataType::Timestamp(TimeUnit::Microsecond, None)),
            ("2024-05-01 10:00:00.1234567", DataType::Timestamp(TimeUnit::Microsecond, None)),
            ("9999-01-01 00:00:00", DataType::Timestamp(TimeUnit::Nanosecond, None)),
            ("1.5", DataType::Float64),
        ] {
            assert!(value(Some(text), &data_type).is_err(), "{text} as {data_type}");
        }
        let value = value(Some("-1.50"), &DataType::Decimal128(9, 2)).unwrap();
        assert_eq!(value.as_primitive::<Decimal128Type>().value(0), -150);
    }

    #[test]
    fn other_folders_have_no_value() {
        for name in ["data", "=x", "x=%ff", ""] {
            assert_eq!(split(name), None, "{name}");
        }
        assert_eq!(split("a=b=c"), Some(("a".to_owned(), Some("b=c".to_owned()))));
        assert_eq!(split("a=5%"), Some(("a".to_owned(), Some("5%".to_owned()))));
    }

    #[test]
    fn types_are_those_of_all_values() {
        let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
        for (texts, expected) in [
            (&["1", "-20"][..], DataType::Int64),
            (&["1", "2024-05-01"], DataType::Utf8),
            (&["2024-05-01", "1999-12-31"], DataType::Date32),
            (&["2024-05-01 10:00:00"], timestamp),
            (&["99999999999999999999"], DataType::Utf8),
            (&["x"], DataType::Utf8),
            (&[""], DataType::Utf8),
            (&[], DataType::Utf8),
        ] {
            assert_eq!(infer(texts.iter().copied()), expected, "{texts:?}");
        }
    }

    #[test]
    fn repeated_values_fill_a_column() {
        let one = value(Some("7"), &DataType::Int32).unwrap();
        assert_eq!(repeated(&one, 3).unwrap().len(), 3);
    }
}
