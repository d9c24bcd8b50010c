//! Exact numerics.

use super::cell::Converted;
use super::fault::Fault;
use super::number::{Number, Numeric, Scaled, divide};
use super::plan::Settings;
use super::rendered::{Render, Rendered, SPACE};
use arrow::array::Decimal128Array;
use std::fmt::Display;
use std::str::FromStr;

/// The largest scale of a column.
pub(super) const MAX_SCALE: u8 = 38;

/// A decimal number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    unscaled: i128,
    scale: u8,
}

impl Numeric for Decimal128Array {
    type Number<'a> = Decimal;

    #[inline]
    fn number<'a>(unscaled: Self::Value<'a>, settings: &Settings) -> Self::Number<'a> {
        Decimal { unscaled, scale: settings.scale }
    }
}

impl Render for Decimal128Array {
    #[inline]
    fn render(unscaled: i128, settings: &Settings) -> Result<Rendered, Fault> {
        Ok(decimal(unscaled, settings.scale.into()))
    }
}

impl Number for Decimal {
    fn scaled(self, scale: i32) -> Result<Scaled, Fault> {
        let number =
            Scaled { is_negative: self.unscaled < 0, magnitude: self.unscaled.unsigned_abs(), is_cut: false };
        number.shifted(scale - i32::from(self.scale))
    }

    #[inline]
    fn whole(self) -> Converted<i128> {
        if self.scale == 0 {
            return Ok((self.unscaled, None));
        }
        let number = self.scaled(0)?;
        // The magnitude was at least divided by ten.
        let magnitude = number.magnitude as i128;
        Ok((if number.is_negative { -magnitude } else { magnitude }, number.warning()))
    }

    #[inline]
    fn double(self) -> Result<f64, Fault> {
        // Both operands are exact, so the quotient is rounded only once.
        match 10_u64.checked_pow(self.scale.into()) {
            Some(power) if power <= 1 << 53 && self.unscaled.unsigned_abs() <= 1 << 53 => {
                Ok(self.unscaled as i64 as f64 / power as f64)
            }
            _ => Ok(self.nearest()),
        }
    }

    #[inline]
    fn single(self) -> Result<f32, Fault> {
        Ok(self.nearest())
    }
}

impl Decimal {
    /// The nearest floating-point number, as the standard library reads it.
    fn nearest<F: FromStr<Err: Display>>(self) -> F {
        let text = decimal(self.unscaled, self.scale.into());
        let text = std::str::from_utf8(text.as_bytes()).expect("digits");
        text.parse().unwrap_or_else(|error| panic!("{text} is a number: {error}"))
    }
}

/// Plain digits with a sign, and so many of them after a point.
#[inline]
pub(super) fn decimal(unscaled: i128, scale: usize) -> Rendered {
    let mut text = Rendered::new();
    text.end = SPACE;
    let magnitude = unscaled.unsigned_abs();
    let mut point = SPACE;
    let mut whole = magnitude;
    if scale > 0 {
        point -= scale + 1;
        let fraction;
        (whole, fraction) = divide(magnitude, POWERS[scale]);
        // The zeros before these digits are there already.
        digits(fraction, &mut text.bytes, SPACE);
        text.bytes[point] = b'.';
    }
    text.start = digits(whole, &mut text.bytes, point);
    if unscaled < 0 {
        text.start -= 1;
        text.bytes[text.start] = b'-';
    }
    text.whole = point - text.start;
    text
}

/// Writes digits that end there, and returns where they start.
#[inline]
fn digits(mut number: u128, bytes: &mut [u8; SPACE], mut end: usize) -> usize {
    /// As many digits as 64 bits have at least.
    const MANY: usize = 19;
    let low = loop {
        match u64::try_from(number) {
            Ok(number) => break number,
            Err(_) => {
                short_digits((number % POWERS[MANY]) as u64, &mut bytes[..end]);
                end -= MANY;
                number /= POWERS[MANY];
            }
        }
    };
    short_digits(low, &mut bytes[..end])
}

#[inline]
fn short_digits(mut number: u64, bytes: &mut [u8]) -> usize {
    let mut start = bytes.len();
    while number >= 100 {
        start -= 2;
        bytes[start..start + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
        number /= 100;
    }
    if number >= 10 {
        start -= 2;
        bytes[start..start + 2].copy_from_slice(&PAIRS[number as usize]);
    } else {
        start -= 1;
        bytes[start] = b'0' + number as u8;
    }
    start
}

/// The powers of ten up to the largest scale.
static POWERS: [u128; MAX_SCALE as usize + 1] = {
    let mut powers = [1; MAX_SCALE as usize + 1];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = 10 * powers[exponent - 1];
        exponent += 1;
    }
    powers
};

/// The digits of the numbers below 100.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::c_type;
    use crate::convert::testing::{Call, get, texts, values, wanted};
    use crate::convert::{Piece, plan};
    use arrow::array::Int32Array;
    use arrow::datatypes::DataType;
    use proptest::prelude::*;

    fn plain(unscaled: i128, scale: usize) -> String {
        String::from_utf8(decimal(unscaled, scale).as_bytes().to_vec()).expect("digits")
    }

    #[test]
    fn text_has_a_digit_before_the_point() {
        assert_eq!(plain(0, 0), "0");
        assert_eq!(plain(-5, 0), "-5");
        assert_eq!(plain(50, 2), "0.50");
        assert_eq!(plain(-5, 3), "-0.005");
        assert_eq!(plain(0, 4), "0.0000");
        assert_eq!(plain(-1234, 2), "-12.34");
        assert_eq!(plain(i128::MIN, 0), i128::MIN.to_string());
        assert_eq!(plain(i128::MIN, 38), "-1.70141183460469231731687303715884105728");
        assert_eq!(plain(i128::MAX, 1), "17014118346046923173168730371588410572.7");
        assert_eq!(plain(-1, 38), "-0.00000000000000000000000000000000000001");
    }

    /// The fraction may be cut, the whole part may not.
    #[test]
    fn a_short_buffer_takes_the_whole_part() {
        let array = Decimal128Array::from(vec![Some(-12345), None]);
        let array = array.with_precision_and_scale(9, 2).expect("a decimal");
        for c_type in [c_type::CHAR, c_type::WCHAR] {
            let fetch = |units| texts(&array, wanted(c_type), units)[0].clone();
            let length = if c_type == c_type::CHAR { 7 } else { 14 };
            let text = |text: &str, warning| Ok((text.to_owned(), length, warning));
            assert_eq!(fetch(8), text("-123.45", None));
            assert_eq!(fetch(7), text("-123.4", Some("01004")));
            assert_eq!(fetch(5), text("-123", Some("01004")));
            assert_eq!(fetch(4), Err("22003"));
            assert_eq!(fetch(0), Err("22003"));
            assert_eq!(texts(&array, wanted(c_type), 8)[1], Err("NULL"));
        }
        let integers = Int32Array::from(vec![i32::MIN]);
        assert_eq!(texts(&integers, wanted(c_type::CHAR), 11), [Err("22003")]);
        assert_eq!(texts(&integers, wanted(c_type::CHAR), 12), [Ok((i32::MIN.to_string(), 11, None))]);
    }

    #[test]
    fn the_rest_of_the_fraction_is_another_piece() {
        let array = Decimal128Array::from(vec![12345]).with_precision_and_scale(9, 2).expect("a decimal");
        let mut piece = Piece::default();
        let mut call = |capacity| get(&array, 0, wanted(c_type::CHAR), capacity, &mut piece);
        let cut = Some("01004");
        assert_eq!(call(0), Call::Bytes(vec![], 6, cut));
        assert_eq!(call(1), Call::Bytes(vec![0], 6, cut));
        assert_eq!(call(3), Call::Failed("22003"));
        assert_eq!(call(6), Call::Bytes(b"123.4\0".to_vec(), 6, cut));
        assert_eq!(call(2), Call::Bytes(b"5\0".to_vec(), 1, None));
        assert_eq!(call(2), Call::NoData);
    }

    #[test]
    fn only_possible_scales_are_planned() {
        let plan = |scale| plan(&DataType::Decimal128(38, scale), &wanted(c_type::CHAR)).map(drop);
        assert_eq!((plan(0), plan(38)), (Ok(()), Ok(())));
        for scale in [-1, 39, i8::MAX, i8::MIN] {
            assert_eq!(plan(scale).expect_err("no scale").state.as_str(), "07006");
        }
    }

    proptest! {
        #[test]
        fn text_is_that_of_the_standard_library(number in any::<i128>(), shift in 0..128, scale in 0_usize..=38) {
            let number = number >> shift;
            prop_assert_eq!(plain(number, 0), number.to_string());
            let digits = format!("{:0width$}", number.unsigned_abs(), width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            let point = if scale > 0 { "." } else { "" };
            let sign = if number < 0 { "-" } else { "" };
            prop_assert_eq!(plain(number, scale), format!("{sign}{whole}{point}{fraction}"));
        }

        #[test]
        fn floating_point_numbers_are_the_nearest(number in any::<i128>(), shift in 0..128, scale in 0_u8..=38) {
            let array = Decimal128Array::from(vec![number >> shift]);
            let array = array.with_precision_and_scale(38, scale.cast_signed()).expect("a decimal");
            let text = plain(number >> shift, scale.into());
            let (double, single): (f64, f32) = (text.parse().unwrap(), text.parse().unwrap());
            prop_assert_eq!(values(&array, wanted(c_type::DOUBLE)), [Ok((double, None))]);
            prop_assert_eq!(values(&array, wanted(c_type::FLOAT)), [Ok((single, None))]);
        }
    }
}
