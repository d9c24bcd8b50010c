//! `SQL_NUMERIC_STRUCT`.

use super::cell::{Convert, Converted};
use super::fault::Fault;
use super::number::{Number, Numeric};
use super::plan::Settings;
use crate::abi;

impl<C: Numeric> Convert<C> for abi::Numeric {
    fn convert(value: C::Value<'_>, settings: &Settings) -> Converted<Self> {
        let (precision, scale) = (settings.precision, settings.numeric_scale);
        let number = C::number(value, settings).scaled(scale.into())?;
        // Where this overflows, the precision exceeds what the structure holds.
        if 10_u128.checked_pow(precision.into()).is_some_and(|limit| number.magnitude >= limit) {
            return Err(Fault::OutOfRange);
        }
        let sign = u8::from(!number.is_negative || number.magnitude == 0);
        Ok((Self { precision, scale, sign, value: number.magnitude.to_le_bytes() }, number.warning()))
    }
}

#[cfg(test)]
mod tests {
    use crate::abi::{Numeric, c_type};
    use crate::convert::Wanted;
    use crate::convert::testing::{values, wanted};
    use arrow::array::{Decimal128Array, Float64Array, Int64Array, StringArray};

    fn numeric(precision: u8, scale: i8, negative: bool, magnitude: u128) -> Numeric {
        Numeric { precision, scale, sign: u8::from(!negative), value: magnitude.to_le_bytes() }
    }

    fn as_wanted(precision: u8, scale: Option<i8>) -> Wanted {
        Wanted { precision, scale, ..wanted(c_type::NUMERIC) }
    }

    #[test]
    fn the_scale_is_that_of_the_column() {
        let array =
            Decimal128Array::from(vec![-12345, 0, 5]).with_precision_and_scale(9, 3).expect("a decimal");
        let expected = [(true, 12345), (false, 0), (false, 5)];
        let expected = expected.map(|(negative, magnitude)| Ok((numeric(38, 3, negative, magnitude), None)));
        assert_eq!(values(&array, as_wanted(0, None)), expected);
    }

    #[test]
    fn numbers_are_rescaled() {
        let array = Decimal128Array::from(vec![-12345, 99_900, i128::MAX])
            .with_precision_and_scale(38, 3)
            .expect("a decimal");
        let cut = Some("01S07");
        assert_eq!(
            values(&array, as_wanted(5, Some(1))),
            [Ok((numeric(5, 1, true, 123), cut)), Ok((numeric(5, 1, false, 999), None)), Err("22003")]
        );
        assert_eq!(
            values(&array, as_wanted(0, Some(-1))),
            [
                Ok((numeric(38, -1, true, 1), cut)),
                Ok((numeric(38, -1, false, 9), cut)),
                Ok((numeric(38, -1, false, i128::MAX as u128 / 10_000), cut)),
            ]
        );
        assert_eq!(
            values(&array, as_wanted(0, Some(30)))[..2],
            [
                Ok((numeric(38, 30, true, 12345 * 10_u128.pow(27)), None)),
                Ok((numeric(38, 30, false, 99_900 * 10_u128.pow(27)), None)),
            ]
        );
        assert_eq!(values::<Numeric>(&array, as_wanted(0, Some(30)))[2], Err("22003"));
    }

    #[test]
    fn a_precision_of_39_holds_every_number_of_128_bits() {
        let array = Decimal128Array::from(vec![i128::MIN, i128::MAX, 10_i128.pow(38)])
            .with_precision_and_scale(38, 0)
            .expect("a decimal");
        let too_large = Err("22003");
        assert_eq!(values::<Numeric>(&array, as_wanted(38, None)), [too_large, too_large, too_large]);
        assert_eq!(
            values(&array, as_wanted(39, None)),
            [
                Ok((numeric(39, 0, true, 1 << 127), None)),
                Ok((numeric(39, 0, false, (1 << 127) - 1), None)),
                Ok((numeric(39, 0, false, 10_u128.pow(38)), None)),
            ]
        );
    }

    #[test]
    fn other_numbers_have_scale_0_unless_one_is_wanted() {
        let integers = Int64Array::from(vec![i64::MIN, 7]);
        assert_eq!(
            values(&integers, as_wanted(0, None)),
            [Ok((numeric(38, 0, true, 1 << 63), None)), Ok((numeric(38, 0, false, 7), None))]
        );
        assert_eq!(values(&integers, as_wanted(0, Some(2)))[1], Ok((numeric(38, 2, false, 700), None)));
        let floats = Float64Array::from(vec![0.1, -2.5, f64::NAN, 1e300, 9_007_199_254_740_993e3, 0.0]);
        assert_eq!(
            values(&floats, as_wanted(0, Some(20))),
            [
                Ok((numeric(38, 20, false, 10_u128.pow(19)), None)),
                Ok((numeric(38, 20, true, 25 * 10_u128.pow(19)), None)),
                Err("22003"),
                Err("22003"),
                Err("22003"),
                Ok((numeric(38, 20, false, 0), None)),
            ]
        );
        assert_eq!(values(&floats, as_wanted(0, None))[1], Ok((numeric(38, 0, true, 2), Some("01S07"))));
        let text = StringArray::from(vec!["-123.456e1", "x", "-0.00"]);
        assert_eq!(
            values(&text, as_wanted(10, Some(2))),
            [Ok((numeric(10, 2, true, 123_456), None)), Err("22018"), Ok((numeric(10, 2, false, 0), None))]
        );
    }

    #[test]
    fn a_binary_buffer_receives_the_structure() {
        let array = Decimal128Array::from(vec![-5]).with_precision_and_scale(9, 1).expect("a decimal");
        assert_eq!(values(&array, wanted(c_type::BINARY)), [Ok((numeric(38, 1, true, 5), None))]);
    }
}
