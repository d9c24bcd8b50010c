//! Parameters: one row, many rows, none, by position and by name.

use crate::support::{
    autocommit, batch, column, count, detail, fails, fresh, rows, run, sqlstate, statement,
};
use adbc_core::error::Status;
use adbc_core::options::{IngestMode, OptionStatement};
use adbc_core::{Connection, Optionable, Statement};
use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema};
use arrow::error::ArrowError;
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn by_name() -> OptionStatement {
    OptionStatement::Other("adbc.statement.bind_by_name".into())
}

/// Two good batches, then an error.
fn failing_producer() -> Box<dyn RecordBatchReader + Send> {
    let good = |from: i32| Ok(batch([("n", ints(from..from + 10))]));
    let bad = Err(ArrowError::ComputeError("the producer has had enough".into()));
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, true)]));
    Box::new(RecordBatchIterator::new([good(0), good(10), bad], schema))
}

matrix!(
    all,
    fn results_of_all_rows_are_one_stream(target: &Target) {
        let mut connection = fresh(target);
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            let mut select = statement(&mut connection, "SELECT 1 + CAST(? AS INTEGER) FROM RDB$DATABASE");
            for (given, expected) in
                [(vec![1, 2, 3, 4], vec![2i64, 3, 4, 5]), (vec![7], vec![8]), (vec![], vec![])]
            {
                let schema = select.execute_schema().expect("it is valid");
                select.bind(batch([("0", ints(given))])).expect("it is taken");
                let reader = select.execute().expect("it runs");
                assert_eq!(*reader.schema(), schema);
                assert_eq!(rows(reader).column(0).as_primitive::<Int64Type>().values(), &expected);
            }
        }
    },
    fn streams_of_rows_are_executed_in_one_transaction(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER NOT NULL PRIMARY KEY)");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?)");
        let batches = (0..5).map(|part| Ok(batch([("n", ints(part * 100..part * 100 + 100))])));
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, true)]));
        let reader = RecordBatchIterator::new(batches.collect::<Vec<_>>(), schema);
        insert.bind_stream(Box::new(reader)).expect("it is taken");
        assert_eq!(insert.execute_update().expect("it inserts"), Some(500));
        assert_eq!(count(&mut connection, "t"), 500);
        // One row fails, and none is there.
        insert.bind(batch([("n", ints([1000, 1001, 250, 1002]))])).expect("it is taken");
        let error = fails(insert.execute_update(), Status::Integrity);
        assert_eq!(detail(&error, "firebird.row").as_deref(), Some("2"), "{error}");
        assert!(error.message.contains("row 2"), "{error}");
        assert_eq!(count(&mut connection, "t"), 500);
        // In manual mode the rows before it are.
        autocommit(&mut connection, false);
        insert.bind(batch([("n", ints([2000, 2001, 250]))])).expect("it is taken");
        fails(insert.execute_update(), Status::Integrity);
        assert_eq!(count(&mut connection, "t"), 502);
        connection.rollback().expect("it is undone");
        assert_eq!(count(&mut connection, "t"), 500);
    },
    fn nothing_bound_is_nothing_done(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?)");
        fails(insert.execute_update(), Status::InvalidArguments);
        insert.bind(batch([("n", ints([]))])).expect("it is taken");
        assert_eq!(insert.execute_update().expect("there is nothing to do"), Some(0));
        // Without columns there is nothing to bind.
        let mut plain = statement(&mut connection, "INSERT INTO t VALUES (5)");
        let options = RecordBatchOptions::new().with_row_count(Some(3));
        let none = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options);
        plain.bind(none.expect("no columns")).expect("it is taken");
        assert_eq!(plain.execute_update().expect("it runs once"), Some(1));
        assert_eq!(count(&mut connection, "t"), 1);
    },
    fn the_number_of_columns_must_fit(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        for sql in ["INSERT INTO t VALUES (?)", "SELECT n FROM t WHERE n = ?", "DELETE FROM t"] {
            for length in [1, 2] {
                let mut statement = statement(&mut connection, sql);
                statement.bind(batch([("a", ints(0..length)), ("b", ints(0..length))])).expect("it is taken");
                let error = fails(statement.execute().map(drop), Status::InvalidArguments);
                assert!(error.message.contains('2'), "{sql}: {error}");
            }
        }
    },
    fn fields_find_their_markers_by_name(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER)");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (:x, :Y, :x) -- :z");
        insert.set_option(by_name(), "true".into()).expect("it is known");
        insert
            .bind(batch([("y", ints([2, 4])), ("unused", ints([0, 0])), ("x", ints([1, 3]))]))
            .expect("taken");
        assert_eq!(insert.execute_update().expect("it inserts"), Some(2));
        let found = crate::support::query(&mut connection, "SELECT a, b, c FROM t ORDER BY a");
        for (index, expected) in [[1, 3], [2, 4], [1, 3]].iter().enumerate() {
            assert_eq!(found.column(index).as_primitive::<Int32Type>().values(), expected);
        }
        insert.bind(batch([("x", ints([1]))])).expect("it is taken");
        let error = fails(insert.execute_update(), Status::InvalidArguments);
        assert!(error.message.contains(":Y"), "{error}");
        let mut both = statement(&mut connection, "SELECT a FROM t WHERE a = :a AND b = ?");
        both.set_option(by_name(), "true".into()).expect("it is known");
        fails(both.execute().map(drop), Status::InvalidArguments);
    },
    fn how_data_is_bound_may_be_said_after_preparing(target: &Target) {
        let mut connection = fresh(target);
        let sql = "SELECT CAST(:b AS INTEGER), CAST(:a AS INTEGER) FROM RDB$DATABASE";
        let mut select = statement(&mut connection, sql);
        select.prepare().expect("markers are markers");
        let mut found = |binds: &str| {
            select.set_option(by_name(), binds.into()).expect("it is known");
            select.bind(batch([("a", ints([1])), ("b", ints([10]))])).expect("it is taken");
            let found = rows(select.execute().expect("it runs"));
            [0, 1].map(|column| found.column(column).as_primitive::<Int32Type>().value(0))
        };
        assert_eq!(found("true"), [10, 1]);
        assert_eq!(found("false"), [1, 10], "by position");
    },
    fn markers_of_a_query_go_by_name_too(target: &Target) {
        let mut connection = fresh(target);
        let sql = "SELECT CAST(:b AS INTEGER), CAST(:a AS INTEGER) FROM RDB$DATABASE";
        let mut select = statement(&mut connection, sql);
        select.set_option(by_name(), "true".into()).expect("it is known");
        select.bind(batch([("a", ints([1, 2])), ("b", ints([10, 20]))])).expect("it is taken");
        let found = rows(select.execute().expect("it runs"));
        assert_eq!(found.column(0).as_primitive::<Int32Type>().values(), &[10, 20]);
        assert_eq!(found.column(1).as_primitive::<Int32Type>().values(), &[1, 2]);
    },
    fn dictionaries_and_nulls_are_bound_as_their_values(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (s VARCHAR(10), n INTEGER)");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?, ?)");
        let words: DictionaryArray<Int32Type> = [Some("a"), None, Some("a"), Some("b")].into_iter().collect();
        insert
            .bind(batch([("s", Arc::new(words) as ArrayRef), ("n", Arc::new(NullArray::new(4)) as _)]))
            .expect("taken");
        assert_eq!(insert.execute_update().expect("it inserts"), Some(4));
        let found = crate::support::query(&mut connection, "SELECT s, n FROM t");
        let expected: StringArray = [Some("a"), None, Some("a"), Some("b")].into_iter().collect();
        assert_eq!(found.column(0).as_string::<i32>(), &expected);
        assert_eq!(found.column(1).null_count(), 4);
    },
    fn types_without_a_counterpart_are_not_implemented(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (v VARCHAR(10), n BIGINT)");
        let field = Arc::new(Field::new("a", DataType::Int32, true));
        let structs: ArrayRef = Arc::new(StructArray::from(vec![(field, ints([1]))]));
        let item = Arc::new(Field::new("item", structs.data_type().clone(), true));
        let list = ListArray::new(item, OffsetBuffer::from_lengths([1]), Arc::clone(&structs), None);
        for (column, values, word) in [
            ("N", Arc::new(DurationSecondArray::from(vec![1])) as ArrayRef, "Duration"),
            ("N", Arc::new(IntervalYearMonthArray::from(vec![1])), "Interval"),
            ("V", structs, "Struct"),
            ("V", Arc::new(list), "List"),
        ] {
            let data = batch([(column, values)]);
            let mut insert = statement(&mut connection, &format!("INSERT INTO t ({column}) VALUES (?)"));
            insert.bind(data.clone()).expect("it is taken");
            let bound = fails(insert.execute_update(), Status::NotImplemented);
            let mut append = connection.new_statement().expect("it is cheap");
            append.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
            append.set_option(OptionStatement::IngestMode, IngestMode::Append.into()).expect("it is known");
            append.bind(data).expect("it is taken");
            let appended = fails(append.execute_update(), Status::NotImplemented);
            for error in [bound, appended] {
                assert_eq!(sqlstate(&error), "0A000");
                assert!(error.message.contains(&format!("\"{column}\"")), "{error}");
                assert!(error.message.contains(word), "{error}");
            }
            assert_eq!(count(&mut connection, "t"), 0);
        }
    },
    fn a_producer_that_fails_undoes_everything(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?)");
        insert.bind_stream(failing_producer()).expect("it is taken");
        let error = insert.execute_update().expect_err("the producer fails");
        assert!(matches!(error.status, Status::InvalidArguments | Status::Internal), "{error}");
        assert!(error.message.contains("the producer has had enough"), "{error}");
        assert_eq!(count(&mut connection, "t"), 0);
        let mut select = statement(&mut connection, "SELECT CAST(? AS INTEGER) FROM RDB$DATABASE");
        select.bind_stream(failing_producer()).expect("it is taken");
        // Its rows run ahead of what is read, unless they come late.
        let error = match select.execute() {
            Ok(reader) => reader.collect::<Result<Vec<_>, _>>().expect_err("the producer fails").to_string(),
            Err(error) => error.message,
        };
        assert!(error.contains("the producer has had enough"), "{error}");
    },
    fn rows_may_come_from_the_same_connection(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            let numbers =
                "SELECT r.n FROM (SELECT 1 n FROM RDB$DATABASE UNION ALL SELECT 2 FROM RDB$DATABASE) r";
            let source = statement(&mut connection, numbers).execute().expect("it runs");
            let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?)");
            insert.bind_stream(source).expect("it is taken");
            assert_eq!(insert.execute_update().expect("it inserts"), Some(2));
        }
        // A query with parameters needs the transaction and the connection that are in use.
        let mut source = statement(&mut connection, "SELECT CAST(? AS INTEGER) FROM RDB$DATABASE");
        source.bind(batch([("n", ints([1, 2, 3]))])).expect("it is taken");
        let source = source.execute().expect("it runs");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?)");
        insert.bind_stream(source).expect("it is taken");
        assert_eq!(insert.execute_update().expect("it inserts"), Some(3));
        assert_eq!(count(&mut connection, "t"), 7);
        connection.rollback().expect("it is undone");
        assert_eq!(count(&mut connection, "t"), 2);
    },
    fn what_is_bound_is_used_once(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?)");
        insert.bind(batch([("n", ints([1]))])).expect("it is taken");
        insert.bind(batch([("n", ints([5]))])).expect("it takes the place of the first");
        insert.set_sql_query("INSERT INTO t VALUES (? + 1)").expect("bound data stays");
        insert.execute_update().expect("it inserts");
        fails(insert.execute_update(), Status::InvalidArguments);
        assert_eq!(column(&mut connection, "SELECT n FROM t").as_primitive::<Int32Type>().values(), &[6]);
    }
);
