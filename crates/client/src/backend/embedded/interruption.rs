//! Interrupting an engine in this process.

use super::Embedded;
use crate::cancel::{Listening, Operation, Wake, interrupted};
use crate::error::Result;
use firearrow_fbapi::{self as fbapi, Attachment, CancelKind, Canceller};
use firearrow_proto::api::gds;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tokens that can interrupt the running operation.
#[derive(Default)]
pub(super) struct Interruption {
    pub(super) operation: Operation,
    /// The callback that asks the engine to stop.
    wake: Option<Wake>,
    listening: Option<Listening>,
    /// Whether the engine was asked to stop.
    is_told: Arc<AtomicBool>,
}

impl Interruption {
    pub(super) fn begin(&mut self, operation: &Operation, attachment: Option<&Attachment>) {
        self.operation = operation.clone();
        let Some(attachment) = attachment else { return };
        let is_told = &self.is_told;
        let wake = self.wake.get_or_insert_with(|| wake(attachment.canceller(), Arc::clone(is_told)));
        self.listening = Some(operation.listen(wake));
    }

    /// An engine keeps a cancel request until it notices it. One that came too late would interrupt the next operation;
    /// disabling cancellation discards it.
    pub(super) fn end(&mut self, attachment: Option<&Attachment>) {
        self.listening = None;
        self.operation = Operation::default();
        let Some(attachment) = attachment.filter(|_| self.is_told.swap(false, Ordering::SeqCst)) else {
            return;
        };
        for kind in [CancelKind::Disable, CancelKind::Enable] {
            if let Err(error) = attachment.canceller().cancel(kind) {
                tracing::debug!(%error, "an interruption may be left over");
            }
        }
    }
}

impl Embedded {
    /// Checks between rows, without calling the engine.
    pub(super) fn check_interruption(&self) -> Result<()> {
        let kind = self.interruption.operation.interruption();
        kind.map_or(Ok(()), |kind| Err(interrupted(kind, "between two rows")))
    }
}

fn wake(engine: Canceller, is_told: Arc<AtomicBool>) -> Wake {
    Arc::new(move || {
        is_told.store(true, Ordering::SeqCst);
        match engine.cancel(CancelKind::Raise) {
            Err(fbapi::Error::Status(status)) if status.contains(gds::ISC_NOTHING_TO_CANCEL) => {}
            Err(error) => tracing::debug!(%error, "the engine cannot be interrupted"),
            Ok(()) => {}
        }
    })
}
