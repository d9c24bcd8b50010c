//! Whether a file can be a driver.

use super::super::invalid;
use firearrow_system::{FileKind, elf};
use std::io;
use std::path::Path;

/// Refuses what the driver manager could not load. It would say "file not found" about a file that is there.
pub(in crate::setup) fn check(path: &Path) -> io::Result<()> {
    let kind = elf::kind(path);
    let kind = kind.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let what = match kind {
        // Files of macOS have another format, which is not examined.
        _ if cfg!(target_vendor = "apple") => return Ok(()),
        FileKind::Library => return Ok(()),
        FileKind::Library32 => "a library for 32-bit programs",
        FileKind::Foreign => "a library for another processor",
        FileKind::Program => "a program or an object file",
        FileKind::Other => "no library",
    };
    Err(invalid(format!("{} is {what}; the driver is a shared library, libfirearrowodbc.so", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_the_format() {
        // Test programs are position-independent, which makes them look like libraries.
        let program = std::env::current_exe().expect("a test has a path");
        check(&program).expect("it is in this system's format");
    }

    #[test]
    fn the_message_says_what_a_file_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("driver.so");
        for (machine, kind, expected) in [
            (3, 3, "another processor"),
            (62, 2, "a program"),
            (183, 1, "an object file"),
            (9, 3, "another processor"),
        ] {
            let header = [b"\x7fELF\x02\x01".as_slice(), &[0; 10], &[kind, 0, machine, 0]].concat();
            std::fs::write(&path, header).expect("written");
            let error = check(&path).expect_err("refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
        std::fs::write(&path, "[Firearrow]").expect("written");
        assert!(check(&path).expect_err("refused").to_string().contains("no library"));
    }
}
