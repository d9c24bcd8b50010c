//! The catalog functions.

use super::guard;
use super::output::Argument;
use crate::abi::{Char, Handle, Return, SmallInt, USmallInt, WChar};
use crate::catalog::{self, Scope, TableName};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Statement;
use crate::table::Table;
use crate::type_info;
use firearrow_driver::Activity;
use std::sync::Arc;

/// Runs a question about the catalog, and opens its answer as the statement's result.
fn ask(
    handle: Handle,
    arguments: &[Argument],
    question: impl FnOnce(&Scope<'_>, &[Option<&str>]) -> catalog::Result<Table>,
) -> Return {
    guard::statement(handle, |statement| {
        statement.expect_no_cursor()?;
        // SAFETY: the application's texts.
        let texts =
            arguments.iter().map(|argument| unsafe { argument.read() }).collect::<Result<Vec<_>>>()?;
        let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
        let table = within(statement, |statement| {
            let link = Arc::clone(&statement.link);
            let scope = Scope {
                connection: link.session.connection()?,
                identifiers: statement.attributes.metadata_id,
                odbc2: link.is_odbc2,
                types: link.types,
                dialect: link.dialect,
            };
            Ok(question(&scope, &texts)?)
        })?;
        statement.open_table(&table)
    })
}

/// Runs `work` so that it can be cancelled, and within the statement's time limit.
fn within<T>(statement: &mut Statement, work: impl FnOnce(&mut Statement) -> Result<T>) -> Result<T> {
    let session = Arc::clone(&statement.link.session);
    let task = Activity::begin(&[session.activity(), statement.driver.activity()]);
    task.limit(statement.timeout());
    let mut result = None;
    task.run(|| {
        result = Some(work(statement));
        Ok(())
    })?;
    result.unwrap_or_else(|| Err(Failure::new(State::GENERAL, "the catalog was not asked")))
}

/// A narrow and a wide function.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $narrow:ident, $wide:ident($($text:ident $length:ident),* $(; $($number:ident: $type:ty),*)?) => $question:expr;
    )*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "system" fn $narrow(
                handle: Handle,
                $($text: *const Char, $length: SmallInt,)*
                $($($number: $type),*)?
            ) -> Return {
                let arguments = [$(Argument::narrow($text, $length as isize)),*];
                ask(handle, &arguments, |scope, texts| ($question)(scope, texts $($(, $number)*)?))
            }

            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "system" fn $wide(
                handle: Handle,
                $($text: *const WChar, $length: SmallInt,)*
                $($($number: $type),*)?
            ) -> Return {
                let arguments = [$(Argument::wide($text, $length as isize)),*];
                ask(handle, &arguments, |scope, texts| ($question)(scope, texts $($(, $number)*)?))
            }
        )*
    };
}

type Texts<'a> = &'a [Option<&'a str>];

fn type_info_of(handle: Handle, sql_type: SmallInt) -> Return {
    guard::statement(handle, |statement| {
        statement.expect_no_cursor()?;
        let link = Arc::clone(&statement.link);
        let table = type_info::type_info(sql_type, &link.facts, &link.types, link.is_odbc2)?;
        statement.open_table(&table)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetTypeInfo(handle: Handle, sql_type: SmallInt) -> Return {
    type_info_of(handle, sql_type)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetTypeInfoW(handle: Handle, sql_type: SmallInt) -> Return {
    type_info_of(handle, sql_type)
}

functions! {
    SQLTables, SQLTablesW(catalog a, schema b, table c, types d) =>
        |scope: &Scope<'_>, of: Texts<'_>| catalog::tables(scope, of[0], of[1], of[2], of[3]);
    SQLColumns, SQLColumnsW(catalog a, schema b, table c, column d) =>
        |scope: &Scope<'_>, of: Texts<'_>| catalog::columns(scope, of[0], of[1], of[2], of[3]);
    SQLStatistics, SQLStatisticsW(catalog a, schema b, table c; unique: USmallInt, accuracy: USmallInt) =>
        |scope: &Scope<'_>, of: Texts<'_>, unique, accuracy| {
            let unique = one_of(unique, [0, 1], State::UNIQUENESS, "uniqueness")? == 0;
            let exact = one_of(accuracy, [0, 1], State::ACCURACY, "accuracy")? == 1;
            catalog::statistics(scope, of[0], of[1], of[2], unique, exact)
        };
    SQLPrimaryKeys, SQLPrimaryKeysW(catalog a, schema b, table c) =>
        |scope: &Scope<'_>, of: Texts<'_>| catalog::primary_keys(scope, of[0], of[1], of[2]);
    SQLForeignKeys, SQLForeignKeysW(pk_catalog a, pk_schema b, pk_table c, fk_catalog d, fk_schema e, fk_table f) =>
        |scope: &Scope<'_>, of: Texts<'_>| {
            let name = |at: usize| TableName { catalog: of[at], schema: of[at + 1], table: of[at + 2] };
            catalog::foreign_keys(scope, name(0), name(3))
        };
    SQLTablePrivileges, SQLTablePrivilegesW(catalog a, schema b, table c) =>
        |scope: &Scope<'_>, of: Texts<'_>| catalog::table_privileges(scope, of[0], of[1], of[2]);
    SQLColumnPrivileges, SQLColumnPrivilegesW(catalog a, schema b, table c, column d) =>
        |scope: &Scope<'_>, of: Texts<'_>| catalog::column_privileges(scope, of[0], of[1], of[2], of[3]);
    SQLProcedures, SQLProceduresW(catalog a, schema b, procedure c) =>
        |scope: &Scope<'_>, of: Texts<'_>| catalog::procedures(scope, of[0], of[1], of[2]);
    SQLProcedureColumns, SQLProcedureColumnsW(catalog a, schema b, procedure c, column d) =>
        |scope: &Scope<'_>, of: Texts<'_>| catalog::procedure_columns(scope, of[0], of[1], of[2], of[3]);
}

/// A number that must be one of two.
fn one_of(
    number: USmallInt,
    possible: [USmallInt; 2],
    state: State,
    what: &str,
) -> catalog::Result<USmallInt> {
    match possible.contains(&number) {
        true => Ok(number),
        false => Err(catalog::Error::argument(state, format!("there is no {what} {number}"))),
    }
}

/// `SQLSpecialColumns` has its number before the texts.
fn special_columns(
    handle: Handle,
    kind: USmallInt,
    texts: &[Argument],
    scope: USmallInt,
    nullable: USmallInt,
) -> Return {
    ask(handle, texts, |of, texts| {
        let kind = catalog::Special::of(kind)?;
        catalog::special_columns(of, kind, texts[0], texts[1], texts[2], scope, nullable)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSpecialColumns(
    handle: Handle,
    kind: USmallInt,
    catalog: *const Char,
    a: SmallInt,
    schema: *const Char,
    b: SmallInt,
    table: *const Char,
    c: SmallInt,
    scope: USmallInt,
    nullable: USmallInt,
) -> Return {
    let texts = [(catalog, a), (schema, b), (table, c)];
    let texts = texts.map(|(text, length)| Argument::narrow(text, length as isize));
    special_columns(handle, kind, &texts, scope, nullable)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSpecialColumnsW(
    handle: Handle,
    kind: USmallInt,
    catalog: *const WChar,
    a: SmallInt,
    schema: *const WChar,
    b: SmallInt,
    table: *const WChar,
    c: SmallInt,
    scope: USmallInt,
    nullable: USmallInt,
) -> Return {
    let texts = [(catalog, a), (schema, b), (table, c)];
    let texts = texts.map(|(text, length)| Argument::wide(text, length as isize));
    special_columns(handle, kind, &texts, scope, nullable)
}
