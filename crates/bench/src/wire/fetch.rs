//! Reading wide and narrow rows.

use super::Bench;
use crate::column::Column;
use crate::contest::Contest;
use crate::demo;
use crate::error::{Error, Result};
use crate::measure::{self, Plan};
use crate::reference::Blobs;
use crate::reference::PEER;
use crate::route::{Route, Speech, Way};
use crate::sample::Sample;
use crate::table::Table;
use crate::text::thousands;
use crate::verify::{self, Shape};
use firearrow::BatchLimits;

/// Many columns of many types, directly from the server.
pub(super) fn wide(bench: &Bench<'_>) -> Result<Table> {
    direct(bench, "T_WIDE")
}

/// A few integers.
pub(super) fn narrow(bench: &Bench<'_>) -> Result<Table> {
    direct(bench, "T_INT10")
}

fn direct(bench: &Bench<'_>, name: &str) -> Result<Table> {
    let sql = format!("SELECT * FROM \"{name}\"");
    let verify = |way: &Way| verify::table(bench.host(), &way.config, name, &sql);
    let speeches = [Speech::Encrypted, Speech::Plain];
    let columns = &[
        Column::Wall,
        Column::RowsPerSecond,
        Column::Speed,
        Column::ClientCpu,
        Column::ClientCpuRatio,
        Column::ServerCpu,
        Column::WallPerServerCpu,
        Column::Received,
        Column::RoundTrips,
    ];
    let mut table = contest(bench, &bench.direct, name, &sql, &speeches, columns, &verify)?;
    table.notes.push(
        "plain: not encrypted; time: from executing to the last row; CPU: including connecting".to_owned(),
    );
    Ok(table)
}

/// The first rows of the wide table over the link.
pub(super) fn link(bench: &Bench<'_>) -> Result<Table> {
    let name = "T_WIDE";
    let rows = bench.options.size.link_rows;
    // A database with fewer rows returns those.
    let sql = format!("SELECT * FROM \"{name}\" WHERE ID <= {rows}");
    let connection = bench.host().open(&bench.direct.config)?;
    let there = demo::load(&connection, name)?.rows;
    connection.close()?;
    let verify = |way: &Way| verify::beginning(bench.host(), &way.config, name, &sql, rows.min(there));
    let speeches = [Speech::Plain, Speech::Encrypted, Speech::Compressed];
    let columns = &[
        Column::Wall,
        Column::RowsPerSecond,
        Column::Speed,
        Column::LinkShare,
        Column::ServerCpu,
        Column::Received,
        Column::RoundTrips,
    ];
    let mut table = contest(bench, &bench.link, name, &sql, &speeches, columns, &verify)?;
    table
        .notes
        .push("plain: neither encrypted nor compressed; time: from executing to the last row; of the link: bits received ÷ its capacity".to_owned());
    Ok(table)
}

fn contest(
    bench: &Bench<'_>,
    route: &Route,
    name: &str,
    sql: &str,
    speeches: &[Speech],
    columns: &'static [Column],
    verify: &dyn Fn(&Way) -> Result<Shape>,
) -> Result<Table> {
    let host = bench.host();
    let mut notes = Vec::new();
    let mut ways = Vec::new();
    let mut shape = None;
    for speech in speeches {
        host.check()?;
        match route.speaking(host, &bench.options.reference, *speech) {
            Ok(way) => {
                shape = Some(verify(&way)?);
                ways.push(way);
            }
            Err(error) => notes.push(format!("{}: not measured; {error}", speech.name())),
        }
    }
    let Some(Shape { rows, columns: count, .. }) = shape else {
        return Err(Error::other(format!("{name}: {}", notes.join("; "))));
    };
    let contests = ways.iter().map(|way| {
        let ours = move || {
            let plan = Plan { config: &way.config, sql, limits: BatchLimits::default(), consume: false };
            measure::run(host, plan).map(Sample::from)
        };
        let theirs = way.peer().map(|peer| move || peer.fetch(host, sql, Blobs::Unread).map(Sample::from));
        Contest::new(&*way.name, way.link, rows, ours).against(PEER, rows, theirs)
    });
    let title = format!(
        "{name}, {}: {} rows × {count} columns, checksums right, {}",
        route.name,
        thousands(rows),
        bench.repetitions()
    );
    let cases = bench.stage.run(name, contests.collect())?;
    let id = format!("fetch-{}-{name}", if route.link.is_some() { "link" } else { "direct" });
    Ok(Table { id, title, notes, columns, cases })
}
