//! Ends a command early: on Ctrl-C, SIGTERM, SIGHUP, SIGQUIT and `--timeout`.
//!
//! ```text
//!  signals ──► watcher ──first──► supervisor ─┬─► cancels every connection, again and again
//!                 │                 ▲         └─► ends the process when GRACE has passed, or when
//!                 │          --timeout            the command only waits (connecting, reading its SQL)
//!                 └──second──► ends the process
//! ```
//!
//! Usually the cancelled call fails, the command returns, and the process ends as always. A thread that ends the
//! process earlier first removes the incomplete files and ends the child processes: see [`leftover`].

mod conversation;
mod leftover;
mod signal;

pub(crate) use conversation::{Conversation, converse};
pub(crate) use leftover::{ended, keep_terminal, output, start, staying, stays, temporary};

use crate::failure::{Failure, Result};
use crate::platform::process::{self, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use crate::terminal;
use firearrow::Connection;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Why the command must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT.
    Signal(i32),
    /// `--timeout`.
    Timeout(Duration),
}

impl Reason {
    /// Returns the error text.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Signal(SIGTERM) => "terminated".to_owned(),
            Self::Signal(SIGQUIT) => "quit".to_owned(),
            Self::Signal(SIGHUP) => "hangup: the terminal was closed".to_owned(),
            Self::Signal(_) => "interrupted".to_owned(),
            Self::Timeout(limit) => format!("timed out after {limit:?} (--timeout)"),
        }
    }

    /// Returns the exit status: that of a shell for a program ended by a signal, and that of timeout(1).
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Signal(signal) => 128 + signal as u8,
            Self::Timeout(_) => 124,
        }
    }

    /// Returns the text to print at once.
    fn notice(self) -> Option<&'static str> {
        match self {
            Self::Signal(SIGINT) => Some("cancelling; press Ctrl-C again to stop at once"),
            Self::Signal(_) => Some("cancelling; a second signal stops at once"),
            Self::Timeout(_) => None,
        }
    }
}

/// While it lives, the command can be interrupted.
#[must_use]
pub(crate) struct Watch;

impl Drop for Watch {
    fn drop(&mut self) {
        // At exit, an engine in this process would wait for these connections.
        state().cancellers.clear();
    }
}

/// Starts to watch for signals and the time limit. Until then, signals end the process as usual.
pub(crate) fn watch(limit: Option<Duration>) -> Result<Watch> {
    set_limit(limit);
    signal::watch(stop)?;
    spawn("supervisor", supervise)?;
    Ok(Watch)
}

/// Sets a new time limit that starts now, or removes the limit.
pub(crate) fn set_limit(limit: Option<Duration>) {
    set_limit_with(limit, Duration::ZERO);
}

/// Sets a time limit that the command itself enforces; it is ended by force `slack` later.
pub(crate) fn set_limit_with(limit: Option<Duration>, slack: Duration) {
    let end = |limit: Duration| Instant::now().checked_add(limit.checked_add(slack)?);
    state().limit = limit.and_then(|limit| Some((end(limit)?, limit)));
    CHANGED.notify_all();
}

/// Fails once the command must end.
pub(crate) fn check() -> Result<()> {
    if reason().is_some() || conversation::is_cancelled() { Err(Failure::Stopped) } else { Ok(()) }
}

/// Returns why the command must end, if it must.
pub(crate) fn reason() -> Option<Reason> {
    REASON.get().copied()
}

/// The time until the limit, if there is one.
pub(crate) fn time_left() -> Option<Duration> {
    let (end, _) = state().limit?;
    Some(end.saturating_duration_since(Instant::now()))
}

/// Does work whose time does not count against the limit. It must have a limit of its own.
pub(crate) fn beside_the_limit<T>(work: impl FnOnce() -> T) -> T {
    let Some((end, limit)) = state().limit.take() else { return work() };
    let started = Instant::now();
    let done = work();
    state().limit = end.checked_add(started.elapsed()).map(|end| (end, limit));
    CHANGED.notify_all();
    done
}

/// Opens a connection whose calls are cancelled when the command must end.
pub(crate) fn cancellable(
    open: impl FnOnce() -> Result<Connection, firearrow::Error>,
) -> Result<Connection, firearrow::Error> {
    let connection = waiting(open)?;
    cancel_with(&connection);
    Ok(connection)
}

/// From now on the calls of this connection are cancelled when the command must end.
pub(crate) fn cancel_with(connection: &Connection) {
    let handle = connection.cancel_handle();
    on_end(move || {
        handle.cancel();
    });
}

/// Cancels like this, again and again, when the command must end. It stays registered; that is of no effect once there is
/// nothing left to cancel.
pub(crate) fn on_end(cancel: impl Fn() + Send + Sync + 'static) {
    state().cancellers.push(Arc::new(cancel));
}

/// Runs work that cannot be cancelled and leaves nothing to clean up: the process may end in the middle of it.
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

/// Makes an interruption this command's normal end: from now on it is not reported.
pub(crate) fn expected() {
    EXPECTED.store(true, Ordering::SeqCst);
    REPORTED.store(true, Ordering::SeqCst);
}

/// Prints why the command has ended and what it leaves behind, unless that has been printed.
pub(crate) fn report(reason: Reason, detail: &str) {
    if !REPORTED.swap(true, Ordering::SeqCst) {
        let stays = leftover::staying().map_or_else(String::new, |text| format!("\n  {text}"));
        terminal::notice(&format!("error: {}{detail}{stays}", reason.text()));
    }
}

/// As [`report`], for programs. `outcome` is what has become of the statements before.
pub(crate) fn report_json(reason: Reason, outcome: Option<&str>) {
    if !REPORTED.swap(true, Ordering::SeqCst) {
        let mut error = serde_json::json!({ "message": reason.text() });
        if let Some(outcome) = outcome.map(str::to_owned).or_else(leftover::staying) {
            error["outcome"] = outcome.into();
        }
        terminal::notice(&serde_json::json!({ "error": error }).to_string());
    }
}

/// Ends the process. Does not wait for an engine in this process, which may still be busy with cancelled work.
pub(crate) fn finish(status: u8) -> ExitCode {
    if reason().is_some() {
        // The command has reported its failure, or succeeded before it noticed the interruption.
        let _ = io::stdout().flush();
        process::exit(status.into());
    }
    ExitCode::from(status)
}

/// The state shared by the threads.
struct State {
    /// The deadline, and the limit that led to it.
    limit: Option<(Instant, Duration)>,
    cancellers: Vec<Arc<dyn Fn() + Send + Sync>>,
}

static STATE: Mutex<State> = Mutex::new(State { limit: None, cancellers: Vec::new() });
/// Signals a new limit or a reason to end.
static CHANGED: Condvar = Condvar::new();
/// Set once.
static REASON: OnceLock<Reason> = OnceLock::new();
static REPORTED: AtomicBool = AtomicBool::new(false);
/// Whether the command has no other end.
static EXPECTED: AtomicBool = AtomicBool::new(false);
/// Number of running calls of [`waiting`].
static WAITING: AtomicUsize = AtomicUsize::new(0);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work)?;
    Ok(())
}

/// Tells the command to end. Only the first reason counts.
fn stop(reason: Reason) {
    // Under the lock, so that the supervisor does not miss the change.
    let _state = state();
    let _ = REASON.set(reason);
    CHANGED.notify_all();
}

fn supervise() {
    let reason = wait_for_reason();
    let end = Instant::now() + GRACE;
    cancel();
    if let Some(notice) = reason.notice().filter(|_| !EXPECTED.load(Ordering::SeqCst)) {
        terminal::notice(notice);
    }
    // A call that has just begun has not seen the reason; and cleaning up must not take for ever.
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
    let cancellers = state().cancellers.clone();
    cancellers.iter().for_each(|cancel| cancel());
}

/// Ends the process at once.
fn end_now(reason: Reason) -> ! {
    leftover::remove();
    process::exit(reason.status().into())
}

/// How long the command may take to end by itself: longer than a silent server has to react to a
/// cancellation; one that goes on answering may be cut off.
const GRACE: Duration = Duration::from_secs(3);
/// How often the calls are cancelled.
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
