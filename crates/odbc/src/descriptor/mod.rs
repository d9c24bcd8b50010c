//! Fields of descriptors: what `SQLGetDescField` and the like read and write.

mod copy;
mod get;
mod set;

pub(crate) use copy::{copy, of_column};
pub(crate) use get::{Field, get};
pub(crate) use set::{Setting, set};

use crate::abi::{SmallInt, sql_type};
use crate::diagnostics::{Failure, State};

fn unknown(field: SmallInt) -> Failure {
    Failure::new(State::FIELD, format!("there is no such descriptor field {field}"))
}

/// The type, and the code below it, of a concise type. Datetimes and intervals share a type.
pub(crate) fn verbose(concise: SmallInt) -> (SmallInt, SmallInt) {
    match concise {
        sql_type::TYPE_DATE..=sql_type::TYPE_TIMESTAMP => {
            (sql_type::DATETIME, concise - sql_type::TYPE_DATE + sql_type::CODE_DATE)
        }
        101..=113 => (INTERVAL, concise - 100),
        concise => (concise, 0),
    }
}

/// The concise type of a type and the code below it.
fn concise(verbose: SmallInt, code: SmallInt) -> Option<SmallInt> {
    match (verbose, code) {
        (sql_type::DATETIME, sql_type::CODE_DATE..=sql_type::CODE_TIMESTAMP) => {
            Some(code - sql_type::CODE_DATE + sql_type::TYPE_DATE)
        }
        (INTERVAL, 1..=13) => Some(100 + code),
        _ => None,
    }
}

/// The verbose type of intervals.
const INTERVAL: SmallInt = 10;

/// Whether a type, verbose or concise, is that of a number.
fn is_numeric(concise: SmallInt) -> bool {
    matches!(concise, sql_type::NUMERIC | sql_type::DECIMAL)
}
