//! Keeps docs/adbc-options.md true: it is the table of options, written out.

use firearrow_adbc::option::{Access, OPTIONS};
use firearrow_testkit::keep_document;
use std::fmt::Write;

const HEAD: &str = "# Options of the ADBC driver\n\n\
    The test `options_document` of the ADBC crate writes this page from the driver's table; run it with\n\
    `FIREARROW_UPDATE_DOCS=1` to update the page. Statements start with the options of their connection, connections with those\n\
    of their database, and databases with those in the URI. Every option can be set and read as string, bytes, int or double, as\n\
    far as its value allows.\n\n\
    | option | of | type | default | what it does |\n\
    |---|---|---|---|---|\n";

#[test]
fn the_document_is_the_table() {
    let mut text = HEAD.to_owned();
    for spec in OPTIONS {
        let default = match (spec.access, spec.default) {
            (Access::Read, _) => "read only".to_owned(),
            (Access::Secret, _) => "set only".to_owned(),
            (Access::Write, "") => "–".to_owned(),
            (Access::Write, value) => format!("`{value}`"),
        };
        let _ =
            writeln!(text, "| `{}` | {} | {} | {default} | {} |", spec.key, spec.scope, spec.kind, spec.text);
    }
    keep_document("docs/adbc-options.md", &text);
}
