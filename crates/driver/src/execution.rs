//! One execution of SQL: its transaction, its repetitions and its outcome.

use crate::activity::Task;
use crate::bound::BoundQuery;
use crate::error::{Error, Result};
use crate::failed::Failed;
use crate::kept::Kept;
use crate::option::{Purpose, StatementOptions};
use crate::progress::Progress;
use crate::report::Report;
use crate::rows::Rows;
use crate::session::Session;
use crate::sql::{is_ddl, is_dml};
use crate::stream::Stream;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use firearrow::arrow::BlobPolicy;
use firearrow::{Cursor, Kind, OnFailure, Params, Statement, StatementKind, Transaction, gds};
use std::sync::Arc;
use std::time::Duration;

/// How long the driver waits after the time limit before it interrupts the execution itself: the engine's own error is
/// more specific.
const GRACE: Duration = Duration::from_secs(1);

fn is_in_use(error: &Error) -> bool {
    error.client().is_some_and(|client| client.gds_codes().contains(&gds::ISC_OBJ_IN_USE))
}

/// The outcome of an execution.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Its rows, if it returns any.
    pub stream: Option<Stream>,
    /// Rows that it changed, where that is known.
    pub affected: Option<u64>,
    /// The statement as it was prepared for this execution; `None` for DDL that was committed at once. It keeps its tables in
    /// use until it is dropped.
    pub statement: Option<Statement>,
}

/// A statement that is about to be run.
pub(crate) struct Execution<'a> {
    pub(crate) session: &'a Arc<Session>,
    pub(crate) options: &'a StatementOptions,
    pub(crate) sql: &'a str,
    pub(crate) task: &'a Arc<Task>,
    pub(crate) progress: &'a Arc<Progress>,
    pub(crate) purpose: Purpose,
    /// Where the statement stays prepared between executions, if it does.
    pub(crate) kept: Option<&'a Kept>,
}

impl Execution<'_> {
    /// Runs it, once for each row of parameters if there are any.
    pub(crate) fn run(&self, rows: Option<Rows>) -> Result<Outcome> {
        let rows = rows.filter(|rows| rows.columns() > 0);
        let may_retry = rows.is_none() && self.session.is_autocommit();
        let outcome = match self.run_checked(rows) {
            // A block may run DDL, which the text does not show.
            Err(error) if is_in_use(&error) && self.session.release_kept() && may_retry => {
                self.run_checked(None)
            }
            outcome => outcome,
        }?;
        if let (Some(kept), Some(statement)) = (self.kept, &outcome.statement) {
            kept.put(statement.clone());
        }
        Ok(outcome)
    }

    fn run_checked(&self, rows: Option<Rows>) -> Result<Outcome> {
        let is_ddl = is_ddl(self.sql);
        if is_ddl {
            self.session.release_kept();
        }
        if is_ddl && self.session.options().commits_ddl() {
            if rows.is_some() {
                return Err(Error::argument("DDL takes no parameters"));
            }
            self.task.limit(self.options.timeout);
            self.session.define(self.task, self.sql)?;
            return Ok(Outcome::default());
        }
        let Some(mut rows) = rows else { return self.once(&Params::none()) };
        let single = match self.options.on_failure {
            OnFailure::Stop => rows.single()?,
            // A failed row is an outcome here, not an error.
            OnFailure::Continue => None,
        };
        match single {
            Some(row) => self.once(&Params::from(row)),
            None => self.often(rows),
        }
    }

    fn once(&self, parameters: &Params) -> Result<Outcome> {
        let most = self.options.timeout.map(|time| time.saturating_add(GRACE));
        self.task.limit(most);
        let outcome = self.once_limited(parameters)?;
        // The client keeps the limit for its rows: those that came in time are good, whenever they are read.
        self.task.limit(None);
        Ok(outcome)
    }

    fn once_limited(&self, parameters: &Params) -> Result<Outcome> {
        if self.session.is_autocommit() {
            return self.once_in_own(parameters);
        }
        self.session.in_transaction(|transaction| {
            let recalled = self.recall(transaction)?;
            match self.run_in(recalled.clone(), transaction, parameters) {
                Err(Failed::Client(error)) if recalled.is_outdated_by(&error) => {
                    drop(recalled);
                    // From here on the connection knows it as it is.
                    let prepared = transaction.prepare(self.sql)?;
                    let may_have_effect = error.kind() == Kind::Changed
                        && (prepared.kind() != StatementKind::Select || transaction.has_changes()?);
                    if may_have_effect {
                        // It may have had an effect: do not run it twice.
                        return Err(error.into());
                    }
                    Ok(self.run_in(prepared, transaction, parameters)?)
                }
                result => Ok(result?),
            }
        })
    }

    fn once_in_own(&self, parameters: &Params) -> Result<Outcome> {
        let transaction = self.session.begin(self.purpose)?;
        let recalled = self.recall(&transaction)?;
        match self.run_and_end(recalled.clone(), transaction, parameters) {
            Err(Failed::Client(error)) if recalled.is_outdated_by(&error) => {
                drop(recalled);
                let transaction = self.session.begin(self.purpose)?;
                let prepared = transaction.prepare(self.sql)?;
                Ok(self.run_and_end(prepared, transaction, parameters)?)
            }
            result => Ok(result?),
        }
    }

    /// The statement for one row of parameters.
    fn recall(&self, transaction: &Transaction) -> Result<Statement> {
        match self.kept {
            Some(_) => self.prepare(transaction),
            None => Ok(transaction.recall(self.sql)?),
        }
    }

    /// The statement for many rows of parameters, or many executions.
    fn prepare(&self, transaction: &Transaction) -> Result<Statement> {
        match self.kept.and_then(Kept::take) {
            Some(statement) => Ok(statement),
            None => Ok(transaction.prepare(self.sql)?),
        }
    }

    /// In the transaction of manual mode.
    fn run_in(
        &self,
        statement: Statement,
        transaction: &mut Transaction,
        parameters: &Params,
    ) -> Result<Outcome, Failed> {
        let statement = self.adapt(statement, true)?;
        if !statement.has_rows() {
            let executed = statement.execute(transaction, parameters.clone())?;
            self.progress.set_records(executed.counts);
            let affected = self.affected(executed.affected_rows);
            return Ok(Outcome { stream: None, affected, statement: Some(statement) });
        }
        let cursor = statement.query(transaction, parameters.clone())?;
        if self.has_effect(&statement) {
            return Ok(Outcome { statement: Some(statement), ..self.collect(cursor)? });
        }
        let stream = Stream::of_cursor(cursor, None, Arc::clone(self.progress));
        let stream = stream.until(self.session.membership());
        Ok(Outcome { statement: Some(statement), ..self.stream_ahead(stream)? })
    }

    /// In a transaction that is for this execution only.
    fn run_and_end(
        &self,
        statement: Statement,
        transaction: Transaction,
        parameters: &Params,
    ) -> Result<Outcome, Failed> {
        let statement = self.adapt(statement, true)?;
        if !statement.has_rows() {
            let executed = statement.execute_last(transaction, parameters.clone())?;
            self.progress.set_records(executed.counts);
            let affected = self.affected(executed.affected_rows);
            return Ok(Outcome { stream: None, affected, statement: Some(statement) });
        }
        let cursor = statement.query(&transaction, parameters.clone())?;
        if self.has_effect(&statement) {
            let outcome = self.collect(cursor)?;
            // The outcome of an interrupted commit would be unknown.
            self.task.limit(None);
            transaction.commit()?;
            return Ok(Outcome { statement: Some(statement), ..outcome });
        }
        let stream = Stream::of_cursor(cursor, Some(transaction), Arc::clone(self.progress));
        Ok(Outcome { statement: Some(statement), ..self.stream_ahead(stream)? })
    }

    /// Once for each of many rows, or for none.
    fn often(&self, rows: Rows) -> Result<Outcome> {
        self.task.limit(self.options.timeout);
        if !self.session.is_autocommit() {
            let outcome = self.session.in_transaction(|transaction| {
                let statement = self.adapt(self.prepare(transaction)?, false)?;
                if !self.is_query(&statement) {
                    return self.updates(&statement, transaction, rows);
                }
                let query = self.queries(&statement, transaction, rows)?;
                let stream = Stream::of_bound(query, Arc::clone(self.progress));
                let stream = self.stream(stream.until(self.session.membership()));
                Ok(Outcome { statement: Some(statement), ..stream })
            });
            return outcome.inspect_err(|error| {
                // The transaction has ended with it.
                if self.session.connection().is_ok_and(firearrow::Connection::is_failed) {
                    self.progress.undo_rows(error);
                }
            });
        }
        self.often_in_own(rows).inspect_err(|error| self.progress.undo_rows(error))
    }

    /// In a transaction that is for this execution only.
    fn often_in_own(&self, rows: Rows) -> Result<Outcome> {
        let mut transaction = self.session.begin(self.purpose)?;
        let statement = self.adapt(self.prepare(&transaction)?, false)?;
        if self.is_query(&statement) {
            let query = self.queries(&statement, &transaction, rows)?.owning(transaction);
            let stream = self.stream(Stream::of_bound(query, Arc::clone(self.progress)));
            return Ok(Outcome { statement: Some(statement), ..stream });
        }
        let outcome = self.updates(&statement, &mut transaction, rows)?;
        // Nobody could tell what became of a commit that was interrupted.
        self.task.limit(None);
        transaction.commit()?;
        Ok(outcome)
    }

    fn is_query(&self, statement: &Statement) -> bool {
        statement.has_rows() && !self.has_effect(statement)
    }

    /// The results of a query, in the order of the rows.
    fn queries(&self, statement: &Statement, transaction: &Transaction, rows: Rows) -> Result<BoundQuery> {
        let (given, wanted) = (rows.columns(), statement.parameters().len());
        if given != wanted {
            let text = format!("the statement has {wanted} parameters, the data has {given} columns");
            return Err(Error::argument(text).with_sqlstate("07001"));
        }
        let report = self.report(&rows);
        BoundQuery::open(statement, transaction, rows, report)
    }

    fn report(&self, rows: &Rows) -> Report {
        Report {
            on_failure: self.options.on_failure,
            counts: is_dml(self.sql),
            failure: rows.failure(),
            task: Arc::clone(self.task),
            progress: Arc::clone(self.progress),
        }
    }

    /// Changes for many rows of parameters.
    fn updates(&self, statement: &Statement, transaction: &mut Transaction, rows: Rows) -> Result<Outcome> {
        if statement.has_rows() {
            return self.collect_all(statement, transaction, rows);
        }
        let report = self.report(&rows);
        let rows = rows.counted(self.progress);
        let done = statement.execute_stream(transaction, rows, self.options.on_failure);
        let done = done.map_err(|error| report.broken_off(error))?;
        self.progress.set_records(done.counts);
        report.complete(&done)?;
        let affected = match done.failures.len() == done.rows {
            true => Some(0),
            false => self.affected(done.affected_rows),
        };
        Ok(Outcome { stream: None, affected, statement: Some(statement.clone()) })
    }

    /// The rows that changes return, for many rows of parameters.
    fn collect_all(&self, statement: &Statement, transaction: &Transaction, rows: Rows) -> Result<Outcome> {
        let mut query = self.queries(statement, transaction, rows)?;
        let mut batches: Vec<RecordBatch> = Vec::new();
        while let Some(batch) = query.next()? {
            batches.push(batch);
        }
        self.progress.set_records(query.executed().counts);
        let outcome = self.collected(query.schema(), batches, query.executed().affected_rows);
        Ok(Outcome { statement: Some(statement.clone()), ..outcome })
    }

    /// All rows at once: the statement has changed something, and its work is complete only when all of them have been
    /// read.
    fn collect(&self, mut cursor: Cursor) -> Result<Outcome, Failed> {
        let mut batches: Vec<RecordBatch> = Vec::new();
        while let Some(batch) = cursor.next_batch()? {
            batches.push(batch);
        }
        self.progress.set_records(cursor.record_counts());
        self.progress.set_cost(&cursor.wire_stats(), cursor.decode_time());
        Ok(self.collected(cursor.schema(), batches, cursor.affected_rows()))
    }

    /// The rows that changes returned. Where the engine does not count them, each returned one row.
    fn collected(&self, schema: SchemaRef, batches: Vec<RecordBatch>, affected: Option<u64>) -> Outcome {
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let affected = self.affected(affected.or(Some(rows)));
        Outcome { affected, ..self.stream(Stream::of_batches(schema, batches)) }
    }

    fn stream(&self, stream: Stream) -> Outcome {
        Outcome { stream: Some(stream.within(self.session, self.task)), ..Outcome::default() }
    }

    /// [`stream`](Self::stream), read ahead if that is wanted.
    fn stream_ahead(&self, stream: Stream) -> Result<Outcome> {
        let stream = stream.within(self.session, self.task).ahead(self.options.prefetch)?;
        Ok(Outcome { stream: Some(stream), ..Outcome::default() })
    }

    /// Whether a statement with rows does something that must not depend on how many of them are read.
    fn has_effect(&self, statement: &Statement) -> bool {
        !statement.has_cursor() || is_dml(self.sql)
    }

    /// The engine counts for procedures and blocks, too, but that is not what callers mean by affected rows.
    fn affected(&self, rows: Option<u64>) -> Option<u64> {
        rows.filter(|_| is_dml(self.sql))
    }

    /// Refuses statements that would end the transaction without the session's knowledge, and sets the read options of
    /// the statement. `is_single` says that it is run once only.
    fn adapt(&self, statement: Statement, is_single: bool) -> Result<Statement> {
        use StatementKind::{Commit, Rollback, StartTransaction};
        // It may have waited long for its turn to be prepared.
        self.task.check()?;
        if matches!(statement.kind(), Commit | Rollback | StartTransaction) {
            let text = "transactions are controlled by the options, commit and rollback of the connection, not by SQL";
            return Err(Error::argument(text));
        }
        let mut read = self.session.declare(statement.columns(), &self.options.read)?;
        if read.blobs == BlobPolicy::Lazy && (!is_single || self.has_effect(&statement)) {
            // Its rows outlive their transaction, or belong to several results.
            read.blobs = BlobPolicy::default();
        }
        let statement = statement
            .with_read_options(read)
            .with_limits(self.options.limits)
            .with_write_options(self.options.write)
            .with_timeout(self.options.timeout);
        Ok(match self.options.parallel {
            Some(readers) => statement.with_parallel(readers),
            None => statement,
        })
    }
}
