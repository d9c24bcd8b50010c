//! Handles: which ones are valid, for what, and until when.

use crate::odbc::*;
use crate::support::{Connection, fresh, fresh_string, number, records, unconnected};
use firearrow_testkit::{Target, matrix};
use std::ptr::{null_mut, without_provenance_mut};

const APP_ROW_DESC: i32 = 10010;
const APP_PARAM_DESC: i32 = 10011;
const IMP_ROW_DESC: i32 = 10012;

/// A new handle of this kind.
pub(crate) fn allocate(kind: i16, parent: Handle) -> Handle {
    let mut handle = null_mut();
    // SAFETY: the place is there.
    assert_eq!(unsafe { SQLAllocHandle(kind, parent, &mut handle) }, SUCCESS);
    assert!(!handle.is_null());
    handle
}

pub(crate) fn free(kind: i16, handle: Handle) -> Return {
    // SAFETY: handles are checked.
    unsafe { SQLFreeHandle(kind, handle) }
}

fn state(kind: i16, handle: Handle) -> String {
    records(kind, handle).first().map(|record| record.state.clone()).unwrap_or_default()
}

/// Calls functions of all kinds with a handle that none of them accepts.
fn is_refused(handle: Handle) {
    let mut place = null_mut();
    let (mut short, mut length) = (0_i16, 0_isize);
    // SAFETY: the places are there, and handles are checked.
    let codes = unsafe {
        [
            SQLFetch(handle),
            SQLExecute(handle),
            SQLCancel(handle),
            SQLCloseCursor(handle),
            SQLFreeStmt(handle, 1),
            SQLRowCount(handle, &mut length),
            SQLNumResultCols(handle, &mut short),
            SQLExecDirect(handle, c"SELECT 1".as_ptr().cast(), 8),
            SQLDisconnect(handle),
            SQLEndTran(DBC, handle, 0),
            SQLEndTran(ENV, handle, 0),
            SQLCancelHandle(STMT, handle),
            SQLCancelHandle(DBC, handle),
            SQLGetInfo(handle, 6, null_mut(), 0, &mut short),
            SQLSetEnvAttr(handle, 200, number(3), 0),
            SQLSetConnectAttr(handle, 102, number(0), 0),
            SQLSetStmtAttr(handle, 0, number(0), 0),
            SQLGetDescField(handle, 0, 1001, (&raw mut short).cast(), 0, null_mut()),
            SQLCopyDesc(handle, handle),
            SQLAllocHandle(DBC, handle, &mut place),
            SQLAllocHandle(STMT, handle, &mut place),
            SQLAllocHandle(DESC, handle, &mut place),
            SQLGetDiagRec(STMT, handle, 1, null_mut(), null_mut(), null_mut(), 0, &mut short),
            SQLGetDiagRec(DBC, handle, 1, null_mut(), null_mut(), null_mut(), 0, &mut short),
            SQLFreeHandle(ENV, handle),
            SQLFreeHandle(DBC, handle),
            SQLFreeHandle(STMT, handle),
            SQLFreeHandle(DESC, handle),
            SQLFreeHandle(99, handle),
        ]
    };
    for (at, code) in codes.into_iter().enumerate() {
        assert_eq!(code, INVALID_HANDLE, "call {at} with {handle:?}");
    }
    assert!(place.is_null());
}

#[test]
fn null_and_garbage_are_no_handles() {
    // Handles are numbers; small ones may be in use by other tests.
    for garbage in [0_usize, usize::MAX, usize::MAX - 7, 1 << 40, 0xDEAD_BEEF] {
        is_refused(without_provenance_mut(garbage));
    }
    let local = 0_u64;
    is_refused((&raw const local).cast_mut().cast());
}

#[test]
fn handles_need_a_place() {
    let connection = unconnected(3);
    // SAFETY: no place is given.
    unsafe {
        assert_eq!(SQLAllocHandle(ENV, null_mut(), null_mut()), ERROR);
        assert_eq!(SQLAllocHandle(DBC, connection.environment, null_mut()), ERROR);
    }
    assert_eq!(state(ENV, connection.environment), "HY009");
    let mut place = without_provenance_mut(77);
    // SAFETY: the place is there.
    assert_eq!(unsafe { SQLAllocHandle(STMT, connection.handle, &mut place) }, ERROR);
    assert_eq!((state(DBC, connection.handle), place), ("08003".to_owned(), null_mut()));
}

matrix!(
    all,
    fn freed_handles_and_those_of_another_kind_are_refused(target: &Target) {
        let connection = fresh(target);
        let statement = allocate(STMT, connection.handle);
        let descriptor = allocate(DESC, connection.handle);
        // SAFETY: handles are checked.
        unsafe {
            for wrong in [connection.environment, connection.handle, descriptor] {
                assert_eq!(SQLFetch(wrong), INVALID_HANDLE);
                assert_eq!(SQLCancel(wrong), INVALID_HANDLE);
                assert_eq!(SQLCancelHandle(STMT, wrong), INVALID_HANDLE);
                assert_eq!(free(STMT, wrong), INVALID_HANDLE);
            }
            for wrong in [connection.environment, statement, descriptor] {
                assert_eq!(SQLDisconnect(wrong), INVALID_HANDLE);
                assert_eq!(SQLCancelHandle(DBC, wrong), INVALID_HANDLE);
                assert_eq!(free(DBC, wrong), INVALID_HANDLE);
            }
            assert_eq!(SQLEndTran(STMT, statement, 0), INVALID_HANDLE);
        }
        assert_eq!(free(STMT, statement), SUCCESS);
        assert_eq!(free(DESC, descriptor), SUCCESS);
        is_refused(statement);
        is_refused(descriptor);
        // Another handle gets the place, but not the number.
        let again = allocate(STMT, connection.handle);
        is_refused(statement);
        assert_eq!(free(STMT, again), SUCCESS);
    },
    fn a_connection_is_freed_after_it_is_closed(target: &Target) {
        let connection = fresh(target);
        assert_eq!(free(DBC, connection.handle), ERROR);
        assert_eq!(state(DBC, connection.handle), "HY010");
        assert_eq!(free(ENV, connection.environment), ERROR);
        assert_eq!(state(ENV, connection.environment), "HY010");
        let statement = connection.statement();
        let descriptor = allocate(DESC, connection.handle);
        statement.run("SELECT 1 FROM RDB$DATABASE");
        // SAFETY: handles are checked.
        unsafe {
            assert_eq!(SQLDisconnect(connection.handle), SUCCESS);
            assert_eq!(SQLFetch(statement.handle), INVALID_HANDLE);
            assert_eq!(free(DESC, descriptor), INVALID_HANDLE);
            assert_eq!(SQLDisconnect(connection.handle), ERROR);
        }
        assert_eq!(state(DBC, connection.handle), "08003");
        assert_eq!(free(DBC, connection.handle), SUCCESS);
        assert_eq!(free(ENV, connection.environment), SUCCESS);
        is_refused(connection.environment);
    },
    fn handles_are_freed_in_any_order(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER)");
        connection.run("INSERT INTO T VALUES (1)");
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let statement = allocate(STMT, connection.handle);
            let handles = [
                (STMT, statement),
                (DESC, allocate(DESC, connection.handle)),
                (DESC, allocate(DESC, connection.handle)),
            ];
            // SAFETY: the values are handles, and the text has its length.
            unsafe {
                assert_eq!(SQLSetStmtAttr(statement, APP_ROW_DESC, handles[1].1, 0), SUCCESS);
                assert_eq!(SQLSetStmtAttr(statement, APP_PARAM_DESC, handles[2].1, 0), SUCCESS);
                let sql = "SELECT * FROM T";
                assert_eq!(SQLExecDirect(statement, sql.as_ptr(), sql.len() as i32), SUCCESS);
                assert_eq!(SQLFetch(statement), SUCCESS);
            }
            for at in order {
                let (kind, handle) = handles[at];
                assert_eq!(free(kind, handle), SUCCESS, "{order:?}");
                assert_eq!(free(kind, handle), INVALID_HANDLE, "{order:?}");
            }
        }
    },
    fn a_freed_descriptor_gives_way_to_that_of_the_statement(target: &Target) {
        let connection = fresh(target);
        let (statement, other) = (connection.statement(), connection.statement());
        let own = statement.get(APP_ROW_DESC);
        let descriptor = allocate(DESC, connection.handle);
        assert_eq!(statement.set(APP_ROW_DESC, descriptor.addr()), SUCCESS);
        assert_eq!(other.set(APP_ROW_DESC, descriptor.addr()), SUCCESS);
        assert_eq!(statement.get(APP_ROW_DESC), descriptor.addr());
        let mut value = 0_i32;
        // SAFETY: the place is there.
        let code = unsafe { SQLBindCol(statement.handle, 1, 4, (&raw mut value).cast(), 0, null_mut()) };
        assert_eq!(code, SUCCESS);
        other.run("SELECT 7 FROM RDB$DATABASE");
        assert_eq!((other.fetch(), value), (SUCCESS, 7));
        assert_eq!(free(DESC, descriptor), SUCCESS);
        assert_eq!(statement.get(APP_ROW_DESC), own);
        statement.run("SELECT 8 FROM RDB$DATABASE");
        assert_eq!((statement.fetch(), value), (SUCCESS, 7));
    },
    fn descriptors_of_others_are_refused(target: &Target) {
        let (connection, foreign) = (fresh(target), fresh(target));
        let (statement, other) = (connection.statement(), connection.statement());
        let of_foreign = allocate(DESC, foreign.handle);
        for (value, expected) in [
            (of_foreign.addr(), "HY024"),
            (statement.handle.addr(), "HY024"),
            (other.handle.addr(), "HY024"),
            (connection.handle.addr(), "HY024"),
            (12_345_678, "HY024"),
            (other.get(APP_ROW_DESC), "HY017"),
            (statement.get(IMP_ROW_DESC), "HY017"),
        ] {
            for attribute in [APP_ROW_DESC, APP_PARAM_DESC] {
                assert_eq!(statement.set(attribute, value), ERROR, "{value}");
                assert_eq!(statement.state(), expected, "{value}");
            }
        }
        assert_eq!(statement.set(IMP_ROW_DESC, 0), ERROR);
        assert_eq!(statement.state(), "HY017");
        assert_eq!(statement.set(APP_ROW_DESC, statement.get(APP_ROW_DESC)), SUCCESS);
        assert_eq!(statement.set(APP_ROW_DESC, 0), SUCCESS);
        let implicit = without_provenance_mut(statement.get(APP_ROW_DESC));
        assert_eq!(free(DESC, implicit), ERROR);
        assert_eq!(state(DESC, implicit), "HY017");
    },
    fn a_connection_has_ten_thousand_statements(target: &Target) {
        let connection = fresh(target);
        let statements: Vec<_> = (0..10_000).map(|_| connection.statement()).collect();
        for (at, statement) in statements.iter().enumerate().step_by(1000) {
            statement.run(&format!("SELECT {at} FROM RDB$DATABASE"));
        }
        for (at, statement) in statements.iter().enumerate().step_by(1000) {
            assert_eq!(statement.all_texts(), [[Some(at.to_string())]]);
        }
    },
);

/// Connections to one database, all open at once.
fn open(target: &Target, count: usize) {
    let text = fresh_string(target);
    let first = unconnected(3);
    first.connect(&text);
    let connections: Vec<Connection> = (1..count)
        .map(|_| {
            let connection = unconnected(3);
            connection.connect(&text);
            connection
        })
        .collect();
    let numbers: std::collections::HashSet<_> = connections
        .iter()
        .map(|connection| connection.texts("SELECT CURRENT_CONNECTION FROM RDB$DATABASE"))
        .collect();
    assert_eq!(numbers.len(), count - 1);
    drop(connections);
    assert_eq!(first.texts("SELECT 1 FROM RDB$DATABASE"), [[Some("1".to_owned())]]);
}

matrix!(
    [firebird_5_0, embedded_5_0],
    fn a_process_has_five_hundred_connections(target: &Target) {
        open(target, 500);
    },
);

matrix!(
    [firebird_3_0, firebird_4_0],
    fn a_process_has_a_hundred_connections(target: &Target) {
        open(target, 100);
    },
);
