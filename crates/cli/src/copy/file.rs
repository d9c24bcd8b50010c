//! `firearrow copy` to a file, or to standard output.

use super::args::CopyArgs;
use super::{joined, sql, tell_of_zones};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::{open, parse, refuse_blob_ids};
use crate::output::{self, Format, OutputFile, Sink, Style};
use crate::parameters::bind;
use crate::progress::Progress;
use crate::similar::{self, HintTime};
use crate::terminal;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use firearrow::config::Config;
use firearrow::{
    BatchLimits, Connection, Cursor, Parallelism, Params, PartitionOptions, PartitionedQuery,
    TransactionOptions, WhyPlain,
};
use firearrow_bench::text::{size, thousands};
use serde_json::json;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

pub(super) fn run(args: &CopyArgs, json: bool) -> Result<()> {
    let is_standard_output = args.is_standard_output();
    let format = format(args)?;
    let style = Style::of_path(&args.output);
    // A pipe cannot seek, which Arrow files require.
    let style = Style { stream: style.stream || is_standard_output, ..style };
    let style = style.with(&args.text, format)?.compressed(args.compression, format)?;
    let started = Instant::now();
    // Created first, so that an existing file is reported before the server starts working.
    let create = || match is_standard_output {
        true => OutputFile::standard_output(),
        false => OutputFile::create(&args.output, args.force),
    };
    let file = (!args.separate).then(create).transpose()?;
    let config = parse(&args.url)?;
    let source = Source::open(args, &config)?;
    if !args.quiet && !json {
        tell_of_zones(&source.schema);
    }
    let files = match file {
        Some(file) => vec![file],
        None => {
            let paths = (1..=source.cursors.len()).map(|number| numbered(&args.output, number));
            paths.map(|path| OutputFile::create(&path, args.force)).collect::<Result<_>>()?
        }
    };
    let sinks = files.iter().map(|file| format.sink(&source.schema, style, file.output()?));
    let sinks = sinks.collect::<Result<Vec<_>>>()?;
    let counters = files.iter().map(OutputFile::counter).collect();
    // Other queries and partitions do not say how far they are, and counting the rows first would cost as much as reading them.
    let progress = match source.cursors.iter().any(|cursor| cursor.progress().is_some()) {
        true => Progress::of_share(args.quiet || json, counters),
        false => Progress::endless(args.quiet || json, counters),
    };
    let (read, readers) = (source.read, source.readers);
    let rows = pump(source.cursors, sinks, &progress)?;
    drop(progress);
    let bytes = files.into_iter().map(OutputFile::keep).sum::<Result<u64>>()?;
    let copied = Copied { rows, bytes, seconds: started.elapsed().as_secs_f64(), read, readers };
    copied.summarize(args, json)
}

fn format(args: &CopyArgs) -> Result<Format> {
    if args.is_standard_output() {
        if args.separate {
            return Err(Failure::usage(
                "--separate writes several files, standard output is one; name a file",
            ));
        }
        let format = args.format.ok_or_else(|| Failure::usage("standard output needs --format"))?;
        format.refuse_terminal("name a file")?;
        return Ok(format);
    }
    let is_packed = |extension: &OsStr| {
        ["gz", "zst", "xz", "bz2", "zip"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    };
    let is_text = matches!(args.format, Some(Format::Csv | Format::Json | Format::Table | Format::Expanded));
    if is_text && args.output.extension().is_some_and(is_packed) {
        let name = args.output.display();
        let text =
            format!("{name}: copy writes no such file: copy to standard output (-), into gzip or the like");
        return Err(Failure::usage(text));
    }
    args.format.or_else(|| Format::of_path(&args.output)).ok_or_else(|| {
        match args.output.extension().is_some_and(|extension| extension == "txt") {
            true => {
                let name = args.output.display();
                Failure::usage(format!("{name}: the extension names no format; for .txt add --format table"))
            }
            false => output::no_format(&args.output),
        }
    })
}

/// The data to copy.
struct Source {
    schema: SchemaRef,
    cursors: Vec<Cursor>,
    /// How it is read, in words, and by how many connections at once.
    read: String,
    readers: usize,
    /// Holds the common snapshot of several cursors.
    _query: Option<PartitionedQuery>,
}

impl Source {
    fn open(args: &CopyArgs, config: &Config) -> Result<Self> {
        let connection = open(config)?;
        refuse_blob_ids(&connection)?;
        let default = BatchLimits::default().full(true);
        let limits = args.batch_rows.map_or(default, |rows| default.rows(rows.get()));
        let sql = sql(&args.source, config.dialect)?;
        let (sql, parameters) = bind(&sql, &args.parameters.0)?;
        let explained = |error| similar::explained(&connection, error, &sql, &HintTime::default());
        let readers = match args.partitions {
            None => args.readers.unwrap_or(0),
            Some(1) => 1,
            Some(wanted) => {
                return Self::in_partitions(args, wanted, config, &connection, (&*sql, parameters), limits)
                    .map_err(explained);
            }
        };
        let transaction = connection.begin(TransactionOptions::reading())?;
        let statement =
            transaction.prepare(&sql).map_err(|error| explained(error.into()))?.with_limits(limits);
        if !statement.has_rows() {
            return Err(Failure::other("the statement returns no rows to copy"));
        }
        let read = connection.declared(statement.columns(), connection.read_options())?;
        let statement = statement.with_read_options(read).with_parallel(readers);
        let cursor = statement.query(&transaction, parameters)?.owning(transaction);
        let (schema, readers) = (cursor.schema(), cursor.parallel().readers());
        let read = match cursor.parallel() {
            Parallelism::Readers(readers) => format!("{readers} readers, {} connections", readers + 1),
            plain => plain.to_string(),
        };
        Ok(Self { schema, cursors: vec![cursor], read, readers, _query: None })
    }

    fn in_partitions(
        args: &CopyArgs,
        wanted: usize,
        config: &Config,
        leader: &Connection,
        (sql, parameters): (&str, Params),
        limits: BatchLimits,
    ) -> Result<Self> {
        let options = PartitionOptions::default().wanted(wanted).without_snapshot(args.without_snapshot);
        let query = leader.partition(sql, parameters, &options)?;
        if let Some(why) = query.why_plain().filter(|_| !args.quiet) {
            let remedy = if *why == WhyPlain::OldEngine { "; see --without-snapshot" } else { "" };
            terminal::remark(&format!("one partition: {why}{remedy}"));
        }
        let read = |partition| -> Result<Cursor> { Ok(open(config)?.read_partition(partition, limits)?) };
        let cursors = query.partitions().iter().map(read).collect::<Result<Vec<_>>>()?;
        let readers = cursors.len();
        let read = match readers {
            1 => "one partition".to_owned(),
            _ => format!("{readers} partitions in any order, {} connections", readers + 1),
        };
        Ok(Self { schema: query.schema(), cursors, read, readers, _query: Some(query) })
    }
}

/// `data.parquet` becomes `data-1.parquet`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}-{number}{}", extension.unwrap_or_default()))
}

/// Reads batches and writes them on separate threads, so that neither waits for the other; channels bound the number of
/// batches in memory. There are as many sinks as cursors, or one for all.
fn pump(cursors: Vec<Cursor>, sinks: Vec<Box<dyn Sink>>, progress: &Progress) -> Result<u64> {
    let failed = AtomicBool::new(false);
    let failed = &failed;
    thread::scope(|scope| {
        let shares = cursors.len().div_ceil(sinks.len().max(1));
        let mut writers = Vec::new();
        let mut readers = Vec::new();
        let mut cursors = cursors.into_iter();
        for sink in sinks {
            let (sender, receiver) = sync_channel(BATCHES_WAITING);
            let share: Vec<Cursor> = cursors.by_ref().take(shares).collect();
            let ends = share.len();
            writers.push(scope.spawn(move || write(receiver, sink, ends)));
            for cursor in share {
                let sender = sender.clone();
                readers.push(scope.spawn(move || {
                    let result = read(cursor, &sender, progress, failed);
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    result
                }));
            }
        }
        let read = readers.into_iter().map(joined).collect::<Vec<Result<u64>>>();
        let written = writers.into_iter().try_for_each(joined);
        // The reading error comes first: writing then fails as well.
        let rows = read.into_iter().sum::<Result<u64>>()?;
        written.map(|()| rows)
    })
}

fn read(
    mut cursor: Cursor,
    sender: &SyncSender<Message>,
    progress: &Progress,
    failed: &AtomicBool,
) -> Result<u64> {
    let mut rows = 0;
    while let Some(batch) = cursor.next_batch()? {
        interrupt::check()?;
        let count = batch.num_rows() as u64;
        // The receiver is gone because the writer failed, which it will report; or another reader failed and reported
        // it.
        if sender.send(Message::Batch(batch)).is_err() || failed.load(Ordering::Relaxed) {
            return Ok(rows);
        }
        rows += count;
        match cursor.progress() {
            // Only a cursor that is alone knows its progress.
            Some(share) => progress.share(share, rows),
            None => progress.add(count),
        }
    }
    // The writer is gone only after its own failure.
    let _ = sender.send(Message::End);
    Ok(rows)
}

enum Message {
    Batch(RecordBatch),
    /// One cursor has ended. Only when all have ended is the file complete.
    End,
}

fn write(batches: Receiver<Message>, mut sink: Box<dyn Sink>, mut ends: usize) -> Result<()> {
    for message in batches {
        match message {
            Message::Batch(batch) => sink.write(&batch)?,
            Message::End if ends > 1 => ends -= 1,
            Message::End => return sink.finish(),
        }
    }
    Ok(())
}

/// What was done.
struct Copied {
    rows: u64,
    bytes: u64,
    seconds: f64,
    read: String,
    readers: usize,
}

impl Copied {
    fn summarize(self, args: &CopyArgs, json: bool) -> Result<()> {
        let Self { rows, bytes, seconds, read, readers } = self;
        let rate = rows as f64 / seconds;
        if json {
            let file = args.output.to_string_lossy();
            let summary = json!({
                "file": file, "rows": rows, "bytes": bytes, "seconds": seconds, "rows_per_second": rate,
                "readers": readers, "read": read
            });
            if args.is_standard_output() {
                terminal::remark(&summary.to_string());
                return Ok(());
            }
            return output::print_data(&format!("{summary}\n"));
        }
        if !args.quiet {
            let (rows, size, rate) = (output::counted(rows, "row", ""), size(bytes), thousands(rate as u64));
            terminal::remark(&format!("{rows}, {size} in {seconds:.2} s, {rate} rows/s, {read}"));
        }
        Ok(())
    }
}

const BATCHES_WAITING: usize = 2;
