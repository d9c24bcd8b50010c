//! Names, order and types of the columns of each result.

use super::support::{database, scope};
use crate::catalog::{self, Special, TableName};
use crate::table::{Kind, Table};
use firearrow_testkit::{Target, matrix};

/// Name, name for ODBC 2 if it is another, `s` for small integers, `i` for integers or `t` for text, and `!` if it is never
/// NULL.
fn shown(table: Table) -> Vec<String> {
    let heading = |heading: &crate::table::Heading| {
        let former =
            if heading.former == heading.name { String::new() } else { format!("/{}", heading.former) };
        let kind = match heading.kind {
            Kind::Text(_) => 't',
            Kind::SmallInt => 's',
            Kind::Integer => 'i',
        };
        format!("{}{former} {kind}{}", heading.name, if heading.nullable { "" } else { "!" })
    };
    table.headings.iter().map(heading).collect()
}

const OF_TABLE: [&str; 3] = ["TABLE_CAT/TABLE_QUALIFIER t", "TABLE_SCHEM/TABLE_OWNER t", "TABLE_NAME t!"];
const OF_PROCEDURE: [&str; 3] =
    ["PROCEDURE_CAT/PROCEDURE_QUALIFIER t", "PROCEDURE_SCHEM/PROCEDURE_OWNER t", "PROCEDURE_NAME t!"];
const OF_TYPE: [&str; 14] = [
    "DATA_TYPE s!",
    "TYPE_NAME t!",
    "COLUMN_SIZE/PRECISION i",
    "BUFFER_LENGTH/LENGTH i",
    "DECIMAL_DIGITS/SCALE s",
    "NUM_PREC_RADIX/RADIX s",
    "NULLABLE s!",
    "REMARKS t",
    "COLUMN_DEF t",
    "SQL_DATA_TYPE s!",
    "SQL_DATETIME_SUB s",
    "CHAR_OCTET_LENGTH i",
    "ORDINAL_POSITION i!",
    "IS_NULLABLE t",
];
const GRANT: [&str; 4] = ["GRANTOR t", "GRANTEE t!", "PRIVILEGE t!", "IS_GRANTABLE t"];

matrix!(
    all,
    fn headings_are_those_of_the_standard(target: &Target) {
        let connection = database(target, &[]);
        let scope = scope(&connection);
        let none = Some("NO_SUCH_THING");
        let assert = |table: catalog::Result<Table>, expected: &[&[&str]]| {
            let table = table.unwrap_or_else(|error| panic!("{error:?}"));
            assert_eq!(table.batch.num_rows(), 0);
            assert_eq!(shown(table), expected.concat());
        };
        assert(
            catalog::tables(&scope, None, None, none, None),
            &[&OF_TABLE[..2], &["TABLE_NAME t", "TABLE_TYPE t", "REMARKS t"]],
        );
        assert(catalog::columns(&scope, None, None, none, None), &[&OF_TABLE, &["COLUMN_NAME t!"], &OF_TYPE]);
        assert(
            catalog::statistics(&scope, None, None, none, false, false),
            &[
                &OF_TABLE,
                &[
                    "NON_UNIQUE s",
                    "INDEX_QUALIFIER t",
                    "INDEX_NAME t",
                    "TYPE s!",
                    "ORDINAL_POSITION/SEQ_IN_INDEX s",
                    "COLUMN_NAME t",
                    "ASC_OR_DESC/COLLATION t",
                    "CARDINALITY i",
                    "PAGES i",
                    "FILTER_CONDITION t",
                ],
            ],
        );
        assert(
            catalog::special_columns(&scope, Special::BestRowId, None, None, none, 0, 0),
            &[&["SCOPE s", "COLUMN_NAME t!"], &OF_TYPE[..5], &["PSEUDO_COLUMN s"]],
        );
        assert(
            catalog::primary_keys(&scope, None, None, none),
            &[&OF_TABLE, &["COLUMN_NAME t!", "KEY_SEQ s!", "PK_NAME t"]],
        );
        let table = TableName { table: none, ..TableName::default() };
        assert(
            catalog::foreign_keys(&scope, table, table),
            &[&[
                "PKTABLE_CAT/PKTABLE_QUALIFIER t",
                "PKTABLE_SCHEM/PKTABLE_OWNER t",
                "PKTABLE_NAME t!",
                "PKCOLUMN_NAME t!",
                "FKTABLE_CAT/FKTABLE_QUALIFIER t",
                "FKTABLE_SCHEM/FKTABLE_OWNER t",
                "FKTABLE_NAME t!",
                "FKCOLUMN_NAME t!",
                "KEY_SEQ s!",
                "UPDATE_RULE s",
                "DELETE_RULE s",
                "FK_NAME t",
                "PK_NAME t",
                "DEFERRABILITY s",
            ]],
        );
        assert(catalog::table_privileges(&scope, None, None, none), &[&OF_TABLE, &GRANT]);
        assert(
            catalog::column_privileges(&scope, None, None, none, None),
            &[&OF_TABLE, &["COLUMN_NAME t!"], &GRANT],
        );
        assert(
            catalog::procedures(&scope, None, None, none),
            &[
                &OF_PROCEDURE,
                &[
                    "NUM_INPUT_PARAMS i",
                    "NUM_OUTPUT_PARAMS i",
                    "NUM_RESULT_SETS i",
                    "REMARKS t",
                    "PROCEDURE_TYPE s",
                ],
            ],
        );
        assert(
            catalog::procedure_columns(&scope, None, None, none, None),
            &[&OF_PROCEDURE, &["COLUMN_NAME t!", "COLUMN_TYPE s!"], &OF_TYPE],
        );
    }
);
