//! Texts of CSV and JSON for columns that the engine would not convert exactly, or not at all. Everything else goes to the
//! server as text, which converts it by the column's type.

use super::date_order::{self, unambiguous};
use super::decimal_mark::DecimalMark;
use super::infer::{is_double, parse_boolean};
use super::notation::Notation;
use crate::datetime;
use arrow::array::{Array, ArrayRef, BinaryBuilder, PrimitiveArray, StringArray, StringBuilder};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};
use firearrow::catalog::{BaseType, Column};
use std::sync::Arc;

/// How the texts of one column are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Not here.
    Keep,
    /// Into a form of dates that the engine cannot take for another day.
    Day,
    /// The same for timestamps, and into the engine's form of times.
    Moment,
    /// Into the engine's form of times.
    Time,
    /// The engine's own conversion may be wrong in the last digit, and knows no infinities.
    Double,
    Single,
    /// From hexadecimal digits.
    Bytes,
    /// The types of new tables.
    Boolean,
    /// A double that has every digit of the text.
    Exact,
    Integer,
    Decimal(u8, i8),
    Date,
    Timestamp,
}

/// A value that is none of its column's, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) row: usize,
    pub(super) why: String,
}

impl Conversion {
    /// For a column that exists.
    pub(super) fn into_column(column: &Column) -> Self {
        match column.data_type.base {
            BaseType::DoublePrecision => Self::Double,
            BaseType::Float => Self::Single,
            BaseType::Binary | BaseType::VarBinary | BaseType::Blob => Self::Bytes,
            BaseType::Date => Self::Day,
            BaseType::Time | BaseType::TimeWithTimeZone => Self::Time,
            BaseType::Timestamp | BaseType::TimestampWithTimeZone => Self::Moment,
            _ => Self::Keep,
        }
    }

    /// Whether a column that exists has numbers.
    pub(super) fn is_number(column: &Column) -> bool {
        use BaseType::*;
        matches!(
            column.data_type.base,
            SmallInt | Integer | BigInt | Int128 | Numeric | Decimal | Float | DoublePrecision | DecFloat
        )
    }

    /// Whether a column that is created has numbers.
    pub(super) fn makes_number(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal(..) | Self::Exact)
    }

    /// For a column that is created with the counterpart of this type.
    pub(super) fn into_type(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Int64 => Self::Integer,
            DataType::Decimal128(precision, scale) => Self::Decimal(*precision, *scale),
            DataType::Float64 => Self::Exact,
            DataType::Date32 => Self::Date,
            DataType::Timestamp(..) => Self::Timestamp,
            _ => Self::Keep,
        }
    }

    /// Returns the type that texts become.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Keep | Self::Day | Self::Moment | Self::Time => DataType::Utf8,
            Self::Double | Self::Exact => DataType::Float64,
            Self::Single => DataType::Float32,
            Self::Bytes => DataType::Binary,
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Decimal(precision, scale) => DataType::Decimal128(precision, scale),
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        }
    }

    /// What a text that cannot be converted might be.
    fn hint(self, notation: Notation, text: &str) -> &'static str {
        match self {
            Self::Day | Self::Moment | Self::Date | Self::Timestamp => date_order::hint(text, notation.dates),
            Self::Keep | Self::Integer | Self::Decimal(..) | Self::Exact | Self::Double | Self::Single => {
                notation.mark.hint(text)
            }
            Self::Time | Self::Bytes | Self::Boolean => "",
        }
    }

    /// Converts a column. Values that cannot be converted are NULL, and noted.
    pub(super) fn apply(
        self,
        notation: Notation,
        texts: &ArrayRef,
        name: &str,
        refused: &mut Vec<Refused>,
    ) -> ArrayRef {
        let Some(values) = texts.as_any().downcast_ref::<StringArray>() else { return Arc::clone(texts) };
        let Notation { mark, dates } = notation;
        let hint = |text: &str| self.hint(notation, text);
        let mut each = Values { values, mark, hint: &hint, name, refused };
        match self {
            Self::Keep if mark == DecimalMark::Point => Arc::clone(texts),
            Self::Keep => each.texts("a number", |text| Some(text.to_owned())),
            Self::Moment => each
                .texts(TIMESTAMP, |text| Some(datetime::for_engine(&unambiguous(text, dates)?).into_owned())),
            Self::Time => each.texts("a time", |text| Some(datetime::for_engine(text).into_owned())),
            Self::Day => each.texts(DATE, |text| Some(unambiguous(text, dates)?.into_owned())),
            Self::Bytes => {
                let mut builder = BinaryBuilder::new();
                each.each("hexadecimal digits", bytes, |value| builder.append_option(value));
                Arc::new(builder.finish())
            }
            Self::Boolean => {
                let mut booleans = Vec::with_capacity(values.len());
                each.each("true or false", parse_boolean, |value| booleans.push(value));
                Arc::new(arrow::array::BooleanArray::from(booleans))
            }
            Self::Double => each.primitive::<Float64Type>("a number", |text| {
                let number: f64 = text.trim().parse().ok()?;
                (number.is_finite() || !has_digits(text)).then_some(number)
            }),
            Self::Exact => {
                each.primitive::<Float64Type>("a number that a DOUBLE PRECISION has exactly", |text| {
                    let text = text.trim();
                    is_double(text).then(|| text.parse().ok()).flatten()
                })
            }
            Self::Single => each.primitive::<Float32Type>("a number of a FLOAT", |text| {
                let number: f32 = text.trim().parse().ok()?;
                (number.is_finite() || !has_digits(text)).then_some(number)
            }),
            Self::Integer => each.primitive::<Int64Type>("a BIGINT", |text| text.trim().parse().ok()),
            Self::Date => {
                each.primitive::<Date32Type>(DATE, |text| datetime::date(&unambiguous(text.trim(), dates)?))
            }
            Self::Timestamp => each.primitive::<TimestampMicrosecondType>(TIMESTAMP, |text| {
                datetime::timestamp(&unambiguous(text.trim(), dates)?)
            }),
            Self::Decimal(precision, scale) => {
                let what = format!("a NUMERIC({precision}, {scale})");
                let array =
                    each.array::<Decimal128Type>(&what, |text| decimal(text.trim(), precision, scale));
                Arc::new(array.with_data_type(self.data_type()))
            }
        }
    }
}

/// The values of a column.
struct Values<'a> {
    values: &'a StringArray,
    /// Of numbers; in other columns it is the point, and nothing is done.
    mark: DecimalMark,
    hint: &'a dyn Fn(&str) -> &'static str,
    name: &'a str,
    refused: &'a mut Vec<Refused>,
}

impl Values<'_> {
    fn each<T>(&mut self, what: &str, convert: impl Fn(&str) -> Option<T>, mut push: impl FnMut(Option<T>)) {
        for (row, text) in self.values.iter().enumerate() {
            let value = text.and_then(|text| convert(&self.mark.with_point(text)?));
            if let (Some(text), None) = (text, &value) {
                let text = firearrow_driver::shortened(text);
                let hint = (self.hint)(&text);
                let why = format!("column {}: {text:?} is not {what}{hint}", self.name);
                self.refused.push(Refused { row, why });
            }
            push(value);
        }
    }

    fn texts(&mut self, what: &str, convert: impl Fn(&str) -> Option<String>) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(self.values.len(), self.values.value_data().len());
        self.each(what, convert, |text| builder.append_option(text));
        Arc::new(builder.finish())
    }

    fn array<A: ArrowPrimitiveType>(
        &mut self,
        what: &str,
        convert: impl Fn(&str) -> Option<A::Native>,
    ) -> PrimitiveArray<A> {
        let mut values = Vec::with_capacity(self.values.len());
        self.each(what, convert, |value| values.push(value));
        PrimitiveArray::from_iter(values)
    }

    fn primitive<A: ArrowPrimitiveType>(
        &mut self,
        what: &str,
        convert: impl Fn(&str) -> Option<A::Native>,
    ) -> ArrayRef {
        Arc::new(self.array::<A>(what, convert))
    }
}

const DATE: &str = "a date (YYYY-MM-DD)";
const TIMESTAMP: &str = "a timestamp (YYYY-MM-DD HH:MM:SS)";

fn has_digits(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The bytes of hexadecimal digits, in either letter case.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

/// The unscaled value, if nothing has to be rounded.
fn decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let scale = usize::try_from(scale).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number =
        has_digits(text) && fraction.len() <= scale && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let digits = format!("{whole}{fraction:0<scale$}");
    let value: i128 = digits.parse().ok().filter(|_| is_number)?;
    (value.unsigned_abs() < 10_u128.checked_pow(precision.into())?).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::date_order::DateOrder;
    use arrow::array::AsArray;

    const POINTS: Notation = Notation { mark: DecimalMark::Point, dates: None };
    const COMMAS: Notation = Notation { mark: DecimalMark::Comma, dates: None };

    #[test]
    fn dates_are_refused_unless_their_order_is_known() {
        let texts: ArrayRef =
            Arc::new(StringArray::from(vec![Some("01/05/2024"), None, Some("2024-05-01"), Some("1.5.2024")]));
        for (conversion, what) in [
            (Conversion::Day, "a date (YYYY-MM-DD)"),
            (Conversion::Moment, "a timestamp (YYYY-MM-DD HH:MM:SS)"),
        ] {
            let mut refused = Vec::new();
            let array = conversion.apply(POINTS, &texts, "D", &mut refused);
            let found: Vec<Option<&str>> = array.as_string::<i32>().iter().collect();
            assert_eq!(found, [None, None, Some("2024-05-01"), Some("2024-05-01")]);
            let why: Vec<&str> = refused.iter().map(|refused| refused.why.as_str()).collect();
            let hint = "does its day or its month come first? Say so with --date-order dmy or mdy";
            assert_eq!(why, [format!("column D: \"01/05/2024\" is not {what}; {hint}")]);
        }
        let mut refused = Vec::new();
        let order = |dates| Notation { dates: Some(dates), ..POINTS };
        for (dates, expected) in [(DateOrder::Dmy, "2024-05-01"), (DateOrder::Mdy, "2024-01-05")] {
            let array = Conversion::Day.apply(order(dates), &texts, "D", &mut refused);
            assert_eq!(array.as_string::<i32>().value(0), expected);
            let array = Conversion::Date.apply(order(dates), &texts, "D", &mut refused);
            assert_eq!(array.as_primitive::<Date32Type>().value_as_date(0).unwrap().to_string(), expected);
        }
        assert!(refused.is_empty());
    }

    fn convert(conversion: Conversion, values: &[Option<&str>]) -> (ArrayRef, Vec<Refused>) {
        let texts: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
        let mut refused = Vec::new();
        let array = conversion.apply(POINTS, &texts, "A", &mut refused);
        assert_eq!(array.data_type(), &conversion.data_type());
        assert_eq!(array.len(), values.len());
        (array, refused)
    }

    #[test]
    fn floats_are_the_nearest_and_know_infinities() {
        let texts = ["0.1", "-1e300", "inf", "-Infinity", "NaN", " 5 "].map(Some);
        let (array, refused) = convert(Conversion::Double, &texts);
        let array = array.as_primitive::<Float64Type>();
        assert!(refused.is_empty());
        assert_eq!(array.values()[..4], [0.1, -1e300, f64::INFINITY, f64::NEG_INFINITY]);
        assert!(array.value(4).is_nan() && array.value(5) == 5.0);
        let (_, refused) = convert(Conversion::Double, &[Some("1e999"), None, Some(""), Some("1,5")]);
        assert_eq!(refused.iter().map(|refused| refused.row).collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(
            refused[2].why,
            "column A: \"1,5\" is not a number; CSV with decimal commas needs --decimal-comma"
        );
        let (_, refused) = convert(Conversion::Single, &[Some("1e39")]);
        assert_eq!(refused.len(), 1);
    }

    #[test]
    fn commas_are_read_where_numbers_are_expected() {
        let texts: ArrayRef =
            Arc::new(StringArray::from(vec![Some("2,50"), None, Some("-7"), Some("2.5"), Some("1,x")]));
        let mut refused = Vec::new();
        let array = Conversion::Keep.apply(COMMAS, &texts, "A", &mut refused);
        let found: Vec<Option<&str>> = array.as_string::<i32>().iter().collect();
        assert_eq!(found, [Some("2.50"), None, Some("-7"), None, Some("1.x")]);
        let array = Conversion::Double.apply(COMMAS, &texts, "A", &mut refused);
        assert_eq!(array.as_primitive::<Float64Type>().value(0), 2.5);
        let why: Vec<&str> = refused.iter().map(|refused| refused.why.as_str()).collect();
        let points = "column A: \"2.5\" is not a number; with --decimal-comma, numbers have no points";
        assert_eq!(why, [points, points, "column A: \"1,x\" is not a number"]);
        assert_eq!(&Conversion::Keep.apply(POINTS, &texts, "A", &mut refused), &texts);
    }

    #[test]
    fn bytes_are_hexadecimal() {
        let (array, refused) =
            convert(Conversion::Bytes, &[Some("00ffA9"), Some(""), None, Some("f"), Some("0x")]);
        assert_eq!(array.as_binary::<i32>().value(0), [0, 255, 0xa9]);
        assert!(array.as_binary::<i32>().value(1).is_empty());
        assert!(array.is_null(2));
        assert_eq!(refused.len(), 2);
    }

    #[test]
    fn decimals_are_not_rounded() {
        for (text, expected) in [
            ("1", Some(100)),
            ("-0.5", Some(-50)),
            ("12.3400", Some(1234)),
            ("0.001", None),
            ("999.99", Some(99_999)),
            ("1000", None),
            ("1.-5", None),
            ("1.5e1", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(decimal(text, 5, 2), expected, "{text}");
        }
        let (array, refused) = convert(Conversion::Decimal(5, 2), &[Some("1.5"), Some("x")]);
        assert_eq!(array.as_primitive::<Decimal128Type>().value(0), 150);
        assert_eq!(refused[0].why, "column A: \"x\" is not a NUMERIC(5, 2)");
    }

    #[test]
    fn other_types_of_new_tables() {
        let (_, refused) = convert(Conversion::Integer, &[Some("9223372036854775807"), Some("1.5")]);
        assert_eq!(refused.len(), 1);
        let (array, _) = convert(Conversion::Date, &[Some("1970-01-02")]);
        assert_eq!(array.as_primitive::<Date32Type>().value(0), 1);
        let (array, refused) = convert(Conversion::Boolean, &[Some("TRUE"), Some("yes"), None]);
        assert!(array.as_boolean().value(0) && array.is_null(1) && refused.len() == 1);
    }
}
