//! Numbers that Arrow stores as Firebird does, and BOOLEAN.

use super::super::builder::BLOCK;
use super::super::error::{ColumnError, Fault};
use super::Column;
use super::values::{Nulls, Read};
use crate::value::Raw;
use arrow::array::{ArrayRef, BooleanArray, BooleanBufferBuilder};
use firearrow_proto::api::row::{RowSource, ValueFormat};
use std::ops::Range;
use std::sync::Arc;

macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident: $value:ty = $method:ident, $what:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name;

        impl Read for $name {
            type Value = $value;

            #[inline(always)]
            fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<$value> {
                F::$method(bytes)
            }

            fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
                Fault::malformed($what)
            }
        }
    )+};
}

plain! {
    /// SMALLINT.
    Short: i16 = i16, "SMALLINT";
    /// INTEGER.
    Long: i32 = i32, "INTEGER";
    /// BIGINT.
    Int64: i64 = i64, "BIGINT";
    /// FLOAT.
    Float: f32 = f32, "FLOAT";
    /// DOUBLE PRECISION.
    Double: f64 = f64, "DOUBLE PRECISION";
    /// The id of a BLOB.
    BlobId: u64 = quad, "BLOB id";
}

/// BOOLEAN; any byte but zero is true.
#[derive(Debug)]
pub(crate) struct BooleanColumn {
    bits: BooleanBufferBuilder,
    nulls: Nulls,
}

impl BooleanColumn {
    pub(crate) fn new() -> Self {
        Self { bits: BooleanBufferBuilder::new(0), nulls: Nulls::new() }
    }
}

impl Column for BooleanColumn {
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        let mut bad = None;
        let mut validity = self.nulls.block(range.len());
        let mut bits = [0; BLOCK / 8];
        for (index, field) in rows.column(column, range.clone()).enumerate() {
            let bit = match field {
                Some([byte, ..]) => *byte != 0,
                Some([]) => {
                    bad = bad.or(Some(range.start + index));
                    false
                }
                None => {
                    validity.null(index);
                    false
                }
            };
            bits[index / 8] |= u8::from(bit) << (index % 8);
        }
        self.bits.append_packed_range(0..range.len(), &bits);
        validity.end();
        match bad {
            None => Ok(()),
            Some(row) => Err(ColumnError { row, fault: Fault::malformed("BOOLEAN") }),
        }
    }

    fn byte_len(&self) -> usize {
        self.bits.len().div_ceil(8)
    }

    fn width(&self) -> usize {
        1
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        let bits = self.bits.finish();
        self.bits.reserve(rows);
        self.bits.append_buffer(&bits.slice(rows, bits.len() - rows));
        Ok(Arc::new(BooleanArray::new(bits.slice(0, rows), self.nulls.take(rows))))
    }

    fn clear(&mut self) -> bool {
        self.bits.truncate(0);
        self.nulls.clear();
        true
    }

    fn raw(&self, row: usize) -> Option<Raw<'_>> {
        let is_valid = row < self.bits.len() && self.nulls.is_valid(row);
        Some(if is_valid { Raw::Boolean(self.bits.get_bit(row)) } else { Raw::Null })
    }
}
