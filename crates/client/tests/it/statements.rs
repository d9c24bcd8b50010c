//! Preparing, executing and reading.

use crate::support::{column, fresh, query, rows, run};
use arrow::array::*;
use arrow::datatypes::Int32Type;
use firearrow::{BatchLimits, Kind, Params};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

matrix!(
    all,
    // A cancellation of the server's reading ahead that comes too late must not hit the close.
    fn a_result_that_is_closed_early_can_be_opened_again(target: &Target) {
        let connection = fresh(target);
        let numbers = "WITH RECURSIVE n AS (SELECT 1 i FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < 1000) ";
        let filler = "CAST(LPAD('', 1000, 'x') AS CHAR(1000))";
        let statement =
            connection.prepare(&format!("{numbers}SELECT i, {filler} FROM n")).expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(10));
        let transaction = connection.begin(Default::default()).expect("it starts");
        for round in 0..300 {
            let mut cursor =
                statement.query(&transaction, ()).unwrap_or_else(|error| panic!("{round}: {error}"));
            for _ in 0..round % 30 {
                cursor.next_batch().expect("it reads").expect("there are more");
            }
            drop(cursor);
        }
        connection.ping().expect("nothing hits the next call");
    },
    fn a_statement_runs_again_with_other_parameters(target: &Target) {
        let connection = fresh(target);
        let statement =
            connection.prepare("SELECT CAST(? AS INTEGER) + 1 FROM RDB$DATABASE").expect("valid SQL");
        let transaction = connection.begin(Default::default()).expect("a transaction starts");
        for value in [1, -7, 1_000_000] {
            let batch = rows(statement.query(&transaction, Params::row([ints([value])])).expect("it runs"));
            let found = batch.column(0);
            let found = arrow::compute::cast(found, &arrow::datatypes::DataType::Int64).expect("a number");
            assert_eq!(found.as_primitive::<arrow::datatypes::Int64Type>().value(0), i64::from(value) + 1);
        }
    },
    fn many_rows_arrive_complete_and_in_order(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, name VARCHAR(50))");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 20000) DO BEGIN INSERT INTO t VALUES (:i, 'name ' || :i); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("a transaction starts");
        let statement = transaction.prepare("SELECT id, name FROM t ORDER BY id").expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(777));
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        let mut next = 0;
        while let Some(batch) = cursor.next_batch().expect("rows arrive") {
            assert!(batch.num_rows() <= 777);
            let names = batch.column(1).as_string::<i32>();
            for (row, id) in batch.column(0).as_primitive::<Int32Type>().values().iter().enumerate() {
                assert_eq!(*id, next);
                assert_eq!(names.value(row), format!("name {next}"));
                next += 1;
            }
        }
        assert_eq!(next, 20000);
        assert!(cursor.next_batch().expect("the end repeats").is_none());
    },
    fn a_cursor_closed_early_leaves_the_connection_usable(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, filler CHAR(500))");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 5000) DO BEGIN INSERT INTO t VALUES (:i, 'x'); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("a transaction starts");
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(10).full(true));
        for _ in 0..3 {
            let mut cursor = statement.query(&transaction, ()).expect("it runs again after an early close");
            assert_eq!(cursor.next_batch().expect("rows").map(|batch| batch.num_rows()), Some(10));
            cursor.close().expect("closing early works");
        }
        assert_eq!(rows(transaction.query("SELECT 1 FROM RDB$DATABASE").expect("usable")).num_rows(), 1);
    },
    fn several_cursors_are_read_in_turns(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, filler CHAR(300))");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 3000) DO BEGIN INSERT INTO t VALUES (:i, 'x'); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("a transaction starts");
        let limits = BatchLimits::default().rows(100).full(true);
        let open = |order: &str| {
            let sql = format!("SELECT id, filler FROM t ORDER BY id {order}");
            transaction
                .prepare(&sql)
                .expect("valid SQL")
                .with_limits(limits)
                .query(&transaction, ())
                .expect("it runs")
        };
        let (mut up, mut down) = (open("ASC"), open("DESC"));
        let mut seen = 0;
        while let Some(first) = up.next_batch().expect("rows") {
            let second = down.next_batch().expect("rows").expect("as many rows as the other");
            for (a, b) in first
                .column(0)
                .as_primitive::<Int32Type>()
                .values()
                .iter()
                .zip(second.column(0).as_primitive::<Int32Type>().values())
            {
                assert_eq!((*a, *b), (seen, 2999 - seen));
                seen += 1;
            }
        }
        assert_eq!(seen, 3000);
    },
    fn a_second_cursor_on_a_statement_is_refused(target: &Target) {
        let connection = fresh(target);
        let statement = connection.prepare("SELECT 1 FROM RDB$DATABASE").expect("valid SQL");
        let transaction = connection.begin(Default::default()).expect("a transaction starts");
        let first = statement.query(&transaction, ()).expect("it runs");
        let error = statement.query(&transaction, ()).expect_err("the first is open");
        assert_eq!(error.kind(), Kind::Misuse);
        assert_eq!(rows(first).num_rows(), 1);
    },
    fn affected_rows_are_counted(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let inserted = connection
            .execute_with("INSERT INTO t VALUES (?)", Params::row([ints(0..10)]))
            .expect("ten rows go in");
        assert_eq!(inserted.affected_rows, Some(10));
        let updated = connection.execute("UPDATE t SET id = id + 100 WHERE id < 3").expect("valid SQL");
        assert_eq!(updated.affected_rows, Some(3));
        let counts = updated.counts.expect("the engine tells");
        assert_eq!((counts.inserted, counts.updated, counts.deleted), (0, 3, 0));
        let deleted = connection.execute("DELETE FROM t WHERE id >= 100").expect("valid SQL");
        assert_eq!(deleted.affected_rows, Some(3));
        assert_eq!(deleted.counts.map(|counts| (counts.updated, counts.deleted)), Some((0, 3)));
        assert_eq!(
            connection.execute("DELETE FROM t WHERE id = 77").expect("valid SQL").affected_rows,
            Some(0)
        );
    },
    fn returning_gives_its_row(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, name VARCHAR(10))");
        let batch = query(&connection, "INSERT INTO t VALUES (7, 'seven') RETURNING id, name");
        assert_eq!(batch.num_rows(), 1);
        assert_eq!(batch.column(0).as_primitive::<Int32Type>().value(0), 7);
        assert_eq!(batch.column(1).as_string::<i32>().value(0), "seven");
        assert_eq!(column(&connection, "SELECT COUNT(*) FROM t").len(), 1);
        let none = query(&connection, "UPDATE t SET id = 8 WHERE id = 1000 RETURNING id");
        // Firebird 3 and 4 answer with one row of NULLs, 5 with a cursor without rows.
        match target.generation() {
            Generation::V5_0 => assert_eq!(none.num_rows(), 0),
            _ => assert!(none.num_rows() <= 1 && none.column(0).null_count() == none.num_rows()),
        }
    },
    fn procedures_return_their_row(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE PROCEDURE twice (n INTEGER) RETURNS (m INTEGER) AS BEGIN m = n * 2; END");
        let cursor = connection.query_with("EXECUTE PROCEDURE twice(?)", Params::row([ints([21])]));
        let batch = rows(cursor.expect("it runs"));
        assert_eq!(batch.column(0).as_primitive::<Int32Type>().value(0), 42);
    },
    fn text_parameters_are_converted_by_the_server(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a INTEGER, b DATE, c DECIMAL(10, 2), d VARCHAR(10))");
        connection
            .execute_with(
                "INSERT INTO t VALUES (?, ?, ?, ?)",
                Params::texts([Some("42"), Some("2024-02-29"), Some("-1.25"), None]),
            )
            .expect("the texts convert");
        let batch = query(&connection, "SELECT * FROM t");
        assert_eq!(batch.column(0).as_primitive::<Int32Type>().value(0), 42);
        assert_eq!(batch.column(1).as_primitive::<arrow::datatypes::Date32Type>().value(0), 19782);
        assert_eq!(batch.column(2).as_primitive::<arrow::datatypes::Decimal128Type>().value(0), -125);
        assert!(batch.column(3).is_null(0));
    },
    fn a_parameter_may_be_compared_with_null(target: &Target) {
        let connection = fresh(target);
        let sql = "SELECT 1 FROM RDB$DATABASE WHERE ? IS NULL";
        let with =
            |value| rows(connection.query_with(sql, Params::texts([value])).expect("it runs")).num_rows();
        assert_eq!((with(None), with(Some("x"))), (1, 0));
    },
    fn wide_statements_are_described_whole(target: &Target) {
        let connection = fresh(target);
        let columns: Vec<String> = (0..800).map(|n| format!("{n} AS a_rather_long_column_{n}")).collect();
        let batch = query(&connection, &format!("SELECT {} FROM RDB$DATABASE", columns.join(", ")));
        assert_eq!(batch.num_columns(), 800);
        assert_eq!(batch.column(799).as_primitive::<Int32Type>().value(0), 799);
        assert_eq!(batch.schema().field(799).name(), "A_RATHER_LONG_COLUMN_799");
    },
    fn plans_are_told(target: &Target) {
        let connection = fresh(target);
        let statement = connection.prepare("SELECT * FROM RDB$RELATIONS").expect("valid SQL");
        assert!(statement.plan(false).expect("a plan").contains("RDB$RELATIONS"));
        assert!(statement.plan(true).expect("a plan").contains("Full Scan"));
    },
    fn info_tells_what_is_known(target: &Target) {
        let connection = fresh(target);
        let info = connection.info().expect("info is answered");
        let version = target.generation().number();
        assert!(info.engine_version.starts_with(version), "{info:?}");
        assert_eq!((info.dialect, info.database_charset.as_str()), (3, "UTF8"));
        assert!(info.page_size >= 4096 && info.attachment > 0);
        assert_eq!(info.protocol.is_some(), matches!(target, Target::Wire(_)));
    },
    fn the_engine_errors_of_wrong_calls_are_kept_whole(target: &Target) {
        let connection = fresh(target);
        let error = connection.query("SELECT * FROM no_such_table").expect_err("there is no such table");
        assert_eq!(error.kind(), Kind::Syntax);
        assert!(error.message().contains("NO_SUCH_TABLE"), "{error}");
        assert!(error.gds_codes().contains(&335544580), "{:?}", error.gds_codes());
        assert_eq!(error.sqlstate(), "42S02");
        let error = connection
            .execute_with("INSERT INTO RDB$ROLES (RDB$ROLE_NAME) VALUES (?)", ())
            .expect_err("no parameter");
        assert_eq!(error.kind(), Kind::Parameter);
        let error = connection.execute("SELECT 1 FROM RDB$DATABASE").expect_err("it gives rows");
        assert_eq!(error.kind(), Kind::Misuse);
        assert_eq!(query(&connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    }
);
