//! What files are called, and where they are installed.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The file names of the client library; the first is that of every release since 2.5.
pub(crate) const LIBRARIES: [&str; 2] = ["libfbclient.so.2", "libfbclient.so"];
/// Folders of an environment that hold programs and libraries.
pub(crate) const OF_ENVIRONMENT: [&str; 3] = ["bin", "lib", "lib64"];
/// How a message says where a checkout of this project has the engine.
pub(crate) const SETUP_HINT: &str =
    " (in a checkout of firearrow `make setup` puts it into .venv: source .venv/bin/activate)";
/// The plugin that tells 5.0 from 4.0, which have the same engine number.
pub(crate) const PROFILER: &str = "libDefault_Profiler.so";

/// What the engine reads or loads in addition to its plugins.
pub(crate) const BESIDE: [&str; 4] = ["intl", "tzdata", "firebird.msg", "plugins.conf"];

/// The file name of the engine plugin with this number.
pub(crate) fn engine(number: u8) -> String {
    format!("libEngine{number}.so")
}

/// The number in the name of an engine plugin.
pub(crate) fn engine_number(plugin: &Path) -> Option<u8> {
    plugin.file_stem()?.to_str()?.strip_prefix("libEngine")?.parse().ok()
}

/// The major version in a name such as `libfbclient.so.3.0.11`.
pub(crate) fn generation(library: &Path) -> Option<u8> {
    let version = library.file_name()?.to_str()?.strip_prefix("libfbclient.so.")?;
    let (major, _) = version.split_once('.')?;
    major.parse().ok().filter(|major| *major >= 3)
}

/// Whether a file is a shared library.
pub(crate) fn is_library(name: &OsStr) -> bool {
    name.as_encoded_bytes().windows(3).any(|part| part == b".so")
}

/// The folders for packages of a Python environment, newest interpreter first: `lib/python3.x/site-packages`.
pub(crate) fn packages(environment: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(environment.join("lib")) else { return Vec::new() };
    let mut interpreters: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python"))
        .map(|entry| entry.path())
        .collect();
    interpreters.sort();
    interpreters.reverse();
    let folders = |path: PathBuf| ["site-packages", "dist-packages"].map(|name| path.join(name));
    interpreters.into_iter().flat_map(folders).collect()
}

/// Environments of the system's Python.
pub(crate) fn environments() -> Vec<PathBuf> {
    ["/usr/local", "/usr"].map(PathBuf::from).into()
}

/// Where systems and the project's own archive put the library.
pub(crate) fn installations(_variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = ["/opt/firebird", "/usr/local/firebird"].map(PathBuf::from).into();
    places.push(format!("/usr/lib/{}-linux-gnu", env::consts::ARCH).into());
    places.extend(["/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    places
}
