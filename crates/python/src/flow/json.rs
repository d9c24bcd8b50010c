//! Results as JSON: an array of objects, or an object on each line; or arrays, and the columns' names once.

use super::arrow_form::with_values;
use crate::lock::plain;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::datatypes::{DataType, FieldRef, Fields, Schema, TimeUnit, TimestampMicrosecondType};
use arrow::error::ArrowError;
use arrow::json::writer::{JsonArray, LineDelimited, Writer};
use arrow::json::{StructMode, WriterBuilder};
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex};

/// What the writer has written.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut plain(&self.0))
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        plain(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Format {
    Array(Writer<Buffer, JsonArray>),
    Lines(Writer<Buffer, LineDelimited>),
}

/// Names UTC so that the writer, which has no table of zones, knows it.
fn in_utc(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(moments_in_utc).collect::<Result<Vec<_>, _>>()?;
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(&columns);
    let fields: Vec<_> = fields.map(|(field, column)| typed(field, column)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// Moments also occur in arrays, and beside their offset.
fn moments_in_utc(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match column.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            let moments = column.as_primitive::<TimestampMicrosecondType>();
            Arc::new(moments.clone().with_timezone("+00:00"))
        }
        DataType::List(item) => {
            let lists = column.as_list::<i32>();
            let values = moments_in_utc(lists.values())?;
            with_values(lists, typed(item, &values), values)?
        }
        DataType::Struct(fields) => {
            let parts =
                column.as_struct().columns().iter().map(moments_in_utc).collect::<Result<Vec<_>, _>>()?;
            let fields: Fields = fields.iter().zip(&parts).map(|(field, part)| typed(field, part)).collect();
            Arc::new(StructArray::try_new(fields, parts, column.nulls().cloned())?)
        }
        _ => Arc::clone(column),
    })
}

fn typed(field: &FieldRef, column: &ArrayRef) -> FieldRef {
    match field.data_type() == column.data_type() {
        true => Arc::clone(field),
        false => Arc::new(field.as_ref().clone().with_data_type(column.data_type().clone())),
    }
}

impl Format {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let batch = &in_utc(batch)?;
        match self {
            Self::Array(writer) => writer.write(batch),
            Self::Lines(writer) => writer.write(batch),
        }
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        match self {
            Self::Array(writer) => writer.finish(),
            Self::Lines(writer) => writer.finish(),
        }
    }
}

/// What becomes of rows.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// One on each line, instead of one array.
    pub(crate) lines: bool,
    /// Each an array, instead of an object.
    pub(crate) values: bool,
}

/// Makes a piece of JSON of each batch.
pub(crate) struct Json {
    format: Format,
    buffer: Buffer,
    /// What follows the last row.
    end: &'static str,
}

impl Json {
    pub(crate) fn new(shape: Shape, schema: &Schema) -> Result<Self, ArrowError> {
        let mut buffer = Buffer::default();
        // A key that is missing would not say whether there is such a column.
        let mut builder = WriterBuilder::new().with_explicit_nulls(true);
        let mut end = "";
        if shape.values {
            builder = builder.with_struct_mode(StructMode::ListOnly);
            let names: Vec<_> = schema.fields().iter().map(|field| field.name()).collect();
            let names =
                serde_json::to_string(&names).map_err(|failed| ArrowError::JsonError(failed.to_string()))?;
            match shape.lines {
                true => writeln!(buffer, "{names}")?,
                false => {
                    write!(buffer, r#"{{"columns":{names},"data":"#)?;
                    end = "}";
                }
            }
        }
        let format = match shape.lines {
            true => Format::Lines(builder.build(buffer.clone())),
            false => Format::Array(builder.build(buffer.clone())),
        };
        Ok(Self { format, buffer, end })
    }

    pub(crate) fn piece(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
        self.format.write(batch)?;
        Ok(self.buffer.take())
    }

    /// The last piece.
    pub(crate) fn end(&mut self) -> Result<Vec<u8>, ArrowError> {
        self.format.finish()?;
        self.buffer.write_all(self.end.as_bytes())?;
        Ok(self.buffer.take())
    }
}
