//! The state that a connection and everything made from it share.

use super::turn::{Turn, Turns};
use crate::backend::link::tcp::TcpLink;
use crate::backend::{AnyBackend, Backend};
use crate::cancel::{CancelHandle, Entry, Operation, Underway};
use crate::config::{Config, Target};
use crate::error::{Error, Kind, Result};
use crate::session::connect::Facts;
use crate::session::idle::Idle;
use crate::session::noted::Noted;
use crate::session::{Session, ready, ready_in_place};
use crate::stats::Meter;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// A session over a link that blocks.
pub(crate) type BlockingSession = Session<AnyBackend<TcpLink>>;

/// The session, and facts known without asking it.
pub(crate) struct Shared {
    /// Apart from the rest, so that the thread that keeps the connection alive does not count as a user of it.
    session: Arc<Turns<BlockingSession>>,
    underway: Underway,
    pub(crate) facts: Arc<Facts>,
    pub(crate) noted: Arc<Noted>,
}

impl Shared {
    pub(crate) fn open(config: &Config, create: bool) -> Result<Arc<Self>> {
        let facts = Arc::new(Facts::of(config)?);
        let session = ready(Session::connect(&facts, create))?;
        let noted = Arc::new(Noted::of(&session));
        let session = Arc::new(Turns::new(session));
        if let (Some(interval), Target::Remote { .. }) = (config.keepalive, &config.target) {
            keep_alive(Arc::downgrade(&session), Arc::clone(&noted), interval)?;
        }
        Ok(Arc::new(Self { session, underway: Underway::default(), facts, noted }))
    }

    /// Runs a flow as an operation; other threads wait their turn.
    pub(crate) fn run<T>(&self, flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>) -> Result<T> {
        self.begin().run(&[], flow)
    }

    /// Like [`run`](Self::run), and adds the cost to `meters`.
    pub(crate) fn metered<T>(
        &self,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>,
    ) -> Result<T> {
        self.begin().run(meters, flow)
    }

    /// Closes something, even if the operation is cancelled already; but its wait for the server can be cancelled.
    pub(crate) fn finish<T>(
        &self,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>,
    ) -> Result<T> {
        self.begin().finish(meters, flow)
    }

    /// Ends something that the caller has given up, regardless of the tokens of this thread.
    pub(crate) fn release<T>(&self, flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>) -> Result<T> {
        Call::new(self, Operation::shielded()).finish(&[], flow)
    }

    /// [`release`](Self::release) in a destructor.
    pub(crate) fn discard(&self, what: &str, flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<()>) {
        if let Err(error) = self.release(flow) {
            tracing::debug!(%error, "{what} failed");
        }
    }

    /// Begins an operation of several parts. Others may use the connection in between.
    pub(crate) fn begin(&self) -> Call<'_> {
        Call::new(self, Operation::new())
    }

    /// Runs a flow; returns `None` if other threads keep the connection busy until `deadline`.
    pub(crate) fn run_until<T>(
        &self,
        deadline: Option<Instant>,
        flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(deadline) = deadline else { return self.run(flow).map(Some) };
        let call = self.begin();
        call.operation().check()?;
        let Some(session) = self.session.take_until(call.operation(), deadline)? else { return Ok(None) };
        self.within(session, call.operation(), &[], flow).map(Some)
    }

    /// Whether the socket still works, without waiting for an operation that uses it.
    pub(crate) fn is_alive(&self) -> bool {
        match self.session.try_take() {
            Some(mut session) => self.noted.look_at(&mut session),
            None => !self.is_failed(),
        }
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.noted.is_failed()
    }

    fn within<T>(
        &self,
        session: Turn<'_, BlockingSession>,
        operation: &Operation,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>,
    ) -> Result<T> {
        let mut whole = Whole { session, noted: &self.noted, is_whole: false };
        let entered = whole.session.enter(operation);
        let result = ready_in_place(pin!(flow(&mut whole.session)));
        let result = whole.session.leave_operation(entered, meters, result);
        whole.is_whole = true;
        result
    }

    pub(crate) fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { underway: self.underway.clone() }
    }
}

/// An operation of a connection, in one or more parts.
pub(crate) struct Call<'a> {
    shared: &'a Shared,
    entry: Entry,
}

impl<'a> Call<'a> {
    fn new(shared: &'a Shared, operation: Operation) -> Self {
        Self { shared, entry: shared.underway.enter(operation) }
    }

    /// Runs a part of it at the expense of `meters`, unless it is cancelled.
    pub(crate) fn run<T>(
        &self,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>,
    ) -> Result<T> {
        let operation = self.operation();
        operation.check()?;
        let session = self.shared.session.take_for(operation)?;
        self.shared.within(session, operation, meters, async |session| {
            // Whatever comes from here on interrupts the backend.
            operation.check()?;
            flow(session).await
        })
    }

    /// What it is.
    pub(crate) fn operation(&self) -> &Operation {
        self.entry.operation()
    }

    /// Runs its last part, even if it is cancelled.
    pub(crate) fn finish<T>(
        &self,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut BlockingSession) -> Result<T>,
    ) -> Result<T> {
        self.shared.within(self.shared.session.take(), self.operation(), meters, flow)
    }
}

/// A session in the middle of a flow.
struct Whole<'a> {
    session: Turn<'a, BlockingSession>,
    noted: &'a Noted,
    is_whole: bool,
}

impl Drop for Whole<'_> {
    /// After a panic nothing can be said about the connection.
    fn drop(&mut self) {
        if !self.is_whole {
            self.session.backend.abort();
        }
        self.noted.note(&self.session);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.is_failed() {
            return;
        }
        self.discard("detaching", async |session| session.close().await);
    }
}

/// Sends a dummy packet whenever the connection has been idle for `interval`, so that firewalls and NAT devices do not drop it.
/// Never while a call runs: packets queued after a running statement would make it impossible to cancel.
fn keep_alive(session: Weak<Turns<BlockingSession>>, noted: Arc<Noted>, interval: Duration) -> Result<()> {
    let work = move || {
        let mut idle = Idle::new();
        loop {
            thread::sleep(Idle::step(interval));
            let Some(session) = session.upgrade() else { return };
            match session.try_take() {
                Some(session) => {
                    let mut whole = Whole { session, noted: &noted, is_whole: false };
                    let kept = ready(whole.session.keep_alive(&mut idle, interval));
                    whole.is_whole = true;
                    drop(whole);
                    if !matches!(kept, Ok(true)) {
                        return;
                    }
                }
                None => idle.interrupt(),
            }
        }
    };
    let spawned = thread::Builder::new().name("firearrow-keepalive".into()).spawn(work);
    spawned.map(drop).map_err(|error| Error::new(Kind::Io, format!("no thread for keep-alive: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;

    firearrow_testkit::matrix!(
        wire,
        fn keeping_it_alive_does_not_keep_it_from_being_closed(target: &firearrow_testkit::Target) {
            let config = Config::parse(&target.fresh_url()).expect("a valid URL");
            let connection = Connection::create(&config).expect("it is created");
            let kept = Arc::clone(&connection.shared.session);
            connection.close().expect("nothing is open");
            drop(kept);
            let connection = Connection::open(&config).expect("it opens");
            let kept = Arc::downgrade(&connection.shared.session).upgrade();
            connection.drop_database().expect("nothing is open");
            drop(kept);
        }
    );
}
