//! Parameters of procedures and functions.

use super::data_type::Field;
use super::domain::{default, is_implicit};
use super::question::{Question, Row};
use super::routine::is_public;
use super::{ColumnType, Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;

/// A parameter of a procedure or function, or the value that a function returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The package of the routine.
    pub package: Option<String>,
    /// The procedure or function.
    pub routine: String,
    /// Which of the two it is: there may be one of each with the same name.
    pub routine_kind: RoutineKind,
    /// Its name. Results of functions and arguments of legacy functions have none.
    pub name: Option<String>,
    /// Its direction.
    pub direction: Direction,
    /// Its place among those of the same direction, from 1 on; 0 for the result of a function.
    pub position: u16,
    /// Its data type.
    pub data_type: ColumnType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The expression that a caller may leave out the argument for.
    pub default: Option<String>,
    /// The domain that it was declared with, or gets its type from (`TYPE OF`).
    pub domain: Option<String>,
    /// `COMMENT ON PARAMETER`.
    pub remarks: Option<String>,
}

/// The direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Direction {
    In,
    Out,
    /// The result of a function.
    Return,
}

/// A kind of routine with parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum RoutineKind {
    Procedure,
    Function,
}

/// Columns 2 and 3 are [`RoutineKind`] and [`Direction`]; 15 the mechanism (1: `TYPE OF`), 16 to 18 are of the domain.
const OF_PROCEDURES: &str = "SELECT A.RDB$PACKAGE_NAME, A.RDB$PROCEDURE_NAME, 0, A.RDB$PARAMETER_TYPE, \
     A.RDB$PARAMETER_NUMBER + 1, A.RDB$PARAMETER_NAME, F.RDB$FIELD_TYPE, F.RDB$FIELD_SUB_TYPE, F.RDB$FIELD_SCALE, \
     F.RDB$FIELD_PRECISION, F.RDB$FIELD_LENGTH, F.RDB$CHARACTER_LENGTH, F.RDB$CHARACTER_SET_ID, \
     S.RDB$BYTES_PER_CHARACTER, S.RDB$CHARACTER_SET_NAME, O.RDB$COLLATION_NAME, A.RDB$NULL_FLAG, \
     A.RDB$PARAMETER_MECHANISM, F.RDB$NULL_FLAG, F.RDB$FIELD_NAME, F.RDB$DEFAULT_SOURCE, A.RDB$DEFAULT_SOURCE, \
     A.RDB$DESCRIPTION FROM RDB$PROCEDURE_PARAMETERS A \
     JOIN RDB$PROCEDURES P ON P.RDB$PROCEDURE_NAME = A.RDB$PROCEDURE_NAME \
     AND P.RDB$PACKAGE_NAME IS NOT DISTINCT FROM A.RDB$PACKAGE_NAME \
     JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = A.RDB$FIELD_SOURCE \
     LEFT JOIN RDB$CHARACTER_SETS S ON S.RDB$CHARACTER_SET_ID = F.RDB$CHARACTER_SET_ID \
     LEFT JOIN RDB$COLLATIONS O ON O.RDB$CHARACTER_SET_ID = F.RDB$CHARACTER_SET_ID \
     AND O.RDB$COLLATION_ID = COALESCE(A.RDB$COLLATION_ID, F.RDB$COLLATION_ID, 0)";

/// Arguments of legacy functions have their types themselves. Such a function may return one of its arguments by
/// reference: the others are those that SQL passes, and are numbered without it.
const OF_FUNCTIONS: &str = "SELECT A.RDB$PACKAGE_NAME, A.RDB$FUNCTION_NAME, 1, \
     CASE WHEN A.RDB$ARGUMENT_POSITION = U.RDB$RETURN_ARGUMENT THEN 2 ELSE 0 END, \
     CASE WHEN A.RDB$ARGUMENT_POSITION = U.RDB$RETURN_ARGUMENT THEN 0 \
     WHEN U.RDB$RETURN_ARGUMENT > 0 AND A.RDB$ARGUMENT_POSITION > U.RDB$RETURN_ARGUMENT \
     THEN A.RDB$ARGUMENT_POSITION - 1 ELSE A.RDB$ARGUMENT_POSITION END, \
     A.RDB$ARGUMENT_NAME, COALESCE(F.RDB$FIELD_TYPE, A.RDB$FIELD_TYPE), \
     COALESCE(F.RDB$FIELD_SUB_TYPE, A.RDB$FIELD_SUB_TYPE), COALESCE(F.RDB$FIELD_SCALE, A.RDB$FIELD_SCALE), \
     COALESCE(F.RDB$FIELD_PRECISION, A.RDB$FIELD_PRECISION), COALESCE(F.RDB$FIELD_LENGTH, A.RDB$FIELD_LENGTH), \
     COALESCE(F.RDB$CHARACTER_LENGTH, A.RDB$CHARACTER_LENGTH), \
     COALESCE(F.RDB$CHARACTER_SET_ID, A.RDB$CHARACTER_SET_ID), \
     S.RDB$BYTES_PER_CHARACTER, S.RDB$CHARACTER_SET_NAME, O.RDB$COLLATION_NAME, A.RDB$NULL_FLAG, \
     A.RDB$ARGUMENT_MECHANISM, F.RDB$NULL_FLAG, F.RDB$FIELD_NAME, F.RDB$DEFAULT_SOURCE, A.RDB$DEFAULT_SOURCE, \
     A.RDB$DESCRIPTION FROM RDB$FUNCTION_ARGUMENTS A \
     JOIN RDB$FUNCTIONS U ON U.RDB$FUNCTION_NAME = A.RDB$FUNCTION_NAME \
     AND U.RDB$PACKAGE_NAME IS NOT DISTINCT FROM A.RDB$PACKAGE_NAME \
     LEFT JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = A.RDB$FIELD_SOURCE \
     LEFT JOIN RDB$CHARACTER_SETS S \
     ON S.RDB$CHARACTER_SET_ID = COALESCE(F.RDB$CHARACTER_SET_ID, A.RDB$CHARACTER_SET_ID) \
     LEFT JOIN RDB$COLLATIONS O \
     ON O.RDB$CHARACTER_SET_ID = COALESCE(F.RDB$CHARACTER_SET_ID, A.RDB$CHARACTER_SET_ID) \
     AND O.RDB$COLLATION_ID = COALESCE(A.RDB$COLLATION_ID, F.RDB$COLLATION_ID, 0)";

impl View {
    /// Returns the parameters with these names of those procedures and functions, in their order.
    pub(crate) async fn parameters<B: Backend>(
        self,
        session: &mut Session<B>,
        routine: Name<'_>,
        parameter: Name<'_>,
    ) -> Result<Vec<Parameter>> {
        let procedures = Question::new(OF_PROCEDURES)
            .and_name("A.RDB$PROCEDURE_NAME", routine)
            .and_name("A.RDB$PARAMETER_NAME", parameter)
            .and(&is_public("P"));
        let functions = Question::new(OF_FUNCTIONS)
            .and_name("A.RDB$FUNCTION_NAME", routine)
            .and_name("COALESCE(A.RDB$ARGUMENT_NAME, '')", parameter)
            .and(&is_public("U"));
        let question = self
            .without_system(procedures, "P")
            .union_all(self.without_system(functions, "U"))
            .order_by("1, 2, 3, 4, 5");
        self.ask(session, &question, self::parameter).await
    }
}

fn parameter(row: &Row<'_>) -> Result<Parameter> {
    let after = 6 + Field::WIDTH;
    let is_type_of = row.is_set(after + 1);
    let domain = row.owned(after + 3);
    // Parameters of old databases have their defaults where columns have them.
    let is_own = domain.as_deref().is_some_and(is_implicit) && !is_type_of;
    let inherited = row.text(after + 4).filter(|_| is_own);
    Ok(Parameter {
        package: row.owned(0),
        routine: row.name(1)?,
        routine_kind: if row.is_set(2) { RoutineKind::Function } else { RoutineKind::Procedure },
        direction: direction(row.number(3)),
        position: row.number(4),
        name: row.remark(5),
        data_type: Field::read(row, 6).data_type(Vec::new()),
        nullable: is_nullable(row.is_set(after), is_type_of, row.is_set(after + 2)),
        default: row.text(after + 5).or(inherited).map(|source| default(source).to_owned()),
        domain: domain.filter(|domain| !is_implicit(domain)),
        remarks: row.remark(after + 6),
    })
}

/// `TYPE OF` takes the type of a domain and nothing else.
fn is_nullable(own_flag: bool, is_type_of: bool, flag_of_domain: bool) -> bool {
    !own_flag && (is_type_of || !flag_of_domain)
}

/// 0 and 1 are `RDB$PARAMETER_TYPE`.
fn direction(number: i16) -> Direction {
    match number {
        1 => Direction::Out,
        2 => Direction::Return,
        _ => Direction::In,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_of_does_not_inherit_not_null() {
        assert!(is_nullable(false, true, true) && is_nullable(false, false, false));
        assert!(!is_nullable(false, false, true) && !is_nullable(true, true, false));
    }

    #[test]
    fn directions_have_numbers() {
        assert_eq!([0, 1, 2].map(direction), [Direction::In, Direction::Out, Direction::Return]);
    }
}
