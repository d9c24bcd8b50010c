//! Resolves host names within a time limit, which the system's resolver does not support.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

/// Returns the addresses of a host, found before `deadline`.
pub(super) fn resolve(host: &str, port: u16, deadline: Instant) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let host = host.to_owned();
    within(deadline, move || Ok((host.as_str(), port).to_socket_addrs()?.collect()))
}

/// Runs the lookup on its own thread. A thread that takes too long is abandoned, because nothing can interrupt it.
fn within(
    deadline: Instant,
    look_up: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
) -> io::Result<Vec<SocketAddr>> {
    let (sender, receiver) = channel();
    // The receiver may be gone.
    let work = move || drop(sender.send(look_up()));
    thread::Builder::new().name("firearrow-resolve".into()).spawn(work)?;
    let left = deadline.saturating_duration_since(Instant::now());
    receiver.recv_timeout(left).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => {
            Err(io::Error::new(ErrorKind::TimedOut, "the host name was not resolved in time"))
        }
        RecvTimeoutError::Disconnected => Err(io::Error::other("the resolver panicked")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_slow_resolver_is_not_waited_for() {
        let begin = Instant::now();
        let slow = || {
            thread::sleep(Duration::from_secs(30));
            Ok(Vec::new())
        };
        let error = within(begin + Duration::from_millis(200), slow).expect_err("it takes too long");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    }

    #[test]
    fn names_and_addresses_are_resolved() {
        let deadline = Instant::now() + Duration::from_secs(20);
        for host in ["127.0.0.1", "localhost", "::1"] {
            let addresses = resolve(host, 3050, deadline).expect("it is this machine");
            assert!(addresses.iter().all(|each| each.ip().is_loopback() && each.port() == 3050), "{host}");
            assert!(!addresses.is_empty(), "{host}");
        }
    }
}
