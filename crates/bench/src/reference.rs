//! The engine's floor: the peer program, which does the work of a benchmark with a client library and converts nothing.
//!
//! Each of its turns is a separate process, because a process can load only one client library. The program connects
//! and fetches a row before it measures, so that library and engine are loaded, as they are for firearrow.

use super::measure::{Lap, Run, Wire};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::plausible;
use crate::subprocess::{Limits, Subprocess};
use firearrow::ServerInfo;
use firearrow::config::{Config, Password, Target};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The peer's name in tables: the peer is nothing but the client library.
pub(crate) const PEER: &str = "libfbclient";

/// Whether to compare, and with which client library.
#[derive(Clone, Debug)]
pub enum ReferenceChoice {
    /// Compare with this client library (libfbclient), which should be of the server's version. Without a path, only
    /// the embedded engine can be compared, with itself.
    Client(Option<PathBuf>),
    /// Do not compare, for this reason, which reports show.
    Nothing(String),
}

/// The reference, or why there is none.
#[derive(Debug)]
pub enum Reference {
    /// A program that does the same work with the client library.
    Peer(Peer),
    /// Why there is none; a text for reports.
    Absent(String),
}

/// The program `firearrow-peer-libfb` and its fixed arguments. It loops over `fetchNext` of a client library and
/// converts nothing: the engine's floor.
#[derive(Debug)]
pub struct Peer {
    program: PathBuf,
    arguments: Vec<OsString>,
    password: Option<Password>,
    /// The reference's name for reports: the file name of the client library, or `the same engine`.
    pub name: String,
}

/// One line of the peer's output.
#[derive(Debug, Deserialize)]
struct Line {
    rows: u64,
    connect_s: f64,
    execute_s: f64,
    first_row_s: f64,
    drain_s: f64,
    release_s: f64,
    /// A part of the phase `release` in firearrow's figures.
    #[serde(default)]
    detach_s: f64,
    cpu_user_s: f64,
    cpu_sys_s: f64,
    /// Counted by libraries from Firebird 5.0.2.
    #[serde(flatten)]
    wire: Option<Wire>,
}

/// How the peer handles BLOBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blobs {
    /// It does not read them.
    Unread,
    /// It does not read them, and the server must not send them along either.
    Left,
    /// It reads them one by one.
    Read,
    /// The server sends BLOBs of up to this many bytes along with their rows (protocol 19).
    Inline(u32),
}

/// The cost of an insertion with the peer.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Inserted {
    /// The traffic; counted by libraries from Firebird 5.0.2.
    #[serde(flatten)]
    pub wire: Option<Wire>,
    /// Number of inserted rows.
    pub rows: u64,
    /// The elapsed time of all executions, in seconds.
    pub execute_s: f64,
    /// The elapsed time of the commit, in seconds.
    pub commit_s: f64,
    /// Processor time in user mode, in seconds.
    pub cpu_user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// Processor time in user mode without connecting, in seconds.
    pub work_user_s: f64,
}

/// The cost of a small query with the peer, again and again.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Selected {
    /// The traffic; counted by libraries from Firebird 5.0.2.
    #[serde(flatten)]
    pub wire: Option<Wire>,
    /// Number of rows fetched.
    pub rows: u64,
    /// The elapsed time of all executions, in seconds.
    pub execute_s: f64,
    /// Processor time in user mode without connecting, in seconds.
    pub work_user_s: f64,
    /// Processor time in the kernel without connecting, in seconds.
    pub work_sys_s: f64,
}

impl Reference {
    /// Finds the peer program, named by the environment variable `FIREARROW_PEER` or located next to the running
    /// program. It will connect as firearrow did, encrypted and compressed according to `info`.
    #[must_use]
    pub fn find(choice: &ReferenceChoice, config: &Config, info: &ServerInfo) -> Self {
        let client = match choice {
            ReferenceChoice::Client(client) => client,
            ReferenceChoice::Nothing(reason) => return Self::Absent(reason.clone()),
        };
        let client = match (client, &config.target) {
            (Some(path), _) => Some(path.clone()),
            // The peer follows the same rules as firearrow, so it finds the same engine.
            (None, Target::Embedded { .. }) => config.client_library.clone().map(PathBuf::from),
            (None, Target::Remote { .. }) => {
                return Self::Absent(
                    "give --reference-client, the libfbclient of the server's version".to_owned(),
                );
            }
        };
        let Some(program) = program() else {
            return Self::Absent(format!(
                "{PROGRAM} is neither named by {VARIABLE} nor beside this program; \
                 build it with `cargo build --release -p firearrow-peers`"
            ));
        };
        let name = match &client {
            Some(path) => file_name(path),
            None => "the same engine".to_owned(),
        };
        let arguments = arguments(client, config, info);
        Self::Peer(Peer { program, arguments, password: config.password.clone(), name })
    }

    /// Returns the peer, if there is one.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Peer(peer) => Some(peer),
            Self::Absent(_) => None,
        }
    }
}

impl Peer {
    /// Runs a query once, in a new process, and reads all its rows.
    ///
    /// # Errors
    /// [`Error`](crate::error::Error) if the program cannot be run, fails, or prints something other than a result.
    pub fn fetch(&self, host: &dyn Host, sql: &str, blobs: Blobs) -> Result<Run> {
        Ok(self.timed(host, sql, blobs, Limits::default())?.0)
    }

    /// As [`fetch`](Self::fetch), within a time; also returns how long the process was seen to take.
    pub(crate) fn timed(
        &self,
        host: &dyn Host,
        sql: &str,
        blobs: Blobs,
        limits: Limits,
    ) -> Result<(Run, Duration)> {
        let size;
        let work = match blobs {
            Blobs::Unread => &["--work", "fetch"][..],
            Blobs::Left => &["--work", "fetch", "--inline", "0"],
            Blobs::Read => &["--work", "blobs"],
            Blobs::Inline(longest) => {
                size = longest.to_string();
                &["--work", "blobs", "--inline", &size]
            }
        };
        let (line, seen): (Line, Duration) = self.line(host, sql, work, limits)?;
        Ok((line.into(), seen))
    }

    /// Inserts this many rows with one statement, in a new process. `method` contains arguments for the program: see
    /// [`insert::method`](crate::insert::method).
    ///
    /// # Errors
    /// [`Error`](crate::error::Error) if the program cannot be run, fails, prints something other than a result, or
    /// says that it inserted another number of rows.
    pub fn insert(&self, host: &dyn Host, sql: &str, rows: u64, method: &[&str]) -> Result<Inserted> {
        let wanted = rows.to_string();
        let work = [&["--work", "insert", "--rows", &wanted], method].concat();
        let inserted: Inserted = self.line(host, sql, &work, Limits::default())?.0;
        match inserted.rows == rows {
            true => Ok(inserted),
            false => Err(Error::other(format!(
                "the reference inserted {} rows, not {rows}; the figures are withheld",
                inserted.rows
            ))),
        }
    }

    /// Runs a query with one INTEGER parameter, which is its first column, this many times in a new process.
    ///
    /// # Errors
    /// [`Error`](crate::error::Error) if the program cannot be run, fails, or prints something other than a result.
    pub fn select(&self, host: &dyn Host, sql: &str, times: u64) -> Result<Selected> {
        Ok(self.line(host, sql, &["--work", "select", "--rows", &times.to_string()], Limits::default())?.0)
    }

    /// The program with its fixed arguments and these.
    fn command(&self, work: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(password) = &self.password {
            // Other users of this machine could read arguments.
            command.env("FIREARROW_PASSWORD", password.reveal());
        }
        command.args(&self.arguments).arg("--warm-up").args(work);
        command
    }

    /// Starts the program for work in which it is talked with.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start<'a>(&self, host: &'a dyn Host, work: &[&str], limits: Limits) -> Result<Subprocess<'a>> {
        Subprocess::spawn(host, self.command(work), limits, self.password())
    }

    /// Returns the line that the program prints, and how long it was seen to take.
    fn line<T: Told>(
        &self,
        host: &dyn Host,
        sql: &str,
        work: &[&str],
        limits: Limits,
    ) -> Result<(T, Duration)> {
        let command = self.command(&[&["--sql", sql], work].concat());
        let told = Subprocess::once(host, command, limits, self.password()).and_then(|(line, seen)| {
            T::check(&line, seen)?;
            Ok((line, seen))
        });
        told.map_err(|error| error.of("the reference failed"))
    }

    fn password(&self) -> &str {
        self.password.as_ref().map_or("", |password| password.reveal())
    }
}

/// What the program tells of itself.
trait Told: DeserializeOwned {
    /// # Errors
    /// If it cannot be true of a process that was seen to take this long. Loading the library and the engine are not
    /// told of, so there is no lower limit.
    fn check(&self, seen: Duration) -> Result<()>;
}

impl Told for Line {
    fn check(&self, seen: Duration) -> Result<()> {
        let work = [self.execute_s, self.first_row_s, self.drain_s];
        plausible::phases(seen, work.into_iter().chain([self.connect_s, self.release_s, self.detach_s]))?;
        plausible::rows(self.rows, work.iter().sum())?;
        processor_time(seen, [self.cpu_user_s, self.cpu_sys_s])?;
        traffic(seen, self.wire)
    }
}

impl Told for Inserted {
    fn check(&self, seen: Duration) -> Result<()> {
        plausible::phases(seen, [self.execute_s, self.commit_s])?;
        plausible::rows(self.rows, self.execute_s + self.commit_s)?;
        processor_time(seen, [self.cpu_user_s, self.cpu_sys_s])?;
        processor_time(seen, [self.work_user_s, 0.0])?;
        traffic(seen, self.wire)
    }
}

impl Told for Selected {
    fn check(&self, seen: Duration) -> Result<()> {
        plausible::phases(seen, [self.execute_s])?;
        plausible::rows(self.rows, self.execute_s)?;
        processor_time(seen, [self.work_user_s, self.work_sys_s])?;
        traffic(seen, self.wire)
    }
}

/// What was counted, if anything was; connecting takes a part of it.
fn traffic(seen: Duration, wire: Option<Wire>) -> Result<()> {
    let Some(Wire { bytes_received, bytes_sent, round_trips, connect_round_trips }) = wire else {
        return Ok(());
    };
    plausible::traffic(seen, [bytes_received, bytes_sent], round_trips.max(connect_round_trips))
}

/// Of both modes, neither of which is negative.
fn processor_time(seen: Duration, [user, system]: [f64; 2]) -> Result<()> {
    plausible::processor_time(seen, user)?;
    plausible::processor_time(seen, system)?;
    plausible::processor_time(seen, user + system)
}

impl From<Line> for Run {
    fn from(line: Line) -> Self {
        let lap = |wall_s| Lap { wall_s, cpu_s: None };
        Self {
            rows: line.rows,
            connect: lap(line.connect_s),
            execute: lap(line.execute_s),
            first_row: lap(line.first_row_s),
            drain: lap(line.drain_s),
            release: lap(line.release_s + line.detach_s),
            cpu_user_s: line.cpu_user_s,
            cpu_system_s: line.cpu_sys_s,
            wire: line.wire,
            ..Self::default()
        }
    }
}

fn arguments(client: Option<PathBuf>, config: &Config, info: &ServerInfo) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |name: &str, value: OsString| arguments.extend([name.into(), value]);
    if let Some(client) = client {
        add("--client", client.into());
    }
    add("--user", config.login().into());
    if let Some(role) = &config.role {
        add("--role", role.into());
    }
    match &config.target {
        Target::Embedded { path } => {
            // The peer takes a colon as the end of a server's name, unless a slash comes first.
            let is_odd = path.contains(':');
            let absolute = is_odd.then(|| std::path::absolute(path).ok()).flatten();
            add("--database", absolute.map_or_else(|| path.into(), OsString::from));
        }
        Target::Remote { host, port, database } => {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            add("--database", format!("{host}/{port}:{database}").into());
            // Encrypted and compressed like firearrow's connection.
            add("--wire-crypt", if info.cipher.is_some() { "enabled" } else { "disabled" }.into());
            if info.compressed {
                arguments.push("--compress".into());
            }
        }
    }
    arguments
}

fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Some(named.into());
    }
    let here = env::current_exe().ok()?;
    let beside = here.parent()?.join(PROGRAM);
    beside.is_file().then_some(beside)
}

/// Returns the file name with the version that links hide, without folders, which reports must not reveal.
fn file_name(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

const PROGRAM: &str = "firearrow-peer-libfb";
const VARIABLE: &str = "FIREARROW_PEER";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Standalone;

    #[test]
    fn lines_of_the_peer_are_understood() {
        let line = r#"{"rows":3,"bytes":54,"checksum":"00","connect_s":0.5,"execute_s":0.1,"first_row_s":0.2,
            "drain_s":1.5,"release_s":0.25,"detach_s":0.25,"cpu_user_s":1.0,"cpu_sys_s":0.5}"#;
        let run: Run = serde_json::from_str::<Line>(line).unwrap().into();
        assert_eq!((run.rows, run.release.wall_s, run.cpu()), (3, 0.5, 1.5));
        assert_eq!(run.total(), 2.8);
        assert!(run.wire.is_none());
        let counted = r#","bytes_sent":7,"bytes_received":9,"round_trips":5,"connect_round_trips":4}"#;
        let line = line.replace('}', counted);
        let run: Run = serde_json::from_str::<Line>(&line).unwrap().into();
        let wire = run.wire.unwrap();
        assert_eq!((wire.bytes_sent, wire.bytes_received), (7, 9));
        assert_eq!((wire.round_trips, wire.connect_round_trips), (5, 4));
    }

    /// What comes of a peer that prints this.
    fn told(line: &str) -> Peer {
        let script = format!("echo '{line}'");
        let arguments = ["-c", &script].map(OsString::from).into();
        Peer { program: "sh".into(), arguments, password: None, name: "a script".into() }
    }

    #[test]
    fn a_peer_that_inserts_other_rows_has_no_figures() {
        let line = |rows: u64| {
            format!(
                r#"{{"rows":{rows},"execute_s":0.0001,"commit_s":0,"cpu_user_s":0,"cpu_sys_s":0,"work_user_s":0}}"#
            )
        };
        let insert = |rows| told(&line(rows)).insert(&Standalone, "INSERT", 7, &["--method", "one"]);
        assert_eq!(insert(7).unwrap().rows, 7);
        let error = insert(8).unwrap_err().to_string();
        assert_eq!(error, "the reference inserted 8 rows, not 7; the figures are withheld");
    }

    #[test]
    fn traffic_that_cannot_be_is_found() {
        let of = |wire: &str| {
            let line = format!(
                r#"{{"rows":1,"execute_s":0.0001,"work_user_s":0,"work_sys_s":0,"connect_round_trips":1,{wire}}}"#
            );
            let selected = told(&line).select(&Standalone, "SELECT", 1);
            selected.map_or_else(|error| error.to_string(), |selected| format!("{:?}", selected.wire))
        };
        let right = of(r#""bytes_received":9,"bytes_sent":9,"round_trips":3"#);
        assert!(right.contains("round_trips: 3"), "{right}");
        for (wire, found) in [
            (r#""bytes_received":9000000000000000,"bytes_sent":9,"round_trips":3"#, "bytes of traffic"),
            (r#""bytes_received":9,"bytes_sent":9000000000000000,"round_trips":3"#, "bytes of traffic"),
            (r#""bytes_received":9,"bytes_sent":9,"round_trips":9000000000000"#, "round trips"),
        ] {
            let told = of(wire);
            assert!(told.starts_with("the reference failed: ") && told.contains(found), "{wire}: {told}");
        }
    }

    #[test]
    fn the_peer_connects_as_ours_did() {
        let config = Config::parse_with_env("firebird://u:pw@[::1]:3051/x?role=r", &|_| None).unwrap();
        let mut info = ServerInfo::default();
        info.compressed = true;
        let arguments = arguments(None, &config, &info);
        let expected = "--user u --role r --database [::1]/3051:x --wire-crypt disabled --compress";
        assert_eq!(arguments.join(" ".as_ref()), expected);
    }
}
