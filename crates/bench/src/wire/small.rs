//! Prepared statements of one row, executed again and again: what most applications consist of.

use super::Bench;
use crate::column::Column;
use crate::contest::Contest;
use crate::error::{Error, Result};
use crate::insert::{self, COLUMNS};
use crate::measure::CpuTime;
use crate::reference::PEER;
use crate::route::{Speech, Way};
use crate::sample::Sample;
use crate::table::Table;
use crate::text::thousands;
use firearrow::{Connection, Params, ToParam, TransactionOptions, WireStats};
use std::time::Instant;

/// Its first column is the parameter.
const SELECT: &str = "SELECT CAST(? AS INTEGER), CAST('firearrow' AS VARCHAR(20)), 2.5E0 FROM RDB$DATABASE";

pub(super) fn table(bench: &Bench<'_>) -> Result<Table> {
    let times = bench.options.size.small_executions;
    let host = bench.host();
    let way = bench.direct.speaking(host, &bench.options.reference, Speech::Plain)?;
    let way = &way;
    let keeper = host.open(&bench.direct.config)?;
    let keeper = &keeper;
    insert::create(host, keeper)?;

    let select = move || {
        let connection = host.open(&way.config)?;
        let sample = select(&connection, times)?;
        connection.close()?;
        Ok(sample)
    };
    let their_select = peer(way, move |peer| Ok(peer.select(host, SELECT, times)?.into()));
    let insert = move || {
        let connection = host.open(&way.config)?;
        let sample = insert_singly(&connection, times)?;
        connection.close()?;
        insert::check(keeper, times)?;
        Ok(sample)
    };
    let their_insert = peer(way, move |peer| {
        let inserted = peer.insert(host, &insert::sql(), times, &["--method", "one"])?;
        insert::check(keeper, times)?;
        Ok(inserted.into())
    });
    let contests = vec![
        Contest::new("SELECT of one row, 3 columns", None, times, select).against(PEER, times, their_select),
        Contest::new(format!("INSERT of one row, {COLUMNS} columns"), None, times, insert).against(
            PEER,
            times,
            their_insert,
        ),
    ];
    let cases = bench.stage.run("small", contests);
    insert::remove(host, keeper)?;
    let title = format!(
        "{} executions of a prepared statement, {}, plain, values right, {}",
        thousands(times),
        bench.direct.name,
        bench.repetitions()
    );
    let notes =
        vec!["plain: not encrypted; time and CPU: of the executions alone, in one transaction".to_owned()];
    let columns = &[
        Column::Wall,
        Column::RowsPerSecond,
        Column::Speed,
        Column::ClientUser,
        Column::ClientUserRatio,
        Column::ClientCpu,
        Column::ServerCpu,
        Column::Sends,
        Column::Receives,
    ];
    Ok(Table { id: "small".to_owned(), title, notes, columns, cases: cases? })
}

fn peer<'a>(
    way: &'a Way,
    turn: impl Fn(&crate::reference::Peer) -> Result<Sample> + 'a,
) -> Option<impl FnMut() -> Result<Sample> + 'a> {
    let peer = way.peer()?;
    Some(move || turn(peer))
}

/// What the executions of a sample cost.
struct Meter<'a> {
    connection: &'a Connection,
    wire: WireStats,
    cpu: CpuTime,
    begin: Instant,
}

impl<'a> Meter<'a> {
    fn start(connection: &'a Connection) -> Result<Self> {
        let wire = connection.wire_stats();
        Ok(Self { connection, wire, cpu: CpuTime::now()?, begin: Instant::now() })
    }

    fn sample(self, rows: u64) -> Result<Sample> {
        let wall_s = self.begin.elapsed().as_secs_f64();
        let cpu = CpuTime::now()?.since(self.cpu);
        let wire = self.connection.wire_stats().since(&self.wire);
        Ok(Sample {
            rows,
            wall_s,
            cpu_s: Some(cpu.seconds()),
            user_s: Some(cpu.user_seconds()),
            round_trips: Some(wire.round_trips),
            sends: Some(wire.sends),
            receives: Some(wire.receives),
            ..Sample::default()
        })
    }
}

fn select(connection: &Connection, times: u64) -> Result<Sample> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = transaction.prepare(SELECT)?;
    let mut rows = 0;
    let meter = Meter::start(connection)?;
    for number in 0..times as i32 {
        let found = statement.one_row(&transaction, [number], |row| {
            Ok((row.get::<i32>(0)?, row.get::<&str>(1)?.len(), row.get::<f64>(2)?))
        })?;
        if found != Some((number, 9, 2.5)) {
            return Err(Error::other(format!("parameter {number} gave {found:?}; the figures are withheld")));
        }
        rows += 1;
    }
    let sample = meter.sample(rows)?;
    drop(statement);
    transaction.commit()?;
    Ok(sample)
}

fn insert_singly(connection: &Connection, times: u64) -> Result<Sample> {
    let mut transaction = connection.begin(TransactionOptions::default())?;
    let statement = transaction.prepare(&insert::sql())?;
    let mut rows = 0;
    let meter = Meter::start(connection)?;
    for row in 0..times {
        let values = (0..COLUMNS).map(|column| insert::value(row, column).to_scalar());
        let inserted = statement.execute(&mut transaction, Params::values(values.collect()))?;
        rows += inserted.affected_rows.unwrap_or(0);
    }
    let sample = meter.sample(rows)?;
    drop(statement);
    transaction.commit()?;
    Ok(sample)
}
