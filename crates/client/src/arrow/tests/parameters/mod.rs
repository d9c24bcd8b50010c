//! Parameters: what is sent reads back as given, or is refused.

mod direct;
mod encoder;
mod exact;
mod refused;

use super::rows::{column, varchar};
use crate::arrow::{
    BatchBuilder, BatchLimits, BlobPolicy, EncodedParams, Int128As, ParamEncoder, ParamError, ParamErrorKind,
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

/// Describes a message field as a column.
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

/// Decodes these messages as the engine would.
fn decoded(mut params: EncodedParams) -> ArrayRef {
    let columns = [described(&params.layout.fields()[0])];
    let options = ReadOptions {
        timestamptz: TimestampTzAs::Utc,
        int128: Int128As::Decimal128,
        decimal_precision: "range".parse().expect("a word"),
        blobs: if params.has_blob_ids() { BlobPolicy::Lazy } else { BlobPolicy::default() },
        ..Default::default()
    };
    let cells = params.blobs.clone();
    for (id, cell) in (1..).zip(&cells) {
        params.set_blob(cell.row, cell.column, id << 32 | 7);
    }
    // Parameters are not fetched, so they have the layout of the messages, not that of output_layout.
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
