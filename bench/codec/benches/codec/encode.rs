//! Parameters to messages.

use arrow::array::{
    ArrayRef, Date32Array, Float64Array, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use firearrow::codec::{Decoder, Encoder, RowEncoder};
use firearrow::{Descriptor, Scalar};
use firearrow_codec::{ROWS, Shape};
use firearrow_proto::api::descriptor::{SqlType, charset_id};
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use std::sync::Arc;

/// Reads messages as if they were rows.
fn decoded(layout: &RowLayout, messages: &[u8]) -> RecordBatch {
    let fields = layout.fields().iter().zip(1..).map(|(field, number)| Descriptor {
        sql_type: field.kind.sql_type(),
        sub_type: match field.kind {
            FieldKind::Varying(_) => charset_id::UTF8.into(),
            // NUMERIC
            _ => (field.scale != 0).into(),
        },
        scale: field.scale.into(),
        length: match field.kind {
            FieldKind::Varying(length) => length.into(),
            kind => kind.native().1 as u32,
        },
        nullable: true,
        alias: format!("C{number}"),
        ..Descriptor::default()
    });
    let mut decoder = Decoder::new(&fields.collect::<Vec<_>>(), &Shape::options()).expect("known types");
    decoder.read(messages).expect("whole messages").expect("good messages");
    decoder.finish().expect("good messages").expect("messages")
}

/// A row of many, from Arrow's columns to a message.
#[divan::bench(args = Shape::parameters())]
fn row(bencher: Bencher<'_, '_>, shape: &Shape) {
    let batch = shape.batch();
    let mut encoder = Encoder::new(&shape.descriptors(), &batch.schema()).expect("known types");
    let mut messages = Vec::new();
    let layout = encoder.encode(&batch, &mut messages).expect("good values");
    let found = decoded(&layout, &messages);
    for (column, (found, given)) in found.columns().iter().zip(batch.columns()).enumerate() {
        assert_eq!(found, given, "column {column} of {shape}");
    }
    let length = messages.len();
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        messages.clear();
        encoder.encode(black_box(&batch), &mut messages).expect("good values");
        assert_eq!(messages.len(), length);
    });
}

/// Single rows of plain values.
#[derive(Clone, Copy, Debug)]
enum Single {
    Int,
    Double,
    Date,
    Timestamp,
    Ascii,
    Accented,
    Three,
}

impl Single {
    fn values(self) -> Vec<Scalar> {
        match self {
            Self::Int => vec![Scalar::Int32(42)],
            Self::Double => vec![Scalar::Double(2.5)],
            // 2026-05-04, and at 12:30:45
            Self::Date => vec![Scalar::Date(20_577)],
            Self::Timestamp => vec![Scalar::Timestamp(1_777_897_845_000_000)],
            Self::Ascii => vec![Scalar::Text("hello, world".into())],
            Self::Accented => vec![Scalar::Text("Grüße, à bientôt".into())],
            Self::Three => {
                vec![Scalar::Int32(42), Scalar::Text("row_0042".into()), Scalar::Double(42.0)]
            }
        }
    }

    fn parameters(self) -> Vec<Descriptor> {
        let parameter = |value: &Scalar| {
            let (sql_type, length, sub_type) = match value {
                Scalar::Int32(_) => (SqlType::LONG, 4, 0),
                Scalar::Double(_) => (SqlType::DOUBLE, 8, 0),
                Scalar::Date(_) => (SqlType::DATE, 4, 0),
                Scalar::Timestamp(_) => (SqlType::TIMESTAMP, 8, 0),
                _ => (SqlType::VARYING, 64 * 4, charset_id::UTF8.into()),
            };
            Descriptor { sql_type, length, sub_type, nullable: true, ..Descriptor::default() }
        };
        self.values().iter().map(parameter).collect()
    }
}

/// A row on its own, from values to a message.
#[divan::bench(args = [Single::Int, Single::Double, Single::Date, Single::Timestamp, Single::Ascii, Single::Accented, Single::Three])]
fn single_row(bencher: Bencher<'_, '_>, single: Single) {
    let values = single.values();
    let mut encoder = RowEncoder::new(&single.parameters()).expect("known types");
    let mut message = Vec::new();
    let layout = encoder.encode(&values, &mut message).expect("plain values").clone();
    let found = decoded(&layout, &message);
    for (column, value) in found.columns().iter().zip(&values) {
        assert_eq!(column, &array(value));
    }
    let length = message.len();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        message.clear();
        encoder.encode(black_box(&values), &mut message).expect("plain values");
        assert_eq!(message.len(), length);
    });
}

fn array(value: &Scalar) -> ArrayRef {
    match value {
        Scalar::Int32(value) => Arc::new(Int32Array::from(vec![*value])),
        Scalar::Double(value) => Arc::new(Float64Array::from(vec![*value])),
        Scalar::Date(value) => Arc::new(Date32Array::from(vec![*value])),
        Scalar::Timestamp(value) => Arc::new(TimestampMicrosecondArray::from(vec![*value])),
        Scalar::Text(value) => Arc::new(StringArray::from(vec![value.as_str()])),
        other => panic!("{other:?} is not among the values above"),
    }
}
