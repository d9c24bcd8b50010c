//! `firearrow query`

use crate::args::QueryArgs;
use crate::failure::Result;
use crate::interrupt;
use crate::open::{open, refuse_blob_ids, warn_of_statements};
use crate::output::{self, Format, Output, OutputFile, Sink, Style};
use crate::phases::Phases;
use crate::terminal;
use firearrow::config::Config;
use firearrow::{BatchLimits, Connection, Cursor, Kind, Params, TransactionOptions};
use serde_json::json;
use std::io::{self, BufWriter, IsTerminal, Read};
use std::time::Instant;

pub(crate) fn run(args: &QueryArgs, json: bool) -> Result<()> {
    let sql = text(&args.sql)?;
    let format = format(args, json)?;
    let started = Instant::now();
    let mut phases = Phases::start();
    let connection = open(&Config::parse(&args.url)?)?;
    phases.end("connect", &connection);
    if format.is_binary() || args.output.is_some() {
        refuse_blob_ids(&connection)?;
    }
    let ran = run_on(&connection, &sql, format, args, json, (started, phases));
    warn_of_statements(&connection);
    ran
}

fn run_on(
    connection: &Connection,
    sql: &str,
    format: Format,
    args: &QueryArgs,
    json: bool,
    (started, mut phases): (Instant, Phases),
) -> Result<()> {
    let mut options = TransactionOptions::default();
    options.read_only = args.read_only;
    // It starts with the preparation, in one round trip.
    let mut transaction = connection.begin_lazy(options)?;
    let statement = transaction.prepare(sql)?;
    phases.end("prepare", connection);
    let parameters = parameters(args);
    if !statement.has_rows() {
        let affected = statement.execute(&mut transaction, parameters)?.affected_rows;
        phases.end("execute", connection);
        match transaction.commit() {
            // COMMIT or ROLLBACK as the statement has ended the transaction already.
            Err(error) if error.kind() == Kind::Misuse => {}
            committed => committed?,
        }
        phases.end("rest", connection);
        match (json, affected) {
            (true, _) => {
                let facts = json!({ "affected_rows": affected, "seconds": seconds(started) });
                output::print_data(&format!("{facts}\n"))?;
            }
            (false, Some(rows)) => output::print(&(counted(rows, "row", " affected") + "\n"))?,
            (false, None) => output::print("done\n")?,
        }
        if args.wire {
            terminal::remark(&phases.text(json));
        }
        return Ok(());
    }
    // Only binary formats show the exact types.
    let statement = match format.is_binary() {
        true => {
            let read = connection.declared(statement.columns(), connection.read_options())?;
            statement.with_read_options(read)
        }
        false => statement,
    };
    let mut limits = BatchLimits::default();
    // Fetches no more rows than are shown.
    limits.rows = args.limit.map_or(limits.rows, |limit| limit.clamp(1, limits.rows as u64) as usize);
    let cursor = statement.with_limits(limits).query(&transaction, parameters)?;
    phases.end("execute", connection);
    let (output, file) = output(args)?;
    let sink = format.sink(&cursor.schema(), style(args, format), output)?;
    let rows = drain(cursor, sink, args.limit, || phases.end("first row", connection))?;
    transaction.commit()?;
    phases.end("rest", connection);
    if let Some(file) = file {
        file.keep()?;
    }
    // Data formats are for programs, which do not need the remark, unless the data goes to a file.
    if format == Format::Table || args.output.is_some() {
        terminal::remark(&format!("{} in {:.3} s", counted(rows, "row", ""), seconds(started)));
    }
    if args.wire {
        terminal::remark(&phases.text(json));
    }
    Ok(())
}

fn text(sql: &str) -> Result<String> {
    if sql != "-" {
        return Ok(sql.to_owned());
    }
    let mut text = String::new();
    interrupt::waiting(|| io::stdin().read_to_string(&mut text))?;
    Ok(text)
}

fn format(args: &QueryArgs, json: bool) -> Result<Format> {
    let by_name = args.output.as_deref().and_then(Format::of_path);
    let default = if json { Format::Json } else { Format::Table };
    let format = args.format.or(by_name).unwrap_or(default);
    if args.output.is_none() {
        format.refuse_terminal("write to a file with -o FILE")?;
    }
    Ok(format)
}

fn parameters(args: &QueryArgs) -> Params {
    match args.parameters.0.as_slice() {
        [] => Params::none(),
        values => Params::texts(values.iter().map(Option::as_deref)),
    }
}

fn output(args: &QueryArgs) -> Result<(Output, Option<OutputFile>)> {
    let Some(path) = &args.output else { return Ok((Box::new(BufWriter::new(io::stdout())), None)) };
    let file = OutputFile::create(path, true)?;
    Ok((file.output()?, Some(file)))
}

fn style(args: &QueryArgs, format: Format) -> Style {
    match &args.output {
        Some(path) => Style::of_path(path),
        None if format == Format::Table && io::stdout().is_terminal() => {
            let (_, width) = console::Term::stdout().size();
            Style { width: Some(width.into()), ..Style::default() }
        }
        // A pipe cannot seek, which Arrow files require.
        None => Style { stream: true, ..Style::default() },
    }
}

fn drain(
    mut cursor: Cursor,
    mut sink: Box<dyn Sink>,
    limit: Option<u64>,
    mut first_batch: impl FnMut(),
) -> Result<u64> {
    let limit = limit.unwrap_or(u64::MAX);
    let mut rows = 0;
    while rows < limit {
        let batch = cursor.next_batch()?;
        if rows == 0 {
            first_batch();
        }
        let Some(batch) = batch else { break };
        let wanted = usize::try_from(limit - rows).unwrap_or(usize::MAX).min(batch.num_rows());
        sink.write(&batch.slice(0, wanted))?;
        rows += wanted as u64;
        interrupt::check()?;
    }
    cursor.close()?;
    sink.finish()?;
    Ok(rows)
}

fn seconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64()
}

/// Returns `1 row`, `2 rows`.
fn counted(number: u64, noun: &str, rest: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}{rest}")
}
