//! Checks a library file before the loader maps it: the loader's own messages do not say what is wrong.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Where the file says at which offset its header is.
const OFFSET: usize = 0x3c;
/// Bytes of the signature and of the file header.
const HEADER: usize = 24;
/// `IMAGE_FILE_DLL`.
const IS_LIBRARY: u16 = 0x2000;
/// `IMAGE_FILE_MACHINE_*` of this build.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 0xaa64 } else { 0x8664 };
/// The one of 32-bit libraries.
const MACHINE_32: u16 = 0x014c;

/// Why `path` cannot be loaded into this process, or `None` if its headers are plausible.
pub(crate) fn defect(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(Some("not a file".into()));
    }
    let mut start = Vec::new();
    file.by_ref().take(OFFSET as u64 + 4).read_to_end(&mut start)?;
    let Some(offset) = header_offset(&start) else {
        return Ok(Some("not a library of Windows".into()));
    };
    file.seek(SeekFrom::Start(offset.into()))?;
    let mut header = Vec::new();
    file.take(HEADER as u64).read_to_end(&mut header)?;
    Ok(header_defect(&header))
}

fn header_offset(start: &[u8]) -> Option<u32> {
    let offset = start.get(OFFSET..)?.first_chunk().copied()?;
    start.starts_with(b"MZ").then(|| u32::from_le_bytes(offset))
}

fn header_defect(header: &[u8]) -> Option<String> {
    if !header.starts_with(b"PE\0\0") {
        return Some("not a library of Windows".into());
    }
    let Some(header) = header.first_chunk::<HEADER>() else {
        return Some("truncated".into());
    };
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    match half(4) {
        MACHINE if half(22) & IS_LIBRARY == 0 => Some("not a library, but a program".into()),
        MACHINE => None,
        MACHINE_32 => {
            Some("a 32-bit library, and this program has 64 bits; install the 64-bit client".into())
        }
        _ => Some("built for another processor".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_the_system_is_plausible_and_this_program_is_none() {
        let system = std::env::var("SystemRoot").unwrap();
        assert_eq!(defect(&Path::new(&system).join(r"system32\kernel32.dll")).unwrap(), None);
        let own = std::env::current_exe().unwrap();
        assert_eq!(defect(&own).unwrap().unwrap(), "not a library, but a program");
    }

    #[test]
    fn other_files_are_identified() {
        let mut header = [0_u8; HEADER];
        header[..4].copy_from_slice(b"PE\0\0");
        header[4..6].copy_from_slice(&MACHINE_32.to_le_bytes());
        assert!(header_defect(&header).unwrap().contains("32-bit"));
        assert_eq!(header_defect(&header[..20]).unwrap(), "truncated");
        assert_eq!(header_offset(b"#!/bin/sh"), None);
    }
}
