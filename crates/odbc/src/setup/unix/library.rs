//! Whether a file can be a driver.

use super::super::invalid;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What the beginning of a file says.
enum Found {
    Library,
    /// Something else, which it names.
    Other(&'static str),
}

/// Refuses what the driver manager could not load. It would say "file not found" about a file that is there.
pub(in crate::setup) fn check(path: &Path) -> io::Result<()> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    read.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let found = if cfg!(target_vendor = "apple") { Found::Library } else { elf(&head) };
    match found {
        Found::Library => Ok(()),
        Found::Other(what) => Err(invalid(format!(
            "{} is {what}; the driver is a shared library, libfirearrowodbc.so",
            path.display()
        ))),
    }
}

/// The format of Linux and the BSDs.
fn elf(head: &[u8]) -> Found {
    const DYNAMIC: u16 = 3;
    let (Some(rest), Some(kind)) = (head.strip_prefix(b"\x7fELF"), head.get(16..18)) else {
        return Found::Other("no library");
    };
    let [low, high] = [kind[0], kind[1]];
    let kind = match rest.get(1) {
        Some(2) => u16::from_be_bytes([low, high]),
        _ => u16::from_le_bytes([low, high]),
    };
    match kind {
        DYNAMIC => Found::Library,
        1 => Found::Other("an object file"),
        2 => Found::Other("a program"),
        _ => Found::Other("no library"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(order: u8, kind: [u8; 2]) -> Vec<u8> {
        [b"\x7fELF\x02".as_slice(), &[order], &[0; 10], &kind].concat()
    }

    #[test]
    fn libraries_are_told_from_other_files() {
        for head in [file(1, [3, 0]), file(2, [0, 3])] {
            assert!(matches!(elf(&head), Found::Library), "{head:?}");
        }
        for (head, expected) in [
            (file(1, [2, 0]), "a program"),
            (file(1, [1, 0]), "an object file"),
            (file(1, [4, 0]), "no library"),
            (file(2, [3, 0]), "no library"),
            (b"root:x:0:0:root:/root:/bin/bash".to_vec(), "no library"),
            (b"\x7fELF".to_vec(), "no library"),
            (Vec::new(), "no library"),
        ] {
            assert!(matches!(elf(&head), Found::Other(what) if what == expected), "{head:?}");
        }
    }

    #[test]
    fn this_program_has_the_format() {
        // Test programs are position-independent, which makes them look like libraries.
        let program = std::env::current_exe().expect("a test has a path");
        check(&program).expect("it is in this system's format");
    }
}
