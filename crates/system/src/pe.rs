//! Tells libraries from programs by their PE headers (Windows). The loader does not say why it refuses a file.

use crate::FileKind;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Where the file says at which offset its header is.
const OFFSET: usize = 0x3c;
/// Bytes of the signature and of the file header.
const HEADER: usize = 24;
/// `IMAGE_FILE_DLL`
const IS_LIBRARY: u16 = 0x2000;
/// `IMAGE_FILE_MACHINE_*` of this build.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 0xaa64 } else { 0x8664 };
/// 32-bit x86.
const MACHINE_32: u16 = 0x014c;

/// Reads the headers of a file.
///
/// # Errors
/// It cannot be read.
pub fn kind(path: &Path) -> io::Result<FileKind> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(OFFSET as u64 + 4).read_to_end(&mut start)?;
    let Some(offset) = header_offset(&start) else { return Ok(FileKind::Other) };
    file.seek(SeekFrom::Start(offset.into()))?;
    let mut header = Vec::new();
    file.take(HEADER as u64).read_to_end(&mut header)?;
    Ok(of_header(&header))
}

fn header_offset(start: &[u8]) -> Option<u32> {
    let offset = start.get(OFFSET..)?.first_chunk().copied()?;
    start.starts_with(b"MZ").then(|| u32::from_le_bytes(offset))
}

fn of_header(header: &[u8]) -> FileKind {
    let Some(header) = header.first_chunk::<HEADER>().filter(|header| header.starts_with(b"PE\0\0")) else {
        return FileKind::Other;
    };
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    match half(4) {
        _ if half(22) & IS_LIBRARY == 0 => FileKind::Program,
        MACHINE => FileKind::Library,
        MACHINE_32 => FileKind::Library32,
        _ => FileKind::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(machine: u16, flags: u16) -> Vec<u8> {
        let mut header = vec![0; HEADER];
        header[..4].copy_from_slice(b"PE\0\0");
        header[4..6].copy_from_slice(&machine.to_le_bytes());
        header[22..24].copy_from_slice(&flags.to_le_bytes());
        header
    }

    #[test]
    fn libraries_are_told_from_other_files() {
        for (header, expected) in [
            (header(MACHINE, IS_LIBRARY | 2), FileKind::Library),
            (header(MACHINE_32, IS_LIBRARY), FileKind::Library32),
            (header(MACHINE, 2), FileKind::Program),
            (header(MACHINE_32, 2), FileKind::Program),
            (header(0x01c4, IS_LIBRARY), FileKind::Foreign),
            (header(MACHINE, IS_LIBRARY)[..20].to_vec(), FileKind::Other),
            (b"NE".to_vec(), FileKind::Other),
        ] {
            assert_eq!(of_header(&header), expected);
        }
        assert_eq!(header_offset(b"#!/bin/sh"), None);
        assert_eq!(header_offset(&[b"MZ".as_slice(), &[0; 60]].concat()), None);
    }

    #[test]
    fn the_header_is_where_the_file_says() {
        let folder = std::env::temp_dir().join(format!("firearrow-pe-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("library");
        let mut file = [b"MZ".as_slice(), &[0; OFFSET - 2], &100_u32.to_le_bytes()].concat();
        file.resize(100, 0);
        file.extend(header(MACHINE, IS_LIBRARY));
        std::fs::write(&path, &file).unwrap();
        assert_eq!(kind(&path).unwrap(), FileKind::Library);
        // The offset leads beyond its end.
        std::fs::write(&path, &file[..90]).unwrap();
        assert_eq!(kind(&path).unwrap(), FileKind::Other);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(windows)]
    #[test]
    fn a_library_of_the_system_is_one_and_this_program_is_none() {
        let system = std::env::var("SystemRoot").unwrap();
        assert_eq!(kind(&Path::new(&system).join(r"system32\kernel32.dll")).unwrap(), FileKind::Library);
        assert_eq!(kind(&std::env::current_exe().unwrap()).unwrap(), FileKind::Program);
    }
}
