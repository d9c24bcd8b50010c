//! The connection.

use super::shared::Shared;
use super::{Catalog, Cursor, PartitionedQuery, Statement, Transaction, flow};
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::Backend;
use crate::cancel::CancelHandle;
use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::executed::Executed;
use crate::info::ServerInfo;
use crate::params::Params;
use crate::partition::{Partition, PartitionOptions};
use crate::statistics::{Counters, DatabaseStatistics};
use crate::stats::WireStats;
use crate::warning::Warning;
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::transaction::TransactionOptions;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A connection to a database. Transactions, statements and cursors keep it alive; it detaches when the last of them
/// is gone. It may be shared between tasks: calls take turns. Clones are the same connection.
#[derive(Clone)]
pub struct Connection {
    pub(crate) shared: Arc<Shared>,
}

impl Connection {
    /// Attaches to the database of a connection string; see [`Config::parse`] for its forms.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::open(&Config::parse(url)?).await
    }

    /// Attaches to a database.
    pub async fn open(config: &Config) -> Result<Self> {
        Ok(Self { shared: Shared::open(config, false).await? })
    }

    /// Creates a database and attaches to it. An existing database is an error.
    pub async fn create(config: &Config) -> Result<Self> {
        Ok(Self { shared: Shared::open(config, true).await? })
    }

    /// Returns warnings about this connection: that it is not encrypted, and any that came when it attached. Front ends
    /// pass them on to their users.
    pub fn warnings(&self) -> &[Warning] {
        &self.shared.noted.warnings
    }

    /// Returns and clears the warnings that statements have caused since the last call. The most recent 100 (at most
    /// 256 KiB) are kept; [`Warning::Dropped`] counts the others. Never blocks. Warnings of a call that failed are in
    /// the status of its error.
    pub fn take_statement_warnings(&self) -> Vec<Warning> {
        self.shared.noted.statement_warnings.take()
    }

    /// Returns the SQL dialect.
    pub fn dialect(&self) -> Dialect {
        self.shared.facts.dialect
    }

    /// Returns the connection's default read options.
    pub fn read_options(&self) -> &ReadOptions {
        &self.shared.facts.read
    }

    /// Starts a transaction. Dropping it rolls it back. By default (`Default::default()`) it reads a SNAPSHOT, may write,
    /// and waits for locks without a limit; see [`LockResolution`](crate::LockResolution).
    pub async fn begin(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin(&self.shared, flow!(session => session.begin(&options).await)).await
    }

    /// Starts a transaction together with its first statement, which saves a round trip. What has been committed by
    /// then is visible to it, and errors of the options are reported then. In-process it starts immediately.
    pub async fn begin_lazy(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin(&self.shared, flow!(session => session.begin_deferred(&options).await)).await
    }

    /// Prepares a statement that can be run in any transaction of this connection.
    pub async fn prepare(&self, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, None, self.dialect(), sql).await
    }

    /// Like [`prepare`](Self::prepare), in a dialect other than the connection's.
    pub async fn prepare_in(&self, dialect: Dialect, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, None, dialect, sql).await
    }

    /// Runs a query in a separate transaction, which is committed when the cursor reaches its end and rolled back when
    /// it is dropped earlier. That includes INSERT … RETURNING and EXECUTE PROCEDURE: read until `None`, or use
    /// [`one_row`](Cursor::one_row), [`value`](Cursor::value) or `close_and_commit`.
    pub async fn query(&self, sql: &str) -> Result<Cursor> {
        self.query_with(sql, Params::none()).await
    }

    /// Like [`query`](Self::query), with parameters.
    pub async fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Cursor> {
        let (facts, parameters) = (Arc::clone(&self.shared.facts), parameters.into());
        let sql = sql.to_owned();
        let open = flow!(session => session.query_alone(facts.sql(&sql), &parameters, &facts.how()).await);
        Cursor::open(&self.shared, None, open).await
    }

    /// Runs a statement without rows in a separate transaction, and commits it. A single row of output, as of EXECUTE
    /// PROCEDURE, is dropped.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for a query with a cursor.
    pub async fn execute(&self, sql: &str) -> Result<Executed> {
        self.execute_with(sql, Params::none()).await
    }

    /// Like [`execute`](Self::execute), once for each parameter row; all of them or none are committed.
    pub async fn execute_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Executed> {
        let (facts, parameters) = (Arc::clone(&self.shared.facts), parameters.into());
        let sql = sql.to_owned();
        let run = flow!(session => session.execute_alone(facts.sql(&sql), &parameters, &facts.how()).await);
        Ok(self.shared.run(run).await?.into())
    }

    /// Returns facts about the server, the database and the transport.
    pub async fn info(&self) -> Result<ServerInfo> {
        self.shared.run(flow!(session => session.server_info().await)).await
    }

    /// Whether the engine is of Firebird 4 or later, as far as that is known without a round trip: a connection limited
    /// to older protocols counts as one to an older server.
    pub fn has_firebird4(&self) -> bool {
        self.shared.noted.has_firebird4
    }

    /// Limits every statement of this session, and how long the session may be idle before the server closes it; zero is no
    /// limit, `None` leaves a limit as it is.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] before Firebird 4.
    pub async fn limit_session(&self, statement: Option<Duration>, idle: Option<Duration>) -> Result<()> {
        self.shared.run(flow!(session => session.limit(statement, idle).await)).await
    }

    /// Checks that the server responds.
    pub async fn ping(&self) -> Result<()> {
        self.shared.run(flow!(session => session.backend.ping().await)).await
    }

    /// Rolls back every open transaction of this connection, and restores the session's initial state (`ALTER SESSION
    /// RESET`: context variables, session settings, time limits, role, rows of global temporary tables); Firebird 3.0
    /// does only the former. Forgets warnings of statements. For connections that return to a pool. One round trip.
    ///
    /// Transactions that callers still hold have then ended ([`Kind::Misuse`]); those in limbo stay. Statements stay
    /// prepared.
    ///
    /// # Errors
    /// After one, close the connection: its state is unknown.
    pub async fn reset(&self) -> Result<()> {
        self.shared.run(flow!(session => session.reset().await)).await?;
        // Those of the last user do not concern the next one.
        drop(self.take_statement_warnings());
        Ok(())
    }

    /// Whether the connection seems usable, without a round trip: whether the socket is still open as far as this
    /// machine knows. Only [`ping`](Self::ping) detects a server that vanished without closing it. Never
    /// blocks: while another call uses the connection, the answer is whether an earlier call broke it.
    pub fn is_alive(&self) -> bool {
        self.shared.is_alive()
    }

    /// Returns what the connection has cost up to the end of its last call, from its first packet. All zero for an
    /// engine in this process.
    pub fn wire_stats(&self) -> WireStats {
        self.shared.noted.wire_stats()
    }

    /// Returns a handle that cancels the connection's running calls from any task or thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.shared.cancel_handle()
    }

    /// Whether the connection has failed; every further call returns an error.
    pub fn is_failed(&self) -> bool {
        self.shared.is_failed()
    }

    /// Prepares to leave: from here on, the server has a few seconds for everything that is still asked of it, as for
    /// [`close`](Self::close). Call it before dropping what belongs to the connection; afterwards only close it.
    pub async fn leave(&self) {
        let limit = flow!(session => {
            session.prepare_to_leave();
            Ok(())
        });
        // It only waits for its turn.
        drop(self.shared.release(limit).await);
    }

    /// Rolls back open transactions and detaches.
    ///
    /// # Errors
    /// [`Kind::Misuse`] while clones, transactions, statements or results of the connection are alive.
    pub async fn close(self) -> Result<()> {
        self.alone().await?.release(flow!(session => session.close().await)).await
    }

    /// Deletes the database. Nobody else may be attached to it.
    pub async fn drop_database(self) -> Result<()> {
        self.alone().await?.release(flow!(session => session.drop_database().await)).await
    }

    async fn alone(&self) -> Result<&Shared> {
        // The task of a dropped future drops what it has made a moment after it has given up its turn.
        for _ in 0..20 {
            if Arc::strong_count(&self.shared) == 1 {
                return Ok(&self.shared);
            }
            let _ = self.shared.release(flow!(_session => Ok(()))).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let text = "clones, transactions, statements or results of the connection are still alive";
        Err(Error::new(Kind::Misuse, text))
    }
}

/// The state of the database, its catalog, and what belongs to more than one connection.
impl Connection {
    /// The catalog of the database.
    pub async fn catalog(&self) -> Result<Catalog> {
        Catalog::open(&self.shared).await
    }

    /// Returns `options` with the declared precision of these columns, if `decimal_precision` requests it. Each table
    /// is looked up once, and again after this connection may have altered it. Nothing else does that: see the option
    /// `decimal_precision`.
    pub async fn declared(&self, columns: &[Descriptor], options: &ReadOptions) -> Result<ReadOptions> {
        let (columns, options) = (columns.to_vec(), options.clone());
        self.shared.run(flow!(session => session.declared(&columns, &options).await)).await
    }

    /// Returns the state of the database, in one round trip. Counting pages makes the server write its cache to disk.
    pub async fn statistics(&self) -> Result<DatabaseStatistics> {
        self.shared.run(flow!(session => session.statistics().await)).await
    }

    /// Returns what the engine has done so far, in one round trip; more only when this connection has worked on more
    /// than a thousand tables.
    pub async fn counters(&self) -> Result<Counters> {
        self.shared.run(flow!(session => session.counters().await)).await
    }

    /// Divides a query, which may have one parameter row, and begins the snapshot that its parts will read.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for statements without rows, and for several rows of parameters.
    pub async fn partition(
        &self,
        sql: &str,
        parameters: impl Into<Params>,
        options: &PartitionOptions,
    ) -> Result<PartitionedQuery> {
        self.partition_reading(sql, parameters, options, self.read_options()).await
    }

    /// Like [`partition`](Self::partition), with other read options than the connection's. Declared precisions are
    /// looked up if the options request them.
    pub async fn partition_reading(
        &self,
        sql: &str,
        parameters: impl Into<Params>,
        options: &PartitionOptions,
        read: &ReadOptions,
    ) -> Result<PartitionedQuery> {
        let (sql, parameters, options, read) =
            (sql.to_owned(), parameters.into(), options.clone(), read.clone());
        let divide = flow!(session => session.partition(&sql, parameters.batch(), &options, &read).await);
        PartitionedQuery::open(&self.shared, divide).await
    }

    /// Reads a part of a query that this or any other connection to the same database has divided.
    ///
    /// # Errors
    /// [`Kind::Configuration`] if it is a part of a query of another database. [`Kind::Misuse`] if the
    /// [`PartitionedQuery`] has gone, and its snapshot with it: another one is never read.
    pub async fn read_partition(&self, partition: &Partition, limits: BatchLimits) -> Result<Cursor> {
        let partition = partition.clone();
        Cursor::open(&self.shared, None, flow!(session => session.open_partition(&partition, limits).await))
            .await
    }

    /// Returns the numbers of the abandoned transactions in limbo, in ascending order; see
    /// [`Transaction::prepare_commit`]. `RDB$TRANSACTIONS` describes them. One round trip.
    ///
    /// Those that any connection still holds, including this one, are not among them: they are about to be decided.
    /// Firebird 3.0 waits for the decision of others; the read timeout ends that, as a [cancel
    /// handle](Self::cancel_handle) does. A server returns at most 64 KB of numbers (more than 5,000 transactions); ask
    /// again after recovering these.
    pub async fn limbo_transactions(&self) -> Result<Vec<u64>> {
        self.shared.run(flow!(session => session.limbo_numbers().await)).await
    }

    /// Takes over a transaction in limbo, to commit it or roll it back; dropping it leaves it in limbo. One round trip
    /// for a number of the last [list](Self::limbo_transactions), else two. If two connections take it over, only one
    /// may end it.
    ///
    /// # Errors
    /// [`Kind::Misuse`] while any connection, including this one, holds it. `isc_no_recon` when no transaction with
    /// this number is in limbo; the message states its state.
    pub async fn recover(&self, number: u64) -> Result<Transaction> {
        Transaction::begin(&self.shared, flow!(session => session.recover(number).await)).await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.shared.facts.config.redacted_url();
        f.debug_struct("Connection").field("database", &url).finish_non_exhaustive()
    }
}
