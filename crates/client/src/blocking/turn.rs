//! Who may use a connection: one operation after the other.

use crate::cancel::{Operation, Wake, interrupted};
use crate::error::Result;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Something that operations use in turns. Waiting for it can be cancelled, unlike waiting for a mutex.
pub(crate) struct Turns<T> {
    place: Arc<Place<T>>,
    /// Wakes all that wait.
    wake: Wake,
}

struct Place<T> {
    seat: Mutex<Seat<T>>,
    freed: Condvar,
}

struct Seat<T> {
    /// `None` while somebody uses it.
    free: Option<Box<T>>,
    /// How many wait for it. Waking nobody would be a system call for each turn.
    waiting: usize,
}

impl<T> Place<T> {
    fn lock(&self) -> MutexGuard<'_, Seat<T>> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Turns<T> {
    pub(crate) fn new(value: T) -> Self {
        let place = Arc::new(Place {
            seat: Mutex::new(Seat { free: Some(Box::new(value)), waiting: 0 }),
            freed: Condvar::new(),
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
    pub(crate) fn take(&self) -> Turn<'_, T> {
        let mut seat = self.place.lock();
        loop {
            if let Some(value) = seat.free.take() {
                return self.turn(value);
            }
            seat = self.wait(seat, None);
        }
    }

    /// Takes it if nobody uses it.
    pub(crate) fn try_take(&self) -> Option<Turn<'_, T>> {
        let value = self.place.lock().free.take()?;
        Some(self.turn(value))
    }

    /// Waits for its turn until the operation is interrupted.
    pub(crate) fn take_for(&self, operation: &Operation) -> Result<Turn<'_, T>> {
        self.take_within(operation, None).map(|turn| turn.expect("there is no deadline"))
    }

    /// Like [`take_for`](Self::take_for), but returns `None` at `deadline`.
    pub(crate) fn take_until(&self, operation: &Operation, deadline: Instant) -> Result<Option<Turn<'_, T>>> {
        self.take_within(operation, Some(deadline))
    }

    fn take_within(&self, operation: &Operation, deadline: Option<Instant>) -> Result<Option<Turn<'_, T>>> {
        if let Some(turn) = self.try_take() {
            return Ok(Some(turn));
        }
        let _listening = operation.listen(&self.wake);
        let mut seat = self.place.lock();
        loop {
            if let Some(value) = seat.free.take() {
                return Ok(Some(self.turn(value)));
            }
            if let Some(kind) = operation.interruption() {
                drop(seat);
                return Err(interrupted(kind, "before its turn"));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            seat = self.wait(seat, operation.limit().into_iter().chain(deadline).min());
        }
    }

    fn wait<'a>(&self, mut seat: MutexGuard<'a, Seat<T>>, until: Option<Instant>) -> MutexGuard<'a, Seat<T>> {
        let freed = &self.place.freed;
        seat.waiting += 1;
        let mut seat = match until {
            None => freed.wait(seat).unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                freed.wait_timeout(seat, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        seat.waiting -= 1;
        seat
    }

    fn turn(&self, value: Box<T>) -> Turn<'_, T> {
        Turn { place: &self.place, value: Some(value) }
    }
}

/// The right to use it until this is dropped, also by a panic.
pub(crate) struct Turn<'a, T> {
    place: &'a Place<T>,
    value: Option<Box<T>>,
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_deref().expect("it is taken away by drop only")
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_deref_mut().expect("it is taken away by drop only")
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut seat = self.place.lock();
        seat.free = self.value.take();
        let is_awaited = seat.waiting > 0;
        drop(seat);
        if is_awaited {
            self.place.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    /// Turns wake only where somebody waits, and nobody may be overlooked.
    #[test]
    fn everybody_gets_a_turn() {
        const TURNS: usize = 2_000;
        let turns = Turns::new(0);
        let deadline = Instant::now() + Duration::from_secs(60);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..TURNS {
                        let turn = turns.take_until(&Operation::new(), deadline);
                        *turn.expect("nobody cancels it").expect("its turn comes") += 1;
                        thread::yield_now();
                    }
                });
            }
        });
        assert_eq!(*turns.take(), 4 * TURNS);
        assert_eq!(turns.place.lock().waiting, 0);
    }
}
