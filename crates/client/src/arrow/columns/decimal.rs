//! NUMERIC, DECIMAL, INT128 and DECFLOAT: values whose digits count.

use super::super::error::{DecodeErrorKind, Fault};
use super::bytes::{Output, Write};
use super::values::Read;
use arrow::datatypes::i256;
use firearrow_proto::api::decfloat::{Decimal, decode64, decode128};
use firearrow_proto::api::row::ValueFormat;
use std::io::Write as _;

/// The remedy for NUMERIC values longer than declared.
pub(crate) const NUMERIC_REMEDY: &str = "set decimal_precision=range, or CAST the column to more digits";
/// The remedy for the largest INT128 values.
pub(crate) const INT128_REMEDY: &str = "use the option int128=decimal256 or int128=utf8";

fn overflow(value: impl std::fmt::Display, precision: u8, remedy: &str) -> Fault {
    let message = format!("the unscaled value {value} does not fit {precision} digits; {remedy}");
    Fault::new(DecodeErrorKind::OutOfRange, message)
}

/// Returns the largest value with this many digits, or `u128::MAX` if 128 bits cannot hold it.
fn limit(precision: u8) -> u128 {
    10u128.checked_pow(precision.into()).map_or(u128::MAX, |power| power - 1)
}

macro_rules! scaled {
    ($($(#[$doc:meta])* $name:ident: $method:ident, $unsigned:ty, $sql:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name {
            limit: $unsigned,
            precision: u8,
            remedy: &'static str,
        }

        impl $name {
            pub(crate) fn new(precision: u8, remedy: &'static str) -> Self {
                let limit = <$unsigned>::try_from(limit(precision)).unwrap_or(<$unsigned>::MAX);
                Self { limit, precision, remedy }
            }
        }

        impl Read for $name {
            type Value = i128;

            #[inline(always)]
            fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i128> {
                let value = F::$method(bytes)?;
                (value.unsigned_abs() <= self.limit).then_some(i128::from(value))
            }

            fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
                match F::$method(bytes) {
                    Some(value) => overflow(value, self.precision, self.remedy),
                    None => Fault::malformed($sql),
                }
            }
        }
    )+};
}

scaled! {
    /// Decimal stored as SMALLINT.
    ScaledShort: i16, u16, "SMALLINT";
    /// Decimal stored as INTEGER.
    ScaledLong: i32, u32, "INTEGER";
    /// Decimal stored as BIGINT.
    ScaledInt64: i64, u64, "BIGINT";
    /// Decimal stored as INT128.
    ScaledInt128: i128, u128, "INT128";
}

/// INT128 as decimal256: 39 digits always suffice.
#[derive(Debug)]
pub(crate) struct WideInt128;

impl Read for WideInt128 {
    type Value = i256;

    #[inline]
    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i256> {
        F::i128(bytes).map(i256::from_i128)
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("INT128")
    }
}

/// INT128 as text.
#[derive(Debug)]
pub(crate) struct Int128Text;

impl Write for Int128Text {
    fn max(&self) -> usize {
        40 // 39 digits and a sign
    }

    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()> {
        write!(out, "{}", F::i128(bytes)?).ok()
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("INT128")
    }
}

/// DECFLOAT(16) or DECFLOAT(34).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Decfloat {
    Dec16,
    Dec34,
}

impl Decfloat {
    fn decode<F: ValueFormat>(self, bytes: &[u8]) -> Option<Decimal> {
        match self {
            Self::Dec16 => F::dec16(bytes).map(decode64),
            Self::Dec34 => F::dec34(bytes).map(decode128),
        }
    }
}

/// DECFLOAT as text.
impl Write for Decfloat {
    fn max(&self) -> usize {
        43 // the engine's own buffer for 34 digits: sign, point, E, sign and 4 digits of exponent
    }

    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()> {
        write!(out, "{}", self.decode::<F>(bytes)?).ok()
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("DECFLOAT")
    }
}

/// DECFLOAT as the nearest float64.
#[derive(Debug)]
pub(crate) struct DecfloatDouble(pub(crate) Decfloat);

impl Read for DecfloatDouble {
    type Value = f64;

    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<f64> {
        self.0.decode::<F>(bytes).map(|decimal| decimal.to_f64())
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("DECFLOAT")
    }
}

/// DECFLOAT as decimal128; only exact values.
#[derive(Debug)]
pub(crate) struct DecfloatDecimal {
    source: Decfloat,
    precision: u8,
    scale: i8,
    limit: u128,
}

impl DecfloatDecimal {
    pub(crate) fn new(source: Decfloat, precision: u8, scale: i8) -> Self {
        Self { source, precision, scale, limit: limit(precision) }
    }
}

impl Read for DecfloatDecimal {
    type Value = i128;

    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i128> {
        let value = self.source.decode::<F>(bytes)?.to_i128_scaled(-i32::from(self.scale))?;
        (value.unsigned_abs() <= self.limit).then_some(value)
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        let Some(value) = self.source.decode::<F>(bytes) else { return Fault::malformed("DECFLOAT") };
        let (precision, scale) = (self.precision, self.scale);
        let message = format!("{value} is not exact in decimal128({precision},{scale}); set decfloat=utf8");
        Fault::new(DecodeErrorKind::OutOfRange, message)
    }
}
