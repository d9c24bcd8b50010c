//! Drivers and data sources of unixODBC, in files of their own.

use crate::command::{Outcome, SECRET, argument, demo, finish, like_a_library, prepare};
use firearrow_testkit::{Generation, Server, Skip, Target, matrix};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A user's folder, with one that stands for /etc.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a folder"));
        fs::create_dir(home.path("etc")).expect("it is new");
        fs::write(home.path("driver.so"), like_a_library("SQLDriverConnect")).expect("it is written");
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("it exists").join(name)
    }

    /// Sets what the driver manager and the command look at.
    fn set(&self, command: &mut Command) {
        command.env("HOME", self.path("")).env("ODBCSYSINI", self.path("etc")).current_dir(self.path(""));
        command.env_remove("ODBCINI").env_remove("ODBCINSTINI");
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Outcome {
        let mut command = prepare(None, &[&["odbc"], arguments].concat());
        self.set(&mut command);
        command.envs(variables.iter().copied());
        finish(command.output().expect("the command starts"))
    }

    fn install(&self, place: &[&str]) -> Outcome {
        self.run(&[&["install", "--library", "driver.so"], place].concat())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

#[test]
fn the_driver_is_registered_and_removed() {
    let home = Home::new();
    let other = "; by hand\n[Other]\nDriver = /usr/lib/other.so\n";
    fs::write(home.path(".odbcinst.ini"), other).expect("it is written");
    let (file, library) = (home.path(".odbcinst.ini"), home.path("driver.so"));
    let outcome = home.install(&[]).success();
    let expected =
        format!("registered driver Firearrow in {}\nlibrary: {}\n", file.display(), library.display());
    assert_eq!(outcome.text(), expected);
    // Without the system's file, unixODBC does not look at that of the user.
    assert!(outcome.stderr.contains("etc/odbcinst.ini"), "{}", outcome.stderr);
    let text = home.read(".odbcinst.ini");
    assert!(text.starts_with(other), "{text}");
    assert!(text.contains("[Firearrow]"), "{text}");
    assert!(
        text.lines().any(|line| line.replace(' ', "") == format!("Driver={}", library.display())),
        "{text}"
    );
    home.install(&["--user"]).success();
    assert_eq!(home.read(".odbcinst.ini"), text);

    let removed = home.run(&["uninstall", "--json"]).success();
    assert_eq!(removed.json()["removed"], argument(&file));
    assert!(!home.read(".odbcinst.ini").contains("Firearrow"));
    assert!(home.read(".odbcinst.ini").contains("/usr/lib/other.so"));
    home.run(&["uninstall"]).failure(1, &["Firearrow is not installed for the user"]);
    home.install(&[]).success();
    let removed = home.run(&["uninstall"]).success();
    assert_eq!(removed.text(), format!("unregistered driver Firearrow in {}\n", file.display()));
}

#[test]
fn status_tells_what_is_missing() {
    let home = Home::new();
    let status = |home: &Home| -> Vec<String> {
        let rows = home.run(&["status", "--json"]).success().json();
        let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or("none").to_owned();
        let row = |row| format!("{} {}: {}", text(row, "scope"), text(row, "name"), text(row, "state"));
        rows.as_array().expect("an array").iter().map(row).collect()
    };
    assert_eq!(status(&home), ["user Firearrow: not_installed", "system Firearrow: not_installed"]);
    let other = "[Other]\nDriver = Other\n";
    fs::write(home.path(".odbc.ini"), other).expect("it is written");
    home.run(&["dsn", "add", "Shop", "db:shop"]).success();
    let shown = home.run(&["status"]).success();
    let lines = shown.text();
    assert!(lines.contains("Shop") && lines.contains("its driver is not installed"), "{lines}");
    assert!(!lines.contains("Other"), "{lines}");
    home.install(&[]).success();
    let installed = ["user Firearrow: installed", "system Firearrow: not_installed", "user Shop: installed"];
    assert_eq!(status(&home), installed);
    let shown = home.run(&["status"]).success();
    assert!(shown.stderr.contains("etc/odbcinst.ini exists"), "{}", shown.stderr);
    fs::remove_file(home.path("driver.so")).expect("it is there");
    assert_eq!(
        status(&home),
        ["user Firearrow: library_missing", "system Firearrow: not_installed", "user Shop: library_missing"]
    );
    let shown = home.run(&["status"]).success();
    let lines = shown.text();
    assert_eq!(lines.matches("driver.so is missing").count(), 2, "{lines}");
    // The system's driver is the one that programs get.
    fs::write(home.path("etc/odbcinst.ini"), "[Firearrow]\nDriver = /bin/sh\n").expect("it is written");
    assert_eq!(
        status(&home),
        ["user Firearrow: library_missing", "system Firearrow: installed", "user Shop: installed"]
    );
}

#[test]
fn the_system_has_files_of_its_own() {
    let home = Home::new();
    let outcome = home.install(&["--system", "--json"]).success();
    assert_eq!(outcome.json()["installed"], argument(&home.path("etc/odbcinst.ini")));
    assert_eq!(outcome.json()["library"], argument(&home.path("driver.so")));
    assert!(!home.path(".odbcinst.ini").exists());
    home.run_with(
        &["install", "--system", "--library", "driver.so"],
        &[("ODBCINSTINI", Path::new("drivers.ini"))],
    )
    .success();
    assert!(home.read("etc/drivers.ini").contains("[Firearrow]"));
    home.run(&["uninstall"]).failure(1, &["for the user"]);
    home.run(&["uninstall", "--system"]).success();
    home.install(&["--user", "--system"]).failure(2, &["cannot be used with"]);
    home.run(&["install", "--library", "no_such.so"]).failure(1, &["no_such.so"]);
    home.run(&["install", "--library", "etc"]).failure(2, &["is not the absolute path of a file"]);
    home.run(&["install", "--library", "/etc/passwd"])
        .failure(2, &["/etc/passwd is not a library", "libfirearrowodbc.so"]);
    fs::write(home.path("other.so"), like_a_library("AdbcDriverFirebirdInit")).expect("it is written");
    home.run(&["install", "--library", "other.so"]).failure(2, &["is a library without SQLDriverConnect"]);
    assert!(!home.path(".odbcinst.ini").exists());
}

#[test]
fn data_sources_come_and_go() {
    let home = Home::new();
    let none = home.run(&["dsn", "list"]).success();
    assert_eq!((none.text(), none.stderr.contains("there are no data sources")), ("", true));
    assert_eq!(home.run(&["dsn", "list", "--json"]).success().json(), serde_json::json!([]));
    let outcome =
        home.run(&["dsn", "add", "Shop", "firebird://alice@db.example:3051/shop?role=clerk"]).success();
    assert_eq!(outcome.text(), format!("added data source Shop to {}\n", home.path(".odbc.ini").display()));
    // HOME is not where unixODBC looks for it.
    assert!(outcome.stderr.contains("unixODBC looks in"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("not registered yet: firearrow odbc install"), "{}", outcome.stderr);
    let text = home.read(".odbc.ini");
    assert!(text.contains("[Shop]") && text.replace(' ', "").contains("Driver=Firearrow\n"), "{text}");

    home.install(&["--system"]).success();
    let outcome = home
        .run(&["dsn", "add", "All", "Dbname=db:shop;ReadOnly=Y;Description=For reports", "--system"])
        .success();
    assert_eq!(outcome.stderr, "");
    assert!(home.read("etc/odbc.ini").replace(' ', "").contains("ReadOnly=Y\n"));
    fs::write(home.path("etc/odbc.ini"), home.read("etc/odbc.ini") + "\n[Other]\nDriver=Another\n")
        .expect("it is written");

    let list = home.run(&["dsn", "list", "--json"]).success().json();
    let facts: Vec<String> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|each| {
            ["name", "scope", "driver", "description"]
                .map(|fact| each[fact].as_str().expect("text"))
                .join("|")
        })
        .collect();
    assert_eq!(facts, ["Shop|user|Firearrow|", "All|system|Firearrow|For reports", "Other|system|Another|"]);
    let table = home.run(&["dsn", "list"]).success();
    assert!(table.text().contains("Shop") && table.text().contains("For reports"), "{}", table.text());

    home.run(&["dsn", "add", "SHOP", "db:x"]).failure(1, &["exists already; --replace replaces it"]);
    let replaced = home.run(&["dsn", "add", "SHOP", "db:new", "--replace"]).success();
    assert!(replaced.text().starts_with("replaced data source SHOP in "), "{}", replaced.text());
    assert!(home.read(".odbc.ini").contains("db:new") && !home.read(".odbc.ini").contains("clerk"));
    home.run(&["dsn", "remove", "All"]).failure(1, &["the user has no data source All", "add --system"]);
    home.run(&["dsn", "remove", "Shop", "--system"]).failure(1, &["leave out --system"]);
    home.run(&["dsn", "remove", "None"]).failure(1, &["firearrow odbc dsn list"]);
    for arguments in [
        &["dsn", "remove", "other", "--system"][..],
        &["dsn", "add", "Other", "db:x", "--system", "--replace"],
    ] {
        home.run(arguments).failure(1, &["a data source of another driver, Another"]);
    }
    assert!(home.read("etc/odbc.ini").contains("[Other]\nDriver=Another\n"));
    let library = home.path("lib/libfirearrowodbc.so");
    fs::write(
        home.path("etc/odbc.ini"),
        home.read("etc/odbc.ini") + &format!("\n[ByHand]\nDriver={}\n", library.display()),
    )
    .expect("it is written");
    home.run(&["dsn", "remove", "ByHand", "--system"]).success();
    let removed = home.run(&["dsn", "remove", "All", "--system"]).success();
    let file = home.path("etc/odbc.ini");
    assert_eq!(removed.text(), format!("removed data source All from {}\n", file.display()));
    let removed = home.run(&["dsn", "remove", "Shop", "--json"]).success();
    assert_eq!(removed.json()["removed"], argument(&home.path(".odbc.ini")));
    assert!(!home.read(".odbc.ini").contains("Shop"));

    let elsewhere = home.path("sources.ini");
    let outcome = home.run_with(&["dsn", "add", "Shop", "db:x"], &[("ODBCINI", &elsewhere)]).success();
    assert_eq!(outcome.stderr, "");
    assert!(home.read("sources.ini").contains("[Shop]"));
}

#[test]
fn data_sources_are_checked() {
    let home = Home::new();
    for (name, text, error) in [
        ("a[b]", "db:x", "the name of a data source"),
        ("ODBC", "db:x", "the name of a data source"),
        ("Shop", "DSN=Other", "cannot refer to another one"),
        ("Shop", "Uid=alice", "no database is named"),
        ("Shop", "Dbname=db:x;WireCrypt=perhaps", "disabled, enabled or required"),
        ("Shop", "Dbname=db:x;Server=other", "SERVER=other contradicts the host db in DBNAME"),
        ("Shop", "Dbname=x;Server=db:3051", "put the port in PORT="),
        ("Shop", "just some text", "names no server and is no full path"),
        ("Shop", "db:shop;ReadOnly=Y", "Dbname=db:shop;ReadOnly=…"),
    ] {
        home.run(&["dsn", "add", name, text]).failure(2, &[error]);
    }
    let outcome = home.run(&["dsn", "add", "Shop", "Dbname=db:x;Nonsense=1"]).success();
    assert!(outcome.stderr.contains("unknown keyword 'Nonsense' ignored"), "{}", outcome.stderr);
    assert!(!home.read(".odbc.ini").contains("Nonsense"));
    for text in ["No such", "DSN=No such;Pwd=x"] {
        home.run(&["test", text])
            .failure(2, &["there is no data source 'No such'", "firearrow odbc dsn list"]);
    }
    // It tries to connect.
    home.run(&["test", "127.0.0.1/1:x"]).failure(1, &["127.0.0.1"]);
    home.run(&["dsn", "add", "Old", "db:x"]).success();
    home.run(&["test", "DSN=Old;Database=/x.fdb"])
        .failure(2, &["names no server, but the data source 'Old' does; give DBNAME=host:path"]);
    home.run(&["test", "DSN=Old;Server=other"]).failure(2, &["contradicts the host db"]);
    home.run(&["test", "Dbname=db:x;Pwd={secret"]).failure(2, &["KEYWORD={a}}b} means a}b"]);
}

#[test]
fn passwords_are_for_one_user() {
    let home = Home::new();
    let text = format!("Dbname=db:x;Uid=alice;Pwd={SECRET}");
    home.run(&["dsn", "add", "Shop", &text, "--system"]).failure(2, &["could read the password"]);
    assert!(!home.path("etc/odbc.ini").exists());
    home.run(&["dsn", "add", "Plain", "db:x"]).success();
    home.run(&["dsn", "add", "Shop", &text]).success();
    assert!(home.read(".odbc.ini").contains(SECRET));
    let mode = fs::metadata(home.path(".odbc.ini")).expect("it exists").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A database as a connection string.
fn database(target: &Target, url: &str) -> String {
    match target {
        Target::Wire(_) => format!("Dbname={url}"),
        Target::Embedded(embedded) => format!("Dbname={url};Client={}", embedded.engine.display()),
    }
}

matrix!(
    all,
    fn a_test_shows_what_was_negotiated(target: &Target) {
        let home = Home::new();
        let text = database(target, &demo(target, "10"));
        home.run(&["dsn", "add", "Demo", &format!("{text};ConnSettings={{CREATE TABLE NEW_ONE (A INT)}}")])
            .success();
        let found = home.run(&["test", "Demo", "--json"]).success().json();
        let version = found["engine_version"].as_str().expect("text");
        assert!(version.starts_with(target.generation().number()), "{found}");
        assert_eq!(found["connection_charset"], "UTF8");
        assert_eq!(found["set_bind"], "TIME ZONE TO LEGACY");
        match target {
            Target::Wire(server) => {
                assert_eq!(found["user"], Server::USER);
                assert_eq!(found["encrypted"], true);
                assert!(
                    found["server"].as_str().is_some_and(|text| text.starts_with("127.0.0.1:")),
                    "{found}"
                );
                assert!(
                    found["protocol"].as_u64().is_some_and(|protocol| protocol >= 15),
                    "{found} {server:?}"
                );
            }
            Target::Embedded(_) => assert_eq!(found["server"], serde_json::Value::Null),
        }
        // The statement was executed: the table exists by now.
        home.run(&["test", "Demo"]).failure(1, &["CONNSETTINGS 'CREATE TABLE NEW_ONE (A INT)': ", "NEW_ONE"]);
        let outcome = home.run(&["test", &text]).success();
        assert!(outcome.text().contains("type binding"), "{}", outcome.text());
        // Firebird 3 has no such rules, and skips them.
        if target.generation() != Generation::V3_0 {
            home.run(&["test", &format!("{text};SetCompatBind=NONSENSE")])
                .failure(1, &["SETCOMPATBIND: ", "NONSENSE"]);
        }
        if let Target::Wire(_) = target {
            let wrong = format!("{text};Pwd={SECRET}");
            home.run(&["test", &wrong]).failure(1, &["password"]);
            let file = home.path("password");
            fs::write(&file, Server::PASSWORD).expect("it is written");
            home.run(&["test", &text, "--password-file", argument(&file)])
                .failure(2, &["the data source or connection string has a password, too"]);
            let none = text.replace(&format!(":{}@", Server::PASSWORD), "@");
            home.run_with(&["test", &none], &[("FIREARROW_PASSWORD", Path::new(SECRET))])
                .failure(1, &["password"]);
            let variables = [
                ("FIREARROW_PASSWORD", Path::new(SECRET)),
                ("FIREARROW_PASSWORD_FILE", Path::new("/nosuch")),
            ];
            home.run_with(&["test", &none, "--password-file", argument(&file)], &variables).success();
        }
    },
    fn a_registered_driver_serves_isql(target: &Target) -> Result<(), Skip> {
        let home = Home::new();
        let mut isql = Command::new("isql");
        home.set(&mut isql);
        // Without it, unixODBC looks where the list of users says, not in HOME.
        isql.env("ODBCINI", home.path(".odbc.ini"));
        isql.args(["Demo", "-b", "-d|"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let url = demo(target, "10");
        let library =
            std::env::current_exe().expect("a test has a path").with_file_name("libfirearrowodbc.so");
        home.run(&["install", "--system", "--library", argument(&library)]).success();
        home.run(&["dsn", "add", "Demo", &database(target, &url)]).success();
        let Ok(mut client) = isql.spawn() else {
            return Err(Skip { name: target.to_string(), reason: "no isql: install unixodbc".into() });
        };
        let mut input = client.stdin.take().expect("a pipe");
        input.write_all(b"SELECT COUNT(*), MIN(ID) FROM T_WIDE\n").expect("it reads");
        drop(input);
        let output = client.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.lines().next().is_some_and(|line| line.starts_with("10|")),
            "{text}"
        );
        Ok(())
    },
);
