//! Tells libraries from programs by their ELF headers (Linux and the BSDs). The loader does not say why it refuses a file.

use crate::FileKind;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of the header that say what a file is.
const HEADER: usize = 20;
/// `ET_DYN`: a shared object. Position-independent programs have the same type.
const SHARED_OBJECT: u16 = 3;
/// `EM_*` of this build.
const MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else {
    None
};

/// Reads the header of a file.
///
/// # Errors
/// It cannot be read.
pub fn kind(path: &Path) -> io::Result<FileKind> {
    let mut header = Vec::new();
    File::open(path)?.take(HEADER as u64).read_to_end(&mut header)?;
    Ok(of_header(&header))
}

/// What a file is that begins so.
pub fn of_header(header: &[u8]) -> FileKind {
    let Some(header) = header.first_chunk::<HEADER>().filter(|header| header.starts_with(b"\x7fELF")) else {
        return FileKind::Other;
    };
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let (class, order) = (header[4], header[5]);
    match (class, order) {
        (_, 2) => FileKind::Foreign,
        (1 | 2, 1) if half(16) != SHARED_OBJECT => FileKind::Program,
        (1, 1) => FileKind::Library32,
        (2, 1) if MACHINE.is_some_and(|machine| half(18) != machine) => FileKind::Foreign,
        (2, 1) => FileKind::Library,
        _ => FileKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(class: u8, order: u8, kind: u8, machine: u16) -> Vec<u8> {
        let start = [b"\x7fELF".as_slice(), &[class, order], &[0; 10], &[kind, 0]].concat();
        [start.as_slice(), &machine.to_le_bytes()].concat()
    }

    #[test]
    fn libraries_are_told_from_other_files() {
        let own = MACHINE.unwrap_or(0);
        for (header, expected) in [
            (header(2, 1, 3, own), FileKind::Library),
            (header(1, 1, 3, 3), FileKind::Library32),
            (header(2, 1, 2, own), FileKind::Program),
            (header(2, 1, 1, own), FileKind::Program),
            (header(2, 2, 0, 0x0300), FileKind::Foreign),
            (header(3, 1, 3, own), FileKind::Other),
            (header(2, 1, 3, own)[..19].to_vec(), FileKind::Other),
            (b"root:x:0:0:root:/root:/bin/bash".to_vec(), FileKind::Other),
            (Vec::new(), FileKind::Other),
        ] {
            assert_eq!(of_header(&header), expected, "{header:?}");
        }
        if MACHINE.is_some() {
            assert_eq!(of_header(&header(2, 1, 3, own + 1)), FileKind::Foreign);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_program_looks_like_a_library() {
        let program = std::env::current_exe().unwrap();
        assert_eq!(kind(&program).unwrap(), FileKind::Library);
    }
}
