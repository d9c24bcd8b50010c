//! One builder per column: it takes blocks of rows and returns an Arrow array.
//!
//! The builder is chosen once per result. Each block takes one jump to a loop compiled for that type and row source; no
//! decision is made per value.

mod array;
mod binary;
mod blob;
mod bytes;
mod cells;
mod decimal;
mod fixed;
mod spare;
mod temporal;
mod text;
mod values;

use super::error::{ColumnError, Fault};
use super::options::{NoneEncoding, ReadOptions};
use super::schema::{bytes_per_character, encoding, is_text_blob, sql_name};
use crate::value::Raw;
use array::ArrayColumn;
use arrow::array::{ArrayRef, NullArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimestampMicrosecondType, UInt64Type,
};
use binary::FixedBinaryColumn;
use blob::BlobColumn;
use bytes::ByteColumn;
use decimal::{
    Decfloat, DecfloatDecimal, DecfloatDouble, INT128_REMEDY, Int128Text, NUMERIC_REMEDY, ScaledInt64,
    ScaledInt128, ScaledLong, ScaledShort, WideInt128,
};
use firearrow_proto::api::charset::single_byte;
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::layout::{FieldKind, FieldLayout};
use firearrow_proto::api::row::RowSource;
use fixed::BooleanColumn;
use std::ops::Range;
use std::sync::Arc;
use temporal::{Displacement, OffsetColumn, TimeTz, TimestampTz};
use text::{Char, Encoding, General, Varying};
use values::PrimitiveColumn;

/// The operations of every builder.
trait Column {
    /// Appends the values of these rows, at most [`BLOCK`](super::builder::BLOCK).
    fn push<S: RowSource>(&mut self, rows: &S, range: Range<usize>, column: usize)
    -> Result<(), ColumnError>;

    /// Returns the bytes of the values so far.
    fn byte_len(&self) -> usize;

    /// Returns the maximum bytes that one more row can add.
    fn width(&self) -> usize;

    /// Returns the first `rows` values as an array; the later ones stay for the next batch.
    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError>;

    /// Drops all values and keeps the room for them; `false` if it cannot.
    fn clear(&mut self) -> bool {
        false
    }

    /// Returns the value of a row; `None` where only the array has it.
    fn raw(&self, _: usize) -> Option<Raw<'_>> {
        None
    }
}

macro_rules! builders {
    ($($variant:ident($column:ty),)+) => {
        /// The builder of one column.
        #[derive(Debug)]
        pub(super) enum ColumnBuilder { $($variant($column),)+ }

        impl ColumnBuilder {
            /// Appends the values of these rows. An error leaves the rows of the block incomplete.
            pub(super) fn push<S: RowSource>(
                &mut self,
                rows: &S,
                range: Range<usize>,
                column: usize,
            ) -> Result<(), ColumnError> {
                match self { $(Self::$variant(builder) => builder.push(rows, range, column),)+ }
            }

            /// Returns the bytes of the values so far.
            pub(super) fn byte_len(&self) -> usize {
                match self { $(Self::$variant(builder) => builder.byte_len(),)+ }
            }

            /// Returns the maximum bytes that one more row can add, not counting BLOB contents.
            pub(super) fn width(&self) -> usize {
                match self { $(Self::$variant(builder) => builder.width(),)+ }
            }

            /// Returns the first `rows` values as an array; the later ones stay for the next batch.
            pub(super) fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
                match self { $(Self::$variant(builder) => builder.finish(rows),)+ }
            }

            /// Drops all values and keeps the room for them; `false` if it cannot.
            pub(super) fn clear(&mut self) -> bool {
                match self { $(Self::$variant(builder) => builder.clear(),)+ }
            }

            /// Returns the value of a row; `None` where only the array has it.
            pub(super) fn raw(&self, row: usize) -> Option<Raw<'_>> {
                match self { $(Self::$variant(builder) => builder.raw(row),)+ }
            }
        }
    };
}

builders! {
    Short(PrimitiveColumn<Int16Type, fixed::Short>),
    Long(PrimitiveColumn<Int32Type, fixed::Long>),
    Int64(PrimitiveColumn<Int64Type, fixed::Int64>),
    Float(PrimitiveColumn<Float32Type, fixed::Float>),
    Double(PrimitiveColumn<Float64Type, fixed::Double>),
    Boolean(BooleanColumn),
    ScaledShort(PrimitiveColumn<Decimal128Type, ScaledShort>),
    ScaledLong(PrimitiveColumn<Decimal128Type, ScaledLong>),
    ScaledInt64(PrimitiveColumn<Decimal128Type, ScaledInt64>),
    ScaledInt128(PrimitiveColumn<Decimal128Type, ScaledInt128>),
    WideInt128(PrimitiveColumn<Decimal256Type, WideInt128>),
    Int128Text(ByteColumn<Int128Text>),
    DecfloatText(ByteColumn<Decfloat>),
    DecfloatDouble(PrimitiveColumn<Float64Type, DecfloatDouble>),
    DecfloatDecimal(PrimitiveColumn<Decimal128Type, DecfloatDecimal>),
    Date(PrimitiveColumn<Date32Type, temporal::Date>),
    Time(PrimitiveColumn<Time64MicrosecondType, temporal::Time>),
    TimeTz(ByteColumn<TimeTz>),
    Timestamp(PrimitiveColumn<TimestampMicrosecondType, temporal::Timestamp>),
    TimestampTz(ByteColumn<TimestampTz>),
    Offset(OffsetColumn),
    Varying(ByteColumn<Varying>),
    Char(ByteColumn<Char>),
    General(ByteColumn<General>),
    FixedBinary(FixedBinaryColumn),
    Blob(BlobColumn<i32>),
    LargeBlob(BlobColumn<i64>),
    BlobId(PrimitiveColumn<UInt64Type, fixed::BlobId>),
    Array(ArrayColumn),
    Nothing(NullColumn),
}

impl ColumnBuilder {
    /// Returns the builder that makes `data_type` from fields of this layout; `None` if the layout was not made for
    /// this column.
    pub(super) fn new(
        column: &Descriptor,
        field: &FieldLayout,
        data_type: &DataType,
        options: &ReadOptions,
    ) -> Option<Self> {
        let remedy = if sql_name(column) == "INT128" { INT128_REMEDY } else { NUMERIC_REMEDY };
        let displacement = match field.kind {
            FieldKind::TimeTzEx | FieldKind::TimestampTzEx => Displacement::Sent,
            _ => Displacement::OfZone,
        };
        let decfloat = if field.kind == FieldKind::Dec16 { Decfloat::Dec16 } else { Decfloat::Dec34 };
        let same = |scale: i8| i16::from(scale) == -i16::from(field.scale);
        macro_rules! primitive {
            ($variant:ident($read:expr)) => {
                Self::$variant(PrimitiveColumn::new($read, data_type.clone()))
            };
        }
        macro_rules! bytes {
            ($variant:ident($write:expr)) => {
                Self::$variant(ByteColumn::new($write, data_type.clone()))
            };
        }
        Some(match (field.kind, data_type) {
            (FieldKind::Short, DataType::Int16) => primitive!(Short(fixed::Short)),
            (FieldKind::Long, DataType::Int32) => primitive!(Long(fixed::Long)),
            (FieldKind::Int64, DataType::Int64) => primitive!(Int64(fixed::Int64)),
            (FieldKind::Float, DataType::Float32) => primitive!(Float(fixed::Float)),
            (FieldKind::Double, DataType::Float64) => primitive!(Double(fixed::Double)),
            (FieldKind::Boolean, DataType::Boolean) => Self::Boolean(BooleanColumn::new()),
            (FieldKind::Short, &DataType::Decimal128(precision, scale)) if same(scale) => {
                primitive!(ScaledShort(ScaledShort::new(precision, remedy)))
            }
            (FieldKind::Long, &DataType::Decimal128(precision, scale)) if same(scale) => {
                primitive!(ScaledLong(ScaledLong::new(precision, remedy)))
            }
            (FieldKind::Int64, &DataType::Decimal128(precision, scale)) if same(scale) => {
                primitive!(ScaledInt64(ScaledInt64::new(precision, remedy)))
            }
            (FieldKind::Int128, &DataType::Decimal128(precision, scale)) if same(scale) => {
                primitive!(ScaledInt128(ScaledInt128::new(precision, remedy)))
            }
            (FieldKind::Int128, &DataType::Decimal256(_, scale)) if same(scale) => {
                primitive!(WideInt128(WideInt128))
            }
            (FieldKind::Int128, DataType::Utf8) if field.scale == 0 => bytes!(Int128Text(Int128Text)),
            (FieldKind::Dec16 | FieldKind::Dec34, DataType::Utf8) => bytes!(DecfloatText(decfloat)),
            (FieldKind::Dec16 | FieldKind::Dec34, DataType::Float64) => {
                primitive!(DecfloatDouble(DecfloatDouble(decfloat)))
            }
            (FieldKind::Dec16 | FieldKind::Dec34, &DataType::Decimal128(precision, scale)) => {
                primitive!(DecfloatDecimal(DecfloatDecimal::new(decfloat, precision, scale)))
            }
            (FieldKind::Date, DataType::Date32) => primitive!(Date(temporal::Date)),
            (FieldKind::Time | FieldKind::TimeTz | FieldKind::TimeTzEx, DataType::Time64(_)) => {
                primitive!(Time(temporal::Time))
            }
            (FieldKind::TimeTz | FieldKind::TimeTzEx, DataType::Utf8) => bytes!(TimeTz(TimeTz(displacement))),
            (FieldKind::Timestamp, DataType::Timestamp(_, None))
            | (FieldKind::TimestampTz | FieldKind::TimestampTzEx, DataType::Timestamp(_, Some(_))) => {
                primitive!(Timestamp(temporal::Timestamp))
            }
            (FieldKind::TimestampTz | FieldKind::TimestampTzEx, DataType::Utf8) => {
                bytes!(TimestampTz(TimestampTz(displacement)))
            }
            (FieldKind::TimestampTz | FieldKind::TimestampTzEx, DataType::Struct(_)) => {
                Self::Offset(OffsetColumn::new(displacement))
            }
            (FieldKind::Text(size), &DataType::FixedSizeBinary(length)) if i32::from(size) == length => {
                Self::FixedBinary(FixedBinaryColumn::new(size))
            }
            (
                FieldKind::Text(_) | FieldKind::Varying(_),
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Binary,
            ) => Self::text(column, field, data_type, options),
            (FieldKind::Blob, DataType::Utf8 | DataType::Utf8View | DataType::Binary) => {
                Self::Blob(BlobColumn::new(data_type.clone(), text_encoding(column, data_type, options)))
            }
            (FieldKind::Blob, DataType::LargeUtf8) => {
                Self::LargeBlob(BlobColumn::new(data_type.clone(), text_encoding(column, data_type, options)))
            }
            (FieldKind::Blob, DataType::UInt64) => primitive!(BlobId(fixed::BlobId)),
            (FieldKind::Array, DataType::List(_)) => {
                Self::Array(ArrayColumn::new(column.array.as_ref()?, data_type, options)?)
            }
            (FieldKind::Nothing, DataType::Null) => Self::Nothing(NullColumn { rows: 0 }),
            _ => return None,
        })
    }

    fn text(column: &Descriptor, field: &FieldLayout, data_type: &DataType, options: &ReadOptions) -> Self {
        let encoding = text_encoding(column, data_type, options);
        let is_char = column.sql_type == SqlType::TEXT && !matches!(data_type, DataType::Binary);
        let trim = is_char && options.trim_char;
        let (bytes, is_varying) = match field.kind {
            FieldKind::Varying(bytes) => (bytes, true),
            FieldKind::Text(bytes) => (bytes, false),
            _ => (0, false),
        };
        let per_character = bytes_per_character(column) as u16;
        let characters = (is_char && !is_varying && per_character > 1 && bytes % per_character == 0)
            .then_some(bytes / per_character.max(1));
        let data_type = data_type.clone();
        match characters {
            None if is_varying && !trim && encoding.is_verbatim() => {
                Self::Varying(ByteColumn::new(Varying { max: bytes, encoding }, data_type))
            }
            Some(characters) if !trim && encoding.is_verbatim() => {
                Self::Char(ByteColumn::new(Char { bytes, characters }, data_type))
            }
            _ => {
                let general = General { bytes, is_varying, characters, trim, encoding };
                Self::General(ByteColumn::new(general, data_type))
            }
        }
    }

    /// Returns the maximum stored length of the contents, if the column declares one.
    pub(super) fn most_stored(&self) -> Option<u64> {
        match self {
            Self::Array(column) => Some(column.most_stored()),
            _ => None,
        }
    }

    /// Returns the number of complete rows; `None` if rows are always complete.
    pub(super) fn filled(&self) -> Option<usize> {
        match self {
            Self::Blob(column) => Some(column.filled()),
            Self::LargeBlob(column) => Some(column.filled()),
            Self::Array(column) => Some(column.filled()),
            _ => None,
        }
    }

    /// Returns the id of the BLOB or array that this row waits for.
    pub(super) fn pending(&self, row: usize) -> Option<u64> {
        match self {
            Self::Blob(column) => column.pending(row),
            Self::LargeBlob(column) => column.pending(row),
            Self::Array(column) => column.pending(row),
            _ => None,
        }
    }

    /// Returns the row whose BLOB or array must be filled in next.
    pub(super) fn wanted(&self) -> Option<usize> {
        match self {
            Self::Blob(column) => Some(column.wanted()),
            Self::LargeBlob(column) => Some(column.wanted()),
            Self::Array(column) => Some(column.wanted()),
            _ => None,
        }
    }

    /// Fills in the BLOB or array of the wanted row.
    pub(super) fn fill(&mut self, contents: &[u8]) -> Result<(), Fault> {
        match self {
            Self::Blob(column) => column.fill(contents),
            Self::LargeBlob(column) => column.fill(contents),
            Self::Array(column) => column.fill(contents),
            _ => Ok(()),
        }
    }
}

/// Returns the encoding of this column's bytes.
fn text_encoding(column: &Descriptor, data_type: &DataType, options: &ReadOptions) -> Encoding {
    let is_text = matches!(column.sql_type, SqlType::TEXT | SqlType::VARYING) || is_text_blob(column);
    match data_type {
        DataType::Binary => Encoding { bytes: NoneEncoding::Binary, ..Encoding::DECLARED },
        _ if !is_text => Encoding::DECLARED,
        _ => Encoding {
            bytes: encoding(column, options),
            single: single_byte(column.charset()),
            is_guess: column.charset() == charset_id::NONE,
        },
    }
}

/// A column without values.
#[derive(Debug)]
pub(super) struct NullColumn {
    rows: usize,
}

impl Column for NullColumn {
    fn push<S: RowSource>(&mut self, _: &S, range: Range<usize>, _: usize) -> Result<(), ColumnError> {
        self.rows += range.len();
        Ok(())
    }

    fn byte_len(&self) -> usize {
        0
    }

    fn width(&self) -> usize {
        0
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        self.rows -= rows;
        Ok(Arc::new(NullArray::new(rows)))
    }
}
