//! Room for tables before they are filled: a disk that is full stops whatever else uses it.

use crate::error::{Error, Result};
use crate::platform;
use crate::server::Server;
use crate::text::size;
use firearrow::config::{Config, Target};
use std::path::{Path, PathBuf};

/// Refuses to fill a database whose file system has no room for it, if that can be known; see [`free`]. `what` takes about
/// `needed` bytes.
///
/// # Errors
/// [`Error::Other`] with what is needed and what there is.
pub fn check(config: &Config, what: &str, needed: u64) -> Result<()> {
    match free(config) {
        Some(free) if needed > free => Err(Error::other(format!(
            "{what} take about {}, and the file system of the database has {} left: make room, or use another database",
            size(needed),
            size(free)
        ))),
        _ => Ok(()),
    }
}

/// Bytes that the file system of a database has left; `None` unless the engine or server runs on this machine, and the
/// database is named by its path.
pub fn free(config: &Config) -> Option<u64> {
    platform::free_bytes(&folder(config)?)
}

/// The folder of the database, if it is on this machine.
fn folder(config: &Config) -> Option<PathBuf> {
    let path = match &config.target {
        Target::Embedded { path } => path,
        Target::Remote { database, .. } => {
            let is_here = matches!(Server::find(config), Server::Process(_));
            Some(database).filter(|database| is_here && database.starts_with('/'))?
        }
    };
    let folder = Path::new(path).parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.is_dir().then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_refused() {
        let here = std::env::temp_dir().join("none.fdb");
        let config = Config::parse(&here.display().to_string()).unwrap();
        assert!(check(&config, "the tables", 1).is_ok());
        let error = check(&config, "the tables", u64::MAX).unwrap_err().to_string();
        assert!(error.starts_with("the tables take about ") && error.contains(" left: make room"), "{error}");
        // Nobody knows what an alias of a server means, or what room another machine has.
        for elsewhere in ["firebird://127.0.0.1:1/employee", "firebird://192.0.2.1//x.fdb"] {
            assert_eq!(free(&Config::parse(elsewhere).unwrap()), None, "{elsewhere}");
        }
    }
}
