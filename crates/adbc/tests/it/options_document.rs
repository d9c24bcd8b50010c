//! Keeps docs/adbc-options.md true: it is the table of options, written out.

use adbc_driver_firebird::option::{Access, OPTIONS};
use firearrow_testkit::keep_document;
use std::fmt::Write;

const HEAD: &str = "# Options of the ADBC driver\n\n\
    Written by the test `options_document` of the ADBC crate from the driver's table; run it with `FIREARROW_UPDATE_DOCS=1` to\n\
    write it anew. Statements begin with the options of their connection, connections with those of their database, and these\n\
    with what the URI says. Every option can be set and read as string, bytes, int or double, as far as its value allows.\n\n\
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
