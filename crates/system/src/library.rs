//! Whether a file is a library that programs like this one can load.

use memchr::memmem;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes to look at in one go: a library with symbols may have hundreds of megabytes.
const PIECE: usize = 1 << 20;

/// What a file is to the loader of the system that its format belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A library that programs like this one can load.
    Library,
    /// A library for 32-bit programs.
    Library32,
    /// A library for another processor.
    Foreign,
    /// A program or an object file.
    Program,
    /// None of these.
    Other,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Library => "a library",
            Self::Library32 => "a library for 32-bit programs",
            Self::Foreign => "a library for another processor",
            Self::Program => "a program or an object file",
            Self::Other => "not a library",
        })
    }
}

/// Returns what a file is, if it is not a library with this function that programs like this one can load; otherwise
/// `None`. The format of macOS is not examined.
///
/// # Errors
/// The file cannot be read.
pub fn defect(path: &Path, function: &str) -> io::Result<Option<String>> {
    let kind = match (cfg!(windows), cfg!(target_vendor = "apple")) {
        (true, _) => crate::pe::kind(path)?,
        (false, false) => crate::elf::kind(path)?,
        (false, true) => FileKind::Library,
    };
    Ok(match kind {
        FileKind::Library if contains(path, function)? => None,
        FileKind::Library => Some(format!("a library without {function}")),
        kind => Some(kind.to_string()),
    })
}

/// Whether a file contains a name.
fn contains(path: &Path, name: &str) -> io::Result<bool> {
    let finder = memmem::Finder::new(name);
    let mut file = File::open(path)?;
    let (mut piece, mut kept) = (vec![0; PIECE], 0);
    loop {
        let read = file.read(&mut piece[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let filled = kept + read;
        if finder.find(&piece[..filled]).is_some() {
            return Ok(true);
        }
        // The name may continue in the next piece.
        kept = (name.len() - 1).min(filled);
        piece.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_name_is_found_across_pieces() {
        let path = std::env::temp_dir().join(format!("firearrow-library-{}", std::process::id()));
        for at in [0, PIECE - 3, PIECE + 7, 2 * PIECE] {
            let mut bytes = vec![b'A'; at];
            bytes.extend(b"AdbcInit and more");
            fs::write(&path, bytes).unwrap();
            assert!(contains(&path, "AdbcInit").unwrap(), "{at}");
            assert!(!contains(&path, "AdbcInit2").unwrap(), "{at}");
        }
        fs::write(&path, "text").unwrap();
        #[cfg(not(target_vendor = "apple"))]
        assert_eq!(defect(&path, "text").unwrap().as_deref(), Some("not a library"));
        fs::remove_file(&path).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_has_its_functions() {
        // To the loader, a position-independent program is a library.
        let program = std::env::current_exe().unwrap();
        assert_eq!(defect(&program, "a_library_has_its_functions").unwrap(), None);
        // Written so that this program does not contain it.
        let other = ["no", "such", "function"].join("_");
        assert_eq!(defect(&program, &other).unwrap(), Some(format!("a library without {other}")));
    }
}
