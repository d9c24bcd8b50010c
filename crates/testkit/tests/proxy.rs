//! What the proxy promises, with an echo in place of a server.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use firearrow_testkit::{Behaviour, Flow, Limit, Mischief, Proxy};

#[test]
fn passes_everything_on() {
    let (proxy, mut client) = start(Behaviour::pass());
    let sent: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
    let reader = thread::spawn({
        let mut client = client.try_clone().unwrap();
        move || {
            let mut received = Vec::new();
            client.read_to_end(&mut received).unwrap();
            received
        }
    });
    client.write_all(&sent).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert!(reader.join().unwrap() == sent);
    assert_eq!((proxy.bytes_from_client(), proxy.bytes_from_server()), (200_000, 200_000));
    assert_eq!(proxy.connections(), 1);
}

#[test]
fn splits_into_small_pieces() {
    let (_proxy, mut client) = start(Behaviour::split(3));
    let sent: Vec<u8> = (0..10_000_u32).map(|number| number as u8).collect();
    client.write_all(&sent).unwrap();
    let mut received = Vec::new();
    let mut pieces = 0;
    while received.len() < sent.len() {
        let mut buffer = [0; 16 * 1024];
        let length = client.read(&mut buffer).unwrap();
        received.extend_from_slice(&buffer[..length]);
        pieces += 1;
    }
    assert!(received == sent);
    // On a busy machine the kernel still joins some, but not thousands of them into a few.
    assert!(pieces > 10, "{pieces}");
}

#[test]
fn cuts_after_any_number_of_bytes() {
    for bytes in 0..5 {
        let (proxy, mut client) = start(Behaviour::cut_from_server(bytes));
        client.write_all(b"hello").unwrap();
        assert_eq!(read_until_end(&mut client), &b"hello"[..bytes as usize]);
        assert_eq!(proxy.bytes_from_server(), bytes);

        let (proxy, mut client) = start(Behaviour::cut_from_client(bytes));
        client.write_all(b"hello").unwrap();
        read_until_end(&mut client);
        assert_eq!(proxy.bytes_from_client(), bytes);
    }
}

#[test]
fn stall_is_silence_without_an_end() {
    for (behaviour, expected) in
        [(Behaviour::stall_from_server(2), &b"he"[..]), (Behaviour::stall_from_client(3), &b"hel"[..])]
    {
        let (proxy, mut client) = start(behaviour);
        client.write_all(b"hello").unwrap();
        let mut received = vec![0; expected.len()];
        client.read_exact(&mut received).unwrap();
        assert_eq!(received, expected);
        client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(is_timeout(&client.read(&mut [0]).unwrap_err()));
        drop(proxy);
        client.set_read_timeout(Some(LIMIT)).unwrap();
        assert_eq!(read_until_end(&mut client), b"");
    }
}

#[test]
fn a_hostile_server_is_as_hostile_again() {
    let sent: Vec<u8> = (0..10_000_u32).flat_map(|number| (number % 60).to_be_bytes()).collect();
    let play = |seed| {
        let (proxy, mut client) = start(Behaviour::mutate_from_server(seed));
        client.write_all(&sent).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut received = Vec::new();
        // Silence is a way to be hostile.
        let _ = client.take(100_000).read_to_end(&mut received);
        (received, proxy.edits())
    };
    let damaged = (0..20).filter(|&seed| {
        let (received, edits) = play(seed);
        assert_eq!(edits, play(seed).1, "seed {seed}");
        assert!(received == sent || !edits.is_empty(), "seed {seed}");
        !edits.is_empty()
    });
    assert!(damaged.count() > 15);
}

#[test]
fn after_a_limit_nothing_but_dummies_may_follow() {
    let behaviour = Behaviour {
        from_server: Flow { limit: Some((2, Limit::Dummies)), ..Flow::default() },
        ..Behaviour::pass()
    };
    let (proxy, mut client) = start(behaviour);
    client.write_all(b"hello").unwrap();
    let mut received = [0; 14];
    client.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"he\0\0\0\x47\0\0\0\x47\0\0\0\x47");
    drop(proxy);
}

#[test]
fn delay_is_felt_once_per_direction() {
    let delay = Duration::from_millis(40);
    let (_proxy, mut client) = start(Behaviour::delay(delay));
    let begin = Instant::now();
    // Many chunks are under way at the same time, so together they take hardly longer than one.
    for _ in 0..20 {
        client.write_all(&[7; 1000]).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    client.read_exact(&mut [0; 20_000]).unwrap();
    let took = begin.elapsed();
    assert!(took >= 2 * delay, "{took:?}");
    assert!(took < 20 * delay, "{took:?}");
}

#[test]
fn mischief_begins_with_the_next_answer() {
    let pause = Duration::from_millis(20);
    let (proxy, mut client) = start(Behaviour::pass());
    client.write_all(b"before").unwrap();
    client.read_exact(&mut [0; 6]).unwrap();
    proxy.turn_to(Mischief::Trickle(pause));
    let begin = Instant::now();
    client.write_all(b"bytes").unwrap();
    client.read_exact(&mut [0; 5]).unwrap();
    assert!(begin.elapsed() >= 4 * pause, "{:?}", begin.elapsed());

    let (proxy, mut client) = start(Behaviour::pass());
    proxy.turn_to(Mischief::dummies(pause));
    client.write_all(b"is anybody there?").unwrap();
    let mut received = [0; 8];
    client.read_exact(&mut received).unwrap();
    assert_eq!(received, [0, 0, 0, 71, 0, 0, 0, 71]);

    let (proxy, mut client) = start(Behaviour::pass());
    proxy.turn_to(Mischief::Silence);
    client.write_all(b"hello").unwrap();
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(is_timeout(&client.read(&mut [0]).unwrap_err()));
}

#[test]
fn unreachable_server_closes_the_client() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let proxy = Proxy::start(nobody, Behaviour::pass()).unwrap();
    let mut client = connect(&proxy);
    assert_eq!(read_until_end(&mut client), b"");
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn drop_closes_connections_and_port() {
    let (proxy, mut client) = start(Behaviour::pass());
    client.write_all(b"x").unwrap();
    client.read_exact(&mut [0]).unwrap();
    let address = proxy.address();
    drop(proxy);
    assert_eq!(read_until_end(&mut client), b"");
    TcpStream::connect_timeout(&address, LIMIT).unwrap_err();
}

fn start(behaviour: Behaviour) -> (Proxy, TcpStream) {
    let proxy = Proxy::start(echo(), behaviour).unwrap();
    let client = connect(&proxy);
    (proxy, client)
}

fn connect(proxy: &Proxy) -> TcpStream {
    let client = TcpStream::connect_timeout(&proxy.address(), LIMIT).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    client
}

/// A server that sends back what it receives, for one connection.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let _ = std::io::copy(&mut &socket, &mut &socket);
    });
    address
}

/// What comes until the end; a reset is an end as well.
fn read_until_end(client: &mut TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    match client.read_to_end(&mut received) {
        Ok(_) => received,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => received,
        Err(error) => panic!("{error}"),
    }
}

/// Linux and Windows name it differently.
fn is_timeout(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

const LIMIT: Duration = Duration::from_secs(10);
