//! Where and with what it was measured; figures without that are worth nothing.

use super::reference::Reference;
use crate::info;
use arrow::temporal_conversions::timestamp_s_to_datetime;
use firearrow::ServerInfo;
use firearrow::config::{Config, Target};
use serde::Serialize;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The circumstances of a run. No paths and no names of hosts: reports are for publishing.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Environment {
    /// UTC.
    pub(crate) date: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) system: String,
    pub(crate) firearrow: &'static str,
    /// Unoptimised code is not worth measuring.
    pub(crate) is_optimised: bool,
    pub(crate) engine: String,
    pub(crate) implementation: String,
    pub(crate) is_embedded: bool,
    pub(crate) transport: String,
    pub(crate) encryption: Option<String>,
    pub(crate) compressed: bool,
    pub(crate) page_size: u32,
    /// What is compared with.
    pub(crate) reference: Option<String>,
    /// Why nothing is.
    pub(crate) no_reference: Option<String>,
    pub(crate) repetitions: usize,
    pub(crate) batch_rows: Option<usize>,
    pub(crate) consume: bool,
}

impl Environment {
    pub(crate) fn read(
        config: &Config,
        info: &ServerInfo,
        reference: &Reference,
        repetitions: usize,
    ) -> Self {
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
            transport: info::transport(config, info),
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

    /// `2026-11-21-amd-epyc-7b13-2-cores`
    pub(crate) fn folder(&self) -> String {
        format!("{}-{}-{}-cores", self.day(), slug(&self.cpu), self.cores)
    }

    /// `2026-11-21`
    pub(crate) fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }

    /// `embedded-5.0` or `firebird-5.0`.
    pub(crate) fn platform(&self) -> String {
        let way = if self.is_embedded { "embedded" } else { "firebird" };
        format!("{way}-{}", self.release())
    }

    /// `5.0` of `5.0.4`.
    pub(crate) fn release(&self) -> String {
        self.engine.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
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
    // Without what its builder calls it.
    let release = release.trim().split('-').next().unwrap_or_default();
    format!("{} {release} {}", std::env::consts::OS, std::env::consts::ARCH).replace("  ", " ")
}

/// Lower case, digits, and single hyphens.
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
