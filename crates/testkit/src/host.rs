//! Servers for test programs that cannot start them: Windows programs under Wine, programs of another processor.
//!
//! ```text
//!   test program ── "start" ──► Host ──► private server
//!        │   └───── "isql" ───► (each request has a connection of its own)
//!        └──────────────────────────────► the server's port
//! ```
//!
//! The connection that a server was started through owns it: when it closes, because the test drops the server or its
//! process ends in whatever way, the server ends.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::message::{self, Answer, Refusal};
use crate::{Generation, HostAddress, Server, ServerConfig, system};

/// Starts private servers for other programs, which find it by the variable [`VARIABLE`](Self::VARIABLE). It lives until
/// its process ends.
#[derive(Debug)]
pub struct Host {
    address: HostAddress,
}

impl Host {
    /// The environment variable with the address of a host. Where it is set, [`Server`]s run there.
    pub const VARIABLE: &str = "FIREARROW_TEST_HOST";

    /// Listens on a free port of this machine.
    ///
    /// # Errors
    /// No port could be opened.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = HostAddress::fresh(listener.local_addr()?);
        let servers = Arc::new(Servers::default());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let servers = Arc::clone(&servers);
                thread::spawn(move || {
                    if let Err(error) = attend(stream, &address.secret(), &servers) {
                        eprintln!("a host of servers: {error}");
                    }
                });
            }
        });
        Ok(Self { address })
    }

    /// Where it listens, and its secret.
    pub fn address(&self) -> HostAddress {
        self.address
    }
}

/// The running servers, by the numbers that requests name.
#[derive(Default)]
struct Servers {
    last: AtomicU64,
    running: Mutex<HashMap<u64, Arc<Server>>>,
}

impl Servers {
    fn running(&self) -> MutexGuard<'_, HashMap<u64, Arc<Server>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server's place among the running ones.
struct Owned<'a> {
    servers: &'a Servers,
    number: u64,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // The list is free again when the server ends, which takes a moment.
        let server = self.servers.running().remove(&self.number);
        drop(server);
    }
}

/// Answers the requests of one connection until its peer closes it. Who does not know the secret gets no answer.
fn attend(mut stream: TcpStream, secret: &str, servers: &Servers) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_LIMIT))?;
    // Ends before the connection is closed: the peer may wait for that.
    let mut owned = None;
    while let Some(request) = message::read(&mut stream)? {
        let mut request: Vec<&str> = request.iter().map(String::as_str).collect();
        if request.first() != Some(&secret) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "a stranger has asked for something",
            ));
        }
        request.remove(0);
        let answer = match request[..] {
            ["start", generation, ref settings @ ..] => {
                start(servers, generation, settings).map(|(started, facts)| {
                    owned = Some(started);
                    facts
                })
            }
            ["is running", process] => number(process).map(|id| vec![system::is_running(id).to_string()]),
            [action, server, ref arguments @ ..] => perform(servers, action, server, arguments),
            _ => Err(unknown()),
        };
        message::write_answer(&mut stream, &answer)?;
    }
    drop(owned);
    Ok(())
}

fn start<'a>(
    servers: &'a Servers,
    generation: &str,
    settings: &[&str],
) -> Result<(Owned<'a>, Vec<String>), Refusal> {
    let generation = Generation::ALL.into_iter().find(|known| known.number() == generation);
    let config = ServerConfig::from_fields(settings);
    let (generation, config) = generation.zip(config).ok_or_else(unknown)?;
    let server = Server::launch_here(generation, &config).map_err(Refusal::Launch)?;
    let number = servers.last.fetch_add(1, Ordering::Relaxed);
    let library = server.client_library().unwrap_or(Path::new(""));
    let facts = vec![
        number.to_string(),
        server.build().to_owned(),
        server.port().to_string(),
        server.process_id().to_string(),
        server.root().display().to_string(),
        library.display().to_string(),
    ];
    servers.running().insert(number, Arc::new(server));
    Ok((Owned { servers, number }, facts))
}

/// Does on the machine of a server what a request asks for.
fn perform(servers: &Servers, action: &str, server: &str, arguments: &[&str]) -> Answer {
    let key = number(server)?;
    let server = servers.running().get(&key).cloned().ok_or_else(unknown)?;
    let machine = server.machine();
    let done = match (action, arguments) {
        ("isql", [user, password, database, script]) => {
            machine.isql(user, password, Path::new(database), script).map(|text| vec![text])
        }
        ("create database", [milliseconds, database]) => {
            let limit = Duration::from_millis(number(milliseconds)?);
            machine.create_database(limit, Path::new(database)).map(|()| Vec::new())
        }
        ("copy database", [from, to]) => {
            machine.copy_database(Path::new(from), Path::new(to)).map(|()| Vec::new())
        }
        ("mend", [database]) => machine.mend(Path::new(database)).map(|text| vec![text]),
        ("log", []) => machine.log().map(|text| vec![text]),
        ("threads", []) => machine.threads().map(|text| vec![text]),
        ("kill", []) => machine.kill().map(|()| Vec::new()),
        ("restart", []) => machine.restart().map(|()| vec![machine.process_id().to_string()]),
        _ => return Err(unknown()),
    };
    done.map_err(Refusal::Failed)
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| unknown())
}

fn unknown() -> Refusal {
    Refusal::Failed(io::Error::other("the host of servers does not know this request, or this server"))
}

const WRITE_LIMIT: Duration = Duration::from_secs(10);
