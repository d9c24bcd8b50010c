//! Statements on engine calls.

use super::cursor::OpenCursor;
use super::{Embedded, INFO_BYTES, no_statement, no_transaction};
use crate::arrow::BatchBuilder;
use crate::backend::{
    Cursors, End, Executed, Message, Sql, StatementId, Statements, TransactionId, Transactions,
    cursor_is_open, milliseconds,
};
use crate::error::{Error, Kind, Result};
use firearrow_fbapi as fbapi;
use firearrow_fbapi::{MessageBuffer, Metadata, StatementFlags};
use firearrow_proto::api::describe::{RecordCounts, StatementInfo, StatementKind};
use firearrow_proto::api::info::statement::RECORDS;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::row::NativeRows;
use std::sync::Arc;
use std::time::Duration;

/// A prepared statement and the objects created for it.
pub(super) struct Statement {
    pub(super) statement: fbapi::Statement,
    /// The engine's own format of the rows; empty if the statement returns none.
    pub(super) natural: Arc<RowLayout>,
    /// The formats used last, so that repeated executions do not build them again.
    pub(super) input: Option<(Arc<RowLayout>, Metadata)>,
    pub(super) output: Option<(Arc<RowLayout>, Metadata)>,
    pub(super) cursor: Option<OpenCursor>,
    pub(super) bulk: Option<fbapi::Batch>,
    pub(super) counts_rows: bool,
}

impl Statement {
    /// Fails if it has an open cursor.
    pub(super) fn expect_free(&self) -> Result<()> {
        match self.cursor {
            None => Ok(()),
            Some(_) => Err(cursor_is_open()),
        }
    }

    /// Returns the metadata for `layout`, or `None` if the engine's own format matches.
    pub(super) fn output_format(
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

/// Returns the metadata for `layout`; builds it only when the layout differs from the last one.
pub(super) fn cached<'a>(
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

/// The parameters of a call, in the aligned and writable memory that the engine requires.
pub(super) struct Bound<'a> {
    format: Option<&'a Metadata>,
    bytes: MessageBuffer,
}

impl<'a> Bound<'a> {
    pub(super) fn new(
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

    pub(super) fn input(&mut self) -> fbapi::Input<'_> {
        self.format.map(|format| (format, self.bytes.bytes_mut()))
    }
}

impl Statements for Embedded {
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
            bulk: None,
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

    async fn renew(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        sql: Sql<'_>,
        known: &Arc<StatementInfo>,
    ) -> Result<()> {
        let StatementId(new) = self.prepare_known(transaction, sql, known).await?;
        if let Some(prepared) = self.statements.remove(&new) {
            // The old one ends here, within its transaction.
            self.statements.insert(statement.0, prepared);
        }
        Ok(())
    }

    async fn execute(
        &mut self,
        id: StatementId,
        transaction_id: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
        asks_counts: bool,
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
        let counts = if *counts_rows && asks_counts { record_counts(statement)? } else { None };
        let transaction_ended = !transaction.is_active();
        if transaction_ended {
            self.transactions.remove(&transaction_id);
        }
        Ok(Executed { counts, transaction_ended })
    }

    async fn execute_for_row(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        layout: &Arc<RowLayout>,
        output: &mut BatchBuilder,
    ) -> Result<Executed> {
        self.statement(statement)?.expect_free()?;
        self.execute(statement, transaction, parameters, Some((layout, output)), false).await
    }

    async fn execute_and_commit(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        _: bool,
    ) -> Result<Executed> {
        let executed = self.execute(statement, transaction, parameters, None, true).await?;
        self.end(transaction, End::Commit).await?;
        Ok(executed)
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

    async fn statement_info(&mut self, id: StatementId, items: &[u8]) -> Result<Vec<u8>> {
        Ok(self.statement(id)?.statement.info(items, INFO_BYTES)?)
    }

    async fn free_statement(&mut self, id: StatementId) -> Result<()> {
        self.close_cursor(id).await?;
        self.statements.remove(&id.0);
        Ok(())
    }

    fn expect_more(&mut self, _: bool) {}

    /// An engine in this process can always be interrupted.
    fn expect_interruption(&mut self, _: bool) {}

    fn set_timeout(&mut self, statement: StatementId, timeout: Option<Duration>) -> Result<()> {
        let statement = &mut self.statement(statement)?.statement;
        Ok(statement.set_timeout(timeout.map_or(0, milliseconds))?)
    }
}

/// Returns how many rows the last execution of a statement affected.
pub(super) fn record_counts(statement: &fbapi::Statement) -> Result<Option<RecordCounts>> {
    Ok(RecordCounts::decode(&statement.info(&[RECORDS], INFO_BYTES)?))
}

/// SET TRANSACTION inside a transaction starts a second one, which would have no owner.
fn refuse_new_transaction(started: Option<fbapi::Transaction>) -> Result<()> {
    match started {
        None => Ok(()),
        Some(_) => {
            Err(Error::new(Kind::Misuse, "SET TRANSACTION: use Connection::begin with TransactionOptions"))
        }
    }
}
