//! What results of many rows of parameters must be everywhere; the embedded engines of old releases have it in binaries of their
//! own.

use crate::support::{fresh, query, rows, run};
use crate::write_cases::{batch, failed_rows, ints, number, texts};
use arrow::array::*;
use arrow::compute::concat_batches;
use arrow::datatypes::{Int32Type, Int64Type};
use firearrow::{BatchLimits, Connection, Kind, OnFailure, RowsCursor, RowsExecuted, Statement, Transaction};
use firearrow_testkit::Target;

/// Everything that is left of a result.
pub(crate) fn rest(cursor: &mut RowsCursor) -> RecordBatch {
    let mut batches = Vec::new();
    while let Some(batch) = cursor.next_batch().unwrap_or_else(|error| panic!("{error}")) {
        assert!(batch.num_rows() > 0);
        batches.push(batch);
    }
    concat_batches(&cursor.schema(), &batches).expect("batches of one result have one schema")
}

/// The whole result, and the report behind it.
pub(crate) fn all(
    statement: &Statement,
    transaction: &Transaction,
    rows: &RecordBatch,
) -> (RecordBatch, RowsExecuted) {
    let mut cursor = statement.query_rows(transaction, rows, OnFailure::Continue).expect("it runs");
    let batch = rest(&mut cursor);
    (batch, cursor.executed().clone())
}

pub(crate) fn column(batch: &RecordBatch, index: usize) -> Vec<i32> {
    batch.column(index).as_primitive::<Int32Type>().iter().flatten().collect()
}

pub(crate) fn still_in_step(connection: &Connection) {
    assert_eq!(query(connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
}

/// A table with these numbers of rows in groups 0, 1, …
pub(crate) fn grouped(connection: &Connection, sizes: &[usize]) -> Transaction {
    run(connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, g INTEGER, n INTEGER DEFAULT 0)");
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let groups = sizes.iter().enumerate().flat_map(|(group, size)| std::iter::repeat_n(group as i32, *size));
    let groups: Vec<i32> = groups.collect();
    let insert = transaction.prepare("INSERT INTO t (id, g) VALUES (?, ?)").expect("valid SQL");
    let rows = batch([ints(0..groups.len() as i32), ints(groups)]);
    let done = insert.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it runs");
    assert!(done.failures.is_empty(), "{done:?}");
    transaction
}

pub(crate) fn each_inserted_row_comes_back_in_its_place(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, twice COMPUTED BY (id * 2))");
    let transaction = connection.begin(Default::default()).expect("it starts");
    let statement =
        transaction.prepare("INSERT INTO t (id) VALUES (?) RETURNING id, twice").expect("valid SQL");
    for (count, size) in [(1, 8192), (100, 8192), (20_000, 8192), (5000, 7)] {
        let statement = statement.clone().with_limits(BatchLimits::default().rows(size));
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
}

pub(crate) fn queries_follow_each_other(target: &Target) {
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
}

pub(crate) fn results_of_any_length_follow_each_other(target: &Target) {
    let connection = fresh(target);
    let sizes = [0, 3, 1, 2500, 0, 9000, 20, 0];
    let transaction = grouped(&connection, &sizes);
    let sql = "SELECT id, g, CAST(id AS CHAR(100) CHARACTER SET ASCII) FROM t WHERE g = ? ORDER BY id";
    let statement = transaction.prepare(sql).expect("valid SQL");
    for size in [8192, 500, 1] {
        let statement = statement.clone().with_limits(BatchLimits::default().rows(size));
        let (result, done) = all(&statement, &transaction, &batch([ints(0..sizes.len() as i32)]));
        assert!(column(&result, 0).into_iter().eq(0..sizes.iter().sum::<usize>() as i32), "{size}");
        assert_eq!((done.rows, done.failures.len()), (sizes.len(), 0));
    }
    transaction.commit().expect("it commits");
}

pub(crate) fn changed_rows_come_back(target: &Target) {
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
}

pub(crate) fn failures_are_told_with_their_rows(target: &Target) {
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
}

pub(crate) fn failures_of_queries_are_told_with_their_rows(target: &Target) {
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
}

pub(crate) fn blobs_go_in_and_out(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, b BLOB SUB_TYPE TEXT)");
    let transaction = connection.begin(Default::default()).expect("it starts");
    let contents: Vec<String> = (0..400).map(|n| format!("{n} ").repeat(n * n % 997)).collect();
    let rows = batch([ints(0..400), texts(contents.iter().map(String::as_str))]);
    let insert = transaction.prepare("INSERT INTO t VALUES (?, ?) RETURNING id, b").expect("valid SQL");
    let select = transaction.prepare("SELECT id, b FROM t WHERE id = ?").expect("valid SQL");
    let limits = [BatchLimits::default(), BatchLimits::default().rows(9).bytes(10_000)];
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
}

/// Empties the table within the transaction.
pub(crate) fn delete_all(transaction: &Transaction) {
    let sql = "EXECUTE BLOCK RETURNS (n INTEGER) AS BEGIN DELETE FROM t; n = ROW_COUNT; SUSPEND; END";
    assert_eq!(rows(transaction.query(sql).expect("it runs")).num_rows(), 1);
}
