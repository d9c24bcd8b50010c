//! Calls that run in the thread of an event loop, as long as they are short; and their results on the way to it.

use super::reactor::Sockets;
use super::runtime;
use crate::failure::Failure;
use crate::lock::plain;
use crate::process;
use firearrow::asynchronous::{Reactor, within};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::io;
use std::mem;
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// Makes the result of a call, in the thread of the event loop; `None` cancels the future.
pub(super) type Finish = Box<dyn FnOnce(Python<'_>) -> Option<PyResult<Py<PyAny>>> + Send>;

/// A call. It may be polled in the thread of the event loop and by the runtime.
pub(super) type Work = Pin<Box<dyn Future<Output = Finish> + Send>>;

/// After this many polls a call is assumed to read a large result, and moves to the runtime: decoding would block the event loop.
const OFTEN: u32 = 4;

/// How long a call that can go on waits for its event loop. It has the connection, so that others wait for it.
const PATIENCE: Duration = Duration::from_millis(100);

/// The calls of one event loop. It has nothing of Python, so that whoever wakes one keeps no event loop alive.
pub(super) struct Tasks {
    /// A forked child must not touch what its parent has.
    owner: u32,
    sockets: Arc<Sockets>,
    reactor: Arc<dyn Reactor>,
    calls: Mutex<Calls>,
    news: Mutex<News>,
    /// How often the loop has looked.
    looks: AtomicU64,
    /// Whether a task of the runtime watches the loop.
    is_watched: AtomicBool,
}

type Calls = HashMap<u64, Call>;

enum Call {
    Here { work: Work, waker: Waker, turns: u32 },
    InRuntime(AbortHandle),
}

/// What has happened since the loop last looked.
#[derive(Default)]
struct News {
    last: u64,
    ready: Vec<u64>,
    results: Vec<(u64, Finish)>,
    /// The loop looks anyway.
    is_looking: bool,
}

impl Tasks {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let sockets = Arc::new(Sockets::new()?);
        let reactor: Arc<dyn Reactor> = sockets.clone();
        let (calls, news, looks, is_watched) = Default::default();
        Ok(Arc::new(Self { owner: process::id(), sockets, reactor, calls, news, looks, is_watched }))
    }

    /// What the loop listens to.
    pub(super) fn fd(&self) -> RawFd {
        self.sockets.fd()
    }

    /// Begins a call, in the thread of the loop. Returns its number, or its result if it completed without waiting.
    pub(super) fn begin(self: &Arc<Self>, runtime: &Handle, mut work: Work) -> Result<u64, Finish> {
        let number = {
            let mut news = plain(&self.news);
            news.last += 1;
            news.last
        };
        let waker = Waker::from(Arc::new(Ready { tasks: Arc::clone(self), number }));
        let polled = {
            let _entered = runtime.enter();
            self.poll(&mut work, &waker)
        };
        match polled {
            Poll::Ready(finish) => Err(finish),
            Poll::Pending => {
                plain(&self.calls).insert(number, Call::Here { work, waker, turns: 0 });
                self.watch(runtime);
                Ok(number)
            }
        }
    }

    /// Begins a call that writes much, and would hold up the event loop.
    pub(super) fn begin_in_runtime(self: &Arc<Self>, runtime: &Handle, work: Work) -> u64 {
        let number = {
            let mut news = plain(&self.news);
            news.last += 1;
            news.last
        };
        self.move_away(&mut plain(&self.calls), runtime, number, work);
        number
    }

    /// Lets go of a call that nobody waits for any more.
    pub(super) fn give_up(&self, number: u64) {
        let call = plain(&self.calls).remove(&number);
        match call {
            Some(call) if self.owner != process::id() => mem::forget(call),
            Some(Call::Here { work, .. }) => runtime::within(|| drop(work)),
            Some(Call::InRuntime(task)) => task.abort(),
            None => {}
        }
    }

    /// Lets go of all.
    pub(super) fn give_up_all(&self) {
        let calls = mem::take(&mut *plain(&self.calls));
        let results = mem::take(&mut plain(&self.news).results);
        if self.owner != process::id() {
            return mem::forget((calls, results));
        }
        runtime::within(|| drop((calls, results)));
    }

    /// Goes on with the calls whose sockets have something, in the thread of the loop. Returns those that have ended.
    pub(super) fn go_on(self: &Arc<Self>, runtime: &Handle) -> Vec<(u64, Finish)> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        plain(&self.news).is_looking = true;
        self.sockets.look();
        let (ready, mut results) = {
            let mut news = plain(&self.news);
            (mem::take(&mut news.ready), mem::take(&mut news.results))
        };
        results.iter().for_each(|(number, _)| drop(plain(&self.calls).remove(number)));
        let _entered = runtime.enter();
        for number in ready {
            let call = plain(&self.calls).remove(&number);
            let (mut work, waker, turns) = match call {
                Some(Call::Here { work, waker, turns }) => (work, waker, turns),
                // It was woken before it moved.
                Some(moved) => {
                    plain(&self.calls).insert(number, moved);
                    continue;
                }
                None => continue,
            };
            if turns == OFTEN {
                self.move_away(&mut plain(&self.calls), runtime, number, work);
                continue;
            }
            match self.poll(&mut work, &waker) {
                Poll::Ready(finish) => results.push((number, finish)),
                Poll::Pending => {
                    plain(&self.calls).insert(number, Call::Here { work, waker, turns: turns + 1 });
                }
            }
        }
        plain(&self.news).is_looking = false;
        if self.has_news() {
            self.sockets.ring();
        }
        if !plain(&self.calls).is_empty() {
            self.watch(runtime);
        }
        results
    }

    /// Starts the task that watches the loop, unless it is running.
    fn watch(self: &Arc<Self>, runtime: &Handle) {
        if !self.is_watched.swap(true, Ordering::SeqCst) {
            runtime.spawn(watch(Arc::downgrade(self)));
        }
    }

    /// Lets the runtime go on with a call. The calls are locked, so that its result does not come before it is known.
    fn move_away(self: &Arc<Self>, calls: &mut Calls, runtime: &Handle, number: u64, work: Work) {
        let task = runtime.spawn(Reply::new(self, number).send(work));
        calls.insert(number, Call::InRuntime(task.abort_handle()));
    }

    /// Lets the runtime go on with the calls that could have gone on: their loop has stopped, or does something else.
    fn move_ready(self: &Arc<Self>, runtime: &Handle) {
        let ready = mem::take(&mut plain(&self.news).ready);
        let mut calls = plain(&self.calls);
        for number in ready {
            match calls.remove(&number) {
                Some(Call::Here { work, .. }) => self.move_away(&mut calls, runtime, number, work),
                Some(moved) => drop(calls.insert(number, moved)),
                None => {}
            }
        }
    }

    fn poll(&self, work: &mut Work, waker: &Waker) -> Poll<Finish> {
        let poll = || within(&self.reactor, || work.as_mut().poll(&mut Context::from_waker(waker)));
        // A panic must not take the event loop along.
        catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|_| Poll::Ready(panicked()))
    }

    fn has_news(&self) -> bool {
        let news = plain(&self.news);
        !news.ready.is_empty() || !news.results.is_empty()
    }

    /// Lets the loop look.
    fn tell(&self, add: impl FnOnce(&mut News)) {
        let mut news = plain(&self.news);
        let is_first = news.ready.is_empty() && news.results.is_empty();
        add(&mut news);
        if is_first && !news.is_looking {
            drop(news);
            self.sockets.ring();
        }
    }
}

/// Watches a loop that has calls: while it is stuck, the runtime continues them.
async fn watch(tasks: Weak<Tasks>) {
    let mut looks = None;
    loop {
        sleep(PATIENCE).await;
        let Some(tasks) = tasks.upgrade() else { return };
        let now = tasks.looks.load(Ordering::SeqCst);
        if looks.replace(now) == Some(now) {
            // What is seen here, the loop is told, and has until the next time.
            tasks.move_ready(&Handle::current());
            tasks.sockets.look();
            if tasks.has_news() {
                tasks.sockets.ring();
            }
        }
        if plain(&tasks.calls).is_empty() {
            tasks.is_watched.store(false, Ordering::SeqCst);
            // Another one may have come meanwhile.
            if plain(&tasks.calls).is_empty() || tasks.is_watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
}

fn panicked() -> Finish {
    Box::new(|py| {
        let failed = Failure::Internal("a bug in firearrow: the call has panicked");
        Some(Err(failed.into_exception(py)))
    })
}

/// Wakes a call.
struct Ready {
    tasks: Arc<Tasks>,
    number: u64,
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let number = self.number;
        self.tasks.tell(|news| {
            if !news.ready.contains(&number) {
                news.ready.push(number);
            }
        });
    }
}

/// The result of a call that has moved to the runtime. The loop is told even if the call ends in another way.
struct Reply {
    to: Option<(u64, Arc<Tasks>)>,
}

impl Reply {
    fn new(tasks: &Arc<Tasks>, number: u64) -> Self {
        Self { to: Some((number, Arc::clone(tasks))) }
    }

    async fn send(mut self, work: Work) {
        let finish = work.await;
        self.tell(finish);
    }

    fn tell(&mut self, finish: Finish) {
        if let Some((number, tasks)) = self.to.take() {
            tasks.tell(|news| news.results.push((number, finish)));
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.tell(match thread::panicking() {
            true => panicked(),
            false => Box::new(|_| None),
        });
    }
}
