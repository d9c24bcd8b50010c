//! Executions: parameters, cancelling, time limits, scripts.

use crate::support::{count, fresh, numbers, run, statement};
use firearrow_driver::{Class, SessionOptions, script};
use firearrow_testkit::{Target, matrix};
use std::thread;
use std::time::{Duration, Instant};

/// Takes far longer than any test waits.
const ENDLESS: &str =
    "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";

matrix!(
    all,
    fn rows_of_parameters_are_bound_by_name(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let sql = "INSERT INTO t SELECT CAST(:n AS INTEGER) FROM RDB$DATABASE WHERE CAST(:n AS INTEGER) > 1";
        let mut insert = statement(&session, sql);
        insert.options.by_name = true;
        let schema = insert.parameter_schema().expect("the types are known");
        assert_eq!(schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["n"]);
        insert.bind(numbers("N", 1..=3));
        assert_eq!(insert.update().expect("it inserts"), Some(2));
        assert_eq!(count(&session), 2);
        insert.bind(numbers("M", 1..=3));
        assert_eq!(insert.update().expect_err("there is no column N").class(), Class::Argument);
    },
    fn a_cancelled_execution_is_no_timeout(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        assert!(!session.activity().cancel(), "nothing goes on");
        let mut endless = statement(&session, ENDLESS);
        let activity = endless.activity().clone();
        let canceller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            activity.cancel()
        });
        let ended = endless.update().expect_err("it is cancelled");
        assert!(ended.is_cancelled() && canceller.join().expect("no panic"), "{ended}");
        endless.options.timeout = Some(Duration::from_millis(300));
        let begin = Instant::now();
        let ended = endless.update().expect_err("its time is up");
        assert!(!ended.is_cancelled() && begin.elapsed() < Duration::from_secs(30), "{ended}");
        let is_timeout = ended.class() == Class::Timeout
            || ended.client().is_some_and(|client| client.kind() == firearrow::Kind::Timeout);
        assert!(is_timeout, "{ended}");
        run(&session, "INSERT INTO t VALUES (1)").expect("the session goes on");
    },
    fn the_statements_of_a_script_run_one_by_one(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let script = "INSERT INTO t VALUES (1); -- one\n\
            CREATE PROCEDURE p (a INTEGER) AS DECLARE b INTEGER; BEGIN b = a; INSERT INTO t VALUES (:b); END;\n\
            SET TERM ^ ; EXECUTE BLOCK AS BEGIN EXECUTE PROCEDURE p (2); END ^ SET TERM ; ^ EXECUTE PROCEDURE p (3)";
        let statements = script::statements(script).expect("it has terminators");
        assert_eq!(statements.len(), 4);
        for sql in statements {
            run(&session, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        assert_eq!(count(&session), 3);
    }
);
