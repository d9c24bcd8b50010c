//! Handles that several threads use at once.

use crate::odbc::*;
use crate::support::{Connection, fresh, fresh_string, number, records, unconnected};
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;
use std::thread;

matrix!(
    all,
    fn threads_share_a_connection(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (WORKER INTEGER, ID INTEGER)");
        thread::scope(|scope| {
            for worker in 0..8 {
                let connection = &connection;
                scope.spawn(move || {
                    for id in 0..25 {
                        let statement = connection.statement();
                        statement.run(&format!("INSERT INTO T VALUES ({worker}, {id})"));
                        assert_eq!(statement.row_count(), 1);
                        statement.run(&format!("SELECT ID FROM T WHERE WORKER = {worker} ORDER BY ID DESC"));
                        assert_eq!(statement.fetch(), SUCCESS);
                        assert_eq!(statement.text(1), Some(id.to_string()));
                        assert_eq!(statement.execute_directly("SELECT"), ERROR);
                        assert_eq!(statement.state(), "24000");
                    }
                });
            }
        });
        let rows = connection.texts("SELECT COUNT(*), COUNT(DISTINCT WORKER), SUM(ID) FROM T");
        assert_eq!(rows, [[Some("200".into()), Some("8".into()), Some("2400".into())]]);
    },
    fn threads_have_connections_of_their_own(target: &Target) {
        let text = fresh_string(target);
        let first = unconnected(380);
        first.connect(&text);
        first.run("CREATE TABLE T (WORKER INTEGER, ID INTEGER)");
        thread::scope(|scope| {
            for worker in 0..8 {
                let text = &text;
                scope.spawn(move || {
                    let connection = unconnected(380);
                    connection.connect(text);
                    assert_eq!(connection.set(102, 0), SUCCESS);
                    for id in 0..25 {
                        connection.run(&format!("INSERT INTO T VALUES ({worker}, {id})"));
                        assert_eq!(connection.end(i16::from(id % 5 == 0)), SUCCESS);
                    }
                });
            }
        });
        let rows = first.texts("SELECT COUNT(*), COUNT(DISTINCT WORKER) FROM T");
        assert_eq!(rows, [[Some("160".into()), Some("8".into())]]);
    },
    fn threads_share_a_statement_without_harm(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        thread::scope(|scope| {
            for worker in 0..4 {
                let statement = &statement;
                scope.spawn(move || {
                    for _ in 0..60 {
                        let codes = [
                            statement.execute_directly(&format!("SELECT {worker} FROM RDB$DATABASE")),
                            statement.fetch(),
                            // SAFETY: handles are checked.
                            unsafe { SQLFreeStmt(statement.handle, 0) },
                        ];
                        assert!(
                            codes.iter().all(|code| matches!(*code, SUCCESS | ERROR | NO_DATA)),
                            "{codes:?}"
                        );
                        drop(statement.records());
                    }
                });
            }
        });
        statement.close();
        statement.run("SELECT 7 FROM RDB$DATABASE");
        assert_eq!(statement.all_texts(), [[Some("7".to_owned())]]);
    },
    fn handles_are_freed_while_others_use_them(target: &Target) {
        let connection = fresh(target);
        for _ in 0..50 {
            let statement = connection.statement();
            thread::scope(|scope| {
                let handle = &statement;
                scope.spawn(move || {
                    for _ in 0..20 {
                        let code = handle.execute_directly("SELECT 1 FROM RDB$DATABASE");
                        assert!(matches!(code, SUCCESS | ERROR | INVALID_HANDLE), "{code}");
                    }
                });
                thread::yield_now();
                // SAFETY: handles are checked.
                assert_eq!(unsafe { SQLFreeHandle(STMT, statement.handle) }, SUCCESS);
            });
        }
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE"), [[Some("1".to_owned())]]);
    },
    fn a_busy_statement_delays_neither_diagnostics_nor_allocations(target: &Target) {
        let connection = fresh(target);
        let (busy, failed) = (connection.statement(), connection.statement());
        assert_eq!(failed.execute_directly("SELEC"), ERROR);
        assert_eq!(busy.set(0, 20), SUCCESS);
        let endless = "SELECT COUNT(*) FROM RDB$TYPES A, RDB$TYPES B, RDB$TYPES C, RDB$TYPES D";
        thread::scope(|scope| {
            let running = scope.spawn(|| match busy.execute_directly(endless) {
                SUCCESS => busy.fetch(),
                code => code,
            });
            thread::sleep(std::time::Duration::from_millis(300));
            assert_eq!(failed.state(), "42000");
            assert_eq!(records(DBC, connection.handle), []);
            let other = connection.statement();
            assert_eq!(other.set(0, 5), SUCCESS);
            drop(other);
            assert!(!running.is_finished());
            // SAFETY: handles are checked.
            assert_eq!(unsafe { SQLCancel(busy.handle) }, SUCCESS);
            assert_eq!(running.join().expect("no panic"), ERROR);
        });
        assert_eq!(busy.state(), "HY008");
    },
);

#[test]
fn handles_are_made_and_freed_by_many_threads() {
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let Connection { .. } = unconnected(3);
                }
            });
        }
        let mut environment = null_mut();
        // SAFETY: the place is there; handles are checked.
        unsafe {
            assert_eq!(SQLAllocHandle(ENV, null_mut(), &mut environment), SUCCESS);
            assert_eq!(SQLSetEnvAttr(environment, 200, number(380), 0), SUCCESS);
            assert_eq!(SQLFreeHandle(ENV, environment), SUCCESS);
        }
    });
}
