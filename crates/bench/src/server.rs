//! The processor time of a server on this machine.

use crate::error::Result;
use firearrow::config::{Config, Target};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// The server process whose processor time is measured.
#[derive(Debug)]
pub enum Server {
    /// The process that listens at the clients' target address.
    Process(Process),
    /// Why it is unknown; a text for reports.
    Unknown(String),
}

/// A process on this machine.
#[derive(Debug)]
pub struct Process {
    folder: PathBuf,
    /// The program's name, as the kernel knows it.
    pub name: String,
}

impl Process {
    /// When it was started, in the kernel's words; `None` once it is gone. A number that has passed to another process has another
    /// start.
    #[must_use]
    pub fn started(&self) -> Option<String> {
        let stat = fs::read_to_string(self.folder.join("stat")).ok()?;
        // The name in parentheses may be anything; the state, field 3, follows it.
        let (_, fields) = stat.rsplit_once(") ")?;
        fields.split_whitespace().nth(19).map(str::to_owned)
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> Option<NonZeroU32> {
        self.folder.file_name()?.to_str()?.parse().ok()
    }
}

impl Server {
    /// Looks for the process that serves a database. Only Linux can tell, and only for processes that this user may
    /// inspect.
    #[must_use]
    pub fn find(config: &Config) -> Self {
        let Target::Remote { host, port, .. } = &config.target else {
            return Self::Unknown("the engine runs in this process".to_owned());
        };
        let addresses = (host.as_str(), *port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let Some(address) = addresses.ok().and_then(|all| all.into_iter().find(is_here)) else {
            return Self::Unknown("the server runs on another machine".to_owned());
        };
        if !Path::new("/proc/net/tcp").exists() {
            return Self::Unknown("only Linux tells".to_owned());
        }
        match listener(address) {
            Some(process) => Self::Process(process),
            None => Self::Unknown("no process that this user may inspect listens on its port".to_owned()),
        }
    }

    /// Formats a line for reports that names the process whose processor time is shown.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::Process(process) => format!("server CPU: of the process {}\n", process.name),
            Self::Unknown(reason) => format!("server CPU: not available; {reason}\n"),
        }
    }

    /// Returns the processor time in seconds that the server has used so far, including its child processes that have
    /// ended; `None` if the process is unknown.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn cpu_seconds(&self) -> Result<Option<f64>> {
        match self {
            Self::Process(process) => {
                let stat = fs::read_to_string(process.folder.join("stat"))?;
                Ok(ticks(&stat).map(|ticks| ticks as f64 / TICKS_PER_SECOND))
            }
            Self::Unknown(_) => Ok(None),
        }
    }
}

/// Packets to an address of this machine have the same address as their source.
fn is_here(address: &SocketAddr) -> bool {
    let any = match address.ip() {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    // Nothing is sent: the system only looks up the route.
    let local = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect(address)?;
        socket.local_addr()
    });
    local.is_ok_and(|local| local.ip() == address.ip())
}

/// Returns the process that accepts connections to an address.
fn listener(address: SocketAddr) -> Option<Process> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let sockets: Vec<String> = tables.iter().flat_map(|table| sockets(table, address)).collect();
    let owns = |folder: &Path| {
        let descriptors = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
        let mut targets = descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
        targets.any(|target| sockets.iter().any(|socket| target.as_os_str() == socket.as_str()))
    };
    let processes = fs::read_dir("/proc").ok()?.flatten().filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let folder = processes.map(|entry| entry.path()).find(|folder| owns(folder))?;
    let name = fs::read_to_string(folder.join("comm")).ok()?.trim().to_owned();
    Some(Process { folder, name })
}

/// Returns the names, as in `/proc/<id>/fd`, of the sockets in a table of proc_net_tcp(5) that accept connections to an
/// address. The columns of the table: number, local address, remote address, state, queues, timer, retransmissions,
/// user, timeout, inode.
fn sockets(table: &str, address: SocketAddr) -> impl Iterator<Item = String> {
    const LISTEN: &str = "0A";
    table.lines().filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (ip, port) = fields.get(1)?.split_once(':')?;
        let ip = parse_ip(ip)?;
        let accepts = ip.is_unspecified() || ip == address.ip().to_canonical();
        let is_it = fields.get(3) == Some(&LISTEN) && u16::from_str_radix(port, 16).ok()? == address.port();
        (is_it && accepts).then(|| format!("socket:[{}]", fields.get(9).unwrap_or(&"0")))
    })
}

/// Parses an address as the kernel prints it: words in the machine's byte order.
fn parse_ip(text: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(text.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    match text.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            Some(IpAddr::from(bytes).to_canonical())
        }
        _ => None,
    }
}

/// Returns user and system time, including children that have ended, from proc_pid_stat(5).
fn ticks(stat: &str) -> Option<u64> {
    // The name in parentheses may contain anything; the third and later fields follow it.
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let times: Vec<u64> = fields.skip(11).take(4).map_while(|field| field.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

/// USER_HZ; it is 100 wherever Firebird runs on Linux.
const TICKS_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn the_listening_process_is_found() {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        let find = || Server::find(&Config::parse(&format!("firebird://u:p@{address}/x")).unwrap());
        let Server::Process(process) = find() else { panic!("{:?}", find()) };
        assert_eq!(process.folder, Path::new("/proc").join(std::process::id().to_string()));
        assert!(find().cpu_seconds().unwrap().unwrap() >= 0.0);
        drop(socket);
        let Server::Unknown(reason) = find() else { panic!("nobody listens") };
        assert!(reason.contains("no process"), "{reason}");
        assert!(find().cpu_seconds().unwrap().is_none());
    }

    #[test]
    fn other_machines_have_servers_of_their_own() {
        // An address reserved for documentation, which no machine has.
        for (host, reason) in [("192.0.2.1", "another machine"), ("no such host.", "another machine")] {
            let mut config = Config::parse("firebird://u:p@127.0.0.1:1/x").unwrap();
            config.target = Target::Remote { host: host.to_owned(), port: 1, database: "x".to_owned() };
            let Server::Unknown(told) = Server::find(&config) else { panic!("{host}") };
            assert!(told.contains(reason), "{told}");
        }
    }

    #[test]
    fn tables_of_the_kernel_are_understood() {
        let loopback = u32::from_ne_bytes([127, 0, 0, 1]);
        let table = format!(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: {loopback:08X}:0BEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1\n\
             1: {loopback:08X}:0BEA 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 78 1\n\
             2: 00000000:0BEB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 79 1\n\
             3: 00000000000000000000000000000000:0BEA 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 80 1\n"
        );
        let of = |address: &str| sockets(&table, address.parse().unwrap()).collect::<Vec<_>>();
        assert_eq!(of("127.0.0.1:3050"), ["socket:[77]", "socket:[80]"]);
        assert_eq!(of("127.0.0.2:3050"), ["socket:[80]"]);
        assert_eq!(of("127.0.0.1:3051"), ["socket:[79]"]);
        assert_eq!(of("[::1]:3050"), ["socket:[80]"]);
        assert_eq!(ticks("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 15"), Some(127));
        assert_eq!(ticks("12 (x) S 1"), None);
    }
}
