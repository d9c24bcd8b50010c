//! Statements of cursors that are gone: the next cursor with the same SQL executes them again, instead of preparing it.

use super::Kept;
use crate::api::Api;
use crate::lock::plain;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long one stays prepared for the next cursor. Others cannot alter its tables meanwhile.
pub(crate) const SPARE_LIFETIME: Duration = Duration::from_millis(50);
/// The most that wait.
const MOST: usize = 8;

/// The statements of one connection.
pub(crate) struct Spare<A: Api> {
    waiting: Mutex<VecDeque<(Instant, Kept<A>)>>,
    count: AtomicUsize,
}

impl<A: Api> Default for Spare<A> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl<A: Api> Spare<A> {
    /// Lets one wait. Returns another one if there are too many.
    pub(crate) fn put(&self, kept: Kept<A>) -> Option<Kept<A>> {
        self.change(|waiting| {
            waiting.push_back((Instant::now(), kept));
            if waiting.len() > MOST { waiting.pop_front().map(|(_, oldest)| oldest) } else { None }
        })
    }

    /// Takes the one that can execute this SQL.
    pub(crate) fn take(&self, sql: &str, definitions: u64) -> Option<Kept<A>> {
        if self.is_empty() {
            return None;
        }
        self.change(|waiting| {
            let place = waiting.iter().position(|(_, kept)| kept.fits(sql, definitions))?;
            waiting.remove(place).map(|(_, kept)| kept)
        })
    }

    /// Takes those that have waited long enough.
    pub(crate) fn take_expired(&self) -> Vec<Kept<A>> {
        self.change(|waiting| {
            let is_old = |(since, _): &(Instant, Kept<A>)| since.elapsed() >= SPARE_LIFETIME;
            let count = waiting.iter().take_while(|one| is_old(one)).count();
            waiting.drain(..count).map(|(_, kept)| kept).collect()
        })
    }

    /// Takes all of them.
    pub(crate) fn take_all(&self) -> Vec<Kept<A>> {
        self.change(|waiting| waiting.drain(..).map(|(_, kept)| kept).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    fn change<T>(&self, change: impl FnOnce(&mut VecDeque<(Instant, Kept<A>)>) -> T) -> T {
        let mut waiting = plain(&self.waiting);
        let changed = change(&mut waiting);
        self.count.store(waiting.len(), Ordering::SeqCst);
        changed
    }
}
