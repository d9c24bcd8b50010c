//! Runs and campaigns as records, which `firearrow-report` makes reports of.

use crate::campaign::Point;
use crate::run::{OperationFigures, PERCENTILES, Run};
use firearrow_bench::{Environment, Result};
use firearrow_report::{Chart, End, Mark, OURS, Record, SampleLine, TableHead};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

type Values = BTreeMap<String, f64>;

/// Makes a record of one run.
///
/// # Errors
/// If something of it is not JSON.
pub fn of_run(environment: &Environment, run: &Run) -> Result<Record> {
    let title = format!("OLTP: {} terminals on {} warehouses", run.terminals, run.scale.warehouses);
    let mut record = Record::new("oltp", &title, circumstances(environment, run)?);
    record.tables.push(throughput("throughput", "Operations", Mark::Bars));
    record.samples.push(SampleLine::new("throughput", run.locality.name(), OURS, 0, whole(run)));
    record.tables.push(latency());
    for figures in &run.operations {
        record.samples.push(SampleLine::new(
            "latency",
            figures.operation.name(),
            OURS,
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
        record.samples.push(SampleLine::new("seconds", &format!("{second} s"), OURS, 0, named(values)));
    }
    let checks = run.conditions.iter().map(|condition| condition.rule.to_owned());
    record.end =
        Some(End { complete: run.is_valid(), missing: run.problems.clone(), checks: checks.collect() });
    Ok(record)
}

/// Makes a record of the points of a campaign, as far as it has come; `None` if it has not come to its first one.
///
/// # Errors
/// If something of it is not JSON.
pub fn of_campaign(points: &[Point], is_complete: bool) -> Result<Option<Record>> {
    let Some((last, run)) = points.last().and_then(|point| Some((point, point.runs.first()?))) else {
        return Ok(None);
    };
    let mut circumstances = circumstances(&last.environment, run)?;
    // These differ from point to point, and are among the values.
    for name in ["warehouses", "locality"] {
        circumstances.remove(name);
    }
    let title = format!("OLTP on a database that grows to {} warehouses", last.loaded.scale.warehouses);
    let mut record = Record::new("oltp-campaign", &title, circumstances);
    let cache = run.cache_bytes as f64;
    let mut table = throughput("throughput", "Operations by size", Mark::Lines);
    for chart in &mut table.charts {
        chart.at = Some((cache, "size = cache".to_owned()));
    }
    table.notes.push(
        "Home: each terminal at a warehouse of its own, so what is in use does not grow. Uniform: everybody everywhere. \
         The runs of one size follow each other on the same database, which grows by what they insert."
            .to_owned(),
    );
    record.tables.push(table);
    record.tables.push(loading());
    for point in points {
        let case = format!("{} warehouses", point.loaded.scale.warehouses);
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
        title: format!("Loading {} warehouses", last.loaded.scale.warehouses),
        notes: vec!["The size of the file in the course of loading, until the indexes are made.".to_owned()],
        columns: vec!["size_bytes".to_owned()],
        charts: vec![Chart::lines("Size of the database", "size_bytes", "since_the_start_s")],
    });
    for (seconds, bytes) in &last.loaded.curve {
        let values = [("size_bytes", *bytes as f64), ("since_the_start_s", *seconds)];
        record.samples.push(SampleLine::new(
            "load-curve",
            &format!("{seconds:.1} s"),
            OURS,
            0,
            named(values),
        ));
    }
    record.end = is_complete.then(|| End {
        complete: true,
        checks: vec!["the ledger and the consistency conditions after every run".to_owned()],
        ..End::default()
    });
    Ok(Some(record))
}

fn circumstances(environment: &Environment, run: &Run) -> Result<Map<String, Value>> {
    let fields = json!({
        "terminals": run.terminals,
        "warehouses": run.scale.warehouses,
        "locality": run.locality.name(),
        "mode": run.mode.name(),
        "mix": run.mix,
        "isolation": run.isolation,
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

fn throughput(id: &str, title: &str, mark: Mark) -> TableHead {
    let chart = |title: &str, y: &str| match mark {
        Mark::Bars => Chart::bars(title, y),
        Mark::Lines => Chart::lines(title, y, "size_bytes"),
    };
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

fn loading() -> TableHead {
    let columns =
        ["bytes_per_s", "loading_s", "indexes_s", "size_bytes", "rows", "client_cpu_s", "server_cpu_s"];
    TableHead {
        id: "load".to_owned(),
        title: "Loading by size".to_owned(),
        columns: columns.map(str::to_owned).into(),
        charts: vec![Chart::lines("Loading: bytes of the database per second", "bytes_per_s", "size_bytes")],
        ..TableHead::default()
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
