//! Ctrl+C during calls that wait.
//!
//! Python runs the handlers of signals in its main thread, which is the one that waits. Its own C handler writes the signal's
//! number into a socket, though (`signal.set_wakeup_fd`), which a thread of ours reads: it cancels the call, and Python gets its turn.

use crate::error;
use firearrow::CancelToken;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::Cell;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

const SIGINT: u8 = 2;

/// The call of the main thread that waits.
static WAITING: Mutex<Option<CancelToken>> = Mutex::new(None);
/// Where Python writes, and the process that made it: a child that was forked has no thread that reads.
static BELL: Mutex<Option<(u32, UnixStream)>> = Mutex::new(None);
/// Where signals went before: asyncio waits there for those that have handlers of a loop. -1 for nowhere.
static BEFORE: AtomicI32 = AtomicI32::new(-1);

thread_local! {
    /// Whether this is Python's main thread; `None` before anybody asked.
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Runs `work` while other Python threads run. Ctrl+C cancels it, and raises KeyboardInterrupt.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> firearrow::Result<T> + Send,
) -> PyResult<T> {
    if !is_main(py)? {
        return py.detach(work).map_err(|failed| error::of(py, failed));
    }
    let token = CancelToken::new();
    let listening = Listening::begin(py, &token)?;
    let result = py.detach(|| token.run(work));
    let is_interrupted = token.is_cancelled();
    listening.end(py)?;
    if is_interrupted {
        // Raises what the handler raises.
        py.check_signals()?;
    }
    result.map_err(|failed| error::of(py, failed))
}

fn is_main(py: Python<'_>) -> PyResult<bool> {
    if let Some(known) = IS_MAIN.get() {
        return Ok(known);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let is_main = threading.call_method0("get_ident")?.eq(main)?;
    IS_MAIN.set(Some(is_main));
    Ok(is_main)
}

/// Until its end, signals reach our thread.
struct Listening {
    /// Where they went before: -1 for nowhere.
    before: i32,
}

impl Listening {
    fn begin(py: Python<'_>, token: &CancelToken) -> PyResult<Self> {
        let bell = bell()?;
        *WAITING.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        let before = set_wakeup(py)?.bind(py).call1((bell,))?.extract()?;
        if before != bell {
            BEFORE.store(before, Ordering::SeqCst);
        }
        Ok(Self { before })
    }

    fn end(self, py: Python<'_>) -> PyResult<()> {
        set_wakeup(py)?.bind(py).call1((self.before,))?;
        *WAITING.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

fn set_wakeup(py: Python<'_>) -> PyResult<&'static Py<PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.get_or_try_init(py, || Ok(py.import("signal")?.getattr("set_wakeup_fd")?.unbind()))
}

/// Passes a signal on to whoever waited for signals before.
fn pass_on(signal: &[u8]) {
    let before = BEFORE.load(Ordering::SeqCst);
    if before >= 0 {
        // Nobody is left to be told if it fails, or if the interpreter has ended.
        let _ = Python::try_attach(|py| py.import("os")?.call_method1("write", (before, signal)).map(drop));
    }
}

/// The socket that Python writes to, whose other end a thread reads.
fn bell() -> PyResult<i32> {
    let mut bell = BELL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, end)) = bell.as_ref().filter(|(owner, _)| *owner == process::id()) {
        return Ok(end.as_raw_fd());
    }
    let (end, mut other) = UnixStream::pair()?;
    end.set_nonblocking(true)?;
    thread::Builder::new().name("firearrow signals".into()).spawn(move || {
        let mut signal = [0];
        while other.read_exact(&mut signal).is_ok() {
            let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(token) = waiting.as_ref().filter(|_| signal[0] == SIGINT) {
                token.cancel();
            }
            drop(waiting);
            pass_on(&signal);
        }
    })?;
    Ok(bell.insert((process::id(), end)).1.as_raw_fd())
}
