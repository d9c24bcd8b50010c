//! The flows: one asynchronous function per verb, over any backend. They know rows, parameters and BLOBs, and
//! neither sockets nor threads.

mod array;
mod blob;
mod blob_habit;
pub(crate) mod connect;
pub(crate) mod execute;
pub(crate) mod fetch;
pub(crate) mod idle;
pub(crate) mod info;
mod known;
mod limbo;
pub(crate) mod noted;
mod one_row;
mod outcome;
pub(crate) mod reading;
mod reuse;
pub(crate) mod run;
pub(crate) mod scroll;
pub(crate) mod series;
mod transaction;
pub(crate) mod write;

use crate::backend::{Backend, End, LEAVING, Sql, StatementId, TransactionId};
use crate::cancel::Operation;
use crate::error::{Error, Kind, Result};
use crate::precision::Precisions;
use crate::sql::{Token, tokens};
use crate::stats::{Meter, WireStats};
use array::ArrayCatalog;
use connect::Facts;
use firearrow_proto::api::describe::{StatementInfo, StatementKind};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::transaction::{Isolation, TransactionOptions};
use known::KnownStatements;
use reuse::Reusable;
use run::How;
use rustc_hash::FxHashMap;
use std::collections::HashSet;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use transaction::Begun;

/// Bounds the relations remembered: servers name them, and may name any number.
pub(crate) const MOST_RELATIONS: usize = 1024;

/// A backend and the state between its operations.
pub(crate) struct Session<B> {
    pub(crate) backend: B,
    /// Transactions that have not ended; they must before a detach.
    open: FxHashMap<TransactionId, Begun>,
    /// The transaction for preparing statements that belong to none yet.
    describing: Option<TransactionId>,
    known: KnownStatements,
    has_timeouts: bool,
    /// The time limit of each statement of the session.
    pub(crate) statement_limit: Option<Duration>,
    /// SQL has changed settings of the session, which other connections do not have.
    pub(crate) has_settings: bool,
    /// Array columns seen so far.
    arrays: ArrayCatalog,
    pub(crate) precisions: Precisions,
    /// Numbers of transactions in limbo that nobody holds, as far as they were requested.
    abandoned: HashSet<u64>,
    pub(crate) facts: Arc<Facts>,
    /// The running operation.
    operation: Operation,
}

/// A part of an operation that has not ended.
pub(crate) struct Entered {
    /// The traffic before it.
    before: WireStats,
}

/// A prepared statement.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) id: StatementId,
    pub(crate) sql: Arc<str>,
    pub(crate) dialect: Dialect,
    pub(crate) info: Arc<StatementInfo>,
    /// Assumed to be unchanged since the last time; the engine has not confirmed it yet.
    pub(crate) is_recalled: bool,
    /// It is executed once: a commit that is sent along releases it.
    is_for_once: bool,
    reusable: Arc<Reusable>,
    /// Each execution inserts one row or fails: there is no need to ask for counts.
    pub(crate) inserts_one_row: bool,
    /// A cursor may come with counts: from Firebird 5 on, what changes rows and returns them has one. A false positive only
    /// costs time.
    may_return_changes: bool,
    /// It may change how the session works.
    is_setting: bool,
}

impl Prepared {
    fn new(
        id: StatementId,
        sql: Sql<'_>,
        info: Arc<StatementInfo>,
        reusable: Arc<Reusable>,
        is_recalled: bool,
    ) -> Self {
        let inserts_one_row = inserts_one_row(sql.text, info.kind);
        let may_return_changes = has_word(sql.text, b"returning");
        Self {
            id,
            sql: sql.text.into(),
            dialect: sql.dialect,
            info,
            is_recalled,
            is_for_once: false,
            reusable,
            inserts_one_row,
            may_return_changes,
            is_setting: is_setting(sql.text),
        }
    }

    /// Whether it may change something, apart from what procedures, functions and blocks do.
    fn may_change(&self) -> bool {
        self.info.kind != StatementKind::Select || self.may_return_changes
    }

    /// Whether an execution for one row may do without its cursor.
    fn can_run_without_cursor(&self) -> bool {
        self.info.has_cursor && !self.may_change()
    }

    /// Whether its transaction can be committed in the same write: if it fails it has done nothing.
    fn can_commit_with_it(&self) -> bool {
        use StatementKind::{Ddl, Delete, ExecuteProcedure, Insert, SetGenerator, Update};
        let kind = self.info.kind;
        !has_rows(&self.info)
            && matches!(kind, Insert | Update | Delete | ExecuteProcedure | Ddl | SetGenerator)
    }

    /// Whether it was recalled and `error`, found by the client before anything ran, may be due to a changed table or
    /// procedure.
    pub(crate) fn may_be_outdated_by(&self, error: &Error) -> bool {
        let is_refused = !error.has_run()
            && matches!(error.kind(), Kind::Parameter | Kind::Data | Kind::Misuse | Kind::Unsupported);
        self.is_recalled && is_refused
    }
}

impl<B: Backend> Session<B> {
    pub(crate) fn new(backend: B, facts: Arc<Facts>) -> Self {
        Self {
            backend,
            facts,
            operation: Operation::default(),
            open: FxHashMap::default(),
            describing: None,
            known: KnownStatements::default(),
            has_timeouts: false,
            statement_limit: None,
            has_settings: false,
            arrays: ArrayCatalog::new(),
            precisions: Precisions::new(),
            abandoned: HashSet::new(),
        }
    }

    /// COMMIT RETAIN and ROLLBACK RETAIN continue under another number.
    pub(crate) fn note_retaining(&mut self, transaction: TransactionId, sql: &str) {
        if has_word(sql, b"retain") {
            self.backend.renumbered(transaction);
            self.retained(transaction);
        }
    }

    /// Prepares in `transaction`, or in one of the session's own.
    pub(crate) async fn prepare(
        &mut self,
        transaction: Option<TransactionId>,
        sql: Sql<'_>,
    ) -> Result<Prepared> {
        let transaction = match transaction {
            Some(transaction) => {
                self.expect_open(transaction)?;
                transaction
            }
            None => self.describing().await?,
        };
        let prepared = self.prepare_plain(transaction, sql).await?;
        self.with_arrays(prepared).await
    }

    /// Prepares a statement that is executed immediately, and once: if it is known, that takes one round trip together.
    pub(crate) async fn recall(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<Prepared> {
        self.expect_open(transaction)?;
        let prepared = self.recall_plain(transaction, sql).await?;
        let prepared = self.with_arrays(prepared).await?;
        Ok(Prepared { is_for_once: true, ..prepared })
    }

    /// Prepares a statement that is executed once.
    pub(crate) async fn prepare_for_once(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
    ) -> Result<Prepared> {
        let prepared = self.prepare(Some(transaction), sql).await?;
        Ok(Prepared { is_for_once: true, ..prepared })
    }

    /// [`prepare`](Self::prepare), as the engine describes it.
    async fn prepare_plain(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<Prepared> {
        let (id, info) = match self.backend.prepare(transaction, sql).await {
            Ok(prepared) => prepared,
            Err(error) => {
                // It may have been the start of the session's own transaction.
                if self.describing == Some(transaction) && error.kind() != Kind::Syntax {
                    self.describing = None;
                    self.open.remove(&transaction);
                    // Report the original error.
                    let _ = self.backend.end(transaction, End::Rollback).await;
                }
                return Err(error);
            }
        };
        let info = Arc::new(info);
        let reusable = self.known.remember(sql.text, &info);
        Ok(Prepared::new(id, sql, info, reusable, false))
    }

    /// [`recall`](Self::recall), as the engine describes it.
    async fn recall_plain(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<Prepared> {
        let Some((info, reusable)) = self.known.recall(sql.text) else {
            return self.prepare_plain(transaction, sql).await;
        };
        let id = match self.backend.prepare_known(transaction, sql, &info).await {
            Ok(id) => id,
            Err(error) if error.kind() == Kind::Changed => {
                return self.prepare_plain(transaction, sql).await;
            }
            Err(error) => return Err(error),
        };
        Ok(Prepared::new(id, sql, info, reusable, true))
    }

    /// The remembered description of a statement was wrong.
    pub(crate) fn forget(&mut self, sql: &str) {
        self.known.forget(sql);
    }

    /// Tables may have been altered.
    pub(crate) fn forget_all(&mut self) {
        self.known.clear();
        self.forget_arrays();
        self.precisions.clear();
    }

    /// A transaction for descriptions and the catalog, which does not hold back garbage collection: a read-only, read
    /// committed transaction is committed from its start as far as garbage collection is concerned.
    pub(crate) async fn describing(&mut self) -> Result<TransactionId> {
        if let Some(transaction) = self.describing {
            return Ok(transaction);
        }
        let options = TransactionOptions::reading().isolation(Isolation::ReadCommittedRecordVersion);
        let transaction = self.begin_deferred(&options).await?;
        self.describing = Some(transaction);
        Ok(transaction)
    }

    /// From here on nothing interrupts: something is ended that the caller has given up. Returns what it has to be
    /// [given back](Self::unshield) to.
    pub(crate) fn shield(&mut self) -> Operation {
        let operation = std::mem::take(&mut self.operation);
        self.backend.end_call();
        self.backend.begin_call(&Operation::shielded());
        operation
    }

    pub(crate) fn unshield(&mut self, operation: &Operation) {
        self.backend.end_call();
        self.backend.begin_call(operation);
        self.operation = operation.clone();
    }

    /// A part of an operation begins.
    pub(crate) fn enter(&mut self, operation: &Operation) -> Entered {
        self.operation = operation.clone();
        self.backend.begin_call(operation);
        Entered { before: self.backend.wire_stats() }
    }

    /// A part of an operation ends: its cost goes to `meters`.
    pub(crate) fn leave_operation<T>(
        &mut self,
        entered: Entered,
        meters: &[Meter],
        result: Result<T>,
    ) -> Result<T> {
        let spent = self.backend.wire_stats().since(&entered.before);
        meters.iter().for_each(|meter| meter.add(spent));
        // Servers without time limits report a cancellation where the client's clock ended the statement.
        let is_cancelled = result.as_ref().is_err_and(|error| error.kind() == Kind::Cancelled);
        let is_over =
            is_cancelled && (self.operation.interruption() == Some(Kind::Timeout) || self.backend.is_late());
        self.backend.end_call();
        self.operation = Operation::default();
        result.map_err(|error| if is_over { error.late() } else { error })
    }

    /// The time limit of the next execution, and whether a server can interrupt it. Engines keep the limit, so once it has been
    /// set for one, it is set for each.
    pub(crate) fn set_up(&mut self, prepared: &Prepared, how: &How) -> Result<()> {
        let timeout = how.timeout;
        self.backend.expect_interruption(how.interruptible);
        if timeout.is_some() || self.has_timeouts {
            self.has_timeouts = true;
            self.backend.set_timeout(prepared.id, timeout)?;
        }
        Ok(())
    }

    /// Limits everything from here on.
    pub(crate) fn prepare_to_leave(&mut self) {
        self.backend.limit_patience(LEAVING);
    }

    /// Ends open transactions and detaches.
    pub(crate) async fn close(&mut self) -> Result<()> {
        self.prepare_to_leave();
        self.end_all().await?;
        self.backend.detach().await
    }

    /// Ends open transactions and deletes the database.
    pub(crate) async fn drop_database(&mut self) -> Result<()> {
        self.end_all().await?;
        self.backend.drop_database().await
    }

    async fn end_all(&mut self) -> Result<()> {
        self.describing = None;
        for (transaction, begun) in std::mem::take(&mut self.open) {
            if !begun.is_in_limbo() {
                self.backend.end(transaction, End::Rollback).await?;
            }
        }
        Ok(())
    }
}

/// INSERT … SELECT, UPDATE OR INSERT and MERGE may change any number of rows. A false positive only costs time.
fn inserts_one_row(sql: &str, kind: StatementKind) -> bool {
    let may_be_more = [&b"select"[..], b"update", b"merge"];
    kind == StatementKind::Insert && !may_be_more.iter().any(|word| has_word(sql, word))
}

/// Whether the statement may change how the session works. A block may, from Firebird 4 on; procedures that do are not
/// recognized.
fn is_setting(sql: &str) -> bool {
    let mut words = tokens(sql);
    let (first, second) = (words.next(), words.next());
    let is = |token: Option<Token<'_>>, word| token.is_some_and(|token| token.is_word(word));
    is(first, "SET") && !["TRANSACTION", "GENERATOR", "STATISTICS"].iter().any(|word| is(second, word))
        || is(first, "ALTER") && is(second, "SESSION")
        || is(first, "EXECUTE") && is(second, "BLOCK") && words.any(|token| token.is_word("SET"))
}

fn has_word(sql: &str, word: &[u8]) -> bool {
    sql.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Whether executing the statement returns rows (through a cursor or as a single one).
pub(crate) fn has_rows(info: &StatementInfo) -> bool {
    !info.columns.is_empty()
}

/// Whether the statement starts or ends a transaction, which would invalidate its owner's handle.
pub(crate) fn is_transaction_control(kind: StatementKind) -> bool {
    matches!(kind, StatementKind::StartTransaction | StatementKind::Commit | StatementKind::Rollback)
}

/// Runs a flow over a backend that never pends.
pub(crate) fn ready<T>(flow: impl Future<Output = T>) -> T {
    ready_in_place(pin!(flow))
}

/// Like [`ready`], without moving the flow: that of a statement takes kilobytes.
pub(crate) fn ready_in_place<T>(flow: Pin<&mut impl Future<Output = T>>) -> T {
    match flow.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a blocking link pended"),
    }
}
