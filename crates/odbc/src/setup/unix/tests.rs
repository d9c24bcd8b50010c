use super::*;
use crate::setup::{
    DataSource, Written, add_data_source_in, data_source_in, install_in, installed_in, list_in,
};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// A home, a folder for the system, and a registry of both.
pub(in crate::setup) struct Place {
    folder: TempDir,
    pub(in crate::setup) registry: Registry,
}

pub(in crate::setup) fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("etc")).expect("a folder");
    let system = folder.path().join("etc").display().to_string();
    let registry =
        Registry::new(&|name| (name == "ODBCSYSINI").then(|| system.clone()), folder.path().into());
    Place { folder, registry }
}

impl Place {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("it exists")
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).expect("it exists").permissions().mode() & 0o7777
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it can be written");
    }

    pub(in crate::setup) fn add(&self, name: &str, text: &str, scope: Scope) -> io::Result<Written> {
        add_data_source_in(&self.registry, name, text, scope, false)
    }

    /// A file that looks like a library.
    fn library(&self, name: &str) -> PathBuf {
        let program = fs::read(std::env::current_exe().expect("a test has a path")).expect("it can be read");
        fs::write(self.path(name), [&program[..64], b"SQLDriverConnect"].concat())
            .expect("it can be written");
        self.path(name)
    }
}

fn pairs(list: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    Some(list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
}

#[test]
fn the_driver_is_installed_and_removed() {
    let place = place();
    let library = place.library("libfirearrowodbc.so");
    let before = "# mine\n[Other]\nDriver=/x.so\n";
    place.write("etc/odbcinst.ini", before);
    for scope in [Scope::System, Scope::User] {
        assert_eq!(installed_in(&place.registry, scope).expect("read"), None);
        let written = install_in(&place.registry, scope, &library).expect("installed");
        assert!(written.file.is_file());
        assert_eq!(installed_in(&place.registry, scope).expect("read"), Some(library.clone()));
    }
    let section = format!(
        "[Firearrow]\nDescription = Firebird ODBC driver, firearrow {}\nDriver = {}\n",
        env!("CARGO_PKG_VERSION"),
        library.display()
    );
    assert_eq!(place.text(".odbcinst.ini"), section);
    assert_eq!(place.text("etc/odbcinst.ini"), format!("{before}\n{section}"));
    assert_eq!(place.mode(".odbcinst.ini"), 0o644);
    // A newer version keeps what was added by hand.
    place.write("etc/odbcinst.ini", &format!("[FIREARROW]\nCPTimeout = 60\nDriver = /old.so\n{before}"));
    install_in(&place.registry, Scope::System, &library).expect("installed");
    let text = place.text("etc/odbcinst.ini");
    assert!(text.starts_with("[FIREARROW]\nCPTimeout = 60\nDriver = /") && text.ends_with(before), "{text}");
    assert!(!text.contains("old.so"), "{text}");
    let file = place.registry.remove(Kind::Driver, Scope::System, DRIVER).expect("removed");
    assert_eq!(file, Some(place.path("etc/odbcinst.ini")));
    assert_eq!(place.text("etc/odbcinst.ini"), before);
    assert_eq!(place.registry.remove(Kind::Driver, Scope::System, DRIVER).expect("read"), None);
}

#[test]
fn users_are_told_what_unixodbc_needs() {
    let place = place();
    let library = place.library("x.so");
    let install = || install_in(&place.registry, Scope::User, &library).expect("installed").remarks;
    assert!(install()[0].contains("etc/odbcinst.ini exists"));
    place.write("etc/odbcinst.ini", "");
    assert_eq!(install(), Vec::<String>::new());
}

#[test]
fn libraries_are_files_with_a_full_path() {
    let place = place();
    for path in ["x.so", "/no/such/file.so", "/"] {
        let error = install_in(&place.registry, Scope::User, Path::new(path)).expect_err(path);
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
    place.write("passwd", "root:x:0:0:root:/root:/bin/bash\n");
    let error = install_in(&place.registry, Scope::User, &place.path("passwd")).expect_err("text");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(
        error.to_string().contains("passwd is not a library; the driver is the 64-bit library"),
        "{error}"
    );
    assert!(!place.path(".odbcinst.ini").exists());
}

#[test]
fn data_sources_are_found_as_the_driver_manager_finds_them() {
    let place = place();
    place.write(".odbc.ini", "[Shop]\nDriver=Firearrow\nDbname=h:x\n[ODBC]\nTrace=No\n");
    place.write(
        "etc/odbc.ini",
        "[SHOP]\nDbname=h:y\nDescription=hidden\n[Office]\nDriver=Other\nDescription=d\n",
    );
    let find = |name| data_source_in(&place.registry, name).expect("read");
    assert_eq!(find("shop"), pairs(&[("Driver", "Firearrow"), ("Dbname", "h:x")]));
    assert_eq!(find("OFFICE"), pairs(&[("Driver", "Other"), ("Description", "d")]));
    assert_eq!(find("none"), None);
    place.write(".odbcinst.ini", "[Firearrow]\nDriver=/home/me/ours.so\n[Other]\nDriver=/home/me/other.so\n");
    place.write("etc/odbcinst.ini", "[Other]\nDriver=/usr/lib/other.so\n");
    // With drivers, those of the system come first.
    let of = |name: &str, scope, driver: &str, description: &str| DataSource {
        name: name.into(),
        scope,
        driver: driver.into(),
        library: Some(if driver == "Other" { "/usr/lib/other.so" } else { "/home/me/ours.so" }.into()),
        description: description.into(),
    };
    let expected = [of("Shop", Scope::User, "Firearrow", ""), of("Office", Scope::System, "Other", "d")];
    assert_eq!(list_in(&place.registry).expect("read"), expected);
}

#[test]
fn the_environment_moves_the_files() {
    let home = PathBuf::from("/home/me");
    let none = Registry::new(&|_| None, home.clone());
    assert_eq!(none.file(Kind::Driver, Scope::User), Path::new("/home/me/.odbcinst.ini"));
    assert_eq!(none.file(Kind::DataSource, Scope::User), Path::new("/home/me/.odbc.ini"));
    assert!(none.file(Kind::DataSource, Scope::System).ends_with("odbc.ini"));
    let set = |name: &str| match name {
        "ODBCINI" => Some("/a/my.ini".to_owned()),
        "ODBCSYSINI" => Some("/b".to_owned()),
        "ODBCINSTINI" => Some("drivers.ini".to_owned()),
        _ => None,
    };
    let moved = Registry::new(&set, home.clone());
    assert_eq!(moved.file(Kind::DataSource, Scope::User), Path::new("/a/my.ini"));
    assert_eq!(moved.file(Kind::DataSource, Scope::System), Path::new("/b/odbc.ini"));
    assert_eq!(moved.file(Kind::Driver, Scope::System), Path::new("/b/drivers.ini"));
    let empty = Registry::new(&|_| Some(String::new()), home);
    assert_eq!(empty.file(Kind::DataSource, Scope::User), Path::new("/home/me/.odbc.ini"));
}

#[test]
fn data_sources_are_added_and_removed() {
    let place = place();
    let before = "# shops\n[Other]\nDriver = x\n";
    place.write(".odbc.ini", before);
    place.add("Shop", "firebird://alice@h:3051/x?wire_crypt=required", Scope::User).expect("added");
    let text = "Driver={F};dbname=h:y;uid=bob;charset=utf8;ENABLEWIRECOMPRESSION=Y;Description=d;wire_crypt_plugin=Arc4";
    place.add("Shop 2", text, Scope::User).expect("added");
    let written = place.add("Shop3", "h:z", Scope::System).expect("added");
    assert_eq!(written, Written { file: place.path("etc/odbc.ini"), replaced: false, remarks: vec![] });
    let find = |name| data_source_in(&place.registry, name).expect("read");
    let url = "firebird://alice@h:3051/x?wire_crypt=required";
    assert_eq!(find("shop"), pairs(&[("Driver", DRIVER), ("Dbname", url)]));
    let second = [
        ("Driver", DRIVER),
        ("Description", "d"),
        ("Dbname", "h:y"),
        ("User", "bob"),
        ("CharacterSet", "utf8"),
        ("EnableWireCompression", "Y"),
        ("wire_crypt_plugin", "Arc4"),
    ];
    assert_eq!(find("shop 2"), pairs(&second));
    assert_eq!(find("shop3"), pairs(&[("Driver", DRIVER), ("Dbname", "h:z")]));
    let error = place.add("SHOP", "h:x", Scope::User).expect_err("it exists");
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    let again = add_data_source_in(&place.registry, "SHOP 2", "h:new", Scope::User, true).expect("replaced");
    assert!(again.replaced);
    assert_eq!(find("shop 2"), pairs(&[("Driver", DRIVER), ("Dbname", "h:new")]));
    for name in ["shop", "SHOP 2"] {
        assert!(place.registry.remove(Kind::DataSource, Scope::User, name).expect("written").is_some());
    }
    assert_eq!(place.text(".odbc.ini"), before);
    assert_eq!(place.mode(".odbc.ini"), 0o644);
}

#[test]
fn passwords_are_for_their_owner_only() {
    let place = place();
    for (name, text) in [("a", "DBNAME=h:x;PWD=secret"), ("b", "firebird://u:secret@h/x")] {
        let error = place.add(name, text, Scope::System).expect_err(name);
        assert!(error.to_string().contains("could read the password"), "{error}");
        place.add(name, text, Scope::User).expect("added");
        assert_eq!(place.mode(".odbc.ini"), 0o600);
    }
    place.add("c", "h:x", Scope::User).expect("added");
    assert_eq!(place.mode(".odbc.ini"), 0o600, "it still contains one");
    assert!(!place.path("etc/odbc.ini").exists());
    let error = place.add("d", "DBNAME=h:x;PWD={sec\nret}", Scope::User).expect_err("two lines");
    assert!(!error.to_string().contains("sec"), "{error}");
}

#[test]
fn permissions_and_links_stay() {
    let place = place();
    place.write("real.ini", "[A]\nDriver = x\n");
    fs::set_permissions(place.path("real.ini"), fs::Permissions::from_mode(0o640)).expect("mine");
    symlink("real.ini", place.path(".odbc.ini")).expect("a link");
    place.add("B", "h:x", Scope::User).expect("added");
    assert!(fs::symlink_metadata(place.path(".odbc.ini")).expect("a link").is_symlink());
    assert_eq!(place.mode("real.ini"), 0o640);
    assert!(place.text("real.ini").contains("[B]"));
    let files = fs::read_dir(place.folder.path()).expect("a folder").count();
    assert_eq!(files, 3, "no temporary file is left");
}

#[test]
fn errors_name_the_file() {
    let place = place();
    fs::create_dir(place.path(".odbc.ini")).expect("a folder");
    let error = place.add("A", "h:x", Scope::User).expect_err("it is a folder");
    assert!(error.to_string().contains(".odbc.ini: "), "{error}");
    let registry =
        Registry::new(&|name| (name == "ODBCSYSINI").then(|| "/no/such".into()), "/no/such".into());
    let error = add_data_source_in(&registry, "A", "h:x", Scope::System, false).expect_err("no folder");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().starts_with("/no/such/odbc.ini: "), "{error}");
}

#[test]
fn wrong_data_sources_are_refused() {
    let place = place();
    let long = "n".repeat(33);
    for name in ["", " a", "a;b", "a=b", "[a]", "a\nb", "ODBC", "odbc data sources", &long] {
        assert_eq!(place.add(name, "h:x", Scope::User).expect_err(name).kind(), io::ErrorKind::InvalidInput);
    }
    for text in ["", "UID=x", "DSN=Shop", "DBNAME=h:x;READONLY=maybe", "PWD={x", "http://h/x"] {
        assert_eq!(place.add("A", text, Scope::User).expect_err(text).kind(), io::ErrorKind::InvalidInput);
    }
    let written = place.add("A", "DBNAME=h:x;foo=1", Scope::User).expect("added");
    assert_eq!(written.remarks, ["unknown keyword 'foo' ignored"]);
    assert_eq!(place.text(".odbc.ini"), "[A]\nDriver = Firearrow\nDbname = h:x\n");
}

#[test]
fn many_can_add_data_sources_at_once() {
    let place = place();
    place.write(".odbc.ini", "[Other]\nDriver = x\n");
    std::thread::scope(|scope| {
        for number in 0..30 {
            let place = &place;
            scope.spawn(move || {
                place.add(&format!("N{number}"), "h:x", Scope::User).expect("added");
                if number % 3 == 0 {
                    let removed = place.registry.remove(Kind::DataSource, Scope::User, &format!("N{number}"));
                    assert!(removed.expect("written").is_some());
                }
            });
        }
    });
    assert_eq!(list_in(&place.registry).expect("read").len(), 1 + 20);
    let files = fs::read_dir(place.folder.path()).expect("a folder").count();
    assert_eq!(files, 2, "neither locks nor temporary files are left");
}
