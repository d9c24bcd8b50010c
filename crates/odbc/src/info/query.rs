//! What queries can contain: names, predicates, joins, expressions and functions.

use super::{Answer, Facts};
use crate::abi::info;
use crate::abi::info_value::{join, predicate, string_function};
use crate::escape::claimed;
use firearrow::Dialect;

/// `SQL_IC_UPPER`
const UPPER: u16 = 1;
/// `SQL_IC_SENSITIVE`
const SENSITIVE: u16 = 3;
/// `SQL_GB_GROUP_BY_CONTAINS_SELECT`
const CONTAINS_SELECT: u16 = 2;
/// `SQL_CN_ANY`
const ANY_NAME: u16 = 2;
/// `SQL_CB_NULL`
const NULL: u16 = 0;
/// `SQL_NC_LOW`
const NULLS_LOW: u16 = 1;
/// `SQL_U_UNION` and `SQL_U_UNION_ALL`
const UNION: u32 = 0x1 | 0x2;
/// Every `SQL_SQ_…`
const SUBQUERIES: u32 = 0x1F;
/// Every `SQL_OJ_…`
const OUTER_JOINS: u32 = 0x7F;
/// Every `SQL_AF_…`
const AGGREGATES: u32 = 0x7F;
/// Every `SQL_SNVF_…`
const NUMERIC_VALUES: u32 = 0x3F;
/// `SQL_SVE_CASE`, `SQL_SVE_CAST`, `SQL_SVE_COALESCE` and `SQL_SVE_NULLIF`
const EXPRESSIONS: u32 = 0xF;
/// `SQL_SRVC_VALUE_EXPRESSION` and `SQL_SRVC_NULL`
const ROW_VALUES: u32 = 0x1 | 0x2;
/// `SQL_SRVC_DEFAULT`
const ROW_VALUE_DEFAULT: u32 = 0x4;
/// DATE, TIME and TIMESTAMP, both as literals (`SQL_DL_SQL92_…`) and as functions (`SQL_SDF_CURRENT_…`).
const DATETIMES: u32 = 0x1 | 0x2 | 0x4;
/// TIMESTAMP of the same.
const TIMESTAMP: u32 = 0x4;

const PREDICATES: u32 = predicate::EXISTS
    | predicate::ISNOTNULL
    | predicate::ISNULL
    | predicate::LIKE
    | predicate::IN
    | predicate::BETWEEN
    | predicate::COMPARISON
    | predicate::QUANTIFIED_COMPARISON;
const JOINS: u32 = join::CROSS | join::FULL_OUTER | join::INNER | join::LEFT_OUTER | join::RIGHT_OUTER;
const STRINGS: u32 = string_function::LOWER
    | string_function::UPPER
    | string_function::SUBSTRING
    | string_function::TRIM_BOTH
    | string_function::TRIM_LEADING
    | string_function::TRIM_TRAILING;

pub(super) fn answer(id: u16, facts: &Facts) -> Option<Answer> {
    let is_old = facts.dialect == Dialect::One;
    Some(match id {
        info::IDENTIFIER_CASE => Answer::Short(if facts.is_sensitive { SENSITIVE } else { UPPER }),
        info::QUOTED_IDENTIFIER_CASE => Answer::Short(SENSITIVE),
        // A blank means that there are no quotes for names.
        info::IDENTIFIER_QUOTE_CHAR => Answer::text(if is_old || !facts.has_quotes { " " } else { "\"" }),
        info::SEARCH_PATTERN_ESCAPE => Answer::text("\\"),
        info::LIKE_ESCAPE_CLAUSE => Answer::yes(true),
        info::SPECIAL_CHARACTERS => Answer::text("$"),
        info::PROCEDURES
        | info::EXPRESSIONS_IN_ORDERBY
        | info::COLUMN_ALIAS
        | info::INTEGRITY
        | info::OUTER_JOINS => Answer::yes(true),
        info::ORDER_BY_COLUMNS_IN_SELECT => Answer::yes(false),
        info::GROUP_BY => Answer::Short(CONTAINS_SELECT),
        info::CORRELATION_NAME => Answer::Short(ANY_NAME),
        info::CONCAT_NULL_BEHAVIOR => Answer::Short(NULL),
        info::NULL_COLLATION => Answer::Short(NULLS_LOW),
        info::UNION => Answer::Long(UNION),
        info::SUBQUERIES => Answer::Long(SUBQUERIES),
        info::OJ_CAPABILITIES | info::OJ_CAPABILITIES_2 => Answer::Long(OUTER_JOINS),
        info::SQL92_RELATIONAL_JOIN_OPERATORS => {
            Answer::Long(if is_old { JOINS } else { JOINS | join::NATURAL })
        }
        info::SQL92_PREDICATES => Answer::Long(PREDICATES),
        info::SQL92_VALUE_EXPRESSIONS => Answer::Long(EXPRESSIONS),
        info::SQL92_STRING_FUNCTIONS => Answer::Long(STRINGS),
        info::SQL92_NUMERIC_VALUE_FUNCTIONS => Answer::Long(NUMERIC_VALUES),
        info::SQL92_DATETIME_FUNCTIONS | info::DATETIME_LITERALS => {
            Answer::Long(if is_old { TIMESTAMP } else { DATETIMES })
        }
        info::SQL92_ROW_VALUE_CONSTRUCTOR => {
            Answer::Long(if facts.release.is_4() { ROW_VALUES | ROW_VALUE_DEFAULT } else { ROW_VALUES })
        }
        info::AGGREGATE_FUNCTIONS => Answer::Long(AGGREGATES),
        info::STRING_FUNCTIONS => Answer::Long(claimed::STRING_FUNCTIONS),
        info::NUMERIC_FUNCTIONS => Answer::Long(claimed::NUMERIC_FUNCTIONS),
        info::TIMEDATE_FUNCTIONS => Answer::Long(claimed::TIMEDATE_FUNCTIONS),
        info::SYSTEM_FUNCTIONS => Answer::Long(claimed::SYSTEM_FUNCTIONS),
        info::TIMEDATE_ADD_INTERVALS => Answer::Long(claimed::TIMEDATE_ADD_INTERVALS),
        info::TIMEDATE_DIFF_INTERVALS => Answer::Long(claimed::TIMEDATE_DIFF_INTERVALS),
        _ => return None,
    })
}
