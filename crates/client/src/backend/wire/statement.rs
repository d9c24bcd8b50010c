//! Preparing, executing and freeing statements.

use super::write::misfit;
use super::{Wire, handle};
use crate::arrow::BatchBuilder;
use crate::backend::link::Link;
use crate::backend::{Executed, Message, StatementId, TransactionId};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::describe::{
    Describer, PREPARE_BUFFER, RECORDS, StatementInfo, affected_rows, prepare_items,
};
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::LAST_OBJECT;
use firearrow_proto::wire::packet::info::InfoSql;
use firearrow_proto::wire::packet::statement::{
    AllocateStatement, Execute, ExecuteImmediate, ExecuteOptions, ExecuteSingleton, FreeOption,
    FreeStatement, Parameters, PrepareStatement,
};
use firearrow_proto::wire::{Event, ProtocolError, Ticket};
use std::sync::Arc;

/// Allocated handles kept for the next statements.
const SPARE_HANDLES: usize = 8;
/// Bytes for the answer to "how many rows".
const RECORDS_BUFFER: u32 = 128;

/// Statement handles that are allocated and hold no statement.
#[derive(Debug, Default)]
pub(super) struct Statements {
    spare: Vec<u16>,
    /// A handle that has been asked for.
    ordered: Option<Ticket>,
}

impl<L: Link> Wire<L> {
    /// Orders a handle with whatever is sent next, so that preparing needs no prediction of its number.
    pub(super) fn stock_handles(&mut self) -> Result<()> {
        if self.statements.spare.is_empty() && self.statements.ordered.is_none() {
            let ticket = self.ask(&AllocateStatement)?;
            self.statements.ordered = Some(ticket);
        }
        Ok(())
    }

    /// A spare handle, if one is at hand.
    fn spare_handle(&mut self) -> Option<u16> {
        if let Some(ticket) = self.statements.ordered
            && let Some(response) = self.router.take(ticket)
        {
            self.statements.ordered = None;
            if !response.status.is_error() {
                self.statements.spare.push(response.object);
            }
        }
        self.statements.spare.pop()
    }

    /// One round trip; more only for descriptions beyond [`PREPARE_BUFFER`].
    pub(super) async fn prepare_statement(
        &mut self,
        transaction: TransactionId,
        sql: &str,
    ) -> Result<(StatementId, StatementInfo)> {
        let spare = self.spare_handle();
        let allocated = match spare {
            Some(_) => None,
            None => Some(self.ask(&AllocateStatement)?),
        };
        let prepared = self.ask(&PrepareStatement {
            transaction: handle(transaction.0),
            statement: spare.unwrap_or(LAST_OBJECT),
            sql,
            items: &prepare_items(),
            buffer_length: PREPARE_BUFFER,
        })?;
        let id = match (spare, allocated) {
            (Some(id), _) => id,
            (None, Some(ticket)) => {
                let response = self.answer(ticket).await?;
                if response.status.is_error() {
                    // The prepare behind it hit whatever was created last: nothing is certain any more.
                    self.connection.fail(ProtocolError::Misuse("no statement handle could be allocated"));
                    return Err(Error::engine(response.status));
                }
                response.object
            }
            (None, None) => return Err(Error::new(Kind::Misuse, "no statement handle")),
        };
        let response = match self.success(prepared).await {
            Ok(response) => response,
            Err(error) => {
                self.statements.spare.push(id);
                return Err(error);
            }
        };
        let mut describer = Describer::new();
        let mut complete = describer.read(&response.data).map_err(invalid_description)?;
        while !complete {
            let items = describer.continuation();
            let more = InfoSql { object: id, items: &items, buffer_length: PREPARE_BUFFER };
            let response = self.call(&more).await?;
            complete = describer.read(&response.data).map_err(invalid_description)?;
        }
        Ok((StatementId(id.into()), describer.finish()))
    }

    /// BLR and packed message of parameters; both empty when there are none.
    pub(super) fn pack(&self, parameters: Option<Message<'_>>) -> Result<(Vec<u8>, Vec<u8>)> {
        let Some(message) = parameters.filter(|message| !message.layout.fields().is_empty()) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let mut packed = Vec::new();
        let format = PackedFormat::new(Arc::clone(message.layout));
        format.pack(message.bytes, &mut packed).ok_or_else(misfit)?;
        Ok((message.layout.blr(), packed))
    }

    /// Runs a statement without a cursor and asks for its counts in the same write.
    pub(super) async fn run_statement(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
    ) -> Result<Executed> {
        let id = handle(statement.0);
        let (blr, message) = self.pack(parameters)?;
        let parameters = Parameters { blr: &blr, message: &message };
        let transaction = handle(transaction.0);
        let (timeout, _) = self.take_timeout();
        let mut builder = None;
        let executed = match output {
            None => {
                let options = ExecuteOptions { timeout, ..ExecuteOptions::default() };
                self.ask(&Execute { statement: id, transaction, parameters, options })?
            }
            Some((layout, rows)) => {
                builder = Some(rows);
                let options = self.execute_options(layout, timeout);
                let output = Arc::new(PackedFormat::new(Arc::clone(layout)));
                self.ask(&ExecuteSingleton { statement: id, transaction, parameters, output, options })?
            }
        };
        let counted = self.ask(&InfoSql { object: id, items: &[RECORDS], buffer_length: RECORDS_BUFFER })?;
        let row = match builder {
            Some(builder) => self.singleton_row(executed, builder).await,
            None => Ok(()),
        };
        let result = self.success(executed).await;
        // The first error is the one to report, and both answers must be taken.
        let counts = self.answer(counted).await;
        row?;
        let (response, counts) = (result?, counts?);
        Ok(Executed {
            affected_rows: if counts.status.is_error() { None } else { affected_rows(&counts.data) },
            transaction_ended: response.object == 0,
        })
    }

    /// Takes the row of a singleton; returns when its `op_response` has come.
    async fn singleton_row(&mut self, ticket: Ticket, builder: &mut BatchBuilder) -> Result<()> {
        let mut result = Ok(());
        while !self.router.has(ticket) {
            match self.connection.next_event()? {
                None => self.exchange().await?,
                Some(Event::Rows { ticket: of, rows }) if of == ticket => {
                    result = builder.push(&rows, 0).map(|_| ()).map_err(Error::from);
                }
                Some(event) => self.router.route(event, &mut self.cursors),
            }
        }
        result
    }

    pub(super) async fn run_immediate(&mut self, transaction: TransactionId, sql: &str) -> Result<Executed> {
        let response = self.call(&ExecuteImmediate { transaction: handle(transaction.0), sql }).await?;
        Ok(Executed { affected_rows: None, transaction_ended: response.object == 0 })
    }

    /// Frees the statement with the next write; its handle is kept for another one.
    pub(super) fn release_statement(&mut self, statement: StatementId) -> Result<()> {
        let id = handle(statement.0);
        self.drop_cursor(statement)?;
        if self.statements.spare.len() < SPARE_HANDLES {
            self.tell(&FreeStatement { statement: id, option: FreeOption::Unprepare })?;
            self.statements.spare.push(id);
            Ok(())
        } else {
            self.tell(&FreeStatement { statement: id, option: FreeOption::Drop })
        }
    }
}

fn invalid_description(error: impl std::fmt::Display) -> Error {
    Error::new(Kind::Protocol, error.to_string())
}
