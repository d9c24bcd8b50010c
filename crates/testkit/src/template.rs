//! Databases that are copied instead of created anew.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// The original of each kind of database, once it is made.
static ORIGINALS: LazyLock<Mutex<HashMap<String, Arc<OnceLock<PathBuf>>>>> = LazyLock::new(Mutex::default);

/// Copies the original of this kind to `path`. If there is none yet, `make` creates it and returns its path; do not open the original
/// afterwards.
pub(crate) fn copy(kind: String, path: &Path, make: impl FnOnce() -> PathBuf) {
    let original = {
        let mut originals = ORIGINALS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(originals.entry(kind).or_default())
    };
    // Others of this kind wait here until it is made; if that fails, the next one tries.
    let made = original.get_or_init(make);
    fs::copy(made, path).unwrap_or_else(|error| panic!("{} cannot be copied: {error}", made.display()));
}
