//! `SQLBulkOperations`

use super::operation::Target;
use super::report::Report;
use crate::abi::attribute::statement::CONCUR_READ_ONLY;
use crate::abi::{Return, SmallInt};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Statement;

const ADD: SmallInt = 4;
const UPDATE_BY_BOOKMARK: SmallInt = 5;
/// `SQL_DELETE_BY_BOOKMARK` is between them.
const FETCH_BY_BOOKMARK: SmallInt = 7;

impl Statement {
    pub(crate) fn bulk_operation(&mut self, operation: SmallInt) -> Result<Return> {
        self.open_cursor()?;
        if !(ADD..=FETCH_BY_BOOKMARK).contains(&operation) {
            return Err(Failure::new(State::ATTRIBUTE, format!("there is no bulk operation {operation}")));
        }
        if operation != ADD && (self.attributes.bookmarks == 0 || !self.attributes.is_scrollable()) {
            let text = "the statement has no bookmarks: set SQL_ATTR_USE_BOOKMARKS, and a static cursor";
            return Err(Failure::new(State::ATTRIBUTE, text));
        }
        let size = self.ard.lock().array_size.max(1);
        if operation == FETCH_BY_BOOKMARK {
            return self.fetch_by_bookmarks(size);
        }
        if self.attributes.concurrency == CONCUR_READ_ONLY {
            let text =
                "the cursor is read-only: set SQL_ATTR_CONCURRENCY to SQL_CONCUR_VALUES before the query";
            return Err(Failure::new(State::ATTRIBUTE, text));
        }
        let table = self.base_table()?;
        let statuses = self.ird.lock().array_status_ptr;
        let mut report = Report::new(size);
        if operation == ADD {
            let targets = (0..size).map(|slot| Target { slot, row: 0 }).collect();
            self.add(&table, targets, &mut report)?;
        } else {
            let mut targets = Vec::with_capacity(size);
            for (slot, bookmark) in self.bookmarks(size)?.into_iter().enumerate() {
                match bookmark {
                    Ok(row) => targets.push(Target { slot, row }),
                    Err(failure) => report.fail(slot, failure),
                }
            }
            match operation {
                UPDATE_BY_BOOKMARK => self.update(&table, targets, &mut report)?,
                _ => self.delete(&table, targets, &mut report)?,
            }
        }
        // SAFETY: the application promises room for the row set.
        Ok(unsafe { self.finish(report, statuses) })
    }
}
