//! Signals, as they end the command.

use super::{Reason, conversation, end_now};
use crate::failure::Result;
use crate::platform::process::{SIGINT, on_signal};
use std::time::{Duration, Instant};

/// Calls `first` on the first signal. The second signal, or one after the time limit, ends the process.
pub(super) fn watch(first: impl Fn(Reason) + Send + 'static) -> Result<()> {
    let mut since: Option<Instant> = None;
    on_signal(move |signal| {
        if signal == SIGINT && conversation::hears() {
            return;
        }
        let reason = Reason::Signal(signal);
        match since {
            None if super::reason().is_none() => {
                since = Some(Instant::now());
                first(reason);
            }
            Some(since) if since.elapsed() < ECHO => {}
            _ => end_now(reason),
        }
    })?;
    Ok(())
}

/// timeout(1) signals the process and then its group; no user presses a key twice that fast.
const ECHO: Duration = Duration::from_millis(100);
