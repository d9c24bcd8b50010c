//! `firearrow copy`

use crate::args::CopyArgs;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::{self, Format, OutputFile, Sink, Style};
use crate::progress::{self, Progress, thousands};
use arrow::array::RecordBatch;
use firearrow::config::Config;
use firearrow::{BatchLimits, Connection, Cursor, Params, TransactionOptions};
use serde_json::json;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Instant;

pub(crate) fn run(args: &CopyArgs, json: bool) -> Result<()> {
    let format = args.format.or_else(|| Format::of_path(&args.output)).ok_or_else(|| {
        let name = args.output.display();
        Failure::usage(format!(
            "{name}: no format has this extension; use .parquet, .arrow, .csv, .json or --format"
        ))
    })?;
    let interrupt = Interrupt::watch()?;
    let started = Instant::now();
    // First, so that an existing file is noticed before the server has any work.
    let file = OutputFile::create(&args.output, args.force)?;
    let connection = Connection::open(&Config::parse(&args.url)?)?;
    let transaction = connection.begin(TransactionOptions::read_only())?;
    let mut statement = transaction.prepare(&sql(&args.source))?;
    if !statement.has_rows() {
        return Err(Failure::other("the statement gives no rows that could be copied"));
    }
    if let Some(rows) = args.batch_rows {
        statement = statement.with_limits(BatchLimits { rows: rows.get(), ..BatchLimits::default() });
    }
    let cursor = statement.query(&transaction, Params::none())?;
    let style = Style { compression: args.compression, ..Style::of_path(&args.output) };
    let sink = format.sink(&cursor.schema(), style, file.output()?)?;
    let progress = Progress::endless(args.quiet || json, file.counter());
    let rows = pump(cursor, sink, &progress, &interrupt)?;
    drop(progress);
    drop(statement);
    transaction.commit()?;
    let bytes = file.keep()?;
    summarize(args, json, rows, bytes, started.elapsed().as_secs_f64())
}

/// Reads batches here and writes them on another thread, so that neither waits for the other; the channel bounds
/// how many are in memory.
fn pump(mut cursor: Cursor, sink: Box<dyn Sink>, progress: &Progress, interrupt: &Interrupt) -> Result<u64> {
    let (sender, receiver) = sync_channel(BATCHES_WAITING);
    thread::scope(|scope| {
        let writer = scope.spawn(move || write(receiver, sink));
        let mut rows = 0;
        let mut read = || -> Result<()> {
            while let Some(batch) = cursor.next_batch()? {
                interrupt.check()?;
                let count = batch.num_rows() as u64;
                // Nobody receives any more: the writer failed and will say why.
                if sender.send(Message::Batch(batch)).is_err() {
                    return Ok(());
                }
                rows += count;
                progress.add(count);
            }
            // The writer is gone only after a failure of its own.
            let _ = sender.send(Message::End);
            Ok(())
        };
        let outcome = read();
        drop(sender);
        let written = writer.join().unwrap_or_else(|_| Err(Failure::other("the writing thread panicked")));
        outcome.and(written).map(|()| rows)
    })
}

enum Message {
    Batch(RecordBatch),
    /// Without it the file stays as unfinished as the reading.
    End,
}

fn write(batches: Receiver<Message>, mut sink: Box<dyn Sink>) -> Result<()> {
    for message in batches {
        match message {
            Message::Batch(batch) => sink.write(&batch)?,
            Message::End => return sink.finish(),
        }
    }
    Ok(())
}

fn summarize(args: &CopyArgs, json: bool, rows: u64, bytes: u64, seconds: f64) -> Result<()> {
    let rate = rows as f64 / seconds;
    if json {
        let file = args.output.to_string_lossy();
        let summary = json!({ "file": file, "rows": rows, "bytes": bytes, "seconds": seconds, "rows_per_second": rate });
        return output::print(&format!("{summary}\n"));
    }
    if !args.quiet {
        let (rows, size, rate) = (thousands(rows), progress::size(bytes), thousands(rate as u64));
        eprintln!("{rows} rows, {size} in {seconds:.2} s, {rate} rows/s");
    }
    Ok(())
}

/// The query for a table, or the query itself.
fn sql(source: &str) -> String {
    match table(source.trim()) {
        Some(name) => format!("SELECT * FROM {name}"),
        None => source.to_owned(),
    }
}

/// The name in quotes, if the text is nothing but a name. Without quotes of its own it means what the engine would
/// take it for, in capitals; the quotes then let it be a word of SQL.
fn table(text: &str) -> Option<String> {
    if let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let is_one = !inner.is_empty() && !inner.replace("\"\"", "").contains('"');
        return is_one.then(|| text.to_owned());
    }
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'));
    is_name.then(|| format!("\"{}\"", text.to_ascii_uppercase()))
}

const BATCHES_WAITING: usize = 2;

#[cfg(test)]
mod tests {
    use super::sql;

    #[test]
    fn a_name_is_a_table_and_anything_else_a_query() {
        for (source, expected) in [
            ("t_wide", "SELECT * FROM \"T_WIDE\""),
            (" Order ", "SELECT * FROM \"ORDER\""),
            ("RDB$DATABASE", "SELECT * FROM \"RDB$DATABASE\""),
            ("\"Mixed case\"", "SELECT * FROM \"Mixed case\""),
            ("\"say \"\"x\"\"\"", "SELECT * FROM \"say \"\"x\"\"\""),
            ("select 1 from t", "select 1 from t"),
            ("\"a\", \"b\"", "\"a\", \"b\""),
            ("1st", "1st"),
        ] {
            assert_eq!(sql(source), expected);
        }
    }
}
