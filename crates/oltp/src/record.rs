//! Runs and campaigns as records, which `firearrow-report` makes reports of.

use crate::campaign::Point;
use crate::compare::{Comparison, Place, Turn};
use crate::depth::IndexDepth;
use crate::input::Locality;
use crate::model::{self, Model};
use crate::pace::Think;
use crate::run::{OperationFigures, PERCENTILES, Run};
use crate::way::Mode;
use firearrow_bench::{Environment, Result};
use firearrow_report::{Chart, End, Mark, OURS, Record, SampleLine, TableHead};
use firearrow_wan::Link;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

type Values = BTreeMap<String, f64>;

/// Makes a record of one run.
///
/// # Errors
/// If something of it is not JSON.
pub fn run_record(environment: &Environment, run: &Run) -> Result<Record> {
    let title = format!("OLTP: {} terminals on {}", run.terminals, run.scale.in_words());
    let mut record = Record::new("oltp", &title, circumstances(environment, run)?);
    record.tables.push(throughput("throughput", "Operations", Mark::Bars));
    record.samples.push(SampleLine::new("throughput", run.locality.name(), run.driver, 0, whole(run)));
    record.tables.push(latency());
    for figures in &run.operations {
        record.samples.push(SampleLine::new(
            "latency",
            figures.operation.name(),
            run.driver,
            0,
            latencies(figures),
        ));
    }
    record.tables.push(TableHead {
        id: "seconds".to_owned(),
        title: "Operations in each second".to_owned(),
        columns: vec!["operations_per_s".to_owned()],
        charts: vec![Chart::lines("Operations per second", "operations_per_s", "since_the_start_s")],
        ..TableHead::default()
    });
    for (second, count) in run.series.iter().enumerate() {
        let values = [("operations_per_s", f64::from(*count)), ("since_the_start_s", second as f64)];
        record.samples.push(SampleLine::new("seconds", &format!("{second} s"), run.driver, 0, named(values)));
    }
    let checks = run.conditions.iter().map(|condition| condition.rule.to_owned());
    record.end =
        Some(End { complete: run.is_valid(), missing: run.problems.clone(), checks: checks.collect() });
    Ok(record)
}

/// Makes a record of a comparison, as far as it has come; `None` before the first run.
///
/// # Errors
/// If something of it is not JSON.
pub fn comparison_record(comparison: &Comparison, is_complete: bool) -> Result<Option<Record>> {
    let Some(Turn { run, .. }) = comparison.turns.first() else { return Ok(None) };
    let mut circumstances = circumstances(&comparison.environment, run)?;
    for name in ["mode", "driver", "driver_version"] {
        circumstances.remove(name);
    }
    circumstances.insert("reference".to_owned(), json!(comparison.environment.reference));
    circumstances.insert("firebird_driver".to_owned(), json!(comparison.rival));
    if let Some(Link { round_trip, rate, .. }) = comparison.link {
        circumstances.insert("link_round_trip_ms".to_owned(), json!(round_trip.as_secs_f64() * 1000.0));
        circumstances.insert("link_rate_bit_per_s".to_owned(), json!(rate));
    }
    let title = format!("OLTP beside other clients: {} terminals", run.terminals);
    let mut record = Record::new("oltp-compare", &title, circumstances);
    let mut table = throughput("compare", "New orders per minute", Mark::Bars);
    let rates = table.columns.iter().position(|column| column == "new_orders_per_min");
    if let Some(at) = rates {
        table.columns.swap(0, at);
    }
    table.columns.push("client_cpu_s".to_owned());
    table.charts = vec![
        Chart::bars("New orders per minute", "new_orders_per_min"),
        Chart::bars("New order: median latency", "new_order_p50_us"),
    ];
    table.notes.push(
        "Procedures: mode sp. Statement by statement: mode sql, a round trip for each. Pipelined: firearrow in mode \
         sql-pipelined; the others cannot do that, so beside it stand their runs of mode sql. firebird-driver has a Python process \
         for each terminal. The contestants take turns on one database, which grows by what they insert; each turn's ledger is \
         checked."
            .to_owned(),
    );
    if comparison.link.is_some() {
        table.notes.push(
            "Over the link no processor time is given: the emulated link runs in firearrow's process."
                .to_owned(),
        );
    }
    record.tables.push(table);
    for turn in &comparison.turns {
        for case in cases(turn, comparison) {
            let Turn { place, repetition, run } = turn;
            let mut values = whole(run);
            if *place == Place::Link {
                values.remove("client_cpu_s");
            }
            record.samples.push(SampleLine::new("compare", &case, run.driver, *repetition, values));
        }
    }
    record.end = is_complete.then(|| End {
        complete: comparison.missing.is_empty(),
        missing: comparison.missing.iter().map(ToString::to_string).collect(),
        checks: vec!["the ledger and the consistency conditions after every run".to_owned()],
    });
    Ok(Some(record))
}

/// The cases in which a turn is shown: other clients' statements are beside both ways of firearrow.
fn cases(turn: &Turn, comparison: &Comparison) -> Vec<String> {
    let has_pipelined = comparison
        .turns
        .iter()
        .any(|other| other.place == turn.place && other.run.mode == Mode::SqlPipelined);
    let names: &[&str] = match turn.run.mode {
        Mode::Sp => &["procedures"],
        Mode::SqlPipelined => &["pipelined"],
        Mode::Sql if turn.run.driver == OURS || !has_pipelined => &["statement by statement"],
        Mode::Sql => &["pipelined", "statement by statement"],
    };
    let place = match (turn.place, comparison.link) {
        (Place::Link, Some(link)) => {
            format!("over {} ms", link.round_trip.as_secs_f64() * 1000.0)
        }
        _ => "nearby".to_owned(),
    };
    names.iter().map(|name| format!("{name}, {place}")).collect()
}

/// Makes a record of the points of a campaign, as far as it has come; `None` if it has not come to its first one.
///
/// # Errors
/// If something of it is not JSON.
pub fn campaign_record(points: &[Point], is_complete: bool) -> Result<Option<Record>> {
    let Some(last) = points.last() else { return Ok(None) };
    let title = format!("OLTP on a database that grows to {}", last.loaded.scale.in_words());
    points_record("oltp-campaign", &title, Mark::Lines, points, is_complete)
}

/// Makes a record of one size, as far as it has been measured; `None` before the first run.
///
/// # Errors
/// If something of it is not JSON.
pub fn point_record(point: &Point, is_complete: bool) -> Result<Option<Record>> {
    let title = format!("OLTP on {}, at home and everywhere", point.loaded.scale.in_words());
    points_record("oltp", &title, Mark::Bars, std::slice::from_ref(point), is_complete)
}

fn points_record(
    benchmark: &str,
    title: &str,
    mark: Mark,
    points: &[Point],
    is_complete: bool,
) -> Result<Option<Record>> {
    let Some((last, run)) = points.last().and_then(|point| Some((point, point.runs.first()?))) else {
        return Ok(None);
    };
    let mut circumstances = circumstances(&last.environment, run)?;
    // These differ from point to point, and are among the values.
    for name in ["warehouses", "locality"] {
        circumstances.remove(name);
    }
    let mut record = Record::new(benchmark, title, circumstances);
    let cache = run.cache_bytes as f64;
    let mut table = throughput("throughput", "Operations by size", mark);
    for chart in &mut table.charts {
        chart.at = Some((cache, "size = cache".to_owned()));
    }
    table.notes.push(
        "Home: each terminal at its home warehouse, which it shares if there are more terminals than warehouses, so what is in use \
         does not grow. Uniform: everybody everywhere. The runs of one size follow each other on the same database, which grows by \
         what they insert."
            .to_owned(),
    );
    record.tables.push(table);
    record.tables.push(loading(mark));
    for point in points {
        let case = point.loaded.scale.in_words();
        let mut repetitions = BTreeMap::<&str, usize>::new();
        for run in &point.runs {
            let at = repetitions.entry(run.locality.name()).or_default();
            record.samples.push(SampleLine::new("throughput", &case, run.locality.name(), *at, whole(run)));
            *at += 1;
        }
        let loaded = &point.loaded;
        let mut values = named([
            ("bytes_per_s", loaded.bytes_per_second()),
            ("loading_s", loaded.rows_s),
            ("indexes_s", loaded.indexes_s),
            ("size_bytes", loaded.bytes as f64),
            ("rows", loaded.total() as f64),
            ("client_cpu_s", loaded.client_cpu_s),
        ]);
        values.extend(loaded.server_cpu_s.map(|cpu| ("server_cpu_s".to_owned(), cpu)));
        record.samples.push(SampleLine::new("load", &case, OURS, 0, values));
    }
    record.tables.push(TableHead {
        id: "load-curve".to_owned(),
        title: format!("Loading {}", last.loaded.scale.in_words()),
        notes: vec!["The size of the file in the course of loading, until the indexes are made.".to_owned()],
        columns: vec!["size_bytes".to_owned()],
        charts: vec![Chart::lines("Size of the database", "size_bytes", "since_the_start_s")],
    });
    for (millis, bytes) in curve(&last.loaded.curve) {
        let seconds = millis as f64 / 1000.0;
        let values = [("size_bytes", bytes as f64), ("since_the_start_s", seconds)];
        let case = format!("{seconds:.3} s");
        record.samples.push(SampleLine::new("load-curve", &case, OURS, 0, named(values)));
    }
    contents(&mut record, last);
    if mark == Mark::Lines {
        calculated(&mut record, points);
    }
    record.end = is_complete.then(|| End {
        complete: true,
        checks: vec!["the ledger and the consistency conditions after every run".to_owned()],
        ..End::default()
    });
    Ok(Some(record))
}

/// The size of the database by milliseconds; of several within one, the last.
fn curve(points: &[(f64, u64)]) -> BTreeMap<u64, u64> {
    points.iter().map(|(seconds, bytes)| ((seconds * 1000.0) as u64, *bytes)).collect()
}

/// Adds the tables and the indexes of the largest size.
fn contents(record: &mut Record, last: &Point) {
    let title = |what: &str| format!("{what} of {}", last.loaded.scale.in_words());
    let table = |id: &str, title: String, column: &str, note: &str| TableHead {
        id: id.to_owned(),
        title,
        notes: vec![note.to_owned()],
        columns: vec![column.to_owned()],
        charts: Vec::new(),
    };
    record.tables.push(table("tables", title("Tables"), "rows", "As they were loaded."));
    record.tables.push(table(
        "indexes",
        title("Indexes"),
        "levels",
        "Levels from the root to the leaves, by the pages that a look-up fetches.",
    ));
    for (name, rows) in &last.loaded.rows {
        let values = named([("rows", *rows as f64)]);
        record.samples.push(SampleLine::new("tables", name, OURS, 0, values));
    }
    for IndexDepth { index, table, levels } in &last.loaded.indexes {
        let values = named([("levels", *levels as f64)]);
        record.samples.push(SampleLine::new("indexes", &format!("{index} of {table}"), OURS, 0, values));
    }
}

/// Adds what larger databases would show, beside what was measured.
fn calculated(record: &mut Record, points: &[Point]) {
    const ID: &str = "calculated";
    let mut head = TableHead {
        id: ID.to_owned(),
        title: "Larger databases: calculated, not measured".to_owned(),
        notes: vec![
            "Calculated from the size of the cache, the reads of an operation at the largest size measured, and the time of a read: \
             0.1 ms and 32 at once (SSD), 8 ms and two at once (two hard disks). Home: what the warehouses of the terminals hold is in \
             use; uniform: everything is. Nothing is assumed of deeper indexes and of writing."
                .to_owned(),
        ],
        columns: ["operations_per_s", "page_reads_per_operation", "size_bytes"].map(str::to_owned).into(),
        charts: vec![
            Chart {
                is_logarithmic: true,
                ..Chart::lines("Operations per second: measured, and calculated (dashes)", "operations_per_s", "size_bytes")
            },
        ],
    };
    let (mut samples, mut calculated) = (Vec::new(), Vec::new());
    let mut put = |case: &str, who: &str, at: usize, values: [(&str, f64); 3]| {
        samples.push(SampleLine::new(ID, case, who, at, named(values)));
    };
    for locality in Locality::ALL {
        let model = match Model::of(points, locality) {
            Ok(model) => model,
            Err(reason) => {
                head.notes.push(format!("Not calculated: {reason}."));
                continue;
            }
        };
        for point in points {
            let case = point.loaded.scale.in_words();
            let runs = point.runs.iter().filter(|run| run.locality == locality);
            for (at, run) in runs.enumerate() {
                put(
                    &case,
                    &format!("{}, measured", locality.name()),
                    at,
                    [
                        ("operations_per_s", run.per_second()),
                        ("page_reads_per_operation", run.reads_per_operation()),
                        ("size_bytes", run.bytes as f64),
                    ],
                );
            }
        }
        let measured = points.iter().map(|point| point.loaded.bytes as f64);
        let largest = measured.fold(0.0, f64::max);
        for disk in model::DISKS {
            let who = format!("{}, {}", locality.name(), disk.name);
            let wanted = model::SIZES.into_iter().filter(|size| *size > largest);
            for size in std::iter::once(largest).chain(wanted) {
                let case = match size {
                    size if size == largest => points_largest(points),
                    size if size >= 1e12 => format!("{:.0} TB", size / 1e12),
                    size => format!("{:.0} GB", size / 1e9),
                };
                put(
                    &case,
                    &who,
                    0,
                    [
                        ("operations_per_s", model.per_second(size, disk)),
                        ("page_reads_per_operation", model.reads(size)),
                        ("size_bytes", size),
                    ],
                );
            }
            calculated.push(who);
        }
    }
    if calculated.is_empty() {
        // Only why there is nothing.
        if let Some(table) = record.tables.iter_mut().find(|table| table.id == "throughput") {
            table.notes.extend(head.notes.drain(1..));
        }
        return;
    }
    for chart in &mut head.charts {
        chart.calculated.clone_from(&calculated);
    }
    record.tables.push(head);
    record.samples.extend(samples);
}

/// The largest size, in words.
fn points_largest(points: &[Point]) -> String {
    let largest = points.iter().map(|point| point.loaded.scale).max_by_key(|scale| scale.warehouses);
    largest.map_or_else(String::new, |scale| scale.in_words())
}

fn circumstances(environment: &Environment, run: &Run) -> Result<Map<String, Value>> {
    let fields = json!({
        "terminals": run.terminals,
        "warehouses": run.scale.warehouses,
        "locality": run.locality.name(),
        "driver": run.driver,
        "driver_version": run.driver_version,
        "mode": run.mode.name(),
        "mix": run.mix,
        "isolation": run.isolation,
        "think": pause(run.pace.think),
        "rate_per_s": run.pace.rate,
        "connections": run.connections.name(),
        "seed": run.seed,
        "warm_up_s": run.warm_up_s,
        "seconds_measured": run.seconds,
        "cache_bytes": run.cache_bytes,
        "forced_writes": run.forced_writes,
        "is_full_size": run.scale.is_full(),
    });
    let mut all = environment.fields()?;
    if let Value::Object(fields) = fields {
        all.extend(fields);
    }
    // What is said of a reference concerns other benchmarks.
    for name in ["reference", "no_reference", "batch_rows", "consume"] {
        all.remove(name);
    }
    Ok(all)
}

/// The pause before an operation, as in the command line.
fn pause(think: Think) -> String {
    match think {
        Think::None => "none".to_owned(),
        Think::Tpcc => "tpcc".to_owned(),
        Think::Fixed(pause) => format!("{} ms", pause.as_millis()),
    }
}

fn throughput(id: &str, title: &str, mark: Mark) -> TableHead {
    let chart = |title: &str, y: &str| chart(mark, title, y);
    TableHead {
        id: id.to_owned(),
        title: title.to_owned(),
        notes: vec!["These are not TPC-C results, and must not be called so.".to_owned()],
        columns: [
            "operations_per_s",
            "new_orders_per_min",
            "new_order_p50_us",
            "new_order_p99_us",
            "page_reads_per_operation",
            "size_bytes",
            "retries",
        ]
        .map(str::to_owned)
        .into(),
        charts: vec![
            chart("Operations per second", "operations_per_s"),
            chart("New order: latency that 99 of 100 do not exceed", "new_order_p99_us"),
            chart("Pages read from the disk for each operation", "page_reads_per_operation"),
        ],
    }
}

fn latency() -> TableHead {
    TableHead {
        id: "latency".to_owned(),
        title: "Latency, repetitions included".to_owned(),
        columns: ["p50_us", "p90_us", "p95_us", "p99_us", "p99.9_us", "max_us", "committed"]
            .map(str::to_owned)
            .into(),
        charts: vec![Chart::bars("Median", "p50_us")],
        ..TableHead::default()
    }
}

fn loading(mark: Mark) -> TableHead {
    let columns =
        ["bytes_per_s", "loading_s", "indexes_s", "size_bytes", "rows", "client_cpu_s", "server_cpu_s"];
    TableHead {
        id: "load".to_owned(),
        title: "Loading by size".to_owned(),
        columns: columns.map(str::to_owned).into(),
        charts: vec![chart(mark, "Loading: bytes of the database per second", "bytes_per_s")],
        ..TableHead::default()
    }
}

/// Bars, or a line along the size of the database.
fn chart(mark: Mark, title: &str, y: &str) -> Chart {
    match mark {
        Mark::Bars => Chart::bars(title, y),
        Mark::Lines => Chart::lines(title, y, "size_bytes"),
    }
}

/// The figures of a whole run.
fn whole(run: &Run) -> Values {
    let new_order = run.new_orders();
    let sum = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>() as f64;
    let mut values = named([
        ("operations_per_s", run.per_second()),
        ("new_orders_per_min", run.new_orders_per_minute),
        ("size_bytes", run.bytes as f64),
        ("page_reads_per_operation", run.reads_per_operation()),
        ("page_fetches_per_operation", run.engine_work.page_fetches as f64 / run.completed.max(1) as f64),
        ("retries", sum(&run.retries)),
        ("errors", sum(&run.errors)),
        ("backlog", run.backlog as f64),
        ("client_cpu_s", run.client_cpu_s),
    ]);
    values.extend(run.server_cpu_s.map(|cpu| ("server_cpu_s".to_owned(), cpu)));
    values.extend(latencies(new_order).into_iter().map(|(name, value)| (format!("new_order_{name}"), value)));
    values
}

fn latencies(figures: &OperationFigures) -> Values {
    let percentiles = PERCENTILES.iter().zip(figures.percentiles_us).map(|(percentile, value)| {
        let name = if *percentile == 100.0 { "max_us".to_owned() } else { format!("p{percentile}_us") };
        (name, value as f64)
    });
    let counts = named([
        ("committed", figures.committed as f64),
        ("refused", figures.refused as f64),
        ("mean_us", figures.mean_us),
    ]);
    percentiles.chain(counts).collect()
}

fn named<const N: usize>(values: [(&str, f64); N]) -> Values {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_one_point_for_each_moment() {
        let points = curve(&[(0.0, 1), (1.0001, 5), (1.0004, 7), (1.05, 8)]);
        assert_eq!(points.into_iter().collect::<Vec<_>>(), [(0, 1), (1000, 7), (1050, 8)]);
    }
}
