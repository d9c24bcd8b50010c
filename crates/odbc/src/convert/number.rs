//! Numbers of all column types, and the C types that they become.

use super::cell::{Column, Convert, Converted};
use super::fault::Fault;
use super::plan::Settings;

/// A column whose values are numbers.
pub(super) trait Numeric: Column {
    type Number<'a>: Number;

    fn number<'a>(value: Self::Value<'a>, settings: &Settings) -> Self::Number<'a>;
}

/// A number that is yet to become one of a C type.
pub(super) trait Number {
    /// Times a power of ten, and truncated.
    fn scaled(self, scale: i32) -> Result<Scaled, Fault>;

    /// The whole part.
    fn whole(self) -> Converted<i128>;

    /// The nearest number of double precision.
    fn double(self) -> Result<f64, Fault>;

    /// The nearest number of single precision.
    fn single(self) -> Result<f32, Fault>;
}

/// A number without its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scaled {
    pub(super) is_negative: bool,
    pub(super) magnitude: u128,
    /// Whether there was a fraction.
    pub(super) is_cut: bool,
}

impl Scaled {
    pub(super) fn warning(self) -> Option<Fault> {
        fraction_cut(self.is_cut)
    }

    /// The number times a power of ten, and truncated.
    pub(super) fn shifted(self, by: i32) -> Result<Self, Fault> {
        if self.magnitude == 0 || by == 0 {
            return Ok(self);
        }
        match (10_u128.checked_pow(by.unsigned_abs()), by > 0) {
            (power, true) => {
                let magnitude = power.and_then(|power| self.magnitude.checked_mul(power));
                Ok(Self { magnitude: magnitude.ok_or(Fault::OutOfRange)?, ..self })
            }
            (Some(power), false) => {
                let (magnitude, rest) = divide(self.magnitude, power);
                Ok(Self { magnitude, is_cut: self.is_cut || rest != 0, ..self })
            }
            (None, false) => Ok(Self { magnitude: 0, is_cut: true, ..self }),
        }
    }
}

pub(super) fn fraction_cut(is_cut: bool) -> Option<Fault> {
    is_cut.then_some(Fault::FractionCut)
}

/// The quotient and the rest. Division of 64 bits is several times as fast.
#[inline]
pub(super) fn divide(number: u128, by: u128) -> (u128, u128) {
    match (u64::try_from(number), u64::try_from(by)) {
        (Ok(number), Ok(by)) => ((number / by).into(), (number % by).into()),
        _ => (number / by, number % by),
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl<C: Numeric> Convert<C> for $integer {
            #[inline]
            fn convert(value: C::Value<'_>, settings: &Settings) -> Converted<Self> {
                let (whole, warning) = C::number(value, settings).whole()?;
                Ok((Self::try_from(whole).map_err(|_| Fault::OutOfRange)?, warning))
            }
        }
    )*};
}

integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

impl<C: Numeric> Convert<C> for f64 {
    #[inline]
    fn convert(value: C::Value<'_>, settings: &Settings) -> Converted<Self> {
        Ok((C::number(value, settings).double()?, None))
    }
}

impl<C: Numeric> Convert<C> for f32 {
    #[inline]
    fn convert(value: C::Value<'_>, settings: &Settings) -> Converted<Self> {
        Ok((C::number(value, settings).single()?, None))
    }
}

/// `SQL_C_BIT`: 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Bit(u8);

impl<C: Numeric> Convert<C> for Bit {
    #[inline]
    fn convert(value: C::Value<'_>, settings: &Settings) -> Converted<Self> {
        let number = C::number(value, settings).scaled(0)?;
        match number.magnitude {
            // Zero may have a sign, but what is below it is no bit, however near.
            0 if !(number.is_negative && number.is_cut) => Ok((Self(0), number.warning())),
            1 if !number.is_negative => Ok((Self(1), number.warning())),
            _ => Err(Fault::OutOfRange),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Outcome, values, wanted};
    use super::*;
    use crate::abi::{SmallInt, c_type};
    use arrow::array::{
        Array, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
        StringArray,
    };
    use std::fmt::Debug;

    const OUT: &str = "22003";
    const CUT: Option<&str> = Some("01S07");

    fn check<T: Copy + Debug + PartialEq>(array: &dyn Array, c_type: SmallInt, expected: &[Outcome<T>]) {
        assert_eq!(values::<T>(array, wanted(c_type)), expected, "{} as {c_type}", array.data_type());
    }

    /// The bounds of each type, and what is just beyond them, from every source that can hold them.
    #[test]
    fn integers_have_bounds() {
        fn bounds<T>(c_types: &[SmallInt], least: T, most: T)
        where
            T: Copy + Debug + PartialEq + Into<i128>,
        {
            let (low, high) = (least.into(), most.into());
            let numbers = [low - 1, low, high, high + 1];
            let whole = [Err(OUT), Ok((least, None)), Ok((most, None)), Err(OUT)];
            for &c_type in c_types {
                let decimals = Decimal128Array::from_iter_values(numbers.map(|number| number * 100));
                check(&decimals.with_precision_and_scale(38, 2).expect("a decimal"), c_type, &whole);
                let text = StringArray::from_iter_values(numbers.map(|number| format!(" {number}.000e0 ")));
                check(&text, c_type, &whole);
                if let Ok(numbers) = numbers.into_iter().map(i64::try_from).collect::<Result<Vec<_>, _>>() {
                    check(&Int64Array::from(numbers), c_type, &whole);
                }
                if let Ok(numbers) = numbers.into_iter().map(i32::try_from).collect::<Result<Vec<_>, _>>() {
                    check(&Int32Array::from(numbers.clone()), c_type, &whole);
                    check(
                        &Float64Array::from_iter_values(numbers.into_iter().map(f64::from)),
                        c_type,
                        &whole,
                    );
                }
                if let Ok(numbers) = numbers.into_iter().map(i16::try_from).collect::<Result<Vec<_>, _>>() {
                    check(&Int16Array::from(numbers.clone()), c_type, &whole);
                    check(
                        &Float32Array::from_iter_values(numbers.into_iter().map(f32::from)),
                        c_type,
                        &whole,
                    );
                }
            }
        }
        bounds::<i8>(&[c_type::TINYINT, c_type::STINYINT], i8::MIN, i8::MAX);
        bounds::<u8>(&[c_type::UTINYINT], 0, u8::MAX);
        bounds::<i16>(&[c_type::SHORT, c_type::SSHORT], i16::MIN, i16::MAX);
        bounds::<u16>(&[c_type::USHORT], 0, u16::MAX);
        bounds::<i32>(&[c_type::LONG, c_type::SLONG], i32::MIN, i32::MAX);
        bounds::<u32>(&[c_type::ULONG], 0, u32::MAX);
        bounds::<i64>(&[c_type::SBIGINT], i64::MIN, i64::MAX);
        bounds::<u64>(&[c_type::UBIGINT], 0, u64::MAX);
    }

    #[test]
    fn fractions_are_cut_toward_zero() {
        let decimals = Decimal128Array::from(vec![-199, -99, 50, 199, 200]);
        let decimals = decimals.with_precision_and_scale(5, 2).expect("a decimal");
        let expected = [Ok((-1_i32, CUT)), Ok((0, CUT)), Ok((0, CUT)), Ok((1, CUT)), Ok((2, None))];
        check(&decimals, c_type::SLONG, &expected);
        check(&Float64Array::from(vec![-1.99, -0.99, 0.5, 1.99, 2.0]), c_type::SLONG, &expected);
        check(&Float32Array::from(vec![-1.99, -0.99, 0.5, 1.99, 2.0]), c_type::SLONG, &expected);
        let text = StringArray::from(vec!["-1.99", "-99e-2", "0.5", "199e-2", "+2."]);
        check(&text, c_type::SLONG, &expected);
    }

    #[test]
    fn floating_point_numbers_are_exact_at_the_bounds() {
        let two63 = 9_223_372_036_854_775_808.0;
        let array = Float64Array::from(vec![-two63, two63, f64::NAN, f64::INFINITY, f64::MAX, -0.0]);
        let expected = [Ok((i64::MIN, None)), Err(OUT), Err(OUT), Err(OUT), Err(OUT), Ok((0, None))];
        check(&array, c_type::SBIGINT, &expected);
        check(&array.slice(1, 1), c_type::UBIGINT, &[Ok((1_u64 << 63, None))]);
    }

    #[test]
    fn a_bit_is_0_or_1() {
        let expected = |texts: &[(&str, Outcome<Bit>)]| {
            let text = StringArray::from_iter_values(texts.iter().map(|(text, _)| text));
            let numbers = || texts.iter().map(|(text, _)| text.parse::<f64>().expect("a number"));
            let decimals =
                Decimal128Array::from_iter_values(numbers().map(|number| (number * 100.0) as i128));
            let decimals = decimals.with_precision_and_scale(9, 2).expect("a decimal");
            let outcomes: Vec<_> = texts.iter().map(|&(_, outcome)| outcome).collect();
            check(&text, c_type::BIT, &outcomes);
            check(&decimals, c_type::BIT, &outcomes);
            check(&Float64Array::from_iter_values(numbers()), c_type::BIT, &outcomes);
        };
        expected(&[
            ("0", Ok((Bit(0), None))),
            ("1", Ok((Bit(1), None))),
            ("0.25", Ok((Bit(0), CUT))),
            ("1.75", Ok((Bit(1), CUT))),
            ("2", Err(OUT)),
            ("-1", Err(OUT)),
            ("-0.25", Err(OUT)),
            ("-0", Ok((Bit(0), None))),
        ]);
        check(
            &StringArray::from(vec!["true", ""]),
            c_type::BIT,
            &[Err("22018"), Err::<(Bit, _), _>("22018")],
        );
        check(&Int16Array::from(vec![1, 2]), c_type::BIT, &[Ok((Bit(1), None)), Err(OUT)]);
    }

    #[test]
    fn booleans_are_numbers() {
        let array = BooleanArray::from(vec![Some(true), None, Some(false)]);
        check(&array, c_type::BIT, &[Ok((Bit(1), None)), Err("NULL"), Ok((Bit(0), None))]);
        check(&array, c_type::BINARY, &[Ok((Bit(1), None)), Err("NULL"), Ok((Bit(0), None))]);
        check(&array, c_type::UBIGINT, &[Ok((1_u64, None)), Err("NULL"), Ok((0, None))]);
        check(&array, c_type::DOUBLE, &[Ok((1.0, None)), Err("NULL"), Ok((0.0, None))]);
    }

    #[test]
    fn a_binary_buffer_receives_the_own_type() {
        check(&Int16Array::from(vec![-2]), c_type::BINARY, &[Ok((-2_i16, None))]);
        check(&Int32Array::from(vec![-2]), c_type::BINARY, &[Ok((-2_i32, None))]);
        check(&Int64Array::from(vec![i64::MIN]), c_type::BINARY, &[Ok((i64::MIN, None))]);
        check(&Float32Array::from(vec![0.1]), c_type::BINARY, &[Ok((0.1_f32, None))]);
        check(&Float64Array::from(vec![0.1]), c_type::BINARY, &[Ok((0.1_f64, None))]);
    }
}
