use super::configure::{Mistake, Request, configure_in};
use super::*;
use crate::setup::{
    DataSource, Written, add_data_source_in, data_source_in, install_in, installed_in, list_in,
    remove_data_source_in,
};
use std::fs;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Keys of this test alone, which stand for those of the user, of the system and of 32-bit programs.
pub(in crate::setup) struct Place {
    keys: key::Place,
    folder: TempDir,
    pub(in crate::setup) registry: Registry,
}

pub(in crate::setup) fn place() -> Place {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let keys = key::Place::of_user(r"SOFTWARE").at(&format!("firearrow-test-{}-{number}", process::id()));
    let registry = Registry { user: keys.at("user"), system: keys.at("system"), system_32: keys.at("32") };
    let place = Place { keys, folder: tempfile::tempdir().expect("a folder"), registry };
    for scope in [Scope::User, Scope::System] {
        let library = place.library("firearrowodbc.dll", 0x8664);
        install_in(&place.registry, scope, &library).expect("installed");
    }
    place
}

impl Drop for Place {
    fn drop(&mut self) {
        let name = self.keys.path();
        let name = name.file_name().and_then(|name| name.to_str()).expect("as it was made").to_owned();
        key::Place::of_user("SOFTWARE").remove_key(&name).expect("mine");
    }
}

impl Place {
    pub(in crate::setup) fn add(&self, name: &str, text: &str, scope: Scope) -> io::Result<Written> {
        add_data_source_in(&self.registry, name, text, scope, false)
    }

    /// A file that looks like a library for a kind of machine.
    fn library(&self, name: &str, machine: u16) -> PathBuf {
        let mut file = [0; 0x40 + 24];
        file[..2].copy_from_slice(b"MZ");
        file[0x3c] = 0x40;
        file[0x40..0x44].copy_from_slice(b"PE\0\0");
        file[0x44..0x46].copy_from_slice(&machine.to_le_bytes());
        file[0x40 + 22..].copy_from_slice(&0x2000_u16.to_le_bytes());
        let path = self.folder.path().join(name);
        fs::write(&path, [&file[..], b"SQLDriverConnect"].concat()).expect("it can be written");
        path
    }

    fn list(&self, kind: Kind, scope: Scope) -> Entries {
        let values = self.registry.place(kind, scope).at(list_of(kind)).values();
        values.expect("read").unwrap_or_default()
    }
}

fn pairs(list: &[(&str, &str)]) -> Entries {
    list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

#[test]
fn the_driver_is_installed_and_removed() {
    let place = place();
    let registry = &place.registry;
    for scope in [Scope::System, Scope::User] {
        let library = place.library("new.dll", 0x8664);
        let key = registry.place(Kind::Driver, scope).at(DRIVER);
        // A newer version keeps what was added by hand.
        key.set(&[("CPTimeout", "60")]).expect("mine");
        let written = install_in(registry, scope, &library).expect("installed");
        assert!(written.replaced);
        assert!(written.file.ends_with(r"ODBCINST.INI\Firearrow"), "{}", written.file.display());
        assert_eq!(written.remarks.is_empty(), scope == Scope::System, "{:?}", written.remarks);
        assert_eq!(installed_in(registry, scope).expect("read"), Some(library.clone()));
        let entries = registry.entries(Kind::Driver, scope, DRIVER).expect("read").expect("it is there");
        let path = library.to_str().expect("it is text");
        for (name, value) in [("Driver", path), ("Setup", path), ("CPTimeout", "60"), ("FileUsage", "0")] {
            assert_eq!(entry(&entries, name), Some(value), "{name}");
        }
        assert_eq!(place.list(Kind::Driver, scope), pairs(&[(DRIVER, "Installed")]));
        assert_eq!(registry.remove(Kind::Driver, scope, DRIVER).expect("removed"), Some(written.file));
        assert_eq!(place.list(Kind::Driver, scope), []);
        assert_eq!(registry.entries(Kind::Driver, scope, DRIVER).expect("read"), None);
        assert_eq!(registry.remove(Kind::Driver, scope, DRIVER).expect("read"), None);
    }
}

#[test]
fn data_sources_name_the_library() {
    let place = place();
    let registry = &place.registry;
    let user = place.library("user.dll", 0x8664);
    let system = place.library("system.dll", 0x8664);
    install_in(registry, Scope::User, &user).expect("installed");
    install_in(registry, Scope::System, &system).expect("installed");
    let driver = |name| {
        let entries = data_source_in(registry, name).expect("read").expect("it is there");
        entry(&entries, "Driver").map(PathBuf::from).expect("it has a driver")
    };
    place.add("Mine", "h:x", Scope::User).expect("added");
    place.add("All", "h:x", Scope::System).expect("added");
    assert_eq!((driver("Mine"), driver("All")), (user, system.clone()));
    registry.remove(Kind::Driver, Scope::User, DRIVER).expect("removed");
    place.add("Mine too", "h:x", Scope::User).expect("added");
    assert_eq!(driver("Mine too"), system);
    registry.remove(Kind::Driver, Scope::System, DRIVER).expect("removed");
    for (scope, command) in [(Scope::User, "odbc install"), (Scope::System, "odbc install --system")] {
        let error = place.add("None", "h:x", scope).expect_err("no driver");
        assert!(error.to_string().ends_with(command), "{error}");
    }
}

#[test]
fn data_sources_are_added_and_removed() {
    let place = place();
    let registry = &place.registry;
    let name = "Магазин 商店";
    let written = place.add(name, "Dbname=h:y;uid=Алиса;Description=d", Scope::User).expect("added");
    assert!(!written.replaced && written.file.ends_with(format!(r"ODBC.INI\{name}")));
    let found = data_source_in(registry, name).expect("read").expect("it is there");
    for (name, value) in [("Dbname", "h:y"), ("User", "Алиса"), ("Description", "d")] {
        assert_eq!(entry(&found, name), Some(value));
    }
    assert_eq!(place.list(Kind::DataSource, Scope::User), pairs(&[(name, DRIVER)]));
    place.add("Shop", "h:z", Scope::System).expect("added");
    let library = |name: &str| {
        let entries = data_source_in(registry, name).expect("read").expect("it is there");
        Some(entry(&entries, "Driver").expect("it names its library").into())
    };
    let of = |name: &str, scope, description: &str| DataSource {
        name: name.into(),
        scope,
        driver: DRIVER.into(),
        library: library(name),
        description: description.into(),
    };
    let expected = [of(name, Scope::User, "d"), of("Shop", Scope::System, "")];
    assert_eq!(list_in(registry).expect("read"), expected);
    let error = place.add("SHOP", "h:x", Scope::System).expect_err("it exists");
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    let again = add_data_source_in(registry, "SHOP", "h:new", Scope::System, true).expect("replaced");
    assert!(again.replaced);
    let found = data_source_in(registry, "shop").expect("read").expect("it is there");
    assert_eq!(entry(&found, "Dbname"), Some("h:new"));
    for (name, scope) in [("shop", Scope::System), (name, Scope::User)] {
        assert!(remove_data_source_in(registry, name, scope).expect("removed").is_some());
        assert!(remove_data_source_in(registry, name, scope).expect("read").is_none());
    }
    assert_eq!(list_in(registry).expect("read"), []);
}

#[test]
fn the_lists_are_no_data_sources() {
    let place = place();
    place.add("Shop", "h:x", Scope::User).expect("added");
    for name in ["", "ODBC Data Sources", "odbc", r"Shop\..", r"..\ODBCINST.INI", "Sh\0op"] {
        assert_eq!(data_source_in(&place.registry, name).expect("none"), None, "{name}");
        assert_eq!(remove_data_source_in(&place.registry, name, Scope::User).expect("none"), None);
    }
    assert_eq!(list_in(&place.registry).expect("read").len(), 1);
    assert!(installed_in(&place.registry, Scope::User).expect("read").is_some());
}

#[test]
fn those_of_32_bit_programs_are_told_apart() {
    let place = place();
    let registry = &place.registry;
    let library = place.library("old.dll", 0x014c);
    let error = install_in(registry, Scope::User, &library).expect_err("the wrong word size");
    assert!(error.to_string().contains("a library for 32-bit programs"), "{error}");
    registry.system_32.at("ODBC.INI").at("Old").set(&[("Driver", "x.dll")]).expect("mine");
    let path = library.to_str().expect("it is text");
    registry.place(Kind::DataSource, Scope::User).at("Mine").set(&[("Driver", path)]).expect("mine");
    for name in ["old", "Mine"] {
        let error = data_source_in(registry, name).expect_err("32-bit");
        assert!(error.to_string().starts_with(&format!("{name} is a 32-bit data source")), "{error}");
    }
    // One of the same name for 64-bit programs hides it.
    place.add("Old", "h:x", Scope::System).expect("added");
    assert!(data_source_in(registry, "Old").expect("read").is_some());
}

#[test]
fn passwords_are_for_their_owner_only() {
    let place = place();
    let error = place.add("a", "DBNAME=h:x;PWD=secret", Scope::System).expect_err("all could read it");
    assert!(error.to_string().contains("could read the password"), "{error}");
    place.add("a", "DBNAME=h:x;PWD=secret", Scope::User).expect("added");
}

#[test]
fn many_can_add_data_sources_at_once() {
    let place = place();
    std::thread::scope(|scope| {
        for number in 0..30 {
            let place = &place;
            scope.spawn(move || {
                let name = format!("N{number}");
                place.add(&name, "h:x", Scope::User).expect("added");
                if number % 3 == 0 {
                    let removed = remove_data_source_in(&place.registry, &name, Scope::User);
                    assert!(removed.expect("written").is_some());
                }
            });
        }
    });
    assert_eq!(list_in(&place.registry).expect("read").len(), 20);
}

#[test]
fn the_installer_adds_changes_and_removes_data_sources() {
    let place = place();
    let registry = &place.registry;
    let ask = |request, scope, list: &[(&str, &str)]| {
        configure_in(registry, request, scope, "Firearrow", pairs(list)).map_err(|(mistake, _)| mistake)
    };
    let entries = |scope, name| registry.entries(Kind::DataSource, scope, name).expect("read");
    let given = [("dsn", "Shop"), ("Dbname", "h:x"), ("UID", "alice"), ("Description", "d")];
    for scope in [Scope::User, Scope::System] {
        assert_eq!(ask(Request::Add, scope, &given), Ok(()));
        // As the standard says of calls without a window.
        assert_eq!(ask(Request::Add, scope, &given), Ok(()));
        assert_eq!(ask(Request::Change, scope, &[("DSN", "Shop"), ("DATABASE", "h:y")]), Ok(()));
        let found = entries(scope, "Shop").expect("it is there");
        for (name, value) in [("Dbname", "h:y"), ("User", "alice"), ("Description", "d")] {
            assert_eq!(entry(&found, name), Some(value), "{found:?}");
        }
        assert_eq!(entry(&found, "Driver").map(PathBuf::from), installed_in(registry, scope).expect("read"));
        assert_eq!(place.list(Kind::DataSource, scope), pairs(&[("Shop", "Firearrow")]));
        assert_eq!(ask(Request::Remove, scope, &[("DSN", "shop")]), Ok(()));
        assert_eq!(entries(scope, "Shop"), None);
        assert_eq!(ask(Request::Remove, scope, &[("DSN", "shop")]), Err(Mistake::DataSource));
        assert_eq!(ask(Request::Change, scope, &given), Err(Mistake::DataSource));
    }
    for (list, mistake) in [
        (&[("Dbname", "h:x")][..], Mistake::Keyword),
        (&[("DSN", "")], Mistake::Keyword),
        (&[("DSN", "a;b"), ("Dbname", "h:x")], Mistake::DataSource),
        (&[("DSN", "Shop"), ("ReadOnly", "maybe"), ("Dbname", "h:x")], Mistake::Keyword),
        (&[("DSN", "Shop")], Mistake::Keyword),
    ] {
        assert_eq!(ask(Request::Add, Scope::User, list), Err(mistake), "{list:?}");
    }
    let secret = [("DSN", "Shop"), ("Dbname", "h:x"), ("PWD", "secret")];
    assert_eq!(ask(Request::Add, Scope::System, &secret), Err(Mistake::Keyword));
    assert_eq!(ask(Request::Add, Scope::User, &secret), Ok(()));
}
