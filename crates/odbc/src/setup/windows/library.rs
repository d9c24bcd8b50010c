//! Whether a file can be a driver.

use super::super::invalid;
use firearrow_system::{FileKind, pe};
use std::io;
use std::path::Path;

/// Refuses what the driver manager could not load. Its own messages do not say why.
pub(in crate::setup) fn check(path: &Path) -> io::Result<()> {
    let kind = pe::kind(path);
    let kind = kind.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let what = match kind {
        FileKind::Library => return Ok(()),
        FileKind::Library32 => {
            return Err(invalid(format!(
                "{} is a library for 32-bit programs, and this program is 64-bit: take the 64-bit firearrowodbc.dll",
                path.display()
            )));
        }
        FileKind::Foreign => "a library for another processor",
        FileKind::Program => "a program",
        FileKind::Other => "no library",
    };
    Err(invalid(format!("{} is {what}; the driver is a library, firearrowodbc.dll", path.display())))
}

/// Whether it is a library that only 32-bit programs can load. An unreadable file counts as not 32-bit.
pub(super) fn is_32_bit(path: &Path) -> bool {
    pe::kind(path).is_ok_and(|kind| kind == FileKind::Library32)
}
