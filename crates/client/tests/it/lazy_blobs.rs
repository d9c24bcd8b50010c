//! BLOBs on demand: by their ids, as streams, and what the connection learns from how they are read.

use crate::support::{config, cost, fresh, fresh_closed, rows, run};
use arrow::array::*;
use arrow::datatypes::UInt64Type;
use firearrow::{BatchLimits, Connection, Cursor, Kind, Params, ReadOptions, Statement, Transaction, params};
use firearrow_testkit::{Generation, Target, matrix};
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// Bytes that no neighbour shares.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn policy(word: &str) -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set("blobs", word).expect("a policy");
    options
}

/// A table T of BLOBs, the NULL and the empty one among them.
fn store(connection: &Connection, blobs: &[Option<Vec<u8>>]) {
    run(connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..blobs.len() as i32));
    let contents: ArrayRef = Arc::new(BinaryArray::from_iter(blobs.iter().map(Option::as_deref)));
    connection
        .execute_with("INSERT INTO t VALUES (?, ?)", Params::row([ids, contents]))
        .expect("BLOBs are written");
}

fn ids(batch: &RecordBatch, column: usize) -> UInt64Array {
    batch.column(column).as_primitive::<UInt64Type>().clone()
}

fn statement(transaction: &Transaction, sql: &str, word: &str) -> Statement {
    let statement = transaction.prepare(sql).expect("valid SQL").with_read_options(policy(word));
    statement.with_limits(BatchLimits::default().full(true))
}

fn first(cursor: &mut Cursor) -> RecordBatch {
    cursor.next_batch().expect("it reads").expect("there are rows")
}

matrix!(
    all,
    fn ids_lead_to_contents(target: &Target) {
        let connection = fresh(target);
        let blobs =
            vec![None, Some(pattern(7)), Some(Vec::new()), Some(pattern(200_000)), None, Some(pattern(70))];
        store(&connection, &blobs);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let lazy = statement(&transaction, "SELECT id, b FROM t ORDER BY id", "lazy");
        for _ in 0..3 {
            let mut cursor = lazy.query(&transaction, ()).expect("it runs");
            let batch = first(&mut cursor);
            let ids = ids(&batch, 1);
            let read = cursor.read_blobs(&ids).expect("they are there");
            let expected = LargeBinaryArray::from_iter(blobs.iter().map(Option::as_deref));
            assert!(read == expected, "contents differ");
            assert!(cursor.next_batch().expect("it reads").is_none());
            assert!(transaction.read_blobs(&ids).expect("they are still there") == expected);
            let none = transaction.read_blobs(&UInt64Array::from(vec![None, None])).expect("nothing to read");
            assert_eq!((none.len(), none.null_count()), (2, 2));
        }
    },
    fn long_ones_are_left_out_of_the_short_ones(target: &Target) {
        let connection = fresh(target);
        let lengths = [Some(7), None, Some(0), Some(200_000), Some(50_001), Some(50_000), Some(70), None];
        let blobs = lengths.map(|length| length.map(pattern));
        store(&connection, &blobs);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let lazy = statement(&transaction, "SELECT id, b FROM t ORDER BY id", "lazy");
        for _ in 0..3 {
            let mut cursor = lazy.query(&transaction, ()).expect("it runs");
            let ids = ids(&first(&mut cursor), 1);
            let short = |blob: &Option<Vec<u8>>| blob.clone().filter(|blob| blob.len() <= 50_000);
            let expected = LargeBinaryArray::from_iter(blobs.iter().map(short));
            let read = cursor.read_short_blobs(&ids, 50_000, usize::MAX).expect("they are there");
            assert!(read == expected, "contents differ");
            // The first one is enough; those that were on their way may follow.
            let read = cursor.read_short_blobs(&ids, 50_000, 1).expect("they are there");
            assert!((1..=7).contains(&read.len()), "{}", read.len());
            assert!(read == expected.slice(0, read.len()), "contents differ");
            let mut long = Vec::new();
            let mut reader = cursor.open_blob(ids.value(3)).expect("it opens");
            reader.read_to_end(&mut long).expect("it reads");
            assert!(Some(long) == blobs[3], "contents differ");
        }
    },
    fn text_comes_in_utf8(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB SUB_TYPE TEXT CHARACTER SET WIN1252)");
        let text = "Größe € ".repeat(20_000);
        let value: ArrayRef = Arc::new(StringArray::from(vec![text.as_str()]));
        connection.execute_with("INSERT INTO t VALUES (?)", Params::row([value])).expect("it is written");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let batch =
            rows(statement(&transaction, "SELECT b FROM t", "lazy").query(&transaction, ()).expect("runs"));
        let ids = ids(&batch, 0);
        assert_eq!(transaction.read_blobs(&ids).expect("it is there").value(0), text.as_bytes());
        let mut streamed = String::new();
        let mut reader = transaction.open_blob(ids.value(0)).expect("it opens");
        reader.read_to_string(&mut streamed).expect("UTF-8");
        assert_eq!(streamed, text);
    },
    fn streams_are_read_from_any_place(target: &Target) {
        let connection = fresh(target);
        let contents = pattern(1_000_000);
        store(&connection, &[Some(contents.clone()), Some(pattern(10))]);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let batch = rows(
            statement(&transaction, "SELECT b FROM t ORDER BY id", "lazy")
                .query(&transaction, ())
                .expect("runs"),
        );
        let ids = ids(&batch, 0);
        let mut reader = transaction.open_blob(ids.value(0)).expect("it opens");
        assert!(reader.is_stream());
        assert_eq!(reader.stored_length(), contents.len() as u64);
        let mut all = Vec::new();
        reader.read_to_end(&mut all).expect("it reads");
        assert!(all == contents, "contents differ");
        let mut piece = [0; 1000];
        for at in [0, 999_000, 3, 65_530, 500_000, 500_100, 131_066, 0] {
            assert_eq!(reader.seek(SeekFrom::Start(at)).expect("it goes there"), at);
            reader.read_exact(&mut piece).expect("enough bytes");
            assert!(piece[..] == contents[at as usize..][..1000], "at {at}");
        }
        assert_eq!(reader.seek(SeekFrom::End(-10)).expect("it goes there"), 999_990);
        assert_eq!(reader.seek(SeekFrom::Current(5)).expect("it goes there"), 999_995);
        assert_eq!(reader.read(&mut piece).expect("the last ones"), 5);
        assert_eq!(reader.read(&mut piece).expect("the end"), 0);
        assert_eq!(reader.seek(SeekFrom::Start(5_000_000)).expect("it stops at the end"), 1_000_000);
        reader.seek(SeekFrom::Current(-2_000_000)).expect_err("before the start");
        assert_eq!(reader.read(&mut piece).expect("the end"), 0);
    },
    fn segmented_blobs_cannot_be_positioned(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB)");
        run(&connection, "INSERT INTO t VALUES ('written by the engine')");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let batch =
            rows(statement(&transaction, "SELECT b FROM t", "lazy").query(&transaction, ()).expect("runs"));
        let mut reader = transaction.open_blob(ids(&batch, 0).value(0)).expect("it opens");
        assert!(!reader.is_stream());
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("it reads");
        assert_eq!(text, "written by the engine");
        let error = reader.seek(SeekFrom::Start(30)).and_then(|_| reader.seek(SeekFrom::Start(0)));
        let error = error.expect_err("it was written in segments");
        let error = error.get_ref().and_then(|error| error.downcast_ref::<firearrow::Error>()).expect("ours");
        assert_eq!(error.kind(), Kind::Unsupported);
    },
    fn an_open_stream_is_not_touched_by_others_that_fail(target: &Target) {
        let connection = fresh(target);
        let (one, two) = (pattern(300_000), pattern(250_000).into_iter().rev().collect::<Vec<_>>());
        store(&connection, &[Some(one.clone()), Some(two.clone())]);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let batch = rows(
            statement(&transaction, "SELECT b FROM t ORDER BY id", "lazy")
                .query(&transaction, ())
                .expect("runs"),
        );
        let ids = ids(&batch, 0);
        let mut first = transaction.open_blob(ids.value(0)).expect("it opens");
        let mut second = transaction.open_blob(ids.value(1)).expect("it opens");
        let missing = UInt64Array::from(vec![0x7777_0000_4321_u64]);
        let (mut read_one, mut read_two) = (Vec::new(), Vec::new());
        let mut piece = vec![0; 40_000];
        loop {
            let count = first.read(&mut piece).expect("it reads");
            read_one.extend_from_slice(&piece[..count]);
            transaction.read_blobs(&missing).expect_err("there is no such BLOB");
            transaction.open_blob(missing.value(0)).expect_err("there is no such BLOB");
            let other = second.read(&mut piece).expect("it reads");
            read_two.extend_from_slice(&piece[..other]);
            let whole = transaction.read_blobs(&ids).expect("they are there");
            assert!(whole.value(1) == two, "contents differ");
            if count + other == 0 {
                break;
            }
        }
        assert!(read_one == one && read_two == two, "contents differ");
    },
    fn rows_are_not_lost_when_nobody_reads_the_blobs_of_others(target: &Target) {
        let mut config = fresh_closed(target);
        config.max_blob_cache_size = Some(20_000);
        let connection = Connection::open(&config).expect("it opens");
        store(&connection, &(0..500).map(|_| Some(pattern(100))).collect::<Vec<_>>());
        let transaction = connection.begin(Default::default()).expect("it starts");
        let lazy = statement(&transaction, "SELECT id, b FROM t", "lazy");
        // Whoever reads them gets them with their rows the next time …
        let mut cursor = lazy.query(&transaction, ()).expect("it runs");
        let batch = first(&mut cursor);
        cursor.read_blobs(&ids(&batch, 1)).expect("they are there");
        drop(cursor);
        // … but then does not.
        let mut unread = lazy.query(&transaction, ()).expect("it runs");
        assert_eq!(first(&mut unread).num_rows(), 500);
        for word in ["adaptive", "inline", "pipelined"] {
            let batch = rows(
                statement(&transaction, "SELECT id, b FROM t", word).query(&transaction, ()).expect("runs"),
            );
            assert_eq!(batch.num_rows(), 500);
            assert!(batch.column(1).as_binary::<i32>().iter().all(|blob| blob == Some(&pattern(100)[..])));
        }
    },
    fn ids_that_pass_to_other_blobs_lead_to_those(target: &Target) {
        // What changes the BLOBs to this text; each twice, so that the engine reuses the ids that it had before.
        type Change = fn(&mut Transaction, &str);
        let changes: [Change; 5] = [
            |transaction, text| {
                transaction.execute(&format!("UPDATE t SET b = '{text} ' || id")).expect("it runs");
            },
            |transaction, text| {
                let sql = format!("UPDATE t SET b = '{text} ' || id");
                transaction.execute_immediate(&sql).expect("it runs");
            },
            |transaction, text| {
                let sql = format!(
                    "EXECUTE BLOCK RETURNS (n INTEGER) AS BEGIN UPDATE t SET b = '{text} ' || id; SUSPEND; END"
                );
                rows(transaction.query(&sql).expect("it runs"));
            },
            |transaction, text| {
                let sql = format!("SELECT n FROM change('{text} ')");
                rows(transaction.query(&sql).expect("it runs"));
            },
            |transaction, text| {
                let update = transaction
                    .prepare("UPDATE t SET b = CAST(? AS VARCHAR(9)) || id WHERE id = ?")
                    .expect("valid SQL");
                let texts: ArrayRef = Arc::new(StringArray::from(vec![format!("{text} "); 20]));
                let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..20));
                update.execute(transaction, Params::row([texts, ids])).expect("it runs");
            },
        ];
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE TEXT)");
        run(
            &connection,
            "CREATE PROCEDURE change (text VARCHAR(9)) RETURNS (n INTEGER) AS BEGIN \
             UPDATE t SET b = :text || id; n = 1; SUSPEND; END",
        );
        let sql = "SELECT id, b FROM t ORDER BY id";
        for (number, change) in changes.into_iter().enumerate() {
            for word in ["lazy", "adaptive"] {
                let mut transaction = connection.begin(Default::default()).expect("it starts");
                for id in 0..20 {
                    transaction
                        .execute(&format!("INSERT INTO t VALUES ({id}, 'first {id}')"))
                        .expect("it runs");
                }
                let leave = |transaction: &Transaction| {
                    // One row, and one batch that ends early.
                    let some = statement(transaction, sql, word).with_limits(BatchLimits::default().rows(5));
                    let _ = first(&mut some.query(transaction, ()).expect("it runs"));
                };
                let check = |transaction: &Transaction, expected: &str| {
                    let mut cursor =
                        statement(transaction, sql, "lazy").query(transaction, ()).expect("it runs");
                    let ids = ids(&first(&mut cursor), 1);
                    let last = transaction.read_blobs(&ids.slice(19, 1)).expect("it is there");
                    assert_eq!(last.value(0), format!("{expected} 19").as_bytes(), "{number} {word}");
                    let read = cursor.read_blobs(&ids).expect("they are there");
                    for (id, text) in read.iter().flatten().enumerate() {
                        assert_eq!(text, format!("{expected} {id}").as_bytes(), "{number} {word}");
                    }
                };
                check(&transaction, "first");
                change(&mut transaction, "second");
                leave(&transaction);
                leave(&transaction);
                change(&mut transaction, "third");
                change(&mut transaction, "fourth");
                check(&transaction, "fourth");
                leave(&transaction);
                transaction.savepoint("s").expect("it is set");
                change(&mut transaction, "fifth");
                leave(&transaction);
                transaction.rollback_to_savepoint("s").expect("it is undone");
                check(&transaction, "fourth");
                leave(&transaction);
                transaction.commit_retaining().expect("it is committed");
                change(&mut transaction, "sixth");
                change(&mut transaction, "seventh");
                check(&transaction, "seventh");
                leave(&transaction);
                transaction.execute("COMMIT").expect("it ends");
                // The next one has its handle.
                let mut transaction = connection.begin(Default::default()).expect("it starts");
                change(&mut transaction, "eighth");
                check(&transaction, "eighth");
                transaction.execute("DELETE FROM t").expect("it runs");
                transaction.commit().expect("it is committed");
            }
        }
    },
    fn blobs_too_long_to_come_with_their_rows_replace_short_ones(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for id in 0..20 {
            transaction.execute(&format!("INSERT INTO t VALUES ({id}, 'first {id}')")).expect("it runs");
        }
        let change = |transaction: &mut Transaction, length: usize| {
            let update = transaction.prepare("UPDATE t SET b = ? WHERE id = ?").expect("valid SQL");
            for id in 0..20 {
                update.execute(transaction, params![pattern(length + id as usize), id]).expect("it runs");
            }
        };
        let sql = "SELECT id, b FROM t ORDER BY id";
        for _ in 0..2 {
            change(&mut transaction, 100);
            let some = statement(&transaction, sql, "inline").with_limits(BatchLimits::default().rows(1));
            let _ = first(&mut some.query(&transaction, ()).expect("it runs"));
            change(&mut transaction, 200);
            change(&mut transaction, 100_000);
            for word in ["inline", "adaptive", "pipelined"] {
                let read = rows(statement(&transaction, sql, word).query(&transaction, ()).expect("it runs"));
                for (id, blob) in read.column(1).as_binary::<i32>().iter().flatten().enumerate() {
                    assert!(blob == pattern(100_000 + id), "{word} {id}: {} bytes", blob.len());
                }
            }
        }
    },
    fn rows_read_ahead_keep_their_blobs(target: &Target) {
        let connection = fresh(target);
        store(&connection, &(0..200).map(|length| Some(pattern(length + 1))).collect::<Vec<_>>());
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let mut cursor = statement(&transaction, "SELECT id, b FROM t ORDER BY id", "inline")
            .with_limits(BatchLimits::default().rows(10))
            .query(&transaction, ())
            .expect("it runs");
        let mut next = 0;
        while let Some(batch) = cursor.next_batch().expect("it is read") {
            for blob in batch.column(1).as_binary::<i32>().iter().flatten() {
                next += 1;
                assert!(blob == pattern(next), "{next}: {} bytes", blob.len());
            }
            transaction.execute("UPDATE t SET b = 'new'").expect("it runs");
            let other = statement(&transaction, "SELECT b FROM t", "inline");
            let _ = first(&mut other.query(&transaction, ()).expect("it runs"));
        }
        assert_eq!(next, 200);
    }
);

matrix!(
    wire,
    fn policies_differ_in_round_trips_only(target: &Target) {
        let connection = fresh(target);
        // Few: a server ends a fetch after some BLOBs.
        let blobs: Vec<_> = (0..10).map(|length| Some(pattern(length + 1))).collect();
        store(&connection, &blobs);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let has_inline = target.generation() >= Generation::V5_0;
        for (word, trips) in [
            ("adaptive", if has_inline { 1 } else { 2 }),
            ("inline", if has_inline { 1 } else { 2 }),
            ("pipelined", 2),
        ] {
            let eager = statement(&transaction, "SELECT id, b FROM t ORDER BY id", word);
            let spent = cost(&connection, || {
                let batch = rows(eager.query(&transaction, ()).expect("it runs"));
                let read = BinaryArray::from_iter(blobs.iter().map(Option::as_deref));
                assert!(batch.column(1).as_ref() == &read as &dyn Array, "{word}: contents differ");
            });
            assert_eq!(spent, trips, "{word}");
        }
    },
    fn nobody_pays_for_blobs_that_nobody_reads(target: &Target) {
        let without = {
            let mut config = fresh_closed(target);
            config.max_inline_blob_size = Some(0);
            config
        };
        let with = config(target, &target.fresh_url());
        let bytes = |connection: &Connection| {
            let transaction = connection.begin(Default::default()).expect("it starts");
            let lazy = statement(&transaction, "SELECT id, b FROM t", "lazy");
            let before = connection.wire_stats();
            for _ in 0..3 {
                assert_eq!(rows(lazy.query(&transaction, ()).expect("it runs")).num_rows(), 200);
            }
            connection.wire_stats().since(&before).bytes_received
        };
        let blobs: Vec<_> = (0..200).map(|_| Some(pattern(1000))).collect();
        let connection = Connection::open(&without).expect("it opens");
        store(&connection, &blobs);
        let least = bytes(&connection);
        let connection = Connection::create(&with).expect("it is created");
        store(&connection, &blobs);
        assert_eq!(bytes(&connection), least);
    },
    fn blobs_that_are_read_come_with_their_rows_the_next_time(target: &Target) {
        let connection = fresh(target);
        store(&connection, &(0..10).map(|_| Some(pattern(50))).collect::<Vec<_>>());
        let transaction = connection.begin(Default::default()).expect("it starts");
        let has_inline = target.generation() >= Generation::V5_0;
        let read = || {
            let lazy = statement(&transaction, "SELECT id, b FROM t", "lazy");
            cost(&connection, || {
                let mut cursor = lazy.query(&transaction, ()).expect("it runs");
                let batch = first(&mut cursor);
                let read = cursor.read_blobs(&ids(&batch, 1)).expect("they are there");
                assert!(read.iter().all(|blob| blob == Some(&pattern(50)[..])));
            })
        };
        assert_eq!(read(), 2);
        assert_eq!(read(), if has_inline { 1 } else { 2 });
    },
    fn a_stream_asks_ahead(target: &Target) {
        let connection = fresh(target);
        store(&connection, &[Some(pattern(1_000_000))]);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let batch =
            rows(statement(&transaction, "SELECT b FROM t", "lazy").query(&transaction, ()).expect("runs"));
        let id = ids(&batch, 0).value(0);
        let mut reader = None;
        assert_eq!(cost(&connection, || reader = transaction.open_blob(id).ok()), 1);
        let mut reader = reader.expect("it opened");
        let mut head = [0; 100];
        let spent = cost(&connection, || reader.read_exact(&mut head).expect("it reads"));
        assert_eq!(spent, 0, "the first segment came with the opening");
        drop(reader);
        let spent = cost(&connection, || {
            let mut all = Vec::new();
            transaction.open_blob(id).expect("it opens").read_to_end(&mut all).expect("it reads");
            assert_eq!(all.len(), 1_000_000);
        });
        // 16 segments, asked for four ahead.
        assert!(spent <= 17, "{spent}");
    }
);
