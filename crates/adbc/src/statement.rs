//! Statements: a query or a table to fill, bound data, and options.

use crate::activity::{Activity, Canceller, Task};
use crate::attachment::Attachment;
use crate::bind::Rows;
use crate::error::{Result, invalid_argument, invalid_state, not_implemented, of};
use crate::execution::{Execution, Outcome};
use crate::handover::{announce, give, lent};
use crate::ingest;
use crate::option::{Mode, Options, Purpose, STATEMENT, StatementOptions, not_found, optionable, settable};
use crate::partition::Division;
use crate::progress::Latest;
use crate::reader::Stream;
use crate::sql::{Named, is_dml, named, without_end};
use adbc_core::PartitionedResult;
use adbc_core::options::OptionStatement;
use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::{Field, Schema};
use firearrow::{Descriptor, RecordCounts};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A statement.
pub struct Statement {
    attachment: Arc<Attachment>,
    options: StatementOptions,
    sql: Option<String>,
    rows: Option<Rows>,
    activity: Arc<Activity>,
    latest: Arc<Latest>,
    /// The parameters of the query, from preparing it to whatever changes it. The server keeps nothing prepared: that would
    /// lock tables, and known SQL runs in one round trip anyway.
    prepared: Option<Vec<Descriptor>>,
    /// Holds the snapshot of the partitions that were handed out last.
    division: Option<Division>,
}

impl Statement {
    pub(crate) fn new(attachment: &Arc<Attachment>, options: StatementOptions) -> Self {
        let latest = Arc::default();
        announce(&latest);
        Self {
            attachment: Arc::clone(attachment),
            options,
            sql: None,
            rows: None,
            activity: Arc::default(),
            latest,
            prepared: None,
            division: None,
        }
    }

    /// Begins something that can be cancelled through the statement or its connection.
    fn begin_task(&self) -> Arc<Task> {
        Activity::begin(&[&self.attachment.activity, &self.activity])
    }

    fn contain<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let attachment = Arc::clone(&self.attachment);
        attachment.contain(|| work(self))
    }

    /// The query as the server wants it, and the names of its markers if data goes to them by name. `:name` is no marker to
    /// the server in either case, and Python's driver manager prepares before it says how it binds.
    fn query(&self) -> Result<Named> {
        let sql = self.sql.as_deref().ok_or_else(|| invalid_state("the statement has no query"))?;
        let mut query = named(sql)?.unwrap_or_else(|| Named { sql: sql.to_owned(), names: Vec::new() });
        if !self.options.by_name {
            query.names.clear();
        }
        Ok(query)
    }

    /// Prepares the query to be asked about.
    fn describe<T>(&self, ask: impl FnOnce(firearrow::Statement) -> Result<T>) -> Result<T> {
        let query = self.query()?;
        let task = self.begin_task();
        task.limit(self.options.timeout());
        task.run(|| ask(self.attachment.connection()?.prepare(&query.sql).map_err(of)?))
    }

    fn run(&mut self, purpose: Purpose) -> Result<Outcome> {
        self.attachment.connection()?;
        let task = self.begin_task();
        let progress = self.latest.begin();
        self.division = None;
        if self.options.ingest.table.is_some() {
            let rows =
                self.rows.take().ok_or_else(|| invalid_state("there is no data to ingest: bind some"))?;
            let rows = rows.counted(&progress).within(&task);
            let options = &self.options.ingest;
            task.limit(self.options.timeout());
            let rows = task.run(|| ingest::run(&self.attachment, options, rows, &task))?;
            if options.mode != Mode::Upsert {
                progress.set_records(Some(RecordCounts { inserted: rows, ..RecordCounts::default() }));
            }
            return Ok(Outcome { stream: None, affected: i64::try_from(rows).ok() });
        }
        let query = self.query()?;
        let rows = self.rows_for(&query)?.map(|rows| rows.within(&task));
        let purpose = if is_dml(&query.sql) { Purpose::Update } else { purpose };
        let execution = Execution {
            attachment: &self.attachment,
            options: &self.options,
            sql: &query.sql,
            task: &task,
            progress: &progress,
            purpose,
        };
        task.run(|| execution.run(rows))
    }

    /// The bound data in the order of the query's markers.
    fn rows_for(&mut self, query: &Named) -> Result<Option<Rows>> {
        match (self.rows.take(), query.names.as_slice()) {
            (Some(rows), []) if self.options.by_name && rows.columns() > 0 => {
                Err(invalid_argument("the data shall be bound by name, but the query has no :name markers"))
            }
            (Some(rows), names @ [_, ..]) => rows.by_name(names).map(Some),
            (rows, _) => Ok(rows),
        }
    }

    fn divide(&mut self) -> Result<PartitionedResult> {
        self.attachment.connection()?;
        self.division = None;
        let query = self.query()?;
        let task = self.begin_task();
        let rows = self.rows_for(&query)?.map(|rows| rows.within(&task));
        task.limit(self.options.timeout());
        let division = task.run(|| Division::new(&self.attachment, &self.options, &query.sql, rows))?;
        let result = division.result()?;
        self.division = Some(division);
        Ok(result)
    }

    fn plan(&self, detailed: bool) -> Result<String> {
        self.describe(|described| described.plan(detailed).map_err(of))
    }
}

impl Options for Statement {
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        settable(key, STATEMENT)?;
        self.options.set(key, value)?;
        if key == "adbc.ingest.target_table" {
            (self.sql, self.prepared) = (None, None);
        }
        if key == "adbc.statement.bind_by_name" {
            self.prepared = None;
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Result<String> {
        if let Some(value) = self.options.get(key) {
            return value;
        }
        match key {
            "adbc.firebird.plan" => self.plan(false),
            "adbc.firebird.plan_detailed" => self.plan(true),
            _ => self.latest.get(key).ok_or_else(|| not_found(key)),
        }
    }

    fn broken(&self) {
        self.attachment.break_down();
    }
}

optionable!(Statement, OptionStatement);

impl adbc_core::Statement for Statement {
    fn bind(&mut self, batch: RecordBatch) -> Result<()> {
        let schema = batch.schema();
        self.bind_stream(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
    }

    fn bind_stream(&mut self, reader: Box<dyn RecordBatchReader + Send>) -> Result<()> {
        self.rows = Some(Rows::new(lent(reader))?);
        Ok(())
    }

    fn execute(&mut self) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        let outcome = self.contain(|statement| statement.run(Purpose::Rows))?;
        Ok(give(outcome.stream.unwrap_or_else(Stream::empty), outcome.affected))
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        let Outcome { stream, affected } = self.contain(|statement| statement.run(Purpose::Update))?;
        if let Some(mut stream) = stream {
            // What it does depends on nobody wanting its rows as little as on somebody reading them.
            while stream.next_batch()?.is_some() {}
        }
        Ok(affected)
    }

    fn execute_schema(&mut self) -> Result<Schema> {
        self.contain(|statement| {
            statement.describe(|described| {
                if !described.has_rows() {
                    return Ok(Schema::empty());
                }
                let read = statement.attachment.declare(described.columns(), &statement.options.read)?;
                let schema = described.with_read_options(read).schema().map_err(of)?;
                Ok(schema.as_ref().clone())
            })
        })
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        self.contain(Self::divide)
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        self.attachment.contain(|| {
            let query = self.query()?;
            let parameters = match &self.prepared {
                Some(parameters) => parameters.clone(),
                None => self.describe(|described| Ok(described.parameters().to_vec()))?,
            };
            let types = firearrow::arrow::schema(&parameters, &self.options.read);
            let types = types.map_err(|error| not_implemented(error.to_string()))?;
            let mut seen = HashSet::new();
            let fields = types.fields().iter().enumerate().filter_map(|(index, field)| {
                let name = query.names.get(index).cloned().unwrap_or_default();
                let is_new = name.is_empty() || seen.insert(name.clone());
                is_new.then(|| {
                    Field::new(name, field.data_type().clone(), true).with_metadata(field.metadata().clone())
                })
            });
            Ok(Schema::new(fields.collect::<Vec<_>>()))
        })
    }

    fn prepare(&mut self) -> Result<()> {
        self.contain(|statement| {
            if statement.options.ingest.table.is_some() {
                return Err(invalid_state("the statement ingests into a table: there is nothing to prepare"));
            }
            if statement.prepared.is_none() {
                let parameters = statement.describe(|described| Ok(described.parameters().to_vec()))?;
                statement.prepared = Some(parameters);
            }
            Ok(())
        })
    }

    fn set_sql_query(&mut self, query: impl AsRef<str>) -> Result<()> {
        let sql = without_end(query.as_ref());
        if sql.contains('\0') {
            return Err(invalid_argument("the query contains a NUL"));
        }
        self.sql = Some(sql.to_owned());
        (self.options.ingest.table, self.prepared) = (None, None);
        Ok(())
    }

    fn set_substrait_plan(&mut self, _: impl AsRef<[u8]>) -> Result<()> {
        Err(not_implemented("Firebird knows SQL, not Substrait"))
    }

    fn get_cancel_handle(&self) -> Box<dyn adbc_core::CancelHandle> {
        Box::new(Canceller(Arc::clone(&self.activity)))
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement").field("sql", &self.sql).finish_non_exhaustive()
    }
}
