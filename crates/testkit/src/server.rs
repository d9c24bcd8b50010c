//! Private servers.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::installation::{Failure, Installation};
use crate::port::{self, Listener};
use crate::process::{self, Process};
use crate::root::Root;
use crate::{Generation, ServerConfig, Skip};

/// A running private Firebird server with its own root folder, users, port and databases.
///
/// It ends when the value is dropped, when the process exits (the [`shared`] ones), and when the process is killed
/// (the kernel sees to that). Its databases go with it.
#[derive(Debug)]
pub struct Server {
    generation: Generation,
    build: String,
    port: u16,
    fresh: AtomicU32,
    // Before the root, because fields are dropped in this order.
    process: Process,
    root: Root,
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
        self.build.rsplit_once('.').map_or(&self.build, |(version, _)| version)
    }

    /// The host where it listens.
    pub fn host(&self) -> &'static str {
        "127.0.0.1"
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it listens, for a [`Proxy`](crate::Proxy).
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
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
        self.process.id()
    }

    /// The root folder, which programs of this generation use when it is their `FIREBIRD`.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The path of a database called `name`, the same for the server and for the test.
    pub fn database_path(&self, name: &str) -> PathBuf {
        database_path(&self.root.data(), name)
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
        self.root.client_library()
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
        self.root.isql(&["-user", user, "-password", password, &self.place(database)], script)
    }

    /// Creates an empty database with isql, so that a test can begin with connecting.
    ///
    /// # Errors
    /// As [`isql`](Self::isql).
    pub fn create_database(&self, path: &Path) -> io::Result<()> {
        self.create_database_within(CREATE_LIMIT, path)
    }

    fn create_database_within(&self, limit: Duration, path: &Path) -> io::Result<()> {
        let place = self.place(path);
        let login = format!("USER '{}' PASSWORD '{}'", Self::USER, Self::PASSWORD);
        self.root
            .isql_within(
                limit,
                &[],
                &format!("CREATE DATABASE '{place}' {login} DEFAULT CHARACTER SET UTF8;\n"),
            )
            .map(drop)
    }

    /// Validates a database that nobody uses, and repairs what can be repaired. Returns what gfix says.
    ///
    /// # Errors
    /// gfix cannot be run, or not on this database.
    pub fn mend(&self, database: &Path) -> io::Result<String> {
        let login = ["-user", Self::USER, "-password", Self::PASSWORD];
        self.root.gfix(&[&["-mend", "-full"][..], &login, &[&self.place(database)]].concat())
    }

    /// The log of the server so far.
    pub fn log(&self) -> String {
        self.root.log()
    }

    /// Whether it still serves others: its own tool creates a database.
    pub fn works(&self) -> bool {
        self.create_database_within(WORKS_LIMIT, &self.fresh_database_path()).is_ok()
    }

    /// Kills it, without giving it time for anything.
    pub fn kill(&mut self) {
        process::kill(self.process.id());
        self.process.wait_for_exit();
    }

    /// Starts it again, where it was, after it has been killed.
    ///
    /// # Errors
    /// It does not start; the message has its log.
    pub fn restart(&mut self) -> io::Result<()> {
        self.process = Process::spawn(self.root.server()?)?;
        match becomes_ready(&mut self.process, self.port).map_err(|error| with_log(&error, &self.root))? {
            true => Ok(()),
            false => Err(io::Error::other("another process has taken its port")),
        }
    }

    /// What its process does, for a server that does not work any more.
    pub fn autopsy(&self) -> String {
        format!("{}\nits log:\n{}", process::threads(self.process.id()), self.log())
    }

    /// A database in the client library's notation.
    fn place(&self, database: &Path) -> String {
        format!("{}/{}:{}", self.host(), self.port, database.display())
    }

    fn launch(generation: Generation, config: &ServerConfig) -> Result<Self, Failure> {
        let installation = Installation::find(generation)?;
        let failed = |error: io::Error| Failure::Broken(format!("{generation} does not start: {error}"));
        let root = Root::create(&installation).map_err(failed)?;
        let (port, process) = listen(&root, config).map_err(failed)?;
        Ok(Self { generation, build: installation.build, port, fresh: AtomicU32::new(1), process, root })
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
    let server = Server::launch(generation, &ServerConfig::default())?;
    Ok(&*Box::leak(Box::new(server)))
}

/// Replaces a shared server that does not work any more; does nothing if somebody else has done so. Returns what is known of
/// the end of the former one.
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
    process::kill(broken.process.id());
    *shared = Some(launch_shared(broken.generation));
    Some(autopsy)
}

/// The shared servers of all generations that are installed here.
pub fn servers() -> Vec<&'static Server> {
    Generation::ALL.into_iter().filter_map(|generation| shared(generation).ok()).collect()
}

pub(crate) fn database_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension("fdb")
}

fn unless_missing<T>(result: Result<T, Failure>) -> Result<T, Skip> {
    result.map_err(|failure| match failure {
        Failure::Missing(skip) => skip,
        Failure::Broken(message) => panic!("{message}"),
    })
}

/// Starts the server program on a free port and waits until it listens.
fn listen(root: &Root, config: &ServerConfig) -> io::Result<(u16, Process)> {
    for _ in 0..PORT_ATTEMPTS {
        let port = port::free()?;
        root.configure(config, port)?;
        let mut process = Process::spawn(root.server()?)?;
        if becomes_ready(&mut process, port).map_err(|error| with_log(&error, root))? {
            return Ok((port, process));
        }
    }
    Err(io::Error::other(format!("{PORT_ATTEMPTS} free ports were all taken by others")))
}

/// Waits until the server listens. Returns `false` if another process took the port first.
fn becomes_ready(process: &mut Process, port: u16) -> io::Result<bool> {
    let deadline = Instant::now() + START_LIMIT;
    while Instant::now() < deadline {
        if let Some(status) = process.exit_status() {
            return Err(io::Error::other(format!("the server ended with {status}")));
        }
        match port::listener(port, process.id()) {
            Listener::Process => {
                TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), START_LIMIT)?;
                return Ok(true);
            }
            Listener::Stranger => return Ok(false),
            Listener::Nobody => thread::sleep(Duration::from_millis(5)),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("the server did not listen within {START_LIMIT:?}")))
}

fn with_log(error: &io::Error, root: &Root) -> io::Error {
    io::Error::new(error.kind(), format!("{error}\nits log:\n{}", root.log()))
}

/// Creating a database with isql.
const CREATE_LIMIT: Duration = Duration::from_secs(60);
/// A server that needs longer for a database does not work.
const WORKS_LIMIT: Duration = Duration::from_secs(20);
const START_LIMIT: Duration = Duration::from_secs(10);
const PORT_ATTEMPTS: u32 = 5;
