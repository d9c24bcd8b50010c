//! What wire encryption requires of a handshake, and that no secret leaves the client without it.

use crate::player::Player;
use crate::script::*;
use firearrow_proto::api::gds;
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::connection::{ConnectOptions, WireStats};
use firearrow_proto::wire::crypt::{CipherKind, CryptError};
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::{Limits, Op, ProtocolError};

#[test]
fn required_encryption_fails_before_a_proof_is_sent() {
    let required = || listen(|options| options.wire_crypt = WireCrypt::Required);
    let with_data = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
    let done = Auth { authenticated: true, keys: &keys("Arc4", &[]), ..Auth::default() };
    for packet in [
        accept(19, LAZY),
        accept_auth(Op::ACCEPT_DATA, 19, LAZY, with_data),
        accept_auth(Op::ACCEPT_DATA, 19, LAZY, done),
        // Conditional, but authentication ended without a key to encrypt with.
        accept_auth(Op::COND_ACCEPT, 19, LAZY, done),
    ] {
        let mut server = required();
        let error = server.says(&packet).expect_err("no encryption");
        assert!(matches!(&error, ProtocolError::Incompatible(text) if text.contains("WireCrypt")), "{error}");
        assert_eq!(server.client.connection.outgoing(), Err(error.clone()));
        server.client.assert_failed(&error);
        assert_no_proof(&server.heard);
    }
}

#[test]
fn required_encryption_never_attaches_in_plain_text() {
    for keys in [Vec::new(), keys("Rot13", &[]), keys("ChaCha64", &[])] {
        let mut server = listen(|options| options.wire_crypt = WireCrypt::Required);
        server.says(&cond_accept("Srp256")).expect("a good packet");
        let _proof = server.hears();
        let error = server.says(&ok(&keys)).expect_err("no cipher in common");
        assert!(matches!(error, ProtocolError::Incompatible(_)), "{error}");
        server.client.assert_failed(&error);
    }
    // A server that answers op_crypt with an error has not switched encryption on.
    let mut server = listen(|options| options.wire_crypt = WireCrypt::Required);
    server.says(&cond_accept("Srp256")).expect("a good packet");
    server.says(&ok(&keys("Arc4", &[]))).expect("a good packet");
    let _crypt = server.hears();
    server.start_encryption(CipherKind::Arc4, &[]);
    let failure = response(0, &[], &[1, gds::ISC_WIRECRYPT_INCOMPATIBLE.cast_unsigned(), 0]);
    let error = server.says(&failure).expect_err("a refusal");
    assert!(matches!(error, ProtocolError::Refused(_)), "{error}");
    server.client.assert_failed(&error);
}

#[test]
fn legacy_auth_is_left_out_where_encryption_is_required() {
    let plugins = |list: &[AuthPlugin]| {
        let auth_plugins = list.to_vec();
        Player::open(
            ConnectOptions { auth_plugins, wire_crypt: WireCrypt::Required, ..options() },
            Limits::default(),
        )
    };
    let mut player = plugins(&[AuthPlugin::Legacy, AuthPlugin::Srp256]).expect("Srp256 is left");
    let connect = player.written().expect("a working connection");
    assert!(connect.windows(8).any(|window| window == b"\x08\x06Srp256"), "its data come first");
    assert!(!connect.windows(6).any(|window| window == b"Legacy"));
    assert_no_proof(&connect);
    let error = plugins(&[AuthPlugin::Legacy]).err();
    assert!(
        matches!(&error, Some(ProtocolError::Incompatible(text)) if text.contains("auth_plugins")),
        "{error:?}"
    );
}

#[test]
fn legacy_auth_sends_its_hash_if_requested() {
    let mut server = listen(|options| options.auth_plugins = vec![AuthPlugin::Legacy]);
    assert!(
        server.heard.windows(12).any(|window| window == b"\x00QP3LMZ/MJh."),
        "part 0 of the plugin's data"
    );
    let auth = Auth { authenticated: true, plugin: "Legacy_Auth", ..Auth::default() };
    server.says(&accept_auth(Op::ACCEPT_DATA, 19, LAZY, auth)).expect("a good packet");
    assert!(heard_attach(&mut server).is_empty());
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
}

#[test]
fn without_a_common_cipher_enabled_encryption_falls_back_to_plain_text() {
    // Nothing known, vectors missing, and vectors in a protocol that has none.
    for (number, keys) in [
        (19, Vec::new()),
        (19, keys("ChaCha64 ChaCha", &[])),
        (15, keys("ChaCha64", &[("ChaCha64", &[7; 8])])),
    ] {
        let mut server = listen(|_| {});
        let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
        server.says(&accept_auth(Op::COND_ACCEPT, number, LAZY, auth)).expect("a good packet");
        let _proof = server.hears();
        server.says(&ok(&keys)).expect("a good packet");
        assert!(heard_attach(&mut server).is_empty(), "protocol {number}");
        assert_eq!(server.client.connection.cipher(), None);
    }
}

/// A server chooses the counter in the vector of ChaCha, and so when the keystream ends: here after 64 bytes, enough
/// for the answer to `op_crypt` but not for `op_attach`.
#[test]
fn a_cipher_that_fails_lets_no_plain_text_out() {
    let mut iv = [7; 16];
    iv[12..].copy_from_slice(&0xffff_fffe_u32.to_be_bytes());
    let mut server = listen(|options| {
        options.ciphers = vec![CipherKind::ChaCha];
        options.database = "secret".repeat(20);
    });
    server.says(&cond_accept("Srp256")).expect("a good packet");
    let _proof = server.hears();
    server.says(&ok(&keys("ChaCha", &[("ChaCha", &iv)]))).expect("a good packet");
    assert!(server.hears().starts_with(&Op::CRYPT.0.to_be_bytes()));
    server.start_encryption(CipherKind::ChaCha, &iv);
    server.says(&ok(&[])).expect("a good packet");
    let exhausted = ProtocolError::Crypt(CryptError::Exhausted);
    assert_eq!(server.client.connection.outgoing(), Err(exhausted.clone()));
    server.client.assert_failed(&exhausted);
}

/// The attack: a peer that does not know the password accepts any proof and claims that encryption has begun.
#[test]
fn a_peer_without_the_session_key_is_refused_before_the_attach() {
    for (wire_crypt, compress) in
        [(WireCrypt::Enabled, false), (WireCrypt::Required, false), (WireCrypt::Enabled, true)]
    {
        let mut server = listen(|options| (options.wire_crypt, options.compress) = (wire_crypt, compress));
        let kind = if compress { LAZY | COMPRESS } else { LAZY };
        let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
        server.says(&accept_auth(Op::COND_ACCEPT, 19, kind, auth)).expect("a good packet");
        if compress {
            server.start_compression();
        }
        let _proof = server.hears();
        server.says(&ok(&keys("Arc4", &[]))).expect("a good packet");
        assert!(server.hears().starts_with(&Op::CRYPT.0.to_be_bytes()));
        // In clear text, which anyone can send.
        let error = server.says(&ok(&[])).expect_err("a peer without the key");
        assert_eq!(error, ProtocolError::NotEncrypted, "compressed: {compress}");
        server.client.assert_failed(&error);
        assert!(!server.client.is_attached());
    }
}

#[test]
fn stats_report_whether_the_connection_is_encrypted() {
    let mut server = listen(|_| {});
    server.says(&cond_accept("Srp256")).expect("a good packet");
    server.says(&ok(&keys("Arc4", &[]))).expect("a good packet");
    let before = *server.client.connection.stats();
    let _crypt = server.hears();
    server.start_encryption(CipherKind::Arc4, &[]);
    server.says(&ok(&[])).expect("a good packet");
    let _attach = server.hears();
    let encrypted = server.client.connection.stats().since(&before);
    assert!(encrypted.encrypted);

    let mut server = listen(|_| {});
    server.says(&cond_accept("Srp256")).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    let _attach = server.hears();
    let plain = *server.client.connection.stats();
    assert!(!plain.encrypted);
    // One part in clear text makes the sum unencrypted.
    let mut sum = WireStats::default();
    sum += encrypted;
    assert!(sum.encrypted);
    sum += WireStats::default();
    assert!(sum.encrypted, "nothing was sent");
    sum += plain;
    assert!(!sum.encrypted);
}
