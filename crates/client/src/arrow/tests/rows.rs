//! Rows made from plain values: as native messages and as packed rows, written independently.

use crate::arrow::{BatchBuilder, BatchLimits, DecodeError, ReadOptions, output_layout};
use arrow::array::RecordBatch;
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use firearrow_proto::api::row::{NULL_POSITION, NativeRows, PackedRows, RowSource};
use std::sync::Arc;

/// A value as the engine stores it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Short(i16),
    Long(i32),
    Int64(i64),
    Int128(i128),
    Float(f32),
    Double(f64),
    Dec16(u64),
    Dec34(u128),
    Date(i32),
    Time(u32),
    Timestamp(i32, u32),
    /// With zone and displacement.
    TimeTz(u32, u16, i16),
    TimestampTz(i32, u32, u16, i16),
    Boolean(bool),
    /// CHAR is padded with blanks, or zeros for OCTETS.
    Text(Vec<u8>),
    Blob(u64),
    /// For the type without values.
    Nothing,
}

/// A column of this type, length in bytes, scale and sub type.
pub(super) fn column(sql_type: SqlType, length: u32, scale: i32, sub_type: i32) -> Descriptor {
    Descriptor { sql_type, nullable: true, sub_type, scale, length, alias: "C".into(), ..Default::default() }
}

/// A VARCHAR of this many characters in UTF8.
pub(super) fn varchar(characters: u32) -> Descriptor {
    column(SqlType::VARYING, characters * 4, 0, charset_id::UTF8.into())
}

/// A CHAR of this many characters in UTF8.
pub(super) fn char(characters: u32) -> Descriptor {
    column(SqlType::TEXT, characters * 4, 0, charset_id::UTF8.into())
}

/// Native messages and packed rows of the same values.
pub(super) struct Rows {
    pub(super) layout: Arc<RowLayout>,
    native: Vec<u8>,
    packed: Vec<u8>,
    positions: Vec<u32>,
    count: usize,
}

impl Rows {
    pub(super) fn new(layout: RowLayout, rows: &[Vec<Value>]) -> Self {
        let mut made = Self {
            native: vec![0; layout.native_stride() * rows.len()],
            packed: Vec::new(),
            positions: Vec::new(),
            count: rows.len(),
            layout: Arc::new(layout),
        };
        for (index, row) in rows.iter().enumerate() {
            made.write_native(index, row);
            made.write_packed(row);
        }
        made
    }

    pub(super) fn native(&self) -> NativeRows<'_> {
        NativeRows::new(&self.layout, &self.native, self.count).expect("long enough")
    }

    pub(super) fn packed(&self) -> PackedRows<'_> {
        PackedRows {
            bytes: &self.packed,
            positions: &self.positions,
            columns: self.layout.fields().len(),
            rows: self.count,
        }
    }

    fn write_native(&mut self, index: usize, row: &[Value]) {
        let start = index * self.layout.native_stride();
        for (field, value) in self.layout.fields().iter().zip(row) {
            if *value == Value::Null {
                self.native[start + field.null_offset..][..2].copy_from_slice(&[0xff, 0xff]);
                continue;
            }
            let mut bytes = Vec::new();
            match value {
                Value::Null | Value::Nothing => {}
                Value::Short(value) => bytes.extend(value.to_le_bytes()),
                Value::Long(value) | Value::Date(value) => bytes.extend(value.to_le_bytes()),
                Value::Int64(value) => bytes.extend(value.to_le_bytes()),
                Value::Int128(value) => bytes.extend(value.to_le_bytes()),
                Value::Float(value) => bytes.extend(value.to_le_bytes()),
                Value::Double(value) => bytes.extend(value.to_le_bytes()),
                Value::Dec16(value) => bytes.extend(value.to_le_bytes()),
                Value::Dec34(value) => bytes.extend(value.to_le_bytes()),
                Value::Time(value) => bytes.extend(value.to_le_bytes()),
                Value::Timestamp(date, time) => {
                    bytes.extend(date.to_le_bytes());
                    bytes.extend(time.to_le_bytes());
                }
                Value::TimeTz(time, zone, displacement) => {
                    bytes.extend(time.to_le_bytes());
                    bytes.extend(zone.to_le_bytes());
                    bytes.extend(displacement.to_le_bytes());
                }
                Value::TimestampTz(date, time, zone, displacement) => {
                    bytes.extend(date.to_le_bytes());
                    bytes.extend(time.to_le_bytes());
                    bytes.extend(zone.to_le_bytes());
                    bytes.extend(displacement.to_le_bytes());
                }
                Value::Boolean(value) => bytes.push(u8::from(*value)),
                Value::Text(text) => match field.kind {
                    FieldKind::Varying(_) => {
                        bytes.extend((text.len() as u16).to_le_bytes());
                        bytes.extend(text);
                    }
                    FieldKind::Text(length) => bytes.extend(padded(text, length, field.charset)),
                    kind => panic!("text for {kind:?}"),
                },
                Value::Blob(id) => {
                    bytes.extend(((id >> 32) as u32).to_le_bytes());
                    bytes.extend((*id as u32).to_le_bytes());
                }
            }
            self.native[start + field.offset..][..bytes.len()].copy_from_slice(&bytes);
        }
    }

    fn write_packed(&mut self, row: &[Value]) {
        let bitmap = self.packed.len();
        self.packed.resize(bitmap + self.layout.bitmap_length(), 0);
        let out = &mut self.packed;
        for (index, (field, value)) in self.layout.fields().iter().zip(row).enumerate() {
            if *value == Value::Null {
                out[bitmap + index / 8] |= 1 << (index % 8);
                self.positions.push(NULL_POSITION);
                continue;
            }
            self.positions.push(out.len() as u32);
            let ex = matches!(field.kind, FieldKind::TimeTzEx | FieldKind::TimestampTzEx);
            match value {
                Value::Null | Value::Nothing => {}
                Value::Short(value) => out.extend(i32::from(*value).to_be_bytes()),
                Value::Long(value) | Value::Date(value) => out.extend(value.to_be_bytes()),
                Value::Int64(value) => out.extend(value.to_be_bytes()),
                Value::Int128(value) => out.extend(value.to_be_bytes()),
                Value::Float(value) => out.extend(value.to_be_bytes()),
                Value::Double(value) => out.extend(value.to_be_bytes()),
                Value::Dec16(value) => out.extend(value.to_be_bytes()),
                Value::Dec34(value) => out.extend(value.to_be_bytes()),
                Value::Time(value) => out.extend(value.to_be_bytes()),
                Value::Timestamp(date, time) => {
                    out.extend(date.to_be_bytes());
                    out.extend(time.to_be_bytes());
                }
                Value::TimeTz(time, zone, displacement) => {
                    out.extend(time.to_be_bytes());
                    out.extend(u32::from(*zone).to_be_bytes());
                    if ex {
                        out.extend(i32::from(*displacement).to_be_bytes());
                    }
                }
                Value::TimestampTz(date, time, zone, displacement) => {
                    out.extend(date.to_be_bytes());
                    out.extend(time.to_be_bytes());
                    out.extend(u32::from(*zone).to_be_bytes());
                    if ex {
                        out.extend(i32::from(*displacement).to_be_bytes());
                    }
                }
                Value::Boolean(value) => out.extend([u8::from(*value), 0, 0, 0]),
                Value::Text(text) => {
                    match field.kind {
                        FieldKind::Varying(_) => {
                            out.extend((text.len() as u32).to_be_bytes());
                            out.extend(text);
                        }
                        FieldKind::Text(length) => out.extend(padded(text, length, field.charset)),
                        kind => panic!("text for {kind:?}"),
                    }
                    out.resize(out.len().next_multiple_of(4), 0);
                }
                Value::Blob(id) => out.extend(id.to_be_bytes()),
            }
        }
    }
}

fn padded(text: &[u8], length: u16, charset: u8) -> Vec<u8> {
    let mut padded = text.to_vec();
    padded.resize(length.into(), if charset == charset_id::OCTETS { 0 } else { b' ' });
    padded
}

/// Returns one batch of all rows, which must not wait for BLOBs.
pub(super) fn batch<S: RowSource>(
    columns: &[Descriptor],
    layout: &Arc<RowLayout>,
    options: &ReadOptions,
    rows: &S,
) -> Result<RecordBatch, DecodeError> {
    let mut builder = BatchBuilder::new(columns, layout, options, BatchLimits::default()).expect("a mapping");
    assert_eq!(builder.push(rows, 0)?, rows.row_count());
    Ok(builder.finish()?.unwrap_or_else(|| RecordBatch::new_empty(builder.schema())))
}

/// Decodes one column into Arrow. Both backends must agree.
pub(super) fn decode(
    column: &Descriptor,
    options: &ReadOptions,
    values: &[Value],
) -> Result<arrow::array::ArrayRef, DecodeError> {
    let columns = std::slice::from_ref(column);
    let layout = output_layout(columns, options).expect("a layout");
    let rows: Vec<_> = values.iter().map(|value| vec![value.clone()]).collect();
    let rows = Rows::new(layout, &rows);
    let native = batch(columns, &rows.layout, options, &rows.native());
    let packed = batch(columns, &rows.layout, options, &rows.packed());
    assert_eq!(native, packed);
    native.map(|batch| std::sync::Arc::clone(batch.column(0)))
}
