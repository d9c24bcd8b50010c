//! Compression, alone and below encryption.

use crate::player::Said;
use crate::script::*;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::wire::compress::CompressError;
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::crypt::CipherKind;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::statement::ExecuteImmediate;
use firearrow_proto::wire::{Limits, Op, ProtocolError};

fn listen() -> Server {
    let mut server = Server::listen(ConnectOptions { compress: true, ..options() }, Limits::default());
    let flags = server.heard.len() - 6;
    assert_eq!(server.heard[flags..][..2], [1, 5], "op_connect asks for compression");
    server.heard.clear();
    server
}

/// A server that compresses from its accept packet on.
fn compressing(accepted: &[u8]) -> Server {
    let mut server = listen();
    server.says(accepted).expect("a good packet");
    assert!(server.client.connection.is_compressed());
    server.start_compression();
    server
}

fn attached() -> Server {
    let mut server = compressing(&accept(19, LAZY | COMPRESS));
    assert!(server.hears().starts_with(&Op::ATTACH.0.to_be_bytes()));
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
    server.client.said.clear();
    server
}

/// An answer with this many bytes, partly compressible.
fn answer(length: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..length as u32).map(|number| (number.wrapping_mul(number) >> 5) as u8).collect();
    ok(&data)
}

#[test]
fn both_directions_are_compressed_after_the_accept_packet() {
    let mut server = attached();
    let sql = "insert into t values (1);".repeat(400);
    let request = ExecuteImmediate { transaction: 1, dialect: Dialect::Three, sql: &sql };
    let before = *server.client.connection.stats();
    let ticket = server.client.send(&request).expect("an attached connection");
    assert!(server.hears().windows(sql.len()).any(|window| window == sql.as_bytes()));
    server.says(&answer(60_000)).expect("a good packet");
    let [Said::Response(answered, response)] = &server.client.said[..] else { panic!("one answer") };
    assert_eq!((*answered, response.data.len()), (ticket, 60_000));

    let stats = server.client.connection.stats().since(&before);
    assert!(stats.bytes_sent > 10_000 && stats.wire_bytes_sent < 1_000, "{stats:?}");
    assert_eq!(stats.bytes_received, answer(60_000).len() as u64);
    assert!(stats.wire_bytes_received < stats.bytes_received, "{stats:?}");
    assert_eq!((stats.packets_sent, stats.packets_received, stats.round_trips), (1, 1, 1));
}

#[test]
fn pieces_of_the_compressed_stream_do_not_matter() {
    for piece in [1, 2, 13, 1000] {
        let mut server = attached();
        for length in [0, 1, 500, 20_000] {
            let _ticket = server.client.send(&Ping).expect("an attached connection");
            let wire = server.transformed(&answer(length));
            for piece in wire.chunks(piece) {
                server.client.read(piece).expect("a good packet");
            }
        }
        let lengths: Vec<usize> = server
            .client
            .said
            .iter()
            .map(|said| match said {
                Said::Response(_, response) => response.data.len(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(lengths, [0, 1, 500, 20_000]);
    }
}

/// Inflating goes in steps of 256 KiB, and one may end with all input consumed but not all output produced.
#[test]
fn packets_are_complete_as_soon_as_their_last_byte_can_be_inflated() {
    let step = (256 << 10) / 4;
    for count in step..step + 70 {
        let mut server = attached();
        let before = server.client.connection.stats().packets_received;
        let wire = server.transformed(&packets(|out| (0..count).for_each(|_| out.op(Op::DUMMY))));
        // Without the marker that follows the last block.
        server.client.read(&wire[..wire.len() - 4]).expect("good packets");
        assert_eq!(
            server.client.connection.stats().packets_received - before,
            count,
            "{} beyond",
            count - step
        );
    }
}

#[test]
fn compressed_data_are_encrypted_if_both_are_agreed_on() {
    for (cipher, iv) in
        [(CipherKind::ChaCha64, &[9; 8][..]), (CipherKind::ChaCha, &[9; 16]), (CipherKind::Arc4, &[])]
    {
        let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
        let mut server = compressing(&accept_auth(Op::COND_ACCEPT, 19, LAZY | COMPRESS, auth));
        assert!(server.hears().starts_with(&Op::CONT_AUTH.0.to_be_bytes()));
        let offer = keys(cipher.name(), &[("ChaCha64", &[9; 8]), ("ChaCha", &[9; 16])]);
        server.says(&ok(&offer)).expect("a good packet");
        let crypt = server.hears();
        assert_eq!(
            crypt,
            packets(|out| {
                out.op(Op::CRYPT);
                out.cstr(cipher.name().as_bytes());
                out.cstr(b"Symmetric");
            })
        );
        server.start_encryption(cipher, iv);
        server.says(&ok(&[])).expect("a good packet");
        assert!(server.hears().starts_with(&Op::ATTACH.0.to_be_bytes()));
        server.says(&ok(&[])).expect("a good packet");
        assert!(server.client.is_attached());
        assert_eq!(server.client.connection.cipher(), Some(cipher));
        // Many packets, so that both keystreams and both windows run on.
        for length in [0, 10, 60_000, 3] {
            let _ticket = server.client.send(&Ping).expect("an attached connection");
            assert_eq!(server.hears(), packets(|out| out.op(Op::PING)));
            server.says(&answer(length)).expect("a good packet");
        }
        assert_eq!(server.client.said.len(), 5);
    }
}

/// The new stage does not protect such bytes: a man in the middle could have inserted them.
#[test]
fn bytes_before_a_new_stage_are_refused() {
    let dummy = packets(|out| out.op(Op::DUMMY));
    let in_front_of = |error: &ProtocolError, stage: &str| match error {
        ProtocolError::InvalidMessage(text) => text.ends_with(stage),
        _ => false,
    };
    // Compression: anything plain that follows the accept packet in the same read.
    let mut server = listen();
    let error = server.says(&[accept(19, LAZY | COMPRESS), dummy.clone()].concat()).expect_err("too early");
    assert!(in_front_of(&error, "compression"), "{error}");
    server.client.assert_failed(&error);
    assert!(server.heard.is_empty());

    // Encryption: anything that follows the answer that ends authentication.
    let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
    for (kind, compress) in [(LAZY, false), (LAZY | COMPRESS, true)] {
        let mut server = listen();
        server.says(&accept_auth(Op::COND_ACCEPT, 19, kind, auth)).expect("a good packet");
        if compress {
            server.start_compression();
        }
        let _proof = server.hears();
        let forged = [ok(&keys("Arc4", &[])), ok(&[])].concat();
        let error = server.says(&forged).expect_err("too early");
        assert!(in_front_of(&error, "encryption"), "{error}");
        server.client.assert_failed(&error);
    }
}

/// A packet can be read before the marker that ends its write has arrived. A new stage must wait for the marker, and
/// for nothing else.
#[test]
fn encryption_waits_for_the_end_of_the_compressed_write() {
    let authenticating = || {
        let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
        let mut server = compressing(&accept_auth(Op::COND_ACCEPT, 19, LAZY | COMPRESS, auth));
        let _proof = server.hears();
        let wire = server.transformed(&ok(&keys("Arc4", &[])));
        assert!(wire.ends_with(&[0, 0, 0xff, 0xff]));
        (server, wire)
    };
    let (_, wire) = authenticating();
    for cut in 1..wire.len() {
        let (mut server, wire) = authenticating();
        server.client.read(&wire[..cut]).expect("the beginning of a packet");
        assert_eq!(server.hears(), [], "cut at {cut}");
        server.client.read(&wire[cut..]).expect("the rest");
        assert!(server.hears().starts_with(&Op::CRYPT.0.to_be_bytes()), "cut at {cut}");
    }
    // The beginning of another block produces no plain byte, but it is not encrypted.
    let (mut server, wire) = authenticating();
    let next = server.transformed(&ok(&[]));
    server.client.read(&[&wire, &next[..2]].concat()).expect("no whole packet");
    assert_eq!(server.hears(), []);
    let error = server.client.read(&next[2..]).expect_err("a packet before encryption");
    assert!(matches!(error, ProtocolError::InvalidMessage(_)), "{error}");
    server.client.assert_failed(&error);
}

#[test]
fn pieces_of_a_compressed_and_encrypted_stream_do_not_matter() {
    for piece in [1, 3, 50] {
        let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
        let mut server = compressing(&accept_auth(Op::COND_ACCEPT, 19, LAZY | COMPRESS, auth));
        let say = |server: &mut Server, packet: &[u8]| {
            let wire = server.transformed(packet);
            wire.chunks(piece).for_each(|piece| server.client.read(piece).expect("a good packet"));
            server.hears()
        };
        let _proof = server.hears();
        say(&mut server, &ok(&keys("ChaCha64", &[("ChaCha64", &[9; 8])])));
        server.start_encryption(CipherKind::ChaCha64, &[9; 8]);
        assert!(say(&mut server, &ok(&[])).starts_with(&Op::ATTACH.0.to_be_bytes()));
        say(&mut server, &ok(&[]));
        for length in [0, 10, 5000] {
            let _ticket = server.client.send(&Ping).expect("an attached connection");
            assert_eq!(server.hears(), packets(|out| out.op(Op::PING)));
            say(&mut server, &answer(length));
        }
        assert_eq!(server.client.said.len(), 4, "pieces of {piece}");
    }
}

#[test]
fn a_broken_stream_is_an_error() {
    let mut server = attached();
    let error = server.client.read(b"\xff\xff\xff\xff").expect_err("no deflate block");
    assert_eq!(error, ProtocolError::Compress(CompressError::Corrupt));
    server.client.assert_failed(&error);

    let mut server = attached();
    let error = server.client.read(&[3, 0, 0, 0, 0, 0]).expect_err("a last block with a wrong checksum");
    assert_eq!(error, ProtocolError::Compress(CompressError::Corrupt));
    server.client.assert_failed(&error);
}
