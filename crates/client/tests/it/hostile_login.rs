//! Peers that are no servers: what they get from a client before anybody has logged in, and what they are told.

use firearrow::config::{CipherKind, KeySource};
use firearrow::{Config, Connection, Kind, Warning};
use firearrow_testkit::scripted::{ScriptedServer, packet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The newest protocol: clients that offer it are told that they may have it.
const PROTOCOL: u16 = 19;

/// A peer that answers the requests of its clients, in order, whatever they ask.
fn answering(answers: Vec<Vec<u8>>) -> ScriptedServer {
    ScriptedServer::answering(PROTOCOL, answers).expect("a free port")
}

/// How to connect to a peer.
fn config(peer: &ScriptedServer, options: &str) -> Config {
    let url = format!("firebird://alice:hunter2@{}/x?connect_timeout=15&{options}", peer.address());
    Config::parse_trusted(&url).expect("a valid URL")
}

/// `op_response` without an error.
fn ok() -> Vec<u8> {
    packet::response(0, &[])
}

/// `op_accept_data` with data for a login that still has to come.
fn login_wanted() -> Vec<u8> {
    packet::accept_data(PROTOCOL, &packet::srp_data(), false)
}

fn contains(heard: &[u8], part: &[u8]) -> bool {
    heard.windows(part.len()).any(|window| window == part)
}

/// A command that prints a key, and leaves a line for each of its runs.
fn key_command(runs: &Path, key: &str) -> Option<KeySource> {
    Some(KeySource::Command(format!("echo run>> \"{}\" && echo {key}", runs.display())))
}

#[test]
fn a_key_is_not_sent_in_clear_text_and_its_command_does_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    for answers in [
        // Before anything else, as servers with an encrypted user database ask; and with the attach.
        vec![packet::key_question()],
        vec![login_wanted(), packet::key_question()],
    ] {
        let peer = answering(answers);
        let mut config = config(&peer, "");
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
    let peer = answering(vec![packet::key_question().repeat(2000)]);
    let mut config = config(&peer, "db_key_in_clear=yes&create_if_missing=yes");
    config.db_key = key_command(&runs, "d1sk-k3y");
    let error = Connection::open(&config).expect_err("too many questions");
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    assert_eq!(std::fs::read_to_string(&runs).expect("it ran").trim_end(), "run");
    drop(peer);
}

#[test]
fn a_key_command_ends_with_the_time_to_connect() {
    let peer = answering(vec![packet::key_question()]);
    let mut config = config(&peer, "db_key_in_clear=yes");
    config.connect_timeout = Duration::from_millis(300);
    let slow = if cfg!(windows) { "ping -n 600 127.0.0.1 >nul & echo key" } else { "sleep 600; echo key" };
    config.db_key = Some(KeySource::Command(slow.into()));
    let start = Instant::now();
    let error = Connection::open(&config).expect_err("it takes too long");
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
    assert!(error.message().contains("connect_timeout"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
    drop(peer);
}

#[test]
fn a_peer_that_authenticates_nobody_is_refused_unless_asked_for() {
    let welcome = || vec![packet::accept_data(PROTOCOL, b"", true), ok(), ok()];
    let peer = answering(welcome());
    let error = Connection::open(&config(&peer, "")).expect_err("nobody was asked for a proof");
    assert_eq!(error.kind(), Kind::Login, "{error}");
    assert!(error.message().contains("allow_no_authentication=yes"), "{error}");
    let peer_heard = peer.heard();
    assert!(!contains(&peer_heard, b"\0\0\0\x13\0\0\0\0"), "op_attach was sent");

    let bare = answering(vec![packet::accept(PROTOCOL), ok()]);
    let error = Connection::open(&config(&bare, "")).expect_err("nobody was asked for a proof");
    assert_eq!(error.kind(), Kind::Login, "{error}");

    let peer = answering(welcome());
    let connection =
        Connection::open(&config(&peer, "allow_no_authentication=yes")).expect("it was asked for");
    drop(connection);
}

#[test]
fn a_peer_without_encryption_is_a_warning_and_no_answer_to_a_named_cipher() {
    // Whatever the proof, it is taken; no cipher is offered.
    let answers = || vec![packet::cond_accept(PROTOCOL), ok(), ok(), ok()];
    let peer = answering(answers());
    let connection =
        Connection::open(&config(&peer, "clear_text_warning=always")).expect("enabled allows it");
    let server = peer.address().to_string();
    let [Warning::ClearText { server: named, .. }] = connection.warnings() else {
        panic!("{:?}", connection.warnings())
    };
    assert_eq!(*named, server);
    assert!(!connection.wire_stats().encrypted);
    drop(connection);
    // On this machine nobody is in between.
    let peer = answering(answers());
    let connection = Connection::open(&config(&peer, "")).expect("enabled allows it");
    assert_eq!(connection.warnings(), []);
    drop(connection);

    for options in
        ["wire_crypt_plugin=ChaCha64", "wire_crypt=required", "wire_crypt=required&wire_crypt_plugin=Arc4"]
    {
        let peer = answering(answers());
        let error = Connection::open(&config(&peer, options)).expect_err("there is no cipher");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
        assert!(error.message().contains("wire_crypt_plugin"), "{error}");
        assert!(!error.message().contains("wire_crypt=enabled"), "{error}");
        assert!(!contains(&peer.heard(), b"\0\0\0\x13\0\0\0\0"), "op_attach was sent");
    }
}

/// Warnings in the status vector of the attach: data, not only a line in a log.
#[test]
fn warnings_of_the_server_are_handed_on() {
    let warned = packet::warning(b"the database is \x1b[31mold");
    let peer = answering(vec![login_wanted(), warned, ok()]);
    let connection = Connection::open(&config(&peer, "")).expect("warnings are no errors");
    let [warning @ Warning::Server(_)] = connection.warnings() else { panic!("{:?}", connection.warnings()) };
    assert_eq!(warning.to_string(), "the database is \x1b[31mold");
}

#[test]
fn the_key_may_be_sent_where_that_is_asked_for() {
    let peer = answering(vec![packet::key_question(), login_wanted(), ok(), ok()]);
    let mut config = config(&peer, "db_key_in_clear=yes");
    config.db_key = Some(KeySource::Literal(b"d1sk-k3y".to_vec()));
    assert_eq!(config.ciphers, Vec::<CipherKind>::new());
    drop(Connection::open(&config).expect("the peer is content"));
    assert!(contains(&peer.heard(), b"d1sk-k3y"));
}
