//! Keeps docs/adbc-types.md true: it is the cases that the tests of types check on every server, written out.

use crate::types::{Case, cases};
use arrow::array::Array;
use firearrow_testkit::keep_document;
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = "# Types of ingested data\n\n\
    The test `types_document` of the ADBC crate writes this page from the cases that its tests check on every server: a column\n\
    of the Arrow type, with NULLs and extremes, goes into a new table and is read back equal. Run it with\n\
    `FIREARROW_UPDATE_DOCS=1` to update the page. Text becomes a BLOB where `adbc.firebird.ingest.text` says so,\n\
    where rows would become too long, or beyond 64 MiB of data; binary columns become VARBINARY where `.binary` says so; columns that are not nullable become NOT NULL. Types that are not listed\n\
    (durations, intervals, structs, maps, unions; lists except into existing array columns) are refused by name.\n\
    [types.md](types.md) has the opposite direction: all types of Firebird.\n\n\
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
