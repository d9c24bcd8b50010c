//! Cursors, fetching, parameters and transactions.

use super::{Answer, Facts};
use crate::abi::attribute::connection::{READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE};
use crate::abi::info;
use crate::abi::info_value::{cursor1, cursor2, fetch_direction};

const STATIC_1: u32 = FORWARD_ONLY_1
    | cursor1::ABSOLUTE
    | cursor1::RELATIVE
    | cursor1::BOOKMARK
    | cursor1::BULK_UPDATE_BY_BOOKMARK
    | cursor1::BULK_DELETE_BY_BOOKMARK
    | cursor1::BULK_FETCH_BY_BOOKMARK;
const STATIC_2: u32 = FORWARD_ONLY_2 | cursor2::CRC_EXACT;
const FORWARD_ONLY_1: u32 = cursor1::NEXT
    | cursor1::LOCK_NO_CHANGE
    | cursor1::POS_POSITION
    | cursor1::POS_UPDATE
    | cursor1::POS_DELETE
    | cursor1::POSITIONED_UPDATE
    | cursor1::POSITIONED_DELETE
    | cursor1::SELECT_FOR_UPDATE
    | cursor1::BULK_ADD;
/// Changes are made by key, so they concern one row.
const FORWARD_ONLY_2: u32 = cursor2::READ_ONLY_CONCURRENCY
    | cursor2::OPT_VALUES_CONCURRENCY
    | cursor2::MAX_ROWS_SELECT
    | cursor2::MAX_ROWS_CATALOG
    | cursor2::SIMULATE_UNIQUE;

/// Of static cursors.
const FETCH_DIRECTIONS: u32 = fetch_direction::NEXT
    | fetch_direction::FIRST
    | fetch_direction::LAST
    | fetch_direction::PRIOR
    | fetch_direction::ABSOLUTE
    | fetch_direction::RELATIVE
    | fetch_direction::BOOKMARK;
/// `SQL_SO_FORWARD_ONLY` and `SQL_SO_STATIC`
const SCROLL_OPTIONS: u32 = 0x1 | 0x10;
/// `SQL_SCCO_READ_ONLY` and `SQL_SCCO_OPT_VALUES`
const SCROLL_CONCURRENCY: u32 = 0x1 | 0x8;
/// `SQL_POS_POSITION`, `SQL_POS_UPDATE`, `SQL_POS_DELETE` and `SQL_POS_ADD`
const POS_OPERATIONS: u32 = 0x1 | 0x4 | 0x8 | 0x10;
/// `SQL_LCK_NO_CHANGE`
const NO_CHANGE: u32 = 0x1;
/// `SQL_PS_POSITIONED_DELETE`, `SQL_PS_POSITIONED_UPDATE` and `SQL_PS_SELECT_FOR_UPDATE`
const POSITIONED_STATEMENTS: u32 = 0x1 | 0x2 | 0x4;
/// `SQL_GD_ANY_COLUMN`, `SQL_GD_ANY_ORDER`, `SQL_GD_BLOCK`, `SQL_GD_BOUND` and `SQL_GD_OUTPUT_PARAMS`
const GETDATA_EXTENSIONS: u32 = 0x1 | 0x2 | 0x4 | 0x8 | 0x10;
/// `SQL_BP_UPDATE` and `SQL_BP_SCROLL`
const BOOKMARK_PERSISTENCE: u32 = 0x10 | 0x40;
/// `SQL_INSENSITIVE`
const INSENSITIVE: u32 = 1;
/// `SQL_CB_CLOSE`: statements stay prepared.
const CLOSE: u16 = 1;
/// `SQL_PARC_NO_BATCH`: one count for all rows of parameters.
const NO_BATCH: u32 = 2;
/// `SQL_PAS_NO_SELECT`
const NO_SELECT: u32 = 3;
/// `SQL_TC_ALL`
const DDL_JOINS: u16 = 2;
/// `SQL_TC_DDL_COMMIT`
const DDL_COMMITS: u16 = 3;

pub(super) fn answer(id: u16, facts: &Facts) -> Option<Answer> {
    Some(match id {
        info::STATIC_CURSOR_ATTRIBUTES1 => Answer::Long(STATIC_1),
        info::STATIC_CURSOR_ATTRIBUTES2 => Answer::Long(STATIC_2),
        info::FORWARD_ONLY_CURSOR_ATTRIBUTES1 => Answer::Long(FORWARD_ONLY_1),
        info::FORWARD_ONLY_CURSOR_ATTRIBUTES2 => Answer::Long(FORWARD_ONLY_2),
        info::KEYSET_CURSOR_ATTRIBUTES1
        | info::KEYSET_CURSOR_ATTRIBUTES2
        | info::DYNAMIC_CURSOR_ATTRIBUTES1
        | info::DYNAMIC_CURSOR_ATTRIBUTES2
        // Static cursors show rows as they were read, whatever was changed through them.
        | info::STATIC_SENSITIVITY
        | info::BATCH_SUPPORT
        | info::BATCH_ROW_COUNT => Answer::Long(0),
        info::CURSOR_SENSITIVITY => Answer::Long(INSENSITIVE),
        info::CURSOR_COMMIT_BEHAVIOR | info::CURSOR_ROLLBACK_BEHAVIOR => Answer::Short(CLOSE),
        info::BOOKMARK_PERSISTENCE => Answer::Long(BOOKMARK_PERSISTENCE),
        info::SCROLL_OPTIONS => Answer::Long(SCROLL_OPTIONS),
        info::SCROLL_CONCURRENCY => Answer::Long(SCROLL_CONCURRENCY),
        info::FETCH_DIRECTION => Answer::Long(FETCH_DIRECTIONS),
        info::POS_OPERATIONS => Answer::Long(POS_OPERATIONS),
        info::LOCK_TYPES => Answer::Long(NO_CHANGE),
        info::POSITIONED_STATEMENTS => Answer::Long(POSITIONED_STATEMENTS),
        info::ROW_UPDATES => Answer::yes(false),
        info::GETDATA_EXTENSIONS => Answer::Long(GETDATA_EXTENSIONS),
        info::PARAM_ARRAY_ROW_COUNTS => Answer::Long(NO_BATCH),
        info::PARAM_ARRAY_SELECTS => Answer::Long(NO_SELECT),
        info::MULT_RESULT_SETS => Answer::yes(false),
        info::MULTIPLE_ACTIVE_TXN => Answer::yes(true),
        info::TXN_CAPABLE => Answer::Short(if facts.commits_ddl { DDL_COMMITS } else { DDL_JOINS }),
        info::TXN_ISOLATION_OPTION => Answer::Long(READ_COMMITTED | REPEATABLE_READ | SERIALIZABLE),
        info::DEFAULT_TXN_ISOLATION => Answer::Long(facts.isolation),
        _ => return None,
    })
}
