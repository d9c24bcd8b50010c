//! What terminals do, in the options of a run and of a campaign.

use clap::{Args, ValueEnum};
use firearrow_oltp::{Locality, Mix, Mode, RunOptions};
use std::num::NonZeroUsize;
use std::time::Duration;

#[derive(Args, Debug)]
pub(super) struct WorkArgs {
    /// Connections that work side by side
    #[arg(long, value_name = "N", default_value = "20")]
    terminals: NonZeroUsize,
    /// How operations reach the server
    #[arg(long, default_value = "sp")]
    mode: Mode,
    /// How often each operation comes
    #[arg(long, default_value = "tpcc")]
    mix: Mix,
    /// Isolation of the transactions [default: read-consistency; read-committed on Firebird 3]
    #[arg(long)]
    isolation: Option<Isolation>,
    /// Seed of what terminals ask for
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Isolation {
    /// READ COMMITTED READ CONSISTENCY
    ReadConsistency,
    /// READ COMMITTED RECORD VERSION
    ReadCommitted,
    /// SNAPSHOT
    Snapshot,
}

impl WorkArgs {
    pub(super) fn options(&self, locality: Locality, warm_up: Duration, measure: Duration) -> RunOptions {
        RunOptions {
            terminals: self.terminals.get(),
            mode: self.mode,
            locality,
            mix: self.mix,
            isolation: self.isolation.map(|isolation| match isolation {
                Isolation::ReadConsistency => firearrow::Isolation::ReadCommittedReadConsistency,
                Isolation::ReadCommitted => firearrow::Isolation::ReadCommittedRecordVersion,
                Isolation::Snapshot => firearrow::Isolation::Snapshot,
            }),
            warm_up,
            measure,
            seed: self.seed,
            full_check: false,
        }
    }
}
