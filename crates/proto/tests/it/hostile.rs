//! Recorded sessions with a server that damages its bytes in every way that the mutating proxy knows: events or a typed
//! error, never a panic, never much memory. `make hostile` does the same to real servers and the whole client.

use crate::bodies::session;
use crate::memory;
use crate::transcript::NAMES;
use firearrow_proto::wire::ProtocolError;
use firearrow_testkit::Choice;
use std::collections::BTreeMap;

/// Seeds for each recording.
const SEEDS: u64 = 150;
/// The buffers of a connection, the bytes of a flood, and every value that the player keeps.
const MEMORY: usize = 24 << 20;

#[test]
fn sessions_with_a_hostile_server_end_in_events_or_a_typed_error() {
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    for (recording, name) in NAMES.into_iter().enumerate() {
        for seed in 0..SEEDS {
            let pieces = (seed % 4) as usize * 5;
            let run = || session::play(recording, pieces, Choice::from_seed(seed));
            let (peak, result) = memory::peak(run);
            assert!(peak < MEMORY, "{name}, seed {seed}: {peak} bytes");
            let end = match result {
                Ok(()) => "played",
                Err(ProtocolError::Closed) => "closed",
                Err(ProtocolError::UnexpectedPacket { .. }) => "unexpected packet",
                Err(ProtocolError::InvalidMessage(_)) => "invalid message",
                Err(ProtocolError::TooLong { .. }) => "too long",
                Err(_) => "other",
            };
            *ends.entry(end).or_default() += 1;
        }
    }
    // Each error occurs, and most of the damage is noticed.
    let all: u64 = ends.values().sum();
    assert!(ends.len() >= 5 && ends["played"] * 3 < all * 2, "{ends:?}");
}
