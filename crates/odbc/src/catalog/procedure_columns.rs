//! `SQLProcedureColumns`

use super::argument::{Query, Selection};
use super::data_type::{FACTS, Facts};
use super::heading::{COLUMN_NAME, joined, small};
use super::procedures::{PROCEDURE_CAT, PROCEDURE_NAME, PROCEDURE_SCHEM, routine_name, routine_query};
use super::{Result, Scope};
use crate::abi::{self, SmallInt};
use crate::table::{Cell, Heading, Table};
use firearrow::catalog::{Catalog, Direction, Name, Parameter, ProcedureKind, RoutineKind};
use std::collections::HashSet;

const HEADINGS: &[Heading] = &joined::<19>(
    &[PROCEDURE_CAT, PROCEDURE_SCHEM, PROCEDURE_NAME, COLUMN_NAME, small("COLUMN_TYPE").required()],
    &FACTS,
);

/// `SQL_RESULT_COL`
const RESULT_COLUMN: SmallInt = 3;
/// `SQL_RETURN_VALUE`
const RETURN_VALUE: SmallInt = 5;

/// Lists parameters of procedures and functions, and columns of the rows that selectable procedures return.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn procedure_columns(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    procedure: Option<&str>,
    column: Option<&str>,
) -> Result<Table> {
    let routines = Selection::new(scope, procedure, "the name of the procedure")?;
    let columns = Selection::new(scope, column, "the name of the column")?;
    if !scope.has(catalog, schema)? {
        return Ok(Table::new(HEADINGS, &[]));
    }
    let catalog = scope.connection.catalog()?;
    let query = routine_query(&routines);
    let mut parameters = catalog.parameters(query.name(), Name::Any)?;
    parameters.retain(|parameter| routines.matches(&full_name(parameter)));
    parameters.sort_by_cached_key(|parameter| {
        let is_function = parameter.routine_kind == RoutineKind::Function;
        let rank = (rank(parameter.direction), parameter.position);
        (full_name(parameter), is_function, parameter.package.clone(), rank)
    });
    let has_outputs = parameters.iter().any(|parameter| parameter.direction == Direction::Out);
    let selectable = if has_outputs { selectable(&catalog, &query)? } else { HashSet::new() };
    let is_same = |one: &Parameter, next: &Parameter| {
        one.routine_kind == next.routine_kind
            && (&one.package, &one.routine) == (&next.package, &next.routine)
    };
    let mut rows = Vec::new();
    for routine in parameters.chunk_by(is_same) {
        let inputs = routine.iter().filter(|parameter| parameter.direction == Direction::In).count();
        for parameter in routine {
            let is_selectable = selectable.contains(&(parameter.package.clone(), parameter.routine.clone()));
            let (column_type, before) = match parameter.direction {
                Direction::In => (abi::PARAM_INPUT, 0),
                Direction::Out if is_selectable => (RESULT_COLUMN, 0),
                Direction::Out => (abi::PARAM_OUTPUT, inputs as i64),
                Direction::Return => (RETURN_VALUE, 0),
            };
            if columns.matches(parameter.name.as_deref().unwrap_or_default()) {
                rows.push(row(scope, parameter, column_type, before + i64::from(parameter.position)));
            }
        }
    }
    Ok(Table::new(HEADINGS, &rows))
}

/// Packages and names of the procedures whose outputs are rows.
fn selectable(catalog: &Catalog, query: &Query) -> Result<HashSet<(Option<String>, String)>> {
    let procedures = catalog.procedures(query.name())?.into_iter();
    let selectable = procedures.filter(|procedure| procedure.kind == Some(ProcedureKind::Selectable));
    Ok(selectable.map(|procedure| (procedure.package, procedure.name)).collect())
}

fn full_name(parameter: &Parameter) -> String {
    routine_name(parameter.package.as_deref(), &parameter.routine)
}

/// The order of results: what a function returns, parameters in their order, columns of rows.
fn rank(direction: Direction) -> u8 {
    match direction {
        Direction::Return => 0,
        Direction::In => 1,
        Direction::Out => 2,
    }
}

fn row(scope: &Scope<'_>, parameter: &Parameter, column_type: SmallInt, ordinal: i64) -> Vec<Cell> {
    let facts = Facts {
        data_type: &parameter.data_type,
        nullable: parameter.nullable,
        remarks: parameter.remarks.clone(),
        default: parameter.default.clone(),
        ordinal,
    };
    let name = parameter.name.clone().unwrap_or_default();
    let mut cells =
        vec![Cell::Null, Cell::Null, full_name(parameter).into(), name.into(), column_type.into()];
    cells.extend(facts.cells(scope));
    cells
}
