//! What statements do, as `SQL_DIAG_DYNAMIC_FUNCTION` and its code name it.

use crate::abi::Integer;
use firearrow::sql::{self, TokenKind};

/// The name of what a statement does, and its number. Both are empty where the standard has none.
pub(crate) type Function = (&'static str, Integer);

pub(crate) const UNKNOWN: Function = ("", 0);

/// Words between the verb and what it is about.
const BETWEEN: [&str; 7] = ["OR", "ALTER", "GLOBAL", "TEMPORARY", "UNIQUE", "ASC", "ASCENDING"];
const DESCENDING: [&str; 2] = ["DESC", "DESCENDING"];

/// What a statement does, by its words.
pub(crate) fn of_sql(text: &str) -> Function {
    let mut words = sql::tokens(text)
        .map_while(|token| (token.kind == TokenKind::Word).then(|| token.text.to_ascii_uppercase()));
    let verb = words.next().unwrap_or_default();
    let is_create = matches!(verb.as_str(), "CREATE" | "RECREATE");
    let is_between =
        |word: &String| is_create && (BETWEEN.contains(&&**word) || DESCENDING.contains(&&**word));
    let object = words.find(|word| !is_between(word)).unwrap_or_default();
    match (verb.as_str(), object.as_str()) {
        ("SELECT" | "WITH", _) => ("SELECT CURSOR", 85),
        ("INSERT", _) => ("INSERT", 50),
        ("UPDATE", "OR") => UNKNOWN,
        ("UPDATE", _) if is_positioned(text) => ("DYNAMIC UPDATE CURSOR", 81),
        ("UPDATE", _) => ("UPDATE WHERE", 82),
        ("DELETE", _) if is_positioned(text) => ("DYNAMIC DELETE CURSOR", 38),
        ("DELETE", _) => ("DELETE WHERE", 19),
        ("EXECUTE", "PROCEDURE") => ("CALL", 7),
        ("CREATE" | "RECREATE", "TABLE") => ("CREATE TABLE", 77),
        ("CREATE" | "RECREATE", "VIEW") => ("CREATE VIEW", 84),
        ("CREATE", "DOMAIN") => ("CREATE DOMAIN", 23),
        ("CREATE", "INDEX") => ("CREATE INDEX", -1),
        ("CREATE", "COLLATION") => ("CREATE COLLATION", 10),
        ("CREATE", "SCHEMA") => ("CREATE SCHEMA", 64),
        ("ALTER", "TABLE") => ("ALTER TABLE", 4),
        ("ALTER", "DOMAIN") => ("ALTER DOMAIN", 3),
        ("DROP", "TABLE") => ("DROP TABLE", 32),
        ("DROP", "VIEW") => ("DROP VIEW", 36),
        ("DROP", "DOMAIN") => ("DROP DOMAIN", 27),
        ("DROP", "INDEX") => ("DROP INDEX", -2),
        ("DROP", "COLLATION") => ("DROP COLLATION", 26),
        ("DROP", "SCHEMA") => ("DROP SCHEMA", 31),
        ("GRANT", _) => ("GRANT", 48),
        ("REVOKE", _) => ("REVOKE", 59),
        _ => UNKNOWN,
    }
}

/// Whether it is about the current row of a cursor.
fn is_positioned(text: &str) -> bool {
    let mut before = [false; 2];
    sql::tokens(text).any(|token| {
        let [is_where, is_current] = before;
        before = [token.is_word("WHERE"), is_where && token.is_word("CURRENT")];
        is_current && token.is_word("OF")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_the_names_and_numbers_of_the_standard() {
        for (sql, expected) in [
            ("select 1 from t", ("SELECT CURSOR", 85)),
            ("WITH a AS (SELECT 1 FROM t) SELECT * FROM a", ("SELECT CURSOR", 85)),
            ("/* x */ insert into t values (1)", ("INSERT", 50)),
            ("UPDATE t SET a = 1", ("UPDATE WHERE", 82)),
            ("UPDATE t SET a = 1 WHERE CURRENT OF c", ("DYNAMIC UPDATE CURSOR", 81)),
            ("DELETE FROM t WHERE current OF c", ("DYNAMIC DELETE CURSOR", 38)),
            ("DELETE FROM t WHERE a = 'WHERE CURRENT OF'", ("DELETE WHERE", 19)),
            ("EXECUTE PROCEDURE p", ("CALL", 7)),
            ("EXECUTE BLOCK AS BEGIN END", UNKNOWN),
            ("CREATE GLOBAL TEMPORARY TABLE t (a INT)", ("CREATE TABLE", 77)),
            ("RECREATE TABLE t (a INT)", ("CREATE TABLE", 77)),
            ("CREATE OR ALTER VIEW v AS SELECT 1 FROM t", ("CREATE VIEW", 84)),
            ("CREATE UNIQUE DESC INDEX i ON t (a)", ("CREATE INDEX", -1)),
            ("CREATE PROCEDURE p AS BEGIN END", UNKNOWN),
            ("ALTER TABLE t ADD b INT", ("ALTER TABLE", 4)),
            ("DROP INDEX i", ("DROP INDEX", -2)),
            ("MERGE INTO t", UNKNOWN),
            ("UPDATE OR INSERT INTO t VALUES (1)", UNKNOWN),
            ("", UNKNOWN),
        ] {
            assert_eq!(of_sql(sql), expected, "{sql}");
        }
    }
}
