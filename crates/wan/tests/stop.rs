//! Dropping a proxy. The only test of its process, so that it can count threads.

use firearrow_wan::{Link, WanProxy};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_drop_ends_connections_and_threads() {
    let listener = TcpListener::bind(ANY).unwrap();
    let target = listener.local_addr().unwrap().to_string();
    // Every byte stays in transit for half an hour.
    let proxy = WanProxy::start(ANY, target, Link::new(Link::MAX_ROUND_TRIP, None)).unwrap();
    let connect = || {
        let client = TcpStream::connect_timeout(&proxy.address(), LIMIT).unwrap();
        client.set_read_timeout(Some(LIMIT)).unwrap();
        (client, listener.accept().unwrap().0)
    };
    let idle = connect();
    let mut waiting = connect();
    waiting.0.write_all(b"on its way").unwrap();
    let gone = connect().1;
    let everywhere =
        WanProxy::start("0.0.0.0:0".parse().unwrap(), "127.0.0.1:1", Link::new(LIMIT, None)).unwrap();

    // A receiver that does not read, so that sockets and queue fill up until the proxy stops reading.
    let link = Link { buffer: 10_000, ..Link::new(Duration::ZERO, None) };
    let server = TcpListener::bind(ANY).unwrap();
    let full = WanProxy::start(ANY, server.local_addr().unwrap().to_string(), link).unwrap();
    let mut sender = TcpStream::connect_timeout(&full.address(), LIMIT).unwrap();
    sender.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let receiver = server.accept().unwrap().0;
    while sender.write(&[0; 100_000]).is_ok() {}

    assert!(cfg!(not(target_os = "linux")) || threads() > 3 * 4, "{}", threads());
    let begin = Instant::now();
    let addresses = [proxy.address(), full.address()];
    drop(proxy);
    drop(full);
    drop(everywhere);
    assert!(begin.elapsed() < 6 * LIMIT, "{:?}", begin.elapsed());
    assert_eq!(threads(), 0);
    for mut socket in [idle.0, idle.1, waiting.0, waiting.1, gone] {
        // The end, or a reset.
        assert!(matches!(socket.read(&mut [0]), Ok(0) | Err(_)));
    }
    drop(receiver);
    for address in addresses {
        TcpStream::connect_timeout(&address, LIMIT).unwrap_err();
    }
}

/// How many threads belong to proxies.
fn threads() -> usize {
    // A joined thread may still be listed for a moment.
    thread::sleep(Duration::from_millis(50));
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let names =
        threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.starts_with("wan-")).count()
}

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const LIMIT: Duration = Duration::from_secs(10);
