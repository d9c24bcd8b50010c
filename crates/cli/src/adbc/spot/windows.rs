//! Folders of manifests, and the registry for all users: there is no folder for them.

use super::{FILE, Folder, of_environment, variable};
use crate::adbc::{ENTRYPOINT, Entry, manifest};
use crate::failure::{Failure, Result};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};
use windows_registry::LOCAL_MACHINE;

/// The help of the option that names the driver.
pub(in crate::adbc) const LIBRARY_HELP: &str = "The driver [default: next to this program]";

/// The driver's name, which is also the scheme of its URLs.
const NAME: &str = "firebird";
/// Where driver managers look for drivers, below the machine's root.
const DRIVERS: &str = r"SOFTWARE\ADBC\Drivers";
/// `HRESULT` of `ERROR_FILE_NOT_FOUND`: there is no such key or value.
const NOT_FOUND: i32 = 0x8007_0002_u32.cast_signed();

/// The place of an entry.
#[derive(Debug)]
pub(in crate::adbc) enum Spot {
    Manifest(PathBuf),
    /// The machine's registry.
    Registry,
}

impl Spot {
    pub(in crate::adbc) fn of(folder: Folder) -> Result<Self> {
        match folder {
            Folder::Venv => Ok(Self::folder(&of_environment()?)),
            Folder::User => {
                let data = variable("LOCALAPPDATA");
                let data = data.ok_or_else(|| {
                    Failure::other("LOCALAPPDATA is not set, as for services without a profile; use --system")
                })?;
                Ok(Self::folder(&data.join("ADBC").join("Drivers")))
            }
            Folder::System => Ok(Self::Registry),
        }
    }

    pub(in crate::adbc) fn folder(folder: &Path) -> Self {
        Self::Manifest(folder.join(FILE))
    }

    pub(in crate::adbc) fn read(&self) -> io::Result<Option<Entry>> {
        let Self::Manifest(path) = self else {
            let key = match LOCAL_MACHINE.open(key()) {
                Err(error) if error.code().0 == NOT_FOUND => return Ok(None),
                key => key?,
            };
            let is_ours = key.get_string("entrypoint").is_ok_and(|entry| entry == ENTRYPOINT);
            return Ok(Some(Entry { library: key.get_string("driver").ok(), is_ours }));
        };
        manifest::read(path)
    }

    pub(in crate::adbc) fn write(&self, library: &str) -> io::Result<()> {
        let Self::Manifest(path) = self else {
            let key = LOCAL_MACHINE.create(key())?;
            for (name, value) in [
                // First, because it tells whose the key is.
                ("entrypoint", ENTRYPOINT),
                ("name", "Firearrow"),
                ("version", env!("CARGO_PKG_VERSION")),
                ("source", "firearrow adbc install"),
                ("driver", library),
            ] {
                key.set_string(name, value)?;
            }
            return Ok(key.set_u32("manifest_version", 1)?);
        };
        manifest::write(path, library)
    }

    pub(in crate::adbc) fn remove(&self) -> io::Result<()> {
        let Self::Manifest(path) = self else {
            return Ok(LOCAL_MACHINE.remove_tree(key())?);
        };
        fs::remove_file(path)
    }
}

fn key() -> String {
    format!(r"{DRIVERS}\{NAME}")
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest(path) => path.display().fmt(f),
            Self::Registry => write!(f, r"HKEY_LOCAL_MACHINE\{}", key()),
        }
    }
}
