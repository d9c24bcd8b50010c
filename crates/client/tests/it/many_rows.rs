//! Many rows of parameters in one call: batches on 4.0 and later, pipelined executions elsewhere. The report must be
//! the same.

use crate::support::{column, fresh, query, run};
use crate::write_cases::{batch, failed_rows, ints, pieces, texts};
use arrow::array::*;
use arrow::datatypes::{Int32Type, Int64Type};
use firearrow::{Connection, OnFailure, Params};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

fn count(connection: &Connection, table: &str) -> i64 {
    column(connection, &format!("SELECT COUNT(*) FROM {table}")).as_primitive::<Int64Type>().value(0)
}

matrix!(
    all,
    fn each_failure_names_its_parameter(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL, v VARCHAR(3))");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
        let words: Vec<&str> = (0..30_000).map(|n| if n % 1000 == 7 { "too long" } else { "ok" }).collect();
        let rows = batch([ints(0..30_000), texts(words)]);
        // Of most of them the batch is gone when the last one ends.
        let reader = pieces(&rows, 1000);
        let done = statement.execute_stream(&mut transaction, reader, OnFailure::Continue).expect("it ends");
        assert_eq!(failed_rows(&done), Vec::from_iter((7..30_000).step_by(1000)));
        for failure in &done.failures {
            let error = failure.error.to_string();
            assert_eq!(error.matches("parameter 2").count(), 1, "row {}: {error}", failure.row);
        }
    },
    fn every_failure_is_told_with_its_row(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, s SMALLINT, v VARCHAR(3), d DATE)",
        );
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?, ?, ?)").expect("valid SQL");
        let ids: ArrayRef =
            Arc::new(Int32Array::from(vec![Some(1), Some(2), Some(3), None, Some(1), Some(6)]));
        let numbers: ArrayRef = Arc::new(Int16Array::from(vec![1; 6]));
        let words = texts(["a"; 6]);
        let dates = texts(["2020-01-01"; 6]);
        let mut bad_dates = vec!["2020-01-01"; 6];
        bad_dates[2] = "no date";
        for (what, bad, columns) in [
            ("constraints", vec![3, 4], [&ids, &numbers, &words, &dates]),
            ("text", vec![2, 3, 4], [&ids, &numbers, &texts(["a", "a", "abcd", "a", "a", "a"]), &dates]),
            ("date", vec![2, 3, 4], [&ids, &numbers, &words, &texts(bad_dates)]),
            ("number", vec![2, 3, 4], [&ids, &ints([1, 1, 99_999, 1, 1, 1]), &words, &dates]),
        ] {
            let rows = batch(columns.map(Arc::clone));
            let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Continue).expect(what);
            assert_eq!((done.rows, failed_rows(&done)), (6, bad), "{what}");
            let left = 6 - done.failures.len() as u64;
            assert_eq!(done.affected_rows, Some(left), "{what}");
            let deleted = transaction.execute("DELETE FROM t").expect("deleted").affected_rows;
            assert_eq!(deleted, Some(left), "{what}");
            assert!(done.failures.iter().all(|failure| !failure.error.gds_codes().is_empty()));
        }
    },
    fn failures_far_apart_are_all_told(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v VARCHAR(30) CHARACTER SET ASCII)",
        );
        let total = 30_000;
        let mut ids: Vec<i32> = (0..total).collect();
        let mut words: Vec<String> = ids.iter().map(|id| "x".repeat((id % 31) as usize)).collect();
        // A duplicate in front, a value that fits nowhere far behind, a duplicate behind that.
        ids[700] = 3;
        words[21_000] = "y".repeat(31);
        ids[25_555] = 4;
        let rows = batch([ints(ids), texts(words.iter().map(String::as_str))]);
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
        let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Continue).expect("it ends");
        assert_eq!((done.rows, failed_rows(&done)), (total as usize, vec![700, 21_000, 25_555]));
        assert_eq!(done.affected_rows, Some(total as u64 - 3));
        transaction.commit().expect("it commits");
        assert_eq!(count(&connection, "t"), i64::from(total) - 3);
        let sum = column(&connection, "SELECT SUM(CHAR_LENGTH(v)) FROM t");
        let expected: usize = (0..words.len())
            .filter(|row| ![700, 21_000, 25_555].contains(row))
            .map(|row| words[row].len())
            .sum();
        assert_eq!(sum.as_primitive::<Int64Type>().value(0), expected as i64);
    },
    fn what_was_done_when_the_first_failure_ends_it_is_told(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v VARCHAR(200) CHARACTER SET ASCII)",
        );
        let mut ids: Vec<i32> = (0..40_000).collect();
        ids[10] = 0;
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
        let filler = "x".repeat(200);
        let rows = batch([ints(ids), texts(std::iter::repeat_n(filler.as_str(), 40_000))]);
        let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it ends");
        assert_eq!(done.failures[0].row, 10);
        assert!(done.rows < 40_000, "{}", done.rows);
        let error = statement.execute(&mut transaction, Params::from(&rows)).expect_err("all are there");
        assert!(error.message().starts_with("row 0 of the parameters"), "{error}");
        transaction.commit().expect("it commits");
        let ids = column(&connection, "SELECT id FROM t ORDER BY id");
        let stored = ids.as_primitive::<Int32Type>().values();
        // The second run added the first row that had failed before, if anything.
        assert!(stored.len() >= done.rows - done.failures.len());
        assert_eq!(done.affected_rows, Some((done.rows - done.failures.len()) as u64));
    },
    fn blobs_go_with_their_rows(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, b BLOB SUB_TYPE TEXT, n SMALLINT)",
        );
        let contents: Vec<Option<String>> =
            (0..300).map(|n| (n % 7 != 0).then(|| format!("{n} ").repeat(n * 5))).collect();
        let blobs: ArrayRef = Arc::new(StringArray::from(contents));
        let mut numbers: Vec<i32> = vec![1; 300];
        for bad in [None, Some(123)] {
            // The second time the value behind the BLOB does not fit, so that a batch must be done again.
            if let Some(row) = bad {
                numbers[row] = 70_000;
            }
            run(&connection, "DELETE FROM t");
            let mut transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("INSERT INTO t VALUES (?, ?, ?)").expect("valid SQL");
            let rows = batch([ints(0..300), Arc::clone(&blobs), ints(numbers.clone())]);
            let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Continue).expect("it ends");
            assert_eq!(failed_rows(&done), Vec::from_iter(bad));
            transaction.commit().expect("it commits");
            let read = query(&connection, "SELECT id, b FROM t ORDER BY id");
            let keep: BooleanArray = (0..300).map(|row| Some(Some(row) != bad)).collect();
            let expected = arrow::compute::filter(&blobs, &keep).expect("equal lengths");
            assert!(read.column(1).as_ref() == expected.as_ref(), "contents differ");
        }
    },
    fn counts_are_those_of_the_engine(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, n INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for (sql, affected) in [
            (
                "INSERT INTO t SELECT ?, r.i FROM (SELECT 1 i FROM RDB$DATABASE UNION SELECT 2 FROM RDB$DATABASE) r",
                200,
            ),
            ("UPDATE t SET n = n + 1 WHERE id = ?", 200),
            (
                "MERGE INTO t USING (SELECT CAST(? AS INTEGER) i FROM RDB$DATABASE) s ON t.id = s.i AND t.n = 2 \
              WHEN MATCHED THEN UPDATE SET n = 5",
                100,
            ),
            ("UPDATE OR INSERT INTO t (id, n) VALUES (?, 7) MATCHING (id)", 200),
            ("DELETE FROM t WHERE id = ? AND MOD(id, 2) = 0", 100),
        ] {
            let statement = transaction.prepare(sql).expect(sql);
            let rows = batch([ints(0..100)]);
            let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect(sql);
            assert_eq!(
                (done.rows, done.affected_rows, done.failures.len()),
                (100, Some(affected), 0),
                "{sql}"
            );
        }
    },
    fn returning_and_procedures_work_row_by_row(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, n INTEGER)");
        run(&connection, "CREATE PROCEDURE p (id INTEGER) AS BEGIN INSERT INTO t VALUES (:id, 1); END");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for sql in ["INSERT INTO t VALUES (?, 1) RETURNING id", "EXECUTE PROCEDURE p (?)"] {
            let statement = transaction.prepare(sql).expect(sql);
            let done =
                statement.execute_rows(&mut transaction, &batch([ints(0..50)]), OnFailure::Stop).expect(sql);
            assert_eq!((done.rows, done.failures.len()), (50, 0), "{sql}");
        }
        transaction.commit().expect("it commits");
        assert_eq!(count(&connection, "t"), 100);
    }
);

matrix!(
    wire,
    fn ten_thousand_rows_take_a_few_round_trips(target: &Target) {
        let connection = fresh(target);
        let columns: Vec<String> = (0..10).map(|n| format!("c{n} INTEGER")).collect();
        run(&connection, &format!("CREATE TABLE t ({})", columns.join(", ")));
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?,?,?,?,?,?,?,?,?,?)").expect("valid SQL");
        let rows = batch((0..10).map(|c| ints((0..10_000).map(|r| r * 31 + c))));
        let before = connection.wire_stats();
        let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it ends");
        let spent = connection.wire_stats().since(&before);
        assert_eq!(done.affected_rows, Some(10_000));
        assert!(spent.round_trips <= 8, "{spent:?}");
        transaction.commit().expect("it commits");
        let sums = query(&connection, "SELECT COUNT(*), SUM(c0), SUM(c9) FROM t");
        let value = |n: usize| sums.column(n).as_primitive::<Int64Type>().value(0);
        let sum = |c: i64| (0..10_000).map(|r| r * 31 + c).sum::<i64>();
        assert_eq!((value(0), value(1), value(2)), (10_000, sum(0), sum(9)));
    }
);
