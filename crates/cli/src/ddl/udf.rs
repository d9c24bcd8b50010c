//! Legacy functions: `DECLARE EXTERNAL FUNCTION`.

use super::database::Database;
use super::database::NAME;
use super::name::{literal, name};
use crate::failure::Result;
use firearrow::catalog::{Direction, Name};
use std::fmt::Write;

const ARGUMENTS: &str = "SELECT A.RDB$ARGUMENT_POSITION, A.RDB$MECHANISM, A.RDB$FIELD_TYPE, U.RDB$RETURN_ARGUMENT \
     FROM RDB$FUNCTION_ARGUMENTS A JOIN RDB$FUNCTIONS U ON U.RDB$FUNCTION_NAME = A.RDB$FUNCTION_NAME \
     AND U.RDB$PACKAGE_NAME IS NULL \
     WHERE A.RDB$PACKAGE_NAME IS NULL AND A.RDB$FUNCTION_NAME = ";

/// Returns the declaration of a function in a library. `library` is its module and entry point.
pub(super) fn declaration(
    database: &Database,
    function: &str,
    (module, entry_point): (&str, &str),
) -> Result<String> {
    let sql = format!("{ARGUMENTS}{NAME} ORDER BY 1");
    let arguments = database.ask(&sql, &[function], |row| {
        Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?, row.get::<i64>(2)?, row.get::<Option<i64>>(3)?))
    })?;
    let parameters = database.catalog.parameters(Name::Is(function), Name::Any)?;
    let parameters: Vec<_> = parameters.iter().filter(|one| one.package.is_none()).collect();
    let mut declared = Vec::new();
    let mut result = String::new();
    for (position, mechanism, field_type, return_position) in arguments {
        let is_result = Some(position) == return_position;
        // The catalog numbers arguments without one that is returned, and has that one first.
        let before = return_position.filter(|returned| *returned > 0 && *returned < position);
        let number = if is_result { 0 } else { position - i64::from(before.is_some()) };
        let direction = if is_result { Direction::Return } else { Direction::In };
        let found =
            parameters.iter().find(|one| one.direction == direction && i64::from(one.position) == number);
        let Some(parameter) = found else { continue };
        let written = match field_type {
            CSTRING => format!("CSTRING({})", parameter.data_type.characters.unwrap_or_default()),
            BLOB => "BLOB".to_owned(),
            _ => database.sql_type(&parameter.data_type, None)?,
        };
        let mechanism = mechanism.unwrap_or(BY_REFERENCE);
        if is_result && position == 0 {
            let by = match mechanism.abs() {
                0 => " BY VALUE",
                2 => " BY DESCRIPTOR",
                _ => "",
            };
            let free = if mechanism < 0 { " FREE_IT" } else { "" };
            result = format!("{written}{by}{free}");
            continue;
        }
        if is_result {
            result = format!("PARAMETER {position}");
        }
        let by = match mechanism.abs() {
            2 => " BY DESCRIPTOR",
            4 => " BY SCALAR_ARRAY",
            5 => " NULL",
            _ => "",
        };
        declared.push(written + by);
    }
    let mut sql = format!("DECLARE EXTERNAL FUNCTION {}", name(function));
    if !declared.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(sql, "\n    {}", declared.join(",\n    "));
    }
    let _ = write!(
        sql,
        "\n    RETURNS {result}\n    ENTRY_POINT {} MODULE_NAME {}",
        literal(entry_point),
        literal(module)
    );
    Ok(sql)
}

/// Numbers of types in BLR (`blr.h`).
const CSTRING: i64 = 40;
const BLOB: i64 = 261;
/// `FUN_reference` of `jrd/val.h`.
const BY_REFERENCE: i64 = 1;
