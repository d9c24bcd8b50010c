//! Keeps docs/adbc-options.md true: it is the table of options, written out.

use adbc_driver_firebird::option::{Access, OPTIONS};
use std::fmt::Write;
use std::path::Path;

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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adbc-options.md");
    if std::env::var_os("FIREARROW_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("docs/adbc-options.md can be written");
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        current, text,
        "docs/adbc-options.md is out of date; run this test with FIREARROW_UPDATE_DOCS=1"
    );
}
