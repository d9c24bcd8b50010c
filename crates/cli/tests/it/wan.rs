//! `firearrow wan-proxy`

use crate::command::{finish, plain, prepare};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_proxy_passes_on_and_counts() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = listener.local_addr().unwrap().to_string();
    let (mut proxy, begin) = start(&[&target, "--rtt", "20ms", "--rate", "10Mbit", "--json"]);
    let begin: serde_json::Value = serde_json::from_str(&begin).unwrap();
    assert_eq!((&begin["target"], &begin["rate_bit_per_s"]), (&target.into(), &10_000_000.into()));
    assert_eq!(begin["round_trip_s"], 0.02);

    let server = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        std::io::copy(&mut &socket, &mut &socket).unwrap();
    });
    let mut client = TcpStream::connect(begin["address"].as_str().unwrap()).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    let sent = Instant::now();
    client.write_all(b"hello").unwrap();
    let mut received = [0; 5];
    client.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"hello");
    assert!(sent.elapsed() >= Duration::from_millis(20));
    drop(client);
    server.join().unwrap();

    interrupt(&proxy);
    let mut end = String::new();
    proxy.stdout.take().unwrap().read_to_string(&mut end).unwrap();
    // There is no other way to end it.
    let outcome = finish(proxy.wait_with_output().unwrap());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (130, ""));
    let end: serde_json::Value = serde_json::from_str(&end).unwrap();
    assert_eq!(end, serde_json::json!({ "connections": 1, "bytes_up": 5, "bytes_down": 5 }));
}

#[test]
fn a_server_that_is_missing_is_named() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let (proxy, begin) = start(&[&nobody.to_string(), "--rtt", "1ms", "--rate", "unlimited"]);
    let (address, rest) = begin.split_once(' ').unwrap();
    assert_eq!(rest, format!("leads to {nobody}: round trip 1ms, unlimited rate\n"));
    let mut client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    assert!(matches!(client.read(&mut [0]), Ok(0) | Err(_)));
    interrupt(&proxy);
    finish(proxy.wait_with_output().unwrap()).failure(130, &[&format!("cannot connect to {nobody}")]);
}

#[test]
fn the_time_limit_is_no_error() {
    let (proxy, _) = start(&["127.0.0.1:1", "--rtt", "1ms", "--rate", "unlimited", "--timeout", "200ms"]);
    let outcome = finish(proxy.wait_with_output().unwrap());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (124, ""));
    assert!(outcome.text().starts_with("connections: 0, "), "{outcome:?}");
}

#[test]
fn what_is_accepted_is_named() {
    let rtt = ["--rtt", "10ms"];
    let rate = ["--rate", "1Mbit"];
    plain(&["wan-proxy", "db:3050", "--rtt", "10", rate[0], rate[1]]).failure(2, &["us, ms or s"]);
    plain(&["wan-proxy", "db:3050", rtt[0], rtt[1], "--rate", "1MB"]).failure(2, &["Mbit", "unlimited"]);
    plain(&["wan-proxy", "db", rtt[0], rtt[1], rate[0], rate[1]]).failure(2, &["db:3050"]);
    plain(&["wan-proxy", "db:3050"]).failure(2, &["--rtt", "--rate"]);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let outcome = plain(&[&["wan-proxy", "127.0.0.1:1", "--listen", &taken], &rtt[..], &rate[..]].concat());
    outcome.failure(1, &[&taken]);
}

/// A running proxy and the line that it printed.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut command = prepare(None, &[&["wan-proxy"], arguments].concat());
    let mut proxy = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    // Without a second line there is nothing more to be buffered and lost.
    BufReader::new(proxy.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (proxy, line)
}

fn interrupt(proxy: &Child) {
    let killed = Command::new("kill").args(["-INT", &proxy.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

const LIMIT: Duration = Duration::from_secs(10);
