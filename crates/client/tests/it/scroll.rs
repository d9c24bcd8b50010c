//! Scrollable cursors: the same on every platform, whoever scrolls.

use crate::scroll_model::{Variant, moves_agree, variants};
use crate::support::{config, fresh, query, rows, run};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, UInt64Type};
use firearrow::arrow::BlobPolicy;
use firearrow::{BatchLimits, Connection, Kind, Position, ReadOptions, Result, ScrollCursor};
use firearrow_testkit::{Target, matrix};
use std::thread;
use std::time::{Duration, Instant};

/// Creates table T with `rows` rows: ID from 1 on, and a filler of `width` bytes.
fn numbers(connection: &Connection, rows: usize, width: usize) {
    run(connection, "CREATE TABLE t (id INTEGER, filler VARCHAR(2000) CHARACTER SET ASCII)");
    let sql = format!(
        "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
             WHILE (i < {rows}) DO BEGIN i = i + 1; INSERT INTO t VALUES (:i, RPAD('', {width}, 'x')); END
         END"
    );
    run(connection, &sql);
}

/// A fresh database with [`numbers`], and the ways to scroll in it.
fn prepared(target: &Target, rows: usize, width: usize) -> Vec<Variant> {
    let url = target.fresh_url();
    let connection = Connection::create(&config(target, &url)).expect("a fresh database");
    numbers(&connection, rows, width);
    connection.close().expect("nothing is open");
    variants(target, &url)
}

/// The ids in the first column; none for no batch.
fn ids(batch: Option<RecordBatch>) -> Vec<i32> {
    batch.map(|batch| batch.column(0).as_primitive::<Int32Type>().values().to_vec()).unwrap_or_default()
}

/// Moves that must succeed.
fn go(cursor: &mut ScrollCursor, to: Position, rows: usize) -> Vec<i32> {
    ids(cursor.fetch(to, rows).unwrap_or_else(|error| panic!("{to:?}, {rows} rows: {error}")))
}

/// A failed cursor repeats its error.
fn fails(cursor: &mut ScrollCursor, result: Result<Option<RecordBatch>>, kind: Kind) -> firearrow::Error {
    let error = result.expect_err("it must fail");
    assert_eq!(error.kind(), kind, "{error}");
    let again = cursor.first().expect_err("the cursor has failed");
    assert_eq!((again.kind(), again.to_string()), (kind, error.to_string()));
    error
}

matrix!(
    all,
    fn moves_agree_with_a_model(target: &Target) {
        moves_agree(target);
    },
    fn verbs_do_what_their_names_say(target: &Target) {
        for Variant { name, config, options, .. } in prepared(target, 10, 1) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id FROM t ORDER BY id").expect("valid SQL");
            let statement = statement.with_scroll_options(options);
            let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
            let expect = |batch: Result<Option<RecordBatch>>, rows: &[i32]| {
                assert_eq!(ids(batch.expect(name)), rows, "{name}");
            };
            expect(cursor.prior(1), &[]);
            expect(cursor.next(3), &[1, 2, 3]);
            expect(cursor.prior(2), &[2, 1]);
            expect(cursor.last(), &[10]);
            expect(cursor.relative(-4), &[6]);
            expect(cursor.relative(0), &[6]);
            expect(cursor.absolute(-10), &[1]);
            expect(cursor.absolute(7), &[7]);
            expect(cursor.next(9), &[8, 9, 10]);
            expect(cursor.next(1), &[]);
            expect(cursor.relative(0), &[]);
            expect(cursor.prior(1), &[10]);
            expect(cursor.first(), &[1]);
            expect(cursor.absolute(0), &[]);
            expect(cursor.relative(2), &[2]);
            // Exactly the rows that are left: the place is the last row, not the one behind it.
            expect(cursor.next(8), &[3, 4, 5, 6, 7, 8, 9, 10]);
            expect(cursor.prior(1), &[9]);
            // Beyond 32 bits.
            expect(cursor.absolute(i64::MAX), &[]);
            expect(cursor.prior(1), &[10]);
            expect(cursor.relative(i64::MIN), &[]);
            expect(cursor.next(1), &[1]);
            expect(cursor.absolute(-5_000_000_000), &[]);
            expect(cursor.relative(5_000_000_000), &[]);
            expect(cursor.prior(usize::MAX), &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
            expect(cursor.next(usize::MAX), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
            cursor.close().expect("it is open");
            drop(statement);
            let mut cursor = transaction.query_scrollable("SELECT id FROM t WHERE id > 8").expect("it runs");
            assert_eq!(go(&mut cursor, Position::Last, 1), [10]);
        }
    },
    fn one_fetch_takes_more_rows_than_a_packet_can_ask_for(target: &Target) {
        let count = 70_000;
        for Variant { name, config, options, .. } in prepared(target, count, 1) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id FROM t ORDER BY id").expect("valid SQL");
            let statement = statement.with_scroll_options(options);
            let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
            let up: Vec<i32> = (1..=count as i32).collect();
            let down: Vec<i32> = up.iter().rev().copied().collect();
            assert!(go(&mut cursor, Position::Next, count) == up, "{name}");
            assert!(go(&mut cursor, Position::Prior, count) == down[1..], "{name}");
            assert!(go(&mut cursor, Position::First, count - 1) == up[..count - 1], "{name}");
            assert_eq!(go(&mut cursor, Position::Next, 1), [count as i32], "{name}");
            assert!(go(&mut cursor, Position::Absolute(-66_000), 65_999) == up[4000..count - 1], "{name}");
        }
    },
    fn many_blobs_fill_one_fetch(target: &Target) {
        let url = target.fresh_url();
        let connection = Connection::create(&config(target, &url)).expect("a fresh database");
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE TEXT)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 6000) DO BEGIN i = i + 1; INSERT INTO t VALUES (:i, 'blob ' || :i); END
             END",
        );
        connection.close().expect("nothing is open");
        for Variant { name, mut config, options, .. } in variants(target, &url) {
            // With next to no room for BLOBs that come with their rows.
            for room in [None, Some(5000)] {
                config.max_blob_cache_size = room;
                let connection = Connection::open(&config).expect("it opens");
                let transaction = connection.begin(Default::default()).expect("it starts");
                let statement = transaction.prepare("SELECT id, b FROM t ORDER BY id").expect("valid SQL");
                let statement = statement.with_scroll_options(options);
                let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
                for backwards in [false, true] {
                    let batch = if backwards { cursor.prior(6000) } else { cursor.next(6001) };
                    let batch = batch.expect(name).expect("rows");
                    let mut found = ids(Some(batch.clone()));
                    let texts = batch.column(1).as_string::<i32>();
                    assert!(found.iter().zip(texts).all(|(id, text)| text == Some(&format!("blob {id}"))));
                    found.sort_unstable();
                    assert!(found.iter().copied().eq(1..=6000), "{name}");
                }
            }
        }
    },
    fn ids_of_blobs_can_be_read_later(target: &Target) {
        let url = target.fresh_url();
        let connection = Connection::create(&config(target, &url)).expect("a fresh database");
        run(&connection, "CREATE TABLE t (b BLOB SUB_TYPE TEXT)");
        run(&connection, "INSERT INTO t VALUES ('here')");
        connection.close().expect("nothing is open");
        for Variant { name, config, options, .. } in variants(target, &url) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let read = ReadOptions::default().blobs(BlobPolicy::Lazy);
            let statement = transaction.prepare("SELECT b FROM t").expect("valid SQL");
            let statement = statement.with_read_options(read).with_scroll_options(options);
            let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
            let batch = cursor.last().expect(name).expect("a row");
            let ids = batch.column(0).as_primitive::<UInt64Type>();
            assert_eq!(transaction.read_blobs(ids).expect("it is there").value(0), b"here", "{name}");
        }
    },
    fn one_cursor_at_a_time_is_open_on_a_statement(target: &Target) {
        for Variant { config, options, .. } in prepared(target, 100, 100) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id, filler FROM t ORDER BY id").expect("valid SQL");
            let statement = statement.with_scroll_options(options);
            for _ in 0..2 {
                let mut cursor =
                    statement.query_scrollable(&transaction, ()).expect("the one before is closed");
                assert_eq!(go(&mut cursor, Position::Absolute(90), 2), [90, 91]);
                let error = statement.query_scrollable(&transaction, ()).expect_err("one is open");
                assert_eq!(error.kind(), Kind::Misuse);
                assert_eq!(statement.query(&transaction, ()).expect_err("one is open").kind(), Kind::Misuse);
                assert_eq!(go(&mut cursor, Position::Next, 1), [92]);
                cursor.close().expect("it is open");
                assert_eq!(rows(statement.query(&transaction, ()).expect("none is open")).num_rows(), 100);
                // Dropped without a word, in the middle of a move that has more to come.
                let mut cursor = statement.query_scrollable(&transaction, ()).expect("none is open");
                assert_eq!(go(&mut cursor, Position::Next, 5), [1, 2, 3, 4, 5]);
            }
            transaction.commit().expect("it commits");
            assert_eq!(query(&connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
        }
    },
    fn wrong_use_is_told(target: &Target) {
        for Variant { config, options, .. } in prepared(target, 3, 1) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let open = |sql: &str| {
                let statement = transaction.prepare(sql)?.with_scroll_options(options);
                statement.query_scrollable(&transaction, ())
            };
            let kind = |sql: &str| open(sql).expect_err(sql).kind();
            assert_eq!(kind("DELETE FROM t"), Kind::Misuse);
            assert_eq!(kind("SELECT id FROM t WHERE id = ?"), Kind::Parameter);
            assert_eq!(kind("SELECT nothing FROM t"), Kind::Syntax);
            assert_eq!(kind("SELECT CAST('x' || id AS INTEGER) FROM t ROWS 1/0"), Kind::Data);
            // Asking for nothing is refused, and harms nothing.
            let mut cursor = open("SELECT id FROM t ORDER BY id").expect("it runs");
            assert_eq!(cursor.next(0).expect_err("no rows").kind(), Kind::Misuse);
            assert_eq!(go(&mut cursor, Position::Next, 1), [1]);
        }
    },
    fn the_end_of_the_transaction_ends_the_cursor(target: &Target) {
        for Variant { config, options, .. } in prepared(target, 3, 1) {
            let connection = Connection::open(&config).expect("it opens");
            let statement = connection.prepare("SELECT id FROM t ORDER BY id").expect("valid SQL");
            let statement = statement.with_scroll_options(options);
            for way in 0..3 {
                let mut transaction = connection.begin(Default::default()).expect("it starts");
                let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
                assert_eq!(go(&mut cursor, Position::Last, 1), [3]);
                transaction.commit_retaining().expect("it goes on");
                assert_eq!(go(&mut cursor, Position::Prior, 2), [2, 1]);
                transaction.rollback_retaining().expect("it goes on");
                assert_eq!(go(&mut cursor, Position::Next, 2), [2, 3]);
                match way {
                    0 => transaction.commit().expect("it commits"),
                    1 => transaction.execute_immediate("ROLLBACK").expect("it ends"),
                    _ => drop(transaction),
                }
                // Its number is used again.
                let other = connection.begin(Default::default()).expect("it starts");
                let result = cursor.first();
                fails(&mut cursor, result, Kind::Misuse);
                assert!(statement.query_scrollable(&other, ()).is_ok());
            }
        }
    },
    fn an_error_in_a_row_ends_the_cursor(target: &Target) {
        for Variant { name, config, options, .. } in prepared(target, 2000, 1000) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement =
                transaction.prepare("SELECT 100 / (id - 1500), filler FROM t").expect("valid SQL");
            // Rows are read ahead, by engines about 64 KB.
            let limits = BatchLimits::default().rows(100);
            let statement = statement.with_scroll_options(options).with_limits(limits);
            for to in [Position::Last, Position::Absolute(1600), Position::Next] {
                let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
                assert!(cursor.first().expect("far in front of the error").is_some(), "{name}");
                let result = cursor.fetch(to, if to == Position::Next { 1700 } else { 1 });
                let error = fails(&mut cursor, result, Kind::Data);
                assert_eq!(error.sqlstate(), "22012", "{name}: {error}");
                cursor.close().expect("there is nothing left to close");
            }
            assert!(transaction.query("SELECT 1 FROM RDB$DATABASE").expect("it lives").count() == 1);
        }
    },
    fn memory_is_bounded(target: &Target) {
        for Variant { name, config, options, is_native } in prepared(target, 2000, 1000) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id, filler FROM t ORDER BY id").expect("valid SQL");
            let statement = statement.with_scroll_options(options.memory(300_000));
            let open = || statement.query_scrollable(&transaction, ()).expect("it runs");
            let mut cursor = open();
            assert_eq!(go(&mut cursor, Position::Next, 100).len(), 100, "{name}");
            let result = cursor.next(1000);
            let error = fails(&mut cursor, result, Kind::Memory);
            assert!(error.to_string().contains("ScrollOptions::memory"), "{error}");
            assert_eq!(error.sqlstate(), "HY013");
            drop(cursor);
            // An engine that scrolls needs no memory here but for what is fetched.
            let mut cursor = open();
            let result = cursor.last();
            if is_native {
                assert_eq!(ids(result.expect(name)), [2000]);
                assert_eq!(go(&mut cursor, Position::Prior, 200).len(), 200, "{name}");
            } else {
                fails(&mut cursor, result, Kind::Memory);
            }
            drop(cursor);
            // The default has room for all.
            let statement = statement.clone().with_scroll_options(options);
            let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
            assert_eq!(go(&mut cursor, Position::Next, 5000).len(), 2000, "{name}");
        }
    },
    fn rows_of_returning_scroll(target: &Target) {
        for Variant { name, config, options, .. } in prepared(target, 5, 1) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let open = |sql: &str| {
                let statement = transaction.prepare(sql).expect("valid SQL").with_scroll_options(options);
                statement.query_scrollable(&transaction, ()).unwrap_or_else(|error| panic!("{name}: {error}"))
            };
            let mut cursor = open("INSERT INTO t (id) VALUES (6) RETURNING id");
            assert!(!cursor.is_native(), "a single row needs no cursor");
            assert_eq!(go(&mut cursor, Position::Next, 2), [6]);
            assert_eq!(go(&mut cursor, Position::Prior, 2), [6]);
            assert_eq!(go(&mut cursor, Position::Prior, 1), [0_i32; 0]);
            cursor.close().expect("it is open");
            let mut cursor = open("UPDATE t SET filler = 'y' WHERE id = 6 RETURNING id");
            assert_eq!(go(&mut cursor, Position::Last, 1), [6]);
            assert_eq!(go(&mut cursor, Position::Next, 1), [0_i32; 0]);
            assert_eq!(go(&mut cursor, Position::First, 5), [6]);
            drop(cursor);
            transaction.rollback().expect("it is undone");
        }
    },
    fn locked_rows_scroll(target: &Target) {
        for Variant { name, config, options, .. } in prepared(target, 300, 10) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id FROM t FOR UPDATE WITH LOCK").expect("valid SQL");
            let statement = statement.with_scroll_options(options);
            let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
            assert_eq!(go(&mut cursor, Position::Next, 299).len(), 299, "{name}");
            assert_eq!(go(&mut cursor, Position::Next, 2), [300], "{name}");
            assert_eq!(go(&mut cursor, Position::Absolute(-3), 2), [298, 299], "{name}");
            drop(cursor);
            transaction.rollback().expect("it is undone");
        }
    },
    fn a_long_way_is_cancelled(target: &Target) {
        // Rows for a long time.
        let sql = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d";
        let url = target.fresh_url();
        Connection::create(&config(target, &url))
            .expect("a fresh database")
            .close()
            .expect("nothing is open");
        for Variant { name, config, options, .. } in variants(target, &url) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare(sql).expect("valid SQL");
            let statement = statement.with_scroll_options(options.memory(usize::MAX));
            let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
            assert!(cursor.first().expect("there are rows").is_some());
            let handle = connection.cancel_handle();
            let cancelling = thread::spawn(move || {
                thread::sleep(Duration::from_millis(300));
                handle.cancel();
            });
            let begin = Instant::now();
            let result = cursor.last();
            fails(&mut cursor, result, Kind::Cancelled);
            assert!(begin.elapsed() < Duration::from_secs(20), "{name}");
            cancelling.join().expect("it ends");
            assert!(!connection.is_failed(), "{name}");
            assert!(transaction.query("SELECT 1 FROM RDB$DATABASE").expect("it lives").count() == 1);
        }
    },
    fn a_long_way_ends_when_its_time_is_up(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let sql = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";
        let statement = transaction.prepare(sql).expect("valid SQL");
        let statement = statement.with_timeout(Some(Duration::from_millis(400)));
        let begin = Instant::now();
        let result = statement.query_scrollable(&transaction, ()).and_then(|mut cursor| cursor.first());
        assert_eq!(result.expect_err("its time is up").kind(), Kind::Timeout);
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
);

matrix!(
    wire,
    fn each_verb_takes_one_round_trip(target: &Target) {
        for Variant { name, config, options, is_native } in prepared(target, 5000, 100) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id, filler FROM t ORDER BY id").expect("valid SQL");
            let statement = statement.with_scroll_options(options);
            let cost = |work: &mut dyn FnMut()| {
                let before = connection.wire_stats().round_trips;
                work();
                connection.wire_stats().round_trips - before
            };
            let mut cursor = None;
            let trips = cost(&mut || cursor = statement.query_scrollable(&transaction, ()).ok());
            assert_eq!(trips, 1, "{name}");
            let mut cursor = cursor.expect("it runs");
            if !is_native {
                // Once all rows are here, there is nothing left to ask for.
                assert_eq!(go(&mut cursor, Position::Last, 1), [5000]);
                assert_eq!(go(&mut cursor, Position::Absolute(0), 1), [0_i32; 0]);
            }
            let each = u64::from(is_native);
            for (to, rows, expected, trips) in [
                (Position::Next, 3, 3, each),
                (Position::First, 1, 1, each),
                (Position::Next, 1, 1, each),
                (Position::Prior, 1, 1, each),
                (Position::Prior, 1, 0, each),
                (Position::Last, 1, 1, each),
                (Position::Next, 1, 0, each),
                (Position::Prior, 20, 20, each),
                (Position::Relative(-7), 1, 1, each),
                (Position::Absolute(33), 1, 1, each),
                (Position::Absolute(6000), 1, 0, each),
                (Position::Absolute(-3), 1, 1, each),
                // A page: its first row and the others go out together where that is safe.
                (Position::Absolute(700), 50, 50, each),
                (Position::Relative(10), 50, 50, each),
                (Position::Absolute(-50), 50, 50, 2 * each),
            ] {
                let mut found = 0;
                let spent = cost(&mut || found = go(&mut cursor, to, rows).len());
                assert_eq!((found, spent), (expected, trips), "{name}: {to:?}, {rows} rows");
            }
            // Answers have about 128 KB, and two are under way.
            let spent = cost(&mut || assert_eq!(go(&mut cursor, Position::First, 5000).len(), 5000));
            assert!(spent <= 8 * each, "{name}: {spent}");
            let mut cursor = Some(cursor);
            let spent = cost(&mut || drop(cursor.take()));
            assert_eq!(spent, 0, "closing goes out with whatever is sent next");
        }
    },
    fn kept_rows_are_read_no_farther_than_needed(target: &Target) {
        for Variant { config, options, .. } in prepared(target, 5000, 1000) {
            let connection = Connection::open(&config).expect("it opens");
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT id, filler FROM t ORDER BY id").expect("valid SQL");
            let limits = BatchLimits::default().rows(50);
            let statement = statement.with_scroll_options(options).with_limits(limits);
            let mut cursor = statement.query_scrollable(&transaction, ()).expect("it runs");
            let before = connection.wire_stats().bytes_received;
            assert_eq!(go(&mut cursor, Position::Absolute(20), 5), [20, 21, 22, 23, 24]);
            let read = connection.wire_stats().bytes_received - before;
            assert!(read < 1_000_000, "{read} bytes of 5,000,000");
        }
    }
);
