//! Precise timers.

use std::fs;
use std::path::Path;

/// Makes the timers of this thread, and of threads that it starts later, as precise as the system allows. By default,
/// Linux delays timers by up to 50 µs, twice per round trip. On other systems, does nothing.
pub(crate) fn make_punctual() {
    let Ok(thread) = fs::read_link("/proc/thread-self") else { return };
    if let Some(id) = thread.file_name() {
        // In nanoseconds; 0 would mean the default. Without permission, nothing changes.
        let _ = fs::write(Path::new("/proc").join(id).join("timerslack_ns"), "1");
    }
}
