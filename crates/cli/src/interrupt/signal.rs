//! Signals, read by a dedicated thread.

use super::{Reason, conversation, end_now, spawn};
use crate::failure::Result;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::fs;
use std::time::{Duration, Instant};

/// Calls `first` on the first signal. The second signal, or one after the time limit, ends the process.
pub(super) fn watch(first: impl Fn(Reason) + Send + 'static) -> Result<()> {
    // nohup(1) lets the command outlive its terminal; a shell that starts a background job lets it ignore Ctrl-\.
    let others = [SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGXFSZ].into_iter().chain(others))?;
    spawn("signals", move || {
        let mut since: Option<Instant> = None;
        for signal in signals.forever() {
            if signal == SIGXFSZ {
                // A file has reached its maximum size (`ulimit -f`): the write fails, which is enough.
                continue;
            }
            if signal == SIGINT && conversation::hears() {
                continue;
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
        }
    })
}

/// Whether the parent process set this signal to be ignored. Only Linux can tell without unsafe code.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored(&status).is_some_and(|set| set & 1 << (signal - 1) != 0)
}

/// Parses the set of ignored signals.
fn ignored(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// timeout(1) signals the process and then its group; no user presses a key twice that fast.
const ECHO: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_a_set() {
        let status = "SigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert_eq!(ignored(status), Some(0x1001));
        assert_eq!(ignored("Name:\tfirearrow\n"), None);
        assert!(ignored(&fs::read_to_string("/proc/self/status").unwrap()).is_some());
    }
}
