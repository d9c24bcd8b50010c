//! Results that are read ahead on a thread of their own.

use crate::cancel::ENDLESS;
use crate::support::{NUMBERS, autocommit, fails, fresh, query, rows, run, set, statement};
use adbc_core::error::Status;
use adbc_core::{Connection, Statement};
use adbc_driver_manager::ManagedConnection;
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int32Type;
use firearrow_testkit::{Target, matrix};
use std::time::{Duration, Instant};

/// A connection whose results come in batches of 1000 rows, so many of them ahead.
fn reading_ahead(target: &Target, batches: &str) -> ManagedConnection {
    let mut connection = fresh(target);
    set(&mut connection, "adbc.firebird.query.batch_rows", "1000").expect("it is known");
    set(&mut connection, "adbc.firebird.query.full_batches", "true").expect("it is known");
    set(&mut connection, "adbc.firebird.query.prefetch", batches).expect("it is known");
    connection
}

fn values(batch: &RecordBatch) -> &[i32] {
    batch.column(0).as_primitive::<Int32Type>().values()
}

matrix!(
    all,
    fn the_same_rows_come_in_the_same_batches(target: &Target) {
        for batches in ["1", "3", "1024"] {
            let mut connection = reading_ahead(target, batches);
            for auto in [true, false] {
                autocommit(&mut connection, auto);
                let reader = statement(&mut connection, NUMBERS).execute().expect("it runs");
                let found: Vec<RecordBatch> = reader.map(|batch| batch.expect("it is read")).collect();
                assert!(found.iter().all(|batch| batch.num_rows() == 1000));
                let found: Vec<i32> = found.iter().flat_map(values).copied().collect();
                assert_eq!(found, (1..=20_000).collect::<Vec<_>>());
            }
        }
    },
    fn several_results_are_read_ahead_on_one_connection(target: &Target) {
        let mut connection = reading_ahead(target, "2");
        let mut streams: Vec<_> =
            (0..3).map(|_| statement(&mut connection, NUMBERS).execute().expect("it runs")).collect();
        for _ in 0..20 {
            for stream in &mut streams {
                assert_eq!(stream.next().expect("a batch").expect("it is read").num_rows(), 1000);
            }
        }
        assert!(streams.iter_mut().all(|stream| stream.next().is_none()));
    },
    fn results_are_left_early(target: &Target) {
        let mut connection = reading_ahead(target, "2");
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        run(&mut connection, &format!("INSERT INTO t {NUMBERS}"));
        for _ in 0..5 {
            let mut reader = statement(&mut connection, "SELECT n FROM t").execute().expect("it runs");
            assert_eq!(reader.next().expect("a batch").expect("it is read").num_rows(), 1000);
            drop(reader);
            assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
        }
        // Nothing of them holds the table.
        run(&mut connection, "DROP TABLE t");
    },
    fn a_slow_result_that_is_left_holds_nobody_up(target: &Target) {
        let mut connection = reading_ahead(target, "2");
        // Rows are long, because servers and engines give no row before a block of them is full.
        let sql = format!(
            "EXECUTE BLOCK RETURNS (s CHAR(2000) CHARACTER SET ASCII) AS DECLARE n BIGINT = 0; BEGIN \
             WHILE (n < 5500) DO BEGIN n = n + 1; s = n; SUSPEND; END {ENDLESS} INTO n; SUSPEND; END"
        );
        let mut reader = statement(&mut connection, &sql).execute().expect("it runs");
        assert_eq!(reader.next().expect("a batch").expect("it is read").num_rows(), 1000);
        let begin = Instant::now();
        drop(reader);
        assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    },
    fn errors_come_behind_the_rows_before_them(target: &Target) {
        let mut connection = reading_ahead(target, "4");
        let sql = format!("SELECT 1 / (15000 - v) FROM ({NUMBERS})");
        let mut reader = statement(&mut connection, &sql).execute().expect("it runs");
        let good = reader.by_ref().take_while(Result::is_ok).count();
        // A batch that is not full when the error comes is not given.
        assert_eq!(good, 14);
        assert!(reader.next().is_none(), "nothing comes behind an error");
        assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    },
    fn cancelling_ends_what_is_read_ahead(target: &Target) {
        let mut connection = reading_ahead(target, "2");
        let mut select = statement(&mut connection, NUMBERS);
        let mut reader = select.execute().expect("it runs");
        reader.next().expect("a batch").expect("it is read");
        select.get_cancel_handle().try_cancel().expect("a stream is open");
        let error = reader.next().expect("its end is told").expect_err("it was cancelled");
        assert!(error.to_string().contains("cancel"), "{error}");
        drop(reader);
        fails(select.get_cancel_handle().try_cancel(), Status::InvalidState);
        assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    },
    fn the_end_of_the_transaction_is_the_end_of_the_result(target: &Target) {
        let mut connection = reading_ahead(target, "2");
        autocommit(&mut connection, false);
        let mut reader = statement(&mut connection, NUMBERS).execute().expect("it runs");
        reader.next().expect("a batch").expect("it is read");
        connection.commit().expect("it can be committed");
        let error = reader.next().expect("its end is told").expect_err("its transaction is gone");
        assert!(error.to_string().contains("transaction"), "{error}");
        assert_eq!(rows(statement(&mut connection, NUMBERS).execute().expect("it runs")).num_rows(), 20_000);
    },
);
