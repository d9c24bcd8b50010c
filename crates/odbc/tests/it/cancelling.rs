//! Ending what takes too long: cancelling from another thread, and time limits.

use crate::odbc::*;
use crate::support::{Connection, Statement, fresh};
use firearrow_testkit::{Target, matrix};
use std::thread;
use std::time::{Duration, Instant};

const QUERY_TIMEOUT: i32 = 0;

/// Runs for minutes, unless somebody stops it.
const ENDLESS: &str = "SELECT COUNT(*) FROM RDB$TYPES A, RDB$TYPES B, RDB$TYPES C, RDB$TYPES D";
/// As [`ENDLESS`], but within the execution: rows are counted when they are fetched.
const ENDLESS_BLOCK: &str =
    "EXECUTE BLOCK AS DECLARE N BIGINT = 0; BEGIN WHILE (N < 1000000000000) DO N = N + 1; END";
/// Returns its first rows at once, and then runs for minutes.
const ENDLESS_ROWS: &str = "SELECT A.RDB$TYPE FROM RDB$TYPES A, RDB$TYPES B, RDB$TYPES C, RDB$TYPES D";

fn cancel(statement: &Statement) -> Return {
    // SAFETY: handles are checked.
    unsafe { SQLCancel(statement.handle) }
}

fn cancel_by_handle(statement: &Statement) -> Return {
    // SAFETY: handles are checked.
    unsafe { SQLCancelHandle(STMT, statement.handle) }
}

/// The time that a call takes, and what it returns.
fn timed<T>(call: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let result = call();
    (begin.elapsed(), result)
}

fn one(connection: &Connection) {
    assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE"), [[Some("1".to_owned())]]);
}

/// Cancels what `call` does after half a second, and expects it to end within the next second or so.
fn is_cancelled(
    statement: &Statement,
    call: impl FnOnce() -> Return,
    cancel: impl FnOnce() -> Return + Send,
) {
    let begin = Instant::now();
    thread::scope(|scope| {
        let canceller = scope.spawn(move || {
            thread::sleep(Duration::from_millis(500));
            let cancelled = Instant::now();
            assert_eq!(cancel(), SUCCESS);
            cancelled
        });
        assert_eq!(call(), ERROR);
        let ended = Instant::now();
        assert_eq!(statement.state(), "HY008", "{:?}", statement.records());
        let cancelled = canceller.join().expect("no panic");
        let late = ended.saturating_duration_since(cancelled);
        assert!(late < Duration::from_secs(3), "{late:?} of {:?}", begin.elapsed());
    });
}

matrix!(
    all,
    fn a_running_query_is_cancelled_from_another_thread(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        // Engines compute it while it is executed, or while its row is fetched.
        let run = |execute: &dyn Fn() -> Return| match execute() {
            SUCCESS => statement.fetch(),
            code => code,
        };
        is_cancelled(&statement, || run(&|| statement.execute_directly(ENDLESS)), || cancel(&statement));
        one(&connection);
        statement.close();
        statement.prepare(ENDLESS);
        is_cancelled(&statement, || run(&|| statement.execute()), || cancel_by_handle(&statement));
        // It is as good as before.
        statement.close();
        statement.run("SELECT 2 FROM RDB$DATABASE");
        assert_eq!(statement.all_texts(), [[Some("2".to_owned())]]);
    },
    fn a_running_execution_is_cancelled_from_another_thread(target: &Target) {
        for autocommit in [1, 0] {
            let connection = fresh(target);
            assert_eq!(connection.set(102, autocommit), SUCCESS);
            let statement = connection.statement();
            // Servers do not notice it while they have more to do, such as a commit; the client then closes the connection.
            is_cancelled(&statement, || statement.execute_directly(ENDLESS_BLOCK), || cancel(&statement));
        }
    },
    fn a_running_fetch_is_cancelled_from_another_thread(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.run(ENDLESS_ROWS);
        let fetch = || loop {
            let code = statement.fetch();
            if code != SUCCESS {
                return code;
            }
        };
        is_cancelled(&statement, fetch, || cancel(&statement));
        one(&connection);
    },
    fn cancelling_nothing_has_no_effect_on_the_next_call(target: &Target) {
        let connection = fresh(target);
        let (statement, other) = (connection.statement(), connection.statement());
        assert_eq!(cancel(&statement), SUCCESS);
        statement.prepare(ENDLESS_ROWS);
        assert_eq!((cancel(&statement), statement.execute()), (SUCCESS, SUCCESS));
        other.run(ENDLESS_ROWS);
        for _ in 0..3000 {
            assert_eq!(cancel(&statement), SUCCESS);
            assert_eq!(statement.fetch(), SUCCESS, "{:?}", statement.records());
        }
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLCancelHandle(DBC, connection.handle) }, SUCCESS);
        assert_eq!((statement.fetch(), other.fetch()), (SUCCESS, SUCCESS));
        one(&connection);
    },
    fn other_statements_of_the_connection_are_spared(target: &Target) {
        let connection = fresh(target);
        let (statement, spared) = (connection.statement(), connection.statement());
        spared.run(ENDLESS_ROWS);
        assert_eq!(spared.fetch(), SUCCESS);
        is_cancelled(
            &statement,
            || match statement.execute_directly(ENDLESS) {
                SUCCESS => statement.fetch(),
                code => code,
            },
            || {
                // Nothing runs in it.
                assert_eq!(cancel(&spared), SUCCESS);
                cancel(&statement)
            },
        );
        for _ in 0..3000 {
            assert_eq!(spared.fetch(), SUCCESS);
        }
    },
    fn late_cancels_race_with_short_statements(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        thread::scope(|scope| {
            let executing = scope.spawn(|| {
                for _ in 0..300 {
                    let code = statement.execute_directly("SELECT 1 FROM RDB$DATABASE");
                    assert!(code == SUCCESS || statement.state() == "HY008", "{:?}", statement.records());
                    statement.close();
                }
            });
            while !executing.is_finished() {
                assert_eq!(cancel(&statement), SUCCESS);
                thread::yield_now();
            }
        });
        statement.run("SELECT 3 FROM RDB$DATABASE");
        assert_eq!(statement.all_texts(), [[Some("3".to_owned())]]);
    },
    fn a_statement_ends_when_its_time_is_up(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.set(QUERY_TIMEOUT, 1), SUCCESS);
        assert_eq!((statement.get(QUERY_TIMEOUT), connection.statement().get(QUERY_TIMEOUT)), (1, 0));
        for prepared in [false, true] {
            if prepared {
                statement.prepare(ENDLESS);
            }
            let (time, code) = timed(|| match prepared {
                false => statement.execute_directly(ENDLESS),
                true => statement.execute(),
            });
            // Before Firebird 4 the aggregate is computed when its row is fetched.
            let (time, code) = match code {
                SUCCESS => {
                    let (more, code) = timed(|| statement.fetch());
                    (time + more, code)
                }
                code => (time, code),
            };
            assert_eq!((code, statement.state().as_str()), (ERROR, "HYT00"), "{:?}", statement.records());
            assert!(time > Duration::from_millis(900) && time < Duration::from_secs(4), "{time:?}");
            statement.close();
        }
        one(&connection);
        assert_eq!(statement.set(QUERY_TIMEOUT, 0), SUCCESS);
        statement.run("SELECT 2 FROM RDB$DATABASE");
        assert_eq!(statement.all_texts(), [[Some("2".to_owned())]]);
    },
    fn the_time_limit_covers_fetching(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.set(QUERY_TIMEOUT, 1), SUCCESS);
        statement.run(
            "SELECT FIRST 2 A.RDB$TYPE FROM RDB$TYPES A, RDB$TYPES B, RDB$TYPES C, RDB$TYPES D
             WHERE A.RDB$TYPE + B.RDB$TYPE + C.RDB$TYPE + D.RDB$TYPE < -1000000",
        );
        let (time, code) = timed(|| statement.fetch());
        assert_eq!((code, statement.state().as_str()), (ERROR, "HYT00"), "{:?}", statement.records());
        assert!(time < Duration::from_secs(4), "{time:?}");
        one(&connection);
    },
);
