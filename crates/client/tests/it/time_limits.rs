//! Servers that never come to an end: time limits and cancelling hold however the bytes arrive.

use crate::support::{config, fresh_closed, run};
use arrow::array::{ArrayRef, AsArray, LargeBinaryArray, RecordBatch};
use arrow::datatypes::{Int32Type, UInt64Type};
use firearrow::config::Target as Place;
use firearrow::{BatchLimits, CancelToken, Config, Connection, Error, Kind, ReadOptions, Transaction};
use firearrow_testkit::{Behaviour, Generation, Mischief, Proxy, Target, matrix};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The limits of these tests.
const LIMIT: Duration = Duration::from_millis(300);
/// By when something with a limit must have ended.
const SOON: Duration = Duration::from_secs(3);
/// By when something that was cancelled must have ended: servers have two seconds to react, and more if they go on
/// answering.
const CANCELLED: Duration = Duration::from_secs(5);
/// Between two signs of life.
const PAUSE: Duration = Duration::from_millis(5);

/// A connection through a proxy that can misbehave.
struct Hostile {
    connection: Connection,
    proxy: Proxy,
}

impl Hostile {
    fn open(target: &Target, limit: Option<Duration>) -> Self {
        let original = fresh_closed(target);
        run(&Connection::open(&original).expect("it opens"), "CREATE TABLE t (id INTEGER, b BLOB)");
        let (proxy, config) = through(target, &original, limit);
        let connection = Connection::open(&config).expect("it opens");
        let long = Arc::new(LargeBinaryArray::from_vec(vec![&[7; 300_000]])) as ArrayRef;
        let row = RecordBatch::try_from_iter([("b", long)]).expect("one column");
        connection.execute_with("INSERT INTO t VALUES (1, ?)", row).expect("it fits");
        Self { connection, proxy }
    }

    /// What `work` fails with, and after which time.
    fn failure<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> (Error, Duration) {
        let begin = Instant::now();
        match work(&self.connection) {
            Ok(_) => panic!("nobody answers"),
            Err(error) => (error, begin.elapsed()),
        }
    }

    /// The same for work that is cancelled after [`LIMIT`].
    fn cancelled<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> (Error, Duration) {
        let handle = self.connection.cancel_handle();
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(LIMIT);
                handle.cancel();
            });
            self.failure(work)
        })
    }
}

fn through(target: &Target, original: &Config, limit: Option<Duration>) -> (Proxy, Config) {
    let (Target::Wire(server), Place::Remote { database, .. }) = (target, &original.target) else {
        panic!("a wire test")
    };
    let proxy = Proxy::start(server.address(), Behaviour::pass()).expect("a proxy");
    let url = server.url_at(proxy.address(), Path::new(database));
    let mut config = config(target, &format!("{url}?wire_crypt=disabled"));
    config.read_timeout = limit;
    (proxy, config)
}

fn mischiefs() -> [Mischief; 3] {
    // A byte takes as long as it may: no answer is whole in time.
    [Mischief::Silence, Mischief::dummies(PAUSE), Mischief::Trickle(LIMIT / 6)]
}

fn id(connection: &Connection) -> Result<i32, Error> {
    let mut cursor = connection.query("SELECT id FROM t")?;
    let batch = cursor.next_batch()?.expect("a row");
    Ok(batch.column(0).as_primitive::<Int32Type>().value(0))
}

/// The id of the BLOB of the only row.
fn blob_id(transaction: &Transaction) -> u64 {
    let mut lazy = ReadOptions::default();
    lazy.set("blobs", "lazy").expect("a known option");
    let statement = transaction.prepare("SELECT b FROM t").expect("valid SQL").with_read_options(lazy);
    let mut cursor = statement.query(transaction, ()).expect("it runs");
    let batch = cursor.next_batch().expect("it reads").expect("a row");
    batch.column(0).as_primitive::<UInt64Type>().value(0)
}

matrix!(
    wire,
    fn an_answer_that_never_ends_is_not_waited_for(target: &Target) {
        for mischief in mischiefs() {
            let hostile = Hostile::open(target, Some(LIMIT));
            assert_eq!(id(&hostile.connection).expect("it answers"), 1);
            hostile.connection.ping().expect("nothing of it is under way");
            hostile.proxy.turn_to(mischief.clone());
            let (error, spent) = hostile.failure(id);
            assert_eq!(error.kind(), Kind::Timeout, "{mischief:?}: {error}");
            assert!(spent >= LIMIT && spent < SOON, "{mischief:?}: {spent:?}");
            assert!(hostile.connection.is_failed());
        }
    },
    fn rows_in_time_are_no_reason_to_stop(target: &Target) {
        let original = fresh_closed(target);
        let limit = Duration::from_secs(1);
        let (proxy, config) = through(target, &original, Some(limit));
        let connection = Connection::open(&config).expect("it opens");
        let sql = "WITH RECURSIVE n (i) AS (SELECT 1 FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
                   SELECT i FROM n";
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(sql).expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().full(true));
        // A row takes a small part of the limit, all of them more than the limit.
        proxy.turn_to(Mischief::Trickle(Duration::from_micros(500)));
        let begin = Instant::now();
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        assert_eq!(cursor.next_batch().expect("rows come").map(|batch| batch.num_rows()), Some(200));
        assert!(begin.elapsed() > limit, "{:?}", begin.elapsed());
    },
    fn the_first_rows_do_not_wait_for_the_last(target: &Target) {
        let original = fresh_closed(target);
        let (proxy, config) = through(target, &original, None);
        let connection = Connection::open(&config).expect("it opens");
        let sql = "WITH RECURSIVE n (i) AS (SELECT 1 FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
                   SELECT i FROM n";
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare(sql).expect("valid SQL");
        proxy.turn_to(Mischief::Trickle(Duration::from_micros(500)));
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        let mut rows = Vec::new();
        while let Some(batch) = cursor.next_batch().expect("rows come") {
            rows.push(batch.num_rows());
        }
        assert_eq!(rows.iter().sum::<usize>(), 500);
        // It waits four times as long for each batch.
        assert!((3..10).contains(&rows.len()), "{rows:?}");
        assert!(rows[0] < 100 && rows[0] < rows[2], "{rows:?}");
    },
    fn a_link_that_becomes_slow_does_not_cost_the_connection(target: &Target) {
        const ENDLESS: &str = "SELECT A.RDB$TYPE FROM RDB$TYPES A, RDB$TYPES B, RDB$TYPES C, RDB$TYPES D";
        const TICK: Duration = Duration::from_millis(10);
        /// A silent server has two seconds.
        const WANTED: std::ops::Range<Duration> = Duration::from_millis(2200)..Duration::from_millis(3800);
        let closed = fresh_closed(target);
        // How much is under way depends on the machine, so the right pace has to be found.
        let mut slower = 60.0;
        for _ in 0..12 {
            let (proxy, config) = through(target, &closed, None);
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare(ENDLESS).expect("valid SQL");
            let mut cursor = statement.query(&transaction, ()).expect("it runs");
            let (begin, before) = (Instant::now(), proxy.bytes_from_server());
            while begin.elapsed() < Duration::from_millis(500) {
                assert!(cursor.next_batch().expect("rows come").is_some());
            }
            let bytes = (proxy.bytes_from_server() - before) as f64 / 50.0 / slower;
            proxy.turn_to(Mischief::Slow(bytes as usize, TICK));
            let token = CancelToken::new();
            token.cancel();
            let begin = Instant::now();
            token.run(|| drop((cursor, statement)));
            // After that it works, if it is not closed.
            let next = transaction
                .query("SELECT 1 FROM RDB$DATABASE")
                .map(|rows| rows.map_while(Result::ok).count());
            let took = begin.elapsed();
            if WANTED.contains(&took) {
                assert_eq!(next.expect("the transaction goes on"), 1);
                return;
            }
            slower *= (3.0 / took.as_secs_f64()).clamp(0.3, 10.0);
        }
        panic!("no pace was right, in the end a {slower}th");
    },
    fn connecting_has_its_time(target: &Target) {
        let original = fresh_closed(target);
        for mischief in [Mischief::Silence, Mischief::Trickle(PAUSE), Mischief::dummies(PAUSE)] {
            let (proxy, mut config) = through(target, &original, None);
            config.connect_timeout = LIMIT;
            proxy.turn_to(mischief.clone());
            let begin = Instant::now();
            let error = Connection::open(&config).expect_err("it takes too long");
            assert_eq!(error.kind(), Kind::Timeout, "{mischief:?}: {error}");
            assert!(begin.elapsed() < SOON, "{mischief:?}: {:?}", begin.elapsed());
        }
    },
    fn a_call_is_cancelled_while_bytes_come(target: &Target) {
        for mischief in mischiefs() {
            let hostile = Hostile::open(target, None);
            hostile.proxy.turn_to(mischief.clone());
            let (error, spent) = hostile.cancelled(id);
            assert_eq!(error.kind(), Kind::Cancelled, "{mischief:?}: {error}");
            assert!(spent >= LIMIT && spent < CANCELLED, "{mischief:?}: {spent:?}");
        }
    },
    fn a_statement_has_its_time_while_bytes_come(target: &Target) {
        for mischief in mischiefs() {
            let hostile = Hostile::open(target, None);
            let transaction = hostile.connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id FROM t").expect("valid SQL");
            let statement = statement.with_timeout(Some(LIMIT));
            hostile.proxy.turn_to(mischief.clone());
            let (error, spent) = hostile
                .failure(|_| statement.query(&transaction, ()).and_then(|mut cursor| cursor.next_batch()));
            assert_eq!(error.kind(), Kind::Timeout, "{mischief:?}: {error}");
            // Servers from 4.0 on have promised to end it, and are given a second more.
            let grace = u64::from(target.generation() >= Generation::V4_0);
            let most = CANCELLED + Duration::from_secs(grace);
            assert!(spent >= LIMIT && spent < most, "{mischief:?}: {spent:?}");
        }
    },
    fn empty_segments_are_no_contents(target: &Target) {
        for is_cancelled in [false, true] {
            let hostile = Hostile::open(target, (!is_cancelled).then_some(LIMIT));
            let transaction = hostile.connection.begin(Default::default()).expect("it starts");
            let id = blob_id(&transaction);
            let mut blob = transaction.open_blob(id).expect("it is there");
            hostile.proxy.turn_to(Mischief::empty_answers(PAUSE));
            let mut read = |_: &Connection| {
                let mut contents = Vec::new();
                // The first segment is here already.
                let read = blob.read_to_end(&mut contents).map(|_| contents);
                read.map_err(|error| error.downcast::<Error>().expect("an error of the client"))
            };
            let (error, spent) = match is_cancelled {
                false => hostile.failure(&mut read),
                true => hostile.cancelled(&mut read),
            };
            let kind = if is_cancelled { Kind::Cancelled } else { Kind::Timeout };
            // On a busy machine an answer may come before it was asked for, which is refused.
            assert!([kind, Kind::Protocol].contains(&error.kind()), "{error}");
            assert!(spent < CANCELLED, "{spent:?}");
        }
    },
    fn leaving_has_its_time(target: &Target) {
        for mischief in mischiefs() {
            // A cursor that is left, and all the rest of the connection.
            let hostile = Hostile::open(target, Some(LIMIT));
            let cursor = hostile.connection.query("SELECT id FROM t").expect("it runs");
            hostile.proxy.turn_to(mischief.clone());
            let begin = Instant::now();
            drop(cursor);
            let Hostile { connection, proxy } = hostile;
            drop(connection);
            assert!(begin.elapsed() < SOON, "{mischief:?}: {:?}", begin.elapsed());
            drop(proxy);
        }
        // Without a limit the connection has five seconds to leave.
        for mischief in [Mischief::Silence, Mischief::dummies(PAUSE), Mischief::Trickle(LIMIT)] {
            let Hostile { connection, proxy } = Hostile::open(target, None);
            proxy.turn_to(mischief.clone());
            let begin = Instant::now();
            let error = connection.close().expect_err("nobody answers");
            assert_eq!(error.kind(), Kind::Timeout, "{mischief:?}: {error}");
            assert!(begin.elapsed() < Duration::from_secs(8), "{mischief:?}: {:?}", begin.elapsed());
        }
    },
    fn the_end_of_a_listener_has_its_time(target: &Target) {
        // Without a limit the server has five seconds to confirm it.
        let cases = [
            (Some(LIMIT), Mischief::Silence, LIMIT, SOON),
            (Some(LIMIT), Mischief::dummies(PAUSE), LIMIT, SOON),
            (None, Mischief::Silence, Duration::from_secs(5), Duration::from_secs(8)),
        ];
        for (limit, mischief, least, most) in cases {
            let hostile = Hostile::open(target, limit);
            let listener = hostile.connection.events(&["a"]).expect("it listens");
            assert_eq!(listener.wait(Duration::ZERO).expect("alive"), None);
            hostile.proxy.turn_to(mischief.clone());
            let begin = Instant::now();
            drop(listener);
            let spent = begin.elapsed();
            assert!(spent >= least && spent < most, "{mischief:?}: {spent:?}");
            assert!(hostile.connection.is_failed(), "{mischief:?}");
        }
        // One that ended in time leaves no limit to what follows.
        let hostile = Hostile::open(target, None);
        let listener = hostile.connection.events(&["a"]).expect("it listens");
        assert_eq!(listener.wait(Duration::ZERO).expect("alive"), None);
        listener.close().expect("the server confirms it");
        thread::sleep(Duration::from_millis(5500));
        assert_eq!(id(&hostile.connection).expect("it answers"), 1);
    }
);
