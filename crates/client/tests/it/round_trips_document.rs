//! Keeps docs/protocol/round-trips.md true: how often each operation waits for the server, on each protocol.

use crate::support::{config, cost, rows, run};
use arrow::array::*;
use firearrow::config::{AuthPlugin, WireCrypt};
use firearrow::{BatchLimits, Config, Connection, OnFailure, Params, ReadOptions};
use firearrow_testkit::{Platform, Target, keep_document, platform};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Columns of the table: a server and the protocol that is asked for.
const COLUMNS: [(&str, Platform, u16); 6] = [
    ("3.0, 13", platform::firebird_3_0(), 13),
    ("3.0, 15", platform::firebird_3_0(), 15),
    ("4.0, 16", platform::firebird_4_0(), 16),
    ("4.0, 17", platform::firebird_4_0(), 17),
    ("5.0, 18", platform::firebird_5_0(), 18),
    ("5.0, 19", platform::firebird_5_0(), 19),
];

const HEAD: &str = "# Round trips\n\n\
    This page shows how often each operation waits for the server, by server and protocol. The test `round_trips_document` of\n\
    the client crate writes it: the test counts on real servers and fails when a number differs. Run it with\n\
    `FIREARROW_UPDATE_DOCS=1` to update the page. A round trip is a change from sending to receiving, as the client library\n\
    counts it. \"≤\" marks numbers that depend on how the answers are split.\n\n";

/// A database with tables to work on, and how to connect to it.
struct Scene {
    config: Config,
}

impl Scene {
    fn new(target: &Target, protocol: u16) -> Self {
        let mut config = config(target, &target.fresh_url());
        config.protocol = protocol..=protocol;
        let connection = Connection::create(&config).expect("a fresh database can be created");
        run(&connection, "CREATE TABLE t (id INTEGER, name VARCHAR(20))");
        run(&connection, "CREATE TABLE many (id INTEGER, filler CHAR(200) CHARACTER SET ASCII)");
        run(&connection, "CREATE TABLE blobs (id INTEGER, b BLOB SUB_TYPE TEXT)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 1000) DO BEGIN
                     INSERT INTO many VALUES (:i, 'x');
                     INSERT INTO blobs VALUES (:i, RPAD('', 3400, :i || ' '));
                     i = i + 1;
                 END
             END",
        );
        Self { config }
    }

    fn connect(&self) -> Connection {
        Connection::open(&self.config).expect("it opens")
    }

    /// What a whole connection costs that is opened and nothing else, with changed options; `None` if the server cannot.
    fn connecting(&self, change: impl Fn(&mut Config)) -> Option<u64> {
        let mut config = self.config.clone();
        change(&mut config);
        Connection::open(&config).ok().map(|connection| connection.wire_stats().round_trips)
    }
}

/// An operation: its name, whether its number is a bound, and how to count it.
type Operation = (&'static str, Option<u64>, fn(&Scene) -> Option<u64>);

fn ints(count: i32) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..count));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..count).map(|n| format!("name {n}"))));
    RecordBatch::try_from_iter([("id", ids), ("name", names)]).expect("equal lengths")
}

fn read_blobs(scene: &Scene, policy: &str) -> u64 {
    let connection = scene.connect();
    let transaction = connection.begin(Default::default()).expect("it starts");
    let mut options = ReadOptions::default();
    options.set("blobs", policy).expect("a policy");
    let read = || {
        let statement = transaction.prepare("SELECT b FROM blobs").expect("valid SQL");
        let statement = statement.with_read_options(options.clone());
        let batch = rows(statement.query(&transaction, ()).expect("it runs"));
        assert_eq!(batch.num_rows(), 1000);
        assert!(
            batch.column(0).as_string::<i32>().iter().all(|text| text.is_some_and(|text| text.len() == 3400))
        );
    };
    // From the second time on a connection knows how long they are.
    let new = cost(&connection, read);
    new.max(cost(&connection, read))
}

fn write_rows(scene: &Scene, count: i32) -> u64 {
    let connection = scene.connect();
    run(&connection, "DELETE FROM t");
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
    let batch = ints(count);
    let spent = cost(&connection, || {
        let done = statement.execute_rows(&mut transaction, &batch, OnFailure::Continue).expect("it inserts");
        assert_eq!((done.rows, done.failures.len()), (count as usize, 0));
    });
    let stored = rows(transaction.query("SELECT COUNT(*) FROM t").expect("it runs"));
    assert_eq!(stored.column(0).as_primitive::<arrow::datatypes::Int64Type>().value(0), i64::from(count));
    spent
}

/// Reads a row for each row of parameters.
fn query_rows(scene: &Scene, sql: &str, batch: &RecordBatch) -> u64 {
    let connection = scene.connect();
    let transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare(sql).expect("valid SQL");
    cost(&connection, || {
        let mut cursor = statement.query_rows(&transaction, batch, OnFailure::Stop).expect("it runs");
        let mut given = 0;
        while let Some(batch) = cursor.next_batch().expect("rows") {
            given += batch.num_rows();
        }
        assert_eq!((given, cursor.executed().rows), (batch.num_rows(), batch.num_rows()));
    })
}

const OPERATIONS: &[Operation] = &[
    ("connect: Srp256 (Srp on 3.0), encrypted", None, |scene| scene.connecting(|_| {})),
    ("connect: Srp256 (Srp on 3.0), plain", None, |scene| {
        scene.connecting(|config| config.wire_crypt = WireCrypt::Disabled)
    }),
    ("connect: Srp, encrypted", None, |scene| {
        scene.connecting(|config| config.auth_plugins = vec![AuthPlugin::Srp])
    }),
    ("connect: Legacy_Auth, plain", None, |scene| {
        scene.connecting(|config| {
            config.user = Some("LEGACYTEST".into());
            config.password = Some("legacy".into());
            config.auth_plugins = vec![AuthPlugin::Legacy];
            config.wire_crypt = WireCrypt::Disabled;
        })
    }),
    ("first row of new SQL on a fresh connection", None, |scene| {
        let connection = scene.connect();
        let mut kept = None;
        let spent = cost(&connection, || {
            let mut cursor = connection.query("SELECT id FROM many WHERE id = 7").expect("it runs");
            assert_eq!(cursor.next_batch().expect("it reads").expect("a row").num_rows(), 1);
            kept = Some(cursor); // without what it costs to end
        });
        Some(spent)
    }),
    ("query of new SQL in its own transaction, start to commit", None, |scene| {
        let connection = scene.connect();
        Some(cost(&connection, || rows(connection.query("SELECT * FROM t").expect("it runs"))))
    }),
    ("query of known SQL in its own transaction, start to commit", None, |scene| {
        let connection = scene.connect();
        rows(connection.query("SELECT * FROM t").expect("it runs"));
        Some(cost(&connection, || rows(connection.query("SELECT * FROM t").expect("it runs"))))
    }),
    ("query of known SQL, in a transaction", None, |scene| {
        let connection = scene.connect();
        let transaction = connection.begin(Default::default()).expect("it starts");
        rows(transaction.query("SELECT * FROM t").expect("it runs"));
        Some(cost(&connection, || rows(transaction.query("SELECT * FROM t").expect("it runs"))))
    }),
    ("query of new SQL, in a transaction", None, |scene| {
        let connection = scene.connect();
        let transaction = connection.begin(Default::default()).expect("it starts");
        Some(cost(&connection, || rows(transaction.query("SELECT * FROM t").expect("it runs"))))
    }),
    ("query of a prepared statement, in a transaction", None, |scene| {
        let connection = scene.connect();
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
        Some(cost(&connection, || rows(statement.query(&transaction, ()).expect("it runs"))))
    }),
    ("execute new SQL and commit", None, |scene| {
        let connection = scene.connect();
        Some(cost(&connection, || run(&connection, "DELETE FROM t")))
    }),
    ("execute known SQL and commit", None, |scene| {
        let connection = scene.connect();
        run(&connection, "DELETE FROM t");
        Some(cost(&connection, || run(&connection, "DELETE FROM t")))
    }),
    ("execute a prepared statement and count its rows", None, |scene| {
        let connection = scene.connect();
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("UPDATE t SET name = ?").expect("valid SQL");
        let parameters = || Params::texts([Some("b")]);
        Some(cost(&connection, || statement.execute(&mut transaction, parameters()).expect("it runs")))
    }),
    ("begin", None, |scene| {
        let connection = scene.connect();
        let mut kept = None;
        Some(cost(&connection, || kept = connection.begin(Default::default()).ok()))
    }),
    ("begin, lazily", None, |scene| {
        let connection = scene.connect();
        let mut kept = None;
        Some(cost(&connection, || kept = connection.begin_lazy(Default::default()).ok()))
    }),
    ("commit", None, |scene| {
        let connection = scene.connect();
        let transaction = connection.begin(Default::default()).expect("it starts");
        Some(cost(&connection, || transaction.commit().expect("it commits")))
    }),
    ("prepare, on a fresh connection", None, |scene| {
        let connection = scene.connect();
        Some(cost(&connection, || connection.prepare("SELECT * FROM t").expect("valid SQL")))
    }),
    ("1000 rows of 200 bytes", Some(12), |scene| {
        let connection = scene.connect();
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM many").expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(10_000));
        Some(cost(&connection, || {
            assert_eq!(rows(statement.query(&transaction, ()).expect("runs")).num_rows(), 1000)
        }))
    }),
    ("new query for 1000 BLOBs of 3.4 KB, after their rows", Some(6), |scene| {
        Some(read_blobs(scene, "pipelined"))
    }),
    ("new query for 1000 BLOBs of 3.4 KB, with their rows where possible", Some(6), |scene| {
        Some(read_blobs(scene, "inline"))
    }),
    ("new query for 1000 BLOBs of 3.4 KB, adaptive", Some(6), |scene| Some(read_blobs(scene, "adaptive"))),
    ("insert 50 rows", None, |scene| Some(write_rows(scene, 50))),
    ("insert 10,000 rows", Some(12), |scene| Some(write_rows(scene, 10_000))),
    ("insert 100 rows and read what they return", None, |scene| {
        let sql = "INSERT INTO t VALUES (?, ?) RETURNING id, name";
        Some(query_rows(scene, sql, &ints(100)))
    }),
    ("query for 100 rows of parameters, in all", Some(8), |scene| {
        let ids = ints(100).project(&[0]).expect("the first column");
        Some(query_rows(scene, "SELECT id + CAST(? AS INTEGER) FROM many WHERE id < 1", &ids))
    }),
    ("insert 10 rows with BLOBs of 40 KB", None, |scene| {
        let connection = scene.connect();
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO blobs (b) VALUES (?)").expect("valid SQL");
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(40_000); 10]));
        let spent =
            cost(&connection, || statement.execute(&mut transaction, Params::row([texts])).expect("written"));
        Some(spent)
    }),
    ("open a BLOB as a stream and read its first 16 KB", None, |scene| {
        let connection = scene.connect();
        let transaction = connection.begin(Default::default()).expect("it starts");
        let mut options = ReadOptions::default();
        options.set("blobs", "lazy").expect("a policy");
        let statement =
            transaction.prepare("SELECT FIRST 1 b FROM blobs").expect("valid").with_read_options(options);
        let batch = rows(statement.query(&transaction, ()).expect("it runs"));
        let id = batch.column(0).as_primitive::<arrow::datatypes::UInt64Type>().value(0);
        Some(cost(&connection, || {
            let mut reader = transaction.open_blob(id).expect("it opens");
            std::io::Read::read_exact(&mut reader, &mut [0; 3000]).expect("it reads");
        }))
    }),
    ("ping", None, |scene| {
        let connection = scene.connect();
        Some(cost(&connection, || connection.ping().expect("it answers")))
    }),
];

/// The cell of one operation in one column.
fn measured(scene: &Scene, operation: &Operation) -> String {
    let (name, bound, count) = operation;
    match (count(scene), bound) {
        (None, _) => "–".to_owned(),
        (Some(count), None) => count.to_string(),
        (Some(count), Some(bound)) => {
            assert!(count <= *bound, "{name}: {count} round trips, more than {bound}");
            format!("≤ {bound}")
        }
    }
}

/// A platform that is absent keeps the column that the document has.
#[test]
fn the_round_trips_document_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/round-trips.md");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let scene = |(_, platform, protocol): &(&str, Platform, u16)| {
        platform.target().ok().map(|target| Scene::new(&target, *protocol))
    };
    let scenes: Vec<Option<Scene>> = COLUMNS.iter().map(scene).collect();
    let mut text = HEAD.to_owned();
    let _ = writeln!(text, "| operation |{}", COLUMNS.map(|(name, ..)| format!(" {name} |")).concat());
    let _ = writeln!(text, "|---|---|---|---|---|---|---|");
    for operation in OPERATIONS {
        let _ = write!(text, "| {} |", operation.0);
        for (index, scene) in scenes.iter().enumerate() {
            let cell = match scene {
                Some(scene) => measured(scene, operation),
                None => cell(&old, operation.0, index + 1).unwrap_or("not run").to_owned(),
            };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text.push_str("\n– : the server does not allow it.\n");
    keep_document("docs/protocol/round-trips.md", &text);
}

/// A cell of the table for an operation.
fn cell<'a>(document: &'a str, operation: &str, column: usize) -> Option<&'a str> {
    let line = document.lines().find(|line| line.starts_with(&format!("| {operation} |")))?;
    line.split('|').nth(column + 1).map(str::trim)
}
