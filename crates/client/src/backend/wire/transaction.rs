//! Starting and ending transactions, alone or together with a statement.

use super::{Wire, success};
use crate::backend::link::Link;
use crate::backend::{Backend, End, RESET, TransactionId, Transactions};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::info::InfoReader;
use firearrow_proto::api::info::transaction::ID;
use firearrow_proto::wire::packet::LAST_OBJECT;
use firearrow_proto::wire::packet::info::InfoTransaction;
use firearrow_proto::wire::packet::statement::ExecuteImmediate;
use firearrow_proto::wire::packet::transaction::{
    Commit, CommitRetaining, PrepareTransaction, Reconnect, Rollback, RollbackRetaining, StartTransaction,
};
use firearrow_proto::wire::{Op, Ticket};
use rustc_hash::FxHashMap;

/// A transaction handle of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle(pub(super) u16);

/// The open transactions of a connection.
#[derive(Debug, Default)]
pub(super) struct OpenTransactions {
    open: FxHashMap<TransactionId, Open>,
    last_id: u64,
    /// The deferred transaction that is the server's "object created last", as long as nothing else can be.
    last: Option<TransactionId>,
    /// Requests for numbers that are no longer needed.
    unneeded: Vec<Ticket>,
}

#[derive(Debug)]
struct Open {
    state: State,
    /// Whether something has been executed in it.
    has_work: bool,
    /// The number, for transactions that change data; it is needed if the answer to their commit gets lost.
    number: Option<Number>,
    /// The last request before the latest that may have changed what BLOB ids mean.
    ids_since: Option<Ticket>,
}

impl Open {
    fn note_work(&mut self, latest: Ticket) {
        self.has_work = true;
        self.ids_since = Some(latest);
    }

    fn want_number(&mut self) {
        self.number.get_or_insert(Number::Wanted);
    }
}

/// The number of a transaction in the database.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// To be requested with the next execution.
    Wanted,
    Asked(Ticket),
    Known(u64),
}

/// In place of a handle, for statements that need no transaction.
const NO_TRANSACTION: u16 = 0;

/// Buffer size for the answer with a number, in bytes.
const NUMBER_BUFFER: u32 = 32;

/// A deferred transaction starts together with its first statement.
#[derive(Debug)]
enum State {
    Unsent(Vec<u8>),
    Asked(Ticket),
    Started(Handle),
}

impl OpenTransactions {
    fn add(&mut self, state: State, number: Option<Number>) -> TransactionId {
        self.last_id += 1;
        let id = TransactionId(self.last_id);
        self.open.insert(id, Open { state, has_work: false, number, ids_since: None });
        id
    }

    fn state(&self, id: TransactionId) -> Option<&State> {
        self.open.get(&id).map(|open| &open.state)
    }

    fn set_state(&mut self, id: TransactionId, state: State) {
        if let Some(open) = self.open.get_mut(&id) {
            open.state = state;
        }
    }

    /// Returns the handle of a started transaction.
    pub(super) fn handle(&self, id: TransactionId) -> Result<Handle> {
        match self.state(id) {
            Some(State::Started(handle)) => Ok(*handle),
            _ => Err(ended()),
        }
    }

    fn has_started_any(&self) -> bool {
        self.open.values().any(|open| matches!(open.state, State::Started(_)))
    }

    /// Notes a request: after all but a few, another object may be the one created last.
    pub(super) fn sends(&mut self, op: Op) {
        if self.last.is_none() {
            return;
        }
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

    /// Adds a transaction that the client did not start.
    pub(super) fn take_over(&mut self, handle: Handle, number: u64) -> TransactionId {
        self.add(State::Started(handle), Some(Number::Known(number)))
    }

    pub(super) fn has(&self, id: TransactionId) -> bool {
        self.open.contains_key(&id)
    }

    /// Notes that something is executed in the transaction, after this request.
    pub(super) fn note_work(&mut self, id: TransactionId, latest: Ticket) {
        if let Some(open) = self.open.get_mut(&id) {
            open.note_work(latest);
        }
    }

    /// Returns the last request before the latest execution: contents that came with the answers up to it may be those
    /// of BLOBs whose ids have passed to others. A transaction replaces its own BLOBs at once, and in READ COMMITTED
    /// those of others go, too.
    pub(super) fn ids_since(&self, id: TransactionId) -> Option<Ticket> {
        self.open.get(&id).and_then(|open| open.ids_since)
    }

    pub(super) fn has_work(&self, id: TransactionId) -> bool {
        self.open.get(&id).is_some_and(|open| open.has_work)
    }

    /// Notes that something that may change rows is executed in the transaction.
    pub(super) fn note_change(&mut self, id: TransactionId, latest: Ticket) {
        if let Some(open) = self.open.get_mut(&id) {
            open.note_work(latest);
            open.want_number();
        }
    }

    /// Notes that the transaction is about to change something.
    pub(super) fn want_number(&mut self, id: TransactionId) {
        if let Some(open) = self.open.get_mut(&id) {
            open.want_number();
        }
    }

    /// Forgets the number: a transaction that continues gets another one.
    pub(super) fn forget_number(&mut self, id: TransactionId) {
        let number = self.open.get_mut(&id).and_then(|open| open.number.take());
        if let Some(Number::Asked(ticket)) = number {
            self.unneeded.push(ticket);
        }
    }

    /// Removes a transaction that has ended.
    fn forget(&mut self, id: TransactionId) {
        self.forget_number(id);
        self.open.remove(&id);
    }
}

impl<L: Link> Transactions for Wire<L> {
    async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        self.stock_handles()?;
        let handle = self.call(&StartTransaction { tpb }).await?.object;
        Ok(self.transactions.add(State::Started(Handle(handle)), None))
    }

    /// Adds a transaction that starts with the first request that names it.
    async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        Ok(self.transactions.add(State::Unsent(tpb.to_vec()), None))
    }

    async fn end(&mut self, id: TransactionId, end: End) -> Result<()> {
        match self.transactions.state(id) {
            // It never started.
            Some(State::Unsent(_)) => {
                if matches!(end, End::Commit | End::Rollback) {
                    self.transactions.forget(id);
                }
                return Ok(());
            }
            // It failed to start, or ended together with its statement: nothing is left to undo.
            None if end == End::Rollback => return Ok(()),
            _ => {}
        }
        let transaction = self.transaction(id).await?;
        self.cursors.inline.forget(transaction);
        let ticket = self.ask_for_end(transaction, end)?;
        if let Err(error) = self.success(ticket).await {
            let is_lost = end.commits() && error.status().is_none() && self.connection.failure().is_some();
            return Err(if is_lost { self.lost_commit(id, error) } else { error });
        }
        if matches!(end, End::Commit | End::Rollback) {
            self.transactions.forget(id);
        } else {
            self.transactions.forget_number(id);
        }
        Ok(())
    }

    async fn prepare_commit(&mut self, id: TransactionId, message: &[u8]) -> Result<()> {
        let Handle(transaction) = self.transaction(id).await?;
        self.call(&PrepareTransaction { transaction, message }).await.map(|_| ())
    }

    async fn recover(&mut self, number: u64) -> Result<TransactionId> {
        let handle = self.call(&Reconnect { number }).await?.object;
        Ok(self.transactions.take_over(Handle(handle), number))
    }

    async fn leave(&mut self, id: TransactionId) -> Result<()> {
        // No request exists for this: the server lets go of the transaction when the connection ends, in any way.
        let handle = self.transaction(id).await?;
        self.cursors.inline.forget(handle);
        Ok(())
    }

    async fn reset(&mut self, transactions: &[TransactionId]) -> Result<()> {
        let mut ends = Vec::new();
        for &id in transactions {
            match self.transactions.state(id) {
                None => {}
                Some(State::Unsent(_)) => self.transactions.forget(id),
                Some(State::Asked(_) | State::Started(_)) => {
                    let handle = self.transaction(id).await?;
                    self.cursors.inline.forget(handle);
                    ends.push((id, self.ask_for_end(handle, End::Rollback)?));
                }
            }
        }
        // This statement needs no transaction; the server refuses it while one is open.
        let reset = match self.is_firebird4() {
            true => {
                let (transaction, dialect) = (NO_TRANSACTION, Dialect::default());
                Some(self.ask(&ExecuteImmediate { transaction, dialect, sql: RESET })?)
            }
            false => None,
        };
        let mut result = Ok(());
        for (id, ticket) in ends {
            let ended = self.success(ticket).await.map(|_| self.transactions.forget(id));
            result = result.and(ended);
        }
        if let Some(ticket) = reset {
            result = result.and(self.success(ticket).await.map(|_| ()));
        }
        result
    }

    async fn transaction_info(&mut self, id: TransactionId, items: &[u8]) -> Result<Vec<u8>> {
        let Handle(object) = self.transaction(id).await?;
        let request = InfoTransaction { object, items, buffer_length: 1024 };
        Ok(self.call(&request).await?.data)
    }

    fn is_open(&self, transaction: TransactionId) -> bool {
        self.transactions.has(transaction)
    }

    fn will_change(&mut self, transaction: TransactionId) {
        self.transactions.want_number(transaction);
    }

    fn renumbered(&mut self, transaction: TransactionId) {
        self.transactions.forget_number(transaction);
    }

    fn lost_commit(&mut self, id: TransactionId, error: Error) -> Error {
        let number = match self.transactions.open.get(&id).and_then(|open| open.number) {
            Some(Number::Known(number)) => Some(number),
            Some(Number::Asked(ticket)) => self.router.take(ticket).and_then(|response| {
                let item = InfoReader::new(&response.data).find(|each| each.code == ID)?;
                item.integer().and_then(|number| u64::try_from(number).ok())
            }),
            Some(Number::Wanted) | None => None,
        };
        error.lost_commit_of(number)
    }
}

impl<L: Link> Wire<L> {
    /// Returns the handle of a transaction; starts it now if necessary.
    pub(super) async fn transaction(&mut self, id: TransactionId) -> Result<Handle> {
        self.ask_to_start(id)?;
        let ticket = match self.transactions.state(id) {
            Some(State::Asked(ticket)) => *ticket,
            Some(State::Started(handle)) => return Ok(*handle),
            Some(State::Unsent(_)) | None => return Err(ended()),
        };
        while !self.router.has(ticket) {
            self.step().await?;
        }
        self.confirm_start(id)?;
        self.transactions.handle(id)
    }

    fn ask_to_start(&mut self, id: TransactionId) -> Result<()> {
        if let Some(State::Unsent(_)) = self.transactions.state(id) {
            self.stock_handles()?;
        }
        if let Some(State::Unsent(tpb)) = self.transactions.state(id) {
            let ticket = self.connection.send(&StartTransaction { tpb })?;
            self.transactions.set_state(id, State::Asked(ticket));
            self.transactions.last = Some(id);
        }
        Ok(())
    }

    /// Returns the name of a transaction for a request that is sent immediately. A transaction that has not started is
    /// started in the same write and named "the object created last"; no other object may be created between its start
    /// and the request.
    ///
    /// If the start fails, that name falls back to the object created before. This must not be another transaction, so
    /// while others are open, the start follows the allocation of a statement.
    pub(super) async fn transaction_name(&mut self, id: TransactionId) -> Result<Handle> {
        let is_asked = match self.transactions.state(id) {
            Some(State::Started(handle)) => return Ok(*handle),
            // Calls on other threads may have come between its start and this request.
            Some(State::Asked(ticket)) => self.transactions.last == Some(id) && !self.router.has(*ticket),
            Some(State::Unsent(_)) => {
                let is_safe = !self.transactions.has_started_any() || self.stock_one_more()?;
                if is_safe {
                    self.ask_to_start(id)?;
                }
                is_safe
            }
            _ => false,
        };
        if is_asked { Ok(Handle(LAST_OBJECT)) } else { self.transaction(id).await }
    }

    /// Checks whether a transaction that was to start with its statement has started. Must be called after the answer
    /// to a later request has come. A failed start explains the failures of the requests after it.
    pub(super) fn confirm_start(&mut self, id: TransactionId) -> Result<()> {
        let Some(State::Asked(ticket)) = self.transactions.state(id) else { return Ok(()) };
        let Some(response) = self.router.take(*ticket) else { return Ok(()) };
        match success(response) {
            Ok(response) => {
                self.transactions.set_state(id, State::Started(Handle(response.object)));
                Ok(())
            }
            Err(error) => {
                self.transactions.forget(id);
                Err(error)
            }
        }
    }

    /// Requests the number of a transaction that changes something, in the same write as the request that does so.
    /// `name` is the transaction's name in that request.
    pub(super) fn ask_number(&mut self, id: TransactionId, name: Handle) -> Result<()> {
        for ticket in self.transactions.unneeded.drain(..) {
            self.router.ignore(ticket);
        }
        if let Some(Number::Wanted) = self.transactions.open.get(&id).and_then(|open| open.number) {
            let request = InfoTransaction { object: name.0, items: &[ID], buffer_length: NUMBER_BUFFER };
            let ticket = self.ask(&request)?;
            if let Some(open) = self.transactions.open.get_mut(&id) {
                open.number = Some(Number::Asked(ticket));
            }
        }
        Ok(())
    }

    /// Removes a transaction that has ended, and what came with its rows: the server gives its handle to others.
    pub(super) fn forget_transaction(&mut self, id: TransactionId) {
        if let Ok(handle) = self.transactions.handle(id) {
            self.cursors.inline.forget(handle);
        }
        self.transactions.forget(id);
    }

    pub(super) fn ask_for_end(&mut self, Handle(transaction): Handle, end: End) -> Result<Ticket> {
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
