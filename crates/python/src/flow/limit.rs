//! Bounds for what a call keeps of a result.

use crate::failure::Failure;
use crate::options::Bounded;
use arrow::array::{Array, RecordBatch};

/// The most that a call keeps, counted by batch.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limit {
    rows: Option<u64>,
    bytes: Option<u64>,
}

impl Limit {
    pub(crate) fn new(rows: Option<Bounded<u64>>, bytes: Option<Bounded<u64>>) -> Self {
        Self { rows: rows.map(|number| number.0), bytes: bytes.map(|number| number.0) }
    }

    /// The bytes of batches, if they are limited.
    pub(crate) fn bytes<'a>(&self, batches: impl IntoIterator<Item = &'a RecordBatch>) -> u64 {
        match self.bytes {
            Some(_) => batches.into_iter().map(size).sum(),
            None => 0,
        }
    }

    pub(crate) fn check(&self, rows: u64, bytes: u64) -> Result<(), Failure> {
        let over = |what: &str, most: u64| {
            Failure::TooLarge(format!(
                "the result has more than {most} {what} (max_result_{what}): fetch it in parts with fetchmany, by iterating or as a \
                 stream, or raise max_result_{what}"
            ))
        };
        match (self.rows.filter(|most| rows > *most), self.bytes.filter(|most| bytes > *most)) {
            (Some(most), _) => Err(over("rows", most)),
            (_, Some(most)) => Err(over("bytes", most)),
            _ => Ok(()),
        }
    }
}

/// The bytes of a batch's values, without unused room in its buffers.
fn size(batch: &RecordBatch) -> u64 {
    let sizes = batch.columns().iter().map(|column| {
        column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size()) as u64
    });
    sizes.sum()
}
