//! What the encoder does in addition to converting values.

use super::*;
use arrow::datatypes::{IntervalUnit, TimeUnit};
use proptest::prelude::*;

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
fn rows_are_counted_by_their_blobs_too() {
    let given = strings(&[Some("a".repeat(1 << 20).as_str()); 10]);
    let encoder = encoder(&blob(1), &given).expect("text");
    let fit = |rows| encoder.fit(&batch(&given), rows, usize::MAX);
    assert_eq!((fit(0..10), fit(0..3), fit(9..10)), (4, 3, 1));
}

#[test]
fn ids_of_blobs_arrive_as_they_are() {
    let ids = array(UInt64Array::from(vec![Some(7 << 32 | 9), None, Some(u64::MAX)]));
    for (sub_type, charset) in [(0, charset_id::NONE), (1, charset_id::UTF8)] {
        let params = encode(&blob(sub_type), &ids).expect("ids");
        assert!(params.has_blob_ids() && params.blobs.is_empty());
        let field = &params.layout.fields()[0];
        assert_eq!((field.kind, field.sub_type, field.charset), (FieldKind::Blob, sub_type as i16, charset));
        assert_eq!(&decoded(params), &ids);
    }
    assert!(!encode(&blob(0), &array(Int64Array::from(vec![7]))).expect("text").has_blob_ids());
}

#[test]
fn blobs_have_ids_in_their_messages() {
    let given = strings(&[Some("a"), None, Some("b")]);
    let mut params = encoder(&blob(1), &given).expect("text").encode(&batch(&given), 0..3).expect("text");
    assert_eq!(params.blob_length(), 2);
    let ids =
        |params: &EncodedParams| params.blobs.iter().map(|cell| params.blob_id(cell)).collect::<Vec<_>>();
    params.number_blobs();
    assert_eq!(ids(&params), [1, 2]);
    params.set_blobs(&[7 << 32 | 9, 8]);
    assert_eq!(ids(&params), [7 << 32 | 9, 8]);
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
    let fields = crate::arrow::schema::data_type(
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
    let error =
        encode(&timestamp_tz(), &array(StructArray::new(fields, columns, None))).expect_err("15 hours");
    assert_eq!(error.kind, ParamErrorKind::OutOfRange);
}

#[test]
fn counts_and_schemas_are_checked() {
    let given = strings(&[Some("a")]);
    let error =
        ParamEncoder::new(&[], &batch(&given).schema(), &ParamOptions::default()).expect_err("one too many");
    assert_eq!(error.to_string(), "the statement has 0 parameters, the data has 1 column");
    let mut encoder = encoder(&varchar(5), &given).expect("text");
    let other = array(Int8Array::from(vec![1]));
    assert_eq!(encoder.encode(&batch(&other), 0..1).expect_err("other type").kind, ParamErrorKind::Schema);
    assert_eq!(encoder.encode(&batch(&given), 0..2).expect_err("too far").kind, ParamErrorKind::Schema);
    let backwards = std::ops::Range { start: 1, end: 0 };
    assert_eq!(
        encoder.encode(&batch(&given), backwards).expect_err("backwards").kind,
        ParamErrorKind::Schema
    );
}

/// Encodes every Arrow type into every parameter type: no panic, and encoded values are readable.
#[test]
fn every_pair_is_encoded_or_refused() {
    let mut parameters = vec![short(), bigint(), numeric(3), int128(), double(), float(), decfloat()];
    parameters.extend([date(), time(), timestamp(), timestamp_tz(), blob(0), blob(1), varchar(5)]);
    parameters.extend([
        column(SqlType::DEC16, 8, 0, 0),
        column(SqlType::BOOLEAN, 1, 0, 0),
        column(SqlType::TIME_TZ, 8, 0, 0),
        column(SqlType::TEXT, 4, 0, charset_id::OCTETS.into()),
        column(SqlType::NULL, 0, 0, 0),
    ]);
    let integers = array(Int64Array::from(vec![Some(0), None, Some(-1), Some(i64::MAX), Some(i64::MIN)]));
    let floats =
        array(Float64Array::from(vec![0.0, -1.5, f64::MAX, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY]));
    let types = [
        DataType::Int8,
        DataType::Int64,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Decimal32(9, 4),
        DataType::Decimal64(18, -3),
        DataType::Decimal128(38, 38),
        DataType::Decimal256(76, 10),
        DataType::Utf8View,
        DataType::LargeBinary,
        DataType::Boolean,
        DataType::Date32,
        DataType::Date64,
        DataType::Time32(TimeUnit::Second),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Timestamp(TimeUnit::Second, None),
        DataType::Timestamp(TimeUnit::Nanosecond, Some("Asia/Tokyo".into())),
        DataType::Duration(TimeUnit::Second),
        DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Int64)),
        DataType::Null,
    ];
    let mut sent = 0;
    for given in [&integers, &floats] {
        for data_type in &types {
            let values = cast(given, data_type).unwrap_or_else(|_| new_null_array(data_type, 2));
            for parameter in &parameters {
                for row in 0..values.len() {
                    let row = values.slice(row, 1);
                    if let Ok(params) = encode(parameter, &row) {
                        assert_eq!(params.rows, 1);
                        sent += 1;
                        let nothing = params.layout.fields()[0].kind == FieldKind::Nothing;
                        assert!(nothing || decoded(params).null_count() == row.logical_null_count());
                    }
                }
            }
        }
    }
    assert!(sent > 2000, "{sent}");
}

proptest! {
    #[test]
    fn decimal_floats_arrive_at_their_digits(digits in -999_999_999_999_999_i64..1_000_000_000_000_000, scale in 0..=15_i32) {
        let float: f64 = format!("{digits}e-{scale}").parse().expect("a number");
        let params = encode(&numeric(scale), &array(Float64Array::from(vec![float]))).expect("15 digits");
        let sent = i64::from_le_bytes(*params.bytes.first_chunk().expect("a BIGINT"));
        prop_assert_eq!(sent, digits);
    }

    #[test]
    fn results_of_arithmetic_arrive_at_the_digits_that_were_meant(
        digits in -999_999_999_999_999_i64..1_000_000_000_000_000,
        scale in 0..=15_i32,
    ) {
        let float: f64 = format!("{digits}e-{scale}").parse().expect("a number");
        let given = [float, float * (1.0 + f64::EPSILON), float * (1.0 - f64::EPSILON), float.next_up(), float.next_down()];
        // What is next to zero is tiny, and not 0.
        let given = if digits == 0 { vec![0.0; 5] } else { given.to_vec() };
        let params = encode(&numeric(scale), &array(Float64Array::from(given))).expect("15 digits");
        let sent = params.bytes.chunks_exact(params.layout.native_stride());
        for message in sent {
            prop_assert_eq!(i64::from_le_bytes(*message.first_chunk().expect("a BIGINT")), digits);
        }
    }

    #[test]
    fn single_floats_arrive_at_the_digits_that_were_meant(digits in -999_999_i32..1_000_000, scale in 0..=6_i32) {
        let float: f32 = format!("{digits}e-{scale}").parse().expect("a number");
        let given = if digits == 0 { vec![0.0] } else { vec![float, float.next_up(), float.next_down()] };
        let params = encode(&numeric(scale), &array(Float32Array::from(given))).expect("6 digits");
        for message in params.bytes.chunks_exact(params.layout.native_stride()) {
            prop_assert_eq!(i64::from_le_bytes(*message.first_chunk().expect("a BIGINT")), i64::from(digits));
        }
    }

    #[test]
    fn timestamps_arrive_to_the_tick(micros in -62_135_596_800_000_000_i64..253_402_300_800_000_000) {
        let given = super::micros(&[Some(micros)], None);
        let sent = decoded(encode(&timestamp(), &given).expect("in the calendar"));
        prop_assert_eq!(&sent, &super::micros(&[Some(micros.div_euclid(100) * 100)], None));
    }
}
