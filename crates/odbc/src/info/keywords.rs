//! Words that are reserved in Firebird but not in ODBC.
//!
//! They are those that a column alias cannot be, and what `RDB$KEYWORDS` of Firebird 5 has besides.

use super::Release;

/// In Firebird 3.
const SINCE_3: [&str; 58] = [
    "ADMIN",
    "BIGINT",
    "BLOB",
    "BOOLEAN",
    "COMMENT",
    "CORR",
    "COVAR_POP",
    "COVAR_SAMP",
    "CURRENT_CONNECTION",
    "CURRENT_ROLE",
    "CURRENT_TRANSACTION",
    "DELETING",
    "DETERMINISTIC",
    "FILTER",
    "FUNCTION",
    "GDSCODE",
    "INSERTING",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "LONG",
    "MERGE",
    "OFFSET",
    "OVER",
    "PARAMETER",
    "PLAN",
    "POST_EVENT",
    "RDB$DB_KEY",
    "RDB$RECORD_VERSION",
    "RECORD_VERSION",
    "RECREATE",
    "RECURSIVE",
    "REGR_AVGX",
    "REGR_AVGY",
    "REGR_COUNT",
    "REGR_INTERCEPT",
    "REGR_R2",
    "REGR_SLOPE",
    "REGR_SXX",
    "REGR_SXY",
    "REGR_SYY",
    "RELEASE",
    "RETURN",
    "RETURNING_VALUES",
    "RETURNS",
    "ROW",
    "ROW_COUNT",
    "SAVEPOINT",
    "SENSITIVE",
    "SIMILAR",
    "START",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "TRIGGER",
    "UPDATING",
    "VARIABLE",
    "VAR_POP",
    "VAR_SAMP",
    "WHILE",
];

/// In Firebird 4 besides.
const SINCE_4: [&str; 16] = [
    "BINARY",
    "DECFLOAT",
    "INT128",
    "LATERAL",
    "PUBLICATION",
    "RDB$ERROR",
    "RDB$GET_CONTEXT",
    "RDB$GET_TRANSACTION_CN",
    "RDB$ROLE_IN_USE",
    "RDB$SET_CONTEXT",
    "RDB$SYSTEM_PRIVILEGE",
    "RESETTING",
    "UNBOUNDED",
    "VARBINARY",
    "WINDOW",
    "WITHOUT",
];

/// In Firebird 5 besides.
const SINCE_5: [&str; 1] = ["RDB$RESET_CONTEXT"];

/// Returns the reserved words of a release, sorted.
pub(super) fn of(release: &Release) -> Vec<&'static str> {
    let mut words = SINCE_3.to_vec();
    for (major, more) in [(4, &SINCE_4[..]), (5, &SINCE_5)] {
        if release.major >= major {
            words.extend(more);
        }
    }
    words.sort_unstable();
    words
}
