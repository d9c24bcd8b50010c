//! The flows: one asynchronous function per verb, over any backend. They know rows, parameters and BLOBs, and
//! neither sockets nor threads.

pub(crate) mod execute;
pub(crate) mod fetch;

use crate::backend::{Backend, End, StatementId, TransactionId};
use crate::error::Result;
use firearrow_proto::api::describe::{StatementInfo, StatementKind};
use firearrow_proto::api::transaction::{Isolation, TransactionOptions};
use std::collections::HashSet;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A backend and what must be remembered between its operations.
pub(crate) struct Session<B> {
    pub(crate) backend: B,
    /// Transactions that are still open; they must end before a detach.
    open: HashSet<TransactionId>,
    /// Where statements are prepared that belong to no transaction yet.
    describing: Option<TransactionId>,
    has_timeouts: bool,
}

/// A statement that the engine has understood.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) id: StatementId,
    pub(crate) info: StatementInfo,
    /// Each execution inserts one row or fails: there is no need to ask for counts.
    pub(crate) inserts_one_row: bool,
}

impl<B: Backend> Session<B> {
    pub(crate) fn new(backend: B) -> Self {
        Self { backend, open: HashSet::new(), describing: None, has_timeouts: false }
    }

    pub(crate) async fn begin(&mut self, options: &TransactionOptions) -> Result<TransactionId> {
        let transaction = self.backend.begin(&options.tpb()).await?;
        self.open.insert(transaction);
        Ok(transaction)
    }

    pub(crate) async fn end(&mut self, transaction: TransactionId, end: End) -> Result<()> {
        self.backend.end(transaction, end).await?;
        if matches!(end, End::Commit | End::Rollback) {
            self.open.remove(&transaction);
        }
        Ok(())
    }

    /// The statement itself ended its transaction.
    pub(crate) fn ended(&mut self, transaction: TransactionId) {
        self.open.remove(&transaction);
    }

    /// Prepares in `transaction`, or in one of the session's own that holds nothing back: a read-only, read
    /// committed transaction is committed from its start as far as garbage collection is concerned.
    pub(crate) async fn prepare(
        &mut self,
        transaction: Option<TransactionId>,
        sql: &str,
    ) -> Result<Prepared> {
        let transaction = match (transaction, self.describing) {
            (Some(transaction), _) | (None, Some(transaction)) => transaction,
            (None, None) => {
                let options = TransactionOptions {
                    isolation: Isolation::ReadCommittedRecordVersion,
                    ..TransactionOptions::read_only()
                };
                let transaction = self.begin(&options).await?;
                self.describing = Some(transaction);
                transaction
            }
        };
        let (id, info) = self.backend.prepare(transaction, sql).await?;
        // INSERT … SELECT, UPDATE OR INSERT and MERGE may change any number. A word too many costs nothing but time.
        let has =
            |word: &[u8]| sql.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
        let is_plain = !has(b"select") && !has(b"update") && !has(b"merge");
        let inserts_one_row = info.kind == StatementKind::Insert && is_plain;
        Ok(Prepared { id, info, inserts_one_row })
    }

    /// The time limit of the next execution. Engines keep it, so that it is set for each once it was set for one.
    pub(crate) fn set_timeout(&mut self, prepared: &Prepared, timeout: Option<Duration>) -> Result<()> {
        if timeout.is_some() || self.has_timeouts {
            self.has_timeouts = true;
            self.backend.set_timeout(prepared.id, timeout)?;
        }
        Ok(())
    }

    /// Ends what is open and leaves the database.
    pub(crate) async fn close(&mut self) -> Result<()> {
        self.end_all().await?;
        self.backend.detach().await
    }

    /// Ends what is open and deletes the database.
    pub(crate) async fn drop_database(&mut self) -> Result<()> {
        self.end_all().await?;
        self.backend.drop_database().await
    }

    async fn end_all(&mut self) -> Result<()> {
        self.describing = None;
        for transaction in std::mem::take(&mut self.open) {
            self.backend.end(transaction, End::Rollback).await?;
        }
        Ok(())
    }
}

/// Whether executing the statement gives rows (through a cursor or as a single one).
pub(crate) fn has_rows(info: &StatementInfo) -> bool {
    !info.columns.is_empty()
}

/// Whether the statement controls transactions by itself, which would pull one away from under its owner.
pub(crate) fn is_transaction_control(kind: StatementKind) -> bool {
    matches!(kind, StatementKind::StartTransaction | StatementKind::Commit | StatementKind::Rollback)
}

/// Runs a flow over a backend that never pends.
pub(crate) fn ready<T>(flow: impl Future<Output = T>) -> T {
    match pin!(flow).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a blocking link pended"),
    }
}
