//! Listening to events.

use super::shared::Shared;
use super::{Connection, flow};
use crate::error::{Error, Kind, Result};
use crate::event::{EventCounts, Inbox, Listening, Step};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Receives events. It keeps its connection alive; dropping it unsubscribes.
///
/// It may be shared between tasks: one of them waits, another [closes](Self::close) it. The connection can be used
/// meanwhile. The listener renews its subscription between calls, so a long statement delays events but loses none.
/// Prefer a dedicated connection.
pub struct EventListener {
    shared: Arc<Shared>,
    listening: Arc<Listening>,
}

impl Connection {
    /// Listens to events with these names, from now on: events posted before this returns do not count, those posted
    /// after it do.
    ///
    /// Servers report events on a second TCP connection, which all listeners of a connection share. It goes to the same
    /// host, and to the port that the server names; `event_host` and `event_port` of the [`Config`](crate::Config)
    /// override that. Takes a round trip for each new listener and one more for the first.
    ///
    /// # Errors
    /// [`Kind::Parameter`] for no name at all, an empty one, one of more than 255 bytes, or for more names than fit
    /// into a request (64 KB). [`Kind::Unreachable`] or [`Kind::Timeout`] (after `connect_timeout`) when the second
    /// connection cannot be made; the main connection is unaffected.
    pub async fn events(&self, names: &[&str]) -> Result<EventListener> {
        let listening = Arc::new(Listening::new(names)?);
        let listener = EventListener { shared: Arc::clone(&self.shared), listening };
        // The first response arrives immediately and states where counting begins.
        let deadline = Instant::now().checked_add(self.shared.facts.config.connect_timeout);
        match listener.next(deadline).await? {
            Some(_) => Ok(listener),
            None => Err(Error::new(Kind::Timeout, "the server did not confirm that it will tell of events")),
        }
    }
}

impl EventListener {
    /// The events to listen to: without trailing blanks, which do not count, and each name once.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.listening.names()
    }

    /// Waits until an event is posted; returns `None` if none was within this time. Events of one transaction arrive
    /// together, when it commits; those of several may as well.
    ///
    /// # Errors
    /// [`Kind::Closed`] when the listener was closed or a connection is lost; it receives nothing more then.
    pub async fn wait(&self, timeout: Duration) -> Result<Option<EventCounts>> {
        self.next(Instant::now().checked_add(timeout)).await
    }

    /// Returns the next report, however long it takes; `None` once the listener is closed.
    ///
    /// # Errors
    /// [`Kind::Closed`] when a connection is lost; it receives nothing more then.
    pub async fn report(&self) -> Result<Option<EventCounts>> {
        match self.next(None).await {
            Err(_) if self.listening.inbox.lock().closed => Ok(None),
            report => report,
        }
    }

    /// Unsubscribes and wakes all waiting tasks. The server has five seconds to confirm, or `read_timeout` if that is
    /// shorter; otherwise the connection is closed. Dropping the listener does the same.
    pub async fn close(&self) -> Result<()> {
        if self.listening.close() { self.take_back().await } else { Ok(()) }
    }

    async fn take_back(&self) -> Result<()> {
        let inbox = Arc::clone(&self.listening.inbox);
        self.shared.release(flow!(session => session.cancel_events(&inbox).await)).await
    }

    /// The next report, or an empty one when counting begins.
    async fn next(&self, deadline: Option<Instant>) -> Result<Option<EventCounts>> {
        let inbox = &self.listening.inbox;
        loop {
            // From here on changes are noted.
            let woken = inbox.woken.notified();
            let step = self.listening.step(&mut inbox.lock(), deadline.map(Instant::into_std))?;
            match step {
                Step::Report(report) => return Ok(report),
                Step::Sleep => match deadline {
                    None => woken.await,
                    Some(deadline) if timeout_at(deadline, woken).await.is_err() => return Ok(None),
                    Some(_) => {}
                },
                Step::Ask(block) => {
                    if !self.ask(block, inbox, deadline).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Asks the engine; `false` when others keep the connection busy until the deadline.
    async fn ask(&self, block: Vec<u8>, inbox: &Arc<Inbox>, deadline: Option<Instant>) -> Result<bool> {
        let (listening, inbox) = (Arc::clone(&self.listening), Arc::clone(inbox));
        // Whoever waits may go: the question is noted in the task that asks it, or not at all.
        let asking = Asking { listening: Some(Arc::clone(&listening)) };
        let ask = flow!(session => {
            let asked = session.queue_events(&block, &inbox).await;
            if asking.done(asked.is_ok()) {
                session.cancel_events(&inbox).await?;
            }
            asked
        });
        Ok(self.shared.run_until(deadline, ask).await?.is_some())
    }
}

/// A question on its way to the engine.
struct Asking {
    listening: Option<Arc<Listening>>,
}

impl Asking {
    /// `true` if the question has to be taken back.
    fn done(mut self, was_asked: bool) -> bool {
        self.listening.take().is_some_and(|listening| listening.was_asked(was_asked))
    }
}

impl Drop for Asking {
    /// It was given up before it began.
    fn drop(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.was_asked(false);
        }
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        if self.listening.close() {
            let inbox = Arc::clone(&self.listening.inbox);
            self.shared.discard(flow!(session => session.cancel_events(&inbox).await));
        }
    }
}

impl fmt::Debug for EventListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventListener").field("names", &self.listening.names).finish_non_exhaustive()
    }
}
