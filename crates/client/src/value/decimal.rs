//! Decimal numbers.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// An exact decimal number: `unscaled` × 10^−`scale`.
///
/// Two of them are equal when both parts are: 1.0 is not 1.00. [`rescale`](Self::rescale) to one scale to compare numbers.
///
/// ```
/// use firearrow::Decimal;
///
/// let price: Decimal = "12.50".parse()?;
/// assert_eq!(price, Decimal::new(1250, 2));
/// assert_eq!(price.rescale(1), Some(Decimal::new(125, 1)));
/// assert_eq!(price.rescale(0), None);
/// # Ok::<(), firearrow::ParseDecimalError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The number without its decimal point.
    pub unscaled: i128,
    /// Digits after the decimal point; if negative, zeros before it.
    pub scale: i8,
}

/// The text is not a decimal number, or does not fit in 128 bits and a scale from −128 to 127.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a decimal number such as -12.50 or 1.5E+10, or one with too many digits")]
pub struct ParseDecimalError(());

impl Decimal {
    /// `unscaled` × 10^−`scale`.
    pub const fn new(unscaled: i128, scale: i8) -> Self {
        Self { unscaled, scale }
    }

    /// Returns the same number with this many digits after the decimal point; `None` if it would have to be rounded or is too large.
    #[must_use]
    pub fn rescale(self, scale: i8) -> Option<Self> {
        let shift = i16::from(scale) - i16::from(self.scale);
        if self.unscaled == 0 {
            return Some(Self::new(0, scale));
        }
        let power = 10_i128.checked_pow(u32::from(shift.unsigned_abs()));
        let unscaled = match power? {
            power if shift >= 0 => self.unscaled.checked_mul(power)?,
            power if self.unscaled % power == 0 => self.unscaled / power,
            _ => return None,
        };
        Some(Self::new(unscaled, scale))
    }

    /// Returns the number as an integer; `None` if it has a fraction or is too large.
    pub fn to_integer(self) -> Option<i128> {
        self.rescale(0).map(|whole| whole.unscaled)
    }

    /// Returns the nearest float64.
    pub fn to_f64(self) -> f64 {
        let text = format!("{}e{}", self.unscaled, -i16::from(self.scale));
        text.parse().expect("digits and an exponent are a number")
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(value.into(), 0)
    }
}

impl From<i128> for Decimal {
    fn from(value: i128) -> Self {
        Self::new(value, 0)
    }
}

/// All digits, without an exponent; with the trailing zeros of the scale.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.unsigned_abs().to_string();
        let text = match usize::try_from(self.scale) {
            Ok(0) => digits,
            Ok(scale) => {
                let digits = format!("{digits:0>width$}", width = scale + 1);
                let (whole, fraction) = digits.split_at(digits.len() - scale);
                format!("{whole}.{fraction}")
            }
            Err(_) if self.unscaled == 0 => digits,
            Err(_) => digits + &"0".repeat(self.scale.unsigned_abs().into()),
        };
        f.pad_integral(self.unscaled >= 0, "", &text)
    }
}

/// Reads digits with a decimal point, a sign and an exponent, as DECFLOAT columns give them; keeps trailing zeros.
impl FromStr for Decimal {
    type Err = ParseDecimalError;

    fn from_str(text: &str) -> Result<Self, ParseDecimalError> {
        parse(text).ok_or(ParseDecimalError(()))
    }
}

fn parse(text: &str) -> Option<Decimal> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let (negative, number) = match number.strip_prefix(['-', '+']) {
        Some(rest) => (number.starts_with('-'), rest),
        None => (false, number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut unscaled = 0_i128;
    for byte in whole.bytes().chain(fraction.bytes()) {
        let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
        // Downwards, because i128::MIN has no positive counterpart.
        unscaled = unscaled.checked_mul(10)?.checked_sub(digit)?;
    }
    let unscaled = if negative { unscaled } else { unscaled.checked_neg()? };
    let scale = i16::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    Some(Decimal::new(unscaled, i8::try_from(scale).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_and_numbers() {
        for (text, unscaled, scale) in [
            ("0", 0, 0),
            ("0.00", 0, 2),
            ("-0.05", -5, 2),
            ("12.50", 1250, 2),
            ("-1250", -1250, 0),
            ("170141183460469231731687303715884105727", i128::MAX, 0),
            ("-1.70141183460469231731687303715884105728", i128::MIN, 38),
        ] {
            let decimal = Decimal::new(unscaled, scale);
            assert_eq!(decimal.to_string(), text);
            assert_eq!(text.parse(), Ok(decimal));
        }
        assert_eq!(Decimal::new(-15, -3).to_string(), "-15000");
        assert_eq!(Decimal::new(0, -3).to_string(), "0");
        assert_eq!("1.5E+10".parse(), Ok(Decimal::new(15, -9)));
        assert_eq!("1E-3".parse(), Ok(Decimal::new(1, 3)));
        assert_eq!("+.5".parse(), Ok(Decimal::new(5, 1)));
        assert_eq!(format!("{:>8}|{:<8}", Decimal::new(-125, 2), Decimal::new(5, 1)), "   -1.25|0.5     ");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            ".",
            "-",
            "1.2.3",
            "1,5",
            "e5",
            "1e",
            "1e5e5",
            "--1",
            "NaN",
            "Infinity",
            "1E+400",
            "1 ",
            "٣",
            "170141183460469231731687303715884105728",
        ] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
    }

    #[test]
    fn scales_change_exactly_or_not_at_all() {
        let decimal = Decimal::new(1250, 2);
        assert_eq!(decimal.rescale(4), Some(Decimal::new(125_000, 4)));
        assert_eq!(decimal.rescale(1), Some(Decimal::new(125, 1)));
        assert_eq!(decimal.rescale(0), None);
        assert_eq!(Decimal::new(0, -128).rescale(127), Some(Decimal::new(0, 127)));
        assert_eq!(Decimal::new(1, -128).rescale(127), None);
        assert_eq!(Decimal::new(i128::MAX, 0).rescale(1), None);
        assert_eq!(Decimal::new(-4200, 2).to_integer(), Some(-42));
        assert_eq!(Decimal::new(4201, 2).to_integer(), None);
        assert_eq!(Decimal::new(3, -2).to_integer(), Some(300));
    }

    #[test]
    fn floats_are_the_nearest() {
        assert_eq!(Decimal::new(1, 1).to_f64(), 0.1);
        assert_eq!(Decimal::new(i128::MAX, -128).to_f64(), 1.701_411_834_604_692_3e166);
        assert_eq!(Decimal::new(9_007_199_254_740_993, 0).to_f64(), 9_007_199_254_740_992.0);
    }

    proptest! {
        #[test]
        fn every_number_comes_back_from_its_text(unscaled: i128, scale in 0_i8..=127) {
            let decimal = Decimal::new(unscaled, scale);
            prop_assert_eq!(decimal.to_string().parse(), Ok(decimal));
        }
    }
}
