//! Statements that change the current row of another statement's cursor.

use super::changer::batch;
use super::clause::Clause;
use super::condition::{Condition, check_locks};
use super::name;
use super::operation::conflict;
use super::state::Change;
use crate::abi::attribute::statement::CONCUR_READ_ONLY;
use crate::abi::{self, HANDLE_STMT, Handle, Return};
use crate::diagnostics::{Failure, Result, State};
use crate::execute::{Inputs, Text};
use crate::handle::registry::{self, Attempt, InUse};
use crate::handle::statement::Prepared;
use crate::handle::{Id, Statement};
use firearrow::OnFailure;
use std::ptr::without_provenance_mut;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a statement waits for one whose cursor it names while another thread uses it. Two threads could otherwise wait for
/// each other forever.
const PATIENCE: Duration = Duration::from_secs(5);

/// The cursor that a statement refers to.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// The table that the statement changes.
    table: String,
    /// The cursor's name as it is written.
    cursor: String,
    before: String,
    after: String,
    is_delete: bool,
    /// What stands for WHERE CURRENT OF.
    condition: String,
    /// Markers that the application does not see, at the end.
    pub(crate) hidden: usize,
}

/// The row that a statement changes.
struct Current {
    condition: Condition,
    statement: Id,
    /// The result, and its row.
    serial: u64,
    row: u64,
}

fn unknown(name: &str) -> Failure {
    Failure::new(State::CURSOR_NAME, format!("no open cursor of the connection is called {name}"))
}

impl Statement {
    /// Replaces WHERE CURRENT OF by a condition that finds the row, if the text has it.
    pub(crate) fn refer(&mut self, text: &mut Text) -> Result<()> {
        let Some(clause) = Clause::find(&text.sql) else { return Ok(()) };
        if crate::escape::markers(clause.after) > 0 {
            let text = "parameters after WHERE CURRENT OF are not supported";
            return Err(Failure::new(State::NOT_IMPLEMENTED, text));
        }
        let mut reference = Reference {
            table: clause.table.clone(),
            cursor: clause.cursor.to_owned(),
            before: clause.before.to_owned(),
            after: clause.after.to_owned(),
            is_delete: clause.is_delete,
            condition: String::new(),
            hidden: 0,
        };
        let (_, mut in_use) = self.find_cursor(&reference.cursor)?;
        let of = in_use.statement().ok_or_else(|| unknown(&reference.cursor))?;
        reference.set_condition(of.condition_of(&reference)?);
        text.sql = reference.sql();
        text.reference = Some(reference);
        Ok(())
    }

    /// The statement of the connection whose open cursor has this name, for this call.
    fn find_cursor(&self, written: &str) -> Result<(Id, InUse)> {
        let id = self.link.cursor_named(|name| name::is_of_cursor(written, name), written);
        let id = id.or_else(|| generated(written)).filter(|id| *id != self.id);
        let id = id.ok_or_else(|| unknown(written))?;
        let mut in_use = wait_for(id, written)?;
        let Some(statement) = in_use.statement() else { return Err(unknown(written)) };
        if !Arc::ptr_eq(&statement.link, &self.link) {
            return Err(unknown(written));
        }
        statement.notice_ends();
        let is_it = statement.cursor.is_some() && name::is_of_cursor(written, &statement.cursor_name());
        if is_it { Ok((id, in_use)) } else { Err(unknown(written)) }
    }

    /// The usual condition for rows of the open cursor.
    fn condition_of(&mut self, reference: &Reference) -> Result<String> {
        let table = self.base_table()?;
        if table.name != reference.table {
            let text = format!(
                "the cursor {} is over {}, not over {}",
                reference.cursor, table.name, reference.table
            );
            return Err(Failure::new(State::SYNTAX, text));
        }
        check_locks(self.open_cursor()?, &table)?;
        Condition::usual(&table, self.compares())
    }

    /// Whether a change must find the values that were read.
    fn compares(&self) -> bool {
        self.attributes.concurrency != CONCUR_READ_ONLY
    }

    fn current(&self, reference: &Reference) -> Result<Current> {
        let (id, mut in_use) = self.find_cursor(&reference.cursor)?;
        let of = in_use.statement().ok_or_else(|| unknown(&reference.cursor))?;
        // It may be another result than when the statement was prepared.
        of.condition_of(reference)?;
        let table = of.base_table()?;
        let (compares, position) = (of.compares(), of.position);
        let cursor = of.open_cursor()?;
        let rows = cursor.rowset().filter(|rows| rows.start + position < rows.end);
        let state =
            |text: &str| Failure::new(State::CURSOR_STATE, format!("the cursor {} {text}", reference.cursor));
        let row = rows.ok_or_else(|| state("is on no row: fetch one"))?.start + position;
        if cursor.positioned.is_deleted(row) {
            return Err(state("is on a row that has been deleted"));
        }
        let condition = Condition::new(cursor, &table, &[row], compares)?;
        Ok(Current { condition, statement: id, serial: cursor.positioned.serial, row })
    }

    /// Executes a statement for the current row of the cursor that it names.
    pub(crate) fn execute_for_current(
        &mut self,
        inputs: &Inputs,
        mut prepared: Prepared,
        reference: &Reference,
    ) -> Result<Return> {
        let outcome = self.execute_current(inputs, &mut prepared, reference);
        inputs.report_all(if outcome.is_ok() { abi::PARAM_SUCCESS } else { abi::PARAM_ERROR });
        let outcome = outcome?;
        let is_lost = outcome.affected == Some(0);
        let code = self.opened(outcome, Some(&prepared))?;
        if is_lost {
            self.diagnostics.add(conflict());
        }
        Ok(code)
    }

    fn execute_current(
        &mut self,
        inputs: &Inputs,
        prepared: &mut Prepared,
        reference: &Reference,
    ) -> Result<firearrow_driver::Outcome> {
        if !inputs.is_single() {
            let text = "a statement with WHERE CURRENT OF takes one set of parameters";
            return Err(Failure::new(State::NOT_IMPLEMENTED, text));
        }
        let current = self.current(reference)?;
        if current.condition.sql != reference.condition {
            *prepared = self.refer_anew(prepared, reference, &current.condition.sql)?;
        }
        let parameters = prepared.description.parameters.get(..prepared.parameters.len());
        // SAFETY: the application promises that its buffers are there while it executes.
        let read = unsafe { inputs.read(parameters.unwrap_or_default()) }?;
        if let Some((_, failure)) = read.failed.into_iter().next() {
            return Err(failure);
        }
        let columns =
            read.batch.columns().iter().cloned().chain(current.condition.values.iter().cloned()).collect();
        let outcome = self.execute_batch(batch(columns, 1)?, OnFailure::Stop)?;
        if outcome.affected != Some(0) {
            note(&current, reference.is_delete);
        }
        Ok(outcome)
    }

    /// Prepares it for another condition. The application's parameters stay as they are.
    fn refer_anew(
        &mut self,
        prepared: &Prepared,
        reference: &Reference,
        condition: &str,
    ) -> Result<Prepared> {
        let mut reference = reference.clone();
        reference.set_condition(condition.to_owned());
        self.driver.options.timeout = self.timeout();
        let former =
            self.prepared.as_ref().and_then(|prepared| prepared.reference.as_ref()).map(Reference::sql);
        let described = self.driver.set_query(&reference.sql()).and_then(|()| self.driver.description());
        let description = match described {
            Ok(description) => description,
            Err(error) => {
                // It stays what it was.
                self.driver.set_query(&former.unwrap_or_default())?;
                return Err(error.into());
            }
        };
        let prepared = Prepared { description, reference: Some(reference), ..prepared.clone() };
        self.prepared = Some(prepared.clone());
        Ok(prepared)
    }
}

impl Reference {
    fn set_condition(&mut self, condition: String) {
        self.hidden = crate::escape::markers(&condition);
        self.condition = condition;
    }

    fn sql(&self) -> String {
        [&self.before, &self.condition, &self.after].map(String::as_str).concat()
    }
}

/// The statement of a name that the driver has made.
fn generated(written: &str) -> Option<Id> {
    let number = written.trim_matches('"').to_ascii_uppercase();
    let number = usize::from_str_radix(number.strip_prefix("SQL_CUR")?, 16).ok()?;
    let handle: Handle = without_provenance_mut(number);
    Some(Id::from(handle))
}

/// The statement, once no other thread uses it.
fn wait_for(id: Id, written: &str) -> Result<InUse> {
    let start = Instant::now();
    loop {
        match registry::attempt(id) {
            Attempt::InUse(in_use) => return Ok(in_use),
            Attempt::Gone => return Err(unknown(written)),
            // What is no statement may be in use for long.
            Attempt::Busy if !registry::may_be(id, HANDLE_STMT) => return Err(unknown(written)),
            Attempt::Busy => {}
        }
        if start.elapsed() > PATIENCE {
            let text = format!("another thread uses the statement of the cursor {written}");
            return Err(Failure::new(State::SEQUENCE, text));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Tells the cursor what became of its row, unless it is gone.
fn note(current: &Current, is_delete: bool) {
    let Ok(mut in_use) = wait_for(current.statement, "") else { return };
    let Some(cursor) = in_use.statement().and_then(|statement| statement.cursor.as_mut()) else { return };
    if cursor.positioned.serial == current.serial {
        let change = if is_delete { Change::Deleted } else { Change::Unknown };
        cursor.positioned.changed.insert(current.row, change);
    }
}
