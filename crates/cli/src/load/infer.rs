//! The types of a new table's columns, by the texts of its first rows. A type is chosen only if all values have its very
//! form; anything else is text.

use super::date_order;
use super::notation::Notation;
use crate::datetime;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, TimeUnit};

/// What all values of a column so far have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// There are none.
    Nothing,
    Boolean,
    /// Without an exponent.
    Number(Number),
    /// A number with an exponent.
    Real,
    Date,
    Timestamp,
    Text,
}

/// What all numbers so far have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    /// Most digits before the decimal point.
    whole: usize,
    /// Most digits after it, and fewest.
    scale: usize,
    least_scale: usize,
    /// Whether all of them are BIGINTs.
    is_bigint: bool,
    /// Whether doubles have all of their digits.
    is_double: bool,
}

/// Returns the type of each column, whose values are written so; `modern` from Firebird 4 on, which has numbers of 38
/// digits.
pub(super) fn types(rows: &RecordBatch, notation: Notation, modern: bool) -> Vec<DataType> {
    let columns = rows.columns().iter().map(|column| {
        let values = column.as_string_opt::<i32>().into_iter().flatten().flatten();
        values.map(|text| kind(text, notation)).fold(Kind::Nothing, both)
    });
    columns.map(|kind| data_type(kind, modern)).collect()
}

/// Whether all values are dates in figures of which the day and the month look alike.
pub(super) fn looks_like_dates(column: &dyn Array) -> bool {
    let mut values = column.as_string_opt::<i32>().into_iter().flatten().flatten().peekable();
    values.peek().is_some() && values.all(date_order::needs_order)
}

fn data_type(kind: Kind, modern: bool) -> DataType {
    match kind {
        Kind::Boolean => DataType::Boolean,
        Kind::Number(number) => number.data_type(modern).unwrap_or(DataType::Utf8),
        Kind::Real => DataType::Float64,
        Kind::Date => DataType::Date32,
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Kind::Nothing | Kind::Text => DataType::Utf8,
    }
}

impl Number {
    fn data_type(self, modern: bool) -> Option<DataType> {
        let Self { whole, scale, least_scale, is_bigint, is_double } = self;
        let numeric = |scale: usize| match whole + scale {
            ..=SHORT => Some(DataType::Decimal128(SHORT as u8, scale as i8)),
            ..=LONG if modern => Some(DataType::Decimal128(LONG as u8, scale as i8)),
            _ => None,
        };
        match scale {
            0 if is_bigint => Some(DataType::Int64),
            _ if scale == least_scale => numeric(scale),
            // Zeros at the end are left out, so later values may have more decimals.
            ..=AMOUNT_SCALE => numeric(AMOUNT_SCALE),
            _ if is_double => Some(DataType::Float64),
            _ => numeric(scale),
        }
    }

    fn both(self, other: Self) -> Self {
        Self {
            whole: self.whole.max(other.whole),
            scale: self.scale.max(other.scale),
            least_scale: self.least_scale.min(other.least_scale),
            is_bigint: self.is_bigint && other.is_bigint,
            is_double: self.is_double && other.is_double,
        }
    }
}

fn both(one: Kind, other: Kind) -> Kind {
    use Kind::*;
    match (one, other) {
        (Nothing, kind) | (kind, Nothing) => kind,
        (Number(one), Number(other)) => Number(one.both(other)),
        (Real, Number(number)) | (Number(number), Real) if number.is_double => Real,
        (one, other) if one == other => one,
        _ => Text,
    }
}

fn kind(text: &str, notation: Notation) -> Kind {
    if parse_boolean(text).is_some() {
        return Kind::Boolean;
    }
    if let Some(moment) = date_order::unambiguous(text, notation.dates) {
        if datetime::date(&moment).is_some() {
            return Kind::Date;
        }
        if datetime::timestamp(&moment).is_some() {
            return Kind::Timestamp;
        }
    }
    notation.mark.with_point(text).and_then(|text| number(&text)).unwrap_or(Kind::Text)
}

/// Returns the truth value.
pub(super) fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// A number as programs write it. One that begins with zeros or a plus is a code or a telephone number.
fn number(text: &str) -> Option<Kind> {
    let (number, has_exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if !is_digits(digits) || digits.len() > 3 {
                return None;
            }
            (number, true)
        }
        None => (text, false),
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let is_plain = is_digits(whole) && (whole == "0" || !whole.starts_with('0'));
    if !is_plain || !fraction.is_none_or(is_digits) {
        return None;
    }
    if has_exponent {
        return is_double(text).then_some(Kind::Real);
    }
    let scale = fraction.map_or(0, str::len);
    Some(Kind::Number(Number {
        whole: whole.len(),
        scale,
        least_scale: scale,
        is_bigint: number.parse::<i64>().is_ok(),
        is_double: is_double(number),
    }))
}

/// Whether a double has the same digits.
pub(super) fn is_double(text: &str) -> bool {
    let Ok(double) = text.parse::<f64>() else { return false };
    let text = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches('0');
    let digits = if text.contains('.') { digits.trim_end_matches('0') } else { digits };
    match digits.len() {
        0 => true,
        // Beyond these, a double has fewer digits, or none.
        1..=15 => double.is_normal(),
        count @ 16..=17 => {
            let shown = format!("{double:.*e}", count - 1);
            let mantissa = shown.split('e').next().unwrap_or_default();
            double.is_normal() && mantissa.chars().filter(char::is_ascii_digit).eq(digits.chars())
        }
        _ => false,
    }
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits that every BIGINT and NUMERIC(18) holds.
const SHORT: usize = 18;
/// Digits of NUMERIC from Firebird 4 on.
const LONG: usize = 38;
/// Decimals that amounts and prices have at most, where values have different numbers of them.
const AMOUNT_SCALE: usize = 4;

#[cfg(test)]
mod tests {
    use super::super::date_order::DateOrder;
    use super::super::decimal_mark::DecimalMark;
    use super::*;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

    fn of(values: &[&str]) -> DataType {
        written(values, Notation { mark: DecimalMark::Point, dates: None })
    }

    fn written(values: &[&str], notation: Notation) -> DataType {
        let texts: ArrayRef =
            Arc::new(StringArray::from_iter(values.iter().map(|v| (*v != "NULL").then_some(*v))));
        types(&RecordBatch::try_from_iter([("A", texts)]).unwrap(), notation, true).remove(0)
    }

    #[test]
    fn numbers_may_have_a_comma() {
        for (values, expected) in [
            (&["2,50", "-10,00"][..], DataType::Decimal128(18, 2)),
            (&["1", "2"], DataType::Int64),
            (&["2,5e-3"], DataType::Float64),
            (&["2.50"], DataType::Utf8),
            (&["1.234,50"], DataType::Utf8),
            (&["1,234,567"], DataType::Utf8),
            (&["2024-05-01"], DataType::Date32),
        ] {
            let notation = Notation { mark: DecimalMark::Comma, dates: None };
            assert_eq!(written(values, notation), expected, "{values:?}");
        }
    }

    #[test]
    fn dates_are_dates_if_their_order_is_known() {
        let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
        for (values, unknown, known) in [
            (&["01.05.2024", "1.12.2023", "2024-05-01"][..], DataType::Date32, DataType::Date32),
            (&["01.05.2024 10:00:00"], timestamp.clone(), timestamp.clone()),
            (&["01/05/2024", "31/12/2024"], DataType::Utf8, DataType::Date32),
            (&["31-12-2024 10:00:00"], DataType::Utf8, timestamp),
            (&["12/31/2024"], DataType::Utf8, DataType::Utf8),
            (&["31/12/2024 10:00"], DataType::Utf8, DataType::Utf8),
            (&["01.05.24"], DataType::Utf8, DataType::Utf8),
            (&[" 01.05.2024"], DataType::Utf8, DataType::Utf8),
            (&["192.168.1"], DataType::Utf8, DataType::Utf8),
        ] {
            assert_eq!(of(values), unknown, "{values:?}");
            let notation = Notation { mark: DecimalMark::Point, dates: Some(DateOrder::Dmy) };
            assert_eq!(written(values, notation), known, "{values:?}");
        }
    }

    #[test]
    fn types_are_chosen_only_if_all_values_have_them() {
        let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
        for (values, expected) in [
            (&["1", "-20", "NULL", "0"][..], DataType::Int64),
            (&["999999999999999999"], DataType::Int64),
            (&["1.00", "2.50", "NULL"], DataType::Decimal128(18, 2)),
            (&["1", "2.50", "-0.125"], DataType::Decimal128(18, 4)),
            (&["0.1", "-0.0625", "12345678.00390625", "-8699417081.445312", "-0.0"], DataType::Float64),
            (&["0.1", "0.12345678901234565"], DataType::Float64),
            (&["0.1", "0.91234567890123461"], DataType::Decimal128(18, 17)),
            (&["0.1", "0.12345678901234567890"], DataType::Decimal128(38, 20)),
            (&["0.12345678", "0.12345679"], DataType::Decimal128(18, 8)),
            (&["1234567890123456789", "-9223372036854775808"], DataType::Int64),
            (&["9223372036854775808"], DataType::Decimal128(38, 0)),
            (&["1234567890123456789", "0.1"], DataType::Decimal128(38, 4)),
            (&["1", "2.5e-3", "1E300"], DataType::Float64),
            (&["true", "FALSE"], DataType::Boolean),
            (&["2024-02-29", "NULL"], DataType::Date32),
            (&["2024-02-29 10:00:00", "2024-02-29T10:00:00.123456"], timestamp),
            (&["NULL"], DataType::Utf8),
            (&[""], DataType::Utf8),
            (&["1", ""], DataType::Utf8),
            (&["007"], DataType::Utf8),
            (&["+49"], DataType::Utf8),
            (&["1,5"], DataType::Utf8),
            (&[" 1"], DataType::Utf8),
            (&["1."], DataType::Utf8),
            (&["1e"], DataType::Utf8),
            (&["Infinity"], DataType::Utf8),
            (&["1", "true"], DataType::Utf8),
            (&["2023-02-29"], DataType::Utf8),
            (&["2024-02-29", "2024-02-29 10:00:00"], DataType::Utf8),
            (&["2024-02-29T10:00:00Z"], DataType::Utf8),
            (&["10:00:00"], DataType::Utf8),
        ] {
            assert_eq!(of(values), expected, "{values:?}");
        }
        let long = data_type(number("9223372036854775808").unwrap(), false);
        assert_eq!(long, DataType::Utf8, "Firebird 3 has no such numbers");
    }
}
