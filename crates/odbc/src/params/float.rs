//! Binary floating-point numbers.
//!
//! The client sends floats to exact parameters only if their shortest decimal fits, or that of 15 digits (6 for
//! `SQL_C_FLOAT`), which results of arithmetic have. Those that were bound as DECIMAL or
//! NUMERIC are rounded to the digits with which they were bound, by their shortest decimal as well: 1.005 with two digits
//! is 1.01.

use super::binding::Binding;
use super::cell::{Cells, Failed, Plain};
use super::column::Bytes;
use super::decimal::{self, Decimal};
use super::number::{booleans, out_of_range, primitive, truth_of_float};
use super::target::Target;
use crate::diagnostics::Result;
use arrow::array::{ArrayRef, ArrowPrimitiveType};
use arrow::datatypes::{Float32Type, Float64Type};
use std::fmt::{Debug, Display, LowerExp};
use std::str::FromStr;

/// `f32` and `f64`.
pub(super) trait Real:
    Plain + Default + Debug + Display + LowerExp + FromStr + Into<f64> + 'static
{
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

impl Real for f32 {
    type Arrow = Float32Type;
}

impl Real for f64 {
    type Arrow = Float64Type;
}

pub(super) fn column<T: Real>(
    cells: &Cells<'_>,
    binding: &Binding,
    target: Target,
    failed: &mut Failed,
) -> Result<ArrayRef> {
    let nulls = cells.nulls();
    if target == Target::Boolean {
        return Ok(booleans(cells.convert(failed, |value: T| truth_of_float(value.into())), nulls));
    }
    match (binding.decimal_digits()?, target) {
        (Some(digits), Target::Float | Target::Double) => {
            let values = cells.convert(failed, |value: T| {
                let decimal = shortest(value)?;
                if decimal.scale <= digits.into() {
                    return Ok(value);
                }
                let text = format!("{}e-{digits}", decimal.rounded(digits)?);
                text.parse().map_err(|_| out_of_range(format!("{value} cannot be rounded")))
            });
            Ok(primitive::<T::Arrow>(values, nulls))
        }
        (Some(digits), _) => {
            let values = cells.convert(failed, |value: T| shortest(value)?.rounded(digits));
            decimal::array(values, nulls, digits as i8)
        }
        (None, Target::Text | Target::Binary) => {
            let values = cells.convert(failed, |value: T| Ok(value));
            let mut column = Bytes::new(nulls);
            for value in values {
                column.push(text(value).as_bytes())?;
            }
            column.text()
        }
        (None, Target::Exact) => {
            let values = cells.convert(failed, |value: T| match value.into().is_finite() {
                true => Ok(value),
                false => Err(out_of_range(format!("{value} is not a number of the parameter's type"))),
            });
            Ok(primitive::<T::Arrow>(values, nulls))
        }
        (None, _) => Ok(primitive::<T::Arrow>(cells.convert(failed, |value: T| Ok(value)), nulls)),
    }
}

/// The shortest text that identifies the number, with an exponent only if it is very large or small.
fn text(value: impl Debug) -> String {
    let mut text = format!("{value:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

/// The shortest decimal that identifies the number.
fn shortest<T: Real>(value: T) -> Result<Decimal> {
    let text = format!("{value:e}");
    let parts = text.split_once('e').and_then(|(mantissa, exponent)| {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let unscaled = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()? - exponent.parse::<i32>().ok()?;
        Some(Decimal { unscaled, scale })
    });
    parts.ok_or_else(|| out_of_range(format!("{value} is not a decimal number")))
}

/// Reads the nearest number from a numeric literal. The server rounds several times when it does that.
pub(super) fn parse<T: Real>(text: &str) -> Result<T> {
    let text = text.trim_matches(' ');
    // Rust also reads infinities and NaN by name.
    let is_literal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let value = if is_literal { text.parse::<T>().ok() } else { None };
    let value = value.ok_or_else(|| super::text::malformed("a number"))?;
    if !value.into().is_finite() {
        return Err(out_of_range(format!("{text} is too large")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::State;

    #[test]
    fn shortest_decimals_are_rounded_half_away_from_zero() {
        let rounded = |value: f64, digits| shortest(value).and_then(|decimal| decimal.rounded(digits));
        for (value, digits, unscaled) in [
            (1.005, 2, 101),
            (-1.005, 2, -101),
            (0.125, 2, 13),
            (2.5, 0, 3),
            (-2.5, 0, -3),
            (2.4999, 0, 2),
            (0.1 + 0.2, 2, 30),
            (1e-300, 38, 0),
            (0.0, 3, 0),
            (1e20, 2, 10_i128.pow(22)),
            (123_456_789.123_456_78, 8, 12_345_678_912_345_678),
        ] {
            assert_eq!(rounded(value, digits), Ok(unscaled), "{value}");
        }
        for (value, digits) in [(f64::NAN, 0), (f64::INFINITY, 2), (1e300, 0), (1e38, 1), (f64::MAX, 38)] {
            assert_eq!(
                rounded(value, digits).map_err(|failure| failure.state),
                Err(State::OUT_OF_RANGE),
                "{value}"
            );
        }
        assert_eq!(shortest(0.1_f32), Ok(Decimal { unscaled: 1, scale: 1 }));
    }

    #[test]
    fn literals_become_the_nearest_number() {
        assert_eq!(parse("123456789.123456789"), Ok(123_456_789.123_456_79));
        assert_eq!(parse(" -2.2250738585072014e-308 "), Ok(-f64::MIN_POSITIVE));
        assert_eq!(parse("16777217"), Ok(16_777_216_f32));
        assert_eq!(parse("1e-400"), Ok(0.0));
        assert_eq!((parse(".5"), parse("5."), parse("+1E2")), (Ok(0.5), Ok(5.0), Ok(100.0)));
        let state = |text| parse::<f64>(text).map_err(|failure| failure.state);
        for text in ["1e400", "-1e400"] {
            assert_eq!(state(text), Err(State::OUT_OF_RANGE), "{text}");
        }
        for text in ["", " ", ".", "e5", "inf", "NaN", "infinity", "0x10", "1,5", "1 2", "١"] {
            assert_eq!(state(text), Err(State::BAD_CHARACTER_VALUE), "{text}");
        }
        assert_eq!(parse::<f32>("1e39").map_err(|failure| failure.state), Err(State::OUT_OF_RANGE));
    }

    #[test]
    fn text_is_short() {
        assert_eq!(text(12.0), "12");
        assert_eq!(text(0.1_f32), "0.1");
        assert_eq!(text(-0.000_000_1), "-1e-7");
        assert_eq!(text(1e300), "1e300");
        assert_eq!(text(-0.0), "-0");
    }
}
