//! Integers and booleans.

use super::cell::{Column, Converted};
use super::decimal::decimal;
use super::fault::Fault;
use super::number::{Number, Numeric, Scaled};
use super::plan::Settings;
use super::rendered::{Render, Rendered};
use arrow::array::{BooleanArray, Int16Array, Int32Array, Int64Array};

macro_rules! columns {
    ($($array:ty)*) => {$(
        impl Numeric for $array {
            type Number<'a> = i64;

            #[inline]
            fn number<'a>(value: Self::Value<'a>, _: &Settings) -> Self::Number<'a> {
                value.into()
            }
        }

        impl Render for $array {
            #[inline]
            fn render(value: <Self as Column>::Value<'_>, _: &Settings) -> Result<Rendered, Fault> {
                Ok(decimal(value.into(), 0))
            }
        }
    )*};
}

// TRUE is 1 in every C type, also as text.
columns! { Int16Array Int32Array Int64Array BooleanArray }

impl Number for i64 {
    fn scaled(self, scale: i32) -> Result<Scaled, Fault> {
        Scaled { is_negative: self < 0, magnitude: self.unsigned_abs().into(), is_cut: false }.shifted(scale)
    }

    #[inline]
    fn whole(self) -> Converted<i128> {
        Ok((self.into(), None))
    }

    #[inline]
    fn double(self) -> Result<f64, Fault> {
        Ok(self as f64)
    }

    #[inline]
    fn single(self) -> Result<f32, Fault> {
        Ok(self as f32)
    }
}
