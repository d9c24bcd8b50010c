//! `{call …}`.

use super::{called, known, refused};

#[test]
fn calls_depend_on_the_routine() {
    for (sql, expected) in [
        ("{call run}", "EXECUTE PROCEDURE run"),
        ("{call run()}", "EXECUTE PROCEDURE run"),
        ("{ CALL Run ( 1 , ? ) }", "EXECUTE PROCEDURE Run(1, ?)"),
        ("{call unknown(?)}", "EXECUTE PROCEDURE unknown(?)"),
        ("{call rows_of(?, ?)}", "SELECT * FROM rows_of(?, ?)"),
        ("{call rows_of}", "SELECT * FROM rows_of"),
        ("{call p.rows_of(1)}", "SELECT * FROM p.rows_of(1)"),
        ("{call s.p.rows_of(1)}", "EXECUTE PROCEDURE s.p.rows_of(1)"),
        ("{call \"say \"\"it\"\"\"(1)}", "EXECUTE PROCEDURE \"say \"\"it\"\"\"(1)"),
        ("{call \"rows_of\"}", "EXECUTE PROCEDURE \"rows_of\""),
        ("{call f()}", "SELECT f() FROM RDB$DATABASE"),
        ("{call \"my pack\".f(2)}", "SELECT \"my pack\".f(2) FROM RDB$DATABASE"),
    ] {
        assert_eq!(called(sql), (expected.to_owned(), false), "{sql}");
    }
}

#[test]
fn calls_can_return_a_value() {
    for (sql, expected) in [
        ("{?=call f(?)}", "SELECT f(?) FROM RDB$DATABASE"),
        ("{ ? = call f }", "SELECT f() FROM RDB$DATABASE"),
        ("{?=call run(?)}", "EXECUTE PROCEDURE run(?)"),
        ("{?=call rows_of(?)}", "EXECUTE PROCEDURE rows_of(?)"),
        ("{?=call unknown}", "EXECUTE PROCEDURE unknown"),
    ] {
        assert_eq!(called(sql), (expected.to_owned(), true), "{sql}");
    }
}

#[test]
fn markers_after_the_inputs_are_outputs() {
    for (sql, expected, outputs) in [
        ("{call run(?, ?, ?)}", "EXECUTE PROCEDURE run(?, ?)", 1),
        ("{call run(1, ?, ?, ?)}", "EXECUTE PROCEDURE run(1, ?)", 2),
        ("{?=call run(?, ?, ?)}", "EXECUTE PROCEDURE run(?, ?)", 1),
        ("{call run(?)}", "EXECUTE PROCEDURE run(?)", 0),
        ("{call run(?, ?, 1)}", "EXECUTE PROCEDURE run(?, ?, 1)", 0),
        ("{call rows_of(?, ?, ?)}", "EXECUTE PROCEDURE rows_of(?, ?)", 1),
        ("{call unknown(?, ?, ?)}", "EXECUTE PROCEDURE unknown(?, ?, ?)", 0),
    ] {
        let translated = known(sql);
        assert_eq!((translated.sql.as_ref(), translated.outputs), (expected, outputs), "{sql}");
    }
}

#[test]
fn arguments_are_expressions() {
    for (sql, expected) in [
        ("{call run('a,)}', (1 + f(2, 3)), -1)}", "EXECUTE PROCEDURE run('a,)}', (1 + f(2, 3)), -1)"),
        (
            "{call run({ts '2020-01-02 03:04:05'}, {fn ucase({fn concat(?, 'x')})})}",
            "EXECUTE PROCEDURE run(TIMESTAMP '2020-01-02 03:04:05', UPPER((? || 'x')))",
        ),
        ("{call run(1 -- one\n, 2)}", "EXECUTE PROCEDURE run(1, 2)"),
        ("{call run(1, , )}", "EXECUTE PROCEDURE run(1)"),
        ("/* a */ {call run(1)} ; -- b", "/* a */ EXECUTE PROCEDURE run(1) ; -- b"),
        ("--(*vendor(Microsoft),product(ODBC) call run(1) *)--", "EXECUTE PROCEDURE run(1)   "),
    ] {
        assert_eq!(called(sql), (expected.to_owned(), false), "{sql}");
    }
}

#[test]
fn malformed_calls_are_refused() {
    for (sql, position) in [
        ("{call}", "column 6: expected the name of a procedure"),
        ("{call run.}", "column 11: expected the name"),
        ("{call run(}", "column 11: expected )"),
        ("{call run(1}", "column 12: expected )"),
        ("{call run(1)", "column 1: the escape sequence is not closed"),
        ("{call run(1", "column 1: the escape sequence is not closed"),
        ("{call run(1) x}", "column 14: expected }"),
        ("{call run(, 1)}", "column 1: only the last arguments"),
        ("{?call run}", "column 3: expected ="),
        ("{?=run}", "column 1: expected {?=call"),
        ("{call run} x", "column 12: expected the end"),
        ("{call run} {call run}", "column 12: expected the end"),
        ("SELECT {call run} FROM t", "column 8: {call} must be"),
        ("{call run({call run})}", "column 11: {call} must be"),
    ] {
        assert!(refused(sql).contains(position), "{sql}: {}", refused(sql));
    }
}
