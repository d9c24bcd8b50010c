//! Connections whose server is gone, or does not answer.

use crate::odbc::*;
use crate::support::{Connection, Statement, fresh_string, unconnected};
use crate::transactions::integer;
use firearrow_testkit::{Behaviour, Proxy, Target, matrix};
use std::net::TcpListener;
use std::time::{Duration, Instant};

const LOGIN_TIMEOUT: i32 = 103;
const CONNECTION_TIMEOUT: i32 = 113;
const CONNECTION_DEAD: i32 = 1209;

/// A proxy before the server, and a connection string for a new database behind it.
fn behind_proxy(target: &Target) -> (Proxy, String) {
    let server = target.server();
    let proxy = Proxy::start(server.address(), Behaviour::pass()).expect("a proxy");
    let url = server.url_at(proxy.address(), &server.fresh_database_path());
    (proxy, format!("URL={{{url}}};CREATE_DB=Y"))
}

fn is_quick<T>(call: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = call();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    result
}

fn fails(statement: &Statement, code: Return) {
    assert_eq!((code, statement.state().as_str()), (ERROR, "08S01"), "{:?}", statement.records());
}

fn state(connection: &Connection) -> String {
    connection.records().first().map(|record| record.state.clone()).unwrap_or_default()
}

matrix!(
    wire,
    fn a_lost_connection_is_noticed_and_left(target: &Target) {
        for manual in [false, true] {
            let (proxy, text) = behind_proxy(target);
            let connection = unconnected(380);
            connection.connect(&text);
            assert_eq!(connection.set(102, usize::from(!manual)), SUCCESS);
            let statement = connection.statement();
            statement.prepare("SELECT 1 FROM RDB$DATABASE");
            assert_eq!(integer(&connection, CONNECTION_DEAD), 0);
            proxy.cut();
            std::thread::sleep(Duration::from_millis(100));
            // Nobody has called the server since.
            assert_eq!(is_quick(|| integer(&connection, CONNECTION_DEAD)), 1);
            fails(&statement, is_quick(|| statement.execute()));
            fails(&statement, is_quick(|| statement.execute_directly("INSERT INTO T VALUES (1)")));
            fails(&statement, is_quick(|| statement.try_prepare("SELECT 2 FROM RDB$DATABASE")));
            is_quick(|| connection.end(1));
            // SAFETY: handles are checked.
            unsafe {
                assert_eq!(
                    is_quick(|| SQLDisconnect(connection.handle)),
                    SUCCESS,
                    "{:?}",
                    connection.records()
                );
                assert_eq!(is_quick(|| SQLFreeHandle(DBC, connection.handle)), SUCCESS);
            }
        }
    },
    fn a_cursor_ends_with_its_connection(target: &Target) {
        let (proxy, text) = behind_proxy(target);
        let connection = unconnected(380);
        connection.connect(&text);
        let cursor = connection.statement();
        cursor.run("SELECT A.RDB$TYPE FROM RDB$TYPES A, RDB$TYPES B, RDB$TYPES C");
        assert_eq!(cursor.fetch(), SUCCESS);
        proxy.cut();
        // Rows that have arrived are good.
        let code = is_quick(|| {
            loop {
                let code = cursor.fetch();
                if code != SUCCESS {
                    return code;
                }
            }
        });
        fails(&cursor, code);
        assert_eq!(integer(&connection, CONNECTION_DEAD), 1);
        cursor.close();
        fails(&cursor, is_quick(|| cursor.execute_directly("SELECT 1 FROM RDB$DATABASE")));
    },
    fn a_call_on_a_lost_connection_says_so(target: &Target) {
        let (proxy, text) = behind_proxy(target);
        let connection = unconnected(380);
        connection.connect(&text);
        let statement = connection.statement();
        proxy.cut();
        fails(&statement, is_quick(|| statement.execute_directly("SELECT 1 FROM RDB$DATABASE")));
        assert_eq!(integer(&connection, CONNECTION_DEAD), 1);
        drop(statement);
        // SAFETY: handles are checked. The same handle connects again.
        assert_eq!(unsafe { is_quick(|| SQLDisconnect(connection.handle)) }, SUCCESS);
        connection.connect(&text);
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE"), [[Some("1".to_owned())]]);
    },
    fn a_silent_server_is_not_waited_for(target: &Target) {
        let (proxy, text) = behind_proxy(target);
        let connection = unconnected(380);
        assert_eq!(connection.set(CONNECTION_TIMEOUT, 1), SUCCESS);
        // The proxy cannot say anything that is encrypted.
        connection.connect(&(text + ";WIRECRYPT=Disabled"));
        assert_eq!(integer(&connection, CONNECTION_TIMEOUT), 1);
        let statement = connection.statement();
        statement.run("SELECT 1 FROM RDB$DATABASE");
        statement.close();
        proxy.turn_to(firearrow_testkit::Mischief::dummies(Duration::from_millis(20)));
        let begin = Instant::now();
        assert_eq!(statement.execute_directly("SELECT 2 FROM RDB$DATABASE"), ERROR);
        assert_eq!(statement.state(), "HYT01", "{:?}", statement.records());
        assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
        assert_eq!(integer(&connection, CONNECTION_DEAD), 1);
        fails(&statement, is_quick(|| statement.execute_directly("SELECT 3 FROM RDB$DATABASE")));
    },
    fn a_commit_whose_answer_is_lost_has_an_unknown_outcome(target: &Target) {
        let (proxy, text) = behind_proxy(target);
        let connection = unconnected(380);
        connection.connect(&text);
        connection.run("CREATE TABLE T (ID INTEGER)");
        assert_eq!(connection.set(102, 0), SUCCESS);
        connection.run("INSERT INTO T VALUES (1)");
        proxy.lose_next(firearrow_testkit::Side::Server);
        let code = connection.end(0);
        assert!(
            code == SUCCESS || matches!(state(&connection).as_str(), "08007" | "08S01"),
            "{:?}",
            connection.records()
        );
        assert_eq!(code == SUCCESS, integer(&connection, CONNECTION_DEAD) == 0);
    },
    fn a_killed_connection_is_dead(target: &Target) {
        let text = fresh_string(target);
        let (victim, other) = (unconnected(380), unconnected(380));
        victim.connect(&text);
        other.connect(&text);
        let number =
            victim.texts("SELECT CURRENT_CONNECTION FROM RDB$DATABASE")[0][0].clone().expect("a number");
        other.run(&format!("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = {number}"));
        std::thread::sleep(Duration::from_millis(200));
        let statement = victim.statement();
        fails(&statement, is_quick(|| statement.execute_directly("SELECT 1 FROM RDB$DATABASE")));
        drop(statement);
        // SAFETY: handles are checked.
        assert_eq!(unsafe { is_quick(|| SQLDisconnect(victim.handle)) }, SUCCESS, "{:?}", victim.records());
    },
);

#[test]
fn connecting_to_a_silent_server_takes_no_longer_than_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    for text in ["", ";TIMEOUT=1"] {
        let connection = unconnected(380);
        if text.is_empty() {
            assert_eq!(connection.set(LOGIN_TIMEOUT, 1), SUCCESS);
            assert_eq!(integer(&connection, LOGIN_TIMEOUT), 1);
        }
        let begin = Instant::now();
        let code = connection.try_connect(&format!("DBNAME=127.0.0.1/{port}:x;UID=a;PWD=b{text}"));
        assert_eq!((code, state(&connection).as_str()), (ERROR, "HYT00"), "{:?}", connection.records());
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    }
}
