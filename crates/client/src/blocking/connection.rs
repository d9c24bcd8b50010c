//! The connection.

use super::shared::Shared;
use super::{Catalog, Cursor, PartitionedQuery, Statement, Transaction};
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::{Backend, Sql};
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
/// is gone. It may be shared between threads: calls take turns.
pub struct Connection {
    pub(crate) shared: Arc<Shared>,
}

impl Connection {
    /// Attaches to the database of a connection string; see [`Config::parse`] for its forms.
    pub fn connect(url: &str) -> Result<Self> {
        Self::open(&Config::parse(url)?)
    }

    /// Attaches to a database.
    pub fn open(config: &Config) -> Result<Self> {
        Ok(Self { shared: Shared::open(config, false)? })
    }

    /// Creates a database and attaches to it. An existing database is an error.
    pub fn create(config: &Config) -> Result<Self> {
        Ok(Self { shared: Shared::open(config, true)? })
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
    pub fn begin(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin(&self.shared, async |session| session.begin(&options).await)
    }

    /// Starts a transaction together with its first statement, which saves a round trip. What has been committed by
    /// then is visible to it, and errors of the options are reported then. In-process it starts immediately.
    pub fn begin_lazy(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin(&self.shared, async |session| session.begin_deferred(&options).await)
    }

    /// Prepares a statement that can be run in any transaction of this connection.
    pub fn prepare(&self, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, None, self.shared.facts.sql(sql))
    }

    /// Like [`prepare`](Self::prepare), in a dialect other than the connection's.
    pub fn prepare_in(&self, dialect: Dialect, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, None, Sql::new(sql, dialect))
    }

    /// Runs a query in a separate transaction, which is committed when the cursor reaches its end and rolled back when
    /// it is dropped earlier. That includes INSERT … RETURNING and EXECUTE PROCEDURE: read until `None`, or use
    /// [`one_row`](Cursor::one_row), [`value`](Cursor::value) or `close_and_commit`.
    pub fn query(&self, sql: &str) -> Result<Cursor> {
        self.query_with(sql, Params::none())
    }

    /// Like [`query`](Self::query), with parameters.
    pub fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Cursor> {
        let (facts, parameters) = (&self.shared.facts, parameters.into());
        Cursor::open(&self.shared, async |session| {
            session.query_alone(facts.sql(sql), &parameters, &facts.how()).await
        })
    }

    /// Runs a statement without rows in a separate transaction, and commits it. A single row of output, as of EXECUTE
    /// PROCEDURE, is dropped.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for a query with a cursor.
    pub fn execute(&self, sql: &str) -> Result<Executed> {
        self.execute_with(sql, Params::none())
    }

    /// Like [`execute`](Self::execute), once for each parameter row; all of them or none are committed.
    pub fn execute_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Executed> {
        let (facts, parameters) = (&self.shared.facts, parameters.into());
        let executed = self
            .shared
            .run(async |session| session.execute_alone(facts.sql(sql), &parameters, &facts.how()).await);
        Ok(executed?.into())
    }

    /// Returns facts about the server, the database and the transport.
    pub fn info(&self) -> Result<ServerInfo> {
        self.shared.run(async |session| session.server_info().await)
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
    pub fn limit_session(&self, statement: Option<Duration>, idle: Option<Duration>) -> Result<()> {
        self.shared.run(async |session| session.limit(statement, idle).await)
    }

    /// Checks that the server responds.
    pub fn ping(&self) -> Result<()> {
        self.shared.run(async |session| session.backend.ping().await)
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
    pub fn reset(&self) -> Result<()> {
        self.shared.run(async |session| session.reset().await)?;
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

    /// Returns what the connection has cost so far, from its first packet. All zero for an engine in this process.
    ///
    /// Differences show the cost of a part of the work: [`WireStats::since`]. See also [`Statement::wire_stats`],
    /// [`Cursor::wire_stats`] and [`testing::Budget`](crate::testing::Budget).
    pub fn wire_stats(&self) -> WireStats {
        self.shared.noted.wire_stats()
    }

    /// Returns a handle that cancels the connection's running calls from any thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.shared.cancel_handle()
    }

    /// Whether the connection has failed; every further call returns an error.
    pub fn is_failed(&self) -> bool {
        self.shared.is_failed()
    }

    /// Prepares to leave: from here on, the server has a few seconds for everything that is still asked of it, as for
    /// [`close`](Self::close). Call it before dropping what belongs to the connection; afterwards only close it.
    pub fn leave(&self) {
        let limit = self.shared.release(async |session| {
            session.prepare_to_leave();
            Ok(())
        });
        // It only waits for its turn.
        drop(limit);
    }

    /// Rolls back open transactions and detaches.
    ///
    /// # Errors
    /// [`Kind::Misuse`] while transactions, statements or results of the connection are alive: drop them first. Dropping the
    /// connection is enough, unless you want the error.
    pub fn close(self) -> Result<()> {
        self.alone()?.release(async |session| session.close().await)
    }

    /// Deletes the database. Nobody else may be attached to it.
    pub fn drop_database(self) -> Result<()> {
        self.alone()?.release(async |session| session.drop_database().await)
    }

    fn alone(&self) -> Result<&Shared> {
        if Arc::strong_count(&self.shared) > 1 {
            let text = "transactions, statements or cursors of the connection are still alive";
            return Err(Error::new(Kind::Misuse, text));
        }
        Ok(&self.shared)
    }
}

/// The state of the database, its catalog, and what belongs to more than one connection.
impl Connection {
    /// The catalog of the database.
    pub fn catalog(&self) -> Result<Catalog> {
        Catalog::open(&self.shared)
    }

    /// Returns `options` with the declared precision of these columns, if `decimal_precision` requests it. Each table
    /// is looked up once, and again after this connection may have altered it. Nothing else does that: see the option
    /// `decimal_precision`.
    pub fn declared(&self, columns: &[Descriptor], options: &ReadOptions) -> Result<ReadOptions> {
        self.shared.run(async |session| session.declared(columns, options).await)
    }

    /// Returns the state of the database, in one round trip. Counting pages makes the server write its cache to disk.
    pub fn statistics(&self) -> Result<DatabaseStatistics> {
        self.shared.run(async |session| session.statistics().await)
    }

    /// Returns what the engine has done so far, in one round trip; more only when this connection has worked on more
    /// than a thousand tables.
    pub fn counters(&self) -> Result<Counters> {
        self.shared.run(async |session| session.counters().await)
    }

    /// Divides a query, which may have one parameter row, and begins the snapshot that its parts will read.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for statements without rows, and for several rows of parameters.
    pub fn partition(
        &self,
        sql: &str,
        parameters: impl Into<Params>,
        options: &PartitionOptions,
    ) -> Result<PartitionedQuery> {
        self.partition_reading(sql, parameters, options, self.read_options())
    }

    /// Like [`partition`](Self::partition), with other read options than the connection's. Declared precisions are
    /// looked up if the options request them.
    pub fn partition_reading(
        &self,
        sql: &str,
        parameters: impl Into<Params>,
        options: &PartitionOptions,
        read: &ReadOptions,
    ) -> Result<PartitionedQuery> {
        let parameters = parameters.into();
        PartitionedQuery::open(&self.shared, async |session| {
            session.partition(sql, parameters.batch(), options, read).await
        })
    }

    /// Reads a part of a query that this or any other connection to the same database has divided.
    ///
    /// # Errors
    /// [`Kind::Configuration`] if it is a part of a query of another database. [`Kind::Misuse`] if the
    /// [`PartitionedQuery`] has gone, and its snapshot with it: another one is never read.
    pub fn read_partition(&self, partition: &Partition, limits: BatchLimits) -> Result<Cursor> {
        Cursor::open(&self.shared, async |session| session.open_partition(partition, limits).await)
    }

    /// Returns the numbers of the abandoned transactions in limbo, in ascending order; see
    /// [`Transaction::prepare_commit`]. `RDB$TRANSACTIONS` describes them. One round trip.
    ///
    /// Those that any connection still holds, including this one, are not among them: they are about to be decided.
    /// Firebird 3.0 waits for the decision of others; the read timeout ends that, as a [cancel
    /// handle](Self::cancel_handle) does. A server returns at most 64 KB of numbers (more than 5,000 transactions); ask
    /// again after recovering these.
    pub fn limbo_transactions(&self) -> Result<Vec<u64>> {
        self.shared.run(async |session| session.limbo_numbers().await)
    }

    /// Takes over a transaction in limbo, to commit it or roll it back; dropping it leaves it in limbo. One round trip
    /// for a number of the last [list](Self::limbo_transactions), else two. If two connections take it over, only one
    /// may end it.
    ///
    /// # Errors
    /// [`Kind::Misuse`] while any connection, including this one, holds it. `isc_no_recon` when no transaction with
    /// this number is in limbo; the message states its state.
    pub fn recover(&self, number: u64) -> Result<Transaction> {
        Transaction::begin(&self.shared, async |session| session.recover(number).await)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.shared.facts.config.redacted_url();
        f.debug_struct("Connection").field("database", &url).finish_non_exhaustive()
    }
}
