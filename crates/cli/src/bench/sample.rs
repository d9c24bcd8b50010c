//! Figures of one repetition, whatever it did.

use super::measure::{self, Wire};
use super::{insert, reference};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one repetition cost.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Sample {
    pub(super) rows: u64,
    /// The time that is compared; the title of the table says which.
    pub(super) wall_s: f64,
    /// Processor time of the client, connecting included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu_s: Option<f64>,
    /// Processor time of the server, connections included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server_cpu_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wire: Option<Wire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) round_trips: Option<u64>,
    /// All that was timed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) phases: BTreeMap<&'static str, f64>,
}

/// From executing to the last row.
impl From<measure::Run> for Sample {
    fn from(run: measure::Run) -> Self {
        Self {
            rows: run.rows,
            wall_s: run.execute.wall_s + run.fetch(),
            cpu_s: Some(run.cpu()),
            server_cpu_s: None,
            wire: run.wire,
            round_trips: run.wire.map(|wire| wire.round_trips),
            phases: run.phases().into_iter().map(|(name, lap)| (name, lap.wall_s)).collect(),
        }
    }
}

/// Without the commit, which waits for the disk.
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
        Self::from(insert::Run::from(inserted)).with(inserted.wire)
    }
}

impl Sample {
    /// The traffic of a connection; its round trips count from the beginning of the transaction.
    pub(super) fn with(mut self, wire: Option<Wire>) -> Self {
        self.wire = wire;
        self.round_trips = wire.map(|wire| wire.round_trips.saturating_sub(wire.connect_round_trips));
        self
    }

    /// A server that has nothing to deliver has no speed either; then it is that of the whole.
    pub(super) fn speed(&self) -> f64 {
        self.rows.max(1) as f64 / self.wall_s
    }
}
