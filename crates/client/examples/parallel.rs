//! Reads a table over one connection and over several, in turns, and compares times and contents.
//!
//! ```text
//! cargo run --release -p firearrow --example parallel -- URL T_WIDE 2 5
//! ```

use arrow::array::{Array, RecordBatch};
use firearrow::config::Config;
use firearrow::{Connection, Result, TransactionOptions};
use std::time::{Duration, Instant};

/// Reads all rows; a sum over their bytes in their order, the rows, the batches and the time.
fn read(
    connection: &Connection,
    sql: &str,
    readers: usize,
    keeps: bool,
) -> Result<(Duration, usize, Vec<RecordBatch>)> {
    let begin = Instant::now();
    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = transaction.prepare(sql)?.with_parallel(readers);
    let mut cursor = statement.query(&transaction, ())?;
    let (mut rows, mut batches) = (0, Vec::new());
    while let Some(batch) = cursor.next_batch()? {
        rows += batch.num_rows();
        if keeps {
            batches.push(batch);
        }
    }
    Ok((begin.elapsed(), rows, batches))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, table, readers, turns] = arguments.as_slice() else {
        return Err("usage: parallel URL TABLE READERS TURNS".into());
    };
    let (readers, turns) = (readers.parse()?, turns.parse::<usize>()?);
    let connection = Connection::open(&Config::parse_trusted(url)?)?;
    let sql = format!("SELECT * FROM {table}");
    // One warms up and keeps its rows, to compare them.
    let (_, rows, plain) = read(&connection, &sql, 1, true)?;
    let (_, _, parallel) = read(&connection, &sql, readers, true)?;
    let schema = plain.first().ok_or("no rows")?.schema();
    let sizes: Vec<usize> = parallel.iter().map(RecordBatch::num_rows).collect();
    for column in 0..schema.fields().len() {
        let whole = |batches: &[RecordBatch]| {
            let parts: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(column).as_ref()).collect();
            arrow::compute::concat(&parts)
        };
        if whole(&plain)? != whole(&parallel)? {
            return Err(format!("column {column} differs").into());
        }
    }
    drop((plain, parallel));
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..turns {
        for (times, readers) in times.iter_mut().zip([1, readers]) {
            times.push(read(&connection, &sql, readers, false)?.0);
        }
    }
    let medians = times.map(|mut times| {
        times.sort();
        times[turns / 2].as_secs_f64()
    });
    println!(
        "{table}: {rows} rows, equal; one {:.3} s, {readers} readers {:.3} s: {:.2} times; {} batches of {} to {} rows",
        medians[0],
        medians[1],
        medians[0] / medians[1],
        sizes.len(),
        sizes.iter().min().unwrap_or(&0),
        sizes.iter().max().unwrap_or(&0)
    );
    Ok(())
}
