//! Who may use a connection: one operation after the other.

use crate::cancel::{Operation, Wake, interrupted};
use crate::error::Result;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Something that operations use in turns. Waiting for it can be cancelled, unlike waiting for a mutex.
pub(crate) struct Turns<T> {
    place: Arc<Place<T>>,
    /// Wakes all that wait.
    wake: Wake,
}

struct Place<T> {
    /// `None` while somebody uses it.
    free: Mutex<Option<Box<T>>>,
    freed: Condvar,
    /// How many wait, changed with the lock held: to wake nobody takes a system call, too.
    waiting: AtomicUsize,
}

impl<T> Place<T> {
    fn lock(&self) -> MutexGuard<'_, Option<Box<T>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Turns<T> {
    pub(crate) fn new(value: T) -> Self {
        let place = Arc::new(Place {
            free: Mutex::new(Some(Box::new(value))),
            freed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        });
        let waiting = Arc::downgrade(&place);
        let wake = Arc::new(move || {
            if let Some(place) = waiting.upgrade() {
                // Whoever has just looked holds the lock until it waits.
                drop(place.lock());
                place.freed.notify_all();
            }
        });
        Self { place, wake }
    }

    /// Waits for its turn, however long that takes.
    pub(crate) fn take(&self) -> Turn<T> {
        let mut free = self.place.lock();
        loop {
            if let Some(value) = free.take() {
                return self.turn(value);
            }
            free = self.wait(free, None);
        }
    }

    /// Takes it if nobody uses it.
    pub(crate) fn try_take(&self) -> Option<Turn<T>> {
        let value = self.place.lock().take()?;
        Some(self.turn(value))
    }

    /// Waits for its turn until the operation is interrupted.
    pub(crate) fn take_for(&self, operation: &Operation) -> Result<Turn<T>> {
        self.take_within(operation, None).map(|turn| turn.expect("there is no deadline"))
    }

    /// Like [`take_for`](Self::take_for), but returns `None` at `deadline`.
    pub(crate) fn take_until(&self, operation: &Operation, deadline: Instant) -> Result<Option<Turn<T>>> {
        self.take_within(operation, Some(deadline))
    }

    fn take_within(&self, operation: &Operation, deadline: Option<Instant>) -> Result<Option<Turn<T>>> {
        if let Some(turn) = self.try_take() {
            return Ok(Some(turn));
        }
        let _listening = operation.listen(&self.wake);
        let mut free = self.place.lock();
        loop {
            if let Some(value) = free.take() {
                return Ok(Some(self.turn(value)));
            }
            if let Some(kind) = operation.interruption() {
                drop(free);
                return Err(interrupted(kind, "before its turn"));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            free = self.wait(free, operation.limit().into_iter().chain(deadline).min());
        }
    }

    fn wait<'a>(
        &self,
        free: MutexGuard<'a, Option<Box<T>>>,
        until: Option<Instant>,
    ) -> MutexGuard<'a, Option<Box<T>>> {
        let Place { freed, waiting, .. } = &*self.place;
        waiting.fetch_add(1, Ordering::Relaxed);
        let free = match until {
            None => freed.wait(free).unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        waiting.fetch_sub(1, Ordering::Relaxed);
        free
    }

    fn turn(&self, value: Box<T>) -> Turn<T> {
        Turn { place: Arc::clone(&self.place), value: Some(value) }
    }
}

/// The right to use it until this is dropped, also by a panic.
pub(crate) struct Turn<T> {
    place: Arc<Place<T>>,
    value: Option<Box<T>>,
}

impl<T> Deref for Turn<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_deref().expect("it is taken away by drop only")
    }
}

impl<T> DerefMut for Turn<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_deref_mut().expect("it is taken away by drop only")
    }
}

impl<T> Drop for Turn<T> {
    fn drop(&mut self) {
        let mut free = self.place.lock();
        *free = self.value.take();
        let is_wanted = self.place.waiting.load(Ordering::Relaxed) > 0;
        drop(free);
        if is_wanted {
            self.place.freed.notify_one();
        }
    }
}
