//! `SQLProcedures`

use super::support::{all, by_identifiers, column, database, refusal, rows, run, scope};
use crate::catalog::{Scope, procedures};
use crate::diagnostics::State;
use firearrow_testkit::{Target, matrix};

/// One of each kind. The package has a private procedure.
pub(super) const SCHEMA: [&str; 8] = [
    "CREATE PROCEDURE nothing AS BEGIN END",
    "CREATE PROCEDURE change (a INTEGER NOT NULL, b NUMERIC(9, 2) = 1.5) RETURNS (c VARCHAR(20) CHARACTER SET UTF8, d DATE) \
     AS BEGIN c = 'x'; END",
    "CREATE PROCEDURE list (n INTEGER) RETURNS (i INTEGER, s VARCHAR(5) CHARACTER SET UTF8) \
     AS BEGIN i = n; SUSPEND; END",
    "COMMENT ON PROCEDURE list IS 'Zeilen'",
    "CREATE FUNCTION twice (x INTEGER, y DOUBLE PRECISION = 2e0) RETURNS BIGINT AS BEGIN RETURN x * 2; END",
    "CREATE PACKAGE k AS BEGIN PROCEDURE q (a INTEGER); FUNCTION f (s VARCHAR(3) CHARACTER SET UTF8) RETURNS BOOLEAN; END",
    "CREATE PACKAGE BODY k AS BEGIN PROCEDURE hidden AS BEGIN END PROCEDURE q (a INTEGER) AS BEGIN END \
     FUNCTION f (s VARCHAR(3) CHARACTER SET UTF8) RETURNS BOOLEAN AS BEGIN RETURN TRUE; END END",
    "CREATE PROCEDURE \"p.q_1\" AS BEGIN END",
];

matrix!(
    all,
    fn procedures_and_functions_are_listed(target: &Target) {
        let connection = database(target, &SCHEMA);
        assert_eq!(
            all(procedures(&scope(&connection), None, None, None)),
            [
                "<null>|<null>|CHANGE|2|2|0|<null>|1",
                "<null>|<null>|K.F|1|0|0|<null>|2",
                "<null>|<null>|K.Q|1|0|0|<null>|1",
                "<null>|<null>|LIST|1|2|1|Zeilen|1",
                "<null>|<null>|NOTHING|0|0|0|<null>|1",
                "<null>|<null>|TWICE|2|0|0|<null>|2",
                "<null>|<null>|p.q_1|0|0|0|<null>|1",
            ]
        );
    },
    fn packages_are_part_of_the_names(target: &Target) {
        let connection = database(target, &SCHEMA);
        let found = |scope: &Scope<'_>, schema, name| {
            column(procedures(scope, None, schema, Some(name)), "PROCEDURE_NAME")
        };
        let scope = scope(&connection);
        for (pattern, expected) in [
            ("K.Q", &["K.Q"][..]),
            ("K.%", &["K.F", "K.Q"]),
            ("K%", &["K.F", "K.Q"]),
            ("%.Q", &["K.Q"]),
            ("Q", &[]),
            ("F", &[]),
            ("HIDDEN", &[]),
            ("K.HIDDEN", &[]),
            ("p.q\\_1", &["p.q_1"]),
            ("p.q__", &["p.q_1"]),
            ("LIST", &["LIST"]),
            ("list", &[]),
            ("L___", &["LIST"]),
            ("", &[]),
            (".", &[]),
            ("K.", &[]),
            (".Q", &[]),
        ] {
            assert_eq!(found(&scope, None, pattern), expected, "{pattern}");
        }
        let scope = by_identifiers(&connection);
        assert_eq!(found(&scope, Some(""), " k.q "), ["K.Q"]);
        assert_eq!(found(&scope, Some(""), "\"p.q_1\""), ["p.q_1"]);
        assert_eq!(found(&scope, Some(""), "\"list\""), [""; 0]);
        assert_eq!(found(&scope, Some(""), "%"), [""; 0]);
        assert_eq!(refusal(procedures(&scope, None, Some(""), None)), State::NULL_POINTER);
        assert_eq!(refusal(procedures(&scope, None, None, Some("LIST"))), State::NULL_POINTER);
    },
    fn catalogs_and_schemas_have_no_names(target: &Target) {
        let connection = database(target, &SCHEMA);
        let scope = scope(&connection);
        let count = |catalog, schema| all(procedures(&scope, catalog, schema, None)).len();
        assert_eq!([count(Some(""), Some("%")), count(Some("%"), Some(""))], [7, 7]);
        assert_eq!([count(Some("K"), None), count(None, Some("K"))], [0, 0]);
    },
    fn legacy_functions_are_functions(target: &Target) {
        let connection = database(target, &[]);
        run(
            &connection,
            &["DECLARE EXTERNAL FUNCTION old INTEGER, DOUBLE PRECISION RETURNS INTEGER BY VALUE \
               ENTRY_POINT 'a' MODULE_NAME 'b'"],
        );
        let names = ["PROCEDURE_NAME", "NUM_INPUT_PARAMS", "PROCEDURE_TYPE"];
        assert_eq!(rows(procedures(&scope(&connection), None, None, None), &names), ["OLD|2|2"]);
    }
);
