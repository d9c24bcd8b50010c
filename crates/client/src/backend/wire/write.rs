//! Many rows of parameters for one statement: batches where the server has them, pipelined executions elsewhere.
//!
//! ```text
//!              16 and later                              15 and earlier, and what a batch refuses
//!  first       batch_create, sync       (waits)          execute with BLR and message
//!  rows        batch_msg … batch_exec   (goes on)        execute … with messages only
//!  finish      answers, batch_rls                        answers
//! ```
//!
//! Either way rows behind a failed one are tried as long as they are under way, and every failure is reported with
//! its row: what is not reported has been done.
//!
//! A value that the engine cannot convert makes a batch fail as a whole, with an unknown number of its rows done. So
//! each batch has a savepoint, and a failed one is done again by executions, which tell row by row.

use super::{Wire, handle};
use crate::arrow::EncodedParams;
use crate::backend::link::Link;
use crate::backend::{RowFailure, Writer, Written};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::describe::{RECORDS, StatementKind, affected_rows};
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::batch::{
    BatchMessages, BatchOptions, Completion, CreateBatch, ExecuteBatch, RegisterBlob, ReleaseBatch, SyncBatch,
};
use firearrow_proto::wire::packet::info::InfoSql;
use firearrow_proto::wire::packet::statement::{Execute, ExecuteImmediate, ExecuteOptions, Parameters};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of one `op_batch_msg`: larger ones are decoded again and again while they arrive.
const PACKET: usize = 200 << 10;
/// Executions on their way. Each answer has 32 bytes, so this bounds what the server holds back.
const EXECUTIONS_AHEAD: usize = 4096;
/// Bytes of messages on their way.
const BYTES_AHEAD: usize = 1 << 20;
/// Failures that a batch describes; of those behind them only the numbers are known.
const DETAILED_ERRORS: u32 = 256;
/// A batch costs a round trip of its own; fewer rows are executed one by one, in one round trip.
const FEWEST_ROWS: usize = 64;
/// Bytes for the answer to "how many rows".
const RECORDS_BUFFER: u32 = 128;

/// What has been sent for one [`Writer`], and how.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    method: Method,
    format: Option<PackedFormat>,
    /// The format in which the server has seen the statement executed.
    known: Option<Arc<RowLayout>>,
    sent: VecDeque<Sent>,
    bytes_ahead: usize,
    /// Batches so far; each has a savepoint of its own.
    batches: u32,
    /// Batches that failed as a whole, or came behind one that did, oldest first.
    failed: VecDeque<Chunk>,
}

/// The rows of one batch.
#[derive(Debug)]
struct Chunk {
    number: u32,
    /// Rows before them.
    first: usize,
    rows: EncodedParams,
    error: Option<Error>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Method {
    #[default]
    Undecided,
    BatchOpen,
    Executions,
}

/// A request and what its answer is about.
#[derive(Debug)]
struct Sent {
    ticket: Ticket,
    what: What,
    bytes: usize,
}

#[derive(Debug)]
enum What {
    /// The execution of this row.
    Execution(usize),
    /// The counts of that execution.
    Counts(usize),
    /// Messages and BLOBs of a batch, its savepoint: when they fail, so does its execution or what goes back to it.
    Material,
    /// The execution of a batch.
    Batch(Box<Chunk>),
}

impl<L: Link> Wire<L> {
    /// Sends rows; waits only when too much is under way.
    pub(super) async fn send_rows(&mut self, writer: &mut Writer, rows: EncodedParams) -> Result<()> {
        self.check_interruption()?;
        if writer.pipe.format.as_ref().is_none_or(|format| *format.layout() != rows.layout) {
            // A batch has one format for all its messages.
            self.settle_all(writer).await?;
            writer.pipe.format = Some(PackedFormat::new(Arc::clone(&rows.layout)));
            if writer.pipe.method == Method::Undecided {
                let is_worth_it = rows.rows >= FEWEST_ROWS;
                writer.pipe.method = match is_worth_it {
                    true => self.open_batch(writer, &rows.layout).await?,
                    false => Method::Executions,
                };
            }
        }
        let first = writer.written.rows;
        writer.written.rows += rows.rows;
        match writer.pipe.method {
            Method::BatchOpen => self.send_batch(writer, first, rows).await,
            _ => self.send_executions(writer, first, &rows).await,
        }
    }

    /// Waits for all answers. After an error the others are still taken, so that the writer ends in step.
    pub(super) async fn settle_all(&mut self, writer: &mut Writer) -> Result<()> {
        let mut result = Ok(());
        loop {
            while let Some(sent) = writer.pipe.sent.pop_front() {
                let settled = self.settle(writer, sent).await;
                if self.connection.failure().is_some() {
                    return settled;
                }
                result = result.and(settled);
            }
            if writer.pipe.failed.is_empty() {
                break;
            }
            result = result.and(self.repeat_failed(writer).await);
        }
        if writer.pipe.method == Method::BatchOpen {
            self.tell(&ReleaseBatch { statement: handle(writer.statement.0) })?;
            writer.pipe.method = Method::Undecided;
        }
        writer.pipe.format = None;
        result
    }

    /// Data may only follow an open batch: servers crash over data for one that does not exist.
    async fn open_batch(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<Method> {
        let version = self.connection.version();
        // Protocol 16 brought batches and time limits of statements together.
        let has_batches = version.is_some_and(|version| version.has_statement_timeout());
        let may =
            matches!(writer.kind, StatementKind::Insert | StatementKind::Update | StatementKind::Delete);
        // Servers take a batch of INSERT … RETURNING, report success and insert nothing.
        // Ids of arrays cannot be registered with a batch.
        let has_arrays = layout.fields().iter().any(|field| field.kind == FieldKind::Array);
        if !has_batches || !may || writer.has_output || has_arrays {
            return Ok(Method::Executions);
        }
        let options = BatchOptions {
            multi_error: true,
            record_counts: true,
            detailed_errors: Some(DETAILED_ERRORS),
            buffer_bytes: None,
            has_blobs: layout.fields().iter().any(|field| field.kind == FieldKind::Blob),
        };
        let create = CreateBatch {
            statement: handle(writer.statement.0),
            blr: &layout.blr(),
            message_length: layout.native_length() as u32,
            options: &options.block(),
        };
        let created = self.ask(&create)?;
        let has_sync = version.is_some_and(|version| version.has_batch_sync());
        let synced = if has_sync { self.ask(&SyncBatch)? } else { self.ask(&Ping)? };
        let created = self.success(created).await;
        self.answer(synced).await?;
        match created {
            Ok(_) => Ok(Method::BatchOpen),
            // RETURNING and the like.
            Err(error) if error.gds_codes().contains(&gds::ISC_BATCH_TYPE) => Ok(Method::Executions),
            Err(error) => Err(error),
        }
    }

    async fn send_batch(&mut self, writer: &mut Writer, first: usize, rows: EncodedParams) -> Result<()> {
        let Some(format) = writer.pipe.format.clone() else { return Ok(()) };
        let stride = rows.layout.native_stride().max(1);
        let (statement, transaction) = (handle(writer.statement.0), handle(writer.transaction.0));
        writer.pipe.batches += 1;
        let number = writer.pipe.batches;
        let sql = format!("SAVEPOINT {}", savepoint(number));
        let ticket = self.ask(&ExecuteImmediate { transaction, sql: &sql })?;
        writer.push(ticket, What::Material, 64);
        for id in rows.blob_ids() {
            let ticket = self.ask(&RegisterBlob { statement, id, batch_id: id })?;
            writer.push(ticket, What::Material, 32);
        }
        let mut packed = Vec::with_capacity(PACKET + stride);
        let mut messages = rows.bytes.chunks_exact(stride).peekable();
        let mut count = 0;
        while let Some(message) = messages.next() {
            format.pack(message, &mut packed).ok_or_else(misfit)?;
            count += 1;
            if packed.len() >= PACKET || messages.peek().is_none() {
                let ticket = self.ask(&BatchMessages { statement, count, messages: &packed })?;
                writer.push(ticket, What::Material, packed.len());
                packed.clear();
                count = 0;
                // The server may work on it while the next messages are packed.
                self.flush().await?;
            }
        }
        let ticket = self.ask(&ExecuteBatch { statement, transaction })?;
        writer.push(ticket, What::Batch(Box::new(Chunk { number, first, rows, error: None })), 0);
        self.flush().await?;
        self.settle_down_to(writer, BYTES_AHEAD, usize::MAX).await?;
        if !writer.pipe.failed.is_empty() {
            self.settle_all(writer).await?;
        }
        Ok(())
    }

    /// Goes back to where the first failed batch began and does everything since then by executions.
    async fn repeat_failed(&mut self, writer: &mut Writer) -> Result<()> {
        let chunks = std::mem::take(&mut writer.pipe.failed);
        let Some(Chunk { number, error: Some(error), .. }) = chunks.front() else { return Ok(()) };
        tracing::debug!(%error, "a batch failed as a whole; its rows are executed one by one");
        if writer.pipe.method == Method::BatchOpen {
            self.tell(&ReleaseBatch { statement: handle(writer.statement.0) })?;
        }
        writer.pipe.method = Method::Executions;
        let transaction = handle(writer.transaction.0);
        for verb in ["ROLLBACK TO SAVEPOINT", "RELEASE SAVEPOINT"] {
            let sql = format!("{verb} {}", savepoint(*number));
            // Without it nothing can be said about the rows but this.
            self.call(&ExecuteImmediate { transaction, sql: &sql }).await.map_err(|_| error.clone())?;
        }
        if error.kind() == Kind::Cancelled {
            writer.written.rows = chunks.front().map_or(0, |chunk| chunk.first);
            return Err(error.clone());
        }
        for mut chunk in chunks {
            // BLOBs that a row has taken are gone with it.
            let rows = &mut chunk.rows;
            let contents: Vec<&[u8]> = rows.blobs.iter().map(|cell| rows.blob_bytes(cell)).collect();
            let ids = self.write_many_blobs(writer.transaction, &contents).await?;
            rows.set_blobs(&ids);
            writer.pipe.format = Some(PackedFormat::new(Arc::clone(&rows.layout)));
            self.send_executions(writer, chunk.first, &chunk.rows).await?;
        }
        Ok(())
    }

    async fn send_executions(
        &mut self,
        writer: &mut Writer,
        first: usize,
        rows: &EncodedParams,
    ) -> Result<()> {
        let Some(format) = writer.pipe.format.clone() else { return Ok(()) };
        // The server knows the format from the first execution on.
        let is_known =
            writer.pipe.known.replace(Arc::clone(&rows.layout)).is_some_and(|known| known == rows.layout);
        let mut blr = if is_known { Vec::new() } else { rows.layout.blr() };
        let stride = rows.layout.native_stride().max(1);
        let (statement, transaction) = (handle(writer.statement.0), handle(writer.transaction.0));
        let mut packed = Vec::new();
        for (index, message) in rows.bytes.chunks_exact(stride).enumerate() {
            packed.clear();
            format.pack(message, &mut packed).ok_or_else(misfit)?;
            let parameters = Parameters { blr: &blr, message: &packed };
            let options = ExecuteOptions::default();
            let ticket = self.ask(&Execute { statement, transaction, parameters, options })?;
            blr.clear();
            let row = first + index;
            writer.push(ticket, What::Execution(row), packed.len() + 32);
            if writer.asks_counts {
                let info = InfoSql { object: statement, items: &[RECORDS], buffer_length: RECORDS_BUFFER };
                let ticket = self.ask(&info)?;
                writer.push(ticket, What::Counts(row), 32);
            }
            if writer.pipe.sent.len() >= EXECUTIONS_AHEAD || writer.pipe.bytes_ahead > BYTES_AHEAD {
                // Half of them at a time, so that they share writes.
                self.settle_down_to(writer, BYTES_AHEAD / 2, EXECUTIONS_AHEAD / 2).await?;
            }
        }
        Ok(())
    }

    /// Takes the oldest answers until no more than this is under way.
    async fn settle_down_to(&mut self, writer: &mut Writer, bytes: usize, requests: usize) -> Result<()> {
        while (writer.pipe.bytes_ahead > bytes || writer.pipe.sent.len() > requests)
            && let Some(sent) = writer.pipe.sent.pop_front()
        {
            self.settle(writer, sent).await?;
        }
        Ok(())
    }

    /// Takes one answer.
    async fn settle(&mut self, writer: &mut Writer, sent: Sent) -> Result<()> {
        writer.pipe.bytes_ahead -= sent.bytes;
        let written = &mut writer.written;
        match sent.what {
            What::Batch(mut chunk) => match self.completion(sent.ticket).await {
                Ok(completion) if writer.pipe.failed.is_empty() => {
                    complete(written, &chunk, completion)?;
                    let sql = format!("RELEASE SAVEPOINT {} ONLY", savepoint(chunk.number));
                    self.tell(&ExecuteImmediate { transaction: handle(writer.transaction.0), sql: &sql })?;
                }
                Ok(_) => writer.pipe.failed.push_back(*chunk),
                Err(error) if self.connection.failure().is_some() => return Err(error),
                Err(error) => {
                    chunk.error = Some(error);
                    writer.pipe.failed.push_back(*chunk);
                }
            },
            What::Material => {
                // The execution of the batch will say the same.
                self.answer(sent.ticket).await?;
            }
            What::Execution(row) => {
                let response = self.answer(sent.ticket).await?;
                if response.status.is_error() {
                    written.failures.push(RowFailure { row, error: Error::engine(response.status) });
                } else if !writer.asks_counts {
                    written.count(1);
                }
            }
            What::Counts(row) => {
                let counts = self.answer(sent.ticket).await?;
                let failed = written.failures.last().is_some_and(|failure| failure.row == row);
                if !failed && let Some(count) = affected_rows(&counts.data) {
                    written.count(count);
                }
            }
        }
        Ok(())
    }

    /// Waits for the answer to the execution of a batch.
    async fn completion(&mut self, ticket: Ticket) -> Result<Completion> {
        loop {
            if let Some(completion) = self.router.take_completion(ticket) {
                return Ok(completion);
            }
            if let Some(response) = self.router.take(ticket) {
                return Err(Error::engine(response.status));
            }
            self.step().await?;
        }
    }
}

impl Writer {
    fn push(&mut self, ticket: Ticket, what: What, bytes: usize) {
        self.pipe.bytes_ahead += bytes;
        self.pipe.sent.push_back(Sent { ticket, what, bytes });
    }
}

/// The savepoint in front of a batch.
fn savepoint(number: u32) -> String {
    format!("FIREARROW_BATCH_{number}")
}

fn complete(written: &mut Written, chunk: &Chunk, completion: Completion) -> Result<()> {
    let (first, rows) = (chunk.first, chunk.rows.rows);
    if completion.records as usize != rows {
        let text = format!("{} of {rows} rows of a batch were processed", completion.records);
        return Err(Error::new(Kind::Protocol, text));
    }
    for count in completion.updates {
        written.count(u64::try_from(count).unwrap_or(0)); // a failed record has −1
    }
    let described = completion.errors.into_iter().map(|(record, status)| (record, Error::engine(status)));
    let bare = completion.bare_errors.into_iter().map(|record| {
        (record, Error::new(Kind::Engine, "the row failed; servers describe 256 failures of a batch at most"))
    });
    let mut failures: Vec<RowFailure> = described
        .chain(bare)
        .map(|(record, error)| RowFailure { row: first + record as usize, error })
        .collect();
    failures.sort_by_key(|failure| failure.row);
    written.failures.extend(failures);
    Ok(())
}

/// A message is shorter than its layout says.
pub(super) fn misfit() -> Error {
    Error::new(Kind::Parameter, "a parameter message that does not fit its layout")
}
