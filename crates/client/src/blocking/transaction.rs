//! Transactions.

use super::shared::{BlockingSession, Shared};
use super::{BlobReader, BlobWriter, Cursor, ScrollCursor, Statement};
use crate::backend::{End, Sql, TransactionId};
use crate::error::Result;
use crate::executed::Executed;
use crate::params::Params;
use crate::savepoint::Savepoint;
use crate::session::run::How;
use arrow::array::{LargeBinaryArray, UInt64Array};
use firearrow_proto::api::dialect::Dialect;
use std::fmt;
use std::sync::Arc;

/// A transaction. It is rolled back when it is dropped without having been committed; in limbo, that is after
/// [`prepare_commit`](Self::prepare_commit), it stays there.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: TransactionId,
    has_ended: bool,
}

impl Transaction {
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        begin: impl AsyncFnOnce(&mut BlockingSession) -> Result<TransactionId>,
    ) -> Result<Self> {
        Ok(Self::of(shared, shared.run(begin)?))
    }

    pub(crate) fn of(shared: &Arc<Shared>, id: TransactionId) -> Self {
        Self { shared: Arc::clone(shared), id, has_ended: false }
    }

    /// A cursor owns it from here on.
    pub(crate) fn into_id(mut self) -> TransactionId {
        self.has_ended = true;
        self.id
    }

    /// Prepares a statement.
    pub fn prepare(&self, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, Some(self.id), self.shared.facts.sql(sql))
    }

    /// Like [`prepare`](Self::prepare), in a dialect other than the connection's.
    pub fn prepare_in(&self, dialect: Dialect, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, Some(self.id), Sql::new(sql, dialect))
    }

    /// Prepares a statement for immediate execution: SQL that this connection knows is sent with its first execution.
    /// Errors in it may therefore be reported only when it is executed; see
    /// [`Statement::is_outdated_by`](crate::Statement::is_outdated_by).
    pub fn recall(&self, sql: &str) -> Result<Statement> {
        Statement::recall(&self.shared, self.id, self.shared.facts.sql(sql))
    }

    /// Runs a query.
    pub fn query(&self, sql: &str) -> Result<Cursor> {
        self.query_with(sql, Params::none())
    }

    /// Like [`query`](Self::query), in a dialect other than the connection's.
    pub fn query_in(&self, dialect: Dialect, sql: &str) -> Result<Cursor> {
        self.query_as(Sql::new(sql, dialect), &Params::none(), &self.shared.facts.how())
    }

    /// Runs a query with one parameter row.
    ///
    /// # Errors
    /// [`Kind::Changed`](crate::Kind::Changed) when the same SQL was used on this connection before and gives other columns now. Rows have
    /// not been given out, but what the statement did (if it calls procedures that write) is part of the transaction.
    pub fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Cursor> {
        self.query_as(self.shared.facts.sql(sql), &parameters.into(), &self.shared.facts.how())
    }

    fn query_as(&self, sql: Sql<'_>, parameters: &Params, how: &How) -> Result<Cursor> {
        Cursor::open(&self.shared, async |session| session.query(sql, self.id, parameters, how).await)
    }

    /// Runs a query whose rows can be fetched in any order; see [`Statement::query_scrollable`].
    pub fn query_scrollable(&self, sql: &str) -> Result<ScrollCursor> {
        let facts = &self.shared.facts;
        ScrollCursor::open(&self.shared, async |session| {
            session.scroll_sql(facts.sql(sql), self.id, &facts.how()).await
        })
    }

    /// Runs a statement without rows. COMMIT and ROLLBACK as SQL end this transaction.
    pub fn execute(&mut self, sql: &str) -> Result<Executed> {
        self.execute_with(sql, Params::none())
    }

    /// Runs a statement once for each parameter row.
    pub fn execute_with(&mut self, sql: &str, parameters: impl Into<Params>) -> Result<Executed> {
        let (facts, parameters) = (&self.shared.facts, parameters.into());
        let executed = self.shared.run(async |session| {
            session.execute_sql(facts.sql(sql), self.id, &parameters, &facts.how()).await
        });
        Ok(executed?.into())
    }

    /// Runs SQL without parameters or rows in one round trip, without preparing it first.
    pub fn execute_immediate(&mut self, sql: &str) -> Result<()> {
        let sql = self.shared.facts.sql(sql);
        self.shared.run(async |session| session.execute_immediate(self.id, sql).await).map(drop)
    }

    /// Returns the contents of BLOBs by their ids (option `blobs=lazy`), in the same order; NULL for NULL. Text is
    /// UTF-8. One round trip fetches hundreds.
    pub fn read_blobs(&self, ids: &UInt64Array) -> Result<LargeBinaryArray> {
        let max_blob = self.shared.facts.read.max_blob;
        self.shared.run(async |session| session.read_blobs(self.id, ids, max_blob, None).await)
    }

    /// Opens a BLOB as a stream of bytes; for BLOBs too large to hold in memory.
    pub fn open_blob(&self, id: u64) -> Result<BlobReader> {
        BlobReader::open(&self.shared, self.id, id)
    }

    /// Creates a BLOB that is written in pieces; for BLOBs too large to hold in memory. Its id goes into a row as a
    /// parameter of type `u64` (UInt64): see [`BlobWriter::finish`].
    pub fn create_blob(&self) -> Result<BlobWriter> {
        BlobWriter::create(&self.shared, self.id)
    }

    /// First phase of a two-phase commit: makes sure that the changes can be committed, whatever happens to this
    /// process, the connection or the server. From here on the transaction is *in limbo*: nothing is allowed but
    /// [`commit`](Self::commit), which can no longer fail because of data, or [`rollback`](Self::rollback). Until then
    /// others see the rows as locked.
    ///
    /// Dropping a transaction in limbo decides nothing, since the other databases may have committed. It stays in limbo
    /// and can be taken over once this connection has ended: see [`Connection::limbo_transactions`] and
    /// [`Connection::recover`]. Note its [`number`](Self::number) first.
    ///
    /// `message` is for whoever has to recover it; it is kept in `RDB$TRANSACTIONS` unless it is empty.
    ///
    /// # Errors
    /// If the server refuses, the transaction continues as before. If the connection fails, it may be in limbo or
    /// rolled back.
    ///
    /// [`Connection::limbo_transactions`]: crate::Connection::limbo_transactions
    /// [`Connection::recover`]: crate::Connection::recover
    pub fn prepare_commit(&mut self, message: &[u8]) -> Result<()> {
        self.shared.run(async |session| session.prepare_commit(self.id, message).await)
    }

    /// Makes the changes permanent. When that fails the transaction is rolled back, unless it is in limbo.
    ///
    /// # Errors
    /// [`Kind::CommitUnknown`](crate::Kind::CommitUnknown) when the connection was lost after the commit had been sent. The server is then asked on
    /// another connection, for some seconds at most, and [`Error::lost_commit`](crate::Error::lost_commit) has its answer. It is certain that
    /// the transaction was committed only if it has no undo log ([`TransactionOptions::no_auto_undo`](crate::TransactionOptions::no_auto_undo)) or was in limbo.
    pub fn commit(mut self) -> Result<()> {
        self.try_commit()
    }

    /// Like [`commit`](Self::commit), but after an error the caller decides when to drop the transaction: until its rollback has
    /// had its turn, that waits.
    pub fn try_commit(&mut self) -> Result<()> {
        self.shared.run(async |session| session.end(self.id, End::Commit).await)?;
        self.has_ended = true;
        Ok(())
    }

    /// Undoes the changes.
    pub fn rollback(mut self) -> Result<()> {
        self.shared.release(async |session| session.end(self.id, End::Rollback).await)?;
        self.has_ended = true;
        Ok(())
    }

    /// Like [`rollback`](Self::rollback), but [`CancelToken`](crate::CancelToken)s reach it. If it is cancelled before its turn, the
    /// transaction goes on. A server that does not answer has two seconds; then the connection is closed, which undoes the changes,
    /// too.
    pub fn try_rollback(&mut self) -> Result<()> {
        self.shared.run(async |session| session.end(self.id, End::Rollback).await)?;
        self.has_ended = true;
        Ok(())
    }

    /// Makes the changes permanent and continues with the same snapshot and open cursors.
    pub fn commit_retaining(&mut self) -> Result<()> {
        self.shared.run(async |session| session.end(self.id, End::CommitRetaining).await)
    }

    /// Undoes the changes and continues.
    pub fn rollback_retaining(&mut self) -> Result<()> {
        self.shared.release(async |session| session.end(self.id, End::RollbackRetaining).await)
    }

    /// Returns the number of the transaction in the database.
    pub fn number(&self) -> Result<u64> {
        self.shared.run(async |session| session.number(self.id).await)
    }

    /// The number of the transaction's snapshot, which another one can read
    /// ([`TransactionOptions::at_snapshot`](crate::TransactionOptions::at_snapshot)) as long as this one is active.
    ///
    /// # Errors
    /// [`Kind::Unsupported`](crate::Kind::Unsupported) before Firebird 4.
    pub fn snapshot_number(&self) -> Result<u64> {
        self.shared.run(async |session| session.snapshot_number(self.id).await)
    }

    /// Whether it has inserted, updated, deleted or locked a row, according to the monitoring tables.
    pub fn has_changes(&self) -> Result<bool> {
        self.shared.run(async |session| session.has_changes(self.id).await)
    }
}

/// Savepoints, parts of a transaction that can be undone. Each call takes one round trip. Names are used exactly as
/// passed, with their case and any characters; Firebird 3.0 accepts 31 bytes, later releases 63 characters.
impl Transaction {
    /// Sets a savepoint: [`rollback_to_savepoint`](Self::rollback_to_savepoint) undoes what comes after it. An earlier
    /// one with the same name is then gone.
    pub fn savepoint(&mut self, name: &str) -> Result<()> {
        self.shared.run(async |session| session.savepoint(self.id, Savepoint::Set, name).await)
    }

    /// Undoes everything since the savepoint with this name, which stays; those set after it are gone.
    ///
    /// # Errors
    /// There is no savepoint with this name; nothing is undone then.
    pub fn rollback_to_savepoint(&mut self, name: &str) -> Result<()> {
        self.shared.run(async |session| session.savepoint(self.id, Savepoint::RollBack, name).await)
    }

    /// Releases the savepoint with this name and those set after it. Nothing is undone; rolling back to them is no
    /// longer possible.
    ///
    /// # Errors
    /// There is no savepoint with this name.
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        self.shared.run(async |session| session.savepoint(self.id, Savepoint::Release, name).await)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.has_ended {
            let id = self.id;
            self.shared.discard("rolling back", async |session| session.abandon(id).await);
        }
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("id", &self.id).finish_non_exhaustive()
    }
}
