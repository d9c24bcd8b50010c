//! Peers that are no servers: what they get from a client before anybody has logged in, and what they are told.

use firearrow::config::{CipherKind, KeySource};
use firearrow::{Config, Connection, Kind, Warning};
use firearrow_proto::wire::Op;
use firearrow_proto::wire::xdr::Writer;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A peer that sends each of `answers` after something has arrived, to each of its clients; what it has heard.
struct Peer {
    port: u16,
    thread: JoinHandle<Vec<u8>>,
}

impl Peer {
    fn start(clients: usize, answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let thread = thread::spawn(move || {
            let mut heard = Vec::new();
            for _ in 0..clients {
                let (mut stream, _) = listener.accept().expect("a client");
                stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
                let mut answers = answers.iter();
                let mut chunk = [0; 8192];
                while let Ok(count @ 1..) = stream.read(&mut chunk) {
                    heard.extend(&chunk[..count]);
                    // The client may have gone in the middle of it.
                    if answers.next().is_none_or(|answer| stream.write_all(answer).is_err()) {
                        break;
                    }
                }
            }
            heard
        });
        Self { port, thread }
    }

    fn config(&self, options: &str) -> Config {
        let url = format!("firebird://alice:hunter2@127.0.0.1:{}/x?connect_timeout=15&{options}", self.port);
        Config::parse_trusted(&url).expect("a valid URL")
    }

    fn heard(self) -> Vec<u8> {
        self.thread.join().expect("the peer does not panic")
    }
}

fn packet(build: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    build(&mut Writer::new(&mut bytes));
    bytes
}

/// `op_crypt_key_callback`, as it comes before a protocol version is known.
fn key_question() -> Vec<u8> {
    packet(|out| {
        out.op(Op::CRYPT_KEY_CALLBACK);
        out.cstr(b"give it to me");
        out.short(256);
    })
}

fn accept(op: Op, data: &[u8], authenticated: bool) -> Vec<u8> {
    packet(|out| {
        out.op(op);
        [0xffff_8013, 1, 5].into_iter().for_each(|word| out.word(word));
        if op != Op::ACCEPT {
            out.cstr(data);
            out.cstr(b"Srp256");
            out.short(authenticated.into());
            out.cstr(b"");
        }
    })
}

/// `op_response` without an error.
fn ok(data: &[u8]) -> Vec<u8> {
    packet(|out| {
        out.op(Op::RESPONSE);
        out.short(0);
        out.quad(0);
        out.cstr(data);
        [1, 0, 0].into_iter().for_each(|word| out.word(word));
    })
}

/// A salt and a public key, of nobody's account.
fn srp_data() -> Vec<u8> {
    let counted = |text: &[u8]| [&(text.len() as u16).to_le_bytes(), text].concat();
    [counted(&[b'A'; 64]), counted(&[b'7'; 250])].concat()
}

fn contains(heard: &[u8], part: &[u8]) -> bool {
    heard.windows(part.len()).any(|window| window == part)
}

/// A command that prints a key, and leaves a line for each of its runs.
fn key_command(runs: &Path, key: &str) -> Option<KeySource> {
    Some(KeySource::Command(format!("echo run >> '{}'; echo {key}", runs.display())))
}

#[test]
fn a_key_is_not_sent_in_clear_text_and_its_command_does_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    for answers in [
        // Before anything else, as servers with an encrypted user database ask; and with the attach.
        vec![key_question()],
        vec![accept(Op::ACCEPT_DATA, &srp_data(), false), key_question()],
    ] {
        let peer = Peer::start(1, answers);
        let mut config = peer.config("");
        config.db_key = key_command(&runs, "d1sk-k3y");
        let error = Connection::open(&config).expect_err("nobody may read the key");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
        assert!(
            error.message().contains("not encrypted")
                && error.message().contains("FIREARROW_DB_KEY_IN_CLEAR"),
            "{error}"
        );
        let heard = peer.heard();
        assert!(!contains(&heard, b"d1sk-k3y") && contains(&heard, b"alice"));
        assert!(!runs.exists(), "the command ran");
    }
}

/// It ran for every question, 2,000 times, before anybody had logged in.
#[test]
fn a_key_command_runs_once_however_often_the_peer_asks() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    let peer = Peer::start(1, vec![key_question().repeat(2000)]);
    let mut config = peer.config("db_key_in_clear=yes&create_if_missing=yes");
    config.db_key = key_command(&runs, "d1sk-k3y");
    let error = Connection::open(&config).expect_err("too many questions");
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    assert_eq!(std::fs::read_to_string(&runs).expect("it ran"), "run\n");
    drop(peer);
}

#[test]
fn a_key_command_ends_with_the_time_to_connect() {
    let peer = Peer::start(1, vec![key_question()]);
    let mut config = peer.config("db_key_in_clear=yes");
    config.connect_timeout = Duration::from_millis(300);
    config.db_key = Some(KeySource::Command("sleep 600; echo key".into()));
    let start = Instant::now();
    let error = Connection::open(&config).expect_err("it takes too long");
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
    assert!(error.message().contains("connect_timeout"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
    drop(peer);
}

#[test]
fn a_peer_that_authenticates_nobody_is_refused_unless_asked_for() {
    let welcome = || vec![accept(Op::ACCEPT_DATA, b"", true), ok(b""), ok(b"")];
    let peer = Peer::start(1, welcome());
    let error = Connection::open(&peer.config("")).expect_err("nobody was asked for a proof");
    assert_eq!(error.kind(), Kind::Login, "{error}");
    assert!(error.message().contains("allow_no_authentication=yes"), "{error}");
    let peer_heard = peer.heard();
    assert!(!contains(&peer_heard, b"\0\0\0\x13\0\0\0\0"), "op_attach was sent");

    let bare = Peer::start(1, vec![accept(Op::ACCEPT, b"", true), ok(b"")]);
    let error = Connection::open(&bare.config("")).expect_err("nobody was asked for a proof");
    assert_eq!(error.kind(), Kind::Login, "{error}");

    let peer = Peer::start(1, welcome());
    let connection = Connection::open(&peer.config("allow_no_authentication=yes")).expect("it was asked for");
    drop(connection);
}

#[test]
fn a_peer_without_encryption_is_a_warning_and_no_answer_to_a_named_cipher() {
    // Whatever the proof, it is taken; no cipher is offered.
    let answers = || vec![accept(Op::COND_ACCEPT, &srp_data(), false), ok(b""), ok(b""), ok(b"")];
    let peer = Peer::start(1, answers());
    let connection = Connection::open(&peer.config("clear_text_warning=always")).expect("enabled allows it");
    let server = format!("127.0.0.1:{}", peer.port);
    let [Warning::ClearText { server: named, .. }] = connection.warnings() else {
        panic!("{:?}", connection.warnings())
    };
    assert_eq!(*named, server);
    assert!(!connection.wire_stats().encrypted);
    drop(connection);
    // On this machine nobody is in between.
    let peer = Peer::start(1, answers());
    let connection = Connection::open(&peer.config("")).expect("enabled allows it");
    assert_eq!(connection.warnings(), []);
    drop(connection);

    for options in
        ["wire_crypt_plugin=ChaCha64", "wire_crypt=required", "wire_crypt=required&wire_crypt_plugin=Arc4"]
    {
        let peer = Peer::start(1, answers());
        let error = Connection::open(&peer.config(options)).expect_err("there is no cipher");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
        assert!(error.message().contains("wire_crypt_plugin"), "{error}");
        assert!(!error.message().contains("wire_crypt=enabled"), "{error}");
        assert!(!contains(&peer.heard(), b"\0\0\0\x13\0\0\0\0"), "op_attach was sent");
    }
}

/// Warnings in the status vector of the attach: data, not only a line in a log.
#[test]
fn warnings_of_the_server_are_handed_on() {
    let warned = packet(|out| {
        out.op(Op::RESPONSE);
        out.short(0);
        out.quad(0);
        out.cstr(b"");
        // isc_random as a warning, and its text.
        [1, 0, 18, 335_544_382, 2].into_iter().for_each(|word| out.word(word));
        out.cstr(b"the database is \x1b[31mold");
        out.word(0);
    });
    let peer = Peer::start(1, vec![accept(Op::ACCEPT_DATA, &srp_data(), false), warned, ok(b"")]);
    let connection = Connection::open(&peer.config("")).expect("warnings are no errors");
    assert_eq!(connection.warnings(), [Warning::Server("the database is \x1b[31mold".into())]);
}

#[test]
fn the_key_may_be_sent_where_that_is_asked_for() {
    let peer =
        Peer::start(1, vec![key_question(), accept(Op::ACCEPT_DATA, &srp_data(), false), ok(b""), ok(b"")]);
    let mut config = peer.config("db_key_in_clear=yes");
    config.db_key = Some(KeySource::Literal(b"d1sk-k3y".to_vec()));
    assert_eq!(config.ciphers, Vec::<CipherKind>::new());
    drop(Connection::open(&config).expect("the peer is content"));
    assert!(contains(&peer.heard(), b"d1sk-k3y"));
}
