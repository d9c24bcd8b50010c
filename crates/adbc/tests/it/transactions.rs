//! Autocommit and manual mode, isolation, locks, snapshots.

use crate::support::{
    autocommit, count, fails, failure, fresh, fresh_database, get, query, run, set, sqlstate, statement,
};
use adbc_core::error::Status;
use adbc_core::{Connection, Database, Statement};
use firearrow_testkit::{Generation, Target, matrix};
use std::time::{Duration, Instant};

const ISOLATION: &str = "adbc.connection.transaction.isolation_level";

fn level(name: &str) -> String {
    format!("adbc.connection.transaction.isolation.{name}")
}

matrix!(
    all,
    fn work_is_committed_when_it_shall_be(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        run(&mut connection, "INSERT INTO t VALUES (1)");
        assert_eq!(count(&mut other, "t"), 1);
        fails(connection.commit(), Status::InvalidState);
        fails(connection.rollback(), Status::InvalidState);
        assert_eq!(get(&connection, "adbc.connection.autocommit").as_deref(), Ok("true"));
        autocommit(&mut connection, false);
        assert_eq!(get(&connection, "adbc.connection.autocommit").as_deref(), Ok("false"));
        connection.commit().expect("there is nothing to commit");
        run(&mut connection, "INSERT INTO t VALUES (2)");
        assert_eq!((count(&mut connection, "t"), count(&mut other, "t")), (2, 1));
        connection.rollback().expect("it is undone");
        assert_eq!(count(&mut connection, "t"), 1);
        run(&mut connection, "INSERT INTO t VALUES (3)");
        connection.commit().expect("it is committed");
        assert_eq!(count(&mut other, "t"), 2);
        run(&mut connection, "INSERT INTO t VALUES (4)");
        autocommit(&mut connection, false);
        assert_eq!(count(&mut other, "t"), 2, "that changes nothing");
        autocommit(&mut connection, true);
        assert_eq!(count(&mut other, "t"), 3, "that commits");
        autocommit(&mut connection, false);
        run(&mut connection, "INSERT INTO t VALUES (5)");
        drop(connection);
        assert_eq!(count(&mut other, "t"), 3, "nobody committed");
    },
    fn a_failed_statement_leaves_nothing(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER NOT NULL PRIMARY KEY)");
        let sql = "INSERT INTO t SELECT 1 FROM RDB$DATABASE UNION ALL SELECT 2 FROM RDB$DATABASE \
            UNION ALL SELECT 1 FROM RDB$DATABASE";
        assert_eq!(failure(&mut connection, sql).status, Status::Integrity);
        autocommit(&mut connection, false);
        run(&mut connection, "INSERT INTO t VALUES (9)");
        assert_eq!(failure(&mut connection, sql).status, Status::Integrity);
        connection.commit().expect("the transaction goes on");
        assert_eq!(count(&mut connection, "t"), 1);
    },
    fn isolation_is_as_told(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        assert_eq!(get(&connection, ISOLATION), Ok(level("default")));
        autocommit(&mut connection, false);
        for (name, sees) in [
            ("default", true),
            ("read_uncommitted", true),
            ("read_committed", true),
            ("repeatable_read", false),
            ("snapshot", false),
        ] {
            set(&mut connection, ISOLATION, &level(name)).expect(name);
            assert_eq!(get(&connection, ISOLATION), Ok(level(name)));
            let before = count(&mut connection, "t");
            run(&mut other, "INSERT INTO t VALUES (1)");
            assert_eq!(count(&mut connection, "t") == before + 1, sees, "{name}");
            connection.commit().expect("it ends");
        }
        set(&mut connection, ISOLATION, &level("serializable")).expect("it is known");
        count(&mut connection, "t");
        set(&mut other, "adbc.firebird.lock_timeout", "0").expect("it is known");
        let error = failure(&mut other, "INSERT INTO t VALUES (1)");
        assert_eq!(
            (error.status, sqlstate(&error).as_str()),
            (Status::IO, "40001"),
            "the table is locked: {error}"
        );
        connection.rollback().expect("it ends");
        run(&mut other, "INSERT INTO t VALUES (1)");
        fails(set(&mut connection, ISOLATION, &level("linearizable")), Status::NotImplemented);
        fails(set(&mut connection, ISOLATION, "quick"), Status::InvalidArguments);
    },
    fn read_only_connections_do_not_write(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        set(&mut connection, "adbc.connection.readonly", "true").expect("it is known");
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            assert_eq!(count(&mut connection, "t"), 0);
            let error = failure(&mut connection, "INSERT INTO t VALUES (1)");
            assert_eq!((error.status, sqlstate(&error).as_str()), (Status::InvalidState, "25006"), "{error}");
        }
        connection.rollback().expect("it ends");
        set(&mut connection, "adbc.connection.readonly", "false").expect("it is known");
        run(&mut connection, "INSERT INTO t VALUES (1)");
    },
    fn locks_are_waited_for_as_long_as_told(target: &Target) {
        let database = fresh_database(target);
        let mut first = database.new_connection().expect("it is created");
        let mut second = database.new_connection().expect("it exists");
        run(&mut first, "CREATE TABLE t (n INTEGER)");
        run(&mut first, "INSERT INTO t VALUES (1)");
        autocommit(&mut first, false);
        run(&mut first, "UPDATE t SET n = 2");
        for (seconds, least, most) in [("0", 0, 900), ("2", 900, 10_000)] {
            set(&mut second, "adbc.firebird.lock_timeout", seconds).expect("it is known");
            let begin = Instant::now();
            assert_eq!(failure(&mut second, "UPDATE t SET n = 3").status, Status::IO);
            let spent = begin.elapsed();
            let bounds = Duration::from_millis(least)..Duration::from_millis(most);
            assert!(bounds.contains(&spent), "{seconds}: {spent:?}");
        }
    },
    fn definitions_are_committed_at_once_unless_told(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        autocommit(&mut connection, false);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        run(&mut connection, "INSERT INTO t VALUES (1)");
        assert_eq!(count(&mut other, "t"), 0, "there is a table, but no row");
        connection.rollback().expect("it is undone");
        assert_eq!(count(&mut connection, "t"), 0);
        connection.commit().expect("it ends");
        // What to_sql(if_exists="replace") of pandas does.
        run(&mut connection, "DROP TABLE t");
        run(&mut connection, "CREATE TABLE t (m INTEGER)");
        set(&mut connection, "adbc.firebird.ddl_autocommit", "false").expect("it is known");
        run(&mut connection, "CREATE TABLE u (n INTEGER)");
        connection.rollback().expect("it is undone");
        assert_eq!(failure(&mut connection, "SELECT * FROM u").status, Status::NotFound);
        run(&mut connection, "CREATE TABLE u (n INTEGER)");
        connection.commit().expect("it is committed");
        assert_eq!(count(&mut connection, "u"), 0);
    },
    fn a_table_that_was_only_read_can_be_replaced(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER)");
        run(&mut connection, "CREATE TABLE u (id INTEGER)");
        autocommit(&mut connection, false);
        assert_eq!(query(&mut connection, "SELECT id FROM t").num_rows(), 0);
        run(&mut connection, "DROP TABLE t");
        run(&mut connection, "CREATE TABLE t (id INTEGER, more INTEGER)");
        assert_eq!(query(&mut connection, "SELECT more FROM t").num_rows(), 0);
        // What was written must not be committed along.
        run(&mut connection, "INSERT INTO u VALUES (1)");
        failure(&mut connection, "DROP TABLE t");
        connection.rollback().expect("a transaction is running");
        assert_eq!(count(&mut connection, "u"), 0);
        run(&mut connection, "DROP TABLE t");
    },
    fn a_table_in_use_is_not_waited_for_for_ever(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        autocommit(&mut connection, false);
        run(&mut connection, "INSERT INTO t VALUES (1)");
        set(&mut connection, "adbc.firebird.lock_timeout", "1").expect("it is known");
        let begin = Instant::now();
        // The connection's own transaction holds the table.
        let error = failure(&mut connection, "DROP TABLE t");
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        assert!(matches!(error.status, Status::IO | Status::Unknown | Status::InvalidArguments), "{error}");
        connection.commit().expect("it goes on");
        run(&mut connection, "DROP TABLE t");
    },
    fn snapshots_are_shared(target: &Target) {
        const NUMBER: &str = "adbc.firebird.snapshot_number";
        let database = fresh_database(target);
        let mut first = database.new_connection().expect("it is created");
        let mut second = database.new_connection().expect("it exists");
        run(&mut first, "CREATE TABLE t (n INTEGER)");
        if target.generation() < Generation::V4_0 {
            fails(set(&mut second, NUMBER, "1"), Status::NotImplemented);
            return;
        }
        assert_eq!(get(&first, NUMBER).as_deref(), Ok("0"));
        set(&mut first, ISOLATION, &level("snapshot")).expect("it is known");
        autocommit(&mut first, false);
        assert_eq!(count(&mut first, "t"), 0);
        let number = get(&first, NUMBER).expect("a transaction runs");
        run(&mut second, "INSERT INTO t VALUES (1)");
        assert_eq!(count(&mut second, "t"), 1);
        set(&mut second, NUMBER, &number).expect("it is a number");
        assert_eq!(count(&mut second, "t"), 0, "it reads the other's snapshot");
        autocommit(&mut second, false);
        assert_eq!(count(&mut second, "t"), 0);
        assert_eq!(get(&second, NUMBER), Ok(number));
        second.commit().expect("it ends");
        first.commit().expect("it ends");
        let error =
            statement(&mut second, "SELECT * FROM t").execute().map(drop).expect_err("the snapshot is gone");
        assert_eq!(error.status, Status::InvalidState, "{error}");
        set(&mut second, NUMBER, "0").expect("it is a number");
        assert_eq!(count(&mut second, "t"), 1);
    },
    fn a_query_sees_one_state_of_the_database(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        let numbers = "WITH RECURSIVE n AS (SELECT 1 i FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
            SELECT a.i FROM n a, n b";
        run(&mut connection, &format!("INSERT INTO t {numbers}"));
        let mut stream = statement(&mut connection, "SELECT n FROM t").execute().expect("it runs");
        let first = stream.next().expect("a batch").expect("it is read").num_rows();
        run(&mut other, &format!("INSERT INTO t {numbers}"));
        let rest: usize = stream.map(|batch| batch.expect("it is read").num_rows()).sum();
        assert_eq!(first + rest, 40_000);
    },
    fn warnings_of_statements_are_listed(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        autocommit(&mut connection, false);
        run(&mut connection, "INSERT INTO t VALUES (1)");
        let warnings =
            |connection: &_| get(connection, "adbc.firebird.statement_warnings").expect("it is known");
        assert_eq!(warnings(&connection), "");
        if target.generation() < Generation::V4_0 {
            return;
        }
        run(&mut connection, "ALTER SESSION RESET");
        let told = warnings(&connection);
        assert!(told.contains("all changes are lost") && !told.contains('\n'), "{told}");
        assert_eq!(warnings(&connection), told, "reading takes nothing away");
    },
    fn facts_about_the_connection_are_told(target: &Target) {
        let mut connection = fresh(target);
        let version = get(&connection, "adbc.firebird.server_version").expect("it is known");
        assert!(version.starts_with(target.generation().number()), "{version}");
        let ods = get(&connection, "adbc.firebird.ods_version").expect("it is known");
        assert!(ods.starts_with("1"), "{ods}");
        let attachment = get(&connection, "adbc.firebird.attachment_id").expect("it is known");
        let asked =
            query(&mut connection, "SELECT CAST(CURRENT_CONNECTION AS VARCHAR(20)) FROM RDB$DATABASE");
        assert_eq!(arrow::array::AsArray::as_string::<i32>(asked.column(0)).value(0), attachment);
        let protocol = get(&connection, "adbc.firebird.protocol_version").expect("it is known");
        assert_eq!(protocol != "0", matches!(target, Target::Wire(_)));
        let cipher = get(&connection, "adbc.firebird.wire_crypt_plugin").expect("it is known");
        assert_eq!(!cipher.is_empty(), matches!(target, Target::Wire(_)));
        let warnings = get(&connection, "adbc.firebird.warnings").expect("it is known");
        assert_eq!(warnings, "", "encrypted, or no wire at all");
        fails(get(&connection, "adbc.firebird.transaction_id"), Status::InvalidState);
        autocommit(&mut connection, false);
        let asked =
            query(&mut connection, "SELECT CAST(CURRENT_TRANSACTION AS VARCHAR(20)) FROM RDB$DATABASE");
        let number = get(&connection, "adbc.firebird.transaction_id").expect("a transaction runs");
        assert_eq!(arrow::array::AsArray::as_string::<i32>(asked.column(0)).value(0), number);
    },
    fn time_limits_of_sessions_are_set(target: &Target) {
        let mut connection = fresh(target);
        if target.generation() < Generation::V4_0 {
            fails(set(&mut connection, "adbc.firebird.statement_timeout", "100"), Status::NotImplemented);
            fails(set(&mut connection, "adbc.firebird.idle_timeout", "100"), Status::NotImplemented);
            return;
        }
        set(&mut connection, "adbc.firebird.idle_timeout", "600").expect("it is known");
        let sql = "SELECT RDB$GET_CONTEXT('SYSTEM', 'SESSION_IDLE_TIMEOUT') FROM RDB$DATABASE";
        let found = query(&mut connection, sql);
        assert_eq!(arrow::array::AsArray::as_string::<i32>(found.column(0)).value(0), "600");
        set(&mut connection, "adbc.firebird.statement_timeout", "300").expect("it is known");
        let error =
            fails(statement(&mut connection, crate::cancel::ENDLESS).execute_update(), Status::Timeout);
        assert_eq!(sqlstate(&error), "HY008");
        set(&mut connection, "adbc.firebird.statement_timeout", "0").expect("it is known");
        assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    }
);
