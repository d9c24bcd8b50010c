//! SQL text: without FROM, without escapes, and as the server gets it.

use crate::odbc::*;
use crate::support::{Connection, fresh, unconnected};
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;

const NOSCAN: i32 = 2;

/// What `SQLNativeSql` returns, the text in a buffer of so many bytes, and the full length.
fn native(connection: &Connection, sql: &str, capacity: usize) -> (Return, String, i32) {
    let (mut buffer, mut length) = (vec![0xEE_u8; capacity], -1);
    // SAFETY: the buffer has its length.
    let code = unsafe {
        let capacity = capacity as i32;
        SQLNativeSql(
            connection.handle,
            sql.as_ptr(),
            sql.len() as i32,
            buffer.as_mut_ptr(),
            capacity,
            &mut length,
        )
    };
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(0);
    (code, String::from_utf8_lossy(&buffer[..end]).into_owned(), length)
}

fn texts(values: &[&str]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}

matrix!(
    all,
    fn selects_need_no_from(target: &Target) {
        let connection = fresh(target);
        assert_eq!(connection.texts("SELECT 1"), [texts(&["1"])]);
        assert_eq!(connection.texts("select 1 + 1 AS N, 'from' ;"), [texts(&["2", "from"])]);
        assert_eq!(
            connection.texts("SELECT {fn UCASE('é')}, (SELECT 5 FROM RDB$DATABASE)"),
            [texts(&["É", "5"])]
        );
        for sql in [
            "SELECT 5 WHERE 1 = 1",
            "SELECT 5 AS N ORDER BY 1",
            "SELECT 5 UNION SELECT 5",
            "SELECT (SELECT 5)",
        ] {
            let outer = sql != "SELECT (SELECT 5)";
            let statement = connection.statement();
            let expected = if outer { SUCCESS } else { ERROR };
            assert_eq!(statement.execute_directly(sql), expected, "{sql}: {:?}", statement.records());
            if outer {
                assert_eq!(statement.all_texts(), [texts(&["5"])], "{sql}");
            }
        }
        let statement = connection.statement();
        // All columns of nothing, and an error of the application's own text.
        for sql in ["SELECT *", "SELECT * WHERE 1 = 1", "SELECT 1 WERE 2"] {
            assert_eq!(
                (statement.execute_directly(sql), statement.state().as_str()),
                (ERROR, "42000"),
                "{sql}"
            );
            assert!(!statement.records()[0].message.contains("RDB$DATABASE"), "{sql}");
        }
        statement.prepare("SELECT 7");
        assert_eq!((statement.columns(), statement.execute()), (1, SUCCESS));
        assert_eq!(statement.all_texts(), [texts(&["7"])]);
        statement.close();
        assert_eq!((statement.execute_directly("SELECT"), statement.state().as_str()), (ERROR, "42000"));
        assert_eq!((statement.execute_directly("UPDATE"), statement.state().as_str()), (ERROR, "42000"));
        let strict = unconnected(380);
        strict.connect(&format!("{};FROMLESSSELECT=N", crate::support::fresh_string(target)));
        let statement = strict.statement();
        assert_eq!((statement.execute_directly("SELECT 1"), statement.state().as_str()), (ERROR, "42000"));
    },
    fn native_text_has_no_escapes(target: &Target) {
        let connection = fresh(target);
        let sql = "SELECT {fn LCASE('A')}, {d '2024-01-02'} FROM T WHERE A = ? -- {";
        let expected = "SELECT LOWER('A'), DATE '2024-01-02' FROM T WHERE A = ? -- {";
        assert_eq!(native(&connection, sql, 100), (SUCCESS, expected.to_owned(), expected.len() as i32));
        assert_eq!(native(&connection, "{call nowhere(?, 1)}", 100).1, "EXECUTE PROCEDURE nowhere(?, 1)");
        let (code, text, length) = native(&connection, sql, 7);
        assert_eq!((code, text.as_str(), length), (SUCCESS_WITH_INFO, "SELECT", expected.len() as i32));
        assert_eq!(connection.records()[0].state, "01004");
        let mut length = 0;
        // SAFETY: there is no buffer.
        let code = unsafe {
            SQLNativeSql(
                connection.handle,
                c"SELECT 'é'".as_ptr().cast(),
                NTS as i32,
                null_mut(),
                0,
                &mut length,
            )
        };
        assert_eq!((code, length), (SUCCESS, 11));
        assert_eq!(native(&connection, "SELECT {nonsense} FROM T", 100).0, ERROR);
        assert_eq!(connection.records()[0].state, "42000");
        // SAFETY: there is no text.
        let code =
            unsafe { SQLNativeSql(connection.handle, std::ptr::null(), 3, null_mut(), 0, &mut length) };
        assert_eq!((code, connection.records()[0].state.as_str()), (ERROR, "HY009"));
        // SAFETY: the text has a terminator.
        let code =
            unsafe { SQLNativeSql(connection.handle, c"x".as_ptr().cast(), -5, null_mut(), 0, &mut length) };
        assert_eq!((code, connection.records()[0].state.as_str()), (ERROR, "HY090"));
    },
    fn text_can_be_sent_as_it_is(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.set(NOSCAN, 1), SUCCESS);
        let escaped = "SELECT {fn UCASE('a')} FROM RDB$DATABASE";
        assert_eq!((statement.execute_directly(escaped), statement.state().as_str()), (ERROR, "42000"));
        statement.run("SELECT 'a{fn x}' FROM RDB$DATABASE");
        assert_eq!(statement.all_texts(), [texts(&["a{fn x}"])]);
        statement.close();
        assert_eq!(statement.set(NOSCAN, 0), SUCCESS);
        statement.run(escaped);
        assert_eq!(statement.all_texts(), [texts(&["A"])]);
    },
    fn ends_of_statements_do_not_matter(target: &Target) {
        let connection = fresh(target);
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE;\0"), [texts(&["1"])]);
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE ; ; \n"), [texts(&["1"])]);
        let statement = connection.statement();
        for sql in ["", "  \n", "\0", ";"] {
            assert_eq!(
                (statement.execute_directly(sql), statement.state().as_str()),
                (ERROR, "42000"),
                "{sql:?}"
            );
        }
    },
);
