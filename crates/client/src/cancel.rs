//! Interrupting a running call from another thread.

use crate::error::Result;
#[cfg(feature = "embedded")]
use firearrow_fbapi::{CancelKind, Canceller};
#[cfg(feature = "embedded")]
use firearrow_proto::api::gds;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "embedded")]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether somebody wants the running call to end. The thread that waits for the server looks at it: only that one may
/// write to the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_set: AtomicBool,
    /// Held while somebody sets it and tells the engine.
    #[cfg(feature = "embedded")]
    telling: Mutex<()>,
}

impl Signal {
    pub(crate) fn set(&self) {
        self.0.is_set.store(true, Ordering::SeqCst);
    }

    pub(crate) fn clear(&self) {
        self.0.is_set.store(false, Ordering::SeqCst);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed)
    }

    /// Waits until whoever has set it is done with that.
    #[cfg(feature = "embedded")]
    pub(crate) fn telling(&self) -> MutexGuard<'_, ()> {
        self.0.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Interrupts what its connection is doing; may be used from any thread. It does not keep the connection open.
///
/// The interrupted call fails with [`Kind::Cancelled`](crate::Kind::Cancelled). The statement can be run again, and the
/// transaction goes on. Servers cannot be interrupted while another request waits behind the running one, as the question
/// for its counts does behind an UPDATE; then the connection is closed after two seconds, which ends the statement, and
/// [`is_failed`](crate::Connection::is_failed) tells. Where nothing is running, nothing happens, not even to the next call.
#[derive(Clone)]
pub struct CancelHandle {
    pub(crate) signal: Signal,
    /// Engines notice only what comes while they work, and not what comes between two rows.
    #[cfg(feature = "embedded")]
    pub(crate) engine: Option<Canceller>,
}

impl CancelHandle {
    /// Interrupts the running call, if there is one. Returns at once.
    pub fn cancel(&self) -> Result<()> {
        #[cfg(feature = "embedded")]
        let _telling = self.signal.telling();
        self.signal.set();
        #[cfg(feature = "embedded")]
        if let Some(engine) = &self.engine {
            match engine.cancel(CancelKind::Raise) {
                Err(firearrow_fbapi::Error::Status(status))
                    if status.contains(gds::ISC_NOTHING_TO_CANCEL) => {}
                result => result?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelHandle").finish_non_exhaustive()
    }
}
