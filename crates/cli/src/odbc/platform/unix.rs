//! unixODBC: its files, and where it looks for a user's data sources.

use nix::unistd::{Uid, User};
use std::env;
use std::path::Path;

pub(in crate::odbc) const INSTALL_ABOUT: &str = "Register the driver with unixODBC, under the name Firearrow";

pub(in crate::odbc) const INSTALL_HELP: &str = "\
Examples:
  firearrow odbc install
  sudo firearrow odbc install --system
  firearrow odbc install --library /opt/firearrow/libfirearrowodbc.so

Adds the section [Firearrow] to ~/.odbcinst.ini or /etc/odbcinst.ini; everything
else in the file stays. ODBCSYSINI and ODBCINSTINI name another folder and file
for --system, as they do for unixODBC. To use the driver without a data source:
isql -k 'Driver=Firearrow;Dbname=host:path;Uid=…;Pwd=…'";

pub(in crate::odbc) const LIBRARY_HELP: &str =
    "The driver, libfirearrowodbc.so [default: next to this program, or in ../lib]";

pub(in crate::odbc) const UNINSTALL_ABOUT: &str = "Remove the driver from unixODBC's registry";

pub(in crate::odbc) const UNINSTALL_HELP: &str = "\
Examples:
  firearrow odbc uninstall
  sudo firearrow odbc uninstall --system

Data sources and the library are kept.";

pub(in crate::odbc) const ADD_HELP: &str = "\
Examples:
  firearrow odbc dsn add Shop 'firebird://alice@db/shop?wire_crypt=required'
  firearrow odbc dsn add Shop 'Dbname=db:shop;Uid=alice;ReadOnly=Y'
  firearrow odbc dsn add Shop db:shop --replace
  sudo firearrow odbc dsn add Shop db/3050:/data/shop.fdb --system

Adds a section to ~/.odbc.ini (or the file that ODBCINI names) or /etc/odbc.ini.
A password in it makes the file readable for you alone, and is refused with
--system. Applications can give it when they connect.";

pub(in crate::odbc) const REMOVE_HELP: &str = "\
Examples:
  firearrow odbc dsn remove Shop
  sudo firearrow odbc dsn remove Shop --system";

pub(in crate::odbc) const TEST_HELP: &str = "\
Examples:
  firearrow odbc test Shop
  firearrow odbc test 'DSN=Shop;Uid=alice;Pwd=…'
  firearrow odbc test db/3050:/data/shop.fdb
  firearrow odbc test firebird://alice@db/shop --json

Reads the data source and connects with the driver's settings, but without
unixODBC and without the registered library. Executes the statements of
CONNSETTINGS. The exit status is 1 if connecting fails.";

/// How to change what belongs to all users.
pub(in crate::odbc) const FOR_SYSTEM: &str = "use sudo, or --user for this user alone";

/// unixODBC asks the list of users for the folder, not HOME. Containers and `sudo` may set another one.
pub(in crate::odbc) fn advice(file: &Path) -> Option<String> {
    if env::var_os("ODBCINI").is_some_and(|path| !path.is_empty()) {
        return None;
    }
    let home = User::from_uid(Uid::current()).ok()??.dir;
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
