//! BINARY(n) as fixed-size values.

use super::super::error::{ColumnError, Fault};
use super::Column;
use super::spare::Spare;
use super::values::Nulls;
use arrow::array::{ArrayRef, FixedSizeBinaryArray};
use firearrow_proto::api::row::RowSource;
use std::ops::Range;
use std::sync::Arc;

/// BINARY(n); NULLs are n zeros.
#[derive(Debug)]
pub(crate) struct FixedBinaryColumn {
    /// Bytes per value, at least 1.
    size: u16,
    data: Vec<u8>,
    nulls: Nulls,
    spare: Spare<u8>,
}

impl FixedBinaryColumn {
    pub(crate) fn new(size: u16) -> Self {
        Self { size, data: Vec::new(), nulls: Nulls::new(), spare: Spare::default() }
    }
}

impl Column for FixedBinaryColumn {
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        let size = usize::from(self.size);
        let first = self.data.len();
        self.data.resize(first + size * range.len(), 0);
        let mut bad = None;
        let mut validity = self.nulls.block(range.len());
        let fields = rows.column(column, range.clone()).enumerate();
        for (value, (index, field)) in self.data[first..].chunks_exact_mut(size).zip(fields) {
            match field {
                Some(bytes) => match bytes.get(..size) {
                    Some(bytes) => value.copy_from_slice(bytes),
                    None => bad = bad.or(Some(range.start + index)),
                },
                None => validity.null(index),
            }
        }
        validity.end();
        match bad {
            None => Ok(()),
            Some(row) => Err(ColumnError { row, fault: Fault::malformed("BINARY") }),
        }
    }

    fn byte_len(&self) -> usize {
        self.data.len()
    }

    fn width(&self) -> usize {
        self.size.into()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        let data = self.spare.take(&mut self.data, rows * usize::from(self.size)).into_inner();
        Ok(Arc::new(FixedSizeBinaryArray::new(self.size.into(), data, self.nulls.take(rows))))
    }
}
