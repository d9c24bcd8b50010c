//! BLOBs as files: read and written in pieces.

use crate::connection::Part;
use crate::options::Bounded;
use crate::transaction::Transaction;
use crate::{error, signal};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::sync::Arc;

/// Why a BLOB cannot be used.
pub(crate) const CLOSED: &str = "the BLOB is closed, or its transaction has ended";

impl<T: Send + Sync + 'static> Part<T> {
    /// Works with a BLOB, while other Python threads run.
    fn run<U: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> io::Result<U> + Send) -> PyResult<U> {
        let wait = || signal::wait(py, || self.lock_detached().as_mut().map(work).transpose().map_err(of_io));
        self.shared.call(py, wait)?.ok_or_else(|| closed(py))
    }
}

fn closed(py: Python<'_>) -> PyErr {
    error::interface(py, CLOSED)
}

/// Where `io.IOBase.seek` goes.
pub(crate) fn place(py: Python<'_>, offset: i64, whence: u8) -> PyResult<SeekFrom> {
    match (whence, u64::try_from(offset)) {
        (0, Ok(offset)) => Ok(SeekFrom::Start(offset)),
        (0, Err(_)) => Err(error::data(py, "negative BLOB position")),
        (1, _) => Ok(SeekFrom::Current(offset)),
        (2, _) => Ok(SeekFrom::End(offset)),
        _ => Err(error::programming(py, "whence is 0, 1 or 2")),
    }
}

/// The client's error comes through the traits of `std::io`.
fn of_io(failed: io::Error) -> firearrow::Error {
    match failed.downcast::<firearrow::Error>() {
        Ok(failed) => failed,
        Err(failed) => failed.into(),
    }
}

/// A BLOB, and what a read that was interrupted has read of it.
struct Source {
    blob: firearrow::BlobReader,
    left: Vec<u8>,
}

impl Source {
    /// Reads until there are so many bytes, or the BLOB ends.
    fn fill(&mut self, most: u64) -> io::Result<()> {
        let missing = most.saturating_sub(self.left.len() as u64);
        (&mut self.blob).take(missing).read_to_end(&mut self.left).map(drop)
    }

    /// Takes up to so many bytes of those that were read.
    fn take(&mut self, most: u64) -> Vec<u8> {
        let most = usize::try_from(most).map_or(self.left.len(), |most| most.min(self.left.len()));
        let rest = self.left.split_off(most);
        mem::replace(&mut self.left, rest)
    }

    fn give_back(&mut self, bytes: &[u8]) {
        self.left.splice(..0, bytes.iter().copied());
    }

    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Current(offset) => {
                SeekFrom::Current(offset.saturating_sub_unsigned(self.left.len() as u64))
            }
            other => other,
        };
        let place = self.blob.seek(to)?;
        self.left.clear();
        Ok(place)
    }
}

/// A BLOB that is read.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct BlobReader {
    part: Arc<Part<Source>>,
    /// Stored bytes.
    #[pyo3(get)]
    length: u64,
    /// Whether it can be positioned.
    #[pyo3(get)]
    is_stream: bool,
}

#[pymethods]
impl BlobReader {
    #[new]
    fn new(py: Python<'_>, transaction: &Transaction, id: Bounded<u64>) -> PyResult<Self> {
        let shared = &transaction.inner.shared;
        shared.call(py, || {
            let blob = transaction.inner.run(py, |running| running.open_blob(id.0))?;
            let (length, is_stream) = (blob.stored_length(), blob.is_stream());
            Ok(Self { part: Part::new(shared, Source { blob, left: Vec::new() }), length, is_stream })
        })
    }

    /// Up to `most` bytes, fewer only at the end; all that are left without it.
    #[pyo3(signature = (most=None))]
    fn read<'py>(&self, py: Python<'py>, most: Option<u64>) -> PyResult<Bound<'py, PyBytes>> {
        let most = most.unwrap_or(u64::MAX);
        self.part.run(py, |source| source.fill(most))?;
        let source = || self.part.lock_detached();
        let taken = py.detach(|| source().as_mut().map(|source| source.take(most)));
        let bytes = PyBytes::new(py, &taken.ok_or_else(|| closed(py))?);
        // Afterwards, what a handler raises would take the bytes with it.
        py.check_signals().inspect_err(|_| {
            let back = bytes.as_bytes();
            py.detach(|| source().as_mut().map(|source| source.give_back(back)));
        })?;
        Ok(bytes)
    }

    /// `whence` is that of `io.IOBase.seek`.
    fn seek(&self, py: Python<'_>, offset: i64, whence: u8) -> PyResult<u64> {
        let to = place(py, offset, whence)?;
        self.part.run(py, |source| source.seek(to))
    }

    fn close(&self, py: Python<'_>) {
        self.part.close(py);
    }
}

/// A BLOB that is written.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct BlobWriter {
    part: Arc<Part<firearrow::BlobWriter>>,
}

#[pymethods]
impl BlobWriter {
    #[new]
    fn new(py: Python<'_>, transaction: &Transaction) -> PyResult<Self> {
        let shared = &transaction.inner.shared;
        shared.call(py, || {
            let blob = transaction.inner.run(py, |running| running.create_blob())?;
            Ok(Self { part: Part::new(shared, blob) })
        })
    }

    fn write(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.part.run(py, |blob| blob.write_all(bytes))
    }

    /// Completes it. Returns its id, which a row takes as the value of a BLOB column.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        self.part.shared.call(py, || {
            let blob = self.part.take(py).ok_or_else(|| closed(py))?;
            signal::wait(py, || blob.finish())
        })
    }

    /// Discards it unless it was completed.
    fn close(&self, py: Python<'_>) {
        self.part.close(py);
    }
}
