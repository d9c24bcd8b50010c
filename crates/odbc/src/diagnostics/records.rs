//! The diagnostic records of a handle.

use super::Failure;
use super::function::{self, Function};
use crate::abi::{self, Len, Return};
use crate::text::Text;

/// What the last call on a handle left: a header and records.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    records: Vec<Record>,
    /// The first ones, which are no warnings.
    errors: usize,
    /// What the last call returned.
    pub(crate) code: Return,
    /// Rows affected by the last statement.
    pub(crate) row_count: Len,
    /// Rows of the cursor.
    pub(crate) cursor_rows: Len,
    /// What the last statement does, as the standard calls and numbers it.
    pub(crate) function: Function,
    /// Records that `SQLError` has handed out.
    consumed: usize,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            errors: 0,
            code: abi::SUCCESS,
            row_count: 0,
            cursor_rows: 0,
            function: function::UNKNOWN,
            consumed: 0,
        }
    }
}

/// A diagnostic record.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) failure: Failure,
    /// The text with the components that it comes from.
    pub(crate) message: Text,
}

impl From<Failure> for Record {
    fn from(failure: Failure) -> Self {
        let server = if failure.of_server { "[Firebird]" } else { "" };
        let message =
            Text::from(format!("[firearrow][Firebird ODBC Driver]{server}{}", failure.text).as_str());
        Self { failure, message }
    }
}

impl Diagnostics {
    /// A new call begins.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        (self.errors, self.consumed) = (0, 0);
    }

    /// Adds a record. Errors come before warnings, as the standard demands; otherwise they keep their order.
    pub(crate) fn add(&mut self, failure: Failure) {
        if failure.state.is_warning() {
            self.records.push(failure.into());
        } else {
            self.records.insert(self.errors, failure.into());
            self.errors += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The record with this number, counted from 1.
    pub(crate) fn get(&self, number: usize) -> Option<&Record> {
        self.records.get(number.checked_sub(1)?)
    }

    /// The next record for `SQLError`, which hands out each once.
    pub(crate) fn consume(&mut self) -> Option<&Record> {
        let record = self.records.get(self.consumed)?;
        self.consumed += 1;
        Some(record)
    }
}
