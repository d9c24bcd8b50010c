mod call;
mod cases;
mod functions;
mod text;

use super::{Context, Routine, Translated, translate};
use firearrow::Dialect;

/// The text without escapes, for Firebird 5.
fn translated(sql: &str) -> String {
    translated_for(sql, Dialect::Three, (5, 0))
}

fn translated_for(sql: &str, dialect: Dialect, release: (u16, u16)) -> String {
    let mut context = Context { dialect, release, routine: &mut |_, _| None };
    translate(sql, &mut context).unwrap_or_else(|failure| panic!("{sql}: {}", failure.text)).sql.into_owned()
}

/// What the failure says.
fn refused(sql: &str) -> String {
    let mut context = Context { dialect: Dialect::Three, release: (5, 0), routine: &mut |_, _| None };
    let failure = translate(sql, &mut context).expect_err(sql);
    assert_eq!(failure.state.as_str(), "42000", "{sql}");
    failure.text
}

fn called(sql: &str) -> (String, bool) {
    let translated = known(sql);
    (translated.sql.into_owned(), translated.returns_value)
}

/// A call where the catalog knows some routines.
fn known(sql: &str) -> Translated<'_> {
    let mut routine = |package: Option<&str>, name: &str| match (package, name) {
        (None, "ROWS_OF") | (Some("P"), "ROWS_OF") => {
            Some(Routine::Procedure { is_selectable: true, inputs: 2 })
        }
        (None, "say \"it\"") | (None, "RUN") => Some(Routine::Procedure { is_selectable: false, inputs: 2 }),
        (None, "F") | (Some("my pack"), "F") => Some(Routine::Function),
        _ => None,
    };
    let mut context = Context { dialect: Dialect::Three, release: (5, 0), routine: &mut routine };
    let translated = translate(sql, &mut context).unwrap_or_else(|failure| panic!("{sql}: {}", failure.text));
    assert!(translated.is_call, "{sql}");
    translated
}
