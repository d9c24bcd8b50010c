//! Ending a command before its time: Ctrl-C, SIGTERM, SIGHUP, SIGQUIT and `--timeout`.
//!
//! ```text
//!  signals ──► watcher ──first──► supervisor ─┬─► cancels every connection, again and again
//!                 │                 ▲         └─► ends the process when GRACE has passed, or when
//!                 │          --timeout            the command only waits (connecting, reading its SQL)
//!                 └──second──► ends the process
//! ```
//!
//! Usually the cancelled call fails, the command returns and the process ends as always. Whoever ends it earlier
//! removes the files that are not complete and the child processes first: see [`leftover`].

mod leftover;
mod signal;

pub(crate) use leftover::{output, stays, temporary};

use crate::failure::{Failure, Result};
use crate::terminal;
use firearrow::{CancelHandle, Connection};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Why the command shall end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT.
    Signal(i32),
    /// `--timeout`.
    Timeout(Duration),
}

impl Reason {
    /// What is printed as the error.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Signal(SIGTERM) => "terminated".to_owned(),
            Self::Signal(SIGQUIT) => "quit".to_owned(),
            Self::Signal(SIGHUP) => "hangup: the terminal was closed".to_owned(),
            Self::Signal(_) => "interrupted".to_owned(),
            Self::Timeout(limit) => format!("timed out after {limit:?} (--timeout)"),
        }
    }

    /// The exit status: as shells report a program that a signal ended, and as timeout(1) does.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Signal(signal) => 128 + signal as u8,
            Self::Timeout(_) => 124,
        }
    }

    /// What is printed at once.
    fn notice(self) -> Option<&'static str> {
        match self {
            Self::Signal(SIGINT) => Some("cancelling; press Ctrl-C again to stop at once"),
            Self::Signal(_) => Some("cancelling; a second signal stops at once"),
            Self::Timeout(_) => None,
        }
    }
}

/// As long as it lives the command can be told to end.
#[must_use]
pub(crate) struct Watch;

impl Drop for Watch {
    fn drop(&mut self) {
        // An engine in this process would wait for them when the process ends.
        state().connections.clear();
    }
}

/// Starts to watch for signals and for the time limit. Before it is called, signals end the process as usual.
pub(crate) fn watch(limit: Option<Duration>) -> Result<Watch> {
    set_limit(limit);
    signal::watch(stop)?;
    spawn("supervisor", supervise)?;
    Ok(Watch)
}

/// Sets the time limit, from now on, or removes it.
pub(crate) fn set_limit(limit: Option<Duration>) {
    set_limit_with(limit, Duration::ZERO);
}

/// The same, but the command ends by itself when it keeps to the limit: it has so much longer to do so.
pub(crate) fn set_limit_with(limit: Option<Duration>, slack: Duration) {
    let end = |limit: Duration| Instant::now().checked_add(limit.checked_add(slack)?);
    state().limit = limit.and_then(|limit| Some((end(limit)?, limit)));
    CHANGED.notify_all();
}

/// Fails once the command shall end.
pub(crate) fn check() -> Result<()> {
    if reason().is_some() { Err(Failure::Stopped) } else { Ok(()) }
}

/// Why the command shall end, if it shall.
pub(crate) fn reason() -> Option<Reason> {
    REASON.get().copied()
}

/// Opens a connection whose calls are cancelled when the command shall end.
pub(crate) fn cancellable(
    open: impl FnOnce() -> Result<Connection, firearrow::Error>,
) -> Result<Connection, firearrow::Error> {
    let connection = waiting(open)?;
    // Handles of connections that are closed stay here. They are small, and cancelling does nothing to them.
    state().connections.push(connection.cancel_handle());
    Ok(connection)
}

/// Does what nothing can cancel, and what leaves nothing to be tidied up: the process may end in the middle of it.
pub(crate) fn waiting<T>(work: impl FnOnce() -> T) -> T {
    struct Waiting;
    impl Drop for Waiting {
        fn drop(&mut self) {
            WAITING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    WAITING.fetch_add(1, Ordering::SeqCst);
    let _waiting = Waiting;
    work()
}

/// Prints why the command has ended and what it leaves, unless that has been printed.
pub(crate) fn report(reason: Reason, detail: &str) {
    if !REPORTED.swap(true, Ordering::SeqCst) {
        let stays = leftover::staying().map_or_else(String::new, |text| format!("\n  {text}"));
        terminal::notice(&format!("error: {}{detail}{stays}", reason.text()));
    }
}

/// The end of the command. An engine in this process might still be busy with what was given up, so nothing waits for it.
pub(crate) fn finish(status: u8) -> ExitCode {
    if reason().is_some() {
        // The command has reported its failure, or has succeeded before it noticed.
        let _ = io::stdout().flush();
        low_level::exit(status.into());
    }
    ExitCode::from(status)
}

/// What the threads share.
struct State {
    /// When the time is up, and after how long.
    limit: Option<(Instant, Duration)>,
    connections: Vec<CancelHandle>,
}

static STATE: Mutex<State> = Mutex::new(State { limit: None, connections: Vec::new() });
/// The limit is another one, or there is a reason to end.
static CHANGED: Condvar = Condvar::new();
/// Set once.
static REASON: OnceLock<Reason> = OnceLock::new();
static REPORTED: AtomicBool = AtomicBool::new(false);
/// How many calls of [`waiting`] are running.
static WAITING: AtomicUsize = AtomicUsize::new(0);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work)?;
    Ok(())
}

/// The command shall end. Only the first reason counts.
fn stop(reason: Reason) {
    // Under the lock, so that the supervisor does not miss it.
    let _state = state();
    let _ = REASON.set(reason);
    CHANGED.notify_all();
}

fn supervise() {
    let reason = wait_for_reason();
    let end = Instant::now() + GRACE;
    cancel();
    if let Some(notice) = reason.notice() {
        terminal::notice(notice);
    }
    // A call that has just begun has not seen it, and tidying up must not take for ever either.
    while Instant::now() < end && WAITING.load(Ordering::SeqCst) == 0 {
        thread::sleep(AGAIN);
        cancel();
    }
    report(reason, "");
    end_now(reason);
}

fn wait_for_reason() -> Reason {
    let mut state = state();
    loop {
        if let Some(reason) = reason() {
            return reason;
        }
        let Some((end, limit)) = state.limit else {
            state = CHANGED.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return *REASON.get_or_init(|| Reason::Timeout(limit));
        }
        (state, _) = CHANGED.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
    }
}

fn cancel() {
    // Not under the lock: an engine may take its time.
    let connections = state().connections.clone();
    for connection in connections {
        connection.cancel();
    }
}

/// Ends the process, whatever it is doing. Handlers of libraries that run at the end could wait for other threads.
fn end_now(reason: Reason) -> ! {
    leftover::remove();
    low_level::exit(reason.status().into())
}

/// How long the command may take to end by itself: longer than servers have to react to being cancelled.
const GRACE: Duration = Duration::from_secs(3);
/// How often it is cancelled.
const AGAIN: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_texts_and_statuses() {
        for (reason, text, status) in [
            (Reason::Signal(SIGINT), "interrupted", 130),
            (Reason::Signal(SIGTERM), "terminated", 143),
            (Reason::Signal(SIGQUIT), "quit", 131),
            (Reason::Signal(SIGHUP), "hangup: the terminal was closed", 129),
            (Reason::Timeout(Duration::from_millis(2500)), "timed out after 2.5s (--timeout)", 124),
        ] {
            assert_eq!((reason.text().as_str(), reason.status()), (text, status));
        }
    }
}
