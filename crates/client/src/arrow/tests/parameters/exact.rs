//! Every parameter type with every Arrow type, there and back.

use super::*;

/// Parameter, given values, field sent, values read back.
#[test]
fn values_arrive_as_what_they_are() {
    let numbers = [Some(1), None, Some(i64::MIN), Some(i64::MAX)];
    let unsigned = array(UInt64Array::from(vec![Some(7), None, Some(i64::MAX as u64)]));
    let most = array(UInt64Array::from(vec![u64::MAX]));
    let half = cast(&Float32Array::from(vec![Some(0.5), None]), &DataType::Float16).expect("half");
    let dictionary: DictionaryArray<Int8Type> = ["b", "a", "b"].into_iter().collect();
    let runs = RunArray::try_new(&Int32Array::from(vec![2, 3]), &Int16Array::from(vec![Some(5), None]));
    let day = 86_400_000_000;
    let ms = 1_577_836_800_123; // 2020-01-01 00:00:00.123
    let cases: Vec<(Descriptor, ArrayRef, FieldKind, ArrayRef)> = vec![
        (
            short(),
            array(BooleanArray::from(vec![Some(true), None])),
            FieldKind::Boolean,
            array(BooleanArray::from(vec![Some(true), None])),
        ),
        (bigint(), array(Int8Array::from(vec![-1])), FieldKind::Short, array(Int16Array::from(vec![-1]))),
        (bigint(), array(UInt8Array::from(vec![255])), FieldKind::Short, array(Int16Array::from(vec![255]))),
        (
            bigint(),
            array(Int16Array::from(vec![i16::MIN])),
            FieldKind::Short,
            array(Int16Array::from(vec![i16::MIN])),
        ),
        (
            bigint(),
            array(UInt16Array::from(vec![65535])),
            FieldKind::Long,
            array(Int32Array::from(vec![65535])),
        ),
        (
            short(),
            array(Int32Array::from(vec![i32::MIN])),
            FieldKind::Long,
            array(Int32Array::from(vec![i32::MIN])),
        ),
        (
            short(),
            array(UInt32Array::from(vec![u32::MAX])),
            FieldKind::Int64,
            array(Int64Array::from(vec![i64::from(u32::MAX)])),
        ),
        (
            bigint(),
            array(Int64Array::from(numbers.to_vec())),
            FieldKind::Int64,
            array(Int64Array::from(numbers.to_vec())),
        ),
        (varchar(9), array(Int64Array::from(vec![5])), FieldKind::Int64, array(Int64Array::from(vec![5]))),
        (
            bigint(),
            unsigned.clone(),
            FieldKind::Int64,
            array(Int64Array::from(vec![Some(7), None, Some(i64::MAX)])),
        ),
        (int128(), most.clone(), FieldKind::Int128, decimals(&[Some(u64::MAX.into())], 38, 0)),
        (varchar(9), most.clone(), FieldKind::Varying(20), strings(&[Some("18446744073709551615")])),
        (decfloat(), most, FieldKind::Dec34, strings(&[Some("18446744073709551615")])),
        (
            double(),
            array(Int64Array::from(vec![1 << 60])),
            FieldKind::Double,
            array(Float64Array::from(vec![(1_u64 << 60) as f64])),
        ),
        (float(), array(Int32Array::from(vec![-5])), FieldKind::Float, array(Float32Array::from(vec![-5.0]))),
        (double(), half, FieldKind::Float, array(Float32Array::from(vec![Some(0.5), None]))),
        (
            double(),
            array(Float32Array::from(vec![f32::NAN])),
            FieldKind::Float,
            array(Float32Array::from(vec![f32::NAN])),
        ),
        (
            double(),
            array(Float64Array::from(vec![-0.0, f64::INFINITY])),
            FieldKind::Double,
            array(Float64Array::from(vec![-0.0, f64::INFINITY])),
        ),
        (
            float(),
            array(Float64Array::from(vec![0.1, f64::NEG_INFINITY])),
            FieldKind::Float,
            array(Float32Array::from(vec![0.1, f32::NEG_INFINITY])),
        ),
        (
            numeric(2),
            array(Float64Array::from(vec![12.34, -0.07, 0.1 + 0.2])),
            FieldKind::Int64,
            decimals(&[Some(1234), Some(-7), Some(30)], 19, 2),
        ),
        (numeric(1), array(Float32Array::from(vec![0.1])), FieldKind::Int64, decimals(&[Some(1)], 19, 1)),
        (
            bigint(),
            array(Float64Array::from(vec![1e15])),
            FieldKind::Int64,
            array(Int64Array::from(vec![1_000_000_000_000_000])),
        ),
        (
            decfloat(),
            array(Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY])),
            FieldKind::Dec34,
            strings(&[Some("0.1"), Some("NaN"), Some("Infinity")]),
        ),
        (
            varchar(9),
            array(Float64Array::from(vec![0.1 + 0.2])),
            FieldKind::Varying(20),
            strings(&[Some("0.30000000000000004")]),
        ),
        (
            numeric(2),
            decimals(&[Some(1234), None], 10, 2),
            FieldKind::Int64,
            decimals(&[Some(1234), None], 19, 2),
        ),
        (numeric(4), decimals(&[Some(1234)], 10, 2), FieldKind::Int64, decimals(&[Some(123_400)], 19, 4)),
        (numeric(1), decimals(&[Some(1230)], 10, 2), FieldKind::Int64, decimals(&[Some(123)], 19, 1)),
        (bigint(), decimals(&[Some(-700)], 10, 2), FieldKind::Int64, array(Int64Array::from(vec![-7]))),
        (bigint(), decimals(&[Some(7)], 10, -2), FieldKind::Int64, array(Int64Array::from(vec![700]))),
        (decfloat(), decimals(&[Some(150)], 10, 2), FieldKind::Dec34, strings(&[Some("1.50")])),
        (double(), decimals(&[Some(1)], 10, 1), FieldKind::Double, array(Float64Array::from(vec![0.1]))),
        (varchar(9), decimals(&[Some(-5)], 10, 2), FieldKind::Varying(8), strings(&[Some("-0.05")])),
        (
            int128(),
            array(Decimal256Array::from(vec![i256::from(5)]).with_precision_and_scale(50, 0).expect("legal")),
            FieldKind::Int128,
            decimals(&[Some(5)], 38, 0),
        ),
        (
            numeric(2),
            strings(&[Some("12.340"), None]),
            FieldKind::Varying(8),
            strings(&[Some("12.340"), None]),
        ),
        (
            decfloat(),
            strings(&[Some("1E+6000"), Some("-0.00"), None]),
            FieldKind::Dec34,
            strings(&[Some("1E+6000"), Some("-0.00"), None]),
        ),
        (date(), strings(&[Some("2020-02-30")]), FieldKind::Varying(12), strings(&[Some("2020-02-30")])),
        (
            varchar(2),
            array(StringViewArray::from(vec![Some("äöü"), None])),
            FieldKind::Varying(8),
            strings(&[Some("äöü"), None]),
        ),
        (
            varchar(2),
            array(LargeStringArray::from(vec!["", "x"])),
            FieldKind::Varying(4),
            strings(&[Some(""), Some("x")]),
        ),
        (varchar(2), array(dictionary), FieldKind::Varying(4), strings(&[Some("b"), Some("a"), Some("b")])),
        (
            bigint(),
            array(runs.expect("runs")),
            FieldKind::Short,
            array(Int16Array::from(vec![Some(5), Some(5), None])),
        ),
        (
            varchar(2),
            array(BinaryArray::from(vec![&[1_u8, 0][..]])),
            FieldKind::Varying(4),
            array(BinaryArray::from(vec![&[1_u8, 0][..]])),
        ),
        (
            varchar(2),
            array(BinaryViewArray::from(vec![Some(&[1_u8][..]), None])),
            FieldKind::Varying(4),
            array(BinaryArray::from(vec![Some(&[1_u8][..]), None])),
        ),
        (
            blob(0),
            array(FixedSizeBinaryArray::try_from_iter([[1_u8, 2]].into_iter()).expect("one")),
            FieldKind::Blob,
            array(BinaryArray::from(vec![&[1_u8, 2][..]])),
        ),
        (
            blob(0),
            array(LargeBinaryArray::from(vec![Some(&[9_u8][..]), None, Some(b"")])),
            FieldKind::Blob,
            array(BinaryArray::from(vec![Some(&[9_u8][..]), None, Some(b"")])),
        ),
        (
            blob(1),
            strings(&[Some("text"), None, Some("")]),
            FieldKind::Blob,
            strings(&[Some("text"), None, Some("")]),
        ),
        (blob(1), array(Int64Array::from(vec![42])), FieldKind::Varying(4), strings(&[Some("42")])),
        (blob(1), array(BooleanArray::from(vec![true])), FieldKind::Varying(4), strings(&[Some("TRUE")])),
        (
            date(),
            array(Date32Array::from(vec![Some(-719_162), None, Some(2_932_896)])),
            FieldKind::Date,
            array(Date32Array::from(vec![Some(-719_162), None, Some(2_932_896)])),
        ),
        (
            date(),
            array(Date64Array::from(vec![-86_400_000])),
            FieldKind::Date,
            array(Date32Array::from(vec![-1])),
        ),
        (
            varchar(9),
            array(Date32Array::from(vec![0])),
            FieldKind::Varying(12),
            strings(&[Some("1970-01-01")]),
        ),
        (
            time(),
            array(Time32SecondArray::from(vec![1])),
            FieldKind::Time,
            array(Time64MicrosecondArray::from(vec![1_000_000])),
        ),
        (
            time(),
            array(Time32MillisecondArray::from(vec![1])),
            FieldKind::Time,
            array(Time64MicrosecondArray::from(vec![1000])),
        ),
        (
            time(),
            array(Time64MicrosecondArray::from(vec![Some(86_399_999_999), None])),
            FieldKind::Time,
            array(Time64MicrosecondArray::from(vec![Some(86_399_999_900), None])),
        ),
        (
            time(),
            array(Time64NanosecondArray::from(vec![123_456_789])),
            FieldKind::Time,
            array(Time64MicrosecondArray::from(vec![123_400])),
        ),
        (
            varchar(9),
            array(Time64MicrosecondArray::from(vec![100])),
            FieldKind::Varying(16),
            strings(&[Some("00:00:00.0001")]),
        ),
        (
            timestamp(),
            micros(&[Some(-42), None], None),
            FieldKind::Timestamp,
            micros(&[Some(-100), None], None),
        ),
        (
            timestamp(),
            array(TimestampSecondArray::from(vec![-1])),
            FieldKind::Timestamp,
            micros(&[Some(-1_000_000)], None),
        ),
        (
            timestamp(),
            array(TimestampMillisecondArray::from(vec![ms])),
            FieldKind::Timestamp,
            micros(&[Some(ms * 1000)], None),
        ),
        (
            timestamp(),
            array(TimestampNanosecondArray::from(vec![-1])),
            FieldKind::Timestamp,
            micros(&[Some(-100)], None),
        ),
        (
            date(),
            micros(&[Some(day), Some(-day)], None),
            FieldKind::Date,
            array(Date32Array::from(vec![1, -1])),
        ),
        (
            varchar(9),
            micros(&[Some(-1)], None),
            FieldKind::Varying(24),
            strings(&[Some("1969-12-31 23:59:59.9999")]),
        ),
        (
            timestamp_tz(),
            micros(&[Some(5), None], Some("+02:00")),
            FieldKind::TimestampTz,
            micros(&[Some(0), None], Some("UTC")),
        ),
        (
            timestamp(),
            micros(&[Some(100)], Some("Nowhere")),
            FieldKind::TimestampTz,
            micros(&[Some(100)], Some("UTC")),
        ),
    ];
    for (parameter, given, kind, expected) in cases {
        let what = format!("{:?} into {:?}", given, parameter.sql_type);
        let params = encode(&parameter, &given).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(params.layout.fields()[0].kind, kind, "{what}");
        assert_eq!(params.rows, given.len());
        assert_eq!(&decoded(params), &expected, "{what}");
        // A part of a batch gives the same part of the messages.
        let tail = given.len() - 1;
        let params = encoder(&parameter, &given)
            .and_then(|mut encoder| encoder.encode(&batch(&given), tail..tail + 1));
        assert_eq!(&decoded(params.expect(&what)), &expected.slice(tail, 1), "{what}");
    }
}
