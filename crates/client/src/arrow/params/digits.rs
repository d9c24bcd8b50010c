//! Decimal digits of numbers, and the position of the decimal point.

use super::error::{ParamErrorKind, Reason};
use firearrow_proto::api::decfloat::Decimal;
use std::fmt::Display;

/// Writes the digits of a decimal with its decimal point.
pub(super) fn plain_text(unscaled: impl Display, scale: i8) -> String {
    let digits = unscaled.to_string();
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits.as_str()),
    };
    match usize::try_from(scale) {
        Ok(0) => format!("{sign}{digits}"),
        Ok(scale) => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{fraction}")
        }
        Err(_) if digits == "0" => digits.to_owned(),
        Err(_) => format!("{sign}{digits}{:0<zeros$}", "", zeros = usize::from(scale.unsigned_abs())),
    }
}

pub(super) fn misfit(text: &str, scale: u8, name: &str) -> Reason {
    let message = format!("{text} does not fit {name} scale {scale}; round it first");
    Reason::new(ParamErrorKind::Inexact, message)
}

/// Returns the integer that represents this number at a decimal scale.
pub(super) fn exact_decimal(text: &str, scale: u8, name: &str) -> Result<i128, Reason> {
    let value = text.parse::<Decimal>().ok();
    value.and_then(|value| value.to_i128_scaled(-i32::from(scale))).ok_or_else(|| misfit(text, scale, name))
}

/// Returns the integer that represents this float at a decimal scale, if that is possible without printing the float:
/// up to 15 digits that give the same float are its shortest ones.
pub(super) fn round_trip(value: f64, scale: u8) -> Option<i128> {
    let power = 10_f64.powi(scale.into()); // exact up to 10^22
    let digits = (value * power).round();
    (scale <= 22 && digits.abs() < 1e15 && digits / power == value).then_some(digits as i128)
}

/// Whether a decimal number can be read back from the nearest float: always with at most `digits` digits, otherwise by
/// trying.
pub(super) fn survives<T: Display>(text: &str, float: T, digits: usize, scale: i8) -> bool {
    let significant = text.bytes().filter(u8::is_ascii_digit).skip_while(|&byte| byte == b'0').count();
    let decimals = usize::try_from(scale).unwrap_or(0);
    significant <= digits || format!("{float:.decimals$}") == text
}

/// Returns how many digits after the decimal point this number needs; `None` if it does not look like a number, which
/// the engine will report.
pub(super) fn fraction_digits(text: &str) -> Option<i64> {
    let text = text.trim().trim_start_matches(['+', '-']);
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let zeros = digits().rev().take_while(|&byte| byte == b'0').count();
    if zeros == whole.len() + fraction.len() {
        return Some(0);
    }
    Some((fraction.len() as i64 - i64::from(exponent) - zeros as i64).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_behind_the_point_are_counted() {
        for (text, digits) in [
            ("12", Some(0)),
            (" 12.345 ", Some(3)),
            ("-12.3400", Some(2)),
            ("1e3", Some(0)),
            ("1.5e1", Some(0)),
            ("15e-1", Some(1)),
            ("100e-2", Some(0)),
            (".5", Some(1)),
            ("5.", Some(0)),
            ("0.000", Some(0)),
            ("1e-2147483648", Some(2_147_483_648)),
            ("1e99999999999", None),
            ("", None),
            (".", None),
            ("abc", None),
            ("0x1F", None),
            ("12:30", None),
        ] {
            assert_eq!(fraction_digits(text), digits, "{text}");
        }
    }

    #[test]
    fn decimals_print_plainly() {
        for (unscaled, scale, text) in [
            (12345_i64, 2, "123.45"),
            (-5, 2, "-0.05"),
            (0, 3, "0.000"),
            (7, 0, "7"),
            (-7, -2, "-700"),
            (0, -2, "0"),
            (i64::MIN, 18, "-9.223372036854775808"),
        ] {
            assert_eq!(plain_text(unscaled, scale), text);
        }
    }

    #[test]
    fn floats_are_their_shortest_decimal() {
        assert_eq!(round_trip(12.34, 2), Some(1234));
        assert_eq!(round_trip(-0.07, 2), Some(-7));
        assert_eq!(round_trip(0.1 + 0.2, 2), None);
        assert_eq!(round_trip(f64::NAN, 2), None);
        assert_eq!(round_trip(1e300, 2), None);
        assert_eq!(exact_decimal("0.1", 1, "NUMERIC"), Ok(1));
        assert_eq!(exact_decimal("1e16", 0, "BIGINT"), Ok(10_000_000_000_000_000));
        let error = exact_decimal("12.345", 2, "NUMERIC").unwrap_err();
        assert_eq!(error.message, "12.345 does not fit NUMERIC scale 2; round it first");
    }
}
