//! The operations of an engine as calls into it, in this process.

mod blob;
mod event;
mod interruption;
mod scroll;
mod series;
mod write;

use super::{
    Backend, BlobId, Chunk, End, Executed, Message, Series, Sql, StatementId, Take, TransactionId, Transport,
    Wanted, Writer, milliseconds,
};
use crate::arrow::BatchBuilder;
use crate::cancel::{Operation, interrupted};
use crate::config::Config;
use crate::db_key::KeyHolder;
use crate::error::{Error, Kind, Result};
use crate::event::Inbox;
use crate::stats::WireStats;
use crate::warning::Warning;
use firearrow_fbapi as fbapi;
use firearrow_fbapi::{Attachment, CursorFlags, MessageBuffer, Metadata, ResultSet, StatementFlags};
use firearrow_proto::api::array::Slice;
use firearrow_proto::api::describe::{RecordCounts, StatementInfo, StatementKind};
use firearrow_proto::api::info::statement::RECORDS;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::pb::STREAM_BPB;
use firearrow_proto::api::row::NativeRows;
use firearrow_proto::api::scroll::Move;
use firearrow_proto::api::transaction::transaction_id;
use interruption::Interruption;
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Bytes of messages fetched before they are decoded: rows are still in the cache then, and the work per block
/// does not count.
const BLOCK_BYTES: usize = 128 << 10;
/// Bytes for most info answers; longer ones are asked for again by the layer below.
const INFO_BYTES: usize = 1024;

/// A database attached in this process.
pub(crate) struct Embedded {
    attachment: Option<Attachment>,
    transactions: HashMap<TransactionId, fbapi::Transaction>,
    statements: HashMap<u32, Statement>,
    blobs: HashMap<u32, fbapi::Blob>,
    questions: event::Questions,
    last_id: u32,
    last_transaction: u64,
    interruption: Interruption,
    /// About the attachment itself.
    pub(crate) warnings: Vec<Warning>,
}

struct Statement {
    statement: fbapi::Statement,
    /// The format in which the engine describes its rows, if there are any.
    natural: Arc<RowLayout>,
    /// The last formats used, so that repeated executions do not build them again.
    input: Option<(Arc<RowLayout>, Metadata)>,
    output: Option<(Arc<RowLayout>, Metadata)>,
    cursor: Option<OpenCursor>,
    batch: Option<fbapi::Batch>,
    counts_rows: bool,
}

struct OpenCursor {
    rows: ResultSet,
    layout: Arc<RowLayout>,
    buffer: MessageBuffer,
    /// Rows in the buffer, and how many of them have been handed out.
    fetched: usize,
    given: usize,
    at_end: bool,
    /// The move under way, if the cursor scrolls.
    scroll: Option<scroll::Scroll>,
}

impl Embedded {
    pub(crate) fn new(attachment: Attachment, warnings: Vec<Warning>) -> Self {
        Self {
            attachment: Some(attachment),
            transactions: HashMap::new(),
            statements: HashMap::new(),
            blobs: HashMap::new(),
            questions: event::Questions::default(),
            last_id: 0,
            last_transaction: 0,
            interruption: Interruption::default(),
            warnings,
        }
    }

    fn attachment(&self) -> Result<&Attachment> {
        self.attachment.as_ref().ok_or_else(|| Error::new(Kind::Closed, "the connection is closed"))
    }

    fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn own(&mut self, transaction: fbapi::Transaction) -> TransactionId {
        self.last_transaction += 1;
        let id = TransactionId(self.last_transaction);
        self.transactions.insert(id, transaction);
        id
    }

    fn transaction(&mut self, id: TransactionId) -> Result<&mut fbapi::Transaction> {
        self.transactions.get_mut(&id).ok_or_else(no_transaction)
    }

    fn statement(&mut self, id: StatementId) -> Result<&mut Statement> {
        self.statements.get_mut(&id.0).ok_or_else(no_statement)
    }
}

fn no_transaction() -> Error {
    Error::new(Kind::Misuse, "the transaction has ended")
}

/// What the last execution of a statement did to rows.
fn record_counts(statement: &fbapi::Statement) -> Result<Option<RecordCounts>> {
    Ok(RecordCounts::decode(&statement.info(&[RECORDS], INFO_BYTES)?))
}

fn no_statement() -> Error {
    Error::new(Kind::Misuse, "the statement has been freed")
}

impl Statement {
    /// The metadata for `layout`, or `None` where the engine's own will do.
    fn output_format(
        &mut self,
        library: &fbapi::Library,
        layout: &Arc<RowLayout>,
    ) -> Result<Option<&Metadata>> {
        if *layout == self.natural {
            return Ok(None);
        }
        cached(&mut self.output, library, layout).map(Some)
    }
}

/// The metadata for `layout`, built anew only when the layout differs from the last one.
fn cached<'a>(
    slot: &'a mut Option<(Arc<RowLayout>, Metadata)>,
    library: &fbapi::Library,
    layout: &Arc<RowLayout>,
) -> Result<&'a Metadata> {
    if slot.as_ref().is_none_or(|(last, _)| last != layout) {
        *slot = Some((Arc::clone(layout), Metadata::for_layout(library, layout)?));
    }
    match slot {
        Some((_, metadata)) => Ok(metadata),
        None => Err(Error::new(Kind::Misuse, "no metadata")),
    }
}

/// The parameters of a call, copied to where the engine wants them: aligned, and writable.
struct Bound<'a> {
    format: Option<&'a Metadata>,
    bytes: MessageBuffer,
}

impl<'a> Bound<'a> {
    fn new(
        slot: &'a mut Option<(Arc<RowLayout>, Metadata)>,
        library: &fbapi::Library,
        message: Option<Message<'_>>,
    ) -> Result<Self> {
        let Some(message) = message.filter(|message| !message.layout.fields().is_empty()) else {
            return Ok(Self { format: None, bytes: MessageBuffer::new(0) });
        };
        let mut bytes = MessageBuffer::new(message.layout.native_stride());
        let length = message.bytes.len().min(bytes.len());
        bytes.bytes_mut()[..length].copy_from_slice(&message.bytes[..length]);
        Ok(Self { format: Some(cached(slot, library, message.layout)?), bytes })
    }

    fn input(&mut self) -> fbapi::Input<'_> {
        self.format.map(|format| (format, self.bytes.bytes_mut()))
    }
}

impl Embedded {
    fn open(
        &mut self,
        id: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
        flags: CursorFlags,
    ) -> Result<()> {
        let library = Arc::clone(self.attachment()?.library());
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let entry = self.statements.get_mut(&id.0).ok_or_else(no_statement)?;
        if entry.cursor.is_some() {
            return Err(Error::new(Kind::Misuse, "the statement has an open cursor; close it first"));
        }
        entry.output_format(&library, output)?;
        let Statement { statement, input, output: format, natural, .. } = &mut *entry;
        let mut bound = Bound::new(input, &library, parameters)?;
        let format = format.as_ref().filter(|_| output != natural).map(|(_, metadata)| metadata);
        let rows = statement.open_cursor(transaction, bound.input(), format, flags)?;
        let stride = output.native_stride().max(1);
        let room = (BLOCK_BYTES / stride).max(1);
        entry.cursor = Some(OpenCursor {
            rows,
            layout: Arc::clone(output),
            buffer: MessageBuffer::new(room * stride),
            fetched: 0,
            given: 0,
            at_end: false,
            scroll: (flags == CursorFlags::SCROLLABLE).then(scroll::Scroll::default),
        });
        Ok(())
    }
}

impl Backend for Embedded {
    async fn connect_again(&mut self, _: &Config, _: &mut KeyHolder<'_>) -> Result<Self> {
        Err(Error::new(Kind::Unsupported, "an engine in this process is attached once"))
    }

    async fn pause(&mut self, time: Duration) {
        thread::sleep(time);
    }

    async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        let transaction = self.attachment()?.start_transaction(tpb)?;
        Ok(self.own(transaction))
    }

    async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        self.begin(tpb).await
    }

    fn is_open(&self, transaction: TransactionId) -> bool {
        self.transactions.contains_key(&transaction)
    }

    async fn end(&mut self, id: TransactionId, end: End) -> Result<()> {
        let transaction = self.transaction(id)?;
        match end {
            End::Commit => transaction.commit()?,
            End::Rollback => transaction.rollback()?,
            End::CommitRetaining => return Ok(transaction.commit_retaining()?),
            End::RollbackRetaining => return Ok(transaction.rollback_retaining()?),
        }
        self.transactions.remove(&id);
        Ok(())
    }

    async fn prepare_commit(&mut self, id: TransactionId, message: &[u8]) -> Result<()> {
        Ok(self.transaction(id)?.prepare(message)?)
    }

    async fn recover(&mut self, number: u64) -> Result<TransactionId> {
        let transaction = self.attachment()?.reconnect_transaction(&transaction_id(number))?;
        Ok(self.own(transaction))
    }

    async fn leave(&mut self, id: TransactionId) -> Result<()> {
        self.transactions.remove(&id);
        Ok(())
    }

    async fn transaction_info(&mut self, id: TransactionId, items: &[u8]) -> Result<Vec<u8>> {
        Ok(self.transaction(id)?.info(items, INFO_BYTES)?)
    }

    async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>> {
        Ok(self.attachment()?.info(items, INFO_BYTES)?)
    }

    async fn execute_immediate(&mut self, id: TransactionId, sql: Sql<'_>) -> Result<Executed> {
        let transaction = self.transactions.get_mut(&id).ok_or_else(no_transaction)?;
        let attachment = self.attachment.as_ref().ok_or_else(|| Error::new(Kind::Closed, "closed"))?;
        let started = attachment.execute_immediate(Some(transaction), sql.text, sql.dialect)?;
        refuse_new_transaction(started)?;
        let ended = !transaction.is_active();
        if ended {
            self.transactions.remove(&id);
        }
        Ok(Executed { counts: None, transaction_ended: ended })
    }

    async fn prepare(&mut self, id: TransactionId, sql: Sql<'_>) -> Result<(StatementId, StatementInfo)> {
        let transaction = self.transactions.get(&id).ok_or_else(no_transaction)?;
        let statement = self.attachment()?.prepare(transaction, sql.text, sql.dialect)?;
        let info = StatementInfo {
            kind: StatementKind::from_number(i64::from(statement.kind()?.0)),
            has_cursor: StatementFlags::has_cursor(statement.flags()?),
            columns: statement.output()?.descriptors()?,
            parameters: statement.input()?.descriptors()?,
        };
        let natural = RowLayout::for_descriptors(&info.columns)
            .map_err(|error| Error::new(Kind::Unsupported, error.to_string()))?;
        let counts_rows = matches!(
            info.kind,
            StatementKind::Insert
                | StatementKind::Update
                | StatementKind::Delete
                | StatementKind::ExecuteProcedure
        );
        let statement = Statement {
            statement,
            natural: Arc::new(natural),
            input: None,
            output: None,
            cursor: None,
            batch: None,
            counts_rows,
        };
        let id = self.next_id();
        self.statements.insert(id, statement);
        Ok((StatementId(id), info))
    }

    async fn prepare_known(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
        known: &Arc<StatementInfo>,
    ) -> Result<StatementId> {
        let (id, info) = self.prepare(transaction, sql).await?;
        if info == **known {
            return Ok(id);
        }
        self.free_statement(id).await?;
        Err(Error::changed())
    }

    async fn statement_info(&mut self, id: StatementId, items: &[u8]) -> Result<Vec<u8>> {
        Ok(self.statement(id)?.statement.info(items, INFO_BYTES)?)
    }

    async fn execute(
        &mut self,
        id: StatementId,
        transaction_id: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
    ) -> Result<Executed> {
        let library = Arc::clone(self.attachment()?.library());
        let transaction = self.transactions.get_mut(&transaction_id).ok_or_else(no_transaction)?;
        let Statement { statement, input, output: format, counts_rows, .. } =
            self.statements.get_mut(&id.0).ok_or_else(no_statement)?;
        let mut bound = Bound::new(input, &library, parameters)?;
        let started = match output {
            None => statement.execute(transaction, bound.input(), None)?,
            Some((layout, builder)) => {
                let mut row = MessageBuffer::new(layout.native_stride());
                let format = cached(format, &library, layout)?;
                let started =
                    statement.execute(transaction, bound.input(), Some((format, row.bytes_mut())))?;
                let rows = NativeRows::new(layout, row.bytes(), 1).ok_or_else(no_statement)?;
                builder.push(&rows, 0)?;
                started
            }
        };
        refuse_new_transaction(started)?;
        let counts = if *counts_rows { record_counts(statement)? } else { None };
        let transaction_ended = !transaction.is_active();
        if transaction_ended {
            self.transactions.remove(&transaction_id);
        }
        Ok(Executed { counts, transaction_ended })
    }

    async fn execute_and_commit(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
    ) -> Result<Executed> {
        let executed = self.execute(statement, transaction, parameters, None).await?;
        self.end(transaction, End::Commit).await?;
        Ok(executed)
    }

    async fn open_batch(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool> {
        self.start_batch(writer, layout)
    }

    async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        self.write_chunk(writer, chunk).await
    }

    async fn settle(&mut self, writer: &mut Writer) -> Result<()> {
        self.end_batch(writer)
    }

    async fn collect(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        builder: &mut BatchBuilder,
    ) -> Result<bool> {
        self.collect_rows(writer, series, builder).await
    }

    async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()> {
        self.finish_series(writer, series).await
    }

    async fn open_cursor(
        &mut self,
        id: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.open(id, transaction, parameters, output, CursorFlags::FORWARD)
    }

    fn can_scroll(&self) -> bool {
        true
    }

    async fn open_scrollable(
        &mut self,
        id: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.open(id, transaction, parameters, output, CursorFlags::SCROLLABLE)
    }

    fn scroll(&mut self, id: StatementId, to: Move, rows: usize) -> Result<()> {
        self.set_out(id, to, rows)
    }

    async fn fetch(&mut self, id: StatementId, builder: &mut BatchBuilder) -> Result<bool> {
        let operation = self.interruption.operation.clone();
        let cursor = self.statement(id)?.cursor.as_mut();
        let cursor = cursor.ok_or_else(|| Error::new(Kind::Misuse, "the cursor is closed"))?;
        loop {
            while cursor.given < cursor.fetched {
                let rows = NativeRows::new(&cursor.layout, cursor.buffer.bytes(), cursor.fetched);
                let rows = rows.ok_or_else(|| Error::new(Kind::Misuse, "a block shorter than its rows"))?;
                let taken = builder.push(&rows, cursor.given)?;
                if taken == 0 {
                    return Ok(false);
                }
                cursor.given += taken;
            }
            if cursor.at_end {
                return Ok(true);
            }
            if builder.is_full() {
                return Ok(false);
            }
            if let Some(kind) = operation.interruption() {
                return Err(interrupted(kind, "between two rows"));
            }
            let stride = cursor.layout.native_stride();
            let (fetched, at_end) = match &mut cursor.scroll {
                None => cursor.rows.fetch_block(&mut cursor.buffer, stride, usize::MAX)?,
                Some(scroll) => scroll.fetch(&mut cursor.rows, &mut cursor.buffer, stride)?,
            };
            (cursor.fetched, cursor.given, cursor.at_end) = (fetched, 0, at_end);
        }
    }

    async fn close_cursor(&mut self, id: StatementId) -> Result<()> {
        if let Some(cursor) = self.statement(id)?.cursor.take()
            && let Err(error) = cursor.rows.close()
        {
            // Its transaction may have closed it already.
            tracing::debug!(%error, "closing a cursor failed");
        }
        Ok(())
    }

    async fn free_statement(&mut self, id: StatementId) -> Result<()> {
        self.close_cursor(id).await?;
        self.statements.remove(&id.0);
        Ok(())
    }

    async fn read_blobs(
        &mut self,
        transaction: TransactionId,
        blobs: &[Wanted],
        take: &mut Take<'_>,
    ) -> Result<()> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let attachment = self.attachment()?;
        let mut contents = Vec::new();
        for (index, wanted) in blobs.iter().enumerate() {
            contents.clear();
            let mut blob = attachment.open_blob(transaction, wanted.id, &[])?;
            let most = usize::try_from(wanted.most).unwrap_or(usize::MAX);
            let read = blob.read_to_end(&mut contents, most);
            blob.close()?;
            read.map_err(|error| match error {
                fbapi::Error::BlobTooLong { .. } => wanted.too_long(),
                error => error.into(),
            })?;
            if !take(index, &contents)? {
                break;
            }
        }
        Ok(())
    }

    async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        self.open_stream(transaction, id)
    }

    async fn read_blob(&mut self, blob: BlobId, out: &mut Vec<u8>) -> Result<bool> {
        self.read_stream(blob, out)
    }

    async fn seek_blob(&mut self, blob: BlobId, offset: u64) -> Result<u64> {
        self.seek_stream(blob, offset)
    }

    async fn close_blob(&mut self, blob: BlobId) -> Result<()> {
        self.close_stream(blob)
    }

    async fn write_blobs(&mut self, transaction: TransactionId, blobs: &[&[u8]]) -> Result<Vec<u64>> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let attachment = self.attachment()?;
        let write = |bytes: &&[u8]| -> Result<u64> {
            let mut blob = attachment.create_blob(transaction, &STREAM_BPB)?;
            blob.write_all(bytes)?;
            let id = blob.id();
            blob.close()?;
            Ok(id)
        };
        blobs.iter().map(write).collect()
    }

    async fn write_arrays(&mut self, transaction: TransactionId, arrays: &[Slice<'_>]) -> Result<Vec<u64>> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let attachment = self.attachment()?;
        arrays.iter().map(|array| Ok(attachment.create_array(transaction, *array)?)).collect()
    }

    async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        self.ask_for_events(block, inbox)
    }

    async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()> {
        self.stop_asking(inbox);
        Ok(())
    }

    async fn ping(&mut self) -> Result<()> {
        Ok(self.attachment()?.ping()?)
    }

    async fn keep_alive(&mut self) -> Result<()> {
        Ok(())
    }

    fn limit_patience(&mut self, _: Duration) {}

    async fn detach(&mut self) -> Result<()> {
        self.questions.clear();
        self.statements.clear();
        self.transactions.clear();
        match self.attachment.take() {
            Some(attachment) => Ok(attachment.detach()?),
            None => Ok(()),
        }
    }

    async fn drop_database(&mut self) -> Result<()> {
        self.questions.clear();
        self.statements.clear();
        self.transactions.clear();
        match self.attachment.take() {
            Some(attachment) => Ok(attachment.drop_database()?),
            None => Err(Error::new(Kind::Closed, "the connection is closed")),
        }
    }

    fn limit_inline_blobs(&mut self, _: u32) {}

    fn begin_call(&mut self, operation: &Operation) {
        self.interruption.begin(operation, self.attachment.as_ref());
    }

    fn end_call(&mut self) {
        self.interruption.end(self.attachment.as_ref());
    }

    fn set_timeout(&mut self, statement: StatementId, timeout: Option<Duration>) -> Result<()> {
        let statement = &mut self.statement(statement)?.statement;
        Ok(statement.set_timeout(timeout.map_or(0, milliseconds))?)
    }

    fn is_late(&self) -> bool {
        false
    }

    fn transport(&self) -> Transport {
        Transport::default()
    }

    fn has_time_zones(&self) -> bool {
        self.attachment.as_ref().is_some_and(|attachment| attachment.library().client_version().0 >= 4)
    }

    fn wire_stats(&self) -> WireStats {
        WireStats::default()
    }

    fn abort(&mut self) {
        // Dropping it detaches.
        self.questions.clear();
        self.statements.clear();
        self.transactions.clear();
        self.attachment = None;
    }

    fn is_failed(&self) -> bool {
        self.attachment.is_none()
    }
}

/// SET TRANSACTION inside a transaction starts a second one that nobody would own.
fn refuse_new_transaction(started: Option<fbapi::Transaction>) -> Result<()> {
    match started {
        None => Ok(()),
        Some(_) => {
            Err(Error::new(Kind::Misuse, "SET TRANSACTION: use Connection::begin with TransactionOptions"))
        }
    }
}

impl From<fbapi::Error> for Error {
    fn from(error: fbapi::Error) -> Self {
        let kind = match &error {
            fbapi::Error::Status(status) => return Self::engine(status.clone()),
            fbapi::Error::LibraryNotFound { .. }
            | fbapi::Error::MissingDependency { .. }
            | fbapi::Error::NotALibrary { .. }
            | fbapi::Error::MissingEnginePlugin { .. }
            | fbapi::Error::PluginNotLoadable { .. }
            | fbapi::Error::MissingIcu { .. }
            | fbapi::Error::SecondLibrary { .. }
            | fbapi::Error::Interface { .. }
            | fbapi::Error::Folder { .. } => Kind::EngineMissing,
            fbapi::Error::Unsupported { .. } => Kind::Unsupported,
            fbapi::Error::Layout { .. } | fbapi::Error::Buffer { .. } => Kind::Protocol,
            fbapi::Error::Argument { .. } => Kind::Parameter,
            fbapi::Error::Unsafe { .. } => Kind::Configuration,
            fbapi::Error::NoTransaction | fbapi::Error::Forked { .. } => Kind::Misuse,
            fbapi::Error::BlobTooLong { .. } => Kind::Data,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn errors_of_the_library_are_kept_as_causes() {
        let error = Error::from(fbapi::Error::NoTransaction);
        assert_eq!(
            (error.kind(), error.message()),
            (Kind::Misuse, fbapi::Error::NoTransaction.to_string().as_str())
        );
        assert!(error.source().is_some_and(|source| source.is::<fbapi::Error>()));
    }
}
