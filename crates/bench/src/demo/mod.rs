//! Demo databases: tables whose contents depend only on the row number, so that every server gets the same.
//!
//! ```text
//!  tables: row number ─► values ─┬─► checksum ──────────► FIREARROW_DEMO
//!                                └─► load: INSERT ─► T_WIDE, T_INT10, T_VC5, T_BLOB …
//! ```

mod catalog;
pub(crate) mod checksum;
mod load;
mod tables;
mod values;

pub use self::catalog::{Expected, load};
pub use self::checksum::{FORMAT_VERSION, checksum};
pub use self::tables::{Column, MORE_TABLES, MOST_ROWS, TABLES, Table};
pub use self::values::Values;

use crate::disk;
use crate::error::{Error, Result};
use crate::host::{Goal, Host};
use crate::text::thousands;
use firearrow::config::{Config, Target};
use firearrow::{Connection, Kind};
use serde::Serialize;
use std::time::Instant;

const ROWS_AT_A_TIME: usize = 8192;

/// Creates all demo tables, and the database if there is none. The large tables get `rows` rows, up to [`MOST_ROWS`].
///
/// # Errors
/// [`Error::Other`] if a demo table exists and `replace` is not set; otherwise any error that prevents a complete
/// table.
pub fn create(host: &dyn Host, config: &Config, rows: u64, replace: bool) -> Result<Summary> {
    let (connection, created) = open_or_create(host, config)?;
    let engine = connection.info()?.engine_version;
    let major = major(&engine)?;
    if !replace {
        // Otherwise the new rows take the place of the old ones.
        check_room(config, TABLES.iter(), rows.min(MOST_ROWS))?;
    }
    remove(&connection, replace)?;
    let mut made = Vec::new();
    for table in &TABLES {
        made.push(make(host, &connection, table, rows.min(MOST_ROWS), major)?);
    }
    let database = match &config.target {
        Target::Embedded { path } => path.clone(),
        Target::Remote { .. } => config.redacted_url(),
    };
    Ok(Summary { database, created, engine, tables: made })
}

/// Creates the missing demo tables, with `rows` rows in the large ones, and the database if there is none.
///
/// # Errors
/// Any error that prevents a complete table.
pub fn complete(host: &dyn Host, config: &Config, rows: u64) -> Result<()> {
    let all: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    complete_only(host, config, rows, &all)
}

/// [`complete`] for the demo tables of these names.
///
/// # Errors
/// Any error that prevents a complete table.
pub fn complete_only(host: &dyn Host, config: &Config, rows: u64, names: &[&str]) -> Result<()> {
    let (connection, _) = open_or_create(host, config)?;
    let existing = catalog::existing(&connection, tables::all().map(|table| table.name))?;
    let wanted = tables::all().filter(|table| names.contains(&table.name));
    let missing: Vec<_> = wanted.filter(|table| !existing.iter().any(|name| name == table.name)).collect();
    check_room(config, missing.iter().copied(), rows.min(MOST_ROWS))?;
    let major = major(&connection.info()?.engine_version)?;
    for table in missing {
        let count = thousands(table.rows(rows.min(MOST_ROWS)));
        host.note(&format!("{} is missing: creating it with {count} rows", table.name));
        make(host, &connection, table, rows.min(MOST_ROWS), major)?;
    }
    connection.close()?;
    Ok(())
}

/// Computes the expected contents of the first `rows` rows of the demo table `name`. This takes time, but no server.
///
/// # Errors
/// [`Error::Other`] if there is no demo table of this name.
pub fn expected(name: &str, rows: u64) -> Result<Expected> {
    let table = tables::all().find(|table| table.name == name);
    let table = table.ok_or_else(|| Error::other(format!("{name} is not a demo table")))?;
    let sum = |column: &Column| -> Result<u64> {
        // In pieces, to limit the memory for values.
        let starts = (0..rows).step_by(ROWS_AT_A_TIME);
        let mut sums = starts
            .map(|start| checksum(&column.values.array(start..rows.min(start + ROWS_AT_A_TIME as u64))));
        sums.try_fold(0, |sum: u64, part| Ok(sum.wrapping_add(part?)))
    };
    let columns = table.columns.iter().map(|column| Ok((column.name.to_owned(), sum(column)?)));
    Ok(Expected { rows, columns: columns.collect::<Result<_>>()? })
}

/// Refuses to make tables for which there is no room.
fn check_room<'a>(config: &Config, tables: impl Iterator<Item = &'a Table>, rows: u64) -> Result<()> {
    let needed =
        tables.map(|table| table.rows(rows).saturating_mul(table.row_bytes)).fold(0, u64::saturating_add);
    // What an empty table needs is no reason to look.
    if needed > 0 { disk::check(config, "the tables of the demo", needed) } else { Ok(()) }
}

/// Creates a table that does not exist.
fn make(host: &dyn Host, connection: &Connection, table: &Table, rows: u64, major: u32) -> Result<Made> {
    let started = Instant::now();
    let rows = table.rows(rows);
    let text = "is missing or incomplete; create-demo --force recreates the demo tables";
    host.leaves(Some(format!("{} {text}", table.name)));
    create_table(connection, table, major)?;
    let progress = host.progress(Goal::Rows { table: table.name, rows });
    let sums = load::fill(host, connection, table, rows, major, &*progress)?;
    if let Some(key) = table.key {
        let name = table.name;
        connection.execute(&format!("ALTER TABLE {name} ADD CONSTRAINT PK_{name} PRIMARY KEY ({key})"))?;
    }
    let names = table.columns.iter().map(|column| column.name);
    catalog::store(connection, table.name, rows, names.zip(sums))?;
    host.leaves(None);
    Ok(Made { name: table.name, rows, seconds: started.elapsed().as_secs_f64() })
}

/// The result of [`create`].
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The path of the file, or the URL without its password.
    pub database: String,
    /// Whether the database was created.
    pub created: bool,
    /// The engine's version, such as `5.0.4`.
    pub engine: String,
    /// The tables, in the order of their creation.
    pub tables: Vec<Made>,
}

/// A created demo table.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Made {
    /// The table's name.
    pub name: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// Time to create it, including its primary key, in seconds.
    pub seconds: f64,
}

impl Summary {
    /// Formats the summary for people: a line for each table, and for each type that the engine lacks.
    #[must_use]
    pub fn text(&self) -> String {
        let verb = if self.created { "created" } else { "filled" };
        let mut text = format!("{verb} {} (Firebird {})\n", self.database, self.engine);
        for Made { name, rows, seconds } in &self.tables {
            let rate = thousands((*rows as f64 / seconds) as u64);
            text += &format!("{name:8} {:>13} rows {seconds:>9.2} s {rate:>13} rows/s\n", thousands(*rows));
        }
        let is_3 = major(&self.engine).is_ok_and(|major| major < 4);
        for column in TABLES.iter().flat_map(|table| table.columns) {
            if let Some(sql) = column.sql_on_3.filter(|_| is_3) {
                text += &format!("{} is {sql}: Firebird 3 has no {}\n", column.name, column.sql);
            }
        }
        text
    }
}

/// Connects to a database, which is created if there is none; whether it was created.
///
/// Only the server knows whether the database exists. If opening fails for another reason, creating fails, too, because
/// nothing is ever overwritten here.
///
/// # Errors
/// Those of opening it.
pub fn open_or_create(host: &dyn Host, config: &Config) -> Result<(Connection, bool)> {
    let refused = match host.open(config) {
        Ok(connection) => return Ok((connection, false)),
        Err(error) if error.kind() == Kind::Database => error,
        Err(error) => return Err(error.into()),
    };
    let mut new = config.clone();
    new.overwrite = false;
    new.page_size.get_or_insert(16384);
    // The rows can be recreated at any time, in less time than waiting for the disk at every page would take.
    new.force_writes.get_or_insert(false);
    host.create(&new).map(|connection| (connection, true)).map_err(|_| refused.into())
}

/// Returns the `5` of `5.0.4`.
fn major(version: &str) -> Result<u32> {
    let major = version.split('.').next().and_then(|major| major.parse().ok());
    major.ok_or_else(|| Error::other(format!("the engine's version is '{version}', which is not a number")))
}

/// Removes existing demo tables, if wanted.
fn remove(connection: &Connection, is_wanted: bool) -> Result<()> {
    let existing = catalog::existing(connection, tables::all().map(|table| table.name))?;
    if !is_wanted && !existing.is_empty() {
        return Err(Error::other(format!(
            "{} exists; --force replaces the demo tables",
            existing.join(", ")
        )));
    }
    for table in &existing {
        // The checksums first: missing checksums are noticed, but checksums without their rows would be wrong.
        catalog::forget(connection, table)?;
        connection.execute(&format!("DROP TABLE {table}"))?;
    }
    Ok(())
}

fn create_table(connection: &Connection, table: &Table, major: u32) -> Result<()> {
    let columns = table.columns.iter().map(|column| format!("{} {}", column.name, column.sql(major)));
    let columns: Vec<String> = columns.collect();
    connection.execute(&format!("CREATE TABLE {} ({})", table.name, columns.join(", ")))?;
    Ok(())
}
