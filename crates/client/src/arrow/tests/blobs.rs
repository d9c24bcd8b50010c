//! BLOBs: which are requested, in which order they may come, and how batches are cut around them.

use super::rows::{Rows, Value, column};
use crate::arrow::{BatchBuilder, BatchLimits, DecodeErrorKind, PendingBlob, ReadOptions, output_layout};
use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use firearrow_proto::api::descriptor::{Descriptor, SqlType};

/// A number, a binary BLOB, a text BLOB.
fn columns() -> [Descriptor; 3] {
    [column(SqlType::LONG, 4, 0, 0), column(SqlType::BLOB, 8, 0, 0), column(SqlType::BLOB, 8, 4, 1)]
}

fn rows(ids: &[[Value; 2]]) -> Rows {
    let values: Vec<_> = ids
        .iter()
        .zip(0..)
        .map(|([binary, text], number)| vec![Value::Long(number), binary.clone(), text.clone()])
        .collect();
    Rows::new(output_layout(&columns(), &ReadOptions::default()).expect("a layout"), &values)
}

fn builder(rows: &Rows, bytes: usize) -> BatchBuilder {
    let limits = BatchLimits { bytes, ..Default::default() };
    BatchBuilder::new(&columns(), &rows.layout, &ReadOptions::default(), limits).expect("a mapping")
}

fn blob(column: usize, row: u64, id: u64) -> Option<PendingBlob> {
    Some(PendingBlob { column, row, id })
}

const NULL: Value = Value::Null;
const EMPTY: Value = Value::Blob(0);

#[test]
fn blobs_are_asked_for_row_by_row_and_nulls_never() {
    let rows =
        rows(&[[Value::Blob(1), NULL], [NULL, EMPTY], [Value::Blob(2), Value::Blob(3)], [EMPTY, NULL]]);
    let mut builder = builder(&rows, usize::MAX);
    assert_eq!(builder.push(&rows.native(), 0).unwrap(), 4);
    let asked: Vec<_> = std::iter::from_fn(|| builder.next_blob()).collect();
    assert_eq!(
        asked.iter().copied().map(Some).collect::<Vec<_>>(),
        [blob(1, 0, 1), blob(1, 2, 2), blob(2, 2, 3)]
    );
    assert_eq!(builder.finish().unwrap_err().kind, DecodeErrorKind::Misuse);
    // Columns may come in any order, rows of one column may not.
    assert_eq!(builder.fill_blob(&asked[1], b"x").unwrap_err().kind, DecodeErrorKind::Misuse);
    builder.fill_blob(&asked[2], "ü".as_bytes()).unwrap();
    builder.fill_blob(&asked[0], b"first").unwrap();
    builder.fill_blob(&asked[1], &[0xff]).unwrap();
    assert_eq!(builder.fill_blob(&asked[1], b"again").unwrap_err().kind, DecodeErrorKind::Misuse);
    let batch = builder.finish().unwrap().unwrap();
    let binary: Vec<_> = batch.column(1).as_binary::<i32>().iter().collect();
    assert_eq!(binary, [Some(&b"first"[..]), None, Some(&[0xff]), Some(b"")]);
    let text: Vec<_> = batch.column(2).as_string::<i32>().iter().collect();
    assert_eq!(text, [None, Some(""), Some("ü"), None]);
    assert_eq!(builder.next_blob(), None);
}

#[test]
fn a_batch_ends_before_the_first_row_that_waits() {
    let rows =
        rows(&[[Value::Blob(1), Value::Blob(2)], [Value::Blob(3), Value::Blob(4)], [NULL, Value::Blob(5)]]);
    let mut builder = builder(&rows, usize::MAX);
    builder.push(&rows.packed(), 0).unwrap();
    let asked: Vec<_> = std::iter::from_fn(|| builder.next_blob()).collect();
    for (pending, contents) in asked[..3].iter().zip(["a", "b", "c"]) {
        builder.fill_blob(pending, contents.as_bytes()).unwrap();
    }
    let batch = builder.finish().unwrap().unwrap();
    assert_eq!((batch.num_rows(), builder.len()), (1, 2));
    assert_eq!(builder.next_blob(), None, "all have been asked for");
    for (pending, contents) in asked[3..].iter().zip(["d", "e"]) {
        builder.fill_blob(pending, contents.as_bytes()).unwrap();
    }
    let batch = builder.finish().unwrap().unwrap();
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[1, 2]);
    assert_eq!(batch.column(1).as_binary::<i32>().iter().collect::<Vec<_>>(), [Some(&b"c"[..]), None]);
    assert_eq!(batch.column(2).as_string::<i32>().iter().collect::<Vec<_>>(), [Some("d"), Some("e")]);
    assert_eq!(builder.finish().unwrap(), None);
}

#[test]
fn enough_bytes_end_the_batch() {
    let ids: Vec<_> = (1..=10).map(|id| [Value::Blob(id), NULL]).collect();
    let rows = rows(&ids);
    let mut builder = builder(&rows, 1000);
    assert_eq!(builder.push(&rows.packed(), 0).unwrap(), 10);
    let mut sizes = Vec::new();
    loop {
        while let Some(pending) = builder.next_blob() {
            builder.fill_blob(&pending, &[b'x'; 400]).unwrap();
        }
        match builder.finish().unwrap() {
            Some(batch) => sizes.push(batch.num_rows()),
            None => break,
        }
    }
    assert_eq!(sizes.iter().sum::<usize>(), 10);
    assert!(sizes.iter().all(|&rows| rows <= 3), "{sizes:?}");
}

#[test]
fn rows_that_wait_are_limited() {
    let ids: Vec<_> = (1..=5000).map(|id| [Value::Blob(id), NULL]).collect();
    let rows = rows(&ids);
    let mut builder = builder(&rows, usize::MAX);
    assert_eq!(builder.push(&rows.packed(), 0).unwrap(), 4096);
    assert_eq!(builder.push(&rows.packed(), 4096).unwrap(), 0);
    assert!(!builder.is_full());
    let pending = builder.next_blob().unwrap();
    builder.fill_blob(&pending, b"").unwrap();
    assert_eq!(builder.push(&rows.packed(), 4096).unwrap(), 1);
}

#[test]
fn malformed_text_blobs_are_blamed_on_their_row() {
    let rows = rows(&[[NULL, Value::Blob(1)], [NULL, Value::Blob(2)]]);
    let mut builder = builder(&rows, usize::MAX);
    builder.push(&rows.packed(), 0).unwrap();
    for contents in [&b"fine"[..], &[0xff]] {
        let pending = builder.next_blob().unwrap();
        builder.fill_blob(&pending, contents).unwrap();
    }
    let error = builder.finish().unwrap_err();
    assert_eq!((error.column, error.row, error.kind), (2, 1, DecodeErrorKind::InvalidText));
    assert!(builder.fill_blob(&PendingBlob { column: 2, row: 9, id: 9 }, b"").is_err());
}

#[test]
fn made_up_requests_are_refused() {
    let rows = rows(&[[NULL, Value::Blob(1)]]);
    let mut builder = builder(&rows, usize::MAX);
    builder.push(&rows.packed(), 0).unwrap();
    for (column, row) in [(0, 0), (1, 0), (2, 1), (9, 0), (2, u64::MAX)] {
        let error = builder.fill_blob(&PendingBlob { column, row, id: 1 }, b"").unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::Misuse);
    }
}
