//! Names and texts as SQL has them.

use firearrow::Dialect;
use firearrow::catalog::{identifier, quoted};

/// Returns a name as SQL text must have it, in quotes only where it needs them.
pub(super) fn name(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { quoted(name) }
}

/// Whether a name needs no quotes.
pub(crate) fn is_plain(name: &str) -> bool {
    // Dialect 1 knows names without quotes only, which is the rule for leaving them out.
    identifier(Dialect::One, name).is_some() && RESERVED.binary_search(&name).is_err()
}

/// Returns names with commas between them.
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a String>) -> String {
    let all: Vec<String> = all.into_iter().map(|one| name(one)).collect();
    all.join(", ")
}

/// Returns a text with apostrophes around it.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether the engine chose this name of a constraint.
pub(super) fn is_generated(constraint: &str) -> bool {
    generated_number(constraint).is_some()
}

/// Returns what constraints are sorted by: those without a name of their own in the order of their creation, which a
/// script that creates them in this order repeats, then the others by name.
pub(super) fn in_order(constraint: &str) -> (bool, u64, &str) {
    match generated_number(constraint) {
        Some(number) => (false, number, ""),
        None => (true, 0, constraint),
    }
}

fn generated_number(constraint: &str) -> Option<u64> {
    constraint.strip_prefix("INTEG_")?.parse().ok()
}

/// The words that Firebird 3, 4 or 5 reserves (`keywords.cpp`, and `non_reserved_word` of `parse.y`), sorted.
const RESERVED: [&str; 216] = [
    "ADD",
    "ADMIN",
    "ALL",
    "ALTER",
    "AND",
    "ANY",
    "AS",
    "ASCENDING",
    "AT",
    "AVG",
    "BEGIN",
    "BETWEEN",
    "BIGINT",
    "BINARY",
    "BIT_LENGTH",
    "BLOB",
    "BOOLEAN",
    "BOTH",
    "BY",
    "CASE",
    "CAST",
    "CEILING",
    "CHAR",
    "CHARACTER",
    "CHARACTER_LENGTH",
    "CHAR_LENGTH",
    "CHECK",
    "CLOSE",
    "COLLATE",
    "COLUMN",
    "COMMENT",
    "COMMIT",
    "CONNECT",
    "CONSTRAINT",
    "CORR",
    "COUNT",
    "COVAR_POP",
    "COVAR_SAMP",
    "CREATE",
    "CROSS",
    "CURRENT",
    "CURRENT_CONNECTION",
    "CURRENT_DATE",
    "CURRENT_ROLE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_TRANSACTION",
    "CURRENT_USER",
    "CURSOR",
    "DATE",
    "DAY",
    "DEC",
    "DECFLOAT",
    "DECIMAL",
    "DECLARE",
    "DEFAULT",
    "DELETE",
    "DELETING",
    "DESCENDING",
    "DETERMINISTIC",
    "DISCONNECT",
    "DISTINCT",
    "DOUBLE",
    "DROP",
    "ELSE",
    "END",
    "ESCAPE",
    "EXECUTE",
    "EXISTS",
    "EXTERNAL",
    "EXTRACT",
    "FALSE",
    "FETCH",
    "FILTER",
    "FLOAT",
    "FOR",
    "FOREIGN",
    "FROM",
    "FULL",
    "FUNCTION",
    "GDSCODE",
    "GLOBAL",
    "GRANT",
    "GROUP",
    "HAVING",
    "HOUR",
    "IN",
    "INDEX",
    "INNER",
    "INSENSITIVE",
    "INSERT",
    "INSERTING",
    "INT",
    "INT128",
    "INTEGER",
    "INTO",
    "IS",
    "JOIN",
    "LATERAL",
    "LEADING",
    "LEFT",
    "LIKE",
    "LOCAL",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "LONG",
    "LOWER",
    "MAX",
    "MERGE",
    "MIN",
    "MINUTE",
    "MONTH",
    "NATIONAL",
    "NATURAL",
    "NCHAR",
    "NO",
    "NOT",
    "NULL",
    "NUMERIC",
    "OCTET_LENGTH",
    "OF",
    "OFFSET",
    "ON",
    "ONLY",
    "OPEN",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARAMETER",
    "PLAN",
    "POSITION",
    "POST_EVENT",
    "PRECISION",
    "PRIMARY",
    "PROCEDURE",
    "PUBLICATION",
    "REAL",
    "RECORD_VERSION",
    "RECREATE",
    "RECURSIVE",
    "REFERENCES",
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
    "RESERV",
    "RESETTING",
    "RETURN",
    "RETURNING_VALUES",
    "RETURNS",
    "REVOKE",
    "RIGHT",
    "ROLLBACK",
    "ROW",
    "ROWS",
    "ROW_COUNT",
    "SAVEPOINT",
    "SCHEMA",
    "SCROLL",
    "SECOND",
    "SELECT",
    "SENSITIVE",
    "SET",
    "SIMILAR",
    "SMALLINT",
    "SOME",
    "SQLCODE",
    "SQLSTATE",
    "START",
    "STARTS",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUM",
    "TABLE",
    "THEN",
    "TIME",
    "TIMESTAMP",
    "TIMEZONE_HOUR",
    "TIMEZONE_MINUTE",
    "TO",
    "TRAILING",
    "TRIGGER",
    "TRIM",
    "TRUE",
    "UNBOUNDED",
    "UNION",
    "UNIQUE",
    "UNKNOWN",
    "UPDATE",
    "UPDATING",
    "UPPER",
    "USER",
    "USING",
    "VALUE",
    "VALUES",
    "VARBINARY",
    "VARCHAR",
    "VARIABLE",
    "VARYING",
    "VAR_POP",
    "VAR_SAMP",
    "VIEW",
    "WHEN",
    "WHERE",
    "WHILE",
    "WINDOW",
    "WITH",
    "WITHOUT",
    "YEAR",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_quotes_where_they_need_them() {
        for (plain, expected) in [
            ("EMPLOYEE", "EMPLOYEE"),
            ("RDB$RELATIONS", "RDB$RELATIONS"),
            ("ORDER", "\"ORDER\""),
            ("Mixed", "\"Mixed\""),
            ("A B", "\"A B\""),
            ("1A", "\"1A\""),
            ("Q\"Q", "\"Q\"\"Q\""),
            ("ÄPFEL", "\"ÄPFEL\""),
        ] {
            assert_eq!(name(plain), expected);
        }
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn generated_names_are_sorted_by_their_number() {
        let mut names = ["PK_B", "INTEG_10", "INTEG_9", "INTEG_X"];
        names.sort_by_key(|name| in_order(name));
        assert_eq!(names, ["INTEG_9", "INTEG_10", "INTEG_X", "PK_B"]);
        assert!(is_generated("INTEG_7") && !is_generated("INTEG_") && !is_generated("PK_INTEG_1"));
    }
}
