//! Queries, changes and definitions.

use crate::raw::Raw;
use crate::support::{column, count, fails, failure, fresh, query, rows, run, sqlstate, statement};
use adbc_core::error::Status;
use adbc_core::options::OptionStatement;
use adbc_core::{Connection, Optionable, Statement};
use arrow::array::*;
use arrow::datatypes::{DataType, Int32Type};
use firearrow_testkit::{Generation, Target, matrix};

matrix!(
    all,
    fn ends_and_comments_do_not_matter(target: &Target) {
        let mut connection = fresh(target);
        for sql in [
            "SELECT 42 FROM RDB$DATABASE",
            "SELECT 42 FROM RDB$DATABASE;",
            "SELECT 42 FROM RDB$DATABASE ;;;\n",
            "SELECT 42 /* ; */ FROM RDB$DATABASE; -- end;",
            "-- begin ;\nSELECT 42 FROM RDB$DATABASE",
        ] {
            let column = column(&mut connection, sql);
            assert_eq!(column.as_primitive::<Int32Type>().values(), &[42], "{sql}");
        }
    },
    fn affected_rows_are_told(target: &Target) {
        let mut connection = fresh(target);
        assert_eq!(run(&mut connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n INTEGER)"), None);
        for (sql, affected) in [
            ("INSERT INTO t VALUES (1, 1)", Some(1)),
            ("INSERT INTO t SELECT 2, 2 FROM RDB$DATABASE UNION SELECT 3, 3 FROM RDB$DATABASE", Some(2)),
            ("UPDATE t SET n = 0", Some(3)),
            ("UPDATE t SET n = 0 WHERE id > 99", Some(0)),
            ("UPDATE OR INSERT INTO t VALUES (3, 4)", Some(1)),
            ("DELETE FROM t WHERE id = 1", Some(1)),
            ("EXECUTE BLOCK AS BEGIN DELETE FROM t WHERE id = 2; END", None),
            ("SELECT * FROM t", None),
            ("ALTER TABLE t ADD m INTEGER", None),
        ] {
            assert_eq!(run(&mut connection, sql), affected, "{sql}");
        }
        assert_eq!(count(&mut connection, "t"), 1);
    },
    fn statements_without_rows_give_an_empty_stream(target: &Target) {
        let mut connection = fresh(target);
        for sql in ["CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1)"] {
            let reader = statement(&mut connection, sql).execute().expect(sql);
            assert!(reader.schema().fields().is_empty(), "{sql}");
            assert_eq!(reader.count(), 0, "{sql}");
        }
        assert_eq!(count(&mut connection, "t"), 1);
    },
    fn affected_rows_come_with_a_stream(target: &Target) {
        let raw = Raw::fresh(target);
        for (sql, affected) in [
            ("CREATE TABLE t (id INTEGER)", -1),
            ("INSERT INTO t SELECT 1 FROM RDB$DATABASE UNION SELECT 2 FROM RDB$DATABASE", 2),
            ("INSERT INTO t VALUES (3) RETURNING id", 1),
            ("SELECT id FROM t", -1),
            ("DELETE FROM t", 3),
        ] {
            let (_, found) = raw.execute(sql).expect(sql);
            assert_eq!(found, affected, "{sql}");
        }
    },
    fn returned_rows_are_kept_even_if_nobody_reads_them(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER, n INTEGER)");
        let reader = statement(&mut connection, "INSERT INTO t VALUES (7, 1) RETURNING id").execute();
        drop(reader.expect("it inserts"));
        assert_eq!(count(&mut connection, "t"), 1);
        let returned = query(&mut connection, "UPDATE t SET n = n + 1 RETURNING n");
        assert_eq!(returned.column(0).as_primitive::<Int32Type>().values(), &[2]);
        assert_eq!(run(&mut connection, "DELETE FROM t RETURNING n"), Some(1));
        assert_eq!(count(&mut connection, "t"), 0);
    },
    fn the_schema_is_known_without_running(target: &Target) {
        let mut connection = fresh(target);
        run(
            &mut connection,
            "CREATE TABLE t (id INTEGER NOT NULL, d NUMERIC(10, 2), s VARCHAR(5), b BLOB SUB_TYPE TEXT, \
             x DECIMAL(4, 1), c CHAR(3) CHARACTER SET OCTETS)",
        );
        run(&mut connection, "CREATE SEQUENCE g");
        for sql in [
            "SELECT * FROM t",
            "SELECT d * 2, SUM(x) AS x FROM t GROUP BY d",
            "SELECT t.*, CAST(1 AS DOUBLE PRECISION), CAST(2 AS DOUBLE PRECISION) FROM t",
        ] {
            let schema = statement(&mut connection, sql).execute_schema().expect(sql);
            let reader = statement(&mut connection, sql).execute().expect(sql);
            assert_eq!(schema, *reader.schema(), "{sql}");
        }
        let schema = statement(&mut connection, "SELECT d, x FROM t").execute_schema().expect("it is valid");
        assert_eq!(schema.field(0).data_type(), &DataType::Decimal128(10, 2), "as it was declared");
        assert_eq!(schema.field(1).data_type(), &DataType::Decimal128(4, 1));
        assert_eq!(schema.field(0).metadata()["FIREBIRD:type"], "NUMERIC");
        // It has not been run.
        statement(&mut connection, "SELECT GEN_ID(g, 1) FROM RDB$DATABASE")
            .execute_schema()
            .expect("it is valid");
        let insert = statement(&mut connection, "INSERT INTO t (id) VALUES (1)")
            .execute_schema()
            .expect("it is valid");
        assert!(insert.fields().is_empty());
        assert_eq!(count(&mut connection, "t"), 0);
    },
    fn parameters_are_described(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER, d NUMERIC(9, 2), s VARCHAR(5))");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?, ?, ?)");
        let expected = [DataType::Int32, DataType::Decimal128(9, 2), DataType::Utf8];
        for _ in 0..2 {
            let schema = insert.get_parameter_schema().expect("it is valid");
            let types: Vec<&DataType> = schema.fields().iter().map(|field| field.data_type()).collect();
            assert_eq!(types, expected.iter().collect::<Vec<_>>());
            assert!(schema.fields().iter().all(|field| field.name().is_empty()));
            insert.prepare().expect("it is valid");
        }
        let mut named = statement(&mut connection, "INSERT INTO t VALUES (:a, :b, :a)");
        let key = OptionStatement::Other("adbc.statement.bind_by_name".into());
        named.set_option(key, true.into()).expect("it is known");
        let schema = named.get_parameter_schema().expect("it is valid");
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["a", "b"]);
    },
    fn what_lacks_a_query_cannot_be_run(target: &Target) {
        let mut connection = fresh(target);
        let mut empty = connection.new_statement().expect("it is cheap");
        fails(empty.prepare(), Status::InvalidState);
        fails(empty.execute().map(drop), Status::InvalidState);
        fails(empty.execute_update(), Status::InvalidState);
        fails(empty.execute_schema(), Status::InvalidState);
        fails(empty.get_parameter_schema(), Status::InvalidState);
        let plan = OptionStatement::Other("adbc.firebird.plan".into());
        fails(empty.get_option_string(plan), Status::InvalidState);
        fails(empty.set_substrait_plan(b"x".as_slice()), Status::NotImplemented);
        fails(empty.execute_partitions().map(drop), Status::InvalidState);
        fails(connection.read_partition(b"x".as_slice()).map(drop), Status::InvalidArguments);
    },
    fn sql_does_not_end_transactions(target: &Target) {
        let mut connection = fresh(target);
        for autocommit in [true, false] {
            crate::support::autocommit(&mut connection, autocommit);
            for sql in ["COMMIT", "ROLLBACK;", "SET TRANSACTION READ ONLY"] {
                let error = failure(&mut connection, sql);
                assert_eq!(error.status, Status::InvalidArguments, "{sql}: {error}");
            }
            assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
        }
    },
    fn plans_are_told(target: &Target) {
        let mut connection = fresh(target);
        let select = statement(&mut connection, "SELECT * FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = 'T'");
        let plan =
            |key: &str| select.get_option_string(OptionStatement::Other(key.into())).expect("it has one");
        assert!(plan("adbc.firebird.plan").starts_with("PLAN ("));
        assert!(plan("adbc.firebird.plan_detailed").contains("Index \"RDB$INDEX_0\""));
    },
    fn executions_are_counted(target: &Target) {
        let mut connection = fresh(target);
        let mut select = statement(&mut connection, "SELECT RDB$FIELD_NAME FROM RDB$FIELDS ROWS 100");
        let int = |statement: &adbc_driver_manager::ManagedStatement, key: &str| {
            statement
                .get_option_int(OptionStatement::from(key))
                .unwrap_or_else(|error| panic!("{key}: {error}"))
        };
        let key = OptionStatement::Other("adbc.firebird.query.batch_rows".into());
        select.set_option(key, 40.into()).expect("it is known");
        let key = OptionStatement::Other("adbc.firebird.query.full_batches".into());
        select.set_option(key, "true".into()).expect("it is known");
        let mut reader = select.execute().expect("it runs");
        assert_eq!(reader.next().expect("a batch").expect("it is read").num_rows(), 40);
        assert_eq!(int(&select, "adbc.statement.exec.progress"), 40);
        assert_eq!(rows(reader).num_rows(), 60);
        assert_eq!(int(&select, "adbc.firebird.stats.rows"), 100);
        assert_eq!(int(&select, "adbc.firebird.stats.batches"), 3);
        assert_eq!(int(&select, "adbc.statement.exec.max_progress"), -1);
        assert!(int(&select, "adbc.firebird.stats.fetch_ns") > 0);
        let wire = matches!(target, Target::Wire(_));
        assert_eq!(int(&select, "adbc.firebird.stats.bytes_received") > 0, wire);
        assert_eq!(int(&select, "adbc.firebird.stats.roundtrips") > 0, wire);
    },
    fn a_table_that_is_altered_meanwhile_does_no_harm(target: &Target) {
        let database = crate::support::fresh_database(target);
        let mut connection = adbc_core::Database::new_connection(&database).expect("it exists");
        let mut other = adbc_core::Database::new_connection(&database).expect("it exists");
        run(&mut connection, "CREATE TABLE t (a INTEGER)");
        run(&mut connection, "INSERT INTO t VALUES (1)");
        assert_eq!(query(&mut connection, "SELECT * FROM t").num_columns(), 1);
        run(&mut other, "ALTER TABLE t ADD b VARCHAR(10) DEFAULT 'x' NOT NULL");
        assert_eq!(query(&mut connection, "SELECT * FROM t").num_columns(), 2);
        run(&mut other, "DROP TABLE t");
        let error = failure(&mut connection, "SELECT * FROM t");
        assert_eq!((error.status, sqlstate(&error).as_str()), (Status::NotFound, "42S02"), "{error}");
    }
);

matrix!(
    all,
    fn long_statements_run_out_of_time(target: &Target) {
        let mut connection = fresh(target);
        let mut endless = statement(&mut connection, crate::cancel::ENDLESS);
        let key = OptionStatement::Other("adbc.firebird.query.timeout".into());
        endless.set_option(key, 300.into()).expect("it is known");
        let error = fails(endless.execute_update(), Status::Timeout);
        let state = if target.generation() < Generation::V4_0 { &["HYT00", "HY008"][..] } else { &["HY008"] };
        assert!(state.contains(&sqlstate(&error).as_str()), "{error}");
        assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    }
);
