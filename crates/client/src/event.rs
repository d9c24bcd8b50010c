//! Events: posted by others with `POST_EVENT`, and reported after their transaction has committed.
//!
//! ```text
//!  EventListener::wait ──┬─ asks, on the connection ──────────────► engine
//!        ▲               └─ sleeps until the inbox has something       │ the counts, once for each question
//!        └───────────────────────────── Inbox ◄────────────────────────┘ in another thread
//! ```
//!
//! A response has the counts of all names and serves as the next request. Events posted between requests are in the
//! following response, so none are lost.

use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::session::Session;
use firearrow_proto::api::event::{MAX_BLOCK, MAX_NAME, block_length, event_block, events};
use std::collections::HashSet;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How often events were posted since the last report; only those that were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCounts(Vec<(String, u32)>);

/// A listener, whoever waits for it.
pub(crate) struct Listening {
    pub(crate) names: Vec<String>,
    pub(crate) inbox: Arc<Inbox>,
}

/// The next step of a listener.
pub(crate) enum Step {
    /// Report this; nothing if no time is left.
    Report(Option<EventCounts>),
    /// Ask the engine with this block, then [say](Listening::was_asked) how that went.
    Ask(Vec<u8>),
    /// Sleep until the inbox changes.
    Sleep,
}

/// Where an answer is put: by the thread that reads the auxiliary connection, or by one of the engine.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
    #[cfg(feature = "tokio")]
    pub(crate) woken: tokio::sync::Notify,
}

#[derive(Default)]
pub(crate) struct State {
    question: Question,
    /// An answer that nobody has taken yet.
    answer: Option<Vec<u8>>,
    /// The counts of the answer before, in the order of the names.
    counts: Option<Vec<u32>>,
    /// Why there will be no more answers.
    failure: Option<Error>,
    pub(crate) closed: bool,
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

impl Listening {
    pub(crate) fn new(names: &[&str]) -> Result<Self> {
        Ok(Self { names: checked(names)?, inbox: Arc::new(Inbox::default()) })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// What to do next; `state` is locked until then.
    pub(crate) fn step(&self, state: &mut State, deadline: Option<Instant>) -> Result<Step> {
        loop {
            if state.closed {
                return Err(Error::new(Kind::Closed, "the listener is closed"));
            }
            if state.question == Question::BeingAsked {
                return Ok(Step::Sleep);
            }
            if let Some(answer) = state.answer.take() {
                state.question = Question::None;
                match self.report(state, &answer) {
                    // A server may answer at once, for ever, that nothing was posted.
                    Ok(None) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                        return Ok(Step::Report(None));
                    }
                    Ok(None) => continue,
                    Ok(report) => return Ok(Step::Report(report)),
                    Err(error) => state.failure = Some(error),
                }
            }
            if let Some(error) = &state.failure {
                return Err(error.clone());
            }
            if state.question == Question::None {
                state.question = Question::BeingAsked;
                return Ok(Step::Ask(self.question(state)));
            }
            return Ok(Step::Sleep);
        }
    }

    /// The engine has got the question, or has not. `true` if the listener was closed meanwhile and the question has to
    /// be taken back.
    pub(crate) fn was_asked(&self, was_asked: bool) -> bool {
        let mut state = self.inbox.lock();
        state.question = if was_asked { Question::Asked } else { Question::None };
        let is_unwanted = state.closed && was_asked;
        drop(state);
        self.inbox.changed();
        is_unwanted
    }

    /// Ends the waiting. `true` if a question has to be taken back.
    pub(crate) fn close(&self) -> bool {
        let was_asked = {
            let mut state = self.inbox.lock();
            state.closed = true;
            mem::replace(&mut state.question, Question::None) == Question::Asked
        };
        self.inbox.changed();
        was_asked
    }

    fn question(&self, state: &State) -> Vec<u8> {
        let counts = state.counts.as_deref().unwrap_or_default();
        let counts = counts.iter().copied().chain(std::iter::repeat(0));
        event_block(self.names().zip(counts))
    }

    /// The events of a response; `None` if none were posted after all.
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

impl<B: Backend> Session<B> {
    /// Asks for events.
    pub(crate) async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        self.backend.queue_events(block, inbox).await
    }

    /// Takes the question of an inbox back.
    pub(crate) async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()> {
        if self.backend.is_failed() { Ok(()) } else { self.backend.cancel_events(inbox).await }
    }
}

impl EventCounts {
    /// Returns how often this event was posted.
    pub fn get(&self, name: &str) -> u32 {
        self.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| count)
    }

    /// Returns the posted events, in the order in which they were requested.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// Returns the total number of postings.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| u64::from(count)).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Inbox {
    /// An answer has come.
    pub(crate) fn put(&self, answer: &[u8]) {
        self.lock().answer = Some(answer.to_vec());
        self.changed();
    }

    /// No answer will come any more.
    pub(crate) fn fail(&self, error: &Error) {
        self.lock().failure.get_or_insert_with(|| error.clone());
        self.changed();
    }

    /// Somebody who sleeps shall look again.
    pub(crate) fn changed(&self) {
        self.changed.notify_all();
        #[cfg(feature = "tokio")]
        self.woken.notify_waiters();
    }

    /// Sleeps until something changes; `None` when the deadline has passed.
    pub(crate) fn sleep<'a>(
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

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
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
