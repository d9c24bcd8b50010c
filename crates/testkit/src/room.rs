//! Room for databases.

use std::env;

use crate::system;

/// What must be free in the temporary folder. Several tests make databases at the same time.
const NEEDED: u64 = 512 << 20;

/// Fails a test that would run without room. Servers whose disk is full do not answer any more, and each test after
/// that would wait for its time limit.
///
/// # Panics
/// There is too little room.
pub(crate) fn check() {
    let folder = env::temp_dir();
    // A system that does not say is no reason to fail.
    let Some(free) = system::free_room(&folder) else { return };
    assert!(
        free >= NEEDED,
        "{} has {} MiB left, and tests need {} MiB: free some, or set TMPDIR to another disk",
        folder.display(),
        free >> 20,
        NEEDED >> 20
    );
}
