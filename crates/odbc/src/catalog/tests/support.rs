//! What most tests begin with.

use crate::catalog::{Error, Result, Scope};
use crate::diagnostics::State;
use crate::table::Table;
use crate::types::TypeOptions;
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int16Type, Int32Type};
use firearrow::config::{AuthPlugin, WireCrypt};
use firearrow::{Config, Connection, Dialect};
use firearrow_testkit::{Generation, Server, Target};

/// What stands for NULL in [`rows`].
pub(super) const NULL: &str = "<null>";

pub(super) fn config(target: &Target) -> Config {
    let mut config = Config::parse(&target.fresh_url()).expect("the testkit's URLs are valid");
    if let Target::Embedded(embedded) = target {
        config.client_library = Some(embedded.engine.display().to_string());
    }
    config
}

/// The same database for a user who has been granted nothing.
pub(super) fn of_stranger(target: &Target, mut config: Config) -> Config {
    config.user = Some("LEGACYTEST".into());
    if let Target::Wire(_) = target {
        config.password = Some(Server::LEGACY_PASSWORD.into());
        config.auth_plugins = vec![AuthPlugin::Legacy];
        config.wire_crypt = WireCrypt::Disabled;
    }
    config
}

/// A new database after these statements.
pub(super) fn database(target: &Target, statements: &[&str]) -> Connection {
    let connection = Connection::create(&config(target)).expect("a fresh database can be created");
    run(&connection, statements);
    connection
}

pub(super) fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// As an application of ODBC 3 has it that asks with patterns.
pub(super) fn scope(connection: &Connection) -> Scope<'_> {
    let types = TypeOptions { has_binary: connection.has_firebird4(), ..TypeOptions::default() };
    Scope { connection, identifiers: false, odbc2: false, types, dialect: Dialect::Three }
}

pub(super) fn by_identifiers(connection: &Connection) -> Scope<'_> {
    Scope { identifiers: true, ..scope(connection) }
}

pub(super) fn is_firebird3(target: &Target) -> bool {
    target.generation() == Generation::V3_0
}

/// These columns of all rows, as text between bars.
pub(super) fn rows(table: Result<Table>, columns: &[&str]) -> Vec<String> {
    let table = table.unwrap_or_else(|error| panic!("{error:?}"));
    let row = |row| {
        let cells = columns.iter().map(|name| {
            let column = table.batch.column_by_name(name).unwrap_or_else(|| panic!("no {name}"));
            cell(column.as_ref(), row)
        });
        cells.collect::<Vec<_>>().join("|")
    };
    (0..table.batch.num_rows()).map(row).collect()
}

/// All columns of all rows.
pub(super) fn all(table: Result<Table>) -> Vec<String> {
    let table = table.unwrap_or_else(|error| panic!("{error:?}"));
    let names: Vec<&str> = table.headings.iter().map(|heading| heading.name).collect();
    rows(Ok(table), &names)
}

/// One column of all rows.
pub(super) fn column(table: Result<Table>, name: &str) -> Vec<String> {
    rows(table, &[name])
}

fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return NULL.into();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        other => panic!("{other} is no type of catalog functions"),
    }
}

/// The SQLSTATE of a call that the driver refuses.
pub(super) fn refusal(table: Result<Table>) -> State {
    match table {
        Err(Error::Argument(failure)) => failure.state,
        other => panic!("it is not refused: {other:?}"),
    }
}
