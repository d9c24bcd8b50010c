//! An open result.

use super::blobs::{Apart, Blobs, Chunk, Single};
use super::direction::{At, Direction, Goal};
use super::normal;
use super::window::Window;
use crate::column::Column;
use crate::diagnostics::{Failure, Result, State};
use crate::positioned::Positioned;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, SchemaRef, UInt64Type};
use firearrow_driver::Stream;
use std::ops::Range;
use std::sync::Arc;

/// Most bytes of a result whose rows can be fetched in any order.
const MOST_KEPT: usize = 1 << 30;

/// Where rows come from.
#[derive(Debug)]
pub(crate) enum Source {
    Stream(Box<Stream>),
    /// All of them are in the window.
    Memory,
}

impl Source {
    fn stream(&self) -> Result<&Stream> {
        match self {
            Self::Stream(stream) => Ok(stream),
            Self::Memory => {
                Err(Failure::new(State::CURSOR_STATE, "the result has ended, and its BLOBs with it"))
            }
        }
    }
}

/// Something that is always there.
fn lost() -> Failure {
    Failure::new(State::GENERAL, "internal error: a column is missing")
}

/// A result: the rows at hand, and the row set among them.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) columns: Arc<[Column]>,
    types: Box<[DataType]>,
    /// The columns whose batches have ids of BLOBs.
    blobs: Box<[Option<Blobs>]>,
    source: Source,
    window: Window,
    /// Whether all rows stay, since they can be fetched in any order.
    keeps: bool,
    /// The number of rows, once it is known.
    total: Option<u64>,
    /// Rows after these are not there for the application; 0 = all are.
    most: u64,
    at: At,
    /// Rows of the current row set.
    size: u64,
    /// The failure that ended the result, for the fetch that reaches it.
    pending: Option<Failure>,
    /// What concerns changes of its rows.
    pub(crate) positioned: Positioned,
}

/// What a fetch found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// The rows of the new row set, counted from 0 over the result; empty at an end.
    pub(crate) rows: Range<u64>,
    /// Whether it would have begun before the first row.
    pub(crate) is_moved: bool,
}

impl Cursor {
    pub(crate) fn of_stream(
        columns: Arc<[Column]>,
        stream: Stream,
        keeps: bool,
        most: u64,
        positioned: Positioned,
    ) -> Self {
        use arrow::array::RecordBatchReader;
        let schema = stream.schema();
        let cursor = Self::new(columns, &schema, Source::Stream(Box::new(stream)), keeps, most);
        Self { positioned, ..cursor }
    }

    /// Of a result that the driver has made.
    pub(crate) fn of_batch(columns: Arc<[Column]>, batch: RecordBatch, most: u64) -> Self {
        let mut cursor = Self::new(columns, &batch.schema(), Source::Memory, true, most);
        cursor.window.push(batch);
        cursor.total = Some(cursor.limited(cursor.window.end()));
        cursor
    }

    fn new(columns: Arc<[Column]>, schema: &SchemaRef, source: Source, keeps: bool, most: u64) -> Self {
        let (mut types, mut blobs) = (Vec::new(), Vec::new());
        for (at, field) in schema.fields().iter().enumerate() {
            let column = columns.get(at).filter(|_| *field.data_type() == DataType::UInt64);
            let is_text = column.is_some_and(|column| column.sql_type.is_text());
            types.push(match column {
                Some(_) if is_text => DataType::Utf8,
                Some(_) => DataType::Binary,
                None => normal::data_type(field.data_type()),
            });
            blobs.push(column.map(|column| Blobs::new(is_text, column.is_utf8)));
        }
        Self {
            columns,
            types: types.into(),
            blobs: blobs.into(),
            source,
            window: Window::default(),
            keeps,
            total: None,
            most,
            at: At::BeforeStart,
            size: 0,
            pending: None,
            positioned: Positioned::new(None, false),
        }
    }

    /// The types of the columns in the batches.
    pub(crate) fn types(&self) -> &[DataType] {
        &self.types
    }

    /// The values of a column in these rows, which must be at hand.
    pub(crate) fn values(&self, column: usize, rows: &[u64]) -> Result<ArrayRef> {
        let mut arrays: Vec<&dyn Array> = Vec::with_capacity(rows.len());
        let mut places = Vec::with_capacity(rows.len());
        for (at, &row) in rows.iter().enumerate() {
            let (batch, place) = self.window.pieces(row..row + 1).next().ok_or_else(lost)?;
            arrays.push(batch.columns().get(column).ok_or_else(lost)?.as_ref());
            places.push((at, place.start));
        }
        interleave(&arrays, &places).map_err(|error| Failure::new(State::GENERAL, error.to_string()))
    }

    /// Whether the result has this row. Reads up to it.
    pub(crate) fn has_row(&mut self, row: u64) -> Result<bool> {
        self.read_to(row.saturating_add(1))?;
        Ok(row < self.limited(self.window.end()))
    }

    /// The type of a column in the batches, counted from 0.
    pub(crate) fn data_type(&self, column: usize) -> Option<&DataType> {
        self.types.get(column)
    }

    fn limited(&self, rows: u64) -> u64 {
        if self.most == 0 { rows } else { rows.min(self.most) }
    }

    /// The number of rows, where it is known.
    pub(crate) fn total(&self) -> Option<u64> {
        self.total
    }

    /// The rows of the current row set.
    pub(crate) fn rowset(&self) -> Option<Range<u64>> {
        match self.at {
            At::Row(start) if self.size > 0 => Some(start..start + self.size),
            _ => None,
        }
    }

    /// Whether the cursor is before the first row.
    pub(crate) fn is_before_start(&self) -> bool {
        self.at == At::BeforeStart
    }

    /// Reads until this many rows, or all, have arrived.
    fn read_to(&mut self, rows: u64) -> Result<()> {
        let rows = self.limited(rows);
        while self.total.is_none() && self.window.end() < rows {
            let Source::Stream(stream) = &mut self.source else {
                self.total = Some(self.limited(self.window.end()));
                break;
            };
            match stream.next_batch() {
                Ok(Some(batch)) => self.window.push(normal::batch(batch)?),
                Ok(None) => {
                    self.total = Some(self.limited(self.window.end()));
                    self.let_go();
                }
                Err(error) => {
                    // The rows before it are good.
                    self.pending = Some(Failure::from(error));
                    self.total = Some(self.limited(self.window.end()));
                    self.source = Source::Memory;
                }
            }
            if self.keeps && self.window.memory() > MOST_KEPT {
                let text = "the result is too large to be fetched in any order: use a forward-only cursor";
                return Err(Failure::new(State::MEMORY, text));
            }
        }
        // All rows that the application wants are there: the server need not hold the others.
        if self.total.is_none() && self.most != 0 && self.window.end() >= self.most {
            self.total = Some(self.most);
            self.let_go();
        }
        Ok(())
    }

    /// Ends the result on the server: all rows are here. Their BLOBs are not.
    fn let_go(&mut self) {
        if self.blobs.iter().all(Option::is_none) {
            self.source = Source::Memory;
        }
    }

    /// Moves the row set.
    pub(crate) fn fetch(&mut self, direction: Direction, size: u64) -> Result<Fetched> {
        let size = size.max(1);
        self.positioned.count = None;
        if direction.needs_end(self.at) {
            self.read_to(u64::MAX)?;
            self.fail_at_end()?;
        }
        let total = self.total.unwrap_or(0);
        let (row, is_moved) = match direction.goal(self.at, self.size, size, total) {
            Goal::Row { row, is_moved } => (row, is_moved),
            Goal::BeforeStart => {
                (self.at, self.size) = (At::BeforeStart, 0);
                return Ok(Fetched { rows: 0..0, is_moved: false });
            }
        };
        if !self.keeps {
            self.window.drop_before(row);
            self.positioned.forget_before(row);
        }
        let end = row.saturating_add(size);
        self.read_to(end)?;
        let end = end.min(self.limited(self.window.end()));
        if row >= end {
            (self.at, self.size) = (At::AfterEnd, 0);
            if !self.keeps {
                // No row comes back, nor do their BLOBs.
                self.source = Source::Memory;
            }
            self.fail_at_end()?;
            return Ok(Fetched { rows: row..row, is_moved: false });
        }
        (self.at, self.size) = (At::Row(row), end - row);
        Ok(Fetched { rows: row..end, is_moved })
    }

    fn fail_at_end(&mut self) -> Result<()> {
        self.pending.take().map_or(Ok(()), Err)
    }

    /// Whether the batches have ids of BLOBs in this column.
    pub(crate) fn has_blobs(&self, column: usize) -> bool {
        matches!(self.blobs.get(column), Some(Some(_)))
    }

    /// BLOBs of a column, that of this row among them. So many rows are wanted.
    pub(crate) fn chunk(&mut self, column: usize, row: u64, wanted: usize) -> Result<&Chunk> {
        let Self { blobs, window, source, .. } = self;
        let Some(Some(blobs)) = blobs.get_mut(column) else { return Err(lost()) };
        if blobs.find(row).is_none() {
            let (batch, at) = window.find(row).ok_or_else(lost)?;
            let ids = batch.column(column).as_primitive_opt::<UInt64Type>().ok_or_else(lost)?;
            let count = blobs.count(row, wanted).min(ids.len() - at);
            blobs.read(source.stream()?, &ids.slice(at, count), row)?;
        }
        blobs.find(row).ok_or_else(lost)
    }

    /// Begins to read a BLOB that is apart from the others of its column.
    pub(crate) fn open_blob(&self, column: usize, apart: Apart, max_length: usize) -> Result<Single> {
        let Some(Some(blobs)) = self.blobs.get(column) else { return Err(lost()) };
        blobs.open(self.source.stream()?, apart.id()?, max_length)
    }

    /// The batch with this row, and the row's place in it.
    pub(crate) fn find(&mut self, row: u64) -> Option<(&RecordBatch, usize)> {
        self.window.find(row)
    }

    /// The pieces of batches with these rows.
    pub(crate) fn pieces(&self, rows: Range<u64>) -> impl Iterator<Item = (&RecordBatch, Range<usize>)> {
        self.window.pieces(rows)
    }
}
