//! How many rows there are and what they are like.

use crate::support::{field, fresh, members, names, run, texts};
use adbc_core::schemas::{GET_STATISTIC_NAMES_SCHEMA, GET_STATISTICS_SCHEMA};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Float64Type, Int16Type, Int64Type};
use firearrow::{Config, Connection};
use firearrow_adbc::metadata::{INDEX_SELECTIVITY, statistic_names, statistics};
use firearrow_testkit::{Generation, Server, ServerConfig, Target, matrix};
use std::collections::HashSet;
use std::path::PathBuf;

// The keys of adbc.h.
const MEAN: i16 = 0;
const DISTINCT: i16 = 1;
const WIDTH: i16 = 2;
const MAX: i16 = 3;
const MIN: i16 = 4;
const NULLS: i16 = 5;
const ROWS: i16 = 6;

/// Values of `name` and `long_text`.
fn name(row: usize) -> String {
    format!("n{row}{}", if row == 999 { "ü" } else { "" })
}

/// Nobody can read `aside`: there is what its declaration says, and everything about `readable`.
fn told_without_rows(connection: &Connection) {
    for approximate in [true, false] {
        let aside = Found::of(connection, Some("ASIDE"), approximate);
        assert_eq!(aside.integer(None, ROWS), None);
        match approximate {
            true => assert_eq!(aside.float(Some("ID"), WIDTH), Some(4.0)),
            false => assert_eq!(aside.integer(Some("ID"), WIDTH), Some(4)),
        }
        assert!(aside.0.iter().all(|row| [WIDTH, MEAN].contains(&row.key)));
        let all = Found::of(connection, None, approximate);
        let readable =
            all.0.iter().find(|row| row.table == "READABLE" && row.key == ROWS).expect("it is told");
        assert_eq!(readable.value.as_primitive::<Int64Type>().value(0), 1);
        assert!(all.0.iter().any(|row| row.table == "ASIDE"));
    }
}

/// A thousand rows, an empty table, a view.
fn measured(target: &Target) -> Connection {
    let connection = fresh(target);
    let wide: Vec<String> = (0..20).map(|n| format!("c{n} INTEGER DEFAULT {n}")).collect();
    run(
        &connection,
        &format!(
            "CREATE TABLE measured (id INTEGER NOT NULL, grp SMALLINT, price NUMERIC(9,2), \
             name VARCHAR(20) CHARACTER SET UTF8, note BLOB SUB_TYPE TEXT, d DATE, \
             long_text VARCHAR(2000) CHARACTER SET UTF8, sizes INTEGER[2], {}, CONSTRAINT pk PRIMARY KEY (id))",
            wide.join(", ")
        ),
    );
    run(&connection, "CREATE TABLE empty (id INTEGER)");
    run(&connection, "CREATE VIEW seen AS SELECT id FROM measured");
    run(
        &connection,
        "EXECUTE BLOCK AS DECLARE i INTEGER = 0; DECLARE n VARCHAR(20) CHARACTER SET UTF8; BEGIN
             WHILE (i < 1000) DO BEGIN
                 n = 'n' || i;
                 IF (i = 999) THEN n = n || 'ü';
                 INSERT INTO measured (id, grp, price, name, note, long_text)
                 VALUES (:i, NULLIF(MOD(:i, 10), 0), :i - 0.5, :n, IIF(:i = 5, 'long!', NULL), :n);
                 i = i + 1;
             END
         END",
    );
    run(&connection, "CREATE INDEX by_group ON measured (grp, price)");
    connection
}

matrix!(
    all,
    fn exact_statistics_are_counted(target: &Target) {
        let connection = measured(target);
        let found = Found::of(&connection, Some("MEASURED"), false);
        assert!(found.0.iter().all(|row| row.table == "MEASURED" && !row.approximate));
        let (integer, float) = (|c, key| found.integer(Some(c), key), |c, key| found.float(Some(c), key));
        assert_eq!(found.integer(None, ROWS), Some(1000));
        assert_eq!((integer("ID", DISTINCT), integer("ID", NULLS)), (Some(1000), Some(0)));
        assert_eq!((integer("ID", MIN), integer("ID", MAX)), (Some(0), Some(999)));
        assert_eq!((integer("ID", WIDTH), float("ID", MEAN)), (Some(4), Some(4.0)));
        assert_eq!((integer("GRP", DISTINCT), integer("GRP", NULLS)), (Some(9), Some(100)));
        assert_eq!((float("PRICE", MIN), float("PRICE", MAX)), (Some(-0.5), Some(998.5)));
        assert_eq!(
            (found.bytes("NAME", MIN), found.bytes("NAME", MAX)),
            (Some("n0".into()), Some("n999ü".into()))
        );
        let mean = (0..1000).map(|row| name(row).len() as f64).sum::<f64>() / 1000.0;
        assert_eq!(integer("NAME", WIDTH), Some(6));
        assert!((float("NAME", MEAN).expect("a mean") - mean).abs() < 1e-9);
        assert_eq!((integer("NOTE", WIDTH), integer("NOTE", NULLS)), (Some(5), Some(999)));
        assert_eq!(integer("NOTE", DISTINCT), None);
        assert_eq!((integer("D", NULLS), integer("D", DISTINCT)), (Some(1000), Some(0)));
        assert_eq!((found.bytes("LONG_TEXT", MIN), integer("LONG_TEXT", WIDTH)), (None, Some(6)));
        assert_eq!(integer("C19", MAX), Some(19), "wide tables are asked about in parts");
        assert!(found.0.iter().all(|row| row.column.as_deref() != Some("SIZES")), "arrays are left out");
        // Without rows there is no least value.
        let empty = Found::of(&connection, Some("EMP_Y"), false);
        assert_eq!((empty.integer(None, ROWS), empty.integer(Some("ID"), NULLS)), (Some(0), Some(0)));
        assert_eq!(empty.integer(Some("ID"), MIN), None);
        let all = Found::of(&connection, None, false);
        let tables: HashSet<&str> = all.0.iter().map(|row| row.table.as_str()).collect();
        assert_eq!(tables, HashSet::from(["MEASURED", "EMPTY"]), "views are not counted");
    },
    fn approximate_statistics_come_from_indexes(target: &Target) {
        let connection = measured(target);
        let found = Found::of(&connection, Some("MEASURED"), true);
        assert_eq!(found.integer(None, ROWS), Some(1000), "counted: the key's selectivity is not known yet");
        assert!(found.0.iter().all(|row| row.approximate == (row.key != ROWS)));
        assert_eq!(found.float(Some("GRP"), DISTINCT), Some(10.0), "NULL is one of them");
        let selectivity = found.float(Some("GRP"), INDEX_SELECTIVITY).expect("it is known");
        assert!((selectivity - 0.1).abs() < 1e-6, "{selectivity}");
        assert_eq!(found.float(Some("PRICE"), DISTINCT), None, "no index begins with it");
        assert_eq!(
            (found.float(Some("ID"), WIDTH), found.float(Some("NAME"), WIDTH)),
            (Some(4.0), Some(80.0))
        );
        assert_eq!(found.float(Some("NOTE"), WIDTH), None);
        run(&connection, "SET STATISTICS INDEX pk");
        let found = Found::of(&connection, Some("MEASURED"), true);
        assert_eq!(found.float(None, ROWS), Some(1000.0));
        assert!(found.0.iter().all(|row| row.approximate));
        assert_eq!(found.float(Some("ID"), DISTINCT), Some(1000.0));
    },
    fn results_may_be_wide(target: &Target) {
        // As many as are asked about at once, as long as they may be; connections in UTF8 have them four times as long.
        let connection = fresh(target);
        let columns: Vec<String> =
            (0..16).map(|n| format!("c{n} VARCHAR(1024) CHARACTER SET WIN1252")).collect();
        run(&connection, &format!("CREATE TABLE wide ({})", columns.join(", ")));
        for (word, letter) in [("least", 'ä'), ("most", 'ü')] {
            let values: Vec<String> =
                (0..16).map(|n| format!("RPAD('{word}{n}', 1024, '{letter}')")).collect();
            run(&connection, &format!("INSERT INTO wide VALUES ({})", values.join(", ")));
        }
        let found = Found::of(&connection, Some("WIDE"), false);
        assert_eq!(found.integer(None, ROWS), Some(2));
        for n in 0..16 {
            let column = format!("C{n}");
            let filled = |word: &str, letter: &str| {
                let word = format!("{word}{n}");
                Some(format!("{word}{}", letter.repeat(1024 - word.len())))
            };
            assert_eq!(found.bytes(&column, MIN), filled("least", "ä"));
            assert_eq!(found.bytes(&column, MAX), filled("most", "ü"));
            assert_eq!(found.integer(Some(&column), DISTINCT), Some(2));
            assert_eq!(found.integer(Some(&column), WIDTH), Some(1024), "bytes as they are stored");
        }
    },
    fn extremes_of_long_decimals_are_approximate(target: &Target) {
        let connection = fresh(target);
        let modern = target.generation() >= Generation::V4_0;
        let more = if modern { ", j INT128, l NUMERIC(38,2)" } else { "" };
        run(
            &connection,
            &format!("CREATE TABLE t (s NUMERIC(4,1), i DECIMAL(9,2), n NUMERIC(18,2), b BIGINT{more})"),
        );
        let more = if modern { ", 5, 123456789012345678901234567890.12" } else { "" };
        run(
            &connection,
            &format!("INSERT INTO t VALUES (1.5, 1234567.89, 2251799813685248.50, 9007199254740993{more})"),
        );
        let found = Found::of(&connection, Some("T"), false);
        assert_eq!(found.float(Some("S"), MIN), Some(1.5));
        assert_eq!(found.float(Some("I"), MAX), Some(1_234_567.89));
        assert_eq!(found.float(Some("N"), MAX), Some(2_251_799_813_685_248.5));
        assert_eq!(found.integer(Some("B"), MAX), Some(9_007_199_254_740_993), "not by way of float64");
        if modern {
            assert_eq!(found.float(Some("J"), MIN), Some(5.0));
            let near = found.float(Some("L"), MIN).expect("a value") / 1.234_567_890_123_456_7e29;
            assert!((near - 1.0).abs() < 1e-15, "{near}");
        }
        for row in &found.0 {
            let rounded = row.column.as_deref().is_some_and(|column| ["N", "J", "L"].contains(&column));
            assert_eq!(row.approximate, rounded && [MIN, MAX].contains(&row.key), "{:?}", row.column);
        }
    },
    fn external_tables_that_nobody_may_use_stop_nobody(target: &Target) {
        let connection = fresh(target);
        let file = target.database_path("aside");
        run(
            &connection,
            &format!("CREATE TABLE aside EXTERNAL '{}' (id INTEGER, s CHAR(3))", file.display()),
        );
        run(&connection, "CREATE TABLE readable (id INTEGER)");
        run(&connection, "INSERT INTO readable VALUES (7)");
        told_without_rows(&connection);
    },
    fn nothing_is_told_of_what_is_not_there(target: &Target) {
        let connection = measured(target);
        for approximate in [true, false] {
            for pattern in ["NO_SUCH%", "measured", "SEEN", "RDB$RELATIONS"] {
                assert!(Found::of(&connection, Some(pattern), approximate).0.is_empty(), "{pattern}");
            }
            let batch = statistics(&connection, Some("c"), None, None, approximate).expect("statistics");
            assert_eq!((batch.schema(), batch.num_rows()), (GET_STATISTICS_SCHEMA.clone(), 0));
            let batch = statistics(&connection, None, Some("s"), None, approximate).expect("statistics");
            assert_eq!((batch.schema(), batch.num_rows()), (GET_STATISTICS_SCHEMA.clone(), 1));
            assert_eq!(members(batch.column(1), 0).len(), 0);
        }
        let names = statistic_names().expect("names");
        assert_eq!(names.schema(), *GET_STATISTIC_NAMES_SCHEMA);
        assert_eq!(names.column(1).as_primitive::<Int16Type>().values().to_vec(), [INDEX_SELECTIVITY]);
    }
);

matrix!(
    wire,
    fn external_tables_without_a_file_stop_nobody(target: &Target) {
        let settings =
            ServerConfig { extra: vec!["ExternalFileAccess = Full".into()], ..ServerConfig::default() };
        let server = Server::start_with(target.generation(), &settings).expect("the shared one runs as well");
        let path = server.fresh_database_path();
        let config = Config::parse(&server.url_at(server.address(), &path)).expect("it is valid");
        let connection = Connection::create(&config).expect("a fresh database can be created");
        // With the separators of the server's machine.
        let place = |name: &str| PathBuf::from(format!("{}/{name}", server.root().display()));
        let (folder, readable, aside) = (place("folder"), place("readable"), place("folder/aside"));
        for sql in [
            &format!("CREATE TABLE aside EXTERNAL '{}' (id INTEGER, s CHAR(3))", aside.display()),
            &format!("CREATE TABLE readable EXTERNAL '{}' (id INTEGER)", readable.display()),
            "INSERT INTO readable VALUES (7)",
        ] {
            run(&connection, sql);
        }
        // The engine makes files and folders that are missing, but not below a file.
        std::fs::remove_dir_all(&folder).expect("the engine has made it");
        std::fs::write(&folder, "").expect("there is room");
        told_without_rows(&connection);
    },
    fn tables_without_a_right_stop_nobody(target: &Target) {
        let url = target.fresh_url();
        let config = Config::parse(&url).expect("the testkit's URLs are valid");
        let owner = Connection::create(&config).expect("a fresh database can be created");
        run(&owner, "CREATE TABLE aside (id INTEGER, s CHAR(3))");
        let user = format!("S{}", std::process::id());
        run(&owner, &format!("CREATE OR ALTER USER {user} PASSWORD 'pw'"));
        let mut config = Config::parse(&url).expect("the testkit's URLs are valid");
        (config.user, config.password) = (Some(user.clone()), Some("pw".into()));
        let guest = Connection::open(&config).expect("it may connect");
        for sql in [
            "CREATE TABLE readable (id INTEGER)",
            "INSERT INTO readable VALUES (7)",
            "GRANT SELECT ON readable TO PUBLIC",
        ] {
            run(&owner, sql);
        }
        for approximate in [true, false] {
            assert_eq!(Found::of(&owner, Some("ASIDE"), approximate).integer(None, ROWS), Some(0));
        }
        told_without_rows(&guest);
        drop(guest);
        run(&owner, &format!("DROP USER {user}"));
    }
);

/// One row of statistics.
struct Row {
    table: String,
    column: Option<String>,
    key: i16,
    value: ArrayRef,
    approximate: bool,
}

struct Found(Vec<Row>);

impl Found {
    fn of(connection: &Connection, table: Option<&str>, approximate: bool) -> Self {
        let batch = statistics(connection, None, None, table, approximate).expect("statistics");
        assert_eq!((batch.schema(), batch.num_rows()), (GET_STATISTICS_SCHEMA.clone(), 1));
        assert!(batch.column(0).is_null(0));
        let schemas = members(batch.column(1), 0);
        assert_eq!((schemas.len(), schemas.column(0).null_count()), (1, 1));
        let found = members(schemas.column(1), 0);
        let (tables, columns) = (names(&field(&found, "table_name")), texts(&field(&found, "column_name")));
        let (keys, approximate) = (field(&found, "statistic_key"), field(&found, "statistic_is_approximate"));
        let values = field(&found, "statistic_value");
        let rows = (0..found.len()).map(|row| Row {
            table: tables[row].clone(),
            column: columns[row].clone(),
            key: keys.as_primitive::<Int16Type>().value(row),
            value: values.as_union().value(row),
            approximate: approximate.as_boolean().value(row),
        });
        Self(rows.collect())
    }

    fn value(&self, column: Option<&str>, key: i16) -> Option<&ArrayRef> {
        let mut found = self.0.iter().filter(|row| row.column.as_deref() == column && row.key == key);
        let row = found.next();
        assert!(found.next().is_none(), "{column:?} has {key} twice");
        row.map(|row| &row.value)
    }

    fn integer(&self, column: Option<&str>, key: i16) -> Option<i64> {
        self.value(column, key).map(|value| value.as_primitive::<Int64Type>().value(0))
    }

    fn float(&self, column: Option<&str>, key: i16) -> Option<f64> {
        self.value(column, key).map(|value| value.as_primitive::<Float64Type>().value(0))
    }

    fn bytes(&self, column: &str, key: i16) -> Option<String> {
        let value = self.value(Some(column), key)?;
        Some(String::from_utf8(value.as_binary::<i32>().value(0).to_vec()).expect("UTF-8"))
    }
}
