//! Checks a library file before the loader maps it: the loader's own messages do not say what is wrong.

use firearrow_system::{FileKind, pe};
use std::io;
use std::path::Path;

/// Why `path` cannot be loaded into this process, or `None` if its headers are plausible.
pub(crate) fn defect(path: &Path) -> io::Result<Option<String>> {
    let reason = match pe::kind(path)? {
        FileKind::Library => return Ok(None),
        FileKind::Library32 => "a 32-bit library, and this program has 64 bits; install the 64-bit client",
        FileKind::Foreign => "built for another processor",
        FileKind::Program => "not a library, but a program",
        FileKind::Other => "not a library of Windows",
    };
    Ok(Some(reason.into()))
}
