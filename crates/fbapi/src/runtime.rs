//! Finding a client library and the engine that belongs to it.

use crate::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// The name under which every release since 2.5 is installed.
const LIBRARY: &str = "libfbclient.so.2";
/// Where the Python package keeps the engine, below a `site-packages` folder.
const IN_SITE_PACKAGES: &str = "firebird/embedded/runtime";
/// How long an interpreter may take to say where the package is.
const PYTHON_PATIENCE: Duration = Duration::from_secs(5);

/// How a client library came to be where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeKind {
    /// The Python package `firebird-embedded`: everything in one folder.
    Wheel,
    /// The project's own archive: `lib/` and `plugins/` below one root.
    Install,
    /// A package of the system, with folders compiled in.
    Distribution,
}

/// A client library with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// The client library as it was named.
    pub library: PathBuf,
    /// The root directory, unless it is compiled in.
    pub root: Option<PathBuf>,
    /// The folder of the plugins, if there is one.
    pub plugins: Option<PathBuf>,
    /// The major version, as far as files tell; the library itself knows for certain.
    pub generation: Option<u8>,
    /// The layout of the folders.
    pub kind: RuntimeKind,
}

/// Where to look first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeHint {
    /// A client library, or a folder that contains one; nothing else is tried then.
    pub path: Option<PathBuf>,
}

impl RuntimeHint {
    /// Exactly this library or folder.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()) }
    }
}

impl Runtime {
    /// The runtime that `hint` names; else the one that `FIREARROW_ENGINE` names; else the first found of
    /// the Python package (in `$VIRTUAL_ENV`, the folders of `FIREARROW_ENGINE_PATH`, a `.venv` here or
    /// above, or where `python3` has it) and the places of the system.
    pub fn discover(hint: &RuntimeHint) -> Result<Self, Error> {
        let named = hint.path.clone().or_else(|| env::var_os("FIREARROW_ENGINE").map(PathBuf::from));
        if let Some(path) = named {
            return Self::at(&path).ok_or(Error::LibraryNotFound { tried: vec![path] });
        }
        let here = env::current_dir().unwrap_or_default();
        let mut tried = Vec::new();
        let mut look = |places: Vec<PathBuf>| {
            let found = places.iter().find_map(|place| Self::at(place));
            tried.extend(places);
            found
        };
        look(package_places(&|name| env::var_os(name), &here))
            .or_else(|| look(ask_python().into_iter().collect()))
            .or_else(|| look(system_places(&|name| env::var_os(name))))
            .ok_or(Error::LibraryNotFound { tried })
    }

    /// The runtime at `path`: a client library, the folder that contains it, or a `site-packages` folder.
    pub fn at(path: &Path) -> Option<Self> {
        if path.is_file() {
            return Some(Self::of_library(path));
        }
        ["", "lib", IN_SITE_PACKAGES]
            .into_iter()
            .flat_map(|folder| [LIBRARY, "libfbclient.so"].map(|name| path.join(folder).join(name)))
            .find(|library| library.is_file())
            .map(|library| Self::of_library(&library))
    }

    /// Where the plugin with the engine is or should be; `None` when there is no folder for plugins at all.
    pub fn engine_plugin(&self) -> Option<PathBuf> {
        let plugins = self.plugins.as_ref()?;
        let path = |number: u8| plugins.join(format!("libEngine{number}.so"));
        let expected = if self.generation == Some(3) { path(12) } else { path(13) };
        [expected.clone(), path(13), path(12), path(14)]
            .into_iter()
            .find(|path| path.is_file())
            .or(Some(expected))
    }

    /// The number in the engine plugin's name.
    pub(crate) fn engine_number(&self) -> u8 {
        let plugin = self.engine_plugin().unwrap_or_default();
        let name = plugin.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("libEngine").and_then(|number| number.parse().ok());
        number.unwrap_or(if self.generation == Some(3) { 12 } else { 13 })
    }

    fn of_library(path: &Path) -> Self {
        let library = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let real = fs::canonicalize(path).unwrap_or_else(|_| library.clone());
        let folder = real.parent().unwrap_or(Path::new("/"));
        let named = library_generation(&real);
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

/// The major version in a name such as `libfbclient.so.3.0.11`.
fn library_generation(real: &Path) -> Option<u8> {
    let name = real.file_name()?.to_str()?;
    let version = name.strip_prefix("libfbclient.so.")?;
    let (major, _) = version.split_once('.')?;
    major.parse().ok().filter(|major| *major >= 3)
}

/// The major version that a folder of plugins belongs to.
fn plugins_generation(plugins: &Path) -> Option<u8> {
    let has = |name: &str| plugins.join(name).exists();
    if has("libEngine12.so") {
        Some(3)
    } else if has("libEngine13.so") {
        Some(if has("libDefault_Profiler.so") { 5 } else { 4 }) // the profiler came with 5.0
    } else {
        has("libEngine14.so").then_some(6)
    }
}

/// `firebird/3.0/plugins` (Debian) or `firebird/plugins` (Fedora) beside the library.
fn distribution_plugins(folder: &Path, generation: Option<u8>) -> Option<PathBuf> {
    let base = folder.join("firebird");
    let versioned = generation.map(|major| base.join(format!("{major}.0/plugins")));
    versioned.into_iter().chain([base.join("plugins")]).find(|plugins| plugins.is_dir())
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Folders in which the Python package may be, without asking an interpreter.
fn package_places(variable: Lookup<'_>, here: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(environment) = variable("VIRTUAL_ENV") {
        places.extend(site_packages(Path::new(&environment)));
    }
    if let Some(list) = variable("FIREARROW_ENGINE_PATH") {
        places.extend(env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()));
    }
    places.extend(here.ancestors().flat_map(|folder| site_packages(&folder.join(".venv"))));
    places
}

/// `lib/python3.x/site-packages/firebird/embedded/runtime` of an environment, newest interpreter first.
fn site_packages(environment: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(environment.join("lib")) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python"))
        .map(|entry| entry.path().join("site-packages").join(IN_SITE_PACKAGES))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found.reverse();
    found
}

/// Asks `python3` where it would import the package from.
fn ask_python() -> Option<PathBuf> {
    const QUESTION: &str = "import importlib.util\n\
                            spec = importlib.util.find_spec('firebird.embedded')\n\
                            print(next(iter(spec.submodule_search_locations)), end='')";
    let mut child = Command::new("python3")
        .args(["-c", QUESTION])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Instant::now() + PYTHON_PATIENCE;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= deadline {
            // Nothing is lost if it has just ended by itself.
            let _ = child.kill();
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().ok()?;
    let folder = String::from_utf8(output.stdout).ok().filter(|folder| !folder.is_empty())?;
    output.status.success().then(|| Path::new(&folder).join("runtime"))
}

/// Where systems and the project's own archive put the library.
fn system_places(variable: Lookup<'_>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = variable("FIREBIRD").map(PathBuf::from).into_iter().collect();
    places.extend(["/opt/firebird", "/usr/local/firebird"].map(PathBuf::from));
    places.push(format!("/usr/lib/{}-linux-gnu", env::consts::ARCH).into());
    places.extend(["/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let folder = tree(&["libfbclient.so.2", "plugins/libEngine13.so", "plugins/libDefault_Profiler.so"]);
        let runtime = Runtime::at(folder.path()).unwrap();
        assert_eq!((runtime.kind, runtime.generation), (RuntimeKind::Wheel, Some(5)));
        assert!(runtime.engine_plugin().unwrap().ends_with("plugins/libEngine13.so"));
    }

    #[test]
    fn lib_beside_plugins_is_an_installation() {
        let folder = tree(&["lib/libfbclient.so.2", "plugins/libEngine12.so"]);
        let runtime = Runtime::at(folder.path()).unwrap();
        assert_eq!((runtime.kind, runtime.generation), (RuntimeKind::Install, Some(3)));
    }

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
        let folder = tree(&["libfbclient.so.2"]);
        assert_eq!(Runtime::at(folder.path()).unwrap().engine_plugin(), None);
    }

    #[test]
    fn the_package_is_found_in_environments_and_listed_folders() {
        let folder = tree(&[
            "venv/lib/python3.11/site-packages/firebird/embedded/runtime/libfbclient.so.2",
            "work/.venv/lib/python3.12/site-packages/firebird/embedded/runtime/libfbclient.so.2",
            "listed/firebird/embedded/runtime/libfbclient.so.2",
        ]);
        let base = folder.path().to_path_buf();
        let variable = |name: &str| match name {
            "VIRTUAL_ENV" => Some(base.join("venv").into_os_string()),
            "FIREARROW_ENGINE_PATH" => Some(base.join("listed").into_os_string()),
            _ => None,
        };
        let places = package_places(&variable, &base.join("work/deep/below"));
        assert_eq!(places.len(), 3);
        assert!(places[0].starts_with(base.join("venv")));
        assert!(places.iter().all(|place| Runtime::at(place).is_some()));
    }

    #[test]
    fn an_explicit_path_is_not_replaced_by_something_else() {
        let missing = Path::new("/nonexistent/engine");
        match Runtime::discover(&RuntimeHint::at(missing)) {
            Err(Error::LibraryNotFound { tried }) => assert_eq!(tried, [missing]),
            other => panic!("{other:?}"),
        }
    }
}
