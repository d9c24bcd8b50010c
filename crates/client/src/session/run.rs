//! Statements that run, prepared ones and SQL text.
//!
//! SQL that the session knows is sent together with its execution. If its tables have been altered
//! since, it is prepared again: in the same transaction if the client refused it before anything ran, otherwise in a new
//! transaction, provided that the session began the old one. Both happen here. A driver that calls `recall` prepares
//! again itself.

use super::execute::refuse_cursor;
use super::fetch::Fetching;
use super::reading::Reading;
use super::scroll::Scrolling;
use super::{Prepared, Session, has_rows, is_transaction_control};
use crate::arrow::{BatchLimits, ParamOptions, ReadOptions, WriteOptions, parameter, suspect};
use crate::backend::{self, Backend, End, RowFailure, Sql, StatementId, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::rows::RowsExecuted;
use crate::scroll::ScrollOptions;
use ::arrow::array::RecordBatch;
use firearrow_proto::api::describe::{RecordCounts, StatementKind};
use firearrow_proto::api::transaction::TransactionOptions;
use std::time::Duration;

/// How a statement reads and writes. The default is for the client's own questions.
#[derive(Clone, Debug)]
pub(crate) struct How {
    pub(crate) read: ReadOptions,
    pub(crate) limits: BatchLimits,
    pub(crate) write: WriteOptions,
    pub(crate) timeout: Option<Duration>,
    pub(crate) scroll: ScrollOptions,
    /// How many connections read a query at once: 0 = as many as there are processors; the own one if not set.
    pub(crate) parallel: Option<usize>,
    /// Whether a recalled statement may be executed again after its commit.
    pub(crate) keeps_prepared: bool,
    /// Whether nothing is sent behind an execution, so that a server can interrupt it.
    pub(crate) interruptible: bool,
}

impl How {
    /// How parameters become messages.
    pub(crate) fn params(&self) -> ParamOptions {
        ParamOptions::new(&self.write, &self.read)
    }
}

impl Default for How {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            limits: BatchLimits::default().full(true),
            write: WriteOptions::default(),
            timeout: None,
            scroll: ScrollOptions::default(),
            parallel: None,
            keeps_prepared: false,
            interruptible: false,
        }
    }
}

/// An operation on a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Opens its result.
    Query,
    /// Opens a result whose rows can be fetched in any order.
    Scroll,
    /// Runs it without a result.
    Execute,
    /// Runs it without a result and commits.
    ExecuteLast,
}

/// Its outcome.
pub(crate) enum Done {
    Rows(Fetching),
    Scrolling(Scrolling),
    Executed(Executed),
}

/// The effect of a statement without a result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Executed {
    /// Rows inserted, updated and deleted, where the engine counts them.
    pub(crate) affected: Option<u64>,
    /// The same, broken down by operation.
    pub(crate) counts: Option<RecordCounts>,
    /// It has ended its transaction.
    pub(crate) transaction_ended: bool,
}

impl From<backend::Executed> for Executed {
    fn from(executed: backend::Executed) -> Self {
        let backend::Executed { counts, transaction_ended } = executed;
        Self { affected: counts.map(|counts| counts.affected()), counts, transaction_ended }
    }
}

impl Done {
    pub(crate) fn rows(self) -> Result<Fetching> {
        match self {
            Self::Rows(fetching) => Ok(fetching),
            _ => Err(no_such_result()),
        }
    }

    pub(crate) fn scrolling(self) -> Result<Scrolling> {
        match self {
            Self::Scrolling(scrolling) => Ok(scrolling),
            _ => Err(no_such_result()),
        }
    }

    pub(crate) fn executed(self) -> Result<Executed> {
        match self {
            Self::Executed(executed) => Ok(executed),
            _ => Err(no_such_result()),
        }
    }
}

#[cold]
fn no_such_result() -> Error {
    Error::new(Kind::Misuse, "the statement was run for something else")
}

impl<B: Backend> Session<B> {
    /// Runs a prepared statement.
    pub(crate) async fn run(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        verb: Verb,
        parameters: &Params,
        how: &How,
    ) -> Result<Done> {
        match verb {
            Verb::Query | Verb::Scroll => {
                let opened = self.open_result(prepared, transaction, verb, parameters, how).await;
                opened.map_err(|error| naming_parameter(prepared, error, parameters))
            }
            Verb::Execute | Verb::ExecuteLast => {
                let commits = verb == Verb::ExecuteLast;
                let executed = self.execute_prepared(prepared, transaction, commits, parameters, how).await;
                executed.map(Done::Executed)
            }
        }
    }

    /// Executes a prepared statement without a result; also commits its transaction if `commits`.
    pub(crate) async fn execute_prepared(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        commits: bool,
        parameters: &Params,
        how: &How,
    ) -> Result<Executed> {
        self.expect_open(transaction)?;
        self.has_settings |= prepared.is_setting;
        match commits {
            true => self.execute_last(prepared, transaction, parameters, how).await,
            false => self.execute_rows_or_none(prepared, transaction, parameters, how).await,
        }
    }

    async fn open_result(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        verb: Verb,
        parameters: &Params,
        how: &How,
    ) -> Result<Done> {
        self.expect_open(transaction)?;
        self.has_settings |= prepared.is_setting;
        if !has_rows(&prepared.info) {
            return Err(Error::new(Kind::Misuse, "the statement gives no rows: use execute, not query"));
        }
        let bound = self.bind(prepared, transaction, parameters, &how.params()).await?;
        let message = bound.message();
        self.set_up(prepared, how)?;
        let (read, limits) = (&how.read, how.limits);
        let opened = match verb {
            Verb::Scroll => {
                let opened =
                    self.open_scrolling(prepared, transaction, message, read, limits, how.scroll).await;
                opened.map(Done::Scrolling)
            }
            _ => self.open(prepared, transaction, message, read, limits).await.map(Done::Rows),
        };
        prepared.reusable.give_back(bound);
        opened
    }

    /// Once for each row of parameters, or once without any.
    async fn execute_rows_or_none(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: &Params,
        how: &How,
    ) -> Result<Executed> {
        if prepared.info.kind == StatementKind::StartTransaction {
            let text = "SET TRANSACTION inside a transaction: use Connection::begin with TransactionOptions";
            return Err(Error::new(Kind::Misuse, text));
        }
        // Many rows have a way of their own, and so have rows that are returned and dropped.
        let is_light = parameters.is_single() && !has_rows(&prepared.info);
        let batch = if is_light { None } else { parameters.batch() };
        if let Some(batch) = batch {
            return self.execute_batch(prepared, transaction, batch, how).await;
        }
        refuse_cursor(prepared)?;
        let bound = self.bind(prepared, transaction, parameters, &how.params()).await?;
        self.set_up(prepared, how)?;
        let executed = self.execute(prepared, transaction, bound.message()).await;
        prepared.reusable.give_back(bound);
        let mut executed = match executed {
            Ok(executed) => Executed::from(executed),
            Err(error) => {
                let error = self.with_outcome(transaction, error).await;
                return Err(naming_parameter(prepared, error, parameters));
            }
        };
        let is_control = is_transaction_control(prepared.info.kind);
        if is_control {
            self.note_retaining(transaction, &prepared.sql);
        }
        // COMMIT RETAIN and ROLLBACK RETAIN go on.
        executed.transaction_ended |= is_control && !self.backend.is_open(transaction);
        if executed.transaction_ended {
            self.ended(transaction);
        }
        Ok(executed)
    }

    async fn execute_batch(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        batch: &RecordBatch,
        how: &How,
    ) -> Result<Executed> {
        let mut writing = self.start_writing(prepared, transaction, &batch.schema(), true, how)?;
        let written = self.write_rows(&mut writing, batch).await;
        let finished = self.finish_writing(&mut writing).await;
        for RowFailure { row, error } in writing.new_failures() {
            name_parameter(prepared, error, batch, *row);
        }
        let done = RowsExecuted::from(writing.into_written());
        if let Err(error) = written.and(finished) {
            return Err(error.after(done));
        }
        match done.failures.into_iter().next() {
            None => {
                Ok(Executed { affected: done.affected_rows, counts: done.counts, transaction_ended: false })
            }
            Some(failure) if batch.num_rows() == 1 => Err(failure.error),
            Some(RowFailure { row, error }) => {
                Err(error.context(format!("row {row} of the parameters ({} rows were tried)", done.rows)))
            }
        }
    }

    /// Runs it and commits: in the same write for at most one parameter row. After an error the transaction is rolled
    /// back.
    async fn execute_last(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: &Params,
        how: &How,
    ) -> Result<Executed> {
        if !prepared.can_commit_with_it() || !parameters.is_single() {
            let executed = self.execute_rows_or_none(prepared, transaction, parameters, how).await?;
            if !executed.transaction_ended {
                self.end(transaction, End::Commit).await?;
            }
            return Ok(executed);
        }
        self.set_up(prepared, how)?;
        match self.execute_and_commit(prepared, transaction, parameters, how).await {
            Ok(executed) => Ok(executed.into()),
            Err(error) => {
                let error = self.with_outcome(transaction, error).await;
                Err(naming_parameter(prepared, error, parameters))
            }
        }
    }

    /// Runs SQL text in a transaction. Returns the statement along with an open result, which needs it.
    pub(crate) async fn run_sql(
        &mut self,
        sql: Sql<'_>,
        transaction: TransactionId,
        verb: Verb,
        parameters: &Params,
        how: &How,
    ) -> Result<(Prepared, Done)> {
        self.expect_open(transaction)?;
        // Many rows take many round trips, or fill one, anyway.
        let is_recalled = parameters.is_single();
        let mut prepared = match is_recalled {
            true => self.recall(transaction, sql).await?,
            false => self.prepare_for_once(transaction, sql).await?,
        };
        loop {
            let error = match self.run(&prepared, transaction, verb, parameters, how).await {
                Ok(done) => return Ok((prepared, done)),
                Err(error) => error,
            };
            self.release(prepared.id).await;
            if error.kind() == Kind::Changed {
                self.forget(sql.text);
            }
            if !prepared.may_be_outdated_by(&error) {
                return Err(error);
            }
            if verb == Verb::ExecuteLast {
                return Err(Error::changed());
            }
            prepared = self.prepare_for_once(transaction, sql).await?;
        }
    }

    /// Runs SQL text in a separate transaction, which an open result owns. Without one it is committed.
    pub(crate) async fn run_alone(
        &mut self,
        sql: Sql<'_>,
        verb: Verb,
        parameters: &Params,
        how: &How,
    ) -> Result<(Prepared, TransactionId, Done)> {
        let mut is_second = false;
        loop {
            let transaction = self.begin_deferred(&TransactionOptions::default()).await?;
            let error = match self.run_sql(sql, transaction, verb, parameters, how).await {
                Ok((prepared, done)) => return Ok((prepared, transaction, done)),
                Err(error) => error,
            };
            self.give_up(transaction).await;
            if error.kind() != Kind::Changed || is_second || !parameters.is_single() {
                return Err(error);
            }
            self.forget(sql.text);
            is_second = true;
        }
    }

    /// [`run_sql`](Self::run_sql) for a query.
    pub(crate) async fn query(
        &mut self,
        sql: Sql<'_>,
        transaction: TransactionId,
        parameters: &Params,
        how: &How,
    ) -> Result<Reading> {
        let (prepared, done) = self.run_sql(sql, transaction, Verb::Query, parameters, how).await?;
        Ok(Reading::new(done.rows()?).releasing(prepared.id))
    }

    /// [`run_alone`](Self::run_alone) for a query.
    pub(crate) async fn query_alone(
        &mut self,
        sql: Sql<'_>,
        parameters: &Params,
        how: &How,
    ) -> Result<Reading> {
        let (prepared, transaction, done) = self.run_alone(sql, Verb::Query, parameters, how).await?;
        Ok(Reading::new(done.rows()?).releasing(prepared.id).owning(transaction))
    }

    /// [`run_sql`](Self::run_sql) for a statement without rows.
    pub(crate) async fn execute_sql(
        &mut self,
        sql: Sql<'_>,
        transaction: TransactionId,
        parameters: &Params,
        how: &How,
    ) -> Result<Executed> {
        let (prepared, done) = self.run_sql(sql, transaction, Verb::Execute, parameters, how).await?;
        self.release(prepared.id).await;
        done.executed()
    }

    /// [`run_alone`](Self::run_alone) for a statement without rows; it is committed.
    pub(crate) async fn execute_alone(
        &mut self,
        sql: Sql<'_>,
        parameters: &Params,
        how: &How,
    ) -> Result<Executed> {
        let (prepared, _, done) = self.run_alone(sql, Verb::ExecuteLast, parameters, how).await?;
        self.release(prepared.id).await;
        done.executed()
    }

    /// All rows of a short query of the client's own.
    pub(crate) async fn answer(
        &mut self,
        sql: &str,
        transaction: TransactionId,
        parameters: &Params,
    ) -> Result<Option<RecordBatch>> {
        let how = How::default();
        let mut reading = self.query(sql.into(), transaction, parameters, &how).await?;
        let first = self.next(&mut reading).await?;
        self.leave(&mut reading, End::Rollback).await?;
        Ok(first)
    }

    /// Frees a statement that nobody needs any more.
    pub(crate) async fn release(&mut self, statement: StatementId) {
        if self.backend.is_failed() {
            return;
        }
        if let Err(error) = self.backend.free_statement(statement).await {
            tracing::debug!(%error, "freeing a statement failed");
        }
    }
}

/// The failure of the only row of parameters.
#[cold]
pub(super) fn naming_parameter(prepared: &Prepared, mut error: Error, parameters: &Params) -> Error {
    if let Some(batch) = parameters.batch() {
        name_parameter(prepared, &mut error, batch, 0);
    }
    error
}

/// Names the parameter that the engine has refused, if that can be determined.
pub(crate) fn name_parameter(prepared: &Prepared, error: &mut Error, batch: &RecordBatch, row: usize) {
    if error.status().is_none() {
        return;
    }
    let parameters = &prepared.info.parameters;
    let Some(index) = suspect(parameters, batch, row, error.sqlstate(), &error.to_string()) else { return };
    let named = error.clone().context(parameter(index, batch.schema_ref().field(index).name()));
    *error = named;
}
