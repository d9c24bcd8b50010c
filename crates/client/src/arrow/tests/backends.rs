//! One property covers both backends: the same values, packed or native, make the same batches.

use super::rows::{Rows, Value, char, column, varchar};
use crate::arrow::{
    BatchBuilder, BatchLimits, DecfloatAs, DecodeError, Int128As, NoneEncoding, ReadOptions, TextAs,
    TimestampTzAs, TimetzAs, output_layout,
};
use arrow::array::RecordBatch;
use firearrow_proto::api::decfloat::{Decimal, encode64, encode128};
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::row::{NULL_POSITION, NativeRows, PackedRows, RowSource};
use firearrow_proto::api::value::{MAX_DATE, MIN_DATE, TICKS_PER_DAY};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

/// One column of each kind that rows can have.
fn kinds() -> Vec<Descriptor> {
    vec![
        column(SqlType::SHORT, 2, 0, 0),
        column(SqlType::SHORT, 2, -2, 1),
        column(SqlType::LONG, 4, 0, 0),
        column(SqlType::LONG, 4, -4, 2),
        column(SqlType::INT64, 8, 0, 0),
        column(SqlType::INT64, 8, -18, 1),
        column(SqlType::INT128, 16, 0, 0),
        column(SqlType::INT128, 16, -20, 1),
        column(SqlType::FLOAT, 4, 0, 0),
        column(SqlType::DOUBLE, 8, 0, 0),
        column(SqlType::DEC16, 8, 0, 0),
        column(SqlType::DEC34, 16, 0, 0),
        column(SqlType::DATE, 4, 0, 0),
        column(SqlType::TIME, 4, 0, 0),
        column(SqlType::TIMESTAMP, 8, 0, 0),
        column(SqlType::TIME_TZ, 8, 0, 0),
        column(SqlType::TIMESTAMP_TZ, 12, 0, 0),
        column(SqlType::BOOLEAN, 1, 0, 0),
        char(3),
        varchar(50),
        column(SqlType::TEXT, 7, 0, charset_id::NONE.into()),
        column(SqlType::VARYING, 60, 0, charset_id::NONE.into()),
        column(SqlType::TEXT, 16, 0, charset_id::OCTETS.into()),
        column(SqlType::VARYING, 60, 0, charset_id::OCTETS.into()),
        column(SqlType::BLOB, 8, 0, 0),
        column(SqlType::BLOB, 8, charset_id::UTF8.into(), 1),
        column(SqlType::NULL, 0, 0, 0),
    ]
}

/// Valid values of a column, including NULL.
fn values(column: &Descriptor) -> BoxedStrategy<Value> {
    let text = |max: usize| proptest::collection::vec(any::<char>(), 0..max).prop_map(String::from_iter);
    let date = MIN_DATE + 1..MAX_DATE;
    let time = 0..TICKS_PER_DAY;
    let displacement = -840..=840_i16;
    let value = match (column.sql_type, column.is_octets()) {
        (SqlType::SHORT, _) => any::<i16>().prop_map(Value::Short).boxed(),
        (SqlType::LONG, _) => any::<i32>().prop_map(Value::Long).boxed(),
        (SqlType::INT64, _) => any::<i64>().prop_map(Value::Int64).boxed(),
        (SqlType::INT128, _) => any::<i128>().prop_map(Value::Int128).boxed(),
        (SqlType::FLOAT, _) => any::<f32>().prop_map(Value::Float).boxed(),
        (SqlType::DOUBLE, _) => any::<f64>().prop_map(Value::Double).boxed(),
        (SqlType::DEC16, _) => any::<u64>().prop_map(Value::Dec16).boxed(),
        (SqlType::DEC34, _) => any::<u128>().prop_map(Value::Dec34).boxed(),
        (SqlType::DATE, _) => date.prop_map(Value::Date).boxed(),
        (SqlType::TIME, _) => time.prop_map(Value::Time).boxed(),
        (SqlType::TIMESTAMP, _) => (date, time).prop_map(|(d, t)| Value::Timestamp(d, t)).boxed(),
        (SqlType::TIME_TZ, _) => {
            (time, any::<u16>(), displacement).prop_map(|(t, z, d)| Value::TimeTz(t, z, d)).boxed()
        }
        (SqlType::TIMESTAMP_TZ, _) => (date, time, any::<u16>(), displacement)
            .prop_map(|(d, t, z, m)| Value::TimestampTz(d, t, z, m))
            .boxed(),
        (SqlType::BOOLEAN, _) => any::<bool>().prop_map(Value::Boolean).boxed(),
        (SqlType::TEXT | SqlType::VARYING, true) => {
            let length = column.length as usize;
            proptest::collection::vec(any::<u8>(), 0..=length).prop_map(Value::Text).boxed()
        }
        (SqlType::TEXT, _) if column.charset() == charset_id::UTF8 => {
            text(column.length as usize / 4 + 1).prop_map(|text| Value::Text(text.into_bytes())).boxed()
        }
        (SqlType::TEXT, _) => "[ -~]{0,7}".prop_map(|text| Value::Text(text.into_bytes())).boxed(),
        (SqlType::VARYING, _) => {
            text(column.length as usize / 4 + 1).prop_map(|text| Value::Text(text.into_bytes())).boxed()
        }
        (SqlType::BLOB, _) => any::<u64>().prop_map(Value::Blob).boxed(),
        _ => Just(Value::Nothing).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 4 => value].boxed()
}

fn options() -> impl Strategy<Value = ReadOptions> {
    let none = select(vec!["utf8", "utf8_lossy", "windows-1252", "binary"]);
    let words = (
        none,
        any::<bool>(),
        select(vec!["decimal256", "utf8"]),
        select(vec!["utf8", "float64"]),
        select(vec!["utc", "with_offset", "utf8"]),
        select(vec!["utf8", "time64_utc"]),
        select(vec!["fixed", "binary"]),
        select(vec!["utf8", "large_utf8", "utf8_view"]),
    );
    words.prop_map(|(none, trim, int128, decfloat, timestamptz, timetz, binary, text)| ReadOptions {
        none_encoding: none.parse().expect("a word"),
        trim_char: trim,
        int128: int128.parse().expect("a word"),
        decfloat: decfloat.parse().expect("a word"),
        timestamptz: timestamptz.parse().expect("a word"),
        timetz: timetz.parse().expect("a word"),
        binary: binary.parse().expect("a word"),
        text: text.parse().expect("a word"),
        decimal_precision: "range".parse().expect("a word"), // so that every value is legal
        ..ReadOptions::default()
    })
}

fn table() -> impl Strategy<Value = (Vec<Descriptor>, Vec<Vec<Value>>)> {
    proptest::collection::vec(select(kinds()), 1..10).prop_flat_map(|columns| {
        let row: Vec<_> = columns.iter().map(values).collect();
        (Just(columns), proptest::collection::vec(row, 0..40))
    })
}

/// Returns all batches of these rows. The contents of a BLOB depend only on its id.
fn batches<S: RowSource>(
    columns: &[Descriptor],
    layout: &Arc<RowLayout>,
    options: &ReadOptions,
    limits: BatchLimits,
    rows: &S,
) -> Result<Vec<RecordBatch>, DecodeError> {
    let mut builder = BatchBuilder::new(columns, layout, options, limits).expect("a mapping");
    let (mut start, mut batches) = (0, Vec::new());
    loop {
        start += builder.push(rows, start)?;
        while let Some(blob) = builder.next_blob() {
            builder.fill_blob(&blob, format!("{:x}", blob.id).as_bytes())?;
        }
        if builder.is_full() || start == rows.row_count() {
            match builder.finish()? {
                Some(batch) => batches.push(batch),
                None => return Ok(batches),
            }
        }
    }
}

proptest! {
    #[test]
    fn packed_and_native_rows_make_equal_batches(
        (columns, values) in table(),
        options in options(),
        rows_limit in 1..50_usize,
        bytes_limit in select(vec![1, 100, 1 << 20]),
    ) {
        let layout = output_layout(&columns, &options).expect("a layout");
        let rows = Rows::new(layout, &values);
        let limits = BatchLimits::default().rows(rows_limit).bytes(bytes_limit);
        let native = batches(&columns, &rows.layout, &options, limits, &rows.native());
        let packed = batches(&columns, &rows.layout, &options, limits, &rows.packed());
        prop_assert_eq!(&native, &packed); // bit by bit, so a NaN is equal to itself
        let native = native.expect("legal values");
        prop_assert_eq!(native.iter().map(RecordBatch::num_rows).sum::<usize>(), values.len());
        prop_assert!(native.iter().all(|batch| batch.num_rows() <= rows_limit));
        // However the rows are split into batches, they stay the same.
        let whole = batches(&columns, &rows.layout, &options, BatchLimits::default(), &rows.packed());
        let whole = whole.expect("legal values");
        let schema = whole.first().map(RecordBatch::schema);
        if let Some(schema) = schema {
            let joined = arrow::compute::concat_batches(&schema, &native).expect("one schema");
            prop_assert_eq!(&joined, &whole[0]);
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(
        columns in proptest::collection::vec(select(kinds()), 1..6),
        bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        mut positions in proptest::collection::vec(any::<u32>(), 0..60),
        options in options(),
        precision in select(vec!["declared", "storage", "range"]),
    ) {
        let mut options = options;
        options.decimal_precision = precision.parse().expect("a word");
        let layout = Arc::new(output_layout(&columns, &options).expect("a layout"));
        let rows = bytes.len() / layout.native_stride().max(1);
        let native = NativeRows::new(&layout, &bytes, rows).expect("long enough");
        let _ = batches(&columns, &layout, &options, BatchLimits::default(), &native);

        let rows = positions.len() / columns.len();
        for position in &mut positions {
            if !position.is_multiple_of(7) {
                *position %= bytes.len() as u32 + 1;
            } else {
                *position = NULL_POSITION;
            }
        }
        let packed = PackedRows { bytes: &bytes, positions: &positions, columns: columns.len(), rows };
        let _ = batches(&columns, &layout, &options, BatchLimits::default(), &packed);
    }
}

#[test]
fn decimal_floats_are_equal_in_all_their_forms() {
    let digits: Decimal = "-123.45".parse().expect("a number");
    let columns = [column(SqlType::DEC16, 8, 0, 0), column(SqlType::DEC34, 16, 0, 0)];
    let values = [
        Value::Dec16(encode64(&digits).expect("five digits")),
        Value::Dec34(encode128(&digits).expect("five digits")),
    ];
    for decfloat in [DecfloatAs::Utf8, DecfloatAs::Float64, DecfloatAs::Decimal128(10, 2)] {
        let options = ReadOptions { decfloat, ..Default::default() };
        let rows = Rows::new(output_layout(&columns, &options).expect("a layout"), &[values.to_vec()]);
        let limits = BatchLimits::default();
        let native = batches(&columns, &rows.layout, &options, limits, &rows.native()).expect("legal");
        let packed = batches(&columns, &rows.layout, &options, limits, &rows.packed()).expect("legal");
        assert_eq!(native, packed);
        assert_eq!(native[0].column(0), native[0].column(1));
    }
}

#[test]
fn the_defaults_are_those_of_the_mapping() {
    let ReadOptions { none_encoding, trim_char, int128, decfloat, timestamptz, timetz, text, .. } =
        ReadOptions::default();
    assert_eq!(none_encoding, NoneEncoding::Utf8);
    assert!(!trim_char);
    assert_eq!(int128, Int128As::Decimal128);
    assert_eq!(decfloat, DecfloatAs::Utf8);
    assert_eq!(timestamptz, TimestampTzAs::Utc);
    assert_eq!(timetz, TimetzAs::Utf8);
    assert_eq!(text, TextAs::Utf8);
}
