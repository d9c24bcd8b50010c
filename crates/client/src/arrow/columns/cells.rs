//! Rows whose contents arrive later, common to BLOB and array columns.

use super::super::error::{ColumnError, Fault};
use super::spare::take;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use std::ops::Range;

/// What is known about a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    /// NULL, or empty: id 0 stands for a BLOB without contents.
    Known { is_null: bool },
    /// The id of the contents.
    Pending(u64),
}

/// The rows of a column, and which of them wait for contents.
#[derive(Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    /// The first row that still needs contents.
    wanted: usize,
}

impl Cells {
    /// Appends the ids of these rows.
    pub(super) fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
        what: &'static str,
    ) -> Result<(), ColumnError> {
        for (row, field) in range.clone().zip(rows.column(column, range)) {
            self.cells.push(match field {
                None => Cell::Known { is_null: true },
                Some(bytes) => match S::Format::quad(bytes) {
                    Some(0) => Cell::Known { is_null: false },
                    Some(id) => Cell::Pending(id),
                    None => return Err(ColumnError { row, fault: Fault::malformed(what) }),
                },
            });
        }
        self.settle();
        Ok(())
    }

    /// Returns the row whose contents must come next.
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Returns the id of the contents that this row waits for.
    pub(super) fn pending(&self, row: usize) -> Option<u64> {
        match self.cells.get(row) {
            Some(Cell::Pending(id)) if row >= self.wanted => Some(*id),
            _ => None,
        }
    }

    /// Notes that the contents of the wanted row have come.
    pub(super) fn came(&mut self) {
        self.wanted += 1;
        self.settle();
    }

    /// Whether this row is NULL, if known without its contents.
    pub(super) fn known(&self, row: usize) -> Option<bool> {
        match self.cells.get(row) {
            Some(Cell::Known { is_null }) => Some(*is_null),
            _ => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Removes and returns the first rows.
    pub(super) fn take(&mut self, rows: usize) -> Vec<Cell> {
        self.wanted -= rows;
        take(&mut self.cells, rows)
    }

    fn settle(&mut self) {
        while self.known(self.wanted).is_some() {
            self.wanted += 1;
        }
    }

    #[cfg(test)]
    pub(super) fn of(cells: Vec<Cell>) -> Self {
        let mut cells = Self { cells, wanted: 0 };
        cells.settle();
        cells
    }
}
