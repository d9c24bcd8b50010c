//! What most tests begin with.

use adbc_core::error::{Error, Status};
use adbc_core::options::{AdbcVersion, OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Connection, Database, Driver, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedDriver, ManagedStatement};
use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchReader};
use arrow::datatypes::Int64Type;
use firearrow_testkit::Target;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// Numbers from 1 to 20000.
pub(crate) const NUMBERS: &str = "WITH RECURSIVE n AS (SELECT 1 i FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
    SELECT CAST(a.i * 200 + b.i - 200 AS INTEGER) AS v FROM n a, n b WHERE a.i <= 100 ORDER BY 1";

/// The library that cargo has built together with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let name =
        format!("{}adbc_driver_firebird{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = test.parent().expect("a folder").join(name);
    assert!(library.exists(), "{} is missing", library.display());
    library
}

pub(crate) fn driver() -> ManagedDriver {
    static DRIVER: OnceLock<ManagedDriver> = OnceLock::new();
    let load = || {
        ManagedDriver::load_dynamic_from_filename(library(), None, AdbcVersion::V110)
            .expect("the driver loads")
    };
    DRIVER.get_or_init(load).clone()
}

/// The options for a database of `target`.
pub(crate) fn options(target: &Target, url: &str) -> Vec<(OptionDatabase, OptionValue)> {
    let mut options = vec![(OptionDatabase::Uri, OptionValue::from(url))];
    let mut add = |key: &str, value: &str| options.push((OptionDatabase::Other(key.into()), value.into()));
    match target {
        Target::Embedded(embedded) => {
            add("adbc.firebird.client_library", &embedded.engine.display().to_string())
        }
        // No test may hang: an answer that takes this long is a failure.
        Target::Wire(_) => add("adbc.firebird.read_timeout", "60"),
    }
    add("adbc.firebird.create_if_missing", "true");
    options
}

pub(crate) fn database(target: &Target, url: &str) -> ManagedDatabase {
    driver().new_database_with_opts(options(target, url)).expect("valid options")
}

/// The connection string of a new, empty database.
pub(crate) fn empty_url(target: &Target) -> String {
    let create = |url: &str| drop(database(target, url).new_connection().expect("it can be created"));
    target.copied_url("empty", create)
}

/// A new, empty database.
pub(crate) fn fresh_database(target: &Target) -> ManagedDatabase {
    database(target, &empty_url(target))
}

/// A connection to a new, empty database.
pub(crate) fn fresh(target: &Target) -> ManagedConnection {
    fresh_database(target).new_connection().expect("it is there")
}

pub(crate) fn statement(connection: &mut ManagedConnection, sql: &str) -> ManagedStatement {
    let mut statement = connection.new_statement().expect("it is cheap");
    statement.set_sql_query(sql).expect("it is text");
    statement
}

/// Runs a statement that must succeed. Gives the affected rows.
pub(crate) fn run(connection: &mut ManagedConnection, sql: &str) -> Option<i64> {
    statement(connection, sql).execute_update().unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// All rows of a reader.
pub(crate) fn rows(reader: impl RecordBatchReader) -> RecordBatch {
    let schema = reader.schema();
    let batches: Vec<RecordBatch> =
        reader.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("reading failed: {error}"));
    arrow::compute::concat_batches(&schema, &batches).expect("batches of one stream have one schema")
}

/// All rows of a query.
pub(crate) fn query(connection: &mut ManagedConnection, sql: &str) -> RecordBatch {
    rows(statement(connection, sql).execute().unwrap_or_else(|error| panic!("{sql}: {error}")))
}

/// The first column of a query.
pub(crate) fn column(connection: &mut ManagedConnection, sql: &str) -> ArrayRef {
    query(connection, sql).column(0).clone()
}

pub(crate) fn count(connection: &mut ManagedConnection, table: &str) -> i64 {
    column(connection, &format!("SELECT COUNT(*) FROM {table}")).as_primitive::<Int64Type>().value(0)
}

/// Waits until the server has noticed that all other connections to the database are gone.
pub(crate) fn wait_until_alone(connection: &mut ManagedConnection) {
    const OTHERS: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM MON$ATTACHMENTS \
        WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION AND MON$SYSTEM_FLAG = 0";
    for _ in 0..400 {
        // With pauses: a server once died of this question while attachments were ending.
        thread::sleep(Duration::from_millis(50));
        if column(connection, OTHERS).as_primitive::<Int64Type>().value(0) == 0 {
            return;
        }
    }
    panic!("other connections stay");
}

/// What running it fails with.
pub(crate) fn failure(connection: &mut ManagedConnection, sql: &str) -> Error {
    match statement(connection, sql).execute_update() {
        Ok(affected) => panic!("{sql} ended with {affected:?}"),
        Err(error) => error,
    }
}

#[track_caller]
pub(crate) fn fails<T>(result: Result<T, Error>, status: Status) -> Error {
    match result {
        Ok(_) => panic!("it should fail with {status:?}"),
        Err(error) => {
            assert_eq!(error.status, status, "{error}");
            error
        }
    }
}

pub(crate) fn sqlstate(error: &Error) -> String {
    error.sqlstate.iter().map(|&byte| byte as u8 as char).collect()
}

/// Executes an update and cancels it from another thread after `delay`.
pub(crate) fn cancelled_after(delay: Duration, mut statement: ManagedStatement) {
    let handle = statement.get_cancel_handle();
    let cancelling = thread::spawn(move || {
        thread::sleep(delay);
        handle.try_cancel()
    });
    fails(statement.execute_update(), Status::Cancelled);
    cancelling.join().expect("it ends").expect("there is something to cancel");
}

/// A detail of an error.
pub(crate) fn detail(error: &Error, key: &str) -> Option<String> {
    let details = error.details.as_deref().unwrap_or_default();
    let value = details.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    value.map(|value| String::from_utf8(value).expect("details are text"))
}

pub(crate) fn autocommit(connection: &mut ManagedConnection, on: bool) {
    connection.set_option(OptionConnection::AutoCommit, on.into()).expect("it is known");
}

pub(crate) fn set(connection: &mut ManagedConnection, key: &str, value: &str) -> Result<(), Error> {
    connection.set_option(OptionConnection::from(key), value.into())
}

pub(crate) fn get(connection: &ManagedConnection, key: &str) -> Result<String, Error> {
    connection.get_option_string(OptionConnection::from(key))
}

pub(crate) fn batch<'a>(columns: impl IntoIterator<Item = (&'a str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("equal lengths")
}
