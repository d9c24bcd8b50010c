//! Opens shared libraries, and explains why one does not open.

use super::image;
use crate::Error;
use firearrow_system as system;
pub(crate) use libloading::os::windows::Library as Shared;
use libloading::os::windows::{LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR};
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::{ERROR_BAD_EXE_FORMAT, ERROR_MOD_NOT_FOUND};
use windows_sys::Win32::System::LibraryLoader::{GetDllDirectoryW, SetDllDirectoryW};

/// Names of client libraries that other code in this process may have loaded.
const CLIENTS: [&str; 3] = ["fbclient.dll", "gds32.dll", "fbembed.dll"];

/// Opens a client library. What it needs is looked for in its own folder and the system's, not in the current one or
/// `PATH`.
pub(crate) fn open(path: &Path) -> Result<Shared, Error> {
    let not_usable = |reason| Error::NotALibrary { path: path.to_path_buf(), reason };
    match image::defect(path) {
        Ok(None) => {}
        Ok(Some(reason)) => return Err(not_usable(reason)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::LibraryNotFound { tried: vec![path.to_path_buf()] });
        }
        Err(error) => return Err(not_usable(error.to_string())),
    }
    // The engine loads ICU and its plugins by name if they are not beside it: not from the current folder. A folder that
    // the program has set already takes the current one's place.
    let mut set = [0; 2];
    // SAFETY: the buffer has this size; the text ends with NUL.
    unsafe {
        if GetDllDirectoryW(2, set.as_mut_ptr()) == 0 {
            SetDllDirectoryW([0].as_ptr());
        }
    }
    let flags = LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
    // SAFETY: initializers run. Those of a Firebird client library only construct its globals. The caller named the
    // file as such a library, and no check before loading could prove it.
    unsafe { Shared::load_with_flags(path, flags) }.map_err(|error| classify(path, &error))
}

/// The loader's own text, which `libloading` keeps as the source of its error.
pub(crate) fn complaint(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn classify(path: &Path, error: &libloading::Error) -> Error {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let code = source.and_then(std::io::Error::raw_os_error).map(i32::cast_unsigned);
    match code {
        // The file is there, so it is one that it needs; Windows does not say which.
        Some(ERROR_MOD_NOT_FOUND) => Error::MissingDependency {
            library: path.to_path_buf(),
            name: "another library".into(),
            remedy: "install Microsoft's Visual C++ runtime (vc_redist.x64.exe)".into(),
        },
        Some(ERROR_BAD_EXE_FORMAT) => Error::NotALibrary {
            path: path.to_path_buf(),
            reason: "damaged, or built for another processor".into(),
        },
        _ => Error::NotALibrary { path: path.to_path_buf(), reason: complaint(error) },
    }
}

/// A client library other than `own` that other code has loaded into this process.
pub(crate) fn foreign_client(own: &Path) -> Option<PathBuf> {
    let loaded = CLIENTS.into_iter().filter_map(system::file_of_loaded);
    loaded.map(|path| dunce::canonicalize(&path).unwrap_or(path)).find(|path| path != own)
}
