//! What a contestant's process is told, and what it answers: a line of JSON each.
//!
//! ```text
//!  ─► Job                       once
//!  ◄─ Ready, or Failed
//!  ─► again                     for every repetition
//!  ◄─ Done, or Failed
//! ```
//!
//! The process ends at the end of its input. What it prints besides is not read.

use super::column::Column;
use super::hash::Found;
use crate::error::{Error, Result};
use crate::measure::Wire;
use crate::plausible;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// What to read, and how. There are passwords in it: it is only ever written to the input of a process.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Job {
    /// Which contestant of the program.
    pub(crate) way: String,
    pub(crate) sql: String,
    /// The columns of the result; empty if nobody knows yet.
    pub(crate) columns: Vec<Column>,
    /// Firebird's URL, without the password.
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path or alias of the database.
    pub(crate) database: String,
    pub(crate) user: String,
    pub(crate) password: String,
    /// The client library, for drivers that need it; may be empty.
    pub(crate) client: String,
    pub(crate) encrypted: bool,
    pub(crate) compressed: bool,
    /// The driver's library, or the name under which a driver manager finds it.
    pub(crate) library: String,
    /// The function by which a driver manager loads it, if that does not follow from its name.
    pub(crate) entrypoint: String,
    /// The connection string of ODBC.
    pub(crate) odbc: String,
    /// The options of an ADBC database.
    pub(crate) adbc: BTreeMap<String, String>,
    /// Rows of a block, where the way has some.
    pub(crate) block: usize,
    /// The longest value that buffers have room for, in bytes.
    pub(crate) longest: usize,
}

/// The contestant could be loaded.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Ready {
    /// The driver and its version.
    pub(crate) ready: String,
}

/// It could not, or a repetition failed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Failed {
    pub(crate) error: String,
}

/// A repetition: connecting, executing, binding, draining, releasing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Done {
    pub(crate) rows: u64,
    /// The [sums](crate::demo::checksum()) of the columns, in hexadecimal; none if rows were only counted.
    #[serde(default)]
    pub(crate) hashes: Vec<String>,
    pub(crate) connect_s: f64,
    pub(crate) execute_s: f64,
    /// Describing columns and binding buffers, where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bind_s: Option<f64>,
    pub(crate) drain_s: f64,
    pub(crate) release_s: f64,
    /// What it did after its clock had stopped, such as hashing, before it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) afterwards_s: Option<f64>,
    /// Processor time of the process in all phases.
    pub(crate) cpu_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) peak_rss_bytes: Option<u64>,
    /// The columns, from drivers that are asked what they read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) columns: Vec<Column>,
    /// What else was counted, such as round trips.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) more: BTreeMap<String, f64>,
}

/// A line that a contestant prints.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(super) enum Answer {
    Failed(Failed),
    Ready(Ready),
    Done(Box<Done>),
}

impl Done {
    pub(crate) fn with(mut self, found: &Found) -> Self {
        self.rows = found.rows;
        self.hashes = found.sums.iter().map(|sum| format!("{sum:016x}")).collect();
        self
    }

    pub(super) fn found(&self) -> Result<Found> {
        let sum = |text: &String| {
            u64::from_str_radix(text, 16).map_err(|_| Error::other(format!("{text:?} is no hash")))
        };
        Ok(Found { rows: self.rows, sums: self.hashes.iter().map(sum).collect::<Result<_>>()? })
    }

    /// The time from executing to the last row.
    pub(super) fn wall_s(&self) -> f64 {
        self.execute_s + self.bind_s.unwrap_or(0.0) + self.drain_s
    }

    /// The time of all phases.
    pub(super) fn total_s(&self) -> f64 {
        self.connect_s + self.wall_s() + self.release_s
    }

    /// Whether it can be true, of somebody who was seen to take this long.
    ///
    /// # Errors
    /// Phases cannot take longer than it took to get them, nothing is negative, and there are so many processors. What else it
    /// has counted must be something that is known.
    pub(super) fn check(&self, seen: Duration) -> Result<()> {
        let parts = [self.connect_s, self.execute_s, self.drain_s, self.release_s];
        plausible::phases(seen, parts.into_iter().chain(self.bind_s).chain(self.afterwards_s))?;
        plausible::processor_time(seen, self.cpu_s)?;
        plausible::rows(self.rows, self.wall_s())?;
        plausible::memory(self.peak_rss_bytes.unwrap_or(0))?;
        let is_known = |name: &str| KNOWN.contains(&name);
        if let Some((name, value)) =
            self.more.iter().find(|(name, value)| !is_known(name) || !(0.0..=MOST).contains(*value))
        {
            return Err(Error::other(format!("it says {name} = {value}, which cannot be")));
        }
        let [round_trips, received, sent] =
            KNOWN.map(|name| self.more.get(name).map_or(0, |value| *value as u64));
        plausible::traffic(seen, [received, sent], round_trips)
    }

    /// Whether it tells of most of the time that it was seen to take.
    ///
    /// # Errors
    /// If its clock is too fast.
    pub(super) fn check_least(&self, seen: Duration) -> Result<()> {
        let seen = seen.as_secs_f64();
        let told = self.total_s() + self.afterwards_s.unwrap_or(0.0);
        // On a busy machine it may have to wait before it begins.
        match told < seen * 0.2 - 0.5 {
            true => Err(Error::other(format!("it took {seen:.3} s, and its clock says {told:.3} s"))),
            false => Ok(()),
        }
    }

    pub(super) fn values(&self, cells: u64) -> BTreeMap<String, f64> {
        let wall_s = self.wall_s();
        let rows = self.rows as f64;
        let mut values = self.more.clone();
        let mut set = |name: &str, value: Option<f64>| {
            values.extend(value.filter(|value| value.is_finite()).map(|value| (name.to_owned(), value)));
        };
        set("wall_s", Some(wall_s));
        set("rows_per_s", Some(rows / wall_s));
        set("drain_s", Some(self.drain_s));
        set("client_cpu_s", Some(self.cpu_s));
        set("client_cpu_per_cell_s", (cells > 0).then(|| self.cpu_s / cells as f64));
        set("peak_rss_bytes", self.peak_rss_bytes.map(|bytes| bytes as f64));
        set("connect_s", Some(self.connect_s));
        set("execute_s", Some(self.execute_s));
        set("bind_s", self.bind_s);
        set("release_s", Some(self.release_s));
        set("afterwards_s", self.afterwards_s);
        set("rows", Some(rows));
        values
    }
}

/// What [`Done::more`] tells of the wire, without connecting.
pub(super) fn of_wire(wire: Wire) -> BTreeMap<String, f64> {
    let round_trips = wire.round_trips.saturating_sub(wire.connect_round_trips);
    let values = [round_trips, wire.bytes_received, wire.bytes_sent];
    KNOWN.into_iter().zip(values).map(|(name, value)| (name.to_owned(), value as f64)).collect()
}

/// What [`Done::more`] may tell of.
const KNOWN: [&str; 3] = ["round_trips", "bytes_received", "bytes_sent"];
/// More than anybody counts.
const MOST: f64 = 1e18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_true_is_found() {
        let of = |seen: f64, text: &str| {
            let done: Done = serde_json::from_str(&format!(r#"{{"rows":1,{text}}}"#)).unwrap();
            let seen = Duration::from_secs_f64(seen);
            let checked = done.check(seen).and_then(|()| done.check_least(seen));
            checked.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let phases = r#""connect_s":1,"execute_s":1,"drain_s":2,"release_s":1"#;
        let quick = r#""connect_s":0,"execute_s":1e-9,"drain_s":1e-12,"release_s":0"#;
        assert_eq!(of(5.1, &format!(r#"{phases},"cpu_s":4,"more":{{"round_trips":3}}"#)), "");
        assert_eq!(of(50.0, &format!(r#"{phases},"cpu_s":4,"afterwards_s":40"#)), "");
        for (seen, text, found) in [
            (4.0, format!(r#"{phases},"cpu_s":0"#), "its clock says 5.000 s"),
            (50.0, format!(r#"{phases},"cpu_s":0"#), "its clock says 5.000 s"),
            (0.5, format!(r#"{quick},"cpu_s":0"#), "its clock says 1.0e-9 s for 1 rows"),
            (
                5.0,
                r#""connect_s":0,"execute_s":0.01,"drain_s":0.02,"release_s":0,"cpu_s":0"#.to_owned(),
                "its clock says 0.030 s",
            ),
            (5.1, format!(r#"{phases},"cpu_s":0,"afterwards_s":-1"#), "its clock says 4.000 s"),
            (5.1, format!(r#"{phases},"cpu_s":-5"#), "says -5.000 s of processor time"),
            (5.1, format!(r#"{phases},"cpu_s":1e9"#), "of processor time"),
            (5.1, format!(r#"{phases},"cpu_s":0,"more":{{"server_cpu_s":99}}"#), "it says server_cpu_s = 99"),
            (5.1, format!(r#"{phases},"cpu_s":0,"more":{{"round_trips":1e308}}"#), "it says round_trips = 1"),
            (5.1, format!(r#"{phases},"cpu_s":0,"more":{{"bytes_sent":-1}}"#), "it says bytes_sent = -1"),
            (5.1, format!(r#"{phases},"cpu_s":0,"more":{{"bytes_sent":1e13}}"#), "bytes of traffic"),
            (5.1, format!(r#"{phases},"cpu_s":0,"more":{{"round_trips":1e8}}"#), "round trips"),
            (5.1, format!(r#"{phases},"cpu_s":0,"peak_rss_bytes":20000000000000"#), "bytes of memory"),
        ] {
            assert!(of(seen, &text).contains(found), "{text}: {}", of(seen, &text));
        }
    }

    #[test]
    fn answers_are_told_apart() {
        let of = |text: &str| serde_json::from_str::<Answer>(text).unwrap();
        assert_eq!(of(r#"{"error":"no"}"#), Answer::Failed(Failed { error: "no".into() }));
        assert_eq!(of(r#"{"ready":"x 1"}"#), Answer::Ready(Ready { ready: "x 1".into() }));
        let line = r#"{"rows":2,"hashes":["ff"],"connect_s":1,"execute_s":2,"bind_s":0.5,"drain_s":4,"release_s":8,
            "cpu_s":0.25,"peak_rss_bytes":4096,"more":{"round_trips":3}}"#;
        let Answer::Done(done) = of(line) else { panic!("{line}") };
        assert_eq!(done.found().unwrap(), Found { rows: 2, sums: vec![255] });
        assert_eq!((done.wall_s(), done.total_s()), (6.5, 15.5));
        let values = done.values(10);
        assert_eq!((values["round_trips"], values["client_cpu_per_cell_s"]), (3.0, 0.025));
        let wrong = Done { hashes: vec!["x".into()], ..Done::default() };
        assert!(wrong.found().is_err());
        let again = Done::default().with(&Found { rows: 1, sums: vec![10] });
        assert_eq!(again.hashes, ["000000000000000a"]);
    }
}
