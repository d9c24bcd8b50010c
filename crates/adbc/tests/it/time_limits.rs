//! A server that never comes to an end: time limits and cancelling hold however the bytes arrive.

use crate::support::{database, detail, fails, query, run, statement};
use adbc_core::error::Status;
use adbc_core::options::OptionStatement;
use adbc_core::{Database, Optionable, Statement};
use adbc_driver_manager::ManagedConnection;
use firearrow_testkit::{Behaviour, Mischief, Proxy, Target, matrix};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(300);
/// A cancelled call ends after five seconds at the latest.
const SOON: Duration = Duration::from_secs(8);

/// A connection through a proxy that can misbehave; `options` follow in its address.
fn through(target: &Target, options: &str) -> (Proxy, ManagedConnection) {
    let Target::Wire(server) = target else { panic!("a wire test") };
    let url = target.fresh_url();
    let proxy = Proxy::start(server.address(), Behaviour::pass()).expect("a proxy");
    let url = url.replace(&server.address().to_string(), &proxy.address().to_string());
    let separator = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{separator}wire_crypt=disabled{options}");
    let mut connection = database(target, &url).new_connection().expect("it opens");
    assert!(proxy.connections() > 0, "{url} does not lead through the proxy");
    run(&mut connection, "CREATE TABLE t (id INTEGER)");
    assert_eq!(query(&mut connection, "SELECT id FROM t").num_rows(), 0);
    (proxy, connection)
}

matrix!(
    wire,
    fn executions_have_their_time_while_bytes_come(target: &Target) {
        for mischief in [Mischief::Silence, Mischief::dummies(LIMIT / 50), Mischief::Trickle(LIMIT / 6)] {
            let (proxy, mut connection) = through(target, "");
            let mut slow = statement(&mut connection, "SELECT id + 1 FROM t");
            let limit = OptionStatement::Other("adbc.firebird.query.timeout".into());
            slow.set_option(limit, (LIMIT.as_millis() as i64).into()).expect("it is known");
            proxy.turn_to(mischief.clone());
            let begin = Instant::now();
            fails(slow.execute().map(drop), Status::Timeout);
            assert!(begin.elapsed() < SOON, "{mischief:?}: {:?}", begin.elapsed());
            let begin = Instant::now();
            drop((slow, connection));
            assert!(begin.elapsed() < SOON, "{mischief:?}: {:?}", begin.elapsed());
        }
    },
    fn preparing_has_its_time_too(target: &Target) {
        let (proxy, mut connection) = through(target, "");
        let mut slow = statement(&mut connection, "SELECT id + 1 FROM t");
        let limit = OptionStatement::Other("adbc.firebird.query.timeout".into());
        slow.set_option(limit, (LIMIT.as_millis() as i64).into()).expect("it is known");
        proxy.turn_to(Mischief::Silence);
        let begin = Instant::now();
        fails(slow.prepare(), Status::Timeout);
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    },
    fn what_runs_out_of_time_may_be_committed(target: &Target) {
        let (proxy, mut connection) = through(target, "");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (1)");
        insert.execute_update().expect("it inserts");
        let limit = OptionStatement::Other("adbc.firebird.query.timeout".into());
        insert.set_option(limit, (LIMIT.as_millis() as i64).into()).expect("it is known");
        proxy.turn_to(Mischief::Silence);
        let error = fails(insert.execute_update(), Status::Timeout);
        assert_eq!(detail(&error, "firebird.commit").as_deref(), Some("unknown"), "{error}");
    },
    fn executions_are_cancelled_while_bytes_come(target: &Target) {
        for mischief in [Mischief::Silence, Mischief::dummies(LIMIT / 50), Mischief::Trickle(LIMIT / 6)] {
            let (proxy, mut connection) = through(target, "");
            let mut slow = statement(&mut connection, "SELECT id + 1 FROM t");
            proxy.turn_to(mischief.clone());
            let handle = slow.get_cancel_handle();
            let cancelling = thread::spawn(move || {
                thread::sleep(LIMIT);
                handle.try_cancel().expect("there is something to cancel");
            });
            let begin = Instant::now();
            fails(slow.execute().map(drop), Status::Cancelled);
            assert!(begin.elapsed() < SOON, "{mischief:?}: {:?}", begin.elapsed());
            cancelling.join().expect("it ends");
        }
    }
);
