//! `SQLTables`

use super::support::{NULL, all, by_identifiers, column, database, refusal, rows, run, scope};
use crate::catalog::tables;
use crate::diagnostics::State;
use firearrow::Connection;
use firearrow_testkit::{Target, matrix};

const SCHEMA: [&str; 6] = [
    "CREATE TABLE b (id INTEGER)",
    "CREATE TABLE a (id INTEGER)",
    "COMMENT ON TABLE a IS 'erste Tabelle'",
    "CREATE VIEW v AS SELECT id FROM a",
    "CREATE GLOBAL TEMPORARY TABLE kept (id INTEGER) ON COMMIT PRESERVE ROWS",
    "CREATE GLOBAL TEMPORARY TABLE emptied (id INTEGER)",
];

fn names(connection: &Connection, table: Option<&str>, types: Option<&str>) -> Vec<String> {
    column(tables(&scope(connection), None, None, table, types), "TABLE_NAME")
}

matrix!(
    all,
    fn tables_are_sorted_by_type_and_name(target: &Target) {
        let connection = database(target, &SCHEMA);
        let found = tables(&scope(&connection), None, None, None, Some("TABLE,VIEW,GLOBAL TEMPORARY"));
        assert_eq!(
            all(found),
            [
                "<null>|<null>|EMPTIED|GLOBAL TEMPORARY|<null>",
                "<null>|<null>|KEPT|GLOBAL TEMPORARY|<null>",
                "<null>|<null>|A|TABLE|erste Tabelle",
                "<null>|<null>|B|TABLE|<null>",
                "<null>|<null>|V|VIEW|<null>",
            ]
        );
        let everything =
            rows(tables(&scope(&connection), None, None, None, None), &["TABLE_TYPE", "TABLE_NAME"]);
        assert!(everything.is_sorted() && everything.len() > 50);
        for name in ["RDB$RELATIONS", "MON$ATTACHMENTS", "SEC$USERS"] {
            assert!(everything.contains(&format!("SYSTEM TABLE|{name}")), "{name}");
        }
    },
    fn tables_over_files_are_tables(target: &Target) {
        let connection = database(target, &[]);
        let path = target.database_path("outside.dat").display().to_string();
        run(&connection, &[&format!("CREATE TABLE e EXTERNAL FILE '{path}' (id INTEGER)")]);
        assert_eq!(names(&connection, None, Some("TABLE")), ["E"]);
    },
    fn types_are_listed_with_and_without_quotes(target: &Target) {
        let connection = database(target, &SCHEMA);
        let some = Some("_");
        for (types, expected) in [
            ("TABLE", &["A", "B"][..]),
            ("'TABLE'", &["A", "B"]),
            ("VIEW", &["V"]),
            (" 'VIEW' , TABLE ", &["A", "B", "V"]),
            ("'TABLE','VIEW','SYNONYM'", &["A", "B", "V"]),
            ("table,View", &["A", "B", "V"]),
            ("", &["A", "B", "V"]),
            (" , ", &["A", "B", "V"]),
            ("%", &["A", "B", "V"]),
            ("SYNONYM", &[]),
            ("SYSTEM TABLE", &[]),
            ("TABL", &[]),
            ("'TABLE", &[]),
            ("TABLE;VIEW", &[]),
        ] {
            assert_eq!(names(&connection, some, Some(types)), expected, "{types}");
        }
        assert_eq!(names(&connection, None, Some("GLOBAL TEMPORARY")), ["EMPTIED", "KEPT"]);
        let system = names(&connection, None, Some("'SYSTEM TABLE'"));
        assert!(system.contains(&"RDB$DATABASE".into()) && !system.contains(&"A".into()));
    },
    fn what_there_may_be_is_enumerated(target: &Target) {
        let connection = database(target, &SCHEMA);
        for scope in [scope(&connection), by_identifiers(&connection)] {
            let empty = Some("");
            let types = tables(&scope, empty, empty, empty, Some("%"));
            assert_eq!(
                all(types),
                ["GLOBAL TEMPORARY", "SYSTEM TABLE", "TABLE", "VIEW"]
                    .map(|name| [NULL, NULL, NULL, name, NULL].join("|"))
            );
            for (catalog, schema) in [("%", ""), ("", "%")] {
                for types in [None, empty] {
                    assert_eq!(all(tables(&scope, Some(catalog), Some(schema), empty, types)), [""; 0]);
                }
            }
        }
    },
    fn catalogs_and_schemas_have_no_names(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let found = |catalog, schema| column(tables(&scope, catalog, schema, Some("_"), None), "TABLE_NAME");
        for nameless in [None, Some(""), Some("%"), Some("%%")] {
            assert_eq!(found(nameless, None), ["A", "B", "V"], "{nameless:?}");
            assert_eq!(found(None, nameless), ["A", "B", "V"], "{nameless:?}");
            assert_eq!(found(nameless, nameless), ["A", "B", "V"], "{nameless:?}");
        }
        for other in ["x", "_", "%x", " ", "\\%", "SYSDBA"] {
            assert_eq!(found(Some(other), None), [""; 0], "{other}");
            assert_eq!(found(None, Some(other)), [""; 0], "{other}");
        }
    },
    fn identifiers_are_no_patterns(target: &Target) {
        let connection =
            database(target, &[&SCHEMA[..], &["CREATE TABLE \"x\"\"_ y\" (id INTEGER)"]].concat());
        let scope = by_identifiers(&connection);
        let found = |table| column(tables(&scope, None, Some(""), Some(table), None), "TABLE_NAME");
        for (identifier, expected) in [
            ("a", &["A"][..]),
            ("  a  ", &["A"]),
            ("\"A\"", &["A"]),
            (" \"A\" ", &["A"]),
            ("\"A  \"", &["A"]),
            ("\"a\"", &[]),
            ("\"x\"\"_ y\"", &["x\"_ y"]),
            ("x\"_ y", &[]),
            ("_", &[]),
            ("%", &[]),
            ("", &[]),
            ("\"", &[]),
            ("\"\"", &[]),
            ("\"A", &[]),
        ] {
            assert_eq!(found(identifier), expected, "{identifier}");
        }
        assert_eq!(refusal(tables(&scope, None, Some(""), None, None)), State::NULL_POINTER);
        assert_eq!(refusal(tables(&scope, None, None, Some("A"), None)), State::NULL_POINTER);
        assert_eq!(all(tables(&scope, Some("%"), Some(""), Some("A"), None)), [""; 0]);
        assert_eq!(all(tables(&scope, Some(" "), Some("\"\""), Some("A"), None)).len(), 1);
        assert_eq!(all(tables(&scope, None, Some("%"), Some("A"), None)), [""; 0]);
    },
    fn what_is_committed_is_seen(target: &Target) {
        let connection = database(target, &SCHEMA);
        let mut transaction = connection.begin(Default::default()).expect("it begins");
        transaction.execute("CREATE TABLE fresh (id INTEGER)").expect("it is created");
        assert_eq!(names(&connection, Some("FRESH"), None), [""; 0]);
        transaction.commit().expect("it commits");
        assert_eq!(names(&connection, Some("FRESH"), None), ["FRESH"]);
    }
);
