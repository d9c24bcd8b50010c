//! `SQLStatistics`

use super::support::{
    all, by_identifiers, column, config, database, is_firebird3, of_stranger, refusal, rows, run, scope,
};
use crate::catalog::{Scope, statistics};
use crate::diagnostics::State;
use firearrow::Connection;
use firearrow_testkit::{Generation, Target, matrix};

const SCHEMA: [&str; 7] = [
    "CREATE TABLE t (id INTEGER NOT NULL, a INTEGER, b INTEGER, s VARCHAR(10), CONSTRAINT pk_t PRIMARY KEY (id))",
    "CREATE INDEX many ON t (b, a)",
    "CREATE DESCENDING INDEX down ON t (a)",
    "CREATE UNIQUE INDEX one ON t (s)",
    "CREATE INDEX calc ON t COMPUTED BY (UPPER(s) || a)",
    "CREATE INDEX sleeps ON t (a)",
    "ALTER INDEX sleeps INACTIVE",
];

fn found(scope: &Scope<'_>, table: &str, unique_only: bool, exact: bool, names: &[&str]) -> Vec<String> {
    rows(statistics(scope, None, None, Some(table), unique_only, exact), names)
}

/// Four rows, three of which differ in `a`.
fn fill(connection: &Connection) {
    for row in ["1, 1, 1, 'a'", "2, 2, 1, 'b'", "3, 3, 1, 'c'", "4, 3, 1, 'd'"] {
        run(connection, &[&format!("INSERT INTO t VALUES ({row})")]);
    }
    for index in ["pk_t", "many", "down", "one", "calc"] {
        run(connection, &[&format!("SET STATISTICS INDEX {index}")]);
    }
}

matrix!(
    all,
    fn unique_indexes_come_first(target: &Target) {
        let connection = database(target, &SCHEMA);
        assert_eq!(
            all(statistics(&scope(&connection), None, None, Some("T"), false, false)),
            [
                "<null>|<null>|T|<null>|<null>|<null>|0|<null>|<null>|<null>|<null>|<null>|<null>",
                "<null>|<null>|T|0|<null>|ONE|3|1|S|A|<null>|<null>|<null>",
                "<null>|<null>|T|0|<null>|PK_T|3|1|ID|A|<null>|<null>|<null>",
                "<null>|<null>|T|1|<null>|CALC|3|1|(UPPER(s) || a)|A|<null>|<null>|<null>",
                "<null>|<null>|T|1|<null>|DOWN|3|1|A|D|<null>|<null>|<null>",
                "<null>|<null>|T|1|<null>|MANY|3|1|B|A|<null>|<null>|<null>",
                "<null>|<null>|T|1|<null>|MANY|3|2|A|A|<null>|<null>|<null>",
            ]
        );
    },
    fn uniqueness_is_a_filter(target: &Target) {
        let connection = database(target, &SCHEMA);
        let names = found(&scope(&connection), "T", true, false, &["INDEX_NAME", "NON_UNIQUE"]);
        assert_eq!(names, ["<null>|<null>", "ONE|0", "PK_T|0"]);
    },
    fn rows_are_counted_on_demand(target: &Target) {
        let connection = database(target, &SCHEMA);
        fill(&connection);
        let scope = scope(&connection);
        let names = ["INDEX_NAME", "CARDINALITY"];
        let of_indexes = ["ONE|4", "PK_T|4", "CALC|4", "DOWN|3", "MANY|3", "MANY|3"];
        let quick = found(&scope, "T", false, false, &names);
        assert_eq!((quick[0].as_str(), &quick[1..]), ("<null>|<null>", &of_indexes.map(String::from)[..]));
        let exact = found(&scope, "T", false, true, &names);
        assert_eq!((exact[0].as_str(), &exact[1..]), ("<null>|4", &of_indexes.map(String::from)[..]));
    },
    fn tables_without_indexes_have_one_row(target: &Target) {
        let connection = database(
            target,
            &["CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1)", "CREATE VIEW v AS SELECT id FROM t"],
        );
        let scope = scope(&connection);
        for table in ["T", "V"] {
            assert_eq!(
                found(&scope, table, false, true, &["TABLE_NAME", "TYPE", "CARDINALITY"]),
                [format!("{table}|0|1")]
            );
        }
        assert_eq!(found(&scope, "NONE", false, true, &["TYPE"]), [""; 0]);
        let system = found(&scope, "RDB$RELATIONS", false, false, &["INDEX_NAME"]);
        assert!(system.len() > 1 && system[1..].iter().all(|name| name.starts_with("RDB$INDEX_")));
    },
    fn rows_that_may_not_be_read_are_not_counted(target: &Target) {
        let config = config(target);
        let owner = Connection::create(&config).expect("a fresh database can be created");
        run(&owner, &SCHEMA);
        fill(&owner);
        owner.close().expect("nothing is open");
        let stranger = Connection::open(&of_stranger(target, config)).expect("it opens");
        let names = ["INDEX_NAME", "CARDINALITY"];
        let found = found(&scope(&stranger), "T", true, true, &names);
        assert_eq!(found, ["<null>|<null>", "ONE|4", "PK_T|4"]);
    },
    fn nothing_stays_in_use(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        assert_eq!(found(&scope, "T", false, true, &["CARDINALITY"])[0], "0");
        run(&connection, &["DROP INDEX many", "DROP TABLE t"]);
        assert_eq!(found(&scope, "T", false, true, &["CARDINALITY"]), [""; 0]);
    },
    fn arguments_are_checked(target: &Target) {
        let connection = database(target, &SCHEMA);
        let patterns = scope(&connection);
        let by_identifiers = by_identifiers(&connection);
        for scope in [patterns, by_identifiers] {
            let refused = statistics(&scope, None, Some(""), None, false, false);
            assert_eq!(refusal(refused), State::NULL_POINTER);
        }
        let refused = statistics(&by_identifiers, None, None, Some("t"), false, false);
        assert_eq!(refusal(refused), State::NULL_POINTER);
        assert_eq!(all(statistics(&by_identifiers, None, Some(""), Some("t "), true, false)).len(), 3);
        assert_eq!(all(statistics(&by_identifiers, None, Some(""), Some("\"t\""), true, false)), [""; 0]);
        assert_eq!(all(statistics(&patterns, Some("x"), None, Some("T"), true, false)), [""; 0]);
        assert_eq!(all(statistics(&patterns, None, Some("x"), Some("T"), true, false)), [""; 0]);
        assert_eq!(all(statistics(&patterns, None, None, Some("_"), true, false)), [""; 0]);
    },
    fn partial_indexes_have_conditions(target: &Target) {
        if is_firebird3(target) || target.generation() == Generation::V4_0 {
            return;
        }
        let connection = database(
            target,
            &[
                "CREATE TABLE t (id INTEGER NOT NULL, a INTEGER)",
                "CREATE UNIQUE INDEX part ON t (id) WHERE a > 5",
                "CREATE INDEX whole ON t (id)",
            ],
        );
        let filters =
            column(statistics(&scope(&connection), None, None, Some("T"), false, false), "FILTER_CONDITION");
        assert_eq!(filters, ["<null>", "a > 5", "<null>"]);
    }
);
