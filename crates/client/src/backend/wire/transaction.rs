//! Starting and ending transactions, on their own or together with a statement.

use super::{Wire, success};
use crate::backend::link::Link;
use crate::backend::{End, TransactionId};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::info::InfoReader;
use firearrow_proto::api::transaction::INFO_ID;
use firearrow_proto::wire::packet::LAST_OBJECT;
use firearrow_proto::wire::packet::info::InfoTransaction;
use firearrow_proto::wire::packet::transaction::{
    Commit, CommitRetaining, Rollback, RollbackRetaining, StartTransaction,
};
use firearrow_proto::wire::{Op, Ticket};
use std::collections::{HashMap, HashSet};

/// Ids from here on stand for transactions that start late; smaller ones are handles.
const FIRST_LATE_ID: u32 = 1 << 16;

/// The transactions of a connection.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    /// Handles of those that run.
    live: HashSet<u16>,
    late: HashMap<u32, Late>,
    last_late_id: u32,
    /// Ids of those in which something has been executed.
    working: HashSet<u32>,
    /// The late transaction that is the object created last, as long as nothing else may be.
    last: Option<u32>,
    /// The numbers of those that change something, for the case that the answer to their commit gets lost.
    numbers: HashMap<u32, Number>,
    /// Requests for numbers that nobody needs any more.
    unneeded: Vec<Ticket>,
}

/// The number of a transaction in the database.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// To be asked for with the next execution.
    Wanted,
    Asked(Ticket),
    Known(u64),
}

/// Bytes for the answer with a number.
const NUMBER_BUFFER: u32 = 32;

/// A transaction that starts together with its first statement.
#[derive(Debug)]
enum Late {
    Unsent(Vec<u8>),
    Asked(Ticket),
    Started(u16),
}

impl Transactions {
    /// An id that no living transaction has.
    fn next_late_id(&mut self) -> u32 {
        loop {
            self.last_late_id = self.last_late_id.wrapping_add(1).max(FIRST_LATE_ID);
            if !self.late.contains_key(&self.last_late_id) {
                return self.last_late_id;
            }
        }
    }

    /// A request is sent: after all but a few, another object may be the one created last.
    pub(super) fn sends(&mut self, op: Op) {
        let creates_nothing = [
            Op::PREPARE_STATEMENT,
            Op::EXECUTE,
            Op::EXECUTE2,
            Op::FETCH,
            Op::INFO_SQL,
            Op::FREE_STATEMENT,
            Op::COMMIT,
            Op::EXEC_IMMEDIATE,
            Op::INFO_TRANSACTION,
        ];
        if !creates_nothing.contains(&op) {
            self.last = None;
        }
    }

    /// A transaction that was not started here runs under this handle.
    pub(super) fn take_over(&mut self, handle: u16, number: u64) {
        self.live.insert(handle);
        self.numbers.insert(handle.into(), Number::Known(number));
    }

    pub(super) fn has(&self, id: TransactionId) -> bool {
        if id.0 < FIRST_LATE_ID { self.live.contains(&(id.0 as u16)) } else { self.late.contains_key(&id.0) }
    }

    /// Something is executed in it.
    pub(super) fn note_work(&mut self, id: TransactionId) {
        self.working.insert(id.0);
    }

    pub(super) fn has_work(&self, id: TransactionId) -> bool {
        self.working.contains(&id.0)
    }

    /// Something is executed in it that may change rows.
    pub(super) fn note_change(&mut self, id: TransactionId) {
        self.note_work(id);
        self.want_number(id);
    }

    /// Something is about to be changed in it.
    pub(super) fn want_number(&mut self, id: TransactionId) {
        self.numbers.entry(self.owner(id)).or_insert(Number::Wanted);
    }

    /// The id that the transaction was given out under, which may be asked for by its handle.
    fn owner(&self, id: TransactionId) -> u32 {
        let is_it = |late: &Late| matches!(late, Late::Started(handle) if u32::from(*handle) == id.0);
        self.late.iter().find(|(_, late)| is_it(late)).map_or(id.0, |(owner, _)| *owner)
    }

    /// Its next commit is that of another number, if it goes on.
    pub(super) fn forget_number(&mut self, id: TransactionId) {
        let owner = self.owner(id);
        if let Some(Number::Asked(ticket)) = self.numbers.remove(&owner) {
            self.unneeded.push(ticket);
        }
    }

    /// The transaction is gone.
    pub(super) fn forget(&mut self, id: TransactionId) {
        self.forget_number(id);
        self.working.remove(&id.0);
        let handle = match self.late.remove(&id.0) {
            Some(Late::Started(handle)) => handle,
            Some(_) => return,
            None if id.0 >= FIRST_LATE_ID => return,
            None => id.0 as u16,
        };
        self.working.remove(&handle.into());
        self.live.remove(&handle);
    }
}

impl<L: Link> Wire<L> {
    pub(super) async fn start(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        self.stock_handles()?;
        let handle = self.call(&StartTransaction { tpb }).await?.object;
        self.transactions.live.insert(handle);
        Ok(TransactionId(handle.into()))
    }

    /// A transaction that starts with the first request that names it.
    pub(super) fn start_late(&mut self, tpb: &[u8]) -> TransactionId {
        let id = self.transactions.next_late_id();
        self.transactions.late.insert(id, Late::Unsent(tpb.to_vec()));
        TransactionId(id)
    }

    /// The handle of a transaction, which is started now if it was not.
    pub(super) async fn transaction(&mut self, id: TransactionId) -> Result<u16> {
        if id.0 < FIRST_LATE_ID {
            return Ok(id.0 as u16);
        }
        self.ask_to_start(id)?;
        let ticket = match self.transactions.late.get(&id.0) {
            Some(Late::Asked(ticket)) => *ticket,
            Some(Late::Started(handle)) => return Ok(*handle),
            Some(Late::Unsent(_)) | None => return Err(ended()),
        };
        while !self.router.has(ticket) {
            self.step().await?;
        }
        self.confirm_start(id)?;
        match self.transactions.late.get(&id.0) {
            Some(Late::Started(handle)) => Ok(*handle),
            _ => Err(ended()),
        }
    }

    fn ask_to_start(&mut self, id: TransactionId) -> Result<()> {
        if let Some(Late::Unsent(_)) = self.transactions.late.get(&id.0) {
            self.stock_handles()?;
        }
        if let Some(Late::Unsent(tpb)) = self.transactions.late.get(&id.0) {
            let ticket = self.connection.send(&StartTransaction { tpb })?;
            self.transactions.late.insert(id.0, Late::Asked(ticket));
            self.transactions.last = Some(id.0);
        }
        Ok(())
    }

    /// What to call a transaction in a request that leaves at once. One that has not started is started in the same
    /// write and called the object created last; nothing else may be created between its start and the request.
    ///
    /// If the start fails, that name falls back to the object created before. This must not be another transaction,
    /// so where others are alive the start follows the allocation of a statement.
    pub(super) async fn transaction_name(&mut self, id: TransactionId) -> Result<u16> {
        let is_asked = match self.transactions.late.get(&id.0) {
            // Calls of other threads may have come between its start and this request.
            Some(Late::Asked(ticket)) => self.transactions.last == Some(id.0) && !self.router.has(*ticket),
            Some(Late::Unsent(_)) => {
                let is_safe = self.transactions.live.is_empty() || self.stock_one_more()?;
                if is_safe {
                    self.ask_to_start(id)?;
                }
                is_safe
            }
            _ => false,
        };
        if is_asked { Ok(LAST_OBJECT) } else { self.transaction(id).await }
    }

    /// Whether a transaction that was to start with its statement has done so; to be asked once the answer to a later
    /// request is there. Its own failure explains those of the requests behind it.
    pub(super) fn confirm_start(&mut self, id: TransactionId) -> Result<()> {
        let Some(Late::Asked(ticket)) = self.transactions.late.get(&id.0) else { return Ok(()) };
        let Some(response) = self.router.take(*ticket) else { return Ok(()) };
        match success(response) {
            Ok(response) => {
                self.transactions.late.insert(id.0, Late::Started(response.object));
                self.transactions.live.insert(response.object);
                Ok(())
            }
            Err(error) => {
                self.transactions.late.remove(&id.0);
                Err(error)
            }
        }
    }

    /// Asks for the number of a transaction that changes something, in the write of the request that does so. `name` is
    /// what that request calls it.
    pub(super) fn ask_number(&mut self, id: TransactionId, name: u16) -> Result<()> {
        for ticket in self.transactions.unneeded.split_off(0) {
            self.router.ignore(ticket);
        }
        let owner = self.transactions.owner(id);
        if let Some(Number::Wanted) = self.transactions.numbers.get(&owner) {
            let request = InfoTransaction { object: name, items: &[INFO_ID], buffer_length: NUMBER_BUFFER };
            let ticket = self.ask(&request)?;
            self.transactions.numbers.insert(owner, Number::Asked(ticket));
        }
        Ok(())
    }

    /// The error for a commit that was sent and not answered.
    pub(super) fn error_of_lost_commit(&mut self, id: TransactionId, error: Error) -> Error {
        let number = match self.transactions.numbers.get(&id.0) {
            Some(Number::Known(number)) => Some(*number),
            Some(Number::Asked(ticket)) => self.router.take(*ticket).and_then(|response| {
                let item = InfoReader::new(&response.data).find(|each| each.code == INFO_ID)?;
                item.integer().and_then(|number| u64::try_from(number).ok())
            }),
            Some(Number::Wanted) | None => None,
        };
        error.lost_commit_of(number)
    }

    pub(super) async fn finish(&mut self, id: TransactionId, end: End) -> Result<()> {
        match self.transactions.late.get(&id.0) {
            // It never began.
            Some(Late::Unsent(_)) => {
                if matches!(end, End::Commit | End::Rollback) {
                    self.transactions.forget(id);
                }
                return Ok(());
            }
            // It could not begin, or has ended together with its statement: there is nothing left to undo.
            None if id.0 >= FIRST_LATE_ID && end == End::Rollback => return Ok(()),
            _ => {}
        }
        let transaction = self.transaction(id).await?;
        self.cursors.inline.forget(transaction);
        let ticket = self.ask_for_end(transaction, end)?;
        if let Err(error) = self.success(ticket).await {
            let is_lost = end.commits() && error.status().is_none() && self.connection.failure().is_some();
            return Err(if is_lost { self.error_of_lost_commit(id, error) } else { error });
        }
        if matches!(end, End::Commit | End::Rollback) {
            self.transactions.forget(id);
        } else {
            self.transactions.forget_number(id);
        }
        Ok(())
    }

    pub(super) fn ask_for_end(&mut self, transaction: u16, end: End) -> Result<Ticket> {
        match end {
            End::Commit => self.ask(&Commit { transaction }),
            End::Rollback => self.ask(&Rollback { transaction }),
            End::CommitRetaining => self.ask(&CommitRetaining { transaction }),
            End::RollbackRetaining => self.ask(&RollbackRetaining { transaction }),
        }
    }
}

fn ended() -> Error {
    Error::new(Kind::Misuse, "the transaction has ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_late_transactions_are_those_of_no_other() {
        let mut transactions = Transactions::default();
        let mut start = || {
            let id = transactions.next_late_id();
            assert!(transactions.late.insert(id, Late::Unsent(Vec::new())).is_none(), "{id} is in use");
            id
        };
        let first = start();
        assert!((0..3 * FIRST_LATE_ID).all(|_| start() > first));
        // They begin anew, behind those of handles, and skip the living.
        transactions.last_late_id = u32::MAX;
        transactions.forget(TransactionId(first + 1));
        assert_eq!(transactions.next_late_id(), first + 1);
    }
}
