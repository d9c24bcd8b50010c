//! The way bytes arrive does not matter: the property that makes a sans-IO core testable.

use crate::player::{Delivery, Said};
use crate::sessions::{Played, Session};
use crate::transcript::NAMES;

/// Plays a recording and compares the result, except the number of reads, with that of another delivery.
#[track_caller]
fn assert_same(session: &Session, whole: &Played, delivery: Delivery, how: &str) {
    let played = session.play(delivery);
    let name = session.transcript.name;
    assert_eq!(played.result, Ok(()), "{name}, {how}");
    assert_eq!(played.said(), whole.said(), "{name}, {how}");
    assert_eq!(played.written, whole.written, "{name}, {how}");
    let mut stats = *played.stats();
    assert!(stats.receives >= whole.stats().receives, "{name}, {how}");
    stats.receives = whole.stats().receives;
    assert_eq!(stats, *whole.stats(), "{name}, {how}");
}

#[test]
fn byte_by_byte_gives_the_same_events() {
    for name in NAMES {
        let session = Session::load(name);
        let whole = session.play(Delivery::whole());
        assert_same(&session, &whole, Delivery::in_pieces(|| 1), "byte by byte");
    }
}

#[test]
fn random_pieces_give_the_same_events() {
    for name in NAMES {
        let session = Session::load(name);
        let whole = session.play(Delivery::whole());
        for seed in 0..40 {
            let max = [2, 7, 33, 150][seed as usize % 4];
            assert_same(&session, &whole, Delivery::random(seed, max), &format!("seed {seed}, up to {max}"));
        }
    }
}

/// One split at every position. Unlike single bytes, this delivers a packet together with half of the next.
#[test]
fn a_border_anywhere_gives_the_same_events() {
    for name in NAMES {
        let session = Session::load(name);
        if session.transcript.encrypted {
            continue; // their packets are those of handshake-*
        }
        let whole: Vec<Said> = session.play_attached(Delivery::whole()).player.said;
        let longest = session.transcript.turns.iter().map(|turn| turn.server.len()).max().unwrap_or_default();
        for first in 1..longest {
            // The first piece of each turn has this size; the next one is the rest.
            let mut sizes = [first, usize::MAX].into_iter().cycle();
            let played = session.play_attached(Delivery::in_pieces(move || sizes.next().unwrap_or(1)));
            assert_eq!(played.result, Ok(()), "{name}, border at {first}");
            assert_eq!(played.said(), whole, "{name}, border at {first}");
        }
    }
}
