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
    let message = match scale {
        _ if is_no_number(text) => format!("{text} does not fit {name}, which has only numbers and NULL"),
        0 => format!("{text} does not fit {name}; round it to a whole number first"),
        1 => format!("{text} does not fit {name} scale 1; round it to 1 decimal first"),
        _ => format!("{text} does not fit {name} scale {scale}; round it to {scale} decimals first"),
    };
    Reason::new(ParamErrorKind::Inexact, message)
}

/// Whether this is NaN or an infinity, in any spelling.
fn is_no_number(text: &str) -> bool {
    let has_digits = text.contains(|character: char| character.is_ascii_digit());
    !has_digits && text.parse::<f64>().is_ok()
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

/// Binary floating-point numbers.
pub(super) trait Real: Copy + Display + 'static {
    /// Decimal digits that every decimal number keeps in this type: `DBL_DIG`, `FLT_DIG`.
    const DIGITS: usize;
    /// Returns the exact value.
    fn double(self) -> f64;
    /// Returns the nearest 32-bit value.
    fn float(self) -> f32;
    /// Returns the shortest decimal number that identifies this value within its type.
    fn shortest(self) -> String;
    /// Returns the decimal number of [`DIGITS`](Self::DIGITS) digits that is nearest to this value.
    fn significant(self) -> String;
    /// Returns how many values of the type lie between this one and that of a decimal number.
    fn distance(self, decimal: &str) -> Option<u64>;
}

impl Real for f64 {
    const DIGITS: usize = 15;
    fn double(self) -> f64 {
        self
    }
    fn float(self) -> f32 {
        self as f32
    }
    fn shortest(self) -> String {
        format!("{self:?}")
    }
    fn significant(self) -> String {
        format!("{self:.14e}")
    }
    fn distance(self, decimal: &str) -> Option<u64> {
        let nearest: Self = decimal.parse().ok()?;
        Some(self.to_bits().abs_diff(nearest.to_bits()))
    }
}

impl Real for f32 {
    const DIGITS: usize = 6;
    fn double(self) -> f64 {
        self.into()
    }
    fn float(self) -> f32 {
        self
    }
    fn shortest(self) -> String {
        format!("{self:?}")
    }
    fn significant(self) -> String {
        format!("{self:.5e}")
    }
    fn distance(self, decimal: &str) -> Option<u64> {
        let nearest: Self = decimal.parse().ok()?;
        Some(self.to_bits().abs_diff(nearest.to_bits()).into())
    }
}

/// How far arithmetic may be from a decimal number that has as many digits as its type keeps.
const NOISE: u64 = 2;

/// Returns the integer that represents this number at a decimal scale. A float is its shortest decimal number if that fits,
/// otherwise that of 15 digits (6 for a 32-bit one): 1.1 + 2.2 is 3.3, although it is stored as 3.3000000000000003.
pub(super) fn decimal_of<R: Real>(value: R, scale: u8, name: &str) -> Result<i128, Reason> {
    let shortest = value.shortest();
    exact_decimal(&shortest, scale, name).or_else(|refused| {
        let text = value.significant();
        let unscaled = exact_decimal(&text, scale, name).map_err(|_| refused.clone())?;
        // With fewer digits than the type keeps, those behind the scale have proven to be zeros. With all of them, there is no
        // such proof, and only the neighbours of the number count as it: 123456789012345.6 is not an integer.
        let has_spare = unscaled.unsigned_abs() < 10_u128.pow(R::DIGITS as u32 - 1);
        let is_noise = has_spare || value.distance(&text).is_some_and(|steps| steps <= NOISE);
        if is_noise { Ok(unscaled) } else { Err(refused) }
    })
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
        assert_eq!(error.message, "12.345 does not fit NUMERIC scale 2; round it to 2 decimals first");
        let error = exact_decimal("1.5", 0, "BIGINT").unwrap_err();
        assert_eq!(error.message, "1.5 does not fit BIGINT; round it to a whole number first");
        for text in ["NaN", "inf", "-Infinity"] {
            let error = exact_decimal(text, 0, "BIGINT").unwrap_err();
            assert_eq!(error.message, format!("{text} does not fit BIGINT, which has only numbers and NULL"));
        }
    }

    #[test]
    fn results_of_arithmetic_are_the_decimals_that_were_meant() {
        for (value, scale, unscaled) in [
            (1.1 + 2.2, 2, 330),
            (1.1 + 2.2, 1, 33),
            (4.35 * 100.0, 2, 43_500),
            (4.35 * 100.0, 0, 435),
            (0.07 * 100.0, 0, 7),
            (9.99 * 1.19, 4, 118_881),
            (-(0.1 + 0.2), 2, -30),
            (1.0 - 0.9, 1, 1),
            // Shortest decimals that fit stay, with all their digits.
            (12_345_678_901_234.568, 3, 12_345_678_901_234_568),
            (9_007_199_254_740_991.0, 0, 9_007_199_254_740_991),
            (9_007_199_254_740_992.0, 0, 9_007_199_254_740_992),
            (123_456_789_012_345_680.0, 0, 123_456_789_012_345_680),
            (0.123_456_789_012_345_68, 17, 12_345_678_901_234_568),
            // All 15 digits are kept: only neighbours.
            (1_234_567_890_123.46_f64.next_up(), 2, 123_456_789_012_346),
            (-1_234_567_890_123.46_f64.next_down(), 2, -123_456_789_012_346),
            (999_999_999_999_999.0_f64.next_up(), 0, 999_999_999_999_999),
            (0.0, 2, 0),
            (-0.0, 2, 0),
        ] {
            assert_eq!(decimal_of(value, scale, "NUMERIC"), Ok(unscaled), "{value}");
        }
        for (value, scale) in [
            (0.333, 2),
            (1.0 / 3.0, 4),
            (2.675_f64, 2),
            (1e-300, 2),
            (5e-324, 18),
            // 15 digits would change what the column keeps.
            (1_234_567_890_123.456, 2),
            (123_456_789_012_345.6, 0),
            (1_234_567_890_123_456.8, 0),
            (4_503_599_627_370_495.5, 0),
            (f64::NAN, 2),
            (f64::INFINITY, 2),
            (f64::NEG_INFINITY, 0),
            (1e300, 0),
        ] {
            let error = decimal_of(value, scale, "NUMERIC").expect_err("it would change");
            assert!(error.message.starts_with(&format!("{value:?} does not fit")), "{}", error.message);
        }
    }

    #[test]
    fn single_precision_counts_by_six_digits() {
        for (value, scale, unscaled) in [
            (0.1_f32 + 0.2, 1, 3),
            (0.1_f32 * 3.0, 2, 30),
            (3.3_f32.next_up(), 2, 330),
            (16_777_216_f32, 0, 16_777_216),
            (1234.56_f32.next_down(), 2, 123_456),
            // Their shortest decimals.
            (0.123_456_79_f32, 8, 12_345_679),
        ] {
            assert_eq!(decimal_of(value, scale, "NUMERIC"), Ok(unscaled), "{value}");
        }
        for (value, scale) in [(0.333_f32, 2), (1234.5678, 2), (123_456.7, 0), (f32::NAN, 2), (f32::MAX, 2)] {
            assert!(decimal_of(value, scale, "NUMERIC").is_err(), "{value}");
        }
    }
}
