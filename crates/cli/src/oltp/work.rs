//! What terminals do, in the options of a run and of a campaign.

use crate::bench::args::up_to;
use clap::Args;
use firearrow_oltp::{Connections, Level, Locality, Mix, Mode, Pace, RunOptions, Think};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Each is a connection.
const MOST_TERMINALS: u64 = 10_000;

#[derive(Args, Debug)]
pub(super) struct WorkArgs {
    /// Connections that work side by side
    #[arg(long, value_name = "N", default_value = "20", value_parser = up_to(MOST_TERMINALS))]
    terminals: NonZeroUsize,
    /// How often each operation comes
    #[arg(long, default_value = "tpcc")]
    mix: Mix,
    /// Isolation of the transactions [default: read-consistency; read-committed on Firebird 3]
    #[arg(long)]
    isolation: Option<Level>,
    /// The pause before each operation: none, tpcc (its keying and thinking times) or fixed:MS
    #[arg(long, value_name = "PAUSE", default_value = "none", value_parser = think)]
    think: Think,
    /// Operations per second of all terminals together, whatever the server does; latency counts from when each was due
    #[arg(long, value_name = "N", conflicts_with = "think", value_parser = rate)]
    rate: Option<f64>,
    /// Seed of the terminals' inputs
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,
}

/// How firearrow's terminals do it; a comparison has each way.
#[derive(Args, Debug)]
pub(super) struct WayArgs {
    /// How operations reach the server
    #[arg(long, default_value = "sp")]
    pub(super) mode: Mode,
    /// How terminals share threads
    #[arg(long, value_name = "HOW", default_value = "threads")]
    connections: Connections,
}

impl WayArgs {
    pub(super) fn apply(&self, options: RunOptions) -> RunOptions {
        RunOptions { mode: self.mode, connections: self.connections, ..options }
    }
}

impl WorkArgs {
    pub(super) fn options(&self, locality: Locality, warm_up: Duration, measure: Duration) -> RunOptions {
        RunOptions {
            terminals: self.terminals.get(),
            mode: Mode::Sp,
            locality,
            mix: self.mix,
            isolation: self.isolation,
            pace: Pace { think: self.think, rate: self.rate },
            connections: Connections::Threads,
            warm_up,
            measure,
            seed: self.seed,
            full_check: false,
        }
    }
}

fn think(text: &str) -> Result<Think, String> {
    match text {
        "none" => Ok(Think::None),
        "tpcc" => Ok(Think::Tpcc),
        other => {
            let pause = other.strip_prefix("fixed:").and_then(|pause| pause.parse().ok());
            let pause = pause.filter(|pause| *pause <= 3_600_000).map(Duration::from_millis);
            pause
                .map(Think::Fixed)
                .ok_or_else(|| "expected none, tpcc or fixed:MS, such as fixed:100".to_owned())
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.001..=1e6).contains(rate));
    rate.ok_or_else(|| "expected a number of operations per second, from 0.001 to 1000000".to_owned())
}
