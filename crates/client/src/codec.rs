//! Rows to columns and parameters to messages, without a connection.
//!
//! For the benchmarks in bench/codec and in crates/python. It is no part of the API: it changes whenever they do.

use crate::arrow::{BatchBuilder, DecodeError, DirectRow, ParamEncoder, ParamError, ParamOptions};
use crate::arrow::{SchemaError, output_layout, schema};
use crate::{BatchLimits, Descriptor, ReadOptions, Scalar};
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::row::PackedRows;
use firearrow_proto::wire::packed::PackedFormat;
use std::sync::Arc;

/// Makes batches of packed rows, as a cursor does.
#[derive(Debug)]
pub struct Decoder {
    format: Arc<PackedFormat>,
    builder: BatchBuilder,
    positions: Vec<u32>,
}

impl Decoder {
    /// Returns a decoder of these columns.
    pub fn new(columns: &[Descriptor], options: &ReadOptions) -> Result<Self, SchemaError> {
        let layout = Arc::new(output_layout(columns, options)?);
        let limits = BatchLimits { rows: usize::MAX, bytes: usize::MAX, full: true };
        let schema = schema(columns, options)?;
        let builder = BatchBuilder::with_schema(schema, columns, &layout, options, limits)?;
        Ok(Self { format: Arc::new(PackedFormat::new(layout)), builder, positions: Vec::new() })
    }

    /// Returns the format of the rows.
    pub fn format(&self) -> &Arc<PackedFormat> {
        &self.format
    }

    /// Decodes rows whose values have been found. Returns their number.
    pub fn push(&mut self, rows: &PackedRows<'_>) -> Result<usize, DecodeError> {
        self.builder.push(rows, 0)
    }

    /// Finds the values of all rows in `bytes`, and decodes them. Returns the number of rows; `None` if the last one is
    /// incomplete or one is malformed.
    pub fn read(&mut self, bytes: &[u8]) -> Option<Result<usize, DecodeError>> {
        self.positions.clear();
        let (mut at, mut rows) = (0, 0);
        while at < bytes.len() {
            at = self.format.measure(bytes, at, &mut self.positions).ok()?;
            rows += 1;
        }
        let columns = self.format.layout().fields().len();
        let rows = PackedRows { bytes, positions: &self.positions, columns, rows };
        Some(self.builder.push(&rows, 0))
    }

    /// Returns the rows decoded since the last batch, if there are any.
    pub fn finish(&mut self) -> Result<Option<RecordBatch>, DecodeError> {
        self.builder.finish()
    }
}

/// Makes packed messages of batches, as a statement with many parameter rows does.
#[derive(Debug)]
pub struct Encoder {
    encoder: ParamEncoder,
    packer: Packer,
}

impl Encoder {
    /// Returns an encoder of batches of this schema for these parameters.
    pub fn new(parameters: &[Descriptor], schema: &Schema) -> Result<Self, ParamError> {
        let encoder = ParamEncoder::new(parameters, schema, &ParamOptions::default())?;
        Ok(Self { encoder, packer: Packer::default() })
    }

    /// Appends the messages of a batch to `out`, and returns their layout.
    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<Arc<RowLayout>, ParamError> {
        let encoded = self.encoder.encode(batch, 0..batch.num_rows())?;
        let format = self.packer.format(&encoded.layout);
        for message in encoded.messages() {
            format.pack(message, out).expect("a message of this layout");
        }
        Ok(encoded.layout)
    }
}

/// Makes packed messages of single rows of plain values, as a statement executed once does.
#[derive(Debug)]
pub struct RowEncoder {
    row: DirectRow,
    packer: Packer,
}

impl RowEncoder {
    /// Returns an encoder for these parameters; `None` if no message can be made for them.
    pub fn new(parameters: &[Descriptor]) -> Option<Self> {
        Some(Self { row: DirectRow::new(parameters)?, packer: Packer::default() })
    }

    /// Appends the message of a row to `out`, and returns its layout; `None` if a value is not plain.
    pub fn encode(&mut self, values: &[Scalar], out: &mut Vec<u8>) -> Option<&Arc<RowLayout>> {
        if !self.row.encode(values, &ParamOptions::default()) {
            return None;
        }
        self.packer.format(self.row.layout()).pack(self.row.bytes(), out)?;
        Some(self.row.layout())
    }
}

/// The format of the last messages, which is that of the next ones as long as their layout stays the same.
#[derive(Debug, Default)]
struct Packer(Option<PackedFormat>);

impl Packer {
    fn format(&mut self, layout: &Arc<RowLayout>) -> &PackedFormat {
        let kept = self.0.take().filter(|format| Arc::ptr_eq(format.layout(), layout));
        self.0.insert(kept.unwrap_or_else(|| PackedFormat::new(Arc::clone(layout))))
    }
}
