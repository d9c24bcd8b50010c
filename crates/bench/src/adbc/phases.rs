//! Reading any query through any driver, phase by phase.

use super::failed;
use crate::driver::column::Column;
use crate::driver::hash::Found;
use crate::driver::job::{Done, Job};
use crate::error::Result;
use crate::measure::Clock;
use adbc_core::options::{AdbcVersion, OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Connection, Database, Driver as _, LOAD_FLAG_DEFAULT, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedDriver};
use arrow::array::RecordBatchReader;

/// A driver that takes part.
pub(crate) struct Contestant(ManagedDatabase);

/// The names of the ways.
pub(crate) const COUNT: &str = "adbc-count";
pub(crate) const HASH: &str = "adbc";

impl Contestant {
    /// Loads the driver that the job names: by its path, or by the name under which it is installed.
    pub(crate) fn load(job: &Job) -> Result<Self> {
        let name = job.library.as_str();
        let entry = (!job.entrypoint.is_empty()).then_some(job.entrypoint.as_bytes());
        let load = |version| match name.contains('/') {
            true => ManagedDriver::load_dynamic_from_filename(name, entry, version),
            false => ManagedDriver::load_from_name(name, None, version, LOAD_FLAG_DEFAULT, None),
        };
        // Older drivers know the older version alone.
        let mut driver = load(AdbcVersion::V110).or_else(|_| load(AdbcVersion::V100)).map_err(failed)?;
        let option = |(key, value): (&String, &String)| {
            (OptionDatabase::from(key.as_str()), OptionValue::String(value.clone()))
        };
        driver.new_database_with_opts(job.adbc.iter().map(option)).map(Self).map_err(failed)
    }

    /// Reads all rows once, on a new connection.
    pub(crate) fn run(&self, job: &Job) -> Result<Done> {
        let hashes = job.way != COUNT;
        let mut clock = Clock::start()?;
        let mut connection = self.0.new_connection().map_err(failed)?;
        // As the other contestants read; drivers that know no such option write nothing either.
        let _ = connection.set_option(OptionConnection::ReadOnly, "true".into());
        let connect_s = clock.lap()?.wall_s;

        let mut statement = connection.new_statement().map_err(failed)?;
        statement.set_sql_query(&job.sql).map_err(failed)?;
        let reader = statement.execute().map_err(failed)?;
        let schema = reader.schema();
        let execute_s = clock.lap()?.wall_s;

        let mut found = Found::new(if hashes { schema.fields().len() } else { 0 });
        for batch in reader {
            found.add(&batch.map_err(failed)?)?;
        }
        let drain_s = clock.lap()?.wall_s;

        drop(statement);
        release(connection);
        let release_s = clock.lap()?.wall_s;
        let done = Done {
            connect_s,
            execute_s,
            drain_s,
            release_s,
            cpu_s: clock.cpu().seconds(),
            peak_rss_bytes: clock.peak_memory(),
            columns: Column::of_schema(&schema)?,
            ..Done::default()
        };
        Ok(done.with(&found))
    }
}

fn release(connection: ManagedConnection) {
    drop(connection);
}

/// The entry of our driver, whose library has the name of the database. Others follow their own name.
pub(crate) fn entrypoint(library: &str) -> &'static str {
    if library.ends_with("adbc_driver_firebird.so") { "AdbcDriverFirebirdInit" } else { "" }
}
