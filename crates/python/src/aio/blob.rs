//! BLOBs as files: read and written in pieces.

use super::connection::{Shared, Use};
use super::operation::{Operation, spawn, spawn_plain, spawn_writing, to_its_end};
use super::runtime;
use super::transaction::Transaction;
use crate::blob::{CLOSED, place};
use crate::dependent::Dependent;
use crate::failure::Failure;
use crate::lock::{lock, plain};
use firearrow::Error;
use firearrow::asynchronous;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, SeekFrom};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use tokio::sync::{OwnedMappedMutexGuard, OwnedMutexGuard};

/// A BLOB that is read or written, which its connection ends.
struct Inner<T, V> {
    shared: Arc<Shared>,
    /// Locked by the call that runs.
    blob: Arc<tokio::sync::Mutex<Option<T>>>,
    /// What Python has of it; locked for moments. `None` once it is closed.
    view: Mutex<Option<V>>,
}

impl<T: Send, V: Send> Dependent for Inner<T, V> {
    fn end(&self) {
        *self.view() = None;
        // No call is running: they keep the connection from ending.
        if let Ok(mut blob) = self.blob.try_lock() {
            *blob = None;
        }
    }
}

impl<T, V> Drop for Inner<T, V> {
    fn drop(&mut self) {
        let blob = mem::take(&mut self.blob);
        runtime::within(|| self.shared.facts.discard(blob));
    }
}

impl<T: Send + 'static, V: Send + 'static> Inner<T, V> {
    /// Called while the connection is in use.
    fn new(shared: &Arc<Shared>, blob: T, view: V) -> Arc<Self> {
        let (blob, view) = (Arc::new(tokio::sync::Mutex::new(Some(blob))), Mutex::new(Some(view)));
        let inner = Arc::new(Self { shared: Arc::clone(shared), blob, view });
        let weak: Weak<Self> = Arc::downgrade(&inner);
        shared.dependents.adopt(weak);
        inner
    }

    /// Waits for its turn. The first part of the result has to be dropped first: see [`Use`].
    async fn enter(&self) -> Result<(OwnedMappedMutexGuard<Option<T>, T>, Use), Failure> {
        let connection = self.shared.enter().await?;
        let blob = Arc::clone(&self.blob).lock_owned().await;
        match OwnedMutexGuard::try_map(blob, Option::as_mut) {
            Ok(blob) => Ok((blob, connection)),
            Err(_) => Err(Failure::Interface(CLOSED)),
        }
    }

    /// Closes it. A writer's BLOB is discarded unless it is complete.
    fn close(self: &Arc<Self>, py: Python<'_>) -> PyResult<Operation> {
        if !self.shared.facts.is_owner_process() {
            return Ok(Operation::ready(py.None()));
        }
        *lock(py, &self.view) = None;
        if let Ok(mut blob) = self.blob.try_lock() {
            runtime::within(|| *blob = None);
            return Ok(Operation::ready(py.None()));
        }
        let inner = Arc::clone(self);
        spawn_plain(py, async move {
            // A connection that ends has ended this, too.
            let Ok(_connection) = inner.shared.enter().await else { return Ok(()) };
            *inner.blob.lock().await = None;
            Ok(())
        })
    }
}

impl<T, V> Inner<T, V> {
    fn view(&self) -> MutexGuard<'_, Option<V>> {
        plain(&self.view)
    }

    fn with<U>(&self, work: impl FnOnce(&mut V) -> U) -> Result<U, Failure> {
        self.view().as_mut().map(work).ok_or(Failure::Interface(CLOSED))
    }
}

/// Bytes that have arrived. Calls put them here and Python takes them, so that a task that is cancelled loses none.
#[derive(Default)]
struct Pieces {
    bytes: Vec<u8>,
    /// Those that Python has.
    taken: usize,
    /// The offset of the last one's end.
    end: u64,
    is_over: bool,
    /// Why bytes are missing from here on.
    failed: Option<Error>,
}

impl Pieces {
    fn left(&self) -> usize {
        self.bytes.len() - self.taken
    }

    /// Whether so many bytes, or all that are left, have arrived.
    fn has(&self, most: Option<usize>) -> bool {
        self.is_over || most.is_some_and(|most| self.left() >= most)
    }

    /// Returns up to so many bytes, if they have arrived.
    fn take(&mut self, most: Option<usize>) -> Option<&[u8]> {
        if !self.has(most) {
            return None;
        }
        let start = self.taken;
        self.taken += most.map_or(self.left(), |most| most.min(self.left()));
        Some(&self.bytes[start..self.taken])
    }

    fn feed(&mut self, piece: Result<Option<Vec<u8>>, Error>) -> Result<(), Error> {
        match piece {
            Ok(Some(piece)) => {
                self.bytes.drain(..mem::take(&mut self.taken));
                self.end += piece.len() as u64;
                self.bytes.extend(piece);
            }
            Ok(None) => self.is_over = true,
            Err(failed) => {
                self.failed = Some(failed.clone());
                return Err(failed);
            }
        }
        Ok(())
    }

    /// Works out which offset `to` means, at most `length`. If the bytes there have been received already, moves to them and
    /// returns true as well.
    fn find(&mut self, to: SeekFrom, length: u64) -> Result<(u64, bool), Failure> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => length.checked_add_signed(offset),
            SeekFrom::Current(offset) => (self.end - self.left() as u64).checked_add_signed(offset),
        };
        let invalid = || Failure::Client(io::Error::from(io::ErrorKind::InvalidInput).into());
        let target = target.ok_or_else(invalid)?.min(length);
        let start = self.end - self.bytes.len() as u64;
        let is_here = self.failed.is_none() && (start..=self.end).contains(&target);
        if is_here {
            self.taken = (target - start) as usize;
        }
        Ok((target, is_here))
    }
}

type Reading = Inner<asynchronous::BlobReader, Pieces>;

/// A BLOB that is read.
#[pyclass(frozen, name = "AioBlobReader", module = "firearrow._core")]
pub(crate) struct BlobReader {
    inner: Arc<Reading>,
    /// Stored bytes.
    #[pyo3(get)]
    length: u64,
    /// Whether it can be positioned.
    #[pyo3(get)]
    is_stream: bool,
}

impl Reading {
    /// Waits for a piece.
    async fn piece(&self) -> Result<(), Failure> {
        let mut held = self.enter().await?;
        if let Some(failed) = self.with(|pieces| pieces.failed.clone())? {
            return Err(failed.into());
        }
        let piece = held.0.next_piece().await;
        Ok(self.with(|pieces| pieces.feed(piece))??)
    }

    async fn seek(&self, to: SeekFrom) -> Result<u64, Failure> {
        let mut held = self.enter().await?;
        let (is_stream, length) = (held.0.is_stream(), held.0.stored_length());
        if is_stream {
            let (target, is_here) = self.with(|pieces| pieces.find(to, length))??;
            if is_here {
                return Ok(target);
            }
            let reached = held.0.seek(target).await?;
            self.with(|pieces| *pieces = Pieces { end: reached, ..Pieces::default() })?;
            return Ok(reached);
        }
        // The client says why that is not possible.
        Ok(held.0.seek(0).await?)
    }
}

#[pymethods]
impl BlobReader {
    #[staticmethod]
    fn open(py: Python<'_>, transaction: &Transaction, id: u64) -> PyResult<Operation> {
        let inner = transaction.here(py)?;
        let open = async move {
            let held = inner.call().await?;
            let blob = held.0.open_blob(id).await?;
            let (length, is_stream) = (blob.stored_length(), blob.is_stream());
            Ok((Inner::new(&inner.shared, blob, Pieces::default()), length, is_stream))
        };
        spawn(py, open, |py, (inner, length, is_stream)| {
            Ok(Py::new(py, Self { inner, length, is_stream })?.into_any())
        })
    }

    /// Up to `most` bytes, or all that are left, if they have arrived.
    #[pyo3(signature = (most=None))]
    fn take<'py>(&self, py: Python<'py>, most: Option<usize>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.inner.shared.facts.check_process(py)?;
        match &mut *lock(py, &self.inner.view) {
            Some(pieces) => Ok(pieces.take(most).map(|bytes| PyBytes::new(py, bytes))),
            None => Err(Failure::Interface(CLOSED).into_exception(py)),
        }
    }

    /// Waits until `take` has what it is asked for.
    #[pyo3(signature = (most=None))]
    fn fill(&self, py: Python<'_>, most: Option<usize>) -> PyResult<Operation> {
        self.inner.shared.facts.check_process(py)?;
        let inner = Arc::clone(&self.inner);
        spawn_plain(py, async move {
            while !inner.with(|pieces| pieces.has(most))? {
                let inner = Arc::clone(&inner);
                // The bytes of a piece that nobody waits for would be lost.
                to_its_end(async move { inner.piece().await }).await?;
            }
            Ok(())
        })
    }

    /// `whence` is that of `io.IOBase.seek`.
    fn seek(&self, py: Python<'_>, offset: i64, whence: u8) -> PyResult<Operation> {
        self.inner.shared.facts.check_process(py)?;
        let to = place(py, offset, whence)?;
        let inner = Arc::clone(&self.inner);
        let seek = to_its_end(async move { inner.seek(to).await });
        spawn(py, seek, |py, reached| Ok(reached.into_pyobject(py)?.into_any().unbind()))
    }

    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        self.inner.close(py)
    }
}

/// A BLOB that is written, and its id once it is complete.
type Writing = Inner<asynchronous::BlobWriter, Option<u64>>;

/// A BLOB that is written.
#[pyclass(frozen, name = "AioBlobWriter", module = "firearrow._core")]
pub(crate) struct BlobWriter {
    inner: Arc<Writing>,
}

impl Writing {
    async fn finish(&self) -> Result<u64, Failure> {
        let _connection = self.shared.enter().await?;
        let mut blob = self.blob.lock().await;
        if let Some(id) = self.with(|id| *id)? {
            return Ok(id);
        }
        let id = match blob.take() {
            Some(blob) => blob.finish().await?,
            None => return Err(Failure::Interface(CLOSED)),
        };
        self.with(|known| *known = Some(id))?;
        Ok(id)
    }
}

#[pymethods]
impl BlobWriter {
    #[staticmethod]
    fn create(py: Python<'_>, transaction: &Transaction) -> PyResult<Operation> {
        let inner = transaction.here(py)?;
        let create = async move {
            let held = inner.call().await?;
            let blob = held.0.create_blob().await?;
            Ok(Inner::new(&inner.shared, blob, None))
        };
        spawn(py, create, |py, inner| Ok(Py::new(py, Self { inner })?.into_any()))
    }

    /// How many bytes are there is unknown if this fails or is cancelled.
    fn write(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Operation> {
        self.inner.shared.facts.check_process(py)?;
        let (inner, bytes) = (Arc::clone(&self.inner), bytes.to_vec());
        let write = async move { Ok(inner.enter().await?.0.write(&bytes).await?) };
        spawn_writing(py, write, |py, ()| Ok(py.None()))
    }

    /// Completes it. The result is its id, which a row takes as the value of a BLOB column.
    fn finish(&self, py: Python<'_>) -> PyResult<Operation> {
        self.inner.shared.facts.check_process(py)?;
        let inner = Arc::clone(&self.inner);
        // Otherwise nobody would know its id.
        let finish = to_its_end(async move { inner.finish().await });
        spawn(py, finish, |py, id| Ok(id.into_pyobject(py)?.into_any().unbind()))
    }

    /// Discards it unless it was completed.
    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        self.inner.close(py)
    }
}
