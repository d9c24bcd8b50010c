//! Events: what others post with `POST_EVENT`, told after their transaction has committed.
//!
//! ```text
//!  EventListener::wait ──┬─ asks, on the connection ──────────────► engine
//!        ▲               └─ sleeps until the inbox has something       │ the counts, once for each question
//!        └───────────────────────────── Inbox ◄────────────────────────┘ in another thread
//! ```
//!
//! An answer has the counts of all names; it is the next question, too. What is posted while nobody asks is in the answer
//! after that, so nothing is lost in between.

use crate::backend::Backend;
use crate::connection::{Connection, Shared};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::event::{MAX_BLOCK, MAX_NAME, block_length, event_block, events};
use std::collections::HashSet;
use std::fmt;
use std::iter::FusedIterator;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Hears of events. It keeps its connection alive; dropping it ends the waiting.
///
/// It may be shared between threads: one of them waits, another [closes](Self::close) it. The connection can be used
/// meanwhile. The other way round, a listener asks again over the connection, and does so between two calls: beside
/// statements that run for long it hears late, though of everything. A connection of its own is better then, and safer: a
/// server that loses the second TCP connection (see [`Connection::events`]) in the middle of an answer may send that twice.
pub struct EventListener {
    shared: Arc<Shared>,
    names: Vec<String>,
    inbox: Arc<Inbox>,
}

/// How often events were posted since the last report; only those that were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCounts(Vec<(String, u32)>);

/// Where an answer is put: by the thread that reads the auxiliary connection, or by one of the engine.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    question: Question,
    /// An answer that nobody has taken yet.
    answer: Option<Vec<u8>>,
    /// The counts of the answer before, in the order of the names.
    counts: Option<Vec<u32>>,
    /// Why there will be no more answers.
    failure: Option<Error>,
    closed: bool,
}

/// Whether an answer will come.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Question {
    #[default]
    None,
    /// Somebody is about to ask; all others wait for that.
    BeingAsked,
    Asked,
}

impl Connection {
    /// Listens to events of these names, from now on: what is posted before this returns does not count, what is posted
    /// after it does.
    ///
    /// Servers tell of events on a second TCP connection, which all listeners of a connection share. It goes to the same
    /// host, and to the port that the server names; `event_host` and `event_port` of the [`Config`](crate::Config) overrule
    /// that. Takes a round trip for each new listener and one more for the first.
    ///
    /// # Errors
    /// [`Kind::Parameter`] for no name at all, an empty one, one of more than 255 bytes, or for more names than fit into a
    /// request (64 KB). [`Kind::Unreachable`] or [`Kind::Timeout`] (after `connect_timeout`) when the second connection
    /// cannot be made; the first is as good as before.
    pub fn events(&self, names: &[&str]) -> Result<EventListener> {
        let listener = EventListener {
            shared: Arc::clone(&self.shared),
            names: checked(names)?,
            inbox: Arc::new(Inbox::default()),
        };
        // The first answer is there at once: it tells where counting begins.
        let deadline = Instant::now().checked_add(self.shared.connect_timeout);
        match listener.next(deadline)? {
            Some(_) => Ok(listener),
            None => Err(Error::new(Kind::Timeout, "the server did not confirm that it will tell of events")),
        }
    }
}

impl EventListener {
    /// What is listened to: without blanks at the end, which do not count, and each name once.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Waits until something is posted; `None` when nothing was for this long. Postings of one transaction come together,
    /// when it commits; so may those of several.
    ///
    /// # Errors
    /// [`Kind::Closed`] when the listener was closed, or a connection is lost; it will hear nothing more then.
    pub fn wait(&self, timeout: Duration) -> Result<Option<EventCounts>> {
        self.next(Instant::now().checked_add(timeout))
    }

    /// All reports, one after the other; it ends when the listener is closed, and after an error.
    pub fn iter(&self) -> EventReports<'_> {
        EventReports { listener: Some(self) }
    }

    /// Ends the waiting, also that of other threads. The server has five seconds to confirm it, or `read_timeout` if that is
    /// shorter; the connection is closed if it does not. Dropping the listener does the same.
    pub fn close(&self) -> Result<()> {
        let was_asked = {
            let mut state = self.inbox.lock();
            state.closed = true;
            std::mem::replace(&mut state.question, Question::None) == Question::Asked
        };
        self.inbox.changed.notify_all();
        if !was_asked {
            return Ok(());
        }
        self.shared.release(async |session| session.backend.cancel_events(&self.inbox).await)
    }

    /// The next report, or an empty one when counting begins.
    fn next(&self, deadline: Option<Instant>) -> Result<Option<EventCounts>> {
        let mut state = self.inbox.lock();
        loop {
            if state.closed {
                return Err(Error::new(Kind::Closed, "the listener is closed"));
            }
            if state.question != Question::BeingAsked {
                if let Some(answer) = state.answer.take() {
                    state.question = Question::None;
                    match self.report(&mut state, &answer) {
                        // A server may answer at once, for ever, that nothing was posted.
                        Ok(None) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                            return Ok(None);
                        }
                        Ok(None) => continue,
                        Ok(report) => return Ok(report),
                        Err(error) => state.failure = Some(error),
                    }
                }
                if let Some(error) = &state.failure {
                    return Err(error.clone());
                }
                if state.question == Question::None {
                    state.question = Question::BeingAsked;
                    let block = self.question(&state);
                    drop(state);
                    let asked = self.shared.run_until(deadline, async |session| {
                        session.backend.queue_events(&block, &self.inbox).await
                    });
                    state = self.inbox.lock();
                    let was_asked = matches!(asked, Ok(Some(())));
                    state.question = if was_asked { Question::Asked } else { Question::None };
                    self.inbox.changed.notify_all();
                    if state.closed && was_asked {
                        drop(state);
                        self.close()?;
                        state = self.inbox.lock();
                    } else if asked?.is_none() {
                        return Ok(None);
                    }
                    continue;
                }
            }
            let Some(now) = self.inbox.sleep(state, deadline) else { return Ok(None) };
            state = now;
        }
    }

    fn question(&self, state: &State) -> Vec<u8> {
        let counts = state.counts.as_deref().unwrap_or_default();
        let counts = counts.iter().copied().chain(std::iter::repeat(0));
        event_block(self.names().zip(counts))
    }

    /// What an answer says: nothing when nothing was posted after all.
    fn report(&self, state: &mut State, answer: &[u8]) -> Result<Option<EventCounts>> {
        let answer = events(answer)
            .filter(|answer| answer.iter().map(|(name, _)| *name).eq(self.names().map(str::as_bytes)));
        let answer = answer.ok_or_else(|| Error::new(Kind::Protocol, "the server tells of other events"))?;
        let counts = answer.into_iter().map(|(_, count)| count).collect();
        let Some(before) = state.counts.replace(counts) else { return Ok(Some(EventCounts::default())) };
        let now = state.counts.iter().flatten();
        let posted = now.zip(before).map(|(now, before)| now.wrapping_sub(before));
        let posted = self.names.iter().cloned().zip(posted).filter(|(_, count)| *count != 0);
        Ok(Some(EventCounts(posted.collect())).filter(|counts| !counts.is_empty()))
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        if self.shared.lock().backend.is_failed() {
            return;
        }
        if let Err(error) = self.close() {
            tracing::debug!(%error, "closing a listener failed");
        }
    }
}

impl fmt::Debug for EventListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventListener").field("names", &self.names).finish_non_exhaustive()
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
            Err(_) if listener.inbox.lock().closed => None,
            report => report.transpose(),
        }
    }
}

impl FusedIterator for EventReports<'_> {}

impl EventCounts {
    /// How often this event was posted.
    pub fn get(&self, name: &str) -> u32 {
        self.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| count)
    }

    /// The events that were posted, in the order in which they were asked for.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// How many postings there were.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| u64::from(count)).sum()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Inbox {
    /// An answer has come.
    pub(crate) fn put(&self, answer: &[u8]) {
        self.lock().answer = Some(answer.to_vec());
        self.changed.notify_all();
    }

    /// No answer will come any more.
    pub(crate) fn fail(&self, error: &Error) {
        self.lock().failure.get_or_insert_with(|| error.clone());
        self.changed.notify_all();
    }

    /// Sleeps until something changes; `None` when the deadline has passed.
    fn sleep<'a>(
        &self,
        state: MutexGuard<'a, State>,
        deadline: Option<Instant>,
    ) -> Option<MutexGuard<'a, State>> {
        let Some(deadline) = deadline else {
            return Some(self.changed.wait(state).unwrap_or_else(PoisonError::into_inner));
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        Some(self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0)
    }

    #[cfg(test)]
    pub(crate) fn has_answer(&self) -> bool {
        self.lock().answer.is_some()
    }

    #[cfg(test)]
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names as the engine knows them.
fn checked(names: &[&str]) -> Result<Vec<String>> {
    let refused = |text: String| Err(Error::new(Kind::Parameter, text));
    let (mut checked, mut known) = (Vec::new(), HashSet::new());
    for name in names {
        let name = name.trim_end_matches(' ');
        if name.is_empty() {
            return refused("the name of an event is empty".into());
        }
        if name.len() > MAX_NAME {
            let start: String = name.chars().take(20).collect();
            return refused(format!("the name of event {start}… has {} bytes, 255 are the most", name.len()));
        }
        if known.insert(name) {
            checked.push(name.to_owned());
        }
    }
    let length = block_length(known);
    match checked.len() {
        0 => refused("events need names".into()),
        _ if length > MAX_BLOCK => {
            refused(format!("the names of the events take {length} bytes, {MAX_BLOCK} are the most"))
        }
        _ => Ok(checked),
    }
}
