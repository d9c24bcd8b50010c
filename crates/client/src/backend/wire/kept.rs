//! Rows that arrived before a builder had room for them.

use crate::arrow::BatchBuilder;
use crate::error::Result;
use firearrow_proto::api::row::{NULL_POSITION, PackedRows};

/// Rows that wait for a builder.
#[derive(Debug)]
pub(super) struct KeptRows {
    bytes: Vec<u8>,
    positions: Vec<u32>,
    columns: usize,
    rows: usize,
    /// Number of rows already moved.
    next: usize,
}

impl KeptRows {
    /// Copies the rows from `start` on.
    pub(super) fn new(rows: &PackedRows<'_>, start: usize) -> Self {
        let positions = &rows.positions[start * rows.columns..rows.rows * rows.columns];
        let first = positions.iter().copied().filter(|at| *at != NULL_POSITION).min();
        let base = first.unwrap_or(rows.bytes.len() as u32);
        let shift = |at: &u32| if *at == NULL_POSITION { NULL_POSITION } else { at - base };
        Self {
            bytes: rows.bytes[base as usize..].to_vec(),
            positions: positions.iter().map(shift).collect(),
            columns: rows.columns,
            rows: rows.rows - start,
            next: 0,
        }
    }

    /// Returns the size of the rows in bytes.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>() + self.bytes.len() + size_of_val(self.positions.as_slice())
    }

    /// Moves rows into `builder`; `true` if all of them fitted.
    pub(super) fn give(&mut self, builder: &mut BatchBuilder) -> Result<bool> {
        self.next += builder.push(&self.as_rows(), self.next)?;
        Ok(self.next >= self.rows)
    }

    fn as_rows(&self) -> PackedRows<'_> {
        PackedRows { bytes: &self.bytes, positions: &self.positions, columns: self.columns, rows: self.rows }
    }
}
