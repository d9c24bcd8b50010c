//! Counts the memory of each thread, so that tests can bound what a peer makes a connection allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // Threads that are ending no longer have counters, and nothing needs them.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller makes the promises that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: as above; `memory` came from `System`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the most bytes that `run` held at one time, and its result.
pub(crate) fn peak<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = run();
    ((PEAK.get() - before).cast_unsigned(), result)
}

#[test]
fn counts_what_a_thread_holds_at_most() {
    let (bytes, ()) = peak(|| {
        drop(vec![1_u8; 1000]);
        drop(vec![1_u8; 3000]);
    });
    assert_eq!(bytes, 3000);
}
