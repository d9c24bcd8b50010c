//! Recordings cut off or damaged at every byte: events or a typed error, never a panic, never much memory.

use crate::memory;
use crate::player::{Delivery, Random};
use crate::rows::{fetch, number_and_text};
use crate::script::{self, Server, packets, response, version};
use crate::sessions::{Played, Session};
use crate::transcript::NAMES;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::{Limits, Op, ProtocolError};

/// The most memory that a damaged conversation may take: buffers of a connection, and what the test keeps.
const MEMORY: usize = 2 << 20;

/// Plays a recording up to position `cut` of the server's stream, where the peer disconnects.
fn assert_closed(played: &mut Played, name: &str, cut: usize) {
    assert_eq!(played.result, Err(ProtocolError::Closed), "{name}, cut at {cut}");
    played.player.assert_failed(&ProtocolError::Closed);
}

#[test]
fn a_stream_cut_anywhere_ends_as_closed() {
    for name in NAMES {
        let session = Session::load(name);
        if !session.transcript.encrypted {
            for cut in 0..session.server_bytes(session.handshake) {
                let delivery = Delivery { cut: Some(cut), ..Delivery::whole() };
                assert_closed(&mut session.play_attached(delivery), name, cut);
            }
        }
        if name.starts_with("handshake") || name.starts_with("crypt") {
            for cut in 0..session.server_bytes(0) {
                let delivery = Delivery { cut: Some(cut), ..Delivery::whole() };
                assert_closed(&mut session.play(delivery), name, cut);
            }
        }
    }
}

/// The events before the cut are the first ones of the whole conversation.
#[test]
fn events_before_a_cut_are_those_of_the_whole_stream() {
    for name in ["fetch-nulls-p19", "inline-blob-p19", "batch-error-p19", "errors-p19"] {
        let session = Session::load(name);
        let whole = session.play_attached(Delivery::whole());
        let mut last = 0;
        for cut in 0..session.server_bytes(session.handshake) {
            let delivery = Delivery { cut: Some(cut), ..Delivery::in_pieces(|| 5) };
            let played = session.play_attached(delivery);
            let said = played.said().len();
            assert_eq!(played.said(), &whole.said()[..said], "{name}, cut at {cut}");
            assert!(said >= last, "{name}, cut at {cut}: more bytes, fewer events");
            last = said;
        }
        assert_eq!(last, whole.said().len() - 1, "the last byte completes the last event");
    }
}

/// Plays a damaged recording within bounds. Whether the damage is noticed depends on its position.
fn play_damaged(session: &Session, attached: bool, place: usize, flip: u8, piece: usize) -> Played {
    let delivery = Delivery { flip: Some((place, flip)), ..Delivery::in_pieces(move || piece) };
    let play = || if attached { session.play_attached(delivery) } else { session.play(delivery) };
    let (peak, mut played) = memory::peak(play);
    let what = format!("{}, byte {place} ^ {flip:#x}", session.transcript.name);
    assert!(peak < MEMORY, "{what}: {peak} bytes");
    match played.player.connection.failure().cloned() {
        Some(error) => {
            assert_eq!(played.result.as_ref(), Err(&error), "{what}");
            played.player.assert_failed(&error);
        }
        // The handshake may wait for more bytes; then no request is possible.
        None if played.result.is_err() => {
            assert!(matches!(played.result, Err(ProtocolError::Misuse(_))), "{what}")
        }
        None => {}
    }
    played
}

const FLIPS: [u8; 4] = [0x01, 0x80, 0xff, 0x20];

#[test]
fn a_damaged_byte_after_the_handshake_gives_events_or_a_typed_error() {
    let mut failed = 0;
    let mut total = 0;
    for name in NAMES {
        let session = Session::load(name);
        if session.transcript.encrypted {
            continue;
        }
        for place in 0..session.server_bytes(session.handshake) {
            for (flip, piece) in FLIPS.into_iter().zip([usize::MAX, 100, 7, usize::MAX]) {
                let played = play_damaged(&session, true, place, flip, piece);
                failed += usize::from(played.result.is_err());
                total += 1;
            }
        }
    }
    // Most bytes are data; a rate near zero or one would mean that the test damages the wrong bytes.
    assert!(failed * 20 > total && failed * 2 < total, "{failed} of {total} failed");
}

#[test]
fn a_damaged_byte_of_the_handshake_gives_events_or_a_typed_error() {
    let mut attached = 0;
    for name in NAMES.into_iter().filter(|name| name.starts_with("handshake") || name.starts_with("crypt")) {
        let session = Session::load(name);
        for place in 0..session.server_bytes(0) {
            let played =
                play_damaged(&session, false, place, FLIPS[place % 4], [usize::MAX, 7][place / 4 % 2]);
            attached += usize::from(played.player.is_attached());
        }
    }
    // The salt, the key and stale words may have any value; a handshake without encryption does not notice.
    assert!(attached > 0);
}

/// Damage in several places at once, and pieces of any size.
#[test]
fn random_damage_gives_events_or_a_typed_error() {
    let mut random = Random(1);
    for name in NAMES.into_iter().filter(|name| !name.starts_with("crypt")) {
        let mut session = Session::load(name);
        let from = session.handshake;
        let original: Vec<Vec<u8>> =
            session.transcript.turns.iter().map(|turn| turn.server.clone()).collect();
        for _ in 0..300 {
            for (turn, original) in session.transcript.turns.iter_mut().zip(&original).skip(from) {
                turn.server.clone_from(original);
                for _ in 0..random.below(4) {
                    let place = random.below(turn.server.len().max(1));
                    if let Some(byte) = turn.server.get_mut(place) {
                        *byte = random.next() as u8;
                    }
                }
            }
            let piece = 1 + random.below(300);
            play_damaged(&session, true, usize::MAX, 0, piece);
        }
    }
}

#[test]
fn unknown_operations_are_refused_in_every_state() {
    for number in [0, 5, 255, 65_536, u32::MAX] {
        let packet = packets(|out| out.word(number));
        let mut server = Server::listen(script::options(), Limits::default());
        assert!(matches!(server.says(&packet), Err(ProtocolError::UnexpectedPacket { .. })), "{number}");
        for ask in [false, true] {
            let mut player = script::attached(version(19), Limits::default());
            if ask {
                let _ticket = fetch(&mut player, &number_and_text());
            }
            let error = player.read(&packet).expect_err("no such packet");
            let unexpected = matches!(error, ProtocolError::UnexpectedPacket { op, .. } if op == Op(number));
            assert!(unexpected, "{number}: {error}");
            player.assert_failed(&error);
        }
    }
    // A status vector with an argument of an unknown kind cannot be read further either.
    let mut player = script::attached(version(19), Limits::default());
    let _ticket = player.send(&Ping).expect("attached");
    assert!(matches!(player.read(&response(0, &[], &[3, 0, 0])), Err(ProtocolError::InvalidMessage(_))));
}

#[test]
fn an_answer_before_its_request_is_refused() {
    let mut player = script::attached(version(19), Limits::default());
    let _first = player.send(&Ping).expect("attached");
    player.written().expect("it can be written");
    let _second = player.send(&Ping).expect("attached");
    let answer = script::response(0, &[], &[0]);
    let mut deliver = |bytes: &[u8]| {
        let space = player.connection.space()?;
        space[..bytes.len()].copy_from_slice(bytes);
        player.connection.received(bytes.len())?;
        player.connection.next_event().map(|event| event.is_some())
    };
    assert_eq!(deliver(&answer), Ok(true));
    // The same again, while the second request is not yet sent.
    let error = deliver(&answer);
    assert!(matches!(error, Err(ProtocolError::UnexpectedPacket { op: Op::RESPONSE, .. })), "{error:?}");
}
