//! The counters mean the same as those of the client library (info items 150 to 158 of Firebird 5).

use crate::player::Delivery;
use crate::sessions::Session;
use crate::transcript::NAMES;
use firearrow_proto::wire::connection::WireStats;

/// Packets sent and received, counted by hand; every row, terminator and inline BLOB is a packet.
const PACKETS: [(&str, u64, u64); 17] = [
    // connect, attach, start, allocate, prepare, create, sync, message, exec, release, ping, rollback, detach, disconnect
    ("batch-error-p17", 14, 13),
    ("batch-error-p19", 14, 13),
    // connect, cont_auth, crypt, attach, ping, detach, disconnect
    ("crypt-arc4-p15", 7, 6),
    ("crypt-chacha-p19", 7, 6),
    ("crypt-chacha64-p17", 7, 6),
    ("describe-truncated-p19", 9, 8),
    ("describe-types-p19", 10, 9),
    ("errors-p15", 13, 12),
    ("errors-p19", 13, 12),
    // Two fetches in one write: two rows, the terminator, the error of the second.
    ("fetch-nulls-p19", 13, 14),
    ("handshake-p13", 5, 4),
    ("handshake-p15", 5, 4),
    ("handshake-p17", 5, 4),
    ("handshake-p19", 5, 4),
    ("handshake-p19-contauth", 6, 5),
    // Twice four rows and a terminator, with three inline BLOBs and with two.
    ("inline-blob-p19", 17, 14 + 8 + 7),
    ("params-types-p19", 10, 9),
];

#[test]
fn packets_are_counted_one_by_one() {
    for (name, sent, received) in PACKETS {
        let played = Session::load(name).play(Delivery::whole());
        let stats = played.stats();
        assert_eq!((stats.packets_sent, stats.packets_received), (sent, received), "{name}");
    }
}

#[test]
fn without_stages_logical_and_wire_bytes_are_those_of_the_recording() {
    for name in NAMES {
        let session = Session::load(name);
        let played = session.play(Delivery::whole());
        let stats = played.stats();
        // The recorded op_connect of this one had no plugin data, so its bytes differ from ours.
        let sent: usize = played.written.iter().map(Vec::len).sum();
        let received = session.server_bytes(0);
        assert_eq!((stats.bytes_sent, stats.wire_bytes_sent), (sent as u64, sent as u64), "{name}");
        assert_eq!(
            (stats.bytes_received, stats.wire_bytes_received),
            (received as u64, received as u64),
            "{name}"
        );
    }
}

#[test]
fn a_round_trip_is_a_change_from_sending_to_receiving() {
    for name in NAMES {
        let session = Session::load(name);
        for (played, reads) in [
            (session.play(Delivery::whole()), session.transcript.turns.len() as u64 - 1),
            (session.play(Delivery::in_pieces(|| 1)), session.server_bytes(0) as u64),
        ] {
            let stats = played.stats();
            // Nothing answers op_disconnect.
            assert_eq!(stats.round_trips, session.transcript.turns.len() as u64 - 1, "{name}");
            assert_eq!(stats.sends, session.transcript.turns.len() as u64, "{name}");
            assert_eq!(stats.receives, reads, "{name}");
        }
    }
}

#[test]
fn since_counts_from_an_earlier_reading() {
    let played = Session::load("handshake-p19").play(Delivery::whole());
    let now = *played.stats();
    assert_eq!(now.since(&WireStats::default()), now);
    let nothing = now.since(&now);
    assert_eq!((nothing.packets_sent, nothing.bytes_received, nothing.round_trips), (0, 0, 0));
}

#[test]
fn parts_add_up() {
    let session = Session::load("handshake-p19");
    let now = *session.play(Delivery::whole()).stats();
    let mut sum = WireStats::default();
    sum += now;
    assert_eq!(sum, now);
    sum += now;
    assert_eq!(sum.since(&now), now);
    assert!(
        [now.packets_sent, now.packets_received, now.bytes_sent, now.bytes_received]
            .into_iter()
            .all(|n| n > 0)
    );
    assert!(
        [now.sends, now.receives, now.wire_bytes_sent, now.wire_bytes_received].into_iter().all(|n| n > 0)
    );
}
