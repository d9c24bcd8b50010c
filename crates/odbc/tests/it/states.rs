//! The order of calls: what comes too early, too late, or in between.

use crate::odbc::*;
use crate::support::{Statement, fresh};
use firearrow_testkit::{Target, matrix};
use std::ffi::c_void;
use std::ptr::null_mut;

const CLOSE: u16 = 0;
const AT_EXECUTION: isize = -2;

fn get_data(statement: &Statement) -> Return {
    let (mut value, mut indicator) = (0_i32, 0_isize);
    // SAFETY: the places are there.
    unsafe { SQLGetData(statement.handle, 1, 4, (&raw mut value).cast(), 0, &mut indicator) }
}

fn close_cursor(statement: &Statement) -> Return {
    // SAFETY: handles are checked.
    unsafe { SQLCloseCursor(statement.handle) }
}

/// The state of a call that must fail.
fn failed(statement: &Statement, code: Return) -> String {
    assert_eq!(code, ERROR);
    statement.state()
}

fn count_columns(statement: &Statement) -> Return {
    let mut count = 0_i16;
    // SAFETY: the place is there.
    unsafe { SQLNumResultCols(statement.handle, &mut count) }
}

fn count_rows(statement: &Statement) -> Return {
    let mut count = 0;
    // SAFETY: the place is there.
    unsafe { SQLRowCount(statement.handle, &mut count) }
}

/// Binds parameter 1 as text that is supplied at execution.
fn bind_at_execution(statement: &Statement, indicator: &mut isize) {
    *indicator = AT_EXECUTION;
    let token: *mut c_void = std::ptr::without_provenance_mut(42);
    // SAFETY: the indicator outlives the execution; the token is no address.
    let code = unsafe { SQLBindParameter(statement.handle, 1, 1, 1, 12, 20, 0, token, 0, indicator) };
    assert_eq!(code, SUCCESS);
}

matrix!(
    all,
    fn an_allocated_statement_cannot_be_executed_or_fetched(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(failed(&statement, statement.execute()), "HY010");
        assert_eq!(failed(&statement, statement.fetch()), "HY010");
        assert_eq!(failed(&statement, get_data(&statement)), "HY010");
        assert_eq!(failed(&statement, count_columns(&statement)), "HY010");
        assert_eq!(failed(&statement, count_rows(&statement)), "HY010");
        assert_eq!(failed(&statement, close_cursor(&statement)), "24000");
        // SAFETY: the places are there.
        unsafe {
            let (mut token, mut count) = (null_mut(), 0_i16);
            assert_eq!(failed(&statement, SQLParamData(statement.handle, &mut token)), "HY010");
            assert_eq!(failed(&statement, SQLPutData(statement.handle, null_mut(), 0)), "HY010");
            assert_eq!(failed(&statement, SQLNumParams(statement.handle, &mut count)), "HY010");
            assert_eq!(SQLMoreResults(statement.handle), NO_DATA);
            assert_eq!(SQLFreeStmt(statement.handle, CLOSE), SUCCESS);
            assert_eq!(failed(&statement, SQLFreeStmt(statement.handle, 4)), "HY092");
            assert_eq!(SQLCancel(statement.handle), SUCCESS);
        }
    },
    fn a_prepared_statement_has_columns_but_no_rows(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.prepare("SELECT 1, 2 FROM RDB$DATABASE");
        assert_eq!(statement.columns(), 2);
        assert_eq!(failed(&statement, statement.fetch()), "HY010");
        assert_eq!(failed(&statement, count_rows(&statement)), "HY010");
        assert_eq!(failed(&statement, close_cursor(&statement)), "24000");
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(statement.fetch(), SUCCESS);
        // It can be executed again after it was closed, and only then.
        assert_eq!(failed(&statement, statement.execute()), "24000");
        assert_eq!(close_cursor(&statement), SUCCESS);
        assert_eq!(failed(&statement, close_cursor(&statement)), "24000");
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(statement.all_texts().len(), 1);
    },
    fn an_open_cursor_stands_in_the_way(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.run("SELECT 1 FROM RDB$DATABASE");
        let sql = "SELECT 2 FROM RDB$DATABASE";
        assert_eq!(failed(&statement, statement.execute_directly(sql)), "24000");
        assert_eq!(failed(&statement, statement.try_prepare(sql)), "24000");
        // SAFETY: the texts are absent, handles are checked.
        unsafe {
            let none = std::ptr::null();
            let tables = SQLTables(statement.handle, none, 0, none, 0, none, 0, none, 0);
            assert_eq!(failed(&statement, tables), "24000");
            assert_eq!(failed(&statement, SQLGetTypeInfo(statement.handle, 0)), "24000");
            assert_eq!(
                failed(&statement, SQLSetCursorName(statement.handle, c"C".as_ptr().cast(), 1)),
                "24000"
            );
        }
        // The cursor did not suffer, and its end is not its close.
        assert_eq!(statement.all_texts(), [[Some("1".to_owned())]]);
        assert_eq!(failed(&statement, statement.execute_directly(sql)), "24000");
        statement.close();
        statement.run(sql);
        assert_eq!(statement.all_texts(), [[Some("2".to_owned())]]);
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLMoreResults(statement.handle) }, NO_DATA);
        assert_eq!(failed(&statement, close_cursor(&statement)), "24000");
    },
    fn values_are_read_from_a_row_only(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.run("SELECT 1 FROM RDB$DATABASE");
        assert_eq!(failed(&statement, get_data(&statement)), "24000");
        assert_eq!((statement.fetch(), get_data(&statement)), (SUCCESS, SUCCESS));
        assert_eq!(statement.fetch(), NO_DATA);
        assert_eq!(failed(&statement, get_data(&statement)), "HY109");
        assert_eq!(statement.fetch(), NO_DATA);
    },
    fn statements_without_a_result_have_no_cursor(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER)");
        let statement = connection.statement();
        statement.run("INSERT INTO T VALUES (1)");
        assert_eq!((statement.columns(), statement.row_count()), (0, 1));
        assert_eq!(failed(&statement, statement.fetch()), "24000");
        assert_eq!(failed(&statement, get_data(&statement)), "24000");
        assert_eq!(failed(&statement, close_cursor(&statement)), "24000");
        // What was executed directly cannot be executed again.
        assert_eq!(failed(&statement, statement.execute()), "HY010");
        // Searching in vain is worth a note, to applications of ODBC 3.
        assert_eq!(statement.execute_directly("DELETE FROM T WHERE ID = 7"), NO_DATA);
        assert_eq!(statement.row_count(), 0);
        statement.run("CREATE TABLE U (ID INTEGER)");
        assert_eq!((statement.columns(), statement.row_count()), (0, 0));
    },
    fn a_statement_that_waits_for_data_does_nothing_else(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (NAME VARCHAR(20))");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?)");
        let mut indicator = 0;
        bind_at_execution(&statement, &mut indicator);
        assert_eq!(statement.execute(), NEED_DATA);
        assert_eq!(failed(&statement, statement.execute()), "HY010");
        assert_eq!(failed(&statement, statement.fetch()), "HY010");
        assert_eq!(failed(&statement, statement.try_prepare("SELECT 1 FROM RDB$DATABASE")), "HY010");
        assert_eq!(failed(&statement, count_rows(&statement)), "HY010");
        assert_eq!(failed(&statement, statement.set(0, 1)), "HY010");
        // SAFETY: the text has its length, the place is there.
        unsafe {
            let mut token = null_mut();
            assert_eq!(failed(&statement, SQLFreeStmt(statement.handle, CLOSE)), "HY010");
            assert_eq!(failed(&statement, SQLPutData(statement.handle, null_mut(), 0)), "HY010");
            assert_eq!(SQLParamData(statement.handle, &mut token), NEED_DATA);
            assert_eq!(token.addr(), 42);
            assert_eq!(SQLPutData(statement.handle, c"one".as_ptr().cast_mut().cast(), 3), SUCCESS);
            // Cancelled, it is prepared as before.
            assert_eq!(SQLCancel(statement.handle), SUCCESS);
            assert_eq!(failed(&statement, SQLParamData(statement.handle, &mut token)), "HY010");
            assert_eq!(statement.execute(), NEED_DATA);
            assert_eq!(SQLParamData(statement.handle, &mut token), NEED_DATA);
            assert_eq!(SQLPutData(statement.handle, c"two".as_ptr().cast_mut().cast(), 3), SUCCESS);
            assert_eq!(SQLParamData(statement.handle, &mut token), SUCCESS);
        }
        assert_eq!(connection.texts("SELECT NAME FROM T"), [[Some("two".to_owned())]]);
        // One that was executed directly is forgotten.
        assert_eq!(statement.execute_directly("INSERT INTO T VALUES (?)"), NEED_DATA);
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLCancel(statement.handle) }, SUCCESS);
        assert_eq!(failed(&statement, statement.execute()), "HY010");
        assert_eq!(failed(&statement, count_columns(&statement)), "HY010");
    },
    fn a_failure_leaves_nothing_behind(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.prepare("SELECT 1 FROM RDB$DATABASE");
        assert_eq!(failed(&statement, statement.try_prepare("SELEC")), "42000");
        assert_eq!(failed(&statement, statement.execute()), "HY010");
        assert_eq!(failed(&statement, count_columns(&statement)), "HY010");
        assert_eq!(failed(&statement, statement.execute_directly("SELECT 1 / 0 FROM NOWHERE")), "42S02");
        assert_eq!(failed(&statement, count_columns(&statement)), "HY010");
        statement.run("SELECT 1 FROM RDB$DATABASE");
        assert_eq!(statement.all_texts(), [[Some("1".to_owned())]]);
    },
    fn many_cursors_are_open_at_once(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER)");
        for manual in [false, true] {
            assert_eq!(connection.set(102, usize::from(!manual)), SUCCESS);
            let statements: Vec<_> = (0..50).map(|_| connection.statement()).collect();
            for (at, statement) in statements.iter().enumerate() {
                statement.run(&format!("SELECT {at} FROM RDB$DATABASE UNION ALL SELECT 7 FROM RDB$DATABASE"));
                assert_eq!(statement.fetch(), SUCCESS);
                assert_eq!(connection.run(&format!("INSERT INTO T VALUES ({at})")), 1);
            }
            for (at, statement) in statements.iter().enumerate() {
                assert_eq!(statement.text(1), Some(at.to_string()));
                assert_eq!(statement.all_texts(), [[Some("7".to_owned())]]);
            }
            assert_eq!(connection.end(0), SUCCESS);
        }
        assert_eq!(
            connection.texts("SELECT COUNT(*), SUM(ID) FROM T"),
            [[Some("100".into()), Some("2450".into())]]
        );
    },
);
