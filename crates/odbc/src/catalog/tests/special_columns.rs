//! `SQLSpecialColumns`

use super::support::{all, by_identifiers, column, database, is_firebird3, refusal, scope};
use crate::catalog::{Error, Special, special_columns};
use crate::diagnostics::State;
use firearrow::{Connection, Cursor};
use firearrow_testkit::{Generation, Target, matrix};

fn best(connection: &Connection, table: &str) -> Vec<String> {
    column(
        special_columns(&scope(connection), Special::BestRowId, None, None, Some(table), 2, 0),
        "COLUMN_NAME",
    )
}

const NOTHING: [&str; 0] = [];

matrix!(
    all,
    fn the_primary_key_is_best(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE TABLE t (u INTEGER NOT NULL UNIQUE, v INTEGER UNIQUE, b VARCHAR(5) CHARACTER SET UTF8 NOT NULL, \
                 a BIGINT NOT NULL, PRIMARY KEY (b, a))",
            ],
        );
        let scope = scope(&connection);
        for (lifetime, nullable) in [(0, 0), (1, 1), (2, 0), (2, 1)] {
            let found =
                special_columns(&scope, Special::BestRowId, None, None, Some("T"), lifetime, nullable);
            assert_eq!(all(found), ["2|B|-9|VARCHAR|5|10|<null>|1", "2|A|-5|BIGINT|19|8|0|1"]);
        }
    },
    fn else_the_narrowest_index_without_nulls_is(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE TABLE wide (a INTEGER NOT NULL, b INTEGER NOT NULL, n INTEGER, c BIGINT NOT NULL, \
                 d VARCHAR(50) NOT NULL, e SMALLINT NOT NULL)",
                "CREATE UNIQUE INDEX i_ab ON wide (a, b)",
                "CREATE UNIQUE INDEX i_n ON wide (n)",
                "CREATE UNIQUE INDEX i_d ON wide (d)",
                "CREATE UNIQUE INDEX i_c ON wide (c)",
                "CREATE UNIQUE INDEX i_e ON wide (e)",
                "ALTER INDEX i_e INACTIVE",
                "CREATE INDEX plain ON wide (a)",
                "CREATE UNIQUE INDEX calc ON wide COMPUTED BY (a + b)",
                "CREATE TABLE two (a INTEGER NOT NULL, b INTEGER NOT NULL, n INTEGER UNIQUE)",
                "CREATE UNIQUE INDEX i_two ON two (b, a)",
                "CREATE TABLE loose (n INTEGER UNIQUE, m INTEGER NOT NULL)",
                "CREATE UNIQUE INDEX i_loose ON loose (m, n)",
            ],
        );
        assert_eq!(best(&connection, "WIDE"), ["C"]);
        assert_eq!(best(&connection, "TWO"), ["B", "A"]);
        assert_eq!(best(&connection, "LOOSE"), NOTHING);
    },
    fn partial_indexes_identify_nothing(target: &Target) {
        if is_firebird3(target) || target.generation() == Generation::V4_0 {
            return;
        }
        let connection = database(
            target,
            &["CREATE TABLE t (a INTEGER NOT NULL)", "CREATE UNIQUE INDEX part ON t (a) WHERE a > 5"],
        );
        assert_eq!(best(&connection, "T"), NOTHING);
    },
    fn else_the_place_of_the_row_is(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE TABLE t (a INTEGER)",
                "INSERT INTO t VALUES (7)",
                "CREATE VIEW v AS SELECT a FROM t",
                "CREATE GLOBAL TEMPORARY TABLE g (a INTEGER)",
            ],
        );
        let scope = scope(&connection);
        let found = |table, lifetime| {
            all(special_columns(&scope, Special::BestRowId, None, None, Some(table), lifetime, 1))
        };
        let name = if is_firebird3(target) { "CHAR() CHARACTER SET OCTETS" } else { "BINARY" };
        let row = format!("1|RDB$DB_KEY|-2|{name}|8|8|<null>|2");
        for lifetime in [0, 1] {
            for table in ["T", "G", "RDB$RELATIONS", "MON$DATABASE"] {
                assert_eq!(found(table, lifetime), [row.as_str()], "{table}");
                let sql = format!("SELECT MAX(OCTET_LENGTH(RDB$DB_KEY)) FROM {table}");
                let length: Option<i64> =
                    connection.query(&sql).and_then(Cursor::value).expect("it is a column");
                assert_eq!(length, (table != "G").then_some(8), "{table}");
            }
        }
        assert_eq!(found("T", 2), NOTHING, "another row may take its place");
        assert_eq!(found("V", 0), NOTHING);
        assert_eq!(found("NONE", 0), NOTHING);
    },
    fn rows_have_no_versions(target: &Target) {
        let connection = database(target, &["CREATE TABLE t (id INTEGER PRIMARY KEY)"]);
        let scope = scope(&connection);
        assert_eq!(all(special_columns(&scope, Special::RowVersion, None, None, Some("T"), 0, 1)), NOTHING);
    },
    fn arguments_are_checked(target: &Target) {
        let connection = database(target, &["CREATE TABLE t (id INTEGER PRIMARY KEY)"]);
        let patterns = scope(&connection);
        let call = |catalog, schema, table, lifetime, nullable| {
            special_columns(&patterns, Special::BestRowId, catalog, schema, table, lifetime, nullable)
        };
        let t = Some("T");
        assert_eq!(refusal(call(None, None, None, 0, 0)), State::NULL_POINTER);
        assert_eq!(refusal(call(None, None, t, 3, 0)), State::SCOPE);
        assert_eq!(refusal(call(None, None, t, u16::MAX, 0)), State::SCOPE);
        assert_eq!(refusal(call(None, None, t, 2, 2)), State::NULLABLE_TYPE);
        assert_eq!(all(call(Some("x"), None, t, 0, 0)), NOTHING);
        assert_eq!(all(call(None, Some("x"), t, 0, 0)), NOTHING);
        assert_eq!(all(call(None, None, Some("t"), 0, 0)).len(), 1);
        let scope = by_identifiers(&connection);
        let found = special_columns(&scope, Special::BestRowId, None, Some(""), Some(" t"), 2, 0);
        assert_eq!(column(found, "COLUMN_NAME"), ["ID"]);
        let refused = special_columns(&scope, Special::BestRowId, None, None, t, 2, 0);
        assert_eq!(refusal(refused), State::NULL_POINTER);
    }
);

#[test]
fn kinds_have_numbers() {
    let kind = |number| {
        Special::of(number).map_err(|error| match error {
            Error::Argument(failure) => failure.state,
            Error::Client(error) => panic!("{error}"),
        })
    };
    assert_eq!([kind(1), kind(2)], [Ok(Special::BestRowId), Ok(Special::RowVersion)]);
    for number in [0, 3, u16::MAX] {
        assert_eq!(kind(number), Err(State::COLUMN_TYPE));
    }
}
