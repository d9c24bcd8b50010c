//! Finding a client library and the engine that belongs to it.

use crate::Error;
use crate::place::{self, IN_SITE_PACKAGES};
use crate::platform::names;
use crate::trust::Trust;
use std::path::{Path, PathBuf};

/// How a client library was installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeKind {
    /// The Python package `firebird-embedded`: everything in one folder.
    Wheel,
    /// The project's own archive: `lib/` and `plugins/` below one root.
    Install,
    /// A system package, with its folders compiled in.
    Distribution,
}

/// A client library and the files that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// The client library, as named.
    pub library: PathBuf,
    /// The root directory, unless it is compiled in.
    pub root: Option<PathBuf>,
    /// The folder of the plugins, if there is one.
    pub plugins: Option<PathBuf>,
    /// The major version, guessed from file names; only the library itself knows it for certain.
    pub generation: Option<u8>,
    /// The layout of the folders.
    pub kind: RuntimeKind,
}

/// Where to look first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeHint {
    /// A client library, or a folder that contains one. If set, nothing else is tried.
    pub path: Option<PathBuf>,
}

impl RuntimeHint {
    /// Exactly this library or folder.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()) }
    }
}

impl Runtime {
    /// Finds the runtime that `hint` names; else the one that `FIREARROW_ENGINE` names; else the first one found in the
    /// active environment (`VIRTUAL_ENV`, `CONDA_PREFIX`), in the folders of `FIREARROW_ENGINE_PATH`, next to the file
    /// that contains this code, and in the system's locations.
    ///
    /// Never looks in the current folder or its parents.
    pub fn discover(hint: &RuntimeHint) -> Result<Self, Error> {
        if let Some(path) = hint.path.clone().or_else(place::named) {
            return Self::at(&path).ok_or(Error::LibraryNotFound { tried: vec![path] });
        }
        let tried = place::all();
        tried.iter().find_map(|place| Self::at(place)).ok_or(Error::LibraryNotFound { tried })
    }

    /// All runtimes, in the order in which [`discover`](Self::discover) tries them without a hint.
    pub fn all() -> Vec<Self> {
        let mut real = Vec::new();
        let places = place::named().into_iter().chain(place::all());
        places
            .filter_map(|place| Self::at(&place))
            .filter(|runtime| {
                let library =
                    dunce::canonicalize(&runtime.library).unwrap_or_else(|_| runtime.library.clone());
                let is_new = !real.contains(&library);
                real.push(library);
                is_new
            })
            .collect()
    }

    /// The runtime at `path`: a client library, the folder that contains it, or a `site-packages` folder.
    pub fn at(path: &Path) -> Option<Self> {
        if path.is_file() {
            return Some(Self::of_library(path));
        }
        ["", "lib", IN_SITE_PACKAGES]
            .into_iter()
            .flat_map(|folder| names::LIBRARIES.map(|name| path.join(folder).join(name)))
            .find(|library| library.is_file())
            .map(|library| Self::of_library(&library))
    }

    /// Whether there is an engine, and not only a client library.
    pub fn has_engine(&self) -> bool {
        self.engine_plugin().is_some_and(|plugin| plugin.is_file())
    }

    /// Where the engine plugin is or should be; `None` if there is no plugin folder.
    pub(crate) fn engine_plugin(&self) -> Option<PathBuf> {
        let plugins = self.plugins.as_ref()?;
        let path = |number: u8| plugins.join(names::engine(number));
        let expected = if self.generation == Some(3) { path(12) } else { path(13) };
        [expected.clone(), path(13), path(12), path(14)]
            .into_iter()
            .find(|path| path.is_file())
            .or(Some(expected))
    }

    /// The number in the engine plugin's name.
    pub(crate) fn engine_number(&self) -> u8 {
        let number = self.engine_plugin().and_then(|plugin| names::engine_number(&plugin));
        number.unwrap_or(if self.generation == Some(3) { 12 } else { 13 })
    }

    /// Resolves all paths and checks everything that will be loaded: only root and this user may be able to replace it.
    pub(crate) fn trusted(&self) -> Result<Self, Error> {
        let mut trust = Trust::default();
        let library = trust.resolve(&self.library)?;
        let folder = trust.resolve(library.parent().unwrap_or(Path::new("/")))?;
        if self.kind != RuntimeKind::Distribution {
            trust.libraries(&folder)?;
        }
        let root = self.root.as_ref().map(|root| trust.resolve(root)).transpose()?;
        let plugins = self.plugins.as_ref().map(|plugins| trust.resolve(plugins)).transpose()?;
        if let Some(plugins) = &plugins {
            trust.check_all(plugins)?;
        }
        let base = root.as_deref().or_else(|| plugins.as_deref()?.parent());
        for beside in base.into_iter().flat_map(|base| names::BESIDE.map(|name| base.join(name))) {
            if beside.is_dir() {
                trust.check_all(&beside)?;
            } else if beside.exists() {
                trust.resolve(&beside)?;
            }
        }
        Ok(Self { library, root, plugins, ..self.clone() })
    }

    fn of_library(path: &Path) -> Self {
        let library = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let real = dunce::canonicalize(path).unwrap_or_else(|_| library.clone());
        let folder = real.parent().unwrap_or(Path::new("/"));
        let named = names::generation(&real);
        let (kind, root, plugins) = if folder.join("plugins").is_dir() {
            (RuntimeKind::Wheel, Some(folder.to_path_buf()), Some(folder.join("plugins")))
        } else if let Some(root) = folder.parent().filter(|root| root.join("plugins").is_dir()) {
            (RuntimeKind::Install, Some(root.to_path_buf()), Some(root.join("plugins")))
        } else {
            (RuntimeKind::Distribution, None, distribution_plugins(folder, named))
        };
        let generation = named.or_else(|| plugins.as_deref().and_then(plugins_generation));
        Self { library, root, plugins, generation, kind }
    }
}

/// The major version to which a plugin folder belongs.
fn plugins_generation(plugins: &Path) -> Option<u8> {
    let has = |name: &str| plugins.join(name).exists();
    if has(&names::engine(12)) {
        Some(3)
    } else if has(&names::engine(13)) {
        Some(if has(names::PROFILER) { 5 } else { 4 }) // the profiler came with 5.0
    } else {
        has(&names::engine(14)).then_some(6)
    }
}

/// `firebird/3.0/plugins` (Debian) or `firebird/plugins` (Fedora) next to the library.
fn distribution_plugins(folder: &Path, generation: Option<u8>) -> Option<PathBuf> {
    let base = folder.join("firebird");
    let versioned = generation.map(|major| base.join(format!("{major}.0/plugins")));
    versioned.into_iter().chain([base.join("plugins")]).find(|plugins| plugins.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LIBRARY: &str = names::LIBRARIES[0];

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn a_flat_folder_is_a_wheel() {
        let folder = tree(&[
            LIBRARY,
            &format!("plugins/{}", names::engine(13)),
            &format!("plugins/{}", names::PROFILER),
        ]);
        let runtime = Runtime::at(folder.path()).unwrap();
        assert_eq!((runtime.kind, runtime.generation), (RuntimeKind::Wheel, Some(5)));
        assert!(runtime.engine_plugin().unwrap().ends_with(names::engine(13)));
    }

    #[test]
    fn lib_next_to_plugins_is_an_installation() {
        let folder = tree(&[&format!("lib/{LIBRARY}"), &format!("plugins/{}", names::engine(12))]);
        let runtime = Runtime::at(folder.path()).unwrap();
        assert_eq!((runtime.kind, runtime.generation), (RuntimeKind::Install, Some(3)));
    }

    #[cfg(unix)]
    #[test]
    fn a_package_of_the_system_is_known_by_its_version() {
        let folder = tree(&["libfbclient.so.3.0.11", "firebird/3.0/plugins/libEngine12.so"]);
        std::os::unix::fs::symlink("libfbclient.so.3.0.11", folder.path().join(LIBRARY)).unwrap();
        let runtime = Runtime::at(&folder.path().join(LIBRARY)).unwrap();
        assert_eq!((runtime.kind, runtime.generation), (RuntimeKind::Distribution, Some(3)));
        assert!(runtime.plugins.unwrap().ends_with("firebird/3.0/plugins"));
    }

    #[test]
    fn a_library_without_plugins_names_no_engine() {
        let folder = tree(&[LIBRARY]);
        assert_eq!(Runtime::at(folder.path()).unwrap().engine_plugin(), None);
    }

    #[test]
    fn an_explicit_path_has_no_fallback() {
        let missing = Path::new("/nonexistent/engine");
        match Runtime::discover(&RuntimeHint::at(missing)) {
            Err(Error::LibraryNotFound { tried }) => assert_eq!(tried, [missing]),
            other => panic!("{other:?}"),
        }
    }
}
