//! Ctrl+C during calls that wait.
//!
//! Python runs the handlers of signals in its main thread, which is the one that waits. Its own C handler writes the signal's
//! number into a socket, though (`signal.set_wakeup_fd`), which a thread of ours reads: it cancels the call, and Python gets its turn.
//!
//! Setting that socket costs more than a small call, so it is only set once the client reports that a call is waiting
//! ([`CancelToken::watched`]). A SIGINT that arrived before that is raised again.

use crate::lock::plain;
use crate::{error, interpreter, process};
use firearrow::{CancelToken, Error, Kind};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::IntoPyDict;
use std::cell::{Cell, RefCell};
use std::io::Read;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const SIGINT: u8 = 2;
/// Where signals go if nobody asked for them.
const NOWHERE: RawFd = -1;

/// Locked for moments, and only by threads that have Python's lock, so that a fork never finds it locked.
static BELL: Mutex<Option<Bell>> = Mutex::new(None);

/// How many times a SIGINT comes once more, since it came before a call listened.
static REPEATED: AtomicU32 = AtomicU32::new(0);

/// Where Python writes signals while a call waits.
struct Bell {
    /// The process that made it: a child that was forked has no thread that reads.
    owner: u32,
    end: UnixStream,
    /// The calls of the main thread that wait, the outermost first: what one of them waits for may be Python code, which
    /// makes another.
    waiting: Vec<CancelToken>,
    /// An exception that a handler raised in a nested call. The outer call must raise it as well, because code in between may
    /// have replaced it.
    raised: Option<PyErr>,
    /// Where signals went before: asyncio waits there for those that have handlers of a loop.
    before: RawFd,
}

thread_local! {
    /// Whether this is Python's main thread, and the process in which somebody asked. After a fork, it is the only one.
    static IS_MAIN: Cell<Option<(u32, bool)>> = const { Cell::new(None) };
}

thread_local! {
    /// The calls that wait and may end at once, the outermost first: only of Python's main thread.
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

struct Call {
    token: CancelToken,
    /// Since it has waited for a moment.
    listening: Option<Listening>,
}

/// Runs `work` while other Python threads run. Ctrl+C cancels it, and raises KeyboardInterrupt.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> firearrow::Result<T> + Send,
) -> PyResult<T> {
    wait_for(py, true, work)
}

/// [`wait`] for calls of a connection only, which mostly end at once.
pub(crate) fn wait_briefly<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> firearrow::Result<T> + Send,
) -> PyResult<T> {
    wait_for(py, false, work)
}

fn wait_for<T: Send>(
    py: Python<'_>,
    is_long: bool,
    work: impl FnOnce() -> firearrow::Result<T> + Send,
) -> PyResult<T> {
    if !is_main(py)? {
        return py.detach(work).map_err(|failed| error::of(py, failed));
    }
    let token = CancelToken::watched(|| {
        if CALLS.with_borrow(|calls| calls.iter().any(|call| call.listening.is_none())) {
            // Without listening it waits for as long as it takes.
            Python::try_attach(|py| listen(py).unwrap_or_default());
        }
    });
    let waiting = Waiting::begin(py, &token);
    // A nested call must also forward the signal to the outer one.
    let begun = match is_long || CALLS.with_borrow(|calls| calls.len() > 1) {
        true => listen(py),
        false => Ok(()),
    };
    // A signal that came before has rung no bell.
    let done = match begun.and_then(|()| py.check_signals()) {
        Ok(()) => Ok(py.detach(|| token.run(work))),
        Err(raised) => {
            // It may own parts of a connection; dropping them waits for the server.
            py.detach(|| drop(work));
            Err(raised)
        }
    };
    drop(waiting);
    let within = forget(py);
    let result = done.inspect_err(|raised| note(py, raised))?;
    if !token.is_cancelled() {
        return result.map_err(|failed| told(py, failed));
    }
    // Raises what the handler raises.
    py.check_signals().inspect_err(|raised| note(py, raised))?;
    result.map_err(|failed| match within {
        Some(raised) => raised,
        // Python code within the call has handled the signal, and code in between has replaced the exception it raised.
        None if failed.kind() != Kind::Cancelled && is_usual(py) => interrupt(py, failed),
        None => told(py, failed),
    })
}

/// The exception for an error. Of a KeyboardInterrupt in an Arrow stream of Python code, only the text of its traceback is left.
fn told(py: Python<'_>, failed: Error) -> PyErr {
    match failed.kind() == Kind::Data && failed.to_string().contains("\nKeyboardInterrupt") {
        true => interrupt(py, failed),
        false => error::of(py, failed),
    }
}

fn interrupt(py: Python<'_>, cause: Error) -> PyErr {
    let raised = PyKeyboardInterrupt::new_err(());
    raised.set_cause(py, Some(error::of(py, cause)));
    raised
}

/// Whether Ctrl+C raises KeyboardInterrupt.
fn is_usual(py: Python<'_>) -> bool {
    let is_usual = || {
        let signal = py.import("signal")?;
        Ok::<_, PyErr>(
            signal.call_method1("getsignal", (SIGINT,))?.is(&signal.getattr("default_int_handler")?),
        )
    };
    is_usual().unwrap_or(false)
}

/// Lets signals reach the calls of this thread that wait.
fn listen(py: Python<'_>) -> PyResult<()> {
    let mut is_new = false;
    for number in 0..CALLS.with_borrow(Vec::len) {
        let token =
            CALLS.with_borrow(|calls| calls[number].listening.is_none().then(|| calls[number].token.clone()));
        if let Some(token) = token {
            let listening = Listening::begin(py, &token)?;
            CALLS.with_borrow_mut(|calls| calls[number].listening = Some(listening));
            is_new = true;
        }
    }
    if is_new && interpreter::take_interrupt(py) {
        // Those who waited for signals before have had this one.
        REPEATED.fetch_add(1, Ordering::SeqCst);
        interpreter::interrupt(py);
    }
    Ok(())
}

/// A call among those that wait, until this is dropped.
struct Waiting<'py>(Python<'py>);

impl<'py> Waiting<'py> {
    fn begin(py: Python<'py>, token: &CancelToken) -> Self {
        CALLS.with_borrow_mut(|calls| calls.push(Call { token: token.clone(), listening: None }));
        Self(py)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let call = CALLS.with_borrow_mut(Vec::pop);
        if let Some(listening) = call.and_then(|call| call.listening) {
            listening.end(self.0);
        }
    }
}

fn is_main(py: Python<'_>) -> PyResult<bool> {
    let process = process::id();
    if let Some((_, known)) = IS_MAIN.get().filter(|(asked, _)| *asked == process) {
        return Ok(known);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let is_main = threading.call_method0("get_ident")?.eq(main)?;
    IS_MAIN.set(Some((process, is_main)));
    Ok(is_main)
}

/// Keeps what a handler raised for the calls around this one.
fn note(py: Python<'_>, raised: &PyErr) {
    let raised = raised.clone_ref(py);
    let before = match plain(&BELL).as_mut().filter(|bell| !bell.waiting.is_empty()) {
        Some(bell) => bell.raised.replace(raised),
        None => None,
    };
    // Code may run for its end, and make a call.
    drop(before);
}

/// What a handler raised in a call within this one. The last call forgets it.
fn forget(py: Python<'_>) -> Option<PyErr> {
    let mut bell = plain(&BELL);
    let bell = bell.as_mut()?;
    match bell.waiting.is_empty() {
        true => bell.raised.take(),
        false => bell.raised.as_ref().map(|raised| raised.clone_ref(py)),
    }
}

/// Until it ends, signals reach our thread.
struct Listening {
    /// Where they went before.
    before: RawFd,
}

impl Listening {
    fn begin(py: Python<'_>, token: &CancelToken) -> PyResult<Self> {
        let end = Bell::ring(py, token)?;
        let before = set_wakeup(py, end).inspect_err(|_| Self::leave())?;
        if before != end
            && let Some(bell) = plain(&BELL).as_mut()
        {
            bell.before = before;
        }
        Ok(Self { before })
    }

    fn end(self, py: Python<'_>) {
        // If the previous descriptor was closed, its owner no longer wants the signals.
        let _ = set_wakeup(py, self.before).or_else(|_| set_wakeup(py, NOWHERE));
        Self::leave();
    }

    fn leave() {
        if let Some(bell) = plain(&BELL).as_mut() {
            bell.waiting.pop();
        }
    }
}

/// Lets Python write signals there. Returns where it did before.
fn set_wakeup(py: Python<'_>, to: RawFd) -> PyResult<RawFd> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.import(py, "signal", "set_wakeup_fd")?.call1((to,))?.extract()
}

impl Bell {
    /// Adds a call to those that wait. Returns where Python writes to.
    fn ring(py: Python<'_>, token: &CancelToken) -> PyResult<RawFd> {
        let owner = process::id();
        if plain(&BELL).as_ref().is_none_or(|bell| bell.owner != owner) {
            let made = Self::new(owner)?;
            let inherited = plain(&BELL).replace(made);
            if inherited.is_none() {
                let clear = wrap_pyfunction!(leave_to_parent, py)?;
                let hooks = [("after_in_child", clear)];
                py.import("os")?.getattr("register_at_fork")?.call((), Some(&hooks.into_py_dict(py)?))?;
            }
        }
        let mut bell = plain(&BELL);
        let Some(bell) = bell.as_mut() else { return Ok(NOWHERE) };
        bell.waiting.push(token.clone());
        Ok(bell.end.as_raw_fd())
    }

    fn new(owner: u32) -> PyResult<Self> {
        let (end, mut other) = UnixStream::pair()?;
        end.set_nonblocking(true)?;
        thread::Builder::new().name("firearrow signals".into()).spawn(move || {
            let mut signal = [0];
            while other.read_exact(&mut signal).is_ok() {
                // After the end of the interpreter there is nobody to tell.
                let Some(()) = Python::try_attach(|py| heard(py, signal)) else { return };
            }
        })?;
        Ok(Self { owner, end, waiting: Vec::new(), raised: None, before: NOWHERE })
    }
}

/// Cancels the calls that wait, and passes the signal on to whoever waited for signals before.
fn heard(py: Python<'_>, signal: [u8; 1]) {
    let (waiting, before) = match plain(&BELL).as_ref() {
        Some(bell) => (bell.waiting.clone(), bell.before),
        None => return,
    };
    if signal[0] == SIGINT {
        py.detach(|| waiting.iter().for_each(CancelToken::cancel));
    }
    let fewer = |count: u32| count.checked_sub(1);
    let is_repeated =
        signal[0] == SIGINT && REPEATED.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok();
    if before != NOWHERE && !is_repeated {
        // It may be closed.
        let _ = py.import("os").and_then(|os| os.call_method1("write", (before, signal.as_slice())));
    }
}

/// Keeps the signals of a process that was forked while a call waited away from its parent.
#[pyfunction]
fn leave_to_parent(py: Python<'_>) -> PyResult<()> {
    let inherited = plain(&BELL).as_ref().map_or(NOWHERE, |bell| bell.end.as_raw_fd());
    let now = set_wakeup(py, NOWHERE)?;
    if now != inherited {
        set_wakeup(py, now)?;
    }
    Ok(())
}
