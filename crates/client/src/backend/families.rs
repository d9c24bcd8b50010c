//! The operations of an engine, by family. `family!` makes [`AnyBackend`] forward what it lists.

use super::any::{AnyBackend, family, forward};
use super::link::Link;
use super::{
    BlobId, Chunk, End, Executed, Message, Series, Sql, StatementId, Take, TransactionId, Transport, Wanted,
    Writer,
};
use crate::arrow::BatchBuilder;
use crate::cancel::Operation;
use crate::config::Config;
use crate::db_key::KeyHolder;
use crate::error::{Error, Result};
use crate::event::Inbox;
use crate::stats::WireStats;
use firearrow_proto::api::array::Slice;
use firearrow_proto::api::describe::StatementInfo;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::scroll::Move;
use std::sync::Arc;
use std::time::Duration;

/// A source of further connections of its kind.
pub(crate) trait Reconnect: Sized {
    /// Opens another connection to the same database.
    async fn connect_again(&mut self, config: &Config, key: &mut KeyHolder<'_>) -> Result<Self>;
}

family! {
    /// The operations of an engine: all families, and the attachment itself. A flow over a blocking backend never
    /// pends.
    trait Backend: Reconnect + Transactions + Statements + Cursors + Writes + QuerySeries + Blobs + BlobStreams + NewBlobs
        + Arrays + Events
    {
        async fn ping(&mut self) -> Result<()>;
        /// Sends a keep-alive, without waiting for an answer.
        async fn keep_alive(&mut self) -> Result<()>;
        async fn detach(&mut self) -> Result<()>;
        async fn drop_database(&mut self) -> Result<()>;
        /// Answers items as far as the largest buffer goes; anything after that is marked as truncated.
        async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>>;
        /// Waits so long.
        async fn pause(&mut self, time: Duration);

        /// Limits how long the rest of this connection, all of its calls together, may wait for the server.
        fn limit_patience(&mut self, time: Duration);
        /// An operation begins, or goes on after others: what cancels it interrupts the backend until it ends.
        fn begin_call(&mut self, operation: &Operation);
        /// The operation has ended or pauses: what cancels it does not concern the next one.
        fn end_call(&mut self);
        /// Whether the running call was cancelled because its time is up, where the client watches the clock.
        fn is_late(&self) -> bool;

        fn transport(&self) -> Transport;
        /// Whether the engine is of Firebird 4 or later, as far as is known without asking.
        fn is_firebird4(&self) -> bool;
        /// The cost of the connection so far; zero for an engine in this process.
        fn wire_stats(&self) -> WireStats;
        /// Whether the connection seems usable, checked without waiting for the server. One that has ended is closed.
        fn is_alive(&mut self) -> bool;
        /// Whether the connection has failed.
        fn is_failed(&self) -> bool;
        /// A flow was given up in the middle: nothing can be said about the connection, which is closed.
        fn abort(&mut self);
    }
}

family! {
    trait Transactions {
        async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId>;
        /// Begins together with the first use, where that saves a round trip; otherwise now.
        async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId>;
        async fn end(&mut self, transaction: TransactionId, end: End) -> Result<()>;
        /// First phase of a two-phase commit: from here on the transaction is in limbo, and only `end` decides
        /// about it.
        async fn prepare_commit(&mut self, transaction: TransactionId, message: &[u8]) -> Result<()>;
        /// Takes over the transaction in limbo that has this number in the database.
        async fn recover(&mut self, number: u64) -> Result<TransactionId>;
        /// Releases a transaction in limbo without deciding about it.
        async fn leave(&mut self, transaction: TransactionId) -> Result<()>;
        /// Rolls these back, and resets the session where the engine can: all of it in one round trip.
        async fn reset(&mut self, transactions: &[TransactionId]) -> Result<()>;
        async fn transaction_info(&mut self, transaction: TransactionId, items: &[u8]) -> Result<Vec<u8>>;

        /// Whether the transaction has not ended yet, as far as is known.
        fn is_open(&self, transaction: TransactionId) -> bool;
        /// The next execution in it may change something: its number is worth knowing, where that costs no round trip.
        fn will_change(&mut self, transaction: TransactionId);
        /// It was committed or rolled back in SQL and continues under another number.
        fn renumbered(&mut self, transaction: TransactionId);
        /// The error for a commit that was sent and not answered.
        fn lost_commit(&mut self, transaction: TransactionId, error: Error) -> Error;
    }
}

family! {
    trait Statements {
        async fn prepare(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<(StatementId, StatementInfo)>;
        /// Prepares what was prepared before and was `known` to be like this. A change (`Kind::Changed`) may be found
        /// only when it is executed; then it returns no rows.
        async fn prepare_known(
            &mut self,
            transaction: TransactionId,
            sql: Sql<'_>,
            known: &Arc<StatementInfo>,
        ) -> Result<StatementId>;
        /// Runs a statement without a cursor. Its row, if it has one, goes into `output`.
        async fn execute(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
            output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
        ) -> Result<Executed>;
        /// Runs a statement without rows for the last time, and commits. When it fails, the transaction may still be
        /// there, unchanged.
        async fn execute_and_commit(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
        ) -> Result<Executed>;
        /// Runs SQL without parameters or result.
        async fn execute_immediate(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<Executed>;
        async fn statement_info(&mut self, statement: StatementId, items: &[u8]) -> Result<Vec<u8>>;
        /// Frees a statement. Others can alter its tables within moments, whatever the caller does next.
        async fn free_statement(&mut self, statement: StatementId) -> Result<()>;

        /// Whether another request follows at once: what is queued may travel with it.
        fn expect_more(&mut self, follows: bool);
        /// Limits the time that the following executions may take, their rows included; `None` = no limit.
        fn set_timeout(&mut self, statement: StatementId, timeout: Option<Duration>) -> Result<()>;
    }
}

family! {
    trait Cursors {
        async fn open_cursor(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
            output: &Arc<RowLayout>,
        ) -> Result<()>;
        /// Opens a cursor that returns rows only after it has been positioned.
        async fn open_scrollable(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
            output: &Arc<RowLayout>,
        ) -> Result<()>;
        /// Fills `builder` until it is full (`false`) or the cursor is at its end (`true`).
        async fn fetch(&mut self, statement: StatementId, builder: &mut BatchBuilder) -> Result<bool>;
        async fn close_cursor(&mut self, statement: StatementId) -> Result<()>;

        /// Whether cursors can be opened that scroll.
        fn can_scroll(&self) -> bool;
        /// Sends a scrollable cursor to a row: that one and those after it, `rows` in all, are what
        /// [`fetch`](Self::fetch) returns until it is sent elsewhere. Their end is the end of the cursor in this
        /// respect.
        fn scroll(&mut self, statement: StatementId, to: Move, rows: usize) -> Result<()>;
        /// Longest BLOB that may come ahead of its row in the next execution; 0 = none. No more than is configured.
        fn limit_inline_blobs(&mut self, longest: u32);
    }
}

family! {
    /// Many parameter rows for a statement that returns no rows.
    trait Writes {
        /// Opens Firebird's bulk interface for messages of one format; `false` where the engine has none, or none for
        /// such a statement.
        async fn open_bulk(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool>;
        /// Executes the statement of `writer` once for each row, by its method. What fails is noted in the writer; an
        /// error means that nothing more can be written.
        async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()>;
        /// Waits until everything that was written has been executed, and closes the bulk interface. Also due after an
        /// error.
        async fn settle(&mut self, writer: &mut Writer) -> Result<()>;
    }
}

family! {
    /// Many parameter rows for a statement that returns rows.
    trait QuerySeries {
        /// Executes the statement of `writer` for the parameter rows of `series`, and moves the rows that it returns
        /// into `builder`, in order: until that has no room (`false`), or all parameter rows are done (`true`). What
        /// fails is noted in the writer; an error means that nothing more can be executed.
        async fn collect(
            &mut self,
            writer: &mut Writer,
            series: &mut Series,
            builder: &mut BatchBuilder,
        ) -> Result<bool>;
        /// Waits for the outstanding responses, and drops their rows. Due at the end of a series, also after an error.
        async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()>;
    }
}

family! {
    /// Whole BLOBs, many at a time.
    trait Blobs {
        /// Reads BLOBs, or arrays as they are stored, and hands them over in order until `take` has enough. A few more
        /// may follow: those that were on their way by then.
        async fn read_blobs(
            &mut self,
            transaction: TransactionId,
            blobs: &[Wanted],
            take: &mut Take<'_>,
        ) -> Result<()>;
        /// Creates BLOBs and returns their ids.
        async fn write_blobs(&mut self, transaction: TransactionId, blobs: &[&[u8]]) -> Result<Vec<u64>>;
    }
}

family! {
    /// A stored BLOB in pieces.
    trait BlobStreams {
        /// Opens a BLOB as a stream; returns its stored length in bytes, and whether it can be positioned.
        async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)>;
        /// Appends the next bytes; `true` at the end.
        async fn read_blob(&mut self, blob: BlobId, out: &mut Vec<u8>) -> Result<bool>;
        /// Moves to an offset from the start; returns the offset reached.
        async fn seek_blob(&mut self, blob: BlobId, offset: u64) -> Result<u64>;
        async fn close_blob(&mut self, blob: BlobId) -> Result<()>;
    }
}

family! {
    /// A new BLOB in pieces.
    trait NewBlobs {
        /// Creates a stream BLOB, to be written in pieces.
        async fn create_blob(&mut self, transaction: TransactionId) -> Result<BlobId>;
        /// Appends bytes. Their failure may be reported by a later call.
        async fn write_blob(&mut self, blob: BlobId, bytes: &[u8]) -> Result<()>;
        /// Completes a created BLOB and returns its id.
        async fn finish_blob(&mut self, blob: BlobId) -> Result<u64>;
        /// Discards a created BLOB.
        async fn cancel_blob(&mut self, blob: BlobId) -> Result<()>;
    }
}

family! {
    trait Arrays {
        /// Creates arrays and returns their ids.
        async fn write_arrays(&mut self, transaction: TransactionId, arrays: &[Slice<'_>]) -> Result<Vec<u64>>;
    }
}

family! {
    trait Events {
        /// Asks for events; `inbox` gets the answer, once, in another thread. It has no other question open.
        async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()>;
        /// Takes the question of `inbox` back, if there is one.
        async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()>;
    }
}
