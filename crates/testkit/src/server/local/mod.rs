//! A server that this process has started.

mod conf;
mod installation;
mod port;
mod root;
mod tool;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use self::installation::Installation;
use self::port::Listener;
use self::root::Root;
use super::{Facts, Machine};
use crate::generation::Failure;
use crate::process::Process;
use crate::{Generation, Server, ServerConfig, system};

/// Starts a server.
pub(super) fn launch(
    generation: Generation,
    config: &ServerConfig,
) -> Result<(Facts, Box<dyn Machine>), Failure> {
    let installation = Installation::find(generation)?;
    let failed = |error: io::Error| Failure::Broken(format!("{generation} does not start: {error}"));
    let root = Root::create(&installation).map_err(failed)?;
    let (port, process) = listen(&root, config).map_err(failed)?;
    let facts = Facts {
        build: installation.build,
        port,
        root: root.path().to_owned(),
        client_library: installation.client_library,
    };
    Ok((facts, Box::new(Local { port, process: Mutex::new(process), root })))
}

/// The process of a server, and its files.
#[derive(Debug)]
struct Local {
    port: u16,
    // Before the root, because fields are dropped in this order.
    process: Mutex<Process>,
    root: Root,
}

impl Local {
    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A database in the client library's notation.
    fn place(&self, database: &Path) -> String {
        format!("{}/{}:{}", Server::HOST, self.port, database.display())
    }
}

impl Machine for Local {
    fn process_id(&self) -> u32 {
        self.process().id()
    }

    fn isql(&self, user: &str, password: &str, database: &Path, script: &str) -> io::Result<String> {
        self.root.isql(&["-user", user, "-password", password, &self.place(database)], script)
    }

    fn create_database(&self, limit: Duration, database: &Path) -> io::Result<()> {
        let place = self.place(database);
        let login = format!("USER '{}' PASSWORD '{}'", Server::USER, Server::PASSWORD);
        let script = format!("CREATE DATABASE '{place}' {login} DEFAULT CHARACTER SET UTF8;\n");
        self.root.isql_within(limit, &[], &script).map(drop)
    }

    fn copy_database(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::copy(from, to).map(drop)
    }

    fn mend(&self, database: &Path) -> io::Result<String> {
        let login = ["-user", Server::USER, "-password", Server::PASSWORD];
        self.root.gfix(&[&["-mend", "-full"][..], &login, &[&self.place(database)]].concat())
    }

    fn log(&self) -> io::Result<String> {
        Ok(self.root.log())
    }

    fn threads(&self) -> io::Result<String> {
        Ok(system::threads(self.process_id()))
    }

    fn kill(&self) -> io::Result<()> {
        let mut process = self.process();
        // Once it has been reaped, its number may belong to another process.
        if process.exit_status().is_none() {
            system::kill_group(process.id());
            process.wait_for_exit();
        }
        Ok(())
    }

    fn restart(&self) -> io::Result<()> {
        let mut process = self.process();
        *process = Process::spawn(self.root.server()?)?;
        match becomes_ready(&mut process, self.port).map_err(|error| with_log(&error, &self.root))? {
            true => Ok(()),
            false => Err(io::Error::other("another process has taken its port")),
        }
    }
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

const START_LIMIT: Duration = Duration::from_secs(10);
const PORT_ATTEMPTS: u32 = 5;
