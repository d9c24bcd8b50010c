//! What each C type becomes for each kind of parameter.

use super::buffers::Parameter;
use super::support::*;
use crate::abi::{c_type, sql_type};
use crate::diagnostics::State;
use arrow::array::*;

fn doubles(doubles: &[f64]) -> Vec<Option<Vec<u8>>> {
    doubles.iter().map(|double| Some(double.to_ne_bytes().to_vec())).collect()
}

fn decimals(values: &[i128], scale: i8) -> Decimal128Array {
    Decimal128Array::from(values.to_vec()).with_precision_and_scale(38, scale).expect("valid")
}

fn numeric(sign: u8, magnitude: u128) -> Vec<u8> {
    [&[99, 77, sign][..], &magnitude.to_le_bytes()].concat()
}

#[test]
fn numbers_for_truth_values() {
    use State as S;
    let integers = some(&[&[0], &[1], &[2], &[255]]);
    let failed = [(2, S::OUT_OF_RANGE), (3, S::OUT_OF_RANGE)];
    for c_type in [c_type::UTINYINT, c_type::STINYINT, c_type::BIT] {
        check(parameter(c_type, BOOLEAN, integers.clone()), BooleanArray::from(vec![false, true]), &failed);
    }
    let unsigned = [0, 1, u64::MAX].map(|number| Some(number.to_ne_bytes().to_vec()));
    let expected = BooleanArray::from(vec![false, true]);
    check(parameter(c_type::UBIGINT, BOOLEAN, unsigned.to_vec()), expected.clone(), &[(2, S::OUT_OF_RANGE)]);
    let failed = [
        (2, S::TOO_LONG),
        (3, S::TOO_LONG),
        (4, S::OUT_OF_RANGE),
        (5, S::OUT_OF_RANGE),
        (6, S::OUT_OF_RANGE),
    ];
    let floats = doubles(&[0.0, 1.0, 0.5, 1.5, 2.0, -0.5, f64::NAN]);
    check(parameter(c_type::DOUBLE, BOOLEAN, floats), expected.clone(), &failed);
    let exact =
        [(1, 0), (1, 100), (1, 50), (1, 200), (0, 100)].map(|(sign, value)| Some(numeric(sign, value)));
    let exact = Parameter { scale: 2, ..parameter(c_type::NUMERIC, BOOLEAN, exact.to_vec()) };
    check(exact, expected, &[(2, S::TOO_LONG), (3, S::OUT_OF_RANGE), (4, S::OUT_OF_RANGE)]);
    let words = texts(&["0", " True", "maybe", "0.5"]);
    let failed = [(2, S::BAD_CHARACTER_VALUE), (3, S::TOO_LONG)];
    check(parameter(c_type::CHAR, BOOLEAN, words), BooleanArray::from(vec![false, true]), &failed);
}

#[test]
fn bits_for_numbers_and_text() {
    for number in [INTEGER, DOUBLE, VARCHAR, BLOB, DECFLOAT] {
        let bits = some(&[&[0], &[1], &[2]]);
        check(
            parameter(c_type::BIT, number, bits),
            Int16Array::from(vec![0, 1]),
            &[(2, State::OUT_OF_RANGE)],
        );
    }
}

#[test]
fn the_largest_unsigned_numbers_are_decimals() {
    let values = |numbers: &[u64]| numbers.iter().map(|number| Some(number.to_ne_bytes().to_vec())).collect();
    for number in [BIGINT, INT128, VARCHAR, BLOB] {
        let small = parameter(c_type::UBIGINT, number, values(&[7, i64::MAX as u64]));
        check(small, Int64Array::from(vec![7, i64::MAX]), &[]);
        let large = parameter(c_type::UBIGINT, number, values(&[7, u64::MAX]));
        check(large, decimals(&[7, u64::MAX.into()], 0), &[]);
    }
}

#[test]
fn floats_bound_as_decimals_are_rounded() {
    let bound = |number, digits, values: &[f64]| Parameter {
        sql_type: sql_type::DECIMAL,
        digits,
        ..parameter(c_type::DOUBLE, number, doubles(values))
    };
    for number in [BIGINT, DECFLOAT, VARCHAR] {
        let given = bound(number, 2, &[1.005, -2.675, 0.1 + 0.2, 1e300, f64::NAN]);
        let failed = [(3, State::OUT_OF_RANGE), (4, State::OUT_OF_RANGE)];
        check(given, decimals(&[101, -268, 30], 2), &failed);
    }
    let given = bound(DOUBLE, 2, &[1.005, 1e300, 123_456_789_012_345.67, -0.004]);
    check(given, Float64Array::from(vec![1.01, 1e300, 123_456_789_012_345.67, 0.0]), &[]);
    let single = vec![Some(1.005_f32.to_ne_bytes().to_vec())];
    let single =
        Parameter { sql_type: sql_type::NUMERIC, digits: 2, ..parameter(c_type::FLOAT, FLOAT, single) };
    check(single, Float32Array::from(vec![1.01]), &[]);
    for digits in [-1, 39, i16::MAX] {
        let state = column(bound(BIGINT, digits, &[1.0])).map_err(|failure| failure.state);
        assert_eq!(state.expect_err("no such digits"), State::PRECISION);
    }
}

#[test]
fn other_floats_are_not_rounded() {
    let values = [0.1 + 0.2, 12.345, f64::MAX];
    for number in [BIGINT, DECFLOAT, DOUBLE, FLOAT] {
        let digits = Parameter { digits: 1, ..parameter(c_type::DOUBLE, number, doubles(&values)) };
        check(digits, Float64Array::from(values.to_vec()), &[]);
    }
    let text = parameter(c_type::DOUBLE, VARCHAR, doubles(&[12.0, 0.1 + 0.2, -1e-7]));
    check(text, StringArray::from(vec!["12", "0.30000000000000004", "-1e-7"]), &[]);
}

#[test]
fn numerics_have_the_scale_of_the_descriptor() {
    let most = i128::MAX as u128;
    let values = [(1, 12_345), (0, 12_345), (2, 5), (1, most), (0, most + 1), (1, most + 1), (0, u128::MAX)];
    let values = values.map(|(sign, value)| Some(numeric(sign, value))).to_vec();
    let failed = [(5, State::OUT_OF_RANGE), (6, State::OUT_OF_RANGE)];
    for (scale, number) in [(0, INT128), (3, BIGINT), (38, VARCHAR), (-2, DECFLOAT)] {
        let given = Parameter { scale, ..parameter(c_type::NUMERIC, number, values.clone()) };
        check(given, decimals(&[12_345, -12_345, -5, i128::MAX, i128::MIN], scale as i8), &failed);
    }
    for scale in [39, -39, i16::MIN, 300] {
        let given = Parameter { scale, ..parameter(c_type::NUMERIC, INT128, values.clone()) };
        assert_eq!(
            column(given).map_err(|failure| failure.state).expect_err("no such scale"),
            State::PRECISION
        );
    }
    let rounded = Parameter {
        scale: 3,
        digits: 2,
        sql_type: sql_type::NUMERIC,
        ..parameter(c_type::NUMERIC, BIGINT, values[..3].to_vec())
    };
    check(rounded, decimals(&[1_235, -1_235, -1], 2), &[]);
}

#[test]
fn text_for_numbers() {
    let given = parameter(c_type::CHAR, INTEGER, texts(&[" 12 ", "12.50", "abc", ""]));
    check(given, StringArray::from(vec!["12", "12.50", "abc", ""]), &[]);
    let failed = [(1, State::BAD_CHARACTER_VALUE), (2, State::OUT_OF_RANGE)];
    let given = texts(&["123456789.123456789", "x", "1e400", " -.5 "]);
    let nearest = Float64Array::from(vec![123_456_789.123_456_79, -0.5]);
    check(parameter(c_type::CHAR, DOUBLE, given.clone()), nearest, &failed);
    let nearest = Float32Array::from(vec![123_456_790.0, -0.5]);
    check(parameter(c_type::CHAR, FLOAT, given), nearest, &failed);
    let digits = some(&[&wide("1234567890123456789012345678901234")]);
    let expected = StringArray::from(vec!["1234567890123456789012345678901234"]);
    check(parameter(c_type::WCHAR, DECFLOAT, digits), expected, &[]);
}

#[test]
fn text_for_dates_and_times() {
    let given = texts(&["{d '2024-02-29'}", "2024-02-29 00:00:01", "{x}", "1.2.2024"]);
    let failed = [(1, State::DATETIME_OVERFLOW), (2, State::BAD_CHARACTER_VALUE)];
    check(parameter(c_type::CHAR, DATE, given), StringArray::from(vec!["2024-02-29", "1.2.2024"]), &failed);
    let given = some(&[&wide("{ts '2024-02-29 01:02:03.123456'}"), &wide("now")]);
    let expected = StringArray::from(vec!["2024-02-29 01:02:03.1234", "now"]);
    check(parameter(c_type::WCHAR, TIMESTAMP, given), expected, &[]);
}

#[test]
fn text_for_text_and_bytes() {
    let hard = [" a\0b ", "", "äöü€😀"];
    check(parameter(c_type::CHAR, VARCHAR, texts(&hard)), StringArray::from(hard.to_vec()), &[]);
    let utf16: Vec<Vec<u8>> = hard.iter().map(|text| wide(text)).collect();
    let mut values: Vec<_> = utf16.into_iter().map(Some).collect();
    values.push(Some(0xD83D_u16.to_ne_bytes().to_vec()));
    values.push(Some(vec![0x61, 0, 0x62]));
    let failed = [(3, State::BAD_CHARACTER_VALUE), (4, State::BUFFER_LENGTH)];
    check(parameter(c_type::WCHAR, VARCHAR, values.clone()), StringArray::from(hard.to_vec()), &failed);
    let bytes = BinaryArray::from(hard.iter().map(|text| text.as_bytes()).collect::<Vec<_>>());
    let given = Parameter { described: octets(), ..parameter(c_type::WCHAR, VARCHAR, values) };
    check(given, bytes, &failed);
    let given = some(&[&[0xFF, 0xC3], b"a"]);
    let narrow = parameter(c_type::CHAR, VARCHAR, given.clone());
    check(narrow.clone(), StringArray::from(vec!["a"]), &[(0, State::BAD_CHARACTER_VALUE)]);
    let octets = Parameter { described: octets(), ..narrow };
    check(octets, BinaryArray::from(vec![&[0xFF, 0xC3][..], b"a"]), &[]);
}

#[test]
fn text_bound_as_binary_is_hexadecimal() {
    let failed = [(1, State::BAD_CHARACTER_VALUE), (2, State::BAD_CHARACTER_VALUE)];
    for sql_type in [sql_type::BINARY, sql_type::VARBINARY, sql_type::LONGVARBINARY] {
        for described in [octets(), described(BLOB), described(VARCHAR)] {
            let given = Parameter {
                sql_type,
                described: described.clone(),
                ..parameter(c_type::CHAR, VARCHAR, texts(&["00fFA9", "0", "zz", ""]))
            };
            check(given.clone(), BinaryArray::from(vec![&[0, 0xFF, 0xA9][..], b""]), &failed);
            let values = ["00fFA9", "0", "zz", ""].map(|text| Some(wide(text))).to_vec();
            let given = Parameter { c_type: c_type::WCHAR, values, ..given };
            check(given, BinaryArray::from(vec![&[0, 0xFF, 0xA9][..], b""]), &failed);
        }
    }
}

#[test]
fn bytes_are_bytes() {
    let given = some(&[&[0, 0xFF], b""]);
    for described in [described(VARCHAR), octets(), described(BLOB), described(NULL)] {
        let given = Parameter { described, ..parameter(c_type::BINARY, VARCHAR, given.clone()) };
        check(given, BinaryArray::from(vec![&[0, 0xFF][..], b""]), &[]);
    }
}

#[test]
fn what_cannot_be_converted_is_refused() {
    let eight = some(&[&[0; 8]]);
    let nineteen = some(&[&[0; 19]]);
    let dates = [DATE, TIME, TIMESTAMP, ARRAY];
    let numbers = [INTEGER, DOUBLE, DECFLOAT, BOOLEAN, ARRAY];
    let cases = [
        (c_type::SBIGINT, &eight, &dates[..]),
        (c_type::DOUBLE, &eight, &dates),
        (c_type::NUMERIC, &nineteen, &dates),
        (c_type::BIT, &eight, &dates),
        (c_type::GUID, &nineteen, &dates),
        (c_type::GUID, &nineteen, &numbers),
        (c_type::BINARY, &eight, &dates),
        (c_type::BINARY, &eight, &numbers),
        (c_type::TYPE_DATE, &eight, &numbers),
        (c_type::TYPE_DATE, &eight, &[TIME]),
        (c_type::TYPE_TIME, &eight, &numbers),
        (c_type::TYPE_TIME, &eight, &[DATE]),
        (c_type::TYPE_TIMESTAMP, &nineteen, &numbers),
        (c_type::CHAR, &eight, &[ARRAY]),
        (101, &eight, &[INTEGER, VARCHAR]),
    ];
    for (c_type, values, numbers) in cases {
        for &number in numbers {
            let failure =
                column(parameter(c_type, number, values.clone())).expect_err("it cannot be converted");
            assert_eq!((failure.state, failure.column), (State::NO_CONVERSION, Some(1)), "{c_type} {number}");
        }
    }
    for c_type in [0, 4711, c_type::DEFAULT, i16::MIN] {
        for number in [INTEGER, DATE, VARCHAR] {
            let failure =
                column(parameter(c_type, number, eight.clone())).expect_err("there is no such type");
            assert_eq!(failure.state, State::BUFFER_TYPE, "{c_type} {number}");
        }
    }
}
