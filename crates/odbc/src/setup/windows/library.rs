//! Whether a file can be a driver.

use super::super::invalid;
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
/// That of 32-bit libraries.
const MACHINE_32: u16 = 0x014c;

/// What the beginning of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Library,
    /// A library for 32-bit programs.
    Library32,
    /// Something else, which it names.
    Other(&'static str),
}

/// Refuses what the driver manager could not load. Its own messages do not say why.
pub(in crate::setup) fn check(path: &Path) -> io::Result<()> {
    let found =
        look(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    match found {
        Found::Library => Ok(()),
        Found::Library32 => Err(invalid(format!(
            "{} is a library for 32-bit programs, and this is a 64-bit one: take the 64-bit firearrowodbc.dll",
            path.display()
        ))),
        Found::Other(what) => {
            Err(invalid(format!("{} is {what}; the driver is a library, firearrowodbc.dll", path.display())))
        }
    }
}

/// Whether it is a library that only 32-bit programs can load. One that cannot be read is none.
pub(super) fn is_32_bit(path: &Path) -> bool {
    look(path).is_ok_and(|found| found == Found::Library32)
}

fn look(path: &Path) -> io::Result<Found> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(OFFSET as u64 + 4).read_to_end(&mut start)?;
    let Some(offset) = header_offset(&start) else { return Ok(Found::Other("no library")) };
    file.seek(SeekFrom::Start(offset.into()))?;
    let mut header = Vec::new();
    file.take(HEADER as u64).read_to_end(&mut header)?;
    Ok(of_header(&header))
}

fn header_offset(start: &[u8]) -> Option<u32> {
    let offset = start.get(OFFSET..)?.first_chunk().copied()?;
    start.starts_with(b"MZ").then(|| u32::from_le_bytes(offset))
}

fn of_header(header: &[u8]) -> Found {
    let Some(header) = header.first_chunk::<HEADER>().filter(|header| header.starts_with(b"PE\0\0")) else {
        return Found::Other("no library");
    };
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    match half(4) {
        _ if half(22) & IS_LIBRARY == 0 => Found::Other("a program"),
        MACHINE => Found::Library,
        MACHINE_32 => Found::Library32,
        _ => Found::Other("a library for another processor"),
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
            (header(MACHINE, IS_LIBRARY | 2), Found::Library),
            (header(MACHINE_32, IS_LIBRARY), Found::Library32),
            (header(MACHINE, 2), Found::Other("a program")),
            (header(MACHINE_32, 2), Found::Other("a program")),
            (header(0x01c4, IS_LIBRARY), Found::Other("a library for another processor")),
            (header(MACHINE, IS_LIBRARY)[..20].to_vec(), Found::Other("no library")),
            (b"NE".to_vec(), Found::Other("no library")),
        ] {
            assert_eq!(of_header(&header), expected);
        }
        assert_eq!(header_offset(b"#!/bin/sh"), None);
        assert_eq!(header_offset(&[b"MZ".as_slice(), &[0; 60]].concat()), None);
    }

    #[test]
    fn a_library_of_the_system_has_the_format_and_this_program_is_none() {
        let system = std::env::var("SystemRoot").expect("Windows sets it");
        check(&Path::new(&system).join(r"system32\kernel32.dll")).expect("a library");
        let program = std::env::current_exe().expect("a test has a path");
        assert!(check(&program).expect_err("a program").to_string().contains("is a program"));
    }
}
