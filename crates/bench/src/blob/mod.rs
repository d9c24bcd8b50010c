//! BLOBs over a slow network, as in the article "Transferring BLOBs over the wire in Firebird" (2025), with its table, its queries and
//! its statistics.
//!
//! ```text
//!  fixture (lengths with the published sums) ─► BLOB_TEST
//!  query × compression ─► strategies of firearrow, the client library ─► found = expected ─► record, beside the published times
//! ```

mod article;
mod fixture;
mod query;
mod strategy;

use self::article::PUBLISHED;
use self::fixture::{Fixture, LONGEST_INLINE};
use self::query::Query;
use self::strategy::{INLINE_PROTOCOL, Strategy, wire_values};
use crate::demo;
use crate::error::{Error, Result};
use crate::host::{Goal, Host, Progress};
use crate::machine::Environment;
use crate::reference::{Blobs, Peer, Reference, ReferenceChoice};
use crate::route::Route;
use firearrow::config::{Config, Target, WireCompression};
use firearrow_report::{Chart, End, Record, SampleLine, TableHead};
use firearrow_wan::{Link, WanProxy};
use serde_json::json;
use std::collections::BTreeMap;

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

/// Somebody who reads a result.
enum Contestant<'a> {
    Ours(Strategy),
    Library(&'a Peer, Blobs),
}

impl Contestant<'_> {
    fn name(&self) -> String {
        match self {
            Self::Ours(strategy) => strategy.name(),
            Self::Library(_, Blobs::Read | Blobs::Inline(0)) => "libfbclient, one by one".to_owned(),
            Self::Library(_, Blobs::Inline(longest)) => format!("libfbclient, inline to {longest}"),
            Self::Library(_, Blobs::Unread | Blobs::Left) => "libfbclient".to_owned(),
        }
    }

    /// Takes a round trip or more for each BLOB.
    fn is_slow(&self, query: Query) -> bool {
        query.reads_contents()
            && matches!(
                self,
                Self::Ours(Strategy::OneByOne) | Self::Library(_, Blobs::Read | Blobs::Inline(0))
            )
    }

    fn max_inline(&self) -> u32 {
        match self {
            Self::Ours(Strategy::Inline(longest)) | Self::Library(_, Blobs::Inline(longest)) => *longest,
            Self::Ours(Strategy::Adaptive) => LONGEST_INLINE,
            Self::Ours(_) | Self::Library(..) => 0,
        }
    }
}

impl<'a> Bench<'a> {
    /// Creates missing tables, connects once and starts the emulated link.
    ///
    /// # Errors
    /// [`Error::Usage`] for an engine in this process and for unknown queries; otherwise the errors of connecting and of the
    /// tables.
    pub fn prepare(host: &'a dyn Host, config: &Config, options: Options) -> Result<Self> {
        if matches!(config.target, Target::Embedded { .. }) {
            return Err(Error::usage(
                "bench blob measures servers: an engine in this process has no network",
            ));
        }
        let queries = queries(&options.queries)?;
        let fixtures: Vec<Fixture> =
            options.contents.iter().map(|contents| Fixture::new(*contents)).collect();
        let (connection, _) = demo::open_or_create(host, config)?;
        for fixture in &fixtures {
            fixture.complete(host, &connection)?;
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

    /// Measures every query. `done` gets the record after each one; what it gets last is returned, too. A contestant that
    /// fails is missing from then on, and named.
    ///
    /// # Errors
    /// The errors of firearrow and of [`Host::check`], and wrong contents.
    pub fn run(&self, done: &mut dyn FnMut(&Record)) -> Result<Record> {
        let mut record = Record::new("blob", "BLOBs over a slow network", self.circumstances()?);
        let mut missing = Vec::new();
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
                    record.samples.extend(self.turns(&turn, &*progress, &mut missing)?);
                }
                done(&record);
            }
        }
        drop(progress);
        record.end = Some(End {
            complete: true,
            missing,
            checks: vec![
                "rows, greatest id, bytes and contents of every repetition of firearrow; rows of the client library".to_owned(),
            ],
        });
        done(&record);
        Ok(record)
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
        let ours = Strategy::of(query, self.protocol, &self.options.inline).into_iter().map(Contestant::Ours);
        let mut contestants: Vec<Contestant<'_>> = ours.collect();
        contestants.extend(
            way.peer().into_iter().flat_map(|peer| {
                self.library(query).into_iter().map(|blobs| Contestant::Library(peer, blobs))
            }),
        );
        let mut samples = Vec::new();
        for repetition in 1..=self.options.repetitions {
            let mut failed = Vec::new();
            for (at, contestant) in contestants.iter().enumerate() {
                self.host.check()?;
                if repetition > self.options.slow_repetitions && contestant.is_slow(query) {
                    continue;
                }
                progress.tell(&format!("{}, {case}, {}", query.name(), contestant.name()));
                let values = match contestant {
                    Contestant::Ours(strategy) => {
                        let (sample, found, wire) = strategy.run(self.host, &way.config, query, &sql)?;
                        if found != expected {
                            return Err(Error::other(format!(
                                "{}, {}: found {found:?}, not {expected:?}; the figures are withheld",
                                query.name(),
                                contestant.name()
                            )));
                        }
                        let wire = wire_values(&wire).map(|(name, value)| (name.to_owned(), value as f64));
                        wire.into_iter().chain([("wall_s".to_owned(), sample.wall_s)]).collect()
                    }
                    Contestant::Library(peer, blobs) => {
                        match self.library_turn(peer, *blobs, &sql, expected.rows) {
                            Ok(values) => values,
                            Err(Error::Stopped) => return Err(Error::Stopped),
                            Err(error) => {
                                missing.push(format!(
                                    "{}, {case}, {}: {error}",
                                    query.name(),
                                    contestant.name()
                                ));
                                failed.push(at);
                                continue;
                            }
                        }
                    }
                };
                samples.push(SampleLine::new(
                    id,
                    case,
                    &contestant.name(),
                    repetition - 1,
                    with_results(values, expected, contestant),
                ));
            }
            for at in failed.into_iter().rev() {
                contestants.remove(at);
            }
            progress.add(1);
        }
        if self.is_articles() && contents == Contents::Text {
            let published = PUBLISHED.iter().filter(|published| published.compressed == compressed);
            samples.extend(published.filter_map(|published| {
                let values = [("wall_s".to_owned(), published.seconds(query)?)].into();
                Some(SampleLine::new(id, case, published.client, 0, values))
            }));
        }
        Ok(samples)
    }

    /// What the client library can do with the BLOBs of a query.
    fn library(&self, query: Query) -> Vec<Blobs> {
        let has_inline = self.protocol >= Some(INLINE_PROTOCOL);
        match (query.has_blobs(), query.reads_contents(), has_inline) {
            (false, ..) | (true, false, false) => vec![Blobs::Unread],
            (true, false, true) => vec![Blobs::Left],
            (true, true, false) => vec![Blobs::Read],
            (true, true, true) => vec![Blobs::Inline(LONGEST_INLINE), Blobs::Inline(0)],
        }
    }

    fn library_turn(&self, peer: &Peer, blobs: Blobs, sql: &str, rows: u64) -> Result<BTreeMap<String, f64>> {
        let run = peer.fetch(self.host, sql, blobs)?;
        if run.rows != rows {
            return Err(Error::other(format!("{} rows, not {rows}", run.rows)));
        }
        let mut values = BTreeMap::from([("wall_s".to_owned(), run.execute.wall_s + run.fetch())]);
        if let Some(wire) = run.wire {
            values.insert(
                "roundtrips".to_owned(),
                wire.round_trips.saturating_sub(wire.connect_round_trips) as f64,
            );
        }
        Ok(values)
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
        found.ok_or_else(|| Error::usage(format!("there is no query {name}: Q1 to Q6")))
    };
    names.iter().map(find).collect()
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
            "Elapsed: from preparing to the last content; the published figures, single runs, leave out preparing. One by one: opening and the beginning of each BLOB in one request, as client libraries do since 5.0.2."
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

fn with_results(
    mut values: BTreeMap<String, f64>,
    expected: query::Found,
    contestant: &Contestant<'_>,
) -> BTreeMap<String, f64> {
    values.extend([
        ("record_count".to_owned(), expected.rows as f64),
        ("max_id".to_owned(), expected.max_id as f64),
        ("content_bytes".to_owned(), expected.bytes as f64),
        ("max_inline_blob_size".to_owned(), contestant.max_inline().into()),
    ]);
    values
}
