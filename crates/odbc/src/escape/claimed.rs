//! What `SQLGetInfo` claims of escapes: what is translated.

use super::function::FUNCTIONS;
use super::interval::INTERVALS;

/// The groups of functions. Each has a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    String,
    Numeric,
    Timedate,
    System,
    Convert,
}

/// `SQL_STRING_FUNCTIONS`
pub(crate) const STRING_FUNCTIONS: u32 = functions(Group::String);
/// `SQL_NUMERIC_FUNCTIONS`
pub(crate) const NUMERIC_FUNCTIONS: u32 = functions(Group::Numeric);
/// `SQL_TIMEDATE_FUNCTIONS`
pub(crate) const TIMEDATE_FUNCTIONS: u32 = functions(Group::Timedate);
/// `SQL_SYSTEM_FUNCTIONS`
pub(crate) const SYSTEM_FUNCTIONS: u32 = functions(Group::System);
/// `SQL_TIMEDATE_ADD_INTERVALS`
pub(crate) const TIMEDATE_ADD_INTERVALS: u32 = intervals();
/// `SQL_TIMEDATE_DIFF_INTERVALS`
pub(crate) const TIMEDATE_DIFF_INTERVALS: u32 = intervals();
/// `SQL_CONVERT_FUNCTIONS`: CONVERT, and the CAST that Firebird has.
pub(crate) const CONVERT_FUNCTIONS: u32 = functions(Group::Convert) | 0x2;

/// `SQL_FN_CVT_CONVERT`
pub(super) const CONVERT: (Group, u32) = (Group::Convert, 0x1);

const fn functions(group: Group) -> u32 {
    let (mut mask, mut at) = (0, 0);
    while at < FUNCTIONS.len() {
        if FUNCTIONS[at].group as u8 == group as u8 {
            mask |= FUNCTIONS[at].claim;
        }
        at += 1;
    }
    mask
}

const fn intervals() -> u32 {
    let (mut mask, mut at) = (0, 0);
    while at < INTERVALS.len() {
        mask |= INTERVALS[at].claim;
        at += 1;
    }
    mask
}

macro_rules! claims {
    ($($(#[$doc:meta])* $module:ident = $group:ident { $($name:ident = $bits:literal,)* })*) => {
        $($(#[$doc])* pub(super) mod $module {
            use super::Group;
            $(pub(in super::super) const $name: (Group, u32) = (Group::$group, $bits);)*
        })*
    };
}

claims! {
    /// `SQL_FN_STR_…`
    string = String {
        CONCAT = 0x1, INSERT = 0x2, LEFT = 0x4, LTRIM = 0x8, LENGTH = 0x10,
        // With and without a start.
        LOCATE = 0x1_0020,
        LCASE = 0x40, REPEAT = 0x80, REPLACE = 0x100, RIGHT = 0x200, RTRIM = 0x400, SUBSTRING = 0x800, UCASE = 0x1000,
        ASCII = 0x2000, CHAR = 0x4000, SPACE = 0x4_0000, BIT_LENGTH = 0x8_0000, CHAR_LENGTH = 0x10_0000,
        CHARACTER_LENGTH = 0x20_0000, OCTET_LENGTH = 0x40_0000, POSITION = 0x80_0000,
    }
    /// `SQL_FN_NUM_…`
    numeric = Numeric {
        ABS = 0x1, ACOS = 0x2, ASIN = 0x4, ATAN = 0x8, ATAN2 = 0x10, CEILING = 0x20, COS = 0x40, COT = 0x80, EXP = 0x100,
        FLOOR = 0x200, LOG = 0x400, MOD = 0x800, SIGN = 0x1000, SIN = 0x2000, SQRT = 0x4000, TAN = 0x8000, PI = 0x1_0000,
        RAND = 0x2_0000, DEGREES = 0x4_0000, LOG10 = 0x8_0000, POWER = 0x10_0000, RADIANS = 0x20_0000, ROUND = 0x40_0000,
        TRUNCATE = 0x80_0000,
    }
    /// `SQL_FN_TD_…`
    timedate = Timedate {
        NOW = 0x1, CURDATE = 0x2, DAYOFMONTH = 0x4, DAYOFWEEK = 0x8, DAYOFYEAR = 0x10, MONTH = 0x20, QUARTER = 0x40,
        WEEK = 0x80, YEAR = 0x100, CURTIME = 0x200, HOUR = 0x400, MINUTE = 0x800, SECOND = 0x1000, TIMESTAMPADD = 0x2000,
        TIMESTAMPDIFF = 0x4000, DAYNAME = 0x8000, MONTHNAME = 0x1_0000, CURRENT_DATE = 0x2_0000, CURRENT_TIME = 0x4_0000,
        CURRENT_TIMESTAMP = 0x8_0000, EXTRACT = 0x10_0000,
    }
    /// `SQL_FN_SYS_…`
    system = System { USER = 0x1, DATABASE = 0x2, IFNULL = 0x4, }
}
