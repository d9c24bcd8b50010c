//! Decimal numbers: `SQL_C_NUMERIC`, and what is rounded to decimals.

use super::binding::Binding;
use super::cell::{Cells, Failed};
use super::column::internal;
use super::number::{booleans, out_of_range};
use super::target::Target;
use crate::abi;
use crate::diagnostics::{Failure, Result, State};
use arrow::array::{ArrayRef, Decimal128Array};
use arrow::buffer::NullBuffer;
use std::sync::Arc;

/// The most digits of a decimal type.
pub(super) const MAX_DIGITS: u8 = 38;

/// `unscaled` × 10^-`scale`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) unscaled: i128,
    pub(super) scale: i32,
}

pub(super) fn column(
    cells: &Cells<'_>,
    binding: &Binding,
    target: Target,
    failed: &mut Failed,
) -> Result<ArrayRef> {
    let nulls = cells.nulls();
    let given = i8::try_from(binding.scale).ok().filter(|scale| scale.unsigned_abs() <= MAX_DIGITS);
    let given = given
        .ok_or_else(|| Failure::new(State::PRECISION, format!("{} is not a valid scale", binding.scale)))?;
    let decimal = |numeric| Ok::<_, Failure>(Decimal { unscaled: unscaled(numeric)?, scale: given.into() });
    if target == Target::Boolean {
        return Ok(booleans(cells.convert(failed, |numeric| decimal(numeric)?.truth()), nulls));
    }
    match binding.decimal_digits()? {
        Some(digits) => {
            let values = cells.convert(failed, |numeric| decimal(numeric)?.rounded(digits));
            array(values, nulls, digits as i8)
        }
        None => array(cells.convert(failed, unscaled), nulls, given),
    }
}

/// A column of decimals. INT128 has some with one more digit than the type says, which the client accepts.
pub(super) fn array(values: Vec<i128>, nulls: Option<NullBuffer>, scale: i8) -> Result<ArrayRef> {
    let array = Decimal128Array::new(values.into(), nulls).with_precision_and_scale(MAX_DIGITS, scale);
    Ok(Arc::new(array.map_err(internal)?))
}

/// The integer in the structure. Its precision and scale are for output only, says Microsoft's page about C data types.
fn unscaled(numeric: abi::Numeric) -> Result<i128> {
    let magnitude = u128::from_le_bytes(numeric.value);
    let value = match numeric.sign {
        1 => i128::try_from(magnitude).ok(),
        _ => 0_i128.checked_sub_unsigned(magnitude),
    };
    value.ok_or_else(|| out_of_range(format!("{magnitude} has more bits than INT128")))
}

impl Decimal {
    /// The number with so many digits after the decimal point, unscaled, rounded half away from zero.
    pub(super) fn rounded(self, digits: u8) -> Result<i128> {
        let dropped = self.scale - i32::from(digits);
        let power = 10_i128.checked_pow(dropped.unsigned_abs());
        if dropped <= 0 {
            let scaled = power.and_then(|power| self.unscaled.checked_mul(power));
            let scaled = scaled.or((self.unscaled == 0).then_some(0));
            return scaled
                .ok_or_else(|| out_of_range(format!("a number is beyond DECIMAL({MAX_DIGITS},{digits})")));
        }
        // No number has half as much as a larger power.
        let Some(power) = power else { return Ok(0) };
        let (quotient, rest) = (self.unscaled / power, self.unscaled % power);
        let is_half = rest.unsigned_abs() * 2 >= power.unsigned_abs();
        Ok(if is_half { quotient + rest.signum() } else { quotient })
    }

    fn truth(self) -> Result<bool> {
        let one = 10_i128.checked_pow(self.scale.unsigned_abs());
        match self.unscaled {
            0 => return Ok(false),
            unscaled if self.scale >= 0 && one == Some(unscaled) => return Ok(true),
            _ => {}
        }
        // Numbers below 2 that are none of these have a fraction.
        let is_below_two = self.scale > 0 && one.is_none_or(|one| self.unscaled < one.saturating_mul(2));
        if self.unscaled > 0 && is_below_two {
            return Err(Failure::new(
                State::TOO_LONG,
                "the number has a fraction, which a truth value cannot have",
            ));
        }
        Err(out_of_range("the number is neither 0 nor 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        let rounded = |unscaled, scale, digits| Decimal { unscaled, scale }.rounded(digits);
        assert_eq!(rounded(12_345, 3, 2), Ok(1_235));
        assert_eq!(rounded(-12_345, 3, 2), Ok(-1_235));
        assert_eq!(rounded(12_344, 3, 2), Ok(1_234));
        assert_eq!(rounded(5, 1, 0), Ok(1));
        assert_eq!(rounded(-5, 1, 0), Ok(-1));
        assert_eq!(rounded(-4, 1, 0), Ok(0));
        assert_eq!(rounded(12, 1, 3), Ok(1_200));
        assert_eq!(rounded(7, -3, 0), Ok(7_000));
        assert_eq!(rounded(i128::MAX, 38, 0), Ok(2));
        assert_eq!(rounded(i128::MIN, 38, 38), Ok(i128::MIN));
        assert_eq!(rounded(i128::MAX, 400, 0), Ok(0));
        assert_eq!(rounded(0, -400, 38), Ok(0));
        for (unscaled, scale, digits) in [(i128::MAX, 0, 1), (1, -400, 0), (1, -1, 38), (i128::MIN, 37, 38)] {
            let state = rounded(unscaled, scale, digits).map_err(|failure| failure.state);
            assert_eq!(state, Err(State::OUT_OF_RANGE), "{unscaled}");
        }
    }

    #[test]
    fn only_0_and_1_are_truth_values() {
        let truth = |unscaled, scale| Decimal { unscaled, scale }.truth().map_err(|failure| failure.state);
        assert_eq!((truth(0, 5), truth(1, 0), truth(100, 2)), (Ok(false), Ok(true), Ok(true)));
        for (unscaled, scale) in [(5, 1), (15, 1), (199, 2), (1, 38)] {
            assert_eq!(truth(unscaled, scale), Err(State::TOO_LONG), "{unscaled}");
        }
        for (unscaled, scale) in
            [(2, 0), (20, 1), (-1, 0), (-5, 1), (1, -1), (i128::MAX, 37), (i128::MIN, 38)]
        {
            assert_eq!(truth(unscaled, scale), Err(State::OUT_OF_RANGE), "{unscaled}");
        }
    }
}
