//! Transactions from their start to their end.

use super::Session;
use crate::backend::{self, Backend, End, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::savepoint::Savepoint;
use ::arrow::array::{ArrayRef, UInt64Array};
use firearrow_proto::api::info::InfoReader;
use firearrow_proto::api::info::transaction::{ID, SNAPSHOT_NUMBER};
use firearrow_proto::api::transaction::{Isolation, TransactionOptions};
use std::sync::Arc;
use std::time::Duration;

/// A transaction that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// Prepared for the second phase of a commit: only its end is allowed.
    in_limbo: bool,
    /// The server may undo it without leaving a trace.
    has_undo: bool,
    options: TransactionOptions,
    /// Whether it went on after COMMIT RETAIN or ROLLBACK RETAIN.
    is_retained: bool,
    /// The number by which it was taken over.
    recovered: Option<u64>,
}

impl Begun {
    pub(super) fn is_in_limbo(self) -> bool {
        self.in_limbo
    }

    /// Whether the engine may take back what an execution has done when it fails at its end, or run it again: READ
    /// COMMITTED in Firebird 4 and later.
    fn may_restart(self) -> bool {
        !matches!(self.options.isolation, Isolation::Snapshot | Isolation::SnapshotTableStability)
    }

    pub(super) fn is_recovered(self, number: u64) -> bool {
        self.recovered == Some(number)
    }
}

impl<B: Backend> Session<B> {
    pub(crate) async fn begin(&mut self, options: &TransactionOptions) -> Result<TransactionId> {
        let transaction = self.backend.begin(&options.tpb()).await?;
        Ok(self.opened(transaction, options))
    }

    /// [`begin`](Self::begin), deferred to the first statement where that saves a round trip.
    pub(crate) async fn begin_deferred(&mut self, options: &TransactionOptions) -> Result<TransactionId> {
        let transaction = self.backend.begin_deferred(&options.tpb()).await?;
        Ok(self.opened(transaction, options))
    }

    fn opened(&mut self, transaction: TransactionId, options: &TransactionOptions) -> TransactionId {
        let begun = Begun {
            in_limbo: false,
            has_undo: !options.no_auto_undo,
            options: *options,
            is_retained: false,
            recovered: None,
        };
        self.open.insert(transaction, begun);
        transaction
    }

    /// Whether everything that an execution has done before it fails at its end stays in this transaction.
    pub(super) fn keeps_work(&self, transaction: TransactionId) -> bool {
        !self.backend.is_firebird4() || self.open.get(&transaction).is_some_and(|begun| !begun.may_restart())
    }

    /// Fails unless statements can run in the transaction.
    pub(crate) fn expect_open(&self, transaction: TransactionId) -> Result<()> {
        if self.begun(transaction)?.in_limbo {
            let text = "the transaction is in limbo: nothing is left but commit or rollback";
            return Err(Error::new(Kind::Misuse, text));
        }
        Ok(())
    }

    fn begun(&self, transaction: TransactionId) -> Result<Begun> {
        let begun = self.open.get(&transaction).copied();
        begun.ok_or_else(|| Error::new(Kind::Misuse, "the transaction has ended"))
    }

    /// Its options, as long as it is what it was when it began.
    pub(crate) fn options_of(&self, transaction: TransactionId) -> Option<TransactionOptions> {
        let begun = self.begun(transaction).ok()?;
        (!begun.is_retained).then_some(begun.options)
    }

    /// It goes on after a commit or rollback.
    pub(super) fn retained(&mut self, transaction: TransactionId) {
        if let Some(begun) = self.open.get_mut(&transaction) {
            begun.is_retained = true;
        }
    }

    /// Whether the transaction has ended.
    pub(crate) fn has_ended(&self, transaction: TransactionId) -> bool {
        !self.open.contains_key(&transaction)
    }

    /// Commits or rolls back. After a lost commit the server is asked for its outcome.
    pub(crate) async fn end(&mut self, transaction: TransactionId, end: End) -> Result<()> {
        let begun = self.begun(transaction)?;
        if matches!(end, End::CommitRetaining | End::RollbackRetaining) {
            self.expect_open(transaction)?;
        }
        if let Err(error) = self.backend.end(transaction, end).await {
            return Err(self.find_out(error, begun).await);
        }
        match end {
            End::Commit | End::Rollback => self.ended(transaction),
            End::CommitRetaining | End::RollbackRetaining => self.retained(transaction),
        }
        Ok(())
    }

    /// Ends a transaction that its owner has given up: it is rolled back, or stays in limbo.
    pub(crate) async fn abandon(&mut self, transaction: TransactionId) -> Result<()> {
        let Ok(begun) = self.begun(transaction) else { return Ok(()) };
        if self.backend.is_failed() {
            return Ok(());
        }
        if begun.in_limbo {
            self.ended(transaction);
            return self.backend.leave(transaction).await;
        }
        let operation = self.shield();
        let ended = self.end(transaction, End::Rollback).await;
        self.unshield(&operation);
        ended
    }

    /// Rolls back after an error; a failure to do so is only logged.
    pub(crate) async fn give_up(&mut self, transaction: TransactionId) {
        if let Err(error) = self.abandon(transaction).await {
            tracing::debug!(%error, "rolling back failed");
        }
    }

    /// The transaction is gone.
    pub(super) fn ended(&mut self, transaction: TransactionId) {
        self.open.remove(&transaction);
    }

    /// The error of a statement that may have committed, with the server's account of it.
    pub(super) async fn with_outcome(&mut self, transaction: TransactionId, error: Error) -> Error {
        match self.begun(transaction) {
            Ok(begun) => self.find_out(error, begun).await,
            Err(_) => error,
        }
    }

    async fn find_out(&mut self, error: Error, begun: Begun) -> Error {
        if error.lost_commit().is_none() {
            return error;
        }
        // Boxed, because a session asks the question, too.
        Box::pin(self.ask_about_commit(error, begun.in_limbo || !begun.has_undo)).await
    }

    /// First phase of a two-phase commit.
    pub(crate) async fn prepare_commit(&mut self, transaction: TransactionId, message: &[u8]) -> Result<()> {
        self.expect_open(transaction)?;
        // Servers would keep what is left of its length in 16 bits.
        if message.len() > usize::from(u16::MAX) {
            let text = format!("a message of {} bytes: at most {} fit", message.len(), u16::MAX);
            return Err(Error::new(Kind::Misuse, text));
        }
        self.backend.prepare_commit(transaction, message).await?;
        if let Some(begun) = self.open.get_mut(&transaction) {
            begun.in_limbo = true;
        }
        Ok(())
    }

    /// A transaction in limbo was taken over.
    pub(super) fn recovered(&mut self, transaction: TransactionId, number: u64) {
        let options = TransactionOptions::default();
        let recovered = Some(number);
        let begun = Begun { in_limbo: true, has_undo: false, options, is_retained: true, recovered };
        self.open.insert(transaction, begun);
    }

    /// Sets, undoes or releases a savepoint.
    pub(crate) async fn savepoint(
        &mut self,
        transaction: TransactionId,
        what: Savepoint,
        name: &str,
    ) -> Result<()> {
        let sql = what.sql(name)?;
        self.expect_open(transaction)?;
        self.backend.execute_immediate(transaction, sql.as_str().into()).await?;
        if matches!(what, Savepoint::RollBack) {
            // It may have undone changes of tables.
            self.forget_all();
        }
        Ok(())
    }

    /// Limits the time of every statement of this session, and how long it may be idle.
    pub(crate) async fn limit(&mut self, statement: Option<Duration>, idle: Option<Duration>) -> Result<()> {
        let (statement_time, idle_time) = (statement, idle);
        let statement =
            statement.map(|time| format!("SET STATEMENT TIMEOUT {} MILLISECOND", time.as_millis()));
        let idle = idle.map(|time| format!("SET SESSION IDLE TIMEOUT {} SECOND", time.as_secs()));
        if statement.is_none() && idle.is_none() {
            return Ok(());
        }
        self.has_settings |= idle_time.is_some_and(|time| !time.is_zero());
        if let Some(time) = statement_time {
            self.statement_limit = Some(time).filter(|time| !time.is_zero());
        }
        if !self.backend.is_firebird4() {
            return Err(Error::new(Kind::Unsupported, "time limits of sessions need Firebird 4 or newer"));
        }
        let transaction = self.begin_deferred(&TransactionOptions::default()).await?;
        let mut limited = Ok(backend::Executed::default());
        for sql in [statement, idle].iter().flatten() {
            limited = limited.and(self.backend.execute_immediate(transaction, sql.as_str().into()).await);
        }
        match limited {
            Ok(_) => self.end(transaction, End::Commit).await,
            Err(error) => {
                self.give_up(transaction).await;
                Err(error)
            }
        }
    }

    /// Rolls back every open transaction that is not in limbo, and resets the session where the engine can.
    pub(crate) async fn reset(&mut self) -> Result<()> {
        self.describing = None;
        self.has_settings = false;
        self.statement_limit = None;
        let open = self.open.iter().filter(|(_, begun)| !begun.in_limbo);
        let open: Vec<TransactionId> = open.map(|(id, _)| *id).collect();
        let result = self.backend.reset(&open).await;
        for id in open {
            if !self.backend.is_open(id) {
                self.ended(id);
            }
        }
        result
    }

    /// Returns the number of the transaction in the database.
    pub(crate) async fn number(&mut self, transaction: TransactionId) -> Result<u64> {
        let number = self.transaction_item(transaction, ID).await?;
        number.ok_or_else(|| Error::new(Kind::Unsupported, "the engine gives no transaction number"))
    }

    /// The number of its snapshot.
    pub(crate) async fn snapshot_number(&mut self, transaction: TransactionId) -> Result<u64> {
        let number = self.transaction_item(transaction, SNAPSHOT_NUMBER).await?;
        number.ok_or_else(|| Error::new(Kind::Unsupported, "snapshot numbers need Firebird 4 or newer"))
    }

    /// Whether the transaction has inserted, updated, deleted or locked a row, according to the monitoring tables.
    pub(crate) async fn has_changes(&mut self, transaction: TransactionId) -> Result<bool> {
        const SQL: &str = "SELECT FIRST 1 1 FROM MON$TRANSACTIONS T \
            JOIN MON$RECORD_STATS S ON S.MON$STAT_ID = T.MON$STAT_ID WHERE \
            T.MON$TRANSACTION_ID = CAST(? AS TYPE OF COLUMN MON$TRANSACTIONS.MON$TRANSACTION_ID) \
            AND S.MON$RECORD_INSERTS + S.MON$RECORD_UPDATES + S.MON$RECORD_DELETES + S.MON$RECORD_LOCKS > 0";
        let number: ArrayRef = Arc::new(UInt64Array::from(vec![self.number(transaction).await?]));
        // A transaction sees the monitoring tables as they were when it first read them.
        let observer = self.begin_deferred(&TransactionOptions::reading()).await?;
        let found = match self.answer(SQL, observer, &Params::row([number])).await {
            Ok(found) => found,
            Err(error) => {
                self.give_up(observer).await;
                return Err(error);
            }
        };
        self.abandon(observer).await?;
        Ok(found.is_some_and(|row| row.num_rows() > 0))
    }

    async fn transaction_item(&mut self, transaction: TransactionId, item: u8) -> Result<Option<u64>> {
        self.begun(transaction)?;
        let data = self.backend.transaction_info(transaction, &[item]).await?;
        let value = InfoReader::new(&data).find(|each| each.code == item).and_then(|each| each.integer());
        Ok(value.map(|value| value as u64))
    }
}
