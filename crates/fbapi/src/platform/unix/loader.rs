//! Opens shared libraries, and explains why one does not open.

use super::image;
use super::root::CompatibleLinks;
use crate::Error;
use crate::runtime::{Runtime, RuntimeKind};
pub(crate) use libloading::os::unix::Library as Shared;
use libloading::os::unix::{RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Libraries that the wheels of 3.0 and 4.0 need under old names, and newer ones that can replace them.
const SUCCESSORS: [(&str, &str); 2] =
    [("libtommath.so.0", "libtommath.so.1"), ("libncurses.so.5", "libncurses.so.6")];

/// Opens a client library.
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
    // SAFETY: initializers run. Those of a Firebird client library only construct its globals. The caller named the
    // file as such a library, and no check before loading could prove it.
    unsafe { Shared::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| classify(path, &complaint(&error)))
}

/// The loader's own text, which `libloading` keeps as the source of its error.
pub(crate) fn complaint(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Interprets the loader's message.
fn classify(path: &Path, text: &str) -> Error {
    let missing = text.split_once(": cannot open shared object file").map(|(name, _)| name);
    match missing {
        Some(name) if Path::new(name) == path => Error::LibraryNotFound { tried: vec![path.to_path_buf()] },
        Some(name) => Error::MissingDependency {
            library: path.to_path_buf(),
            name: name.to_owned(),
            remedy: remedy(name),
        },
        None => Error::NotALibrary { path: path.to_path_buf(), reason: text.to_owned() },
    }
}

/// What to install for a missing library.
fn remedy(name: &str) -> String {
    let text = match name {
        "libtommath.so.1" => "install the package libtommath1 (Fedora: libtommath)",
        "libtommath.so.0" => {
            "install the package libtommath1, whose libtommath.so.1 is then used under the old name, or use \
             Firebird 5.0"
        }
        "libncurses.so.5" => {
            "install the package libncurses6, which is then used under the old name, or libncurses5, or use \
             Firebird 5.0"
        }
        "libtinfo.so.5" => "install the package libtinfo5",
        "libtomcrypt.so.1" => {
            "install the package libtomcrypt1; the Python package firebird-embedded brings it"
        }
        _ if name.starts_with("libicu") => "install ICU (Debian 12: libicu72)",
        _ if name.starts_with("libstdc++") => "install the package libstdc++6",
        _ => "install the package that contains it",
    };
    text.to_owned()
}

/// The old names that `runtime` needs and this system lacks, if a newer library can replace them.
pub(crate) fn compatible_links(runtime: &Runtime) -> CompatibleLinks {
    let is_old = runtime.generation.is_some_and(|generation| generation < 5);
    if runtime.kind == RuntimeKind::Distribution || !is_old {
        return Vec::new();
    }
    let folder = fs::canonicalize(&runtime.library).unwrap_or_default();
    let ships = |name: &str| folder.parent().is_some_and(|folder| folder.join(name).exists());
    SUCCESSORS
        .into_iter()
        .filter(|(old, _)| !ships(old) && locate(old).is_none())
        .filter_map(|(old, new)| Some((old.into(), locate(new)?)))
        .collect()
}

/// Where the loader finds the system library `name`.
fn locate(name: &str) -> Option<PathBuf> {
    // SAFETY: the names are those of libtommath and ncurses, whose initializers do nothing relevant; the library is
    // closed again unused.
    let library = unsafe { Shared::open(Some(name), RTLD_LAZY | RTLD_LOCAL) }.ok()?;
    let base = name.split(".so").next().unwrap_or(name);
    let path = mapped().into_iter().find(|path| {
        let file = path.file_name().unwrap_or_default().as_bytes();
        file.strip_prefix(base.as_bytes())
            .is_some_and(|rest| rest.starts_with(b".so") || rest.starts_with(b"."))
    });
    drop(library);
    path
}

/// A client library other than `own` that is already mapped into this process by other code.
pub(crate) fn foreign_client(own: &Path) -> Option<PathBuf> {
    mapped().into_iter().filter(|path| path != own).find(|path| {
        let name = path.file_name().unwrap_or_default().as_bytes();
        [&b"libfbclient."[..], b"libfbembed.", b"libgds."].iter().any(|prefix| name.starts_with(prefix))
    })
}

/// The files mapped into this process. Empty without `/proc`, which only disables a check.
fn mapped() -> Vec<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut paths: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        // address perms offset dev inode path; only the path may contain spaces.
        let Some(start) = line.find('/') else { continue };
        let path = Path::new(line[start..].trim_end_matches(" (deleted)"));
        if paths.last().is_none_or(|last| last != path) {
            paths.push(path.to_path_buf());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_messages_are_distinguished() {
        let path = Path::new("/x/libfbclient.so.2");
        let gone = "/x/libfbclient.so.2: cannot open shared object file: No such file or directory";
        assert!(matches!(classify(path, gone), Error::LibraryNotFound { .. }));
        let needs = "libtommath.so.1: cannot open shared object file: No such file or directory";
        match classify(path, needs) {
            Error::MissingDependency { name, remedy, .. } => {
                assert_eq!(name, "libtommath.so.1");
                assert!(remedy.contains("libtommath1"));
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            classify(path, "/x/libfbclient.so.2: invalid ELF header"),
            Error::NotALibrary { .. }
        ));
    }

    #[test]
    fn the_c_library_is_mapped() {
        assert!(mapped().iter().any(|path| path.to_string_lossy().contains("libc.so")));
    }
}
