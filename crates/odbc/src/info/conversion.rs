//! Which types CAST converts to which others.

use super::{Answer, Facts};
use crate::abi::info;
use crate::abi::info_value::convert;
use crate::escape::claimed;
use firearrow::Dialect;

const TEXT: u32 = convert::CHAR
    | convert::VARCHAR
    | convert::LONGVARCHAR
    | convert::WCHAR
    | convert::WVARCHAR
    | convert::WLONGVARCHAR;
const BINARY: u32 = convert::BINARY | convert::VARBINARY | convert::LONGVARBINARY;
const NUMBERS: u32 = convert::NUMERIC
    | convert::DECIMAL
    | convert::INTEGER
    | convert::SMALLINT
    | convert::TINYINT
    | convert::BIGINT
    | convert::FLOAT
    | convert::REAL
    | convert::DOUBLE;
const DATETIMES: u32 = convert::DATE | convert::TIME | convert::TIMESTAMP;
const ANY: u32 = TEXT | BINARY | NUMBERS | DATETIMES | convert::BIT;

/// Dialect 1 does not have these types.
const NOT_IN_DIALECT_1: u32 = convert::BIGINT | convert::DATE | convert::TIME;

pub(super) fn answer(id: u16, facts: &Facts) -> Option<Answer> {
    let targets = match id {
        info::CONVERT_FUNCTIONS => return Some(Answer::Long(claimed::CONVERT_FUNCTIONS)),
        info::CONVERT_CHAR | info::CONVERT_VARCHAR | info::CONVERT_WCHAR | info::CONVERT_WVARCHAR => {
            ANY | convert::GUID
        }
        info::CONVERT_LONGVARCHAR | info::CONVERT_WLONGVARCHAR => ANY,
        info::CONVERT_NUMERIC
        | info::CONVERT_DECIMAL
        | info::CONVERT_INTEGER
        | info::CONVERT_SMALLINT
        | info::CONVERT_TINYINT
        | info::CONVERT_BIGINT
        | info::CONVERT_FLOAT
        | info::CONVERT_REAL
        | info::CONVERT_DOUBLE => TEXT | NUMBERS,
        info::CONVERT_BIT => TEXT | convert::BIT,
        info::CONVERT_DATE => TEXT | convert::DATE | convert::TIMESTAMP,
        info::CONVERT_TIME => TEXT | convert::TIME | convert::TIMESTAMP,
        info::CONVERT_TIMESTAMP => TEXT | DATETIMES,
        info::CONVERT_BINARY | info::CONVERT_VARBINARY | info::CONVERT_LONGVARBINARY => TEXT | BINARY,
        // Its bytes; the text of a GUID is a function's.
        info::CONVERT_GUID => BINARY,
        info::CONVERT_INTERVAL_DAY_TIME | info::CONVERT_INTERVAL_YEAR_MONTH => 0,
        _ => return None,
    };
    Some(Answer::Long(match facts.dialect {
        Dialect::One => targets & !NOT_IN_DIALECT_1,
        Dialect::Three => targets,
    }))
}
