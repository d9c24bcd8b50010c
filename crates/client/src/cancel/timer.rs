//! One thread for all time limits that somebody must be woken for.

use super::State;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::process;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Instant;

/// The limits that have not passed.
#[derive(Default)]
struct Timer {
    limits: Mutex<BinaryHeap<Reverse<Limit>>>,
    changed: Condvar,
}

struct Limit {
    at: Instant,
    token: Weak<State>,
}

impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Limit {}

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Limit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

/// The timer and its process: threads do not survive a fork.
static TIMER: Mutex<Option<(u32, Arc<Timer>)>> = Mutex::new(None);

/// Wakes the listeners of a token at this time. Whether its limit is still the same is theirs to look at.
pub(super) fn wake_at(at: Instant, token: &Arc<State>) {
    let timer = timer();
    let mut limits = timer.limits.lock().unwrap_or_else(PoisonError::into_inner);
    limits.push(Reverse(Limit { at, token: Arc::downgrade(token) }));
    timer.changed.notify_one();
}

fn timer() -> Arc<Timer> {
    let mut known = TIMER.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some((process, timer)) if *process == process::id() => Arc::clone(timer),
        _ => {
            let timer = Arc::new(Timer::default());
            let work = {
                let timer = Arc::clone(&timer);
                move || timer.run()
            };
            match thread::Builder::new().name("firearrow-timer".into()).spawn(work) {
                Ok(_) => *known = Some((process::id(), Arc::clone(&timer))),
                // The next limit tries again; waits for a server look at the clock themselves.
                Err(error) => tracing::warn!(%error, "no thread for time limits"),
            }
            timer
        }
    }
}

impl Timer {
    fn run(&self) {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = Instant::now();
            match limits.peek() {
                None => limits = self.changed.wait(limits).unwrap_or_else(PoisonError::into_inner),
                Some(Reverse(next)) if next.at > now => {
                    let wait = next.at - now;
                    let waited = self.changed.wait_timeout(limits, wait);
                    limits = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(_) => {
                    let due = limits.pop();
                    drop(limits);
                    if let Some(token) = due.and_then(|Reverse(limit)| limit.token.upgrade()) {
                        token.wake();
                    }
                    limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}
