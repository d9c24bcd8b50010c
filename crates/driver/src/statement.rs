//! Statements: a query, or rows for a table, run any number of times.

use crate::activity::{Activity, Task};
use crate::error::{Error, Result};
use crate::execution::{Execution, Outcome};
use crate::ingest;
use crate::kept::Kept;
use crate::option::{IngestOptions, Mode, Purpose, StatementOptions};
use crate::partition::Division;
use crate::progress::Latest;
use crate::rows::Rows;
use crate::session::Session;
use crate::sql::{Named, is_dml, named, without_end};
use arrow::datatypes::{Field, Schema, SchemaRef};
use firearrow::{Descriptor, PartitionedQuery, RecordCounts, StatementKind};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// What the server says about a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// The columns of its result; none if it returns no rows.
    pub columns: Vec<Descriptor>,
    /// Its parameters, in order.
    pub parameters: Vec<Descriptor>,
    /// What it does.
    pub kind: StatementKind,
    /// Whether its rows come from a cursor. Otherwise it returns at most one row, at once.
    pub has_cursor: bool,
}

impl From<&firearrow::Statement> for Description {
    fn from(statement: &firearrow::Statement) -> Self {
        Self {
            columns: statement.columns().to_vec(),
            parameters: statement.parameters().to_vec(),
            kind: statement.kind(),
            has_cursor: statement.has_cursor(),
        }
    }
}

/// A statement. A panic in any of its methods ends the connection and is an error.
pub struct Statement {
    /// How it is executed next.
    pub options: StatementOptions,
    session: Arc<Session>,
    sql: Option<String>,
    /// For the next execution.
    rows: Option<Rows>,
    activity: Arc<Activity>,
    latest: Arc<Latest>,
    /// What the server says about the query, from preparing it to whatever changes it.
    prepared: Option<Arc<Description>>,
    /// Whether it was executed since then.
    is_repeated: bool,
    /// Where it stays prepared on the server from its second execution on.
    kept: Option<Arc<Kept>>,
    /// Holds the snapshot of the partitions that were handed out last.
    division: Option<Division>,
    /// The columns of the table that the last ingestion made.
    made: Vec<String>,
}

impl Statement {
    /// Creates a statement without a query. Nothing happens on the server.
    pub fn new(session: &Arc<Session>, options: StatementOptions) -> Self {
        Self {
            options,
            session: Arc::clone(session),
            sql: None,
            rows: None,
            activity: Arc::default(),
            latest: Arc::default(),
            prepared: None,
            is_repeated: false,
            kept: None,
            division: None,
            made: Vec::new(),
        }
    }

    /// Returns the session that it belongs to.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The tasks that cancel its executions and open results.
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Counters of its last execution, even while it runs.
    pub fn latest(&self) -> &Arc<Latest> {
        &self.latest
    }

    /// Sets the query; semicolons at its end do not matter.
    ///
    /// # Errors
    /// The text contains a NUL.
    pub fn set_query(&mut self, sql: &str) -> Result<()> {
        let sql = without_end(sql);
        if sql.contains('\0') {
            return Err(Error::argument("the query contains a NUL"));
        }
        self.clear_query();
        self.sql = Some(sql.to_owned());
        Ok(())
    }

    /// Removes the query.
    pub fn clear_query(&mut self) {
        (self.sql, self.prepared, self.is_repeated) = (None, None, false);
        self.release();
    }

    /// Lets the server free what stayed prepared.
    fn release(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.session.discard(kept, drop);
        }
    }

    /// Binds rows of parameters, or those for a table, to the next execution.
    pub fn bind(&mut self, rows: Rows) {
        self.rows = Some(rows);
    }

    /// Begins something that can be cancelled through the statement or its session.
    fn begin_task(&self) -> Arc<Task> {
        Activity::begin(&[self.session.activity(), &self.activity])
    }

    fn contain<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let session = Arc::clone(&self.session);
        session.contain(|| work(self)).flatten()
    }

    /// The query as the server wants it, and the names of its markers if rows go to them by name. `:name` is no marker to the
    /// server in either case, and Python's ADBC driver manager prepares before it says how it binds.
    fn query(&self) -> Result<Named> {
        let sql = self.sql.as_deref().ok_or_else(|| Error::state("the statement has no query"))?;
        let mut query = named(sql)?.unwrap_or_else(|| Named { sql: sql.to_owned(), names: Vec::new() });
        if !self.options.by_name {
            query.names.clear();
        }
        Ok(query)
    }

    /// Takes the rows of parameters, in the order of the query's markers.
    fn take_rows(&mut self, query: &Named) -> Result<Option<Rows>> {
        match (self.rows.take(), query.names.as_slice()) {
            (Some(rows), []) if self.options.by_name && rows.columns() > 0 => {
                Err(Error::argument("the data shall be bound by name, but the query has no :name markers"))
            }
            (Some(rows), names @ [_, ..]) => rows.by_name(names).map(Some),
            (rows, _) => Ok(rows),
        }
    }

    /// Executes the query, once for each row of parameters if some are bound, and returns its rows.
    ///
    /// # Errors
    /// Those of the client; [`Class::State`](crate::Class::State) without a query.
    pub fn execute(&mut self) -> Result<Outcome> {
        self.contain(|statement| statement.run(Purpose::Rows))
    }

    /// Executes the query like [`execute`](Self::execute), reads its rows to their end, and returns how many rows it changed.
    ///
    /// # Errors
    /// Those of [`execute`](Self::execute).
    pub fn update(&mut self) -> Result<Option<u64>> {
        let Outcome { stream, affected, .. } = self.contain(|statement| statement.run(Purpose::Update))?;
        if let Some(mut stream) = stream {
            // Its effect must not depend on whether somebody wants its rows.
            while stream.next_batch()?.is_some() {}
        }
        Ok(affected)
    }

    fn run(&mut self, purpose: Purpose) -> Result<Outcome> {
        self.session.connection()?;
        let task = self.begin_task();
        let progress = self.latest.begin();
        self.division = None;
        let query = self.query()?;
        let rows = self.take_rows(&query)?.map(|rows| rows.within(&task));
        let purpose = if is_dml(&query.sql) { Purpose::Update } else { purpose };
        if self.is_repeated && self.kept.is_none() {
            self.kept = Some(self.session.keep());
        }
        let execution = Execution {
            session: &self.session,
            options: &self.options,
            sql: &query.sql,
            task: &task,
            progress: &progress,
            purpose,
            kept: self.kept.as_deref().filter(|_| self.is_repeated),
        };
        self.is_repeated = self.prepared.is_some();
        task.run(|| execution.run(rows))
    }

    /// Inserts the bound rows into a table, which is created if necessary, and returns their number.
    ///
    /// # Errors
    /// Those of the client, and those that the options imply; [`Class::State`](crate::Class::State) if no rows are
    /// bound. Details report what remains: [`RowsCommitted`](crate::Detail::RowsCommitted),
    /// [`StagingTable`](crate::Detail::StagingTable).
    pub fn ingest(&mut self, options: &IngestOptions) -> Result<u64> {
        self.contain(|statement| {
            statement.session.connection()?;
            let task = statement.begin_task();
            let progress = statement.latest.begin();
            statement.division = None;
            let rows = statement.rows.take();
            let rows = rows.ok_or_else(|| Error::state("there is no data to ingest: bind some"))?;
            let rows = rows.counted(&progress).within(&task);
            task.limit(statement.options.timeout);
            statement.made.clear();
            let (rows, made) =
                task.run(|| ingest::run(&statement.session, options, &statement.options.read, rows, &task))?;
            statement.made = made;
            if options.mode != Mode::Upsert {
                progress.set_records(Some(RecordCounts { inserted: rows, ..RecordCounts::default() }));
            }
            Ok(rows)
        })
    }

    /// The columns of the table that the last ingestion made, as CREATE TABLE lists them; none if there was one already.
    pub fn made(&self) -> &[String] {
        &self.made
    }

    /// Divides the query into partitions, which any session can read with [`read_partition`](crate::read_partition) until the
    /// statement is run again or dropped.
    ///
    /// # Errors
    /// Those of the client; [`Class::Argument`](crate::Class::Argument) for more than one row of parameters.
    pub fn divide(&mut self) -> Result<&PartitionedQuery> {
        self.contain(|statement| {
            statement.session.connection()?;
            statement.division = None;
            let query = statement.query()?;
            let task = statement.begin_task();
            let rows = statement.take_rows(&query)?.map(|rows| rows.within(&task));
            task.limit(statement.options.timeout);
            let divide = || Division::new(&statement.session, &statement.options, &query.sql, rows);
            statement.division = Some(task.run(divide)?);
            Ok(())
        })?;
        self.division.as_ref().ok_or_else(|| Error::internal("a divided query got lost"))?.query()
    }

    /// Prepares the query to be asked about.
    fn describe<T>(&self, ask: impl FnOnce(firearrow::Statement) -> Result<T>) -> Result<T> {
        let describe = || {
            let query = self.query()?;
            let task = self.begin_task();
            task.limit(self.options.timeout);
            task.run(|| ask(self.session.connection()?.prepare(&query.sql)?))
        };
        self.session.contain(describe).flatten()
    }

    /// Prepares the query, which detects its errors, and remembers its parameters.
    ///
    /// # Errors
    /// Those of the client; [`Class::State`](crate::Class::State) without a query.
    pub fn prepare(&mut self) -> Result<()> {
        self.description().map(drop)
    }

    /// Prepares the query unless that was done before, and returns what the server says about it.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare).
    pub fn description(&mut self) -> Result<Arc<Description>> {
        if let Some(prepared) = &self.prepared {
            return Ok(Arc::clone(prepared));
        }
        let description = self.describe(|described| Ok(Arc::new(Description::from(&described))))?;
        self.prepared = Some(Arc::clone(&description));
        Ok(description)
    }

    /// Returns the parameters of the query, in order.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare).
    pub fn parameters(&self) -> Result<Vec<Descriptor>> {
        match &self.prepared {
            Some(prepared) => Ok(prepared.parameters.clone()),
            None => self.describe(|described| Ok(described.parameters().to_vec())),
        }
    }

    /// Returns the columns that parameter rows should have: one for each `?`, or for each distinct `:name`.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare); [`Class::Unsupported`](crate::Class::Unsupported) for types without a counterpart.
    pub fn parameter_schema(&self) -> Result<Schema> {
        self.session.contain(|| self.schema_of_parameters()).flatten()
    }

    fn schema_of_parameters(&self) -> Result<Schema> {
        let query = self.query()?;
        let parameters = self.parameters()?;
        let types = firearrow::arrow::schema(&parameters, &self.options.read);
        let types = types.map_err(|error| Error::unsupported(error.to_string()))?;
        let mut seen = HashSet::new();
        let fields = types.fields().iter().enumerate().filter_map(|(index, field)| {
            let name = query.names.get(index).cloned().unwrap_or_default();
            let is_new = name.is_empty() || seen.insert(name.clone());
            is_new.then(|| {
                Field::new(name, field.data_type().clone(), true).with_metadata(field.metadata().clone())
            })
        });
        Ok(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Returns the columns of the result; none if the query returns no rows.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare).
    pub fn schema(&self) -> Result<SchemaRef> {
        self.describe(|described| {
            if !described.has_rows() {
                return Ok(Arc::new(Schema::empty()));
            }
            let read = self.session.declare(described.columns(), &self.options.read)?;
            Ok(described.with_read_options(read).schema()?)
        })
    }

    /// Returns the plan of the query: in its short form, or with a line for each access path.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare).
    pub fn plan(&self, detailed: bool) -> Result<String> {
        self.describe(|described| Ok(described.plan(detailed)?))
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.release();
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement").field("sql", &self.sql).finish_non_exhaustive()
    }
}
