//! `SQLTablePrivileges` and `SQLColumnPrivileges`

use super::support::{all, by_identifiers, database, refusal, rows, scope};
use crate::catalog::{Scope, column_privileges, table_privileges};
use crate::diagnostics::State;
use firearrow_testkit::{Target, matrix};

const SCHEMA: [&str; 9] = [
    "CREATE TABLE t (a INTEGER, b INTEGER)",
    "CREATE VIEW v AS SELECT a FROM t",
    "CREATE ROLE boss",
    "CREATE PROCEDURE p AS BEGIN END",
    "GRANT SELECT ON t TO PUBLIC",
    "GRANT INSERT ON t TO ROLE boss",
    "GRANT UPDATE (b), REFERENCES (a) ON t TO USER clerk WITH GRANT OPTION",
    "GRANT DELETE ON t TO USER clerk",
    "GRANT UPDATE ON t TO PROCEDURE p",
];

const GRANT: [&str; 4] = ["PRIVILEGE", "GRANTEE", "GRANTOR", "IS_GRANTABLE"];

/// Who made the database.
const OWNER: &str = "SYSDBA";

fn of_owner(privilege: &str) -> String {
    format!("{privilege}|{OWNER}|_SYSTEM|YES")
}

fn of_table(scope: &Scope<'_>, table: &str) -> Vec<String> {
    rows(table_privileges(scope, None, None, Some(table)), &GRANT)
}

fn of_column(scope: &Scope<'_>, table: &str, column: &str) -> Vec<String> {
    rows(column_privileges(scope, None, None, Some(table), Some(column)), &GRANT)
}

matrix!(
    all,
    fn tables_have_owners_and_others(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        assert_eq!(
            of_table(&scope, "T"),
            [
                "DELETE|CLERK|SYSDBA|NO".into(),
                of_owner("DELETE"),
                "INSERT|BOSS|SYSDBA|NO".into(),
                of_owner("INSERT"),
                of_owner("REFERENCES"),
                "SELECT|PUBLIC|SYSDBA|NO".into(),
                of_owner("SELECT"),
                of_owner("UPDATE"),
            ]
        );
        let both = rows(table_privileges(&scope, None, None, Some("_")), &["TABLE_NAME", "PRIVILEGE"]);
        assert!(both.is_sorted() && both.iter().any(|row| row.starts_with("V|")));
        assert_eq!(
            all(table_privileges(&scope, None, None, Some("V")))[0],
            "<null>|<null>|V|_SYSTEM|SYSDBA|DELETE|YES"
        );
        // Not the procedure.
        assert_eq!(of_table(&scope, "P"), [""; 0]);
        assert!(of_table(&scope, "RDB$DATABASE").contains(&"SELECT|PUBLIC|_SYSTEM|NO".into()));
    },
    fn privileges_of_tables_are_those_of_their_columns(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let shared = ["INSERT|BOSS|SYSDBA|NO".to_owned(), of_owner("INSERT")];
        let select = ["SELECT|PUBLIC|SYSDBA|NO".to_owned(), of_owner("SELECT")];
        let a = [
            &shared[..],
            &["REFERENCES|CLERK|SYSDBA|YES".into(), of_owner("REFERENCES")],
            &select,
            &[of_owner("UPDATE")],
        ];
        assert_eq!(of_column(&scope, "T", "A"), a.concat());
        let b = [
            &shared[..],
            &[of_owner("REFERENCES")],
            &select,
            &["UPDATE|CLERK|SYSDBA|YES".into(), of_owner("UPDATE")],
        ];
        assert_eq!(of_column(&scope, "T", "B"), b.concat());
        assert_eq!(of_column(&scope, "T", "%"), [a.concat(), b.concat()].concat());
        let every = rows(column_privileges(&scope, None, None, Some("t"), None), &["COLUMN_NAME"]);
        assert_eq!(every, [vec!["A"; 7], vec!["B"; 7]].concat());
        assert_eq!(
            all(column_privileges(&scope, None, None, Some("T"), Some("A")))[0],
            "<null>|<null>|T|A|SYSDBA|BOSS|INSERT|NO"
        );
    },
    fn a_privilege_counts_once_for_a_column(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE TABLE t (a INTEGER, b INTEGER)",
                "GRANT UPDATE ON t TO USER clerk",
                "GRANT UPDATE (b) ON t TO USER clerk WITH GRANT OPTION",
            ],
        );
        let scope = scope(&connection);
        let of_clerk = |column| {
            let mut found = of_column(&scope, "T", column);
            found.retain(|row| row.contains("CLERK"));
            found
        };
        assert_eq!(of_clerk("A"), ["UPDATE|CLERK|SYSDBA|NO"]);
        assert_eq!(of_clerk("B"), ["UPDATE|CLERK|SYSDBA|YES"]);
    },
    fn arguments_are_checked(target: &Target) {
        let connection = database(target, &SCHEMA);
        let patterns = scope(&connection);
        let (t, x, empty) = (Some("T"), Some("x"), Some(""));
        assert_eq!(refusal(column_privileges(&patterns, None, None, None, None)), State::NULL_POINTER);
        for (catalog, schema) in [(x, None), (None, x)] {
            assert_eq!(all(table_privileges(&patterns, catalog, schema, t)), [""; 0]);
            assert_eq!(all(column_privileges(&patterns, catalog, schema, t, None)), [""; 0]);
        }
        assert_eq!(all(table_privileges(&patterns, None, None, empty)), [""; 0]);
        assert_eq!(all(column_privileges(&patterns, None, None, Some("_"), None)), [""; 0]);
        assert_eq!(of_column(&patterns, "T", ""), [""; 0]);
        assert!(of_table(&patterns, "%").len() > 100);
        let scope = by_identifiers(&connection);
        assert_eq!(refusal(table_privileges(&scope, None, empty, None)), State::NULL_POINTER);
        assert_eq!(refusal(table_privileges(&scope, None, None, t)), State::NULL_POINTER);
        assert_eq!(refusal(column_privileges(&scope, None, empty, t, None)), State::NULL_POINTER);
        assert_eq!(refusal(column_privileges(&scope, None, empty, None, t)), State::NULL_POINTER);
        assert_eq!(all(table_privileges(&scope, None, empty, Some("t"))).len(), 8);
        assert_eq!(all(column_privileges(&scope, None, empty, Some("t"), Some("\"B\""))).len(), 7);
        assert_eq!(all(column_privileges(&scope, None, empty, Some("t"), Some("\"b\""))), [""; 0]);
    }
);
