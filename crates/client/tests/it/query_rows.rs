//! The results of many rows of parameters as one.

use crate::query_cases::{self, all, column, delete_all, grouped, rest, still_in_step};
use crate::support::{cost, fresh, run};
use crate::write_cases::{batch, failed_rows, ints, number, pieces, texts};
use arrow::array::*;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use firearrow::{BatchLimits, Kind, OnFailure};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

matrix!(
    all,
    fn each_inserted_row_comes_back_in_its_place(target: &Target) {
        query_cases::each_inserted_row_comes_back_in_its_place(target);
    },
    fn queries_follow_each_other(target: &Target) {
        query_cases::queries_follow_each_other(target);
    },
    fn results_of_any_length_follow_each_other(target: &Target) {
        query_cases::results_of_any_length_follow_each_other(target);
    },
    fn changed_rows_come_back(target: &Target) {
        query_cases::changed_rows_come_back(target);
    },
    fn several_changed_rows_come_back_where_the_engine_gives_them(target: &Target) {
        let connection = fresh(target);
        let sizes = [1, 0, 40, 2];
        let transaction = grouped(&connection, &sizes);
        let statement =
            transaction.prepare("UPDATE t SET n = n + 1 WHERE g = ? RETURNING id, n").expect("valid SQL");
        let (result, done) = all(&statement, &transaction, &batch([ints([2, 1, 0, 3])]));
        assert_eq!(done.rows, 4);
        if target.generation() >= Generation::V5_0 {
            assert_eq!(column(&result, 0), Vec::from_iter((1..41).chain([0, 41, 42])));
            assert_eq!((failed_rows(&done), done.affected_rows), (vec![], Some(43)));
            assert_eq!(number(&transaction, "SELECT SUM(n) FROM t"), 43);
        } else {
            // One row or none for each execution; more is an error of that execution.
            assert_eq!(failed_rows(&done), [0, 3]);
            assert_eq!(done.affected_rows, Some(1));
            assert!(column(&result, 0).contains(&0));
            assert_eq!(number(&transaction, "SELECT SUM(n) FROM t"), 1);
        }
        transaction.commit().expect("it commits");
    },
    fn a_procedure_gives_its_output_for_each_row(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE log (n INTEGER)");
        run(
            &connection,
            "CREATE PROCEDURE p (a INTEGER, b VARCHAR(10)) RETURNS (s INTEGER, w VARCHAR(30)) AS \
             BEGIN INSERT INTO log VALUES (:a); s = a + 1; w = b || b; END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("EXECUTE PROCEDURE p(?, ?)").expect("valid SQL");
        let words: Vec<String> = (0..200).map(|n| format!("w{n}")).collect();
        let rows = batch([ints(0..200), texts(words.iter().map(String::as_str))]);
        let (result, done) = all(&statement, &transaction, &rows);
        assert!(column(&result, 0).into_iter().eq(1..=200));
        let doubled = result.column(1).as_string::<i32>().iter().flatten();
        assert!(doubled.eq(words.iter().map(|word| word.repeat(2))));
        assert_eq!((done.rows, done.failures.len()), (200, 0));
        assert_eq!(number(&transaction, "SELECT CAST(SUM(n) AS BIGINT) FROM log"), 199 * 100);
        transaction.commit().expect("it commits");
    },
    fn failures_are_told_with_their_rows(target: &Target) {
        query_cases::failures_are_told_with_their_rows(target);
    },
    fn a_failure_stops_a_long_series(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v VARCHAR(300))");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?) RETURNING id").expect("valid SQL");
        let mut ids: Vec<i32> = (0..40_000).collect();
        ids[1] = 0;
        let rows = batch([ints(ids), texts(std::iter::repeat_n("x", 40_000))]);
        let mut cursor = statement.query_rows(&transaction, &rows, OnFailure::Stop).expect("row 0 is good");
        let given = cursor.next_batch().expect("rows").expect("rows").num_rows();
        let error = cursor.next_batch().expect_err("row 1 has failed");
        let done = error.rows_executed().expect("it is told");
        assert_eq!((done.failures[0].row, given), (1, done.rows - done.failures.len()));
        assert!(done.rows < 20_000, "{}", done.rows);
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), given as i64);
    },
    fn failures_of_queries_are_told_with_their_rows(target: &Target) {
        query_cases::failures_of_queries_are_told_with_their_rows(target);
    },
    fn rows_that_this_side_refuses_are_failures(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, d NUMERIC(9, 1))");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?) RETURNING id").expect("valid SQL");
        let fractions = |bad: &[usize]| {
            let values = (0..50).map(|row| if bad.contains(&row) { 125 } else { 120 });
            let array = Decimal128Array::from_iter_values(values).with_precision_and_scale(9, 2);
            Arc::new(array.expect("a decimal")) as ArrayRef
        };
        for bad in [&[0][..], &[49], &[20, 21, 48]] {
            let rows = batch([ints(0..50), fractions(bad)]);
            let (result, done) = all(&statement, &transaction, &rows);
            assert_eq!((done.rows, failed_rows(&done)), (50, bad.to_vec()));
            assert!(done.failures.iter().all(|failure| failure.error.kind() == Kind::Data));
            assert_eq!(result.num_rows(), 50 - bad.len());
            assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 50 - bad.len() as i64);
            delete_all(&transaction);
        }
    },
    fn what_is_closed_early_is_executed_no_further(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, v CHAR(500) CHARACTER SET ASCII)");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, 'x') RETURNING id, v").expect("valid");
        let statement = statement.with_limits(BatchLimits::default().rows(10));
        let rows = batch([ints(0..30_000)]);
        let mut cursor = statement.query_rows(&transaction, &rows, OnFailure::Stop).expect("it runs");
        assert_eq!(column(&cursor.next_batch().expect("rows").expect("rows"), 0), Vec::from_iter(0..10));
        assert_eq!(cursor.executed().rows, 0, "not yet");
        let done = cursor.close().expect("it ends");
        assert!((10..25_000).contains(&done.rows), "{}", done.rows);
        assert_eq!(done.affected_rows, Some(done.rows as u64));
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), done.rows as i64);
        // The same without a word.
        drop(statement.query_rows(&transaction, &rows, OnFailure::Stop).expect("it runs"));
        let total = number(&transaction, "SELECT COUNT(*) FROM t");
        assert!(total >= done.rows as i64 + 10);
        let select = transaction.prepare("SELECT v FROM t WHERE id < ?").expect("valid SQL");
        drop(select.query_rows(&transaction, &rows, OnFailure::Stop).expect("it runs"));
        drop(select.query(&transaction, batch([ints([5])])).expect("its cursors are closed"));
        still_in_step(&connection);
    },
    fn blobs_go_in_and_out(target: &Target) {
        query_cases::blobs_go_in_and_out(target);
    },
    fn others_use_the_connection_meanwhile(target: &Target) {
        let connection = fresh(target);
        let transaction = grouped(&connection, &[4; 500]);
        let insert = transaction.prepare("INSERT INTO t (id) VALUES (?) RETURNING id").expect("valid SQL");
        let select = transaction.prepare("SELECT id FROM t WHERE g = ? ORDER BY id").expect("valid SQL");
        let limits = BatchLimits::default().rows(100);
        let (insert, select) = (insert.with_limits(limits), select.with_limits(limits));
        let new = batch([ints(10_000..14_000)]);
        let mut inserted = insert.query_rows(&transaction, &new, OnFailure::Stop).expect("it runs");
        let groups = batch([ints(0..500)]);
        let mut selected = select.query_rows(&transaction, &groups, OnFailure::Stop).expect("it runs");
        let (mut ids, mut found) = (Vec::new(), Vec::new());
        loop {
            let (new, old) = (inserted.next_batch().expect("rows"), selected.next_batch().expect("rows"));
            assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t WHERE id < 5"), 5);
            still_in_step(&connection);
            if new.is_none() && old.is_none() {
                break;
            }
            ids.extend(new.iter().flat_map(|batch| column(batch, 0)));
            found.extend(old.iter().flat_map(|batch| column(batch, 0)));
        }
        assert!(ids.into_iter().eq(10_000..14_000));
        assert!(found.into_iter().eq(0..2000));
        assert_eq!((inserted.executed().rows, selected.executed().rows), (4000, 500));
    },
    fn a_reader_of_the_same_connection_supplies_parameters(target: &Target) {
        let connection = fresh(target);
        let transaction = grouped(&connection, &[1; 3000]);
        run(&connection, "CREATE TABLE copy (id INTEGER)");
        let other = connection.begin(Default::default()).expect("it starts");
        let insert = other.prepare("INSERT INTO copy VALUES (?) RETURNING id").expect("valid SQL");
        let source = transaction.prepare("SELECT id FROM t ORDER BY id").expect("valid SQL");
        let source = source.with_limits(BatchLimits::default().rows(250));
        let reader = source.query(&transaction, ()).expect("it runs");
        let mut cursor = insert.query_stream(&other, reader, OnFailure::Stop).expect("it runs");
        assert!(column(&rest(&mut cursor), 0).into_iter().eq(0..3000));
        assert_eq!((cursor.executed().rows, cursor.executed().affected_rows), (3000, Some(3000)));
        assert_eq!(number(&other, "SELECT COUNT(*) FROM copy"), 3000);
        // Row numbers count over all batches.
        let numbers = (0..1000).map(|n| if n == 777 { 5 } else { 10_000 + n });
        let keys = transaction.prepare("INSERT INTO t (id) VALUES (?) RETURNING id").expect("valid SQL");
        let reader = pieces(&batch([ints(numbers)]), 90);
        let mut cursor = keys.query_stream(&transaction, reader, OnFailure::Continue).expect("it runs");
        assert_eq!(rest(&mut cursor).num_rows(), 999);
        assert_eq!((cursor.executed().rows, failed_rows(cursor.executed())), (1000, vec![777]));
    },
    fn a_reader_that_fails_ends_it(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare("INSERT INTO t VALUES (?) RETURNING id").expect("valid SQL");
        let good = batch([ints(0..10)]);
        let schema = good.schema();
        let broken = ArrowError::ParseError("no more".into());
        let reader = RecordBatchIterator::new(vec![Ok(good.clone()), Err(broken)], schema);
        let error =
            insert.query_stream(&transaction, reader, OnFailure::Stop).expect_err("the reader failed");
        assert_eq!(error.rows_executed().expect("it is told").rows, 10, "{error}");
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 10);
        // Parameters of another shape.
        let wrong = Arc::new(Schema::empty());
        let none = RecordBatch::new_empty(wrong);
        let error = insert.query_rows(&transaction, &none, OnFailure::Stop).expect_err("none given");
        assert_eq!(error.kind(), Kind::Parameter);
        let delete = transaction.prepare("DELETE FROM t WHERE id = ?").expect("valid SQL");
        let error = delete.query_rows(&transaction, &good, OnFailure::Stop).expect_err("it gives no rows");
        assert_eq!(error.kind(), Kind::Misuse);
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 10);
    },
    fn a_value_that_cannot_be_read_ends_it_with_an_exact_report(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, n VARCHAR(3) CHARACTER SET NONE)");
        run(
            &connection,
            "CREATE TRIGGER spoil FOR t BEFORE INSERT AS BEGIN IF (NEW.id = 20) THEN NEW.n = x'FF'; END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare("INSERT INTO t (id) VALUES (?) RETURNING n").expect("valid SQL");
        let rows = batch([ints(0..100)]);
        let error = insert.query_rows(&transaction, &rows, OnFailure::Continue).expect_err("no UTF-8");
        assert_eq!(error.kind(), Kind::Data, "{error}");
        let done = error.rows_executed().expect("it is told");
        assert!((21..=100).contains(&done.rows) && done.failures.is_empty(), "{done:?}");
        assert_eq!(done.affected_rows, Some(done.rows as u64));
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), done.rows as i64);
        let select = transaction.prepare("SELECT n FROM t WHERE id = ?").expect("valid SQL");
        let select = select.with_limits(BatchLimits::default().full(true));
        let error = select.query_rows(&transaction, &rows, OnFailure::Continue).expect_err("no UTF-8");
        assert_eq!(error.kind(), Kind::Data, "{error}");
        assert!(error.rows_executed().expect("it is told").rows > 20);
        still_in_step(&connection);
    },
    fn one_statement_serves_several_results(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, v VARCHAR(10))");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare("INSERT INTO t VALUES (?, 'x') RETURNING id").expect("valid SQL");
        let insert = insert.with_limits(BatchLimits::default().rows(1000));
        let words: Vec<String> = (0..20_000).map(|n| format!("{n:07}")).collect();
        let (numbers, words) = (batch([ints(0..20_000)]), batch([texts(words.iter().map(String::as_str))]));
        let open = |rows| insert.query_rows(&transaction, rows, OnFailure::Stop).expect("it runs");
        // Messages of two formats take turns.
        let mut cursors = [open(&numbers), open(&words)];
        for at in (0..20_000).step_by(1000) {
            for cursor in &mut cursors {
                let ids = column(&cursor.next_batch().expect("rows").expect("rows"), 0);
                assert!(ids.into_iter().eq(at..at + 1000));
            }
        }
        assert!(cursors.iter_mut().all(|cursor| cursor.next_batch().expect("the end").is_none()));
        assert_eq!(number(&transaction, "SELECT CAST(SUM(id) AS BIGINT) FROM t"), 2 * 19_999 * 10_000);
        // But only one of them may have cursors.
        let select = transaction.prepare("SELECT id FROM t WHERE id < ?").expect("valid SQL");
        let select = select.with_limits(BatchLimits::default().rows(10));
        let cursor = select.query_rows(&transaction, &numbers, OnFailure::Stop).expect("it runs");
        for _ in 0..2 {
            let error = select.query(&transaction, batch([ints([1])])).expect_err("it is in use");
            assert_eq!(error.kind(), Kind::Misuse, "{error}");
            let error = select.query_rows(&transaction, &numbers, OnFailure::Stop).expect_err("it is in use");
            assert_eq!(error.kind(), Kind::Misuse, "{error}");
        }
        drop(cursor);
        assert_eq!(select.query(&transaction, batch([ints([1])])).expect("it is free").count(), 1);
    },
    fn it_is_cancelled(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let endless =
            "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";
        // Computed for the row: what is the same for all rows Firebird 5 computes when it opens a cursor, and the fetch that
        // waits behind that keeps it from being interrupted.
        let sql =
            format!("SELECT CASE CAST(? AS INTEGER) WHEN 0 THEN 1 ELSE ({endless}) END FROM RDB$DATABASE");
        let statement = transaction.prepare(&sql).expect("valid SQL");
        let rows = batch([ints((0..40).map(|row| i32::from(row == 39)))]);
        let handle = connection.cancel_handle();
        let cancelling = thread::spawn(move || {
            thread::sleep(Duration::from_millis(700));
            handle.cancel();
        });
        let begin = std::time::Instant::now();
        let result = statement.query_rows(&transaction, &rows, OnFailure::Stop);
        let result = result.and_then(|mut cursor| {
            while cursor.next_batch()?.is_some() {}
            Ok(())
        });
        let error = result.expect_err("it was cancelled");
        assert_eq!(error.kind(), Kind::Cancelled);
        assert!(!connection.is_failed(), "{:?}: {error}", begin.elapsed());
        assert!(begin.elapsed() < Duration::from_secs(20));
        cancelling.join().expect("it ends");
        // The last one was alone, so that a server could be told.
        still_in_step(&connection);
    }
);

matrix!(
    wire,
    fn they_share_round_trips(target: &Target) {
        let connection = fresh(target);
        let transaction = grouped(&connection, &[1; 100]);
        let keys = batch([ints(0..100)]);
        let new = batch([ints(1000..1100)]);
        for (sql, rows, most) in [
            ("INSERT INTO t (id) VALUES (?) RETURNING id", &new, 2),
            // A cursor in Firebird 5, like those below.
            ("UPDATE OR INSERT INTO t (id, g) VALUES (?, 1) RETURNING id", &new, 10),
            ("UPDATE t SET n = 1 WHERE id = ? RETURNING id", &keys, 10),
            ("SELECT id FROM t WHERE id = ?", &keys, 10),
            ("DELETE FROM t WHERE id = ? RETURNING id", &keys, 10),
        ] {
            let statement = transaction.prepare(sql).expect(sql);
            let spent = cost(&connection, || {
                let mut cursor = statement.query_rows(&transaction, rows, OnFailure::Stop).expect(sql);
                assert_eq!(rest(&mut cursor).num_rows(), 100, "{sql}");
                assert!(cursor.wire_stats().round_trips > 0);
            });
            assert!((1..=most).contains(&spent), "{sql}: {spent}");
        }
    },
    fn known_sql_that_scrolls_takes_one_round_trip(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let sql = "SELECT 1 FROM RDB$DATABASE";
        let read = || {
            let mut cursor = transaction.query_scrollable(sql).expect("it runs");
            assert_eq!(cursor.first().expect("it reads").expect("a row").num_rows(), 1);
        };
        let [new, known] = [cost(&connection, read), cost(&connection, read)];
        assert_eq!(new, known + 1);
    }
);
