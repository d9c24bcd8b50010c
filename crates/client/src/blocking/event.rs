//! Listening to events.

use super::Connection;
use super::shared::Shared;
use crate::error::{Error, Kind, Result};
use crate::event::{EventCounts, Listening, Step};
use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Receives events. It keeps its connection alive; dropping it unsubscribes.
///
/// It may be shared between threads: one of them waits, another [closes](Self::close) it. The connection can be used
/// meanwhile. The listener renews its subscription between calls, so a long statement delays events but loses none.
/// Prefer a dedicated connection. It is safer, too: a server that loses the second TCP connection (see
/// [`Connection::events`]) in the middle of a response may send that response twice.
pub struct EventListener {
    shared: Arc<Shared>,
    listening: Listening,
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
    pub fn events(&self, names: &[&str]) -> Result<EventListener> {
        let shared = Arc::clone(&self.shared);
        let listener = EventListener { shared, listening: Listening::new(names)? };
        // The first response arrives immediately and states where counting begins.
        let deadline = Instant::now().checked_add(self.shared.facts.config.connect_timeout);
        match listener.next(deadline)? {
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
    pub fn wait(&self, timeout: Duration) -> Result<Option<EventCounts>> {
        self.next(Instant::now().checked_add(timeout))
    }

    /// Returns an iterator over the reports; it ends when the listener is closed, and after an error.
    pub fn iter(&self) -> EventReports<'_> {
        EventReports { listener: Some(self) }
    }

    /// Unsubscribes and wakes all waiting threads. The server has five seconds to confirm, or `read_timeout` if that is
    /// shorter; otherwise the connection is closed. Dropping the listener does the same.
    pub fn close(&self) -> Result<()> {
        if self.listening.close() { self.take_back() } else { Ok(()) }
    }

    fn take_back(&self) -> Result<()> {
        self.shared.release(async |session| session.cancel_events(&self.listening.inbox).await)
    }

    /// The next report, or an empty one when counting begins.
    fn next(&self, deadline: Option<Instant>) -> Result<Option<EventCounts>> {
        let inbox = &self.listening.inbox;
        let mut state = inbox.lock();
        loop {
            match self.listening.step(&mut state, deadline)? {
                Step::Report(report) => return Ok(report),
                Step::Sleep => {
                    let Some(now) = inbox.sleep(state, deadline) else { return Ok(None) };
                    state = now;
                }
                Step::Ask(block) => {
                    drop(state);
                    let asked = self
                        .shared
                        .run_until(deadline, async |session| session.queue_events(&block, inbox).await);
                    if self.listening.was_asked(matches!(asked, Ok(Some(())))) {
                        self.take_back()?;
                    } else if asked?.is_none() {
                        return Ok(None);
                    }
                    state = inbox.lock();
                }
            }
        }
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::debug!(%error, "closing a listener failed");
        }
    }
}

impl fmt::Debug for EventListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventListener").field("names", &self.listening.names).finish_non_exhaustive()
    }
}

impl<'a> IntoIterator for &'a EventListener {
    type Item = Result<EventCounts>;
    type IntoIter = EventReports<'a>;

    fn into_iter(self) -> EventReports<'a> {
        self.iter()
    }
}

/// The reports of an [`EventListener`].
#[derive(Debug)]
pub struct EventReports<'a> {
    listener: Option<&'a EventListener>,
}

impl Iterator for EventReports<'_> {
    type Item = Result<EventCounts>;

    fn next(&mut self) -> Option<Self::Item> {
        let listener = self.listener?;
        let report = listener.next(None);
        if report.is_err() {
            self.listener = None;
        }
        match report {
            Err(_) if listener.listening.inbox.lock().closed => None,
            report => report.transpose(),
        }
    }
}

impl FusedIterator for EventReports<'_> {}
