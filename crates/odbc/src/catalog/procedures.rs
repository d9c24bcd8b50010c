//! `SQLProcedures`

use super::argument::{Query, Selection, wildcard_for};
use super::heading::{REMARKS, integer, name, small, text};
use super::{Result, Scope};
use crate::abi::SmallInt;
use crate::table::{Cell, Heading, Table};
use firearrow::catalog::{
    Catalog, Direction, Function, LONGEST_NAME, Name, Procedure, ProcedureKind, RoutineKind,
};
use std::collections::HashMap;

const HEADINGS: &[Heading] = &[
    PROCEDURE_CAT,
    PROCEDURE_SCHEM,
    PROCEDURE_NAME,
    integer("NUM_INPUT_PARAMS"),
    integer("NUM_OUTPUT_PARAMS"),
    integer("NUM_RESULT_SETS"),
    REMARKS,
    small("PROCEDURE_TYPE"),
];

pub(super) const PROCEDURE_CAT: Heading = name("PROCEDURE_CAT").formerly("PROCEDURE_QUALIFIER");
pub(super) const PROCEDURE_SCHEM: Heading = name("PROCEDURE_SCHEM").formerly("PROCEDURE_OWNER");
/// With its package and the point between.
pub(super) const PROCEDURE_NAME: Heading = text("PROCEDURE_NAME", 2 * LONGEST_NAME as u32 + 1).required();

/// `SQL_PT_PROCEDURE` and `SQL_PT_FUNCTION`
const PROCEDURE: SmallInt = 1;
const FUNCTION: SmallInt = 2;

/// A procedure or function in the order of results.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Routine {
    name: String,
    number: SmallInt,
    inputs: i64,
    outputs: i64,
    result_sets: i32,
    remarks: Option<String>,
}

/// Lists procedures and functions. Those of packages have the package in their names: `PACKAGE.NAME`.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn procedures(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    procedure: Option<&str>,
) -> Result<Table> {
    let selection = Selection::new(scope, procedure, "the name of the procedure")?;
    if !scope.has(catalog, schema)? {
        return Ok(Table::new(HEADINGS, &[]));
    }
    let catalog = scope.connection.catalog()?;
    let query = routine_query(&selection);
    let mut routines = procedures_of(&catalog, &query)?;
    routines.extend(functions_of(&catalog, &query)?);
    routines.retain(|routine| selection.matches(&routine.name));
    routines.sort();
    let rows: Vec<_> = routines.into_iter().map(row).collect();
    Ok(Table::new(HEADINGS, &rows))
}

fn procedures_of(catalog: &Catalog, query: &Query) -> Result<Vec<Routine>> {
    let routine = |procedure: Procedure| Routine {
        name: routine_name(procedure.package.as_deref(), &procedure.name),
        number: PROCEDURE,
        inputs: procedure.inputs.into(),
        outputs: procedure.outputs.into(),
        result_sets: (procedure.kind == Some(ProcedureKind::Selectable)).into(),
        remarks: procedure.remarks,
    };
    Ok(catalog.procedures(query.name())?.into_iter().map(routine).collect())
}

fn functions_of(catalog: &Catalog, query: &Query) -> Result<Vec<Routine>> {
    let functions = catalog.functions(query.name())?;
    if functions.is_empty() {
        return Ok(Vec::new());
    }
    let mut inputs = HashMap::<_, i64>::new();
    for parameter in catalog.parameters(query.name(), Name::Any)? {
        if parameter.routine_kind == RoutineKind::Function && parameter.direction == Direction::In {
            *inputs.entry((parameter.package, parameter.routine)).or_default() += 1;
        }
    }
    let mut routine = |function: Function| Routine {
        name: routine_name(function.package.as_deref(), &function.name),
        number: FUNCTION,
        inputs: inputs.remove(&(function.package, function.name)).unwrap_or_default(),
        outputs: 0,
        result_sets: 0,
        remarks: function.remarks,
    };
    Ok(functions.into_iter().map(&mut routine).collect())
}

fn row(routine: Routine) -> Vec<Cell> {
    vec![
        Cell::Null,
        Cell::Null,
        routine.name.into(),
        routine.inputs.into(),
        routine.outputs.into(),
        routine.result_sets.into(),
        routine.remarks.into(),
        routine.number.into(),
    ]
}

/// The name of a routine with its package.
pub(super) fn routine_name(package: Option<&str>, name: &str) -> String {
    package.map_or_else(|| name.to_owned(), |package| format!("{package}.{name}"))
}

/// What to ask the catalog for, which knows names without packages.
pub(super) fn routine_query(selection: &Selection) -> Query {
    match selection {
        // Either may contain points; what follows the last one ends the name.
        Selection::One(name) => match name.rsplit_once('.') {
            Some((_, last)) => {
                Query::Like(format!("%{}", last.chars().map(wildcard_for).collect::<String>()))
            }
            None => Query::One(name.clone()),
        },
        Selection::All | Selection::Matching(_) => Query::All,
    }
}
