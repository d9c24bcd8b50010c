//! Measures every way of reading BLOBs on links of every length: policy x round trip x server.
//!
//! ```text
//! FIREARROW_TEST_FIREBIRD5=… cargo run --release -p firearrow-bench --example blobs_by_link -- \
//!     --rtt 0,12.5,200 --rate 0 --shape 1000x3400 --runs 5
//! ```
//!
//! Times are from the query to its last content, on a connection that has run nothing else (`new`) and when it runs the
//! same query again (`again`). The runs of the policies alternate; contents are checked byte by byte.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, LargeBinaryArray, RecordBatch};
use firearrow::{Config, Connection, OnFailure};
use firearrow_testkit::{Target, platform};
use firearrow_wan::{Link, WanProxy};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error>;

const POLICIES: [&str; 3] = ["pipelined", "inline", "adaptive"];

/// What to measure.
struct Options {
    servers: Vec<String>,
    round_trips: Vec<f64>,
    /// Bits per second; 0 = without a limit.
    rate: u64,
    shapes: Vec<(usize, usize)>,
    runs: usize,
}

/// The figures of one policy: milliseconds and round trips of each run.
#[derive(Default)]
struct Figures {
    new: Vec<(f64, u64)>,
    again: Vec<(f64, u64)>,
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    println!("| server | BLOBs | round trip | policy | new, ms | trips | again, ms | trips |");
    println!("|---|---|---|---|---|---|---|---|");
    for each in [platform::firebird_3_0(), platform::firebird_4_0(), platform::firebird_5_0()] {
        let target = each.target()?;
        if !options.servers.iter().any(|name| target.generation().number() == name) {
            continue;
        }
        for &(count, length) in &options.shapes {
            let config = Config::parse(&target.fresh_url())?;
            fill(&config, count, length)?;
            for &milliseconds in &options.round_trips {
                measure(&target, &config, (count, length), milliseconds, &options)?;
            }
        }
    }
    Ok(())
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        servers: ["3.0", "4.0", "5.0"].map(String::from).to_vec(),
        round_trips: vec![0.0, 12.5, 200.0],
        rate: 0,
        shapes: vec![(1000, 3400)],
        runs: 5,
    };
    let mut arguments = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (arguments.next(), arguments.next()) {
        match name.as_str() {
            "--server" => options.servers = value.split(',').map(String::from).collect(),
            "--rtt" => options.round_trips = value.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--rate" => options.rate = value.parse()?,
            "--shape" => options.shapes = value.split(',').map(shape).collect::<Result<_, _>>()?,
            "--runs" => options.runs = value.parse()?,
            _ => return Err(format!("{name} is not an option").into()),
        }
    }
    Ok(options)
}

/// `1000x3400`: a number of BLOBs and their length in bytes.
fn shape(text: &str) -> Result<(usize, usize), Failure> {
    let (count, length) = text.split_once('x').ok_or("a shape is COUNTxLENGTH")?;
    Ok((count.parse()?, length.parse()?))
}

/// The contents of a BLOB: no two bytes in a row say where they belong, and no two BLOBs are alike.
fn contents(index: usize, length: usize) -> Vec<u8> {
    let mut state = index as u64 + 1;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn fill(config: &Config, count: usize, length: usize) -> Result<(), Failure> {
    let connection = Connection::create(config)?;
    connection.execute("CREATE TABLE t (id INTEGER, b BLOB)")?;
    let mut transaction = connection.begin(Default::default())?;
    let insert = transaction.prepare("INSERT INTO t VALUES (?, ?)")?;
    for start in (0..count).step_by(250) {
        let rows = start..count.min(start + 250);
        let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.clone().map(|row| row as i32)));
        let blobs = LargeBinaryArray::from_iter_values(rows.map(|row| contents(row, length)));
        let batch = RecordBatch::try_from_iter([("id", ids), ("b", Arc::new(blobs) as ArrayRef)])?;
        let written = insert.execute_rows(&mut transaction, &batch, OnFailure::Stop)?;
        if let Some(failure) = written.failures.into_iter().next() {
            return Err(failure.error.into());
        }
    }
    drop(insert);
    transaction.commit()?;
    Ok(())
}

fn measure(
    target: &Target,
    direct: &Config,
    (count, length): (usize, usize),
    milliseconds: f64,
    options: &Options,
) -> Result<(), Failure> {
    let mut config = direct.clone();
    let link =
        Link::new(Duration::from_secs_f64(milliseconds / 1e3), (options.rate > 0).then_some(options.rate));
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let _proxy = if milliseconds > 0.0 || options.rate > 0 {
        let proxy = WanProxy::start(any, target.server().address().to_string(), link)?;
        let firearrow::config::Target::Remote { database, .. } = &direct.target else {
            return Err("not a server".into());
        };
        config = Config::parse(&target.server().url_at(proxy.address(), Path::new(database)))?;
        Some(proxy)
    } else {
        None
    };
    let mut figures: [Figures; 3] = Default::default();
    for run in 0..=options.runs {
        for (policy, figures) in POLICIES.iter().zip(&mut figures) {
            let mut config = config.clone();
            config.read.push(("blobs".to_owned(), (*policy).to_owned()));
            let connection = Connection::open(&config)?;
            let new = read(&connection, count, length)?;
            let again = read(&connection, count, length)?;
            connection.close()?;
            // The first turn fills caches.
            if run > 0 {
                figures.new.push(new);
                figures.again.push(again);
            }
        }
    }
    for (policy, figures) in POLICIES.iter().zip(&mut figures) {
        let (new, trips) = median(&mut figures.new);
        let (again, more) = median(&mut figures.again);
        println!(
            "| {} | {count} x {length} | {milliseconds} ms | {policy} | {new:.1} | {trips} | {again:.1} | {more} |",
            target.generation().number()
        );
    }
    Ok(())
}

/// Runs the query and checks each byte, after the time has been taken.
fn read(connection: &Connection, count: usize, length: usize) -> Result<(f64, u64), Failure> {
    let trips = connection.wire_stats().round_trips;
    let begin = Instant::now();
    let mut cursor = connection.query("SELECT id, b FROM t")?;
    let mut batches = Vec::new();
    while let Some(batch) = cursor.next_batch()? {
        batches.push(batch);
        if batches.iter().map(RecordBatch::num_rows).sum::<usize>() == count {
            break;
        }
    }
    let spent = (begin.elapsed().as_secs_f64() * 1e3, connection.wire_stats().round_trips - trips);
    cursor.close()?;
    let mut row = 0;
    for batch in &batches {
        let blobs = batch.column(1).as_binary_opt::<i32>();
        let wide = batch.column(1).as_binary_opt::<i64>();
        for index in 0..batch.num_rows() {
            let id = batch.column(0).as_primitive::<arrow::datatypes::Int32Type>().value(index) as usize;
            let found = match (blobs, wide) {
                (Some(blobs), _) => blobs.value(index),
                (_, Some(blobs)) => blobs.value(index),
                _ => return Err(format!("a column of {}", batch.column(1).data_type()).into()),
            };
            if id != row || found != contents(row, length) {
                return Err(format!("row {row} is wrong").into());
            }
            row += 1;
        }
    }
    if row == count { Ok(spent) } else { Err(format!("{row} rows").into()) }
}

/// The median time, and the largest number of round trips.
fn median(figures: &mut [(f64, u64)]) -> (f64, u64) {
    figures.sort_by(|a, b| a.0.total_cmp(&b.0));
    let trips = figures.iter().map(|figure| figure.1).max().unwrap_or_default();
    (figures.get(figures.len() / 2).map_or(f64::NAN, |figure| figure.0), trips)
}
