//! Where the batches of all readers wait until it is their turn.
//!
//! ```text
//!  reader 1: claim ► reserve ► (fetch) ► put … end ─┐    slots, from the first that is not handed out:
//!  reader 2: claim ► reserve ► (fetch) ► put … end ─┼──► [batches …] [batches …] [ ] ──► next, in order
//! ```
//! A reader reserves a place before it fetches a batch. The reader of the first range always gets one when none of its
//! batches waits, so the others may wait for ever without holding up anything.

use super::ranges::{Range, Ranges, Yield};
use crate::cancel::{Operation, Wake, interrupted};
use crate::error::{Error, Result};
use arrow::array::RecordBatch;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// What the readers and the consumer of one result share.
#[derive(Debug)]
pub(super) struct ReorderBuffer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    ranges: Ranges,
    /// Ranges that were claimed and not handed out completely, in order.
    slots: VecDeque<Slot>,
    /// The number of the first of them.
    first: usize,
    /// Rows of the ranges before it, and the share of all pages that these ranges are.
    rows: usize,
    share: f64,
    /// Batches that wait, or are being made.
    batches: usize,
    most: usize,
    /// The most that there were.
    peak: usize,
    /// Readers that are ready to read, and those that have not ended.
    ready: usize,
    alive: usize,
    /// The error of a reader that was not reading a range, or that of a range whose turn has come.
    failed: Option<Error>,
    is_stopped: bool,
    decoding: Duration,
    /// A task that waits for a change.
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Slot {
    range: Range,
    batches: VecDeque<RecordBatch>,
    /// Rows that were handed out.
    rows: usize,
    is_fetching: bool,
    /// How it has ended.
    end: Option<Result<()>>,
}

/// The right to read a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    number: usize,
    pub(super) range: Range,
}

impl State {
    fn slot(&mut self, claim: &Claim) -> Option<&mut Slot> {
        self.slots.get_mut(claim.number.checked_sub(self.first)?)
    }

    fn fetched(&mut self, claim: &Claim) {
        if let Some(slot) = self.slot(claim)
            && std::mem::take(&mut slot.is_fetching)
        {
            self.batches -= 1;
        }
    }

    /// The next batch, or the end; `None` if it has not come yet.
    fn take(&mut self) -> Option<Result<Option<RecordBatch>>> {
        loop {
            if let Some(error) = &self.failed {
                return Some(Err(error.clone()));
            }
            let Some(slot) = self.slots.front_mut() else {
                // Their connections have gone then, too.
                return (self.alive == 0).then_some(Ok(None));
            };
            if let Some(batch) = slot.batches.pop_front() {
                slot.rows += batch.num_rows();
                self.batches -= 1;
                return Some(Ok(Some(batch)));
            }
            match slot.end.take()? {
                Ok(()) => {
                    self.rows += slot.rows;
                    self.share = self.ranges.share(slot.range);
                    self.slots.pop_front();
                    self.first += 1;
                }
                Err(error) => self.failed = Some(error.offset_rows(self.rows)),
            }
        }
    }
}

impl ReorderBuffer {
    pub(super) fn new(ranges: Ranges, readers: usize) -> Self {
        let state = State {
            ranges,
            slots: VecDeque::new(),
            first: 0,
            rows: 0,
            share: 0.0,
            batches: 0,
            most: readers + 1,
            peak: 0,
            ready: 0,
            alive: readers,
            failed: None,
            is_stopped: false,
            decoding: Duration::ZERO,
            waker: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        waker.into_iter().for_each(Waker::wake);
        result
    }

    /// Wakes all that wait, to look at what interrupts them.
    fn wake(&self) {
        self.change(|_| ());
    }

    /// What wakes an operation that waits here.
    fn waking(self: &Arc<Self>) -> Wake {
        let buffer = Arc::downgrade(self);
        Arc::new(move || {
            if let Some(buffer) = buffer.upgrade() {
                buffer.wake();
            }
        })
    }

    /// Blocks until `look` finds something, the operation ends, or this time has come.
    fn wait<T>(
        self: &Arc<Self>,
        operation: &Operation,
        until: Instant,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<Poll<T>> {
        let _listening = operation.listen(&self.waking());
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&mut state) {
                return Ok(Poll::Ready(found));
            }
            if let Some(kind) = operation.interruption() {
                return Err(interrupted(kind, "while it waited for rows"));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Poll::Pending);
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// [`wait`](Self::wait) in a task.
    #[cfg(feature = "tokio")]
    async fn waiting<T>(
        self: &Arc<Self>,
        operation: &Operation,
        until: Instant,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<Poll<T>> {
        let _listening = operation.listen(&self.waking());
        let found = std::future::poll_fn(|context| {
            let mut state = self.lock();
            if let Some(found) = look(&mut state) {
                return Poll::Ready(Ok(found));
            }
            if let Some(kind) = operation.interruption() {
                return Poll::Ready(Err(interrupted(kind, "while it waited for rows")));
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        });
        match tokio::time::timeout_at(until.into(), found).await {
            Ok(found) => found.map(Poll::Ready),
            Err(_) => Ok(Poll::Pending),
        }
    }
}

/// What readers do.
impl ReorderBuffer {
    /// This reader can read.
    pub(super) fn ready(&self) {
        self.change(|state| state.ready += 1);
    }

    /// This reader has ended, and its connection with it.
    pub(super) fn gone(&self) {
        self.change(|state| state.alive -= 1);
    }

    /// An error that concerns no range: nobody reads on.
    pub(super) fn fail(&self, error: Error) {
        self.change(|state| {
            state.ranges.stop();
            state.failed.get_or_insert(error);
        });
    }

    /// The next range to read; `None` if there are no more.
    pub(super) fn claim(&self) -> Option<Claim> {
        self.change(|state| {
            let range = state.ranges.take().filter(|_| !state.is_stopped)?;
            state.slots.push_back(Slot {
                range,
                batches: VecDeque::new(),
                rows: 0,
                is_fetching: false,
                end: None,
            });
            Some(Claim { number: state.first + state.slots.len() - 1, range })
        })
    }

    /// Waits until there is room for another batch of a range, or until this time.
    pub(super) fn reserve(
        self: &Arc<Self>,
        claim: &Claim,
        operation: &Operation,
        until: Instant,
    ) -> Result<Poll<()>> {
        self.wait(operation, until, |state| {
            let is_first = claim.number == state.first;
            let mut has_room = state.batches < state.most;
            let slot = state.slot(claim)?;
            has_room |= is_first && slot.batches.is_empty();
            if !has_room {
                return None;
            }
            slot.is_fetching = true;
            state.batches += 1;
            state.peak = state.peak.max(state.batches);
            Some(())
        })
    }

    /// The batch that there was room for.
    pub(super) fn put(&self, claim: &Claim, batch: RecordBatch) {
        self.change(|state| {
            if let Some(slot) = state.slot(claim) {
                slot.is_fetching = false;
                slot.batches.push_back(batch);
            }
        });
    }

    /// The range has been read, or as much of it as there will ever be.
    pub(super) fn end(&self, claim: &Claim, read: Result<Yield>, decoding: Duration) {
        self.change(|state| {
            state.fetched(claim);
            state.decoding += decoding;
            let end = match read {
                Ok(got) => {
                    state.ranges.learn(claim.range, got);
                    Ok(())
                }
                Err(error) => {
                    // The consumer gets it after the rows before it.
                    state.ranges.stop();
                    Err(error)
                }
            };
            if let Some(slot) = state.slot(claim) {
                slot.end = Some(end);
            }
        });
    }
}

/// What the consumer does.
impl ReorderBuffer {
    /// Nobody wants more: readers that wait end.
    pub(super) fn stop(&self) {
        self.change(|state| {
            state.is_stopped = true;
            state.ranges.stop();
            for slot in state.slots.drain(..) {
                state.batches -= slot.batches.len() + usize::from(slot.is_fetching);
            }
        });
    }

    fn are_ready(readers: usize) -> impl FnMut(&mut State) -> Option<Result<()>> {
        move |state| match &state.failed {
            Some(error) => Some(Err(error.clone())),
            None => (state.ready == readers).then_some(Ok(())),
        }
    }

    /// Waits until all readers can read, or until this time; the error of the first that cannot.
    pub(super) fn wait_ready(
        self: &Arc<Self>,
        readers: usize,
        operation: &Operation,
        until: Instant,
    ) -> Result<Poll<Result<()>>> {
        self.wait(operation, until, Self::are_ready(readers))
    }

    /// Takes the next batch, or the end, if it is there. The reader of the range whose turn it is now may have waited for
    /// that.
    fn taking(&self) -> impl FnMut(&mut State) -> Option<Result<Option<RecordBatch>>> + '_ {
        |state| {
            let before = state.first;
            let next = state.take();
            if next.is_some() || state.first != before {
                self.changed.notify_all();
            }
            next
        }
    }

    /// Waits for the next batch, until this time; `None` at the end, when all readers have gone.
    pub(super) fn wait_next(
        self: &Arc<Self>,
        operation: &Operation,
        until: Instant,
    ) -> Result<Poll<Option<RecordBatch>>> {
        transposed(self.wait(operation, until, self.taking())?)
    }

    /// Waits until all readers have gone, but no longer than this; whether they have.
    pub(super) fn wait_gone(self: &Arc<Self>, operation: &Operation, time: Duration) -> bool {
        let gone = self.wait(operation, Instant::now() + time, Self::has_none);
        gone.is_ok_and(|gone| gone.is_ready())
    }

    fn has_none(state: &mut State) -> Option<()> {
        (state.alive == 0).then_some(())
    }

    /// [`wait_ready`](Self::wait_ready) in a task.
    #[cfg(feature = "tokio")]
    pub(super) async fn until_ready(
        self: &Arc<Self>,
        readers: usize,
        operation: &Operation,
        until: Instant,
    ) -> Result<Poll<Result<()>>> {
        self.waiting(operation, until, Self::are_ready(readers)).await
    }

    /// [`wait_next`](Self::wait_next) in a task.
    #[cfg(feature = "tokio")]
    pub(super) async fn until_next(
        self: &Arc<Self>,
        operation: &Operation,
        until: Instant,
    ) -> Result<Poll<Option<RecordBatch>>> {
        transposed(self.waiting(operation, until, self.taking()).await?)
    }

    /// [`wait_gone`](Self::wait_gone) in a task.
    #[cfg(feature = "tokio")]
    pub(super) async fn until_gone(self: &Arc<Self>, operation: &Operation, time: Duration) {
        // Whoever interrupts the wait ends only that.
        let _ = self.waiting(operation, Instant::now() + time, Self::has_none).await;
    }

    /// Time that the readers have spent decoding.
    pub(super) fn decoding(&self) -> Duration {
        self.lock().decoding
    }

    /// The share of all pages whose rows were handed out.
    pub(super) fn share(&self) -> f64 {
        self.lock().share
    }

    /// The most batches that waited or were being made at a time.
    pub(super) fn peak(&self) -> usize {
        self.lock().peak
    }
}

fn transposed<T>(found: Poll<Result<T>>) -> Result<Poll<T>> {
    match found {
        Poll::Ready(found) => found.map(Poll::Ready),
        Poll::Pending => Ok(Poll::Pending),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int32Array};
    use std::thread;

    fn batch() -> RecordBatch {
        let column: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        RecordBatch::try_from_iter([("n", column)]).expect("one column")
    }

    /// Later than any test ends.
    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn buffer() -> Arc<ReorderBuffer> {
        Arc::new(ReorderBuffer::new(Ranges::new(1_000, 1, 100), 1))
    }

    #[test]
    fn the_reader_whose_turn_it_becomes_goes_on() {
        let operation = Operation::new();
        for _ in 0..200 {
            let buffer = buffer();
            let [first, second, third] = [(); 3].map(|()| buffer.claim().expect("a range"));
            // No room is left by what comes last.
            for _ in 0..2 {
                let _ = buffer.reserve(&third, &operation, later()).expect("there is room");
                buffer.put(&third, batch());
            }
            thread::scope(|scope| {
                scope.spawn(|| {
                    let _ = buffer.reserve(&second, &Operation::new(), later()).expect("nobody interrupts");
                    buffer.put(&second, batch());
                });
                let consumer = scope.spawn(|| buffer.wait_next(&Operation::new(), later()));
                buffer.end(&first, Ok(Yield::default()), Duration::ZERO);
                let next = consumer.join().expect("no panic").expect("no error");
                assert_eq!(next, Poll::Ready(Some(batch())));
            });
            assert_eq!(buffer.peak(), 3);
        }
    }

    #[test]
    fn errors_have_their_place_and_stay() {
        let (buffer, operation) = (buffer(), Operation::new());
        let [first, second] = [(); 2].map(|()| buffer.claim().expect("a range"));
        let error = Error::new(crate::Kind::Data, "bad").in_row(1);
        buffer.end(&second, Err(error), Duration::ZERO);
        assert!(buffer.claim().is_none());
        let _ = buffer.reserve(&first, &operation, later()).expect("there is room");
        buffer.put(&first, batch());
        buffer.end(&first, Ok(Yield::default()), Duration::ZERO);
        let next = buffer.wait_next(&operation, later()).expect("rows before the error");
        assert_eq!(next, Poll::Ready(Some(batch())));
        for _ in 0..2 {
            assert_eq!(buffer.wait_next(&operation, later()).expect_err("its turn").row(), Some(3));
        }
        buffer.stop();
        assert!(!buffer.wait_gone(&operation, Duration::from_millis(1)));
        buffer.gone();
        assert!(buffer.wait_gone(&operation, Duration::ZERO));
    }
}
