//! A server that a [`Host`] has started.

use std::env;
use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{Facts, Machine};
use crate::generation::Failure;
use crate::message::{self, Answer, Refusal};
use crate::{Generation, Host, HostAddress, ServerConfig, system};

/// The host that the environment names.
///
/// # Panics
/// It names one that cannot be.
pub(crate) fn host() -> Option<HostAddress> {
    let address = env::var(Host::VARIABLE).ok().filter(|value| !value.is_empty())?;
    let parsed = address.parse();
    Some(parsed.unwrap_or_else(|error| panic!("{}: {error}", Host::VARIABLE)))
}

/// Asks the host whether a process on its machine is running.
pub(crate) fn is_running(host: HostAddress, process: u32) -> bool {
    let answer = ask(host, &["is running", &process.to_string()]);
    answer.is_ok_and(|(_, fields)| fields == ["true"])
}

/// A server at a host. It ends when this is dropped, or when this process ends.
#[derive(Debug)]
pub(super) struct Remote {
    host: HostAddress,
    /// What the host calls it.
    number: String,
    process_id: AtomicU32,
    /// The server ends when this closes.
    owner: TcpStream,
}

impl Remote {
    /// Starts a server.
    pub(super) fn launch(
        host: HostAddress,
        generation: Generation,
        config: &ServerConfig,
    ) -> Result<(Facts, Self), Failure> {
        let settings = config.fields();
        let mut request = vec!["start", generation.number()];
        request.extend(settings.iter().map(String::as_str));
        let broken = |what: String| Failure::Broken(format!("{generation} at {host:?}: {what}"));
        let (owner, answer) = ask(host, &request).map_err(|refusal| match refusal {
            Refusal::Launch(failure) => failure,
            Refusal::Failed(error) => broken(error.to_string()),
        })?;
        let [number, build, port, process_id, root, library] = &answer[..] else {
            return Err(broken(format!("{answer:?}")));
        };
        let (Ok(port), Ok(process_id)) = (port.parse(), process_id.parse::<u32>()) else {
            return Err(broken(format!("{answer:?}")));
        };
        // The host's library may be for another kind of program.
        let client_library = Some(PathBuf::from(library)).filter(|library| system::can_load(library));
        let facts = Facts { build: build.clone(), port, root: root.into(), client_library };
        Ok((facts, Self { host, number: number.clone(), process_id: process_id.into(), owner }))
    }

    /// Sends the host a request about the server.
    fn request(&self, action: &str, arguments: &[&str]) -> io::Result<Vec<String>> {
        match ask(self.host, &[&[action, &self.number], arguments].concat()) {
            Ok((_, fields)) => Ok(fields),
            Err(Refusal::Failed(error)) => Err(error),
            Err(Refusal::Launch(failure)) => Err(io::Error::other(format!("{failure:?}"))),
        }
    }

    fn text(&self, action: &str, arguments: &[&str]) -> io::Result<String> {
        Ok(self.request(action, arguments)?.swap_remove(0))
    }
}

impl Machine for Remote {
    fn process_id(&self) -> u32 {
        self.process_id.load(Ordering::SeqCst)
    }

    fn isql(&self, user: &str, password: &str, database: &Path, script: &str) -> io::Result<String> {
        self.text("isql", &[user, password, &place(database), script])
    }

    fn create_database(&self, limit: Duration, database: &Path) -> io::Result<()> {
        let limit = limit.as_millis().to_string();
        self.request("create database", &[&limit, &place(database)]).map(drop)
    }

    fn copy_database(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.request("copy database", &[&place(from), &place(to)]).map(drop)
    }

    fn mend(&self, database: &Path) -> io::Result<String> {
        self.text("mend", &[&place(database)])
    }

    fn log(&self) -> io::Result<String> {
        self.text("log", &[])
    }

    fn threads(&self) -> io::Result<String> {
        self.text("threads", &[])
    }

    fn kill(&self) -> io::Result<()> {
        self.request("kill", &[]).map(drop)
    }

    fn restart(&self) -> io::Result<()> {
        let id = self.text("restart", &[])?.parse().map_err(io::Error::other)?;
        self.process_id.store(id, Ordering::SeqCst);
        Ok(())
    }
}

impl Drop for Remote {
    /// Waits until the server has ended, which the host tells by closing the connection.
    fn drop(&mut self) {
        let _ = self.owner.shutdown(Shutdown::Write);
        let _ = self.owner.read(&mut [0]);
    }
}

/// Makes one request, through a connection of its own: others may take minutes.
fn ask(host: HostAddress, request: &[&str]) -> Result<(TcpStream, Vec<String>), Refusal> {
    let connect = || {
        let mut stream = TcpStream::connect_timeout(&host.socket, CONNECT_LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        stream.set_write_timeout(Some(CONNECT_LIMIT))?;
        message::write(&mut stream, &[&[host.secret().as_str()], request].concat())?;
        Ok(stream)
    };
    let mut stream = connect().map_err(Refusal::Failed)?;
    let answer: Answer = message::read_answer(&mut stream);
    answer.map(|fields| (stream, fields))
}

/// A path on the host's machine.
fn place(path: &Path) -> String {
    path.display().to_string()
}

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Longer than all that a host's own limits allow.
const ANSWER_LIMIT: Duration = Duration::from_secs(180);
