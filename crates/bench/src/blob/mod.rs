//! BLOBs over a slow network, as in the article "Transferring BLOBs over the wire in Firebird" (2025), with its table, its queries and
//! its statistics.
//!
//! ```text
//!  fixture (lengths with the published sums) ─► BLOB_TEST
//!  query × compression ─► strategies of firearrow, the client library ─► found = expected ─► record, beside the published times
//! ```

mod article;
mod contestant;
mod fixture;
mod lengths;
mod pool;
mod query;
mod random;
mod strategy;

use self::article::PUBLISHED;
use self::contestant::Contestant;
use self::fixture::Fixture;
use self::query::Query;
use crate::demo;
use crate::error::{Error, Result};
use crate::host::{Goal, Host, Progress};
use crate::machine::Environment;
use crate::reference::{Reference, ReferenceChoice};
use crate::report;
use crate::route::Route;
use crate::text;
use firearrow::config::{Config, Target, WireCompression};
use firearrow_report::{Chart, End, Record, SampleLine, TableHead};
use firearrow_wan::{Link, WanProxy};
use serde_json::json;

pub use self::fixture::Contents;

/// The article's link, as its own figures give it: a round trip of 12.5 ms, and 71 Mbit/s.
pub const ARTICLE_ROUND_TRIP_MS: f64 = 12.5;
/// See [`ARTICLE_ROUND_TRIP_MS`].
pub const ARTICLE_RATE: u64 = 71_000_000;
/// Rows of each query in the article.
pub const ARTICLE_ROWS: usize = 1000;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rows of each query.
    pub rows: usize,
    /// Measured repetitions.
    pub repetitions: usize,
    /// Repetitions of contestants that take a round trip for each BLOB.
    pub slow_repetitions: usize,
    /// Names of the queries, `Q1` to `Q6`; empty = all of them.
    pub queries: Vec<String>,
    /// The texts.
    pub contents: Vec<Contents>,
    /// With and without compression.
    pub compressions: Vec<bool>,
    /// Limits up to which BLOBs come with their rows, in bytes.
    pub inline: Vec<u32>,
    /// The emulated link.
    pub link: Link,
    /// The client library to compare with.
    pub reference: ReferenceChoice,
}

/// A benchmark that is ready to run.
pub struct Bench<'a> {
    host: &'a dyn Host,
    options: Options,
    queries: Vec<Query>,
    fixtures: Vec<Fixture>,
    route: Route,
    environment: Environment,
    protocol: Option<u16>,
    /// The link; it exists as long as the benchmark.
    _proxy: WanProxy,
}

impl<'a> Bench<'a> {
    /// Creates missing tables, connects once and starts the emulated link.
    ///
    /// # Errors
    /// [`Error::Usage`] for an engine in this process and for unknown queries; otherwise the errors of connecting and of the
    /// tables.
    pub fn prepare(host: &'a dyn Host, config: &Config, mut options: Options) -> Result<Self> {
        if matches!(config.target, Target::Embedded { .. }) {
            return Err(Error::usage(
                "bench blob measures servers: an engine in this process has no network",
            ));
        }
        let queries = queries(&options.queries)?;
        once(&mut options.contents);
        once(&mut options.compressions);
        once(&mut options.inline);
        let fixtures: Vec<Fixture> =
            options.contents.iter().map(|contents| Fixture::new(*contents)).collect();
        let (connection, _) = demo::open_or_create(host, config)?;
        for fixture in &fixtures {
            fixture.complete(host, config, &connection)?;
        }
        let info = connection.info()?;
        connection.close()?;
        let (route, proxy) = Route::emulated(config, options.link)?;
        let reference = Reference::find(&options.reference, config, &info);
        let environment = Environment::read(config, &info, &reference, options.repetitions);
        Ok(Self {
            host,
            options,
            queries,
            fixtures,
            route,
            environment,
            protocol: info.protocol,
            _proxy: proxy,
        })
    }

    /// The machine and the server.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Formats the circumstances, one per line.
    #[must_use]
    pub fn heading(&self) -> String {
        let Link { round_trip, rate, .. } = self.options.link;
        let mut heading = report::place(&self.environment);
        heading +=
            &format!("link: round trip {round_trip:?}, {}, emulated on this machine\n", text::rate(rate));
        heading += &match (&self.environment.reference, &self.environment.no_reference) {
            (Some(name), _) => format!("reference: {name}, whose rows are counted\n"),
            (None, reason) => format!("reference: none; {}\n", reason.as_deref().unwrap_or_default()),
        };
        heading + &report::warnings(&self.environment)
    }

    /// Measures every query. `done` gets the record after each one; what it gets last, also of a run that fails, says how
    /// it ended. A contestant that fails is missing from then on, and named.
    ///
    /// # Errors
    /// The errors of firearrow and of [`Host::check`], and wrong contents.
    pub fn run(&self, done: &mut dyn FnMut(&Record)) -> Result<Record> {
        let mut record = Record::new("blob", "BLOBs over a slow network", self.circumstances()?);
        let mut missing = Vec::new();
        let measured = self.measure(&mut record, &mut missing, done);
        if let Err(error) = &measured {
            missing.push(match self.host.check() {
                Ok(()) => format!("the rest: {error}"),
                Err(_) => "the rest: the run was interrupted".to_owned(),
            });
        }
        let checks = "rows, greatest id, bytes and contents of every repetition of firearrow; rows of every one of the client library";
        record.end = Some(End { complete: missing.is_empty(), missing, checks: vec![checks.to_owned()] });
        done(&record);
        measured.map(|()| record)
    }

    fn measure(
        &self,
        record: &mut Record,
        missing: &mut Vec<String>,
        done: &mut dyn FnMut(&Record),
    ) -> Result<()> {
        let all = self.fixtures.len() * self.queries.len() * self.options.compressions.len();
        let progress = self.host.progress(Goal::Turns((all * self.options.repetitions) as u64));
        for (contents, fixture) in self.options.contents.iter().zip(&self.fixtures) {
            for query in &self.queries {
                let table = head(*query, *contents, self.options.rows);
                let id = table.id.clone();
                record.tables.push(table);
                for compressed in &self.options.compressions {
                    let turn = Turn {
                        query: *query,
                        contents: *contents,
                        fixture,
                        compressed: *compressed,
                        id: &id,
                    };
                    record.samples.extend(self.turns(&turn, &*progress, missing)?);
                }
                done(record);
            }
        }
        Ok(())
    }

    fn circumstances(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let mut fields = self.environment.fields()?;
        let Link { round_trip, rate, .. } = self.options.link;
        let link = json!({
            "rows": self.options.rows,
            "link_round_trip_ms": round_trip.as_secs_f64() * 1000.0,
            "link_rate_bit_per_s": rate,
        });
        if let serde_json::Value::Object(link) = link {
            fields.extend(link);
        }
        Ok(fields)
    }

    /// All contestants of a query, turn by turn, with or without compression.
    fn turns(
        &self,
        turn: &Turn<'_>,
        progress: &dyn Progress,
        missing: &mut Vec<String>,
    ) -> Result<Vec<SampleLine>> {
        let Turn { query, contents, fixture, compressed, id } = *turn;
        let sql = query.sql(contents, self.options.rows);
        let expected = query.expected(fixture, self.options.rows);
        let way = self.route.way(self.host, &self.options.reference, |config| {
            config.compress = if compressed { WireCompression::On } else { WireCompression::Off };
        })?;
        let case = if compressed { "zlib" } else { "not compressed" };
        if way.info.compressed != compressed {
            missing.push(format!("{}, {case}: the server does not offer it", query.name()));
            return Ok(Vec::new());
        }
        let mut contestants = Contestant::all(query, self.protocol, &self.options.inline, way.peer());
        let mut samples: Vec<SampleLine> = Vec::new();
        for repetition in 0..self.options.repetitions {
            let mut left = Vec::new();
            for contestant in contestants {
                self.host.check()?;
                if repetition >= self.options.slow_repetitions && contestant.is_slow(query) {
                    left.push(contestant);
                    continue;
                }
                let name = contestant.name();
                progress.tell(&format!("{}, {case}, {name}", query.name()));
                match contestant.read(self.host, &way.config, query, &sql, &expected) {
                    Ok(values) => {
                        samples.push(SampleLine::new(id, case, &name, repetition, values));
                        left.push(contestant);
                    }
                    // What one that fails did before is no figure, and the others are still compared.
                    Err(error) if contestant.may_fail(&error) => {
                        samples.retain(|sample| sample.contestant != name);
                        missing.push(format!("{}, {case}, {name}: {error}", query.name()));
                    }
                    Err(error) => return Err(error),
                }
            }
            contestants = left;
            progress.add(1);
        }
        if self.is_articles() && contents == Contents::Text {
            let published = PUBLISHED.iter().filter(|published| published.compressed == compressed);
            samples.extend(published.filter_map(|published| {
                let values = [("wall_s".to_owned(), published.seconds(query)?)].into();
                Some(SampleLine::elsewhere(id, case, published.client, values))
            }));
        }
        Ok(samples)
    }

    /// Whether the figures can stand beside the published ones.
    fn is_articles(&self) -> bool {
        let Link { round_trip, rate, .. } = self.options.link;
        self.options.rows == ARTICLE_ROWS
            && (round_trip.as_secs_f64() * 1000.0 - ARTICLE_ROUND_TRIP_MS).abs() < 0.01
            && rate == Some(ARTICLE_RATE)
    }
}

/// What takes turns.
struct Turn<'a> {
    query: Query,
    contents: Contents,
    fixture: &'a Fixture,
    compressed: bool,
    /// The table in the record.
    id: &'a str,
}

fn queries(names: &[String]) -> Result<Vec<Query>> {
    if names.is_empty() {
        return Ok(Query::ALL.to_vec());
    }
    let find = |name: &String| {
        let found = Query::ALL.into_iter().find(|query| query.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::usage(format!("unknown query {name}; choose from Q1 to Q6")))
    };
    let mut queries = names.iter().map(find).collect::<Result<_>>()?;
    once(&mut queries);
    Ok(queries)
}

/// Removes what comes a second time: a record has each case once.
fn once<T: Copy + PartialEq>(items: &mut Vec<T>) {
    let all = std::mem::take(items);
    for item in all {
        if !items.contains(&item) {
            items.push(item);
        }
    }
}

fn head(query: Query, contents: Contents, rows: usize) -> TableHead {
    let kind = match contents {
        Contents::Text => "",
        Contents::Random => ", random text",
    };
    TableHead {
        id: format!("{}-{}", query.name(), contents.table()).to_lowercase(),
        title: format!("{}{kind}: the first {rows} rows", query.title()),
        notes: vec![
            "Elapsed: from preparing to the last content. The published figures are single runs on another machine, and leave out preparing: they show an order of magnitude. One by one: opening and the beginning of each BLOB in one request, as client libraries do since 5.0.2."
                .to_owned(),
        ],
        columns: [
            "wall_s",
            "roundtrips",
            "logical_send_packets",
            "logical_recv_packets",
            "logical_send_bytes",
            "logical_recv_bytes",
            "physical_send_packets",
            "physical_recv_packets",
            "physical_send_bytes",
            "physical_recv_bytes",
            "content_bytes",
            "max_id",
            "record_count",
            "max_inline_blob_size",
        ]
        .map(str::to_owned)
        .into(),
        charts: vec![Chart::bars("Elapsed time", "wall_s")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_twice_is_measured_once() {
        let names = ["q2", "Q1", "Q2"].map(str::to_owned);
        assert_eq!(queries(&names).unwrap(), [Query::Q2, Query::Q1]);
        let mut lengths = vec![5, 7, 5];
        once(&mut lengths);
        assert_eq!(lengths, [5, 7]);
    }
}
