//! Rows that were read and stay in the client, for servers that do not scroll (before protocol 18).

use super::too_large;
use crate::error::{Error, Kind, Result};
use crate::scroll::Position;
use ::arrow::array::RecordBatch;
use ::arrow::compute::interleave_record_batch;

/// The rows read so far, and the place among them. Moves are those of `DsqlCursor` (Firebird 3.0 to 5.0).
#[derive(Debug, Default)]
pub(super) struct Kept {
    batches: Vec<RecordBatch>,
    /// The row with which each batch begins.
    starts: Vec<usize>,
    rows: usize,
    bytes: usize,
    /// All rows of the result are here.
    is_whole: bool,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the first row.
    #[default]
    Before,
    /// On this row, counted from 0.
    On(usize),
    /// After the last row.
    Behind,
}

impl Place {
    fn of(row: i128) -> Self {
        match usize::try_from(row) {
            Ok(row) => Self::On(row),
            Err(_) if row < 0 => Self::Before,
            Err(_) => Self::Behind,
        }
    }
}

impl Kept {
    /// Whether rows that are not here yet are needed to go there and fetch so many.
    pub(super) fn needs_more(&self, to: Position, rows: usize) -> bool {
        let ahead = if to == Position::Prior { 1 } else { rows };
        match self.target(to) {
            _ if self.is_whole => false,
            Some(Place::On(row)) => row.saturating_add(ahead) > self.rows,
            Some(Place::Before) => false,
            Some(Place::Behind) | None => true,
        }
    }

    /// Keeps the next rows of the result; `None` means that there are no more.
    pub(super) fn take(&mut self, batch: Option<RecordBatch>, memory: usize) -> Result<()> {
        let Some(batch) = batch else {
            self.is_whole = true;
            return Ok(());
        };
        self.bytes += batch.get_array_memory_size();
        if self.bytes > memory {
            return Err(too_large(memory, "stay near the beginning, read the rows once with query"));
        }
        self.starts.push(self.rows);
        self.rows += batch.num_rows();
        self.batches.push(batch);
        Ok(())
    }

    /// Moves there, and returns that row and those after it.
    pub(super) fn fetch(&mut self, to: Position, rows: usize) -> Result<Option<RecordBatch>> {
        let target = match self.target(to) {
            Some(Place::On(row)) if row >= self.rows => Place::Behind,
            Some(place) => place,
            None => return Err(Error::new(Kind::Misuse, "rows are missing")),
        };
        self.place = target;
        let Place::On(row) = target else { return Ok(None) };
        if to == Position::Prior {
            let count = rows.min(row + 1);
            self.place = Place::of(row as i128 - (rows - 1) as i128);
            return self.copy((row + 1 - count..=row).rev()).map(Some);
        }
        let count = rows.min(self.rows - row);
        self.place = if count < rows { Place::Behind } else { Place::On(row + count - 1) };
        let batch = self.batch_of(row);
        let start = row - self.starts[batch];
        if start + count <= self.batches[batch].num_rows() {
            return Ok(Some(self.batches[batch].slice(start, count)));
        }
        self.copy(row..row + count).map(Some)
    }

    /// Where that is: a row that may not exist, or `None` while the end is not known and matters.
    fn target(&self, to: Position) -> Option<Place> {
        let end = self.is_whole.then_some(self.rows as i128);
        let from_end = |by: i128| end.map(|end| Place::of(end + by));
        match (to, self.place) {
            (Position::First, _) => Some(Place::On(0)),
            (Position::Last, _) => from_end(-1),
            (Position::Absolute(0), _) => Some(Place::Before),
            (Position::Absolute(row), _) if row > 0 => Some(Place::of(i128::from(row) - 1)),
            (Position::Absolute(row), _) => from_end(row.into()),
            (Position::Next, place) => self.beyond(place, 1),
            (Position::Prior, place) => self.beyond(place, -1),
            (Position::Relative(by), place) => self.beyond(place, by),
        }
    }

    /// This many rows ahead of `place`.
    fn beyond(&self, place: Place, by: i64) -> Option<Place> {
        match place {
            Place::Before if by <= 0 => Some(Place::Before),
            Place::Before => Some(Place::of(i128::from(by) - 1)),
            Place::On(row) => Some(Place::of(row as i128 + i128::from(by))),
            // Nobody gets there before all rows are known.
            Place::Behind if by >= 0 => Some(Place::Behind),
            Place::Behind => Some(Place::of(self.rows as i128 + i128::from(by))),
        }
    }

    /// The batch in which a row is.
    fn batch_of(&self, row: usize) -> usize {
        self.starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// Rows from anywhere, in the order given.
    fn copy(&self, rows: impl Iterator<Item = usize>) -> Result<RecordBatch> {
        let places: Vec<(usize, usize)> = rows
            .map(|row| {
                let batch = self.batch_of(row);
                (batch, row - self.starts[batch])
            })
            .collect();
        let batches: Vec<&RecordBatch> = self.batches.iter().collect();
        interleave_record_batch(&batches, &places)
            .map_err(|error| Error::new(Kind::Data, format!("these rows do not fit one batch: {error}")))
    }
}
