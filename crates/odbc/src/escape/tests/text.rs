//! Text that surrounds escapes, literals, and hostile text.

use super::super::{markers, translate, with_from};
use super::{Context, refused, translated, translated_for};
use firearrow::Dialect;
use proptest::prelude::*;
use std::borrow::Cow;

#[test]
fn text_without_escapes_is_borrowed() {
    for sql in [
        "SELECT 1 FROM t",
        "SELECT '{d ''2020-01-01''}', q'{it's}', \"{fn x\" FROM t /* {fn */ -- {",
        "SELECT 1 --(* no escape *)--",
        "SELECT 1 --(*vendor(Other),product(ODBC) fn now() *)--",
        "SELECT '--(*vendor(Microsoft),product(ODBC) fn now() *)--' /* --(*vendor(Microsoft),product(ODBC) */",
        "EXECUTE BLOCK AS BEGIN END }",
        "",
    ] {
        let mut context = Context { dialect: Dialect::Three, release: (5, 0), routine: &mut |_, _| None };
        let translated = translate(sql, &mut context).expect("nothing to refuse");
        assert!(matches!(translated.sql, Cow::Borrowed(text) if text == sql), "{sql}");
        assert!(!translated.is_call && !translated.returns_value);
    }
}

#[test]
fn literals() {
    for (sql, expected) in [
        ("{d '2024-02-29'}", "DATE '2024-02-29'"),
        ("{ D'2024-02-29' }", "DATE '2024-02-29'"),
        ("{t '10:11:12'}", "TIME '10:11:12'"),
        ("{t '10:11:12.123400000'}", "TIME '10:11:12.1234'"),
        ("{ts '2024-02-29 10:11:12.5'}", "TIMESTAMP '2024-02-29 10:11:12.5'"),
        ("{ts '2024-02-29 10:11:12.000000'}", "TIMESTAMP '2024-02-29 10:11:12.0000'"),
        ("{ts '2024-02-29 10:11:12.1234560'}", "TIMESTAMP '2024-02-29 10:11:12.123456'"),
        ("{ts '2024-02-29 10:11:12.00000 UTC'}", "TIMESTAMP '2024-02-29 10:11:12.00000 UTC'"),
        (
            "{guid '93519227-8D50-4E47-81AA-8F6678C096A1'}",
            "CHAR_TO_UUID('93519227-8D50-4E47-81AA-8F6678C096A1')",
        ),
        ("a LIKE '!%' {escape '!'} AND b", "a LIKE '!%' ESCAPE '!' AND b"),
        (
            "FROM {oj a LEFT JOIN {oj b JOIN c ON 1=1} ON a.n = {d '2024-02-29'}} WHERE 1=1",
            "FROM a LEFT JOIN b JOIN c ON 1=1 ON a.n = DATE '2024-02-29' WHERE 1=1",
        ),
    ] {
        assert_eq!(translated(sql), expected, "{sql}");
    }
    let former = |sql| translated_for(sql, Dialect::One, (3, 0));
    assert_eq!(former("{d '2024-02-29'}"), "TIMESTAMP '2024-02-29'");
    assert_eq!(former("{fn curdate()}"), "CAST('TODAY' AS TIMESTAMP)");
}

#[test]
fn text_around_escapes_stays() {
    for (sql, expected) in [
        ("SELECT{fn pi()}AS n", "SELECT PI() AS n"),
        ("1 -{oj -n}", "1 - -n"),
        ("SELECT\n {fn pi()} -- {fn\n, {fn pi()} /* { */", "SELECT\n PI() -- {fn\n, PI() /* { */"),
        ("{fn ucase(a -- b\n)}", "UPPER(a)"),
        ("{fn ucase(a -- b\n || c /* d */)}", "UPPER(a -- b\n || c)"),
        ("{oj a JOIN b -- c\n} WHERE", "a JOIN b WHERE"),
        (
            "SELECT --(* vendor (Microsoft), product (ODBC) fn ucase( --(*VENDOR(MICROSOFT),PRODUCT(ODBC) fn pi() *)-- ) *)-- FROM t -- (c",
            "SELECT UPPER(PI())    FROM t -- (c",
        ),
        ("SELECT COUNT(*)-- (*\n, {d '2020-01-01'}", "SELECT COUNT(*)-- (*\n, DATE '2020-01-01'"),
        (
            "INSERT INTO t VALUES (?, {fn now()}, {t '10:00:00'})",
            "INSERT INTO t VALUES (?, LOCALTIMESTAMP, TIME '10:00:00')",
        ),
        ("EXECUTE BLOCK AS BEGIN x = {fn pi()}; END", "EXECUTE BLOCK AS BEGIN x = PI(); END"),
    ] {
        assert_eq!(translated(sql), expected, "{sql}");
    }
}

#[test]
fn malformed_escapes_are_refused() {
    for (sql, what) in [
        ("SELECT {", "line 1, column 8: unknown"),
        ("SELECT\n 'ä', {x y}", "line 2, column 7: unknown"),
        ("{}", "column 1: unknown"),
        ("{d}", "column 3: expected text in single quotes"),
        ("{d ?}", "column 4: expected text"),
        ("{d '2020-01-01'", "column 1: the escape sequence is not closed"),
        ("{d '2020-01-01}", "column 1: the escape sequence is not closed"),
        ("{d '2020-01-01' x}", "column 17: expected }"),
        ("{ts \"2020-01-01\"}", "column 5: expected text"),
        ("{interval '10' DAY}", "column 1: Firebird has no INTERVAL types"),
        ("{oj a", "column 1: the escape sequence is not closed"),
        ("{fn}", "column 1: the escape sequence has no function"),
        ("{fn now(", "column 1: the escape sequence is not closed"),
        ("{fn now()", "column 1: the escape sequence is not closed"),
        ("{fn now() x}", "column 11: expected }"),
        ("{fn ucase(a}", "column 12: expected )"),
        ("{fn ucase((a}", "column 13: expected )"),
        ("{fn concat(a,)}", "column 14: an argument is missing"),
        ("{fn concat(,a)}", "column 12: an argument is missing"),
        ("{fn timestampadd(SQL_TSI_EON, 1, x)}", "column 5: unknown interval"),
        ("{fn timestampdiff(SQL_TSI_DAY, x)}", "column 5: three arguments"),
        ("{fn convert(x, SQL_INTERVAL_DAY)}", "column 5: Firebird has no INTERVAL"),
        ("{fn convert(x, INTEGER)}", "column 5: unknown SQL type"),
        ("{fn convert(x)}", "column 5: two arguments"),
        ("--(*vendor(Microsoft),product(ODBC) fn pi()", "column 1: the escape sequence is not closed"),
    ] {
        assert!(refused(sql).contains(what), "{sql}: {}", refused(sql));
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |levels| format!("SELECT {}1{}", "{fn abs(".repeat(levels), ")}".repeat(levels));
    assert_eq!(translated(&nested(64)), format!("SELECT {}1{}", "ABS(".repeat(64), ")".repeat(64)));
    assert!(refused(&nested(65)).contains("too deeply"));
    assert!(refused(&"{".repeat(1_000_000)).contains("unknown"));
    assert!(refused(&"{fn abs(".repeat(1_000_000)).contains("too deeply"));
    let repeated = format!("{}'a'{}", "{fn repeat(".repeat(64), ", 2)}".repeat(64));
    assert!(translated(&repeated).len() < 4096);
}

#[test]
fn long_text_takes_linear_time() {
    let many = "{fn ucase(?)} ,".repeat(200_000);
    assert_eq!(translated(&many), "UPPER(?) ,".repeat(200_000));
    let comments = "--(*\n".repeat(500_000);
    assert_eq!(translated(&comments), comments);
    let comments = format!("--{}", "(*--".repeat(500_000));
    assert_eq!(translated(&comments), comments);
}

#[test]
fn markers_are_counted() {
    assert_eq!(markers("SELECT ?, '?', \"?\", q'{?}' /* ? */ FROM t WHERE a = ? -- ?"), 2);
    assert_eq!(markers("EXECUTE BLOCK (a INT = ?) AS BEGIN b = :a; END"), 1);
    assert_eq!(markers("SELECT 1"), 0);
}

#[test]
fn select_gets_its_from() {
    for (sql, expected) in [
        ("SELECT 1", "SELECT 1 FROM RDB$DATABASE"),
        ("select 1 ; -- one", "select 1 FROM RDB$DATABASE ; -- one"),
        (
            "/* a */ SELECT (SELECT 1 FROM t) ORDER BY 1",
            "/* a */ SELECT (SELECT 1 FROM t) FROM RDB$DATABASE ORDER BY 1",
        ),
        ("SELECT 1 WHERE 1=0", "SELECT 1 FROM RDB$DATABASE WHERE 1=0"),
        (
            "SELECT 1 UNION ALL SELECT 2 FROM t UNION SELECT 3",
            "SELECT 1 FROM RDB$DATABASE UNION ALL SELECT 2 FROM t UNION SELECT 3 FROM RDB$DATABASE",
        ),
        ("SELECT 1 IS DISTINCT FROM 2", "SELECT 1 IS DISTINCT FROM 2 FROM RDB$DATABASE"),
        ("SELECT NEXT VALUE FOR g", "SELECT NEXT VALUE FOR g FROM RDB$DATABASE"),
        (
            "SELECT EXTRACT(YEAR FROM CURRENT_DATE)",
            "SELECT EXTRACT(YEAR FROM CURRENT_DATE) FROM RDB$DATABASE",
        ),
        (
            "WITH a AS (SELECT 1 n FROM t) SELECT 2",
            "WITH a AS (SELECT 1 n FROM t) SELECT 2 FROM RDB$DATABASE",
        ),
    ] {
        assert_eq!(with_from(sql).as_deref(), Some(expected), "{sql}");
    }
    for sql in [
        "SELECT 1 FROM t",
        "SELECT DISTINCT n FROM t",
        "INSERT INTO t SELECT 1",
        "UPDATE t SET n = 1",
        "(SELECT 1)",
        "",
    ] {
        assert_eq!(with_from(sql), None, "{sql}");
    }
}

/// Pieces of escapes, and what hides them.
const HOSTILE: &str = "([{}()?,;'\"=ä\n ]|--|/\\*|\\*/|--\\(\\*vendor\\(Microsoft\\),product\\(ODBC\\) |\\*\\)--\
     |fn |call |ts |oj |insert|repeat|concat|pi|q'){0,24}";

const ARGUMENT: &str = "\\?|[a-z]|\\(\\? \\+ 1\\)|\\{fn repeat\\(\\?, \\?\\)\\}";

/// Adds its number to each marker.
fn numbered(sql: &str) -> (String, usize) {
    let mut pieces = sql.split('?');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let mut number = 0;
    for piece in pieces {
        number += 1;
        text.push_str(&format!("(?+{number}){piece}"));
    }
    (text, number)
}

/// The numbers that [`numbered`] gave, in the order of the text.
fn numbers(sql: &str) -> Vec<usize> {
    sql.split("(?+").skip(1).filter_map(|rest| rest.split(')').next()?.parse().ok()).collect()
}

proptest! {
    #[test]
    fn hostile_text_does_no_harm(sql in HOSTILE) {
        for dialect in [Dialect::One, Dialect::Three] {
            let mut context = Context { dialect, release: (5, 0), routine: &mut |_, _| None };
            if let Ok(translated) = translate(&sql, &mut context) {
                let expected = markers(&translated.sql) + usize::from(translated.returns_value);
                // Markers in the form of a comment count only once it is translated.
                prop_assert!(sql.contains("--(*") || markers(&sql) == expected, "{}", translated.sql);
            }
        }
        with_from(&sql);
    }

    #[test]
    fn parameters_keep_their_order(
        arguments in prop::collection::vec(ARGUMENT, 4),
        name in "insert|repeat|concat|locate",
    ) {
        let arguments = &arguments[..if name == "insert" { 4 } else { 2 }];
        let (text, count) = numbered(&format!("{{fn {name}({})}}", arguments.join(", ")));
        let sql = translated(&text);
        prop_assert_eq!(numbers(&sql), (1..=count).collect::<Vec<_>>(), "{}", sql);
    }
}
