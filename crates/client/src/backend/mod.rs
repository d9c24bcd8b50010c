//! An engine, at the other end of a socket or in this process: [`Backend`] and its families.

mod any;
mod blob_info;
#[cfg(feature = "embedded")]
pub(crate) mod embedded;
mod families;
pub(crate) mod link;
mod series;
pub(crate) mod wire;
mod writer;

pub(crate) use any::AnyBackend;
pub(crate) use families::{
    Arrays, Backend, BlobStreams, Blobs, Cursors, Events, NewBlobs, QuerySeries, Reconnect, Statements,
    Transactions, Writes,
};
pub(crate) use series::{Series, Turn};
pub(crate) use wire::{BlobTraffic, LinkEstimate};
pub use writer::RowFailure;
pub(crate) use writer::{Chunk, DETAILED_ERRORS, Failed, Method, Outcome, Savepoint, Writer, Written};

use crate::arrow::MaxBlob;
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::describe::RecordCounts;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::layout::RowLayout;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for a server to roll back open work and confirm a detach, or to confirm the end of a listener. Then the
/// socket is closed.
pub(crate) const LEAVING: Duration = Duration::from_secs(5);

/// Longer messages of parameters are not kept for the next execution, in bytes.
pub(crate) const LARGEST_KEPT_MESSAGE: usize = 64 << 10;

/// A statement has one cursor at a time.
fn cursor_is_open() -> Error {
    Error::new(Kind::Misuse, "the statement has an open cursor; close it first")
}

/// Restores a session's initial state (Firebird 4 and later).
const RESET: &str = "ALTER SESSION RESET";

/// Identifies a transaction within one backend. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TransactionId(pub(crate) u64);

/// Identifies an open BLOB within one backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlobId(pub(crate) u32);

/// Identifies a prepared statement within one backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StatementId(pub(crate) u32);

/// How a transaction ends or continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Commit,
    Rollback,
    CommitRetaining,
    RollbackRetaining,
}

impl End {
    pub(crate) fn commits(self) -> bool {
        matches!(self, Self::Commit | Self::CommitRetaining)
    }
}

/// One parameter row as a native message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) layout: &'a Arc<RowLayout>,
    pub(crate) bytes: &'a [u8],
}

/// Receives the contents of the BLOB with this index; returns whether more are wanted.
pub(crate) type Take<'a> = dyn FnMut(usize, &[u8]) -> Result<bool> + Send + 'a;

/// A BLOB, or an array in its stored form, to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) id: u64,
    /// Maximum length in bytes.
    pub(crate) most: u64,
    /// Whether `most` comes from the declared type. Longer contents are then a server error, not a matter of an option.
    pub(crate) is_declared: bool,
    /// The statement whose latest result brought the id; `None` for an id that a caller has kept.
    pub(crate) source: Option<StatementId>,
    /// Whether a longer one is left out, not an error.
    pub(crate) may_be_left_out: bool,
}

impl Wanted {
    /// A BLOB of up to `max_blob` bytes.
    pub(crate) fn blob(id: u64, max_blob: MaxBlob) -> Self {
        Self::new(id, max_blob, None)
    }

    /// A BLOB that is left out if it is longer than so many bytes.
    pub(crate) fn short(id: u64, longest: u64) -> Self {
        Self { may_be_left_out: true, ..Self::blob(id, MaxBlob::new(longest)) }
    }

    /// An array with its declared maximum length, or a BLOB.
    pub(crate) fn new(id: u64, max_blob: MaxBlob, declared: Option<u64>) -> Self {
        match declared.filter(|declared| *declared <= max_blob.bytes()) {
            Some(most) => Self { id, most, is_declared: true, source: None, may_be_left_out: false },
            None => {
                Self { id, most: max_blob.bytes(), is_declared: false, source: None, may_be_left_out: false }
            }
        }
    }

    /// One whose id came with the latest result of a statement.
    pub(crate) fn of(self, statement: StatementId) -> Self {
        Self { source: Some(statement), ..self }
    }

    pub(crate) fn is_exceeded_by(&self, length: usize) -> bool {
        length as u64 > self.most
    }

    /// Returns the error for contents longer than `most`.
    pub(crate) fn too_long(&self) -> Error {
        let Self { most, is_declared, .. } = self;
        if *is_declared {
            return Error::new(
                Kind::Protocol,
                format!("the server sent more than the {most} bytes of an array"),
            );
        }
        let text = format!(
            "the BLOB is longer than max_blob={most}; set max_blob higher, or read it as a stream through the API, with blobs=lazy"
        );
        Error::new(Kind::Memory, text)
    }
}

/// SQL text and its SQL dialect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sql<'a> {
    pub(crate) text: &'a str,
    pub(crate) dialect: Dialect,
}

impl<'a> Sql<'a> {
    pub(crate) fn new(text: &'a str, dialect: Dialect) -> Self {
        Self { text, dialect }
    }
}

/// For firearrow's own queries.
impl<'a> From<&'a str> for Sql<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text, Dialect::default())
    }
}

/// What an execution did to its transaction, and how many rows it affected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executed {
    /// `None` when the engine counts nothing for this kind of statement.
    pub(crate) counts: Option<RecordCounts>,
    /// Whether the statement was COMMIT or ROLLBACK, so that the transaction is gone.
    pub(crate) transaction_ended: bool,
}

/// Facts about the transport, for `firearrow info`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transport {
    pub(crate) protocol: Option<u16>,
    pub(crate) cipher: Option<&'static str>,
    pub(crate) compressed: bool,
}

/// Converts a time limit for the engine. Engines take 0 as "no limit", so the shortest limit is 1.
pub(crate) fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1)
}
