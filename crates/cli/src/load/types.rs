//! The types of a new table's columns, by the texts of its first rows. A type is chosen only if all values have its very
//! form; anything else is text.

use super::moment;
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, TimeUnit};

/// What all values of a column so far have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// There are none.
    Nothing,
    Boolean,
    /// Digits before and after the decimal point.
    Number {
        whole: usize,
        scale: usize,
    },
    /// A number with an exponent.
    Real,
    Date,
    Timestamp,
    Text,
}

/// Returns the type of each column; `modern` from Firebird 4 on, which has numbers of 38 digits.
pub(super) fn types(rows: &RecordBatch, modern: bool) -> Vec<DataType> {
    let columns = rows.columns().iter().map(|column| {
        let values = column.as_string_opt::<i32>().into_iter().flatten().flatten();
        values.map(kind).fold(Kind::Nothing, both)
    });
    columns.map(|kind| data_type(kind, modern)).collect()
}

fn data_type(kind: Kind, modern: bool) -> DataType {
    match kind {
        Kind::Boolean => DataType::Boolean,
        Kind::Number { whole, scale: 0 } if whole <= SHORT => DataType::Int64,
        Kind::Number { whole, scale } if whole + scale <= SHORT => {
            DataType::Decimal128(SHORT as u8, scale as i8)
        }
        Kind::Number { whole, scale } if whole + scale <= LONG && modern => {
            DataType::Decimal128(LONG as u8, scale as i8)
        }
        Kind::Real => DataType::Float64,
        Kind::Date => DataType::Date32,
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Kind::Nothing | Kind::Number { .. } | Kind::Text => DataType::Utf8,
    }
}

fn both(one: Kind, other: Kind) -> Kind {
    use Kind::*;
    match (one, other) {
        (Nothing, kind) | (kind, Nothing) => kind,
        (Number { whole, scale }, Number { whole: other_whole, scale: other_scale }) => {
            Number { whole: whole.max(other_whole), scale: scale.max(other_scale) }
        }
        (Real, Number { .. }) | (Number { .. }, Real) => Real,
        (one, other) if one == other => one,
        _ => Text,
    }
}

fn kind(text: &str) -> Kind {
    if is_boolean(text).is_some() {
        return Kind::Boolean;
    }
    if moment::date(text).is_some() {
        return Kind::Date;
    }
    if moment::timestamp(text).is_some() {
        return Kind::Timestamp;
    }
    number(text).unwrap_or(Kind::Text)
}

/// Returns the truth value.
pub(super) fn is_boolean(text: &str) -> Option<bool> {
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
    Some(match has_exponent {
        true => Kind::Real,
        false => Kind::Number { whole: whole.len(), scale: fraction.map_or(0, str::len) },
    })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits that every BIGINT and NUMERIC(18) holds.
const SHORT: usize = 18;
/// Digits of NUMERIC from Firebird 4 on.
const LONG: usize = 38;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

    fn of(values: &[&str]) -> DataType {
        let texts: ArrayRef =
            Arc::new(StringArray::from_iter(values.iter().map(|v| (*v != "NULL").then_some(*v))));
        types(&RecordBatch::try_from_iter([("A", texts)]).unwrap(), true).remove(0)
    }

    #[test]
    fn types_are_chosen_only_if_all_values_have_them() {
        let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
        for (values, expected) in [
            (&["1", "-20", "NULL", "0"][..], DataType::Int64),
            (&["999999999999999999"], DataType::Int64),
            (&["1", "2.50", "-0.125"], DataType::Decimal128(18, 3)),
            (&["1234567890123456789"], DataType::Decimal128(38, 0)),
            (&["1234567890123456789", "0.1"], DataType::Decimal128(38, 1)),
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
        let long = data_type(Kind::Number { whole: 19, scale: 0 }, false);
        assert_eq!(long, DataType::Utf8, "Firebird 3 has no such numbers");
    }
}
