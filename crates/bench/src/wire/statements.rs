//! Small statements, whose cost is mostly round trips.

use super::Bench;
use crate::column::Column;
use crate::contest::Contest;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::measure::Run;
use crate::reference::Blobs;
use crate::reference::PEER;
use crate::route::{Route, Way};
use crate::sample::Sample;
use crate::table::{Case, Table};
use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use firearrow::{Connection, Cursor, TransactionOptions};
use std::cell::Cell;
use std::time::Instant;

pub(super) fn table(bench: &Bench<'_>) -> Result<Table> {
    let mut cases = Vec::new();
    for route in [&bench.direct, &bench.link] {
        cases.extend(on(bench, route)?);
    }
    Ok(Table {
        id: "statements".to_owned(),
        title: format!("Small statements, results right, {}", bench.repetitions()),
        notes: vec!["new and known SQL, prepared statement: in a transaction that has begun".to_owned()],
        columns: &[Column::Wall, Column::Speed, Column::RoundTrips],
        cases,
    })
}

fn on(bench: &Bench<'_>, route: &Route) -> Result<Vec<Case>> {
    let host = bench.host();
    let way = &route.way(host, &bench.options.reference, |_| {})?;
    // No text is used twice: the second time, it might be a known statement.
    let next = &Cell::new(0);
    let new = move || {
        next.set(next.get() + 1);
        (next.get(), format!("SELECT {} FROM RDB$DATABASE", next.get()))
    };
    let connection = &host.open(&way.config)?;
    let transaction = &connection.begin(TransactionOptions::reading())?;
    let statement = &transaction.prepare(KNOWN)?;
    let name = |what: &str| format!("{}: {what}", route.name);

    let connect = Contest::new(name("connect"), way.link, 0, || {
        let begin = Instant::now();
        let connection = host.open(&way.config)?;
        let sample = sample(begin, &connection, 0);
        connection.close()?;
        Ok(sample)
    })
    .against(
        PEER,
        0,
        reference(host, way, |run| Sample {
            wall_s: run.connect.wall_s,
            round_trips: run.wire.map(|wire| wire.connect_round_trips),
            ..Sample::default()
        }),
    );

    let first_row = Contest::new(name("connect, first row"), way.link, 1, move || {
        let (value, sql) = new();
        let begin = Instant::now();
        let connection = host.open(&way.config)?;
        let mut cursor = connection.query(&sql)?;
        let rows = rows(&mut cursor, value)?;
        let sample = sample(begin, &connection, rows);
        cursor.close()?;
        connection.close()?;
        Ok(sample)
    })
    .against(
        PEER,
        1,
        // Its round trips include those of the commit.
        reference(host, way, |run| Sample {
            rows: run.rows,
            wall_s: run.connect.wall_s + run.execute.wall_s + run.first_row.wall_s,
            ..Sample::default()
        }),
    );

    let spent = move |query: &dyn Fn() -> Result<(Cursor, i32)>| {
        let before = connection.wire_stats();
        let begin = Instant::now();
        let (mut cursor, value) = query()?;
        let rows = rows(&mut cursor, value)?;
        let wall_s = begin.elapsed().as_secs_f64();
        let round_trips = Some(connection.wire_stats().since(&before).round_trips);
        // The end of the rows has arrived already, and does not disturb the measurement.
        while cursor.next_batch()?.is_some() {}
        Ok(Sample { rows, wall_s, round_trips, ..Sample::default() })
    };
    let new_text = Contest::new(name("new SQL"), way.link, 1, move || {
        let (value, sql) = new();
        spent(&|| Ok((transaction.query(&sql)?, value)))
    });
    let known =
        Contest::new(name("known SQL"), way.link, 1, move || spent(&|| Ok((transaction.query(KNOWN)?, 0))));
    let prepared = Contest::new(name("prepared statement"), way.link, 1, move || {
        spent(&|| Ok((statement.query(transaction, ())?, 0)))
    });
    bench.stage.run("statements", vec![connect, first_row, new_text, known, prepared])
}

/// SQL that the connection has seen before.
const KNOWN: &str = "SELECT 0 FROM RDB$DATABASE";

/// Returns the figures since the connection was opened.
fn sample(begin: Instant, connection: &Connection, rows: u64) -> Sample {
    let wall_s = begin.elapsed().as_secs_f64();
    let round_trips = Some(connection.wire_stats().round_trips);
    Sample { rows, wall_s, round_trips, ..Sample::default() }
}

/// Returns the number of rows, if they are the expected ones.
fn rows(cursor: &mut Cursor, value: i32) -> Result<u64> {
    let Some(batch) = cursor.next_batch()? else { return Ok(0) };
    let column = batch.column(0).as_primitive::<Int32Type>();
    match column.values().iter().all(|each| *each == value) {
        true => Ok(batch.num_rows() as u64),
        false => Err(Error::other(format!("SELECT {value} gave {column:?}; the figures are withheld"))),
    }
}

/// Returns a run of the reference; `take` extracts the compared figures.
fn reference<'a>(
    host: &'a dyn Host,
    way: &'a Way,
    take: impl Fn(&Run) -> Sample + 'a,
) -> Option<impl FnMut() -> Result<Sample> + 'a> {
    let peer = way.peer()?;
    Some(move || Ok(take(&peer.fetch(host, "SELECT 1 FROM RDB$DATABASE", Blobs::Unread)?)))
}
