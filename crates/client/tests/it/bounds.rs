//! Bounded memory and bounded waiting.

use crate::support::{fresh, run};
use firearrow::{BatchLimits, Config, Connection, Kind};
use firearrow_testkit::{Target, matrix};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

// The client ends them; what it is told to fetch differs between the wire and the engine.
matrix!(
    [firebird_4_0, embedded_5_0],
    fn batches_are_bounded_by_bytes(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (filler VARCHAR(8000))");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 2000) DO BEGIN INSERT INTO t VALUES (RPAD('', 8000, 'x')); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let limits = BatchLimits::default().bytes(1 << 20);
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL").with_limits(limits);
        let mut rows = 0;
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        while let Some(batch) = cursor.next_batch().expect("rows") {
            assert!(batch.get_array_memory_size() < 3 << 20, "{} bytes", batch.get_array_memory_size());
            rows += batch.num_rows();
        }
        assert_eq!(rows, 2000);
    }
);

/// A server that answers each connection with `bytes`, then nothing more.
fn answering(bytes: Vec<u8>, keep_open: bool) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.write_all(&bytes);
            if keep_open {
                thread::sleep(Duration::from_secs(20));
            }
        }
    });
    port
}

fn connect(port: u16) -> (Kind, String, Duration) {
    let mut config = Config::parse(&format!("firebird://SYSDBA:x@127.0.0.1:{port}/db")).expect("a valid URL");
    config.connect_timeout = Duration::from_millis(700);
    let start = Instant::now();
    let error = Connection::open(&config).expect_err("no Firebird answers there");
    (error.kind(), error.to_string(), start.elapsed())
}

#[test]
fn a_silent_peer_runs_into_the_connect_timeout() {
    let (kind, text, took) = connect(answering(Vec::new(), true));
    assert_eq!(kind, Kind::Timeout, "{text}");
    assert!(text.contains("connect_timeout"), "{text}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_peer_that_trickles_runs_into_the_connect_timeout() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // op_dummy for ever: every read succeeds, nothing is ever answered.
            while stream.write_all(&71_u32.to_be_bytes()).is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        }
    });
    let (kind, text, took) = connect(port);
    assert_eq!(kind, Kind::Timeout, "{text}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_peer_that_closes_is_told() {
    let (kind, text, _) = connect(answering(Vec::new(), false));
    assert_eq!(kind, Kind::Closed, "{text}");
}

#[test]
fn nonsense_is_a_protocol_error() {
    let cases: [&[u8]; 5] = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        // op_response whose data claim 2 GB.
        &[0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff],
        // op_accept_data with authentication data that claim 2 GB.
        &[0, 0, 0, 94, 0xff, 0xff, 0x80, 13, 0, 0, 0, 1, 0, 0, 0, 5, 0x7f, 0xff, 0xff, 0xff],
        // A packet type that does not exist.
        &[0, 0, 1, 0, 0, 0, 0, 0],
        // A version that nobody offered.
        &[0, 0, 0, 3, 0xff, 0xff, 0x80, 99, 0, 0, 0, 1, 0, 0, 0, 5],
    ];
    for bytes in cases {
        let (kind, text, took) = connect(answering(bytes.to_vec(), true));
        assert_eq!(kind, Kind::Protocol, "{bytes:?}: {text}");
        assert!(took < Duration::from_millis(600), "{took:?}");
    }
}
