//! Cancelling from other threads: while it executes, while it fetches, between two batches, and when there is nothing.

use crate::raw::{Raw, call};
use crate::support::{autocommit, fails, fresh, query, run, sqlstate, statement};
use adbc_core::error::{Error, Status};
use adbc_core::{Connection, Statement};
use adbc_driver_manager::ManagedConnection;
use arrow::array::RecordBatchReader;
use firearrow_testkit::{Target, matrix};
use std::thread;
use std::time::{Duration, Instant};

/// Gives no row for a long time.
pub(crate) const ENDLESS: &str =
    "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";

/// Gives rows for a long time.
const FLOOD: &str = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d";

/// Runs `work` and cancels it a while later. It must not take long from then on.
fn cancelled<T>(handle: Box<dyn adbc_core::CancelHandle>, work: impl FnOnce() -> T) -> T {
    let cancelling = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        handle.try_cancel()
    });
    let begin = Instant::now();
    let result = work();
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    cancelling.join().expect("it ends").expect("there is something to cancel");
    result
}

fn still_works(connection: &mut ManagedConnection) {
    assert_eq!(query(connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
}

/// Reads everything.
fn exhaust(mut reader: Box<dyn RecordBatchReader + Send>) -> Result<(), String> {
    reader.try_for_each(|batch| batch.map(drop).map_err(|error| error.to_string()))
}

#[track_caller]
fn is_cancelled(error: &Error) {
    assert_eq!((error.status, sqlstate(error).as_str()), (Status::Cancelled, "HY008"), "{error}");
}

matrix!(
    all,
    fn a_running_query_is_cancelled(target: &Target) {
        let mut connection = fresh(target);
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            let mut endless = statement(&mut connection, ENDLESS);
            let error = cancelled(endless.get_cancel_handle(), || endless.execute_update());
            is_cancelled(&error.expect_err("it was cancelled"));
            still_works(&mut connection);
        }
    },
    fn a_flood_of_rows_is_cancelled(target: &Target) {
        let mut connection = fresh(target);
        let mut flood = statement(&mut connection, FLOOD);
        let reader = flood.execute().expect("it runs");
        let error = cancelled(flood.get_cancel_handle(), || exhaust(reader)).expect_err("it was cancelled");
        assert!(error.contains("cancelled"), "{error}");
        still_works(&mut connection);
        // The same through the connection.
        let reader = flood.execute().expect("it runs");
        cancelled(connection.get_cancel_handle(), || exhaust(reader)).expect_err("it was cancelled");
        still_works(&mut connection);
    },
    fn a_stream_that_waits_is_cancelled(target: &Target) {
        let mut connection = fresh(target);
        let mut flood = statement(&mut connection, FLOOD);
        let mut reader = flood.execute().expect("it runs");
        reader.next().expect("a batch").expect("it is read");
        flood.get_cancel_handle().try_cancel().expect("there is something to cancel");
        reader.next().expect("an answer").expect_err("it was cancelled");
        fails(flood.get_cancel_handle().try_cancel(), Status::InvalidState);
        drop(reader);
        still_works(&mut connection);
    },
    fn cancelling_one_stream_leaves_the_other(target: &Target) {
        let mut connection = fresh(target);
        let (mut first, mut second) = (statement(&mut connection, FLOOD), statement(&mut connection, FLOOD));
        let (mut one, mut other) = (first.execute().expect("it runs"), second.execute().expect("it runs"));
        first.get_cancel_handle().try_cancel().expect("there is something to cancel");
        one.next().expect("an answer").expect_err("it was cancelled");
        for _ in 0..3 {
            other.next().expect("a batch").expect("it goes on");
        }
    },
    fn a_statement_that_waits_for_its_turn_is_the_only_one_cancelled(target: &Target) {
        let mut connection = fresh(target);
        let mut running = statement(&mut connection, ENDLESS);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        let mut waiting = statement(&mut connection, "INSERT INTO t VALUES (1)");
        let (stop_running, stop_waiting) = (running.get_cancel_handle(), waiting.get_cancel_handle());
        let first = thread::spawn(move || running.execute_update());
        thread::sleep(Duration::from_secs(1));
        let second = thread::spawn(move || waiting.execute_update());
        thread::sleep(Duration::from_millis(300));
        stop_waiting.try_cancel().expect("it waits");
        thread::sleep(Duration::from_millis(700));
        assert!(!first.is_finished(), "somebody else was cancelled");
        stop_running.try_cancel().expect("it runs");
        is_cancelled(&first.join().expect("it ends").expect_err("it was cancelled"));
        is_cancelled(&second.join().expect("it ends").expect_err("it was cancelled"));
        assert_eq!(query(&mut connection, "SELECT n FROM t").num_rows(), 0);
    },
    fn nothing_is_cancelled_where_nothing_is(target: &Target) {
        let mut connection = fresh(target);
        fails(connection.get_cancel_handle().try_cancel(), Status::InvalidState);
        let mut select = statement(&mut connection, "SELECT 1 FROM RDB$DATABASE");
        fails(select.get_cancel_handle().try_cancel(), Status::InvalidState);
        let mut reader = select.execute().expect("it runs");
        assert_eq!(reader.by_ref().count(), 1);
        fails(select.get_cancel_handle().try_cancel(), Status::InvalidState);
        still_works(&mut connection);
    },
    fn a_change_is_cancelled_and_undone(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n BIGINT)");
        let mut insert = statement(&mut connection, &format!("INSERT INTO t {ENDLESS}"));
        let error = cancelled(insert.get_cancel_handle(), || insert.execute_update());
        assert_eq!(error.expect_err("it was cancelled").status, Status::Cancelled);
        // Servers may be past interrupting when another request waits; then the connection is closed.
        let mut count = statement(&mut connection, "SELECT COUNT(*) FROM t");
        match count.execute().map(Iterator::count) {
            Ok(batches) => assert_eq!(batches, 1),
            Err(error) => assert!(error.status == Status::IO && matches!(target, Target::Wire(_)), "{error}"),
        }
    },
    fn streams_say_that_they_were_cancelled(target: &Target) {
        let raw = Raw::fresh(target);
        let mut flood = raw.statement(FLOOD);
        let (mut stream, _) = flood.execute().expect("it runs");
        stream.next().expect("it is read");
        let handle = &raw mut flood.statement;
        call!(raw.table, StatementCancel(handle)).expect("there is something to cancel");
        let failure = stream.next().expect_err("it was cancelled");
        // ECANCELED
        assert_eq!(failure.number, if cfg!(windows) { 105 } else { 125 }, "{failure:?}");
        is_cancelled(&failure.error.expect("it is told"));
        assert!(stream.next().expect("nothing comes after an error").is_none());
        let connection = (&raw const raw.connection).cast_mut();
        fails(call!(raw.table, ConnectionCancel(connection)), Status::InvalidState);
    }
);
