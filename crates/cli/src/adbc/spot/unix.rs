//! Folders of manifests.

use super::{FILE, Folder, of_environment, variable};
use crate::adbc::{Entry, manifest};
use crate::failure::{Failure, Result};
use crate::platform::folders;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// The help of the option that names the driver.
pub(in crate::adbc) const LIBRARY_HELP: &str = "The driver [default: next to this program, or in ../lib]";

/// A manifest's place.
#[derive(Debug)]
pub(in crate::adbc) struct Spot(PathBuf);

impl Spot {
    pub(in crate::adbc) fn of(folder: Folder) -> Result<Self> {
        let home = || folders::home().ok_or_else(|| Failure::other("HOME is not set"));
        let folder = match folder {
            Folder::Venv => of_environment()?,
            Folder::User if cfg!(target_os = "macos") => {
                home()?.join("Library/Application Support/ADBC/Drivers")
            }
            Folder::User => match variable("XDG_CONFIG_HOME") {
                Some(folder) => folder.join("adbc/drivers"),
                None => home()?.join(".config/adbc/drivers"),
            },
            Folder::System if cfg!(target_os = "macos") => "/Library/Application Support/ADBC/Drivers".into(),
            Folder::System => "/etc/adbc/drivers".into(),
        };
        Ok(Self::folder(&folder))
    }

    pub(in crate::adbc) fn folder(folder: &Path) -> Self {
        Self(folder.join(FILE))
    }

    pub(in crate::adbc) fn read(&self) -> io::Result<Option<Entry>> {
        manifest::read(&self.0)
    }

    pub(in crate::adbc) fn write(&self, library: &str) -> io::Result<()> {
        manifest::write(&self.0, library)
    }

    pub(in crate::adbc) fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.0)
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}
