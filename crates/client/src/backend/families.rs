//! The operations of an engine, grouped by family. `family!` makes [`AnyBackend`] forward them.

use super::any::{AnyBackend, family, forward};
use super::link::Link;
use super::{
    BlobId, Chunk, End, Executed, LinkEstimate, Message, Series, Sql, StatementId, Take, TransactionId,
    Transport, Wanted, Writer,
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

/// Opens more connections of the same kind.
pub(crate) trait Reconnect: Sized {
    /// Opens another connection to the same database.
    async fn connect_again(&mut self, config: &Config, key: &mut KeyHolder<'_>) -> Result<Self>;
}

family! {
    /// All operations of an engine: every family, and the attachment itself. On a blocking backend, the futures never
    /// return `Pending`.
    trait Backend: Reconnect + Transactions + Statements + Cursors + Writes + QuerySeries + Blobs + BlobStreams + NewBlobs
        + Arrays + Events
    {
        async fn ping(&mut self) -> Result<()>;
        /// Sends a keep-alive, without waiting for an answer.
        async fn keep_alive(&mut self) -> Result<()>;
        async fn detach(&mut self) -> Result<()>;
        async fn drop_database(&mut self) -> Result<()>;
        /// Returns the answers to info items, up to the largest buffer; anything after that is marked as truncated.
        async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>>;
        /// Sleeps for `time`.
        async fn pause(&mut self, time: Duration);

        /// Limits how long all remaining calls on this connection together may wait for the server.
        fn limit_patience(&mut self, time: Duration);
        /// Marks the start of an operation, or its continuation after others. Until it ends, its tokens can interrupt
        /// the backend.
        fn begin_call(&mut self, operation: &Operation);
        /// Marks the end of an operation, or a pause: its tokens no longer affect the backend.
        fn end_call(&mut self);
        /// Whether the client's own time limit, and nothing else, cancelled the running call.
        fn is_late(&self) -> bool;

        fn transport(&self) -> Transport;
        /// Whether the engine is Firebird 4 or later, as far as is known without a round trip.
        fn is_firebird4(&self) -> bool;
        /// The traffic of the connection so far; zero for an engine in this process.
        fn wire_stats(&self) -> WireStats;
        /// What is known of the link; nothing for an engine in this process.
        fn link_estimate(&self) -> LinkEstimate;
        /// Whether the connection seems usable, checked without waiting for the server. Closes a dead connection.
        fn is_alive(&mut self) -> bool;
        /// Whether the connection has failed.
        fn is_failed(&self) -> bool;
        /// Closes the connection after a future was dropped half-way: its state is unknown.
        fn abort(&mut self);
    }
}

family! {
    trait Transactions {
        async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId>;
        /// Starts the transaction with its first request if that saves a round trip, otherwise now.
        async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId>;
        async fn end(&mut self, transaction: TransactionId, end: End) -> Result<()>;
        /// Runs the first phase of a two-phase commit: the transaction is then in limbo until `end` commits it or rolls
        /// it back.
        async fn prepare_commit(&mut self, transaction: TransactionId, message: &[u8]) -> Result<()>;
        /// Takes over the limbo transaction with this number in the database.
        async fn recover(&mut self, number: u64) -> Result<TransactionId>;
        /// Releases a limbo transaction without resolving it.
        async fn leave(&mut self, transaction: TransactionId) -> Result<()>;
        /// Rolls back these transactions and, if the engine can, resets the session, all in one round trip.
        async fn reset(&mut self, transactions: &[TransactionId]) -> Result<()>;
        async fn transaction_info(&mut self, transaction: TransactionId, items: &[u8]) -> Result<Vec<u8>>;

        /// Whether the transaction is still open, as far as is known.
        fn is_open(&self, transaction: TransactionId) -> bool;
        /// Announces that the next execution may change data: fetch the transaction's number if that costs no round
        /// trip.
        fn will_change(&mut self, transaction: TransactionId);
        /// Notes that SQL has ended the transaction with COMMIT or ROLLBACK, and that it continues under another
        /// number.
        fn renumbered(&mut self, transaction: TransactionId);
        /// Returns the error for a commit that was sent but not answered.
        fn lost_commit(&mut self, transaction: TransactionId, error: Error) -> Error;
    }
}

family! {
    trait Statements {
        async fn prepare(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<(StatementId, StatementInfo)>;
        /// Prepares a statement whose description is `known` from an earlier preparation. If the description has
        /// changed, the execution may be the first to notice; it then fails with `Kind::Changed` and returns no rows.
        async fn prepare_known(
            &mut self,
            transaction: TransactionId,
            sql: Sql<'_>,
            known: &Arc<StatementInfo>,
        ) -> Result<StatementId>;
        /// Prepares a statement again, in the transaction in which it was executed last, and under its own id.
        async fn renew(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            sql: Sql<'_>,
            known: &Arc<StatementInfo>,
        ) -> Result<()>;
        /// Runs a statement without a cursor. Writes the row it returns, if any, to `output`. Without `asks_counts`, the
        /// engine is not asked how many rows it affected.
        async fn execute(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
            output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
            asks_counts: bool,
        ) -> Result<Executed>;
        /// Runs a query without a cursor and writes its only row to `output`. No row is the engine's error
        /// `isc_stream_eof`, a second one `isc_sing_select_err`. Fails if the statement has an open cursor.
        async fn execute_for_row(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
            layout: &Arc<RowLayout>,
            output: &mut BatchBuilder,
        ) -> Result<Executed>;
        /// Runs a statement without rows, for the last time unless it `stays`, and commits. After a failure, the transaction may
        /// still exist, unchanged.
        async fn execute_and_commit(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
            stays: bool,
        ) -> Result<Executed>;
        /// Runs SQL without parameters or results.
        async fn execute_immediate(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<Executed>;
        async fn statement_info(&mut self, statement: StatementId, items: &[u8]) -> Result<Vec<u8>>;
        /// Frees a statement. Other connections can alter its tables shortly afterwards, whatever the caller does next.
        async fn free_statement(&mut self, statement: StatementId) -> Result<()>;

        /// Announces whether another request follows at once, so that queued requests can wait for it.
        fn expect_more(&mut self, follows: bool);
        /// Whether the next executions of statements without a cursor are to be interruptible.
        fn expect_interruption(&mut self, is_expected: bool);
        /// Limits the duration of the next executions, including fetching their rows; `None` = no limit.
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
        /// Opens a scrollable cursor, which returns rows only after a call of `scroll`.
        async fn open_scrollable(
            &mut self,
            statement: StatementId,
            transaction: TransactionId,
            parameters: Option<Message<'_>>,
            output: &Arc<RowLayout>,
        ) -> Result<()>;
        /// Adds rows to `builder` until it is full (`false`) or the cursor ends (`true`).
        async fn fetch(&mut self, statement: StatementId, builder: &mut BatchBuilder) -> Result<bool>;
        async fn close_cursor(&mut self, statement: StatementId) -> Result<()>;

        /// Whether the engine supports scrollable cursors.
        fn can_scroll(&self) -> bool;
        /// Moves a scrollable cursor to a row. Until the next move, [`fetch`](Self::fetch) returns that row and those
        /// after it, `rows` in all, and then reports the end.
        fn scroll(&mut self, statement: StatementId, to: Move, rows: usize) -> Result<()>;
        /// Sets whether the server may send BLOBs ahead of their rows in the next execution, up to the configured
        /// length.
        fn send_blobs_inline(&mut self, inline: bool);
    }
}

family! {
    /// Writes many parameter rows with a statement that returns no rows.
    trait Writes {
        /// Opens Firebird's bulk interface for messages of one format; returns `false` if the engine has none, or not
        /// for this kind of statement.
        async fn open_bulk(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool>;
        /// Executes the statement of `writer` for each row, with the writer's method. The writer records failed rows;
        /// an error means that no more rows can be written.
        async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()>;
        /// Waits until all written rows have been executed, and closes the bulk interface. Must be called after an
        /// error, too.
        async fn settle(&mut self, writer: &mut Writer) -> Result<()>;
    }
}

family! {
    /// Runs a statement that returns rows for many parameter rows.
    trait QuerySeries {
        /// Executes the statement of `writer` for the parameter rows of `series`, and moves the resulting rows into
        /// `builder` in order, until it is full (`false`) or all parameter rows are done (`true`). The writer records
        /// failed rows; an error means that no more rows can be executed.
        async fn collect(
            &mut self,
            writer: &mut Writer,
            series: &mut Series,
            builder: &mut BatchBuilder,
        ) -> Result<bool>;
        /// Waits for the outstanding responses and drops their rows. Must be called at the end of a series, even after
        /// an error.
        async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()>;
    }
}

family! {
    /// Whole BLOBs, many at a time.
    trait Blobs {
        /// Reads BLOBs, or arrays in their stored form, and passes them to `take` in order until it has enough. BLOBs
        /// already requested by then are still passed; those that may be left out are not if they are too long.
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
    /// Reads a stored BLOB in pieces.
    trait BlobStreams {
        /// Opens a BLOB as a stream; returns its stored length in bytes, and whether it supports seeking.
        async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)>;
        /// Appends the next bytes to `out`; returns `true` at the end.
        async fn read_blob(&mut self, blob: BlobId, out: &mut Vec<u8>) -> Result<bool>;
        /// Moves to an offset from the start; returns the offset reached.
        async fn seek_blob(&mut self, blob: BlobId, offset: u64) -> Result<u64>;
        async fn close_blob(&mut self, blob: BlobId) -> Result<()>;
    }
}

family! {
    /// Writes a new BLOB in pieces.
    trait NewBlobs {
        /// Creates a stream BLOB for writing in pieces.
        async fn create_blob(&mut self, transaction: TransactionId) -> Result<BlobId>;
        /// Appends bytes. A later call may report the failure.
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
        /// Requests events; `inbox` gets the answer once, on another thread. It must have no other request pending.
        async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()>;
        /// Cancels the request of `inbox`, if there is one.
        async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()>;
    }
}
