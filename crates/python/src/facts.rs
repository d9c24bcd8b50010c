//! Connection state that both facades share and that needs no round trip.

use crate::failure::Failure;
use crate::lock::plain;
use crate::options::{self, Bounded};
use crate::process;
use firearrow::{CancelHandle, ReadOptions, StatementKind, TransactionOptions};
use pyo3::prelude::*;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) struct Facts {
    pub(crate) cancel: CancelHandle,
    /// The process that opened it.
    process: u32,
    /// Whether the engine is Firebird 4 or newer.
    pub(crate) has_firebird4: bool,
    pub(crate) read: Arc<ReadOptions>,
    single: Mutex<TransactionOptions>,
    definitions: AtomicU64,
}

impl Facts {
    pub(crate) fn new(cancel: CancelHandle, has_firebird4: bool, read: &ReadOptions) -> Self {
        let (single, definitions) = Default::default();
        Self {
            cancel,
            process: process::id(),
            has_firebird4,
            read: Arc::new(read.clone()),
            single,
            definitions,
        }
    }

    /// The options of a transaction, from those that Python has.
    pub(crate) fn transaction(
        &self,
        py: Python<'_>,
        isolation: Option<&str>,
        read_only: bool,
        lock_timeout: Option<Bounded<f64>>,
        snapshot: Option<Bounded<u64>>,
    ) -> PyResult<TransactionOptions> {
        options::transaction(py, isolation, read_only, lock_timeout, snapshot, self.has_firebird4)
    }

    /// How the transaction of a single statement begins, in autocommit mode.
    pub(crate) fn single(&self) -> TransactionOptions {
        *plain(&self.single)
    }

    pub(crate) fn set_single(&self, options: TransactionOptions) {
        *plain(&self.single) = options;
    }

    /// How many DDL statements were executed here: what was prepared before the last one may be outdated.
    pub(crate) fn definitions(&self) -> u64 {
        self.definitions.load(Ordering::SeqCst)
    }

    /// Notes what was executed.
    pub(crate) fn note(&self, kind: StatementKind) {
        if kind == StatementKind::Ddl {
            self.definitions.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Whether this is the process that opened it.
    pub(crate) fn is_owner_process(&self) -> bool {
        self.process == process::id()
    }

    /// Refuses to use the socket of another process.
    pub(crate) fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        match self.is_owner_process() {
            true => Ok(()),
            false => Err(Failure::OtherProcess.into_exception(py)),
        }
    }

    /// Drops part of the connection; in a forked process without a word to the server.
    pub(crate) fn discard<T>(&self, part: T) {
        match self.is_owner_process() {
            true => drop(part),
            false => mem::forget(part),
        }
    }
}
