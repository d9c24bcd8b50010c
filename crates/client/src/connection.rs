//! The blocking connection.

use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::{AnyBackend, Backend, Sql};
use crate::cancel::{CancelHandle, Entry, Operation, Underway};
use crate::config::{Config, Target};
use crate::cursor::Cursor;
use crate::db_key::KeyHolder;
use crate::error::{Error, Kind, Result};
use crate::info::ServerInfo;
use crate::params::Params;
use crate::session::{Session, ready};
use crate::statement::{Executed, Statement};
use crate::stats::WireStats;
use crate::transaction::Transaction;
use crate::turn::{Turn, Turns};
use crate::warning::Warning;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::transaction::TransactionOptions;
use std::fmt;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// A connection to a database. Transactions, statements and cursors keep it alive; it detaches when the last of them
/// is gone. It may be shared between threads: calls take turns.
pub struct Connection {
    pub(crate) shared: Arc<Shared>,
}

/// What a connection and everything made from it have in common.
pub(crate) struct Shared {
    /// Apart from the rest, so that the thread that keeps the connection alive does not count as a user of it.
    session: Arc<Turns<Session<AnyBackend>>>,
    underway: Underway,
    pub(crate) read: ReadOptions,
    pub(crate) limits: BatchLimits,
    pub(crate) connect_timeout: Duration,
    pub(crate) dialect: Dialect,
    warnings: Vec<Warning>,
    /// For another connection to the same database.
    pub(crate) config: Config,
    label: String,
}

impl Connection {
    /// Attaches to the database of a connection string; see [`Config::parse`] for its forms.
    pub fn connect(url: &str) -> Result<Self> {
        Self::open(&Config::parse(url)?)
    }

    /// Attaches to a database.
    pub fn open(config: &Config) -> Result<Self> {
        Self::start(config, false)
    }

    /// Creates a database and attaches to it. An existing database is an error.
    pub fn create(config: &Config) -> Result<Self> {
        Self::start(config, true)
    }

    fn start(config: &Config, create: bool) -> Result<Self> {
        // Fields may have changed since it was parsed.
        config.check()?;
        let mut read = ReadOptions::default();
        for (name, value) in &config.read {
            read.set(name, value).map_err(|error| Error::new(Kind::Configuration, error.to_string()))?;
        }
        let mut key = KeyHolder::new(config);
        let backend = match ready(AnyBackend::attach(config, create, &mut key)) {
            Err(error) if config.create_if_missing && !create && error.kind() == Kind::Database => {
                ready(AnyBackend::attach(config, true, &mut key))?
            }
            result => result?,
        };
        let warnings = backend.warnings();
        warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let shared = Arc::new(Shared {
            session: Arc::new(Turns::new(Session::new(backend))),
            underway: Underway::default(),
            read,
            limits: BatchLimits::default(),
            connect_timeout: config.connect_timeout,
            dialect: config.dialect,
            warnings,
            config: config.clone(),
            label: config.redacted_url(),
        });
        if let (Some(interval), Target::Remote { .. }) = (config.keepalive, &config.target) {
            keep_alive(Arc::downgrade(&shared.session), interval)?;
        }
        Ok(Self { shared })
    }

    /// Returns what should be known about this connection although it works: that it is not encrypted, and what the
    /// server warned of. Front ends hand it on to their users.
    pub fn warnings(&self) -> &[Warning] {
        &self.shared.warnings
    }

    /// How SQL text is meant.
    pub fn dialect(&self) -> Dialect {
        self.shared.dialect
    }

    /// How results are read from here on.
    pub fn read_options(&self) -> &ReadOptions {
        &self.shared.read
    }

    /// Starts a transaction. Dropping it rolls it back.
    pub fn begin(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin(&self.shared, options)
    }

    /// Starts a transaction together with its first statement, which saves a round trip. What has been committed by then
    /// is visible to it, and errors of the options are reported then. In-process it starts at once.
    pub fn begin_lazy(&self, options: TransactionOptions) -> Result<Transaction> {
        Transaction::begin_late(&self.shared, options)
    }

    /// Prepares a statement that can be run in any transaction of this connection.
    pub fn prepare(&self, sql: &str) -> Result<Statement> {
        Statement::prepare(&self.shared, None, self.shared.sql(sql))
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
        let parameters = parameters.into();
        let run = |parameters| {
            let transaction = self.begin_lazy(TransactionOptions::default())?;
            let cursor = transaction.query_with(sql, parameters)?;
            Ok(cursor.owning(transaction))
        };
        self.again_if_changed(sql, || run(parameters.clone()))
    }

    /// Work that begins its own transaction can be repeated in a new one.
    fn again_if_changed<T>(&self, sql: &str, work: impl Fn() -> Result<T>) -> Result<T> {
        match work() {
            Err(error) if error.kind() == Kind::Changed => {
                self.shared.lock().forget(sql);
                work()
            }
            result => result,
        }
    }

    /// Runs a statement without rows in a transaction of its own, and commits it.
    pub fn execute(&self, sql: &str) -> Result<Executed> {
        self.execute_with(sql, Params::none())
    }

    /// [`execute`](Self::execute), once for each row of parameters; all of them or none are committed.
    pub fn execute_with(&self, sql: &str, parameters: impl Into<Params>) -> Result<Executed> {
        let parameters = parameters.into();
        if parameters.batch().is_some_and(|batch| batch.num_rows() != 1) {
            let mut transaction = self.begin_lazy(TransactionOptions::default())?;
            let executed = transaction.execute_with(sql, parameters)?;
            transaction.commit()?;
            return Ok(executed);
        }
        self.again_if_changed(sql, || {
            let transaction = self.begin_lazy(TransactionOptions::default())?;
            transaction.execute_last(sql, &parameters)
        })
    }

    /// What is known about the server, the database and the way to them.
    pub fn info(&self) -> Result<ServerInfo> {
        ServerInfo::read(self, &self.shared)
    }

    /// Whether the engine is of Firebird 4 or later, as far as that is known without asking: a connection that was limited
    /// to older protocols is taken for one to an older server.
    pub fn has_firebird4(&self) -> bool {
        self.shared.lock().backend.has_time_zones()
    }

    /// Limits every statement of this session, and how long the session may be idle before the server closes it; zero is no
    /// limit, `None` leaves a limit as it is.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] before Firebird 4.
    pub fn limit_session(&self, statement: Option<Duration>, idle: Option<Duration>) -> Result<()> {
        let statement =
            statement.map(|time| format!("SET STATEMENT TIMEOUT {} MILLISECOND", time.as_millis()));
        let idle = idle.map(|time| format!("SET SESSION IDLE TIMEOUT {} SECOND", time.as_secs()));
        if statement.is_none() && idle.is_none() {
            return Ok(());
        }
        if !self.has_firebird4() {
            return Err(Error::new(Kind::Unsupported, "time limits of sessions need Firebird 4 or newer"));
        }
        let mut transaction = self.begin_lazy(TransactionOptions::default())?;
        [statement, idle].iter().flatten().try_for_each(|sql| transaction.execute_immediate(sql))?;
        transaction.commit()
    }

    /// Checks that the server answers.
    pub fn ping(&self) -> Result<()> {
        self.shared.run(async |session| session.backend.ping().await)
    }

    /// What the connection cost so far, from its first packet on. All zero for an engine in this process.
    ///
    /// Differences tell what a part of the work costs: [`WireStats::since`]. See also [`Statement::wire_stats`],
    /// [`Cursor::wire_stats`] and [`budget`](Self::budget).
    pub fn wire_stats(&self) -> WireStats {
        self.shared.lock().backend.wire_stats()
    }

    /// What interrupts calls of this connection from other threads.
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { underway: self.shared.underway.clone() }
    }

    /// Whether the connection is beyond use; every further call would fail.
    pub fn is_failed(&self) -> bool {
        self.shared.lock().backend.is_failed()
    }

    /// Rolls back what is open and leaves the database.
    ///
    /// # Errors
    /// [`Kind::Misuse`] while transactions, statements or cursors of the connection are alive.
    pub fn close(self) -> Result<()> {
        self.alone()?.lock().close_now()
    }

    /// Deletes the database, which nobody else may be attached to.
    pub fn drop_database(self) -> Result<()> {
        self.alone()?.lock().drop_now()
    }

    fn alone(&self) -> Result<&Shared> {
        if Arc::strong_count(&self.shared) > 1 {
            let text = "transactions, statements or cursors of the connection are still alive";
            return Err(Error::new(Kind::Misuse, text));
        }
        Ok(&self.shared)
    }
}

impl Shared {
    /// SQL text of whoever uses the connection.
    pub(crate) fn sql<'a>(&self, text: &'a str) -> Sql<'a> {
        Sql::new(text, self.dialect)
    }

    /// Runs a flow as an operation; other threads wait their turn.
    pub(crate) fn run<T>(&self, flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>) -> Result<T> {
        self.begin().run(flow)
    }

    /// [`run`](Self::run), also if the operation is cancelled already: to close something, which has to be done, but
    /// whose wait for the server can be cancelled.
    pub(crate) fn finish<T>(
        &self,
        flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>,
    ) -> Result<T> {
        self.begin().finish(flow)
    }

    /// [`finish`](Self::finish) whatever happens to the tokens of this thread: to end something that the caller has given
    /// up.
    pub(crate) fn release<T>(
        &self,
        flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>,
    ) -> Result<T> {
        Call::new(self, Operation::shielded()).finish(flow)
    }

    /// Begins an operation of several parts. Others may use the connection in between.
    pub(crate) fn begin(&self) -> Call<'_> {
        Call::new(self, Operation::new())
    }

    /// Runs a flow unless other threads keep the connection busy until `deadline`; `None` then.
    pub(crate) fn run_until<T>(
        &self,
        deadline: Option<Instant>,
        flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(deadline) = deadline else { return self.run(flow).map(Some) };
        let call = self.begin();
        call.operation.check()?;
        let Some(mut session) = self.session.take_until(deadline) else { return Ok(None) };
        ready(session.within(&call.operation, flow)).map(Some)
    }

    /// For a look at the session.
    pub(crate) fn lock(&self) -> Turn<Session<AnyBackend>> {
        self.session.take()
    }
}

/// An operation of a connection, in one or more parts.
pub(crate) struct Call<'a> {
    shared: &'a Shared,
    operation: Operation,
    _entry: Entry,
}

impl<'a> Call<'a> {
    fn new(shared: &'a Shared, operation: Operation) -> Self {
        let entry = shared.underway.enter(&operation);
        Self { shared, operation, _entry: entry }
    }

    /// Runs a part of it, unless it is cancelled.
    pub(crate) fn run<T>(&self, flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>) -> Result<T> {
        self.operation.check()?;
        let mut session = self.shared.session.take_for(&self.operation)?;
        ready(session.within(&self.operation, flow))
    }

    /// Runs its last part, even if it is cancelled.
    pub(crate) fn finish<T>(
        &self,
        flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>,
    ) -> Result<T> {
        let mut session = self.shared.session.take();
        ready(session.within(&self.operation, flow))
    }
}

impl Session<AnyBackend> {
    fn close_now(&mut self) -> Result<()> {
        ready(self.within(&Operation::shielded(), async |session| session.close().await))
    }

    fn drop_now(&mut self) -> Result<()> {
        ready(self.within(&Operation::shielded(), async |session| session.drop_database().await))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut session = self.lock();
        if session.backend.is_failed() {
            return;
        }
        if let Err(error) = session.close_now() {
            tracing::debug!(%error, "detaching failed");
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("database", &self.shared.label).finish_non_exhaustive()
    }
}

/// Sends a dummy packet whenever the connection has been idle for `interval`, so that middle boxes do not forget it.
/// Never while a call runs: packets queued behind a running statement would make it impossible to cancel.
fn keep_alive(session: Weak<Turns<Session<AnyBackend>>>, interval: Duration) -> Result<()> {
    let step = interval.min(Duration::from_secs(1)).max(Duration::from_millis(10));
    let work = move || {
        let mut last = (0, Instant::now());
        loop {
            thread::sleep(step);
            let Some(session) = session.upgrade() else { return };
            let Some(mut session) = session.try_take() else {
                last.1 = Instant::now();
                continue;
            };
            if session.backend.is_failed() {
                return;
            }
            let sent = session.backend.wire_stats().packets_sent;
            if sent != last.0 {
                last = (sent, Instant::now());
            } else if last.1.elapsed() >= interval {
                if ready(session.backend.keep_alive()).is_err() {
                    return;
                }
                last = (session.backend.wire_stats().packets_sent, Instant::now());
            }
        }
    };
    let spawned = thread::Builder::new().name("firearrow-keepalive".into()).spawn(work);
    spawned.map(drop).map_err(|error| Error::new(Kind::Io, format!("no thread for keep-alive: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    firearrow_testkit::matrix!(
        wire,
        fn keeping_it_alive_does_not_keep_it_from_being_closed(target: &firearrow_testkit::Target) {
            let config = Config::parse(&target.fresh_url()).expect("a valid URL");
            let connection = Connection::create(&config).expect("it is created");
            let kept = Arc::clone(&connection.shared.session);
            connection.close().expect("nothing is open");
            drop(kept);
            let connection = Connection::open(&config).expect("it opens");
            let kept = Arc::downgrade(&connection.shared.session).upgrade();
            connection.drop_database().expect("nothing is open");
            drop(kept);
        }
    );
}
