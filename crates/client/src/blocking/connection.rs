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

    /// Returns what should be known about this connection although it works: that it is not encrypted, and what the
    /// server warned of. Front ends hand it on to their users.
    pub fn warnings(&self) -> &[Warning] {
        &self.shared.warnings
    }

    /// How SQL text is meant.
    pub fn dialect(&self) -> Dialect {
        self.shared.facts.dialect
    }

    /// How results are read from here on.
    pub fn read_options(&self) -> &ReadOptions {
        &self.shared.facts.read
    }

    /// Starts a transaction. Dropping it rolls it back.
    pub fn begin(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin(&self.shared, async |session| session.begin(&options).await)
    }

    /// Starts a transaction together with its first statement, which saves a round trip. What has been committed by then
    /// is visible to it, and errors of the options are reported then. In-process it starts at once.
    pub fn begin_lazy(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin(&self.shared, async |session| session.begin_deferred(&options).await)
    }

    /// Prepares a statement that can be run in any transaction of this connection.
    pub fn prepare(&self, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, None, self.shared.facts.sql(sql))
    }

    /// [`prepare`](Self::prepare), in another dialect than the connection's own.
    pub fn prepare_in(&self, dialect: Dialect, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, None, Sql::new(sql, dialect))
    }

    /// Runs a query in a transaction of its own, which is committed when the cursor is closed at its end and rolled
    /// back when it is dropped before.
    pub fn query(&self, sql: &str) -> Result<Cursor> {
        self.query_with(sql, Params::none())
    }

    /// [`query`](Self::query) with parameters.
    pub fn query_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Cursor> {
        let (facts, parameters) = (&self.shared.facts, parameters.into());
        Cursor::open(&self.shared, async |session| {
            session.query_alone(facts.sql(sql), parameters.batch(), &facts.how()).await
        })
    }

    /// Runs a statement without rows in a transaction of its own, and commits it.
    pub fn execute(&self, sql: &str) -> Result<Executed> {
        self.execute_with(sql, Params::none())
    }

    /// [`execute`](Self::execute), once for each row of parameters; all of them or none are committed.
    pub fn execute_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Executed> {
        let (facts, parameters) = (&self.shared.facts, parameters.into());
        let executed = self.shared.run(async |session| {
            session.execute_alone(facts.sql(sql), parameters.batch(), &facts.how()).await
        });
        Ok(executed?.into())
    }

    /// What is known about the server, the database and the way to them.
    pub fn info(&self) -> Result<ServerInfo> {
        self.shared.run(async |session| session.server_info().await)
    }

    /// Whether the engine is of Firebird 4 or later, as far as that is known without asking: a connection that was limited
    /// to older protocols is taken for one to an older server.
    pub fn has_firebird4(&self) -> bool {
        self.shared.lock().backend.is_firebird4()
    }

    /// Limits every statement of this session, and how long the session may be idle before the server closes it; zero is no
    /// limit, `None` leaves a limit as it is.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] before Firebird 4.
    pub fn limit_session(&self, statement: Option<Duration>, idle: Option<Duration>) -> Result<()> {
        self.shared.run(async |session| session.limit(statement, idle).await)
    }

    /// Checks that the server answers.
    pub fn ping(&self) -> Result<()> {
        self.shared.run(async |session| session.backend.ping().await)
    }

    /// Rolls back every open transaction of this connection, and sets the session back to what it was when it was opened
    /// (`ALTER SESSION RESET`: context variables, session settings, time limits, role, rows of global temporary tables);
    /// Firebird 3.0 does only the former. For connections that go back to a pool. One round trip.
    ///
    /// Transactions that are still in somebody's hands have ended then ([`Kind::Misuse`]); those in limbo stay. Statements
    /// stay prepared.
    ///
    /// # Errors
    /// After one, close the connection: nothing is known about its state.
    pub fn reset(&self) -> Result<()> {
        self.shared.run(async |session| session.reset().await)
    }

    /// Whether the connection seems to be of use, without a question to the server: whether the socket is still open, as far
    /// as this machine has been told. A server that has vanished without a word is found out by [`ping`](Self::ping) only.
    /// Waits while other threads use the connection.
    pub fn is_alive(&self) -> bool {
        self.shared.lock().backend.is_alive()
    }

    /// What the connection cost so far, from its first packet on. All zero for an engine in this process.
    ///
    /// Differences tell what a part of the work costs: [`WireStats::since`]. See also [`Statement::wire_stats`],
    /// [`Cursor::wire_stats`] and [`budget`](Self::budget).
    pub fn wire_stats(&self) -> WireStats {
        self.shared.wire_stats()
    }

    /// What interrupts calls of this connection from other threads.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.shared.cancel_handle()
    }

    /// Whether the connection is beyond use; every further call would fail.
    pub fn is_failed(&self) -> bool {
        self.shared.is_failed()
    }

    /// Rolls back what is open and leaves the database.
    ///
    /// # Errors
    /// [`Kind::Misuse`] while transactions, statements or cursors of the connection are alive.
    pub fn close(self) -> Result<()> {
        self.alone()?.release(async |session| session.close().await)
    }

    /// Deletes the database, which nobody else may be attached to.
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

    /// The options with the declared precisions of these columns, if they want any. A table is looked up once, and anew
    /// when this connection may have altered it. Nothing else does that: see the option `decimal_precision`.
    pub fn declared(&self, columns: &[Descriptor], options: &ReadOptions) -> Result<ReadOptions> {
        self.shared.run(async |session| session.declared(columns, options).await)
    }

    /// The state of the database, in one round trip. Counting pages makes the server write its cache to the disk.
    pub fn statistics(&self) -> Result<DatabaseStatistics> {
        self.shared.run(async |session| session.statistics().await)
    }

    /// What the engine has done so far, in one round trip; more only when this connection has worked on more than a
    /// thousand tables.
    pub fn counters(&self) -> Result<Counters> {
        self.shared.run(async |session| session.counters().await)
    }

    /// Divides a query, which may have one row of parameters, and begins the snapshot that its parts will read.
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

    /// [`partition`](Self::partition), with other options than the connection's for reading. Declared precisions are
    /// looked up if they want any.
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

    /// The numbers of the transactions in limbo that are abandoned, in ascending order; see
    /// [`Transaction::prepare_commit`]. What they are about is in `RDB$TRANSACTIONS`. One round trip.
    ///
    /// Those that a connection still holds, this or another one, are not among them: they are about to be decided. Firebird
    /// 3.0 waits for the decision of others; the read timeout ends that, as a [cancel handle](Self::cancel_handle) does. A
    /// server tells 64 KB of numbers, those of more than 5,000 transactions; ask again after recovering these.
    pub fn limbo_transactions(&self) -> Result<Vec<u64>> {
        self.shared.run(async |session| session.limbo_numbers().await)
    }

    /// Takes over a transaction in limbo, to commit it or roll it back; dropping it leaves it in limbo. One round
    /// trip for a number of the last [list](Self::limbo_transactions), else two. Of two who take it over, only one may end
    /// it.
    ///
    /// # Errors
    /// [`Kind::Misuse`] when a connection still holds it, be it this one. `isc_no_recon` when no transaction of this
    /// number is in limbo; the message tells its state.
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
