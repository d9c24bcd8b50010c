//! Statements: a query or an ingestion, bound data, and options.

use crate::canceller::Canceller;
use crate::counter::counter;
use crate::error::{Result, invalid_state, not_implemented, of};
use crate::handover::{announce, give, lent};
use crate::option::{Execution, Keyed, Options, STATEMENT, Target, not_found, optionable, settable};
use adbc_core::PartitionedResult;
use adbc_core::options::OptionStatement;
use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::Schema;
use firearrow_driver::{Rows, Session, Stream};
use std::fmt;
use std::sync::Arc;

/// A statement.
pub struct Statement {
    inner: firearrow_driver::Statement,
    /// The table to ingest into, instead of a query.
    target: Target,
}

impl Statement {
    pub(crate) fn new(session: &Arc<Session>, execution: Execution) -> Self {
        let inner = firearrow_driver::Statement::new(session, execution.options());
        announce(inner.latest());
        Self { inner, target: execution.target }
    }

    /// Ingests the bound data. Returns the number of rows.
    fn ingest(&mut self) -> Result<Option<i64>> {
        let rows = self.inner.ingest(&self.target.options).map_err(of)?;
        Ok(signed(Some(rows)))
    }
}

/// Converts a row count to ADBC's type.
fn signed(rows: Option<u64>) -> Option<i64> {
    rows.and_then(|rows| i64::try_from(rows).ok())
}

impl Options for Statement {
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        settable(key, STATEMENT)?;
        if !self.inner.options.set(key, value)? {
            self.target.set(key, value)?;
            self.inner.options.write = self.target.options.write;
        }
        if key == "adbc.ingest.target_table" {
            self.inner.clear_query();
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Result<String> {
        if let Some(value) = self.inner.options.get(key).or_else(|| self.target.get(key)) {
            return value;
        }
        match key {
            "adbc.firebird.plan" => self.inner.plan(false).map_err(of),
            "adbc.firebird.plan_detailed" => self.inner.plan(true).map_err(of),
            _ => counter(&self.inner.latest().progress(), key).ok_or_else(|| not_found(key)),
        }
    }

    fn broken(&self) {
        self.inner.session().break_down();
    }
}

optionable!(Statement, OptionStatement);

impl adbc_core::Statement for Statement {
    fn bind(&mut self, batch: RecordBatch) -> Result<()> {
        let schema = batch.schema();
        self.bind_stream(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
    }

    fn bind_stream(&mut self, reader: Box<dyn RecordBatchReader + Send>) -> Result<()> {
        self.inner.bind(Rows::new(lent(reader)).map_err(of)?);
        Ok(())
    }

    fn execute(&mut self) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        if self.target.is_set {
            return Ok(give(Stream::empty(), self.ingest()?));
        }
        let outcome = self.inner.execute().map_err(of)?;
        Ok(give(outcome.stream.unwrap_or_else(Stream::empty), signed(outcome.affected)))
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        match self.target.is_set {
            true => self.ingest(),
            false => self.inner.update().map(signed).map_err(of),
        }
    }

    fn execute_schema(&mut self) -> Result<Schema> {
        Ok(self.inner.schema().map_err(of)?.as_ref().clone())
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        let query = self.inner.divide().map_err(of)?;
        let descriptors = query.partitions().iter().map(|partition| partition.to_bytes().map_err(of));
        Ok(PartitionedResult {
            partitions: descriptors.collect::<Result<_>>()?,
            schema: query.schema().as_ref().clone(),
            rows_affected: -1,
        })
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        self.inner.parameter_schema().map_err(of)
    }

    fn prepare(&mut self) -> Result<()> {
        if self.target.is_set {
            return Err(invalid_state("the statement ingests into a table: there is nothing to prepare"));
        }
        self.inner.prepare().map_err(of)
    }

    fn set_sql_query(&mut self, query: impl AsRef<str>) -> Result<()> {
        self.inner.set_query(query.as_ref()).map_err(of)?;
        self.target.clear();
        Ok(())
    }

    fn set_substrait_plan(&mut self, _: impl AsRef<[u8]>) -> Result<()> {
        Err(not_implemented("Firebird supports SQL, not Substrait"))
    }

    fn get_cancel_handle(&self) -> Box<dyn adbc_core::CancelHandle> {
        Box::new(Canceller(Arc::clone(self.inner.activity())))
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
