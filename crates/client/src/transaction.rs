//! Transactions.

use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::{Backend, End, Sql, TransactionId};
use crate::blob::BlobReader;
use crate::connection::Shared;
use crate::cursor::Cursor;
use crate::error::{Error, Kind, Result};
use crate::lost_commit;
use crate::params::Params;
use crate::statement::{Executed, Statement};
use arrow::array::{ArrayRef, LargeBinaryArray, UInt64Array};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::info::InfoReader;
use firearrow_proto::api::transaction::{INFO_ID, INFO_SNAPSHOT_NUMBER, TransactionOptions};
use std::fmt;
use std::sync::Arc;

/// A transaction. It is rolled back when it is dropped without having been committed; in limbo, that is after
/// [`prepare_commit`](Self::prepare_commit), it stays there.
pub struct Transaction {
    shared: Arc<Shared>,
    id: TransactionId,
    open: bool,
    /// In limbo: nothing is allowed but to decide.
    prepared: bool,
    /// The server may undo it without leaving a trace.
    has_undo: bool,
}

impl Transaction {
    pub(crate) fn begin(shared: &Arc<Shared>, options: TransactionOptions) -> Result<Self> {
        let id = shared.run(async |session| session.begin(&options).await)?;
        Ok(Self::new(shared, id, &options))
    }

    fn new(shared: &Arc<Shared>, id: TransactionId, options: &TransactionOptions) -> Self {
        let has_undo = !options.no_auto_undo;
        Self { shared: Arc::clone(shared), id, open: true, prepared: false, has_undo }
    }

    /// One that was taken over from limbo.
    pub(crate) fn recovered(shared: &Arc<Shared>, id: TransactionId) -> Self {
        Self { shared: Arc::clone(shared), id, open: true, prepared: true, has_undo: false }
    }

    /// Begins with the first statement, if that saves a round trip.
    pub(crate) fn begin_late(shared: &Arc<Shared>, options: TransactionOptions) -> Result<Self> {
        let id = shared.run(async |session| session.begin_late(&options).await)?;
        Ok(Self::new(shared, id, &options))
    }

    pub(crate) fn id(&self) -> Result<TransactionId> {
        if self.prepared {
            let text = "the transaction is in limbo: nothing is left but commit or rollback";
            return Err(Error::new(Kind::Misuse, text));
        }
        self.id_even_in_limbo()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn id_even_in_limbo(&self) -> Result<TransactionId> {
        if self.open { Ok(self.id) } else { Err(Error::new(Kind::Misuse, "the transaction has ended")) }
    }

    /// Prepares a statement.
    pub fn prepare(&self, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, Some(self), self.shared.sql(sql))
    }

    /// [`prepare`](Self::prepare), in another dialect than the connection's own.
    pub fn prepare_in(&self, dialect: Dialect, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, Some(self), Sql::new(sql, dialect))
    }

    /// Prepares a statement that is run at once: SQL that this connection knows travels with its first execution. What is
    /// found to be wrong with it may therefore be told by the execution; see
    /// [`Statement::is_outdated_by`](crate::Statement::is_outdated_by).
    pub fn recall(&self, sql: &str) -> Result<Statement> {
        Statement::recall(&self.shared, self, self.shared.sql(sql))
    }

    /// Runs a query.
    pub fn query(&self, sql: &str) -> Result<Cursor> {
        self.query_with(sql, Params::none())
    }

    /// [`query`](Self::query), in another dialect than the connection's own.
    pub fn query_in(&self, dialect: Dialect, sql: &str) -> Result<Cursor> {
        self.query_reading(Sql::new(sql, dialect), Params::none(), &self.shared.read, self.shared.limits)
    }

    /// Runs a query with one row of parameters.
    ///
    /// # Errors
    /// [`Kind::Changed`] when the same SQL was used on this connection before and gives other columns now. Rows have
    /// not been given out, but what the statement did (if it calls procedures that write) is part of the transaction.
    pub fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Cursor> {
        let sql = self.shared.sql(sql);
        self.query_reading(sql, parameters.into(), &self.shared.read, self.shared.limits)
    }

    /// [`query_with`](Self::query_with), read in another way than the connection's own.
    pub(crate) fn query_reading(
        &self,
        sql: Sql<'_>,
        parameters: Params,
        read: &ReadOptions,
        limits: BatchLimits,
    ) -> Result<Cursor> {
        let set = |statement: Statement| statement.with_read_options(read.clone()).with_limits(limits);
        let recalled = set(Statement::recall(&self.shared, self, sql)?);
        match recalled.query(self, parameters.clone()) {
            Err(error) if self.shall_prepare_anew(sql.text, &recalled, &error) => {
                drop(recalled);
                set(Statement::prepare(&self.shared, Some(self), sql)?).query(self, parameters)
            }
            result => result,
        }
    }

    /// Runs a statement without rows. COMMIT and ROLLBACK as SQL end this transaction.
    pub fn execute(&mut self, sql: &str) -> Result<Executed> {
        self.execute_with(sql, Params::none())
    }

    /// Runs a statement once for each row of parameters.
    pub fn execute_with(&mut self, sql: &str, parameters: impl Into<Params>) -> Result<Executed> {
        let parameters = parameters.into();
        // Many rows take many round trips, or fill one, anyway.
        if parameters.batch().is_some_and(|batch| batch.num_rows() != 1) {
            return self.prepare(sql)?.execute(self, parameters);
        }
        let recalled = self.recall(sql)?;
        match recalled.execute(self, parameters.clone()) {
            Err(error) if self.shall_prepare_anew(sql, &recalled, &error) => {
                drop(recalled);
                self.prepare(sql)?.execute(self, parameters)
            }
            result => result,
        }
    }

    /// What the failure of a recalled statement tells: it is forgotten when it has changed, and it can be tried once more
    /// as new SQL when it was refused on this side.
    pub(crate) fn shall_prepare_anew(&self, sql: &str, recalled: &Statement, error: &Error) -> bool {
        if error.kind() == Kind::Changed {
            self.shared.lock().forget(sql);
        }
        recalled.may_be_outdated(error)
    }

    /// Runs a statement with no more than one row of parameters and commits.
    pub(crate) fn execute_last(self, sql: &str, parameters: &Params) -> Result<Executed> {
        let recalled = self.recall(sql)?;
        if !recalled.can_commit_with_it() {
            drop(recalled);
            let mut transaction = self;
            let executed = transaction.execute_with(sql, parameters.clone())?;
            transaction.commit()?;
            return Ok(executed);
        }
        recalled
            .execute_and_commit(self, parameters)
            .map_err(|error| if recalled.may_be_outdated(&error) { Error::changed() } else { error })
    }

    /// Runs SQL without parameters or rows in one round trip, without preparing it first.
    pub fn execute_immediate(&mut self, sql: &str) -> Result<()> {
        let id = self.id()?;
        let sql = self.shared.sql(sql);
        let executed = self.shared.run(async |session| session.execute_immediate(id, sql).await);
        let executed = executed.map_err(|error| self.with_outcome(error))?;
        if executed.transaction_ended {
            self.ended();
        }
        Ok(())
    }

    /// The contents of BLOBs by their ids (option `blobs=lazy`), in the same order; NULL for NULL. Text is UTF-8.
    /// Hundreds travel in one round trip.
    pub fn read_blobs(&self, ids: &UInt64Array) -> Result<LargeBinaryArray> {
        let id = self.id()?;
        let max_blob = self.shared.read.max_blob;
        self.shared.run(async |session| session.read_blobs(id, ids, max_blob, None).await)
    }

    /// Opens a BLOB as a stream of bytes; for those that shall not be in memory as a whole.
    pub fn open_blob(&self, id: u64) -> Result<BlobReader<'_>> {
        BlobReader::open(&self.shared, self, id)
    }

    /// First phase of a two-phase commit: makes sure that the changes can be committed, whatever happens to this
    /// process, the connection or the server. From here on the transaction is *in limbo*: nothing is allowed but
    /// [`commit`](Self::commit), which cannot fail for reasons of data any more, or [`rollback`](Self::rollback).
    /// Until then others see the rows as locked.
    ///
    /// Dropping a transaction in limbo decides nothing, since the other databases may have committed. It stays in limbo
    /// and can be taken over once this connection has ended: see [`Connection::limbo_transactions`] and
    /// [`Connection::recover`]. Note its [`number`](Self::number) before.
    ///
    /// `message` is for whoever has to recover it; it is kept in `RDB$TRANSACTIONS` unless it is empty.
    ///
    /// # Errors
    /// The transaction goes on as before when the server refuses. When the connection fails it may be in limbo or rolled
    /// back.
    ///
    /// [`Connection::limbo_transactions`]: crate::Connection::limbo_transactions
    /// [`Connection::recover`]: crate::Connection::recover
    pub fn prepare_commit(&mut self, message: &[u8]) -> Result<()> {
        let id = self.id()?;
        self.shared.run(async |session| session.prepare_commit(id, message).await)?;
        self.prepared = true;
        Ok(())
    }

    /// Makes the changes permanent. When that fails the transaction is rolled back, unless it is in limbo.
    ///
    /// # Errors
    /// [`Kind::CommitUnknown`] when the connection was lost after the commit had been sent. The server is then asked on
    /// another connection, for some seconds at most, and [`Error::lost_commit`] has its answer. It is certain that
    /// the transaction was committed only if it has no undo log ([`TransactionOptions::no_auto_undo`]) or was in limbo.
    pub fn commit(mut self) -> Result<()> {
        self.finish(End::Commit)
    }

    /// Undoes the changes.
    pub fn rollback(mut self) -> Result<()> {
        self.finish(End::Rollback)
    }

    /// Makes the changes permanent and goes on with the same snapshot and open cursors.
    pub fn commit_retaining(&mut self) -> Result<()> {
        let id = self.id()?;
        self.end(id, End::CommitRetaining)
    }

    /// Undoes the changes and goes on.
    pub fn rollback_retaining(&mut self) -> Result<()> {
        let id = self.id()?;
        self.shared.release(async |session| session.end(id, End::RollbackRetaining).await)
    }

    /// The number of the transaction in the database.
    pub fn number(&self) -> Result<u64> {
        self.info(INFO_ID)?
            .ok_or_else(|| Error::new(Kind::Unsupported, "the engine gives no transaction number"))
    }

    /// The number of the transaction's snapshot, which another one can read
    /// ([`TransactionOptions::at_snapshot`]) as long as this one is active.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] before Firebird 4.
    pub fn snapshot_number(&self) -> Result<u64> {
        let number = self.info(INFO_SNAPSHOT_NUMBER)?;
        number.ok_or_else(|| Error::new(Kind::Unsupported, "snapshot numbers need Firebird 4 or newer"))
    }

    /// Whether it has inserted, updated, deleted or locked a row, as the monitoring tables tell.
    pub fn has_changes(&self) -> Result<bool> {
        const SQL: &str = "SELECT FIRST 1 1 FROM MON$TRANSACTIONS T \
            JOIN MON$RECORD_STATS S ON S.MON$STAT_ID = T.MON$STAT_ID WHERE \
            T.MON$TRANSACTION_ID = CAST(? AS TYPE OF COLUMN MON$TRANSACTIONS.MON$TRANSACTION_ID) \
            AND S.MON$RECORD_INSERTS + S.MON$RECORD_UPDATES + S.MON$RECORD_DELETES + S.MON$RECORD_LOCKS > 0";
        let number: ArrayRef = Arc::new(UInt64Array::from(vec![self.number()?]));
        let (read, limits) = (ReadOptions::default(), BatchLimits::default());
        // A transaction sees the monitoring tables as they were when it looked first.
        let observer = Self::begin_late(&self.shared, TransactionOptions::read_only())?;
        let mut found = observer.query_reading(SQL.into(), Params::row([number]), &read, limits)?;
        Ok(found.next_batch()?.is_some_and(|row| row.num_rows() > 0))
    }

    fn info(&self, item: u8) -> Result<Option<u64>> {
        let id = self.id_even_in_limbo()?;
        let data = self.shared.run(async |session| session.backend.transaction_info(id, &[item]).await)?;
        let value = InfoReader::new(&data).find(|each| each.code == item).and_then(|each| each.integer());
        Ok(value.map(|value| value as u64))
    }

    fn finish(&mut self, end: End) -> Result<()> {
        let id = self.id_even_in_limbo()?;
        self.end(id, end)?;
        self.open = false;
        Ok(())
    }

    fn end(&self, id: TransactionId, end: End) -> Result<()> {
        let ended = match end.commits() {
            true => self.shared.run(async |session| session.end(id, end).await),
            // Whatever has been cancelled is undone.
            false => self.shared.release(async |session| session.end(id, end).await),
        };
        ended.map_err(|error| self.with_outcome(error))
    }

    /// Asks the server what became of the commit, if `error` says that its answer was lost.
    pub(crate) fn with_outcome(&self, error: Error) -> Error {
        match error.kind() {
            Kind::CommitUnknown => {
                let was_encrypted = self.shared.lock().backend.wire_stats().encrypted;
                lost_commit::resolve(
                    error,
                    &self.shared.config,
                    was_encrypted,
                    self.prepared || !self.has_undo,
                )
            }
            _ => error,
        }
    }

    /// The engine has ended the transaction itself.
    pub(crate) fn ended(&mut self) {
        self.open = false;
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let result = match self.prepared {
            true => self.shared.release(async |session| session.backend.leave(self.id).await),
            false => self.finish(End::Rollback),
        };
        if let Err(error) = result {
            tracing::debug!(%error, "rolling back, or leaving in limbo, failed");
        }
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("id", &self.id)
            .field("open", &self.open)
            .field("prepared", &self.prepared)
            .finish_non_exhaustive()
    }
}
