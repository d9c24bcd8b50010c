//! Bytes to write are handed out completely, once, and never lost.

use crate::script::*;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::statement::ExecuteImmediate;
use firearrow_proto::wire::{Limits, Op};

/// Bytes queued while earlier bytes are being written wait for the next write.
#[test]
fn a_packet_queued_during_a_write_is_not_lost() {
    let mut player = attached(version(19), Limits::default());
    let _first = player.send(&Ping).expect("an attached connection");
    let writing = player.connection.outgoing().expect("a working connection").to_vec();
    let _second = player.send(&Ping).expect("an attached connection");
    player.connection.sent();
    assert_eq!(player.written(), Ok(writing));
    assert_eq!(player.written(), Ok(Vec::new()));
}

/// So do bytes that the handshake prepares meanwhile: `op_crypt` is encoded before encryption starts.
#[test]
fn bytes_prepared_during_a_write_are_not_lost() {
    let mut server = listen(|_| {});
    server.says(&cond_accept("Srp256")).expect("a good packet");
    let writing = server.client.connection.outgoing().expect("a working connection").len();
    server.says(&ok(&keys("Arc4", &[]))).expect("a good packet");
    server.client.connection.sent();
    let next = server.hears();
    assert!(next.starts_with(&Op::CRYPT.0.to_be_bytes()), "{next:x?}");
    assert_eq!(server.client.connection.stats().wire_bytes_sent, (server.heard.len() + writing) as u64);
}

#[test]
fn a_large_request_is_handed_out_whole() {
    let mut player = attached(version(19), Limits::default());
    let sql = "x".repeat(3 << 20);
    let _ticket = player
        .send(&ExecuteImmediate { transaction: 1, dialect: Dialect::Three, sql: &sql })
        .expect("an attached connection");
    let written = player.written().expect("a working connection");
    assert_eq!(written.len(), 4 + 4 + 4 + 4 + 4 + sql.len() + 4 + 4);
    assert!(written[20..].starts_with(sql.as_bytes()));
    let _ticket = player.send(&Ping).expect("an attached connection");
    assert_eq!(player.written(), Ok(packets(|out| out.op(Op::PING))));
}
