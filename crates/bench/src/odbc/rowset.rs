//! The buffers of an application: columns of a row set, and arrays of parameters.

use super::abi::NULL_DATA;
use super::kind::Kind;
use super::memory::Memory;
use crate::demo::checksum::NULL;
use crate::error::{Error, Result};

/// A buffer for each column, with room for some rows.
#[derive(Debug)]
pub(super) struct Rowset {
    pub(super) columns: Vec<Buffer>,
    /// The number of rows that there is room for.
    pub(super) size: usize,
    /// The number of rows that the driver wrote.
    pub(super) fetched: Memory<usize>,
}

/// The values of a column.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) kind: Kind,
    /// Bytes from one value to the next.
    pub(super) width: usize,
    /// Aligned for all C types.
    pub(super) data: Memory<u64>,
    pub(super) lengths: Memory<isize>,
}

impl Rowset {
    pub(super) fn new(kinds: &[Kind], size: usize) -> Self {
        let buffer = |kind: &Kind| {
            let width = kind.width();
            let data = Memory::new((size * width).div_ceil(size_of::<u64>()));
            Buffer { kind: *kind, width, data, lengths: Memory::new(size) }
        };
        Self { columns: kinds.iter().map(buffer).collect(), size, fetched: Memory::new(1) }
    }

    /// Adds the checksums of the first `rows` rows to those of each column.
    #[inline]
    pub(super) fn sum(&self, rows: usize, sums: &mut [u64]) -> Result<()> {
        for (buffer, sum) in self.columns.iter().zip(sums) {
            *sum = sum.wrapping_add(buffer.checksum(rows)?);
        }
        Ok(())
    }
}

impl Buffer {
    fn value(&self, row: usize) -> Result<Option<&[u8]>> {
        let capacity = match self.kind {
            // Without the terminator.
            Kind::Text(_) | Kind::Decimal(_) => self.width - 1,
            _ => self.width,
        };
        match self.lengths.get(row) {
            NULL_DATA => Ok(None),
            length if usize::try_from(length).is_ok_and(|length| length <= capacity) => {
                Ok(Some(self.data.bytes(row * self.width, length.unsigned_abs())))
            }
            length => Err(Error::other(format!("the driver returned the length {length}"))),
        }
    }

    fn checksum(&self, rows: usize) -> Result<u64> {
        let hash = |row| self.value(row)?.map_or(Ok(NULL), |value| self.kind.hash(value));
        (0..rows).map(hash).try_fold(0, |sum: u64, hash| Ok(sum.wrapping_add(hash?)))
    }
}

/// The parameters of many rows of INTEGER columns.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) columns: Vec<Memory<i32>>,
    /// The number of rows that there is room for.
    pub(super) size: usize,
    pub(super) statuses: Memory<u16>,
    pub(super) processed: Memory<usize>,
}

impl Parameters {
    pub(super) fn new(columns: u64, size: usize) -> Self {
        let columns = (0..columns).map(|_| Memory::new(size)).collect();
        Self { columns, size, statuses: Memory::new(size), processed: Memory::new(1) }
    }

    /// Sets the first `count` rows; the values are functions of row and column.
    pub(super) fn fill(&mut self, first: u64, count: usize, value: impl Fn(u64, u64) -> i32) {
        for (column, memory) in (0..).zip(&mut self.columns) {
            for row in 0..count {
                memory.set(row, value(first + row as u64, column));
            }
        }
    }
}
