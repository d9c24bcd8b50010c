//! Statements that stay prepared between their executions.

use crate::support::{config, count, manual, numbers, run, statement};
use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use firearrow_driver::{Session, SessionOptions, Statement, Stream};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Two sessions with a database, and the table `t`.
fn two(target: &Target, options: SessionOptions) -> (Arc<Session>, Arc<Session>) {
    let config = config(target, &target.fresh_url());
    let open = |options| Arc::new(Session::open(&config, options).expect("it opens"));
    let sessions = (open(options), open(SessionOptions::default()));
    run(&sessions.1, "CREATE TABLE t (n INTEGER)").expect("it is new");
    sessions
}

/// Inserts this number by a statement that was prepared.
fn insert(statement: &mut Statement, number: i32) {
    statement.bind(numbers("n", [number]));
    assert_eq!(statement.update().expect("it inserts"), Some(1));
}

fn prepared(session: &Arc<Session>, sql: &str) -> Statement {
    let mut statement = statement(session, sql);
    statement.prepare().expect("it is valid");
    statement
}

fn rows(stream: &mut Stream) -> Vec<i32> {
    let mut rows = Vec::new();
    while let Some(batch) = stream.next_batch().expect("it reads") {
        rows.extend(batch.column(0).as_primitive::<Int32Type>().values());
    }
    rows
}

matrix!(
    all,
    fn one_that_is_executed_again_is_not_prepared_again(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let (session, other) = two(target, options);
            let sql = format!("INSERT INTO t VALUES (?) /* {} */", "x".repeat(5000));
            let mut statement = prepared(&session, &sql);
            let mut sent = Vec::new();
            for number in 0..4 {
                let before = session.connection().expect("it is open").wire_stats();
                insert(&mut statement, number);
                let after = session.connection().expect("it is open").wire_stats();
                sent.push(after.since(&before).bytes_sent);
            }
            if session.connection().expect("it is open").wire_stats().bytes_sent > 0 {
                assert!(sent[0] > 5000 && sent[1] > 5000, "{sent:?}");
                assert!(sent[2] < 500 && sent[3] < 500, "{sent:?}");
            }
            session.end(true).expect("it commits");
            assert_eq!(count(&other), 4);
        }
    },
    fn their_tables_can_be_altered_and_dropped(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let (session, other) = two(target, options);
            let mut inserting = prepared(&session, "INSERT INTO t VALUES (?)");
            (0..3).for_each(|number| insert(&mut inserting, number));
            session.end(true).expect("it commits");
            // In the same session at any time.
            run(&session, "ALTER TABLE t ADD m INTEGER DEFAULT 7").expect("nobody uses it");
            session.end(true).expect("it commits");
            inserting.bind(numbers("n", [4]));
            inserting.update().expect_err("a value for the new column is missing");
            session.end(false).expect("it rolls back");
            let mut both = prepared(&session, "INSERT INTO t (n) VALUES (?)");
            (4..7).for_each(|number| insert(&mut both, number));
            session.end(true).expect("it commits");
            assert_eq!(count(&other), 6);
            // Elsewhere once the statement is gone, or is another one.
            drop(inserting);
            both.set_query("SELECT 1 FROM RDB$DATABASE").expect("it is text");
            run(&other, "DROP TABLE t").expect("nobody uses it");
        }
    },
    fn one_executed_once_does_not_hold_its_table(target: &Target) {
        let (session, other) = two(target, SessionOptions::default());
        let mut statement = prepared(&session, "INSERT INTO t VALUES (?)");
        insert(&mut statement, 1);
        run(&other, "DROP TABLE t").expect("nobody uses it");
    },
    fn results_may_be_open_while_it_is_executed_again(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let (session, _other) = two(target, options);
            let sql = "SELECT n FROM t WHERE n >= CAST(? AS INTEGER) ORDER BY n";
            (0..1000).for_each(|number| drop(run(&session, &format!("INSERT INTO t VALUES ({number})"))));
            let mut query = prepared(&session, sql);
            let mut run = |least: i32| {
                query.bind(numbers("n", [least]));
                query.execute().expect("it runs").stream.expect("it has rows")
            };
            for _ in 0..3 {
                let mut streams: Vec<_> = (0..4).map(|at| run(at * 100)).collect();
                for (at, stream) in streams.iter_mut().enumerate() {
                    assert_eq!(rows(stream), (at as i32 * 100..1000).collect::<Vec<_>>());
                }
                assert_eq!(rows(&mut run(990)), (990..1000).collect::<Vec<_>>());
            }
        }
    },
    fn a_failure_does_not_stick(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let (session, other) = two(target, options);
            run(&other, "ALTER TABLE t ADD CONSTRAINT u UNIQUE (n)").expect("it is empty");
            let mut statement = prepared(&session, "INSERT INTO t VALUES (?)");
            (0..3).for_each(|number| insert(&mut statement, number));
            for number in 3..6 {
                statement.bind(numbers("n", [0]));
                statement.update().expect_err("it is there");
                insert(&mut statement, number);
            }
            session.end(true).expect("it commits");
            assert_eq!(count(&other), 6);
        }
    },
    fn changes_by_others_are_heeded_after_a_second(target: &Target) {
        let (session, other) = two(target, SessionOptions::default());
        let mut statement = prepared(&session, "INSERT INTO t VALUES (?)");
        (0..3).for_each(|number| insert(&mut statement, number));
        // The engine may say that somebody uses the table; it does not on a statement that is executed only now and then.
        run(&other, "ALTER TABLE t ADD CONSTRAINT c CHECK (n < 10)").expect("all rows fit");
        thread::sleep(Duration::from_millis(1100));
        statement.bind(numbers("n", [99]));
        let error = statement.update().expect_err("it violates the constraint");
        assert!(error.to_string().contains("violates CHECK"), "{error}");
        insert(&mut statement, 9);
    },
    fn blocks_may_drop_their_tables(target: &Target) {
        let (session, _other) = two(target, SessionOptions::default());
        let mut statement = prepared(&session, "INSERT INTO t VALUES (?)");
        (0..3).for_each(|number| insert(&mut statement, number));
        let block = "EXECUTE BLOCK AS BEGIN EXECUTE STATEMENT 'DROP TABLE t'; END";
        run(&session, block).expect("nobody uses it");
        run(&session, "CREATE TABLE t (n INTEGER)").expect("it is gone");
    },
    fn many_rows_at_once_use_it_too(target: &Target) {
        let (session, other) = two(target, SessionOptions::default());
        let mut statement = prepared(&session, "INSERT INTO t VALUES (?)");
        for round in 0..4 {
            statement.bind(numbers("n", round * 10..round * 10 + 10));
            assert_eq!(statement.update().expect("it inserts"), Some(10));
        }
        assert_eq!(count(&other), 40);
    },
);
