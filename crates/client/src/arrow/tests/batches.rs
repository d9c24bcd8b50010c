//! Where batches end, what errors say, and what remains in the builder.

use super::rows::{Rows, Value, column, varchar};
use crate::arrow::{BatchBuilder, BatchLimits, DecodeErrorKind, ReadOptions, output_layout};
use arrow::array::{Array, AsArray};
use arrow::datatypes::Int32Type;
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::layout::RowLayout;
use std::sync::Arc;

fn rows(columns: &[Descriptor], values: Vec<Vec<Value>>) -> Rows {
    Rows::new(output_layout(columns, &ReadOptions::default()).expect("a layout"), &values)
}

fn builder(columns: &[Descriptor], layout: &Arc<RowLayout>, rows: usize, bytes: usize) -> BatchBuilder {
    let limits = BatchLimits::default().rows(rows).bytes(bytes);
    BatchBuilder::new(columns, layout, &ReadOptions::default(), limits).expect("a mapping")
}

#[test]
fn batches_end_at_the_row_limit() {
    let columns = [column(SqlType::LONG, 4, 0, 0)];
    let rows = rows(&columns, (0..1000).map(|value| vec![Value::Long(value)]).collect());
    let mut builder = builder(&columns, &rows.layout, 300, usize::MAX);
    let mut start = 0;
    for expected in [300, 300, 300, 100] {
        assert_eq!(builder.push(&rows.packed(), start).unwrap(), expected);
        assert_eq!((builder.len(), builder.is_full()), (expected, expected == 300));
        assert_eq!(builder.bytes(), expected * 4);
        let batch = builder.finish().unwrap().unwrap();
        let values = batch.column(0).as_primitive::<Int32Type>();
        assert_eq!((values.value(0), values.len()), (start as i32, expected));
        assert!(values.nulls().is_none());
        start += expected;
        assert!(builder.is_empty() && builder.bytes() == 0);
    }
    assert_eq!(builder.push(&rows.packed(), start).unwrap(), 0);
    assert_eq!(builder.push(&rows.packed(), usize::MAX).unwrap(), 0);
    assert_eq!(builder.finish().unwrap(), None);
}

#[test]
fn batches_end_at_the_byte_limit() {
    let columns = [varchar(100)];
    let text = || vec![Value::Text(vec![b'x'; 96])]; // with its offset 100 bytes
    let rows = rows(&columns, (0..1000).map(|_| text()).collect());
    let mut builder = builder(&columns, &rows.layout, usize::MAX, 10_000);
    assert_eq!(builder.push(&rows.native(), 0).unwrap(), 100);
    assert!(builder.is_full());
    assert_eq!(builder.push(&rows.native(), 100).unwrap(), 0);
    assert_eq!(builder.finish().unwrap().unwrap().num_rows(), 100);
}

#[test]
fn one_row_always_fits() {
    let columns = [varchar(100)];
    let rows = rows(&columns, vec![vec![Value::Text(vec![b'x'; 400])]; 3]);
    let mut builder = builder(&columns, &rows.layout, 0, 0);
    for row in 0..3 {
        assert_eq!(builder.push(&rows.native(), row).unwrap(), 1);
        assert_eq!(builder.finish().unwrap().unwrap().num_rows(), 1);
    }
}

#[test]
fn errors_count_rows_of_the_whole_result_and_stay() {
    let columns = [varchar(5), column(SqlType::DATE, 4, 0, 0)];
    let mut values = vec![vec![Value::Null, Value::Date(0)]; 700];
    values[650][1] = Value::Date(i32::MAX);
    let rows = rows(&columns, values);
    let mut builder = builder(&columns, &rows.layout, 300, usize::MAX);
    let mut start = builder.push(&rows.packed(), 0).unwrap();
    builder.finish().unwrap();
    start += builder.push(&rows.packed(), start).unwrap();
    builder.finish().unwrap();
    let error = builder.push(&rows.packed(), start).unwrap_err();
    assert_eq!((error.column, error.row, error.kind), (1, 650, DecodeErrorKind::Malformed));
    assert!(
        error
            .to_string()
            .starts_with("column 2 (\"C\"), row 650 (counted from 0): the date of day 2147483647"),
        "{error}"
    );
    assert_eq!(builder.push(&rows.packed(), 0).unwrap_err(), error);
    assert_eq!(builder.finish().unwrap_err(), error);
}

#[test]
fn text_is_checked_once_but_blamed_on_its_row() {
    let none = i32::from(charset_id::NONE);
    let columns = [column(SqlType::VARYING, 10, 0, none)];
    // Each half of a character is malformed; together they are valid.
    let halves = [&[0xc3][..], &[0xa4][..]].map(|half| vec![Value::Text(half.to_vec())]);
    let mut values = vec![vec![Value::Text("ö".into())]; 500];
    values.extend(halves);
    let rows = rows(&columns, values);
    let mut builder = builder(&columns, &rows.layout, 400, usize::MAX);
    builder.push(&rows.packed(), 0).unwrap();
    assert_eq!(builder.finish().unwrap().unwrap().num_rows(), 400);
    builder.push(&rows.packed(), 400).unwrap();
    let error = builder.finish().unwrap_err();
    assert_eq!((error.row, error.kind), (500, DecodeErrorKind::InvalidText));
}

#[test]
fn results_without_columns_still_have_rows() {
    let mut builder = builder(&[], &Arc::new(RowLayout::default()), 10, 10);
    let bytes = [];
    let rows = firearrow_proto::api::row::PackedRows { bytes: &bytes, positions: &[], columns: 0, rows: 25 };
    assert_eq!(builder.push(&rows, 0).unwrap(), 10);
    assert_eq!(builder.finish().unwrap().unwrap().num_rows(), 10);
}

#[test]
fn a_foreign_layout_is_refused() {
    let columns = [column(SqlType::LONG, 4, 0, 0)];
    let other = output_layout(&[varchar(3)], &ReadOptions::default()).unwrap();
    for layout in [other, RowLayout::default()] {
        let error =
            BatchBuilder::new(&columns, &Arc::new(layout), &ReadOptions::default(), BatchLimits::default());
        assert!(error.unwrap_err().message.contains("output_layout"));
    }
}

#[test]
fn long_text_crosses_the_fast_path() {
    let columns = [varchar(100)];
    let lengths = (0..2000).map(|row| (row * 37) % 401);
    let values: Vec<_> =
        lengths.clone().map(|length| vec![Value::Text(vec![b'a' + (length % 26) as u8; length])]).collect();
    let rows = rows(&columns, values);
    for limit in [1, 7, 2000] {
        let mut builder = builder(&columns, &rows.layout, limit, usize::MAX);
        let mut start = 0;
        while start < 2000 {
            let count = builder.push(&rows.packed(), start).unwrap();
            let batch = builder.finish().unwrap().unwrap();
            for (row, length) in (start..start + count).zip(lengths.clone().skip(start)) {
                let value = batch.column(0).as_string::<i32>().value(row - start);
                assert_eq!(value.len(), length);
                assert!(value.bytes().all(|byte| byte == b'a' + (length % 26) as u8));
            }
            start += count;
        }
    }
}
