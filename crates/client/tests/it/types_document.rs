//! Keeps docs/types.md true: the table of types × platforms that pass the round trip.

use crate::cases::{Case, cases, round_trip};
use crate::elements::{dimensioned, element_round_trip};
use arrow::datatypes::DataType;
use firearrow_testkit::{Platform, Target, keep_document, platform};
use std::fmt::Write;
use std::path::Path;

const PLATFORMS: [(&str, Platform); 4] = [
    ("Firebird 3.0", platform::firebird_3_0()),
    ("Firebird 4.0", platform::firebird_4_0()),
    ("Firebird 5.0", platform::firebird_5_0()),
    ("embedded 5.0", platform::embedded_5_0()),
];

const HEAD: &str = "# Types\n\n\
    The test `types_document` of the client crate writes this page from the answers of real servers; run it with\n\
    `FIREARROW_UPDATE_DOCS=1` to update the page. A type passes when its extremes and NULL, written as SQL literals,\n\
    are read as the expected Arrow values, the same values sent as parameters are read back equal, and the engine\n\
    itself finds both equal. Arrays are sent as lists and read back equal, and SQL finds their elements equal to the literals.\n\
    VARBINARY elements have no zero bytes in this test, because those would be refused.\n\n\
    Floats as parameters for integers, NUMERIC and DECIMAL count by 15 significant digits (Float32: 6), unless their shortest\n\
    decimal fits as it is: 3.3000000000000003 is 3.30 in NUMERIC(9, 2), and 0.333 is refused.\n\n";

/// A platform that is absent keeps the column that the document has.
#[test]
fn the_types_document_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/types.md");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let targets: Vec<Option<Target>> = PLATFORMS.iter().map(|(_, platform)| platform.target().ok()).collect();
    let mut text = HEAD.to_owned();
    let _ = writeln!(
        text,
        "| Firebird type | Arrow type |{}",
        PLATFORMS.map(|(name, _)| format!(" {name} |")).concat()
    );
    let _ = writeln!(text, "|---|---|---|---|---|---|");
    let mut row =
        |name: &str, arrow: &DataType, case: &Case, test: fn(&Target, &Case) -> Result<(), String>| {
            let _ = write!(text, "| {name} | {arrow} |");
            for (index, target) in targets.iter().enumerate() {
                let mark = match target {
                    Some(target) if target.generation() < case.since => "–".to_owned(),
                    Some(target) => match test(target, case) {
                        Ok(()) => "passes".to_owned(),
                        Err(error) => format!("FAILS: {error}"),
                    },
                    None => cell(&old, name, index + 2).unwrap_or("not run").to_owned(),
                };
                let _ = write!(text, " {mark} |");
            }
            text.push('\n');
        };
    for case in cases() {
        row(case.declaration, case.expected.data_type(), &case, round_trip);
    }
    for case in cases().into_iter().filter(|case| !case.declaration.starts_with("BLOB")) {
        let list = DataType::new_list(case.expected.data_type().clone(), true);
        row(&dimensioned(case.declaration, "n"), &list, &case, element_round_trip);
    }
    text.push_str("\n– : the release does not have the type.\n");
    assert!(!text.contains("FAILS"), "{text}");
    keep_document("docs/types.md", &text);
}

/// A cell of the table for the type `declaration`.
fn cell<'a>(document: &'a str, declaration: &str, column: usize) -> Option<&'a str> {
    let line = document.lines().find(|line| line.starts_with(&format!("| {declaration} |")))?;
    line.split('|').nth(column + 1).map(str::trim)
}
