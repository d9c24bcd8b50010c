//! What an execution says it did: rows by kind, and the time that decoding took.

use crate::support::{batch, fails, fresh, rows, run, statement};
use adbc_core::error::Status;
use adbc_core::options::OptionStatement;
use adbc_core::{Optionable, Statement};
use adbc_driver_manager::ManagedStatement;
use arrow::array::{ArrayRef, Int32Array};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;

fn number(statement: &ManagedStatement, key: &str) -> Result<i64, adbc_core::error::Error> {
    statement.get_option_int(OptionStatement::from(format!("adbc.firebird.{key}").as_str()))
}

/// Rows inserted, updated and deleted.
fn changes(statement: &ManagedStatement) -> [i64; 3] {
    ["inserted", "updated", "deleted"]
        .map(|kind| number(statement, &format!("records.{kind}")).expect("the engine tells"))
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

matrix!(
    all,
    fn changes_are_told_apart(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)");
        let mut check = |sql: &str, expected: [i64; 3]| {
            let mut statement = statement(&mut connection, sql);
            statement.execute_update().unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(changes(&statement), expected, "{sql}");
        };
        check("INSERT INTO t VALUES (1, 1)", [1, 0, 0]);
        check("INSERT INTO t SELECT 2, 2 FROM RDB$DATABASE", [1, 0, 0]);
        check("UPDATE t SET n = n + 1", [0, 2, 0]);
        check("UPDATE OR INSERT INTO t VALUES (3, 3)", [1, 0, 0]);
        check("UPDATE OR INSERT INTO t VALUES (3, 4)", [0, 1, 0]);
        check(
            "MERGE INTO t USING (SELECT 3 i FROM RDB$DATABASE UNION ALL SELECT 4 FROM RDB$DATABASE) s ON t.id = s.i \
             WHEN MATCHED THEN UPDATE SET n = 0 WHEN NOT MATCHED THEN INSERT VALUES (s.i, 0)",
            [1, 1, 0],
        );
        check("DELETE FROM t WHERE id < 3", [0, 0, 2]);
    },
    fn rows_of_parameters_are_added_up(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?, 0)");
        insert.bind(batch([("id", ints(0..1000))])).expect("it is data");
        assert_eq!(insert.execute_update(), Ok(Some(1000)));
        assert_eq!(changes(&insert), [1000, 0, 0]);
        let mut update = statement(&mut connection, "UPDATE t SET n = 1 WHERE id = ?");
        update.bind(batch([("id", ints(0..1000))])).expect("it is data");
        assert_eq!(update.execute_update(), Ok(Some(1000)));
        if target.generation() == Generation::V3_0 {
            assert_eq!(changes(&update), [0, 1000, 0]);
        } else {
            // Batches count all changes together.
            fails(number(&update, "records.updated"), Status::NotFound);
        }
        let mut few = statement(&mut connection, "UPDATE t SET n = 2 WHERE id = ?");
        few.bind(batch([("id", ints([7, 8, 5000]))])).expect("it is data");
        assert_eq!(few.execute_update(), Ok(Some(2)));
        assert_eq!(changes(&few), [0, 2, 0]);
    },
    fn queries_tell_their_rows_and_the_time_of_decoding(target: &Target) {
        let mut connection = fresh(target);
        let mut select =
            statement(&mut connection, "SELECT RDB$RELATION_NAME, RDB$FIELD_NAME FROM RDB$RELATION_FIELDS");
        let read = rows(select.execute().expect("it runs"));
        assert!(read.num_rows() > 100);
        assert_eq!(number(&select, "records.selected"), Ok(read.num_rows() as i64));
        assert_eq!(number(&select, "stats.rows"), Ok(read.num_rows() as i64));
        fails(number(&select, "records.inserted"), Status::NotFound);
        let decoding = number(&select, "stats.decode_ns").expect("it has been measured");
        let fetching = number(&select, "stats.fetch_ns").expect("it has been measured");
        assert!(decoding > 0 && fetching > 0);
    },
);
