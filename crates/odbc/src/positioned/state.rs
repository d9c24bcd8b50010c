//! What a cursor remembers of the changes made through it.

use super::base_table::BaseTable;
use arrow::array::ArrayRef;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The part of a cursor that concerns changes of its rows.
#[derive(Debug)]
pub(crate) struct Positioned {
    /// Which result it is, of all that there ever were.
    pub(crate) serial: u64,
    /// The query; none if the driver has made the result.
    pub(crate) sql: Option<Arc<str>>,
    /// Whether the cursor has a transaction of its own, in which changes are not made.
    pub(crate) is_apart: bool,
    pub(super) table: Option<Arc<BaseTable>>,
    /// Rows that were changed through the cursor. The rows at hand stay as they were read.
    pub(super) changed: HashMap<u64, Change>,
    /// Rows that the last call changed.
    pub(crate) count: Option<u64>,
}

/// What became of a row.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// These columns of its condition have other values: arrays of one row.
    Updated(HashMap<usize, ArrayRef>),
    /// A statement changed it. Only the values that identify it are still known.
    Unknown,
    Deleted,
}

impl Positioned {
    pub(crate) fn new(sql: Option<Arc<str>>, is_apart: bool) -> Self {
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { serial, sql, is_apart, table: None, changed: HashMap::new(), count: None }
    }

    /// Rows before this one do not come back.
    pub(crate) fn forget_before(&mut self, row: u64) {
        if !self.changed.is_empty() {
            self.changed.retain(|changed, _| *changed >= row);
        }
    }

    pub(super) fn is_deleted(&self, row: u64) -> bool {
        matches!(self.changed.get(&row), Some(Change::Deleted))
    }

    /// A row has new values in these columns.
    pub(super) fn update(&mut self, row: u64, values: impl IntoIterator<Item = (usize, ArrayRef)>) {
        match self.changed.entry(row).or_insert_with(|| Change::Updated(HashMap::new())) {
            Change::Updated(known) => known.extend(values),
            Change::Unknown | Change::Deleted => {}
        }
    }
}
