//! What is known of a connection without waiting for its turn.

use super::Session;
use crate::backend::link::Link;
use crate::backend::{AnyBackend, Backend};
use crate::stats::WireStats;
use crate::warning::{Warning, Warnings};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The state of a connection at the end of its last operation.
pub(crate) struct Noted {
    is_failed: AtomicBool,
    wire_stats: Mutex<WireStats>,
    pub(crate) has_firebird4: bool,
    /// About the connection itself.
    pub(crate) warnings: Vec<Warning>,
    /// Of its statements.
    pub(crate) statement_warnings: Warnings,
}

impl Noted {
    pub(crate) fn of<L: Link>(session: &Session<AnyBackend<L>>) -> Self {
        let backend = &session.backend;
        Self {
            is_failed: backend.is_failed().into(),
            wire_stats: backend.wire_stats().into(),
            has_firebird4: backend.is_firebird4(),
            warnings: backend.warnings(),
            statement_warnings: backend.statement_warnings(),
        }
    }

    /// To be called at the end of each operation.
    pub(crate) fn note<L: Link>(&self, session: &Session<AnyBackend<L>>) {
        self.is_failed.store(session.backend.is_failed(), Ordering::Release);
        *self.wire_stats.lock().unwrap_or_else(PoisonError::into_inner) = session.backend.wire_stats();
    }

    /// Whether the socket of an idle session still works.
    pub(crate) fn look_at<L: Link>(&self, session: &mut Session<AnyBackend<L>>) -> bool {
        let is_alive = session.backend.is_alive();
        self.note(session);
        is_alive
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.is_failed.load(Ordering::Acquire)
    }

    pub(crate) fn wire_stats(&self) -> WireStats {
        *self.wire_stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
