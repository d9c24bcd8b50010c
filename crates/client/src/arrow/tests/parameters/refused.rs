//! Values and types that would lose something on the way.

use super::*;

/// Parameter, given values, and the error about the last row or, without rows, about the type.
#[test]
fn what_would_be_lost_is_refused() {
    use ParamErrorKind::{Inexact, Malformed, OutOfRange, Unsupported};
    let day = 86_400_000_000;
    let cases: Vec<(Descriptor, ArrayRef, ParamErrorKind, &str)> = vec![
        (
            numeric(2),
            decimals(&[Some(1000), Some(12_345)], 10, 3),
            Inexact,
            "12.345 does not fit NUMERIC scale 2",
        ),
        (numeric(2), strings(&[Some("1"), Some("12.345")]), Inexact, "12.345 does not fit NUMERIC scale 2"),
        (bigint(), array(Float64Array::from(vec![1.0, 1.5])), Inexact, "1.5 does not fit BIGINT"),
        (bigint(), array(Float64Array::from(vec![f64::NAN])), Inexact, "NaN does not fit"),
        (numeric(2), array(Float64Array::from(vec![1.0 / 3.0])), Inexact, "round it to 2 decimals first"),
        (
            column(SqlType::SHORT, 2, -2, 1),
            decimals(&[Some(40_000)], 10, 2),
            OutOfRange,
            "400.00 is beyond NUMERIC stored as SMALLINT",
        ),
        (short(), decimals(&[Some(40_000)], 10, 0), OutOfRange, "40000 is beyond SMALLINT"),
        (bigint(), array(UInt64Array::from(vec![u64::MAX])), OutOfRange, "beyond BIGINT"),
        (double(), array(Int64Array::from(vec![(1 << 53) + 1])), Inexact, "cast the column to float64"),
        (float(), array(Int32Array::from(vec![i32::MAX])), Inexact, "cast the column to float32"),
        (float(), array(Float64Array::from(vec![1e39])), OutOfRange, "beyond FLOAT"),
        (double(), decimals(&[Some(12_345_678_901_234_567_891)], 38, 10), Inexact, "more digits than DOUBLE"),
        (column(SqlType::DEC16, 8, 0, 0), array(Int64Array::from(vec![i64::MAX])), Inexact, "DECFLOAT(16)"),
        (decfloat(), strings(&[Some("zero")]), Malformed, "'zero' cannot become DECFLOAT"),
        (
            decfloat(),
            strings(&[Some("1.23456789012345678901234567890123456789")]),
            Inexact,
            "34 significant digits",
        ),
        (date(), array(Date32Array::from(vec![i32::MAX])), OutOfRange, "years 1 to 9999"),
        (date(), array(Date64Array::from(vec![1])), Inexact, "time of day"),
        (
            date(),
            micros(&[Some(day), Some(1_000)], None),
            Inexact,
            "1970-01-01 00:00:00.0010 for a DATE parameter",
        ),
        (time(), array(Time32SecondArray::from(vec![86_400])), OutOfRange, "not within one day"),
        (time(), array(Time64MicrosecondArray::from(vec![-1])), OutOfRange, "not within one day"),
        (timestamp(), array(TimestampSecondArray::from(vec![i64::MAX])), OutOfRange, "years 1 to 9999"),
        (
            timestamp(),
            array(TimestampSecondArray::from(vec![-62_135_596_801])),
            OutOfRange,
            "years 1 to 9999",
        ),
        (time(), micros(&[Some(0)], None), Unsupported, "cast it to time64"),
        (date(), micros(&[Some(0)], Some("UTC")), Unsupported, "cast it to date32"),
        (
            bigint(),
            array(BinaryArray::from(vec![&b"1"[..]])),
            Unsupported,
            "Binary values cannot go into a BIGINT",
        ),
        (bigint(), array(DurationSecondArray::from(vec![1])), Unsupported, "cast it to int64"),
        (
            bigint(),
            array(ListArray::new_null(Arc::new(Field::new_list_field(DataType::Int8, true)), 1)),
            Unsupported,
            "no counterpart",
        ),
        (
            column(SqlType::ARRAY, 8, 0, 0),
            array(Int8Array::from(vec![1])),
            Unsupported,
            "which column of a table",
        ),
        (date(), strings(&[Some(&"x".repeat(40_000))]), ParamErrorKind::TooLong, "40000 bytes of text"),
    ];
    for (parameter, given, kind, message) in cases {
        let error = encode(&parameter, &given).expect_err(message);
        assert_eq!(error.kind, kind, "{error}");
        assert_eq!((error.field.as_str(), error.column), ("V", 0));
        assert_eq!(error.row, (kind != Unsupported).then(|| given.len() - 1), "{error}");
        assert!(error.message.contains(message), "{error}");
    }
}
