//! Embedded engines for tests.

use std::env;
use std::path::PathBuf;

use crate::{Generation, cache, server, system};

/// The runtime folder of an embedded engine (`libfbclient.so.2`, `plugins/`, `intl/`), if there is one that this
/// program can load.
///
/// `FIREARROW_ENGINE3`, `…4` and `…5` come first. Otherwise 5.0 is the wheel installed in `.venv`, 4.0 and 3.0 are
/// the wheels unpacked into the cache folder; `make setup` provides all three.
pub fn engine(generation: Generation) -> Option<PathBuf> {
    let (variable, wheel) = match generation {
        Generation::V3_0 => ("FIREARROW_ENGINE3", Some(cache::folder().join("firebird-embedded-3.0"))),
        Generation::V4_0 => ("FIREARROW_ENGINE4", Some(cache::folder().join("firebird-embedded-4.0"))),
        Generation::V5_0 => ("FIREARROW_ENGINE5", environment()),
    };
    let folder = match env::var_os(variable) {
        // Tests run in the folders of their crates.
        Some(folder) => cache::repository().join(folder),
        None => wheel?.join(RUNTIME),
    };
    system::can_load(&folder.join(system::CLIENT_LIBRARY)).then_some(folder)
}

/// Why there is no engine, and what would change it.
pub(crate) fn missing(generation: Generation) -> String {
    let remedy = if cfg!(target_os = "linux") && server::host().is_none() {
        "run `make setup`".to_owned()
    } else {
        // `make setup` downloads engines for programs of its own kind.
        format!("name the folder of one for this kind of program by FIREARROW_ENGINE{}", generation.major())
    };
    format!("no firebird-embedded {}: {remedy}", generation.number())
}

/// The version in the wheel's metadata beside `folder`, `5.0.4`; it has a packaging number as its last part.
pub(crate) fn version(folder: &std::path::Path) -> Option<String> {
    let packages = folder.ancestors().nth(3)?;
    std::fs::read_dir(packages).ok()?.find_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        let version = name.strip_prefix("firebird_embedded-")?.strip_suffix(".dist-info")?;
        Some(version.rsplit_once('.')?.0.to_owned())
    })
}

/// The folder of installed packages in the repository's virtual environment.
fn environment() -> Option<PathBuf> {
    cache::below_any(&cache::repository().join(".venv/lib"), "site-packages")
}

/// Where the engine lies in a firebird-embedded wheel.
const RUNTIME: &str = "firebird/embedded/runtime";
