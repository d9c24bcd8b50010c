//! What the library takes from the process: nothing on Windows. It installs handlers of signals on Unix only
//! (`CtrlCHandler` in `yvalve/why.cpp`, releases 3.0 to 5.0), and handles are not inherited.

use std::path::Path;

/// Nothing is taken, so nothing need be restored, and no first call is needed.
pub(crate) fn keep(_call: impl FnOnce()) {}

/// Other processes do not inherit the handles of the engine.
pub(crate) fn keep_from_children(_database: &Path) {}

/// There is no execute bit.
pub(crate) fn is_executable(_path: &Path) -> bool {
    true
}
