//! Attributes of statements, those of descriptors aside.

use crate::abi::attribute::statement::{CONCUR_READ_ONLY, FORWARD_ONLY};
use crate::abi::{Pointer, ULen};
use std::ptr::null_mut;

/// The attributes of a statement that no descriptor has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatementAttributes {
    /// Seconds; 0 = none.
    pub(crate) query_timeout: ULen,
    /// 0 = all.
    pub(crate) max_rows: ULen,
    /// Bytes of text and binary values; 0 = all.
    pub(crate) max_length: ULen,
    /// Whether SQL text is sent as it is.
    pub(crate) no_scan: bool,
    pub(crate) cursor_type: ULen,
    pub(crate) concurrency: ULen,
    /// Whether a fetch writes into buffers.
    pub(crate) retrieve_data: bool,
    /// `SQL_UB_OFF` (0), `SQL_UB_FIXED` (1) or `SQL_UB_VARIABLE` (2).
    pub(crate) bookmarks: ULen,
    /// Rows of `SQLExtendedFetch`.
    pub(crate) rowset_size: ULen,
    pub(crate) sensitivity: ULen,
    pub(crate) auto_ipd: bool,
    pub(crate) metadata_id: bool,
    pub(crate) fetch_bookmark: Pointer,
}

// SAFETY: the pointers are dereferenced only within a call that holds the object's lock; the application promised when it set them
// that they stay valid until it takes them back.
unsafe impl Send for StatementAttributes {}
// SAFETY: as above.
unsafe impl Sync for StatementAttributes {}

impl Default for StatementAttributes {
    fn default() -> Self {
        Self {
            query_timeout: 0,
            max_rows: 0,
            max_length: 0,
            no_scan: false,
            cursor_type: FORWARD_ONLY,
            concurrency: CONCUR_READ_ONLY,
            retrieve_data: true,
            bookmarks: 0,
            rowset_size: 1,
            sensitivity: 0,
            auto_ipd: true,
            metadata_id: false,
            fetch_bookmark: null_mut(),
        }
    }
}

impl StatementAttributes {
    /// Whether rows can be fetched in any order.
    pub(crate) fn is_scrollable(&self) -> bool {
        self.cursor_type != FORWARD_ONLY
    }
}
