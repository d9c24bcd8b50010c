//! What only the asynchronous API can get wrong: futures that are dropped, runtimes that end or change, many at once.

use crate::support::{config, fresh_closed};
use arrow::array::{AsArray, Int32Array, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type};
use firearrow::asynchronous::{Connection, Statement};
use firearrow::{CancelToken, Config, Kind, OnFailure};
use firearrow_testkit::{Target, matrix};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

/// Gives no row for a long time.
const ENDLESS: &str =
    "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";

/// How long a cancelled call may take to leave the connection to the next one.
const SOON: Duration = Duration::from_secs(5);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn open(config: &Config) -> Connection {
    Connection::open(config).await.expect("it opens")
}

/// The only number of a query's only row.
async fn number(connection: &Connection, sql: &str) -> i64 {
    let mut cursor = connection.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batch = cursor.next_batch().await.expect("it reads").expect("a row");
    batch.column(0).as_primitive::<Int64Type>().value(0)
}

async fn run(connection: &Connection, sql: &str) {
    connection.execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn numbers(rows: std::ops::Range<i32>) -> RecordBatch {
    let column = Arc::new(Int32Array::from_iter_values(rows));
    RecordBatch::try_from_iter([("n", column as _)]).expect("one column")
}

/// A connection as it was left: another one if it says that it is beyond use.
async fn works_or_says_so(connection: Connection, config: &Config) -> Connection {
    let begin = Instant::now();
    let connection = match connection.ping().await {
        Ok(()) => connection,
        Err(error) => {
            assert!(connection.is_failed(), "{error}");
            open(config).await
        }
    };
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    assert_eq!(number(&connection, "SELECT CAST(7 AS BIGINT) FROM RDB$DATABASE").await, 7);
    connection
}

type Call<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A verb, which a test begins and gives up.
type Verb = (&'static str, for<'a> fn(&'a Connection) -> Call<'a>);

/// Whatever they answer: the server may have been interrupted.
const VERBS: [Verb; 13] = [
    ("ping", |connection| Box::pin(async { drop(connection.ping().await) })),
    ("query", |connection| {
        Box::pin(async {
            if let Ok(mut cursor) = connection.query("SELECT n FROM filled").await {
                while let Ok(Some(_)) = cursor.next_batch().await {}
            }
        })
    }),
    ("execute", |connection| Box::pin(async { drop(connection.execute("INSERT INTO t VALUES (1)").await) })),
    ("ddl", |connection| {
        Box::pin(async { drop(connection.execute("RECREATE TABLE made (n INTEGER)").await) })
    }),
    ("begin and commit", |connection| {
        Box::pin(async {
            let Ok(mut transaction) = connection.begin(Default::default()).await else { return };
            let _ = transaction.execute("INSERT INTO t VALUES (2)").await;
            let _ = transaction.savepoint("s").await;
            let _ = transaction.execute("UPDATE t SET n = n + 1").await;
            let _ = transaction.rollback_to_savepoint("s").await;
            let _ = transaction.commit().await;
        })
    }),
    ("prepare", |connection| {
        Box::pin(async {
            let Ok(statement) = connection.prepare("SELECT n FROM filled WHERE n < ?").await else { return };
            let _ = statement.plan(true).await;
        })
    }),
    ("execute_rows", |connection| Box::pin(write(connection, OnFailure::Stop))),
    ("execute_rows with failures", |connection| Box::pin(write(connection, OnFailure::Continue))),
    ("query_rows", |connection| {
        Box::pin(async {
            let Ok(transaction) = connection.begin(Default::default()).await else { return };
            let sql = "INSERT INTO t VALUES (?) RETURNING n";
            let Ok(statement) = transaction.prepare(sql).await else { return };
            let rows = numbers(0..300);
            let Ok(mut result) = statement.query_rows(&transaction, &rows, OnFailure::Stop).await else {
                return;
            };
            while let Ok(Some(_)) = result.next_batch().await {}
            let _ = result.close().await;
        })
    }),
    ("blobs", |connection| {
        Box::pin(async {
            if let Ok(mut cursor) = connection.query("SELECT b FROM filled").await {
                while let Ok(Some(_)) = cursor.next_batch().await {}
            }
        })
    }),
    ("scroll", |connection| {
        Box::pin(async {
            let Ok(transaction) = connection.begin(Default::default()).await else { return };
            let sql = "SELECT n FROM filled ORDER BY n";
            let Ok(mut cursor) = transaction.query_scrollable(sql).await else { return };
            let _ = cursor.absolute(300).await;
            let _ = cursor.prior(20).await;
            let _ = cursor.close().await;
        })
    }),
    ("catalog", |connection| {
        Box::pin(async {
            let Ok(catalog) = connection.catalog().await else { return };
            let _ = catalog.columns(firearrow::catalog::Name::Any, firearrow::catalog::Name::Any).await;
        })
    }),
    ("endless", |connection| {
        Box::pin(async {
            if let Ok(mut cursor) = connection.query(ENDLESS).await {
                let _ = cursor.next_batch().await;
            }
        })
    }),
];

async fn write(connection: &Connection, on_failure: OnFailure) {
    let Ok(mut transaction) = connection.begin(Default::default()).await else { return };
    let statement: Result<Statement, _> = transaction.prepare("INSERT INTO t VALUES (10 / ?)").await;
    let Ok(statement) = statement else { return };
    let rows = match on_failure {
        OnFailure::Stop => numbers(1..3000),
        // 0 is among them.
        OnFailure::Continue => numbers(-300..300),
    };
    let _ = statement.execute_rows(&mut transaction, &rows, on_failure).await;
    let _ = transaction.commit().await;
}

/// Polls a call that often, with the runtime's other tasks in between, and drops it. `true` if it came to its end.
async fn give_up_after(polls: usize, call: Call<'_>) -> bool {
    let mut call = pin!(call);
    for turn in 0..=polls {
        let poll = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
        if poll.is_ready() {
            return true;
        }
        // Answers take their time; after some turns without any, others are given a moment.
        if turn % 8 == 7 { sleep(Duration::from_micros(200)).await } else { yield_now().await }
    }
    false
}

matrix!(
    all,
    fn one_row_is_found_or_not(target: &Target) {
        let config = fresh_closed(target);
        runtime().block_on(async {
            let connection = open(&config).await;
            let transaction = connection.begin(Default::default()).await.expect("it starts");
            let sql = "SELECT RDB$RELATION_ID FROM RDB$RELATIONS WHERE RDB$RELATION_ID < ?";
            let statement = transaction.prepare(sql).await.expect("valid SQL");
            for _ in 0..2 {
                for (limit, expected) in [(0, None), (1, Some(0))] {
                    let found = statement.one_row(&transaction, [limit], |row| row.get::<i32>(0)).await;
                    assert_eq!(found.expect("it runs"), expected);
                }
            }
            let error =
                statement.one_row(&transaction, [9], |row| row.get::<i32>(0)).await.expect_err("nine");
            assert_eq!(error.kind(), Kind::Data);
        });
    },
    fn calls_that_are_given_up_anywhere_tear_nothing(target: &Target) {
        let config = fresh_closed(target);
        runtime().block_on(async {
            let mut connection = open(&config).await;
            run(&connection, "CREATE TABLE t (n INTEGER)").await;
            run(&connection, "CREATE TABLE filled (n INTEGER, b BLOB SUB_TYPE TEXT)").await;
            let fill = "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN WHILE (i < 2000) DO BEGIN \
                INSERT INTO filled VALUES (:i, 'text ' || :i); i = i + 1; END END";
            run(&connection, fill).await;
            for (name, verb) in VERBS {
                let mut is_finished = false;
                // Every step at first, then in wider ones, up to the end of the call.
                let steps = (0..24).chain((24..400).step_by(25)).chain([1000, 5000, 20_000]);
                for polls in steps {
                    is_finished = give_up_after(polls, verb(&connection)).await;
                    connection = works_or_says_so(connection, &config).await;
                    if is_finished {
                        break;
                    }
                }
                assert!(
                    is_finished != (name == "endless") || name == "ddl",
                    "{name} came to its end: {is_finished}"
                );
            }
            // Nothing holds a lock on anything.
            run(&connection, "DELETE FROM t").await;
            run(&connection, "DROP TABLE filled").await;
            connection.close().await.expect("nothing is open");
        });
    },
    fn what_is_dropped_without_being_closed_ends_in_the_background(target: &Target) {
        let config = fresh_closed(target);
        runtime().block_on(async {
            let (connection, other) = (open(&config).await, open(&config).await);
            run(&connection, "CREATE TABLE t (n INTEGER)").await;
            run(&connection, "INSERT INTO t VALUES (1)").await;
            let mut transaction = connection.begin(Default::default()).await.expect("it starts");
            transaction.execute("UPDATE t SET n = 2").await.expect("it updates");
            let cursor = transaction.query("SELECT n FROM t").await.expect("it runs");
            drop((cursor, transaction));
            // It waits for the lock until the rollback has come.
            timeout(SOON, run(&other, "UPDATE t SET n = n + 10")).await.expect("nobody holds the row");
            assert_eq!(number(&other, "SELECT CAST(n AS BIGINT) FROM t").await, 11);
            // A transaction that nobody has got is ended, too.
            for polls in 0..12 {
                let begun = Box::pin(async { drop(connection.begin(Default::default()).await) });
                give_up_after(polls, begun).await;
            }
            let sql = "SELECT COUNT(*) FROM MON$TRANSACTIONS WHERE MON$ATTACHMENT_ID = CURRENT_CONNECTION";
            assert!(number(&connection, sql).await <= 2, "the query's own, and the one for descriptions");
        });
    },
    fn of_a_hundred_calls_that_wait_every_second_is_given_up(target: &Target) {
        let config = fresh_closed(target);
        runtime().block_on(async {
            let connection = open(&config).await;
            run(&connection, "CREATE TABLE t (n INTEGER)").await;
            let busy = CancelToken::new();
            let first = {
                let (connection, busy) = (connection.clone(), busy.clone());
                tokio::spawn(async move {
                    let work = async { connection.query(ENDLESS).await?.next_batch().await };
                    busy.scope(work).await
                })
            };
            sleep(Duration::from_millis(300)).await;
            let waiting: Vec<_> = (0..100)
                .map(|n| {
                    let connection = connection.clone();
                    tokio::spawn(
                        async move { connection.execute(&format!("INSERT INTO t VALUES ({n})")).await },
                    )
                })
                .collect();
            sleep(Duration::from_millis(300)).await;
            for task in waiting.iter().step_by(2) {
                task.abort();
            }
            assert!(!first.is_finished());
            busy.cancel();
            let error = first.await.expect("it ends").expect_err("it was cancelled");
            assert_eq!(error.kind(), Kind::Cancelled, "{error}");
            for (n, task) in waiting.into_iter().enumerate() {
                match task.await {
                    Ok(inserted) => drop(inserted.unwrap_or_else(|error| panic!("{n}: {error}"))),
                    Err(aborted) => assert!(aborted.is_cancelled() && n % 2 == 0),
                }
            }
            assert_eq!(number(&connection, "SELECT COUNT(*) FROM t WHERE MOD(n, 2) = 1").await, 50);
            assert_eq!(number(&connection, "SELECT COUNT(*) FROM t").await, 50);
        });
    },
    fn one_connection_in_two_runtimes(target: &Target) {
        let config = fresh_closed(target);
        let (first, second) = (runtime(), runtime());
        let connection = first.block_on(open(&config));
        first.block_on(run(&connection, "CREATE TABLE t (n INTEGER)"));
        // Nobody drives the first one any more.
        second.block_on(run(&connection, "INSERT INTO t VALUES (1)"));
        first.block_on(run(&connection, "INSERT INTO t VALUES (2)"));
        drop(first);
        assert_eq!(second.block_on(number(&connection, "SELECT COUNT(*) FROM t")), 2);
        // What is dropped outside of a runtime is ended by the next call.
        let transaction = second.block_on(connection.begin(Default::default())).expect("it starts");
        drop(transaction);
        second.block_on(connection.ping()).expect("it works");
        second.block_on(connection.close()).expect("nothing is open");
    },
    fn a_runtime_that_ends_in_the_middle_of_a_call_closes_the_connection(target: &Target) {
        let config = fresh_closed(target);
        let (first, second) = (runtime(), runtime());
        let connection = first.block_on(open(&config));
        let token = CancelToken::new();
        first.block_on(async {
            let (connection, token) = (connection.clone(), token.clone());
            tokio::spawn(async move { token.scope(connection.query(ENDLESS)).await.map(drop) });
            sleep(Duration::from_millis(300)).await;
        });
        // An engine in this process cannot be left in the middle of a call.
        token.cancel();
        drop(first);
        let connection = second.block_on(works_or_says_so(connection, &config));
        drop(connection);
    },
    fn two_connections_take_turns_on_one_thread(target: &Target) {
        let config = fresh_closed(target);
        let count = async |last: i32| {
            let connection = open(&config).await;
            let sql = format!(
                "WITH RECURSIVE n (i) AS (SELECT 1 FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < {last}) \
                 SELECT i, CAST('blob ' || i AS BLOB SUB_TYPE TEXT) FROM n"
            );
            let mut cursor = connection.query(&sql).await.expect("it runs");
            let mut sum = 0;
            while let Some(batch) = cursor.next_batch().await.expect("it reads") {
                let numbers = batch.column(0).as_primitive::<Int32Type>();
                for (row, number) in numbers.values().iter().enumerate() {
                    assert_eq!(batch.column(1).as_string::<i32>().value(row), format!("blob {number}"));
                    sum += i64::from(*number);
                }
            }
            sum
        };
        let sums = runtime().block_on(async { tokio::join!(count(900), count(500)) });
        assert_eq!(sums, (900 * 901 / 2, 500 * 501 / 2));
    }
);

#[test]
fn a_silent_peer_times_out() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let url = format!("firebird://u:p@127.0.0.1:{port}/db?connect_timeout=200ms");
    let config = Config::parse(&url).expect("a valid URL");
    let error = runtime().block_on(Connection::open(&config)).expect_err("nobody answers");
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
}

matrix!(
    wire,
    fn a_call_that_nobody_polls_holds_up_nobody(target: &Target) {
        let config = config(target, &target.fresh_url());
        runtime().block_on(async {
            let connection = Connection::create(&config).await.expect("it is created");
            let mut unpolled = pin!(connection.query("SELECT COUNT(*) FROM RDB$FIELDS"));
            let poll = poll_fn(|context| Poll::Ready(unpolled.as_mut().poll(context))).await;
            assert!(poll.is_pending());
            timeout(SOON, connection.ping()).await.expect("it is not held up").expect("it answers");
        });
    }
);
