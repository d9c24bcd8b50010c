//! Whether a file can be a driver.

use super::invalid;
use firearrow_system::library;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::io;
use std::path::Path;

/// Refuses what the driver manager could not load or use. Its own messages do not say why.
pub(super) fn check(path: &Path) -> io::Result<()> {
    let defect = library::defect(path, "SQLDriverConnect");
    let defect =
        defect.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    match defect {
        None => Ok(()),
        Some(what) => Err(invalid(format!(
            "{} is {what}; the driver is the 64-bit library {DLL_PREFIX}firearrowodbc{DLL_SUFFIX}",
            path.display()
        ))),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

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
            assert!(error.contains(expected) && error.contains("libfirearrowodbc.so"), "{error}");
        }
        std::fs::write(&path, "[Firearrow]").expect("written");
        assert!(check(&path).expect_err("refused").to_string().contains("not a library"));
    }
}
