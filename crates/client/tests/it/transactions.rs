//! Isolation, locks, retaining, snapshots.

use crate::support::{column, config, fresh, fresh_closed, rows, run};
use arrow::array::*;
use arrow::datatypes::Int64Type;
use firearrow::{Connection, Isolation, Kind, LockResolution, Transaction, TransactionOptions};
use firearrow_testkit::{Generation, Target, matrix};
use std::time::{Duration, Instant};

fn count(transaction: &Transaction) -> i64 {
    let batch = rows(transaction.query("SELECT COUNT(*) FROM t").expect("the table exists"));
    batch.column(0).as_primitive::<Int64Type>().value(0)
}

/// Two connections to one database with an empty table T.
fn pair(target: &Target) -> (Connection, Connection) {
    let config = fresh_closed(target);
    let first = Connection::open(&config).expect("it opens");
    run(&first, "CREATE TABLE t (id INTEGER)");
    (first, Connection::open(&config).expect("it opens twice"))
}

matrix!(
    all,
    fn a_dropped_transaction_is_rolled_back(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        {
            let mut transaction = connection.begin(Default::default()).expect("it starts");
            transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
            assert_eq!(count(&transaction), 1);
        }
        let transaction = connection.begin(Default::default()).expect("it starts");
        assert_eq!(count(&transaction), 0);
    },
    fn isolation_levels_see_what_they_should(target: &Target) {
        let (reader, writer) = pair(target);
        let begin =
            |isolation| reader.begin(TransactionOptions::default().isolation(isolation)).expect("it starts");
        let snapshot = begin(Isolation::Snapshot);
        let committed = begin(Isolation::ReadCommittedRecordVersion);
        assert_eq!((count(&snapshot), count(&committed)), (0, 0));
        run(&writer, "INSERT INTO t VALUES (1)");
        assert_eq!((count(&snapshot), count(&committed)), (0, 1));
        if target.generation() >= Generation::V4_0 {
            assert_eq!(count(&begin(Isolation::ReadCommittedReadConsistency)), 1);
        } else {
            let options = TransactionOptions::default().isolation(Isolation::ReadCommittedReadConsistency);
            reader.begin(options).expect_err("Firebird 3 does not know it");
        }
        drop((snapshot, committed));
        let stability = begin(Isolation::SnapshotTableStability);
        assert_eq!(count(&stability), 1);
    },
    fn locks_fail_at_once_or_after_their_time(target: &Target) {
        let (first, second) = pair(target);
        run(&first, "INSERT INTO t VALUES (1)");
        let mut holder = first.begin(Default::default()).expect("it starts");
        holder.execute("UPDATE t SET id = 2").expect("it updates");
        let attempt = |lock_resolution| {
            let options = TransactionOptions::default().lock_resolution(lock_resolution);
            let mut transaction = second.begin(options).expect("it starts");
            let start = Instant::now();
            let error = transaction.execute("UPDATE t SET id = 3").expect_err("the row is locked");
            assert_eq!(error.kind(), Kind::Conflict, "{error}");
            start.elapsed()
        };
        assert!(attempt(LockResolution::NoWait) < Duration::from_millis(900));
        assert!(attempt(LockResolution::Timeout(2)) >= Duration::from_millis(900));
    },
    fn read_only_transactions_refuse_writes(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
        let error = transaction.execute("INSERT INTO t VALUES (1)").expect_err("it is read-only");
        assert!(error.gds_codes().contains(&335544361), "{error}");
        assert_eq!(count(&transaction), 0);
    },
    fn retaining_keeps_the_transaction(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        transaction.commit_retaining().expect("it commits");
        transaction.execute("INSERT INTO t VALUES (2)").expect("it goes on");
        transaction.rollback_retaining().expect("it rolls back");
        assert_eq!(count(&transaction), 1);
        transaction.rollback().expect("it ends");
        assert_eq!(column(&connection, "SELECT id FROM t").len(), 1);
    },
    fn auto_commit_commits_each_statement(target: &Target) {
        let (first, second) = pair(target);
        let options = TransactionOptions::default().auto_commit(true);
        let mut transaction = first.begin(options).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        assert_eq!(column(&second, "SELECT id FROM t").len(), 1);
        drop(transaction);
        assert_eq!(column(&second, "SELECT id FROM t").len(), 1);
    },
    fn a_snapshot_can_be_shared(target: &Target) {
        let (first, second) = pair(target);
        run(&first, "INSERT INTO t VALUES (1)");
        let leader = first.begin(Default::default()).expect("it starts");
        if target.generation() < Generation::V4_0 {
            let error = leader.snapshot_number().expect_err("Firebird 3 has no numbers");
            assert_eq!(error.kind(), Kind::Unsupported);
            return;
        }
        let number = leader.snapshot_number().expect("a number");
        run(&second, "INSERT INTO t VALUES (2)");
        let at = TransactionOptions::reading().at_snapshot(Some(number));
        let follower = second.begin(at).expect("the snapshot is active");
        assert_eq!((count(&leader), count(&follower)), (1, 1));
        // A destructor need not have run on the server when the next connection asks.
        leader.rollback().expect("it ends");
        follower.rollback().expect("it ends");
        let error = second.begin(at).expect_err("nobody holds the snapshot any more");
        assert!(error.gds_codes().contains(&335545252), "{error}");
    },
    fn commit_as_sql_ends_the_transaction(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        transaction.execute_immediate("INSERT INTO t VALUES (1)").expect("it inserts");
        transaction.execute("COMMIT").expect("it commits");
        assert_eq!(
            transaction.query("SELECT 1 FROM RDB$DATABASE").expect_err("it has ended").kind(),
            Kind::Misuse
        );
        assert_eq!(column(&connection, "SELECT id FROM t").len(), 1);
    },
    fn a_cursor_of_a_committed_transaction_reports_it(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, filler CHAR(500))");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 5000) DO BEGIN INSERT INTO t VALUES (:i, 'x'); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let limits = firearrow::BatchLimits::default().rows(10);
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL").with_limits(limits);
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        cursor.next_batch().expect("rows");
        transaction.commit().expect("it commits");
        // Rows that were on their way may still come; then an error must, and never a wrong end.
        let error = loop {
            match cursor.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the cursor pretends to be complete"),
                Err(error) => break error,
            }
        };
        assert!(cursor.next_batch().is_err_and(|again| again.to_string() == error.to_string()));
        drop(cursor);
        assert_eq!(column(&connection, "SELECT 1 FROM RDB$DATABASE").len(), 1);
    },
    fn numbers_of_transactions_grow(target: &Target) {
        let connection = fresh(target);
        let first = connection.begin(Default::default()).expect("it starts").number().expect("a number");
        let second = connection.begin(Default::default()).expect("it starts").number().expect("a number");
        assert!(second > first);
    },
    fn a_database_is_created_and_dropped(target: &Target) {
        let config = config(target, &target.fresh_url());
        Connection::open(&config).expect_err("there is no such database yet");
        let connection = Connection::create(&config).expect("it is created");
        run(&connection, "CREATE TABLE t (id INTEGER)");
        Connection::create(&config).expect_err("it exists");
        connection.drop_database().expect("it is dropped");
        Connection::open(&config).expect_err("it is gone");
    }
);
