//! Imports parameter rows through the C interface. No value is copied. Malformed data is refused here, so the rest of
//! the driver may trust offsets, texts and lengths.

use crate::error::{Result, invalid_argument, not_implemented};
use adbc_core::error::Error;
use arrow::array::{ArrayData, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use firearrow_driver::panic::text;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Imports one array as a batch.
///
/// # Safety
/// `values` is valid; it is moved out, which leaves a released array.
pub(super) unsafe fn array(values: &mut FFI_ArrowArray, schema: &FFI_ArrowSchema) -> Result<RecordBatch> {
    // SAFETY: the caller guarantees it.
    let values = unsafe { FFI_ArrowArray::from_raw(values) };
    let import = || {
        if values.is_released() {
            return Err(ArrowError::InvalidArgumentError("the array has been released".into()));
        }
        batch(values, &described(schema)?)
    };
    contain(import).map_err(|wrong| refused("the data cannot be bound", &wrong))
}

/// Imports a stream as a reader.
///
/// # Safety
/// `stream` is valid; it is moved out, which leaves a released stream.
pub(super) unsafe fn stream(stream: &mut FFI_ArrowArrayStream) -> Result<Producer> {
    // SAFETY: the caller guarantees it.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream) };
    contain(|| Producer::new(stream)).map_err(|wrong| refused("the stream cannot be bound", &wrong))
}

fn refused(what: &str, wrong: &ArrowError) -> Error {
    match wrong {
        ArrowError::NotYetImplemented(text) => not_implemented(format!("{what}: {text}")),
        wrong => invalid_argument(format!("{what}: {wrong}")),
    }
}

/// Catches the panics of Arrow's own import on a schema without format, names that are not UTF-8, or missing children.
fn contain<T>(import: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    catch_unwind(AssertUnwindSafe(import))
        .unwrap_or_else(|panic| Err(ArrowError::CDataInterface(text(&*panic).to_owned())))
}

fn described(schema: &FFI_ArrowSchema) -> Result<SchemaRef, ArrowError> {
    if schema.release().is_none() {
        return Err(ArrowError::InvalidArgumentError("the schema has been released".into()));
    }
    if let Some(wrong) = schema.children().find_map(unknown) {
        return Err(wrong);
    }
    let field = Field::try_from(schema)?;
    match field.data_type() {
        DataType::Struct(fields) => {
            Ok(Arc::new(Schema::new(fields.clone()).with_metadata(field.metadata().clone())))
        }
        other => Err(ArrowError::InvalidArgumentError(format!("a struct is needed, not {other}"))),
    }
}

/// Explains what is wrong with a column of a type that only polars has. The C interface has no 128-bit integers.
fn unknown(column: &FFI_ArrowSchema) -> Option<ArrowError> {
    let format = column.format();
    let name = match format.strip_prefix("_pl")? {
        "i128" => "Int128",
        "u128" => "UInt128",
        _ => format,
    };
    Some(ArrowError::NotYetImplemented(format!(
        "column \"{}\" is of polars' type {name}, which Arrow does not have: cast it, as in \
         pl.col(\"{0}\").cast(pl.Decimal(38, 0)) for integers of up to 38 digits, or to pl.String",
        column.name().unwrap_or_default()
    )))
}

/// The first fields of `ArrowArray` in the C interface.
#[repr(C)]
struct Header {
    length: i64,
    null_count: i64,
    offset: i64,
    buffer_count: i64,
    child_count: i64,
    buffers: *mut *const c_void,
    children: *mut *mut FFI_ArrowArray,
}

/// Replaces columns of type Null by their standard form, without buffers: polars passes one buffer.
fn without_buffers(values: &mut FFI_ArrowArray, schema: &Schema) -> Result<(), ArrowError> {
    let header = (&raw mut *values).cast::<Header>();
    // SAFETY: the array is alive, and begins with these fields according to the standard.
    let (children, count) = unsafe { ((*header).children, (*header).child_count) };
    if children.is_null() || count != schema.fields().len() as i64 {
        // The import reports the error.
        return Ok(());
    }
    for (index, field) in schema.fields().iter().enumerate() {
        if *field.data_type() != DataType::Null {
            continue;
        }
        // SAFETY: there are as many pointers as children.
        let child = unsafe { children.add(index).read() };
        if child.is_null() {
            continue;
        }
        // SAFETY: a child that is not null is an array that begins with these fields.
        let Header { length, buffer_count, .. } = unsafe { child.cast::<Header>().read() };
        if buffer_count == 0 {
            continue;
        }
        let length = usize::try_from(length)
            .map_err(|_| ArrowError::CDataInterface(format!("column {index} has {length} rows")))?;
        let plain = FFI_ArrowArray::new(&ArrayData::new_null(&DataType::Null, length));
        // SAFETY: children may be moved out of their parent, which then releases their replacement.
        drop(unsafe { child.replace(plain) });
    }
    Ok(())
}

fn batch(mut values: FFI_ArrowArray, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    without_buffers(&mut values, schema)?;
    let data_type = DataType::Struct(schema.fields().clone());
    // SAFETY: according to the standard, the schema describes the array. The checks below cover what can be checked.
    let rows = unsafe { from_ffi_and_data_type(values, data_type) }?;
    rows.validate_full()?;
    if rows.null_count() > 0 {
        return Err(ArrowError::InvalidArgumentError("rows of parameters cannot be null".into()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let (_, columns, _) = StructArray::from(rows).into_parts();
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// A reader of a stream from another producer.
pub(super) struct Producer {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
    /// The number of batches received.
    batches: usize,
}

impl Producer {
    fn new(mut stream: FFI_ArrowArrayStream) -> Result<Self, ArrowError> {
        let Some(function) = stream.release().and(stream.get_schema()) else {
            return Err(ArrowError::InvalidArgumentError("the stream has been released".into()));
        };
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is alive and there is room for a schema.
        let number = unsafe { function(&raw mut stream, &raw mut schema) };
        if number != 0 {
            return Err(failure(&mut stream, number));
        }
        Ok(Self { schema: described(&schema)?, stream, batches: 0 })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(function) = self.stream.get_next() else {
            return Err(ArrowError::InvalidArgumentError("the stream has no get_next".into()));
        };
        let mut values = FFI_ArrowArray::empty();
        // SAFETY: the stream is alive and there is room for an array.
        match unsafe { function(&raw mut self.stream, &raw mut values) } {
            0 if values.is_released() => Ok(None),
            0 => batch(values, &self.schema).map(Some),
            number => Err(failure(&mut self.stream, number)),
        }
    }
}

/// Returns the producer's error message.
fn failure(stream: &mut FFI_ArrowArrayStream, number: c_int) -> ArrowError {
    // SAFETY: the stream is alive, and its last function has failed.
    let message = stream.get_last_error().map(|function| unsafe { function(stream) });
    let said = message.filter(|message| !message.is_null()).map_or_else(String::new, |message| {
        // SAFETY: it ends with NUL and lives until the next call on the stream.
        format!(": {}", unsafe { CStr::from_ptr(message) }.to_string_lossy())
    });
    ArrowError::CDataInterface(format!("the producer failed with error {number}{said}"))
}

impl Iterator for Producer {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.batches;
        self.batches += 1;
        let next = contain(|| self.next_batch());
        next.map_err(|wrong| ArrowError::CDataInterface(format!("batch {number}: {wrong}"))).transpose()
    }
}

impl RecordBatchReader for Producer {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatchIterator, StringArray};
    use arrow::datatypes::Int32Type;

    #[test]
    fn buffers_are_those_of_the_producer() {
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..1000));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|n| n.to_string())));
        let given = RecordBatch::try_from_iter([("n", numbers), ("s", texts)]).expect("equal lengths");
        let reader = RecordBatchIterator::new([Ok(given.clone())], given.schema());
        let mut foreign = FFI_ArrowArrayStream::new(Box::new(reader));
        // SAFETY: the stream is valid.
        let mut producer = unsafe { stream(&mut foreign) }.expect("it is sound");
        assert_eq!(producer.schema(), given.schema());
        let taken = producer.next().expect("a batch").expect("it is sound");
        assert!(producer.next().is_none());
        assert_eq!(taken, given);
        let addresses = |batch: &RecordBatch| {
            let numbers = batch.column(0).as_primitive::<Int32Type>().values().as_ptr().addr();
            (numbers, batch.column(1).as_string::<i32>().value_data().as_ptr().addr())
        };
        assert_eq!(addresses(&taken), addresses(&given));
    }
}
