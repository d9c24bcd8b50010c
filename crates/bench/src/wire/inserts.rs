//! Inserting many rows.

use super::Bench;
use crate::column::Column;
use crate::contest::Contest;
use crate::error::Result;
use crate::insert::{self, COLUMNS};
use crate::measure::Wire;
use crate::reference::PEER;
use crate::sample::Sample;
use crate::table::Table;
use crate::text::thousands;

pub(super) fn table(bench: &Bench<'_>) -> Result<Table> {
    let rows = bench.options.size.insert_rows;
    // The inserted rows are read back and removed without the link.
    let host = bench.host();
    let keeper = host.open(&bench.direct.config)?;
    let keeper = &keeper;
    insert::create(host, keeper)?;
    let method = insert::method(&keeper.info()?);
    let is_slow = method.contains(&"one");
    let ways = [&bench.direct, &bench.link]
        .map(|route| route.way(host, &bench.options.reference, |_| {}).map(|way| (route, way)));
    let ways = ways.into_iter().collect::<Result<Vec<_>>>()?;
    let mut notes =
        vec!["time: without connecting, preparing and the commit, whose round trips are counted".to_owned()];
    let contests = ways.iter().map(|(route, way)| {
        let ours = move || {
            let connection = host.open(&way.config)?;
            let connected = connection.wire_stats().round_trips;
            let sample = Sample::from(insert::insert(&connection, rows)?);
            let sample = sample.with(Wire::of(connection.wire_stats(), connected));
            connection.close()?;
            insert::check(keeper, rows)?;
            Ok(sample)
        };
        let most = match (is_slow, way.link.is_some()) {
            (false, _) => u64::MAX,
            (true, false) => SLOW_ROWS,
            (true, true) => SLOW_ROWS_ON_LINK,
        };
        let their_rows = rows.min(most);
        let theirs = way.peer().map(|peer| {
            move || {
                let inserted = peer.insert(host, &insert::sql(), their_rows, method)?;
                insert::check(keeper, their_rows)?;
                Ok(Sample::from(inserted))
            }
        });
        if their_rows < rows && theirs.is_some() {
            let their_rows = thousands(their_rows);
            notes.push(format!("{}: the reference inserts {their_rows} rows, one by one", route.name));
        }
        Contest::new(&*route.name, way.link, rows, ours).against(PEER, their_rows, theirs)
    });
    let contests: Vec<Contest<'_>> = contests.collect();
    // Fills caches, and makes the file grow.
    insert::insert(keeper, rows)?;
    insert::check(keeper, rows)?;
    let cases = bench.stage.run("insert", contests);
    insert::remove(host, keeper)?;
    let title = format!(
        "Inserting {} rows of {COLUMNS} INTEGER, sums right, {}; reference: {}",
        thousands(rows),
        bench.repetitions(),
        if is_slow { "one by one" } else { "batches of 10,000" }
    );
    let columns = &[
        Column::Wall,
        Column::RowsPerSecond,
        Column::Speed,
        Column::ClientCpu,
        Column::ClientCpuRatio,
        Column::ServerCpu,
        Column::LinkShare,
        Column::Sent,
        Column::RoundTrips,
    ];
    Ok(Table { id: "insert".to_owned(), title, notes, columns, cases: cases? })
}

/// Rows of a reference that inserts them one by one.
const SLOW_ROWS: u64 = 5000;
const SLOW_ROWS_ON_LINK: u64 = 200;
