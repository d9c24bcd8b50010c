//! Events of a server that answers each question at once, for ever, and that nothing was posted.

use firearrow::{Config, Connection};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How long the listener waits.
const LIMIT: Duration = Duration::from_millis(500);
/// How long the server goes on.
const AT_MOST: Duration = Duration::from_secs(15);

const OP_CONNECT: u32 = 1;
const OP_RESPONSE: u32 = 9;
const OP_DISCONNECT: u32 = 6;
const OP_QUE_EVENTS: u32 = 48;
const OP_EVENT: u32 = 52;
const OP_CONNECT_REQUEST: u32 = 53;
const OP_ACCEPT_DATA: u32 = 94;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn text(text: &[u8]) -> Vec<u8> {
    let mut bytes = words(&[text.len() as u32]);
    bytes.extend_from_slice(text);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn response(data: &[u8]) -> Vec<u8> {
    [words(&[OP_RESPONSE, 0, 0, 0]), text(data), words(&[1, 0, 0])].concat()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("a word"))
}

/// Speaks to one client, which sends one packet at a time. Gives the number of its questions.
fn serve(listener: &TcpListener) -> usize {
    let begin = Instant::now();
    let (mut client, _) = listener.accept().expect("a client");
    client.set_nodelay(true).expect("a socket");
    client.set_read_timeout(Some(AT_MOST)).expect("a socket");
    let (mut events, mut questions) = (None::<TcpStream>, 0);
    let mut bytes = [0; 4096];
    loop {
        let count = client.read(&mut bytes).unwrap_or(0);
        if count < 4 || begin.elapsed() > AT_MOST {
            return questions;
        }
        let answer = match word(&bytes, 0) {
            OP_CONNECT => {
                let accepted = words(&[OP_ACCEPT_DATA, 0x8000 | 13, 1, 5, 0, 0, 1, 0]);
                client.write_all(&accepted).expect("it is read");
                continue;
            }
            OP_CONNECT_REQUEST => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
                let port = listener.local_addr().expect("an address").port().to_be_bytes();
                let address = [&[2, 0], &port[..], &[0; 12]].concat();
                client.write_all(&response(&address)).expect("it is read");
                let stream = listener.accept().expect("the second connection").0;
                stream.set_nodelay(true).expect("a socket");
                events = Some(stream);
                continue;
            }
            OP_QUE_EVENTS => {
                questions += 1;
                let length = word(&bytes, 8) as usize;
                let end = 12 + length.next_multiple_of(4);
                let block = text(&bytes[12..12 + length]);
                let id = word(&bytes, end + 8);
                let answer = [words(&[OP_EVENT, 0]), block, words(&[0, 0, id])].concat();
                events.as_mut().expect("it was asked for").write_all(&answer).expect("it is read");
                // The counts are there before the question is confirmed.
                thread::sleep(Duration::from_millis(20));
                response(&[])
            }
            OP_DISCONNECT => return questions,
            _ => response(&[1]),
        };
        if client.write_all(&answer).is_err() {
            return questions;
        }
    }
}

#[test]
fn answers_without_news_do_not_prolong_a_wait() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = server.local_addr().expect("an address");
    let serving = thread::spawn(move || serve(&server));
    let url =
        format!("firebird://u:p@{address}/x?wire_crypt=disabled&allow_no_authentication=yes&read_timeout=2s");
    let connection = Connection::open(&Config::parse(&url).expect("a valid URL")).expect("it opens");
    let listener = connection.events(&["a"]).expect("it listens");
    for limit in [Duration::ZERO, LIMIT] {
        let begin = Instant::now();
        assert_eq!(listener.wait(limit).expect("alive"), None);
        let spent = begin.elapsed();
        assert!(spent >= limit && spent < limit + Duration::from_secs(1), "{spent:?}");
    }
    drop(listener);
    drop(connection);
    let questions = serving.join().expect("no panic");
    assert!((3..100).contains(&questions), "{questions}");
}
