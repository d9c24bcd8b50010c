//! `DECFLOAT`: IEEE 754-2008 decimal floating point in the densely packed encoding.
//!
//! ```text
//!              sign  combination  exponent   coefficient
//!  decimal64      1            5         8      5 × 10 bits     16 digits, exponents −398 …  369
//!  decimal128     1            5        12     11 × 10 bits     34 digits, exponents −6176 … 6111
//! ```
//!
//! The combination field holds the leading digit and the upper two bits of the biased exponent, or marks an infinity or
//! a NaN. Ten bits (a declet) hold three digits.

mod declet;
mod text;

pub use text::ParseDecimalError;

/// A decoded `DECFLOAT`.
///
/// Compares representations: 1.5 and 1.50 differ, as they do in Firebird's own storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decimal {
    /// The number ± `coefficient` × 10^`exponent`.
    Finite {
        /// Whether it is negative; zeros have a sign, too.
        negative: bool,
        /// All its digits, as an integer.
        coefficient: u128,
        /// The power of ten of the last digit.
        exponent: i32,
    },
    /// An infinity.
    Infinity {
        /// Whether it is negative.
        negative: bool,
    },
    /// Not a number.
    NaN {
        /// The sign, which has no meaning.
        negative: bool,
        /// Whether arithmetic with it is an error.
        signaling: bool,
        /// Diagnostic digits, usually 0.
        payload: u128,
    },
}

/// The layout of a format.
struct Format {
    width: u32,
    exponent_bits: u32,
    declets: u32,
    bias: i32,
}

const DECIMAL64: Format = Format { width: 64, exponent_bits: 8, declets: 5, bias: 398 };
const DECIMAL128: Format = Format { width: 128, exponent_bits: 12, declets: 11, bias: 6176 };

impl Format {
    const fn digits(&self) -> u32 {
        3 * self.declets + 1
    }

    const fn max_exponent(&self) -> i32 {
        (3 << self.exponent_bits) - 1 - self.bias
    }

    fn decode(&self, bits: u128) -> Decimal {
        let negative = bits >> (self.width - 1) & 1 == 1;
        let combination = (bits >> (self.width - 6)) as u32 & 0x1f;
        let trailing_bits = 10 * self.declets;
        let continuation = (bits >> trailing_bits) as u32 & ((1 << self.exponent_bits) - 1);
        let trailing = declet::unpack(bits & ((1 << trailing_bits) - 1));
        let (upper_exponent, leading) = match combination {
            0b11110 => return Decimal::Infinity { negative },
            0b11111 => {
                let signaling = continuation >> (self.exponent_bits - 1) == 1;
                return Decimal::NaN { negative, signaling, payload: trailing };
            }
            0b11000.. => (combination >> 1 & 3, 8 | combination & 1),
            _ => (combination >> 3, combination & 7),
        };
        Decimal::Finite {
            negative,
            coefficient: u128::from(leading) * 10_u128.pow(3 * self.declets) + trailing,
            exponent: (upper_exponent << self.exponent_bits | continuation) as i32 - self.bias,
        }
    }

    fn encode(&self, decimal: &Decimal) -> Result<u128, OutOfRange> {
        let trailing_bits = 10 * self.declets;
        let limit = 10_u128.pow(3 * self.declets);
        let (negative, combination, continuation, trailing) = match *decimal {
            Decimal::Infinity { negative } => (negative, 0b11110, 0, 0),
            Decimal::NaN { payload, .. } if payload >= limit => return Err(OutOfRange),
            Decimal::NaN { negative, signaling, payload } => {
                (negative, 0b11111, u32::from(signaling) << (self.exponent_bits - 1), payload)
            }
            Decimal::Finite { negative, coefficient, exponent } => {
                let (coefficient, exponent) = self.fit(coefficient, exponent)?;
                let (leading, trailing) = ((coefficient / limit) as u32, coefficient % limit);
                let (upper, lower) =
                    (exponent >> self.exponent_bits, exponent & ((1 << self.exponent_bits) - 1));
                let combination =
                    if leading < 8 { upper << 3 | leading } else { 0b11000 | upper << 1 | leading & 1 };
                (negative, combination, lower, trailing)
            }
        };
        Ok(u128::from(negative) << (self.width - 1)
            | u128::from(combination) << (self.width - 6)
            | u128::from(continuation) << trailing_bits
            | declet::pack(trailing))
    }

    /// Returns the coefficient and biased exponent of the same value within the format's bounds. Changes the exponent
    /// only if necessary, and only by adding or dropping zeros.
    fn fit(&self, mut coefficient: u128, exponent: i32) -> Result<(u128, u32), OutOfRange> {
        let limit = 10_u128.pow(self.digits());
        let (min, max) = (i64::from(-self.bias), i64::from(self.max_exponent()));
        let mut exponent = i64::from(exponent);
        if coefficient == 0 {
            exponent = exponent.clamp(min, max);
        }
        while coefficient >= limit || exponent < min {
            if !coefficient.is_multiple_of(10) {
                return Err(OutOfRange);
            }
            coefficient /= 10;
            exponent += 1;
        }
        while exponent > max {
            coefficient *= 10;
            if coefficient >= limit {
                return Err(OutOfRange);
            }
            exponent -= 1;
        }
        Ok((coefficient, (exponent - min) as u32))
    }
}

/// Reads a `DECFLOAT(16)`. Every bit pattern is a value, non-canonical declets included.
pub fn decode64(bits: u64) -> Decimal {
    DECIMAL64.decode(u128::from(bits))
}

/// Reads a `DECFLOAT(34)`. Every bit pattern is a value, non-canonical declets included.
pub fn decode128(bits: u128) -> Decimal {
    DECIMAL128.decode(bits)
}

/// Writes a `DECFLOAT(16)` in the canonical encoding. Never rounds: a value without an exact representation is an
/// error.
pub fn encode64(decimal: &Decimal) -> Result<u64, OutOfRange> {
    DECIMAL64.encode(decimal).map(|bits| bits as u64)
}

/// Writes a `DECFLOAT(34)` in the canonical encoding. Never rounds: a value without an exact representation is an
/// error.
pub fn encode128(decimal: &Decimal) -> Result<u128, OutOfRange> {
    DECIMAL128.encode(decimal)
}

impl Decimal {
    /// The number `value` × 10^`scale`; `NUMERIC` columns have a scale of 0 or less.
    pub fn from_i128_scaled(value: i128, scale: i32) -> Self {
        Self::Finite { negative: value < 0, coefficient: value.unsigned_abs(), exponent: scale }
    }

    /// The integer that gives this number when multiplied by 10^`scale`, if there is one.
    pub fn to_i128_scaled(&self, scale: i32) -> Option<i128> {
        let Self::Finite { negative, coefficient, exponent } = *self else { return None };
        let shift = i64::from(exponent) - i64::from(scale);
        let power = 10_u128.checked_pow(u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX));
        let magnitude = match power {
            _ if coefficient == 0 => 0,
            Some(power) if shift >= 0 => coefficient.checked_mul(power)?,
            Some(power) if coefficient % power == 0 => coefficient / power,
            _ => return None,
        };
        if negative { 0_i128.checked_sub_unsigned(magnitude) } else { i128::try_from(magnitude).ok() }
    }

    /// The nearest double, or an infinity beyond its range.
    pub fn to_f64(&self) -> f64 {
        let (negative, magnitude) = match *self {
            Self::Finite { negative, coefficient, exponent } => {
                // The standard library rounds correctly for all digits and exponents.
                (negative, format!("{coefficient}e{exponent}").parse().unwrap_or(f64::NAN))
            }
            Self::Infinity { negative } => (negative, f64::INFINITY),
            Self::NaN { negative, .. } => (negative, f64::NAN),
        };
        if negative { -magnitude } else { magnitude }
    }
}

/// The value needs more digits or a larger exponent range than the format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number does not fit DECFLOAT without rounding")]
pub struct OutOfRange;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn finite(negative: bool, coefficient: u128, exponent: i32) -> Decimal {
        Decimal::Finite { negative, coefficient, exponent }
    }

    fn parse(text: &str) -> Decimal {
        text.parse().expect("a decimal number")
    }

    /// As `IDecFloat16` of libfbclient 5.0.4 reads and writes them.
    #[test]
    fn decimal64_bits() {
        for (bits, text) in [
            (0x2238_0000_0000_0001, "1"),
            (0x2234_0000_0000_0015, "1.5"),
            (0xa230_0000_0000_03d0, "-7.50"),
            (0x2230_0000_0000_00a5, "1.25"),
            (0x2639_34b9_c1e2_8e56, "1234567890123456"),
            (0x2238_0000_0000_0000, "0"),
            (0xa238_0000_0000_0000, "-0"),
            (0x0000_0000_0000_0000, "0E-398"),
            (0x43fc_0000_0000_0000, "0E+369"),
            (0x0000_0000_0000_0001, "1E-398"),
            (0x003c_0000_0000_0001, "1E-383"),
            (0x77fc_ff3f_cff3_fcff, "9.999999999999999E+384"),
            (0xf7fc_ff3f_cff3_fcff, "-9.999999999999999E+384"),
            (0x7800_0000_0000_0000, "Infinity"),
            (0xf800_0000_0000_0000, "-Infinity"),
            (0x7c00_0000_0000_0000, "NaN"),
            (0xfe00_0000_0000_0000, "-sNaN"),
            (0x7c00_0000_0000_00a5, "NaN125"),
        ] {
            assert_eq!(decode64(bits).to_string(), text);
            assert_eq!(encode64(&parse(text)), Ok(bits), "{text}");
        }
    }

    /// As `IDecFloat34` of libfbclient 5.0.4 reads and writes them.
    #[test]
    fn decimal128_bits() {
        for (bits, text) in [
            (0x2208_0000_0000_0000_0000_0000_0000_0001, "1"),
            (0x2207_8000_0000_0000_0000_0000_0000_00a5, "1.25"),
            (0x2608_134b_9c1e_28e5_6f3c_1271_7782_3534, "1234567890123456789012345678901234"),
            (0, "0E-6176"),
            (1, "1E-6176"),
            (0x77ff_cff3_fcff_3fcf_f3fc_ff3f_cff3_fcff, "9.999999999999999999999999999999999E+6144"),
            (0xf800_0000_0000_0000_0000_0000_0000_0000, "-Infinity"),
            (0x7e00_0000_0000_0000_0000_0000_0000_0000, "sNaN"),
        ] {
            assert_eq!(decode128(bits).to_string(), text);
            assert_eq!(encode128(&parse(text)), Ok(bits), "{text}");
        }
    }

    #[test]
    fn lenient_bits_come_back_canonical() {
        let sloppy = 0x2238_0000_0000_036e;
        assert_eq!(decode64(sloppy), finite(false, 888, 0));
        assert_eq!(encode64(&decode64(sloppy)), Ok(0x2238_0000_0000_006e));
        // Bits of an infinity that have no meaning.
        assert_eq!(encode64(&decode64(0x7b12_3456_789a_bcde)), Ok(0x7800_0000_0000_0000));
    }

    #[test]
    fn fits_by_moving_zeros_only() {
        for (text, fitted) in [
            // Too many digits, but only zeros; an exponent too large or too small, but room for zeros.
            ("10000000000000000", Some("1.000000000000000E+16")),
            ("1E+384", Some("1.000000000000000E+384")),
            ("10E-399", Some("1E-398")),
            ("0E+999", Some("0E+369")),
            ("-0E-999", Some("-0E-398")),
            ("10000000000000001", None),
            ("1E+385", None),
            ("1E-399", None),
            ("12E-399", None),
            ("NaN123456789012345", Some("NaN123456789012345")),
            ("NaN1234567890123456", None),
        ] {
            let bits = encode64(&parse(text)).ok();
            assert_eq!(bits.map(|bits| decode64(bits).to_string()).as_deref(), fitted, "{text}");
        }
        assert_eq!(encode128(&finite(false, u128::MAX, 0)), Err(OutOfRange));
        assert_eq!(encode128(&finite(false, 1, i32::MIN)), Err(OutOfRange));
        assert_eq!(encode128(&finite(true, 1, i32::MAX)), Err(OutOfRange));
        assert_eq!(encode128(&finite(false, 10_u128.pow(38), i32::MAX)), Err(OutOfRange));
    }

    #[test]
    fn scaled_integers_are_exact_or_nothing() {
        for (text, scale, value) in [
            ("123.45", -2, Some(12345)),
            ("123.45", -4, Some(1_234_500)),
            ("123.45", -1, None),
            ("123.40", -1, Some(1234)),
            ("-1E+3", 0, Some(-1000)),
            ("1200", 2, Some(12)),
            ("0E+6000", -38, Some(0)),
            ("1E+39", 0, None),
            ("1E-6000", 0, None),
            ("-170141183460469231731687303715884105728E+0", 0, None),
            ("NaN", 0, None),
            ("-Infinity", 0, None),
        ] {
            let scaled = text.parse::<Decimal>().ok().and_then(|decimal| decimal.to_i128_scaled(scale));
            assert_eq!(scaled, value, "{text} {scale}");
        }
        for value in [i128::MIN, -1, 0, i128::MAX] {
            assert_eq!(Decimal::from_i128_scaled(value, -3).to_i128_scaled(-3), Some(value));
        }
        assert_eq!(finite(false, 1 << 127, 0).to_i128_scaled(0), None);
        assert_eq!(finite(false, 1, i32::MAX).to_i128_scaled(i32::MIN), None);
    }

    #[test]
    fn doubles() {
        for (text, value) in [
            ("0.1", 0.1),
            ("-123.45", -123.45),
            ("1.7976931348623157E+308", f64::MAX),
            ("1E+400", f64::INFINITY),
            ("-1E+6144", f64::NEG_INFINITY),
            ("4.9E-324", f64::from_bits(1)),
            ("1E-400", 0.0),
            ("Infinity", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            // Halfway between two doubles, and just above: needs all digits.
            ("9007199254740993", 9007199254740992.0),
            ("9007199254740993.000000000000000001", 9007199254740994.0),
        ] {
            assert_eq!(parse(text).to_f64(), value, "{text}");
        }
        assert!(parse("-0").to_f64().is_sign_negative());
        assert!(parse("sNaN1").to_f64().is_nan());
    }

    proptest! {
        #[test]
        fn round_trip_64(negative: bool, coefficient in 0..10_u128.pow(16), exponent in -398..=369) {
            let decimal = finite(negative, coefficient, exponent);
            prop_assert_eq!(encode64(&decimal).map(decode64), Ok(decimal));
            prop_assert_eq!(encode128(&decimal).map(decode128), Ok(decimal));
            prop_assert_eq!(parse(&decimal.to_string()), decimal);
        }

        #[test]
        fn round_trip_128(negative: bool, coefficient in 0..10_u128.pow(34), exponent in -6176..=6111) {
            let decimal = finite(negative, coefficient, exponent);
            prop_assert_eq!(encode128(&decimal).map(decode128), Ok(decimal));
            prop_assert_eq!(parse(&decimal.to_string()), decimal);
        }

        #[test]
        fn any_bits_are_a_value(bits: u128) {
            let decimal = decode128(bits);
            let canonical = encode128(&decimal).expect("it came from the format");
            prop_assert_eq!(decode128(canonical), decimal);
            let decimal = decode64(bits as u64);
            let canonical = encode64(&decimal).expect("it came from the format");
            prop_assert_eq!(decode64(canonical), decimal);
            prop_assert_eq!(parse(&decimal.to_string()), decimal);
        }

        #[test]
        fn any_finite_value_fits_exactly_or_not(coefficient: u128, exponent in -7000..7000) {
            let decimal = finite(false, coefficient, exponent);
            if let Ok(bits) = encode128(&decimal) {
                prop_assert_eq!(decode128(bits).to_f64(), decimal.to_f64());
            }
            let _ = encode64(&decimal);
        }

    }
}
