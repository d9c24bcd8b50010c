//! `firearrow query`: a single statement streams to any format and file, and its phases are measured ([`run_on`]); several, and
//! what isql has beside SQL, are a script of the [`Runner`].

use crate::args::QueryArgs;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::{open, parse, refuse_blob_ids, warn_of_statements};
use crate::output::{self, Format, Output, OutputFile, Sink, Style, counted};
use crate::parameters::bind;
use crate::phases::Phases;
use crate::runner::{Display, Flow, Runner, Settings, line_number, read_script, run_script, split};
use crate::similar::{self, HintTime};
use crate::terminal;
use firearrow::{BatchLimits, Connection, Cursor, Kind, TransactionOptions};
use serde_json::json;
use std::io::{self, BufWriter, IsTerminal};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &QueryArgs, json: bool) -> Result<()> {
    let scripts = scripts(args)?;
    let format = format(args, json)?;
    let statement = only_statement(&scripts)?.filter(|_| args.plan.is_none() && !args.timing);
    let Some(sql) = statement else {
        return run_scripts(&scripts, format, args);
    };
    let started = Instant::now();
    let mut phases = Phases::start();
    let connection = open(&parse(&args.url)?)?;
    phases.end("connect", &connection);
    if format.is_binary() || args.output.is_some() {
        refuse_blob_ids(&connection)?;
    }
    let ran = run_on(&connection, sql, format, args, json, (started, phases))
        .map_err(|error| similar::explained(&connection, error, sql, &HintTime::default()));
    warn_of_statements(&connection);
    match scripts.iter().find(|script| script.name != SQL && contains(script, sql)) {
        Some(script) => ran.map_err(|error| {
            Failure::At(format!("{}, line {}", script.name, line_number(&script.text, sql)), Box::new(error))
        }),
        None => ran,
    }
}

/// Runs all statements as a script.
fn run_scripts(scripts: &[Script], format: Format, args: &QueryArgs) -> Result<()> {
    let only_one = |what: &str| {
        Err(Failure::usage(format!(
            "{what} is for a single statement, without --plan, --timing, SET and SHOW"
        )))
    };
    match () {
        () if args.output.is_some() => return only_one("-o"),
        () if args.wire => return only_one("--wire"),
        () if format.is_binary() => return only_one("a binary format"),
        () => {}
    }
    let config = parse(&args.url)?;
    let connection = open(&config)?;
    let settings = Settings {
        auto_commit: args.autocommit,
        timing: args.timing,
        plan: args.plan,
        plan_only: args.plan.is_some(),
        ..Settings::default()
    };
    let mut display = Display::new(format, args.limit);
    display.style = Style::default().with(&args.text, format)?;
    let mut runner = Runner::new(&args.url, config, connection, settings, display);
    if args.read_only {
        runner.set_read_only();
    }
    let ran = run_all(&mut runner, scripts, args);
    runner.end_script(ran)
}

fn run_all(runner: &mut Runner, scripts: &[Script], args: &QueryArgs) -> Result<Flow> {
    if args.parameters.0.is_empty() {
        for script in scripts {
            let flow = run_script(runner, &script.name, &script.text)?;
            if flow != Flow::Continue {
                return Ok(flow);
            }
        }
        return Ok(Flow::Continue);
    }
    match scripts.iter().map(statements).collect::<Result<Vec<_>>>()?.concat()[..] {
        [statement] => {
            let (sql, parameters) = bind(statement, &args.parameters.0)?;
            runner.run(&sql, &parameters).map(|()| Flow::Continue)
        }
        _ => Err(Failure::usage("--param is for a single statement")),
    }
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
    let (sql, parameters) = bind(sql, &args.parameters.0)?;
    let statement = transaction.prepare(&sql)?;
    phases.end("prepare", connection);
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
            (false, rows) => {
                let text = rows.map_or_else(|| "done".to_owned(), |rows| counted(rows, "row", " affected"));
                // Data formats have data alone.
                match format.is_for_people() {
                    true => output::print(&(text + "\n"))?,
                    false => terminal::remark(&text),
                }
            }
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
    // A change with RETURNING has the kind of a query, from Firebird 5 on.
    let first = firearrow::sql::tokens(&sql).next();
    let only_reads = first.is_some_and(|first| first.is_word("SELECT") || first.is_word("WITH"));
    let cursor = statement.with_limits(limits).query(&transaction, parameters)?;
    phases.end("execute", connection);
    let (output, file) = output(args)?;
    let sink = format.sink(&cursor.schema(), style(args, format)?, output)?;
    let drained = drain(cursor, sink, args.limit, || phases.end("first row", connection));
    let rows = drained.map_err(|failure| match failure {
        // Whoever stops reading may not know that nothing was changed.
        Failure::PipeClosed if !only_reads => {
            Failure::other("nobody reads the output: rolled back, nothing was changed")
        }
        failure => failure,
    })?;
    transaction.commit()?;
    phases.end("rest", connection);
    if let Some(file) = file {
        file.keep()?;
    }
    // Data formats are for programs, which do not need the remark, unless the data goes to a file.
    if (format.is_for_people() && !args.text.no_header) || args.output.is_some() {
        terminal::remark(&format!("{} in {:.3} s", counted(rows, "row", ""), seconds(started)));
    }
    if args.wire {
        terminal::remark(&phases.text(json));
    }
    Ok(())
}

/// The name of SQL text that is an argument.
const SQL: &str = "SQL";
const STANDARD_INPUT: &str = "standard input";

/// Whether a statement is a part of this text.
fn contains(script: &Script, statement: &str) -> bool {
    script.text.as_bytes().as_ptr_range().contains(&statement.as_ptr())
}

/// SQL text, and where it comes from.
struct Script {
    name: String,
    text: String,
}

fn scripts(args: &QueryArgs) -> Result<Vec<Script>> {
    let mut scripts = Vec::new();
    if let Some(sql) = &args.sql {
        scripts.push(match sql.as_str() {
            "-" => Script { name: STANDARD_INPUT.to_owned(), text: read_script(Path::new("-"))? },
            sql => Script { name: SQL.to_owned(), text: sql.to_owned() },
        });
    }
    for path in &args.file {
        let is_input = path.as_os_str() == "-";
        let name = if is_input { STANDARD_INPUT.to_owned() } else { path.display().to_string() };
        scripts.push(Script { name, text: read_script(path)? });
    }
    Ok(scripts)
}

fn statements(script: &Script) -> Result<Vec<&str>> {
    split(&script.text).map_err(|error| Failure::At(script.name.clone(), Box::new(error)))
}

/// What a statement begins with that is not for the server, or not always.
const OWN_WORDS: [&str; 9] = ["CONNECT", "SET", "SHOW", "EXIT", "QUIT", "INPUT", "IN", "OUTPUT", "OUT"];

/// The statement of a script that has a single one, which is for the server.
fn only_statement(scripts: &[Script]) -> Result<Option<&str>> {
    let all = scripts.iter().map(statements).collect::<Result<Vec<_>>>()?.concat();
    match all[..] {
        [] if scripts.is_empty() => Err(Failure::usage(
            "there is no SQL: it follows the database, or comes from -f FILE; - there reads standard input",
        )),
        [] => {
            let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
            Err(Failure::usage(format!("there is no statement in {}", names.join(" and "))))
        }
        [statement] => Ok(Some(statement).filter(|statement| {
            let first = firearrow::sql::tokens(statement).next();
            !first.is_some_and(|first| OWN_WORDS.iter().any(|word| first.is_word(word)))
        })),
        _ => Ok(None),
    }
}

fn format(args: &QueryArgs, json: bool) -> Result<Format> {
    let by_name = args.output.as_deref().and_then(Format::of_path);
    let default = if json { Format::Json } else { Format::Table };
    if let (None, None, Some(path)) = (args.format, by_name, &args.output)
        && path.extension().is_some_and(|extension| extension != "txt")
    {
        return Err(output::no_format(path));
    }
    let format = args.format.or(by_name).unwrap_or(default);
    if args.output.is_none() {
        format.refuse_terminal("write to a file with -o FILE")?;
    }
    // Before the server has to do anything.
    Style::default().with(&args.text, format)?;
    Ok(format)
}

fn output(args: &QueryArgs) -> Result<(Output, Option<OutputFile>)> {
    let Some(path) = &args.output else { return Ok((Box::new(BufWriter::new(io::stdout())), None)) };
    let file = OutputFile::create(path, true)?;
    Ok((file.output()?, Some(file)))
}

fn style(args: &QueryArgs, format: Format) -> Result<Style> {
    let style = match &args.output {
        Some(path) => Style::of_path(path),
        None if format == Format::Table && io::stdout().is_terminal() => {
            let (_, width) = console::Term::stdout().size();
            Style { width: Some(width.into()), ..Style::default() }
        }
        // A pipe cannot seek, which Arrow files require.
        None => Style { stream: true, ..Style::default() },
    };
    style.with(&args.text, format)
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
