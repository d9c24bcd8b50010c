//! Where unixODBC keeps drivers and data sources: ini files.
//!
//! | | drivers | data sources |
//! |---|---|---|
//! | user | `$HOME/.odbcinst.ini` | `$ODBCINI`, else `~/.odbc.ini` |
//! | system | `$ODBCSYSINI/$ODBCINSTINI`, else `/etc/odbcinst.ini` | `$ODBCSYSINI/odbc.ini`, else `/etc/odbc.ini` |
//!
//! Both files are read. A data source of the user hides one of the system; with drivers it is the other way round.
//! Without the system's `odbcinst.ini`, ordinary users get an error instead of their own drivers.

mod file;
mod ini;
mod lock;
#[cfg(test)]
pub(super) mod tests;

use super::{DRIVER, Entries, Kind, Scope, Write};
use file::{about, change, read};
use std::env;
use std::io;
use std::path::PathBuf;

/// Folders of the system's files, as unixODBC is commonly built.
const FOLDERS: [&str; 4] = ["/etc", "/etc/unixODBC", "/usr/local/etc", "/opt/homebrew/etc"];

/// The drivers and data sources of a user and of the system.
#[derive(Debug)]
pub(super) struct Registry {
    home: PathBuf,
    /// `ODBCINI`.
    user_sources: Option<PathBuf>,
    /// `ODBCSYSINI`, or what may be in its place.
    folders: Vec<PathBuf>,
    /// `ODBCINSTINI`.
    drivers: String,
}

impl Registry {
    /// What this process and its driver manager see.
    pub(super) fn of_process() -> Self {
        let variable = |name: &str| env::var(name).ok();
        Self::new(&variable, env::home_dir().unwrap_or_else(|| "/home".into()))
    }

    pub(super) fn new(variable: &dyn Fn(&str) -> Option<String>, home: PathBuf) -> Self {
        let filled = |name| variable(name).filter(|value| !value.is_empty());
        let folders = match filled("ODBCSYSINI") {
            Some(folder) => vec![folder.into()],
            None => FOLDERS.map(PathBuf::from).into(),
        };
        Self {
            home,
            user_sources: filled("ODBCINI").map(PathBuf::from),
            folders,
            drivers: filled("ODBCINSTINI").unwrap_or_else(|| "odbcinst.ini".into()),
        }
    }

    /// The file to change.
    pub(super) fn file(&self, kind: Kind, scope: Scope) -> PathBuf {
        match (kind, scope) {
            (Kind::Driver, Scope::User) => self.home.join(".odbcinst.ini"),
            (Kind::DataSource, Scope::User) => {
                self.user_sources.clone().unwrap_or_else(|| self.home.join(".odbc.ini"))
            }
            (_, Scope::System) => {
                let files = self.system_files(kind);
                let existing = files.iter().find(|file| file.is_file());
                existing.or(files.first()).cloned().unwrap_or_default()
            }
        }
    }

    fn system_files(&self, kind: Kind) -> Vec<PathBuf> {
        let name = match kind {
            Kind::Driver => &self.drivers,
            Kind::DataSource => "odbc.ini",
        };
        self.folders.iter().map(|folder| folder.join(name)).collect()
    }

    /// The names of all drivers or data sources.
    pub(super) fn names(&self, kind: Kind, scope: Scope) -> io::Result<Vec<String>> {
        let mut names = read(&self.file(kind, scope))?.sections();
        names.retain(|name| !super::is_reserved(name));
        Ok(names)
    }

    /// What is known about a driver or data source.
    pub(super) fn entries(&self, kind: Kind, scope: Scope, name: &str) -> io::Result<Option<Entries>> {
        let files = match scope {
            Scope::User => vec![self.file(kind, scope)],
            // Nobody says which of them the driver manager reads.
            Scope::System => self.system_files(kind),
        };
        for file in files {
            let entries = read(&file)?.entries(name).map_err(|error| about(&file, &error))?;
            if entries.is_some() {
                return Ok(entries);
            }
        }
        Ok(None)
    }

    /// Sets entries. Those that are `private` are for the owner of the file only. Returns the file, and whether the
    /// section was there already.
    pub(super) fn set(
        &self,
        kind: Kind,
        scope: Scope,
        name: &str,
        entries: &[(&str, &str)],
        private: bool,
        write: Write,
    ) -> io::Result<(PathBuf, bool)> {
        let file = self.file(kind, scope);
        let was_there = change(&file, private, |ini| {
            let was_there = ini.has(name);
            match write {
                Write::New if was_there => {
                    let text = format!("the data source {name} exists already");
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
                }
                Write::Replace => drop(ini.remove(name)),
                Write::New | Write::Update => {}
            }
            ini.set(name, entries)?;
            Ok(Some(was_there))
        })?;
        Ok((file, was_there.unwrap_or(false)))
    }

    /// Removes a driver or data source. Returns the file, or `None` if it is not there.
    pub(super) fn remove(&self, kind: Kind, scope: Scope, name: &str) -> io::Result<Option<PathBuf>> {
        let file = self.file(kind, scope);
        // Saying so takes no permission to change it.
        if !read(&file)?.has(name) {
            return Ok(None);
        }
        let removed = change(&file, false, |ini| Ok(ini.remove(name).then_some(())))?;
        Ok(removed.map(|()| file))
    }

    /// What the driver manager wants to know about a driver.
    pub(super) fn of_driver<'a>(description: &'a str, library: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![("Description", description), ("Driver", library)]
    }

    /// What a data source says about its driver.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "Windows has to look for the library")]
    pub(super) fn driver(&self, _: Scope) -> io::Result<String> {
        Ok(DRIVER.into())
    }

    /// The name of a data source's driver, or the path of its library; "" if it has none.
    #[expect(clippy::unused_self, reason = "Windows has another list of them")]
    pub(super) fn driver_of(&self, _: Scope, _: &str, entries: &Entries) -> String {
        super::entry(entries, "Driver").unwrap_or_default().to_owned()
    }

    /// The library of a data source, which names it or a driver. The system's drivers come first.
    pub(super) fn library_of(&self, entries: &Entries) -> Option<PathBuf> {
        let driver = super::entry(entries, "Driver").filter(|driver| !driver.is_empty())?;
        if driver.contains('/') {
            return Some(driver.into());
        }
        let of = |scope| self.entries(Kind::Driver, scope, driver).ok().flatten();
        let found = of(Scope::System).or_else(|| of(Scope::User))?;
        super::entry(&found, "Driver").map(PathBuf::from)
    }

    /// Whether programs like this one can use what was found of a data source.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "Windows has data sources of others")]
    pub(super) fn check_source(&self, _: &str, _: Option<&Entries>) -> io::Result<()> {
        Ok(())
    }

    /// What else the driver manager needs to find a driver.
    pub(super) fn advice(&self, scope: Scope) -> Option<String> {
        let system = self.file(Kind::Driver, Scope::System);
        match scope {
            Scope::User if !system.exists() => Some(format!(
                "unixODBC reads {user} only if {system} exists. Create it (sudo touch {system}), or set \
                 ODBCSYSINI={home} and ODBCINSTINI=.odbcinst.ini in the environment.",
                user = self.file(Kind::Driver, Scope::User).display(),
                system = system.display(),
                home = self.home.display(),
            )),
            Scope::User => None,
            Scope::System => Some(format!(
                "If `odbcinst -j` names another file for drivers than {}, set ODBCSYSINI to its folder and repeat this command.",
                system.display(),
            )),
        }
    }
}
