//! What is installed with this command: the libraries of the drivers, and programs that benchmarks compare with.

use crate::failure::{Failure, Result};
use crate::platform::files;
use crate::platform::folders::LIBRARIES;
use firearrow_system::FileKind;
use memchr::memmem;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The ADBC driver, without prefix and suffix of the system's libraries.
pub(crate) const ADBC: &str = "adbc_driver_firebird";
/// The ODBC driver.
pub(crate) const ODBC: &str = "firearrowodbc";

/// The file of a library.
pub(crate) fn file_of(library: &str) -> String {
    format!("{DLL_PREFIX}{library}{DLL_SUFFIX}")
}

/// Where the libraries come from.
const WHERE: &str = match cfg!(target_env = "musl") {
    true => "this command is the static one, without drivers: they are in the archive for linux-gnu",
    false => "the archives for Linux and Windows contain it, and `make build` makes it",
};

/// Finds a library in this program's folder or, on Unix, in the folder `lib` next to that.
///
/// # Errors
/// What is missing, and where it comes from; callers add how to name another one.
pub(crate) fn library(library: &str) -> std::result::Result<PathBuf, String> {
    let name = file_of(library);
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.parent().unwrap_or(Path::new("."));
    let mut places = LIBRARIES.iter().map(|place| match *place {
        "." => folder.join(&name),
        place => folder.join(place).join(&name),
    });
    places.find(|place| place.is_file()).ok_or_else(|| {
        let others = LIBRARIES[1..].iter().map(|place| format!(" or {place}")).collect::<String>();
        format!("there is no {name} in {}{others}; {WHERE}", folder.display())
    })
}

/// Fails for a file that is no library which programs like this one can load, or lacks a function: driver managers would say
/// so only later, and in riddles.
pub(crate) fn check(path: &Path, function: &str) -> Result<()> {
    let failed = |error: io::Error| Failure::file(path, &error);
    let what = match files::library_kind(path).map_err(failed)? {
        FileKind::Library if has(path, function).map_err(failed)? => return Ok(()),
        FileKind::Library => "is a library of something else",
        FileKind::Library32 => "is a library for 32-bit programs",
        FileKind::Foreign => "is a library for another processor",
        FileKind::Program | FileKind::Other => "is not a shared library",
    };
    Err(Failure::other(format!("{} {what}: it has no {function} for programs like this one", path.display())))
}

/// Whether a file contains a name, in pieces: a library with symbols may have hundreds of megabytes.
fn has(path: &Path, name: &str) -> io::Result<bool> {
    let finder = memmem::Finder::new(name);
    let mut file = File::open(path)?;
    let (mut piece, mut kept) = (vec![0; 1 << 20], 0);
    loop {
        let read = file.read(&mut piece[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let filled = kept + read;
        if finder.find(&piece[..filled]).is_some() {
            return Ok(true);
        }
        // The name may go on in the next piece.
        kept = (name.len() - 1).min(filled);
        piece.copy_within(filled - kept..filled, 0);
    }
}

/// Looks for something else in this program's folder.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(name);
    path.exists().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_wherever_pieces_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for at in [0, (1 << 20) - 3, (1 << 20) + 7, 2_000_000] {
            let mut bytes = vec![b'A'; at];
            bytes.extend(b"AdbcInit and more");
            std::fs::write(file.path(), bytes).unwrap();
            assert!(has(file.path(), "AdbcInit").unwrap(), "{at}");
            assert!(!has(file.path(), "AdbcInit2").unwrap(), "{at}");
        }
    }
}
