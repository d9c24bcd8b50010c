//! The results of many rows of parameters as one.

use crate::support::{cost, fresh, query, rows, run};
use crate::write_cases::{batch, failed_rows, ints, number, pieces, texts};
use arrow::array::*;
use arrow::compute::concat_batches;
use arrow::datatypes::{Int32Type, Int64Type, Schema};
use arrow::error::ArrowError;
use firearrow::{BatchLimits, Connection, Kind, OnFailure, RowsCursor, RowsExecuted, Statement, Transaction};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Everything that is left of a result.
fn rest(cursor: &mut RowsCursor) -> RecordBatch {
    let mut batches = Vec::new();
    while let Some(batch) = cursor.next_batch().unwrap_or_else(|error| panic!("{error}")) {
        assert!(batch.num_rows() > 0);
        batches.push(batch);
    }
    concat_batches(&cursor.schema(), &batches).expect("batches of one result have one schema")
}

/// The whole result, and the report behind it.
fn all(statement: &Statement, transaction: &Transaction, rows: &RecordBatch) -> (RecordBatch, RowsExecuted) {
    let mut cursor = statement.query_rows(transaction, rows, OnFailure::Continue).expect("it runs");
    let batch = rest(&mut cursor);
    (batch, cursor.executed().clone())
}

fn column(batch: &RecordBatch, index: usize) -> Vec<i32> {
    batch.column(index).as_primitive::<Int32Type>().iter().flatten().collect()
}

fn still_in_step(connection: &Connection) {
    assert_eq!(query(connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
}

/// A table with these numbers of rows in groups 0, 1, …
fn grouped(connection: &Connection, sizes: &[usize]) -> Transaction {
    run(connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, g INTEGER, n INTEGER DEFAULT 0)");
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let groups = sizes.iter().enumerate().flat_map(|(group, size)| std::iter::repeat_n(group as i32, *size));
    let groups: Vec<i32> = groups.collect();
    let insert = transaction.prepare("INSERT INTO t (id, g) VALUES (?, ?)").expect("valid SQL");
    let rows = batch([ints(0..groups.len() as i32), ints(groups)]);
    insert.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("they are new");
    transaction
}

matrix!(
    all,
    fn each_inserted_row_comes_back_in_its_place(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, twice COMPUTED BY (id * 2))");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement =
            transaction.prepare("INSERT INTO t (id) VALUES (?) RETURNING id, twice").expect("valid SQL");
        for (count, size) in [(1, 8192), (100, 8192), (20_000, 8192), (5000, 7)] {
            let statement = statement.clone().with_limits(BatchLimits { rows: size, ..Default::default() });
            let ids: Vec<i32> = (0..count).map(|n| (n * 7919) % 100_003).collect();
            let (result, done) = all(&statement, &transaction, &batch([ints(ids.clone())]));
            assert_eq!(column(&result, 0), ids);
            let twice = result.column(1).as_primitive::<Int64Type>().values();
            assert!(twice.iter().zip(&ids).all(|(twice, id)| *twice == i64::from(*id) * 2));
            assert_eq!((done.rows, done.affected_rows), (ids.len(), Some(ids.len() as u64)));
            assert!(done.failures.is_empty());
            assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), i64::from(count));
            delete_all(&transaction);
        }
        transaction.commit().expect("it commits");
    },
    fn queries_follow_each_other(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let sql = "SELECT 1 + CAST(? AS INTEGER) FROM RDB$DATABASE";
        let statement = transaction.prepare(sql).expect("valid SQL");
        for count in [0, 1, 2, 4, 33, 500] {
            let (result, done) = all(&statement, &transaction, &batch([ints(0..count)]));
            let sums = result.column(0).as_primitive::<Int64Type>().values();
            assert!(sums.iter().copied().eq(1..=i64::from(count)), "{sums:?}");
            assert_eq!((done.rows, done.affected_rows, done.failures.len()), (count as usize, None, 0));
        }
        // The statement itself is free again.
        drop(transaction.query("SELECT 1 FROM RDB$DATABASE").expect("it runs"));
        transaction.commit().expect("it commits");
    },
    fn results_of_any_length_follow_each_other(target: &Target) {
        let connection = fresh(target);
        let sizes = [0, 3, 1, 2500, 0, 9000, 20, 0];
        let transaction = grouped(&connection, &sizes);
        let sql = "SELECT id, g, CAST(id AS CHAR(100) CHARACTER SET ASCII) FROM t WHERE g = ? ORDER BY id";
        let statement = transaction.prepare(sql).expect("valid SQL");
        for size in [8192, 500, 1] {
            let statement = statement.clone().with_limits(BatchLimits { rows: size, ..Default::default() });
            let (result, done) = all(&statement, &transaction, &batch([ints(0..sizes.len() as i32)]));
            assert!(column(&result, 0).into_iter().eq(0..sizes.iter().sum::<usize>() as i32), "{size}");
            assert_eq!((done.rows, done.failures.len()), (sizes.len(), 0));
        }
        transaction.commit().expect("it commits");
    },
    fn changed_rows_come_back(target: &Target) {
        let connection = fresh(target);
        let transaction = grouped(&connection, &[1; 300]);
        let keys = batch([ints((0..300).rev())]);
        for (sql, sum) in [
            ("UPDATE t SET n = id + 1 WHERE id = ? RETURNING id, n", 300 * 301 / 2),
            ("UPDATE OR INSERT INTO t (id, g, n) VALUES (?, 0, 5) MATCHING (id) RETURNING id, n", 1500),
            (
                "MERGE INTO t USING (SELECT CAST(? AS INTEGER) k FROM RDB$DATABASE) s ON t.id = s.k \
                 WHEN MATCHED THEN UPDATE SET n = 7 RETURNING t.id, t.n",
                2100,
            ),
            ("DELETE FROM t WHERE id = ? RETURNING id, n", 0),
        ] {
            let statement = transaction.prepare(sql).expect(sql);
            let (result, done) = all(&statement, &transaction, &keys);
            assert!(column(&result, 0).into_iter().eq((0..300).rev()), "{sql}");
            assert_eq!((done.rows, done.affected_rows, done.failures.len()), (300, Some(300), 0), "{sql}");
            assert_eq!(number(&transaction, "SELECT COALESCE(SUM(n), 0) FROM t"), sum, "{sql}");
        }
        transaction.commit().expect("it commits");
        assert_eq!(query(&connection, "SELECT * FROM t").num_rows(), 0);
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
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v VARCHAR(3))");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?) RETURNING id").expect("valid SQL");
        let mut ids: Vec<i32> = (0..300).collect();
        (ids[120], ids[121]) = (5, 6);
        let mut words = vec!["abc"; 300];
        words[200] = "abcd";
        let rows = batch([ints(ids.clone()), texts(words)]);
        let good: Vec<i32> = (0..300).filter(|row| ![120, 121, 200].contains(row)).collect();
        let (result, done) = all(&statement, &transaction, &rows);
        assert_eq!(column(&result, 0), good);
        assert_eq!((done.rows, failed_rows(&done)), (300, vec![120, 121, 200]));
        assert_eq!(done.affected_rows, Some(297));
        let kinds: Vec<Kind> = done.failures.iter().map(|failure| failure.error.kind()).collect();
        assert_eq!(kinds, [Kind::Constraint, Kind::Constraint, Kind::Data]);
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 297);
        delete_all(&transaction);
        // The rows of what was executed, then the error of the first that failed.
        let mut cursor = statement.query_rows(&transaction, &rows, OnFailure::Stop).expect("row 0 is good");
        let first = cursor.next_batch().expect("what was executed").expect("rows");
        let error = cursor.next_batch().expect_err("row 120 has failed");
        assert_eq!(error.kind(), Kind::Constraint, "{error}");
        assert!(error.message().contains("row 120 of the parameters"), "{error}");
        let done = error.rows_executed().expect("it is told").clone();
        assert_eq!(done.failures[0].row, 120);
        assert_eq!(first.num_rows(), done.rows - done.failures.len());
        assert_eq!(done.affected_rows, Some(first.num_rows() as u64));
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), first.num_rows() as i64);
        assert_eq!(cursor.next_batch().expect_err("the same").message(), error.message());
        assert_eq!(cursor.executed().rows, done.rows);
        drop(cursor);
        still_in_step(&connection);
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
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let sql = "SELECT 12 / CAST(? AS INTEGER) FROM RDB$DATABASE";
        let statement = transaction.prepare(sql).expect("valid SQL");
        for count in [3, 100] {
            let divisors = (0..count).map(|n| if n % 10 == 1 { 0 } else { 12 });
            let bad: Vec<usize> = (0..count as usize).filter(|n| n % 10 == 1).collect();
            let rows = batch([ints(divisors)]);
            let (result, done) = all(&statement, &transaction, &rows);
            assert_eq!((result.num_rows(), failed_rows(&done)), (count as usize - bad.len(), bad));
            assert_eq!(done.rows, count as usize);
            let mut cursor = statement.query_rows(&transaction, &rows, OnFailure::Stop).expect("row 0");
            assert!(cursor.next_batch().expect("row 0").expect("a row").num_rows() >= 1);
            let error = cursor.next_batch().expect_err("row 1 divides by zero");
            assert_eq!(error.kind(), Kind::Data, "{error}");
            assert_eq!(error.rows_executed().expect("it is told").failures[0].row, 1);
        }
        // Words that are no numbers, refused by the engine.
        let rows = batch([texts(["1", "one", "3"])]);
        let (result, done) = all(&statement, &transaction, &rows);
        assert_eq!((result.num_rows(), failed_rows(&done)), (2, vec![1]));
        transaction.commit().expect("it commits");
        still_in_step(&connection);
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
        let statement = statement.with_limits(BatchLimits { rows: 10, ..Default::default() });
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
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, b BLOB SUB_TYPE TEXT)");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let contents: Vec<String> = (0..400).map(|n| format!("{n} ").repeat(n * n % 997)).collect();
        let rows = batch([ints(0..400), texts(contents.iter().map(String::as_str))]);
        let insert = transaction.prepare("INSERT INTO t VALUES (?, ?) RETURNING id, b").expect("valid SQL");
        let select = transaction.prepare("SELECT id, b FROM t WHERE id = ?").expect("valid SQL");
        let limits = [BatchLimits::default(), BatchLimits { rows: 9, bytes: 10_000 }];
        for limits in limits {
            let (result, done) = all(&insert.clone().with_limits(limits), &transaction, &rows);
            assert_eq!((done.rows, done.failures.len()), (400, 0));
            let read = result.column(1).as_string::<i32>().iter().map(|text| text.unwrap_or_default());
            assert!(read.eq(contents.iter().map(String::as_str)));
            let keys = batch([ints((0..400).rev())]);
            let (result, _) = all(&select.clone().with_limits(limits), &transaction, &keys);
            let read = result.column(1).as_string::<i32>().iter().map(|text| text.unwrap_or_default());
            assert!(read.eq(contents.iter().rev().map(String::as_str)));
            delete_all(&transaction);
        }
        transaction.commit().expect("it commits");
    },
    fn others_use_the_connection_meanwhile(target: &Target) {
        let connection = fresh(target);
        let transaction = grouped(&connection, &[4; 500]);
        let insert = transaction.prepare("INSERT INTO t (id) VALUES (?) RETURNING id").expect("valid SQL");
        let select = transaction.prepare("SELECT id FROM t WHERE g = ? ORDER BY id").expect("valid SQL");
        let limits = BatchLimits { rows: 100, ..Default::default() };
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
        let source = source.with_limits(BatchLimits { rows: 250, ..Default::default() });
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
            handle.cancel().expect("it can be asked for");
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

/// Empties the table within the transaction.
fn delete_all(transaction: &Transaction) {
    let sql = "EXECUTE BLOCK RETURNS (n INTEGER) AS BEGIN DELETE FROM t; n = ROW_COUNT; SUSPEND; END";
    assert_eq!(rows(transaction.query(sql).expect("it runs")).num_rows(), 1);
}
