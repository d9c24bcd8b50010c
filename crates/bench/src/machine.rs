//! The circumstances of a run, without which its figures are worthless.

use super::reference::Reference;
use crate::error::{Error, Result};
use arrow::temporal_conversions::timestamp_s_to_datetime;
use firearrow::ServerInfo;
use firearrow::config::{Config, Target};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The circumstances of a run. It contains no paths or host names: reports are for publishing.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Environment {
    /// The start of the run in UTC: `2026-11-21T12:34:56Z`.
    pub date: String,
    /// The processor's name.
    pub cpu: String,
    /// Logical processors that this process may use.
    pub cores: usize,
    /// The machine's memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system, its release and the architecture.
    pub system: String,
    /// The version of this crate.
    pub firearrow: &'static str,
    /// Whether the code was compiled without debug assertions; figures of other builds are worthless.
    pub is_optimised: bool,
    /// The engine's version, such as `5.0.4`.
    pub engine: String,
    /// The engine's platform, as the engine names it.
    pub implementation: String,
    /// Whether the engine runs in this process.
    pub is_embedded: bool,
    /// How the database is reached; see [`transport`].
    pub transport: String,
    /// The cipher of the connection.
    pub encryption: Option<String>,
    /// Whether the connection is compressed.
    pub compressed: bool,
    /// The database's page size in bytes.
    pub page_size: u32,
    /// The reference, if any.
    pub reference: Option<String>,
    /// Why there is no reference.
    pub no_reference: Option<String>,
    /// Measured repetitions.
    pub repetitions: usize,
    /// Maximum rows per batch, if not the default.
    pub batch_rows: Option<usize>,
    /// Whether the bytes of all values are summed.
    pub consume: bool,
}

impl Environment {
    /// Collects facts about machine, server and reference. The fields about reading get the values of a run without
    /// these options.
    #[must_use]
    pub fn read(config: &Config, info: &ServerInfo, reference: &Reference, repetitions: usize) -> Self {
        let (reference, no_reference) = match reference {
            Reference::Peer(peer) => (Some(peer.name.clone()), None),
            Reference::Absent(reason) => (None, Some(reason.clone())),
        };
        Self {
            date: now(),
            cpu: processor().unwrap_or_else(|| "unknown processor".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory(),
            system: system(),
            firearrow: env!("CARGO_PKG_VERSION"),
            is_optimised: !cfg!(debug_assertions),
            engine: info.engine_version.clone(),
            implementation: info.implementation.clone(),
            is_embedded: matches!(config.target, Target::Embedded { .. }),
            transport: transport(config, info),
            encryption: info.cipher.clone(),
            compressed: info.compressed,
            page_size: info.page_size,
            reference,
            no_reference,
            repetitions,
            batch_rows: None,
            consume: false,
        }
    }

    /// Returns what is known without any engine, by name, for a record; and the day.
    #[must_use]
    pub(crate) fn of_machine(repetitions: usize) -> (Map<String, Value>, String) {
        let date = now();
        let day = date.split('T').next().unwrap_or_default().to_owned();
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("date", date.into());
        set("cpu", processor().unwrap_or_else(|| "unknown processor".to_owned()).into());
        set("cores", std::thread::available_parallelism().map_or(1, usize::from).into());
        set("memory_bytes", memory().into());
        set("system", system().into());
        set("firearrow", env!("CARGO_PKG_VERSION").into());
        set("is_optimised", (!cfg!(debug_assertions)).into());
        set("repetitions", repetitions.into());
        (fields, day)
    }

    /// Returns everything by name, for a record.
    ///
    /// # Errors
    /// If a value is not JSON, which does not happen.
    pub fn fields(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self)? {
            Value::Object(fields) => Ok(fields),
            other => Err(Error::other(format!("no structure: {other}"))),
        }
    }

    /// Returns the name of a folder for the run: `2026-11-21-amd-epyc-7b13-2-cores`.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{}-{}-{}-cores", self.day(), slug(&self.cpu), self.cores)
    }

    /// Returns the date without the time: `2026-11-21`.
    #[must_use]
    pub fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }

    /// Returns the kind of engine and its release: `embedded-5.0` or `firebird-5.0`.
    #[must_use]
    pub fn platform(&self) -> String {
        let way = if self.is_embedded { "embedded" } else { "firebird" };
        format!("{way}-{}", self.release())
    }

    /// Returns the engine's release: `5.0` of `5.0.4`.
    #[must_use]
    pub fn release(&self) -> String {
        self.engine.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
    }
}

/// Describes how a database is reached: by TCP with which protocol, or within this process.
#[must_use]
pub fn transport(config: &Config, info: &ServerInfo) -> String {
    match (&config.target, info.protocol) {
        (Target::Remote { .. }, Some(protocol)) => format!("TCP, protocol {protocol}"),
        (Target::Remote { .. }, None) => "TCP".to_owned(),
        (Target::Embedded { .. }, _) => "embedded: the engine runs in this process".to_owned(),
    }
}

fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let time = timestamp_s_to_datetime(seconds.cast_signed());
    time.map_or_else(String::new, |time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some(kib * 1024)
}

fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // Without the builder's suffix.
    let release = release.trim().split('-').next().unwrap_or_default();
    format!("{} {release} {}", std::env::consts::OS, std::env::consts::ARCH).replace("  ", " ")
}

/// Converts to lower case, digits and single hyphens.
fn slug(text: &str) -> String {
    let text = text.replace("(R)", "").replace("(TM)", "").to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn slugs_are_good_names_of_folders() {
        assert_eq!(slug("Intel(R) Xeon(R) CPU @ 2.20GHz"), "intel-xeon-cpu-2-20ghz");
    }
}
