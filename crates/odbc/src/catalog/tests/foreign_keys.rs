//! `SQLPrimaryKeys` and `SQLForeignKeys`

use super::support::{all, by_identifiers, column, database, refusal, rows, scope};
use crate::catalog::{Scope, TableName, foreign_keys, primary_keys, statistics};
use crate::diagnostics::State;
use firearrow_testkit::{Target, matrix};

const SCHEMA: [&str; 5] = [
    "CREATE TABLE parent (a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER, d INTEGER, \
     CONSTRAINT pk_parent PRIMARY KEY (b, a), CONSTRAINT uq_parent UNIQUE (c, d))",
    "CREATE TABLE zone (id INTEGER NOT NULL PRIMARY KEY)",
    "CREATE TABLE child (x INTEGER, y INTEGER, z INTEGER, \
     CONSTRAINT fk_pk FOREIGN KEY (x, y) REFERENCES parent ON UPDATE CASCADE ON DELETE SET NULL, \
     CONSTRAINT fk_uq FOREIGN KEY (z, y) REFERENCES parent (c, d) ON UPDATE SET DEFAULT ON DELETE NO ACTION, \
     CONSTRAINT fk_zone FOREIGN KEY (x) REFERENCES zone ON DELETE CASCADE)",
    "CREATE TABLE tree (id INTEGER NOT NULL CONSTRAINT pk_tree PRIMARY KEY, up INTEGER, \
     CONSTRAINT fk_up FOREIGN KEY (up) REFERENCES tree ON UPDATE SET NULL ON DELETE SET DEFAULT)",
    "CREATE TABLE adult (z INTEGER, CONSTRAINT fk_adult FOREIGN KEY (z) REFERENCES zone)",
];

fn table(name: &str) -> TableName<'_> {
    TableName { table: Some(name), ..TableName::default() }
}

fn names(scope: &Scope<'_>, primary: TableName<'_>, foreign: TableName<'_>) -> Vec<String> {
    rows(
        foreign_keys(scope, primary, foreign),
        &["PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "FK_NAME", "PK_NAME"],
    )
}

/// The part of a name that the engine made up which is always the same.
fn without_number(name: &str) -> &str {
    name.trim_end_matches(|character: char| character.is_ascii_digit())
}

matrix!(
    all,
    fn primary_keys_come_in_their_order(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let key = |name| all(primary_keys(&scope, None, None, Some(name)));
        assert_eq!(
            key("PARENT"),
            ["<null>|<null>|PARENT|B|1|PK_PARENT", "<null>|<null>|PARENT|A|2|PK_PARENT"]
        );
        assert_eq!(key("CHILD"), [""; 0]);
        assert_eq!(key("NONE"), [""; 0]);
        assert_eq!(key("RDB$RELATIONS"), [""; 0]);
        assert_eq!(refusal(primary_keys(&scope, None, None, None)), State::NULL_POINTER);
        assert_eq!(all(primary_keys(&scope, Some("x"), None, Some("PARENT"))), [""; 0]);
        assert_eq!(all(primary_keys(&scope, None, Some("x"), Some("PARENT"))), [""; 0]);
        assert_eq!(all(primary_keys(&scope, Some("%"), Some(""), Some("PARENT"))).len(), 2);
    },
    fn keys_without_names_have_two_made_up_ones(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let constraint = column(primary_keys(&scope, None, None, Some("ZONE")), "PK_NAME");
        assert_eq!(constraint.iter().map(|name| without_number(name)).collect::<Vec<_>>(), ["INTEG_"]);
        let index = column(statistics(&scope, None, None, Some("ZONE"), true, false), "INDEX_NAME");
        assert_eq!(index[1..].iter().map(|name| without_number(name)).collect::<Vec<_>>(), ["RDB$PRIMARY"]);
        let index = column(statistics(&scope, None, None, Some("TREE"), true, false), "INDEX_NAME");
        assert_eq!(index[1..], ["PK_TREE"]);
    },
    fn foreign_keys_of_a_table_are_sorted_by_what_they_refer_to(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let zone = column(primary_keys(&scope, None, None, Some("ZONE")), "PK_NAME").remove(0);
        assert_eq!(
            names(&scope, TableName::default(), table("CHILD")),
            [
                "PARENT|B|CHILD|X|1|FK_PK|PK_PARENT",
                "PARENT|C|CHILD|Z|1|FK_UQ|UQ_PARENT",
                "PARENT|A|CHILD|Y|2|FK_PK|PK_PARENT",
                "PARENT|D|CHILD|Y|2|FK_UQ|UQ_PARENT",
                &format!("ZONE|ID|CHILD|X|1|FK_ZONE|{zone}"),
            ]
        );
        assert_eq!(names(&scope, table(""), table("child")).len(), 5, "an empty name is none");
        assert_eq!(names(&scope, TableName::default(), table("PARENT")), [""; 0]);
    },
    fn references_to_a_table_are_sorted_by_where_they_are(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let zone = column(primary_keys(&scope, None, None, Some("ZONE")), "PK_NAME").remove(0);
        assert_eq!(
            names(&scope, table("ZONE"), TableName::default()),
            [format!("ZONE|ID|ADULT|Z|1|FK_ADULT|{zone}"), format!("ZONE|ID|CHILD|X|1|FK_ZONE|{zone}")]
        );
        assert_eq!(names(&scope, table("parent"), TableName::default()).len(), 4);
        assert_eq!(names(&scope, table("CHILD"), table("")), [""; 0]);
        let tree = "TREE|ID|TREE|UP|1|FK_UP|PK_TREE";
        assert_eq!(names(&scope, table("TREE"), TableName::default()), [tree]);
        assert_eq!(names(&scope, TableName::default(), table("TREE")), [tree]);
    },
    fn both_tables_restrict(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let found =
            |primary, foreign| column(foreign_keys(&scope, table(primary), table(foreign)), "FK_NAME");
        assert_eq!(found("ZONE", "CHILD"), ["FK_ZONE"]);
        assert_eq!(found("PARENT", "CHILD"), ["FK_PK", "FK_UQ", "FK_PK", "FK_UQ"]);
        assert_eq!(found("ZONE", "TREE"), [""; 0]);
        assert_eq!(found("CHILD", "ZONE"), [""; 0]);
        assert_eq!(found("TREE", "TREE"), ["FK_UP"]);
    },
    fn rules_have_numbers(target: &Target) {
        let connection = database(target, &SCHEMA);
        let rules = |scope: &Scope<'_>, name: &str| {
            let mut rules = rows(
                foreign_keys(scope, TableName::default(), table(name)),
                &["FK_NAME", "UPDATE_RULE", "DELETE_RULE", "DEFERRABILITY"],
            );
            rules.sort();
            rules.dedup();
            rules
        };
        let scope = scope(&connection);
        assert_eq!(rules(&scope, "CHILD"), ["FK_PK|0|2|7", "FK_UQ|4|3|7", "FK_ZONE|3|0|7"]);
        assert_eq!(rules(&scope, "TREE"), ["FK_UP|2|4|7"]);
        assert_eq!(rules(&scope, "ADULT"), ["FK_ADULT|3|3|7"]);
        let old = Scope { odbc2: true, ..scope };
        assert_eq!(rules(&old, "CHILD"), ["FK_PK|0|2|7", "FK_UQ|4|1|7", "FK_ZONE|1|0|7"]);
    },
    fn foreign_keys_need_a_table(target: &Target) {
        let connection = database(target, &SCHEMA);
        let none = TableName::default();
        let scope = scope(&connection);
        assert_eq!(refusal(foreign_keys(&scope, none, none)), State::NULL_POINTER);
        assert_eq!(names(&scope, table(""), table("")), [""; 0]);
        let elsewhere = TableName { catalog: Some("x"), ..table("CHILD") };
        assert_eq!(names(&scope, none, elsewhere), [""; 0]);
        assert_eq!(names(&scope, elsewhere, none), [""; 0]);
        let elsewhere = TableName { schema: Some("x"), ..table("PARENT") };
        assert_eq!(names(&scope, elsewhere, table("CHILD")), [""; 0]);
        let scope = by_identifiers(&connection);
        assert_eq!(refusal(foreign_keys(&scope, none, table("child"))), State::NULL_POINTER);
        let child = |name| TableName { schema: Some(""), ..table(name) };
        assert_eq!(names(&scope, none, child(" child ")).len(), 5);
        assert_eq!(names(&scope, child("\"ZONE\""), child("child")).len(), 1);
        assert_eq!(names(&scope, none, child("\"child\"")), [""; 0]);
    }
);
