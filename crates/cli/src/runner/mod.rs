//! Runs SQL statements one after the other, as isql does: DDL is committed at once, in a transaction of its own, and what
//! changes data stays open until COMMIT or ROLLBACK.
//!
//! Queries alone leave no transaction open, so that each of them sees what others have committed, and none holds back
//! garbage collection.

mod display;
mod listing;
mod script;
mod setting;
mod transaction;

pub(crate) use display::Display;
pub(crate) use listing::{Listing, names};
pub(crate) use script::{Flow, has_open_comment, line_number, read_script, run_script, split, wrong_script};
pub(crate) use setting::{PlanForm, Settings};

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::warn_of_statements;
use crate::output::{Sink, counted};
use crate::similar::{self, HintTime};
use arrow::datatypes::SchemaRef;
use firearrow::{
    BatchLimits, Config, Connection, Isolation, Kind, Params, Statement, StatementKind, Transaction,
    TransactionOptions, WireStats,
};
use setting::Set;
use std::time::Instant;
use transaction::{Role, role};

/// A connection and what is under way on it.
pub(crate) struct Runner {
    /// The database, as it was named.
    pub(crate) url: String,
    pub(crate) config: Config,
    pub(crate) connection: Connection,
    pub(crate) settings: Settings,
    pub(crate) display: Display,
    /// The options of transactions that no SET TRANSACTION has begun.
    options: TransactionOptions,
    open: Option<Open>,
    /// Statements whose changes are committed.
    committed: u64,
    /// Statements whose changes are gone.
    rolled_back: u64,
    /// Statements whose commit was sent, and never answered.
    unknown: u64,
    /// Statements that have failed in scripts that went on.
    failed: u64,
    /// Scripts within scripts that run.
    depth: usize,
    /// Whether the last statement was executed, whatever came of its rows.
    executed: bool,
    /// Statements that have defined something.
    definitions: u64,
    /// Time left for hints on errors: a script shares one allowance, the shell resets it at each prompt.
    pub(crate) hint_time: HintTime,
}

/// A transaction that only COMMIT and ROLLBACK end.
struct Open {
    transaction: Transaction,
    /// Statements that may have changed something in it.
    changes: u64,
    /// How many statements had defined something when it began.
    definitions: u64,
}

/// What a statement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// It gave this many rows.
    Rows(u64),
    /// The pager was left before it had all rows.
    Left,
    /// It changed rows, or whatever the engine does not count.
    Affected(Option<u64>),
    Told(&'static str),
}

impl Runner {
    pub(crate) fn new(
        url: &str,
        config: Config,
        connection: Connection,
        settings: Settings,
        display: Display,
    ) -> Self {
        // Definitions that are committed meanwhile are seen, which a snapshot would not show: scripts define a table, fill
        // it, and define the next one.
        let isolation = match connection.has_firebird4() {
            true => Isolation::ReadCommittedReadConsistency,
            false => Isolation::ReadCommittedRecordVersion,
        };
        let options = TransactionOptions::default().isolation(isolation);
        let url = url.to_owned();
        Self {
            url,
            config,
            connection,
            settings,
            display,
            options,
            open: None,
            committed: 0,
            rolled_back: 0,
            unknown: 0,
            failed: 0,
            depth: 0,
            executed: false,
            definitions: 0,
            hint_time: HintTime::default(),
        }
    }

    /// Makes the engine refuse all changes.
    pub(crate) fn set_read_only(&mut self) {
        self.options.read_only = true;
    }

    /// How many statements have changed something that is not committed; `None` = no transaction is open.
    pub(crate) fn uncommitted(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.changes)
    }

    /// Whether the engine refuses all changes.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    /// The failure of a script that went on after errors.
    fn failures(&self) -> Result<()> {
        match self.failed {
            0 => Ok(()),
            failed => Err(Failure::other(counted(failed, "statement", " failed"))),
        }
    }

    /// What has become of the statements that changed something; empty if there were none.
    fn outcome(&self) -> String {
        let count = |number| counted(number, "statement", "");
        let mut parts = Vec::new();
        if self.committed > 0 {
            parts.push(format!("committed before: {}", count(self.committed)));
        }
        if self.rolled_back > 0 {
            parts.push(format!("rolled back: {}", count(self.rolled_back)));
        }
        if self.unknown > 0 {
            parts.push(format!("committed or not, which is unknown: {}", count(self.unknown)));
        }
        if self.committed + self.unknown == 0 && self.rolled_back > 0 {
            parts.push("nothing was committed".to_owned());
        }
        parts.join("; ")
    }

    /// How many statements have defined something.
    pub(crate) fn definitions(&self) -> u64 {
        self.definitions
    }

    /// Goes on with another connection. What the old one had not committed is gone.
    pub(crate) fn reconnected(&mut self, url: &str, config: Config, connection: Connection) {
        self.forget();
        url.clone_into(&mut self.url);
        (self.config, self.connection) = (config, connection);
    }

    /// Runs one statement, and shows what it gave.
    pub(crate) fn run(&mut self, sql: &str, parameters: &Params) -> Result<()> {
        let started = (Instant::now(), self.connection.wire_stats());
        if self.run_own_statement(sql)? {
            return Ok(());
        }
        let ran = self.run_on_server(sql, parameters);
        warn_of_statements(&self.connection);
        let done = match ran {
            Ok(done) => done,
            Err(error) => {
                if self.connection.is_failed() {
                    self.forget();
                }
                return Err(self.explained(error, sql));
            }
        };
        match done {
            None => {}
            Some(Done::Rows(_)) if self.display.style.bare => {}
            Some(Done::Rows(rows)) => self.display.remark(&counted(rows, "row", ""))?,
            Some(Done::Left) => self.display.remark("not all rows were shown")?,
            Some(Done::Affected(Some(rows))) => self.display.remark(&counted(rows, "row", " affected"))?,
            Some(Done::Affected(None)) => self.display.remark("done")?,
            Some(Done::Told(text)) => self.display.remark(text)?,
        }
        if self.settings.timing {
            self.display.figure(&cost(&self.connection, started))?;
        }
        Ok(())
    }

    /// Makes the changes permanent. If the server refuses, they stay open.
    pub(crate) fn commit(&mut self) -> Result<&'static str> {
        let Some(open) = &mut self.open else { return Ok("there is nothing to commit") };
        let changes = open.changes;
        let Err(error) = open.transaction.try_commit() else {
            self.open = None;
            self.committed += changes;
            return Ok("committed");
        };
        if error.lost_commit().is_some() {
            self.open = None;
            self.unknown += changes;
            return Err(error.into());
        }
        if self.connection.is_failed() {
            self.forget();
            return Err(error.into());
        }
        let hint = "the transaction is still open: COMMIT again, or ROLLBACK".to_owned();
        Err(Failure::Hinted(Box::new(error.into()), hint))
    }

    /// Undoes the changes.
    pub(crate) fn roll_back(&mut self) -> Result<&'static str> {
        let Some(open) = self.open.take() else { return Ok("there is nothing to roll back") };
        self.rolled_back += open.changes;
        open.transaction.rollback()?;
        Ok("rolled back")
    }

    /// Shows rows in the format and to the place chosen.
    pub(crate) fn sink(&self, schema: &SchemaRef) -> Result<Box<dyn Sink>> {
        self.display.sink(schema, self.settings.expanded)
    }

    /// Whether this was for the command and not for the server: SET and SHOW of isql.
    fn run_own_statement(&mut self, sql: &str) -> Result<bool> {
        let words: Vec<_> = firearrow::sql::tokens(sql).take(3).collect();
        let is = |index: usize, word: &str| words.get(index).is_some_and(|token| token.is_word(word));
        if is(0, "SET") && !is(1, "TRANSACTION") {
            return Ok(match self.settings.set(sql)? {
                Set::Server => false,
                Set::Done(text) => {
                    self.display.remark(&text)?;
                    true
                }
            });
        }
        if is(0, "SHOW") {
            self.show(sql)?;
            return Ok(true);
        }
        if is(0, "CONNECT") || (is(0, "CREATE") && is(1, "DATABASE")) {
            let text = "this connection has its database; connect to another one with \\connect in the shell, or a URL";
            return Err(Failure::usage(format!("{}: {text}", words[0].text.to_ascii_uppercase())));
        }
        Ok(false)
    }

    fn run_on_server(&mut self, sql: &str, parameters: &Params) -> Result<Option<Done>> {
        match role(sql)? {
            Role::Commit { retain: false } => self.commit().map(|text| Some(Done::Told(text))),
            Role::Rollback { retain: false } => self.roll_back().map(|text| Some(Done::Told(text))),
            Role::Commit { retain: true } => self.retain(true),
            Role::Rollback { retain: true } => self.retain(false),
            Role::Start(options) => self.start(options),
            Role::Define if self.settings.auto_ddl => {
                self.definitions += 1;
                self.run_in_own_transaction(sql, parameters, self.options)
            }
            Role::Read if self.open.is_none() => self.read(sql, parameters),
            _ if self.settings.auto_commit && self.open.is_none() => {
                self.run_in_own_transaction(sql, parameters, self.options)
            }
            role => self.run_in_open_transaction(sql, parameters, role != Role::Read),
        }
    }

    fn start(&mut self, options: TransactionOptions) -> Result<Option<Done>> {
        if self.uncommitted().is_some_and(|changes| changes > 0) {
            return Err(Failure::usage("the open transaction has changes: COMMIT or ROLLBACK them first"));
        }
        self.roll_back()?;
        let mut options = options;
        options.read_only |= self.options.read_only;
        self.open = Some(self.opened(self.connection.begin(options)?));
        Ok(Some(Done::Told("a transaction is open; COMMIT or ROLLBACK ends it")))
    }

    fn retain(&mut self, commit: bool) -> Result<Option<Done>> {
        let Some(open) = &mut self.open else { return Ok(Some(Done::Told("nothing is uncommitted"))) };
        if commit {
            open.transaction.commit_retaining()?;
            self.committed += std::mem::take(&mut open.changes);
            return Ok(Some(Done::Told("committed; the transaction goes on")));
        }
        open.transaction.rollback_retaining()?;
        self.rolled_back += std::mem::take(&mut open.changes);
        Ok(Some(Done::Told("rolled back; the transaction goes on")))
    }

    /// In a transaction of its own, which is committed.
    fn run_in_own_transaction(
        &mut self,
        sql: &str,
        parameters: &Params,
        options: TransactionOptions,
    ) -> Result<Option<Done>> {
        let mut transaction = self.connection.begin_lazy(options)?;
        let done = self.execute(sql, parameters, &mut transaction)?;
        if done.is_some() {
            transaction.commit()?;
            self.committed += 1;
        }
        Ok(done)
    }

    /// A query outside of transactions. A procedure that it calls may write; its changes then stay open.
    fn read(&mut self, sql: &str, parameters: &Params) -> Result<Option<Done>> {
        let mut options = self.options.isolation(Isolation::Snapshot);
        options.read_only = true;
        let mut transaction = self.connection.begin_lazy(options)?;
        let shown = self.display.rows_shown();
        match self.execute(sql, parameters, &mut transaction) {
            Ok(done) => {
                transaction.commit()?;
                Ok(done)
            }
            Err(Failure::Firebird(error))
                if !self.options.read_only
                    && error.gds_codes().contains(&READ_ONLY_TRANSACTION)
                    && shown == self.display.rows_shown() =>
            {
                drop(transaction);
                if self.settings.auto_commit {
                    return self.run_in_own_transaction(sql, parameters, self.options);
                }
                self.run_in_open_transaction(sql, parameters, true)
            }
            Err(error) => Err(error),
        }
    }

    fn opened(&self, transaction: Transaction) -> Open {
        Open { transaction, changes: 0, definitions: self.definitions }
    }

    /// In the open transaction, or one that stays open.
    fn run_in_open_transaction(
        &mut self,
        sql: &str,
        parameters: &Params,
        changes: bool,
    ) -> Result<Option<Done>> {
        let was_open = self.open.is_some();
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.opened(self.connection.begin_lazy(self.options)?),
        };
        let done = self.execute(sql, parameters, &mut open.transaction);
        // What the engine has refused has changed nothing. What was executed has, even if its rows were not wanted.
        open.changes += u64::from(changes && self.executed);
        if was_open || open.changes > 0 || (done.is_ok() && !self.settings.plan_only) {
            self.open = Some(open);
        }
        done
    }

    /// Prepares and runs a statement; `None` = only its plan was wanted.
    fn execute(
        &mut self,
        sql: &str,
        parameters: &Params,
        transaction: &mut Transaction,
    ) -> Result<Option<Done>> {
        self.executed = false;
        let statement = transaction.prepare(sql)?.interruptible();
        if let Some(form) = self.settings.plan {
            self.display.text(&plan(&statement, form)?)?;
        }
        if self.settings.plan_only {
            return Ok(None);
        }
        if !statement.has_rows() {
            let executed = statement.execute(transaction, parameters.clone())?;
            self.executed = true;
            // The engine does not count rows changed by a procedure.
            let counted = statement.kind() != StatementKind::ExecuteProcedure;
            return Ok(Some(Done::Affected(executed.affected_rows.filter(|_| counted))));
        }
        let mut limits = BatchLimits::default();
        limits.rows =
            self.display.limit().map_or(limits.rows, |limit| limit.clamp(1, limits.rows as u64) as usize);
        let mut cursor = statement.with_limits(limits).query(transaction, parameters.clone())?;
        self.executed = true;
        // Read first: without rows to show, nothing is shown of a query that fails.
        let mut next = cursor.next_batch()?;
        let mut sink = self.sink(&cursor.schema())?;
        let limit = self.display.limit().unwrap_or(u64::MAX);
        let (mut rows, mut has_left) = (0, false);
        while let Some(batch) = next.take().filter(|_| rows < limit) {
            let wanted = usize::try_from(limit - rows).unwrap_or(usize::MAX).min(batch.num_rows());
            match self.display.show(&mut *sink, &batch.slice(0, wanted)) {
                // Whoever has left the pager has seen enough.
                Err(Failure::PipeClosed) if self.display.pager.is_some() => {
                    has_left = true;
                    break;
                }
                shown => shown?,
            }
            rows += wanted as u64;
            interrupt::check()?;
            if rows < limit {
                next = cursor.next_batch()?;
            }
        }
        cursor.close()?;
        match sink.finish() {
            Err(Failure::PipeClosed) if self.display.pager.is_some() => {}
            finished => finished?,
        }
        Ok(Some(if has_left { Done::Left } else { Done::Rows(rows) }))
    }

    /// The connection is lost, and with it what was not committed.
    fn forget(&mut self) {
        if let Some(open) = self.open.take() {
            self.rolled_back += open.changes;
        }
    }

    /// Adds what the engine does not know.
    fn explained(&self, error: Failure, sql: &str) -> Failure {
        let Failure::Firebird(firebird) = &error else { return error };
        let hint = match (firebird.kind(), &self.open) {
            (Kind::Conflict, Some(_)) => {
                "the open transaction may be in the way: COMMIT or ROLLBACK, and try again"
            }
            (Kind::Syntax, Some(open))
                if open.definitions < self.definitions && is_unknown(firebird.message()) =>
            {
                "the open transaction sees no definition that was made after it began: COMMIT or ROLLBACK, and try again"
            }
            // A question that has to be cancelled may cost the connection, and the changes with it.
            (_, None) => return similar::explained(&self.connection, error, sql, &self.hint_time),
            _ => return similar::explained_keyword(error, sql),
        };
        Failure::Hinted(Box::new(error), hint.to_owned())
    }
}

/// Whether a message is about a table or procedure that is not there.
fn is_unknown(message: &str) -> bool {
    message.contains("Table unknown") || message.contains("Procedure unknown")
}

/// `isc_read_only_trans`
const READ_ONLY_TRANSACTION: i32 = 335_544_361;

fn plan(statement: &Statement, form: PlanForm) -> Result<String> {
    let plan = statement.plan(form == PlanForm::Explained)?;
    Ok(format!("{}\n", plan.trim_matches('\n')))
}

/// Time and traffic of a statement.
fn cost(connection: &Connection, (began, before): (Instant, WireStats)) -> String {
    let seconds = began.elapsed().as_secs_f64();
    let wire = connection.wire_stats().since(&before);
    match wire.round_trips {
        0 => format!("{:.3} ms", seconds * 1e3),
        trips => format!(
            "{:.3} ms, {}, {} bytes received",
            seconds * 1e3,
            counted(trips, "round trip", ""),
            firearrow_bench::text::thousands(wire.bytes_received)
        ),
    }
}
