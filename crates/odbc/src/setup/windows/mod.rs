//! Where Windows keeps drivers and data sources: in its registry.
//!
//! | | drivers | data sources |
//! |---|---|---|
//! | user | `HKCU\SOFTWARE\ODBC\ODBCINST.INI`, see below | `HKCU\SOFTWARE\ODBC\ODBC.INI` |
//! | system | `HKLM\SOFTWARE\ODBC\ODBCINST.INI` | `HKLM\SOFTWARE\ODBC\ODBC.INI` |
//!
//! Each has a key with its entries, and a value in a list. A data source names the library of its driver, not the driver,
//! which is why those of a user work without the driver being registered: the driver manager reads drivers from
//! `HKLM` only. A driver of the user is where data sources of the user find the library.
//!
//! 32-bit programs have keys of their own for the system (`WOW6432Node`), but share those of the user.

mod configure;
mod key;
#[cfg(test)]
pub(super) mod tests;

pub(crate) use configure::{Mistake, Request, configure};

use super::{DRIVER, Entries, Kind, Scope, Write, entry, invalid};
use firearrow_system::{FileKind, pe};
use key::Place;
use std::io;
use std::path::{Path, PathBuf};

/// The drivers and data sources of a user, of the system, and of the system's 32-bit programs.
#[derive(Debug)]
pub(super) struct Registry {
    user: Place,
    system: Place,
    system_32: Place,
}

impl Registry {
    /// What this process and its driver manager see.
    pub(super) fn of_process() -> Self {
        Self {
            user: Place::of_user(r"SOFTWARE\ODBC"),
            system: Place::of_system(r"SOFTWARE\ODBC"),
            system_32: Place::of_system(r"SOFTWARE\WOW6432Node\ODBC"),
        }
    }

    /// The key with the list, and with a key for each driver or data source.
    fn place(&self, kind: Kind, scope: Scope) -> Place {
        let base = match scope {
            Scope::User => &self.user,
            Scope::System => &self.system,
        };
        base.at(match kind {
            Kind::Driver => "ODBCINST.INI",
            Kind::DataSource => "ODBC.INI",
        })
    }

    /// The names of all drivers or data sources.
    pub(super) fn names(&self, kind: Kind, scope: Scope) -> io::Result<Vec<String>> {
        let place = self.place(kind, scope);
        let listed = place.at(list_of(kind)).values()?.unwrap_or_default();
        let mut names: Vec<String> = listed.into_iter().map(|(name, _)| name).collect();
        for name in place.keys()? {
            if !names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
                names.push(name);
            }
        }
        names.retain(|name| !super::is_reserved(name));
        Ok(names)
    }

    /// What is known about a driver or data source.
    pub(super) fn entries(&self, kind: Kind, scope: Scope, name: &str) -> io::Result<Option<Entries>> {
        match can_be_key(name) {
            true => self.place(kind, scope).at(name).values(),
            false => Ok(None),
        }
    }

    /// Sets entries. Only the user and administrators can read those of a user. Returns the key, and whether
    /// it was there already.
    pub(super) fn set(
        &self,
        kind: Kind,
        scope: Scope,
        name: &str,
        entries: &[(&str, &str)],
        _private: bool,
        write: Write,
    ) -> io::Result<(PathBuf, bool)> {
        let texts = entries.iter().flat_map(|(name, value)| [*name, *value]);
        if !can_be_key(name) || texts.into_iter().any(|text| text.contains('\0')) {
            return Err(invalid("the registry has no place for this name, or for an entry with a zero byte"));
        }
        let place = self.place(kind, scope);
        let key = place.at(name);
        let was_there = key.exists()?;
        match write {
            Write::New if was_there => {
                let text = format!("the data source {name} exists already");
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
            }
            Write::Replace if was_there => place.remove_key(name)?,
            Write::New | Write::Update | Write::Replace => {}
        }
        // The database last: what was killed before does not connect with half of its settings.
        let (database, others): (Vec<_>, Vec<_>) =
            entries.iter().copied().partition(|(name, _)| name.eq_ignore_ascii_case("Dbname"));
        key.set(&others)?;
        key.set(&database)?;
        if kind == Kind::Driver {
            // Other installers keep a reference count here.
            key.set_number_if_missing("UsageCount", 1)?;
        }
        let said = match kind {
            Kind::Driver => "Installed",
            Kind::DataSource => DRIVER,
        };
        place.at(list_of(kind)).set(&[(name, said)])?;
        Ok((key.path(), was_there))
    }

    /// Removes a driver or data source. Returns the key, or `None` if it is not there.
    pub(super) fn remove(&self, kind: Kind, scope: Scope, name: &str) -> io::Result<Option<PathBuf>> {
        if !can_be_key(name) {
            return Ok(None);
        }
        let place = self.place(kind, scope);
        let key = place.at(name);
        let was_there = key.exists()?;
        if was_there {
            place.remove_key(name)?;
        }
        // What only the list has is gone, too.
        let was_listed = place.at(list_of(kind)).remove_value(name)?;
        Ok((was_there || was_listed).then(|| key.path()))
    }

    /// What the driver manager wants to know about a driver. All values are strings, even numeric ones.
    pub(super) fn of_driver<'a>(description: &'a str, library: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![
            ("Description", description),
            ("Driver", library),
            ("Setup", library),
            // As `SQLGetInfo` says: SQL_OAC_LEVEL1, SQL_SC_SQL92_INTERMEDIATE.
            ("APILevel", "1"),
            ("SQLLevel", "2"),
            // SQLConnect, SQLDriverConnect and SQLBrowseConnect.
            ("ConnectFunctions", "YYY"),
            ("DriverODBCVer", "03.80"),
            // 0: it is not a driver for single files.
            ("FileUsage", "0"),
        ]
    }

    /// What a data source says about its driver: the library. One for all users needs a driver for all users, since
    /// files of one user may change or be out of reach.
    pub(super) fn driver(&self, scope: Scope) -> io::Result<String> {
        let scopes: &[Scope] = match scope {
            Scope::User => &[Scope::User, Scope::System],
            Scope::System => &[Scope::System],
        };
        for scope in scopes {
            let entries = self.entries(Kind::Driver, *scope, DRIVER)?.unwrap_or_default();
            if let Some(path) = entry(&entries, "Driver").filter(|path| !path.is_empty()) {
                return Ok(path.to_owned());
            }
        }
        let command = match scope {
            Scope::User => "firearrow odbc install",
            Scope::System => "firearrow odbc install --system",
        };
        Err(io::Error::new(io::ErrorKind::NotFound, format!("the driver is not installed yet: {command}")))
    }

    /// The name of a data source's driver, or the path of its library; "" if it has none.
    pub(super) fn driver_of(&self, scope: Scope, name: &str, entries: &Entries) -> String {
        let listed = self.place(Kind::DataSource, scope).at(list_of(Kind::DataSource)).values();
        let listed = listed.ok().flatten().unwrap_or_default();
        let driver = entry(&listed, name).filter(|driver| !driver.is_empty());
        driver.or_else(|| entry(entries, "Driver")).unwrap_or_default().to_owned()
    }

    /// The library of a data source, which names it itself.
    #[expect(clippy::unused_self, reason = "Unix has to look at its drivers")]
    pub(super) fn library_of(&self, entries: &Entries) -> Option<PathBuf> {
        entry(entries, "Driver").filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// Whether programs like this one can use what was found of a data source.
    pub(super) fn check_source(&self, name: &str, found: Option<&Entries>) -> io::Result<()> {
        let is_of_others = match found {
            Some(entries) => entry(entries, "Driver").is_some_and(|path| is_32_bit(Path::new(path))),
            None => can_be_key(name) && self.system_32.at("ODBC.INI").at(name).exists()?,
        };
        match is_of_others {
            true => Err(invalid(format!(
                "{name} is a 32-bit data source, and this program is 64-bit; add one for 64-bit programs: firearrow \
                 odbc dsn add"
            ))),
            false => Ok(()),
        }
    }

    /// What else the driver manager needs to find a driver.
    #[expect(clippy::unused_self, reason = "Unix has to look at its files")]
    pub(super) fn advice(&self, scope: Scope) -> Option<String> {
        match scope {
            Scope::User => Some(
                "data sources that `firearrow odbc dsn add` adds for you work now. Windows looks for drivers of all users only: for \
                 Driver=Firearrow in connection strings, and to see the driver in the ODBC administrator, run `firearrow odbc \
                 install --system` in an administrator's console."
                    .into(),
            ),
            Scope::System => None,
        }
    }
}

fn list_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Driver => "ODBC Drivers",
        Kind::DataSource => "ODBC Data Sources",
    }
}

/// Whether it is a library that only 32-bit programs can load. An unreadable file counts as not 32-bit.
fn is_32_bit(path: &Path) -> bool {
    pe::kind(path).is_ok_and(|kind| kind == FileKind::Library32)
}

/// Whether there can be a key of this name, in the place of names. An empty one would be the place itself.
fn can_be_key(name: &str) -> bool {
    !name.is_empty() && !name.contains(['\\', '\0']) && !super::is_reserved(name)
}
