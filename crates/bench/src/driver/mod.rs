//! Drivers beside each other: the same rows through ODBC, ADBC, Python and other languages, every cell of them hashed.
//!
//! ```text
//!  subject: a shape, with known rows and hashes ─┐
//!  entry: who takes part, or why not ─► process ─┴► turns: again … Done = expected? ─► record
//!                                          │ Job, again
//!                                          ▼
//!  native: this program through ODBC, ADBC or the crate;  contestant.py;  bench/peers/…
//! ```
//!
//! Each contestant is a process of its own, so that its processor time and memory are its own and a crash is nobody else's.

pub(crate) mod column;
pub(crate) mod hash;
pub(crate) mod job;

mod entry;
mod native;
mod process;
mod results;
mod subject;
mod turns;
mod widened;

pub use native::serve;
pub use subject::Shape;

use crate::demo;
use crate::error::{Error, Result};
use crate::host::{Goal, Host};
use crate::machine::Environment;
use crate::reference::{Reference, ReferenceChoice};
use crate::route::Route;
use crate::server::Server;
use firearrow::config::{Config, WireCompression};
use firearrow_report::{End, Record};
use firearrow_wan::{Link, WanProxy};
use job::Job;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use subject::Subject;
use turns::Tournament;

/// Where rows come from.
#[derive(Clone)]
pub enum Source {
    /// A Firebird database.
    Firebird(Box<Firebird>),
    /// Anything that has a driver. One of them must be given.
    Other {
        /// A connection string for unixODBC. It may contain a password.
        odbc: Option<String>,
        /// The name or path of an ADBC driver, and the options of its database.
        adbc: Option<(String, BTreeMap<String, String>)>,
        /// The query.
        sql: String,
    },
}

/// A Firebird database, and what to read of it.
#[derive(Clone)]
pub struct Firebird {
    /// How to connect.
    pub config: Config,
    /// Whether to compress.
    pub compress: bool,
    /// The emulated link, if there is one.
    pub link: Option<Link>,
    /// Shapes to read; none if there is a query.
    pub shapes: Vec<Shape>,
    /// A query to read instead.
    pub sql: Option<String>,
}

/// What to measure, and who takes part.
#[derive(Clone)]
pub struct Options {
    /// Where rows come from.
    pub source: Source,
    /// Rows of demo tables to create, and to read.
    pub rows: NonZeroU64,
    /// Measured repetitions.
    pub iterations: NonZeroUsize,
    /// Rows of a block, where columns are bound.
    pub block: NonZeroUsize,
    /// The longest value, in bytes, that buffers of ODBC have room for.
    pub longest: NonZeroUsize,
    /// The longest time of a repetition.
    pub limit: Duration,
    /// Words that name the contestants; empty = all.
    pub contestants: Vec<String>,
    /// The program that calls [`serve`], and its arguments.
    pub this: (PathBuf, Vec<OsString>),
    /// Firearrow's drivers.
    pub odbc_library: Option<PathBuf>,
    /// See `odbc_library`.
    pub adbc_library: Option<PathBuf>,
    /// Firebird's official ODBC driver.
    pub official: Option<PathBuf>,
    /// A Python in which rivals are installed.
    pub python: Option<PathBuf>,
    /// The folder that `scripts/driver-peers.sh` has filled.
    pub peers: Option<PathBuf>,
    /// The client library as the reference, and for rivals.
    pub reference: ReferenceChoice,
}

impl Options {
    /// The path of the client library, if there is one.
    fn client(&self) -> Option<&Path> {
        match &self.reference {
            ReferenceChoice::Client(path) => path.as_deref(),
            ReferenceChoice::Nothing(_) => None,
        }
    }

    fn wants(&self, word: &str) -> bool {
        self.contestants.is_empty() || self.contestants.iter().any(|wanted| wanted == word)
    }
}

/// A benchmark that is ready to run.
pub struct Bench<'a> {
    host: &'a dyn Host,
    options: Options,
    subjects: Vec<Subject>,
    /// What the cases are called: how the database is reached.
    case: String,
    template: Job,
    reference: Reference,
    server: Server,
    environment: Map<String, Value>,
    /// The day and the platform, for the name of a folder.
    name: String,
    /// The link; it exists as long as the benchmark.
    _proxy: Option<WanProxy>,
}

impl<'a> Bench<'a> {
    /// Creates missing tables and connects once, to know what must be read.
    ///
    /// # Errors
    /// [`Error::Usage`] for contestants that nobody knows, and for a link to an engine in this process; otherwise the errors
    /// of connecting and of the tables.
    pub fn prepare(host: &'a dyn Host, options: Options) -> Result<Self> {
        entry::check_words(&options.contestants)?;
        match options.source.clone() {
            Source::Firebird(firebird) => Self::on_firebird(host, options, &firebird),
            Source::Other { .. } => Ok(Self::on_anything(host, options)),
        }
    }

    fn on_firebird(host: &'a dyn Host, options: Options, firebird: &Firebird) -> Result<Self> {
        let Firebird { config, compress, link, shapes, sql } = firebird;
        let (compress, link) = (*compress, *link);
        let subjects = match sql {
            // It needs nothing that would have to be made.
            Some(sql) => vec![Subject::query(host, config, sql)?],
            None => {
                demo::complete_only(host, config, options.rows.get(), &subject::tables(shapes))?;
                host.status("working out what must be read");
                let connection = host.open(config)?;
                let rows = options.rows.get();
                let of = |shape: &Shape| Subject::of(&connection, *shape, rows);
                let subjects = shapes.iter().map(of).collect::<Result<_>>()?;
                connection.close()?;
                host.status("");
                subjects
            }
        };
        let (route, proxy) = match link {
            Some(link) => Route::emulated(config, link).map(|(route, proxy)| (route, Some(proxy)))?,
            None => (Route::direct(config), None),
        };
        let choice = match options.wants(entry::LIBRARY.0) {
            true => options.reference.clone(),
            false => ReferenceChoice::Nothing(turns::NOT_WANTED.to_owned()),
        };
        let way = route.way(host, &choice, |config| {
            if compress {
                config.compress = WireCompression::On;
            }
        })?;
        if compress && !way.info.compressed {
            return Err(Error::other("the server does not offer compression: its option WireCompression"));
        }
        let template = entry::job_template(&options, &way.config, &way.info);
        let environment = Environment::read(config, &way.info, &way.reference, options.iterations.get());
        let case = match way.config.target {
            firearrow::config::Target::Embedded { .. } => "embedded".to_owned(),
            firearrow::config::Target::Remote { .. } => format!("{}, {}", route.name, way.name),
        };
        let mut fields = environment.fields()?;
        fields.insert("block_rows".to_owned(), json!(options.block));
        if let Some(Link { round_trip, rate, .. }) = link {
            fields.insert("link_round_trip_ms".to_owned(), json!(round_trip.as_secs_f64() * 1000.0));
            fields.insert("link_rate_bit_per_s".to_owned(), json!(rate));
        }
        Ok(Self {
            host,
            name: format!("{}-driver-{}", environment.day(), environment.platform()),
            subjects,
            case,
            template,
            reference: way.reference,
            server: Server::find(config),
            environment: fields,
            options,
            _proxy: proxy,
        })
    }

    fn on_anything(host: &'a dyn Host, options: Options) -> Self {
        let mut template =
            Job { block: options.block.get(), longest: options.longest.get(), ..Job::default() };
        let mut subject = Subject::unknown("");
        if let Source::Other { odbc, adbc, sql } = &options.source {
            subject = Subject::unknown(sql);
            template.odbc = odbc.clone().unwrap_or_default();
            if let Some((driver, options)) = adbc {
                (template.library, template.adbc) = (driver.clone(), options.clone());
                // Driver managers know it by this name, too.
                let given = template.adbc.remove("entrypoint");
                template.entrypoint =
                    given.unwrap_or_else(|| crate::adbc::phases::entrypoint(driver).to_owned());
            }
        }
        let (environment, day) = Environment::of_machine(options.iterations.get());
        Self {
            host,
            name: format!("{day}-driver-other"),
            subjects: vec![subject],
            case: "the query".to_owned(),
            template,
            reference: Reference::Absent(turns::NOT_WANTED.to_owned()),
            server: Server::Unknown("only of Firebird".to_owned()),
            environment,
            options,
            _proxy: None,
        }
    }

    /// The name of a folder for the run: day, benchmark and platform.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lets all contestants read every subject, turn by turn. `done` gets the record after each subject; what it gets last is
    /// returned, too. A rival that fails is missing from then on, and named.
    ///
    /// # Errors
    /// What goes wrong with firearrow's own, [`Host::check`], and having nobody to measure. What has been measured until then
    /// was given to `done`.
    pub fn run(&mut self, done: &mut dyn FnMut(&Record)) -> Result<Record> {
        let mut record = Record::new("driver", "Drivers beside each other", self.environment.clone());
        let (mut missing, mut versions, mut counted) = (Vec::new(), BTreeMap::new(), Vec::new());
        let entries = entry::entries(&self.options, &self.template);
        let count = (self.options.iterations.get() + 1) * self.subjects.len() * (entries.len() + 1);
        let progress = self.host.progress(Goal::Turns(count as u64));
        let is_firebird = matches!(self.options.source, Source::Firebird(_));
        let count_of_subjects = self.subjects.len();
        for subject in &mut self.subjects {
            let tournament = Tournament {
                host: self.host,
                entries: &entries,
                reference: &self.reference,
                server: &self.server,
                case: &self.case,
                iterations: self.options.iterations.get(),
                limit: self.options.limit,
            };
            let (outcome, played) = tournament.run(subject, &*progress);
            missing.extend(outcome.missing.into_iter().map(|(name, reason)| (subject.id, name, reason)));
            versions.extend(outcome.versions);
            if let Err(error) = played {
                if !outcome.samples.is_empty() {
                    record.tables.push(results::head(subject, self.options.block.get(), is_firebird));
                    record.samples.extend(outcome.samples);
                }
                if !record.samples.is_empty() {
                    let mut missing = results::missing(&missing, count_of_subjects);
                    missing.push(format!("{}: the run ended before all of it was measured", subject.id));
                    record.end = Some(End { missing, ..End::default() });
                    done(&record);
                }
                return Err(error);
            }
            if !outcome.is_hashed {
                counted.push(subject.id);
            }
            if outcome.samples.is_empty() {
                let all = results::missing(&missing, count_of_subjects).join("\n  ");
                return Err(Error::other(format!("no contestant could read {}:\n  {all}", subject.id)));
            }
            record.tables.push(results::head(subject, self.options.block.get(), is_firebird));
            record.samples.extend(outcome.samples);
            let drivers: Vec<String> =
                versions.iter().map(|(name, version)| format!("{name}: {version}")).collect();
            record.head.environment.insert("drivers".to_owned(), drivers.join("; ").into());
            done(&record);
        }
        drop(progress);
        let mut checks = Vec::new();
        if counted.len() < count_of_subjects {
            checks.push(
                "rows of every repetition; and the hash of every cell, except where rows are only counted"
                    .to_owned(),
            );
        }
        if !counted.is_empty() {
            checks.push(format!("{}: only numbers of rows, since nobody hashed cells", counted.join(", ")));
        }
        record.end =
            Some(End { complete: true, missing: results::missing(&missing, count_of_subjects), checks });
        done(&record);
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Standalone;

    #[test]
    fn an_adbc_driver_may_have_an_entry_function_of_its_own() {
        let entry = |driver: &str, options: &[(&str, &str)]| {
            let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            let options = Options {
                source: Source::Other {
                    odbc: None,
                    adbc: Some((driver.to_owned(), options.collect())),
                    sql: String::new(),
                },
                rows: NonZeroU64::MIN,
                iterations: NonZeroUsize::MIN,
                block: NonZeroUsize::MIN,
                longest: NonZeroUsize::MIN,
                limit: Duration::ZERO,
                contestants: Vec::new(),
                this: (PathBuf::new(), Vec::new()),
                odbc_library: None,
                adbc_library: None,
                official: None,
                python: None,
                peers: None,
                reference: ReferenceChoice::Client(None),
            };
            let Job { entrypoint, adbc, .. } = Bench::on_anything(&Standalone, options).template;
            (entrypoint, adbc.into_iter().collect::<Vec<_>>())
        };
        let path = ("path".to_owned(), "a.duckdb".to_owned());
        assert_eq!(
            entry("libduckdb.so", &[("entrypoint", "duckdb_adbc_init"), ("path", "a.duckdb")]),
            ("duckdb_adbc_init".to_owned(), vec![path])
        );
        assert_eq!(entry("postgresql", &[]), (String::new(), vec![]));
        assert_eq!(entry("/a/libadbc_driver_firebird.so", &[]).0, "AdbcDriverFirebirdInit");
    }
}
