//! What executions return: rows, counts, both, or nothing.

use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Generation, Target, matrix};

const AUTOCOMMIT: i32 = 102;

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The header field with the number of rows.
fn row_count_of_diagnostics(statement: &Statement) -> isize {
    let mut count = -77_isize;
    let to = (&raw mut count).cast();
    // SAFETY: the place is there.
    let code = unsafe { SQLGetDiagField(STMT, statement.handle, 0, 3, to, 0, std::ptr::null_mut()) };
    assert_eq!(code, SUCCESS);
    count
}

/// A table with the numbers up to 5.
fn numbers(connection: &Connection) {
    connection.run("CREATE TABLE T (N INTEGER, M INTEGER)");
    for number in 1..=5 {
        assert_eq!(connection.run(&format!("INSERT INTO T VALUES ({number}, 0)")), 1);
    }
}

matrix!(
    all,
    fn changes_have_counts(target: &Target) {
        for autocommit in [1, 0] {
            let connection = fresh(target);
            numbers(&connection);
            assert_eq!(connection.set(AUTOCOMMIT, autocommit), SUCCESS);
            let statement = connection.statement();
            for (sql, code, count) in [
                ("INSERT INTO T SELECT N + 10, 1 FROM T", SUCCESS, 5),
                ("UPDATE T SET M = 2 WHERE N > 10", SUCCESS, 5),
                ("UPDATE T SET M = 2 WHERE N > 100", NO_DATA, 0),
                ("DELETE FROM T WHERE N > 13", SUCCESS, 2),
                ("DELETE FROM T WHERE N > 100", NO_DATA, 0),
                ("INSERT INTO T SELECT N, M FROM T WHERE N > 100", SUCCESS, 0),
                ("UPDATE OR INSERT INTO T VALUES (1, 7) MATCHING (N)", SUCCESS, 1),
                (
                    "MERGE INTO T USING (SELECT 2 AS K FROM RDB$DATABASE) ON N = K WHEN MATCHED THEN UPDATE SET M = 9",
                    SUCCESS,
                    1,
                ),
                ("EXECUTE BLOCK AS BEGIN UPDATE T SET M = 3; END", SUCCESS, 0),
                ("CREATE TABLE U (N INTEGER)", SUCCESS, 0),
            ] {
                let direct = statement.execute_directly(sql);
                assert_eq!(direct, code, "{sql}: {:?}", statement.records());
                assert_eq!(
                    (statement.row_count(), row_count_of_diagnostics(&statement)),
                    (count, count),
                    "{sql}"
                );
                assert_eq!(statement.columns(), 0, "{sql}");
                assert_eq!((statement.fetch(), statement.state().as_str()), (ERROR, "24000"), "{sql}");
            }
            if autocommit == 0 {
                assert_eq!(connection.end(0), SUCCESS);
            }
            let rows = connection.texts("SELECT COUNT(*), SUM(M) FROM T");
            assert_eq!(rows, [[text("8"), text("24")]]);
            statement.prepare("UPDATE T SET M = 4 WHERE N = 100");
            assert_eq!((statement.execute(), statement.row_count()), (NO_DATA, 0));
            statement.prepare("DELETE FROM T WHERE N < 3");
            assert_eq!((statement.execute(), statement.row_count()), (SUCCESS, 2));
            assert_eq!((statement.execute(), statement.row_count()), (NO_DATA, 0));
        }
    },
    fn nothing_found_is_a_success_for_odbc_2(target: &Target) {
        let connection = unconnected(2);
        connection.connect(&fresh_string(target));
        numbers(&connection);
        let statement = connection.statement();
        for sql in ["UPDATE T SET M = 2 WHERE N > 100", "DELETE FROM T WHERE N > 100"] {
            assert_eq!((statement.execute_directly(sql), statement.row_count()), (SUCCESS, 0));
            statement.prepare(sql);
            assert_eq!((statement.execute(), statement.row_count()), (SUCCESS, 0));
        }
    },
    fn changes_may_return_rows(target: &Target) {
        let has_many = target.generation() == Generation::V5_0;
        for autocommit in [1, 0] {
            let connection = fresh(target);
            numbers(&connection);
            assert_eq!(connection.set(AUTOCOMMIT, autocommit), SUCCESS);
            let statement = connection.statement();
            let run = |sql: &str| {
                assert_eq!(statement.execute_directly(sql), SUCCESS, "{sql}: {:?}", statement.records());
                let count = statement.row_count();
                let rows = statement.all_texts();
                statement.close();
                (count, rows)
            };
            assert_eq!(
                run("INSERT INTO T VALUES (6, 1) RETURNING N, M + 1"),
                (1, vec![vec![text("6"), text("2")]])
            );
            assert_eq!(
                run("UPDATE T SET M = 8 WHERE N = 6 RETURNING OLD.M, NEW.M"),
                (1, vec![vec![text("1"), text("8")]])
            );
            assert_eq!(run("DELETE FROM T WHERE N = 6 RETURNING N"), (1, vec![vec![text("6")]]));
            if has_many {
                let (count, mut rows) = run("UPDATE T SET M = N RETURNING N");
                rows.sort();
                let all: Vec<_> = (1..=5).map(|number| vec![text(&number.to_string())]).collect();
                assert_eq!((count, rows), (5, all));
                assert_eq!(run("UPDATE T SET M = 1 WHERE N = 100 RETURNING N"), (0, vec![]));
            } else {
                let code = statement.execute_directly("UPDATE T SET M = N RETURNING N");
                assert_eq!((code, statement.state().as_str()), (ERROR, "21000"));
            }
            // The change does not depend on whether somebody reads its rows.
            statement.run("INSERT INTO T VALUES (7, 7) RETURNING N");
            statement.close();
            if autocommit == 0 {
                assert_eq!(connection.end(0), SUCCESS);
            }
            assert_eq!(connection.texts("SELECT N, M FROM T WHERE N > 5"), [[text("7"), text("7")]]);
        }
    },
    fn returned_blobs_are_whole(target: &Target) {
        for autocommit in [1, 0] {
            let connection = fresh(target);
            connection.run("CREATE TABLE T (N INTEGER, B BLOB SUB_TYPE TEXT)");
            assert_eq!(connection.set(AUTOCOMMIT, autocommit), SUCCESS);
            let rows = connection.texts("INSERT INTO T VALUES (1, 'a text') RETURNING B");
            assert_eq!(rows, [[text("a text")]]);
        }
    },
    fn procedures_and_blocks_return_rows(target: &Target) {
        let connection = fresh(target);
        connection.run(
            "CREATE PROCEDURE COUNT_TO (M INTEGER) RETURNS (N INTEGER) AS BEGIN N = 0; \
             WHILE (N < M) DO BEGIN N = N + 1; SUSPEND; END END",
        );
        connection.run(
            "CREATE PROCEDURE DOUBLED (M INTEGER) RETURNS (N INTEGER, V VARCHAR(5)) AS BEGIN N = 2 * M; V = 'v'; END",
        );
        let three = [[text("1")], [text("2")], [text("3")]];
        assert_eq!(connection.texts("SELECT N FROM COUNT_TO(3)"), three);
        let block =
            "EXECUTE BLOCK RETURNS (N INTEGER) AS BEGIN FOR SELECT N FROM COUNT_TO(3) INTO N DO SUSPEND; END";
        assert_eq!(connection.texts(block), three);
        assert_eq!(connection.texts("EXECUTE PROCEDURE DOUBLED(4)"), [[text("8"), text("v")]]);
        let statement = connection.statement();
        statement.prepare("EXECUTE PROCEDURE DOUBLED(5)");
        assert_eq!(statement.columns(), 2);
        for _ in 0..2 {
            assert_eq!(statement.execute(), SUCCESS);
            assert_eq!(statement.all_texts(), [[text("10"), text("v")]]);
            statement.close();
        }
    },
    fn queries_have_a_count_once_all_rows_are_known(target: &Target) {
        let connection = fresh(target);
        numbers(&connection);
        let statement = connection.statement();
        statement.run("SELECT N FROM T");
        assert_eq!((statement.row_count(), row_count_of_diagnostics(&statement)), (-1, -1));
        assert_eq!(statement.all_texts().len(), 5);
        assert_eq!(statement.row_count(), -1);
        statement.close();
        assert_eq!(statement.set(6, 3), SUCCESS);
        statement.run("SELECT N FROM T");
        // SAFETY: nothing is bound.
        assert_eq!(unsafe { SQLFetchScroll(statement.handle, 3, 0) }, SUCCESS);
        assert_eq!(statement.row_count(), 5);
    },
    fn there_are_no_more_results(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        for sql in ["SELECT 1 FROM RDB$DATABASE", "CREATE TABLE T (N INTEGER)"] {
            statement.run(sql);
            // SAFETY: handles are checked.
            assert_eq!(unsafe { SQLMoreResults(statement.handle) }, NO_DATA);
            // SAFETY: handles are checked.
            assert_eq!(unsafe { SQLCloseCursor(statement.handle) }, ERROR);
            assert_eq!(statement.state(), "24000");
            // Nothing hinders another one.
            statement.run("SELECT 2 FROM RDB$DATABASE");
            assert_eq!(statement.all_texts(), [[text("2")]]);
            statement.close();
        }
    },
    fn counts_need_an_execution(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        let mut count = 0;
        // SAFETY: the place is there.
        assert_eq!(unsafe { SQLRowCount(statement.handle, &mut count) }, ERROR);
        assert_eq!(statement.state(), "HY010");
        statement.prepare("SELECT 1 FROM RDB$DATABASE");
        // SAFETY: the place is there.
        assert_eq!(unsafe { SQLRowCount(statement.handle, &mut count) }, ERROR);
        assert_eq!(statement.state(), "HY010");
    },
);
