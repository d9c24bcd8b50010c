//! Recorded sessions from the first answer to the end, with a server that damages its bytes.

use crate::player::Delivery;
use crate::sessions::{Played, Session};
use crate::transcript::NAMES;
use firearrow_proto::wire::ProtocolError;
use firearrow_testkit::{Choice, Mutator};

/// The size of a flood; all packets after that are the same.
const FLOOD: usize = 1 << 16;

thread_local! {
    static SESSIONS: Vec<Session> = NAMES.into_iter().map(Session::load).collect();
}

/// A recording, the pieces in which it arrives, and what the damage depends on.
pub(crate) fn run(data: &[u8]) {
    if let [recording, pieces, damage @ ..] = data {
        let _ = play(usize::from(*recording), usize::from(*pieces), Choice::from_bytes(damage));
    }
}

/// Plays the recording with this number and checks how it ended.
pub(crate) fn play(recording: usize, pieces: usize, damage: Choice) -> Result<(), ProtocolError> {
    SESSIONS.with(|sessions| {
        let session = &sessions[recording % sessions.len()];
        let delivery =
            if pieces == 0 { Delivery::whole() } else { Delivery::random(pieces as u64, 16 * pieces) };
        // A handshake needs a login, which costs more than everything else.
        let has_login = session.transcript.encrypted || session.transcript.name.starts_with("handshake");
        let length = session.server_bytes(if has_login { 0 } else { session.handshake });
        let mutator = Some(Mutator::new(damage, length as u64, FLOOD));
        let delivery = Delivery { mutator, ..delivery };
        let played = if has_login { session.play(delivery) } else { session.play_attached(delivery) };
        check(played)
    })
}

fn check(mut played: Played) -> Result<(), ProtocolError> {
    match played.player.connection.failure().cloned() {
        Some(error) => {
            assert_eq!(played.result.as_ref(), Err(&error));
            played.player.assert_failed(&error);
        }
        // The handshake may wait for more bytes; then no request is possible.
        None => {
            assert!(matches!(played.result, Ok(()) | Err(ProtocolError::Misuse(_))), "{:?}", played.result)
        }
    }
    played.result
}
