//! The promises of the proxy, with an echo server as target. On a busy machine, only lower bounds on time can be
//! tested.

use firearrow_wan::{Link, Problem, Totals, WanProxy};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn bytes_arrive_unchanged_and_in_order() {
    // With a queue of barely two chunks, which is full most of the time.
    let link = Link { buffer: 100_000, ..Link::new(Duration::from_millis(2), Some(1_000_000_000)) };
    let proxy = start(link);
    let clients = [1, 2].map(|seed| {
        let mut client = connect(&proxy);
        thread::spawn(move || {
            let mut random = Random(seed);
            let sent: Vec<u8> = (0..SIZE).map(|_| random.next() as u8).collect();
            let reader = thread::spawn({
                let mut client = client.try_clone().unwrap();
                move || read_until_end(&mut client)
            });
            let mut rest = sent.as_slice();
            while !rest.is_empty() {
                // Mostly small, sometimes larger than any chunk.
                let most = 1 << (random.next() % 18);
                let (piece, tail) = rest.split_at((1 + random.next() as usize % most).min(rest.len()));
                client.write_all(piece).unwrap();
                rest = tail;
            }
            client.shutdown(Shutdown::Write).unwrap();
            assert!(reader.join().unwrap() == sent);
        })
    });
    clients.into_iter().for_each(|client| client.join().unwrap());
    let all = 2 * SIZE as u64;
    assert_eq!(proxy.totals(), Totals { connections: 2, up: all, down: all });
}

#[test]
fn a_half_closed_connection_still_answers() {
    let listener = listen();
    let proxy = WanProxy::start(ANY, listener.local_addr().unwrap().to_string(), fast()).unwrap();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let question = read_until_end(&mut socket);
        socket.write_all(b"answer to ").unwrap();
        socket.write_all(&question).unwrap();
    });
    let mut client = connect(&proxy);
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_until_end(&mut client), b"answer to question");
    server.join().unwrap();
}

#[test]
fn the_server_may_end_first() {
    let listener = listen();
    let proxy = WanProxy::start(ANY, listener.local_addr().unwrap().to_string(), fast()).unwrap();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"bye").unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        read_until_end(&mut socket)
    });
    let mut client = connect(&proxy);
    assert_eq!(read_until_end(&mut client), b"bye");
    client.write_all(b"still here").unwrap();
    drop(client);
    assert_eq!(server.join().unwrap(), b"still here");
}

#[test]
fn a_client_that_vanishes_ends_the_connection() {
    let listener = listen();
    let proxy = WanProxy::start(ANY, listener.local_addr().unwrap().to_string(), fast()).unwrap();
    let mut client = connect(&proxy);
    client.write_all(b"x").unwrap();
    let (mut socket, _) = listener.accept().unwrap();
    socket.read_exact(&mut [0]).unwrap();
    drop(client);
    // No one reads, so writing eventually fails.
    while socket.write_all(&[0; 10_000]).is_ok() {}
}

#[test]
fn a_missing_target_closes_the_client() {
    let nobody = listen().local_addr().unwrap();
    let (sender, problems) = mpsc::channel();
    let proxy = WanProxy::start_with(ANY, nobody.to_string(), fast(), move |problem| {
        let _ = sender.send((matches!(problem, Problem::Target { .. }), problem.to_string()));
    });
    let proxy = proxy.unwrap();
    assert_eq!(read_until_end(&mut connect(&proxy)), b"");
    let (is_target, text) = problems.recv_timeout(LIMIT).unwrap();
    assert!(is_target && text.contains(&nobody.to_string()), "{text}");
    assert_eq!(proxy.totals(), Totals::default());
}

#[test]
fn impossible_settings_fail_at_once() {
    for target in ["127.0.0.1", "127.0.0.1:x", ":", ""] {
        let error = WanProxy::start(ANY, target, fast()).unwrap_err();
        assert!(error.to_string().starts_with(target), "{error}");
    }
    let taken = listen();
    let address = taken.local_addr().unwrap();
    let error = WanProxy::start(address, "127.0.0.1:1", fast()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    let error = WanProxy::start(ANY, "127.0.0.1:1", Link::new(Duration::ZERO, Some(0))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_round_trip_takes_no_less_than_that() {
    let round_trip = Duration::from_millis(31);
    let proxy = start(Link::new(round_trip, None));
    let mut client = connect(&proxy);
    for _ in 0..5 {
        let begin = Instant::now();
        client.write_all(b"ping").unwrap();
        client.read_exact(&mut [0; 4]).unwrap();
        assert!(begin.elapsed() >= round_trip, "{:?}", begin.elapsed());
    }
}

#[test]
fn connecting_takes_a_round_trip_once() {
    let round_trip = Duration::from_millis(100);
    let proxy = start(Link::new(round_trip, None));
    let mut client = connect(&proxy);
    // The client may send late: the handshake counts from its first bytes.
    thread::sleep(round_trip);
    let mut times = [(); 6].map(|()| {
        let begin = Instant::now();
        client.write_all(b"ping").unwrap();
        client.read_exact(&mut [0; 4]).unwrap();
        begin.elapsed()
    });
    assert!(times[0] >= 2 * round_trip, "{times:?}");
    // At least one of the later round trips is undisturbed, however busy the machine is.
    times[1..].sort();
    assert!((round_trip..2 * round_trip).contains(&times[1]), "{times:?}");
}

#[test]
fn a_server_that_speaks_first_pays_for_the_handshake() {
    let listener = listen();
    let round_trip = Duration::from_millis(60);
    let link = Link::new(round_trip, None);
    let proxy = WanProxy::start(ANY, listener.local_addr().unwrap().to_string(), link).unwrap();
    let begin = Instant::now();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"hello").unwrap();
        read_until_end(&mut socket)
    });
    let mut client = connect(&proxy);
    client.read_exact(&mut [0; 5]).unwrap();
    assert!(begin.elapsed() >= round_trip * 3 / 2, "{:?}", begin.elapsed());
    // The handshake is paid for now.
    let begin = Instant::now();
    client.write_all(b"bye").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(server.join().unwrap(), b"bye");
    assert!(begin.elapsed() >= round_trip / 2, "{:?}", begin.elapsed());
}

#[test]
fn a_transfer_takes_no_less_than_its_size() {
    let proxy = start(Link::new(Duration::from_millis(10), Some(RATE)));
    let begin = Instant::now();
    transfer(&proxy, 1_000_000);
    // Besides the bytes themselves: there, and back.
    assert!(begin.elapsed() >= time_for(1_000_000) + Duration::from_millis(10), "{:?}", begin.elapsed());
}

#[test]
fn connections_share_the_line() {
    let proxy = start(Link::new(Duration::ZERO, Some(RATE)));
    let begin = Instant::now();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| transfer(&proxy, 500_000));
        }
    });
    assert!(begin.elapsed() >= time_for(1_000_000), "{:?}", begin.elapsed());
    assert_eq!(proxy.totals(), Totals { connections: 2, up: 1_000_000, down: 1_000_000 });
}

/// Sends bytes and waits until the echo is complete.
fn transfer(proxy: &WanProxy, size: usize) {
    let mut client = connect(proxy);
    let mut sender = client.try_clone().unwrap();
    let sender = thread::spawn(move || {
        sender.write_all(&vec![1; size]).unwrap();
        sender.shutdown(Shutdown::Write).unwrap();
    });
    assert_eq!(read_until_end(&mut client).len(), size);
    sender.join().unwrap();
}

fn time_for(bytes: u64) -> Duration {
    Duration::from_nanos(bytes * 8 * 1_000_000_000 / RATE)
}

fn fast() -> Link {
    Link::new(Duration::from_millis(2), None)
}

fn start(link: Link) -> WanProxy {
    WanProxy::start(ANY, echo().to_string(), link).unwrap()
}

fn connect(proxy: &WanProxy) -> TcpStream {
    let client = TcpStream::connect_timeout(&proxy.address(), LIMIT).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    client
}

fn listen() -> TcpListener {
    TcpListener::bind(ANY).unwrap()
}

/// A server that sends back what it receives.
fn echo() -> SocketAddr {
    let listener = listen();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let socket = socket.unwrap();
            thread::spawn(move || std::io::copy(&mut &socket, &mut &socket));
        }
    });
    address
}

/// Everything until the end; a reset is an end as well.
fn read_until_end(socket: &mut TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    match socket.read_to_end(&mut received) {
        Ok(_) => received,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => received,
        Err(error) => panic!("{error}"),
    }
}

/// A xorshift generator: reproducible.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const LIMIT: Duration = Duration::from_secs(10);
const SIZE: usize = 3_000_000;
const RATE: u64 = 40_000_000;
