//! Single BLOBs of a result, read as streams.

use crate::activity::Task;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::stream::contained;
use firearrow::BlobReader;
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

/// A BLOB of a result that is read as a stream of bytes; text is UTF-8. It ends with the result.
pub struct Blob {
    /// `None` at the very end only.
    reader: Option<BlobReader>,
    session: Option<Arc<Session>>,
    task: Option<Arc<Task>>,
}

impl Blob {
    pub(crate) fn new(reader: BlobReader, session: Option<Arc<Session>>, task: Option<Arc<Task>>) -> Self {
        Self { reader: Some(reader), session, task }
    }

    /// Returns the stored length in bytes. Text that is converted to UTF-8 may be longer or shorter.
    pub fn stored_length(&self) -> u64 {
        self.reader.as_ref().map_or(0, BlobReader::stored_length)
    }

    /// Reads some bytes; 0 at the end.
    ///
    /// # Errors
    /// Those of the server.
    pub fn read(&mut self, target: &mut [u8]) -> Result<usize> {
        let Some(reader) = &mut self.reader else { return Ok(0) };
        contained(self.session.as_deref(), self.task.as_deref(), || reader.read(target).map_err(of_client))
    }
}

/// The client's error in one of its streams.
fn of_client(error: io::Error) -> Error {
    match error.downcast::<firearrow::Error>() {
        Ok(error) => error.into(),
        Err(error) => Error::internal(error.to_string()),
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        let reader = self.reader.take();
        match &self.session {
            Some(session) => session.discard(reader, drop),
            None => drop(reader),
        }
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob").field("stored_length", &self.stored_length()).finish_non_exhaustive()
    }
}
