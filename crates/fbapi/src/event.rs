//! Waiting for events.
//!
//! Engines take a request off their list, release their locks, and only then call back, through a raw pointer. So a
//! callback may start after its request was cancelled, even while the engine drops its last reference. Hence a callback
//! keeps itself alive while it runs, and one that was never called stays until the attachment has ended.

use crate::abi::{EventCallbackTable, IEventCallback, IEvents, Owned};
use crate::attachment::AttachmentCore;
use crate::status::Status;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// A request for events, answered once. Dropping it cancels it; an answer in progress may still arrive.
pub struct Events {
    interface: Owned<IEvents>,
    status: Status,
    callback: Option<Callback>,
    attachment: Arc<AttachmentCore>,
}

impl Events {
    pub(crate) fn new(
        attachment: &Arc<AttachmentCore>,
        interface: Owned<IEvents>,
        callback: Callback,
        status: Status,
    ) -> Self {
        Self { interface, status, callback: Some(callback), attachment: Arc::clone(attachment) }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let reference = self.interface.clone();
        // SAFETY: the interface is alive, and one reference is the call's to take.
        let result = self.status.call(|status| unsafe { IEvents::cancel(reference.raw(), status) });
        if result.is_ok() {
            reference.was_taken();
        }
        if let Some(callback) = self.callback.take().filter(|callback| !callback.was_called()) {
            self.attachment.keep_callback(callback);
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

/// The receiver of an answer.
type Receive = dyn Fn(&[u8]) + Send + Sync;

/// The object behind an [`IEventCallback`]: the interface comes first, so both have the same address.
#[repr(C)]
struct Object {
    interface: IEventCallback,
    references: AtomicUsize,
    was_called: AtomicBool,
    receive: Box<Receive>,
}

/// The highest version of the interface in releases 3.0 to 5.0.
const VERSION: usize = 3;

static TABLE: EventCallbackTable =
    EventCallbackTable { unused: ptr::null_mut(), version: VERSION, add_ref, release, call };

/// One reference to a callback; the engine holds others.
pub(crate) struct Callback(NonNull<Object>);

// SAFETY: references are counted atomically, and the object's contents may be used from any thread.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

impl Callback {
    pub(crate) fn new(receive: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        let interface = IEventCallback { unused: ptr::null_mut(), table: &raw const TABLE };
        let object = Object {
            interface,
            references: AtomicUsize::new(1),
            was_called: AtomicBool::new(false),
            receive: Box::new(receive),
        };
        Self(NonNull::from(Box::leak(Box::new(object))))
    }

    /// The interface, for a call.
    pub(crate) fn raw(&self) -> *mut IEventCallback {
        self.0.as_ptr().cast()
    }

    /// Whether the callback has been called; that happens only once.
    fn was_called(&self) -> bool {
        // SAFETY: `self` owns a reference, so that the object lives.
        unsafe { self.0.as_ref() }.was_called.load(Ordering::Acquire)
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        // SAFETY: `self` owns one reference and gives it up here.
        unsafe { release(self.raw()) };
    }
}

/// # Safety
/// `this` must be a live callback.
unsafe extern "C" fn add_ref(this: *mut IEventCallback) {
    // SAFETY: every callback with this table is an `Object`, which lives as long as the caller's reference.
    unsafe { &(*this.cast::<Object>()).references }.fetch_add(1, Ordering::Relaxed);
}

/// # Safety
/// `this` must be a live callback; the caller gives up one reference.
unsafe extern "C" fn release(this: *mut IEventCallback) -> i32 {
    let object = this.cast::<Object>();
    // SAFETY: as in `add_ref`; the reference ends with this statement.
    if unsafe { &(*object).references }.fetch_sub(1, Ordering::Release) > 1 {
        return 1;
    }
    fence(Ordering::Acquire);
    // SAFETY: it was leaked from a box, and the last reference is gone.
    let object = unsafe { Box::from_raw(object) };
    // A panic must not unwind into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    0
}

/// # Safety
/// `this` must be a live callback, `block` null or readable for `length` bytes.
unsafe extern "C" fn call(this: *mut IEventCallback, length: u32, block: *const u8) {
    // The receiver may drop the last other reference before this returns.
    // SAFETY: the callback is alive; the reference is given up at the end.
    unsafe { add_ref(this) };
    // SAFETY: as in `add_ref`.
    let object = unsafe { &*this.cast::<Object>() };
    let block = match NonNull::new(block.cast_mut()) {
        // SAFETY: the caller vouches for address and length; nobody writes to it during the call.
        Some(block) => unsafe { std::slice::from_raw_parts(block.as_ptr(), length as usize) },
        None => &[],
    };
    // A panic must not unwind into the library; the hook has reported it.
    let _ = catch_unwind(AssertUnwindSafe(|| (object.receive)(block)));
    object.was_called.store(true, Ordering::Release);
    // SAFETY: it was taken above.
    unsafe { release(this) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn callbacks_live_as_long_as_their_references() {
        let received = Arc::new(Mutex::new(Vec::new()));
        let callback = Callback::new({
            let received = Arc::clone(&received);
            move |block: &[u8]| received.lock().unwrap().push(block.to_vec())
        });
        let raw = callback.raw();
        // SAFETY: the callback is alive until its last reference is given up.
        unsafe {
            assert_eq!((*(*raw).table).version, 3);
            ((*(*raw).table).add_ref)(raw);
            assert!(!callback.was_called());
            drop(callback);
            assert_eq!(Arc::strong_count(&received), 2);
            let block = [1, 2, 3];
            ((*(*raw).table).call)(raw, 3, block.as_ptr());
            ((*(*raw).table).call)(raw, 0, ptr::null());
            assert_eq!(((*(*raw).table).release)(raw), 0);
        }
        assert_eq!(Arc::strong_count(&received), 1);
        assert_eq!(*received.lock().unwrap(), [vec![1, 2, 3], vec![]]);
    }

    #[test]
    fn panics_stay_inside() {
        let callback = Callback::new(|_| panic!("on purpose"));
        // SAFETY: the callback is alive.
        unsafe { call(callback.raw(), 0, ptr::null()) };
        assert!(callback.was_called());
    }
}
