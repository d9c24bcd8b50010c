//! Limits of names, statements, rows and numbers of things. 0 = none, or unknown.

use super::{Answer, Facts};
use crate::abi::info;

/// Bytes of an SQL text.
const STATEMENT: u32 = 10 * 1024 * 1024;
/// Bytes of a row without its BLOBs, and of a literal.
const BYTES: u32 = 65_535;

pub(super) fn answer(id: u16, facts: &Facts) -> Option<Answer> {
    let name = facts.release.name_length();
    Some(match id {
        info::MAX_IDENTIFIER_LEN
        | info::MAX_TABLE_NAME_LEN
        | info::MAX_COLUMN_NAME_LEN
        | info::MAX_PROCEDURE_NAME_LEN
        | info::MAX_CURSOR_NAME_LEN
        | info::MAX_USER_NAME_LEN => Answer::Short(name),
        info::MAX_SCHEMA_NAME_LEN => Answer::Short(if facts.release.has_schemas() { name } else { 0 }),
        info::MAX_CATALOG_NAME_LEN => Answer::Short(0),
        info::MAX_COLUMNS_IN_INDEX => Answer::Short(16),
        info::MAX_COLUMNS_IN_TABLE
        | info::MAX_COLUMNS_IN_SELECT
        | info::MAX_COLUMNS_IN_ORDER_BY
        | info::MAX_COLUMNS_IN_GROUP_BY => Answer::Short(0),
        info::MAX_TABLES_IN_SELECT => Answer::Short(255),
        info::MAX_INDEX_SIZE => Answer::Long(facts.page_size / 4),
        info::MAX_ROW_SIZE | info::MAX_CHAR_LITERAL_LEN | info::MAX_BINARY_LITERAL_LEN => Answer::Long(BYTES),
        info::MAX_ROW_SIZE_INCLUDES_LONG => Answer::yes(false),
        info::MAX_STATEMENT_LEN => Answer::Long(STATEMENT),
        info::MAX_DRIVER_CONNECTIONS | info::MAX_CONCURRENT_ACTIVITIES | info::ACTIVE_ENVIRONMENTS => {
            Answer::Short(0)
        }
        info::MAX_ASYNC_CONCURRENT_STATEMENTS => Answer::Long(0),
        _ => return None,
    })
}
