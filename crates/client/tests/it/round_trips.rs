//! How often a request waits for the server: deterministic, so it is asserted.

use crate::support::{at, cost, fresh, fresh_closed, query, rows, run};
use crate::write_cases::{batch, ints};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::Int32Type;
use firearrow::{BatchLimits, Connection, OnFailure, Params};
use firearrow_testkit::{Behaviour, Generation, Proxy, Target, matrix};
use std::sync::Arc;
use std::time::Duration;

matrix!(
    wire,
    fn a_prepared_query_takes_one_round_trip(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT 1 FROM RDB$DATABASE").expect("valid SQL");
        for _ in 0..3 {
            let trips = cost(&connection, || {
                assert_eq!(rows(statement.query(&transaction, ()).expect("it runs")).num_rows(), 1);
            });
            assert_eq!(trips, 1);
        }
    },
    fn new_sql_takes_two_round_trips(target: &Target) {
        let connection = fresh(target);
        let transaction = connection.begin(Default::default()).expect("it starts");
        for n in 0..3 {
            let trips = cost(&connection, || {
                let cursor = transaction.query(&format!("SELECT {n} FROM RDB$DATABASE")).expect("it runs");
                assert_eq!(rows(cursor).num_rows(), 1);
            });
            assert_eq!(trips, 2);
        }
    },
    fn executing_with_its_count_takes_one_round_trip(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let trips = cost(&connection, || {
            statement.execute(&mut transaction, Params::texts([Some("1")])).expect("it inserts");
        });
        assert_eq!(trips, 1);
    },
    fn what_has_ended_is_not_ended_again(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER PRIMARY KEY)");
        run(&connection, "INSERT INTO t VALUES (1)");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (1)").expect("valid SQL");
        // The commit travels with the statement: the handle is free, and may be another one's, although that fails.
        let trips = cost(&connection, || statement.execute_last(transaction, ()).expect_err("a duplicate"));
        assert_eq!(trips, 1);
        let other = connection.begin(Default::default()).expect("it starts");
        drop(statement);
        assert_eq!(rows(other.query("SELECT id FROM t").expect("it lives")).num_rows(), 1);
    },
    fn a_prepared_statement_is_executed_with_many_commits(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let statement = connection.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        for number in ["1", "2", "3"] {
            let transaction = connection.begin_lazy(Default::default()).expect("it starts");
            let trips = cost(&connection, || {
                let parameters = Params::texts([Some(number)]);
                statement.execute_last(transaction, parameters).expect("it inserts");
            });
            assert_eq!(trips, 1);
        }
        assert_eq!(query(&connection, "SELECT id FROM t").num_rows(), 3);
    },
    fn a_commit_that_travels_along_finds_nothing_else(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER PRIMARY KEY)");
        run(&connection, "INSERT INTO t VALUES (1)");
        let many = batch([ints(2..200)]);
        for (is_lazy, is_many) in [(false, false), (true, false), (false, true), (true, true)] {
            let begun = match is_lazy {
                true => connection.begin_lazy(Default::default()),
                false => connection.begin(Default::default()),
            };
            let mut transaction = begun.expect("it starts");
            if is_many {
                let insert = connection.prepare("INSERT INTO t VALUES (?) RETURNING id").expect("valid SQL");
                let inserted = insert.query_rows(&transaction, &many, OnFailure::Stop).expect("it runs");
                assert_eq!(inserted.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 198);
            } else {
                transaction.execute("INSERT INTO t VALUES (2)").expect("it inserts");
            }
            let statement = connection.prepare("INSERT INTO t VALUES (1)").expect("valid SQL");
            statement.execute_last(transaction, ()).expect_err("a duplicate");
            // What was done before is undone.
            assert_eq!(query(&connection, "SELECT id FROM t").num_rows(), 1, "{is_lazy} {is_many}");
        }
    },
    fn beginning_and_ending_take_one_each(target: &Target) {
        let connection = fresh(target);
        connection.begin(Default::default()).expect("it starts").rollback().expect("it ends");
        assert_eq!(cost(&connection, || connection.ping().expect("it answers")), 1);
        let mut transaction = None;
        assert_eq!(cost(&connection, || transaction = connection.begin(Default::default()).ok()), 1);
        let transaction = transaction.expect("it started");
        assert_eq!(cost(&connection, || transaction.commit().expect("it commits")), 1);
    },
    fn two_fetches_are_in_flight(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, filler CHAR(200) CHARACTER SET ASCII)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 10000) DO BEGIN INSERT INTO t VALUES (:i, 'x'); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(100));
        let before = connection.wire_stats();
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        cursor.next_batch().expect("rows").expect("rows");
        let spent = connection.wire_stats().since(&before);
        // op_execute and one op_fetch, so that a slow query can be cancelled; the second when the first rows came.
        assert_eq!(spent.packets_sent, 3);
        assert!(spent.round_trips <= 2, "{spent:?}");
    },
    fn a_thousand_blobs_take_six_round_trips(target: &Target) {
        let mut config = fresh_closed(target);
        config.max_inline_blob_size = Some(0);
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE TEXT)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 1000) DO BEGIN INSERT INTO t VALUES (:i, RPAD('', 3400, :i || ' ')); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT id, b FROM t").expect("valid SQL");
        let read = |connection: &Connection| {
            cost(connection, || {
                let batch = rows(statement.query(&transaction, ()).expect("it runs"));
                let texts = batch.column(1).as_string::<i32>();
                assert_eq!(texts.len(), 1000);
                assert!(texts.iter().all(|text| text.is_some_and(|text| text.len() == 3400)));
            })
        };
        for _ in 0..2 {
            let trips = read(&connection);
            assert!(trips <= 6, "{trips}");
        }
    },
    fn a_thousand_blobs_of_a_new_query_take_six_round_trips(target: &Target) {
        let closed = fresh_closed(target);
        let connection = Connection::open(&closed).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE TEXT)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 1000) DO BEGIN INSERT INTO t VALUES (:i, RPAD('', 3400, :i || ' ')); i = i + 1; END
             END",
        );
        for delay in [0, 6, 30].map(Duration::from_millis) {
            let proxy = Proxy::start(target.server().address(), Behaviour::delay(delay)).expect("it listens");
            for policy in ["pipelined", "inline", "adaptive"] {
                let mut config = at(target, &closed, proxy.address(), "");
                config.read.push(("blobs".to_owned(), policy.to_owned()));
                let connection = Connection::open(&config).expect("it opens");
                // What it asks for is no longer new the second time, and the connection has seen such BLOBs.
                for turn in ["new", "known"] {
                    let seen = proxy.round_trips();
                    let trips = cost(&connection, || {
                        let mut cursor = connection.query("SELECT id, b FROM t").expect("it runs");
                        let mut row = 0;
                        while row < 1000 {
                            let batch = cursor.next_batch().expect("it reads").expect("more rows");
                            let ids = batch.column(0).as_primitive::<Int32Type>();
                            let texts = batch.column(1).as_string::<i32>();
                            for (id, text) in ids.values().iter().zip(texts) {
                                let start = format!("{row} ");
                                let text = text.expect("a text");
                                assert!(
                                    *id == row && text.len() == 3400 && text.starts_with(&start),
                                    "{text}"
                                );
                                row += 1;
                            }
                        }
                        let seen = proxy.round_trips() - seen;
                        assert!(seen <= 6, "{policy}, {delay:?}, {turn}: the proxy saw {seen}");
                        cursor
                    });
                    // Closing the cursor takes another one.
                    assert!(trips <= 6 + 1, "{policy}, {delay:?}, {turn}: {trips}");
                }
            }
        }
    },
    fn short_blobs_come_with_their_rows(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB SUB_TYPE TEXT)");
        run(&connection, "INSERT INTO t VALUES ('here')");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT b FROM t").expect("valid SQL");
        let trips = cost(&connection, || {
            let batch = rows(statement.query(&transaction, ()).expect("it runs"));
            assert_eq!(batch.column(0).as_string::<i32>().value(0), "here");
        });
        let has_inline = target.generation() >= Generation::V5_0;
        assert_eq!(trips, if has_inline { 1 } else { 2 });
    },
    fn blobs_are_written_together(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB SUB_TYPE TEXT)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(40_000); 10]));
        let trips = cost(&connection, || {
            statement.execute(&mut transaction, Params::row([texts])).expect("they are written");
        });
        // One for all contents, one for all rows.
        assert_eq!(trips, 2);
    }
);
