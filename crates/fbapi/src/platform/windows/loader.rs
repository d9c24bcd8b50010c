//! Opens shared libraries, and explains why one does not open.

use super::image;
use crate::Error;
pub(crate) use libloading::os::windows::Library as Shared;
use libloading::os::windows::{LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR};
use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::ptr;
use windows_sys::Win32::Foundation::{ERROR_BAD_EXE_FORMAT, ERROR_MOD_NOT_FOUND, HMODULE};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleFileNameW,
    GetModuleHandleExW, GetModuleHandleW, SetDllDirectoryW,
};

/// Names of client libraries that other code in this process may have loaded.
const CLIENTS: [&str; 3] = ["fbclient.dll", "gds32.dll", "fbembed.dll"];
/// The longest path that Windows allows, in UTF-16 units.
const LONGEST: usize = 32_768;

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
    // The engine loads ICU and its plugins by name if they are not beside it: not from the current folder.
    // SAFETY: the text ends with NUL.
    unsafe { SetDllDirectoryW([0].as_ptr()) };
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
    let loaded = CLIENTS.into_iter().filter_map(|name| {
        let name = wide(OsStr::new(name));
        // SAFETY: the name ends with NUL.
        let module = unsafe { GetModuleHandleW(name.as_ptr()) };
        file_of(module)
    });
    loaded.map(|path| dunce::canonicalize(&path).unwrap_or(path)).find(|path| path != own)
}

/// The file that contains this code: a program, or a library loaded into another one.
pub(crate) fn own_file() -> Option<PathBuf> {
    let here = own_file as fn() -> Option<PathBuf> as *const u16;
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    let mut module = ptr::null_mut();
    // SAFETY: with the first flag the name is an address, here one of a function of this module, which stays loaded.
    let found = unsafe { GetModuleHandleExW(flags, here, &mut module) };
    if found == 0 { None } else { file_of(module) }
}

/// The file of a loaded module.
fn file_of(module: HMODULE) -> Option<PathBuf> {
    // A null handle would mean the program itself.
    if module.is_null() {
        return None;
    }
    let mut path = vec![0; LONGEST];
    // SAFETY: the buffer has the length given.
    let length = unsafe { GetModuleFileNameW(module, path.as_mut_ptr(), LONGEST as u32) } as usize;
    (1..LONGEST).contains(&length).then(|| OsString::from_wide(&path[..length]).into())
}

/// UTF-16 with NUL at its end.
pub(super) fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_code_knows_its_file() {
        let own = dunce::canonicalize(own_file().unwrap()).unwrap();
        assert_eq!(own, dunce::canonicalize(std::env::current_exe().unwrap()).unwrap());
    }

    #[test]
    fn a_module_that_is_not_loaded_has_no_file() {
        assert_eq!(file_of(ptr::null_mut()), None);
    }
}
