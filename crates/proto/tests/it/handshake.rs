//! The recorded handshakes: every byte that the client writes, and the effect of the server's answers.

use crate::player::{Delivery, Player, Said};
use crate::sessions::Session;
use crate::transcript::NAMES;
use firearrow_proto::api::status::StatusVector;
use firearrow_proto::wire::Limits;
use firearrow_proto::wire::crypt::CipherKind;

/// The fields have the recorded values, so nothing may differ. Encrypted turns are compared as ciphertext.
#[test]
fn every_byte_written_is_the_recorded_one() {
    for name in NAMES {
        let session = Session::load(name);
        let played = session.play(Delivery::whole());
        assert_eq!(played.result, Ok(()), "{name}");
        assert_eq!(played.written.len(), session.transcript.turns.len(), "{name}");
        for (turn, written) in played.written.iter().enumerate() {
            // This client always sends the data of its first plugin; this recorded op_connect had none.
            if name == "handshake-p19-contauth" && turn == 0 {
                continue;
            }
            let expected = session.expected(turn);
            let same = written.iter().zip(&expected).take_while(|(a, b)| a == b).count();
            assert!(
                *written == expected,
                "{name}, turn {turn}, differs at {same}:\n{written:x?}\n{expected:x?}"
            );
        }
    }
}

#[test]
fn every_recording_attaches_and_leaves_nothing_unanswered() {
    for name in NAMES {
        let session = Session::load(name);
        let played = session.play(Delivery::whole());
        let connection = &played.player.connection;
        assert_eq!(played.said().first(), Some(&Said::Attached(StatusVector::default())), "{name}");
        assert_eq!(connection.version(), Some(session.transcript.version), "{name}");
        assert_eq!(connection.pending(), 0, "{name}");
        assert_eq!(connection.failure(), None, "{name}");
        assert!(!connection.is_compressed(), "{name}");
    }
}

#[test]
fn recorded_ciphers_are_agreed_on_and_carry_the_session() {
    for (name, cipher) in [
        ("crypt-arc4-p15", Some(CipherKind::Arc4)),
        ("crypt-chacha64-p17", Some(CipherKind::ChaCha64)),
        ("crypt-chacha-p19", Some(CipherKind::ChaCha)),
        ("handshake-p19", None),
    ] {
        let played = Session::load(name).play(Delivery::whole());
        assert_eq!(played.player.connection.cipher(), cipher, "{name}");
        let responses = played.responses();
        assert_eq!(responses.len(), 2, "{name}: ping, detach");
        assert!(responses.iter().all(|response| response.status == StatusVector::default()), "{name}");
    }
}

/// The same server offers three ciphers and sends two vectors: the client's order decides.
#[test]
fn the_clients_order_of_ciphers_decides() {
    let session = Session::load("crypt-chacha-p19");
    for (ciphers, chosen) in [
        (vec![CipherKind::ChaCha64, CipherKind::ChaCha, CipherKind::Arc4], "ChaCha64"),
        (vec![CipherKind::Arc4, CipherKind::ChaCha64], "Arc4"),
    ] {
        let mut options = session.options();
        options.ciphers = ciphers;
        let mut player = Player::open(options, Limits::default()).expect("good options");
        for turn in &session.transcript.turns[..2] {
            let _ = player.written();
            player.read(&turn.server).expect("a recorded answer");
        }
        let crypt = player.written().expect("a working connection");
        assert_eq!(crypt[..4], [0, 0, 0, 96], "op_crypt");
        assert_eq!(&crypt[8..8 + chosen.len()], chosen.as_bytes());
    }
}
