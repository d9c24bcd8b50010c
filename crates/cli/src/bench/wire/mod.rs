//! `firearrow bench wire`: what the wire client is worth, near a server and far from it.
//!
//! ```text
//!  route: direct, emulated link ─► way: encryption, compression, reference ─► contests ─► table ─► text, JSON, files
//!                                                                               │
//!                                       turns of ours and of the reference, the server's CPU before and after
//! ```

mod blobs;
mod fetch;
mod inserts;
mod route;
mod statements;

use super::contest::Stage;
use super::machine::Environment;
use super::reference::Reference;
use super::report;
use super::save;
use super::server::Server;
use super::table::{Table, markdown, raw};
use crate::args::{WireArgs, WirePart};
use crate::demo;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{print, print_data};
use crate::terminal;
use firearrow::config::{Config, Target};
use route::Route;
use serde_json::{Value, json};

/// What all parts need.
struct Bench<'a> {
    args: &'a WireArgs,
    direct: Route,
    link: Route,
    size: Size,
    stage: Stage<'a>,
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Size {
    rows: u64,
    link_rows: u64,
    insert_rows: u64,
    repetitions: usize,
}

impl Size {
    fn of(args: &WireArgs) -> Self {
        let usual = match args.quick {
            true => Self { rows: 2000, link_rows: 500, insert_rows: 1000, repetitions: 1 },
            false => Self { rows: 1_000_000, link_rows: 100_000, insert_rows: 100_000, repetitions: 5 },
        };
        Self {
            rows: args.rows.map_or(usual.rows, Into::into),
            link_rows: args.link_rows.map_or(usual.link_rows, Into::into),
            insert_rows: args.insert_rows.map_or(usual.insert_rows, Into::into),
            repetitions: args.repeat.map_or(usual.repetitions, Into::into),
        }
    }
}

impl Bench<'_> {
    fn repetitions(&self) -> String {
        match self.stage.repetitions {
            1 => "1 repetition".to_owned(),
            repetitions => format!("{repetitions} repetitions"),
        }
    }
}

/// Makes one table.
type Measure = fn(&Bench<'_>) -> Result<Table>;

/// In the order in which they are printed.
const TABLES: [(WirePart, Measure); 6] = [
    (WirePart::Fetch, fetch::wide),
    (WirePart::Fetch, fetch::narrow),
    (WirePart::Link, fetch::link),
    (WirePart::Blobs, blobs::table),
    (WirePart::Insert, inserts::table),
    (WirePart::Statements, statements::table),
];

pub(crate) fn run(args: &WireArgs, json: bool) -> Result<()> {
    let config = Config::parse(&args.url)?;
    if matches!(config.target, Target::Embedded { .. }) {
        return Err(Failure::usage(
            "bench wire measures servers; for an engine in this process use bench fetch",
        ));
    }
    let size = Size::of(args);
    demo::complete(&config, size.rows, json)?;
    let direct = Route::direct(&config);
    let way = direct.way(args, |_| {})?;
    let (link, _proxy) = Route::emulated(&config, args)?;
    let server = Server::find(&config);
    let environment = Environment::read(&config, &way.info, &way.reference, size.repetitions);
    let heading = heading(&environment, args, &way.reference, &server);
    if !json {
        print(&heading)?;
    }
    let stage = Stage { repetitions: size.repetitions, server: &server, quiet: json };
    let bench = Bench { args, direct, link, size, stage };
    let mut tables: Vec<Table> = Vec::new();
    let mut failures = 0;
    for (_, measure) in TABLES.iter().filter(|(part, _)| args.only.is_empty() || args.only.contains(part)) {
        match measure(&bench) {
            Ok(table) => {
                if !json {
                    print(&table.text())?;
                }
                tables.push(table);
            }
            Err(failure) if interrupt::reason().is_some() => return Err(failure),
            Err(failure) => {
                failure.report(false);
                failures += 1;
            }
        }
    }
    if json {
        print_data(
            &(serde_json::to_string_pretty(&value(&environment, &bench.link, &server, &tables)?)? + "\n"),
        )?;
    }
    if let (Some(folder), false) = (&args.save, tables.is_empty()) {
        let name = format!("{}-wire-firebird-{}", environment.day(), environment.release());
        let folder =
            save::write(folder, &name, &raw(&environment, &tables)?, &markdown("wire", &heading, &tables))?;
        terminal::remark(&format!("saved in {}", folder.display()));
    }
    match failures {
        0 => Ok(()),
        count => Err(Failure::other(format!("{count} of {} could not be measured", count + tables.len()))),
    }
}

/// The circumstances, a line each.
fn heading(environment: &Environment, args: &WireArgs, reference: &Reference, server: &Server) -> String {
    let mut text = report::place(environment);
    text += &format!("link: round trip {:?}, {}, emulated on this machine\n", args.rtt.0, args.rate);
    text += &server.line();
    text += &match reference {
        Reference::Peer(peer) => {
            format!("reference: loops over the client library, no conversion, {}\n", peer.name)
        }
        Reference::Absent(reason) => format!("reference: none; {reason}\n"),
    };
    text += report::HOW_TO_READ;
    if matches!((reference, server), (Reference::Peer(_), Server::Process(_))) {
        text += "The server's CPU for the reference has one connection more in it: it connects to warm up.\n";
    }
    text + &report::warnings(environment)
}

fn value(environment: &Environment, link: &Route, server: &Server, tables: &[Table]) -> Result<Value> {
    let (process, reason) = match server {
        Server::Process(process) => (Some(&process.name), None),
        Server::Unknown(reason) => (None, Some(reason)),
    };
    let link = link
        .link
        .map(|link| json!({ "round_trip_s": link.round_trip.as_secs_f64(), "rate_bit_per_s": link.rate }));
    let tables = tables.iter().map(Table::json).collect::<Result<Vec<_>>>()?;
    Ok(json!({
        "environment": environment, "link": link, "server_process": process, "no_server_cpu": reason, "tables": tables,
    }))
}
