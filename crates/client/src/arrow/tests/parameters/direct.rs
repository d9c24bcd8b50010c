//! Plain values need no arrays, and become the same messages.

use super::*;
use crate::arrow::{DirectRow, ParamOptions};
use crate::params::Scalar;
use arrow::datatypes::TimeUnit;

fn text(bytes: u32) -> Descriptor {
    varchar(bytes / 4)
}

fn targets() -> Vec<(&'static str, Descriptor)> {
    vec![
        ("SMALLINT", short()),
        ("BIGINT", bigint()),
        ("NUMERIC", numeric(2)),
        ("INT128", int128()),
        ("FLOAT", float()),
        ("DOUBLE", double()),
        ("DECFLOAT", decfloat()),
        ("DATE", date()),
        ("TIME", time()),
        ("TIMESTAMP", timestamp()),
        ("TIMESTAMP_TZ", timestamp_tz()),
        ("VARCHAR", text(80)),
        ("CHAR", column(SqlType::TEXT, 80, 0, 4)),
        ("BOOLEAN", column(SqlType::BOOLEAN, 1, 0, 0)),
        ("BLOB", blob(0)),
        ("TEXT BLOB", blob(1)),
        ("NULL", column(SqlType::NULL, 0, 0, 0)),
    ]
}

fn scalars() -> Vec<Scalar> {
    let zone = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    vec![
        Scalar::Boolean(true),
        Scalar::Int16(i16::MIN),
        Scalar::Int32(-7),
        Scalar::Int64(i64::MAX),
        Scalar::Double(-0.1),
        Scalar::Date(-1),
        Scalar::Date(i32::MAX),
        Scalar::Timestamp(-100),
        Scalar::Timestamp(1),
        Scalar::Timestamp(i64::MIN),
        Scalar::Text(String::new()),
        Scalar::Text("grün 🐘".into()),
        Scalar::Text("x".repeat(40_000)),
        Scalar::Text("2020-01-01 00:00 Europe/Berlin".into()),
        Scalar::Bytes(vec![0, 255, 7]),
        Scalar::Bytes(vec![7; 32_765]),
        Scalar::Null(DataType::Null),
        Scalar::Null(DataType::Boolean),
        Scalar::Null(DataType::Int16),
        Scalar::Null(DataType::Int32),
        Scalar::Null(DataType::Int64),
        Scalar::Null(DataType::Float64),
        Scalar::Null(DataType::Date32),
        Scalar::Null(DataType::Timestamp(TimeUnit::Microsecond, None)),
        Scalar::Null(DataType::Utf8),
        Scalar::Null(DataType::Binary),
        Scalar::Null(zone),
        Scalar::Array(Arc::new(Int32Array::from(vec![1]))),
    ]
}

#[test]
fn they_are_the_messages_of_their_arrays() {
    let mut direct = 0;
    for (name, target) in targets() {
        let mut row = DirectRow::new(std::slice::from_ref(&target)).expect("a message");
        for scalar in scalars() {
            // Nothing of the last value may be left.
            let mut fresh = DirectRow::new(std::slice::from_ref(&target)).expect("a message");
            let is_direct = fresh.encode(std::slice::from_ref(&scalar), &ParamOptions::default());
            assert_eq!(
                row.encode(std::slice::from_ref(&scalar), &ParamOptions::default()),
                is_direct,
                "{name} {scalar:?}"
            );
            if !is_direct {
                continue;
            }
            direct += 1;
            let mut expected = encode(&target, &scalar.to_array()).expect("what is direct is legal");
            assert!(expected.blobs.is_empty(), "{name} {scalar:?}");
            assert_eq!(**fresh.layout(), *expected.layout, "{name} {scalar:?}");
            assert_eq!(fresh.bytes(), expected.bytes, "{name} {scalar:?}");
            expected.layout = Arc::clone(row.layout());
            expected.bytes = row.bytes().to_vec();
            let again = decoded(expected);
            let once = decoded(encode(&target, &scalar.to_array()).expect("legal"));
            assert_eq!(&again, &once, "{name} {scalar:?}");
        }
    }
    assert!(direct > 100, "only {direct} pairs are direct");
}

#[test]
fn too_few_and_too_many_are_left_to_the_arrays() {
    let mut row = DirectRow::new(&[short(), short()]).expect("a message");
    assert!(!row.encode(&[Scalar::Int16(1)], &ParamOptions::default()));
    assert!(!row.encode(&[Scalar::Int16(1), Scalar::Int16(2), Scalar::Int16(3)], &ParamOptions::default()));
    assert!(row.encode(&[Scalar::Int16(1), Scalar::Int16(2)], &ParamOptions::default()));
}

#[test]
fn layouts_stay_as_long_as_they_fit() {
    let mut row = DirectRow::new(&[text(4000), bigint()]).expect("a message");
    let mut encode = |text: usize| {
        assert!(row.encode(&[Scalar::Text("x".repeat(text)), Scalar::Int64(1)], &ParamOptions::default()));
        Arc::clone(row.layout())
    };
    let first = encode(10);
    assert!(Arc::ptr_eq(&first, &encode(12)) && Arc::ptr_eq(&first, &encode(0)));
    let wide = encode(3000);
    assert!(!Arc::ptr_eq(&first, &wide) && Arc::ptr_eq(&wide, &encode(2000)));
    assert!(!Arc::ptr_eq(&wide, &encode(10)), "three thousand bytes for ten");
    assert!(
        row.encode(&[Scalar::Null(DataType::Utf8), Scalar::Null(DataType::Int64)], &ParamOptions::default())
    );
    assert!(
        !row.encode(&[Scalar::Double(1.0), Scalar::Int64(1)], &ParamOptions::default()),
        "a float for a text is converted"
    );
}
