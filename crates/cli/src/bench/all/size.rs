//! How much `firearrow bench all` measures.

use clap::ValueEnum;
use firearrow_bench::wire;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Profile {
    /// A little of everything, in less than ten minutes
    Smoke,
    /// As published figures need it: hours
    Full,
    /// Next to nothing, to try things out; figures mean nothing
    #[value(hide = true)]
    Tiny,
}

/// The sizes of all suites.
#[derive(Clone, Debug)]
pub(super) struct Size {
    /// Rows of demo tables to create.
    pub(super) rows: NonZeroU64,
    /// Rows to insert.
    pub(super) insert_rows: NonZeroU64,
    pub(super) repetitions: NonZeroUsize,
    pub(super) wire: wire::Size,
    /// Queries of `bench blob`; none = all.
    pub(super) blob_queries: &'static [&'static str],
    pub(super) blob_rows: usize,
    pub(super) blob_repetitions: usize,
    pub(super) warehouses: u32,
    /// Whether the tables of the workload are tiny.
    pub(super) is_tiny: bool,
    pub(super) terminals: usize,
    pub(super) warm_up: Duration,
    pub(super) measure: Duration,
    /// Runs of each locality and contestant.
    pub(super) runs: usize,
}

impl Profile {
    pub(super) fn size(self) -> Size {
        let rows = |count: u64| NonZeroU64::new(count).expect("above 0");
        let times = |count: usize| NonZeroUsize::new(count).expect("above 0");
        match self {
            Self::Smoke => Size {
                rows: rows(20_000),
                insert_rows: rows(20_000),
                repetitions: times(3),
                wire: wire::Size::QUICK,
                blob_queries: &["Q1", "Q3"],
                blob_rows: 100,
                blob_repetitions: 3,
                warehouses: 1,
                is_tiny: false,
                terminals: 20,
                warm_up: Duration::from_secs(3),
                measure: Duration::from_secs(12),
                runs: 1,
            },
            Self::Full => Size {
                rows: rows(1_000_000),
                insert_rows: rows(100_000),
                repetitions: times(9),
                wire: wire::Size::FULL,
                blob_queries: &[],
                blob_rows: 1000,
                blob_repetitions: 5,
                warehouses: 10,
                is_tiny: false,
                terminals: 20,
                warm_up: Duration::from_secs(30),
                measure: Duration::from_secs(120),
                runs: 3,
            },
            Self::Tiny => Size {
                rows: rows(500),
                insert_rows: rows(200),
                repetitions: times(1),
                wire: wire::Size { rows: 500, link_rows: 100, insert_rows: 200, ..wire::Size::QUICK },
                blob_queries: &["Q1"],
                blob_rows: 10,
                blob_repetitions: 1,
                warehouses: 2,
                is_tiny: true,
                terminals: 3,
                warm_up: Duration::from_millis(200),
                measure: Duration::from_secs(2),
                runs: 1,
            },
        }
    }
}
