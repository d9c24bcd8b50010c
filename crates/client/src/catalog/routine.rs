//! Stored procedures and functions.

use super::question::{Question, Row};
use super::{Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;

/// A stored procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Procedure {
    /// The package that declares it.
    pub package: Option<String>,
    /// Its name, without the package.
    pub name: String,
    /// How it returns its results. Unknown for procedures restored from very old backups.
    pub kind: Option<ProcedureKind>,
    /// Number of its input parameters.
    pub inputs: u16,
    /// Number of its output parameters.
    pub outputs: u16,
    /// Its language.
    pub language: Language,
    /// The source of its body. In a package, the package has it.
    pub source: Option<String>,
    /// The user who created it.
    pub owner: Option<String>,
    /// `COMMENT ON PROCEDURE`.
    pub remarks: Option<String>,
}

/// How a procedure returns its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcedureKind {
    /// It has `SUSPEND`: SELECT reads its rows.
    Selectable,
    /// EXECUTE PROCEDURE runs it; it returns one row or none.
    Executable,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// The package that declares it.
    pub package: Option<String>,
    /// Its name, without the package.
    pub name: String,
    /// Whether it always returns the same result for the same arguments.
    pub deterministic: bool,
    /// Its language.
    pub language: Language,
    /// The source of its body. In a package, the package has it.
    pub source: Option<String>,
    /// The user who created it.
    pub owner: Option<String>,
    /// `COMMENT ON FUNCTION`.
    pub remarks: Option<String>,
}

/// The language of a procedure, function or trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Firebird's own language.
    Psql,
    /// Another one (`EXTERNAL NAME … ENGINE …`).
    External {
        /// The plugin that runs it, such as `UDR`.
        engine: String,
        /// Where that finds it.
        entry_point: Option<String>,
    },
    /// A legacy user-defined function (`DECLARE EXTERNAL FUNCTION`).
    Udf {
        /// The library.
        module: String,
        /// The function in it.
        entry_point: Option<String>,
    },
}

impl Language {
    pub(super) fn of(engine: Option<String>, module: Option<String>, entry_point: Option<String>) -> Self {
        match (engine, module) {
            (Some(engine), _) => Self::External { engine, entry_point },
            (None, Some(module)) => Self::Udf { module, entry_point },
            (None, None) => Self::Psql,
        }
    }
}

const PROCEDURES: &str = "SELECT P.RDB$PACKAGE_NAME, P.RDB$PROCEDURE_NAME, P.RDB$PROCEDURE_TYPE, \
     P.RDB$PROCEDURE_INPUTS, P.RDB$PROCEDURE_OUTPUTS, P.RDB$ENGINE_NAME, P.RDB$ENTRYPOINT, P.RDB$PROCEDURE_SOURCE, \
     P.RDB$OWNER_NAME, P.RDB$DESCRIPTION FROM RDB$PROCEDURES P";

const FUNCTIONS: &str = "SELECT U.RDB$PACKAGE_NAME, U.RDB$FUNCTION_NAME, U.RDB$DETERMINISTIC_FLAG, \
     U.RDB$ENGINE_NAME, U.RDB$MODULE_NAME, U.RDB$ENTRYPOINT, U.RDB$FUNCTION_SOURCE, U.RDB$OWNER_NAME, \
     U.RDB$DESCRIPTION FROM RDB$FUNCTIONS U";

/// Routines that only the body of a package declares are private. `owner` is the alias of their table.
pub(super) fn is_public(owner: &str) -> String {
    format!("COALESCE({owner}.RDB$PRIVATE_FLAG, 0) = 0")
}

impl View {
    /// Returns the stored procedures with these names, those outside packages first.
    pub(crate) async fn procedures<B: Backend>(
        self,
        session: &mut Session<B>,
        name: Name<'_>,
    ) -> Result<Vec<Procedure>> {
        let question = Question::new(PROCEDURES).and_name("P.RDB$PROCEDURE_NAME", name).and(&is_public("P"));
        let question =
            self.without_system(question, "P").order_by("P.RDB$PACKAGE_NAME, P.RDB$PROCEDURE_NAME");
        self.ask(session, &question, |row| {
            Ok(Procedure {
                package: row.owned(0),
                name: row.name(1)?,
                kind: procedure_kind(row.integer(2)),
                inputs: row.number(3),
                outputs: row.number(4),
                language: Language::of(row.owned(5), None, row.remark(6)),
                source: row.remark(7),
                owner: row.owned(8),
                remarks: row.remark(9),
            })
        })
        .await
    }

    /// Returns the functions with these names, those outside packages first.
    pub(crate) async fn functions<B: Backend>(
        self,
        session: &mut Session<B>,
        name: Name<'_>,
    ) -> Result<Vec<Function>> {
        let question = Question::new(FUNCTIONS).and_name("U.RDB$FUNCTION_NAME", name).and(&is_public("U"));
        let question = self.without_system(question, "U").order_by("U.RDB$PACKAGE_NAME, U.RDB$FUNCTION_NAME");
        self.ask(session, &question, function).await
    }
}

fn function(row: &Row<'_>) -> Result<Function> {
    Ok(Function {
        package: row.owned(0),
        name: row.name(1)?,
        deterministic: row.is_set(2),
        language: Language::of(row.owned(3), row.remark(4), row.remark(5)),
        source: row.remark(6),
        owner: row.owned(7),
        remarks: row.remark(8),
    })
}

/// `RDB$PROCEDURE_TYPE`: `prc_selectable` and `prc_executable` of `jrd/constants.h`.
fn procedure_kind(number: Option<i64>) -> Option<ProcedureKind> {
    match number {
        Some(1) => Some(ProcedureKind::Selectable),
        Some(2) => Some(ProcedureKind::Executable),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_follow_from_where_the_code_is() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(Language::of(None, None, text("x")), Language::Psql);
        let external = Language::External { engine: "UDR".into(), entry_point: text("a!b") };
        assert_eq!(Language::of(text("UDR"), None, text("a!b")), external);
        let udf = Language::Udf { module: "m".into(), entry_point: None };
        assert_eq!(Language::of(None, text("m"), None), udf);
    }

    #[test]
    fn kinds_of_procedures_have_numbers() {
        assert_eq!(procedure_kind(Some(1)), Some(ProcedureKind::Selectable));
        assert_eq!(procedure_kind(Some(2)), Some(ProcedureKind::Executable));
        assert_eq!([procedure_kind(None), procedure_kind(Some(0))], [None, None]);
    }
}
