//! Windows' driver manager, and its registry.

use std::path::Path;

pub(in crate::odbc) const INSTALL_ABOUT: &str = "Register the driver with Windows, under the name Firearrow";

pub(in crate::odbc) const INSTALL_HELP: &str = r#"Examples:
  firearrow odbc install
  firearrow odbc install --system
  firearrow odbc install --library C:\Firearrow\firearrowodbc.dll

--system needs an administrator's console. It adds HKLM\SOFTWARE\ODBC\
ODBCINST.INI\Firearrow, where Windows looks for drivers: the ODBC administrator
shows it, and connection strings can name it:
Driver=Firearrow;Dbname=host:path;Uid=…;Pwd=…
Without --system, the driver works in your own data sources only, which name its
library."#;

pub(in crate::odbc) const LIBRARY_HELP: &str =
    "The driver, firearrowodbc.dll [default: next to this program]";

pub(in crate::odbc) const UNINSTALL_ABOUT: &str = "Remove the driver from Windows' registry";

pub(in crate::odbc) const UNINSTALL_HELP: &str = "\
Examples:
  firearrow odbc uninstall
  firearrow odbc uninstall --system

--system needs an administrator's console. Data sources and the library stay.";

pub(in crate::odbc) const ADD_HELP: &str = r#"Examples:
  firearrow odbc dsn add Shop "firebird://alice@db/shop?wire_crypt=required"
  firearrow odbc dsn add Shop "Dbname=db:shop;Uid=alice;ReadOnly=Y"
  firearrow odbc dsn add Shop db:shop --replace
  firearrow odbc dsn add Shop db/3050:C:\data\shop.fdb --system

Adds a key to HKCU\SOFTWARE\ODBC\ODBC.INI, or to HKLM\SOFTWARE\ODBC\ODBC.INI
with --system, which needs an administrator's console. It is a data source of
64-bit programs. A password in it can be read by you and administrators, and is
refused with --system. Applications can give it when they connect."#;

pub(in crate::odbc) const REMOVE_HELP: &str = "\
Examples:
  firearrow odbc dsn remove Shop
  firearrow odbc dsn remove Shop --system";

pub(in crate::odbc) const TEST_HELP: &str = r#"Examples:
  firearrow odbc test Shop
  firearrow odbc test "DSN=Shop;Uid=alice;Pwd=…"
  firearrow odbc test db/3050:C:\data\shop.fdb
  firearrow odbc test firebird://alice@db/shop --json

Reads the data source and connects with the driver's settings, but without
Windows' driver manager and without the registered library. Executes the
statements of CONNSETTINGS. The exit status is 1 if connecting fails."#;

/// How to change what belongs to all users.
pub(in crate::odbc) const FOR_SYSTEM: &str = "use an administrator's console, or --user for this user alone";

/// Everybody finds the registry.
pub(in crate::odbc) fn advice(_: &Path) -> Option<String> {
    None
}
