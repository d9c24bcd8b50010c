//! The root folder of a private server.
//!
//! ```text
//! firearrow-test-3.0-XXXXXX/   FIREBIRD
//!   firebird.conf databases.conf
//!   plugins intl lib …    links to the installation, or copies of it
//!   security.fdb          with SYSDBA (Srp) and LEGACYTEST (Legacy_UserManager)
//!   lock/                 FIREBIRD_LOCK
//!   tmp/                  FIREBIRD_TMP
//!   data/                 databases of tests
//!   output.log            what the server printed, beside its own firebird*.log
//! ```

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use super::installation::{Installation, Security};
use super::{conf, tool};
use crate::leftover::Folder;
use crate::{Generation, Server, ServerConfig, cache};

/// A private root folder and the environment that makes programs use it.
#[derive(Debug)]
pub(super) struct Root {
    folder: Folder,
    installation: Installation,
    /// Where this server's part of the log begins: all servers share a log whose path is compiled in.
    log_begin: u64,
}

impl Root {
    pub(super) fn create(installation: &Installation) -> io::Result<Self> {
        let folder = Folder::new(installation.generation.number())?;
        let path = folder.path();
        for name in ["lock", "tmp", "data"] {
            fs::create_dir(path.join(name))?;
        }
        fs::write(
            path.join("databases.conf"),
            format!("{} = {}\n", Server::ALIAS, path.join("data/alias.fdb").display()),
        )?;
        for name in ["plugins", "plugins.conf", "intl", "firebird.msg", "lib", "tzdata"] {
            let (from, to) = (installation.base.join(name), path.join(name));
            if from.is_dir() && installation.generation < Generation::V5_0 {
                copy_files(&from, &to)?;
            } else if from.exists() {
                symlink(from, to)?;
            }
        }
        let log_begin =
            installation.fixed_log.as_ref().and_then(|log| fs::metadata(log).ok()).map_or(0, |log| log.len());
        let root = Self { folder, installation: installation.clone(), log_begin };
        root.configure(&ServerConfig::default(), 0)?;
        root.create_security_database()?;
        Ok(root)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes `firebird.conf`.
    pub(super) fn configure(&self, config: &ServerConfig, port: u16) -> io::Result<()> {
        fs::write(self.path().join("firebird.conf"), conf::text(config, port, &self.security_database()))
    }

    /// The server program in this root, printing into a file.
    pub(super) fn server(&self) -> io::Result<Command> {
        let output = File::create(self.path().join(OUTPUT))?;
        let mut command = self.in_root(self.installation.server());
        command.stdin(std::process::Stdio::null()).stdout(output.try_clone()?).stderr(output);
        Ok(command)
    }

    /// Runs a script with isql; the first error ends it.
    pub(super) fn isql(&self, arguments: &[&str], script: &str) -> io::Result<String> {
        self.isql_within(TOOL_LIMIT, arguments, script)
    }

    /// As [`isql`](Self::isql), with a time limit.
    pub(super) fn isql_within(
        &self,
        limit: Duration,
        arguments: &[&str],
        script: &str,
    ) -> io::Result<String> {
        let file = tempfile::Builder::new().suffix(".sql").tempfile_in(self.path().join("tmp"))?;
        fs::write(file.path(), script)?;
        let mut command = self.in_root(self.installation.isql());
        command.args(["-quiet", "-bail"]).args(arguments).arg("-input").arg(file.path());
        let Output { status, stdout, stderr } = tool::run(command, limit)?;
        // isql may report an error on stderr and still exit with zero.
        if status.success() && stderr.is_empty() {
            return Ok(String::from_utf8_lossy(&stdout).into_owned());
        }
        Err(io::Error::other(format!("isql: {status}\n{}", String::from_utf8_lossy(&stderr).trim_end())))
    }

    /// Runs gfix. Its findings are no errors of its own.
    pub(super) fn gfix(&self, arguments: &[&str]) -> io::Result<String> {
        let mut command = self.in_root(self.installation.gfix());
        command.args(arguments);
        let Output { status, stdout, stderr } = tool::run(command, TOOL_LIMIT)?;
        let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        if status.success() {
            Ok(said)
        } else {
            Err(io::Error::other(format!("gfix: {status}\n{}", said.trim_end())))
        }
    }

    /// The output of the server so far, for error messages.
    pub(super) fn log(&self) -> String {
        let mut text = String::new();
        for entry in fs::read_dir(self.path()).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "log") {
                text += &String::from_utf8_lossy(&fs::read(entry.path()).unwrap_or_default());
            }
        }
        if let Some(Ok(mut log)) = self.installation.fixed_log.as_ref().map(File::open) {
            let mut part = Vec::new();
            if log.seek(SeekFrom::Start(self.log_begin)).and_then(|_| log.read_to_end(&mut part)).is_ok() {
                text += &String::from_utf8_lossy(&part);
            }
        }
        text
    }

    fn security_database(&self) -> PathBuf {
        self.path().join("security.fdb")
    }

    fn in_root(&self, mut command: Command) -> Command {
        for (name, value) in [
            ("FIREBIRD", self.path().to_owned()),
            ("FIREBIRD_MSG", self.path().to_owned()),
            ("FIREBIRD_LOCK", self.path().join("lock")),
            ("FIREBIRD_TMP", self.path().join("tmp")),
        ] {
            command.env(name, value);
        }
        command.env_remove("ISC_USER").env_remove("ISC_PASSWORD").current_dir(self.path());
        command
    }

    /// Makes the security database, or copies an earlier one: Firebird writes it to disk page by page, which takes longer
    /// than the rest of the start.
    fn create_security_database(&self) -> io::Result<()> {
        let target = self.security_database();
        let tables = match &self.installation.security {
            Security::Script(script) => {
                format!(
                    "CREATE DATABASE '{}' USER SYSDBA PAGE_SIZE 8192;\nIN {};\n",
                    target.display(),
                    script.display()
                )
            }
            Security::Database(database) => {
                fs::copy(database, &target)?;
                format!("CONNECT '{}' USER SYSDBA;\n", target.display())
            }
        };
        let users = format!(
            "CREATE OR ALTER USER {} PASSWORD '{}' USING PLUGIN Srp;\n\
             CREATE OR ALTER USER {} PASSWORD '{}' USING PLUGIN Legacy_UserManager;\n\
             COMMIT;\n",
            Server::USER,
            Server::PASSWORD,
            Server::LEGACY_USER,
            Server::LEGACY_PASSWORD,
        );
        let made = self.cached_security_database(&users);
        if fs::copy(&made, &target).is_err() {
            self.isql(&[], &(tables + &users))?;
            // Best effort: without a writable cache the next start is only slower.
            let _ = publish(&target, &made);
        }
        Ok(())
    }

    fn cached_security_database(&self, users: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        users.hash(&mut hasher);
        let name = format!("{}-{:016x}.fdb", self.installation.build, hasher.finish());
        cache::folder().join("security").join(name)
    }
}

/// Copies `from` to `to` atomically: no process ever sees part of a file.
fn publish(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let part = tempfile::NamedTempFile::new_in(folder)?;
    fs::copy(from, part.path())?;
    part.persist(to)?;
    Ok(())
}

/// Copies the files of a folder, but not those of folders in it, by hard links where that is possible.
///
/// Before 5.0 symbolic links would not do: 4.0 refuses a plugin, and both 3.0 and 4.0 ignore the character sets, whose
/// real path is another one.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let source = entry.path().canonicalize()?;
        if source.is_file() {
            let target = to.join(entry.file_name());
            fs::hard_link(&source, &target).or_else(|_| fs::copy(&source, &target).map(drop))?;
        }
    }
    Ok(())
}

const OUTPUT: &str = "output.log";
/// Far more than any test script takes, and far less than the time limit of a CI job.
const TOOL_LIMIT: Duration = Duration::from_secs(60);
