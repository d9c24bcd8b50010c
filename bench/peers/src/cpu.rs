//! Processor time of this process, all threads included.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::time::Duration;

/// Processor time used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime {
    /// In the program and its libraries.
    pub user: Duration,
    /// In the system, on behalf of the program.
    pub system: Duration,
}

impl CpuTime {
    /// The time used up to now.
    pub fn now() -> std::io::Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        Ok(Self { user: duration(usage.user_time()), system: duration(usage.system_time()) })
    }

    /// The time used since `start`.
    pub fn since(self, start: Self) -> Self {
        Self { user: self.user.saturating_sub(start.user), system: self.system.saturating_sub(start.system) }
    }
}

fn duration(time: TimeVal) -> Duration {
    // Processor times are never negative.
    let seconds = u64::try_from(time.tv_sec()).unwrap_or_default();
    let micros = u64::try_from(time.tv_usec()).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}
