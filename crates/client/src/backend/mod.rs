//! What an engine can be asked to do, whether it is behind a socket or in this process.

mod any;
mod blob_info;
#[cfg(feature = "embedded")]
pub(crate) mod embedded;
pub(crate) mod link;
mod series;
pub(crate) mod wire;
mod writer;

pub(crate) use any::AnyBackend;
pub(crate) use series::{Series, Turn};
pub use writer::RowFailure;
pub(crate) use writer::{Chunk, DETAILED_ERRORS, Failed, Method, Outcome, Savepoint, Writer, Written};

use crate::arrow::{BatchBuilder, MaxBlob};
use crate::cancel::Operation;
use crate::config::Config;
use crate::db_key::KeyHolder;
use crate::error::{Error, Kind, Result};
use crate::event::Inbox;
use crate::stats::WireStats;
use firearrow_proto::api::array::Slice;
use firearrow_proto::api::describe::{RecordCounts, StatementInfo};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::scroll::Move;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for a server to roll back what is open and to confirm a detach, or to confirm the end of a listener; the
/// socket is closed then.
pub(crate) const LEAVING: Duration = Duration::from_secs(5);

/// Names a transaction within one backend. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TransactionId(pub(crate) u64);

/// Names an open BLOB within one backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlobId(pub(crate) u32);

/// Names a prepared statement within one backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StatementId(pub(crate) u32);

/// How a transaction ends, or goes on.
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

/// One native message of parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) layout: &'a Arc<RowLayout>,
    pub(crate) bytes: &'a [u8],
}

/// Gets the contents of the BLOB with this index; says whether more are wanted.
pub(crate) type Take<'a> = dyn FnMut(usize, &[u8]) -> Result<bool> + Send + 'a;

/// A BLOB, or an array as it is stored, whose contents are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) id: u64,
    /// The most bytes that it may have.
    pub(crate) most: u64,
    /// What it was declared as has no more, so that more of them are the server's fault and not a matter of an option.
    pub(crate) is_declared: bool,
}

impl Wanted {
    /// A BLOB of any length up to `max_blob`.
    pub(crate) fn blob(id: u64, max_blob: MaxBlob) -> Self {
        Self::new(id, max_blob, None)
    }

    /// What was declared with so many bytes at most, if it was.
    pub(crate) fn new(id: u64, max_blob: MaxBlob, declared: Option<u64>) -> Self {
        match declared.filter(|declared| *declared <= max_blob.bytes()) {
            Some(most) => Self { id, most, is_declared: true },
            None => Self { id, most: max_blob.bytes(), is_declared: false },
        }
    }

    pub(crate) fn is_exceeded_by(&self, length: usize) -> bool {
        length as u64 > self.most
    }

    /// It is longer than that.
    pub(crate) fn too_long(&self) -> Error {
        let Self { most, is_declared, .. } = self;
        if *is_declared {
            return Error::new(Kind::Protocol, format!("an array came with more than its {most} bytes"));
        }
        let text = format!(
            "the BLOB is longer than max_blob={most}; set max_blob higher, or read it as a stream with blobs=lazy"
        );
        Error::new(Kind::Memory, text)
    }
}

/// SQL text, and how it is meant.
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

/// What firearrow itself wants to know.
impl<'a> From<&'a str> for Sql<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text, Dialect::default())
    }
}

/// What an execution did to its transaction, and to how many rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executed {
    /// `None` when the engine counts nothing for this kind of statement.
    pub(crate) counts: Option<RecordCounts>,
    /// The statement was COMMIT or ROLLBACK: the transaction is gone.
    pub(crate) transaction_ended: bool,
}

/// Facts about the transport, for `firearrow info`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transport {
    pub(crate) protocol: Option<u16>,
    pub(crate) cipher: Option<&'static str>,
    pub(crate) compressed: bool,
}

/// The operations of an engine. A flow over a blocking backend never pends.
#[allow(async_fn_in_trait, reason = "crate-private; Send is inferred for the concrete backends")]
pub(crate) trait Backend: Sized {
    /// Another connection to the same database.
    async fn connect_again(&mut self, config: &Config, key: &mut KeyHolder<'_>) -> Result<Self>;
    /// Waits so long.
    async fn pause(&mut self, time: Duration);

    async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId>;
    /// Begins together with the first use, where that saves a round trip; otherwise now.
    async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId>;
    /// What is executed next in it may change something: its number is worth knowing, where that costs no round trip.
    fn will_change(&mut self, _transaction: TransactionId) {}
    /// It was committed or rolled back in SQL and goes on, under another number.
    fn renumbered(&mut self, _transaction: TransactionId) {}
    /// Whether the transaction has not ended yet, as far as is known.
    fn is_open(&self, transaction: TransactionId) -> bool;
    async fn end(&mut self, transaction: TransactionId, end: End) -> Result<()>;
    /// First phase of a two-phase commit: from here on the transaction is in limbo, and only `end` decides about it.
    async fn prepare_commit(&mut self, transaction: TransactionId, message: &[u8]) -> Result<()>;
    /// Takes over the transaction in limbo that has this number in the database.
    async fn recover(&mut self, number: u64) -> Result<TransactionId>;
    /// Lets go of a transaction in limbo without deciding about it.
    async fn leave(&mut self, transaction: TransactionId) -> Result<()>;
    async fn transaction_info(&mut self, transaction: TransactionId, items: &[u8]) -> Result<Vec<u8>>;
    /// Answers items as far as the largest buffer goes; what comes behind that is marked as truncated.
    async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>>;

    /// Runs SQL without parameters or result.
    async fn execute_immediate(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<Executed>;

    async fn prepare(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
    ) -> Result<(StatementId, StatementInfo)>;
    /// Prepares what was prepared before and was `known` to be like this. That it has become something else
    /// (`Kind::Changed`) may be found only when it is executed; then it gives no rows.
    async fn prepare_known(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
        known: &Arc<StatementInfo>,
    ) -> Result<StatementId>;
    async fn statement_info(&mut self, statement: StatementId, items: &[u8]) -> Result<Vec<u8>>;

    /// Runs a statement without a cursor. Its row, if it has one, goes into `output`.
    async fn execute(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
    ) -> Result<Executed>;

    /// Runs a statement without rows for the last time, and commits. When it fails, the transaction may still be there,
    /// unchanged.
    async fn execute_and_commit(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
    ) -> Result<Executed>;

    /// Opens a batch for messages of one format; `false` where the engine has none, or none for such a statement.
    async fn open_batch(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool>;
    /// Executes the statement of `writer` once for each row, by its method. What fails is noted in the writer; an error
    /// means that nothing more can be written.
    async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()>;
    /// Waits until everything that was written has been executed, and closes the batch. Also due after an error.
    async fn settle(&mut self, writer: &mut Writer) -> Result<()>;

    /// Executes the statement of `writer` for the rows of parameters of `series`, and moves the rows that it gives into
    /// `builder`, in order: until that has no room (`false`), or all rows of parameters are done (`true`). What fails is
    /// noted in the writer; an error means that nothing more can be executed.
    async fn collect(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        builder: &mut BatchBuilder,
    ) -> Result<bool>;
    /// Waits for what is under way, and drops its rows. Due at the end of a series, also after an error.
    async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()>;

    async fn open_cursor(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()>;
    /// Whether cursors can be opened that scroll.
    fn can_scroll(&self) -> bool;
    /// Opens a cursor that gives rows only when it is told where to go.
    async fn open_scrollable(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()>;
    /// Sends a scrollable cursor to a row: that one and those after it, `rows` in all, are what
    /// [`fetch`](Self::fetch) gives until it is sent elsewhere. Their end is the end of the cursor in this respect.
    fn scroll(&mut self, statement: StatementId, to: Move, rows: usize) -> Result<()>;
    /// Fills `builder` until it is full (`false`) or the cursor is at its end (`true`).
    async fn fetch(&mut self, statement: StatementId, builder: &mut BatchBuilder) -> Result<bool>;
    async fn close_cursor(&mut self, statement: StatementId) -> Result<()>;
    /// Frees a statement. Others can alter its tables within moments, whatever the caller does next.
    async fn free_statement(&mut self, statement: StatementId) -> Result<()>;
    /// Whether another request follows at once: what is queued may travel with it.
    fn expect_more(&mut self, _follows: bool) {}

    /// Reads BLOBs, or arrays as they are stored, and hands them over in order until `take` has enough. A few more may follow: those that were
    /// on their way by then.
    async fn read_blobs(
        &mut self,
        transaction: TransactionId,
        blobs: &[Wanted],
        take: &mut Take<'_>,
    ) -> Result<()>;
    /// Opens a BLOB as a stream; its stored length in bytes, and whether it can be positioned.
    async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)>;
    /// Appends the next bytes; `true` at the end.
    async fn read_blob(&mut self, blob: BlobId, out: &mut Vec<u8>) -> Result<bool>;
    /// Goes to an offset from the start; gives the offset that was reached.
    async fn seek_blob(&mut self, blob: BlobId, offset: u64) -> Result<u64>;
    async fn close_blob(&mut self, blob: BlobId) -> Result<()>;
    /// Creates BLOBs and gives their ids.
    async fn write_blobs(&mut self, transaction: TransactionId, blobs: &[&[u8]]) -> Result<Vec<u64>>;

    /// Creates arrays and gives their ids.
    async fn write_arrays(&mut self, transaction: TransactionId, arrays: &[Slice<'_>]) -> Result<Vec<u64>>;

    /// Asks for events; `inbox` gets the answer, once, in another thread. It has no other question open.
    async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()>;
    /// Takes the question of `inbox` back, if there is one.
    async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()>;

    async fn ping(&mut self) -> Result<()>;
    /// Tells the peer that this side is alive, without waiting for an answer.
    async fn keep_alive(&mut self) -> Result<()>;
    /// The rest of this connection, all of its calls together, may wait so long for the server.
    fn limit_patience(&mut self, time: Duration);
    async fn detach(&mut self) -> Result<()>;
    async fn drop_database(&mut self) -> Result<()>;

    /// Longest BLOB that may come ahead of its row in the next execution; 0 = none. No more than is configured.
    fn limit_inline_blobs(&mut self, longest: u32);

    /// An operation begins, or goes on after others: what cancels it interrupts the backend until it ends.
    fn begin_call(&mut self, operation: &Operation);
    /// The operation has ended or pauses: what cancels it does not concern the next one.
    fn end_call(&mut self);
    /// Most time that the following executions may take, their rows included; `None` = no limit.
    fn set_timeout(&mut self, statement: StatementId, timeout: Option<Duration>) -> Result<()>;
    /// The error for a commit that was sent as SQL and not answered.
    fn lost_commit(&mut self, _: TransactionId, error: Error) -> Error {
        error
    }

    /// Whether the running call was cancelled because its time is up, where this side watches the clock.
    fn is_late(&self) -> bool;

    fn transport(&self) -> Transport;
    /// Whether the engine has the types of Firebird 4, as far as is known without asking.
    fn has_time_zones(&self) -> bool;
    /// What the connection cost so far; zero for an engine in this process.
    fn wire_stats(&self) -> WireStats;
    /// Whether the connection is beyond use.
    fn is_failed(&self) -> bool;
    /// A flow was given up in the middle: nothing can be said about the connection, which is closed.
    fn abort(&mut self);
}

/// As engines want time limits: 0 is none, so that the shortest is 1.
pub(crate) fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1)
}
