//! A driver, reached through the driver manager or directly.

use super::abi;
use super::handle::Connection;
use super::library::Library;
use crate::error::{Error, Result};
use firearrow::config::Config;
use std::path::Path;

/// The functions to call and the string to connect with.
#[derive(Debug)]
pub(super) struct Driver {
    /// How the functions are reached, for tables.
    pub(super) route: &'static str,
    library: Library,
    text: String,
}

/// How the driver's own functions are called.
pub(super) const DIRECT: &str = "direct";
/// The driver manager.
pub(super) const MANAGER: &str = "unixODBC";

impl Driver {
    /// Loads the driver itself.
    pub(super) fn direct(path: &Path, keywords: &str) -> Result<Self> {
        Ok(Self { route: DIRECT, library: Library::load(path)?, text: keywords.to_owned() })
    }

    /// Loads unixODBC, which will load the driver that the connection string names.
    pub(super) fn named(text: &str) -> Result<Self> {
        let library = manager().ok_or_else(|| Error::other(NO_MANAGER))?;
        Ok(Self { route: MANAGER, library, text: text.to_owned() })
    }

    /// Loads unixODBC, which will load the driver.
    pub(super) fn managed(path: &Path, keywords: &str) -> Result<Self> {
        // A driver manager takes a driver that it does not know for a path.
        let path = std::path::absolute(path).map_err(|error| Error::file(path, &error))?;
        Self::named(&format!("DRIVER={{{}}};{keywords}", path.display()))
    }

    pub(super) fn connect(&self) -> Result<Connection<'_>> {
        Connection::open(&self.library, &self.text)
    }

    /// Returns the driver's version.
    pub(super) fn version(&self) -> Result<String> {
        let connection = self.connect()?;
        let version = connection.info(abi::DRIVER_VERSION)?;
        connection.close()?;
        Ok(version)
    }
}

/// What is said if there is no [`manager`].
pub(crate) const NO_MANAGER: &str = "unixODBC is not installed";

/// Whether unixODBC is there.
pub(crate) fn has_manager() -> bool {
    manager().is_some()
}

fn manager() -> Option<Library> {
    MANAGERS.iter().find_map(|name| Library::load(Path::new(name)).ok())
}

/// Returns the keywords with which firearrow's driver connects as `config` says, whose URL is `url`.
pub(crate) fn keywords(url: &str, config: &Config) -> String {
    let braced = |text: &str| format!("{{{}}}", text.replace('}', "}}"));
    let mut text = format!("URL={}", braced(url));
    if let Some(client) = &config.client_library {
        text += &format!(";CLIENT={}", braced(&client.to_string()));
    }
    text
}

/// Names of unixODBC's library, the newest first.
const MANAGERS: [&str; 3] = ["libodbc.so.2", "libodbc.so.1", "libodbc.so"];
