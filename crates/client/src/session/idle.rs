//! Connections that are idle for long, which middle boxes forget.

use super::Session;
use crate::backend::Backend;
use crate::error::Result;
use std::time::{Duration, Instant};

/// Since when a connection has sent nothing.
pub(crate) struct Idle {
    packets: u64,
    since: Instant,
}

impl Idle {
    pub(crate) fn new() -> Self {
        Self { packets: 0, since: Instant::now() }
    }

    /// How often to look at a connection that may be idle for `interval`.
    pub(crate) fn step(interval: Duration) -> Duration {
        interval.min(Duration::from_secs(1)).max(Duration::from_millis(10))
    }

    /// Somebody uses the connection.
    pub(crate) fn interrupt(&mut self) {
        self.since = Instant::now();
    }
}

impl<B: Backend> Session<B> {
    /// Sends a dummy packet if nothing was sent for `interval`. Returns `false` once the connection has failed.
    pub(crate) async fn keep_alive(&mut self, idle: &mut Idle, interval: Duration) -> Result<bool> {
        if self.backend.is_failed() {
            return Ok(false);
        }
        let sent = self.backend.wire_stats().packets_sent;
        let is_due = sent == idle.packets && idle.since.elapsed() >= interval;
        if is_due {
            self.backend.keep_alive().await?;
        }
        if is_due || sent != idle.packets {
            *idle = Idle { packets: self.backend.wire_stats().packets_sent, since: Instant::now() };
        }
        Ok(true)
    }
}
