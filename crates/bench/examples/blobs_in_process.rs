//! Reads BLOBs in-process: firearrow, and the loop over the engine's calls that it is measured against.
//!
//! ```text
//! cargo run --release -p firearrow-bench --example blobs_in_process -- 1000 200 41
//! ```
//!
//! The arguments are the number of BLOBs, their length and the number of runs. Runs alternate; contents are summed up.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, LargeBinaryArray, RecordBatch};
use firearrow::{Config, Connection, OnFailure, TransactionOptions};
use firearrow_fbapi::{Library, LoadOptions, Runtime, RuntimeHint};
use firearrow_peers::{blob_loop, checksum};
use firearrow_testkit::{Target, platform};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

const DPB: &[u8] = b"\x01\x1c\x06SYSDBA\x30\x04UTF8";
const SQL: &str = "SELECT id, b FROM t";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [count, length, runs] = arguments[..] else { return Err("COUNT LENGTH RUNS".into()) };
    let target = platform::embedded_5_0().target()?;
    let Target::Embedded(embedded) = &target else { return Err("not embedded".into()) };
    let path = target.database_path("blobs_in_process.fdb");
    let mut config = Config::parse(&target.url("blobs_in_process.fdb"))?;
    config.client_library = Some(embedded.engine.display().to_string());
    let connection = Connection::create(&config)?;
    let sum = fill(&connection, count, length)?;

    let runtime = Runtime::discover(&RuntimeHint::at(&embedded.engine))?;
    let library = Library::load(&runtime, &LoadOptions::default())?;
    let attachment = library.attach(path.to_str().ok_or("the path is no text")?, DPB)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let begin = Instant::now();
        let raw = blob_loop(&attachment, SQL)?;
        theirs.push(begin.elapsed().as_secs_f64() * 1e3);
        let begin = Instant::now();
        let batches = read(&connection)?;
        ours.push(begin.elapsed().as_secs_f64() * 1e3);
        let found = batches.iter().map(sum_of).fold(0, u64::wrapping_add);
        if (raw.checksum, found, raw.blobs) != (sum, sum, count as u64) {
            return Err("the contents are wrong".into());
        }
    }
    ours.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    let (ours, theirs) = (ours[runs / 2], theirs[runs / 2]);
    println!("{count} x {length}: ours {ours:.2} ms, raw loop {theirs:.2} ms, {:.2} times", ours / theirs);
    Ok(())
}

fn fill(connection: &Connection, count: usize, length: usize) -> Result<u64, Box<dyn Error>> {
    connection.execute("CREATE TABLE t (id INTEGER, b BLOB)")?;
    let contents = |row: usize| vec![row as u8; length];
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values((0..count).map(|row| row as i32)));
    let blobs: ArrayRef = Arc::new(LargeBinaryArray::from_iter_values((0..count).map(contents)));
    let batch = RecordBatch::try_from_iter([("id", ids), ("b", blobs)])?;
    let mut transaction = connection.begin(Default::default())?;
    let insert = transaction.prepare("INSERT INTO t VALUES (?, ?)")?;
    let written = insert.execute_rows(&mut transaction, &batch, OnFailure::Stop)?;
    if let Some(failure) = written.failures.into_iter().next() {
        return Err(failure.error.into());
    }
    drop(insert);
    transaction.commit()?;
    Ok((0..count).map(|row| checksum(&contents(row))).fold(0, u64::wrapping_add))
}

/// All rows, in a transaction like that of the loop.
fn read(connection: &Connection) -> Result<Vec<RecordBatch>, Box<dyn Error>> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let batches = transaction.query(SQL)?.collect::<Result<Vec<_>, _>>()?;
    transaction.commit()?;
    Ok(batches)
}

fn sum_of(batch: &RecordBatch) -> u64 {
    let blobs = batch.column(1);
    let sum_up = |row: usize| match blobs.as_binary_opt::<i32>() {
        Some(blobs) => checksum(blobs.value(row)),
        None => checksum(blobs.as_binary::<i64>().value(row)),
    };
    (0..blobs.len()).map(sum_up).fold(0, u64::wrapping_add)
}
