//! Decimal numbers as text.

use super::{DECIMAL128, Decimal};
use std::fmt::{self, Write};
use std::str::FromStr;

/// Prints the text of `CAST(… AS VARCHAR)`: plain digits where that is short, otherwise scientific notation.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(48);
        match *self {
            Self::Finite { negative, coefficient, exponent } => {
                if negative {
                    text.push('-');
                }
                write_finite(&mut text, &coefficient.to_string(), i64::from(exponent))?;
            }
            Self::Infinity { negative } => text.push_str(if negative { "-Infinity" } else { "Infinity" }),
            Self::NaN { negative, signaling, payload } => {
                text.push_str(if negative { "-" } else { "" });
                text.push_str(if signaling { "sNaN" } else { "NaN" });
                if payload != 0 {
                    write!(text, "{payload}")?;
                }
            }
        }
        f.pad(&text)
    }
}

/// The to-scientific-string conversion of the General Decimal Arithmetic specification.
fn write_finite(text: &mut String, digits: &str, exponent: i64) -> fmt::Result {
    // The exponent when the point follows the first digit.
    let adjusted = exponent + digits.len() as i64 - 1;
    if exponent > 0 || adjusted < -6 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return write!(text, "{first}{point}{rest}E{adjusted:+}");
    }
    if exponent == 0 {
        text.push_str(digits);
    } else if adjusted >= 0 {
        let (whole, fraction) = digits.split_at(adjusted as usize + 1);
        write!(text, "{whole}.{fraction}")?;
    } else {
        let zeros = (-1 - adjusted) as usize;
        write!(text, "0.{:0<zeros$}{digits}", "")?;
    }
    Ok(())
}

/// Reads what [`Display`](fmt::Display) writes, and any other decimal number, with letters in either case.
///
/// Never rounds: digits after the thirty-fourth must be zeros. [`encode64`](super::encode64) and
/// [`encode128`](super::encode128) check whether the value fits a column.
impl FromStr for Decimal {
    type Err = ParseDecimalError;

    fn from_str(text: &str) -> Result<Self, ParseDecimalError> {
        let (negative, text) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            all => (false, all),
        };
        if matches!(text.first(), Some(b'0'..=b'9' | b'.')) {
            return parse_finite(negative, text);
        }
        if text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity") {
            return Ok(Self::Infinity { negative });
        }
        let (signaling, text) = match text {
            [b's' | b'S', rest @ ..] => (true, rest),
            all => (false, all),
        };
        match text.split_first_chunk::<3>() {
            Some((name, digits)) if name.eq_ignore_ascii_case(b"nan") => {
                let mut payload = Digits::default();
                payload.extend(digits)?;
                if payload.dropped != 0 {
                    return Err(ParseDecimalError::TooManyDigits);
                }
                Ok(Self::NaN { negative, signaling, payload: payload.value })
            }
            _ => Err(ParseDecimalError::Syntax),
        }
    }
}

fn parse_finite(negative: bool, text: &[u8]) -> Result<Decimal, ParseDecimalError> {
    let exponent_at = text.iter().position(|c| matches!(c, b'e' | b'E'));
    let (mantissa, exponent) = match exponent_at {
        Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let point_at = mantissa.iter().position(|c| *c == b'.');
    let (whole, fraction) = match point_at {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(ParseDecimalError::Syntax);
    }
    let mut digits = Digits::default();
    digits.extend(whole)?;
    digits.extend(fraction)?;
    let exponent = exponent - fraction.len() as i64 + digits.dropped;
    let exponent = i32::try_from(exponent).map_err(|_| ParseDecimalError::Exponent)?;
    Ok(Decimal::Finite { negative, coefficient: digits.value, exponent })
}

fn parse_exponent(text: &[u8]) -> Result<i64, ParseDecimalError> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(ParseDecimalError::Syntax);
    }
    // A number that is far too large stays far too large; the caller checks the final sum.
    let value = digits.iter().fold(0, |value, c| (value * 10 + i64::from(c - b'0')).min(1 << 50));
    Ok(if negative { -value } else { value })
}

/// Digits read so far.
#[derive(Default)]
struct Digits {
    value: u128,
    /// How many of them are in `value`, from the first that is not zero.
    kept: usize,
    /// Zeros after the last digit kept.
    dropped: i64,
}

impl Digits {
    fn extend(&mut self, text: &[u8]) -> Result<(), ParseDecimalError> {
        for c in text {
            match c {
                b'0' if self.kept == MAX_DIGITS => self.dropped += 1,
                b'0'..=b'9' if self.kept == MAX_DIGITS => return Err(ParseDecimalError::TooManyDigits),
                b'0'..=b'9' => {
                    self.value = self.value * 10 + u128::from(c - b'0');
                    self.kept += usize::from(self.value != 0);
                }
                _ => return Err(ParseDecimalError::Syntax),
            }
        }
        Ok(())
    }
}

/// The most digits of any `DECFLOAT`.
const MAX_DIGITS: usize = DECIMAL128.digits() as usize;

/// Why a text is not a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseDecimalError {
    /// The text does not have the form of a number.
    #[error("not a decimal number")]
    Syntax,
    /// The number has more than 34 digits.
    #[error("more than 34 significant digits; round the number first")]
    TooManyDigits,
    /// The exponent is out of range.
    #[error("the exponent is out of range")]
    Exponent,
}

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

    /// The examples of the General Decimal Arithmetic specification.
    #[test]
    fn texts() {
        for (negative, coefficient, exponent, text) in [
            (false, 123, 0, "123"),
            (true, 123, 0, "-123"),
            (false, 123, 1, "1.23E+3"),
            (false, 123, 3, "1.23E+5"),
            (false, 123, -1, "12.3"),
            (false, 123, -3, "0.123"),
            (false, 123, -5, "0.00123"),
            (false, 123, -10, "1.23E-8"),
            (true, 123, -12, "-1.23E-10"),
            (true, 1, -3, "-0.001"),
            (false, 0, 0, "0"),
            (false, 0, -2, "0.00"),
            (false, 0, -6, "0.000000"),
            (false, 0, -7, "0E-7"),
            (false, 0, -10, "0E-10"),
            (false, 0, 2, "0E+2"),
            (true, 0, 0, "-0"),
            (false, 5, -6, "0.000005"),
            (false, 50, -7, "0.0000050"),
            (false, 5, -7, "5E-7"),
            (false, 1, 400, "1E+400"),
            (false, 150, -2, "1.50"),
        ] {
            let decimal = finite(negative, coefficient, exponent);
            assert_eq!(decimal.to_string(), text);
            assert_eq!(parse(text), decimal);
        }
        assert_eq!(format!("[{:>6}|{:<6}]", parse("1.5"), parse("-1")), "[   1.5|-1    ]");
    }

    #[test]
    fn reads_other_spellings() {
        for (text, decimal) in [
            ("+007", finite(false, 7, 0)),
            (".5", finite(false, 5, -1)),
            ("5.", finite(false, 5, 0)),
            ("1e3", finite(false, 1, 3)),
            ("-1.5E-0003", finite(true, 15, -4)),
            ("inf", Decimal::Infinity { negative: false }),
            ("-INFINITY", Decimal::Infinity { negative: true }),
            ("nan", Decimal::NaN { negative: false, signaling: false, payload: 0 }),
            ("-SNAN042", Decimal::NaN { negative: true, signaling: true, payload: 42 }),
            ("1000000000000000000000000000000000000000", finite(false, 10_u128.pow(33), 6)),
            ("0.10000000000000000000000000000000000000", finite(false, 10_u128.pow(33), -34)),
        ] {
            assert_eq!(parse(text), decimal, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_number_or_too_long() {
        use ParseDecimalError::{Exponent, Syntax, TooManyDigits};
        for (text, error) in [
            ("", Syntax),
            ("-", Syntax),
            (".", Syntax),
            (".E1", Syntax),
            ("1.2.3", Syntax),
            ("1E", Syntax),
            ("1E+", Syntax),
            ("1E1.5", Syntax),
            ("+-1", Syntax),
            (" 1", Syntax),
            ("1_0", Syntax),
            ("sinf", Syntax),
            ("infinit", Syntax),
            ("NaNx", Syntax),
            ("ⅷ", Syntax),
            ("12345678901234567890123456789012345", TooManyDigits),
            ("1.0000000000000000000000000000000001", TooManyDigits),
            ("NaN10000000000000000000000000000000000", TooManyDigits),
            ("1E2147483648", Exponent),
            ("1E-99999999999999999999999999", Exponent),
        ] {
            assert_eq!(text.parse::<Decimal>(), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-+]?[0-9.eEnNaAsSiI+-]{0,40}") {
            let _ = text.parse::<Decimal>();
        }
    }
}
