//! Words of SQL, for completion and hints.

use firearrow::sql::tokens;

/// Returns the keywords and functions that begin like this, in its letter case.
pub(crate) fn beginning(word: &str) -> Vec<String> {
    fitting(KEYWORDS.iter().chain(FUNCTIONS), word)
}

/// Returns the words that begin like this, in its letter case.
pub(crate) fn fitting<'a>(words: impl Iterator<Item = &'a &'a str>, word: &str) -> Vec<String> {
    let fitting =
        words.filter(|known| known.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word)));
    let is_lower = word.chars().any(char::is_lowercase);
    fitting.map(|known| if is_lower { known.to_ascii_lowercase() } else { (*known).to_owned() }).collect()
}

/// Returns the words that may follow `SET` or `SHOW`, if the text before the cursor is that word alone.
pub(crate) fn following(before: &str) -> &'static [&'static str] {
    let mut words = tokens(before);
    match (words.next(), words.next()) {
        (Some(first), None) if first.is_word("SET") => SET,
        (Some(first), None) if first.is_word("SHOW") => SHOW,
        _ => &[],
    }
}

/// Whether this is a keyword, in upper case.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// The shell's settings, and the server's most common ones.
#[rustfmt::skip]
const SET: &[&str] = &[
    "AUTOCOMMIT", "AUTODDL", "BAIL", "BIND", "DECFLOAT", "EXPLAIN", "GENERATOR", "LIST", "PLAN", "PLANONLY",
    "ROLE", "STATISTICS", "STATS", "TERM", "TIME", "TRANSACTION", "TRUSTED",
];

/// The words that `SHOW` takes first.
#[rustfmt::skip]
const SHOW: &[&str] = &[
    "DATABASE", "DDL", "DOMAIN", "DOMAINS", "EXCEPTION", "EXCEPTIONS", "FUNCTION", "FUNCTIONS", "GRANTS",
    "INDEX", "INDEXES", "PACKAGE", "PACKAGES", "PROCEDURE", "PROCEDURES", "ROLE", "ROLES", "SEQUENCE",
    "SEQUENCES", "SYSTEM", "TABLE", "TABLES", "TRIGGER", "TRIGGERS", "VERSION", "VIEW", "VIEWS",
];

/// The keywords that are entered most.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "ACTIVE", "ADD", "AFTER", "ALL", "ALTER", "ALWAYS", "AND", "AS", "ASC", "AUTODDL", "AUTONOMOUS", "AVG",
    "BEFORE", "BEGIN", "BETWEEN", "BIGINT", "BINARY", "BLOB", "BLOCK", "BODY", "BOOLEAN", "BY", "CASCADE",
    "CASE", "CAST", "CHAR", "CHARACTER", "CHECK", "COALESCE", "COLLATE", "COLUMN", "COMMENT", "COMMIT",
    "COMPUTED", "CONSTRAINT", "CONTAINING", "COUNT", "CREATE", "CROSS", "CURRENT_DATE", "CURRENT_TIMESTAMP",
    "CURRENT_USER", "CURSOR", "DATE", "DECFLOAT", "DECIMAL", "DECLARE", "DEFAULT", "DELETE", "DESC",
    "DESCENDING", "DISTINCT", "DO", "DOMAIN", "DOMAINS", "DOUBLE", "DROP", "ELSE", "END", "ESCAPE", "EXCEPTION",
    "EXCEPTIONS", "EXECUTE", "EXISTS", "EXPLAIN", "EXTRACT", "FALSE", "FETCH", "FIRST", "FLOAT", "FOR",
    "FOREIGN", "FROM", "FULL", "FUNCTION", "FUNCTIONS", "GENERATED", "GENERATOR", "GLOBAL", "GRANT", "GRANTS",
    "GROUP", "HAVING", "IDENTITY", "IF", "IN", "INACTIVE", "INDEX", "INDEXES", "INNER", "INSERT", "INT128",
    "INTEGER", "INTO", "IS", "ISOLATION", "JOIN", "KEY", "LATERAL", "LEFT", "LEVEL", "LIKE", "LIST", "LOCK",
    "MATCHING", "MAX", "MERGE", "MIN", "NEXT", "NOT", "NULL", "NUMERIC", "OF", "OFFSET", "ON", "ONLY", "OR",
    "ORDER", "OUTER", "OVER", "PACKAGE", "PACKAGES", "PARTITION", "PLAN", "PLANONLY", "POSITION", "PRECISION",
    "PRIMARY", "PROCEDURE", "PROCEDURES", "READ", "RECREATE", "RECURSIVE", "REFERENCES", "RETURNING", "RETURNS",
    "REVOKE", "RIGHT", "ROLE", "ROLES", "ROLLBACK", "ROWS", "SAVEPOINT", "SEGMENT", "SELECT", "SEQUENCE",
    "SEQUENCES", "SET", "SHOW", "SIMILAR", "SKIP", "SMALLINT", "SNAPSHOT", "STARTING", "STATISTICS",
    "SUBSTRING", "SUB_TYPE", "SUM", "SUSPEND", "TABLE", "TABLES", "TEMPORARY", "TERM", "TEXT", "THEN", "TIME",
    "TIMESTAMP", "TO", "TRANSACTION", "TRIGGER", "TRIGGERS", "TRIM", "TRUE", "UNION", "UNIQUE", "UNKNOWN",
    "UPDATE", "UPPER", "USER", "USING", "VALUE", "VALUES", "VARBINARY", "VARCHAR", "VIEW", "VIEWS", "WHEN",
    "WHERE", "WHILE", "WITH", "WORK", "ZONE",
];

/// The engine's own functions and variables, as far as they are no keywords above.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "ABS", "ACOS", "ASCII_CHAR", "ASCII_VAL", "ASIN", "ATAN", "ATAN2", "BASE64_DECODE", "BASE64_ENCODE",
    "BIN_AND", "BIN_NOT", "BIN_OR", "BIN_SHL", "BIN_SHR", "BIN_XOR", "BIT_LENGTH", "CEIL", "CHAR_LENGTH",
    "CHAR_TO_UUID", "CORR", "COS", "COSH", "COT", "COVAR_POP", "COVAR_SAMP", "CRYPT_HASH", "CURRENT_CONNECTION",
    "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TRANSACTION", "DATEADD", "DATEDIFF", "DECODE", "DENSE_RANK", "EXP",
    "FIRST_DAY", "FIRST_VALUE", "FLOOR", "GEN_ID", "GEN_UUID", "HASH", "HEX_DECODE", "HEX_ENCODE", "IIF", "LAG",
    "LAST_DAY", "LAST_VALUE", "LEAD", "LN", "LOCALTIME", "LOCALTIMESTAMP", "LOG", "LOG10", "LOWER", "LPAD",
    "MAXVALUE", "MINVALUE", "MOD", "NTH_VALUE", "NTILE", "NULLIF", "OCTET_LENGTH", "OVERLAY", "PERCENT_RANK",
    "PI", "POWER", "RAND", "RANK", "RDB$GET_CONTEXT", "RDB$SET_CONTEXT", "REPLACE", "REVERSE", "ROUND",
    "ROW_COUNT", "ROW_NUMBER", "RPAD", "SIGN", "SIN", "SINH", "SQRT", "STDDEV_POP", "STDDEV_SAMP", "TAN",
    "TANH", "TRUNC", "UNICODE_CHAR", "UNICODE_VAL", "UUID_TO_CHAR", "VAR_POP", "VAR_SAMP",
];

/// Words with which statements begin.
#[rustfmt::skip]
pub(crate) const BEGINNINGS: &[&str] = &[
    "ALTER", "COMMENT", "COMMIT", "CREATE", "DELETE", "DROP", "EXECUTE", "EXIT", "GRANT", "HELP", "INPUT",
    "INSERT", "MERGE", "OUTPUT", "QUIT", "RECREATE", "REVOKE", "ROLLBACK", "SELECT", "SET", "SHOW", "UPDATE",
    "WITH",
];

/// The keywords that are suggested for misspelt ones. Shorter ones are like too many names.
#[rustfmt::skip]
pub(crate) const MEANT: &[&str] = &[
    "ALTER", "BEGIN", "BETWEEN", "BLOCK", "CASE", "CAST", "COMMIT", "CONSTRAINT", "CREATE", "DECLARE",
    "DEFAULT", "DELETE", "DISTINCT", "DOMAIN", "DROP", "EXECUTE", "EXISTS", "FETCH", "FIRST", "FOREIGN", "FROM",
    "FULL", "FUNCTION", "GENERATOR", "GRANT", "GROUP", "HAVING", "INDEX", "INNER", "INSERT", "INTEGER", "INTO",
    "JOIN", "LEFT", "LIKE", "MATCHING", "MERGE", "NULL", "ORDER", "OUTER", "PRIMARY", "PROCEDURE", "RECREATE",
    "REFERENCES", "RETURNING", "RETURNS", "REVOKE", "RIGHT", "ROLLBACK", "ROWS", "SELECT", "SEQUENCE",
    "SUSPEND", "TABLE", "THEN", "TRIGGER", "UNION", "UNIQUE", "UPDATE", "USING", "VALUES", "VARCHAR", "VIEW",
    "WHEN", "WHERE", "WITH",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_the_letter_case_of_what_was_entered() {
        assert_eq!(beginning("sel"), ["select"]);
        assert_eq!(beginning("SUSP"), ["SUSPEND"]);
        assert_eq!(beginning("datea"), ["dateadd"]);
    }

    #[test]
    fn settings_and_listings_follow_their_words_alone() {
        assert_eq!(fitting(following("set ").iter(), "b"), ["BAIL", "BIND"].map(str::to_lowercase));
        assert!(following(" SHOW ").contains(&"TABLES"));
        for before in ["", "UPDATE T SET ", "SHOW TABLE ", "SET TRANSACTION "] {
            assert!(following(before).is_empty(), "{before}");
        }
    }

    #[test]
    fn words_are_sorted_and_unique() {
        for words in [KEYWORDS, FUNCTIONS, SET, SHOW, BEGINNINGS, MEANT] {
            assert!(words.is_sorted_by(|a, b| a < b));
        }
        assert!(FUNCTIONS.iter().all(|word| !is_keyword(word)));
        assert!(MEANT.iter().all(|word| is_keyword(word)));
    }
}
