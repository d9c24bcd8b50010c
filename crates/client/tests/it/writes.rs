//! Streams of rows, and reports that do not depend on how rows were sent.

use crate::support::{fresh, fresh_closed, query, run};
use crate::write_cases::{self as cases, batch, ints, number, pieces, still_in_step, texts};
use arrow::array::*;
use firearrow::{Connection, Kind, OnFailure};
use firearrow_testkit::{Target, matrix};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

matrix!(
    all,
    fn failures_are_told_the_same(target: &Target) {
        cases::failures_are_told_the_same(target);
    },
    fn conflicts_are_told_the_same(target: &Target) {
        cases::conflicts_are_told_the_same(target);
    },
    fn hundreds_of_failures_are_all_described(target: &Target) {
        cases::hundreds_of_failures_are_all_described(target);
    },
    fn blobs_of_all_lengths_arrive(target: &Target) {
        cases::blobs_of_all_lengths_arrive(target);
    },
    fn blobs_arrive_in_later_transactions(target: &Target) {
        cases::blobs_arrive_in_later_transactions(target);
    },
    fn floats_are_the_decimals_that_were_meant(target: &Target) {
        cases::floats_are_the_decimals_that_were_meant(target);
    },
    fn text_without_character_set_has_its_code_page(target: &Target) {
        cases::text_without_character_set_has_its_code_page(target);
    },
    fn streams_count_over_all_batches(target: &Target) {
        cases::streams_count_over_all_batches(target);
    },
    fn a_reader_that_fails_leaves_what_it_gave(target: &Target) {
        cases::a_reader_that_fails_leaves_what_it_gave(target);
    },
    fn a_cursor_of_the_same_connection_is_a_reader(target: &Target) {
        cases::a_cursor_of_the_same_connection_is_a_reader(target);
    },
    fn values_that_cannot_be_sent_fail_their_rows(target: &Target) {
        cases::values_that_cannot_be_sent_fail_their_rows(target);
    },
    fn rows_without_parameters_are_executed(target: &Target) {
        cases::rows_without_parameters_are_executed(target);
    },
    fn a_reader_that_panics_leaves_the_connection_in_step(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let rows = batch([ints(0..1000)]);
        let schema = rows.schema();
        let batches = (0..3).map(move |n| if n < 2 { Ok(rows.clone()) } else { panic!("no more") });
        let reader = RecordBatchIterator::new(batches, schema);
        let result = catch_unwind(AssertUnwindSafe(|| {
            statement.execute_stream(&mut transaction, reader, OnFailure::Stop)
        }));
        assert!(result.is_err());
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 2000);
        statement.execute(&mut transaction, batch([ints([1])])).expect("no batch is left open");
        transaction.commit().expect("it commits");
        still_in_step(&connection);
    },
    fn more_than_a_server_keeps_goes_in_several_batches(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, v VARCHAR(2000) CHARACTER SET ASCII)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
        let filler = "x".repeat(2000);
        let total = 10_000;
        let rows = batch([ints(0..total), texts(std::iter::repeat_n(filler.as_str(), total as usize))]);
        let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it ends");
        assert_eq!((done.rows, done.affected_rows), (10_000, Some(10_000)));
        let sum = number(&transaction, "SELECT CAST(SUM(CHAR_LENGTH(v) + id) AS BIGINT) FROM t");
        assert_eq!(sum, 20_000_000 + 9999 * 5000);
    },
    fn the_connection_works_for_others_while_a_reader_thinks(target: &Target) {
        let connection = Arc::new(fresh(target));
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let other = Arc::clone(&connection);
        let rows = batch([ints(0..500)]);
        let schema = rows.schema();
        let batches = (0..4).map(move |_| {
            let other = Arc::clone(&other);
            thread::spawn(move || still_in_step(&other)).join().expect("the other thread gets its answer");
            Ok(rows.clone())
        });
        let reader = RecordBatchIterator::new(batches, schema);
        let done = statement.execute_stream(&mut transaction, reader, OnFailure::Stop).expect("it ends");
        assert_eq!((done.rows, done.affected_rows), (2000, Some(2000)));
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 2000);
    }
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn a_cancelled_batch_is_told_exactly(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        // The last row takes for ever: a server can be interrupted only where nothing waits behind it.
        let endless =
            "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";
        let sql = format!(
            "INSERT INTO t SELECT CAST(? AS INTEGER) FROM RDB$DATABASE WHERE CAST(? AS INTEGER) = 0 OR 0 < ({endless})"
        );
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(&sql).expect("valid SQL");
        let total = 15_000;
        let slow = (0..total).map(|row| i32::from(row == total - 1));
        let rows = batch([ints(0..total), ints(slow)]);
        let handle = connection.cancel_handle();
        let cancelling = thread::spawn(move || {
            thread::sleep(Duration::from_millis(2000));
            handle.cancel();
        });
        let result = statement.execute_rows(&mut transaction, &rows, OnFailure::Continue);
        cancelling.join().expect("it ends");
        let done = match &result {
            // Engines tell it as a failure of its row, or of the whole batch, which is undone then.
            Ok(done) => {
                assert_eq!((done.rows, done.failures.len(), done.failures[0].row), (15_000, 1, 14_999));
                assert_eq!(done.failures[0].error.kind(), Kind::Cancelled, "{done:?}");
                done
            }
            Err(error) => {
                assert_eq!(error.kind(), Kind::Cancelled, "{error}");
                let done = error.rows_executed().expect("it is told");
                assert!(done.rows < 15_000 && done.failures.is_empty(), "{done:?}");
                done
            }
        };
        let inserted = (done.rows - done.failures.len()) as i64;
        assert_eq!(done.affected_rows.unwrap_or(0), inserted as u64);
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), inserted);
        assert_eq!(number(&transaction, "SELECT CAST(MAX(id) AS BIGINT) FROM t"), inserted - 1);
        transaction.commit().expect("it goes on");
        still_in_step(&connection);
    }
);

matrix!(
    wire,
    fn a_transaction_that_is_gone_ends_it(target: &Target) {
        // Killed from another connection, with everything that it had.
        let mut closed = fresh_closed(target);
        // A server of 3.0 keeps silent.
        closed.read_timeout = Some(Duration::from_secs(5));
        let connection = Connection::open(&closed).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let first = batch([ints(0..1000)]);
        let schema = first.schema();
        let killer = Connection::open(&closed).expect("it opens");
        let batches = (0..200).map(move |n| {
            if n == 2 {
                run(&killer, "DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION AND MON$SYSTEM_FLAG = 0");
            }
            Ok(first.clone())
        });
        let reader = RecordBatchIterator::new(batches, schema);
        let result = statement.execute_stream(&mut transaction, reader, OnFailure::Continue);
        let error = result.expect_err("the connection is gone");
        assert!(matches!(error.kind(), Kind::Closed | Kind::Timeout), "{error}");
        let done = error.rows_executed().expect("it is told");
        assert!(done.rows < 200_000 && done.failures.is_empty(), "{done:?}");
        drop((statement, transaction, connection));
        let connection = Connection::open(&closed).expect("it opens");
        assert_eq!(query(&connection, "SELECT * FROM t").num_rows(), 0);
    },
    fn a_stream_takes_as_many_round_trips_as_one_batch(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a INTEGER, b INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
        let rows = batch([ints(0..4000), ints(0..4000)]);
        for size in [4000, 1000, 100] {
            let before = connection.wire_stats();
            let reader = pieces(&rows, size);
            let done = statement.execute_stream(&mut transaction, reader, OnFailure::Stop).expect("it ends");
            let spent = connection.wire_stats().since(&before);
            assert_eq!(done.affected_rows, Some(4000));
            // One to open a batch, and one for all answers; executions have one alone.
            assert!(spent.round_trips <= 2, "{size}: {spent:?}");
        }
        let sum = number(&transaction, "SELECT CAST(SUM(a + b) AS BIGINT) FROM t");
        assert_eq!(sum, 3 * 2 * 3999 * 2000);
    },
    fn blobs_travel_with_their_batch(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB SUB_TYPE TEXT)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let words: Vec<String> = (0..100).map(|n| "x".repeat(n)).collect();
        let rows = batch([texts(words.iter().map(String::as_str))]);
        let before = connection.wire_stats();
        let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it runs");
        assert!(done.failures.is_empty(), "{done:?}");
        let spent = connection.wire_stats().since(&before);
        assert_eq!(spent.round_trips, 2, "{spent:?}");
        let has_batches = target.generation() >= firearrow_testkit::Generation::V4_0;
        // Create, put, close and execute for each; or a handful, of which two prepare the statement again.
        assert!(if has_batches { spent.packets_sent < 12 } else { spent.packets_sent > 300 }, "{spent:?}");
        let sum = number(&transaction, "SELECT CAST(SUM(CHAR_LENGTH(b)) AS BIGINT) FROM t");
        assert_eq!(sum, 99 * 50);
    }
);
