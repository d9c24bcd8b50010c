//! What pools ask of a connection: a clean state, and whether it is still there.

use crate::support::{at, cost, fresh, fresh_closed, query, run};
use arrow::array::AsArray;
use firearrow::asynchronous;
use firearrow::{Connection, Kind};
use firearrow_testkit::{Behaviour, Mischief, Proxy, Target, matrix};
use std::thread::sleep;
use std::time::{Duration, Instant};

const VARIABLE: &str = "SELECT RDB$GET_CONTEXT('USER_SESSION', 'x') FROM RDB$DATABASE";

/// Waits for what a moment may take.
fn comes(mut condition: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(5) {
        if condition() {
            return true;
        }
        sleep(Duration::from_millis(10));
    }
    false
}

matrix!(
    all,
    fn a_reset_rolls_back_whatever_is_open(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut first = connection.begin(Default::default()).expect("it starts");
        first.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        let mut second = connection.begin(Default::default()).expect("it starts");
        second.execute("INSERT INTO t VALUES (2)").expect("it inserts");
        let lazy = connection.begin_lazy(Default::default()).expect("it will start");
        let statement = connection.prepare("SELECT id FROM t").expect("valid SQL");
        let mut cursor =
            second.query("SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b").expect("rows");
        cursor.next_batch().expect("there are some");
        connection.reset().expect("it resets");
        for ended in [first.commit(), second.rollback(), lazy.commit()] {
            assert_eq!(ended.expect_err("it has ended").kind(), Kind::Misuse);
        }
        drop(cursor);
        let again = connection.begin(Default::default()).expect("it starts");
        let mut rows = statement.query(&again, ()).expect("it stayed prepared");
        assert!(rows.next_batch().expect("it can be read").is_none());
        drop((rows, again, statement));
        connection.reset().expect("nothing is open");
        assert_eq!(query(&connection, "SELECT 1 FROM t").num_rows(), 0);
        connection.close().expect("nothing is left over");
    },
    fn a_reset_forgets_what_the_session_was_told(target: &Target) {
        let connection = fresh(target);
        let set = "SELECT RDB$SET_CONTEXT('USER_SESSION', 'x', 'y') FROM RDB$DATABASE";
        query(&connection, set);
        assert_eq!(query(&connection, VARIABLE).column(0).as_string::<i32>().value(0), "y");
        connection.reset().expect("it resets");
        let is_forgotten = query(&connection, VARIABLE).column(0).logical_null_count() == 1;
        assert_eq!(is_forgotten, connection.has_firebird4());
        assert!(connection.is_alive());
    },
    fn what_is_in_limbo_survives_a_reset(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        transaction.prepare_commit(&[]).expect("it is prepared");
        connection.reset().expect("it resets");
        transaction.commit().expect("it is still there");
        assert_eq!(query(&connection, "SELECT 1 FROM t").num_rows(), 1);
    }
);

matrix!(
    wire,
    fn a_reset_takes_one_round_trip(target: &Target) {
        let connection = fresh(target);
        let _open: Vec<_> =
            (0..3).map(|_| connection.begin(Default::default()).expect("it starts")).collect();
        assert_eq!(cost(&connection, || connection.reset().expect("it resets")), 1);
    },
    fn a_look_tells_a_cut_connection_from_a_silent_one(target: &Target) {
        let original = fresh_closed(target);
        let proxy = Proxy::start(target.server().address(), Behaviour::pass()).expect("a free port");
        let config = at(target, &original, proxy.address(), "");
        let connection = Connection::open(&config).expect("it opens");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let other = runtime.block_on(asynchronous::Connection::open(&config)).expect("it opens");
        for _ in 0..100 {
            let before = connection.wire_stats();
            assert!(connection.is_alive());
            assert_eq!(connection.wire_stats(), before, "nothing is sent");
            connection.ping().expect("nothing has got lost");
            runtime.block_on(async {
                assert!(other.is_alive());
                other.ping().await.expect("nothing has got lost");
            });
        }
        proxy.turn_to(Mischief::Silence);
        assert!(connection.is_alive() && other.is_alive());
        proxy.cut();
        assert!(comes(|| !connection.is_alive()));
        assert!(comes(|| !other.is_alive()));
        assert!(connection.is_failed() && other.is_failed());
        assert_eq!(connection.ping().expect_err("it is closed").kind(), Kind::Closed);
    }
);
