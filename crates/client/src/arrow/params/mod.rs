//! Encodes Arrow columns into the messages that carry parameters.
//!
//! ```text
//!  RecordBatch ─► ParamEncoder::encode ─► EncodedParams { layout, bytes, blobs }
//!                                              │ for each blob: create it from blob_bytes(), set_blob(its id)
//!                                              ▼
//!                                         messages for the engine, or to be packed for the wire
//! ```
//!
//! The layout of the messages follows the Arrow types more than the description of the statement: values are sent in
//! their own type, and the engine converts them. See [`target`] for which side converts what.

mod array;
mod bytes;
mod decoded;
mod digits;
mod direct;
mod error;
mod numbers;
mod options;
mod page;
mod slots;
mod suspect;
mod target;
mod times;

use array::ArrayCells;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Schema};
use bytes::ByteValues;
pub(crate) use decoded::decoded;
pub(crate) use direct::DirectRow;
pub(crate) use error::parameter;
pub use error::{ParamError, ParamErrorKind};
use error::{Reason, RowReason};
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::row::{Native, ValueFormat};
pub(crate) use options::ParamOptions;
pub use options::{TimeRounding, WriteOptions};
use slots::{Plan, Slots};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
pub(crate) use suspect::suspect;
use target::{Target, plan};

/// Target size for the BLOBs of one piece, in bytes.
const BLOB_BYTES: usize = 4 << 20;

/// Turns batches of one schema into messages for one statement.
#[derive(Debug)]
pub(crate) struct ParamEncoder {
    columns: Vec<Column>,
    /// The layout of the last batch, which often fits the next one.
    layout: Option<Arc<RowLayout>>,
}

struct Column {
    name: String,
    data_type: DataType,
    plan: Plan,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("name", &self.name)
            .field("data_type", &self.data_type)
            .finish_non_exhaustive()
    }
}

/// Parameter rows as native messages at [`RowLayout::native_stride`], little-endian.
#[derive(Clone, Debug)]
pub(crate) struct EncodedParams {
    /// The format of the messages. The same `Arc` as for the previous batch if nothing changed.
    pub(crate) layout: Arc<RowLayout>,
    /// The messages.
    pub(crate) bytes: Vec<u8>,
    /// Number of messages.
    pub(crate) rows: usize,
    /// The BLOBs that must be created before the messages are sent, row by row.
    pub(crate) blobs: Vec<BlobCell>,
    /// The arrays that must be created before the messages are sent, parameter by parameter.
    pub(crate) arrays: Vec<ArrayCells>,
    /// The contents of the BLOBs: columns and their arrays.
    contents: Vec<(usize, ArrayRef)>,
    /// Whether parameters are ids of existing BLOBs.
    has_ids: bool,
}

/// A value that travels as a BLOB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlobCell {
    /// 0-based index of the message.
    pub(crate) row: usize,
    /// 0-based index of the parameter.
    pub(crate) column: usize,
    /// BLOB sub type: 1 for text, 0 for bytes.
    pub(crate) sub_type: i16,
    /// Character set id of text.
    pub(crate) charset: u8,
}

/// `1 parameter`, `2 parameters`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl ParamEncoder {
    /// Returns an encoder for batches of this schema.
    pub(crate) fn new(
        parameters: &[Descriptor],
        schema: &Schema,
        options: &ParamOptions,
    ) -> Result<Self, ParamError> {
        if parameters.len() != schema.fields().len() {
            return Err(ParamError {
                field: String::new(),
                column: 0,
                row: None,
                kind: ParamErrorKind::Count,
                message: format!(
                    "the statement has {}, the data has {}",
                    counted(parameters.len(), "parameter"),
                    counted(schema.fields().len(), "column")
                ),
            });
        }
        let mut columns = Vec::with_capacity(parameters.len());
        for (index, (parameter, field)) in parameters.iter().zip(schema.fields()).enumerate() {
            let plan = Target::new(parameter).and_then(|target| plan(&target, field.data_type(), options));
            let plan = plan.map_err(|reason| reason.at(field.name(), index, None))?;
            columns.push(Column { name: field.name().clone(), data_type: field.data_type().clone(), plan });
        }
        Ok(Self { columns, layout: None })
    }

    /// Returns how many of these rows, from the first, make messages of about `bytes` bytes and BLOBs of about 4 MB in
    /// all; at least one if there are any. Messages are as wide as the longest text among them.
    pub(crate) fn fit(&self, batch: &RecordBatch, rows: Range<usize>, bytes: usize) -> usize {
        let count = rows.end.min(batch.num_rows()).saturating_sub(rows.start);
        let mut widths = vec![0; self.columns.len()];
        // Look at no more rows than will fit: the caller calls again for the rest.
        let (mut seen, mut fitting) = (0, 1);
        while seen < count.min(fitting) {
            let next = (seen * 2).clamp(64, count.min(fitting).max(64)).min(count);
            for ((width, column), array) in widths.iter_mut().zip(&self.columns).zip(batch.columns()) {
                let needed = match &column.plan {
                    Plan::Flag => 2,
                    Plan::Null(field) | Plan::Fixed { field, .. } | Plan::Ids(field) => {
                        field.kind.native().1 + 2
                    }
                    Plan::Array(plan) => plan.estimate() + FieldKind::Array.native().1 + 2,
                    Plan::Bytes(plan) => {
                        let array = decoded(array.slice(rows.start + seen, next - seen));
                        array.map_or(0, |array| plan.estimate(&array)) + 2
                    }
                };
                *width = needed.max(*width);
            }
            seen = next;
            fitting = (bytes / widths.iter().sum::<usize>().max(1)).max(1);
        }
        self.fit_blobs(batch, rows.start..rows.start + fitting.min(count))
    }

    /// Returns how many of these rows have BLOBs of about [`BLOB_BYTES`] in all; at least one if there are any.
    fn fit_blobs(&self, batch: &RecordBatch, rows: Range<usize>) -> usize {
        let count = rows.len();
        let arrays = self.columns.iter().zip(batch.columns()).filter_map(|(column, array)| {
            let Plan::Bytes(plan) = &column.plan else { return None };
            let array = decoded(array.slice(rows.start, count)).ok()?;
            plan.is_blob(&array).then_some(array)
        });
        let arrays: Vec<ArrayRef> = arrays.collect();
        let columns: Vec<ByteValues<'_>> = arrays.iter().filter_map(|array| ByteValues::of(array)).collect();
        if columns.is_empty() {
            return count;
        }
        let mut sum = 0;
        let fitting = (0..count).take_while(|&row| {
            let is_room = row == 0 || sum < BLOB_BYTES;
            sum += columns.iter().map(|values| values.value(row).len()).sum::<usize>();
            is_room
        });
        fitting.count()
    }

    /// Encodes these rows of a batch.
    pub(crate) fn encode(
        &mut self,
        batch: &RecordBatch,
        rows: Range<usize>,
    ) -> Result<EncodedParams, ParamError> {
        self.check(batch, &rows)?;
        let first = rows.start;
        let mut arrays = Vec::with_capacity(self.columns.len());
        let mut fields = Vec::with_capacity(self.columns.len());
        let mut cells = Vec::new();
        for (index, column) in self.columns.iter_mut().enumerate() {
            let array = batch.column(index).slice(first, rows.len());
            let array = decoded(array).map_err(|error| Reason::from(error).at(&column.name, index, None))?;
            let in_row =
                |RowReason { row, reason }: RowReason| reason.at(&column.name, index, Some(first + row));
            let (array, field) = match &mut column.plan {
                Plan::Array(plan) => {
                    cells.push(plan.encode(index, &array).map_err(in_row)?);
                    (array, FieldLayout::plain(FieldKind::Array))
                }
                Plan::Flag => (array, FieldLayout::plain(FieldKind::Nothing)),
                Plan::Null(field) | Plan::Fixed { field, .. } | Plan::Ids(field) => (array, field.clone()),
                Plan::Bytes(plan) => plan.prepare(array).map_err(in_row)?,
            };
            arrays.push(array);
            fields.push(field);
        }
        let layout = self.layout(fields);
        let stride = layout.native_stride();
        let mut params = EncodedParams {
            bytes: vec![0; stride * rows.len()],
            rows: rows.len(),
            blobs: Vec::new(),
            arrays: cells,
            contents: Vec::new(),
            has_ids: self.columns.iter().any(|column| matches!(column.plan, Plan::Ids(_))),
            layout: Arc::clone(&layout),
        };
        for (index, ((column, array), field)) in
            self.columns.iter().zip(arrays).zip(layout.fields()).enumerate()
        {
            let mut slots = Slots::new(&mut params.bytes, stride, field);
            match &column.plan {
                Plan::Flag | Plan::Array(_) => slots.flag(array.logical_nulls().as_ref()),
                Plan::Null(_) => slots.set_all_null(),
                Plan::Ids(_) => slots
                    .fill_ids(array.as_primitive())
                    .map_err(|RowReason { row, reason }| reason.at(&column.name, index, Some(first + row)))?,
                Plan::Fixed { write, .. } => write(&array, &mut slots)
                    .map_err(|RowReason { row, reason }| reason.at(&column.name, index, Some(first + row)))?,
                Plan::Bytes(_) if field.kind == FieldKind::Blob => {
                    slots.flag(array.nulls());
                    params.add_blobs(index, field, array);
                }
                Plan::Bytes(_) if field.kind == FieldKind::TimestampTz => {
                    let values = array.as_fixed_size_binary();
                    let value = |row| values.value(row).first_chunk().copied().unwrap_or_default();
                    let filled = slots.fill::<12>(array.nulls(), |row| Ok(value(row)));
                    filled.map_err(|RowReason { row, reason }| {
                        reason.at(&column.name, index, Some(first + row))
                    })?;
                }
                Plan::Bytes(_) => {
                    if let Some(values) = ByteValues::of(&array) {
                        slots.fill_varying(array.nulls(), |row| values.value(row));
                    }
                }
            }
        }
        params.blobs.sort_by_key(|cell| (cell.row, cell.column));
        Ok(params)
    }

    fn check(&self, batch: &RecordBatch, rows: &Range<usize>) -> Result<(), ParamError> {
        let wrong = |field: &str, column, message| {
            Err(Reason::new(ParamErrorKind::Schema, message).at(field, column, None))
        };
        if batch.num_columns() != self.columns.len() {
            let message = format!("expected {} columns, given {}", self.columns.len(), batch.num_columns());
            return wrong("", 0, message);
        }
        if rows.start > rows.end || rows.end > batch.num_rows() {
            return wrong("", 0, format!("rows {rows:?} of a batch of {}", batch.num_rows()));
        }
        for (index, (column, array)) in self.columns.iter().zip(batch.columns()).enumerate() {
            if array.data_type() != &column.data_type {
                let message = format!("expected {}, given {}", column.data_type, array.data_type());
                return wrong(&column.name, index, message);
            }
        }
        Ok(())
    }

    /// Returns the layout of these fields: that of the previous batch if it has room for all of them and not much more.
    /// Each new layout costs a round trip.
    fn layout(&mut self, fields: Vec<FieldLayout>) -> Arc<RowLayout> {
        let layout = RowLayout::new(fields);
        match &self.layout {
            Some(last) if has_room(last, &layout) && last.native_stride() <= 2 * layout.native_stride() => {
                Arc::clone(last)
            }
            _ => Arc::clone(self.layout.insert(Arc::new(layout))),
        }
    }
}

impl EncodedParams {
    /// The messages, one for each row, also if they are empty because the statement has no parameters.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &[u8]> {
        let stride = self.layout.native_stride();
        (0..self.rows).map(move |row| &self.bytes[row * stride..(row + 1) * stride])
    }

    /// Returns the contents of a BLOB to create.
    pub(crate) fn blob_bytes(&self, cell: &BlobCell) -> &[u8] {
        let contents = self.contents.iter().find(|(column, _)| *column == cell.column);
        contents
            .filter(|(_, array)| cell.row < array.len())
            .and_then(|(_, array)| ByteValues::of(array))
            .map_or(&[], |values| values.value(cell.row))
    }

    /// Whether parameters are ids of existing BLOBs, which the bulk interface does not know.
    pub(crate) fn has_blob_ids(&self) -> bool {
        self.has_ids
    }

    /// Returns the total bytes of all BLOBs.
    pub(crate) fn blob_length(&self) -> usize {
        self.blobs.iter().map(|cell| self.blob_bytes(cell).len()).sum()
    }

    /// Returns the id of a BLOB in its message.
    pub(crate) fn blob_id(&self, cell: &BlobCell) -> u64 {
        let message = self.bytes.chunks_exact(self.layout.native_stride().max(1)).nth(cell.row);
        let field = self.layout.fields().get(cell.column);
        message.zip(field).and_then(|(message, field)| Native::quad(&message[field.offset..])).unwrap_or(0)
    }

    /// Numbers the BLOBs from 1, with ids that are valid only within one bulk chunk.
    pub(crate) fn number_blobs(&mut self) {
        let ids: Vec<u64> = (1..=self.blobs.len() as u64).collect();
        self.set_blobs(&ids);
    }

    /// Writes the ids of created BLOBs into their messages, in the order of [`blobs`](Self::blobs).
    pub(crate) fn set_blobs(&mut self, ids: &[u64]) {
        for (index, id) in ids.iter().enumerate() {
            if let Some(&BlobCell { row, column, .. }) = self.blobs.get(index) {
                self.set_blob(row, column, *id);
            }
        }
    }

    /// Writes the ids of created arrays into their messages, in the order of their [`slices`](ArrayCells::slices).
    pub(crate) fn set_arrays(&mut self, cells: &ArrayCells, ids: &[u64]) {
        for (&row, &id) in cells.rows.iter().zip(ids) {
            self.set_blob(row, cells.column, id);
        }
    }

    /// Writes the id of a created BLOB or array into its message.
    pub(crate) fn set_blob(&mut self, row: usize, column: usize, id: u64) {
        let stride = self.layout.native_stride();
        let has_id = |field: &&FieldLayout| matches!(field.kind, FieldKind::Blob | FieldKind::Array);
        let field = self.layout.fields().get(column).filter(has_id);
        let message = self.bytes.chunks_exact_mut(stride.max(1)).nth(row);
        if let (Some(field), Some(message)) = (field, message) {
            // ISC_QUAD: two words in host byte order, the high one first.
            message[field.offset..][..4].copy_from_slice(&((id >> 32) as u32).to_le_bytes());
            message[field.offset + 4..][..4].copy_from_slice(&(id as u32).to_le_bytes());
        }
    }

    fn add_blobs(&mut self, column: usize, field: &FieldLayout, array: ArrayRef) {
        let rows = (0..array.len()).filter(|&row| array.is_valid(row));
        let (sub_type, charset) = (field.sub_type, field.charset);
        self.blobs.extend(rows.map(|row| BlobCell { row, column, sub_type, charset }));
        self.contents.push((column, array));
    }
}

/// Whether messages of layout `new` can be written in layout `old`, which may have wider texts.
fn has_room(old: &RowLayout, new: &RowLayout) -> bool {
    let fits = |(old, new): (&FieldLayout, &FieldLayout)| {
        let kind = match (old.kind, new.kind) {
            (FieldKind::Varying(old), FieldKind::Varying(new)) => old >= new,
            (old, new) => old == new,
        };
        kind && (old.scale, old.sub_type, old.charset) == (new.scale, new.sub_type, new.charset)
    };
    old.fields().len() == new.fields().len() && old.fields().iter().zip(new.fields()).all(fits)
}

impl Reason {
    fn at(self, field: &str, column: usize, row: Option<usize>) -> ParamError {
        ParamError { field: field.into(), column, row, kind: self.kind, message: self.message }
    }
}
