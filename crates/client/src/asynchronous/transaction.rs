//! Transactions.

use super::shared::{Shared, Work};
use super::{BlobReader, BlobWriter, Cursor, ScrollCursor, Statement, flow};
use crate::backend::{End, Sql, TransactionId};
use crate::error::Result;
use crate::executed::Executed;
use crate::params::Params;
use crate::savepoint::Savepoint;
use arrow::array::{LargeBinaryArray, UInt64Array};
use firearrow_proto::api::dialect::Dialect;
use std::fmt;
use std::sync::Arc;

/// A transaction. It is rolled back in the background when it is dropped without having been committed; in limbo, that is
/// after [`prepare_commit`](Self::prepare_commit), it stays there.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: TransactionId,
    has_ended: bool,
}

impl Transaction {
    pub(crate) async fn begin(shared: &Arc<Shared>, begin: Work<TransactionId>) -> Result<Self> {
        // Made in the task of the call: should nobody wait any more, it is rolled back there.
        let owner = Arc::clone(shared);
        shared.run(flow!(session => Ok(Self::of(&owner, begin(session).await?)))).await
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
    pub async fn prepare(&self, sql: &str) -> Result<Statement> {
        self.prepare_in(self.shared.facts.dialect, sql).await
    }

    /// Like [`prepare`](Self::prepare), in a dialect other than the connection's.
    pub async fn prepare_in(&self, dialect: Dialect, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, Some(self.id), dialect, sql).await
    }

    /// Prepares a statement for immediate execution: SQL that this connection knows is sent with its first execution.
    /// Errors in it may therefore be reported only when it is executed; see
    /// [`Statement::is_outdated_by`](super::Statement::is_outdated_by).
    pub async fn recall(&self, sql: &str) -> Result<Statement> {
        Statement::recall(&self.shared, self.id, sql).await
    }

    /// Runs a query.
    pub async fn query(&self, sql: &str) -> Result<Cursor> {
        self.query_with(sql, Params::none()).await
    }

    /// Like [`query`](Self::query), in a dialect other than the connection's.
    pub async fn query_in(&self, dialect: Dialect, sql: &str) -> Result<Cursor> {
        self.query_as(dialect, sql, Params::none()).await
    }

    /// Runs a query with one parameter row.
    ///
    /// # Errors
    /// [`Kind::Changed`](crate::Kind::Changed) when the same SQL was used on this connection before and gives other columns now. Rows have
    /// not been given out, but what the statement did (if it calls procedures that write) is part of the transaction.
    pub async fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Cursor> {
        self.query_as(self.shared.facts.dialect, sql, parameters.into()).await
    }

    async fn query_as(&self, dialect: Dialect, sql: &str, parameters: Params) -> Result<Cursor> {
        let (id, facts, sql) = (self.id, Arc::clone(&self.shared.facts), sql.to_owned());
        let open = flow!(session => {
            session.query(Sql::new(&sql, dialect), id, &parameters, &facts.how()).await
        });
        Cursor::open(&self.shared, None, open).await
    }

    /// Runs a query whose rows can be fetched in any order; see [`Statement::query_scrollable`].
    pub async fn query_scrollable(&self, sql: &str) -> Result<ScrollCursor> {
        let (id, facts, sql) = (self.id, Arc::clone(&self.shared.facts), sql.to_owned());
        let open = flow!(session => session.scroll_sql(facts.sql(&sql), id, &facts.how()).await);
        ScrollCursor::open(&self.shared, None, open).await
    }

    /// Runs a statement without rows. COMMIT and ROLLBACK as SQL end this transaction.
    pub async fn execute(&mut self, sql: &str) -> Result<Executed> {
        self.execute_with(sql, Params::none()).await
    }

    /// Runs a statement once for each parameter row.
    pub async fn execute_with(&mut self, sql: &str, parameters: impl Into<Params>) -> Result<Executed> {
        let (id, facts, parameters) = (self.id, Arc::clone(&self.shared.facts), parameters.into());
        let sql = sql.to_owned();
        let run = flow!(session => {
            session.execute_sql(facts.sql(&sql), id, &parameters, &facts.how()).await
        });
        Ok(self.shared.run(run).await?.into())
    }

    /// Runs SQL without parameters or rows in one round trip, without preparing it first.
    pub async fn execute_immediate(&mut self, sql: &str) -> Result<()> {
        let (id, facts, sql) = (self.id, Arc::clone(&self.shared.facts), sql.to_owned());
        self.shared
            .run(flow!(session => session.execute_immediate(id, facts.sql(&sql)).await))
            .await
            .map(drop)
    }

    /// Returns the contents of BLOBs by their ids (option `blobs=lazy`), in the same order; NULL for NULL. Text is
    /// UTF-8. One round trip fetches hundreds.
    pub async fn read_blobs(&self, ids: &UInt64Array) -> Result<LargeBinaryArray> {
        let (id, max_blob, ids) = (self.id, self.shared.facts.read.max_blob, ids.clone());
        self.shared.run(flow!(session => session.read_blobs(id, &ids, max_blob, None).await)).await
    }

    /// Opens a BLOB as a stream of bytes; for BLOBs too large to hold in memory.
    pub async fn open_blob(&self, id: u64) -> Result<BlobReader> {
        BlobReader::open(&self.shared, self.id, id).await
    }

    /// Creates a BLOB that is written in pieces; for BLOBs too large to hold in memory. Its id goes into a row as a
    /// parameter of type `u64` (UInt64): see [`BlobWriter::finish`].
    pub async fn create_blob(&self) -> Result<BlobWriter> {
        BlobWriter::create(&self.shared, self.id).await
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
    pub async fn prepare_commit(&mut self, message: &[u8]) -> Result<()> {
        let (id, message) = (self.id, message.to_vec());
        self.shared.run(flow!(session => session.prepare_commit(id, &message).await)).await
    }

    /// Makes the changes permanent. When that fails the transaction is rolled back, unless it is in limbo.
    ///
    /// # Errors
    /// [`Kind::CommitUnknown`](crate::Kind::CommitUnknown) when the connection was lost after the commit had been sent. The server is then asked on
    /// another connection, for some seconds at most, and [`Error::lost_commit`](crate::Error::lost_commit) has its answer. It is certain that
    /// the transaction was committed only if it has no undo log ([`TransactionOptions::no_auto_undo`](crate::TransactionOptions::no_auto_undo)) or was in limbo.
    pub async fn commit(mut self) -> Result<()> {
        let id = self.id;
        self.shared.run(flow!(session => session.end(id, End::Commit).await)).await?;
        self.has_ended = true;
        Ok(())
    }

    /// Undoes the changes.
    pub async fn rollback(mut self) -> Result<()> {
        let id = self.id;
        self.shared.release(flow!(session => session.end(id, End::Rollback).await)).await?;
        self.has_ended = true;
        Ok(())
    }

    /// Makes the changes permanent and continues with the same snapshot and open cursors.
    pub async fn commit_retaining(&mut self) -> Result<()> {
        let id = self.id;
        self.shared.run(flow!(session => session.end(id, End::CommitRetaining).await)).await
    }

    /// Undoes the changes and continues.
    pub async fn rollback_retaining(&mut self) -> Result<()> {
        let id = self.id;
        self.shared.release(flow!(session => session.end(id, End::RollbackRetaining).await)).await
    }

    /// Returns the number of the transaction in the database.
    pub async fn number(&self) -> Result<u64> {
        let id = self.id;
        self.shared.run(flow!(session => session.number(id).await)).await
    }

    /// The number of the transaction's snapshot, which another one can read
    /// ([`TransactionOptions::at_snapshot`](crate::TransactionOptions::at_snapshot)) as long as this one is active.
    ///
    /// # Errors
    /// [`Kind::Unsupported`](crate::Kind::Unsupported) before Firebird 4.
    pub async fn snapshot_number(&self) -> Result<u64> {
        let id = self.id;
        self.shared.run(flow!(session => session.snapshot_number(id).await)).await
    }

    /// Whether it has inserted, updated, deleted or locked a row, according to the monitoring tables.
    pub async fn has_changes(&self) -> Result<bool> {
        let id = self.id;
        self.shared.run(flow!(session => session.has_changes(id).await)).await
    }
}

/// Savepoints, parts of a transaction that can be undone. Each call takes one round trip. Names are used exactly as
/// passed, with their case and any characters; Firebird 3.0 accepts 31 bytes, later releases 63 characters.
impl Transaction {
    /// Sets a savepoint: [`rollback_to_savepoint`](Self::rollback_to_savepoint) undoes what comes after it. An earlier
    /// one with the same name is then gone.
    pub async fn savepoint(&mut self, name: &str) -> Result<()> {
        self.control(Savepoint::Set, name).await
    }

    /// Undoes everything since the savepoint with this name, which stays; those set after it are gone.
    ///
    /// # Errors
    /// There is no savepoint with this name; nothing is undone then.
    pub async fn rollback_to_savepoint(&mut self, name: &str) -> Result<()> {
        self.control(Savepoint::RollBack, name).await
    }

    /// Releases the savepoint with this name and those set after it. Nothing is undone; rolling back to them is no
    /// longer possible.
    ///
    /// # Errors
    /// There is no savepoint with this name.
    pub async fn release_savepoint(&mut self, name: &str) -> Result<()> {
        self.control(Savepoint::Release, name).await
    }

    async fn control(&mut self, what: Savepoint, name: &str) -> Result<()> {
        let (id, name) = (self.id, name.to_owned());
        self.shared.run(flow!(session => session.savepoint(id, what, &name).await)).await
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.has_ended {
            let id = self.id;
            self.shared.discard(flow!(session => session.abandon(id).await));
        }
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("id", &self.id).finish_non_exhaustive()
    }
}
