//! Errors say as data where they belong.

use crate::support::{fresh, fresh_closed, run};
use arrow::array::{Array, ArrayRef, Float64Array, Int32Array, RecordBatch};
use firearrow::arrow::{DecodeError, ParamError};
use firearrow::{Connection, Kind, OnFailure, Params, params};
use firearrow_testkit::{Target, matrix};
use std::error::Error;
use std::sync::Arc;

matrix!(
    all,
    fn syntax_errors_have_a_position(target: &Target) {
        let connection = fresh(target);
        for (sql, position) in [
            ("SELECT missing FROM RDB$DATABASE", (1, 8)),
            ("SELECT 1\n  FROM RDB$DATABASE\n WHERE missing = 1", (3, 8)),
            ("SELECT 1\n FROM WHERE", (2, 7)),
        ] {
            let error = connection.query(sql).expect_err("the SQL is wrong");
            assert_eq!(error.sql_position(), Some(position), "{sql}: {error}");
        }
        let error = connection.query("SELECT").expect_err("the SQL is not complete");
        assert!(error.sql_position().is_some_and(|(line, _)| line == 1), "{error}");
        let error =
            connection.query("SELECT 1 / 0 FROM RDB$DATABASE").and_then(|mut cursor| cursor.next_batch());
        assert_eq!(error.expect_err("it cannot be computed").sql_position(), None);
    },
    fn violated_constraints_are_named(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (id INTEGER CONSTRAINT pk_t PRIMARY KEY, n INTEGER CONSTRAINT positive CHECK (n > 0))",
        );
        run(&connection, "CREATE TABLE u (id INTEGER CONSTRAINT fk_u REFERENCES t (id))");
        run(&connection, "INSERT INTO t VALUES (1, 1)");
        for (sql, constraint, table, key) in [
            ("INSERT INTO t VALUES (1, 1)", "PK_T", "T", Some("(\"ID\" = 1)")),
            ("INSERT INTO t VALUES (2, -1)", "POSITIVE", "T", None),
            ("INSERT INTO u VALUES (3)", "FK_U", "U", Some("(\"ID\" = 3)")),
        ] {
            let error = connection.execute(sql).expect_err("a constraint forbids it");
            assert_eq!(error.kind(), Kind::Constraint, "{error}");
            assert_eq!(
                (error.constraint(), error.table(), error.key()),
                (Some(constraint), Some(table), key)
            );
        }
        let error = connection.execute("INSERT INTO nowhere VALUES (1)").expect_err("no such table");
        assert_eq!((error.constraint(), error.table(), error.key()), (None, None, None));
    },
    fn undecodable_values_have_row_and_column(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, bytes VARCHAR(10) CHARACTER SET NONE)");
        run(&connection, "INSERT INTO t VALUES (1, 'fine')");
        run(&connection, "INSERT INTO t VALUES (2, x'FFFE41')");
        let mut cursor = connection.query("SELECT id, bytes FROM t ORDER BY id").expect("the query is right");
        let error = cursor.next_batch().expect_err("the second row is no UTF-8");
        assert_eq!(
            (error.row(), error.column_index(), error.column_name()),
            (Some(1), Some(1), Some("BYTES")),
            "{error}"
        );
        assert!(error.source().is_some_and(|source| source.is::<DecodeError>()));
    },
    fn parameters_that_do_not_fit_have_row_and_column(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, n INTEGER)");
        let insert = "INSERT INTO t VALUES (?, ?)";
        let error = connection.execute_with(insert, params![1, 1.5]).expect_err("it would be rounded");
        assert_eq!(
            (error.kind(), error.row(), error.column_index()),
            (Kind::Data, Some(0), Some(1)),
            "{error}"
        );
        assert!(error.source().is_some_and(|source| source.is::<ParamError>()));
        assert!(error.message().starts_with("parameter 2: 1.5 does not fit"), "{error}");
        let columns: [ArrayRef; 2] =
            [Arc::new(Int32Array::from(vec![1, 2, 3])), Arc::new(Float64Array::from(vec![1.0, 2.0, 2.5]))];
        assert_eq!(columns[0].len(), columns[1].len());
        let error = connection.execute_with(insert, Params::row(columns.clone())).expect_err("the last one");
        assert_eq!((error.row(), error.column_index()), (Some(2), Some(1)), "{error}");
        assert!(error.message().contains("parameter 2, row 2 (counted from 0): 2.5"), "{error}");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = connection.prepare(insert).expect("valid SQL");
        let fields = columns.iter().zip(["id", "n"]).map(|(column, name)| (name, Arc::clone(column)));
        let batch = RecordBatch::try_from_iter(fields).expect("equal lengths");
        let done = statement
            .execute_rows(&mut transaction, &batch, OnFailure::Continue)
            .expect("rows fail one by one");
        let failure = done.failures.first().expect("the last row");
        assert_eq!(
            (failure.row, failure.error.row(), failure.error.column_index(), failure.error.column_name()),
            (2, Some(2), Some(1), Some("n"))
        );
    },
    fn rows_that_the_engine_refuses_are_named(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER PRIMARY KEY)");
        let statement = connection.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        // Few rows are executed one by one, many in bulk.
        for count in [3, 200] {
            let mut transaction = connection.begin(Default::default()).expect("it starts");
            let ids = Int32Array::from_iter_values((0..count).map(|id| id.min(count - 2)));
            let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as ArrayRef)]).expect("a batch");
            let done = statement
                .execute_rows(&mut transaction, &batch, OnFailure::Continue)
                .expect("rows fail one by one");
            let last = count as usize - 1;
            let places: Vec<_> = done.failures.iter().map(|each| (each.row, each.error.row())).collect();
            assert_eq!(places, [(last, Some(last))]);
            transaction.rollback().expect("it ends");
        }
    },
    fn rows_of_queries_that_fail_are_named(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER PRIMARY KEY)");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = connection.prepare("INSERT INTO t VALUES (?) RETURNING id").expect("valid SQL");
        let ids: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 2]));
        let batch = RecordBatch::try_from_iter([("id", ids)]).expect("a batch");
        let cursor = statement.query_rows(&transaction, &batch, OnFailure::Stop).expect("it starts");
        let error = cursor.collect::<Result<Vec<_>, _>>().expect_err("the last row");
        let error = firearrow::Error::from(error);
        assert_eq!((error.kind(), error.row()), (Kind::Constraint, Some(2)), "{error}");
        assert!(error.message().contains("row 2 of the parameters: "), "{error}");
    },
    fn blobs_that_are_too_long_are_named(target: &Target) {
        let mut config = fresh_closed(target);
        config.set("max_blob", "1000").expect("a number of bytes");
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB)");
        run(&connection, "INSERT INTO t VALUES (1, 'short')");
        run(&connection, "INSERT INTO t VALUES (2, CAST(LPAD('', 2000, 'x') AS VARCHAR(2000)))");
        let mut cursor = connection.query("SELECT id, b FROM t ORDER BY id").expect("the query is right");
        let error = cursor.next_batch().expect_err("the second one is too long");
        assert_eq!(
            (error.row(), error.column_index(), error.column_name()),
            (Some(1), Some(1), Some("B")),
            "{error}"
        );
    }
);
