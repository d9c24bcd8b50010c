//! `firearrow bench fetch`

use super::machine::Environment;
use super::measure::{self, Plan, Run};
use super::reference::{Blobs, Reference};
use super::report::{self, Measured};
use super::verify::Shape;
use super::{save, verify};
use crate::args::FetchArgs;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::open;
use crate::output::{print, print_data};
use crate::terminal;
use firearrow::BatchLimits;
use firearrow::config::Config;
use serde_json::{Value, json};

pub(crate) fn run(args: &FetchArgs, json: bool) -> Result<()> {
    let config = Config::parse(&args.url)?;
    let info = open(&config)?.info()?;
    let reference = match args.no_reference {
        true => Reference::Absent("--no-reference".to_owned()),
        false => Reference::find(args.reference_client.as_deref(), &config, &info),
    };
    let environment = Environment {
        batch_rows: args.batch_rows.map(std::num::NonZero::get),
        consume: args.consume,
        ..Environment::read(&config, &info, &reference, args.repeat.get())
    };
    if !json {
        print(&report::heading(&environment))?;
    }
    let mut measured = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    for subject in subjects(args) {
        match measure(&config, args, &subject, &reference) {
            Ok(done) => {
                if !json {
                    print(&report::table(&done))?;
                }
                measured.push(done);
            }
            Err(failure) if interrupt::reason().is_some() => return Err(failure),
            Err(failure) => {
                terminal::status("");
                failure.report(false);
                failures.push(failure);
            }
        }
    }
    if json {
        print_data(&report::json(&environment, &measured)?)?;
    }
    if let (Some(folder), false) = (&args.save, measured.is_empty()) {
        let report = report::markdown(&environment, &measured);
        let folder = save::write(folder, &environment.folder(), &raw(&environment, &measured)?, &report)?;
        terminal::remark(&format!("saved in {}", folder.display()));
    }
    match failures.len() {
        0 => Ok(()),
        count => Err(Failure::other(format!("{count} of {} could not be measured", count + measured.len()))),
    }
}

/// The circumstances, then every repetition, a line each.
fn raw(environment: &Environment, all: &[Measured]) -> Result<Vec<Value>> {
    let mut lines = vec![json!({ "environment": environment })];
    for measured in all {
        for (of, runs) in [("ours", &measured.ours), ("reference", &measured.reference)] {
            lines.extend(save::repetitions(runs, &[("table", &measured.name), ("loop", of)])?);
        }
    }
    Ok(lines)
}

/// What is read.
struct Subject {
    name: String,
    sql: String,
    is_table: bool,
}

fn subjects(args: &FetchArgs) -> Vec<Subject> {
    if let Some(sql) = &args.sql {
        return vec![Subject { name: "query".to_owned(), sql: sql.clone(), is_table: false }];
    }
    let tables = args.tables.iter().map(|table| table.trim().to_ascii_uppercase());
    tables.map(|name| Subject { sql: format!("SELECT * FROM \"{name}\""), name, is_table: true }).collect()
}

fn measure(config: &Config, args: &FetchArgs, subject: &Subject, reference: &Reference) -> Result<Measured> {
    let Subject { name, sql, is_table } = subject;
    terminal::status(&format!("{name}: verifying"));
    let Shape { rows, columns, has_blobs } = match is_table {
        true => verify::table(config, name, sql)?,
        false => verify::shape(config, sql)?,
    };
    let mut limits = BatchLimits::default();
    limits.rows = args.batch_rows.map_or(limits.rows, std::num::NonZero::get);
    let plan = Plan { config, sql, limits, consume: args.consume };
    let peer = match reference {
        Reference::Peer(peer) => Some(peer),
        Reference::Absent(_) => None,
    };
    let blobs = if has_blobs { Blobs::Read } else { Blobs::Unread };
    let check = |run: Run| match run.rows == rows {
        true => Ok(run),
        false => Err(Failure::other(format!(
            "{name}: {} rows were read, not {rows}; its figures are withheld",
            run.rows
        ))),
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for repetition in 1..=args.repeat.get() {
        terminal::status(&format!("{name}: repetition {repetition} of {}", args.repeat));
        interrupt::check()?;
        ours.push(check(measure::run(plan)?)?);
        if let Some(peer) = peer {
            theirs.push(check(peer.fetch(sql, blobs)?)?);
        }
    }
    terminal::status("");
    Ok(Measured {
        name: name.clone(),
        sql: sql.clone(),
        rows,
        columns,
        is_verified: *is_table,
        ours,
        reference: theirs,
    })
}
