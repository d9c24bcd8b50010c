//! The driver's manifest, in folders of their own.

use crate::command::{Outcome, argument, finish, like_a_library, prepare};
use std::fs;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "adbc/drivers/firebird.toml";

/// Folders that stand for those of a user.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a folder"));
        fs::write(home.library(), like_a_library("AdbcDriverFirebirdInit")).expect("it is written");
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("it exists").join(name)
    }

    fn library(&self) -> PathBuf {
        self.path("lib \"ü\".so")
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Outcome {
        let mut command = prepare(None, &[&["adbc"], arguments].concat());
        command.env("HOME", self.path("")).current_dir(self.path(""));
        for name in ["XDG_CONFIG_HOME", "VIRTUAL_ENV", "ADBC_DRIVER_PATH"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        finish(command.output().expect("the command starts"))
    }

    fn install(&self, place: &[&str], variables: &[(&str, &Path)]) -> Outcome {
        let library = self.library();
        self.run(&[&["install", "--library", argument(&library)], place].concat(), variables)
    }
}

#[test]
fn a_manifest_names_the_library() {
    let home = Home::new();
    let manifest = home.path(".config").join(MANIFEST);
    let outcome = home.install(&[], &[]).success();
    let library = home.library();
    assert_eq!(
        outcome.text(),
        format!("installed: {}\nlibrary: {}\n", manifest.display(), library.display())
    );
    let text = fs::read_to_string(&manifest).expect("it is there");
    for line in [
        "manifest_version = 1".to_owned(),
        format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
        "entrypoint = \"AdbcDriverFirebirdInit\"".into(),
        format!("shared = {}", serde_json::Value::from(argument(&library))),
    ] {
        assert!(text.lines().any(|each| each == line), "no {line} in {text}");
    }
    // Once more, from the folder of the library.
    home.run(&["install", "--user", "--library", "lib \"ü\".so"], &[]).success();
    assert_eq!(fs::read_to_string(&manifest).expect("it is there"), text);
    let removed = home.run(&["uninstall", "--json"], &[]).success();
    assert_eq!(removed.json()["removed"], argument(&manifest));
    assert!(!manifest.exists());
    home.run(&["uninstall"], &[]).failure(1, &["firebird.toml: there is none", "adbc status"]);
}

#[test]
fn places_are_those_of_driver_managers() {
    let home = Home::new();
    let (settings, environment) = (home.path("settings"), home.path("environment"));
    home.install(&["--user"], &[("XDG_CONFIG_HOME", &settings)]).success();
    assert!(settings.join(MANIFEST).is_file());
    home.install(&["--venv"], &[("VIRTUAL_ENV", &environment)]).success();
    assert!(environment.join("etc").join(MANIFEST).is_file());
    home.install(&["--venv"], &[]).failure(2, &["VIRTUAL_ENV"]);
    home.install(&["--venv", "--system"], &[]).failure(2, &["cannot be used with"]);
    assert!(!home.path(".config").exists());
}

#[test]
fn the_status_tells_what_is_found() {
    let home = Home::new();
    let (other, environment) = (home.path("other"), home.path("environment"));
    home.install(&["--venv"], &[("VIRTUAL_ENV", &environment)]).success();
    home.install(&[], &[]).success();
    let manifest = home.path(".config").join(MANIFEST);
    let text = fs::read_to_string(&manifest).expect("it is there");
    fs::write(&manifest, text.replace("lib \\\"", "gone \\\"")).expect("it is written");
    fs::create_dir_all(&other).expect("it is made");
    fs::write(other.join("firebird.toml"), "[Driver]\nshared = '/x.so'\n").expect("it is written");
    let variables = [("VIRTUAL_ENV", environment.as_path()), ("ADBC_DRIVER_PATH", other.as_path())];
    let found = home.run(&["status", "--json"], &variables).success().json();
    let states: Vec<(&str, &str)> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|each| (each["place"].as_str().expect("text"), each["state"].as_str().expect("text")))
        .collect();
    let expected = [("ADBC_DRIVER_PATH", "foreign"), ("venv", "installed"), ("user", "library_missing")];
    assert_eq!(states[..3], expected);
    assert_eq!(states[3].0, "system");
    assert_eq!(found[1]["library"], argument(&home.library()));
    let outcome = home.run(&["status"], &variables).success();
    for words in ["another driver", "is missing", argument(&home.library())] {
        assert!(outcome.text().contains(words), "{}", outcome.text());
    }
    let nothing = Home::new();
    assert_eq!(nothing.run(&["status", "--json"], &[]).success().json()[0]["state"], "not_installed");
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let home = Home::new();
    let manifest = home.path(".config").join(MANIFEST);
    fs::create_dir_all(manifest.parent().expect("a folder")).expect("it is made");
    fs::write(&manifest, "[Driver]\nshared = '/x.so'\n").expect("it is written");
    home.install(&[], &[]).failure(1, &["another driver"]);
    home.run(&["uninstall"], &[]).failure(1, &["another driver"]);
    assert_eq!(fs::read_to_string(&manifest).expect("it is there"), "[Driver]\nshared = '/x.so'\n");
    fs::remove_file(&manifest).expect("it is removed");
    home.run(&["install", "--library", "no_such.so"], &[]).failure(1, &["no_such.so"]);
    home.run(&["install", "--library", "."], &[]).failure(1, &["is not a file"]);
    home.run(&["install", "--library", "/etc/passwd"], &[]).failure(1, &["/etc/passwd is not a library"]);
    fs::write(home.path("other.so"), like_a_library("SQLDriverConnect")).expect("it is written");
    let texts = ["is a library without AdbcDriverFirebirdInit", "the driver is"];
    home.run(&["install", "--library", "other.so"], &[]).failure(1, &texts);
    assert!(!manifest.exists());
}
