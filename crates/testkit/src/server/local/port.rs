//! Free TCP ports, and which process listens on a port.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// Returns a port that no process listens on at the moment. Another process may still take it first.
pub(super) fn free() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The process that listens on a port.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listener {
    /// None, as far as this process can see.
    Nobody,
    /// The expected process.
    Process,
    /// Some other process.
    Stranger,
}

/// Finds out whether the process `id` listens on `port`.
///
/// Connecting is no proof: when a port is taken, a Firebird server does not exit but retries for 50 seconds, and the
/// test would talk to the process that took the port.
pub(super) fn listener(port: u16, id: u32) -> Listener {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let sockets: Vec<String> = tables.iter().flat_map(|table| sockets(table, port)).collect();
    if sockets.is_empty() {
        return Listener::Nobody;
    }
    // The process may have ended, or closed a descriptor, since the question was asked.
    let Ok(descriptors) = fs::read_dir(format!("/proc/{id}/fd")) else { return Listener::Nobody };
    let owned = descriptors
        .filter_map(|descriptor| fs::read_link(descriptor.ok()?.path()).ok())
        .any(|target| sockets.iter().any(|socket| target.as_os_str() == socket.as_str()));
    if owned { Listener::Process } else { Listener::Stranger }
}

/// Names, as in `/proc/<id>/fd`, of the sockets listening on `port` in a table of proc_net_tcp(5): number, local
/// address, remote address, state, queues, timer, retransmissions, user, timeout, inode.
fn sockets(table: &str, port: u16) -> impl Iterator<Item = String> {
    let suffix = format!(":{port:04X}");
    table.lines().filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listening = fields.get(3) == Some(&"0A") && fields.get(1)?.ends_with(&suffix);
        listening.then(|| format!("socket:[{}]", fields.get(9).unwrap_or(&"0")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn own_listener_is_told_from_a_stranger() {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        assert_eq!(listener(port, std::process::id()), Listener::Process);

        let other = std::process::Command::new("sleep").arg("60").spawn();
        let mut other = other.unwrap();
        assert_eq!(listener(port, other.id()), Listener::Stranger);
        other.kill().unwrap();
        other.wait().unwrap();

        drop(socket);
        // A process that another test is just starting has a copy of every descriptor until it is the new program.
        let deadline = Instant::now() + Duration::from_secs(10);
        while listener(port, std::process::id()) != Listener::Nobody {
            assert!(Instant::now() < deadline, "somebody listens on");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
