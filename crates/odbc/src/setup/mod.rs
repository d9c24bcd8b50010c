//! Drivers and data sources as the driver manager keeps them: `odbcinst.ini` and `odbc.ini`, or keys of Windows'
//! registry.
//!
//! ```text
//!  firearrow odbc … ─► install, add_data_source, … ─┐
//!  ConfigDSN ─► configure ──────────────────────────┼─► Registry (unix: ini files, windows: the registry)
//!  SQLConnect, DSN= ─► data_source ─────────────────┘
//! ```
//!
//! What differs between systems is in modules with the same names: `Registry`, and `library`, which knows what libraries
//! look like.

mod library;
mod plan;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use crate::connection_string::{of_connecting, of_statement};
pub use plan::{Plan, plan};
#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;
#[cfg(windows)]
pub(crate) use windows::{Mistake, Request, configure};

use crate::connection_string::{Attributes, entry_name, is_list, settings_in};
use firearrow::config::Target;
use platform::Registry;
use std::io;
use std::path::{Path, PathBuf};

/// The name under which the driver is registered.
pub const DRIVER: &str = "Firearrow";

/// Who sees a driver or data source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One user.
    User,
    /// All users of the machine.
    System,
}

/// What is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Driver,
    DataSource,
}

/// What to do with a section that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    /// Fail.
    New,
    /// Keep its other entries.
    Update,
    /// Remove it first.
    Replace,
}

/// A registered data source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSource {
    /// Its name.
    pub name: String,
    /// Who sees it.
    pub scope: Scope,
    /// The name of its driver, or the path of the driver's library; "" if it has none.
    pub driver: String,
    /// The library that programs get, if the driver is known.
    pub library: Option<PathBuf>,
    /// Its description, or "".
    pub description: String,
}

/// Names and values.
type Entries = Vec<(String, String)>;

/// The place where something was written, and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file, or the key of Windows' registry.
    pub file: PathBuf,
    /// Whether something of this name was there before.
    pub replaced: bool,
    /// Warnings and advice.
    pub remarks: Vec<String>,
}

/// Returns the entries of a data source, as the driver manager finds it: the user's before the system's.
///
/// # Errors
/// A file cannot be read, or the data source is one of 32-bit programs.
pub fn data_source(name: &str) -> io::Result<Option<Vec<(String, String)>>> {
    data_source_in(&Registry::of_process(), name)
}

/// Registers the driver. What the registration of an earlier version has beyond this stays.
///
/// # Errors
/// `library` is not the absolute path of a shared library; a file cannot be written.
pub fn install(scope: Scope, library: &Path) -> io::Result<Written> {
    install_in(&Registry::of_process(), scope, library)
}

/// Removes the driver. Returns the file, or `None` if it is not registered. Its data sources stay.
///
/// # Errors
/// A file cannot be read or written.
pub fn uninstall(scope: Scope) -> io::Result<Option<PathBuf>> {
    Registry::of_process().remove(Kind::Driver, scope, DRIVER)
}

/// Returns the library with which the driver is registered.
///
/// # Errors
/// A file cannot be read.
pub fn installed(scope: Scope) -> io::Result<Option<PathBuf>> {
    installed_in(&Registry::of_process(), scope)
}

/// Returns what else programs need to find a driver that is registered there.
pub fn advice(scope: Scope) -> Option<String> {
    Registry::of_process().advice(scope)
}

/// Adds a data source. `text` is a URL, a connection string, or a database as Firebird names it (`host:path`). One that
/// exists is replaced if `replace` is set.
///
/// # Errors
/// The name cannot be that of a data source, or exists; the text is wrong, or contains a password that others could read;
/// a file cannot be written.
pub fn add_data_source(name: &str, text: &str, scope: Scope, replace: bool) -> io::Result<Written> {
    add_data_source_in(&Registry::of_process(), name, text, scope, replace)
}

/// Removes a data source. Returns the file, or `None` if there is none of this name.
///
/// # Errors
/// A file cannot be read or written.
pub fn remove_data_source(name: &str, scope: Scope) -> io::Result<Option<PathBuf>> {
    remove_data_source_in(&Registry::of_process(), name, scope)
}

/// Returns all data sources, also those of other drivers: first the user's, then the system's that they do not hide.
///
/// # Errors
/// A file cannot be read.
pub fn list() -> io::Result<Vec<DataSource>> {
    list_in(&Registry::of_process())
}

fn data_source_in(registry: &Registry, name: &str) -> io::Result<Option<Entries>> {
    let found = match registry.entries(Kind::DataSource, Scope::User, name)? {
        None => registry.entries(Kind::DataSource, Scope::System, name)?,
        found => found,
    };
    registry.check_source(name, found.as_ref())?;
    Ok(found)
}

fn install_in(registry: &Registry, scope: Scope, library: &Path) -> io::Result<Written> {
    let path = library.to_str().filter(|_| library.is_absolute() && library.is_file());
    let path =
        path.ok_or_else(|| invalid(format!("{} is not the absolute path of a file", library.display())))?;
    library::check(library)?;
    let description = concat!("Firebird ODBC driver, firearrow ", env!("CARGO_PKG_VERSION"));
    let entries = Registry::of_driver(description, path);
    let (file, replaced) = registry.set(Kind::Driver, scope, DRIVER, &entries, false, Write::Update)?;
    Ok(Written { file, replaced, remarks: registry.advice(scope).into_iter().collect() })
}

fn installed_in(registry: &Registry, scope: Scope) -> io::Result<Option<PathBuf>> {
    let entries = registry.entries(Kind::Driver, scope, DRIVER)?;
    Ok(entries.and_then(|entries| entry(&entries, "Driver").map(PathBuf::from)))
}

fn add_data_source_in(
    registry: &Registry,
    name: &str,
    text: &str,
    scope: Scope,
    replace: bool,
) -> io::Result<Written> {
    check_name(name)?;
    let attributes = attributes(text)?;
    let write = if replace { Write::Replace } else { Write::New };
    add_attributes_in(registry, name, &attributes, &registry.driver(scope)?, scope, write)
}

/// Adds a data source of these attributes. `driver` is what it says about its driver.
fn add_attributes_in(
    registry: &Registry,
    name: &str,
    attributes: &Attributes,
    driver: &str,
    scope: Scope,
    write: Write,
) -> io::Result<Written> {
    if attributes.data_source().is_some() {
        return Err(invalid("a data source cannot refer to another one; leave out DSN"));
    }
    // Whoever adds a data source vouches for its options.
    let attributes = &attributes.clone().registered();
    // It must work for others, whose environment is a different one.
    let settings = settings_in(&|_| None, attributes, None).map_err(|failure| invalid(failure.text))?;
    check_path(&settings.config.target, attributes.filled("DBNAME").unwrap_or_default())?;
    let private = settings.config.password.is_some();
    if private && scope == Scope::System {
        return Err(invalid(
            "every user of this machine could read the password; leave it out, or add the data source for yourself only",
        ));
    }
    let mut entries = vec![("Driver", driver)];
    entries.extend(attributes.get("DESCRIPTION").map(|text| ("Description", text)));
    let pairs = settings.effective.pairs().filter(|(name, value)| *name != "DRIVER" && !value.is_empty());
    entries.extend(pairs.map(|(name, value)| (entry_name(name), value)));
    let (file, replaced) = registry.set(Kind::DataSource, scope, name, &entries, private, write)?;
    Ok(Written {
        file,
        replaced,
        remarks: settings.warnings.into_iter().map(|failure| failure.text).collect(),
    })
}

fn remove_data_source_in(registry: &Registry, name: &str, scope: Scope) -> io::Result<Option<PathBuf>> {
    // Lists and settings of the driver manager are no data sources.
    if is_reserved(name) { Ok(None) } else { registry.remove(Kind::DataSource, scope, name) }
}

fn list_in(registry: &Registry) -> io::Result<Vec<DataSource>> {
    let mut all: Vec<DataSource> = Vec::new();
    for scope in [Scope::User, Scope::System] {
        for name in registry.names(Kind::DataSource, scope)? {
            if all.iter().any(|known| known.name.eq_ignore_ascii_case(&name)) {
                continue;
            }
            // One that cannot be read is listed all the same.
            let entries = registry.entries(Kind::DataSource, scope, &name).ok().flatten().unwrap_or_default();
            let driver = registry.driver_of(scope, &name, &entries);
            let description = entry(&entries, "Description").unwrap_or_default().to_owned();
            let library = registry.library_of(&entries);
            all.push(DataSource { driver, library, description, name, scope });
        }
    }
    Ok(all)
}

/// The first entry of this name.
fn entry<'a>(entries: &'a [(String, String)], name: &str) -> Option<&'a str> {
    entries.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// The attributes of a connection string or of a database.
fn attributes(text: &str) -> io::Result<Attributes> {
    if is_list(text) {
        return Attributes::parse(text).map_err(|failure| invalid(failure.text));
    }
    let text = text.trim();
    // It would be one database with a strange name. Options of a URL may have semicolons between them.
    let parts = text.split_once(';').filter(|(database, rest)| !database.contains('?') && is_list(rest));
    if let Some((database, rest)) = parts {
        let keyword = rest.split('=').next().unwrap_or_default().trim_matches([';', ' ']);
        // What contains an @ may contain a password.
        let database = if database.contains('@') { "host:path" } else { database };
        return Err(invalid(format!(
            "keywords follow the database, so it needs one as well: Dbname={database};{keyword}=…"
        )));
    }
    Ok(Attributes::from_pairs(vec![("DBNAME".into(), text.into())]))
}

/// Refuses the path of a database that would be a different file in each folder. More often, the server was forgotten.
fn check_path(target: &Target, database: &str) -> io::Result<()> {
    let Target::Embedded { path } = target else { return Ok(()) };
    let bytes = path.as_bytes();
    let has_drive = matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    // The prefix marks an alias of the engine.
    let is_embedded = database.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("embedded:"));
    if bytes.starts_with(b"/") || has_drive || is_embedded {
        return Ok(());
    }
    let whole = std::path::absolute(path)?;
    Err(invalid(format!(
        "'{}' names no server and is no full path; write host:path, or {} for a file of this machine",
        firearrow_driver::shortened(path),
        whole.display()
    )))
}

/// Sections with another purpose.
fn is_reserved(name: &str) -> bool {
    ["ODBC", "ODBC Data Sources", "ODBC Drivers", "ODBC File DSN"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// The standard's rules for names of data sources.
fn check_name(name: &str) -> io::Result<()> {
    const LONGEST: usize = 32;
    const FORBIDDEN: &str = "[]{}(),;?*=!@\\";
    let is_wrong = name.is_empty()
        || name.chars().count() > LONGEST
        || name.trim() != name
        || name.chars().any(|c| c.is_control() || FORBIDDEN.contains(c))
        || is_reserved(name);
    match is_wrong {
        true => Err(invalid(format!(
            "the name of a data source has 1 to {LONGEST} characters, none of them {FORBIDDEN}, and is not ODBC"
        ))),
        false => Ok(()),
    }
}

fn invalid(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text.into())
}
