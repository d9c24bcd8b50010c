//! BINARY(n) as values of fixed size.

use super::super::error::{ColumnError, Fault};
use super::Column;
use super::values::{Nulls, take};
use arrow::array::{ArrayRef, FixedSizeBinaryArray};
use arrow::buffer::Buffer;
use firearrow_proto::api::row::RowSource;
use std::ops::Range;
use std::sync::Arc;

/// BINARY(n); NULLs are n zeros.
#[derive(Debug)]
pub(crate) struct FixedBinaryColumn {
    /// Bytes of a value, at least 1.
    size: u16,
    data: Vec<u8>,
    nulls: Nulls,
}

impl FixedBinaryColumn {
    pub(crate) fn new(size: u16) -> Self {
        Self { size, data: Vec::new(), nulls: Nulls::new() }
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
        let mut run = self.nulls.run();
        let mut bad = None;
        for row in range {
            let value = match rows.field(row, column) {
                Some(bytes) => {
                    run.valid();
                    bytes.get(..size)
                }
                None => {
                    run.null();
                    Some(&[][..])
                }
            };
            let end = self.data.len() + size;
            match value {
                Some(value) => self.data.extend_from_slice(value),
                None => bad = bad.or(Some(row)),
            }
            self.data.resize(end, 0);
        }
        run.end();
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
        let data = Buffer::from_vec(take(&mut self.data, rows * usize::from(self.size)));
        Ok(Arc::new(FixedSizeBinaryArray::new(self.size.into(), data, self.nulls.take(rows))))
    }
}
