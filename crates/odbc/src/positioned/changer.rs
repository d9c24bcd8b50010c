//! Executes the statements that change rows.

use crate::abi::USmallInt;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Link, Statement, registry};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use firearrow::OnFailure;
use firearrow_driver::{Description, RowOutcome, Rows};
use std::sync::Arc;

/// A statement beside the one with the cursor, with its text.
pub(crate) struct Changer {
    driver: firearrow_driver::Statement,
    sql: String,
}

impl Changer {
    fn new(link: &Link) -> Self {
        let driver = firearrow_driver::Statement::new(&link.session, link.statement_options());
        Self { driver, sql: String::new() }
    }
}

/// What became of one row.
pub(super) type RowResult = Result<Option<u64>>;

/// Columns, the last of them those of a condition, as rows of parameters.
pub(super) fn batch(columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let fields: Vec<Field> =
        columns.iter().map(|column| Field::new("", column.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
    batch.map_err(|error| Failure::new(State::GENERAL, error.to_string()))
}

impl Statement {
    /// Prepares SQL that changes rows.
    pub(super) fn prepare_change(&mut self, sql: &str) -> Result<Arc<Description>> {
        let timeout = self.timeout();
        let link = &self.link;
        let changer = self.changer.get_or_insert_with(|| Changer::new(link));
        if changer.sql != sql {
            changer.sql.clear();
            changer.driver.set_query(sql)?;
            sql.clone_into(&mut changer.sql);
        }
        changer.driver.options.timeout = timeout;
        Ok(changer.driver.description()?)
    }

    /// Executes what was prepared for each row of parameters. Returns how many rows each affected, or its failure, as far as it
    /// was executed, and the failure of the whole.
    pub(super) fn execute_change(&mut self, batch: RecordBatch) -> (Vec<RowResult>, Option<Failure>) {
        let rows = batch.num_rows();
        let Some(changer) = &mut self.changer else { return (Vec::new(), None) };
        if rows == 0 {
            return (Vec::new(), None);
        }
        // SQLCancel ends this one meanwhile.
        registry::set_activity(self.id, Some(Arc::clone(changer.driver.activity())));
        let executed = changer.execute(batch);
        registry::set_activity(self.id, Some(Arc::clone(self.driver.activity())));
        let outcomes = changer.driver.latest().progress().row_outcomes();
        let undone = || Failure::new(State::CONFLICT, "the change was rolled back");
        let mut results: Vec<RowResult> = outcomes
            .iter()
            .take(rows)
            .map(|outcome| match outcome {
                RowOutcome::Done(affected) => Ok(*affected),
                RowOutcome::Failed(error) => Err(Failure::from((**error).clone())),
                RowOutcome::Undone => Err(undone()),
                RowOutcome::Unknown => {
                    Err(Failure::new(State::COMMIT_UNKNOWN, "whether the change was committed is unknown"))
                }
            })
            .collect();
        match executed {
            Ok(affected) => {
                if results.is_empty() && rows == 1 {
                    results.push(Ok(affected));
                }
                results.resize(rows, Ok(None));
                (results, None)
            }
            Err(failure) => (results, Some(failure)),
        }
    }
}

impl Changer {
    fn execute(&mut self, batch: RecordBatch) -> Result<Option<u64>> {
        // A row on its own is no batch: then the server can be told to stop waiting for a lock.
        self.driver.options.on_failure = match batch.num_rows() {
            1 => OnFailure::Stop,
            _ => OnFailure::Continue,
        };
        let schema = batch.schema();
        let rows = RecordBatchIterator::new([Ok(batch)], schema);
        self.driver.bind(Rows::new(Box::new(rows))?);
        Ok(self.driver.update()?)
    }
}

/// The operations of `SQLSetPos`.
pub(super) mod set_pos {
    use super::USmallInt;

    pub(in crate::positioned) const UPDATE: USmallInt = 2;
    pub(in crate::positioned) const DELETE: USmallInt = 3;
    pub(in crate::positioned) const ADD: USmallInt = 4;
}
