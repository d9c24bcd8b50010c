//! Private servers.

#[cfg_attr(not(target_os = "linux"), path = "absent.rs")]
mod local;
mod remote;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::fmt::Debug;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::remote::Remote;
pub(crate) use self::remote::host;
use crate::generation::Failure;
use crate::{Generation, HostAddress, ServerConfig, Skip, system};

/// A running private Firebird server with its own root folder, users, port and databases.
///
/// It ends when the value is dropped, when the process exits (the [`shared`] ones), and when the process is killed
/// (the kernel sees to that, or the [`Host`](crate::Host) where it runs). Its databases go with it.
#[derive(Debug)]
pub struct Server {
    generation: Generation,
    fresh: AtomicU32,
    facts: Facts,
    machine: Box<dyn Machine>,
}

/// What does not change while a server lives.
#[derive(Debug)]
struct Facts {
    build: String,
    port: u16,
    root: PathBuf,
    client_library: Option<PathBuf>,
}

/// What needs the computer where a server runs. Paths are those of that computer.
pub(crate) trait Machine: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// The id of the server process.
    fn process_id(&self) -> u32;

    /// Runs a script with isql.
    fn isql(&self, user: &str, password: &str, database: &Path, script: &str) -> io::Result<String>;

    /// Creates a database with isql, or gives up after `limit`.
    fn create_database(&self, limit: Duration, database: &Path) -> io::Result<()>;

    /// Copies the file of a database that nobody uses.
    fn copy_database(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Validates and repairs a database with gfix.
    fn mend(&self, database: &Path) -> io::Result<String>;

    /// The log of the server so far.
    fn log(&self) -> io::Result<String>;

    /// What the threads of the server wait for.
    fn threads(&self) -> io::Result<String>;

    /// Kills the server and waits for its end.
    fn kill(&self) -> io::Result<()>;

    /// Starts a server that was killed.
    fn restart(&self) -> io::Result<()>;
}

impl Server {
    /// The administrator; logs in with SRP.
    pub const USER: &str = "SYSDBA";
    /// The administrator's password.
    pub const PASSWORD: &str = "masterkey";
    /// A user that can log in with `Legacy_Auth` only.
    pub const LEGACY_USER: &str = "LEGACYTEST";
    /// The password of that user. Firebird cuts such passwords after eight characters.
    pub const LEGACY_PASSWORD: &str = "legacy";
    pub(crate) const HOST: &str = "127.0.0.1";
    /// An alias in the server's `databases.conf`. A test that uses it creates the database first.
    pub const ALIAS: &str = "firearrow";

    /// Starts a server with the default settings.
    ///
    /// # Errors
    /// The generation is not installed here.
    ///
    /// # Panics
    /// It is installed but does not start; the message has the server's log.
    pub fn start(generation: Generation) -> Result<Self, Skip> {
        Self::start_with(generation, &ServerConfig::default())
    }

    /// Starts a server with special settings.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub fn start_with(generation: Generation, config: &ServerConfig) -> Result<Self, Skip> {
        unless_missing(Self::launch(generation, config))
    }

    /// The generation that was asked for.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The version without the build number, `3.0.11`; the same as the engine's `ENGINE_VERSION`.
    pub fn version(&self) -> &str {
        self.build().rsplit_once('.').map_or(self.build(), |(version, _)| version)
    }

    /// The host where it listens.
    pub fn host(&self) -> &'static str {
        Self::HOST
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.facts.port
    }

    /// Where it listens, for a [`Proxy`](crate::Proxy).
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port()).into()
    }

    /// Returns [`USER`](Self::USER).
    pub fn user(&self) -> &'static str {
        Self::USER
    }

    /// Returns [`PASSWORD`](Self::PASSWORD).
    pub fn password(&self) -> &'static str {
        Self::PASSWORD
    }

    /// The id of the server process.
    pub fn process_id(&self) -> u32 {
        self.machine.process_id()
    }

    /// The root folder, which programs of this generation use when it is their `FIREBIRD`.
    pub fn root(&self) -> &Path {
        &self.facts.root
    }

    /// The path of a database called `name`, the same for the server and for the test.
    pub fn database_path(&self, name: &str) -> PathBuf {
        // Not `join`, which writes Windows' separators on Windows.
        format!("{}/data/{}", self.root().display(), file_name(name).display()).into()
    }

    /// The path for a new database: no call returns the same twice.
    pub fn fresh_database_path(&self) -> PathBuf {
        let number = self.fresh.fetch_add(1, Ordering::Relaxed);
        self.database_path(&format!("fresh{number}"))
    }

    /// A connection string for the database called `name`.
    pub fn url(&self, name: &str) -> String {
        self.url_at(self.address(), &self.database_path(name))
    }

    /// A connection string through `address`, such as a proxy's.
    pub fn url_at(&self, address: SocketAddr, database: &Path) -> String {
        format!("firebird://{}:{}@{address}/{}", Self::USER, Self::PASSWORD, database.display())
    }

    /// A client library of this generation that this process can load, for comparisons.
    pub fn client_library(&self) -> Option<&Path> {
        self.facts.client_library.as_deref()
    }

    /// Runs `script` with the generation's own isql, connected through TCP; the first error ends it.
    ///
    /// # Errors
    /// What isql reported, or that it took longer than a minute.
    pub fn isql(&self, database: &Path, script: &str) -> io::Result<String> {
        self.isql_as(Self::USER, Self::PASSWORD, database, script)
    }

    /// As [`isql`](Self::isql), for another user.
    ///
    /// # Errors
    /// As [`isql`](Self::isql).
    pub fn isql_as(&self, user: &str, password: &str, database: &Path, script: &str) -> io::Result<String> {
        self.machine.isql(user, password, database, script)
    }

    /// Creates an empty database with isql, so that a test can begin with connecting.
    ///
    /// # Errors
    /// As [`isql`](Self::isql).
    pub fn create_database(&self, path: &Path) -> io::Result<()> {
        self.machine.create_database(CREATE_LIMIT, path)
    }

    /// Copies the file of a database that nobody uses.
    pub(crate) fn copy_database(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.machine.copy_database(from, to)
    }

    /// Validates a database that nobody uses, and repairs what can be repaired. Returns what gfix says.
    ///
    /// # Errors
    /// gfix cannot be run, or not on this database.
    pub fn mend(&self, database: &Path) -> io::Result<String> {
        self.machine.mend(database)
    }

    /// The log of the server so far.
    pub fn log(&self) -> String {
        self.machine.log().unwrap_or_else(|error| error.to_string())
    }

    /// Whether it still serves others: its own tool creates a database.
    pub fn works(&self) -> bool {
        self.machine.create_database(WORKS_LIMIT, &self.fresh_database_path()).is_ok()
    }

    /// Kills it, without giving it time for anything.
    ///
    /// # Panics
    /// The host where it runs does not answer.
    pub fn kill(&self) {
        self.machine.kill().expect("whoever runs it can kill it");
    }

    /// Starts it again, where it was, after it has been killed.
    ///
    /// # Errors
    /// It does not start; the message has its log.
    pub fn restart(&mut self) -> io::Result<()> {
        self.machine.restart()
    }

    /// What its process does, for a server that does not work any more.
    pub fn autopsy(&self) -> String {
        let threads = self.machine.threads().unwrap_or_else(|error| error.to_string());
        format!("{threads}\nits log:\n{}", self.log())
    }

    pub(crate) fn build(&self) -> &str {
        &self.facts.build
    }

    pub(crate) fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    /// Starts a server, at the host that the environment names or here.
    fn launch(generation: Generation, config: &ServerConfig) -> Result<Self, Failure> {
        match host() {
            Some(host) => Self::launch_at(host, generation, config),
            None => Self::launch_here(generation, config),
        }
    }

    /// Starts a server on this machine.
    pub(crate) fn launch_here(generation: Generation, config: &ServerConfig) -> Result<Self, Failure> {
        let (facts, machine) = local::launch(generation, config)?;
        Ok(Self { generation, fresh: AtomicU32::new(1), facts, machine })
    }

    /// Starts a server at a host.
    fn launch_at(host: HostAddress, generation: Generation, config: &ServerConfig) -> Result<Self, Failure> {
        let (facts, machine) = Remote::launch(host, generation, config)?;
        Ok(Self { generation, fresh: AtomicU32::new(1), facts, machine: Box::new(machine) })
    }
}

/// Returns the server that all tests of this process share. The first call starts it.
///
/// # Errors
/// The generation is not installed here.
///
/// # Panics
/// It is installed but does not start; the message has the server's log.
pub fn shared(generation: Generation) -> Result<&'static Server, Skip> {
    let mut shared = slot(generation);
    let server = shared.get_or_insert_with(|| launch_shared(generation));
    unless_missing(server.clone())
}

/// The shared server of a generation, once it was wanted. It is never freed: tests hold it as long as they like.
type Shared = Option<Result<&'static Server, Failure>>;

fn slot(generation: Generation) -> MutexGuard<'static, Shared> {
    static SERVERS: [Mutex<Shared>; Generation::ALL.len()] =
        [const { Mutex::new(None) }; Generation::ALL.len()];
    SERVERS[generation as usize].lock().unwrap_or_else(PoisonError::into_inner)
}

fn launch_shared(generation: Generation) -> Result<&'static Server, Failure> {
    // Transactions that wait for each other find out after a second, not after ten.
    let config = ServerConfig { extra: vec!["DeadlockTimeout = 1".to_owned()], ..ServerConfig::default() };
    let server = Server::launch(generation, &config)?;
    Ok(&*Box::leak(Box::new(server)))
}

/// Replaces a shared server that does not work any more; does nothing if somebody else has done so. Returns what is
/// known of the end of the former one.
pub(crate) fn replace(broken: &Server) -> Option<String> {
    let mut shared = slot(broken.generation);
    match &*shared {
        Some(Ok(current)) if std::ptr::eq(*current, broken) => {}
        _ => return Some("it was replaced already".to_owned()),
    }
    if broken.works() {
        return None;
    }
    let autopsy = broken.autopsy();
    // A host that does not answer has no server either.
    let _ = broken.machine.kill();
    *shared = Some(launch_shared(broken.generation));
    Some(autopsy)
}

/// The shared servers of all generations that are installed here.
pub fn servers() -> Vec<&'static Server> {
    Generation::ALL.into_iter().filter_map(|generation| shared(generation).ok()).collect()
}

/// The file of a database called `name`.
pub(crate) fn file_name(name: &str) -> PathBuf {
    Path::new(name).with_extension("fdb")
}

/// Whether the process of a server is running, on the machine where this process has its servers.
pub(crate) fn is_running(process: u32) -> bool {
    match host() {
        Some(host) => remote::is_running(host, process),
        None => system::is_running(process),
    }
}

fn unless_missing<T>(result: Result<T, Failure>) -> Result<T, Skip> {
    result.map_err(|failure| match failure {
        Failure::Missing(skip) => skip,
        Failure::Broken(message) => panic!("{message}"),
    })
}

/// Creating a database with isql.
const CREATE_LIMIT: Duration = Duration::from_secs(60);
/// A server that needs longer for a database does not work.
const WORKS_LIMIT: Duration = Duration::from_secs(20);
