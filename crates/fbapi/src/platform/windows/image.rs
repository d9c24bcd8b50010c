//! Checks a library file before the loader maps it: the loader's own messages do not say what is wrong.

use firearrow_system::{FileKind, pe};
use std::io;
use std::path::Path;

/// Why `path` cannot be loaded into this process, or `None` if its headers are plausible.
pub(crate) fn defect(path: &Path) -> io::Result<Option<String>> {
    Ok(match pe::kind(path)? {
        FileKind::Library => None,
        kind @ FileKind::Library32 => Some(format!("{kind}; install the 64-bit client")),
        kind => Some(kind.to_string()),
    })
}
