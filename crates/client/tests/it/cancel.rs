//! Calls that are ended before their time: afterwards the connection works, or says that it does not.

use crate::support::{cost, fresh, fresh_closed, query, rows, run};
use arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch, RecordBatchIterator};
use firearrow::{BatchLimits, CancelToken, Connection, Kind, OnFailure};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Gives no row for a long time.
const ENDLESS: &str =
    "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";

/// Gives rows for a long time.
const FLOOD: &str = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d";

/// How long a cancelled call may take: the statements here would take far longer.
const SOON: Duration = Duration::from_secs(5);

/// Cancels a while after `work` has begun, and again until it ends: between two calls there is nothing to cancel.
fn cancelled_after<T>(connection: &Connection, time: Duration, work: impl FnOnce() -> T) -> (T, Duration) {
    let handle = connection.cancel_handle();
    let (ended, end) = channel();
    let cancelling = thread::spawn(move || {
        let mut pause = time;
        while end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            handle.cancel();
            pause = Duration::from_millis(500);
        }
    });
    let begin = Instant::now();
    let result = work();
    let spent = begin.elapsed();
    ended.send(()).expect("it is waited for");
    cancelling.join().expect("it ends");
    (result, spent)
}

fn still_works(connection: &Connection) {
    assert!(!connection.is_failed());
    assert_eq!(query(connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
}

/// One row of parameters.
fn one_row(n: i32) -> RecordBatch {
    let column = Arc::new(Int32Array::from(vec![n])) as ArrayRef;
    RecordBatch::try_from_iter([("n", column)]).expect("one column")
}

/// Behind a statement without rows its counts are waiting, so that a server may be past interrupting.
fn works_or_is_closed(connection: &Connection, target: &Target) {
    if connection.is_failed() {
        assert!(matches!(target, Target::Wire(_)));
        assert_eq!(connection.ping().expect_err("it is closed").kind(), Kind::Closed);
    } else {
        still_works(connection);
    }
}

matrix!(
    all,
    fn a_query_without_rows_yet_is_cancelled(target: &Target) {
        let connection = fresh(target);
        for _ in 0..2 {
            let transaction = connection.begin(Default::default()).expect("it starts");
            let (result, spent) = cancelled_after(&connection, Duration::from_millis(300), || {
                transaction.query(ENDLESS).and_then(|mut cursor| cursor.next_batch())
            });
            let error = result.expect_err("it was cancelled");
            assert_eq!(error.kind(), Kind::Cancelled, "{error}");
            assert!(spent < Duration::from_secs(20), "{spent:?}");
            // The transaction goes on.
            assert_eq!(transaction.query("SELECT 1 FROM RDB$DATABASE").expect("it lives").count(), 1);
            transaction.commit().expect("it commits");
        }
        still_works(&connection);
    },
    fn a_flood_of_rows_is_cancelled(target: &Target) {
        let connection = fresh(target);
        let (result, _) = cancelled_after(&connection, Duration::from_millis(300), || {
            let mut cursor = connection.query(FLOOD)?;
            while cursor.next_batch()?.is_some() {}
            Ok(())
        });
        let error: firearrow::Error = result.expect_err("it was cancelled");
        assert_eq!(error.kind(), Kind::Cancelled, "{error}");
        still_works(&connection);
    },
    fn a_statement_without_rows_is_cancelled(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n BIGINT)");
        let (result, _) = cancelled_after(&connection, Duration::from_millis(300), || {
            connection.execute(&format!("INSERT INTO t {ENDLESS}"))
        });
        assert_eq!(result.expect_err("it was cancelled").kind(), Kind::Cancelled);
        works_or_is_closed(&connection, target);
    },
    fn a_slow_update_that_is_counted_ends_soon(target: &Target) {
        let closed = fresh_closed(target);
        let connection = Connection::open(&closed).expect("it opens");
        run(&connection, "CREATE TABLE t (n BIGINT)");
        run(&connection, "INSERT INTO t VALUES (1)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(&format!("UPDATE t SET n = ({ENDLESS})")).expect("valid SQL");
        let (result, spent) = cancelled_after(&connection, Duration::from_millis(300), || {
            statement.execute(&mut transaction, ())
        });
        let error = result.expect_err("it was cancelled");
        assert_eq!(error.kind(), Kind::Cancelled, "{error}");
        assert!(spent < SOON, "{spent:?}");
        drop((statement, transaction));
        works_or_is_closed(&connection, target);
        // Either way nothing of it is left: neither a change nor a lock.
        let other = Connection::open(&closed).expect("it opens");
        let begin = Instant::now();
        run(&other, "UPDATE t SET n = n + 1");
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
        let n = query(&other, "SELECT n FROM t");
        assert_eq!(n.column(0).as_primitive::<arrow::datatypes::Int64Type>().value(0), 2);
    },
    fn a_fetch_that_gets_stuck_behind_many_rows_ends_soon(target: &Target) {
        // 64 KB of rows, 1 MB, and then nothing for a long time.
        for rows in [300, 5000] {
            let closed = fresh_closed(target);
            let connection = Connection::open(&closed).expect("it opens");
            let sql = format!(
                "EXECUTE BLOCK RETURNS (s CHAR(200) CHARACTER SET ASCII) AS DECLARE n INTEGER = 0; BEGIN
                     WHILE (n < {rows}) DO BEGIN s = n; n = n + 1; SUSPEND; END
                     s = ({ENDLESS}); SUSPEND;
                 END"
            );
            let (result, spent) = cancelled_after(&connection, Duration::from_millis(1000), || {
                let mut cursor = connection.query(&sql)?;
                while cursor.next_batch()?.is_some() {}
                Ok(())
            });
            let error: firearrow::Error = result.expect_err("it was cancelled");
            assert_eq!(error.kind(), Kind::Cancelled, "{error}");
            assert!(spent < SOON + Duration::from_secs(1), "{spent:?}");
            works_or_is_closed(&connection, target);
            let other = Connection::open(&closed).expect("it opens");
            still_works(&other);
        }
    },
    fn cancelling_nothing_changes_nothing(target: &Target) {
        let connection = fresh(target);
        connection.cancel_handle().cancel();
        still_works(&connection);
        let handle = connection.cancel_handle();
        connection.close().expect("nothing is open");
        handle.cancel();
    },
    fn a_statement_ends_when_its_time_is_up(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(ENDLESS).expect("valid SQL");
        let statement = statement.with_timeout(Some(Duration::from_millis(400)));
        if matches!(target, Target::Embedded(_)) && target.generation() < Generation::V4_0 {
            assert_eq!(statement.query(&transaction, ()).expect_err("no timeouts").kind(), Kind::Unsupported);
            return;
        }
        let begin = Instant::now();
        let result = statement.query(&transaction, ()).and_then(|mut cursor| cursor.next_batch());
        assert_eq!(result.expect_err("its time is up").kind(), Kind::Timeout);
        assert!(begin.elapsed() < Duration::from_secs(20));
        run(&connection, "CREATE TABLE t (n BIGINT)");
        // Without a limit, and with one that is long enough, it runs.
        let quick = transaction.prepare("SELECT 1 FROM RDB$DATABASE").expect("valid SQL");
        assert_eq!(quick.query(&transaction, ()).expect("no limit").count(), 1);
        let quick = quick.with_timeout(Some(Duration::from_secs(60)));
        assert_eq!(quick.query(&transaction, ()).expect("time enough").count(), 1);
        drop((statement, quick));
        transaction.commit().expect("it lives");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare(&format!("INSERT INTO t {ENDLESS}")).expect("valid SQL");
        let insert = insert.with_timeout(Some(Duration::from_millis(400)));
        let error = insert.execute(&mut transaction, ()).expect_err("its time is up");
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        if target.generation() >= Generation::V4_0 {
            drop((insert, transaction));
            still_works(&connection);
        } else {
            works_or_is_closed(&connection, target);
        }
    },
    fn only_the_operations_of_a_token_are_cancelled(target: &Target) {
        let connection = Arc::new(fresh(target));
        let start = |token: &CancelToken, sql: &'static str| {
            let (connection, token) = (Arc::clone(&connection), token.clone());
            thread::spawn(move || {
                let rows = token.run(|| connection.query(sql).and_then(|mut cursor| cursor.next_batch()));
                (rows, Instant::now())
            })
        };
        let (running, waiting) = (CancelToken::new(), CancelToken::new());
        let first = start(&running, ENDLESS);
        thread::sleep(Duration::from_secs(1));
        let second = start(&waiting, "SELECT 1 FROM RDB$DATABASE");
        let third = start(&CancelToken::new(), "SELECT 1 FROM RDB$DATABASE");
        thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        waiting.cancel();
        let (rows, end) = second.join().expect("it ends");
        assert_eq!(rows.expect_err("it was cancelled").kind(), Kind::Cancelled);
        assert!(end.duration_since(begin) < Duration::from_millis(500), "it waits for no server");
        thread::sleep(Duration::from_millis(300));
        assert!(!first.is_finished() && !third.is_finished(), "nobody else has been cancelled");
        running.cancel();
        let (rows, end) = first.join().expect("it ends");
        assert_eq!(rows.expect_err("it was cancelled").kind(), Kind::Cancelled);
        assert!(end.duration_since(begin) < SOON);
        assert!(third.join().expect("it ends").0.expect("nobody cancelled it").is_some());
        // Twice, after its end, and before the beginning of another one, which fails at once and leaves no trace.
        running.cancel();
        still_works(&connection);
        let begin = Instant::now();
        let error = running.run(|| connection.query(ENDLESS)).expect_err("the token stays cancelled");
        assert!(error.kind() == Kind::Cancelled && begin.elapsed() < Duration::from_secs(1), "{error}");
        still_works(&connection);
    },
    fn of_a_hundred_that_wait_every_second_is_cancelled(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n INTEGER)");
        let (busy, connection) = (CancelToken::new(), &connection);
        thread::scope(|scope| {
            let first = busy.clone();
            let first = scope.spawn(move || {
                first.run(|| connection.query(ENDLESS).and_then(|mut cursor| cursor.next_batch()))
            });
            thread::sleep(Duration::from_millis(500));
            let waiting: Vec<_> = (0..100)
                .map(|n| {
                    let token = CancelToken::new();
                    let inner = token.clone();
                    let insert = move || connection.execute(&format!("INSERT INTO t VALUES ({n})"));
                    (token, scope.spawn(move || inner.run(insert)))
                })
                .collect();
            thread::sleep(Duration::from_millis(500));
            for (token, _) in waiting.iter().step_by(2) {
                token.cancel();
            }
            thread::sleep(Duration::from_millis(200));
            busy.cancel();
            assert_eq!(first.join().expect("it ends").expect_err("cancelled").kind(), Kind::Cancelled);
            for (n, (_, inserted)) in waiting.into_iter().enumerate() {
                match inserted.join().expect("it ends") {
                    Ok(_) => assert_eq!(n % 2, 1),
                    Err(error) => assert_eq!((n % 2, error.kind()), (0, Kind::Cancelled), "{error}"),
                }
            }
        });
        let odd = query(connection, "SELECT COUNT(*), MIN(MOD(n, 2)) FROM t");
        assert_eq!(odd.column(0).as_primitive::<arrow::datatypes::Int64Type>().value(0), 50);
        still_works(connection);
    },
    fn time_limits_of_tokens_are_no_cancelling(target: &Target) {
        let closed = fresh_closed(target);
        let connection = Connection::open(&closed).expect("it opens");
        let token = CancelToken::new();
        token.set_time_limit(Some(Duration::from_millis(400)));
        let begin = Instant::now();
        let error = token
            .run(|| connection.query(ENDLESS).and_then(|mut cursor| cursor.next_batch()))
            .expect_err("its time is up");
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert!((Duration::from_millis(400)..SOON).contains(&begin.elapsed()), "{:?}", begin.elapsed());
        still_works(&connection);
        // The same for whoever waits for another one.
        let busy = connection.cancel_handle();
        thread::scope(|scope| {
            let first = scope.spawn(|| connection.query(ENDLESS).and_then(|mut cursor| cursor.next_batch()));
            thread::sleep(Duration::from_millis(500));
            token.set_time_limit(Some(Duration::from_millis(300)));
            let begin = Instant::now();
            let error = token.run(|| connection.ping()).expect_err("its time is up");
            assert_eq!(error.kind(), Kind::Timeout, "{error}");
            assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
            assert!(!first.is_finished());
            busy.cancel();
            assert_eq!(first.join().expect("it ends").expect_err("cancelled").kind(), Kind::Cancelled);
        });
        token.set_time_limit(None);
        token.run(|| still_works(&connection));
    },
    fn a_cancelled_operation_goes_on_being_cancelled_between_its_parts(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let token = CancelToken::new();
        // Between two batches another thread uses the connection, and somebody cancels.
        let (other, cancelled) = (&connection, token.clone());
        let result = thread::scope(|scope| {
            let batches = [0, 1].into_iter().map(move |n| {
                if n == 1 {
                    let ping = scope.spawn(|| other.ping());
                    ping.join().expect("it ends").expect("it answers");
                    cancelled.cancel();
                }
                Ok(one_row(n))
            });
            let reader = RecordBatchIterator::new(batches, one_row(0).schema());
            token.run(|| statement.execute_stream(&mut transaction, reader, OnFailure::Stop))
        });
        let error = result.expect_err("it was cancelled");
        assert_eq!(error.kind(), Kind::Cancelled, "{error}");
        assert_eq!(error.rows_executed().map(|done| done.rows), Some(1));
        transaction.commit().expect("it goes on");
        assert_eq!(query(&connection, "SELECT n FROM t").num_rows(), 1);
    },
    fn many_rows_of_parameters_are_cancelled(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n INTEGER)");
        let sql = format!("INSERT INTO t SELECT 1 FROM RDB$DATABASE WHERE ? < ({ENDLESS})");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(&sql).expect("valid SQL");
        let rows = one_row(1);
        let (result, _) = cancelled_after(&connection, Duration::from_millis(300), || {
            statement.execute_rows(&mut transaction, &rows, OnFailure::Stop)
        });
        match result {
            Ok(done) => assert_eq!(done.failures[0].error.kind(), Kind::Cancelled),
            Err(error) => assert_eq!(error.kind(), Kind::Cancelled, "{error}"),
        }
        works_or_is_closed(&connection, target);
    }
);

/// Rows that fill more than one network packet of a server, which has begun to send them then, and none for a long time.
fn stuck() -> String {
    format!(
        "EXECUTE BLOCK RETURNS (s CHAR(200) CHARACTER SET ASCII) AS DECLARE n INTEGER = 0; BEGIN
             WHILE (n < 300) DO BEGIN s = n; n = n + 1; SUSPEND; END
             s = ({ENDLESS}); SUSPEND;
         END"
    )
}

matrix!(
    all,
    fn an_endless_query_that_nobody_reads_is_left_soon(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        for (sql, pause) in [(stuck().as_str(), 500), (FLOOD, 500), (FLOOD, 0)] {
            let cursor = transaction.query(sql).expect("it runs");
            // By now the server is stuck, in the fetch or reading ahead behind it.
            thread::sleep(Duration::from_millis(pause));
            let begin = Instant::now();
            drop(cursor);
            assert_eq!(rows(transaction.query("SELECT n FROM t").expect("it lives")).num_rows(), 1);
            assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
        }
        transaction.commit().expect("it commits");
        let cursor = connection.query(&stuck()).expect("it runs");
        thread::sleep(Duration::from_millis(500));
        let begin = Instant::now();
        cursor.close().expect("it is left");
        assert_eq!(query(&connection, "SELECT n FROM t").num_rows(), 1);
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    },
    fn an_interruptible_change_is_cancelled_and_its_transaction_goes_on(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n BIGINT)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare("INSERT INTO t VALUES (1)").expect("valid SQL");
        insert.execute(&mut transaction, ()).expect("it inserts");
        for sql in [
            format!("UPDATE t SET n = ({ENDLESS})"),
            "EXECUTE BLOCK AS DECLARE n INTEGER = 0; BEGIN WHILE (1 = 1) DO n = MOD(n + 1, 7); END"
                .to_owned(),
        ] {
            let change = transaction.prepare(&sql).expect("valid SQL").interruptible();
            let work = || change.execute(&mut transaction, ()).expect_err("it has no end");
            let (error, spent) = cancelled_after(&connection, Duration::from_millis(500), work);
            assert!(error.kind() == Kind::Cancelled && spent < SOON, "{error:?}, {spent:?}");
            still_works(&connection);
        }
        // Affected rows are counted all the same, which takes a round trip more.
        let update = |interruptible: bool| {
            let update = transaction.prepare("UPDATE t SET n = n + 1").expect("valid SQL");
            let update = if interruptible { update.interruptible() } else { update };
            cost(&connection, || {
                let updated = update.execute(&mut transaction, ()).expect("it updates");
                assert_eq!(updated.affected_rows, Some(1));
            })
        };
        let spent = [false, true].map(update);
        let expected = if matches!(target, Target::Wire(_)) { [1, 2] } else { [0, 0] };
        assert_eq!(spent, expected);
    },
    fn leaving_an_endless_query_that_gave_rows_can_be_cancelled(target: &Target) {
        let closed = fresh_closed(target);
        let connection = Connection::open(&closed).expect("it opens");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(&stuck()).expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(10));
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        assert_eq!(cursor.next_batch().expect("it reads").map(|batch| batch.num_rows()), Some(10));
        // Servers cannot be interrupted while the next fetch waits behind this one; somebody has to want it.
        let leave = || drop((cursor, statement, transaction));
        let ((), spent) = cancelled_after(&connection, Duration::from_millis(500), leave);
        assert!(spent < SOON, "{spent:?}");
        works_or_is_closed(&connection, target);
        still_works(&Connection::open(&closed).expect("it opens"));
    },
    fn endless_results_of_parameters_are_left_soon(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let sql = format!(
            "EXECUTE BLOCK (n INTEGER = ?) RETURNS (m BIGINT) AS BEGIN
                 IF (n > 0) THEN m = ({ENDLESS});
                 SUSPEND;
             END"
        );
        let statement = transaction.prepare(&sql).expect("valid SQL");
        let parameters = Arc::new(Int32Array::from(vec![0, 1])) as ArrayRef;
        let parameters = RecordBatch::try_from_iter([("n", parameters)]).expect("one column");
        let statement = statement.with_limits(BatchLimits::default().rows(1));
        let mut result = statement.query_rows(&transaction, &parameters, OnFailure::Stop).expect("it runs");
        assert_eq!(result.next_batch().expect("it reads").map(|batch| batch.num_rows()), Some(1));
        let begin = Instant::now();
        drop(result);
        assert_eq!(transaction.query("SELECT 1 FROM RDB$DATABASE").expect("it lives").count(), 1);
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    },
    fn a_slow_query_that_somebody_wants_is_not_interrupted_with_another_one(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let slow = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c";
        let mut wanted = transaction.query(slow).expect("it runs");
        drop(transaction.query(FLOOD).expect("it runs"));
        assert_eq!(wanted.next_batch().expect("it reads").map(|batch| batch.num_rows()), Some(1));
        drop(wanted);
        still_works(&connection);
    }
);

matrix!(
    wire,
    fn the_time_of_a_reader_is_not_that_of_who_writes(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let time = Duration::from_millis(500);
        let source = transaction.prepare("SELECT RDB$RELATION_ID FROM RDB$RELATIONS").expect("valid SQL");
        let source = source.with_limits(BatchLimits::default().rows(1));
        let mut cursor = source.with_timeout(Some(time)).query(&transaction, ()).expect("it runs");
        // A row in time, which is written only when the time of its cursor is up.
        let batches = std::iter::once_with(|| {
            cursor.next_batch().expect("it reads").expect("a row");
            thread::sleep(2 * time);
            Ok(one_row(1))
        });
        let reader = RecordBatchIterator::new(batches, one_row(0).schema());
        let done = statement.execute_stream(&mut transaction, reader, OnFailure::Stop).expect("it writes");
        assert_eq!((done.rows, done.failures.len()), (1, 0));
        drop((cursor, statement));
        transaction.commit().expect("it commits");
        assert_eq!(query(&connection, "SELECT n FROM t").num_rows(), 1);
    },
    fn a_result_that_is_slow_all_along_is_cancelled(target: &Target) {
        let connection = fresh(target);
        let pause = |turns: u64| format!("n = 0; WHILE (n < {turns}) DO n = n + 1;");
        let begin = Instant::now();
        run(&connection, &format!("EXECUTE BLOCK AS DECLARE n INTEGER; BEGIN {} END", pause(1_000_000)));
        let turns = (1.2e6 / begin.elapsed().as_secs_f64()) as u64;
        // Servers send 8 KB at a time: four rows, five seconds.
        let sql = format!(
            "EXECUTE BLOCK RETURNS (s CHAR(2000) CHARACTER SET ASCII) AS DECLARE n INTEGER; BEGIN
                 WHILE (1 = 1) DO BEGIN {} s = n; SUSPEND; END
             END",
            pause(turns)
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(&sql).expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(1));
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        cursor.next_batch().expect("it reads").expect("a row");
        let (error, spent) = cancelled_after(&connection, Duration::from_secs(1), || {
            loop {
                if let Err(error) = cursor.next_batch() {
                    break error;
                }
            }
        });
        assert_eq!(error.kind(), Kind::Cancelled, "{error}");
        assert!(spent < SOON, "{spent:?}");
        assert_eq!(transaction.query("SELECT 1 FROM RDB$DATABASE").expect("it lives").count(), 1);
        drop((cursor, statement, transaction));
        still_works(&connection);
    }
);
