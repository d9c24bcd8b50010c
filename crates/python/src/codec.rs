//! Rows from bytes, without a connection: what bench/python/codec.py measures.

use crate::batches::Batches;
use crate::options::for_rows;
use crate::rows::Rows;
use arrow::array::RecordBatch;
use firearrow::codec::Decoder as Codec;
use firearrow::{Descriptor, ReadOptions};
use firearrow_proto::api::descriptor::SqlType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Decodes packed rows, as a server sends them in its protocol from 13 on.
#[pyclass(module = "firearrow._core")]
pub(crate) struct Decoder {
    codec: Codec,
    descriptors: Vec<Descriptor>,
}

#[pymethods]
impl Decoder {
    /// Columns are the number of their type, its length in bytes, scale and sub type.
    #[new]
    fn new(columns: Vec<(u16, u32, i32, i32)>) -> PyResult<Self> {
        let descriptor = |((sql_type, length, scale, sub_type), number)| Descriptor {
            sql_type: SqlType(sql_type),
            nullable: true,
            sub_type,
            scale,
            length,
            alias: format!("C{number}"),
            ..Descriptor::default()
        };
        let descriptors: Vec<Descriptor> = columns.into_iter().zip(1..).map(descriptor).collect();
        let codec = Codec::new(&descriptors, &for_rows(&ReadOptions::default())).map_err(malformed)?;
        Ok(Self { codec, descriptors })
    }

    /// Returns the rows as tuples.
    fn rows<'py>(&mut self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        if let Some(batch) = self.decode(py, data)? {
            Rows::new(&batch, &self.descriptors)?.append(py, usize::MAX, &list)?;
        }
        Ok(list)
    }

    /// Returns the rows as an Arrow batch.
    fn arrow(&mut self, py: Python<'_>, data: &[u8]) -> PyResult<Batches> {
        let batch = self.decode(py, data)?.ok_or_else(|| PyValueError::new_err("no rows"))?;
        Ok(Batches::of(batch.schema(), vec![batch]))
    }
}

impl Decoder {
    fn decode(&mut self, py: Python<'_>, data: &[u8]) -> PyResult<Option<RecordBatch>> {
        let codec = &mut self.codec;
        py.detach(|| {
            codec
                .read(data)
                .ok_or_else(|| PyValueError::new_err("these bytes are not whole rows"))?
                .map_err(malformed)?;
            codec.finish().map_err(malformed)
        })
    }
}

fn malformed(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
