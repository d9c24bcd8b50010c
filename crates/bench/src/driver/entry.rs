//! Who takes part.

use super::job::Job;
use super::native;
use super::process::Program;
use super::{Options, Source};
use crate::adbc::phases as adbc;
use crate::error::{Error, Result};
use crate::odbc::{self, phases as ways};
use crate::python;
use firearrow::ServerInfo;
use firearrow::config::{Config, Target, WireCrypt};
use firearrow_report::OURS;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Somebody who may take part.
#[derive(Clone)]
pub(super) struct Entry {
    /// The word by which options choose it.
    pub(super) word: &'static str,
    /// The name in reports.
    pub(super) name: &'static str,
    /// Whether a failure fails the run: of firearrow's own drivers, or of what this program does with other drivers.
    pub(super) is_ours: bool,
    /// Whether it is part of this program, and so cannot be missing once it is there to run.
    pub(super) must_start: bool,
    /// Whether it only counts rows.
    pub(super) counts_only: bool,
    /// How it is run, or why it cannot be.
    pub(super) program: Result<(Program, Job), String>,
}

/// The reference below all others; it is another kind of process.
pub(super) const LIBRARY: (&str, &str) = ("libfbclient", "libfbclient, rows counted");

/// By word, name, and the program that runs it.
const KNOWN: [(&str, &str, Runner); 21] = [
    ("adbc", OURS, Runner::Ours(adbc::HASH)),
    ("adbc-count", "firearrow ADBC, rows counted", Runner::Ours(adbc::COUNT)),
    ("odbc-block", "firearrow ODBC, blocks", Runner::Ours(ways::BLOCK)),
    ("odbc-rows", "firearrow ODBC, row by row", Runner::Ours(ways::ROWS)),
    ("odbc-cells", "firearrow ODBC, SQLGetData", Runner::Ours(ways::CELLS)),
    ("crate", "firearrow crate", Runner::Ours(native::CRATE)),
    ("python", "firearrow Python", Runner::Python("firearrow")),
    ("official-block", "official ODBC, blocks", Runner::Official(ways::BLOCK)),
    ("official-rows", "official ODBC, row by row", Runner::Official(ways::ROWS)),
    ("official-cells", "official ODBC, SQLGetData", Runner::Official(ways::CELLS)),
    ("pyodbc", "pyodbc (firearrow ODBC)", Runner::Python("pyodbc")),
    ("turbodbc", "turbodbc (firearrow ODBC)", Runner::Python("turbodbc")),
    ("arrow-odbc", "arrow-odbc (firearrow ODBC)", Runner::Python("arrow-odbc")),
    ("firebird-driver", "firebird-driver", Runner::Python("firebird-driver")),
    ("fbfast", "fbfast", Runner::Python("fbfast")),
    ("firebirdsql", "firebirdsql", Runner::Python("firebirdsql")),
    ("mono", "Mono, GetValues (firearrow ODBC)", Runner::Mono),
    ("go-adbc", "Go, drivermgr (firearrow ADBC)", Runner::Peer("go", "adbc")),
    ("go-firebirdsql", "Go, firebirdsql", Runner::Peer("go", "firebirdsql")),
    ("jaybird", "Java, Jaybird", Runner::Java("jaybird")),
    ("rsfbclient", "Rust, rsfbclient", Runner::Peer("rsfbclient", "rsfbclient")),
];

/// Which program runs a contestant.
#[derive(Clone, Copy, Debug)]
enum Runner {
    /// This one.
    Ours(&'static str),
    /// This one, with the official driver.
    Official(&'static str),
    /// Python, with the script.
    Python(&'static str),
    /// A program of the folder of peers.
    Peer(&'static str, &'static str),
    Mono,
    Java(&'static str),
}

/// The contestants of a run, in order.
pub(super) fn entries(options: &Options, template: &Job) -> Vec<Entry> {
    let is_firebird = matches!(options.source, Source::Firebird(_));
    let known = KNOWN.iter().filter(|(word, ..)| is_firebird || runs_anything(word, options));
    let entry = |(word, name, runner): &(&'static str, &'static str, Runner)| Entry {
        word,
        name: if is_firebird { name } else { plain(word) },
        is_ours: if is_firebird { name.starts_with(OURS) } else { matches!(runner, Runner::Ours(_)) },
        must_start: matches!(runner, Runner::Ours(_)),
        counts_only: *word == "adbc-count",
        program: program(options, *runner, template),
    };
    known.map(entry).filter(|entry| options.wants(entry.word)).collect()
}

/// Whether it can read from sources other than Firebird that the options name.
fn runs_anything(word: &str, options: &Options) -> bool {
    let Source::Other { odbc, adbc, .. } = &options.source else { return false };
    match word {
        "odbc-block" | "odbc-rows" | "odbc-cells" | "pyodbc" | "turbodbc" | "arrow-odbc" | "mono" => {
            odbc.is_some()
        }
        "adbc" | "adbc-count" | "go-adbc" => adbc.is_some(),
        _ => false,
    }
}

/// The name where the driver is not firearrow's.
fn plain(word: &'static str) -> &'static str {
    match word {
        "adbc" => "ADBC",
        "adbc-count" => "ADBC, rows counted",
        "odbc-block" => "ODBC, blocks",
        "odbc-rows" => "ODBC, row by row",
        "odbc-cells" => "ODBC, SQLGetData",
        "mono" => "Mono, GetValues",
        "go-adbc" => "Go, drivermgr",
        other => other,
    }
}

/// Fails for a word that names nobody.
pub(super) fn check_words(words: &[String]) -> Result<()> {
    let names = || KNOWN.iter().map(|(word, ..)| *word).chain([LIBRARY.0]);
    match words.iter().find(|word| !names().any(|name| name == *word)) {
        None => Ok(()),
        Some(word) => {
            let all: Vec<&str> = names().collect();
            Err(Error::usage(format!("unknown contestant {word}; choose from {}", all.join(", "))))
        }
    }
}

fn program(options: &Options, runner: Runner, template: &Job) -> Result<(Program, Job), String> {
    let job = |way: &str| Job { way: way.to_owned(), ..template.clone() };
    let peer = |file: &str| match &options.peers {
        None => {
            Err("there is no folder of peers: give --peers, which scripts/driver-peers.sh fills".to_owned())
        }
        Some(folder) => match folder.join(file) {
            path if path.is_file() => Ok(path),
            _ => Err(format!("{file} is not among the peers: scripts/driver-peers.sh builds it")),
        },
    };
    let run =
        |path: &Path, arguments: &[OsString]| Program { path: path.into(), arguments: arguments.to_vec() };
    let needs_odbc = |job: Job| {
        match job.odbc.is_empty() {
        true => Err("firearrow's ODBC driver is not beside this command: name it with --odbc-library (the archives contain it, and `make build` makes it)".to_owned()),
        false => Ok(job),
    }
    };
    Ok(match runner {
        Runner::Ours(way) => {
            let (program, arguments) = &options.this;
            let job = match way {
                ways::ROWS | ways::BLOCK | ways::CELLS if !odbc::has_manager() => {
                    return Err(odbc::NO_MANAGER.to_owned());
                }
                ways::ROWS | ways::BLOCK | ways::CELLS => needs_odbc(job(way))?,
                adbc::HASH | adbc::COUNT => needs_adbc(job(way))?,
                _ => job(way),
            };
            (run(program, arguments), job)
        }
        Runner::Official(way) => {
            let Some(library) = &options.official else {
                return Err("no path of the official driver (--official-odbc)".to_owned());
            };
            if let Source::Firebird(firebird) = &options.source
                && !template.host.is_empty()
                && firebird.config.wire_crypt != WireCrypt::Enabled
            {
                return Err(
                    "it cannot be told whether to encrypt: leave wire_crypt out of the URL".to_owned()
                );
            }
            if template.compressed {
                return Err("it does not compress".to_owned());
            }
            let (program, arguments) = &options.this;
            (run(program, arguments), Job { odbc: official(library, template), ..job(way) })
        }
        Runner::Python(way) => {
            let Some(python) = &options.python else {
                return Err("no Python (--python)".to_owned());
            };
            let job = match way {
                "pyodbc" | "turbodbc" | "arrow-odbc" => needs_odbc(job(way))?,
                _ => job(way),
            };
            (run(python, &python::script(SCRIPT).map(Into::into)), job)
        }
        Runner::Peer(file, way) => {
            let job = if way == "adbc" { needs_adbc(job(way))? } else { job(way) };
            (run(&peer(&format!("{file}/contestant"))?, &[]), job)
        }
        Runner::Mono => {
            let program = peer("mono/contestant.exe")?;
            (run(Path::new("mono"), &[program.into()]), needs_odbc(job("mono"))?)
        }
        Runner::Java(way) => {
            let program = peer("java/contestant.jar")?;
            (run(Path::new("java"), &["-jar".into(), program.into()]), job(way))
        }
    })
}

fn needs_adbc(job: Job) -> Result<Job, String> {
    match job.library.is_empty() {
        true => Err("firearrow's ADBC driver is not beside this command: name it with --adbc-library (the archives contain it, and `make build` makes it)".to_owned()),
        false => Ok(job),
    }
}

/// The contestants in Python.
const SCRIPT: &str = include_str!("contestant.py");

/// Where the database is, for every kind of driver.
pub(super) fn job_template(options: &Options, config: &Config, info: &ServerInfo) -> Job {
    let url = config.redacted_url();
    let password = config.password.as_ref().map(|password| password.reveal().to_owned());
    let mut job = Job {
        user: config.login().to_owned(),
        password: password.clone().unwrap_or_default(),
        client: text(options.client()),
        encrypted: info.cipher.is_some(),
        compressed: info.compressed,
        library: text(options.adbc_library.as_deref()),
        block: options.block.get(),
        longest: options.longest.get(),
        ..Job::default()
    };
    job.entrypoint = adbc::entrypoint(&job.library).to_owned();
    match &config.target {
        Target::Embedded { path } => job.database.clone_from(path),
        Target::Remote { host, port, database } => {
            (job.host, job.port) = (host.clone(), *port);
            job.database.clone_from(database);
        }
    }
    if let Some(library) = &options.odbc_library {
        let keywords = odbc::keywords(&url, config);
        job.odbc = format!("DRIVER={};{keywords}", braced(&text(Some(library))));
        if let Some(password) = &password {
            job.odbc += &format!(";PWD={}", braced(password));
        }
    }
    job.adbc.insert("uri".to_owned(), url.clone());
    if let Some(password) = password {
        job.adbc.insert("password".to_owned(), password);
    }
    job.url = url;
    job
}

/// The connection string of the official driver.
fn official(library: &Path, job: &Job) -> String {
    let database = match job.host.as_str() {
        "" => job.database.clone(),
        host if host.contains(':') => format!("[{host}]/{}:{}", job.port, job.database),
        host => format!("{host}/{}:{}", job.port, job.database),
    };
    let mut connection = format!("DRIVER={};Dbname={};", braced(&text(Some(library))), braced(&database));
    connection += &format!("UID={};PWD={};CHARSET=UTF8", braced(&job.user), braced(&job.password));
    if !job.client.is_empty() {
        connection += &format!(";CLIENT={}", braced(&job.client));
    }
    connection
}

/// What a path means after changing the folder, which driver managers and runtimes may do.
fn text(path: Option<&Path>) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    path.map(|path| absolute(path).to_string_lossy().into_owned()).unwrap_or_default()
}

fn braced(text: &str) -> String {
    format!("{{{}}}", text.replace('}', "}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_paths_have_no_effect_on_the_rest_of_a_connection_string() {
        let job = Job {
            database: "/data/a;b.fdb".into(),
            user: "u".into(),
            password: "p;UID=x}y".into(),
            ..Job::default()
        };
        let text = official(Path::new("/lib.so"), &job);
        assert_eq!(text, "DRIVER={/lib.so};Dbname={/data/a;b.fdb};UID={u};PWD={p;UID=x}}y};CHARSET=UTF8");
    }
}
