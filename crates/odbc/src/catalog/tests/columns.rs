//! `SQLColumns`

use super::support::{
    NULL, all, by_identifiers, column, config, database, is_firebird3, refusal, rows, run, scope,
};
use crate::catalog::{Scope, columns};
use crate::diagnostics::State;
use crate::types::TypeOptions;
use firearrow::{Connection, Dialect};
use firearrow_testkit::{Target, matrix};

/// From `DATA_TYPE` on.
const TYPE: [&str; 9] = [
    "TYPE_NAME",
    "DATA_TYPE",
    "COLUMN_SIZE",
    "BUFFER_LENGTH",
    "DECIMAL_DIGITS",
    "NUM_PREC_RADIX",
    "SQL_DATA_TYPE",
    "SQL_DATETIME_SUB",
    "CHAR_OCTET_LENGTH",
];

fn of<'a>(scope: &'a Scope<'a>, table: &'a str) -> impl Fn(&[&str]) -> Vec<String> + use<'a> {
    |names| rows(columns(scope, None, None, Some(table), None), names)
}

/// With NULL for each lone `-`.
fn with_nulls(row: &str) -> String {
    row.split('|').map(|cell| if cell == "-" { NULL } else { cell }).collect::<Vec<_>>().join("|")
}

matrix!(
    all,
    fn a_row_has_everything(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE TABLE t (id INTEGER NOT NULL, price NUMERIC(9, 2) DEFAULT -1.5)",
                "COMMENT ON COLUMN t.price IS 'in €'",
            ],
        );
        assert_eq!(
            all(columns(&scope(&connection), Some(""), Some("%"), Some("T"), Some("%"))),
            [
                "<null>|<null>|T|ID|4|INTEGER|10|4|0|10|0|<null>|<null>|4|<null>|<null>|1|NO",
                "<null>|<null>|T|PRICE|2|NUMERIC|9|12|2|10|1|in €|-1.5|2|<null>|<null>|2|YES",
            ]
        );
    },
    fn every_type_is_described(target: &Target) {
        let mut cases = vec![
            ("SMALLINT", "SMALLINT|5|5|2|0|10|5|-|-"),
            ("INTEGER", "INTEGER|4|10|4|0|10|4|-|-"),
            ("BIGINT", "BIGINT|-5|19|8|0|10|-5|-|-"),
            ("FLOAT", "FLOAT|7|24|4|-|2|7|-|-"),
            ("DOUBLE PRECISION", "DOUBLE PRECISION|8|53|8|-|2|8|-|-"),
            ("NUMERIC(3,1)", "NUMERIC|2|3|6|1|10|2|-|-"),
            ("NUMERIC(18,18)", "NUMERIC|2|18|21|18|10|2|-|-"),
            ("DECIMAL(7,0)", "DECIMAL|3|7|9|0|10|3|-|-"),
            ("BOOLEAN", "BOOLEAN|-7|1|1|-|-|-7|-|-"),
            ("DATE", "DATE|91|10|6|-|-|9|1|-"),
            ("TIME", "TIME|92|13|6|4|-|9|2|-"),
            ("TIMESTAMP", "TIMESTAMP|93|24|16|4|-|9|3|-"),
            ("CHAR(5) CHARACTER SET UTF8", "CHAR|-8|5|10|-|-|-8|-|10"),
            ("VARCHAR(20) CHARACTER SET UTF8", "VARCHAR|-9|20|40|-|-|-9|-|40"),
            ("VARCHAR(20) CHARACTER SET WIN1252", "VARCHAR|-9|20|40|-|-|-9|-|40"),
            ("VARCHAR(7) CHARACTER SET NONE", "VARCHAR|-9|7|14|-|-|-9|-|14"),
            ("BLOB SUB_TYPE TEXT", "BLOB SUB_TYPE TEXT|-10|2147483647|2147483647|-|-|-10|-|2147483647"),
            ("BLOB", "BLOB SUB_TYPE BINARY|-4|2147483647|2147483647|-|-|-4|-|2147483647"),
            ("INTEGER[3]", "ARRAY|-9|32765|65530|-|-|-9|-|65530"),
            ("BLOB SUB_TYPE -7", "BLOB SUB_TYPE BINARY|-4|2147483647|2147483647|-|-|-4|-|2147483647"),
        ];
        if is_firebird3(target) {
            cases.extend([
                ("CHAR(4) CHARACTER SET OCTETS", "CHAR() CHARACTER SET OCTETS|-2|4|4|-|-|-2|-|4"),
                ("VARCHAR(9) CHARACTER SET OCTETS", "VARCHAR() CHARACTER SET OCTETS|-3|9|9|-|-|-3|-|9"),
            ]);
        } else {
            cases.extend([
                ("BINARY(4)", "BINARY|-2|4|4|-|-|-2|-|4"),
                ("VARBINARY(9)", "VARBINARY|-3|9|9|-|-|-3|-|9"),
                ("CHAR(4) CHARACTER SET OCTETS", "BINARY|-2|4|4|-|-|-2|-|4"),
                ("INT128", "INT128|2|38|40|0|10|2|-|-"),
                ("NUMERIC(38,4)", "NUMERIC|2|38|41|4|10|2|-|-"),
                ("DECFLOAT(16)", "DECFLOAT|12|23|23|-|-|12|-|23"),
                ("DECFLOAT", "DECFLOAT|12|42|42|-|-|12|-|42"),
                ("TIME WITH TIME ZONE", "TIME WITH TIME ZONE|92|13|6|4|-|9|2|-"),
                ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE|93|24|16|4|-|9|3|-"),
            ]);
        }
        let list: Vec<String> =
            cases.iter().enumerate().map(|(at, (sql, _))| format!("c{at} {sql}")).collect();
        let connection = database(target, &[&format!("CREATE TABLE t ({})", list.join(", "))]);
        let scope = scope(&connection);
        for ((sql, expected), found) in cases.iter().zip(of(&scope, "T")(&TYPE)) {
            assert_eq!(found, with_nulls(expected), "{sql}");
        }
        // For a narrow application, and one that wants BLOBs to have a size it can allocate.
        let types = TypeOptions { wide: false, blob_size: 1000, ..scope.types };
        let narrow = Scope { types, ..scope };
        let found = columns(&narrow, None, None, Some("T"), Some("C13"));
        assert_eq!(rows(found, &TYPE), ["VARCHAR|12|20|80|<null>|<null>|12|<null>|80"]);
        let found = columns(&narrow, None, None, Some("T"), Some("C17"));
        assert_eq!(rows(found, &TYPE), ["BLOB SUB_TYPE BINARY|-4|1000|1000|<null>|<null>|-4|<null>|1000"]);
    },
    fn old_applications_have_other_numbers_for_datetimes(target: &Target) {
        let connection = database(target, &["CREATE TABLE t (d DATE, t TIME, ts TIMESTAMP, i INTEGER)"]);
        let old = Scope { odbc2: true, ..scope(&connection) };
        assert_eq!(of(&old, "T")(&["DATA_TYPE", "SQL_DATA_TYPE"]), ["9|9", "10|9", "11|9", "4|4"]);
    },
    fn dialect_1_has_its_own_types(target: &Target) {
        let mut config = config(target);
        config.set("dialect", "1").expect("it is an option");
        let connection = Connection::create(&config).expect("it can be created");
        run(
            &connection,
            &["CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n NUMERIC(15, 2), m NUMERIC(9, 2), d DATE)"],
        );
        let scope = Scope { dialect: Dialect::One, ..scope(&connection) };
        assert_eq!(of(&scope, "T")(&["DATA_TYPE", "COLUMN_SIZE"]), ["4|10", "8|53", "2|9", "93|24"]);
        let statistics = crate::catalog::statistics(&scope, None, None, Some("T"), false, true);
        assert_eq!(column(statistics, "CARDINALITY"), ["0", "<null>"]);
    },
    fn defaults_are_sql(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE DOMAIN money AS NUMERIC(12,2) DEFAULT 17.5 NOT NULL",
                "CREATE TABLE t (plain INTEGER, text VARCHAR(10) DEFAULT 'x''y', since DATE DEFAULT '2003-12-11', \
                 moment TIMESTAMP DEFAULT CURRENT_TIMESTAMP, nothing INTEGER DEFAULT NULL, price money, \
                 own money DEFAULT -1, empty VARCHAR(3) DEFAULT '')",
            ],
        );
        let scope = scope(&connection);
        assert_eq!(
            of(&scope, "T")(&["COLUMN_NAME", "COLUMN_DEF"]),
            [
                "PLAIN|<null>",
                "TEXT|'x''y'",
                "SINCE|'2003-12-11'",
                "MOMENT|CURRENT_TIMESTAMP",
                "NOTHING|NULL",
                "PRICE|17.5",
                "OWN|-1",
                "EMPTY|''",
            ]
        );
    },
    fn not_null_may_come_from_the_domain(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE DOMAIN must AS INTEGER NOT NULL",
                "CREATE TABLE t (a must, b INTEGER NOT NULL, c INTEGER, d INTEGER PRIMARY KEY)",
                "CREATE VIEW v AS SELECT c, a, c + 1 AS e FROM t",
            ],
        );
        let scope = scope(&connection);
        let found = of(&scope, "T")(&["COLUMN_NAME", "NULLABLE", "IS_NULLABLE"]);
        assert_eq!(found, ["A|0|NO", "B|0|NO", "C|1|YES", "D|0|NO"]);
        assert_eq!(of(&scope, "V")(&["COLUMN_NAME", "ORDINAL_POSITION"]), ["C|1", "A|2", "E|3"]);
    },
    fn computed_and_identity_columns_are_columns(target: &Target) {
        let connection = database(
            target,
            &["CREATE TABLE t (id INTEGER GENERATED BY DEFAULT AS IDENTITY, twice COMPUTED BY (id * 2))"],
        );
        let scope = scope(&connection);
        let found = of(&scope, "T")(&["COLUMN_NAME", "DATA_TYPE", "IS_NULLABLE", "COLUMN_DEF"]);
        assert_eq!(found, ["ID|4|NO|<null>", "TWICE|-5|YES|<null>"]);
    },
    fn ordinals_have_no_gaps(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d INTEGER)",
                "ALTER TABLE t DROP b",
                "ALTER TABLE t ADD e INTEGER, ALTER d POSITION 1",
                "CREATE TABLE u (x INTEGER)",
            ],
        );
        let scope = scope(&connection);
        let names = ["TABLE_NAME", "COLUMN_NAME", "ORDINAL_POSITION"];
        assert_eq!(of(&scope, "_")(&names), ["T|D|1", "T|A|2", "T|C|3", "T|E|4", "U|X|1"]);
        // Also among those that a pattern leaves over.
        let some = columns(&scope, None, None, Some("T"), Some("C"));
        assert_eq!(rows(some, &names), ["T|C|3"]);
    },
    fn system_tables_have_columns(target: &Target) {
        let connection = database(target, &[]);
        let scope = scope(&connection);
        let found = of(&scope, "MON$DATABASE")(&["COLUMN_NAME"]);
        assert!(found.contains(&"MON$PAGE_SIZE".into()));
        let every = of(&scope, "%")(&["TABLE_NAME", "ORDINAL_POSITION"]);
        assert!(every.len() > 300);
        let tables: Vec<&str> = every.iter().filter_map(|row| row.split('|').next()).collect();
        assert!(tables.is_sorted());
    },
    fn columns_are_selected_by_name(target: &Target) {
        let connection = database(
            target,
            &["CREATE TABLE t (a_b INTEGER, axb INTEGER, c INTEGER)", "CREATE TABLE u (a_b INTEGER)"],
        );
        let found = |scope: &Scope<'_>, schema, table, name| {
            rows(columns(scope, None, schema, table, name), &["TABLE_NAME", "COLUMN_NAME"])
        };
        let scope = scope(&connection);
        let (t, any) = (Some("T"), Some("_"));
        assert_eq!(found(&scope, None, t, Some("A_B")), ["T|A_B", "T|AXB"]);
        assert_eq!(found(&scope, None, any, Some("A\\_B")), ["T|A_B", "U|A_B"]);
        assert_eq!(found(&scope, None, any, Some("C%")), ["T|C"]);
        assert_eq!(found(&scope, None, t, Some("")), [""; 0]);
        assert_eq!(found(&scope, None, Some(""), None), [""; 0]);
        assert_eq!(found(&scope, None, Some("t"), None), [""; 0]);
        assert_eq!(found(&scope, Some("x"), t, None), [""; 0]);
        assert_eq!(all(columns(&scope, Some("x"), None, t, None)), [""; 0]);
        let scope = by_identifiers(&connection);
        let empty = Some("");
        assert_eq!(found(&scope, empty, Some("t "), Some(" a_b")), ["T|A_B"]);
        assert_eq!(found(&scope, empty, Some("\"t\""), Some("a_b")), [""; 0]);
        assert_eq!(refusal(columns(&scope, None, empty, t, None)), State::NULL_POINTER);
        assert_eq!(refusal(columns(&scope, None, empty, None, any)), State::NULL_POINTER);
        assert_eq!(refusal(columns(&scope, None, None, t, any)), State::NULL_POINTER);
    }
);
