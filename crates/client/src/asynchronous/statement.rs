//! Prepared statements.

use super::parallel::ParallelRows;
use super::shared::Shared;
use super::{Cursor, Transaction, flow};
use crate::arrow::{BatchLimits, ReadOptions, WriteOptions, schema};
use crate::backend::{Sql, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::executed::Executed;
use crate::params::Params;
use crate::row::Row;
use crate::scroll::ScrollOptions;
use crate::session::reading::Reading;
use crate::session::run::{How, Verb};
use crate::session::{Prepared, has_rows};
use crate::stats::{Meter, WireStats};
use ::arrow::datatypes::SchemaRef;
use firearrow_proto::api::describe::{StatementInfo, StatementKind};
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::dialect::Dialect;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A prepared statement. It outlives transactions and can run in any transaction of its connection.
#[derive(Clone)]
pub struct Statement {
    pub(crate) inner: Arc<Inner>,
    pub(crate) how: How,
}

/// Freed when the last cursor and statement are gone.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) prepared: Prepared,
    /// All executions.
    pub(crate) meter: Meter,
}

impl Statement {
    pub(crate) async fn prepare(
        shared: &Arc<Shared>,
        transaction: Option<TransactionId>,
        dialect: Dialect,
        sql: &str,
    ) -> Result<Self> {
        let (owner, sql) = (Arc::clone(shared), sql.to_owned());
        let prepare = flow!(session => {
            Ok(Self::new(&owner, session.prepare(transaction, Sql::new(&sql, dialect)).await?))
        });
        shared.run(prepare).await
    }

    /// Prepares for an execution that follows immediately: known SQL is sent together with it.
    pub(crate) async fn recall(shared: &Arc<Shared>, transaction: TransactionId, sql: &str) -> Result<Self> {
        let (owner, sql) = (Arc::clone(shared), sql.to_owned());
        let recall = flow!(session => {
            Ok(Self::new(&owner, session.recall(transaction, owner.facts.sql(&sql)).await?))
        });
        shared.run(recall).await
    }

    fn new(shared: &Arc<Shared>, prepared: Prepared) -> Self {
        let inner = Inner { shared: Arc::clone(shared), prepared, meter: Meter::default() };
        Self { inner: Arc::new(inner), how: shared.facts.how() }
    }

    /// Whether a [recalled](Transaction::recall) statement may have failed because its tables or procedures have
    /// changed. In that case it has returned no rows, and the same SQL can be prepared anew; if the kind of the error
    /// is [`Kind::Changed`] it has run, and what it did until then is part of the transaction.
    pub fn is_outdated_by(&self, error: &Error) -> bool {
        let prepared = &self.inner.prepared;
        prepared.may_be_outdated_by(error) || (prepared.is_recalled && error.kind() == Kind::Changed)
    }

    /// Overrides the connection's read options for this statement.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.how.read = options;
        self
    }

    /// Keeps a [recalled](Transaction::recall) statement prepared when [`execute_last`](Self::execute_last) commits, so that it
    /// can be executed again. Until it is dropped, others cannot alter what it uses.
    #[must_use]
    pub fn keep_prepared(mut self) -> Self {
        self.how.keeps_prepared = true;
        self
    }

    /// Bounds the batches of this statement.
    #[must_use]
    pub fn with_limits(mut self, limits: BatchLimits) -> Self {
        self.how.limits = limits;
        self
    }

    /// Overrides how parameters are written.
    #[must_use]
    pub fn with_write_options(mut self, options: WriteOptions) -> Self {
        self.how.write = options;
        self
    }

    /// Ends executions that take longer, reading their rows included, with [`Kind::Timeout`]. Firebird 4 and later
    /// enforce it themselves; for older servers the client does, and for those that are more than a second late. Does
    /// not apply to many parameter rows at once.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.how.timeout = timeout;
        self
    }

    /// Makes executions that a server can interrupt: affected rows are asked for when it has ended, in a round trip of its own,
    /// where otherwise the question is sent along. A server does not look at a cancellation that arrives behind another
    /// request; the connection is then closed, and the transaction lost with it.
    #[must_use]
    pub fn interruptible(mut self) -> Self {
        self.how.interruptible = true;
        self
    }

    /// Lets this many readers read the rows of a query, at most 64: 0 = as many as this machine has processors,
    /// unless the server is distant; 1 = the statement's own connection alone, which is the default. Each reader is a
    /// connection beside the statement's own, which leads them: 4 readers are 5 connections. They are opened for the query
    /// and closed with it, which costs as many logins and runs the triggers of connections. Rows, their order and
    /// the snapshot are those that the statement's own connection would have read; memory is bounded by the limits of two
    /// batches more than there are readers. A batch ends where a range of pages does, also with
    /// [`BatchLimits::full`].
    ///
    /// For plain queries of one larger table, from Firebird 4 on. Any other is read as usual, and
    /// [`Cursor::parallel`] tells why; to find out takes a few round trips. Does not apply to many parameter rows at once,
    /// nor to scrollable cursors. Settings that a procedure makes for the session are not recognized.
    #[must_use]
    pub fn with_parallel(mut self, readers: usize) -> Self {
        self.how.parallel = Some(readers);
        self
    }

    /// Sets how scrollable cursors of this statement work.
    #[must_use]
    pub fn with_scroll_options(mut self, options: ScrollOptions) -> Self {
        self.how.scroll = options;
        self
    }

    /// Returns the kind of the statement.
    pub fn kind(&self) -> StatementKind {
        self.inner.prepared.info.kind
    }

    /// Whether it returns rows.
    pub fn has_rows(&self) -> bool {
        has_rows(&self.inner.prepared.info)
    }

    /// Whether its rows come through a cursor, any number of them. Statements with RETURNING may return a single row
    /// without one, and have then done their work.
    pub fn has_cursor(&self) -> bool {
        self.inner.prepared.info.has_cursor
    }

    /// Returns its columns as the engine describes them.
    pub fn columns(&self) -> &[Descriptor] {
        &self.inner.prepared.info.columns
    }

    /// Returns what the engine says of it, which costs nothing to keep.
    pub fn info(&self) -> Arc<StatementInfo> {
        Arc::clone(&self.inner.prepared.info)
    }

    /// Returns its parameters as the engine describes them.
    pub fn parameters(&self) -> &[Descriptor] {
        &self.inner.prepared.info.parameters
    }

    /// Returns its columns as Arrow fields.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(schema(self.columns(), &self.how.read)?)
    }

    /// Returns the plan in its short form, or detailed (one line per access path).
    pub async fn plan(&self, detailed: bool) -> Result<String> {
        let inner = Arc::clone(&self.inner);
        self.inner.shared.run(flow!(session => session.plan(&inner.prepared, detailed).await)).await
    }

    /// Returns the cost of all executions so far, from binding parameters to closing cursors. Each packet counts toward
    /// the call that sent it: a transaction that begins with an execution counts toward that execution, closing a
    /// cursor toward the next call. All zero for an engine in this process.
    pub fn wire_stats(&self) -> WireStats {
        self.inner.meter.read()
    }

    /// Executes it and opens its result. One cursor at a time may be open on a statement.
    pub async fn query(&self, transaction: &Transaction, parameters: impl Into<Params>) -> Result<Cursor> {
        let parameters = parameters.into();
        let why = match ParallelRows::open(self, transaction, &parameters).await? {
            Ok(cursor) => return Ok(cursor),
            Err(why) => why,
        };
        let (inner, how, id) = (Arc::clone(&self.inner), self.how.clone(), transaction.id);
        let open = flow!(session => {
            let done = session.run(&inner.prepared, id, Verb::Query, &parameters, &how).await?;
            Ok(Reading::new(done.rows()?))
        });
        Ok(Cursor::open(&self.inner.shared, Some(&self.inner), open).await?.plain(why))
    }

    /// Executes a query of at most one row and returns the value that `read` takes from it; `None` without a row. This
    /// is the cheapest way to ask for a row: one operation, and no batch. A column that may be NULL is read as an
    /// `Option`: `row.get::<Option<String>>(0)`.
    ///
    /// It needs no cursor either, unless the statement may change rows, or the transaction is READ COMMITTED in Firebird 4
    /// or later.
    ///
    /// # Errors
    /// [`Kind::Data`] if there are more rows, [`Kind::Misuse`] if the statement gives none, and the errors of `read`.
    pub async fn one_row<T: Send + 'static>(
        &self,
        transaction: &Transaction,
        parameters: impl Into<Params>,
        read: impl FnOnce(Row<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let (inner, how, parameters) = (Arc::clone(&self.inner), self.how.clone(), parameters.into());
        let id = transaction.id;
        let run = flow!(session => session.one_row(&inner.prepared, id, &parameters, &how, read).await);
        self.inner.shared.metered(vec![self.inner.meter.clone()], run).await
    }

    /// Executes it once for each parameter row, or once without any. A single row that it returns is dropped.
    ///
    /// # Errors
    /// The first row that fails ends it; see [`execute_rows`](Self::execute_rows) for what may have been done by then.
    pub async fn execute(
        &self,
        transaction: &mut Transaction,
        parameters: impl Into<Params>,
    ) -> Result<Executed> {
        self.executed(transaction.id, false, parameters.into()).await
    }

    /// Like [`execute`](Self::execute), and commits the transaction: in the same write for at most one parameter row.
    /// When it fails, the transaction is rolled back. A [recalled](Transaction::recall) statement is released with it.
    pub async fn execute_last(
        &self,
        transaction: Transaction,
        parameters: impl Into<Params>,
    ) -> Result<Executed> {
        self.executed(transaction.id, true, parameters.into()).await
    }

    async fn executed(&self, id: TransactionId, commits: bool, parameters: Params) -> Result<Executed> {
        let (inner, how) = (Arc::clone(&self.inner), self.how.clone());
        let run =
            flow!(session => session.execute_prepared(&inner.prepared, id, commits, &parameters, &how).await);
        Ok(self.inner.shared.metered(vec![self.inner.meter.clone()], run).await?.into())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let id = self.prepared.id;
        self.shared.discard(flow!(session => {
            session.release(id).await;
            Ok(())
        }));
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement").field("info", &self.inner.prepared.info).finish_non_exhaustive()
    }
}
