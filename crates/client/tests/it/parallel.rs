//! One query read by several connections gives the rows of one, in their order.

use crate::support::{column, config, rows, run};
use arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use firearrow::{
    BatchLimits, CancelToken, Config, Connection, Cursor, Isolation, Kind, LockResolution, Parallelism,
    Params, ReadOptions, Statement, Transaction, TransactionOptions, WhyPlain,
};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ROWS: i64 = 16_000;
/// More than a server takes to end what has been cancelled.
const SOON: Duration = Duration::from_secs(8);

/// A database with a table `T` of `ROWS` rows, large enough for three readers.
fn filled(target: &Target) -> (Config, Connection) {
    let create = |url: &str| {
        let mut config = config(target, url);
        config.page_size = Some(4096);
        let connection = Connection::create(&config).expect("it is created");
        run(
            &connection,
            "CREATE TABLE t (id BIGINT NOT NULL, a INTEGER, text VARCHAR(300), note BLOB SUB_TYPE TEXT)",
        );
        fill(&connection, 0, ROWS);
        connection.close().expect("nothing is open");
    };
    let config = config(target, &target.copied_url("filled", create));
    let connection = Connection::open(&config).expect("it opens");
    (config, connection)
}

/// Rows whose text does not shrink on its pages; every hundredth has a BLOB.
fn fill(connection: &Connection, from: i64, to: i64) {
    let block = format!(
        "EXECUTE BLOCK AS DECLARE i INTEGER = {from}; DECLARE x VARCHAR(144); BEGIN WHILE (i < {to}) DO BEGIN \
         x = UUID_TO_CHAR(GEN_UUID()) || UUID_TO_CHAR(GEN_UUID()) || UUID_TO_CHAR(GEN_UUID()); \
         INSERT INTO t VALUES (:i, MOD(:i, 10), :x || :x, IIF(MOD(:i, 100) = 0, :x || :i, NULL)); i = i + 1; END END"
    );
    run(connection, &block);
}

fn small(rows: usize) -> BatchLimits {
    BatchLimits::default().rows(rows).full(true)
}

fn reading(connection: &Connection) -> Transaction {
    connection.begin(TransactionOptions::reading()).expect("it starts")
}

fn prepared(transaction: &Transaction, sql: &str, readers: usize) -> Statement {
    let statement = transaction.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    statement.with_limits(small(500)).with_parallel(readers)
}

fn readers(target: &Target, readers: usize) -> Parallelism {
    match target.generation() < Generation::V4_0 {
        true => Parallelism::Plain(WhyPlain::OldEngine),
        false => Parallelism::Readers(readers),
    }
}

/// Number of connections to the database, this one included.
fn attachments(connection: &Connection) -> i64 {
    let sql = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$SYSTEM_FLAG = 0";
    column(connection, sql).as_primitive::<Int64Type>().value(0)
}

fn ids(batch: &RecordBatch) -> &[i64] {
    batch.column(0).as_primitive::<Int64Type>().values()
}

/// Why a query is read plainly, and that it is read.
fn why(transaction: &Transaction, sql: &str) -> WhyPlain {
    let mut cursor = prepared(transaction, sql, 2).query(transaction, ()).expect("it runs");
    let why = cursor.parallel().why_plain().cloned();
    while cursor.next_batch().expect("it is read").is_some() {}
    why.unwrap_or_else(|| panic!("{sql}: read in parallel"))
}

matrix!(
    all,
    fn rows_and_their_order_are_those_of_one_reader(target: &Target) {
        let (_, connection) = filled(target);
        // Holes of all sizes, and rows that fill some of them.
        run(&connection, "DELETE FROM t WHERE MOD(id, 7) = 0 OR id BETWEEN 3000 AND 6000");
        fill(&connection, 20_000, 20_800);
        run(&connection, "UPDATE t SET text = text || 'longer than before' WHERE MOD(id, 50) = 1");
        let transaction = reading(&connection);
        let three: ArrayRef = Arc::new(Int32Array::from(vec![3]));
        let text: ArrayRef = Arc::new(StringArray::from(vec!["é"]));
        for (sql, parameters) in [
            ("SELECT * FROM t", Params::none()),
            ("SELECT id, a + 1, UPPER(text) FROM t x", Params::none()),
            (
                "SELECT x.id, CAST(? AS VARCHAR(9)), x.note FROM t AS x WHERE x.a = ? OR x.id < 90 -- these",
                Params::row([text, three]),
            ),
            ("SELECT id FROM t WHERE a = -1", Params::none()),
            ("SELECT id, text FROM t WHERE id > 15900", Params::none()),
        ] {
            let plain = prepared(&transaction, sql, 1).query(&transaction, parameters.clone());
            let plain = plain.expect("it runs");
            assert_eq!(plain.parallel(), &Parallelism::Plain(WhyPlain::NotWanted));
            let schema = plain.schema();
            let plain = rows(plain);
            for wanted in [2, 3] {
                let statement = prepared(&transaction, sql, wanted);
                // Twice, because nothing may be left of the first time.
                for _ in 0..2 {
                    let cursor = statement.query(&transaction, parameters.clone()).expect("it runs");
                    assert_eq!(cursor.parallel(), &readers(target, wanted), "{sql}");
                    assert_eq!(cursor.schema(), schema);
                    assert_eq!(rows(cursor), plain, "{sql}");
                }
            }
        }
        assert_eq!(attachments(&connection), 1);
    },
    fn batches_are_no_smaller_than_they_need_be(target: &Target) {
        let (_, connection) = filled(target);
        let transaction = reading(&connection);
        for sql in ["SELECT id, text FROM t", "SELECT id, text FROM t WHERE a = 5"] {
            let cursor = prepared(&transaction, sql, 2).query(&transaction, ()).expect("it runs");
            let sizes: Vec<usize> = cursor.map(|batch| batch.expect("rows").num_rows()).collect();
            let rows: usize = sizes.iter().sum();
            assert!(sizes.iter().all(|size| *size <= 500), "{sizes:?}");
            // The first ones show what a page gives, and no reader gets less than eight.
            assert!(sizes.len() <= rows / 300 + 24, "{sizes:?}");
        }
    },
    fn others_write_meanwhile(target: &Target) {
        let (config, connection) = filled(target);
        let (stop, written) = (AtomicBool::new(false), AtomicBool::new(false));
        let transaction = reading(&connection);
        let plain = rows(
            prepared(&transaction, "SELECT id, a, text FROM t", 1).query(&transaction, ()).expect("it runs"),
        );
        thread::scope(|scope| {
            scope.spawn(|| {
                let writer = Connection::open(&config).expect("it opens");
                let mut id = ROWS;
                while !stop.load(Ordering::Relaxed) {
                    run(&writer, &format!("INSERT INTO t VALUES ({id}, 1, 'new', NULL)"));
                    run(
                        &writer,
                        &format!(
                            "UPDATE t SET id = id + 1000000, text = text || 'longer' WHERE MOD(id, 997) = {}",
                            id % 997
                        ),
                    );
                    run(&writer, &format!("DELETE FROM t WHERE MOD(id, 499) = {}", id % 499));
                    id += 1;
                    written.store(true, Ordering::Relaxed);
                }
            });
            while !written.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let statement = prepared(&transaction, "SELECT id, a, text FROM t", 3);
            for _ in 0..3 {
                let cursor = statement.query(&transaction, ()).expect("it runs");
                assert_eq!(cursor.parallel(), &readers(target, 3));
                let same = rows(cursor) == plain;
                if !same {
                    stop.store(true, Ordering::Relaxed);
                }
                assert!(same, "the rows differ");
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_ne!(
            ids(&plain),
            column(&connection, "SELECT id FROM t").as_primitive::<Int64Type>().values().as_ref()
        );
    },
    fn a_table_that_shrinks_and_grows_reads_as_it_was(target: &Target) {
        let (config, connection) = filled(target);
        let transaction = reading(&connection);
        let plain =
            rows(prepared(&transaction, "SELECT * FROM t", 1).query(&transaction, ()).expect("it runs"));
        let mut cursor =
            prepared(&transaction, "SELECT * FROM t", 2).query(&transaction, ()).expect("it runs");
        let mut batches = vec![cursor.next_batch().expect("it is read").expect("rows")];
        let other = Connection::open(&config).expect("it opens");
        run(&other, "DELETE FROM t WHERE id > 100");
        fill(&other, 50_000, 60_000);
        let _ = column(&other, "SELECT COUNT(*) FROM t");
        while let Some(batch) = cursor.next_batch().expect("it is read") {
            batches.push(batch);
        }
        assert_eq!(concat_batches(&cursor.schema(), &batches).expect("one schema"), plain);
        let cursor = prepared(&transaction, "SELECT * FROM t", 2).query(&transaction, ()).expect("it runs");
        assert_eq!(rows(cursor), plain);
    },
    fn what_is_altered_or_dropped_is_right_or_one_error(target: &Target) {
        for change in ["ALTER TABLE t ADD b INTEGER", "ALTER TABLE t DROP a", "DROP TABLE t"] {
            let (config, connection) = filled(target);
            let transaction = reading(&connection);
            let plain =
                rows(prepared(&transaction, "SELECT * FROM t", 1).query(&transaction, ()).expect("it runs"));
            let mut cursor =
                prepared(&transaction, "SELECT * FROM t", 2).query(&transaction, ()).expect("it runs");
            let first = cursor.next_batch().expect("it is read").expect("rows");
            let other = Connection::open(&config).expect("it opens");
            let options = TransactionOptions::default().lock_resolution(LockResolution::NoWait);
            let mut altering = other.begin(options).expect("it starts");
            // The table is in use, or it does not matter.
            let altered = altering.execute(change).and_then(|_| altering.commit());
            let mut batches = vec![first];
            let end = loop {
                match cursor.next_batch() {
                    Ok(Some(batch)) => batches.push(batch),
                    end => break end.map(drop),
                }
            };
            match end {
                Ok(()) => assert_eq!(concat_batches(&cursor.schema(), &batches).expect("one schema"), plain),
                Err(error) => {
                    assert!(altered.is_ok(), "{change}: {error}");
                    let again = cursor.next_batch().expect_err("it repeats its error");
                    assert_eq!(again.kind(), error.kind());
                }
            }
            drop(cursor);
            drop(transaction);
            // The plain query's error, whatever it is, or the new table.
            let transaction = reading(&connection);
            if let Ok(statement) = transaction.prepare("SELECT * FROM t") {
                let new = rows(statement.clone().query(&transaction, ()).expect("it runs"));
                drop(statement);
                let cursor =
                    prepared(&transaction, "SELECT * FROM t", 2).query(&transaction, ()).expect("it runs");
                assert_eq!(rows(cursor), new, "{change}");
            }
        }
    },
    fn a_cursor_that_is_dropped_leaves_nothing(target: &Target) {
        let (_, connection) = filled(target);
        let transaction = reading(&connection);
        let statement = prepared(&transaction, "SELECT * FROM t", 3);
        for batches in [0, 1, 5] {
            let mut cursor = statement.query(&transaction, ()).expect("it runs");
            if target.generation() >= Generation::V4_0 {
                assert_eq!(attachments(&connection), 4, "the readers are there");
            }
            for _ in 0..batches {
                let _ = cursor.next_batch().expect("it is read").expect("rows");
            }
            let begin = Instant::now();
            cursor.close().expect("nothing is wrong");
            assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
            assert_eq!(attachments(&connection), 1, "after {batches} batches");
        }
        // In the background for one facade, at once for the other.
        drop(statement.query(&transaction, ()).expect("it runs"));
        let begin = Instant::now();
        while attachments(&connection) > 1 {
            assert!(begin.elapsed() < SOON, "readers are left");
            thread::sleep(Duration::from_millis(20));
        }
        drop(statement);
        transaction.commit().expect("nothing is open");
        connection.close().expect("nothing is left of it");
    },
    fn a_consumer_that_stops_stops_the_readers(target: &Target) {
        let (_, connection) = filled(target);
        let transaction = reading(&connection);
        let plain =
            rows(prepared(&transaction, "SELECT * FROM t", 1).query(&transaction, ()).expect("it runs"));
        let mut cursor =
            prepared(&transaction, "SELECT * FROM t", 3).query(&transaction, ()).expect("it runs");
        let mut batches = vec![cursor.next_batch().expect("it is read").expect("rows")];
        thread::sleep(Duration::from_millis(300));
        let ahead = cursor.most_batches_ahead();
        thread::sleep(Duration::from_millis(300));
        assert_eq!(cursor.most_batches_ahead(), ahead);
        let mut progress = vec![cursor.progress()];
        while let Some(batch) = cursor.next_batch().expect("it is read") {
            batches.push(batch);
            assert!(cursor.most_batches_ahead() <= 3 + 2, "{}", cursor.most_batches_ahead());
            progress.push(cursor.progress());
        }
        assert_eq!(concat_batches(&cursor.schema(), &batches).expect("one schema"), plain);
        // Which part of the table that was; Firebird 3 has one connection read it.
        match target.generation() < Generation::V4_0 {
            true => assert!(progress.iter().all(Option::is_none), "{progress:?}"),
            false => assert!(progress.is_sorted() && progress.last() > Some(&Some(0.5)), "{progress:?}"),
        }
    },
    fn a_lost_reader_is_one_error_and_ends_the_others(target: &Target) {
        if target.generation() < Generation::V4_0 {
            return;
        }
        let (config, connection) = filled(target);
        let transaction = reading(&connection);
        let mut cursor =
            prepared(&transaction, "SELECT * FROM t", 3).query(&transaction, ()).expect("it runs");
        let _ = cursor.next_batch().expect("it is read").expect("rows");
        let other = Connection::open(&config).expect("it opens");
        // The last one that connected.
        run(
            &other,
            "DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = (SELECT MAX(MON$ATTACHMENT_ID) FROM \
             MON$ATTACHMENTS WHERE MON$SYSTEM_FLAG = 0 AND MON$ATTACHMENT_ID <> CURRENT_CONNECTION)",
        );
        let error = loop {
            match cursor.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("a part is missing"),
                Err(error) => break error,
            }
        };
        assert!(
            matches!(error.kind(), Kind::Closed | Kind::Io | Kind::Database | Kind::Cancelled),
            "{error}"
        );
        assert_eq!(cursor.next_batch().expect_err("it repeats its error").kind(), error.kind());
        assert_eq!(attachments(&other), 2, "{error}");
        drop(cursor);
        // The transaction goes on.
        let count = rows(transaction.query("SELECT COUNT(*) FROM t").expect("it runs"));
        assert_eq!(ids(&count), [ROWS]);
    },
    fn it_is_cancelled_as_any_other(target: &Target) {
        let (_, connection) = filled(target);
        let transaction = reading(&connection);
        let statement = prepared(&transaction, "SELECT * FROM t", 2);
        let token = CancelToken::new();
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        let _ = cursor.next_batch().expect("it is read").expect("rows");
        token.cancel();
        let error = token.run(|| {
            loop {
                match cursor.next_batch() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("nobody cancelled"),
                    Err(error) => break error,
                }
            }
        });
        assert_eq!(error.kind(), Kind::Cancelled, "{error}");
        drop(cursor);
        let late = statement.with_timeout(Some(Duration::from_millis(400)));
        let mut cursor = late.query(&transaction, ()).expect("it runs");
        let _ = cursor.next_batch().expect("it is read").expect("rows");
        thread::sleep(Duration::from_millis(600));
        let error = loop {
            match cursor.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        // A server that has sent all rows ahead has nothing to stop.
        if let Some(error) = error {
            assert_eq!(error.kind(), Kind::Timeout, "{error}");
        } else {
            assert!(target.generation() < Generation::V4_0, "its time is up");
        }
        drop(cursor);
        let begin = Instant::now();
        while attachments(&connection) > 1 {
            assert!(begin.elapsed() < SOON, "readers are left");
        }
    },
    fn reasons_for_one_reader_are_told(target: &Target) {
        let (_, connection) = filled(target);
        if target.generation() < Generation::V4_0 {
            assert_eq!(why(&reading(&connection), "SELECT id FROM t"), WhyPlain::OldEngine);
            return;
        }
        for sql in [
            "CREATE TABLE few (id INTEGER)",
            "CREATE VIEW v AS SELECT id FROM t",
            "CREATE GLOBAL TEMPORARY TABLE g (id INTEGER) ON COMMIT PRESERVE ROWS",
            "CREATE PROCEDURE p RETURNS (id INTEGER) AS BEGIN id = 5; SUSPEND; END",
            "CREATE FUNCTION f (i BIGINT) RETURNS BIGINT AS BEGIN RETURN i; END",
            "CREATE TABLE c (id BIGINT, x COMPUTED BY (f(id)))",
            "CREATE TABLE n (id BIGINT, x COMPUTED BY (CURRENT_TIMESTAMP))",
            "CREATE INDEX t_id ON t (id)",
        ] {
            run(&connection, sql);
        }
        let transaction = reading(&connection);
        for (sql, expected) in [
            ("SELECT COUNT(*) FROM t", WhyPlain::Aggregated),
            ("SELECT a, COUNT(*) FROM t GROUP BY a", WhyPlain::Aggregated),
            ("SELECT DISTINCT a FROM t", WhyPlain::Sorted),
            ("SELECT id FROM t ORDER BY text", WhyPlain::Sorted),
            ("SELECT FIRST 10 id FROM t", WhyPlain::Limited),
            ("SELECT id FROM t ROWS 7", WhyPlain::Limited),
            ("SELECT a FROM t UNION ALL SELECT a FROM t", WhyPlain::Subquery),
            ("SELECT (SELECT COUNT(*) FROM few) FROM t", WhyPlain::Subquery),
            ("SELECT FIRST 5 t.id FROM t JOIN few u ON u.id = t.id", WhyPlain::Limited),
            ("SELECT t.id FROM t JOIN few u ON u.id = t.id", WhyPlain::Join),
            ("SELECT t.id FROM t, few", WhyPlain::Join),
            ("SELECT id FROM t WHERE id = 5", WhyPlain::Index),
            ("SELECT id FROM t WHERE RDB$DB_KEY > MAKE_DBKEY('T', 5)", WhyPlain::Plan),
            ("SELECT id FROM v", WhyPlain::NoTable),
            ("SELECT id FROM g", WhyPlain::NoTable),
            ("SELECT id FROM p", WhyPlain::NoTable),
            ("SELECT RDB$RELATION_NAME FROM RDB$RELATIONS", WhyPlain::NoTable),
            ("SELECT id FROM few", WhyPlain::Small),
            ("SELECT id, CURRENT_TIMESTAMP FROM t", WhyPlain::Volatile),
            ("SELECT f(id) FROM t", WhyPlain::Volatile),
            ("SELECT x FROM c", WhyPlain::Volatile),
            ("SELECT x FROM n", WhyPlain::Volatile),
            ("EXECUTE BLOCK RETURNS (i INTEGER) AS BEGIN i = 1; SUSPEND; END", WhyPlain::NoQuery),
        ] {
            assert_eq!(why(&transaction, sql), expected, "{sql}");
        }
        let lazy = {
            let mut lazy = ReadOptions::default();
            lazy.set("blobs", "lazy").expect("a known option");
            prepared(&transaction, "SELECT note FROM t", 2).with_read_options(lazy)
        };
        let cursor = lazy.query(&transaction, ()).expect("it runs");
        assert_eq!(cursor.parallel().why_plain(), Some(&WhyPlain::LazyBlobs));
        drop(cursor);
        drop(transaction);
        let begin = |options: TransactionOptions| connection.begin(options).expect("it starts");
        for isolation in [Isolation::SnapshotTableStability, Isolation::ReadCommittedNoRecordVersion] {
            let transaction = begin(TransactionOptions::reading().isolation(isolation));
            assert_eq!(why(&transaction, "SELECT id FROM t"), WhyPlain::Isolation);
        }
        assert_eq!(
            why(&begin(TransactionOptions::default().auto_commit(true)), "SELECT id FROM t"),
            WhyPlain::Isolation
        );
        run(&connection, "SET BIND OF DECFLOAT TO VARCHAR");
        assert_eq!(why(&reading(&connection), "SELECT id FROM t"), WhyPlain::Settings);
        connection.reset().expect("nothing is wrong");
        let cursor: Cursor = {
            let transaction = reading(&connection);
            prepared(&transaction, "SELECT id FROM t WHERE a = 3", 2)
                .query(&transaction, ())
                .expect("it runs")
                .owning(transaction)
        };
        assert_eq!(cursor.parallel(), &Parallelism::Readers(2));
        assert_eq!(rows(cursor).num_rows() as i64, ROWS / 10);
    },
    fn changes_of_its_own_are_seen(target: &Target) {
        if target.generation() < Generation::V4_0 {
            return;
        }
        let (_, connection) = filled(target);
        for isolation in [Isolation::Snapshot, Isolation::ReadCommittedReadConsistency] {
            let options = TransactionOptions::default().isolation(isolation);
            let mut transaction = connection.begin(options).expect("it starts");
            let statement = prepared(&transaction, "SELECT id FROM t WHERE a = 77", 2);
            let read = |transaction: &Transaction| {
                let cursor = statement.query(transaction, ()).expect("it runs");
                (cursor.parallel().clone(), rows(cursor).num_rows())
            };
            assert_eq!(read(&transaction), (Parallelism::Readers(2), 0), "{isolation:?}");
            transaction.execute("UPDATE t SET a = 77 WHERE id = 500").expect("it runs");
            assert_eq!(read(&transaction), (Parallelism::Plain(WhyPlain::Changes), 1), "{isolation:?}");
            transaction.commit_retaining().expect("it is committed");
            assert_eq!(read(&transaction), (Parallelism::Plain(WhyPlain::Changes), 1), "{isolation:?}");
            transaction.execute("UPDATE t SET a = 0 WHERE id = 500").expect("it runs");
            transaction.commit().expect("it is committed");
        }
    },
    fn a_query_of_read_consistency_sees_what_is_committed(target: &Target) {
        if target.generation() < Generation::V4_0 {
            return;
        }
        let (config, connection) = filled(target);
        let options = TransactionOptions::reading().isolation(Isolation::ReadCommittedReadConsistency);
        let transaction = connection.begin(options).expect("it starts");
        let statement = prepared(&transaction, "SELECT id FROM t", 2);
        let other = Connection::open(&config).expect("it opens");
        for missing in 1..3 {
            run(&other, &format!("DELETE FROM t WHERE id = {missing}"));
            let cursor = statement.query(&transaction, ()).expect("it runs");
            assert_eq!(cursor.parallel(), &Parallelism::Readers(2));
            assert_eq!(rows(cursor).num_rows() as i64, ROWS - missing);
        }
    },
    fn errors_in_rows_come_after_the_rows_before_them(target: &Target) {
        let (_, connection) = filled(target);
        let transaction = reading(&connection);
        let sql = "SELECT id, 1000 / (id - 9000) FROM t";
        let outcome = |readers: usize| {
            let mut cursor = prepared(&transaction, sql, readers).query(&transaction, ()).expect("it runs");
            let mut last = None;
            loop {
                match cursor.next_batch() {
                    Ok(Some(batch)) => last = ids(&batch).last().copied(),
                    Ok(None) => panic!("a division by zero"),
                    Err(error) => return (last, error.kind(), error.sqlstate().to_owned()),
                }
            }
        };
        let (plain, parallel) = (outcome(1), outcome(3));
        assert_eq!((&plain.1, &plain.2), (&parallel.1, &parallel.2));
        assert!(plain.0 < Some(9000) && parallel.0 < Some(9000), "{plain:?} {parallel:?}");
    },
    fn wrong_parameters_are_errors_at_once(target: &Target) {
        let (_, connection) = filled(target);
        let transaction = reading(&connection);
        let statement = prepared(&transaction, "SELECT id FROM t WHERE a = ?", 2);
        let missing = statement.query(&transaction, ()).map(drop).expect_err("one is missing");
        assert_eq!(missing.kind(), Kind::Parameter, "{missing}");
        // Which only the engine can tell, when it runs.
        let wrong = statement.query(&transaction, ["x"]).and_then(|mut cursor| cursor.next_batch());
        let wrong = wrong.expect_err("no number");
        assert_eq!(wrong.kind(), Kind::Data, "{wrong}");
        assert!(wrong.message().contains("parameter 1"), "{wrong}");
        assert_eq!(attachments(&connection), 1);
    },
);

matrix!(
    // Others have no readers, or no attachments of their own.
    [firebird_4_0, firebird_5_0],
    fn a_connection_that_is_lost_while_others_read_costs_no_rows(target: &Target) {
        let (config, _) = filled(target);
        let other = Connection::open(&config).expect("it opens");
        for isolation in [Isolation::Snapshot, Isolation::ReadCommittedReadConsistency] {
            for options in [TransactionOptions::reading(), TransactionOptions::default()] {
                let connection = Connection::open(&config).expect("it opens");
                let id = column(&connection, "SELECT CURRENT_CONNECTION FROM RDB$DATABASE");
                let id = id.as_primitive::<Int64Type>().value(0);
                let transaction = connection.begin(options.isolation(isolation)).expect("it starts");
                let statement = prepared(&transaction, "SELECT * FROM t", 2);
                let cursor = statement.query(&transaction, ()).expect("it runs");
                let mut cursor = cursor.owning(transaction);
                assert_eq!(cursor.parallel(), &Parallelism::Readers(2));
                let mut read = cursor.next_batch().expect("it is read").expect("rows").num_rows();
                // As a server does with a connection that was idle for too long.
                run(&other, &format!("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = {id}"));
                let end = loop {
                    match cursor.next_batch() {
                        Ok(Some(batch)) => read += batch.num_rows(),
                        end => break end,
                    }
                };
                assert_eq!(read as i64, ROWS);
                // Nobody knows what a transaction that may write has to commit.
                assert_eq!(end.is_ok(), options.read_only, "{isolation:?}: {end:?}");
            }
        }
    },
    fn connections_that_wait_are_kept_from_being_idle(target: &Target) {
        let (config, connection) = filled(target);
        run(&connection, "CREATE TRIGGER limits ON CONNECT AS BEGIN SET SESSION IDLE TIMEOUT 4 SECOND; END");
        drop(connection);
        let connection = Connection::open(&config).expect("it opens");
        let transaction = reading(&connection);
        let mut cursor =
            prepared(&transaction, "SELECT * FROM t", 3).query(&transaction, ()).expect("it runs");
        assert_eq!(cursor.parallel(), &Parallelism::Readers(3));
        let mut read = 0;
        while let Some(batch) = cursor.next_batch().expect("it is read") {
            read += batch.num_rows();
            thread::sleep(Duration::from_millis(200));
        }
        assert_eq!(read as i64, ROWS);
        drop(cursor);
        let count = rows(transaction.query("SELECT COUNT(*) FROM t").expect("it runs"));
        assert_eq!(ids(&count), [ROWS]);
        transaction.commit().expect("its connection is still there");
    },
    fn rows_that_a_transaction_does_not_see_are_passed_over_once(target: &Target) {
        let (config, connection) = filled(target);
        let id = column(&connection, "SELECT CURRENT_CONNECTION FROM RDB$DATABASE");
        let id = id.as_primitive::<Int64Type>().value(0);
        let writer = Connection::open(&config).expect("it opens");
        let mut writing = writer.begin(TransactionOptions::default()).expect("it starts");
        for _ in 0..2 {
            writing.execute("INSERT INTO t SELECT id, a, text, NULL FROM t").expect("it runs");
        }
        let watcher = Connection::open(&config).expect("it opens");
        let fetches = |work: &dyn Fn()| {
            let now = || {
                let sql = format!(
                    "SELECT I.MON$PAGE_FETCHES FROM MON$ATTACHMENTS A JOIN MON$IO_STATS I \
                     ON I.MON$STAT_ID = A.MON$STAT_ID WHERE A.MON$ATTACHMENT_ID = {id}"
                );
                column(&watcher, &sql).as_primitive::<Int64Type>().value(0)
            };
            let before = now();
            work();
            now() - before
        };
        let transaction = reading(&connection);
        let one_pass = fetches(&|| {
            let count = rows(transaction.query("SELECT COUNT(*) FROM t").expect("it runs"));
            assert_eq!(ids(&count), [ROWS]);
        });
        let planning = fetches(&|| {
            let cursor = prepared(&transaction, "SELECT * FROM t", 2).query(&transaction, ());
            assert_eq!(cursor.expect("it runs").parallel(), &Parallelism::Readers(2));
        });
        assert!(planning < one_pass * 3 / 2, "{planning} pages, {one_pass} in one pass");
    },
);
