//! Memory of batches that were dropped, for the batches that follow.
//!
//! Most consumers drop a batch before they ask for the next but one. Memory that goes back to the operating system has to be
//! mapped again page by page, which costs as much as a tenth of decoding.

use super::values::split;
use arrow::array::OffsetSizeTrait;
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, ToByteSlice};
use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Vectors to keep: with the one being filled, as many as a consumer holds that reads ahead.
const KEPT: usize = 2;
/// Bytes of a vector from which on keeping it pays off.
const LARGE: usize = 16 << 10;

/// Vectors for one buffer of one column.
#[derive(Debug)]
pub(super) struct Spare<T>(Arc<Mutex<Vec<Vec<T>>>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: ArrowNativeType> Spare<T> {
    /// Removes the first `count` items, which [`lend`](Self::lend) makes a buffer of; the later ones move up.
    pub(super) fn split(&self, items: &mut Vec<T>, count: usize) -> Vec<T> {
        split(items, count, |capacity| self.vector(capacity))
    }

    /// Removes the first `count` items and returns them as a buffer.
    pub(super) fn take(&self, items: &mut Vec<T>, count: usize) -> ScalarBuffer<T> {
        self.lend(self.split(items, count))
    }

    /// Returns these items as a buffer, whose memory comes back when it is dropped.
    pub(super) fn lend(&self, items: Vec<T>) -> ScalarBuffer<T> {
        if size_of_val(items.as_slice()) < LARGE {
            return items.into();
        }
        let count = items.len();
        let lent = Lent { items, home: Arc::downgrade(&self.0) };
        ScalarBuffer::new(Buffer::from(Bytes::from_owner(lent)), 0, count)
    }

    /// Gives up all vectors that came back.
    pub(super) fn clear(&self) {
        with(&self.0, Vec::clear);
    }

    /// An empty vector with about this capacity, or more.
    fn vector(&self, capacity: usize) -> Vec<T> {
        // The capacity has a reserve; a vector that served for a batch need not be replaced for it.
        let least = capacity - capacity / 16;
        let spare = with(&self.0, Vec::pop).filter(|spare| spare.capacity() >= least);
        spare.unwrap_or_else(|| Vec::with_capacity(capacity))
    }
}

/// Memory for values and their offsets.
#[derive(Debug)]
pub(super) struct SpareValues<O> {
    data: Spare<u8>,
    offsets: Spare<O>,
}

impl<O> Default for SpareValues<O> {
    fn default() -> Self {
        Self { data: Spare::default(), offsets: Spare::default() }
    }
}

impl<O: OffsetSizeTrait> SpareValues<O> {
    /// Takes the first `rows` values; the later ones move up.
    pub(super) fn take(
        &self,
        data: &mut Vec<u8>,
        offsets: &mut Vec<O>,
        rows: usize,
    ) -> (Buffer, ScalarBuffer<O>) {
        let end = offsets[rows];
        let taken = self.data.take(data, end.as_usize());
        let mut ends = self.offsets.split(offsets, rows);
        ends.push(end);
        for offset in offsets.iter_mut() {
            *offset = *offset - end;
        }
        (taken.into_inner(), self.offsets.lend(ends))
    }

    pub(super) fn clear(&self) {
        self.data.clear();
        self.offsets.clear();
    }
}

/// Items of a batch.
struct Lent<T: ArrowNativeType> {
    items: Vec<T>,
    home: Weak<Mutex<Vec<Vec<T>>>>,
}

impl<T: ArrowNativeType> AsRef<[u8]> for Lent<T> {
    fn as_ref(&self) -> &[u8] {
        self.items.to_byte_slice()
    }
}

impl<T: ArrowNativeType> Drop for Lent<T> {
    fn drop(&mut self) {
        let Some(home) = self.home.upgrade() else { return };
        let mut items = std::mem::take(&mut self.items);
        items.clear();
        with(&home, |spare| {
            if spare.len() < KEPT {
                spare.push(items);
            }
        });
    }
}

fn with<T, R>(spare: &Mutex<Vec<Vec<T>>>, work: impl FnOnce(&mut Vec<Vec<T>>) -> R) -> R {
    work(&mut spare.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = LARGE / size_of::<i32>();

    fn buffer(spare: &Spare<i32>, items: &mut Vec<i32>, first: i32) -> ScalarBuffer<i32> {
        items.extend(first..first + COUNT as i32);
        spare.take(items, COUNT)
    }

    #[test]
    fn dropped_buffers_are_filled_again() {
        let (spare, mut items) = (Spare::default(), Vec::new());
        let first = buffer(&spare, &mut items, 1);
        let address = first.as_ptr();
        drop(first);
        drop(buffer(&spare, &mut items, 2));
        let third = buffer(&spare, &mut items, 3);
        assert_eq!((third.as_ptr(), third[0], third[COUNT - 1]), (address, 3, COUNT as i32 + 2));
    }

    #[test]
    fn buffers_in_use_are_left_alone() {
        let (spare, mut items) = (Spare::default(), Vec::new());
        let all: Vec<_> = (0..5).map(|first| buffer(&spare, &mut items, first)).collect();
        let slice = all[1].slice(1, 2);
        drop(all);
        assert_eq!(with(&spare.0, |spare| spare.len()), KEPT, "the others are freed");
        for first in 10..13 {
            buffer(&spare, &mut items, first);
        }
        assert_eq!(slice[..], [2, 3]);
        spare.clear();
        assert_eq!(with(&spare.0, |spare| spare.len()), 0);
        drop(spare);
        assert_eq!(slice[..], [2, 3], "the column is gone");
    }

    #[test]
    fn small_buffers_and_small_vectors_are_not_kept() {
        let (spare, mut items) = (Spare::<i32>::default(), vec![1, 2, 3]);
        drop(spare.take(&mut items, 2));
        assert_eq!((with(&spare.0, |spare| spare.len()), &items[..]), (0, &[3][..]));
        drop(spare.lend(vec![0; COUNT]));
        assert!(spare.vector(2 * COUNT).capacity() >= 2 * COUNT);
    }
}
