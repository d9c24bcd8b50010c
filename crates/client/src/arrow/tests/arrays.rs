//! Arrays: which are requested, how stored ones are read, and which are refused.

use super::rows::{Rows, Value, column, varchar};
use crate::arrow::{BatchBuilder, BatchLimits, DecodeErrorKind, ReadOptions, output_layout, schema};
use arrow::array::*;
use arrow::datatypes::{DataType, Int32Type};
use firearrow_proto::api::array::ArrayShape;
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use proptest::prelude::*;
use std::sync::Arc;

fn array(element: Descriptor, bounds: &[(i32, i32)]) -> Descriptor {
    let shape = ArrayShape::new(element, bounds.to_vec()).expect("legal bounds");
    Descriptor { array: Some(Arc::new(shape)), ..column(SqlType::ARRAY, 8, 0, 0) }
}

/// Elements as Firebird stores them, after their header.
fn stored(column: &Descriptor, internal_type: u8, size: u16, elements: &[u8]) -> Vec<u8> {
    let shape = column.array.as_ref().expect("an array");
    let mut bytes = vec![1, shape.bounds().len() as u8, 1, 0];
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&(16 + 24 * shape.bounds().len() as u16).to_le_bytes());
    bytes.extend_from_slice(&(shape.count() as u32).to_le_bytes());
    bytes.extend_from_slice(&(shape.count() as u32 * u32::from(size)).to_le_bytes());
    for (index, (lower, upper)) in shape.bounds().iter().enumerate() {
        let is_first = u8::from(index == 0);
        let charset = shape.element().charset() * is_first;
        bytes.extend_from_slice(&[internal_type * is_first, 0, 0, 0, charset, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&lower.to_le_bytes());
        bytes.extend_from_slice(&upper.to_le_bytes());
    }
    bytes.extend_from_slice(elements);
    bytes
}

fn builder(column: &Descriptor, ids: &[Option<u64>]) -> BatchBuilder {
    let columns = std::slice::from_ref(column);
    let options = ReadOptions::default();
    let values: Vec<_> = ids.iter().map(|id| vec![id.map_or(Value::Null, Value::Blob)]).collect();
    let rows = Rows::new(output_layout(columns, &options).expect("a layout"), &values);
    let mut builder =
        BatchBuilder::new(columns, &rows.layout, &options, BatchLimits::default()).expect("a mapping");
    assert_eq!(builder.push(&rows.packed(), 0), Ok(ids.len()));
    builder
}

fn integers(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn stored_arrays_become_lists_of_lists() {
    let column = array(column(SqlType::LONG, 4, 0, 0), &[(0, 1), (-1, 1)]);
    let mut builder = builder(&column, &[None, Some(5), Some(6), None]);
    let asked: Vec<_> = std::iter::from_fn(|| builder.next_blob()).collect();
    assert_eq!(asked.iter().map(|array| (array.row, array.id)).collect::<Vec<_>>(), [(1, 5), (2, 6)]);
    assert_eq!(builder.finish().unwrap().map(|batch| batch.num_rows()), Some(1), "the first row is complete");
    builder.fill_blob(&asked[0], &stored(&column, 9, 4, &integers(&[1, 2, 3, 4, 5, 6]))).unwrap();
    // The last two elements were never written.
    builder.fill_blob(&asked[1], &stored(&column, 9, 4, &integers(&[7, 8, 9, 10]))).unwrap();
    let batch = builder.finish().unwrap().unwrap();
    let lists = batch.column(0).as_list::<i32>();
    assert_eq!(lists.nulls().map(|nulls| nulls.iter().collect::<Vec<_>>()), Some(vec![true, true, false]));
    let inner = lists.values().as_list::<i32>();
    assert_eq!((lists.value_length(0), inner.value_length(3)), (2, 3));
    let values = inner.values().as_primitive::<Int32Type>().values().to_vec();
    assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0]);
}

#[test]
fn long_arrays_keep_all_their_elements() {
    let column = array(column(SqlType::LONG, 4, 0, 0), &[(1, 1000)]);
    let mut builder = builder(&column, &[Some(5)]);
    let asked = builder.next_blob().expect("one");
    let numbers: Vec<i32> = (0..1000).collect();
    builder.fill_blob(&asked, &stored(&column, 9, 4, &integers(&numbers))).unwrap();
    let batch = builder.finish().unwrap().unwrap();
    let values = batch.column(0).as_list::<i32>().value(0);
    assert_eq!(values.as_primitive::<Int32Type>().values().to_vec(), numbers);
}

#[test]
fn what_is_stored_otherwise_names_its_row() {
    let declared = array(column(SqlType::LONG, 4, 0, 0), &[(1, 3)]);
    let altered = array(column(SqlType::LONG, 4, 0, 0), &[(1, 2)]);
    let mut builder = builder(&declared, &[None, Some(5)]);
    let asked = builder.next_blob().unwrap();
    let error = builder.fill_blob(&asked, &stored(&altered, 9, 4, &integers(&[1, 2]))).unwrap_err();
    assert_eq!((error.kind, error.row), (DecodeErrorKind::Malformed, 1));
    assert!(error.message.contains("prepare it again"), "{error}");
}

#[test]
fn bad_elements_name_their_subscripts() {
    let column = array(varchar(2), &[(1, 2), (0, 1)]);
    let elements = |texts: [&[u8]; 4], length: u8| {
        let slot = |text: &[u8]| {
            let mut slot = vec![length.min(text.len() as u8), 0];
            slot.extend_from_slice(text);
            slot.resize(10, 0);
            slot
        };
        let mut bytes: Vec<u8> = texts.into_iter().flat_map(slot).collect();
        bytes[20] = bytes[20].max(if length == 9 { 9 } else { 0 });
        stored(&column, 3, 10, &bytes)
    };
    // The array is longer than declared.
    let mut first = builder(&column, &[Some(1)]);
    let asked = first.next_blob().unwrap();
    let error = first.fill_blob(&asked, &elements([b"a", b"", b"b", b"c"], 9)).unwrap_err();
    assert!(error.message.starts_with("element [2, 0]: "), "{error}");
    // The text is not UTF-8, which the builder finds when it makes the batch.
    let mut second = builder(&column, &[None, Some(1), None, Some(2)]);
    let (one, two) = (second.next_blob().unwrap(), second.next_blob().unwrap());
    second.fill_blob(&one, &elements([b"a", b"", b"b", b"c"], 8)).unwrap();
    second.fill_blob(&two, &elements([b"a", b"\xff", b"b", b"c"], 8)).unwrap();
    let error = second.finish().unwrap_err();
    assert_eq!((error.kind, error.row), (DecodeErrorKind::InvalidText, 3));
    assert!(error.message.starts_with("element [1, 1]: "), "{error}");
}

#[test]
fn fields_say_what_lists_cannot() {
    let mut text = varchar(20);
    text.sub_type = 53;
    text.length = 20;
    let columns = [array(text, &[(-2, 2), (1, 3)])];
    let schema = schema(&columns, &ReadOptions::default()).expect("a schema");
    let field = schema.field(0);
    let expected = DataType::new_list(DataType::new_list(DataType::Utf8, true), true);
    assert_eq!(*field.data_type(), expected);
    let metadata = field.metadata();
    assert_eq!(metadata["FIREBIRD:array_bounds"], "-2:2,1:3");
    assert_eq!((&*metadata["FIREBIRD:type"], &*metadata["FIREBIRD:length"]), ("VARCHAR", "20"));
    assert_eq!(metadata["FIREBIRD:charset"], "WIN1252");
}

#[test]
fn character_sets_of_several_bytes_are_refused() {
    let mut text = varchar(20);
    text.sub_type = 5;
    let error = schema(&[array(text, &[(2, 3)])], &ReadOptions::default()).expect_err("nobody converts it");
    assert!(error.message.contains("SJIS_0208") && error.message.contains("[2]"), "{error}");
}

proptest! {
    #[test]
    fn any_contents_are_read_or_refused(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..120),
        cut in 0..140_usize,
        is_array in any::<bool>(),
    ) {
        let column = array(varchar(2), &[(1, 3)]);
        if is_array {
            bytes = stored(&column, 3, 10, &bytes);
            bytes.truncate(cut);
        }
        let mut builder = builder(&column, &[Some(1)]);
        let asked = builder.next_blob().expect("one array");
        if builder.fill_blob(&asked, &bytes).is_ok()
            && let Ok(batch) = builder.finish()
        {
            prop_assert_eq!(batch.map(|batch| batch.column(0).as_list::<i32>().values().len()), Some(3));
        }
    }
}
