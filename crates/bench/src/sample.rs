//! The figures of one repetition, whatever it did.

use super::measure::{self, Wire};
use super::{insert, reference};
use serde::Serialize;
use std::collections::BTreeMap;

/// The cost of one repetition.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    /// Number of rows read or written, which a [`Contest`](crate::Contest) checks.
    pub rows: u64,
    /// The compared elapsed time, in seconds; the notes of the table say what it covers.
    pub wall_s: f64,
    /// Number of values read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<u64>,
    /// Processor time of the client, including connecting, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// The part of it in user mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// Processor time of the server, including connections, in seconds. A [`Stage`](crate::Stage) fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// The traffic on the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// Writes to the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sends: Option<u64>,
    /// Reads from the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receives: Option<u64>,
    /// The compared round trips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<u64>,
    /// The elapsed time of each timed phase, in seconds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<&'static str, f64>,
}

/// The compared time runs from executing to the last row.
impl From<measure::Run> for Sample {
    fn from(run: measure::Run) -> Self {
        Self {
            rows: run.rows,
            wall_s: run.execute.wall_s + run.fetch(),
            cpu_s: Some(run.cpu()),
            wire: run.wire,
            round_trips: run.wire.map(|wire| wire.round_trips),
            phases: run.phases().into_iter().map(|(name, lap)| (name, lap.wall_s)).collect(),
            ..Self::default()
        }
    }
}

/// The compared time excludes the commit, which waits for the disk.
impl From<insert::Run> for Sample {
    fn from(run: insert::Run) -> Self {
        Self {
            rows: run.rows,
            wall_s: run.execute_s,
            cpu_s: Some(run.cpu_s),
            phases: [("execute", run.execute_s), ("commit", run.commit_s)].into(),
            ..Self::default()
        }
    }
}

impl From<reference::Inserted> for Sample {
    fn from(inserted: reference::Inserted) -> Self {
        let sample = Self::from(insert::Run::from(inserted)).with(inserted.wire);
        Self { user_s: Some(inserted.work_user_s), ..sample }
    }
}

impl From<reference::Selected> for Sample {
    fn from(selected: reference::Selected) -> Self {
        let sample = Self {
            rows: selected.rows,
            wall_s: selected.execute_s,
            cpu_s: Some(selected.work_user_s + selected.work_sys_s),
            user_s: Some(selected.work_user_s),
            ..Self::default()
        };
        sample.with(selected.wire)
    }
}

impl Sample {
    /// Adds the traffic of a connection. Round trips count from the start of the transaction.
    #[must_use]
    pub fn with(mut self, wire: Option<Wire>) -> Self {
        self.wire = wire;
        self.round_trips = wire.map(|wire| wire.round_trips.saturating_sub(wire.connect_round_trips));
        self
    }

    /// Returns rows per second, or repetitions per second if there are no rows.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.rows.max(1) as f64 / self.wall_s
    }
}
