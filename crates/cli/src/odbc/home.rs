//! Where unixODBC looks for a user's data sources.

use crate::platform::folders;
use std::env;
use std::path::Path;

/// unixODBC asks the list of users for the folder, not HOME. Containers and `sudo` may set another one.
pub(super) fn advice(file: &Path) -> Option<String> {
    if env::var_os("ODBCINI").is_some_and(|path| !path.is_empty()) {
        return None;
    }
    let home = folders::recorded_home()?;
    let folder = file.parent()?;
    let is_same = folder == home || folder.canonicalize().ok() == home.canonicalize().ok();
    (!is_same).then(|| {
        format!(
            "unixODBC looks in {} instead, whatever HOME is. Set ODBCINI={} in the environment of programs.",
            home.join(".odbc.ini").display(),
            file.display()
        )
    })
}
