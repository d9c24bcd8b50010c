//! The columnar formats: Arrow IPC and Parquet.

use super::{Output, Sink};
use crate::args::Compression;
use crate::failure::Result;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{self, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// An Arrow IPC stream.
pub(super) struct Stream(StreamWriter<Output>);

/// An Arrow IPC file, also known as Feather 2.
pub(super) struct File(FileWriter<Output>);

/// A Parquet file.
pub(super) struct Parquet(ArrowWriter<Output>);

impl Stream {
    pub(super) fn new(schema: &SchemaRef, output: Output) -> Result<Self> {
        Ok(Self(StreamWriter::try_new(output, schema)?))
    }
}

impl Sink for Stream {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.0.write(batch)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.0.finish()?;
        Ok(self.0.flush()?)
    }
}

impl File {
    pub(super) fn new(schema: &SchemaRef, output: Output) -> Result<Self> {
        Ok(Self(FileWriter::try_new(output, schema)?))
    }
}

impl Sink for File {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.0.write(batch)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.0.finish()?;
        Ok(self.0.flush()?)
    }
}

impl Parquet {
    pub(super) fn new(schema: &SchemaRef, compression: Compression, output: Output) -> Result<Self> {
        let properties = parquet_properties(compression);
        Ok(Self(ArrowWriter::try_new(output, schema.clone(), Some(properties))?))
    }
}

impl Sink for Parquet {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.write(batch)?;
        // A row group is held in memory until it is complete, so wide rows must end it early.
        if self.0.memory_size() > ROW_GROUP_MEMORY {
            self.0.flush()?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let mut output = self.0.into_inner()?;
        Ok(output.flush()?)
    }
}

/// Returns how Parquet is written.
pub(crate) fn parquet_properties(compression: Compression) -> WriterProperties {
    let compression = match compression {
        Compression::Zstd => basic::Compression::ZSTD(ZstdLevel::default()),
        Compression::Snappy => basic::Compression::SNAPPY,
        Compression::None => basic::Compression::UNCOMPRESSED,
    };
    WriterProperties::builder().set_compression(compression).build()
}

const ROW_GROUP_MEMORY: usize = 128 << 20;
