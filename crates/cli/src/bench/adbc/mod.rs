//! `firearrow bench adbc`: what the driver costs above the crate, and what partitions gain.

mod driver;
mod python;

use super::contest::{Contest, Stage};
use super::insert;
use super::machine::Environment;
use super::measure::{self, Plan};
use super::reference::{PEER, Reference};
use super::report;
use super::sample::Sample;
use super::save;
use super::server::Server;
use super::table::{Column, Table, markdown, raw};
use super::verify::{self, Shape};
use crate::args::AdbcBenchArgs;
use crate::demo;
use crate::failure::{Failure, Result};
use crate::open::open;
use crate::output::{print, print_data};
use crate::progress::thousands;
use crate::terminal;
use driver::Driver;
use firearrow::BatchLimits;
use firearrow::config::Config;
use python::Python;
use serde_json::json;

const TABLE: &str = "T_WIDE";
const CRATE: &str = "the crate";
const ONE_STREAM: &str = "one stream";

/// What all tables need.
struct Bench<'a> {
    args: &'a AdbcBenchArgs,
    config: &'a Config,
    driver: &'a Driver,
    python: Option<&'a Python>,
    reference: &'a Reference,
    stage: Stage<'a>,
    /// Of the table that is read.
    shape: Shape,
}

pub(crate) fn run(args: &AdbcBenchArgs, json: bool) -> Result<()> {
    let config = Config::parse(&args.url)?;
    let driver = Driver::load(&args.library, &args.url)?;
    let python = args.python.as_ref().map(|program| Python::new(program, &args.library, &args.url));
    demo::complete(&config, args.rows.get(), json)?;
    let sql = sql();
    let shape = verify::table(&config, TABLE, &sql)?;
    let connection = open(&config)?;
    let info = connection.info()?;
    let has_snapshots = connection.has_firebird4();
    connection.close()?;
    driver.verify(&config, TABLE, &sql, has_snapshots.then_some(args.partitions.get()))?;
    let reference = Reference::find(args.reference_client.as_deref(), &config, &info);
    let repetitions = args.repeat.get();
    let environment = Environment::read(&config, &info, &reference, repetitions);
    let server = Server::find(&config);
    let mut heading = heading(&environment, &reference, &server);
    if !has_snapshots {
        heading += "partitions: not measured; servers before Firebird 4 have no snapshots to share\n";
    }
    if !json {
        print(&heading)?;
    }
    let stage = Stage { repetitions, server: &server, quiet: json };
    let bench = Bench {
        args,
        config: &config,
        driver: &driver,
        python: python.as_ref(),
        reference: &reference,
        stage,
        shape,
    };
    let mut tables = Vec::new();
    let measures: &[fn(&Bench<'_>) -> Result<Table>] =
        if has_snapshots { &[drain, partitions, ingest] } else { &[drain, ingest] };
    for measure in measures {
        let table = measure(&bench)?;
        if !json {
            print(&table.text())?;
        }
        tables.push(table);
    }
    if json {
        let values = tables.iter().map(Table::json).collect::<Result<Vec<_>>>()?;
        let value = json!({ "environment": environment, "tables": values });
        print_data(&(serde_json::to_string_pretty(&value)? + "\n"))?;
    }
    if let Some(folder) = &args.save {
        let name = format!("{}-adbc-{}", environment.day(), environment.platform());
        let report = markdown("adbc", &heading, &tables);
        let folder = save::write(folder, &name, &raw(&environment, &tables)?, &report)?;
        terminal::remark(&format!("saved in {}", folder.display()));
    }
    Ok(())
}

fn sql() -> String {
    format!("SELECT * FROM \"{TABLE}\"")
}

/// All rows through the driver, against the crate that it is made of.
fn drain(bench: &Bench<'_>) -> Result<Table> {
    let rows = bench.shape.rows;
    let sql = sql();
    let sql = sql.as_str();
    let ours = || bench.driver.drain(sql);
    let through_c =
        Contest::new("C interface", None, rows, ours).against(CRATE, rows, Some(|| by_crate(bench, sql)));
    let mut contests = vec![through_c];
    let mut notes = vec!["time: from executing to the last row; CPU: with connecting".to_owned()];
    match bench.python {
        Some(python) => {
            let ours = move || python.drain(sql);
            let contest = Contest::new("Python", None, rows, ours);
            contests.push(contest.against(CRATE, rows, Some(|| by_crate(bench, sql))));
        }
        None => notes
            .push("Python: not measured; --python names one that has adbc_driver_manager and pyarrow".into()),
    }
    let columns = &[
        Column::Wall,
        Column::RowsPerSecond,
        Column::Speed,
        Column::ClientCpu,
        Column::ClientCpuRatio,
        Column::ServerCpu,
    ];
    let title = format!(
        "{TABLE} through the driver: {} rows × {} columns, checksums right, {repetitions} repetitions",
        thousands(rows),
        bench.shape.columns,
        repetitions = bench.stage.repetitions,
    );
    Ok(Table { id: "drain".into(), title, notes, columns, cases: bench.stage.run("drain", contests)? })
}

fn by_crate(bench: &Bench<'_>, sql: &str) -> Result<Sample> {
    let plan = Plan { config: bench.config, sql, limits: BatchLimits::default(), consume: false };
    measure::run(plan).map(Sample::from)
}

/// All rows by several connections, against one.
fn partitions(bench: &Bench<'_>) -> Result<Table> {
    let rows = bench.shape.rows;
    let sql = sql();
    let sql = sql.as_str();
    let count = bench.args.partitions.get();
    let ours = || bench.driver.drain_partitions(sql, count);
    let contest = Contest::new(format!("{count} partitions"), None, rows, ours);
    let contest = contest.against(ONE_STREAM, rows, Some(|| bench.driver.drain(sql)));
    let columns = &[Column::Wall, Column::RowsPerSecond, Column::Speed, Column::ClientCpu, Column::ServerCpu];
    let title =
        format!("{TABLE} in partitions: {} rows, {} repetitions", thousands(rows), bench.stage.repetitions);
    let notes = vec![
        "time: from dividing the query to the last row of all partitions; connections were open before"
            .into(),
    ];
    Ok(Table {
        id: "partitions".into(),
        title,
        notes,
        columns,
        cases: bench.stage.run("partitions", vec![contest])?,
    })
}

/// Rows in, against the engine's own way for many rows.
fn ingest(bench: &Bench<'_>) -> Result<Table> {
    let rows = bench.args.ingest_rows.get();
    let keeper = open(bench.config)?;
    insert::create(&keeper)?;
    let method = insert::method(&keeper.info()?);
    keeper.close()?;
    // The reference may be another process with the embedded engine, which wants the database for itself.
    let check = || -> Result<()> {
        let keeper = open(bench.config)?;
        insert::check(&keeper, rows)?;
        Ok(keeper.close()?)
    };
    let ours = || {
        let sample = bench.driver.ingest(insert::TABLE, rows)?;
        check()?;
        Ok(sample)
    };
    let theirs = match bench.reference {
        Reference::Peer(peer) => Some(|| {
            let inserted = peer.insert(&insert::sql(), rows, method)?;
            check()?;
            Ok(Sample::from(inserted))
        }),
        Reference::Absent(_) => None,
    };
    let contest = Contest::new("adbc_ingest, append", None, rows, ours).against(PEER, rows, theirs);
    let cases = bench.stage.run("ingest", vec![contest])?;
    insert::remove(&open(bench.config)?)?;
    let columns = &[Column::Wall, Column::RowsPerSecond, Column::Speed, Column::ClientCpu, Column::ServerCpu];
    let title = format!(
        "Ingesting {} rows of {} INTEGER, sums right, {} repetitions; reference: {}",
        thousands(rows),
        insert::COLUMNS,
        bench.stage.repetitions,
        if method.contains(&"one") { "one by one" } else { "batches of 10,000" },
    );
    let notes = vec!["time: without connecting and the commit".into()];
    Ok(Table { id: "ingest".into(), title, notes, columns, cases })
}

/// The circumstances, a line each.
fn heading(environment: &Environment, reference: &Reference, server: &Server) -> String {
    let mut text = report::place(environment);
    text += &server.line();
    text += &match reference {
        Reference::Peer(peer) => {
            format!("reference of ingesting: a loop over the client library, {}\n", peer.name)
        }
        Reference::Absent(reason) => format!("reference of ingesting: none; {reason}\n"),
    };
    text += report::HOW_TO_READ;
    text + &report::warnings(environment)
}

/// An error of the driver or its manager.
fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::other(format!("the driver: {error}"))
}
