//! Transactions, and what ends a session.

use crate::support::{config, count, fresh, manual, run, statement};
use firearrow_driver::{Class, Error, Session, SessionOptions};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

matrix!(
    all,
    fn manual_mode_keeps_changes_until_they_are_committed(target: &Target) {
        let session = fresh(target, manual());
        for (commit, rows) in [(false, 0), (true, 1)] {
            assert_eq!(run(&session, "INSERT INTO t VALUES (1)").expect("it inserts"), Some(1));
            session.end(commit).expect("it ends");
            assert_eq!(count(&session), rows);
        }
        run(&session, "INSERT INTO t VALUES (2)").expect("it inserts");
        session.configure(SessionOptions::default()).expect("autocommit commits");
        session.end(false).expect("there is no transaction");
        assert_eq!(count(&session), 2);
    },
    fn what_could_not_be_undone_is_not_committed(target: &Target) {
        let session = fresh(target, manual());
        session
            .in_transaction(|transaction| {
                transaction.execute("INSERT INTO t VALUES (1)")?;
                session.doom();
                Ok(())
            })
            .expect("it inserts");
        let error = session.end(true).expect_err("it has half of something");
        assert_eq!(error.class(), Class::State);
        assert_eq!(count(&session), 0);
        // The next transaction is none the worse for it.
        run(&session, "INSERT INTO t VALUES (2)").expect("it inserts");
        session.end(true).expect("nothing failed in it");
        assert_eq!(count(&session), 1);
    },
    fn whoever_works_in_a_transaction_cannot_end_it(target: &Target) {
        let session = fresh(target, manual());
        let error = session.in_transaction(|_| session.end(true)).expect_err("it would wait for itself");
        assert_eq!(error.class(), Class::State);
        let nested = session.in_transaction(|_| session.in_transaction(|_| Ok(())));
        assert_eq!(nested.expect_err("the same").class(), Class::State);
        session.end(true).expect("nobody works in it any more");
    },
    fn results_end_with_their_transaction(target: &Target) {
        let session = fresh(target, manual());
        run(&session, "INSERT INTO t VALUES (1)").expect("it inserts");
        let mut statement = statement(&session, "SELECT n FROM t");
        let mut stream = statement.execute().expect("it runs").stream.expect("it has rows");
        session.end(true).expect("it commits");
        assert_eq!(stream.next_batch().expect_err("it is over").class(), Class::State);
        assert!(stream.next_batch().expect("nothing comes after an error").is_none());
    },
    fn ddl_commits_what_has_only_read(target: &Target) {
        let session = fresh(target, manual());
        assert_eq!(count(&session), 0);
        run(&session, "DROP TABLE t").expect("nobody else uses it");
    },
    fn a_panic_ends_the_session(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let panicked: Result<(), Error> = session.contain(|| panic!("a mistake"));
        let error = panicked.expect_err("it panicked");
        assert!(error.class() == Class::Internal && error.message().contains("a mistake"), "{error}");
        let error = run(&session, "INSERT INTO t VALUES (1)").expect_err("it is broken");
        assert!(error.class() == Class::Internal && error.message().contains("panicked"), "{error}");
    },
    fn a_released_session_rolls_back(target: &Target) {
        let url = target.fresh_url();
        let open = |options| Arc::new(Session::open(&config(target, &url), options).expect("it opens"));
        let (session, other) =
            (open(manual()), open(SessionOptions { lock_timeout: Some(0), ..Default::default() }));
        run(&other, "CREATE TABLE t (n INTEGER)").expect("it is new");
        run(&other, "INSERT INTO t VALUES (1)").expect("it inserts");
        let mut update = statement(&session, "UPDATE t SET n = 2");
        assert_eq!(update.update().expect("it updates"), Some(1));
        session.release();
        assert_eq!(run(&other, "UPDATE t SET n = 3 WHERE n = 1").expect("no lock is left"), Some(1));
        assert_eq!(update.update().expect_err("nobody could commit it").class(), Class::State);
    }
);
