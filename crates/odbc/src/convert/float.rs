//! Floating-point numbers.

use super::cell::{Column, Converted};
use super::fault::Fault;
use super::number::{Number, Numeric, Scaled, fraction_cut};
use super::plan::Settings;
use super::rendered::{Render, Rendered};
use arrow::array::{Float32Array, Float64Array};
use std::fmt::{LowerExp, Write};
use std::ops::Range;

/// A floating-point type of Rust.
pub(super) trait Float: Copy + LowerExp + Into<f64> {
    /// Exponents of ten that are written out: those where the text is no longer than one with an exponent can be.
    const PLAIN: Range<i32>;
}

impl Float for f32 {
    const PLAIN: Range<i32> = -4..9;
}

impl Float for f64 {
    const PLAIN: Range<i32> = -5..16;
}

macro_rules! columns {
    ($($array:ty: $float:ty;)*) => {$(
        impl Numeric for $array {
            type Number<'a> = $float;

            #[inline]
            fn number<'a>(value: Self::Value<'a>, _: &Settings) -> Self::Number<'a> {
                value
            }
        }

        impl Render for $array {
            fn render(value: <Self as Column>::Value<'_>, _: &Settings) -> Result<Rendered, Fault> {
                Ok(text(value))
            }
        }
    )*};
}

columns! {
    Float32Array: f32;
    Float64Array: f64;
}

impl Number for f32 {
    fn scaled(self, scale: i32) -> Result<Scaled, Fault> {
        scaled(self, scale)
    }

    #[inline]
    fn whole(self) -> Converted<i128> {
        f64::from(self).whole()
    }

    #[inline]
    fn double(self) -> Result<f64, Fault> {
        Ok(self.into())
    }

    #[inline]
    fn single(self) -> Result<f32, Fault> {
        Ok(self)
    }
}

impl Number for f64 {
    fn scaled(self, scale: i32) -> Result<Scaled, Fault> {
        scaled(self, scale)
    }

    #[inline]
    fn whole(self) -> Converted<i128> {
        /// 2 to the power of 127, the first number that does not fit.
        const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
        let whole = self.trunc();
        // This is false for NaN, too.
        if (-LIMIT..LIMIT).contains(&whole) {
            Ok((whole as i128, fraction_cut(whole != self)))
        } else {
            Err(Fault::OutOfRange)
        }
    }

    #[inline]
    fn double(self) -> Result<f64, Fault> {
        Ok(self)
    }

    #[inline]
    fn single(self) -> Result<f32, Fault> {
        let single = self as f32;
        match single.is_infinite() && self.is_finite() {
            true => Err(Fault::OutOfRange),
            false => Ok(single),
        }
    }
}

/// Whole numbers are exact; others are what their text is, which has the fewest digits that tell them apart.
fn scaled<F: Float + Number>(value: F, scale: i32) -> Result<Scaled, Fault> {
    let double = value.into();
    if double.is_finite() && double.trunc() == double && double.abs() < 2_f64.powi(127) {
        let magnitude = double.abs() as u128;
        return Scaled { is_negative: double < 0.0, magnitude, is_cut: false }.shifted(scale);
    }
    if !double.is_finite() {
        return Err(Fault::OutOfRange);
    }
    let text = text(value);
    std::str::from_utf8(text.as_bytes()).map_err(|_| Fault::OutOfRange)?.scaled(scale)
}

/// The shortest text that reads back as the same number.
fn text<F: Float>(value: F) -> Rendered {
    let mut text = Rendered::new();
    let double: f64 = value.into();
    if !double.is_finite() {
        let name: &[u8] = match (double.is_nan(), double > 0.0) {
            (true, _) => b"NaN",
            (_, true) => b"Infinity",
            (_, false) => b"-Infinity",
        };
        text.push(name);
        text.end_whole();
        return text;
    }
    let mut scientific = Rendered::new();
    write!(scientific, "{value:e}").expect("at most 24 characters");
    let (sign, digits, exponent) = parts(scientific.as_bytes());
    if !F::PLAIN.contains(&exponent) {
        // Without its exponent, it would be another number.
        scientific.end_whole();
        return scientific;
    }
    text.push(sign);
    let (first, others) = digits.split_at(1);
    let others = others.get(1..).unwrap_or_default();
    let mut significant = [b'0'; 17];
    significant[..1].copy_from_slice(first);
    significant[1..][..others.len()].copy_from_slice(others);
    let count = 1 + others.len();
    let Ok(exponent) = usize::try_from(exponent) else {
        text.push(b"0");
        text.end_whole();
        text.push(b".");
        text.push(&b"0000"[..exponent.unsigned_abs() as usize - 1]);
        text.push(&significant[..count]);
        return text;
    };
    let whole = exponent + 1;
    text.push(&significant[..whole]);
    text.end_whole();
    if whole < count {
        text.push(b".");
        text.push(&significant[whole..count]);
    }
    text
}

/// The sign, the digits with their point, and the exponent of text such as `-1.25e-7`.
fn parts(text: &[u8]) -> (&[u8], &[u8], i32) {
    let (sign, text) = text.split_at(usize::from(text[0] == b'-'));
    let at = text.iter().position(|&byte| byte == b'e').expect("an exponent");
    let exponent = std::str::from_utf8(&text[at + 1..]).ok().and_then(|exponent| exponent.parse().ok());
    (sign, &text[..at], exponent.expect("a small exponent"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::c_type;
    use crate::convert::testing::{texts, values, wanted};
    use proptest::prelude::*;

    fn plain<F: Float>(value: F) -> String {
        String::from_utf8(text(value).as_bytes().to_vec()).expect("ASCII")
    }

    #[test]
    fn text_is_short() {
        let doubles = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-0.1, "-0.1"),
            (12.5, "12.5"),
            (1e15, "1000000000000000"),
            (1234567890123456.7, "1234567890123456.8"),
            (1e16, "1e16"),
            (-1.25e300, "-1.25e300"),
            (0.00001, "0.00001"),
            (0.0000125, "0.0000125"),
            (0.000001, "1e-6"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (double, text) in doubles {
            assert_eq!(plain(double), text);
        }
        let singles =
            [(0.1, "0.1"), (16_777_216.0, "16777216"), (1e9, "1e9"), (0.0001, "0.0001"), (0.00001, "1e-5")];
        for (single, text) in singles {
            assert_eq!(plain::<f32>(single), text);
        }
    }

    /// A cut exponent would make another number of it.
    #[test]
    fn only_a_fraction_may_be_cut() {
        let array = Float64Array::from(vec![12.125, 1.25e20, f64::NEG_INFINITY]);
        let fetch = |capacity| texts(&array, wanted(c_type::CHAR), capacity);
        let text = |text: &str, length, warning| Ok((text.to_owned(), length, warning));
        let whole = [text("12.125", 6, None), text("1.25e20", 7, None), text("-Infinity", 9, None)];
        assert_eq!(fetch(10), whole);
        assert_eq!(fetch(7), [text("12.125", 6, None), Err("22003"), Err("22003")]);
        assert_eq!(fetch(5), [text("12.1", 6, Some("01004")), Err("22003"), Err("22003")]);
        assert_eq!(fetch(2), [Err("22003"), Err("22003"), Err("22003")]);
    }

    #[test]
    fn single_precision_has_a_range() {
        let array = Float64Array::from(vec![1e39, -1e39, 0.1]);
        assert_eq!(values(&array, wanted(c_type::FLOAT)), [Err("22003"), Err("22003"), Ok((0.1_f32, None))]);
        let array = Float32Array::from(vec![0.1]);
        assert_eq!(values(&array, wanted(c_type::DOUBLE)), [Ok((f64::from(0.1_f32), None))]);
    }

    proptest! {
        #[test]
        fn doubles_read_back(bits in any::<u64>(), plain_one in -1e6..1e6_f64) {
            for double in [f64::from_bits(bits), plain_one] {
                let text = plain(double);
                prop_assert!(text.len() <= 24, "{}", text);
                let back: f64 = text.parse().unwrap();
                prop_assert!(double.is_nan() && back.is_nan() || back.to_bits() == double.to_bits(), "{}", text);
            }
        }

        #[test]
        fn singles_read_back(bits in any::<u32>(), plain_one in -1e6..1e6_f32) {
            for single in [f32::from_bits(bits), plain_one] {
                let text = plain(single);
                prop_assert!(text.len() <= 15, "{}", text);
                let back: f32 = text.parse().unwrap();
                prop_assert!(single.is_nan() && back.is_nan() || back.to_bits() == single.to_bits(), "{}", text);
            }
        }
    }
}
