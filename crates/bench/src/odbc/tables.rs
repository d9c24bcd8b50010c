//! The tables of figures.

use super::describing::{self, describe};
use super::driver::Driver;
use super::inserting::{self, Mode};
use super::reading::{Subject, Way};
use super::{Bench, Part};
use crate::column::Column;
use crate::contest::Contest;
use crate::error::Result;
use crate::insert;
use crate::reference::{Blobs, PEER};
use crate::sample::Sample;
use crate::table::Table;
use crate::text::thousands;

/// Measures the cases of one table of figures.
pub(super) type Measure = fn(&Bench<'_>) -> Result<Table>;

/// Returns the tables of a part.
pub(super) fn of(part: Part) -> Vec<Measure> {
    match part {
        Part::Fetch => vec![fetch, empty],
        Part::Cells => vec![cells],
        Part::Describe => vec![describing],
        Part::Insert => vec![insertion],
        Part::Other => vec![other_reading, other_describing, other_insertion],
    }
}

/// The other driver in tables.
const OTHER: &str = "other";
/// How often each column is described in a turn.
const ROUNDS: u64 = 10_000;

const READING: &[Column] = &[
    Column::Wall,
    Column::Each,
    Column::TimeRatio,
    Column::AboveFloor,
    Column::ClientCpu,
    Column::ClientCpuRatio,
    Column::ServerCpu,
    Column::WallPerServerCpu,
];
const COMPARING: &[Column] = &[
    Column::Wall,
    Column::Each,
    Column::TimeRatio,
    Column::ClientCpu,
    Column::ClientCpuRatio,
    Column::ServerCpu,
];

/// Reading all rows, beside a loop over the client library.
fn fetch(bench: &Bench<'_>) -> Result<Table> {
    let mut contests = Vec::new();
    for subject in &bench.subjects {
        for way in Way::ALL {
            for driver in &bench.routes {
                let name = format!("{}, {}, {}", subject.name, way.name(), driver.route);
                let contest = Contest::new(name, None, bench.rows, move || subject.read(driver, way));
                contests.push(contest.against(PEER, bench.rows, floor(bench, &subject.sql)));
            }
        }
    }
    let notes = vec![
        "time: from executing to the last row; CPU: including connecting".to_owned(),
        "above floor: the time beyond that of the reference, per value".to_owned(),
        format!("short texts: {}", bench.subjects[2].columns.join(", ")),
    ];
    let title = format!(
        "Reading {} rows, checksums of all columns right, {} repetitions",
        thousands(bench.rows),
        bench.stage.repetitions
    );
    let cases = bench.stage.run("fetch", contests)?;
    Ok(Table { id: "fetch".into(), title, notes, columns: READING, cases })
}

fn floor<'a>(bench: &'a Bench<'_>, sql: &'a str) -> Option<impl FnMut() -> Result<Sample> + 'a> {
    let peer = bench.reference.peer()?;
    Some(move || peer.fetch(bench.stage.host, sql, Blobs::Unread).map(Sample::from))
}

/// Reading a table without rows: what every query costs.
fn empty(bench: &Bench<'_>) -> Result<Table> {
    let host = bench.stage.host;
    let keeper = host.open(bench.config)?;
    insert::create(host, &keeper)?;
    keeper.close()?;
    let subject = Subject { sql: format!("SELECT * FROM {}", insert::TABLE), ..bench.subjects[0].clone() };
    let subject = &subject;
    let contests = bench.routes.iter().map(|driver| {
        let ours = move || subject.read(driver, Way::Bound(1));
        Contest::new(driver.route, None, 0, ours).against(PEER, 0, floor(bench, &subject.sql))
    });
    let cases = bench.stage.run("empty", contests.collect());
    insert::remove(host, &host.open(bench.config)?)?;
    let title = format!("Reading an empty table, {} repetitions", bench.stage.repetitions);
    let notes =
        vec!["time: from executing to the end; the part of the times above that is no row".to_owned()];
    let columns = &[Column::Wall, Column::TimeRatio, Column::ClientCpu];
    Ok(Table { id: "empty".into(), title, notes, columns, cases: cases? })
}

/// Fetching rows that are at hand: what the driver costs without the engine.
fn cells(bench: &Bench<'_>) -> Result<Table> {
    let mut contests = Vec::new();
    for subject in [&bench.subjects[0], &bench.subjects[2]] {
        for size in [1, 1000] {
            for driver in &bench.routes {
                let way = Way::Bound(size).name();
                let name = format!("{}, {way}, {}", subject.name, driver.route);
                let ours = move || subject.fetch_again(driver, size);
                contests.push(Contest::new(name, None, bench.rows, ours));
            }
        }
    }
    let title = format!(
        "SQLFetch and bound copy of {} rows that the driver has at hand, {} repetitions",
        thousands(bench.rows),
        bench.stage.repetitions
    );
    let notes = vec!["time: of fetching alone; a static cursor was at its end before".to_owned()];
    let columns = &[Column::Wall, Column::Each, Column::PerCell];
    Ok(Table { id: "cells".into(), title, notes, columns, cases: bench.stage.run("cells", contests)? })
}

/// Describing the columns of a prepared query.
fn describing(bench: &Bench<'_>) -> Result<Table> {
    let subject = &bench.subjects[1];
    let calls = calls(subject);
    bench.routes.iter().try_for_each(|driver| describing::verify(driver, subject))?;
    let contests = bench
        .routes
        .iter()
        .map(|driver| Contest::new(driver.route, None, calls, move || describe(driver, subject, ROUNDS)));
    let cases = bench.stage.run("describe", contests.collect())?;
    let title = describing_title(bench, calls);
    Ok(Table {
        id: "describe".into(),
        title,
        notes: Vec::new(),
        columns: &[Column::Wall, Column::Each],
        cases,
    })
}

fn calls(subject: &Subject) -> u64 {
    ROUNDS * subject.columns.len() as u64
}

fn describing_title(bench: &Bench<'_>, calls: u64) -> String {
    let repetitions = bench.stage.repetitions;
    format!(
        "SQLDescribeColW after preparing, {} calls, names right, {repetitions} repetitions",
        thousands(calls)
    )
}

/// Inserting rows, beside a loop over the client library.
fn insertion(bench: &Bench<'_>) -> Result<Table> {
    let keeper = bench.stage.host.open(bench.config)?;
    let method = insert::method(&keeper.info()?);
    keeper.close()?;
    let mut contests = Vec::new();
    for mode in Mode::ALL {
        let rows = mode.rows(bench.options.insert_rows.get());
        let method = match mode {
            Mode::Arrays(_) => method,
            Mode::Singly | Mode::Autocommit => &["--method", "one"],
        };
        for driver in &bench.routes {
            let theirs = bench.reference.peer().filter(|_| mode != Mode::Autocommit).map(|peer| {
                move || {
                    let inserted = peer.insert(bench.stage.host, &insert::sql(), rows, method)?;
                    check(bench, rows)?;
                    Ok(Sample::from(inserted))
                }
            });
            let contest = insertion_contest(bench, driver, mode);
            contests.push(contest.against(PEER, rows, theirs));
        }
    }
    let mut table = run_insertion(bench, "insert", contests, COMPARING)?;
    table.notes.push(match method.contains(&"one") {
        true => "reference: one by one, in one transaction".to_owned(),
        false => "reference of arrays: batches of 10,000; of rows one by one: the same, in one transaction"
            .to_owned(),
    });
    Ok(table)
}

fn insertion_contest<'a>(bench: &'a Bench<'_>, driver: &'a Driver, mode: Mode) -> Contest<'a> {
    let rows = mode.rows(bench.options.insert_rows.get());
    Contest::new(format!("{}, {}", mode.name(), driver.route), None, rows, inserted(bench, driver, mode))
}

fn inserted<'a>(bench: &'a Bench<'_>, driver: &'a Driver, mode: Mode) -> impl FnMut() -> Result<Sample> + 'a {
    let rows = mode.rows(bench.options.insert_rows.get());
    move || {
        let sample = inserting::insert(driver, mode, rows)?;
        check(bench, rows)?;
        Ok(sample)
    }
}

/// Compares the sums of the inserted rows and deletes them.
fn check(bench: &Bench<'_>, rows: u64) -> Result<()> {
    // With the embedded engine, the reference is another process that needs exclusive access to the database.
    let keeper = bench.stage.host.open(bench.config)?;
    insert::check(&keeper, rows)?;
    Ok(keeper.close()?)
}

fn run_insertion(
    bench: &Bench<'_>,
    id: &str,
    contests: Vec<Contest<'_>>,
    columns: &'static [Column],
) -> Result<Table> {
    let host = bench.stage.host;
    let rows = bench.options.insert_rows.get();
    let keeper = host.open(bench.config)?;
    insert::create(host, &keeper)?;
    // Fills caches, and makes the file grow.
    insert::insert(&keeper, rows)?;
    insert::check(&keeper, rows)?;
    keeper.close()?;
    let cases = bench.stage.run(id, contests);
    insert::remove(host, &host.open(bench.config)?)?;
    let title = format!(
        "Inserting {} rows of {} INTEGER, sums right, {} repetitions",
        thousands(rows),
        insert::COLUMNS,
        bench.stage.repetitions
    );
    let notes = vec![format!(
        "time: without connecting, preparing and a commit at the end; one by one: {} rows, autocommit: {}",
        thousands(Mode::Singly.rows(rows)),
        thousands(Mode::Autocommit.rows(rows))
    )];
    Ok(Table { id: id.to_owned(), title, notes, columns, cases: cases? })
}

/// Returns the two drivers on each route.
fn pairs<'a>(bench: &'a Bench<'_>) -> impl Iterator<Item = (&'a Driver, &'a Driver)> {
    bench.routes.iter().zip(&bench.others)
}

/// Reading all rows, beside the other driver.
fn other_reading(bench: &Bench<'_>) -> Result<Table> {
    let mut contests = Vec::new();
    for subject in &bench.subjects {
        for way in Way::ALL {
            for (driver, other) in pairs(bench) {
                let name = format!("{}, {}, {}", subject.name, way.name(), driver.route);
                let contest = Contest::new(name, None, bench.rows, move || subject.read(driver, way));
                contests.push(contest.against(OTHER, bench.rows, Some(move || subject.read(other, way))));
            }
        }
    }
    let title = format!(
        "Reading {} rows beside the other driver, checksums of all columns right, {} repetitions",
        thousands(bench.rows),
        bench.stage.repetitions
    );
    let notes = vec!["time: from executing to the last row; CPU: including connecting".to_owned()];
    let cases = bench.stage.run("other-fetch", contests)?;
    Ok(Table { id: "other-fetch".into(), title, notes, columns: COMPARING, cases })
}

/// Describing columns, beside the other driver.
fn other_describing(bench: &Bench<'_>) -> Result<Table> {
    let subject = &bench.subjects[1];
    let calls = calls(subject);
    let mut notes = Vec::new();
    for (driver, other) in pairs(bench) {
        describing::verify(driver, subject)?;
        // What it takes to describe columns wrongly is still worth knowing.
        if let Err(error) = describing::verify(other, subject) {
            notes.push(format!("the other driver is wrong, {}: {error}", other.route));
        }
    }
    let contests = pairs(bench).map(|(driver, other)| {
        let contest = Contest::new(driver.route, None, calls, move || describe(driver, subject, ROUNDS));
        contest.against(OTHER, calls, Some(move || describe(other, subject, ROUNDS)))
    });
    let cases = bench.stage.run("other-describe", contests.collect())?;
    let title = describing_title(bench, calls);
    let columns = &[Column::Wall, Column::Each, Column::TimeRatio];
    Ok(Table { id: "other-describe".into(), title, notes, columns, cases })
}

/// Inserting rows, beside the other driver.
fn other_insertion(bench: &Bench<'_>) -> Result<Table> {
    let (mut contests, mut notes) = (Vec::new(), Vec::new());
    for mode in Mode::ALL {
        let rows = mode.rows(bench.options.insert_rows.get());
        for (driver, other) in pairs(bench) {
            // A driver that loses rows in one mode may still be right in another one.
            let tried = attempt(bench, other, mode);
            let theirs = tried.is_ok().then(|| inserted(bench, other, mode));
            if let Err(error) = tried {
                notes.push(format!("the other driver is wrong, {}, {}: {error}", mode.name(), other.route));
            }
            contests.push(insertion_contest(bench, driver, mode).against(OTHER, rows, theirs));
        }
    }
    let mut table = run_insertion(bench, "other-insert", contests, COMPARING)?;
    table.notes.append(&mut notes);
    Ok(table)
}

/// Inserts once, into a new table.
fn attempt(bench: &Bench<'_>, driver: &Driver, mode: Mode) -> Result<()> {
    let host = bench.stage.host;
    let keeper = host.open(bench.config)?;
    insert::create(host, &keeper)?;
    keeper.close()?;
    let tried = inserted(bench, driver, mode)();
    insert::remove(host, &host.open(bench.config)?)?;
    tried.map(drop)
}
