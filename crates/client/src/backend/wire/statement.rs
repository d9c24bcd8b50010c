//! Preparing, executing and freeing statements.

use super::transaction::Handle;
use super::{Wire, handle, success};
use crate::arrow::BatchBuilder;
use crate::backend::link::Link;
use crate::backend::{End, Executed, Message, Sql, StatementId, Statements, TransactionId, Transactions};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::describe::{Describer, PREPARE_BUFFER, RecordCounts, StatementInfo, prepare_items};
use firearrow_proto::api::gds;
use firearrow_proto::api::info::statement::RECORDS;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::status::StatusVector;
use firearrow_proto::wire::packet::LAST_OBJECT;
use firearrow_proto::wire::packet::info::InfoSql;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::packet::statement::{
    AllocateStatement, Execute, ExecuteImmediate, ExecuteOptions, ExecuteSingleton, FreeOption,
    FreeStatement, PrepareStatement,
};
use firearrow_proto::wire::{Event, ProtocolError, Ticket};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Number of allocated handles kept for future statements.
const SPARE_HANDLES: usize = 8;
/// Buffer size for the answer to "how many rows", in bytes.
const RECORDS_BUFFER: u32 = 128;

/// The first handle that a server returns on a connection: slots are filled from the lowest, and 0 is the database (3.0
/// to 5.0, tested live).
const FIRST_HANDLE: u16 = 1;

/// The statement handles of a connection.
#[derive(Debug, Default)]
pub(super) struct StatementHandles {
    /// Allocated handles without a statement.
    spare: Vec<u16>,
    /// Requested handles.
    ordered: VecDeque<Ticket>,
    /// Whether a handle of any kind was ever requested.
    has_handles: bool,
    /// Handles that no longer hold a statement although their id is still in use.
    unprepared: FxHashSet<u16>,
    /// Statements whose preparation has not been checked.
    unconfirmed: FxHashMap<u16, Unconfirmed>,
    /// Whether releases are queued but not sent: until then, the server prevents others from altering their tables.
    has_unsent_releases: bool,
    /// Whether another request follows at once, which can carry the releases.
    more_follows: bool,
}

/// What is asked for in the same write as an execution.
struct After {
    asks_counts: bool,
    /// Whether the statement is not executed again.
    releases: bool,
    end: Option<End>,
}

/// A statement whose description the server has not confirmed yet.
#[derive(Debug)]
struct Unconfirmed {
    ticket: Ticket,
    known: Arc<StatementInfo>,
}

impl StatementHandles {
    /// Notes that all queued requests have been sent.
    pub(super) fn has_sent(&mut self) {
        (self.has_unsent_releases, self.more_follows) = (false, false);
    }
}

impl<L: Link> Statements for Wire<L> {
    /// Takes one round trip; more only for descriptions beyond [`PREPARE_BUFFER`]. Can start the transaction, too.
    async fn prepare(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
    ) -> Result<(StatementId, StatementInfo)> {
        let (id, prepared) = match self.spare_handle() {
            Some(id) => {
                let name = self.transaction_name(transaction).await?;
                (id, self.ask_to_prepare(name, id, sql)?)
            }
            None => self.allocate_and_prepare(transaction, sql).await?,
        };
        let answer = self.answer(prepared).await?;
        let described = match self.confirm_start(transaction).and_then(|()| success(answer)) {
            Ok(response) => self.describe(id, response).await,
            Err(error) => Err(error),
        };
        match described {
            Ok(info) => Ok((StatementId(id.into()), info)),
            Err(error) => {
                self.statements.spare.push(id);
                Err(error)
            }
        }
    }

    /// Prepares without waiting if a spare handle exists, because the description is `known` from earlier.
    /// [`confirm`](Self::confirm) compares it.
    async fn prepare_known(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
        known: &Arc<StatementInfo>,
    ) -> Result<StatementId> {
        let Some(id) = self.spare_handle() else {
            let (id, info) = self.prepare(transaction, sql).await?;
            if info != **known {
                self.release_statement(id)?;
                return Err(Error::changed());
            }
            return Ok(id);
        };
        let name = self.transaction_name(transaction).await?;
        let ticket = self.ask_to_prepare(name, id, sql)?;
        self.statements.unconfirmed.insert(id, Unconfirmed { ticket, known: Arc::clone(known) });
        Ok(StatementId(id.into()))
    }

    /// Sends nothing by itself: the requests go with the next write, and [`confirm`](Self::confirm) reads the answer.
    async fn renew(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        sql: Sql<'_>,
        known: &Arc<StatementInfo>,
    ) -> Result<()> {
        let id = handle(statement.0);
        let name = self.transaction_name(transaction).await?;
        self.tell(&FreeStatement { statement: id, option: FreeOption::Unprepare })?;
        let ticket = self.ask_to_prepare(name, id, sql)?;
        self.statements.unconfirmed.insert(id, Unconfirmed { ticket, known: Arc::clone(known) });
        Ok(())
    }

    async fn execute(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
        asks_counts: bool,
    ) -> Result<Executed> {
        self.transactions.note_change(transaction, self.connection.latest());
        let after = After { asks_counts, releases: false, end: None };
        self.run_statement(statement, transaction, parameters, output, after).await
    }

    async fn execute_for_row(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        layout: &Arc<RowLayout>,
        output: &mut BatchBuilder,
    ) -> Result<Executed> {
        self.cursors.expect_free(handle(statement.0))?;
        self.transactions.note_work(transaction, self.connection.latest());
        let after = After { asks_counts: false, releases: false, end: None };
        let output = Some((layout, output));
        let executed = self.run_statement(statement, transaction, parameters, output, after).await;
        // The request that closed the statement's last cursor may have failed (`router::is_consequence`). The cursor is then
        // still open: close it again.
        let is_open = |error: &Error| {
            let is_told = |status: &StatusVector| status.contains(gds::ISC_DSQL_CURSOR_OPEN_ERR);
            error.kind() == Kind::Cancelled || error.status().is_some_and(is_told)
        };
        if executed.as_ref().is_err_and(is_open) && self.connection.failure().is_none() {
            // Report the original error.
            let _ = self.tell(&FreeStatement { statement: handle(statement.0), option: FreeOption::Close });
        }
        executed
    }

    async fn execute_and_commit(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        stays: bool,
    ) -> Result<Executed> {
        // The commit in the same write succeeds even if the statement fails, so it must not commit earlier work.
        if self.transactions.has_work(transaction) {
            let executed = self.execute(statement, transaction, parameters, None, true).await?;
            self.end(transaction, End::Commit).await?;
            return Ok(executed);
        }
        let after = After { asks_counts: true, releases: !stays, end: Some(End::Commit) };
        self.run_statement(statement, transaction, parameters, None, after).await
    }

    async fn execute_immediate(&mut self, owner: TransactionId, sql: Sql<'_>) -> Result<Executed> {
        self.transactions.note_change(owner, self.connection.latest());
        let name = self.transaction_name(owner).await?;
        self.ask_number(owner, name)?;
        let Handle(transaction) = name;
        let ticket = self.ask(&ExecuteImmediate { transaction, dialect: sql.dialect, sql: sql.text })?;
        let answer = self.answer(ticket).await?;
        self.confirm_start(owner)?;
        let transaction_ended = success(answer)?.object == 0;
        if transaction_ended {
            self.forget_transaction(owner);
        }
        Ok(Executed { counts: None, transaction_ended })
    }

    async fn statement_info(&mut self, statement: StatementId, items: &[u8]) -> Result<Vec<u8>> {
        let request = InfoSql { object: handle(statement.0), items, buffer_length: 65000 };
        Ok(self.call(&request).await?.data)
    }

    async fn free_statement(&mut self, statement: StatementId) -> Result<()> {
        self.release_statement(statement)?;
        self.send_releases().await
    }

    fn expect_more(&mut self, follows: bool) {
        self.statements.more_follows = follows;
    }

    fn expect_interruption(&mut self, is_expected: bool) {
        self.interruption.is_expected = is_expected;
    }

    fn set_timeout(&mut self, _: StatementId, timeout: Option<Duration>) -> Result<()> {
        self.interruption.timeout = timeout;
        Ok(())
    }
}

impl<L: Link> Wire<L> {
    /// Requests handles with the next write, so that preparing needs no prediction of a handle.
    pub(super) fn stock_handles(&mut self) -> Result<()> {
        if self.statements.spare.is_empty() && self.statements.ordered.is_empty() {
            self.order_handle()?;
        }
        Ok(())
    }

    /// Requests one more handle; `false` if there are enough.
    pub(super) fn stock_one_more(&mut self) -> Result<bool> {
        let has_room = self.statements.spare.len() + self.statements.ordered.len() < SPARE_HANDLES;
        if has_room {
            self.order_handle()?;
        }
        Ok(has_room)
    }

    fn order_handle(&mut self) -> Result<()> {
        let ticket = self.ask(&AllocateStatement)?;
        self.statements.ordered.push_back(ticket);
        self.statements.has_handles = true;
        Ok(())
    }

    /// Returns a spare handle, if there is one.
    pub(super) fn spare_handle(&mut self) -> Option<u16> {
        while let Some(response) =
            self.statements.ordered.front().and_then(|ticket| self.router.take(*ticket))
        {
            self.statements.ordered.pop_front();
            if !response.status.is_error() {
                self.statements.spare.push(response.object);
            }
        }
        self.statements.spare.pop()
    }

    /// Allocates a handle and prepares in one write, when there is no spare handle.
    async fn allocate_and_prepare(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
    ) -> Result<(u16, Ticket)> {
        // The name "object created last" can serve the statement or the transaction, but not both. On a connection
        // without any handle, the statement's handle is known as well; if the server assigns another one, it refuses
        // the request.
        let is_first = !self.statements.has_handles;
        let name = if is_first { None } else { Some(self.transaction(transaction).await?) };
        let allocated = self.ask(&AllocateStatement)?;
        self.statements.has_handles = true;
        let prepared = match name {
            Some(name) => self.ask_to_prepare(name, LAST_OBJECT, sql)?,
            None => {
                let name = self.transaction_name(transaction).await?;
                self.ask_to_prepare(name, FIRST_HANDLE, sql)?
            }
        };
        let response = self.answer(allocated).await?;
        if response.status.is_error() {
            // The prepare request hit another object created last: nothing is certain any more.
            self.connection.fail(ProtocolError::Misuse("no statement handle could be allocated"));
            return Err(Error::engine(response.status));
        }
        if is_first && response.object != FIRST_HANDLE {
            self.answer(prepared).await?;
            let name = self.transaction(transaction).await?;
            return Ok((response.object, self.ask_to_prepare(name, response.object, sql)?));
        }
        Ok((response.object, prepared))
    }

    pub(super) fn ask_to_prepare(
        &mut self,
        Handle(transaction): Handle,
        statement: u16,
        sql: Sql<'_>,
    ) -> Result<Ticket> {
        self.formats.forget(statement);
        self.ask(&PrepareStatement {
            transaction,
            statement,
            dialect: sql.dialect,
            sql: sql.text,
            items: &prepare_items(),
            buffer_length: PREPARE_BUFFER,
        })
    }

    async fn describe(&mut self, id: u16, prepared: Response) -> Result<StatementInfo> {
        let mut describer = Describer::new();
        let mut complete = describer.read(&prepared.data).map_err(invalid_description)?;
        while !complete {
            let items = describer.continuation();
            let more = InfoSql { object: id, items: &items, buffer_length: PREPARE_BUFFER };
            let response = self.call(&more).await?;
            complete = describer.read(&response.data).map_err(invalid_description)?;
        }
        Ok(describer.finish())
    }

    /// Fails if a commit has released the statement.
    fn expect_prepared(&self, id: u16) -> Result<()> {
        match self.statements.unprepared.contains(&id) {
            false => Ok(()),
            true => Err(Error::new(
                Kind::Misuse,
                "the statement was released when execute_last committed: use keep_prepared to execute a recalled statement again",
            )),
        }
    }

    /// Checks that a statement prepared without waiting matches its remembered description ([`Kind::Changed`]).
    pub(super) async fn confirm(&mut self, id: u16, transaction: TransactionId) -> Result<()> {
        // The usual case, in which nothing has to be looked up.
        if self.statements.unconfirmed.is_empty() {
            return Ok(());
        }
        let Some(Unconfirmed { ticket, known }) = self.statements.unconfirmed.remove(&id) else {
            return Ok(());
        };
        let answer = self.answer(ticket).await?;
        self.confirm_start(transaction)?;
        let info = self.describe(id, success(answer)?).await?;
        if info == *known { Ok(()) } else { Err(Error::changed()) }
    }

    /// Runs a statement without a cursor and requests its counts in the same write.
    async fn run_statement(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
        After { asks_counts, releases, end }: After,
    ) -> Result<Executed> {
        let id = handle(statement.0);
        self.expect_prepared(id)?;
        let packed = self.pack(id, parameters)?;
        let parameters = packed.parameters();
        let owner = transaction;
        let name = self.transaction_name(owner).await?;
        self.ask_number(owner, name)?;
        let Handle(transaction) = name;
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
                let output = self.formats.output(id, layout);
                self.cursors.inline.executes(id, self.connection.latest(), options.inline_blob_limit);
                let request = ExecuteSingleton { statement: id, transaction, parameters, output, options };
                let ticket = self.ask(&request)?;
                if self.statements.unconfirmed.contains_key(&id) {
                    // The row may arrive before the rest of a long description.
                    self.router.expect_rows(ticket);
                }
                ticket
            }
        };
        self.packed_sent(id, packed);
        // A cancellation behind another request is not looked at. What else follows, the caller wants to follow.
        let is_expected = std::mem::take(&mut self.interruption.is_expected);
        let apart = is_expected && asks_counts && !releases && end.is_none();
        let counted = match asks_counts && !apart {
            true => {
                Some(self.ask(&InfoSql { object: id, items: &[RECORDS], buffer_length: RECORDS_BUFFER })?)
            }
            false => None,
        };
        if releases {
            // Completely: left over, it would lock the metadata of its tables.
            self.tell(&FreeStatement { statement: id, option: FreeOption::Unprepare })?;
            self.statements.unprepared.insert(id);
        }
        let ended = match end {
            None => None,
            Some(end) => Some(self.ask_for_end(name, end)?),
        };
        let has_output = builder.is_some();
        let confirmed = match self.confirm(id, owner).await {
            // Without output, nothing can be misread: the server has converted the parameters, or refused them.
            Err(error) if error.kind() == Kind::Changed && !has_output => Ok(()),
            confirmed => confirmed,
        };
        // Take all answers; report the original error.
        let mut row = Ok(());
        let executed = match builder {
            Some(builder) => self.singleton_row(executed, builder, &mut row).await,
            None => self.answer(executed).await,
        };
        let started = self.confirm_start(owner);
        let counts = match counted {
            Some(counted) => self.answer(counted).await.map(Some),
            None if apart && executed.as_ref().is_ok_and(|answer| !answer.status.is_error()) => {
                let info = InfoSql { object: id, items: &[RECORDS], buffer_length: RECORDS_BUFFER };
                let counted = self.ask(&info)?;
                self.answer(counted).await.map(Some)
            }
            None => Ok(None),
        };
        let has_run = |answer: &Response| {
            !answer.status.is_error() || answer.status.only_error() == Some(gds::ISC_STREAM_EOF)
        };
        if !executed.as_ref().is_ok_and(has_run) {
            // Whatever the server made of it: the next execution brings its format.
            self.formats.forget(id);
        }
        let is_refused = started.is_err() || executed.as_ref().is_ok_and(|answer| answer.status.is_error());
        let commits = ended.is_some();
        let ended = match ended {
            Some(ticket) => self.success(ticket).await.map(|_| self.forget_transaction(owner)),
            None => Ok(()),
        };
        let is_lost = ended.as_ref().err().is_some_and(|error| error.status().is_none());
        if commits && is_lost && !is_refused && self.connection.failure().is_some() {
            let failures = [confirmed.err(), row.err(), executed.err(), counts.err(), ended.err()];
            return Err(match failures.into_iter().flatten().next() {
                Some(error) => self.lost_with_statement(owner, error),
                None => Error::from(ProtocolError::Closed),
            });
        }
        started.and(confirmed).and(row)?;
        let (response, counts) = (success(executed?)?, counts?);
        ended?;
        let transaction_ended = response.object == 0;
        if transaction_ended {
            self.forget_transaction(owner);
        }
        let counts = counts.filter(|counts| !counts.status.is_error());
        let counts = counts.and_then(|counts| RecordCounts::decode(&counts.data));
        Ok(Executed { counts, transaction_ended })
    }

    /// Returns the error for a commit that was sent with its statement and lost. A cancellation or timeout sets
    /// its kind.
    #[cold]
    fn lost_with_statement(&mut self, owner: TransactionId, error: Error) -> Error {
        let kind = error.kind();
        let lost = self.lost_commit(owner, error);
        if kind == Kind::Cancelled || (kind == Kind::Timeout && self.interruption.is_late()) {
            return lost.of_kind(kind);
        }
        lost
    }

    /// Takes the row of a singleton, and the answer after it; `row` becomes the error of a row that cannot be read.
    async fn singleton_row(
        &mut self,
        ticket: Ticket,
        builder: &mut BatchBuilder,
        row: &mut Result<()>,
    ) -> Result<Response> {
        // What arrived while the client waited for something else.
        *row = self.router.give_rows(ticket, builder).map(drop);
        self.router.forget_rows(ticket);
        if let Some(response) = self.router.take(ticket) {
            return Ok(response);
        }
        loop {
            self.check_held()?;
            match self.connection.next_event()? {
                Some(Event::Rows { ticket: of, rows }) if of == ticket => {
                    *row = builder.push(&rows, 0).map(|_| ()).map_err(Error::from);
                }
                Some(Event::Response { ticket: of, response }) if of == ticket => {
                    return Ok(self.router.explained(response));
                }
                Some(event) => self.router.route(event, &mut self.cursors),
                None => self.exchange().await?,
            }
        }
    }

    /// Sends queued releases: until then, nobody can drop the tables of those statements. They wait while a request
    /// runs, because a request queued after it would prevent its cancellation.
    pub(super) async fn send_releases(&mut self) -> Result<()> {
        let can_wait = !self.statements.has_unsent_releases || self.statements.more_follows;
        if can_wait || !self.is_alone(0) { Ok(()) } else { self.flush().await }
    }

    /// Queues the release of a statement; keeps its handle for another one.
    pub(super) fn release_statement(&mut self, statement: StatementId) -> Result<()> {
        let id = handle(statement.0);
        self.drop_cursor(statement)?;
        self.formats.forget(id);
        self.cursors.inline.released(id);
        if let Some(unconfirmed) = self.statements.unconfirmed.remove(&id) {
            self.router.ignore(unconfirmed.ticket);
        }
        if self.statements.unprepared.remove(&id) {
            self.statements.spare.push(id);
            return Ok(());
        }
        self.statements.has_unsent_releases = true;
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
