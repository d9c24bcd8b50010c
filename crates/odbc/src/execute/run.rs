//! Executions and what becomes of them.

use super::outputs::{Outputs, all_rows};
use super::parameters::{Inputs, NeedData};
use super::prepare::Text;
use super::transaction::is_control;
use crate::abi::{self, Len, Return, ULen};
use crate::column::Column;
use crate::diagnostics::{Failure, Result, State, function};
use crate::escape;
use crate::fetch::Cursor;
use crate::handle::Statement;
use crate::handle::statement::{DONE, Phase, Prepared};
use crate::positioned::Positioned;
use crate::table::Table;
use arrow::array::{RecordBatch, RecordBatchIterator};
use firearrow::{BatchLimits, OnFailure};
use firearrow_driver::{Description, Outcome, RowOutcome, Rows, Stream};
use std::sync::Arc;
use std::time::Duration;

/// Rows of a batch. While the application reads one, the server makes no more rows than fit into the sockets between them; with
/// larger batches both would wait for each other.
const BATCH_ROWS: usize = 1024;

impl Statement {
    pub(crate) fn timeout(&self) -> Option<Duration> {
        let seconds = self.attributes.query_timeout as u64;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// `SQLExecDirect`
    pub(crate) fn execute_directly(&mut self, sql: &str) -> Result<Return> {
        self.expect_no_cursor()?;
        self.forget();
        let mut text = self.translate(sql)?;
        self.refer(&mut text)?;
        let has_outputs = text.returns_value || text.outputs > 0;
        if has_outputs || escape::markers(&text.sql) > 0 || is_control(&text.sql) {
            // The server says what types the parameters have.
            self.describe_query(&text)?;
            if let Some(prepared) = &mut self.prepared {
                prepared.is_direct = true;
            }
            return self.start();
        }
        self.set_options(OnFailure::Stop);
        let outcome = self.with_from(&text.sql, firearrow_driver::Statement::execute)?;
        self.prepared = self.learn(&outcome, &text)?;
        self.diagnostics.function = function::of_sql(&text.sql);
        let prepared = self.prepared.clone();
        self.opened(outcome, prepared.as_ref())
    }

    /// What the server said about a statement while it executed it.
    fn learn(&mut self, outcome: &Outcome, text: &Text) -> Result<Option<Prepared>> {
        let Some(statement) = &outcome.statement else {
            self.describe(&Arc::default());
            return Ok(None);
        };
        let prepared = Prepared::new(&self.link, Arc::new(Description::from(statement)), text)?;
        self.describe(&prepared.columns);
        Ok(Some(Prepared { is_direct: true, ..prepared }))
    }

    /// `SQLExecute`
    pub(crate) fn execute(&mut self) -> Result<Return> {
        self.expect_no_cursor()?;
        if self.expect_prepared()?.is_direct {
            return Err(Failure::new(State::SEQUENCE, "the statement has not been prepared"));
        }
        self.start()
    }

    /// Executes what was prepared, unless it waits for data.
    fn start(&mut self) -> Result<Return> {
        let prepared = self.expect_prepared()?;
        let control = prepared.control;
        self.diagnostics.function = prepared.function;
        if let Some(control) = control {
            control.run(&self.link)?;
            self.opened(Outcome::default(), None)?;
            return DONE;
        }
        let inputs = self.inputs()?;
        let at_execution = inputs.at_execution();
        if at_execution.is_empty() {
            return self.execute_with(inputs);
        }
        self.need = Some(NeedData::new(inputs, at_execution));
        Ok(abi::NEED_DATA)
    }

    /// Executes what was prepared, with the values of these parameters.
    pub(crate) fn execute_with(&mut self, inputs: Inputs) -> Result<Return> {
        let prepared = self.expect_prepared()?.clone();
        if let Some(reference) = prepared.reference.clone() {
            return self.execute_for_current(&inputs, prepared, &reference);
        }
        if prepared.parameters.is_empty() {
            self.set_options(OnFailure::Stop);
            let outcome = self.driver.execute()?;
            inputs.report_all(abi::PARAM_SUCCESS);
            let prepared = self.up_to_date(&outcome, prepared)?;
            return self.opened(outcome, Some(&prepared));
        }
        if !inputs.is_single() {
            return self.execute_sets(&inputs, &prepared);
        }
        // SAFETY: the application promises that its buffers are there while it executes.
        let read = unsafe { inputs.read(&prepared.description.parameters) };
        let outcome = read.and_then(|read| match read.failed.into_iter().next() {
            Some((_, failure)) => Err(failure),
            None => self.execute_batch(read.batch, OnFailure::Stop),
        });
        inputs.report_all(if outcome.is_ok() { abi::PARAM_SUCCESS } else { abi::PARAM_ERROR });
        let outcome = outcome?;
        let prepared = self.up_to_date(&outcome, prepared)?;
        self.opened(outcome, Some(&prepared))
    }

    /// What the server said about the statement when it executed it: its tables may have been altered since it was prepared.
    fn up_to_date(&mut self, outcome: &Outcome, prepared: Prepared) -> Result<Prepared> {
        let Some(statement) = &outcome.statement else { return Ok(prepared) };
        if statement.columns() == prepared.description.columns {
            return Ok(prepared);
        }
        if !self.outputs(&prepared).is_empty() {
            let text = "the procedure was executed, but its outputs have changed since the call was prepared: prepare it again";
            return Err(Failure::new(State::GENERAL, text));
        }
        let columns = Prepared::columns(&self.link, statement.columns());
        self.describe(&columns);
        let description = Arc::new(Description::from(statement));
        let prepared = Prepared { columns, description, ..prepared };
        self.prepared = Some(prepared.clone());
        Ok(prepared)
    }

    /// Executes it for several sets of parameters, each of which succeeds or fails on its own.
    fn execute_sets(&mut self, inputs: &Inputs, prepared: &Prepared) -> Result<Return> {
        // SAFETY: as above.
        let read = unsafe { inputs.read(&prepared.description.parameters) }?;
        let mut statuses = inputs.statuses();
        let mut failures = Vec::new();
        for (set, failure) in read.failed {
            statuses.fail(set);
            failures.push(failure);
        }
        if read.sets.is_empty() {
            failures.into_iter().for_each(|failure| self.diagnostics.add(failure));
            inputs.report(&statuses);
            return self.ended(statuses.worked(), 0);
        }
        let outputs = self.outputs(prepared);
        let mut returned = Vec::new();
        let outcome = self.execute_batch(read.batch, OnFailure::Continue).and_then(|mut outcome| {
            if let Some(stream) = outcome.stream.take_if(|_| !outputs.is_empty()) {
                returned = all_rows(stream)?;
            }
            Ok(outcome)
        });
        let outcomes = self.driver.latest().progress().row_outcomes();
        for (row, set) in read.sets.iter().enumerate() {
            match outcomes.get(row) {
                Some(RowOutcome::Done(_)) => statuses.succeed(*set),
                Some(RowOutcome::Failed(error)) => {
                    statuses.fail(*set);
                    failures.push(Failure::from((**error).clone()).in_row(*set + 1));
                }
                Some(RowOutcome::Undone | RowOutcome::Unknown) => statuses.fail(*set),
                // A result is still open, or the whole failed before it.
                None if outcome.is_ok() => statuses.succeed(*set),
                None => statuses.leave(*set),
            }
        }
        let worked: Vec<usize> = read.sets.iter().copied().filter(|set| statuses.has_worked(*set)).collect();
        let mut report = |set: usize, failure: Failure| {
            match failure.state.is_warning() {
                true => statuses.warn(set),
                false => statuses.spoil(set),
            }
            failures.push(failure.in_row(set + 1));
        };
        // SAFETY: the application promises that its buffers are there while it executes.
        let received = unsafe { outputs.write(&prepared.columns, &returned, &worked, &mut report) };
        inputs.report(&statuses);
        failures.sort_by_key(|failure| failure.row);
        failures.into_iter().for_each(|failure| self.diagnostics.add(failure));
        let outcome = outcome.and_then(|outcome| received.map(|()| outcome))?;
        if outcome.stream.is_some() {
            return self.opened(outcome, Some(prepared));
        }
        let affected = outcome.affected;
        let has_failed = (statuses.worked() as ULen) < statuses.executed();
        let worked = match self.link.failed_sets_are_errors && has_failed {
            true => 0,
            false => statuses.worked(),
        };
        let code = self.ended(worked, affected.unwrap_or(0))?;
        if affected.is_none() {
            self.row_count = -1;
        }
        Ok(code)
    }

    /// The code of an execution for several sets.
    fn ended(&mut self, worked: usize, affected: u64) -> Result<Return> {
        self.row_count = Len::try_from(affected).unwrap_or(Len::MAX);
        self.diagnostics.row_count = self.row_count;
        self.state = Phase::Executed;
        match worked {
            0 if !self.diagnostics.is_empty() => Ok(abi::ERROR),
            _ => DONE,
        }
    }

    pub(crate) fn execute_batch(&mut self, batch: RecordBatch, on_failure: OnFailure) -> Result<Outcome> {
        self.set_options(on_failure);
        let schema = batch.schema();
        let rows = RecordBatchIterator::new([Ok(batch)], schema);
        self.driver.bind(Rows::new(Box::new(rows))?);
        Ok(self.driver.execute()?)
    }

    fn set_options(&mut self, on_failure: OnFailure) {
        let timeout = self.timeout();
        // All rows of a static cursor are read before the application gets one.
        let limits = match self.attributes.is_scrollable() {
            true => BatchLimits::default(),
            false => BatchLimits::default().rows(BATCH_ROWS),
        };
        let options = &mut self.driver.options;
        (options.timeout, options.on_failure, options.limits) = (timeout, on_failure, limits);
    }

    /// Takes the outcome of an execution: opens its cursor, or notes what it changed.
    pub(crate) fn opened(&mut self, outcome: Outcome, prepared: Option<&Prepared>) -> Result<Return> {
        self.warn_of_server();
        self.state = Phase::Executed;
        let affected = outcome.affected.and_then(|rows| Len::try_from(rows).ok());
        self.row_count = affected.unwrap_or(if outcome.stream.is_some() { -1 } else { 0 });
        self.diagnostics.row_count = self.row_count;
        if let Some(stream) = outcome.stream {
            if let Some(prepared) = prepared {
                let outputs = self.outputs(prepared);
                if !outputs.is_empty() {
                    return self.receive(&outputs, prepared, stream);
                }
            }
            let columns = prepared.map(|prepared| Arc::clone(&prepared.columns)).unwrap_or_default();
            let keeps = self.attributes.is_scrollable();
            let most = self.attributes.max_rows as u64;
            let sql = prepared.map(|prepared| Arc::clone(&prepared.sql));
            let positioned = Positioned::new(sql, self.link.session.is_autocommit());
            self.open(Cursor::of_stream(columns, stream, keeps, most, positioned));
            return DONE;
        }
        let is_searched = prepared.is_some_and(|prepared| prepared.is_searched);
        match is_searched && affected == Some(0) && !self.link.is_odbc2 {
            true => Ok(abi::NO_DATA),
            false => DONE,
        }
    }

    /// Writes the only row of a result into output parameters.
    fn receive(&mut self, outputs: &Outputs, prepared: &Prepared, stream: Stream) -> Result<Return> {
        let rows = all_rows(stream)?;
        let mut code = abi::SUCCESS;
        let mut report = |_, failure: Failure| {
            if !failure.state.is_warning() {
                code = abi::ERROR;
            }
            self.diagnostics.add(failure);
        };
        // SAFETY: the application promises that its buffers are there while it executes.
        unsafe { outputs.write(&prepared.columns, &rows, &[0], &mut report) }?;
        Ok(code)
    }

    /// Opens a result.
    fn open(&mut self, cursor: Cursor) {
        let columns = Arc::clone(&cursor.columns);
        self.describe(&columns);
        self.bound.forget();
        self.get_data.forget();
        self.position = 0;
        self.cursor = Some(cursor);
    }

    /// Opens a result that the driver has made.
    pub(crate) fn open_table(&mut self, table: &Table) -> Result<Return> {
        let (link, longest) = (Arc::clone(&self.link), self.link.longest_name());
        let columns: Arc<[Column]> = table
            .headings
            .iter()
            .map(|heading| Column::of_heading(heading, link.is_odbc2, &link.types, longest))
            .collect();
        self.prepared = None;
        self.state = Phase::Executed;
        self.row_count = -1;
        let most = self.attributes.max_rows as u64;
        self.open(Cursor::of_batch(columns, table.batch.clone(), most));
        DONE
    }

    /// Hands on what the server warned of.
    fn warn_of_server(&mut self) {
        let Ok(connection) = self.link.session.connection() else { return };
        for warning in connection.take_statement_warnings() {
            self.warn(State::WARNING, warning.to_string());
        }
    }

    /// `SQLMoreResults`: there is never another one.
    pub(crate) fn more_results(&mut self) -> Result<Return> {
        self.close_cursor();
        Ok(abi::NO_DATA)
    }

    /// Rows that the last execution changed.
    pub(crate) fn row_count(&self) -> Result<Len> {
        if self.state != Phase::Executed {
            return Err(Failure::new(State::SEQUENCE, "the statement has not been executed"));
        }
        // After a call that changed rows through the cursor, their number.
        let changed = self.cursor.as_ref().and_then(|cursor| cursor.positioned.count);
        if let Some(rows) = changed {
            return Ok(Len::try_from(rows).unwrap_or(Len::MAX));
        }
        let total = self.cursor.as_ref().and_then(Cursor::total).filter(|_| self.attributes.is_scrollable());
        Ok(total.and_then(|rows| Len::try_from(rows).ok()).unwrap_or(self.row_count))
    }
}

/// What became of each set of parameters.
#[derive(Debug)]
pub(crate) struct Statuses {
    codes: Vec<u16>,
    worked: usize,
    executed: ULen,
}

impl Statuses {
    pub(crate) fn new(sets: usize) -> Self {
        Self { codes: vec![abi::PARAM_UNUSED; sets], worked: 0, executed: 0 }
    }

    fn succeed(&mut self, set: usize) {
        self.codes[set] = abi::PARAM_SUCCESS;
        self.worked += 1;
        self.executed += 1;
    }

    fn fail(&mut self, set: usize) {
        self.codes[set] = abi::PARAM_ERROR;
        self.executed += 1;
    }

    fn has_worked(&self, set: usize) -> bool {
        self.codes[set] == abi::PARAM_SUCCESS
    }

    /// What it returned had to be cut.
    fn warn(&mut self, set: usize) {
        if self.codes[set] == abi::PARAM_SUCCESS {
            self.codes[set] = abi::PARAM_SUCCESS_WITH_INFO;
        }
    }

    /// What it returned could not be converted.
    fn spoil(&mut self, set: usize) {
        if self.codes[set] != abi::PARAM_ERROR {
            self.codes[set] = abi::PARAM_ERROR;
            self.worked -= 1;
        }
    }

    /// It was not executed.
    fn leave(&mut self, set: usize) {
        self.codes[set] = abi::PARAM_UNUSED;
    }

    fn worked(&self) -> usize {
        self.worked
    }

    pub(crate) fn codes(&self) -> &[u16] {
        &self.codes
    }

    /// The number of sets that were executed, those that failed included.
    pub(crate) fn executed(&self) -> ULen {
        self.executed
    }
}
