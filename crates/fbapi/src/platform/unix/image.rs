//! Checks a library file before the loader maps it.
//!
//! The loader reports a wrong file as an error, but a truncated one causes SIGBUS. So the size is checked against the
//! file's own headers.

use firearrow_system::{FileKind, elf};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of the 64-bit file header.
const HEADER: usize = 64;

/// Why `path` cannot be loaded into this process, or `None` if its headers are plausible.
pub(crate) fn defect(path: &Path) -> io::Result<Option<String>> {
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(Some("not a file".into()));
    }
    let size = meta.len();
    let mut header = [0; HEADER];
    let length = file.read_at(&mut header, 0)?;
    Ok(header_defect(&header[..length], size))
}

fn header_defect(header: &[u8], size: u64) -> Option<String> {
    if !header.starts_with(b"\x7fELF") {
        return Some("not an ELF file".into());
    }
    let Some(header) = header.first_chunk::<HEADER>() else {
        return Some("truncated".into());
    };
    match elf::of_header(header) {
        FileKind::Library => {}
        kind => return Some(kind.to_string()),
    }
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let long = |at: usize| header[at..].first_chunk().copied().map_or(0, u64::from_le_bytes);
    // A linker writes section headers last; without them, use the program headers.
    let sections = long(40).saturating_add(u64::from(half(58)) * u64::from(half(60)));
    let segments = long(32).saturating_add(u64::from(half(54)) * u64::from(half(56)));
    let needed = sections.max(segments);
    (needed > size).then(|| format!("truncated: {size} of at least {needed} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_plausible_and_its_first_half_is_not() {
        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(path).unwrap();
        let size = bytes.len() as u64;
        // A Rust test program is a position-independent executable, which is a shared object to ELF.
        assert_eq!(header_defect(&bytes, size), None);
        assert!(header_defect(&bytes, size / 2).unwrap().starts_with("truncated"));
        assert!(header_defect(&bytes[..20], 20).unwrap().starts_with("truncated"));
    }

    #[test]
    fn other_files_are_identified() {
        assert_eq!(header_defect(b"", 0).unwrap(), "not an ELF file");
        assert_eq!(header_defect(b"#!/bin/sh\n", 10).unwrap(), "not an ELF file");
    }
}
