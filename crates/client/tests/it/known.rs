//! SQL that was used before, and transactions that begin and end together with a statement: fewer round trips, and the
//! same meaning.

use crate::support::{column, cost, fresh, fresh_closed, rows, run};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use firearrow::{Connection, Isolation, Kind, Params, TransactionOptions};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;

fn count(connection: &Connection) -> i64 {
    column(connection, "SELECT COUNT(*) FROM t").as_primitive::<Int64Type>().value(0)
}

/// Two connections to one database with a table T of one column.
fn pair(target: &Target, declaration: &str) -> (Connection, Connection) {
    let config = fresh_closed(target);
    let first = Connection::open(&config).expect("it opens");
    run(&first, &format!("CREATE TABLE t (c {declaration})"));
    (first, Connection::open(&config).expect("it opens twice"))
}

/// Options that the engine refuses.
fn refused(target: &Target) -> TransactionOptions {
    if target.generation() >= Generation::V4_0 {
        TransactionOptions::default().at_snapshot(Some(u64::MAX / 4))
    } else {
        TransactionOptions::default().isolation(Isolation::ReadCommittedReadConsistency)
    }
}

matrix!(
    wire,
    fn a_query_in_a_transaction_of_its_own(target: &Target) {
        let connection = Connection::open(&fresh_closed(target)).expect("it opens");
        let query = |sql: &str| {
            cost(&connection, || assert_eq!(rows(connection.query(sql).expect("it runs")).num_rows(), 1))
        };
        // Start, prepare; execute, fetch; commit.
        assert_eq!(query("SELECT 1 FROM RDB$DATABASE"), 3, "the first of the connection");
        assert_eq!(query("SELECT 2 FROM RDB$DATABASE"), 3, "new SQL");
        // Start, prepare, execute, fetch; commit.
        for _ in 0..3 {
            assert_eq!(query("SELECT 1 FROM RDB$DATABASE"), 2, "known SQL");
        }
    },
    fn a_known_statement_takes_one_round_trip(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (c INTEGER)");
        let one = || Params::texts([Some("1")]);
        let insert = || {
            cost(&connection, || {
                connection.execute_with("INSERT INTO t VALUES (?)", one()).expect("it inserts")
            })
        };
        assert_eq!(insert(), 2, "new SQL: start, prepare; execute, count, commit");
        assert_eq!(insert(), 1);
        assert_eq!(insert(), 1);
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let read = || rows(transaction.query("SELECT c FROM t").expect("it runs")).num_rows();
        assert_eq!(cost(&connection, || assert_eq!(read(), 3)), 2);
        assert_eq!(cost(&connection, || assert_eq!(read(), 3)), 1);
        let execute = cost(&connection, || {
            transaction.execute_with("INSERT INTO t VALUES (?)", one()).expect("it inserts");
        });
        assert_eq!(execute, 1);
        transaction.commit().expect("it commits");
        assert_eq!(count(&connection), 4);
    },
    fn a_lazy_transaction_begins_with_its_statement(target: &Target) {
        let (first, second) = pair(target, "INTEGER");
        run(&second, "INSERT INTO t VALUES (1)");
        assert_eq!(count(&first), 1);
        let mut transaction = None;
        let trips = cost(&first, || transaction = first.begin_lazy(Default::default()).ok());
        assert_eq!(trips, 0);
        run(&second, "INSERT INTO t VALUES (2)");
        let transaction = transaction.expect("it will start");
        let read = || rows(transaction.query("SELECT COUNT(*) FROM t").expect("it runs"));
        let seen = read().column(0).as_primitive::<Int64Type>().value(0);
        assert_eq!(seen, 2, "committed before the first statement");
        run(&second, "INSERT INTO t VALUES (3)");
        let seen = read().column(0).as_primitive::<Int64Type>().value(0);
        assert_eq!(seen, 2, "a snapshot");
        assert_eq!(cost(&first, || transaction.commit().expect("it commits")), 1);
        let unused = first.begin_lazy(Default::default()).expect("it will start");
        assert_eq!(cost(&first, || unused.commit().expect("nothing to do")), 0);
    },
    fn a_long_row_of_lazy_transactions_leaves_the_living_alone(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (c INTEGER)");
        // Statements of no transaction are prepared in one that lives as long as the connection.
        connection.prepare("SELECT 1 FROM RDB$DATABASE").expect("valid");
        let mut living = connection.begin_lazy(Default::default()).expect("it will start");
        living.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        for _ in 0..70_000 {
            connection.begin_lazy(Default::default()).and_then(|unused| unused.rollback()).expect("unused");
        }
        connection.prepare("SELECT 2 FROM RDB$DATABASE").expect("valid");
        living.commit().expect("it commits");
        assert_eq!(count(&connection), 1);
    }
);

matrix!(
    all,
    fn a_transaction_that_cannot_begin_harms_no_other(target: &Target) {
        let (connection, other) = pair(target, "INTEGER");
        let mut healthy = connection.begin(Default::default()).expect("it starts");
        healthy.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        for _ in 0..3 {
            let refusal = connection.begin_lazy(refused(target)).and_then(|mut transaction| {
                transaction.execute("INSERT INTO t VALUES (2)")?;
                transaction.commit()
            });
            assert!(!refusal.expect_err("it cannot begin").gds_codes().is_empty());
        }
        if let Ok(mut transaction) = connection.begin_lazy(refused(target)) {
            transaction.execute("INSERT INTO t VALUES (2)").expect_err("it cannot begin");
            assert_eq!(transaction.commit().expect_err("it never began").kind(), Kind::Misuse);
        }
        // Another one, whose SQL is known, with a statement that was created in between.
        let unused = connection.prepare("SELECT 1 FROM RDB$DATABASE").expect("valid");
        connection
            .begin_lazy(refused(target))
            .and_then(|transaction| transaction.query("SELECT COUNT(*) FROM t").map(drop))
            .expect_err("it cannot begin");
        drop(unused);
        healthy.commit().expect("it commits");
        assert_eq!(count(&connection), 1);
        assert_eq!(count(&other), 1);
    },
    fn what_fails_is_not_committed_and_the_connection_goes_on(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (c INTEGER PRIMARY KEY)");
        let insert = |value: &str| {
            connection.execute_with("INSERT INTO t VALUES (?)", Params::texts([Some(value)])).map(|_| ())
        };
        insert("1").expect("it inserts");
        for _ in 0..3 {
            assert_eq!(insert("1").expect_err("a duplicate").kind(), Kind::Constraint);
            assert_eq!(count(&connection), 1);
        }
        insert("2").expect("it inserts");
        run(&connection, "CREATE TABLE d (c INTEGER)");
        run(&connection, "INSERT INTO d SELECT 1 FROM t");
        // Only the commit finds the duplicates.
        connection.execute("CREATE UNIQUE INDEX i ON d (c)").expect_err("duplicates");
        assert_eq!(count(&connection), 2);
        run(&connection, "DELETE FROM d");
        run(&connection, "CREATE UNIQUE INDEX i ON d (c)");
    },
    fn a_known_statement_locks_nothing(target: &Target) {
        let (first, second) = pair(target, "INTEGER");
        assert_eq!(count(&first), 0);
        assert_eq!(count(&first), 0);
        run(&first, "INSERT INTO t VALUES (1)");
        run(&second, "ALTER TABLE t ADD d INTEGER DEFAULT 7 NOT NULL");
        run(&second, "DROP TABLE t");
        let error = first.query("SELECT COUNT(*) FROM t").expect_err("there is no table");
        assert_eq!(error.kind(), Kind::Syntax);
        let error = first.execute("INSERT INTO t VALUES (1)").expect_err("there is no table");
        assert_eq!(error.kind(), Kind::Syntax);
        run(&first, "CREATE TABLE t (c INTEGER)");
        assert_eq!(count(&first), 0);
    },
    fn other_columns_are_noticed(target: &Target) {
        let (first, second) = pair(target, "NUMERIC(9, 1)");
        run(&first, "INSERT INTO t VALUES (1.5)");
        let read = |connection: &Connection| rows(connection.query("SELECT * FROM t").expect("it runs"));
        assert_eq!(read(&first).num_columns(), 1);
        assert_eq!(read(&first).schema().field(0).data_type(), &DataType::Decimal128(9, 1));
        run(&second, "ALTER TABLE t ALTER c TYPE NUMERIC(18, 4)");
        run(&second, "ALTER TABLE t ADD d INTEGER");
        run(&second, "UPDATE t SET c = 1.2345, d = 5");
        let batch = read(&first);
        assert_eq!(batch.schema().field(0).data_type(), &DataType::Decimal128(18, 4));
        assert_eq!(batch.column(0).as_primitive::<arrow::datatypes::Decimal128Type>().value(0), 12_345);
        assert_eq!(batch.column(1).as_primitive::<Int32Type>().value(0), 5);
        // Own changes as well.
        run(&first, "ALTER TABLE t DROP d");
        assert_eq!(read(&first).num_columns(), 1);
    },
    fn other_columns_in_a_transaction_of_the_application_are_an_error_at_most(target: &Target) {
        let (first, second) = pair(target, "INTEGER");
        run(&first, "INSERT INTO t VALUES (1)");
        assert_eq!(rows(first.query("SELECT * FROM t").expect("it runs")).num_columns(), 1);
        run(&second, "ALTER TABLE t ADD d INTEGER");
        let transaction = first.begin(Default::default()).expect("it starts");
        let mut tries = 0;
        let batch = loop {
            tries += 1;
            match transaction.query("SELECT * FROM t") {
                Ok(cursor) => break rows(cursor),
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Changed, "{error}");
                    assert!(tries < 2, "the second time it is new");
                    first.ping().expect("in step");
                }
            }
        };
        assert_eq!((batch.num_rows(), batch.num_columns()), (1, 2));
    },
    fn wider_parameters_are_noticed(target: &Target) {
        let (first, second) = pair(target, "VARCHAR(5)");
        let insert = |text: &str| {
            let text: ArrayRef = Arc::new(StringArray::from(vec![text]));
            first.execute_with("INSERT INTO t VALUES (?)", Params::row([text])).map(|_| ())
        };
        insert("short").expect("it fits");
        insert("too long").expect_err("it does not fit");
        run(&second, "ALTER TABLE t ALTER c TYPE VARCHAR(20)");
        insert("long enough").expect("it fits now");
        let texts = column(&first, "SELECT c FROM t ORDER BY 1");
        let texts = texts.as_string::<i32>();
        assert_eq!((texts.value(0), texts.value(1), texts.len()), ("long enough", "short", 2));
        run(&second, "ALTER TABLE t ADD d INTEGER DEFAULT 3");
        insert("one column").expect_err("there are two");
        assert_eq!(count(&first), 2);
    },
    fn returning_is_known_as_well(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (c INTEGER)");
        for n in 1..4 {
            let sql = "INSERT INTO t VALUES ((SELECT COUNT(*) FROM t) + 1) RETURNING c";
            let batch = rows(connection.query(sql).expect("it runs"));
            assert_eq!(batch.column(0).as_primitive::<Int32Type>().value(0), n);
        }
        assert_eq!(count(&connection), 3);
    }
);
