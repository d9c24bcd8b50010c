//! Keeps docs/adbc-types.md true: it is the cases that the tests of types check on every server, written out.

use crate::types::{Case, cases};
use arrow::array::Array;
use firearrow_testkit::keep_document;
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = "# Types of ingested data\n\n\
    Written by the test `types_document` of the ADBC crate from the cases that its tests check on every server: a column of the\n\
    Arrow type, with NULLs and extremes, goes into a new table, and is read back equal. Run it with `FIREARROW_UPDATE_DOCS=1` to\n\
    write it anew. Text and binary columns become VARCHAR or VARBINARY where `adbc.firebird.ingest.text` and `.binary` say so;\n\
    columns that are not nullable become NOT NULL. What is not here (durations, intervals, structs, maps, unions; lists but for\n\
    array columns that exist) is refused by name. [types.md](types.md) has the way back: all types of Firebird.\n\n\
    | Arrow | Firebird 4 and later | comes back as | Firebird 3 | comes back as |\n\
    |---|---|---|---|---|\n";

fn shown(case: Option<&Case>) -> String {
    case.map_or("– | –".into(), |case| format!("{} | {}", case.sql, case.expected.data_type()))
}

#[test]
fn the_document_is_what_is_tested() {
    let (modern, old) = (cases(true), cases(false));
    let mut text = HEAD.to_owned();
    let mut seen = BTreeSet::new();
    for case in modern.iter().chain(&old).filter(|case| seen.insert(case.name)) {
        let find = |cases: &'_ [Case]| shown(cases.iter().find(|other| other.name == case.name));
        let _ = writeln!(text, "| {} | {} | {} |", case.column.data_type(), find(&modern), find(&old));
    }
    keep_document("docs/adbc-types.md", &text);
}
