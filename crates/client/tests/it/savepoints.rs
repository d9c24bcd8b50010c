//! Undoing parts of a transaction.

use crate::support::{column, fresh, run};
use arrow::array::Array;
use firearrow::{Connection, Kind, Transaction};
use firearrow_testkit::{Target, matrix};

fn with_table(target: &Target) -> Connection {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER)");
    connection
}

fn insert(transaction: &mut Transaction, id: i32) {
    transaction.execute_immediate(&format!("INSERT INTO t VALUES ({id})")).expect("it inserts");
}

fn count(connection: &Connection) -> usize {
    column(connection, "SELECT id FROM t").len()
}

/// Names that would do harm if they were not quoted, or would not be told apart.
const NAMES: [&str; 8] =
    ["a", "A", "two words", "a\"b", "\"\"", "x\"; COMMIT; --", "select", "gr\u{fc}n 'quoted' /* so */"];

matrix!(
    all,
    fn savepoints_undo_what_comes_after_them(target: &Target) {
        let connection = with_table(target);
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        insert(&mut transaction, 1);
        transaction.savepoint("first").expect("it is set");
        insert(&mut transaction, 2);
        transaction.savepoint("second").expect("it is set");
        insert(&mut transaction, 3);
        transaction.rollback_to_savepoint("second").expect("it is there");
        // It stays, and can be gone back to again.
        insert(&mut transaction, 4);
        transaction.rollback_to_savepoint("second").expect("it is still there");
        insert(&mut transaction, 5);
        transaction.rollback_to_savepoint("first").expect("it is there");
        let error = transaction.rollback_to_savepoint("second").expect_err("it went with the first");
        assert!(error.gds_codes().contains(&335544820), "{error}");
        insert(&mut transaction, 6);
        transaction.release_savepoint("first").expect("it is there");
        transaction.rollback_to_savepoint("first").expect_err("it was released");
        transaction.commit().expect("it commits");
        assert_eq!(count(&connection), 2);
    },
    fn releasing_takes_later_ones_along(target: &Target) {
        let connection = with_table(target);
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for name in ["a", "b", "c"] {
            transaction.savepoint(name).expect("it is set");
            insert(&mut transaction, 1);
        }
        transaction.release_savepoint("b").expect("it is there");
        transaction.rollback_to_savepoint("c").expect_err("it went with b");
        transaction.rollback_to_savepoint("a").expect("it is there");
        transaction.commit().expect("it commits");
        assert_eq!(count(&connection), 0);
    },
    fn names_are_taken_as_they_are(target: &Target) {
        let connection = with_table(target);
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for (id, name) in NAMES.iter().enumerate() {
            transaction.savepoint(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            insert(&mut transaction, id as i32);
        }
        for (index, name) in NAMES.iter().enumerate().rev() {
            transaction.rollback_to_savepoint(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            transaction.release_savepoint(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut cursor = transaction.query("SELECT id FROM t").expect("the table is there");
            let rows = cursor.next_batch().expect("it is read").map_or(0, |batch| batch.num_rows());
            assert_eq!(rows, index, "{name}");
        }
        for name in ["", "a\0b"] {
            assert_eq!(transaction.savepoint(name).expect_err("no name").kind(), Kind::Parameter);
        }
        let long = "n".repeat(64);
        transaction.savepoint(&long).expect_err("63 characters are the most");
        insert(&mut transaction, 1);
        transaction.commit().expect("it is still alive");
        assert_eq!(count(&connection), 1);
    }
);

matrix!(
    wire,
    fn each_takes_one_round_trip(target: &Target) {
        let connection = with_table(target);
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let before = connection.wire_stats().round_trips;
        transaction.savepoint("a").expect("it is set");
        transaction.rollback_to_savepoint("a").expect("it is there");
        transaction.release_savepoint("a").expect("it is there");
        assert_eq!(connection.wire_stats().round_trips - before, 3);
    }
);
