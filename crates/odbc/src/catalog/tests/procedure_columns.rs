//! `SQLProcedureColumns`

use super::procedures::SCHEMA;
use super::support::{all, by_identifiers, database, refusal, rows, run, scope};
use crate::catalog::{Scope, procedure_columns};
use crate::diagnostics::State;
use firearrow_testkit::{Target, matrix};

const SHORT: [&str; 5] = ["PROCEDURE_NAME", "COLUMN_NAME", "COLUMN_TYPE", "ORDINAL_POSITION", "COLUMN_DEF"];

fn found(scope: &Scope<'_>, procedure: Option<&str>, column: Option<&str>) -> Vec<String> {
    rows(procedure_columns(scope, None, None, procedure, column), &SHORT)
}

matrix!(
    all,
    fn parameters_come_in_their_order(target: &Target) {
        let connection = database(target, &SCHEMA);
        assert_eq!(
            found(&scope(&connection), None, None),
            [
                "CHANGE|A|1|1|<null>",
                "CHANGE|B|1|2|1.5",
                "CHANGE|C|4|3|<null>",
                "CHANGE|D|4|4|<null>",
                "K.F||5|0|<null>",
                "K.F|S|1|1|<null>",
                "K.Q|A|1|1|<null>",
                "LIST|N|1|1|<null>",
                "LIST|I|3|1|<null>",
                "LIST|S|3|2|<null>",
                "TWICE||5|0|<null>",
                "TWICE|X|1|1|<null>",
                "TWICE|Y|1|2|2e0",
            ]
        );
    },
    fn parameters_have_types(target: &Target) {
        let connection = database(target, &SCHEMA);
        run(&connection, &["COMMENT ON PROCEDURE PARAMETER change.b IS 'Preis'"]);
        let scope = scope(&connection);
        assert_eq!(
            all(procedure_columns(&scope, None, None, Some("CHANGE"), None)),
            [
                "<null>|<null>|CHANGE|A|1|4|INTEGER|10|4|0|10|0|<null>|<null>|4|<null>|<null>|1|NO",
                "<null>|<null>|CHANGE|B|1|2|NUMERIC|9|12|2|10|1|Preis|1.5|2|<null>|<null>|2|YES",
                "<null>|<null>|CHANGE|C|4|-9|VARCHAR|20|40|<null>|<null>|1|<null>|<null>|-9|<null>|40|3|YES",
                "<null>|<null>|CHANGE|D|4|91|DATE|10|6|<null>|<null>|1|<null>|<null>|9|1|<null>|4|YES",
            ]
        );
        let names = ["COLUMN_TYPE", "DATA_TYPE", "COLUMN_SIZE"];
        let function = procedure_columns(&scope, None, None, Some("TWICE"), None);
        assert_eq!(rows(function, &names), ["5|-5|19", "1|4|10", "1|8|53"]);
        let old = Scope { odbc2: true, ..scope };
        let change = procedure_columns(&old, None, None, Some("CHANGE"), Some("D"));
        assert_eq!(rows(change, &["DATA_TYPE", "SQL_DATA_TYPE"]), ["9|9"]);
    },
    fn columns_are_selected_by_name(target: &Target) {
        let connection = database(target, &SCHEMA);
        let patterns = scope(&connection);
        assert_eq!(found(&patterns, Some("CHANGE"), Some("D")), ["CHANGE|D|4|4|<null>"]);
        assert_eq!(found(&patterns, Some("K.%"), Some("_")), ["K.F|S|1|1|<null>", "K.Q|A|1|1|<null>"]);
        assert_eq!(found(&patterns, Some("TWICE"), Some("")), ["TWICE||5|0|<null>"]);
        assert_eq!(found(&patterns, Some("Q"), None), [""; 0]);
        assert_eq!(found(&patterns, Some("K.HIDDEN"), None), [""; 0]);
        assert_eq!(found(&patterns, Some("NOTHING"), None), [""; 0]);
        let list = Some("LIST");
        for (catalog, schema) in [(Some("x"), None), (None, Some("x"))] {
            assert_eq!(all(procedure_columns(&patterns, catalog, schema, list, None)), [""; 0]);
        }
        let scope = by_identifiers(&connection);
        let empty = Some("");
        let names = |procedure, column| {
            rows(procedure_columns(&scope, None, empty, Some(procedure), Some(column)), &SHORT)
        };
        assert_eq!(names("list ", "i"), ["LIST|I|3|1|<null>"]);
        assert_eq!(names("k.q", "a"), ["K.Q|A|1|1|<null>"]);
        assert_eq!(names("\"list\"", "i"), [""; 0]);
        assert_eq!(refusal(procedure_columns(&scope, None, empty, list, None)), State::NULL_POINTER);
        assert_eq!(refusal(procedure_columns(&scope, None, empty, None, list)), State::NULL_POINTER);
        assert_eq!(refusal(procedure_columns(&scope, None, None, list, list)), State::NULL_POINTER);
    },
    fn packaged_and_other_routines_are_told_apart(target: &Target) {
        let connection = database(
            target,
            &[
                "CREATE PROCEDURE f (a INTEGER) RETURNS (r INTEGER) AS BEGIN r = 1; END",
                "CREATE PACKAGE k AS BEGIN PROCEDURE f (b INTEGER) RETURNS (s INTEGER); END",
                "CREATE PACKAGE BODY k AS BEGIN PROCEDURE f (b INTEGER) RETURNS (s INTEGER) AS BEGIN SUSPEND; END END",
            ],
        );
        let scope = scope(&connection);
        assert_eq!(found(&scope, Some("F"), None), ["F|A|1|1|<null>", "F|R|4|2|<null>"]);
        let packaged = found(&scope, Some("K.F"), None);
        assert_eq!(packaged, ["K.F|B|1|1|<null>", "K.F|S|3|1|<null>"]);
        run(&connection, &["CREATE PROCEDURE \"K.F\" (c INTEGER) RETURNS (t INTEGER) AS BEGIN t = 1; END"]);
        let both = found(&scope, Some("K.F"), None);
        assert_eq!(both[..2], ["K.F|C|1|1|<null>", "K.F|T|4|2|<null>"]);
        assert_eq!(both[2..], packaged);
    }
);
