//! Numeric literals: text as a number.

use super::cell::Converted;
use super::fault::Fault;
use super::number::{Number, Numeric, Scaled};
use super::plan::Settings;
use arrow::array::StringArray;
use std::str::FromStr;

impl Numeric for StringArray {
    type Number<'a> = &'a str;

    #[inline]
    fn number<'a>(value: Self::Value<'a>, _: &Settings) -> Self::Number<'a> {
        value
    }
}

impl Number for &str {
    fn scaled(self, scale: i32) -> Result<Scaled, Fault> {
        Literal::parse(self).ok_or(Fault::NotALiteral)?.scaled(scale)
    }

    fn whole(self) -> Converted<i128> {
        let number = self.scaled(0)?;
        let magnitude = i128::try_from(number.magnitude).map_err(|_| Fault::OutOfRange)?;
        Ok((if number.is_negative { -magnitude } else { magnitude }, number.warning()))
    }

    fn double(self) -> Result<f64, Fault> {
        floating(self, f64::is_infinite)
    }

    fn single(self) -> Result<f32, Fault> {
        floating(self, f32::is_infinite)
    }
}

/// The parts of a literal such as `-12.5e3`.
#[derive(Debug)]
struct Literal<'a> {
    is_negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Literal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.as_bytes().trim_ascii();
        let (is_negative, text) = sign(text);
        let (whole, text) = digits(text);
        let (fraction, text) = text.strip_prefix(b".").map_or((&[] as &[u8], text), digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match text {
            [] => 0,
            [b'e' | b'E', text @ ..] => {
                let (is_negative, text) = sign(text);
                let (digits, []) = digits(text) else { return None };
                if digits.is_empty() {
                    return None;
                }
                // An exponent of this size is as good as a larger one.
                let add = |sum: i64, digit: &u8| sum.saturating_mul(10).saturating_add((digit - b'0').into());
                let exponent = digits.iter().fold(0, add).min(1 << 60);
                if is_negative { -exponent } else { exponent }
            }
            _ => return None,
        };
        Some(Self { is_negative, whole, fraction, exponent })
    }

    fn scaled(&self, scale: i32) -> Result<Scaled, Fault> {
        let length = (self.whole.len() + self.fraction.len()) as i64;
        // As many digits are before the point once it has moved.
        let before = self.whole.len() as i64 + self.exponent + i64::from(scale);
        let mut digits = self.whole.iter().chain(self.fraction).map(|digit| digit - b'0');
        let mut magnitude = 0_u128;
        for _ in 0..before.min(length) {
            let digit = digits.next().unwrap_or(0);
            let sum = magnitude.checked_mul(10).and_then(|sum| sum.checked_add(digit.into()));
            magnitude = sum.ok_or(Fault::OutOfRange)?;
        }
        let is_cut = digits.any(|digit| digit != 0);
        let zeros = i32::try_from(before.saturating_sub(length).max(0)).unwrap_or(i32::MAX);
        Scaled { is_negative: self.is_negative, magnitude, is_cut }.shifted(zeros)
    }
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', text @ ..] => (true, text),
        [b'+', text @ ..] => (false, text),
        text => (false, text),
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// The nearest number. Text that names infinity is no overflow.
fn floating<F: FromStr + Copy>(text: &str, is_infinite: impl Fn(F) -> bool) -> Result<F, Fault> {
    let text = text.trim_ascii();
    // It reads the same literals, and `inf` too.
    let number: F = text.parse().map_err(|_| Fault::NotALiteral)?;
    match is_infinite(number) && text.bytes().any(|byte| byte.is_ascii_digit()) {
        true => Err(Fault::OutOfRange),
        false => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scaled(text: &str, scale: i32) -> Result<(bool, u128, bool), Fault> {
        text.scaled(scale).map(|number| (number.is_negative, number.magnitude, number.is_cut))
    }

    #[test]
    fn literals_are_exact() {
        assert_eq!(scaled("1e3", 0), Ok((false, 1000, false)));
        assert_eq!(scaled(" 12.50 ", 1), Ok((false, 125, false)));
        assert_eq!(scaled("-12.59", 1), Ok((true, 125, true)));
        assert_eq!(scaled(".5", 1), Ok((false, 5, false)));
        assert_eq!(scaled("5.", 0), Ok((false, 5, false)));
        assert_eq!(scaled("+5E+2", -1), Ok((false, 50, false)));
        assert_eq!(scaled("123456e-3", 0), Ok((false, 123, true)));
        assert_eq!(scaled("0.000000000000000000000000000000000000000000001e45", 0), Ok((false, 1, false)));
        assert_eq!(scaled("1e-99999999999999999999", 0), Ok((false, 0, true)));
        assert_eq!(scaled("0e99999999999999999999", 0), Ok((false, 0, false)));
        assert_eq!(scaled("1e99999999999999999999", 0), Err(Fault::OutOfRange));
        assert_eq!(scaled("340282366920938463463374607431768211455", 0), Ok((false, u128::MAX, false)));
        assert_eq!(scaled("340282366920938463463374607431768211456", 0), Err(Fault::OutOfRange));
        assert_eq!(scaled(&"0".repeat(500), 0), Ok((false, 0, false)));
    }

    #[test]
    fn other_text_is_no_literal() {
        for text in
            ["", " ", "-", ".", "e5", "1e", "1e+", "1e5x", "1 2", "--1", "1,5", "0x10", "1_0", "é", "1.2.3"]
        {
            assert_eq!(scaled(text, 0), Err(Fault::NotALiteral), "{text}");
            assert_eq!(text.double(), Err(Fault::NotALiteral), "{text}");
            assert_eq!(text.single(), Err(Fault::NotALiteral), "{text}");
        }
        assert_eq!(scaled("NaN", 0), Err(Fault::NotALiteral));
    }

    #[test]
    fn floating_point_numbers_have_a_range() {
        assert_eq!(" -2.5e-3 ".double(), Ok(-0.0025));
        assert_eq!("1e309".double(), Err(Fault::OutOfRange));
        assert_eq!("1e39".single(), Err(Fault::OutOfRange));
        assert_eq!("1e-999".double(), Ok(0.0));
        assert_eq!("-Infinity".double(), Ok(f64::NEG_INFINITY));
        assert!("NaN".double().is_ok_and(f64::is_nan));
        assert_eq!(1e39_f64.single(), Err(Fault::OutOfRange));
        assert_eq!(f64::INFINITY.single(), Ok(f32::INFINITY));
        assert_eq!(0.1_f64.single(), Ok(0.1));
    }

    proptest! {
        /// The same number, written in different ways.
        #[test]
        fn the_point_may_be_anywhere(number in any::<u64>(), at in 0_usize..60, zeros in 0_usize..9, scale in 0..9) {
            let digits = format!("{number:060}{}", "0".repeat(zeros));
            let (whole, fraction) = digits.split_at(at);
            let text = format!("{whole}.{fraction}e{}", 60 - at);
            let expected = u128::from(number) * 10_u128.pow(scale as u32);
            prop_assert_eq!(scaled(&text, scale), Ok((false, expected, false)));
            let power = 10_u128.pow(scale as u32);
            let (quotient, rest) = (u128::from(number) / power, u128::from(number) % power);
            prop_assert_eq!(scaled(&text, -scale), Ok((false, quotient, rest != 0)));
        }

        /// Whatever the text, both parsers agree on whether it is a literal.
        #[test]
        fn literals_are_those_of_floating_point(text in "[-+]?[0-9.]{0,5}([eE][-+]?[0-9]{0,2})?[ x]?") {
            prop_assert_eq!(Literal::parse(&text).is_some(), text.double().is_ok(), "{}", text);
        }
    }
}
