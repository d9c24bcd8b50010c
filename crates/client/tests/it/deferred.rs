//! What a connection that does nothing more still holds: no lock that keeps others from altering tables.

use crate::support::{fresh_closed, run};
use arrow::array::{ArrayRef, Int32Array, RecordBatch};
use firearrow::{
    BatchLimits, Config, Connection, LockResolution, OnFailure, Transaction, TransactionOptions,
};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

/// Drops the table through another connection, while `who` holds the first one and does nothing. It waits for a moment:
/// engines that have the table in their cache let go of it only for those who wait.
fn others_can_drop_it(config: &Config, who: &str) {
    let other = Connection::open(config).expect("it opens");
    let options = TransactionOptions::default().lock_resolution(LockResolution::Timeout(1));
    let mut transaction = other.begin(options).expect("it starts");
    let dropped = transaction.execute("DROP TABLE t").and_then(|_| transaction.commit());
    if let Err(error) = dropped {
        panic!("{who} keeps others from dropping the table: {error}");
    }
}

fn numbers(count: i32) -> RecordBatch {
    let column = Arc::new(Int32Array::from_iter_values(0..count)) as ArrayRef;
    RecordBatch::try_from_iter([("id", column)]).expect("one column")
}

fn committed(connection: &Connection, work: impl FnOnce(&mut Transaction)) {
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    work(&mut transaction);
    transaction.commit().expect("it commits");
}

matrix!(
    all,
    fn an_idle_connection_locks_no_tables(target: &Target) {
        type Work = fn(&Connection);
        let works: [(&str, Work); 9] = [
            ("a query", |connection| drop(crate::support::query(connection, "SELECT id FROM t"))),
            ("an insert", |connection| run(connection, "INSERT INTO t VALUES (1)")),
            ("INSERT … RETURNING", |connection| {
                drop(crate::support::query(connection, "INSERT INTO t VALUES (1) RETURNING id"));
            }),
            ("UPDATE … RETURNING, freed after its commit", |connection| {
                let transaction = connection.begin(Default::default()).expect("it starts");
                let statement = transaction
                    .prepare("UPDATE t SET id = id + 1 WHERE id = 7 RETURNING id")
                    .expect("valid SQL");
                let mut cursor = statement.query(&transaction, ()).expect("it runs");
                while cursor.next_batch().expect("it reads").is_some() {}
                transaction.commit().expect("it commits");
            }),
            ("a statement that is only prepared", |connection| {
                drop(connection.prepare("SELECT id FROM t").expect("valid SQL"));
            }),
            ("many rows, freed after their commit", |connection| {
                let mut transaction = connection.begin(Default::default()).expect("it starts");
                let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
                let done = statement.execute_rows(&mut transaction, &numbers(100), OnFailure::Stop);
                assert_eq!(done.expect("they fit").failures.len(), 0);
                transaction.commit().expect("it commits");
            }),
            ("some rows", |connection| {
                committed(connection, |transaction| {
                    transaction.execute_with("INSERT INTO t VALUES (?)", numbers(5)).expect("they fit");
                });
            }),
            ("many rows that return rows", |connection| {
                committed(connection, |transaction| {
                    let statement =
                        transaction.prepare("INSERT INTO t VALUES (?) RETURNING id").expect("valid SQL");
                    let rows = statement.query_rows(transaction, &numbers(100), OnFailure::Stop);
                    let count: usize =
                        rows.expect("it runs").map(|batch| batch.expect("rows").num_rows()).sum();
                    assert_eq!(count, 100);
                });
            }),
            ("many queries", |connection| {
                committed(connection, |transaction| {
                    let statement = transaction.prepare("SELECT id FROM t WHERE id = ?").expect("valid SQL");
                    let rows = statement.query_rows(transaction, &numbers(100), OnFailure::Stop);
                    drop(rows.expect("it runs").next());
                });
            }),
        ];
        for (who, work) in works {
            let config = fresh_closed(target);
            let connection = Connection::open(&config).expect("it opens");
            run(&connection, "CREATE TABLE t (id INTEGER)");
            work(&connection);
            others_can_drop_it(&config, who);
            drop(connection);
        }
    },
    fn the_last_cursor_takes_along_what_waited_for_it(target: &Target) {
        let config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
        let sql = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b";
        let statement = transaction.prepare(sql).expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(1));
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        cursor.next_batch().expect("it reads").expect("a row");
        // The server is busy with the next rows, and must be interruptible.
        drop(connection.prepare("SELECT id FROM t").expect("valid SQL"));
        drop(cursor);
        others_can_drop_it(&config, "a cursor that is closed");
        drop((statement, transaction));
    }
);
