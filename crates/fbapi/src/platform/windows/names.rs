//! What files are called, and where they are installed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use windows_registry::LOCAL_MACHINE;

/// The file names of the client library; the second is that of InterBase, which old installations have.
pub(crate) const LIBRARIES: [&str; 2] = ["fbclient.dll", "gds32.dll"];
/// Folders of an environment that hold programs and libraries.
pub(crate) const OF_ENVIRONMENT: [&str; 3] = ["Scripts", "bin", "lib"];
/// `make setup`, which installs an engine into a checkout, does not run on Windows.
pub(crate) const SETUP_HINT: &str = "";
/// The plugin that tells 5.0 from 4.0, which have the same engine number.
pub(crate) const PROFILER: &str = "default_profiler.dll";

/// What the engine reads or loads in addition to its plugins; its configuration may name code.
pub(crate) const BESIDE: [&str; 7] =
    ["intl", "tzdata", "firebird.msg", "plugins.conf", "firebird.conf", "databases.conf", "fbtrace.conf"];

/// The key under which Firebird's installer notes each instance's folder.
const INSTANCES: &str = r"SOFTWARE\Firebird Project\Firebird Server\Instances";
/// The name of the only instance that the installer writes.
const INSTANCE: &str = "DefaultInstance";

/// The file name of the engine plugin with this number.
pub(crate) fn engine(number: u8) -> String {
    format!("engine{number}.dll")
}

/// The number in the name of an engine plugin.
pub(crate) fn engine_number(plugin: &Path) -> Option<u8> {
    plugin.file_stem()?.to_str()?.to_ascii_lowercase().strip_prefix("engine")?.parse().ok()
}

/// The name of the library does not contain its version.
pub(crate) fn generation(_library: &Path) -> Option<u8> {
    None
}

/// Whether a file is a shared library.
pub(crate) fn is_library(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dll"))
}

/// The folder for packages of a Python environment: `Lib\site-packages`.
pub(crate) fn packages(environment: &Path) -> Vec<PathBuf> {
    vec![environment.join("Lib").join("site-packages")]
}

/// There is no Python of the system.
pub(crate) fn environments() -> Vec<PathBuf> {
    Vec::new()
}

/// Where Firebird's installer says it has put the library, and where it does so by default, newest first.
pub(crate) fn installations(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let noted = LOCAL_MACHINE.open(INSTANCES).and_then(|key| key.get_string(INSTANCE));
    let mut places: Vec<PathBuf> = noted.ok().map(PathBuf::from).into_iter().collect();
    if let Some(programs) = variable("ProgramFiles") {
        let base = PathBuf::from(programs).join("Firebird");
        places.extend(["Firebird_5_0", "Firebird_4_0", "Firebird_3_0"].map(|name| base.join(name)));
    }
    places.retain(|place| place.is_absolute());
    places
}
