//! A query that several connections read, of which some are lost: one error, in time, and no thread is left. Threads are
//! counted for the whole process, so these tests have one of their own and take turns. Only Linux counts threads.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "it/support.rs"]
mod support;

use firearrow::{
    BatchLimits, CancelToken, Config, Connection, Kind, Parallelism, TransactionOptions, WhyPlain,
};
use firearrow_testkit::{Behaviour, Mischief, Proxy, Side, Target, matrix};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};
use support::{at, config, query, run};

const LIMIT: Duration = Duration::from_secs(2);
static TURN: Mutex<()> = Mutex::new(());

/// The threads that read parts of queries. Linux keeps the first 15 bytes of their names.
fn reader_threads() -> usize {
    let threads = fs::read_dir("/proc/self/task").expect("Linux");
    let names = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| "firearrow-reader".starts_with(name.trim_end()) && name.len() > 12).count()
}

/// Fails if such a thread is left: a thread that was joined is listed for a moment longer.
#[track_caller]
fn none_is_left(what: &str) {
    let begin = Instant::now();
    while reader_threads() > 0 {
        assert!(
            begin.elapsed() < Duration::from_millis(500),
            "{what}: {} threads are left",
            reader_threads()
        );
        thread::sleep(Duration::from_millis(1));
    }
}

fn filled(target: &Target) -> Config {
    let mut config = config(target, &target.fresh_url());
    config.page_size = Some(4096);
    let connection = Connection::create(&config).expect("it is created");
    run(&connection, "CREATE TABLE t (id INTEGER, text VARCHAR(300))");
    run(
        &connection,
        "EXECUTE BLOCK AS DECLARE i INTEGER = 0; DECLARE x VARCHAR(144); BEGIN WHILE (i < 20000) DO BEGIN
             x = UUID_TO_CHAR(GEN_UUID()) || UUID_TO_CHAR(GEN_UUID()) || UUID_TO_CHAR(GEN_UUID());
             INSERT INTO t VALUES (:i, :x || :x); i = i + 1;
         END END",
    );
    config
}

/// A path to the database of `original`, with short time limits.
fn through(target: &Target, original: &Config, behaviour: Behaviour) -> (Proxy, Config) {
    let proxy = Proxy::start(target.server().address(), behaviour).expect("a port is free");
    let mut config = at(target, original, proxy.address(), "wire_crypt=disabled");
    config.connect_timeout = LIMIT;
    config.read_timeout = Some(LIMIT);
    (proxy, config)
}

/// A path on which only the first connection gets an answer.
fn only_the_first(target: &Target, original: &Config) -> Config {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let mut config = at(target, original, listener.local_addr().expect("it listens"), "wire_crypt=disabled");
    config.connect_timeout = Duration::from_secs(60);
    let address = target.server().address();
    let pass = |mut from: TcpStream, mut to: TcpStream| thread::spawn(move || io::copy(&mut from, &mut to));
    thread::spawn(move || {
        let mut accepted = Vec::new();
        for client in listener.incoming().map_while(Result::ok) {
            if accepted.is_empty() {
                let server = TcpStream::connect(address).expect("it listens");
                let clone = |stream: &TcpStream| stream.try_clone().expect("a descriptor is free");
                pass(clone(&client), clone(&server));
                pass(server, clone(&client));
            }
            accepted.push(client);
        }
    });
    config
}

matrix!(
    // Before 4.0 connections do not share snapshots.
    [firebird_4_0, firebird_5_0],
    fn they_are_one_error_and_no_thread_is_left(target: &Target) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let original = filled(target);
        let direct = Connection::open(&original).expect("it opens");
        // The first connection needs less than this, and each reader more.
        for bytes in [60_000, 200_000, 400_000] {
            for (behaviour, expected) in [
                (Behaviour::cut_from_server(bytes), &[Kind::Closed, Kind::Io][..]),
                (Behaviour::stall_from_server(bytes), &[Kind::Timeout, Kind::Io][..]),
            ] {
                let (_proxy, config) = through(target, &original, behaviour);
                let connection = Connection::open(&config).expect("it opens");
                let transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
                let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
                let limits = BatchLimits::default().rows(500).full(true);
                let statement = statement.with_limits(limits).with_parallel(3);
                let begin = Instant::now();
                let mut cursor = statement.query(&transaction, ()).expect("it runs");
                assert_eq!(cursor.parallel(), &Parallelism::Readers(3));
                let mut rows = 0;
                let error = loop {
                    match cursor.next_batch() {
                        Ok(Some(batch)) => rows += batch.num_rows(),
                        Ok(None) => panic!("a part is missing"),
                        Err(error) => break error,
                    }
                };
                assert!(expected.contains(&error.kind()), "{bytes}: {:?} {error}", error.kind());
                assert!(rows < 20_000);
                assert_eq!(cursor.next_batch().expect_err("it repeats its error").kind(), error.kind());
                drop(cursor);
                none_is_left(&format!("{bytes}: {error}"));
                // Connecting, reading and leaving are limited each.
                assert!(begin.elapsed() < 4 * LIMIT, "{:?}", begin.elapsed());
            }
        }
        assert_eq!(query(&direct, "SELECT 1 FROM t").num_rows(), 20_000);
    },
    fn readers_that_cannot_connect_leave_no_thread(target: &Target) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let original = filled(target);
        let (proxy, config) = through(target, &original, Behaviour::pass());
        let connection = Connection::open(&config).expect("it opens");
        let transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL").with_parallel(3);
        let cursor = statement.query(&transaction, ()).expect("it runs");
        assert_eq!(reader_threads(), 3);
        drop(cursor);
        none_is_left("nothing was lost");
        // The next answer is that to the first reader or to the leader.
        proxy.lose_next(Side::Server);
        let begin = Instant::now();
        if let Ok(mut cursor) = statement.query(&transaction, ()) {
            while cursor.next_batch().is_ok_and(|batch| batch.is_some()) {}
        }
        assert!(begin.elapsed() < 4 * LIMIT, "{:?}", begin.elapsed());
        none_is_left("one could not connect");
    },
    fn readers_that_get_no_answer_are_not_waited_for(target: &Target) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let original = filled(target);
        let connection = Connection::open(&only_the_first(target, &original)).expect("it opens");
        let transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL").with_parallel(3);
        let begin = Instant::now();
        let cursor = statement.query(&transaction, ()).expect("it runs without them");
        assert!(begin.elapsed() < Duration::from_secs(6), "{:?}", begin.elapsed());
        assert!(
            matches!(cursor.parallel().why_plain(), Some(WhyPlain::Readers(_))),
            "{:?}",
            cursor.parallel()
        );
        none_is_left("they could not connect");
        assert_eq!(cursor.map(|batch| batch.expect("it is read").num_rows()).sum::<usize>(), 20_000);
        // The query has no more time than it was given, however it is read.
        let late = statement.clone().with_timeout(Some(Duration::from_millis(500)));
        let token = CancelToken::new();
        for (begun, kind) in [
            (
                &(|| late.query(&transaction, ()).map(drop)) as &dyn Fn() -> firearrow::Result<()>,
                Kind::Timeout,
            ),
            (&|| token.run(|| statement.query(&transaction, ()).map(drop)), Kind::Cancelled),
        ] {
            let begin = Instant::now();
            let error = thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(700));
                    token.cancel();
                });
                begun().expect_err("they do not connect")
            });
            assert_eq!(error.kind(), kind, "{error}");
            assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        }
        let begin = Instant::now();
        while reader_threads() > 0 {
            assert!(begin.elapsed() < Duration::from_secs(5), "{} threads are left", reader_threads());
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(query(&connection, "SELECT 1 FROM t").num_rows(), 20_000);
    },
    fn an_interrupted_query_does_not_wait_for_readers(target: &Target) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let original = filled(target);
        for reads in [true, false] {
            let (proxy, config) = through(target, &original, Behaviour::pass());
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
            let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
            let limits = BatchLimits::default().rows(100).full(true);
            let statement = statement.with_limits(limits).with_parallel(3);
            let mut cursor = statement.query(&transaction, ()).expect("it runs");
            assert_eq!(cursor.parallel(), &Parallelism::Readers(3));
            let _ = cursor.next_batch().expect("it is read").expect("rows");
            proxy.turn_to(Mischief::Silence);
            let begin = Instant::now();
            let token = CancelToken::after(Duration::from_millis(300));
            token.run(|| {
                if reads {
                    let error = loop {
                        match cursor.next_batch() {
                            Ok(batch) => assert!(batch.is_some(), "a part is missing"),
                            Err(error) => break error,
                        }
                    };
                    assert_eq!(error.kind(), Kind::Timeout, "{error}");
                }
                drop(cursor);
            });
            assert!(begin.elapsed() < Duration::from_millis(1500), "{reads}: {:?}", begin.elapsed());
            proxy.cut();
            drop(transaction);
            none_is_left("the path was cut");
        }
    }
);
