//! Databases that are copied instead of created anew.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// The original of each kind of database, once it is made.
static ORIGINALS: LazyLock<Mutex<HashMap<String, Arc<OnceLock<PathBuf>>>>> = LazyLock::new(Mutex::default);

/// Returns the path of the original of this kind. If there is none yet, `make` creates it and returns its path; do
/// not open it afterwards.
pub(crate) fn original(kind: String, make: impl FnOnce() -> PathBuf) -> PathBuf {
    let original = {
        let mut originals = ORIGINALS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(originals.entry(kind).or_default())
    };
    // Others of this kind wait here until it is made; if that fails, the next one tries.
    original.get_or_init(make).clone()
}
