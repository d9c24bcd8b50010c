//! Plays sessions through the ADBC library with a server that a proxy makes hostile; `firearrow`'s example of this name
//! says more.
//!
//! ```text
//! cargo run --release -p firearrow-adbc --example hostile_adbc -- --server 4.0 --sessions 2000 --seed 1
//! ```

#[path = "../../client/examples/hostile/campaign.rs"]
mod campaign;
#[path = "../../client/examples/hostile/database.rs"]
mod database;

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::{
    AdbcVersion, IngestMode, ObjectDepth, OptionConnection, OptionDatabase, OptionStatement, OptionValue,
};
use adbc_core::{Connection as _, Database as _, Driver as _, Optionable as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDriver, ManagedStatement};
use arrow::array::{ArrayRef, Int32Array, RecordBatch, RecordBatchReader, StringArray};
use arrow::error::ArrowError;
use firearrow_testkit::Choice;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

fn main() -> std::result::Result<ExitCode, Box<dyn std::error::Error>> {
    campaign::main(database::create, play)
}

/// The library that cargo has built together with this program.
fn driver() -> ManagedDriver {
    static DRIVER: OnceLock<ManagedDriver> = OnceLock::new();
    DRIVER
        .get_or_init(|| {
            let program = std::env::current_exe().expect("a program has a path");
            let folder = program.ancestors().nth(2).expect("it is in examples");
            // A library that is not asked for by name stays among the dependencies.
            let library = folder.join("deps/libadbc_driver_firebird.so");
            ManagedDriver::load_dynamic_from_filename(library, None, AdbcVersion::V110)
                .expect("the driver loads")
        })
        .clone()
}

/// Plays the session of this seed through `port`, and says how it ended: the status of its first error, or none.
fn play(seed: u64, port: u16, url: &str) -> String {
    let mut choice = Choice::from_seed(seed.wrapping_mul(5));
    match connect(&mut choice, port, url) {
        Err(error) => label(seed, "connecting", &error) + " (connecting)",
        Ok(mut connection) => {
            let mut first = None;
            for _ in 0..2 + choice.below(6) {
                let (name, step) = choice.of(STEPS);
                if let Err(error) = step(&mut connection, &mut choice) {
                    let label = label(seed, name, &error);
                    first.get_or_insert(label);
                }
            }
            first.unwrap_or_else(|| "ok".into())
        }
    }
}

fn label(seed: u64, step: &str, error: &Error) -> String {
    eprintln!("seed {seed}, {step}: {:?}: {}", error.status, error.message);
    // The driver keeps panics from its callers and says so.
    assert!(!error.message.contains("panic"), "the driver panicked: {}", error.message);
    format!("{:?}", error.status)
}

fn connect(choice: &mut Choice, port: u16, url: &str) -> Result<ManagedConnection> {
    // The URL names the server itself, and the session goes through the proxy.
    let (before, rest) = url.split_once("127.0.0.1:").expect("a URL of the testkit");
    let path = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let crypt = choice.of(&["disabled", "disabled", "disabled", "required"]);
    let url =
        format!("{before}127.0.0.1:{port}{path}?wire_crypt={crypt}&connect_timeout=1.4&read_timeout=0.7");
    let options = [(OptionDatabase::Uri, OptionValue::from(url.as_str()))];
    let mut connection = driver().new_database_with_opts(options)?.new_connection()?;
    if choice.once_in(3) {
        connection.set_option(OptionConnection::AutoCommit, "false".into())?;
    }
    Ok(connection)
}

type Step = fn(&mut ManagedConnection, &mut Choice) -> Result<()>;

const STEPS: &[(&str, Step)] = &[
    ("every type", |connection, _| query(connection, "SELECT * FROM everything ORDER BY id")),
    ("numbers", |connection, _| query(connection, "SELECT * FROM numbers")),
    ("arrays", |connection, _| query(connection, "SELECT * FROM lists")),
    ("parameters", |connection, _| {
        let mut select = statement(connection, "SELECT * FROM everything WHERE id = ? OR v = ?")?;
        select.prepare()?;
        select.get_parameter_schema()?;
        select.bind(people(3))?;
        drain(select.execute()?)
    }),
    ("schema", |connection, _| {
        statement(connection, "SELECT * FROM everything")?.execute_schema().map(|_| ())
    }),
    ("many rows", |connection, _| {
        let mut insert = statement(connection, "INSERT INTO target (id, name) VALUES (?, ?)")?;
        insert.bind(people(200))?;
        insert.execute_update().map(|_| ())
    }),
    ("returning", |connection, _| {
        let sql = "INSERT INTO target (id, name) VALUES (?, ?) RETURNING id, moment";
        let mut insert = statement(connection, sql)?;
        insert.bind(people(50))?;
        drain(insert.execute()?)
    }),
    ("ingestion", |connection, _| {
        let mut ingest = connection.new_statement()?;
        ingest.set_option(OptionStatement::TargetTable, "TARGET".into())?;
        ingest.set_option(OptionStatement::IngestMode, IngestMode::Append.into())?;
        ingest.bind(people(100))?;
        ingest.execute_update().map(|_| ())
    }),
    ("half a result", |connection, _| {
        let mut select = statement(connection, "SELECT * FROM numbers")?;
        select.set_option(OptionStatement::Other("adbc.firebird.query.batch_rows".into()), "100".into())?;
        let mut rows = select.execute()?;
        rows.next().transpose().map_err(reading).map(|_| ())
    }),
    ("objects", |connection, choice| {
        let depth = choice.of(&[0, 1, 2, 3]);
        let depth =
            [ObjectDepth::All, ObjectDepth::Catalogs, ObjectDepth::Tables, ObjectDepth::Columns][depth];
        drain(connection.get_objects(depth, None, None, None, None, None)?)
    }),
    ("table schema", |connection, _| connection.get_table_schema(None, None, "EVERYTHING").map(|_| ())),
    ("driver info", |connection, _| drain(connection.get_info(None)?)),
    ("statistics", |connection, _| {
        connection.get_statistics(None, None, Some("NUMBERS"), true).and_then(drain)
    }),
    ("partitions", |connection, _| {
        let parts = statement(connection, "SELECT * FROM numbers")?.execute_partitions()?;
        for part in parts.partitions {
            drain(connection.read_partition(&part)?)?;
        }
        Ok(())
    }),
    ("commit", |connection, _| ended(connection.commit())),
    ("rollback", |connection, _| ended(connection.rollback())),
    ("failure", |connection, _| match query(connection, "SELECT nothing FROM nowhere") {
        Err(error) if error.status == Status::NotFound => Ok(()),
        other => other,
    }),
];

/// With autocommit there is nothing to end.
fn ended(result: Result<()>) -> Result<()> {
    result.or_else(|error| if error.status == Status::InvalidState { Ok(()) } else { Err(error) })
}

fn statement(connection: &mut ManagedConnection, sql: &str) -> Result<ManagedStatement> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    Ok(statement)
}

fn query(connection: &mut ManagedConnection, sql: &str) -> Result<()> {
    drain(statement(connection, sql)?.execute()?)
}

fn drain(reader: impl RecordBatchReader) -> Result<()> {
    reader.into_iter().try_for_each(|batch| batch.map(|_| ()).map_err(reading))
}

fn people(rows: i32) -> RecordBatch {
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(|id| format!("name {id}"))));
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..rows));
    RecordBatch::try_from_iter([("ID", ids), ("NAME", names)]).expect("equal lengths")
}

fn reading(error: ArrowError) -> Error {
    Error::with_message_and_status(error.to_string(), Status::IO)
}
