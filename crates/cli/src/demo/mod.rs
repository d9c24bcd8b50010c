//! `firearrow create-demo`
//!
//! ```text
//!  tables: row number ─► values ─┬─► checksum ──────────► FIREARROW_DEMO
//!                                └─► load: INSERT ─► T_WIDE, T_INT10, T_VC5, T_BLOB
//! ```

pub(crate) mod catalog;
pub(crate) mod checksum;
mod load;
mod tables;
mod values;

use self::catalog::Expected;
use self::checksum::checksum;
use crate::args::DemoArgs;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::{self, open};
use crate::output;
use crate::progress::{Progress, thousands};
use firearrow::config::{Config, Target};
use firearrow::{Connection, Kind};
use serde::Serialize;
use std::time::Instant;
use tables::{MOST_ROWS, TABLES, Table};

const ROWS_AT_A_TIME: usize = 8192;

pub(crate) fn run(args: &DemoArgs, json: bool) -> Result<()> {
    let rows = args.rows.get();
    if rows > MOST_ROWS {
        return Err(Failure::usage(format!("--rows: no more than {}", thousands(MOST_ROWS))));
    }
    let config = Config::parse(&args.url)?;
    let (connection, created) = open_or_create(&config)?;
    let engine = connection.info()?.engine_version;
    let major = major(&engine)?;
    replace(&connection, args.force)?;
    let mut made = Vec::new();
    for table in &TABLES {
        made.push(make(&connection, table, rows, major, args.quiet || json)?);
    }
    let database = match &config.target {
        Target::Embedded { path } => path.clone(),
        Target::Remote { .. } => config.redacted_url(),
    };
    let summary = Summary { database, created, engine, tables: made };
    let text = if json { serde_json::to_string_pretty(&summary)? + "\n" } else { summary.text(major) };
    output::print(&text)
}

/// Makes the demo tables that a database lacks, and the database if there is none.
pub(crate) fn complete(config: &Config, rows: u64, quiet: bool) -> Result<()> {
    let (connection, _) = open_or_create(config)?;
    let existing = catalog::existing(&connection, TABLES.iter().map(|table| table.name))?;
    let missing = TABLES.iter().filter(|table| !existing.iter().any(|name| name == table.name));
    let major = major(&connection.info()?.engine_version)?;
    for table in missing {
        make(&connection, table, rows.min(MOST_ROWS), major, quiet)?;
    }
    connection.close()?;
    Ok(())
}

/// What the first rows of a table must be.
pub(crate) fn expected(name: &str, rows: u64) -> Result<Expected> {
    let table = TABLES.iter().find(|table| table.name == name);
    let table = table.ok_or_else(|| Failure::other(format!("{name} is no demo table")))?;
    let sum = |column: &tables::Column| -> Result<u64> {
        // In pieces, so that the values need little memory.
        let starts = (0..rows).step_by(ROWS_AT_A_TIME);
        let mut sums = starts
            .map(|start| checksum(&column.values.array(start..rows.min(start + ROWS_AT_A_TIME as u64))));
        sums.try_fold(0, |sum: u64, part| Ok(sum.wrapping_add(part?)))
    };
    let columns = table.columns.iter().map(|column| Ok((column.name.to_owned(), sum(column)?)));
    Ok(Expected { rows, columns: columns.collect::<Result<_>>()? })
}

/// Makes a table that does not exist.
fn make(connection: &Connection, table: &Table, rows: u64, major: u32, quiet: bool) -> Result<Made> {
    let started = Instant::now();
    let rows = table.rows(rows);
    let text = "is missing or incomplete; create-demo --force makes the demo tables anew";
    interrupt::stays(Some(format!("{} {text}", table.name)));
    create(connection, table, major)?;
    let progress = Progress::of(table.name, rows, quiet);
    let sums = load::fill(connection, table, rows, major, &progress)?;
    if let Some(key) = table.key {
        let name = table.name;
        connection.execute(&format!("ALTER TABLE {name} ADD CONSTRAINT PK_{name} PRIMARY KEY ({key})"))?;
    }
    let names = table.columns.iter().map(|column| column.name);
    catalog::store(connection, table.name, rows, names.zip(sums))?;
    interrupt::stays(None);
    Ok(Made { name: table.name, rows, seconds: started.elapsed().as_secs_f64() })
}

#[derive(Serialize)]
struct Summary {
    database: String,
    created: bool,
    engine: String,
    tables: Vec<Made>,
}

#[derive(Serialize)]
struct Made {
    name: &'static str,
    rows: u64,
    seconds: f64,
}

impl Summary {
    fn text(&self, major: u32) -> String {
        let verb = if self.created { "created" } else { "filled" };
        let mut text = format!("{verb} {} (Firebird {})\n", self.database, self.engine);
        for Made { name, rows, seconds } in &self.tables {
            let rate = thousands((*rows as f64 / seconds) as u64);
            text += &format!("{name:8} {:>13} rows {seconds:>9.2} s {rate:>13} rows/s\n", thousands(*rows));
        }
        for column in TABLES.iter().flat_map(|table| table.columns) {
            if let Some(sql) = column.sql_on_3.filter(|_| major < 4) {
                text += &format!("{} is {sql}: Firebird 3 has no {}\n", column.name, column.sql);
            }
        }
        text
    }
}

/// Whether the database exists only the server can know; one that cannot be opened for any other reason cannot be
/// created either, as nothing is ever overwritten here.
fn open_or_create(config: &Config) -> Result<(Connection, bool)> {
    let refused = match open(config) {
        Ok(connection) => return Ok((connection, false)),
        Err(error) if error.kind() == Kind::Database => error,
        Err(error) => return Err(error.into()),
    };
    let mut new = config.clone();
    new.overwrite = false;
    new.page_size.get_or_insert(16384);
    // The rows can be made again at any time; waiting for the disk at every page would take longer than that.
    new.force_writes.get_or_insert(false);
    open::create(&new).map(|connection| (connection, true)).map_err(|_| refused.into())
}

/// `5` of `5.0.4`.
fn major(version: &str) -> Result<u32> {
    let major = version.split('.').next().and_then(|major| major.parse().ok());
    major.ok_or_else(|| Failure::other(format!("the engine's version is '{version}', which is no number")))
}

/// Removes demo tables that exist, if that is wanted.
fn replace(connection: &Connection, force: bool) -> Result<()> {
    let existing = catalog::existing(connection, TABLES.iter().map(|table| table.name))?;
    if !force && !existing.is_empty() {
        return Err(Failure::other(format!(
            "{} exists; --force replaces the demo tables",
            existing.join(", ")
        )));
    }
    for table in &existing {
        // First its checksums: rows without them are noticed, checksums without rows would lie.
        catalog::forget(connection, table)?;
        connection.execute(&format!("DROP TABLE {table}"))?;
    }
    Ok(())
}

fn create(connection: &Connection, table: &Table, major: u32) -> Result<()> {
    let columns = table.columns.iter().map(|column| format!("{} {}", column.name, column.sql(major)));
    let columns: Vec<String> = columns.collect();
    connection.execute(&format!("CREATE TABLE {} ({})", table.name, columns.join(", ")))?;
    Ok(())
}
