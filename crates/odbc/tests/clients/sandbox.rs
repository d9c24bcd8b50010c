//! A database, a driver manager's configuration, and the programs that run with them.

use crate::fixture;
use firearrow::{Config, Connection};
use firearrow_testkit::{Skip, Target};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The name under which clients find the database.
pub(crate) const DSN: &str = "fb";

/// No client may hang.
const LIMIT: Duration = Duration::from_secs(180);

/// A new database with the tables of [`fixture`], and a folder with `odbcinst.ini`, `odbc.ini` and what clients write.
pub(crate) struct Sandbox {
    folder: TempDir,
    config: Config,
    /// Keywords and values that lead to the database.
    entries: Vec<String>,
    generation: u8,
}

impl Sandbox {
    pub(crate) fn new(target: &Target) -> Self {
        let url = target.fresh_url();
        let mut config = Config::parse(&url).expect("the testkit's URLs are valid");
        let mut entries = vec![format!("Dbname={url}")];
        if let Target::Embedded(embedded) = target {
            config.client_library = Some(embedded.engine.display().to_string());
            entries.push(format!("Client={}", embedded.engine.display()));
        }
        let generation = target.generation().major();
        let connection = Connection::create(&config).expect("a fresh database can be created");
        for sql in fixture::statements(generation) {
            connection.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        // The embedded engine has the file to itself: clients could not open it.
        connection.close().expect("nothing is open");

        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is new");
        write("odbcinst.ini", &format!("[Firearrow]\nDriver={}\n", library().display()));
        write("odbc.ini", &format!("[{DSN}]\nDriver=Firearrow\n{}\n", entries.join("\n")));
        Self { folder, config, entries, generation }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What leads to the database without a data source.
    pub(crate) fn connection_string(&self) -> String {
        self.entries.join(";")
    }

    /// A program that sees the data source, with nothing in its environment that depends on the machine.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env("ODBCSYSINI", self.folder()).env("ODBCINI", self.folder().join("odbc.ini"));
        command.env("HOME", self.folder()).env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
        // Users and passwords would come from these; the embedded engine keeps its root in the cache folder.
        for name in ["ISC_USER", "ISC_PASSWORD", "FIREARROW_USER", "FIREARROW_PASSWORD"] {
            command.env_remove(name);
        }
        command.env("FIREBIRD_MAJOR", self.generation.to_string());
        command.current_dir(self.folder());
        command
    }

    /// A program with one of our scripts.
    pub(crate) fn script(&self, program: impl AsRef<Path>, name: &str) -> Command {
        let mut command = self.command(program);
        command.arg(script(name));
        command
    }

    /// Runs a client with this input, which must succeed, and returns what it printed.
    pub(crate) fn run(&self, mut command: Command, input: &str) -> String {
        let file = |name: &str| {
            let path = self.folder().join(name);
            File::options().create(true).truncate(true).read(true).write(true).open(path).expect("writable")
        };
        let (mut output, errors) = (file("output"), file("errors"));
        fs::write(self.folder().join("input"), input).expect("writable");
        let input = File::open(self.folder().join("input")).expect("it was just written");
        command.stdin(input).stdout(output.try_clone().expect("a file")).stderr(errors);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let status = wait(&mut child);
        let mut text = Vec::new();
        output.rewind().and_then(|()| output.read_to_end(&mut text)).expect("a file");
        let text = String::from_utf8_lossy(&text).into_owned();
        let errors = fs::read(self.folder().join("errors")).expect("a file");
        assert!(
            status.as_deref() == Some("0"),
            "{command:?} ended with {status:?}\n{text}\n{}",
            String::from_utf8_lossy(&errors)
        );
        text
    }

    /// Runs a script that checks by itself what it sees, and ends with `ok`.
    pub(crate) fn check(&self, command: Command) {
        let output = self.run(command, "");
        assert_eq!(output.lines().last(), Some("ok"), "{output}");
    }

    /// Connects without ODBC. A process that another test is just starting may still have the file of an engine open.
    fn open(&self) -> Connection {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            match Connection::open(&self.config) {
                Ok(connection) => return connection,
                Err(error) if error.to_string().contains("another process") && Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(50));
                }
                Err(error) => panic!("the database exists: {error}"),
            }
        }
    }

    /// The single value of a query, read without ODBC.
    pub(crate) fn value(&self, sql: &str) -> String {
        let connection = self.open();
        let value = connection.query(sql).and_then(|cursor| cursor.value::<String>());
        let value = value.unwrap_or_else(|error| panic!("{sql}: {error}"));
        connection.close().expect("nothing is open");
        value
    }
}

/// Waits for the end of a client; returns its exit status, or `None` if it had to be killed.
fn wait(child: &mut Child) -> Option<String> {
    let deadline = Instant::now() + LIMIT;
    loop {
        match child.try_wait().expect("it is our child") {
            Some(status) => {
                return Some(status.code().map_or_else(|| status.to_string(), |code| code.to_string()));
            }
            None if Instant::now() > deadline => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// The path of one of our scripts.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/scripts").join(name)
}

/// The library that cargo has built together with this test.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let name = format!("{}firearrowodbc{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = test.parent().expect("a folder").join(name);
    assert!(library.exists(), "{} is missing", library.display());
    library
}

/// Finds a program, or says which package has it.
pub(crate) fn program(name: &str, package: &str, target: &Target) -> Result<PathBuf, Skip> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| skip(target, format!("no {name}: install {package}")))
}

/// A test that cannot run here.
pub(crate) fn skip(target: &Target, reason: impl Into<String>) -> Skip {
    Skip { name: target.to_string(), reason: reason.into() }
}

/// Finds out whether a program succeeds with these arguments. Asks once per process.
pub(crate) fn works(program: &Path, arguments: &[&str]) -> bool {
    static KNOWN: Mutex<Vec<(String, bool)>> = Mutex::new(Vec::new());
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let name = format!("{command:?}");
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, works)) = known.iter().find(|(known, _)| *known == name) {
        return *works;
    }
    let works = command.status().is_ok_and(|status| status.success());
    known.push((name, works));
    works
}

/// The Python of the repository's environment, if it has this module.
pub(crate) fn python(module: &str, target: &Target) -> Result<PathBuf, Skip> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = std::env::var_os("FIREARROW_TEST_PYTHON")
        .map_or_else(|| repository.join(".venv-python/bin/python"), PathBuf::from);
    // It needs libodbc.so.2, too.
    match works(&python, &["-c", &format!("import {module}")]) {
        true => Ok(python),
        false => Err(skip(target, format!("no Python module {module}: run `make setup`"))),
    }
}
