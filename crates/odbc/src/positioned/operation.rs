//! `SQLSetPos` with UPDATE, DELETE and ADD.

use super::base_table::BaseTable;
use super::buffers::{Buffer, buffers};
use super::changer::{batch, set_pos};
use super::condition::{Condition, check_locks};
use super::report::Report;
use super::state::Change;
use crate::abi::attribute::statement::CONCUR_READ_ONLY;
use crate::abi::{self, Len, Return, USmallInt};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Statement;
use crate::params::{self, Source, Supplied};
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use std::sync::Arc;

/// A row of the result, and the slot of the application's buffers that belongs to it. Rows that are added are none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) slot: usize,
    pub(super) row: u64,
}

/// Rows that one statement changes.
struct Group {
    /// The buffers that have values.
    buffers: Vec<usize>,
    targets: Vec<Target>,
    /// Whether more rows may join it.
    is_open: bool,
}

fn no_row(row: usize, size: usize) -> Failure {
    Failure::new(State::ROW, format!("there is no row {row}: the row set has {size}"))
}

impl Statement {
    /// Refuses changes through a cursor that was not declared for them.
    pub(super) fn expect_changeable(&mut self) -> Result<Arc<BaseTable>> {
        self.open_cursor()?;
        if self.attributes.concurrency == CONCUR_READ_ONLY {
            let text =
                "the cursor is read-only: set SQL_ATTR_CONCURRENCY to SQL_CONCUR_VALUES before the query";
            return Err(Failure::new(State::ATTRIBUTE, text));
        }
        self.base_table()
    }

    /// The table of the open result.
    pub(super) fn base_table(&mut self) -> Result<Arc<BaseTable>> {
        let link = Arc::clone(&self.link);
        let cursor = self.open_cursor()?;
        if let Some(table) = &cursor.positioned.table {
            return Ok(Arc::clone(table));
        }
        let sql = cursor.positioned.sql.as_deref();
        let table = Arc::new(BaseTable::new(sql, &cursor.columns, cursor.types(), &link)?);
        cursor.positioned.table = Some(Arc::clone(&table));
        Ok(table)
    }

    /// `SQLSetPos`, as far as it changes rows.
    pub(crate) fn change_rows(&mut self, row: usize, operation: USmallInt) -> Result<Return> {
        let table = self.expect_changeable()?;
        let (operations, array_size) = {
            let ard = self.ard.lock();
            (ard.array_status_ptr, ard.array_size.max(1))
        };
        let statuses = self.ird.lock().array_status_ptr;
        let rows = self.open_cursor()?.rowset();
        let (start, size) = match rows {
            Some(rows) => (rows.start, (rows.end - rows.start) as usize),
            None if operation == set_pos::ADD => (0, array_size),
            None => return Err(Failure::new(State::CURSOR_STATE, "the cursor is on no row: fetch one")),
        };
        // Applications of ODBC 2 add rows from a slot after those of the row set.
        let slots = match operation {
            set_pos::ADD if self.link.is_odbc2 => size.max(array_size).max(self.attributes.rowset_size) + 1,
            set_pos::ADD => size.max(array_size),
            _ => size,
        };
        if row > slots {
            return Err(no_row(row, size));
        }
        let is_wanted = |slot: &usize| {
            // SAFETY: the application promises that the array has an element for each row.
            operations.is_null() || unsafe { operations.add(*slot).read_unaligned() } != abi::ROW_IGNORE
        };
        let wanted: Vec<usize> = match row {
            0 => (0..size).filter(is_wanted).collect(),
            row => vec![row - 1],
        };
        let targets: Vec<Target> =
            wanted.into_iter().map(|slot| Target { slot, row: start + slot as u64 }).collect();
        if row > 0 && operation != set_pos::ADD {
            self.position = row as u64 - 1;
            self.get_data.restart();
        }
        let mut report = Report::new(size);
        match operation {
            set_pos::UPDATE => self.update(&table, targets, &mut report)?,
            set_pos::DELETE => self.delete(&table, targets, &mut report)?,
            _ => self.add(&table, targets, &mut report)?,
        }
        // SAFETY: the application promises room for the row set.
        Ok(unsafe { self.finish(report, statuses) })
    }

    /// Reports a call.
    ///
    /// # Safety
    /// As for [`Report::finish`].
    pub(super) unsafe fn finish(&mut self, report: Report, statuses: *mut USmallInt) -> Return {
        if let Some(cursor) = &mut self.cursor {
            cursor.positioned.count = Some(report.changed);
            self.diagnostics.row_count = Len::try_from(report.changed).unwrap_or(Len::MAX);
        }
        // SAFETY: the caller's promise.
        unsafe { report.finish(statuses, &mut self.diagnostics) }
    }

    /// Updates rows with what their slots have.
    pub(super) fn update(
        &mut self,
        table: &BaseTable,
        targets: Vec<Target>,
        report: &mut Report,
    ) -> Result<()> {
        table.key()?;
        check_locks(self.open_cursor()?, table)?;
        let buffers = self.buffers(table)?;
        for Group { buffers: given, targets, .. } in self.groups(&buffers, targets, report)? {
            if given.is_empty() {
                let text = "no column of the row is bound, can be written and has a value";
                targets.iter().for_each(|target| {
                    report.fail(target.slot, Failure::new(State::DERIVED_COUNT, text));
                });
                continue;
            }
            let given: Vec<&Buffer> = given.iter().map(|&at| &buffers[at]).collect();
            let set: Vec<_> =
                given.iter().map(|buffer| format!("{} = ?", table.column(buffer.column))).collect();
            let before = format!("UPDATE {} SET {}", table.sql, set.join(", "));
            self.change(table, &before, &given, &targets, abi::ROW_UPDATED, report);
        }
        Ok(())
    }

    /// Deletes rows.
    pub(super) fn delete(
        &mut self,
        table: &BaseTable,
        targets: Vec<Target>,
        report: &mut Report,
    ) -> Result<()> {
        table.key()?;
        check_locks(self.open_cursor()?, table)?;
        let before = format!("DELETE FROM {}", table.sql);
        for Group { targets, .. } in self.groups(&[], targets, report)? {
            self.change(table, &before, &[], &targets, abi::ROW_DELETED, report);
        }
        Ok(())
    }

    /// Inserts what slots have. Columns without a value get their defaults.
    pub(super) fn add(&mut self, table: &BaseTable, targets: Vec<Target>, report: &mut Report) -> Result<()> {
        let buffers = self.buffers(table)?;
        for Group { buffers: given, targets, .. } in self.groups_to_add(&buffers, targets, report) {
            let given: Vec<&Buffer> = given.iter().map(|&at| &buffers[at]).collect();
            let names: Vec<_> = given.iter().map(|buffer| table.column(buffer.column)).collect();
            let markers = vec!["?"; names.len()].join(", ");
            let sql = match names.is_empty() {
                true => format!("INSERT INTO {} DEFAULT VALUES", table.sql),
                false => format!("INSERT INTO {} ({}) VALUES ({markers})", table.sql, names.join(", ")),
            };
            // Rows without columns are executed as one.
            let most = if names.is_empty() { 1 } else { targets.len() };
            for part in targets.chunks(most) {
                self.execute_group(&sql, &given, part, &[], report, abi::ROW_ADDED, |_, _, _| {});
            }
        }
        Ok(())
    }

    fn buffers(&mut self, table: &BaseTable) -> Result<Vec<Buffer>> {
        let columns = Arc::clone(&self.open_cursor()?.columns);
        Ok(buffers(&self.ard.lock(), &columns, table))
    }

    /// Divides rows into those that one statement can change. Rows that were changed before are on their own, since their
    /// conditions have values of other types.
    fn groups(
        &mut self,
        buffers: &[Buffer],
        targets: Vec<Target>,
        report: &mut Report,
    ) -> Result<Vec<Group>> {
        let positioned = &self.open_cursor()?.positioned;
        let mut groups = Vec::new();
        for target in targets {
            if positioned.is_deleted(target.row) {
                report.fail(target.slot, Failure::new(State::POSITION, "the row has been deleted"));
                continue;
            }
            let is_open = !positioned.changed.contains_key(&target.row);
            join(&mut groups, buffers, target, is_open, report);
        }
        Ok(groups)
    }

    fn groups_to_add(&self, buffers: &[Buffer], targets: Vec<Target>, report: &mut Report) -> Vec<Group> {
        let mut groups = Vec::new();
        targets.into_iter().for_each(|target| join(&mut groups, buffers, target, true, report));
        groups
    }

    /// Changes rows that have conditions of the same form.
    fn change(
        &mut self,
        table: &BaseTable,
        before: &str,
        buffers: &[&Buffer],
        targets: &[Target],
        status: USmallInt,
        report: &mut Report,
    ) {
        let rows: Vec<u64> = targets.iter().map(|target| target.row).collect();
        let condition = match self.open_cursor().and_then(|cursor| Condition::new(cursor, table, &rows, true))
        {
            Ok(condition) => condition,
            Err(failure) => return fail_all(targets, failure, report),
        };
        let sql = format!("{before} {}", condition.sql);
        let is_update = status == abi::ROW_UPDATED;
        let columns: Vec<_> = buffers.iter().map(|buffer| table.in_condition(buffer.column)).collect();
        self.execute_group(
            &sql,
            buffers,
            targets,
            &condition.values,
            report,
            status,
            |statement, row, values| {
                let Some(cursor) = &mut statement.cursor else { return };
                if is_update {
                    let known = columns.iter().zip(values);
                    let known = known.filter_map(|(at, value)| Some(((*at)?, Arc::clone(value))));
                    cursor.positioned.update(row, known);
                } else {
                    cursor.positioned.changed.insert(row, Change::Deleted);
                }
            },
        );
    }

    /// Executes SQL for slots, with the values of buffers and then those of a condition. Calls `done` for each row that was
    /// changed, with its new values.
    #[expect(clippy::too_many_arguments, reason = "one call each for what is changed and how")]
    fn execute_group(
        &mut self,
        sql: &str,
        buffers: &[&Buffer],
        targets: &[Target],
        condition: &[ArrayRef],
        report: &mut Report,
        status: USmallInt,
        mut done: impl FnMut(&mut Self, u64, &[ArrayRef]),
    ) {
        let slots: Vec<usize> = targets.iter().map(|target| target.slot).collect();
        let bindings: Vec<_> = buffers.iter().map(|buffer| buffer.binding.clone()).collect();
        let read = self.prepare_change(sql).and_then(|description| {
            let parameters = description.parameters.get(..bindings.len());
            let parameters = parameters
                .ok_or_else(|| Failure::new(State::GENERAL, "the server describes too few parameters"))?;
            let supplied = Supplied::default();
            let source = Source { supplied: &supplied, sets: &slots, is_call: false };
            // SAFETY: the application promises that the bound buffers have room for its row set.
            unsafe { params::read(&bindings, source, parameters) }
        });
        let read = match read {
            Ok(read) => read,
            Err(failure) => return fail_all(targets, failure, report),
        };
        for (slot, failure) in read.failed {
            report.fail(slot, failure);
        }
        let left: Vec<Target> =
            targets.iter().copied().filter(|target| read.sets.contains(&target.slot)).collect();
        let places = targets.iter().enumerate().filter(|(_, target)| read.sets.contains(&target.slot));
        let places: UInt32Array = places.map(|(at, _)| u32::try_from(at).unwrap_or(u32::MAX)).collect();
        let condition = condition.iter().map(|values| take(values.as_ref(), &places, None));
        let rows = condition
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Failure::new(State::GENERAL, error.to_string()));
        let rows = rows.and_then(|condition| {
            batch(read.batch.columns().iter().cloned().chain(condition).collect(), left.len())
        });
        let rows = match rows {
            Ok(rows) => rows,
            Err(failure) => return fail_all(&left, failure, report),
        };
        let (results, failure) = self.execute_change(rows);
        for (at, (target, result)) in left.iter().zip(&results).enumerate() {
            match result {
                Ok(Some(0)) => report.fail(target.slot, conflict()),
                Ok(_) => {
                    report.succeed(target.slot, status);
                    let values: Vec<_> =
                        read.batch.columns().iter().map(|values| values.slice(at, 1)).collect();
                    done(self, target.row, &values);
                }
                Err(failure) => report.fail(target.slot, failure.clone()),
            }
        }
        if let Some(failure) = failure {
            fail_all(left.get(results.len()..).unwrap_or_default(), failure, report);
        }
    }
}

/// The warning that a row is not there any more as it was read.
pub(super) fn conflict() -> Failure {
    let text = "the row was not changed: it has been changed or deleted since it was read";
    Failure::new(State::CURSOR_CONFLICT, text)
}

/// One failure for all these rows.
fn fail_all(targets: &[Target], failure: Failure, report: &mut Report) {
    let Some((first, others)) = targets.split_first() else { return };
    report.fail(first.slot, failure);
    others.iter().for_each(|target| report.fail_too(target.slot));
}

/// Adds a row to the group that changes the same columns.
fn join(groups: &mut Vec<Group>, buffers: &[Buffer], target: Target, is_open: bool, report: &mut Report) {
    let mut given = Vec::with_capacity(buffers.len());
    for (at, buffer) in buffers.iter().enumerate() {
        // SAFETY: the application promises that the bound buffers have room for its row set.
        match unsafe { buffer.is_given(target.slot) } {
            Ok(true) => given.push(at),
            Ok(false) => {}
            Err(failure) => return report.fail(target.slot, failure),
        }
    }
    let fitting = groups.iter_mut().find(|group| is_open && group.is_open && group.buffers == given);
    match fitting {
        Some(group) => group.targets.push(target),
        None => groups.push(Group { buffers: given, targets: vec![target], is_open }),
    }
}
