//! The process that plays the sessions of a [`Campaign`](crate::Campaign), in order.
//!
//! The campaign writes a line `seed port` for each session and reads a line with its outcome. A session that kills
//! the worker does not end the campaign.

use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use crate::system;

/// Panics of this process since the last session, including those of detached threads.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Marks the lines with answers; a session may print others.
const MARK: &str = "@session ";

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ended in an expected way, which the text names.
    Ended(String),
    /// A thread panicked.
    Panicked(String),
    /// The process died.
    Died(String),
    /// It took longer than its time limit.
    Hung,
}

/// The answer of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    /// The peak memory use of the process during the session, in KiB.
    pub(crate) peak: u64,
}

/// Plays sessions as the worker of a campaign, until there are no more. `play` gets the seed of a session and the port to
/// connect to, and says in a few words how it ended.
///
/// # Panics
/// When the process was not started by a campaign.
pub fn work(play: impl Fn(u64, u16) -> String) {
    let memory = std::env::var(MEMORY).ok().and_then(|bytes| bytes.parse().ok());
    system::limit_memory(memory.expect("a campaign says how much memory its workers may use"));
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
        PANICS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(format!("{} ({text})", place.unwrap_or_default()));
        default(info);
    }));
    for line in io::stdin().lock().lines() {
        let line = line.expect("the campaign writes text");
        let numbers = line.split_once(' ').map(|(seed, port)| (seed.parse(), port.parse()));
        let Some((Ok(seed), Ok(port))) = numbers else { panic!("no seed and port: {line:?}") };
        system::reset_peak();
        let ended = panic::catch_unwind(AssertUnwindSafe(|| play(seed, port)));
        let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
        let (kind, text) = match (panics.first(), ended) {
            (None, Ok(text)) => ("ended", text),
            (first, _) => ("panicked", first.cloned().unwrap_or_default()),
        };
        let text = text.replace(['\n', '\t'], " ");
        let answer = format!("\n{MARK}{kind}\t{}\t{text}\n", system::peak());
        io::stdout().write_all(answer.as_bytes()).expect("the campaign reads");
    }
}

impl Answer {
    /// Reads a line that a worker has printed. Returns `None` if it is no answer.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut fields = line.strip_prefix(MARK)?.splitn(3, '\t');
        let (kind, peak, text) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?.to_owned());
        let outcome = if kind == "panicked" { Outcome::Panicked(text) } else { Outcome::Ended(text) };
        Some(Self { outcome, peak })
    }
}

/// The environment variable with the bytes that a worker may use.
pub(crate) const MEMORY: &str = "FIREARROW_WORKER_MEMORY";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{is_emulated, this_program};

    #[test]
    fn answers_are_found_among_other_output() {
        assert_eq!(Answer::parse("running 1 test"), None);
        let answer = Answer::parse("@session panicked\t12\tsrc/x.rs:1 (index out of bounds)").unwrap();
        assert_eq!(answer.peak, 12);
        assert_eq!(answer.outcome, Outcome::Panicked("src/x.rs:1 (index out of bounds)".into()));
        assert_eq!(Answer::parse("@session ended\t1\tok").unwrap().outcome, Outcome::Ended("ok".into()));
    }

    /// In a process of its own: what other tests allocate and free would count too.
    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "the peak is measured on Linux only")]
    fn the_peak_is_that_of_the_time_since_it_was_reset() {
        if is_emulated() {
            return eprintln!("SKIP the peak of memory: it is the emulator's");
        }
        let output = this_program()
            .unwrap()
            .args(["--ignored", "--exact", "worker::tests::play_peak"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    #[ignore = "a part of another test"]
    fn play_peak() {
        drop(vec![1_u8; 64 << 20]);
        system::reset_peak();
        let before = system::peak();
        assert!(before > 0);
        drop(vec![1_u8; 32 << 20]);
        assert!(system::peak() >= before + (30 << 10), "{before} KiB, then {}", system::peak());
    }
}
