//! Memory of dropped batches, reused for later ones of the same result.
//!
//! Most consumers drop a batch before they ask for the next but one. Memory that goes back to the operating system has to be
//! mapped again page by page, which costs as much as a tenth of decoding.

use arrow::array::OffsetSizeTrait;
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, ToByteSlice};
use bytes::Bytes;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

/// Most vectors to keep. With the one being filled, they suffice for a consumer that reads ahead.
const KEPT: usize = 2;
/// Bytes of vectors that are worth keeping, and not too large to be kept: a single BLOB may exceed all limits of a batch.
const LENT: Range<usize> = 16 << 10..32 << 20;

/// Takes the first `count` items out of `items`, which keeps the rest and room for the next batch.
///
/// The room is what the last batch needed, not what the limits allow: a query of one row must not take the memory of
/// 65536.
pub(super) fn take<T: Copy>(items: &mut Vec<T>, count: usize) -> Vec<T> {
    take_with(items, count, Vec::with_capacity)
}

/// Like [`take`], with room made by `vector` for the given capacity.
fn take_with<T: Copy>(items: &mut Vec<T>, count: usize, vector: impl FnOnce(usize) -> Vec<T>) -> Vec<T> {
    let rest = &items[count..];
    // The batches of a result differ a little in length; regrowing a full buffer would copy it.
    let mut kept = vector((count + count / 16).max(rest.len()));
    kept.extend_from_slice(rest);
    let mut taken = std::mem::replace(items, kept);
    taken.truncate(count);
    if taken.len() < taken.capacity() / 2 {
        taken.shrink_to(count + 1); // the consumer may keep it for long; offsets have one more
    }
    taken
}

/// Vectors for one buffer of one column, in the place to which they come back; `None` until one is lent.
#[derive(Debug)]
pub(super) struct Spare<T>(Option<Home<T>>);

type Home<T> = Arc<Mutex<Vec<Vec<T>>>>;

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: ArrowNativeType> Spare<T> {
    /// Removes the first `count` items and returns them as a buffer; the later ones move up.
    pub(super) fn take(&mut self, items: &mut Vec<T>, count: usize) -> ScalarBuffer<T> {
        let taken = self.take_vector(items, count);
        self.lend(taken)
    }

    /// The same, before it becomes a buffer.
    fn take_vector(&self, items: &mut Vec<T>, count: usize) -> Vec<T> {
        take_with(items, count, |capacity| self.vector(capacity))
    }

    /// Returns these items as a buffer, whose memory comes back when it is dropped.
    fn lend(&mut self, items: Vec<T>) -> ScalarBuffer<T> {
        // Nobody sees the capacity of a buffer that is lent: whoever counts memory would miss much of it.
        let is_loose = items.capacity() > items.len() + items.len() / 4;
        if is_loose || !LENT.contains(&size_of_val(items.as_slice())) {
            return items.into();
        }
        let home = self.0.get_or_insert_with(|| Arc::new(Mutex::new(Vec::with_capacity(KEPT))));
        let lent = Lent { items, home: Arc::downgrade(home) };
        Buffer::from(Bytes::from_owner(lent)).into()
    }

    /// Frees the vectors that have come back, and those that still would.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// An empty vector with about this capacity, or more.
    fn vector(&self, capacity: usize) -> Vec<T> {
        // The capacity has a reserve; a vector that served for a batch need not be replaced for it.
        let least = capacity - capacity / 16;
        let spare = self.0.as_ref().and_then(|home| home.try_lock().ok()?.pop());
        let spare = spare.filter(|spare| spare.capacity() >= least);
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
        &mut self,
        data: &mut Vec<u8>,
        offsets: &mut Vec<O>,
        rows: usize,
    ) -> (Buffer, ScalarBuffer<O>) {
        let end = offsets[rows];
        let taken = self.data.take(data, end.as_usize());
        let mut ends = self.offsets.take_vector(offsets, rows);
        ends.push(end);
        for offset in offsets.iter_mut() {
            *offset = *offset - end;
        }
        (taken.into_inner(), self.offsets.lend(ends))
    }

    pub(super) fn clear(&mut self) {
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
        // Never waits: after a fork, the thread that has locked it may not exist.
        if let Ok(mut spare) = home.try_lock()
            && spare.len() < KEPT
        {
            self.items.clear();
            spare.push(std::mem::take(&mut self.items));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = LENT.start / size_of::<i32>();

    fn kept(spare: &Spare<i32>) -> usize {
        spare.0.as_ref().map_or(0, |home| home.lock().unwrap().len())
    }

    fn buffer(spare: &mut Spare<i32>, items: &mut Vec<i32>, first: i32) -> ScalarBuffer<i32> {
        items.extend(first..first + COUNT as i32);
        spare.take(items, COUNT)
    }

    #[test]
    fn dropped_buffers_are_filled_again() {
        let (mut spare, mut items) = (Spare::default(), Vec::new());
        let first = buffer(&mut spare, &mut items, 1);
        let address = first.as_ptr();
        drop(first);
        drop(buffer(&mut spare, &mut items, 2));
        let third = buffer(&mut spare, &mut items, 3);
        assert_eq!((third.as_ptr(), third[0], third[COUNT - 1]), (address, 3, COUNT as i32 + 2));
    }

    #[test]
    fn buffers_in_use_are_left_alone() {
        let (mut spare, mut items) = (Spare::default(), Vec::new());
        let all: Vec<_> = (0..5).map(|first| buffer(&mut spare, &mut items, first)).collect();
        let slice = all[1].slice(1, 2);
        drop(all);
        assert_eq!(kept(&spare), KEPT, "the others are freed");
        for first in 10..13 {
            buffer(&mut spare, &mut items, first);
        }
        assert_eq!(slice[..], [2, 3]);
        spare.clear();
        assert_eq!((kept(&spare), &slice[..]), (0, &[2, 3][..]), "the column may be gone");
    }

    #[test]
    fn nobody_waits_for_a_lock() {
        let (mut spare, mut items) = (Spare::default(), Vec::new());
        let first = buffer(&mut spare, &mut items, 1);
        let home = spare.0.clone().expect("one is lent");
        let locked = home.lock().unwrap();
        drop(first);
        drop(buffer(&mut spare, &mut items, 2));
        drop(locked);
        assert_eq!(kept(&spare), 0, "both are freed");
    }

    #[test]
    fn capacities_that_nobody_counts_are_small() {
        let mut spare = Spare::<i32>::default();
        let mut items = vec![1; COUNT];
        items.reserve_exact(COUNT);
        drop(spare.lend(items));
        assert_eq!(kept(&spare), 0);
        drop(spare.lend(vec![1; LENT.end / size_of::<i32>()]));
        assert_eq!(kept(&spare), 0, "too large");
        drop(spare.lend(vec![1; COUNT]));
        assert_eq!(kept(&spare), 1);
    }

    #[test]
    fn small_buffers_and_small_vectors_are_not_kept() {
        let (mut spare, mut items) = (Spare::<i32>::default(), vec![1, 2, 3]);
        drop(spare.take(&mut items, 2));
        assert_eq!((kept(&spare), &items[..]), (0, &[3][..]));
        drop(spare.lend(vec![0; COUNT]));
        assert!(spare.vector(2 * COUNT).capacity() >= 2 * COUNT);
    }
}
