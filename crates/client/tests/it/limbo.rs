//! Two-phase commit.

use crate::limbo_cases::{self, database, rows_of_t};
use crate::support::{at, config};
use firearrow::{Connection, Kind};
use firearrow_testkit::{Behaviour, Generation, Proxy, Target, matrix};
use std::time::{Duration, Instant};

matrix!(
    all,
    fn limbo_is_recovered_both_ways(target: &Target) {
        limbo_cases::limbo_is_recovered_both_ways(target);
    },
    fn limbo_allows_nothing_but_an_end(target: &Target) {
        limbo_cases::limbo_allows_nothing_but_an_end(target);
    },
    fn two_databases_commit_together(target: &Target) {
        let (first, second) = (database(target), database(target));
        let connections = [&first, &second].map(|config| Connection::open(config).expect("it opens"));
        for (commits, expected) in [(true, 1), (false, 1), (true, 2)] {
            let transactions = connections.each_ref().map(|connection| {
                let mut transaction = connection.begin(Default::default()).expect("it starts");
                transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
                transaction.prepare_commit(b"both").expect("it is prepared");
                transaction
            });
            for transaction in transactions {
                if commits { transaction.commit() } else { transaction.rollback() }.expect("it ends");
            }
            for connection in &connections {
                assert_eq!(rows_of_t(connection), expected);
            }
        }
    },
    fn a_transaction_that_cannot_be_prepared_goes_on(target: &Target) {
        let connection = Connection::open(&database(target)).expect("it opens");
        let refuse = "CREATE EXCEPTION refused 'not today'";
        let trigger = "CREATE TRIGGER on_commit ON TRANSACTION COMMIT AS BEGIN
            IF (EXISTS (SELECT * FROM t WHERE id = 13)) THEN EXCEPTION refused; END";
        for sql in [refuse, trigger] {
            connection.execute(sql).expect("valid SQL");
        }
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (13)").expect("it inserts");
        let error = transaction.prepare_commit(b"").expect_err("the trigger refuses");
        assert!(error.message().contains("not today"), "{error}");
        transaction.execute("DELETE FROM t").expect("it goes on");
        transaction.execute("INSERT INTO t VALUES (14)").expect("it goes on");
        transaction.prepare_commit(b"").expect("nothing is wrong any more");
        transaction.commit().expect("it was prepared");
        assert_eq!(rows_of_t(&connection), 1);
    },
    fn what_is_held_cannot_be_taken_away(target: &Target) {
        let config = database(target);
        let holder = Connection::open(&config).expect("it opens");
        let mut transaction = holder.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        let number = transaction.number().expect("a number");
        transaction.prepare_commit(b"").expect("it is prepared");
        assert_eq!(holder.recover(number).expect_err("it is here").kind(), Kind::Misuse);
        if target.generation() >= Generation::V4_0 {
            let other = Connection::open(&config).expect("it opens");
            assert_eq!(other.recover(number).expect_err("it is held").kind(), Kind::Misuse);
            other.close().expect("nothing is left");
        }
        transaction.commit().expect("nobody has ended it");
        assert_eq!(rows_of_t(&holder), 1);
    },
    fn there_may_be_very_many_in_limbo(target: &Target) {
        // More than an answer over the wire can hold.
        const MANY: usize = 10_000;
        let mut config = config(target, &target.fresh_url());
        config.force_writes = Some(false);
        Connection::create(&config).expect("it is created").close().expect("nothing is open");
        // A server takes its time to let go of very many.
        for _ in 0..10 {
            let first = Connection::open(&config).expect("it opens");
            for _ in 0..MANY / 10 {
                let mut transaction = first.begin(Default::default()).expect("it starts");
                transaction.prepare_commit(b"").expect("it is prepared");
            }
            first.close().expect("nothing but what is in limbo");
        }
        let second = Connection::open(&config).expect("it opens");
        let (mut recovered, mut rounds) = (0, 0);
        loop {
            let numbers = second.limbo_transactions().expect("a list");
            if numbers.is_empty() {
                break;
            }
            assert!(numbers.is_sorted());
            for number in &numbers {
                second.recover(*number).expect("it is in limbo").rollback().expect("it ends");
            }
            recovered += numbers.len();
            rounds += 1;
        }
        assert_eq!(recovered, MANY);
        assert_eq!(rounds, if matches!(target, Target::Wire(_)) { 2 } else { 1 });
    },
    fn what_others_hold_is_not_abandoned(target: &Target) {
        let config = database(target);
        let holder = Connection::open(&config).expect("it opens");
        let mut transaction = holder.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        transaction.prepare_commit(b"").expect("it is prepared");
        // One's own are not abandoned.
        assert_eq!(holder.limbo_transactions().expect("a list"), [0_u64; 0]);
        let waiting = std::thread::spawn(move || {
            let other = Connection::open(&config).expect("it opens");
            other.limbo_transactions().expect("a list")
        });
        std::thread::sleep(Duration::from_secs(2));
        // Firebird 3 waits for the decision.
        assert_eq!(waiting.is_finished(), target.generation() >= Generation::V4_0);
        transaction.commit().expect("it was prepared");
        assert_eq!(waiting.join().expect("it ends"), [0_u64; 0]);
    }
);

/// What is in limbo as soon as the server has noticed that a connection is gone.
fn abandoned(connection: &Connection) -> Vec<u64> {
    let begin = Instant::now();
    loop {
        let numbers = connection.limbo_transactions().expect("a list");
        if !numbers.is_empty() || begin.elapsed() > Duration::from_secs(20) {
            return numbers;
        }
    }
}

matrix!(
    wire,
    fn limbo_survives_the_connection(target: &Target) {
        let original = database(target);
        for (commits, expected) in [(false, 0), (true, 1)] {
            let proxy = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
            let doomed = Connection::open(&at(target, &original, proxy.address(), "")).expect("it opens");
            let mut transaction = doomed.begin(Default::default()).expect("it starts");
            transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
            let number = transaction.number().expect("a number");
            transaction.prepare_commit(b"lost").expect("it is prepared");
            drop(proxy);
            assert_eq!(transaction.commit().expect_err("the path is gone").kind(), Kind::CommitUnknown);
            drop(doomed);
            let connection = Connection::open(&original).expect("it opens");
            assert_eq!(abandoned(&connection), [number]);
            let transaction = connection.recover(number).expect("it is in limbo");
            if commits { transaction.commit() } else { transaction.rollback() }.expect("it ends");
            assert_eq!(rows_of_t(&connection), expected);
        }
    },
    fn what_is_not_prepared_dies_with_the_connection(target: &Target) {
        let original = database(target);
        let proxy = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
        let doomed = Connection::open(&at(target, &original, proxy.address(), "")).expect("it opens");
        let mut transaction = doomed.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        let number = transaction.number().expect("a number");
        drop(proxy);
        let error = transaction.prepare_commit(b"").expect_err("the path is gone");
        assert_eq!(error.kind(), Kind::Closed);
        drop((transaction, doomed));
        let connection = Connection::open(&original).expect("it opens");
        connection.recover(number).expect_err("it was never in limbo");
        assert_eq!(connection.limbo_transactions().expect("a list"), [0_u64; 0]);
        assert_eq!(rows_of_t(&connection), 0);
    },
    fn each_phase_takes_one_round_trip(target: &Target) {
        let config = database(target);
        let first = Connection::open(&config).expect("it opens");
        let mut transaction = first.begin(Default::default()).expect("it starts");
        let number = transaction.number().expect("a number");
        let before = first.wire_stats().round_trips;
        transaction.prepare_commit(b"x").expect("it is prepared");
        assert_eq!(first.wire_stats().round_trips - before, 1);
        drop(transaction);
        assert_eq!(first.wire_stats().round_trips - before, 1);
        first.close().expect("nothing but what is in limbo");
        let second = Connection::open(&config).expect("it opens");
        let before = second.wire_stats().round_trips;
        assert_eq!(second.limbo_transactions().expect("a list"), [number]);
        let transaction = second.recover(number).expect("it is in limbo");
        assert_eq!(second.wire_stats().round_trips - before, 2);
        transaction.commit().expect("it ends");
        assert_eq!(second.wire_stats().round_trips - before, 3);
        second.recover(number).expect_err("it has ended");
    }
);
