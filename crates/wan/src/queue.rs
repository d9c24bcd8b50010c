//! The bytes in transit in one direction of a connection.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// One item in transit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parcel {
    Bytes(Vec<u8>),
    /// The sender has finished.
    End,
    /// The sender has disconnected.
    Lost,
}

impl Parcel {
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::End | Self::Lost => 0,
        }
    }
}

/// Holds parcels until they are due. One thread pushes and one pops.
#[derive(Debug)]
pub(crate) struct Queue {
    limit: usize,
    resume: usize,
    state: Mutex<State>,
    arrival: Condvar,
    departure: Condvar,
}

#[derive(Debug, Default)]
struct State {
    parcels: VecDeque<(Instant, Parcel)>,
    bytes: usize,
    reader_waits: bool,
    closed: bool,
}

impl Queue {
    /// Creates a queue that is full with this many bytes, at least one.
    pub(crate) fn new(limit: usize) -> Self {
        let below = limit.saturating_sub(1);
        Self {
            limit,
            resume: below - below / 8,
            state: Mutex::default(),
            arrival: Condvar::new(),
            departure: Condvar::new(),
        }
    }

    /// Waits while the queue is full; false once it is closed. A full queue must shrink by an eighth first: reading
    /// after each departure would double the wake-ups.
    pub(crate) fn has_room(&self) -> bool {
        let mut state = self.state();
        if state.bytes >= self.limit {
            state.reader_waits = true;
            let full = |state: &mut State| !state.closed && state.bytes > self.resume;
            state = self.departure.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
            state.reader_waits = false;
        }
        !state.closed
    }

    /// Makes the pushing thread wait until this moment; false once the queue is closed.
    pub(crate) fn wait_until(&self, moment: Instant) -> bool {
        let mut state = self.state();
        while !state.closed {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) = self.departure.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        !state.closed
    }

    /// Adds a parcel, due no earlier than all before it.
    pub(crate) fn push(&self, due: Instant, parcel: Parcel) {
        let mut state = self.state();
        state.bytes += parcel.size();
        state.parcels.push_back((due, parcel));
        // Otherwise, the other thread is waiting for an earlier parcel.
        if state.parcels.len() == 1 {
            self.arrival.notify_one();
        }
    }

    /// Waits until the next parcel is due; `None` once the queue is closed.
    pub(crate) fn pop(&self) -> Option<Parcel> {
        let mut state = self.state();
        while !state.closed {
            let Some((due, _)) = state.parcels.front() else {
                state = self.arrival.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            // Uses moments instead of intervals: one delay does not delay what follows.
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let (_, parcel) = state.parcels.pop_front()?;
                state.bytes -= parcel.size();
                if state.reader_waits && state.bytes <= self.resume {
                    self.departure.notify_one();
                }
                return Some(parcel);
            }
            // Waking up takes time, which delays a single message. In a stream, all parcels are delayed equally.
            let early = if state.parcels.len() == 1 { WAKING } else { Duration::ZERO };
            if left > early {
                let left = left - early;
                (state, _) = self.arrival.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            } else {
                drop(state);
                thread::yield_now();
                state = self.state();
            }
        }
        None
    }

    /// Ends all waiting.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.arrival.notify_all();
        self.departure.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Longer than waking a thread usually takes.
const WAKING: Duration = Duration::from_micros(150);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parcels_wait_until_they_are_due() {
        let queue = Queue::new(10);
        let due = Instant::now() + Duration::from_millis(20);
        queue.push(due, Parcel::Bytes(vec![1, 2]));
        queue.push(due, Parcel::End);
        assert_eq!(queue.pop(), Some(Parcel::Bytes(vec![1, 2])));
        assert!(Instant::now() >= due);
        assert_eq!(queue.pop(), Some(Parcel::End));
    }

    #[test]
    fn a_full_queue_waits_for_a_departure() {
        let queue = Queue::new(2);
        let due = Instant::now() + Duration::from_millis(20);
        assert!(queue.has_room());
        queue.push(due, Parcel::Bytes(vec![1, 2, 3]));
        thread::scope(|scope| {
            scope.spawn(|| queue.pop());
            assert!(queue.has_room());
        });
        assert!(Instant::now() >= due);
    }

    #[test]
    fn waiting_ends_at_the_moment() {
        let moment = Instant::now() + Duration::from_millis(20);
        assert!(Queue::new(1).wait_until(moment));
        assert!(Instant::now() >= moment);
        assert!(Queue::new(1).wait_until(moment), "a moment in the past");
    }

    #[test]
    fn closing_ends_all_waiting() {
        let (empty, full) = (Queue::new(1), Queue::new(1));
        full.push(Instant::now() + Duration::from_secs(60), Parcel::Bytes(vec![1]));
        thread::scope(|scope| {
            let popped = [&empty, &full].map(|queue| scope.spawn(|| queue.pop()));
            let room = scope.spawn(|| full.has_room());
            let later = scope.spawn(|| empty.wait_until(Instant::now() + Duration::from_secs(60)));
            thread::sleep(Duration::from_millis(10));
            [&empty, &full].into_iter().for_each(Queue::close);
            assert!(popped.into_iter().all(|thread| thread.join().unwrap().is_none()));
            assert!(!room.join().unwrap() && !later.join().unwrap());
        });
    }
}
