//! Names that are not plain.

use super::support::{column, database, is_firebird3, rows, run, scope};
use crate::catalog::{self, Special, TableName};
use firearrow::catalog::quoted;
use firearrow_testkit::{Target, matrix};

/// A pattern or an escaped name that selects just this name.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

fn names(target: &Target) -> Vec<String> {
    let longest = if is_firebird3(target) { "ü".repeat(15) + "z" } else { "ü".repeat(63) };
    let names = [
        " lead",
        "Mixed Case",
        "Straße 1",
        "a%b",
        "aXYb",
        "aXb",
        "a\\%b",
        "a\\b",
        "a_b",
        "p.q",
        "q\"uote",
        "'s",
    ];
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).chain([longest]).collect();
    names.sort();
    names
}

matrix!(
    all,
    fn odd_names_come_as_they_are(target: &Target) {
        let connection = database(target, &[]);
        let scope = scope(&connection);
        let names = names(target);
        for name in &names {
            let name = quoted(name);
            run(&connection, &[&format!("CREATE TABLE {name} ({name} INTEGER NOT NULL PRIMARY KEY)")]);
        }
        let tables = catalog::tables(&scope, None, None, None, Some("TABLE"));
        assert_eq!(column(tables, "TABLE_NAME"), names);
        let both = ["TABLE_NAME", "COLUMN_NAME"];
        for name in &names {
            let (pattern, twice) = (escaped(name), format!("{name}|{name}"));
            let tables = catalog::tables(&scope, None, None, Some(&pattern), None);
            assert_eq!(column(tables, "TABLE_NAME"), [name.as_str()]);
            let columns = catalog::columns(&scope, None, None, Some(&pattern), Some(&pattern));
            assert_eq!(rows(columns, &both), [twice.as_str()]);
            let keys = catalog::primary_keys(&scope, None, None, Some(name));
            assert_eq!(rows(keys, &both), [twice.as_str()]);
            let statistics = catalog::statistics(&scope, None, None, Some(name), true, true);
            let expected = [format!("{name}|<null>|0"), format!("{twice}|<null>")];
            assert_eq!(rows(statistics, &[both[0], both[1], "CARDINALITY"]), expected);
            let special = catalog::special_columns(&scope, Special::BestRowId, None, None, Some(name), 2, 0);
            assert_eq!(column(special, "COLUMN_NAME"), [name.as_str()]);
            let privileges = catalog::column_privileges(&scope, None, None, Some(name), Some(&pattern));
            let privileges = rows(privileges, &["TABLE_NAME", "COLUMN_NAME", "PRIVILEGE"]);
            let all = ["INSERT", "REFERENCES", "SELECT", "UPDATE"];
            assert_eq!(privileges, all.map(|privilege| format!("{twice}|{privilege}")));
        }
        for (pattern, expected) in [
            ("a%b", &["a%b", "aXYb", "aXb", "a\\%b", "a\\b", "a_b"][..]),
            ("a\\%b", &["a%b"]),
            ("a_b", &["a%b", "aXb", "a\\b", "a_b"]),
            ("a\\_b", &["a_b"]),
            ("a\\\\b", &["a\\b"]),
            ("a\\b", &["a\\b"]),
            ("a\\\\%b", &["a\\%b", "a\\b"]),
            ("%\\_%", &["a_b"]),
            ("a\\__", &["a_b"]),
            ("%ß%", &["Straße 1"]),
            ("mixed%", &[]),
        ] {
            let tables = catalog::tables(&scope, None, None, Some(pattern), Some("TABLE"));
            assert_eq!(column(tables, "TABLE_NAME"), expected, "{pattern}");
            let columns = catalog::columns(&scope, None, None, None, Some(pattern));
            let mut columns = column(columns, "COLUMN_NAME");
            // Those of system tables.
            columns.retain(|name| !name.contains('$'));
            assert_eq!(columns, expected, "{pattern}");
        }
    },
    fn hostile_names_select_nothing(target: &Target) {
        let connection = database(target, &["CREATE TABLE t (id INTEGER)"]);
        let scope = scope(&connection);
        let long = ["x".repeat(100_000), "_".repeat(100_000), "\\".repeat(100_001), "ü😀".repeat(1000)];
        let short = ["' OR 1=1 --", "\0", "T\0", "\u{FFFF}", "T'", "T\""].map(String::from);
        for name in long.iter().chain(&short) {
            let name = Some(name.as_str());
            let table = TableName { table: name, ..TableName::default() };
            for found in [
                catalog::tables(&scope, None, None, name, None),
                catalog::columns(&scope, None, None, name, name),
                catalog::statistics(&scope, None, None, name, false, true),
                catalog::special_columns(&scope, Special::BestRowId, None, None, name, 0, 0),
                catalog::primary_keys(&scope, None, None, name),
                catalog::foreign_keys(&scope, table, table),
                catalog::foreign_keys(&scope, table, TableName::default()),
                catalog::table_privileges(&scope, None, None, name),
                catalog::column_privileges(&scope, None, None, name, name),
                catalog::procedures(&scope, None, None, name),
                catalog::procedure_columns(&scope, None, None, name, name),
            ] {
                assert_eq!(found.expect("it is a name").batch.num_rows(), 0, "{name:?}");
            }
        }
    },
    fn literal_names_are_tried_as_written_and_then_in_upper_case(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE TABLE \"emp\" (\"lower\" INTEGER)",
                "CREATE TABLE emp (upper_id INTEGER NOT NULL PRIMARY KEY)",
                "CREATE TABLE dept (id INTEGER NOT NULL PRIMARY KEY)",
            ],
        );
        let scope = scope(&connection);
        let keys = |name| column(catalog::primary_keys(&scope, None, None, Some(name)), "COLUMN_NAME");
        assert_eq!(keys("EMP"), ["UPPER_ID"]);
        assert_eq!(keys("Emp"), ["UPPER_ID"]);
        assert_eq!(keys("emp"), [""; 0], "this one has no key");
        assert_eq!(keys("dept"), ["ID"]);
        assert_eq!(keys("dept  "), ["ID"]);
        assert_eq!(keys("de%"), [""; 0]);
        assert_eq!(keys("DEP_"), [""; 0]);
        assert_eq!(keys(""), [""; 0]);
        let statistics =
            |name| column(catalog::statistics(&scope, None, None, Some(name), false, false), "TABLE_NAME");
        assert_eq!(statistics("emp"), ["emp"]);
        assert_eq!(statistics("eMP"), ["EMP", "EMP"]);
        let privileges = |name| {
            let mut names =
                column(catalog::column_privileges(&scope, None, None, Some(name), None), "COLUMN_NAME");
            names.dedup();
            names
        };
        assert_eq!(privileges("emp"), ["lower"]);
        assert_eq!(privileges("eMp"), ["UPPER_ID"]);
    }
);
