//! Parameters: what is sent reads back as what was given, or it is not sent.

use super::rows::{column, varchar};
use crate::arrow::{
    BatchBuilder, BatchLimits, EncodedParams, Int128As, ParamEncoder, ParamError, ParamErrorKind,
    ParamOptions, ReadOptions, TimeRounding, TimestampTzAs, output_layout,
};
use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int8Type, Schema, i256};
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::layout::{FieldKind, FieldLayout};
use firearrow_proto::api::row::NativeRows;
use std::sync::Arc;

fn batch(array: &ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("V", Arc::clone(array), true)]).expect("one column")
}

fn encoder(parameter: &Descriptor, array: &ArrayRef) -> Result<ParamEncoder, ParamError> {
    encoder_with(parameter, array, &ParamOptions::default())
}

fn encoder_with(
    parameter: &Descriptor,
    array: &ArrayRef,
    options: &ParamOptions,
) -> Result<ParamEncoder, ParamError> {
    let schema = Schema::new(vec![Field::new("V", array.data_type().clone(), true)]);
    ParamEncoder::new(std::slice::from_ref(parameter), &schema, options)
}

fn encode(parameter: &Descriptor, array: &ArrayRef) -> Result<EncodedParams, ParamError> {
    encoder(parameter, array)?.encode(&batch(array), 0..array.len())
}

/// The column that a message field would be fetched as.
fn described(field: &FieldLayout) -> Descriptor {
    let (sub_type, scale) = match field.kind {
        FieldKind::Text(_) | FieldKind::Varying(_) => (field.charset.into(), 0),
        FieldKind::Blob => (field.sub_type.into(), field.charset.into()),
        _ => (i32::from(field.scale < 0), field.scale.into()),
    };
    let length = match field.kind {
        FieldKind::Text(length) | FieldKind::Varying(length) => length.into(),
        kind => kind.native().1 as u32,
    };
    column(field.kind.sql_type(), length, scale, sub_type)
}

/// What the engine would read from these messages.
fn decoded(mut params: EncodedParams) -> ArrayRef {
    let columns = [described(&params.layout.fields()[0])];
    let options = ReadOptions {
        timestamptz: TimestampTzAs::Utc,
        int128: Int128As::Decimal128,
        decimal_precision: "range".parse().expect("a word"),
        ..Default::default()
    };
    let cells = params.blobs.clone();
    for (id, cell) in (1..).zip(&cells) {
        params.set_blob(cell.row, cell.column, id << 32 | 7);
    }
    // Parameters are not fetched, so their layout is the one of the messages, not that of output_layout.
    let layout = output_layout(&columns, &options).expect("a layout");
    assert_eq!(layout.native_stride(), params.layout.native_stride());
    let mut builder =
        BatchBuilder::new(&columns, &params.layout, &options, BatchLimits::default()).expect("a mapping");
    let rows = NativeRows::new(&params.layout, &params.bytes, params.rows).expect("long enough");
    assert_eq!(builder.push(&rows, 0).expect("legal"), params.rows);
    while let Some(blob) = builder.next_blob() {
        let cell = cells[(blob.id >> 32) as usize - 1];
        assert_eq!((cell.row as u64, blob.id as u32), (blob.row, 7));
        builder.fill_blob(&blob, params.blob_bytes(&cell)).expect("in order");
    }
    let batch = builder.finish().expect("legal").expect("rows");
    Arc::clone(batch.column(0))
}

fn short() -> Descriptor {
    column(SqlType::SHORT, 2, 0, 0)
}

fn bigint() -> Descriptor {
    column(SqlType::INT64, 8, 0, 0)
}

fn numeric(scale: i32) -> Descriptor {
    column(SqlType::INT64, 8, -scale, 1)
}

fn int128() -> Descriptor {
    column(SqlType::INT128, 16, 0, 0)
}

fn double() -> Descriptor {
    column(SqlType::DOUBLE, 8, 0, 0)
}

fn float() -> Descriptor {
    column(SqlType::FLOAT, 4, 0, 0)
}

fn decfloat() -> Descriptor {
    column(SqlType::DEC34, 16, 0, 0)
}

fn date() -> Descriptor {
    column(SqlType::DATE, 4, 0, 0)
}

fn time() -> Descriptor {
    column(SqlType::TIME, 4, 0, 0)
}

fn timestamp() -> Descriptor {
    column(SqlType::TIMESTAMP, 8, 0, 0)
}

fn timestamp_tz() -> Descriptor {
    column(SqlType::TIMESTAMP_TZ, 12, 0, 0)
}

fn blob(sub_type: i32) -> Descriptor {
    column(SqlType::BLOB, 8, 4 * sub_type, sub_type)
}

fn array(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn strings(values: &[Option<&str>]) -> ArrayRef {
    array(StringArray::from(values.to_vec()))
}

fn decimals(values: &[Option<i128>], precision: u8, scale: i8) -> ArrayRef {
    let decimals = Decimal128Array::from(values.to_vec());
    array(decimals.with_precision_and_scale(precision, scale).expect("legal"))
}

fn micros(values: &[Option<i64>], zone: Option<&str>) -> ArrayRef {
    array(TimestampMicrosecondArray::from(values.to_vec()).with_timezone_opt(zone))
}

/// Parameter, what is given, the field that is sent, what reads back.
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
        (short(), array(BooleanArray::from(vec![Some(true), None])), FieldKind::Boolean, array(BooleanArray::from(vec![Some(true), None]))),
        (bigint(), array(Int8Array::from(vec![-1])), FieldKind::Short, array(Int16Array::from(vec![-1]))),
        (bigint(), array(UInt8Array::from(vec![255])), FieldKind::Short, array(Int16Array::from(vec![255]))),
        (bigint(), array(Int16Array::from(vec![i16::MIN])), FieldKind::Short, array(Int16Array::from(vec![i16::MIN]))),
        (bigint(), array(UInt16Array::from(vec![65535])), FieldKind::Long, array(Int32Array::from(vec![65535]))),
        (short(), array(Int32Array::from(vec![i32::MIN])), FieldKind::Long, array(Int32Array::from(vec![i32::MIN]))),
        (short(), array(UInt32Array::from(vec![u32::MAX])), FieldKind::Int64, array(Int64Array::from(vec![i64::from(u32::MAX)]))),
        (bigint(), array(Int64Array::from(numbers.to_vec())), FieldKind::Int64, array(Int64Array::from(numbers.to_vec()))),
        (varchar(9), array(Int64Array::from(vec![5])), FieldKind::Int64, array(Int64Array::from(vec![5]))),
        (bigint(), unsigned.clone(), FieldKind::Int64, array(Int64Array::from(vec![Some(7), None, Some(i64::MAX)]))),
        (int128(), most.clone(), FieldKind::Int128, decimals(&[Some(u64::MAX.into())], 38, 0)),
        (varchar(9), most.clone(), FieldKind::Varying(20), strings(&[Some("18446744073709551615")])),
        (decfloat(), most, FieldKind::Dec34, strings(&[Some("18446744073709551615")])),
        (double(), array(Int64Array::from(vec![1 << 60])), FieldKind::Double, array(Float64Array::from(vec![(1_u64 << 60) as f64]))),
        (float(), array(Int32Array::from(vec![-5])), FieldKind::Float, array(Float32Array::from(vec![-5.0]))),
        (double(), half, FieldKind::Float, array(Float32Array::from(vec![Some(0.5), None]))),
        (double(), array(Float32Array::from(vec![f32::NAN])), FieldKind::Float, array(Float32Array::from(vec![f32::NAN]))),
        (double(), array(Float64Array::from(vec![-0.0, f64::INFINITY])), FieldKind::Double, array(Float64Array::from(vec![-0.0, f64::INFINITY]))),
        (float(), array(Float64Array::from(vec![0.1, f64::NEG_INFINITY])), FieldKind::Float, array(Float32Array::from(vec![0.1, f32::NEG_INFINITY]))),
        (numeric(2), array(Float64Array::from(vec![12.34, -0.07])), FieldKind::Int64, decimals(&[Some(1234), Some(-7)], 19, 2)),
        (numeric(1), array(Float32Array::from(vec![0.1])), FieldKind::Int64, decimals(&[Some(1)], 19, 1)),
        (bigint(), array(Float64Array::from(vec![1e15])), FieldKind::Int64, array(Int64Array::from(vec![1_000_000_000_000_000]))),
        (decfloat(), array(Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY])), FieldKind::Dec34, strings(&[Some("0.1"), Some("NaN"), Some("Infinity")])),
        (varchar(9), array(Float64Array::from(vec![0.1 + 0.2])), FieldKind::Varying(20), strings(&[Some("0.30000000000000004")])),
        (numeric(2), decimals(&[Some(1234), None], 10, 2), FieldKind::Int64, decimals(&[Some(1234), None], 19, 2)),
        (numeric(4), decimals(&[Some(1234)], 10, 2), FieldKind::Int64, decimals(&[Some(123_400)], 19, 4)),
        (numeric(1), decimals(&[Some(1230)], 10, 2), FieldKind::Int64, decimals(&[Some(123)], 19, 1)),
        (bigint(), decimals(&[Some(-700)], 10, 2), FieldKind::Int64, array(Int64Array::from(vec![-7]))),
        (bigint(), decimals(&[Some(7)], 10, -2), FieldKind::Int64, array(Int64Array::from(vec![700]))),
        (decfloat(), decimals(&[Some(150)], 10, 2), FieldKind::Dec34, strings(&[Some("1.50")])),
        (double(), decimals(&[Some(1)], 10, 1), FieldKind::Double, array(Float64Array::from(vec![0.1]))),
        (varchar(9), decimals(&[Some(-5)], 10, 2), FieldKind::Varying(8), strings(&[Some("-0.05")])),
        (int128(), array(Decimal256Array::from(vec![i256::from(5)]).with_precision_and_scale(50, 0).expect("legal")), FieldKind::Int128, decimals(&[Some(5)], 38, 0)),
        (numeric(2), strings(&[Some("12.340"), None]), FieldKind::Varying(8), strings(&[Some("12.340"), None])),
        (decfloat(), strings(&[Some("1E+6000"), Some("-0.00"), None]), FieldKind::Dec34, strings(&[Some("1E+6000"), Some("-0.00"), None])),
        (date(), strings(&[Some("2020-02-30")]), FieldKind::Varying(12), strings(&[Some("2020-02-30")])),
        (varchar(2), array(StringViewArray::from(vec![Some("äöü"), None])), FieldKind::Varying(8), strings(&[Some("äöü"), None])),
        (varchar(2), array(LargeStringArray::from(vec!["", "x"])), FieldKind::Varying(4), strings(&[Some(""), Some("x")])),
        (varchar(2), array(dictionary), FieldKind::Varying(4), strings(&[Some("b"), Some("a"), Some("b")])),
        (bigint(), array(runs.expect("runs")), FieldKind::Short, array(Int16Array::from(vec![Some(5), Some(5), None]))),
        (varchar(2), array(BinaryArray::from(vec![&[1_u8, 0][..]])), FieldKind::Varying(4), array(BinaryArray::from(vec![&[1_u8, 0][..]]))),
        (varchar(2), array(BinaryViewArray::from(vec![Some(&[1_u8][..]), None])), FieldKind::Varying(4), array(BinaryArray::from(vec![Some(&[1_u8][..]), None]))),
        (blob(0), array(FixedSizeBinaryArray::try_from_iter([[1_u8, 2]].into_iter()).expect("one")), FieldKind::Blob, array(BinaryArray::from(vec![&[1_u8, 2][..]]))),
        (blob(0), array(LargeBinaryArray::from(vec![Some(&[9_u8][..]), None, Some(b"")])), FieldKind::Blob, array(BinaryArray::from(vec![Some(&[9_u8][..]), None, Some(b"")]))),
        (blob(1), strings(&[Some("text"), None, Some("")]), FieldKind::Blob, strings(&[Some("text"), None, Some("")])),
        (blob(1), array(Int64Array::from(vec![42])), FieldKind::Varying(4), strings(&[Some("42")])),
        (blob(1), array(BooleanArray::from(vec![true])), FieldKind::Varying(4), strings(&[Some("TRUE")])),
        (date(), array(Date32Array::from(vec![Some(-719_162), None, Some(2_932_896)])), FieldKind::Date, array(Date32Array::from(vec![Some(-719_162), None, Some(2_932_896)]))),
        (date(), array(Date64Array::from(vec![-86_400_000])), FieldKind::Date, array(Date32Array::from(vec![-1]))),
        (varchar(9), array(Date32Array::from(vec![0])), FieldKind::Varying(12), strings(&[Some("1970-01-01")])),
        (time(), array(Time32SecondArray::from(vec![1])), FieldKind::Time, array(Time64MicrosecondArray::from(vec![1_000_000]))),
        (time(), array(Time32MillisecondArray::from(vec![1])), FieldKind::Time, array(Time64MicrosecondArray::from(vec![1000]))),
        (time(), array(Time64MicrosecondArray::from(vec![Some(86_399_999_999), None])), FieldKind::Time, array(Time64MicrosecondArray::from(vec![Some(86_399_999_900), None]))),
        (time(), array(Time64NanosecondArray::from(vec![123_456_789])), FieldKind::Time, array(Time64MicrosecondArray::from(vec![123_400]))),
        (varchar(9), array(Time64MicrosecondArray::from(vec![100])), FieldKind::Varying(16), strings(&[Some("00:00:00.0001")])),
        (timestamp(), micros(&[Some(-42), None], None), FieldKind::Timestamp, micros(&[Some(-100), None], None)),
        (timestamp(), array(TimestampSecondArray::from(vec![-1])), FieldKind::Timestamp, micros(&[Some(-1_000_000)], None)),
        (timestamp(), array(TimestampMillisecondArray::from(vec![ms])), FieldKind::Timestamp, micros(&[Some(ms * 1000)], None)),
        (timestamp(), array(TimestampNanosecondArray::from(vec![-1])), FieldKind::Timestamp, micros(&[Some(-100)], None)),
        (date(), micros(&[Some(day), Some(-day)], None), FieldKind::Date, array(Date32Array::from(vec![1, -1]))),
        (varchar(9), micros(&[Some(-1)], None), FieldKind::Varying(24), strings(&[Some("1969-12-31 23:59:59.9999")])),
        (timestamp_tz(), micros(&[Some(5), None], Some("+02:00")), FieldKind::TimestampTz, micros(&[Some(0), None], Some("UTC"))),
        (timestamp(), micros(&[Some(100)], Some("Nowhere")), FieldKind::TimestampTz, micros(&[Some(100)], Some("UTC"))),
    ];
    for (parameter, given, kind, expected) in cases {
        let what = format!("{:?} into {:?}", given, parameter.sql_type);
        let params = encode(&parameter, &given).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(params.layout.fields()[0].kind, kind, "{what}");
        assert_eq!(params.rows, given.len());
        assert_eq!(&decoded(params), &expected, "{what}");
        // A part of a batch is the same part of the messages.
        let tail = given.len() - 1;
        let params = encoder(&parameter, &given).and_then(|mut encoder| encoder.encode(&batch(&given), tail..tail + 1));
        assert_eq!(&decoded(params.expect(&what)), &expected.slice(tail, 1), "{what}");
    }
}

/// Parameter, what is given, what is wrong with its last row or, without a row, with its type.
#[test]
fn what_would_be_lost_is_refused() {
    use ParamErrorKind::{Inexact, Malformed, OutOfRange, Unsupported};
    let day = 86_400_000_000;
    let cases: Vec<(Descriptor, ArrayRef, ParamErrorKind, &str)> = vec![
        (numeric(2), decimals(&[Some(1), Some(12_345)], 10, 3), Inexact, "12.345 does not fit NUMERIC scale 2"),
        (numeric(2), strings(&[Some("1"), Some("12.345")]), Inexact, "12.345 does not fit NUMERIC scale 2"),
        (bigint(), array(Float64Array::from(vec![1.0, 1.5])), Inexact, "1.5 does not fit BIGINT scale 0"),
        (bigint(), array(Float64Array::from(vec![f64::NAN])), Inexact, "NaN does not fit"),
        (numeric(2), array(Float64Array::from(vec![0.1 + 0.2])), Inexact, "0.30000000000000004 does not fit"),
        (column(SqlType::SHORT, 2, -2, 1), decimals(&[Some(40_000)], 10, 2), OutOfRange, "400.00 is beyond NUMERIC stored as SMALLINT"),
        (short(), decimals(&[Some(40_000)], 10, 0), OutOfRange, "40000 is beyond SMALLINT"),
        (bigint(), array(UInt64Array::from(vec![u64::MAX])), OutOfRange, "beyond BIGINT"),
        (double(), array(Int64Array::from(vec![(1 << 53) + 1])), Inexact, "cast the column to float64"),
        (float(), array(Int32Array::from(vec![i32::MAX])), Inexact, "cast the column to float32"),
        (float(), array(Float64Array::from(vec![1e39])), OutOfRange, "beyond FLOAT"),
        (double(), decimals(&[Some(12_345_678_901_234_567_891)], 38, 10), Inexact, "more digits than DOUBLE"),
        (column(SqlType::DEC16, 8, 0, 0), array(Int64Array::from(vec![i64::MAX])), Inexact, "DECFLOAT(16)"),
        (decfloat(), strings(&[Some("zero")]), Malformed, "'zero' cannot become DECFLOAT"),
        (decfloat(), strings(&[Some("1.23456789012345678901234567890123456789")]), Inexact, "34 digits"),
        (date(), array(Date32Array::from(vec![i32::MAX])), OutOfRange, "years 1 to 9999"),
        (date(), array(Date64Array::from(vec![1])), Inexact, "time of day"),
        (date(), micros(&[Some(day), Some(1_000)], None), Inexact, "1970-01-01 00:00:00.0010 for a DATE parameter"),
        (time(), array(Time32SecondArray::from(vec![86_400])), OutOfRange, "not within one day"),
        (time(), array(Time64MicrosecondArray::from(vec![-1])), OutOfRange, "not within one day"),
        (timestamp(), array(TimestampSecondArray::from(vec![i64::MAX])), OutOfRange, "years 1 to 9999"),
        (timestamp(), array(TimestampSecondArray::from(vec![-62_135_596_801])), OutOfRange, "years 1 to 9999"),
        (time(), micros(&[Some(0)], None), Unsupported, "cast it to time64"),
        (date(), micros(&[Some(0)], Some("UTC")), Unsupported, "cast it to date32"),
        (bigint(), array(BinaryArray::from(vec![&b"1"[..]])), Unsupported, "Binary values cannot go into a BIGINT"),
        (bigint(), array(DurationSecondArray::from(vec![1])), Unsupported, "cast it to int64"),
        (bigint(), array(ListArray::new_null(Arc::new(Field::new_list_field(DataType::Int8, true)), 1)), Unsupported, "no counterpart"),
        (column(SqlType::ARRAY, 8, 0, 0), array(Int8Array::from(vec![1])), Unsupported, "array parameters"),
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

#[test]
fn null_columns_fit_every_parameter() {
    let nulls: ArrayRef = array(NullArray::new(2));
    for parameter in [short(), varchar(5), timestamp_tz(), blob(1), decfloat()] {
        let params = encode(&parameter, &nulls).expect("NULL");
        assert!(params.blobs.is_empty());
        let values = decoded(params);
        assert_eq!(values.null_count(), 2);
    }
}

#[test]
fn is_null_parameters_take_only_the_flag() {
    let parameter = column(SqlType::NULL, 0, 0, 0);
    let list = ListArray::new_null(Arc::new(Field::new_list_field(DataType::Int8, true)), 2);
    let dictionary: DictionaryArray<Int8Type> = [Some("a"), None].into_iter().collect();
    for (given, nulls) in [
        (strings(&[Some("a"), None]), [false, true]),
        (array(dictionary), [false, true]),
        (array(NullArray::new(2)), [true, true]),
        (array(list), [true, true]),
    ] {
        let params = encode(&parameter, &given).expect("a flag");
        assert_eq!(params.layout.fields()[0].kind, FieldKind::Nothing);
        let stride = params.layout.native_stride();
        let flags = params.bytes.chunks_exact(stride).map(|message| message == [0xff, 0xff]);
        assert_eq!(flags.collect::<Vec<_>>(), nulls);
    }
}

#[test]
fn long_text_becomes_blobs_and_short_text_does_not() {
    let long = "ä".repeat(20_000);
    let given = strings(&[Some("short"), None, Some(&long)]);
    let mut encoder = encoder(&varchar(5), &given).expect("text");
    let params = encoder.encode(&batch(&given), 0..2).expect("short");
    assert_eq!(params.layout.fields()[0].charset, charset_id::DYNAMIC);
    assert!(params.blobs.is_empty());
    let params = encoder.encode(&batch(&given), 0..3).expect("long");
    let rows: Vec<_> = params.blobs.iter().map(|cell| (cell.row, cell.sub_type, cell.charset)).collect();
    assert_eq!(rows, [(0, 1, charset_id::UTF8), (2, 1, charset_id::UTF8)]);
    assert_eq!(params.blob_bytes(&params.blobs[1]), long.as_bytes());
    assert_eq!(&decoded(params), &given);
    let mut nowhere = encoder.encode(&batch(&given), 2..3).expect("long").blobs[0];
    nowhere.row = 99;
    assert_eq!(encoder.encode(&batch(&given), 2..3).expect("long").blob_bytes(&nowhere), b"");
}

#[test]
fn the_layout_is_shared_while_it_does_not_change() {
    let given = strings(&[Some("a"), Some("12345678"), Some("b")]);
    let mut encoder = encoder(&varchar(9), &given).expect("text");
    let mut layout = |rows| encoder.encode(&batch(&given), rows).expect("text").layout;
    let (narrow, wide, after) = (layout(0..1), layout(1..2), layout(2..3));
    assert_eq!(narrow.fields()[0].kind, FieldKind::Varying(4));
    assert_eq!(wide.fields()[0].kind, FieldKind::Varying(8));
    assert!(Arc::ptr_eq(&wide, &after), "fields do not become narrower again");
}

#[test]
fn rows_are_counted_by_their_bytes() {
    let given = strings(&[Some("a"), Some(&"b".repeat(1000)), None]);
    let encoder = encoder(&varchar(9), &given).expect("text");
    let fit = |rows, bytes| encoder.fit(&batch(&given), rows, bytes);
    assert_eq!((fit(0..3, usize::MAX), fit(0..3, 2100), fit(0..3, 0), fit(0..1, 100)), (3, 2, 1, 1));
    assert_eq!((fit(3..3, 100), fit(2..9, 100)), (0, 1));
}

#[test]
fn old_servers_get_timestamps_in_utc() {
    let options = ParamOptions { has_time_zones: false, ..Default::default() };
    let given = micros(&[Some(0)], Some("+02:00"));
    let mut encoder = encoder_with(&timestamp(), &given, &options).expect("a timestamp");
    let params = encoder.encode(&batch(&given), 0..1).expect("a timestamp");
    assert_eq!(&decoded(params), &micros(&[Some(0)], None));
}

#[test]
fn digits_below_the_clock_can_be_an_error() {
    let options = ParamOptions { time_rounding: TimeRounding::Error, ..Default::default() };
    let given = micros(&[Some(100), Some(42)], None);
    let mut encoder = encoder_with(&timestamp(), &given, &options).expect("a timestamp");
    let error = encoder.encode(&batch(&given), 0..2).expect_err("digits");
    assert_eq!((error.kind, error.row), (ParamErrorKind::Inexact, Some(1)));
}

#[test]
fn offsets_are_kept() {
    let fields = crate::arrow::data_type(
        &[timestamp_tz()],
        0,
        &ReadOptions { timestamptz: TimestampTzAs::WithOffset, ..Default::default() },
    );
    let DataType::Struct(fields) = fields.expect("a type") else { panic!("no struct") };
    let nulls = NullBuffer::from(vec![true, false]);
    let columns = vec![micros(&[Some(100), Some(0)], Some("UTC")), array(Int16Array::from(vec![-90, 0]))];
    let given = array(StructArray::new(fields.clone(), columns, Some(nulls)));
    let params = encode(&timestamp_tz(), &given).expect("a timestamp");
    let zone = params.layout.fields()[0].offset + 8;
    assert_eq!(params.bytes[zone..zone + 2], (1439_u16 - 90).to_le_bytes());
    assert_eq!(&decoded(params), &micros(&[Some(100), None], Some("UTC")));
    let columns = vec![micros(&[Some(100)], Some("UTC")), array(Int16Array::from(vec![900]))];
    let error = encode(&timestamp_tz(), &array(StructArray::new(fields, columns, None))).expect_err("15 hours");
    assert_eq!(error.kind, ParamErrorKind::OutOfRange);
}

#[test]
fn counts_and_schemas_are_checked() {
    let given = strings(&[Some("a")]);
    let error = ParamEncoder::new(&[], &batch(&given).schema(), &ParamOptions::default()).expect_err("one too many");
    assert_eq!(error.to_string(), "the statement has 0 parameters, the data has 1 columns");
    let mut encoder = encoder(&varchar(5), &given).expect("text");
    let other = array(Int8Array::from(vec![1]));
    assert_eq!(encoder.encode(&batch(&other), 0..1).expect_err("other type").kind, ParamErrorKind::Schema);
    assert_eq!(encoder.encode(&batch(&given), 0..2).expect_err("too far").kind, ParamErrorKind::Schema);
    let backwards = std::ops::Range { start: 1, end: 0 };
    assert_eq!(encoder.encode(&batch(&given), backwards).expect_err("backwards").kind, ParamErrorKind::Schema);
}
