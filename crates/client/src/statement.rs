//! Prepared statements.

use crate::arrow::{BatchLimits, ReadOptions, WriteOptions, schema};
use crate::backend::{self, Backend, Message, RowFailure, Sql};
use crate::connection::Shared;
use crate::cursor::Cursor;
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::rows::OnFailure;
use crate::scroll::ScrollOptions;
use crate::session::{Prepared, has_rows, is_transaction_control};
use crate::stats::{Meter, WireStats};
use crate::transaction::Transaction;
use ::arrow::datatypes::SchemaRef;
use firearrow_proto::api::describe::{EXPLAIN_PLAN, PLAN, RecordCounts, StatementKind};
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::info::InfoReader;
use std::fmt;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

/// A statement that the engine has understood. It survives transactions and can run in any of its connection.
#[derive(Clone)]
pub struct Statement {
    pub(crate) inner: Arc<Inner>,
    pub(crate) read: ReadOptions,
    pub(crate) limits: BatchLimits,
    pub(crate) write: WriteOptions,
    pub(crate) timeout: Option<Duration>,
    pub(crate) scroll: ScrollOptions,
}

/// Freed when the last cursor and statement are gone.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) prepared: Prepared,
    /// All executions.
    pub(crate) meter: Meter,
}

/// What an execution did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Rows inserted, updated and deleted; `None` when the engine counts nothing for this kind of statement.
    pub affected_rows: Option<u64>,
    /// The same by what was done, and rows read; see [`RowsExecuted::counts`](crate::RowsExecuted::counts).
    pub counts: Option<RecordCounts>,
}

impl From<backend::Executed> for Executed {
    fn from(executed: backend::Executed) -> Self {
        let counts = executed.counts;
        Self { affected_rows: counts.map(|counts| counts.affected()), counts }
    }
}

impl Statement {
    pub(crate) fn prepare(
        shared: &Arc<Shared>,
        transaction: Option<&Transaction>,
        sql: Sql<'_>,
    ) -> Result<Self> {
        let transaction = transaction.map(Transaction::id).transpose()?;
        let prepared = shared.run(async |session| session.prepare(transaction, sql).await)?;
        Ok(Self::new(shared, prepared))
    }

    /// Prepares for an execution that follows at once: known SQL is sent together with it.
    pub(crate) fn recall(shared: &Arc<Shared>, transaction: &Transaction, sql: Sql<'_>) -> Result<Self> {
        let transaction = transaction.id()?;
        let prepared = shared.run(async |session| session.recall(transaction, sql).await)?;
        Ok(Self::new(shared, prepared))
    }

    fn new(shared: &Arc<Shared>, prepared: Prepared) -> Self {
        let inner = Arc::new(Inner { shared: Arc::clone(shared), prepared, meter: Meter::default() });
        let (read, limits) = (shared.read.clone(), shared.limits);
        Self {
            inner,
            read,
            limits,
            write: WriteOptions::default(),
            timeout: None,
            scroll: ScrollOptions::default(),
        }
    }

    /// Whether its transaction can be committed in the same write: if it fails it has done nothing.
    pub(crate) fn can_commit_with_it(&self) -> bool {
        use StatementKind::{Ddl, Delete, ExecuteProcedure, Insert, SetGenerator, Update};
        !self.has_rows()
            && matches!(self.kind(), Insert | Update | Delete | ExecuteProcedure | Ddl | SetGenerator)
    }

    /// Whether it was recalled and `error`, found on this side before anything ran, may come from its being something
    /// else by now.
    pub(crate) fn may_be_outdated(&self, error: &Error) -> bool {
        let refused_here = !error.has_run()
            && matches!(error.kind(), Kind::Parameter | Kind::Data | Kind::Misuse | Kind::Unsupported);
        self.inner.prepared.is_recalled && refused_here
    }

    /// Whether this failure of a statement that was [recalled](Transaction::recall) may come from its being something else
    /// by now. It has not given rows then, and the same SQL can be prepared anew; if the kind of the error is
    /// [`Kind::Changed`] it has run, and what it did until then is part of the transaction.
    pub fn is_outdated_by(&self, error: &Error) -> bool {
        self.may_be_outdated(error) || (self.inner.prepared.is_recalled && error.kind() == Kind::Changed)
    }

    /// Reads results of this statement in another way than the connection's default.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// Bounds the batches of this statement.
    #[must_use]
    pub fn with_limits(mut self, limits: BatchLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Writes parameters in another way than by default.
    #[must_use]
    pub fn with_write_options(mut self, options: WriteOptions) -> Self {
        self.write = options;
        self
    }

    /// Ends executions that take longer, reading their rows included, with [`Kind::Timeout`]. Firebird 4 and later
    /// enforce it themselves; for older servers the client does, and for those that are more than a second late. Not for
    /// many rows of parameters at once.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// What the statement is.
    pub fn kind(&self) -> StatementKind {
        self.inner.prepared.info.kind
    }

    /// Whether it gives rows.
    pub fn has_rows(&self) -> bool {
        has_rows(&self.inner.prepared.info)
    }

    /// Whether its rows come through a cursor, any number of them. Statements with RETURNING may give a single row without
    /// one, and have done their work by then.
    pub fn has_cursor(&self) -> bool {
        self.inner.prepared.info.has_cursor
    }

    /// Its columns as the engine describes them.
    pub fn columns(&self) -> &[Descriptor] {
        &self.inner.prepared.info.columns
    }

    /// Its parameters as the engine describes them.
    pub fn parameters(&self) -> &[Descriptor] {
        &self.inner.prepared.info.parameters
    }

    /// Its columns as Arrow fields.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(schema(self.columns(), &self.read)?)
    }

    /// The plan in its short form, or detailed (one line per access path).
    pub fn plan(&self, detailed: bool) -> Result<String> {
        let item = if detailed { EXPLAIN_PLAN } else { PLAN };
        let id = self.inner.prepared.id;
        let data =
            self.inner.shared.run(async |session| session.backend.statement_info(id, &[item]).await)?;
        let plan = InfoReader::new(&data).find(|each| each.code == item);
        Ok(plan.map(|plan| String::from_utf8_lossy(plan.value).trim().to_owned()).unwrap_or_default())
    }

    /// What all executions so far cost, from binding parameters to closing cursors. Everything counts for the call with
    /// which it travels: a transaction that begins with an execution counts for that one, closing a cursor for whatever
    /// comes next. All zero for an engine in this process.
    pub fn wire_stats(&self) -> WireStats {
        self.inner.meter.read()
    }

    /// Runs it and opens its result. One cursor at a time may be open on a statement.
    pub fn query(&self, transaction: &Transaction, parameters: impl Into<Params>) -> Result<Cursor> {
        if !self.has_rows() {
            return Err(Error::new(Kind::Misuse, "the statement gives no rows: use execute, not query"));
        }
        let id = transaction.id()?;
        let parameters = parameters.into();
        let meter = Meter::default();
        let opened = self.inner.shared.metered(&[self.inner.meter.clone(), meter.clone()], async |session| {
            let prepared = &self.inner.prepared;
            let bound = session.bind(prepared, id, parameters.batch(), self.write.time_rounding).await?;
            let message = bound.as_ref().map(|bound| Message { layout: &bound.layout, bytes: &bound.bytes });
            session.set_timeout(prepared, self.timeout)?;
            session.open(prepared, id, message, &self.read, self.limits).await
        });
        let fetching = opened.map_err(|error| self.naming_parameter(error, &parameters))?;
        Ok(Cursor::new(Arc::clone(&self.inner), fetching, meter))
    }

    /// Runs it once for each row of parameters, or once without any. A single row that it returns is dropped.
    ///
    /// # Errors
    /// The first row that fails ends it; see [`execute_rows`](Self::execute_rows) for what was done by then.
    pub fn execute(&self, transaction: &mut Transaction, parameters: impl Into<Params>) -> Result<Executed> {
        let id = transaction.id()?;
        if self.kind() == StatementKind::StartTransaction {
            let text = "SET TRANSACTION inside a transaction: use Connection::begin with TransactionOptions";
            return Err(Error::new(Kind::Misuse, text));
        }
        let parameters = parameters.into();
        if let Some(batch) = parameters.batch() {
            let done = self.execute_rows(transaction, batch, OnFailure::Stop)?;
            return match done.failures.into_iter().next() {
                None => Ok(Executed { affected_rows: done.affected_rows, counts: done.counts }),
                Some(failure) if batch.num_rows() == 1 => Err(failure.error),
                Some(RowFailure { row, error }) => {
                    let text = format!("row {row} of the parameters ({} rows were tried)", done.rows);
                    Err(error.context(text))
                }
            };
        }
        let prepared = &self.inner.prepared;
        let executed = self.inner.shared.metered(slice::from_ref(&self.inner.meter), async |session| {
            session.set_timeout(prepared, self.timeout)?;
            session.execute(prepared, id).await
        });
        let executed = executed.map_err(|error| transaction.with_outcome(error))?;
        if executed.transaction_ended || is_transaction_control(self.kind()) {
            transaction.ended();
        }
        Ok(executed.into())
    }

    /// [`execute`](Self::execute), and commits the transaction: in the same write for no more than one row of parameters.
    /// When it fails, the transaction is rolled back.
    pub fn execute_last(
        &self,
        mut transaction: Transaction,
        parameters: impl Into<Params>,
    ) -> Result<Executed> {
        let parameters = parameters.into();
        if self.can_commit_with_it() && parameters.batch().is_none_or(|batch| batch.num_rows() == 1) {
            return self.execute_and_commit(transaction, &parameters);
        }
        let executed = self.execute(&mut transaction, parameters)?;
        transaction.commit()?;
        Ok(executed)
    }

    /// Runs it with no more than one row of parameters and commits the transaction in the same write.
    pub(crate) fn execute_and_commit(
        &self,
        mut transaction: Transaction,
        parameters: &Params,
    ) -> Result<Executed> {
        let id = transaction.id()?;
        let prepared = &self.inner.prepared;
        let executed = self.inner.shared.metered(slice::from_ref(&self.inner.meter), async |session| {
            session.set_timeout(prepared, self.timeout)?;
            let rounding = self.write.time_rounding;
            let executed = session.execute_and_commit(prepared, id, parameters.batch(), rounding).await;
            // As long as nobody else can use the connection: its handle may be that of another one soon.
            if session.has_ended(id) {
                transaction.ended();
            }
            executed
        });
        let executed =
            executed.map_err(|error| self.naming_parameter(transaction.with_outcome(error), parameters));
        Ok(executed?.into())
    }

    /// The failure of the only row of parameters.
    fn naming_parameter(&self, mut error: Error, parameters: &Params) -> Error {
        if let Some(batch) = parameters.batch() {
            self.inner.name_parameter(&mut error, batch, 0);
        }
        error
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let id = self.prepared.id;
        let freed = self.shared.release(async |session| {
            if session.backend.is_failed() { Ok(()) } else { session.backend.free_statement(id).await }
        });
        if let Err(error) = freed {
            tracing::debug!(%error, "freeing a statement failed");
        }
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement").field("info", &self.inner.prepared.info).finish_non_exhaustive()
    }
}
