//! The driver as applications use it: a library loaded by a driver manager.

use super::failed;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::insert;
use crate::measure::CpuTime;
use crate::sample::Sample;
use crate::verify;
use adbc_core::options::{
    AdbcVersion, IngestMode, IsolationLevel, OptionConnection, OptionDatabase, OptionStatement,
};
use adbc_core::{Connection, Database, Driver as _, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedDriver, ManagedStatement};
use arrow::array::RecordBatchReader;
use firearrow::config::Config;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// A loaded driver, and the database to connect to.
pub(super) struct Driver(ManagedDatabase);

impl Driver {
    pub(super) fn load(library: &Path, url: &str) -> Result<Self> {
        let entry = Some(&b"AdbcDriverFirebirdInit"[..]);
        let mut driver =
            ManagedDriver::load_dynamic_from_filename(library, entry, AdbcVersion::V110).map_err(failed)?;
        let options = [(OptionDatabase::Uri, url.into())];
        driver.new_database_with_opts(options).map(Self).map_err(failed)
    }

    fn connect(&self) -> Result<ManagedConnection> {
        self.0.new_connection().map_err(failed)
    }

    /// Connects with the same kind of transaction as the crate that it is compared with.
    fn connect_to_read(&self) -> Result<ManagedConnection> {
        let snapshot = IsolationLevel::Snapshot;
        let options = [
            (OptionConnection::ReadOnly, "true".into()),
            (OptionConnection::IsolationLevel, snapshot.into()),
        ];
        self.0.new_connection_with_opts(options).map_err(failed)
    }

    /// Reads a demo table, whole and, if wanted, in partitions, and compares its checksums.
    pub(super) fn verify(
        &self,
        host: &dyn Host,
        config: &Config,
        table: &str,
        sql: &str,
        partitions: Option<usize>,
    ) -> Result<()> {
        let mut connection = self.connect()?;
        let mut statement = connection.new_statement().map_err(failed)?;
        statement.set_sql_query(sql).map_err(failed)?;
        let reader = statement.execute().map_err(failed)?;
        let schema = reader.schema();
        verify::batches(host, config, table, &schema, reader.map(|batch| batch.map_err(failed)))?;
        let Some(wanted) = partitions else { return Ok(()) };
        let readers = self.partitions(&mut statement, wanted)?.into_iter().map(|partition| {
            let reader = connection.read_partition(partition).map_err(failed)?;
            Ok(reader.map(|batch| batch.map_err(failed)))
        });
        let readers = readers.collect::<Result<Vec<_>>>()?;
        verify::batches(host, config, table, &schema, readers.into_iter().flatten())?;
        Ok(())
    }

    /// Divides the statement's query into partitions.
    fn partitions(&self, statement: &mut ManagedStatement, wanted: usize) -> Result<Vec<Vec<u8>>> {
        let option = OptionStatement::Other("adbc.firebird.partitions".into());
        statement.set_option(option, i64::try_from(wanted).unwrap_or(i64::MAX).into()).map_err(failed)?;
        let partitions = statement.execute_partitions().map_err(failed)?.partitions;
        if partitions.len() != wanted {
            return Err(Error::other(format!("{} partitions, not {wanted}", partitions.len())));
        }
        Ok(partitions)
    }

    /// Reads all rows once, on a new connection.
    pub(super) fn drain(&self, sql: &str) -> Result<Sample> {
        let cpu = CpuTime::now()?;
        let mut connection = self.connect_to_read()?;
        let mut statement = connection.new_statement().map_err(failed)?;
        statement.set_sql_query(sql).map_err(failed)?;
        let start = Instant::now();
        let rows = count(statement.execute().map_err(failed)?)?;
        let wall_s = start.elapsed().as_secs_f64();
        drop((statement, connection));
        Ok(Sample { rows, wall_s, cpu_s: Some(CpuTime::now()?.since(cpu).seconds()), ..Sample::default() })
    }

    /// Reads all rows once, each partition on its own thread.
    pub(super) fn drain_partitions(&self, sql: &str, wanted: usize) -> Result<Sample> {
        let cpu = CpuTime::now()?;
        let mut leader = self.connect()?;
        let mut statement = leader.new_statement().map_err(failed)?;
        statement.set_sql_query(sql).map_err(failed)?;
        let readers = (0..wanted).map(|_| self.connect()).collect::<Result<Vec<_>>>()?;
        let start = Instant::now();
        let partitions = self.partitions(&mut statement, wanted)?;
        let rows = thread::scope(|scope| {
            let work = readers.into_iter().zip(&partitions).map(|(connection, partition)| {
                scope.spawn(move || count(connection.read_partition(partition).map_err(failed)?))
            });
            let threads: Vec<_> = work.collect();
            let joined = threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| Error::other("a thread panicked"))?);
            joined.sum::<Result<u64>>()
        })?;
        let wall_s = start.elapsed().as_secs_f64();
        Ok(Sample { rows, wall_s, cpu_s: Some(CpuTime::now()?.since(cpu).seconds()), ..Sample::default() })
    }

    /// Appends rows of ten INTEGER to a table.
    pub(super) fn ingest(&self, table: &str, rows: u64) -> Result<Sample> {
        let batch = insert::batch(0, rows);
        let cpu = CpuTime::now()?;
        let mut connection = self.connect()?;
        connection.set_option(OptionConnection::AutoCommit, "false".into()).map_err(failed)?;
        let mut statement = connection.new_statement().map_err(failed)?;
        statement.set_option(OptionStatement::TargetTable, table.into()).map_err(failed)?;
        statement.set_option(OptionStatement::IngestMode, IngestMode::Append.into()).map_err(failed)?;
        statement.bind(batch).map_err(failed)?;
        let start = Instant::now();
        let ingested = statement.execute_update().map_err(failed)?;
        let wall_s = start.elapsed().as_secs_f64();
        connection.commit().map_err(failed)?;
        let rows = ingested.and_then(|rows| u64::try_from(rows).ok()).unwrap_or_default();
        Ok(Sample { rows, wall_s, cpu_s: Some(CpuTime::now()?.since(cpu).seconds()), ..Sample::default() })
    }
}

fn count(reader: impl RecordBatchReader) -> Result<u64> {
    let rows = reader.map(|batch| Ok(batch.map_err(failed)?.num_rows() as u64));
    rows.sum()
}
