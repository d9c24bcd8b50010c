//! Handshakes with servers that no recording contains: plugin switches, refusals, key callbacks, and servers that
//! violate the protocol.

use crate::player::{Player, Said};
use crate::script::*;
use firearrow_proto::api::gds;
use firearrow_proto::api::pb::dpb;
use firearrow_proto::wire::auth::{AuthError, AuthPlugin};
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::connect::KeyCallback;
use firearrow_proto::wire::xdr::Reader;
use firearrow_proto::wire::{Limits, Op, ProtocolError, ProtocolVersion};

/// `op_cond_accept` of protocol 19 with the vector's salt and key.
/// Reads a client's `op_cont_auth`: data, plugin, list.
fn heard_cont_auth(server: &mut Server) -> (String, String, String) {
    let bytes = server.hears();
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.op(), Ok(Op::CONT_AUTH));
    let mut text = || String::from_utf8(reader.cstr("part", 1000).expect("a part").to_vec()).expect("text");
    let heard = (text(), text(), text());
    assert_eq!(text(), "", "clients send no keys");
    heard
}

/// Reads a client's `op_attach`: the value of each tag of its parameter buffer.
fn auth_items(data: &str, plugin: &str) -> Vec<(u8, Vec<u8>)> {
    vec![
        (dpb::SPECIFIC_AUTH_DATA, data.into()),
        (dpb::AUTH_PLUGIN_NAME, plugin.into()),
        (dpb::AUTH_PLUGIN_LIST, b"Srp256,Srp".into()),
    ]
}

/// Checks that the handshake fails for good with this error, and that nothing derived from the password has left the
/// client.
#[track_caller]
fn refused(mut server: Server, packets: &[u8]) -> ProtocolError {
    let error = server.says(packets).expect_err("a refusal");
    server.client.assert_failed(&error);
    assert!(server.client.said.is_empty());
    assert_no_proof(&server.heard);
    error
}

#[test]
fn a_bare_accept_moves_authentication_into_attach() {
    let mut server = listen(|_| {});
    server.says(&accept(19, LAZY)).expect("a good packet");
    assert_eq!(heard_attach(&mut server), auth_items(vector::CLIENT_KEY, "Srp256"));
    server.says(&cont_auth(&server_data(), "Srp256")).expect("a good packet");
    assert_eq!(heard_cont_auth(&mut server), (vector::SRP256_PROOF.into(), "Srp256".into(), String::new()));
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
    assert_eq!(server.client.connection.cipher(), None);
}

#[test]
fn accept_data_is_answered_by_a_proof_in_attach() {
    let mut server = listen(|_| {});
    let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
    server.says(&accept_auth(Op::ACCEPT_DATA, 18, LAZY, auth)).expect("a good packet");
    assert_eq!(heard_attach(&mut server), auth_items(vector::SRP256_PROOF, "Srp256"));
    server.says(&ok(&[])).expect("a good packet");
    assert_eq!(server.client.connection.version(), Some(version(18)));
}

#[test]
fn a_switch_of_plugin_starts_again_and_ignores_stale_data() {
    // Before any proof, with an empty packet and with one that contains another plugin's data.
    for data in [Vec::new(), server_data()] {
        let mut server = listen(|_| {});
        let auth = Auth { data: &data, plugin: "Srp", ..Auth::default() };
        server.says(&accept_auth(Op::COND_ACCEPT, 19, LAZY, auth)).expect("a good packet");
        let first = (vector::CLIENT_KEY.into(), "Srp".into(), "Srp256,Srp".into());
        assert_eq!(heard_cont_auth(&mut server), first);
        server.says(&cont_auth(&server_data(), "Srp")).expect("a good packet");
        assert_eq!(heard_cont_auth(&mut server), (vector::SRP_PROOF.into(), "Srp".into(), String::new()));
        server.says(&ok(&[])).expect("a good packet");
        assert!(heard_attach(&mut server).is_empty(), "the DPB carries no authentication data");
    }
    // After a rejected proof.
    let mut server = listen(|_| {});
    server.says(&cond_accept("Srp256")).expect("a good packet");
    let proof = (vector::SRP256_PROOF.into(), "Srp256".into(), "Srp256,Srp".into());
    assert_eq!(heard_cont_auth(&mut server), proof);
    server.says(&cont_auth(&server_data(), "Srp")).expect("a good packet");
    assert_eq!(heard_cont_auth(&mut server), (vector::CLIENT_KEY.into(), "Srp".into(), String::new()));
    // In the answer to op_connect without encryption: the first data of the other plugin go into attach.
    let mut server = listen(|_| {});
    let auth = Auth { data: &server_data(), plugin: "Srp", ..Auth::default() };
    server.says(&accept_auth(Op::ACCEPT_DATA, 19, LAZY, auth)).expect("a good packet");
    assert_eq!(heard_attach(&mut server), auth_items(vector::CLIENT_KEY, "Srp"));
}

#[test]
fn a_plugin_that_was_not_offered_ends_the_login() {
    for plugin in ["Legacy_Auth", "Win_Sspi", "Srp512", "srp"] {
        let ProtocolError::LoginFailed(text) = refused(listen(|_| {}), &cond_accept(plugin)) else {
            panic!("{plugin}");
        };
        assert!(text.contains(plugin) && text.contains("Srp256,Srp") && text.contains("SYSDBA"), "{text}");
    }
    // This is how a server reports a wrong password.
    let mut server = listen(|_| {});
    server.says(&cond_accept("Srp256")).expect("a good packet");
    let _proof = server.hears();
    let error = server.says(&cont_auth(&server_data(), "Legacy_Auth")).expect_err("a failed login");
    let expected = "the server refused the login of SYSDBA: user name or password is wrong";
    assert!(matches!(&error, ProtocolError::LoginFailed(text) if text == expected), "{error}");
    server.client.assert_failed(&error);
}

#[test]
fn a_login_without_a_password_says_so() {
    let server = listen(|options| options.password.clear());
    let error = refused(server, &cond_accept("Legacy_Auth")).to_string();
    assert!(error.contains("no password was given for SYSDBA: give one"), "{error}");
}

/// A server that asks for Legacy_Auth asks for a hash from which it can recover the password.
#[test]
fn the_advice_to_add_a_plugin_names_its_risk() {
    let text = |plugin| refused(listen(|_| {}), &cond_accept(plugin)).to_string();
    let legacy = text("Legacy_Auth");
    assert!(legacy.contains("weak hash") && legacy.contains("cannot encrypt"), "{legacy}");
    assert!(!legacy.contains("auth_plugins="), "{legacy}");
    assert!(text("Srp512").contains("auth_plugins=Srp256,Srp,Srp512"));
    let unknown = text("Win_Sspi");
    assert!(unknown.contains("does not have") && !unknown.contains("add it"), "{unknown}");
}

fn strict() -> Server {
    listen(|options| options.allow_no_authentication = false)
}

/// The attack: the peer that answers first lets everyone in.
#[test]
fn a_peer_that_asks_for_no_proof_is_refused() {
    let done = Auth { authenticated: true, ..Auth::default() };
    let named = Auth { authenticated: true, plugin: "Srp256", data: &server_data(), ..Auth::default() };
    for op in [Op::ACCEPT_DATA, Op::COND_ACCEPT] {
        for auth in [done, named] {
            let error = refused(strict(), &accept_auth(op, 19, LAZY, auth));
            assert_eq!(error, ProtocolError::Unauthenticated, "{op:?}");
            assert!(error.to_string().contains("allow_no_authentication=yes"), "{error}");
        }
    }
    // A bare accept, and an attach answered at once.
    let mut server = strict();
    server.says(&accept(19, LAZY)).expect("a good packet");
    assert_eq!(server.says(&ok(&[])), Err(ProtocolError::Unauthenticated));
    assert!(!server.client.is_attached());
    // A conditional accept, and success without a proof.
    let mut server = strict();
    let auth = Auth { plugin: "Srp", ..Auth::default() };
    server.says(&accept_auth(Op::COND_ACCEPT, 19, LAZY, auth)).expect("a good packet");
    assert_eq!(server.says(&ok(&keys("Arc4", &[]))), Err(ProtocolError::Unauthenticated));
    // The proof of an abandoned plugin does not count.
    let mut server = strict();
    server.says(&cond_accept("Srp256")).expect("a good packet");
    server.says(&cont_auth(&[], "Srp")).expect("a good packet");
    assert_eq!(server.says(&ok(&keys("Arc4", &[]))), Err(ProtocolError::Unauthenticated));
    // It is allowed if the options ask for it.
    let mut server = listen(|_| {});
    server.says(&accept_auth(Op::ACCEPT_DATA, 19, LAZY, done)).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
}

/// The attack: each further question tests another guess at the password.
#[test]
fn a_peer_gets_one_proof_of_each_plugin() {
    let mut server = strict();
    server.says(&cond_accept("Srp256")).expect("the first proof");
    let error = server.says(&cont_auth(&server_data(), "Srp256")).expect_err("a second one");
    assert!(matches!(&error, ProtocolError::LoginFailed(text) if text.contains("second proof")), "{error}");
    // Nor via another plugin and back.
    let mut server = strict();
    server.says(&cond_accept("Srp256")).expect("the first proof");
    server.says(&cont_auth(&[], "Srp")).expect("another plugin");
    server.says(&cont_auth(&server_data(), "Srp")).expect("its proof");
    server.says(&cont_auth(&[], "Srp256")).expect("back again");
    let error = server.says(&cont_auth(&server_data(), "Srp256")).expect_err("a second one");
    assert!(matches!(&error, ProtocolError::LoginFailed(_)), "{error}");
}

#[test]
fn every_login_sequence_of_a_real_server_counts_as_a_proof() {
    // Before attach, with attach, and after it.
    let mut server = strict();
    server.says(&cond_accept("Srp256")).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
    let mut server = strict();
    let auth = Auth { data: &server_data(), plugin: "Srp256", ..Auth::default() };
    server.says(&accept_auth(Op::ACCEPT_DATA, 19, LAZY, auth)).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
    let mut server = strict();
    server.says(&accept(19, LAZY)).expect("a good packet");
    server.says(&cont_auth(&server_data(), "Srp256")).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
    // Legacy_Auth needs only one step, also after a switch.
    let legacy = Auth { authenticated: true, plugin: "Legacy_Auth", ..Auth::default() };
    let mut server = listen(|options| {
        options.allow_no_authentication = false;
        options.auth_plugins = vec![AuthPlugin::Legacy];
    });
    server.says(&accept_auth(Op::ACCEPT_DATA, 19, LAZY, legacy)).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
    let mut server = listen(|options| {
        options.allow_no_authentication = false;
        options.auth_plugins.push(AuthPlugin::Legacy);
    });
    server.says(&cond_accept("Legacy_Auth")).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
}

#[test]
fn refusals_of_op_connect_say_why() {
    assert_eq!(refused(listen(|_| {}), &packets(|out| out.op(Op::REJECT))), ProtocolError::Rejected);
    let login = response(0, &[], &[1, gds::ISC_LOGIN.cast_unsigned(), 0]);
    match refused(listen(|_| {}), &login) {
        ProtocolError::Refused(status) => assert!(status.contains(gds::ISC_LOGIN)),
        other => panic!("{other}"),
    }
    assert!(matches!(refused(listen(|_| {}), &ok(&[])), ProtocolError::InvalidMessage(_)));
    for op in [Op::EXIT, Op::DISCONNECT] {
        assert_eq!(refused(listen(|_| {}), &packets(|out| out.op(op))), ProtocolError::Closed);
    }
}

#[test]
fn a_refused_attach_returns_the_status_vector() {
    let mut server = listen(|_| {});
    server.says(&accept(19, LAZY)).expect("a good packet");
    let status = [1, gds::ISC_IO_ERROR.cast_unsigned(), 4, 7, 0];
    let error = server.says(&response(0, &[], &status)).expect_err("a refusal");
    assert!(
        matches!(&error, ProtocolError::Refused(status) if status.contains(gds::ISC_IO_ERROR)),
        "{error}"
    );
    server.client.assert_failed(&error);
}

#[test]
fn warnings_of_an_attach_are_delivered() {
    let mut server = listen(|_| {});
    server.says(&accept(19, LAZY)).expect("a good packet");
    server.says(&response(0, &[], &[1, 0, 18, 335_544_808, 0])).expect("a good packet");
    let [Said::Attached(status)] = &server.client.said[..] else { panic!("{:?}", server.client.said) };
    assert_eq!(status.warnings().collect::<Vec<_>>(), [335_544_808]);
    assert!(!status.is_error());
}

fn key_callback(data: &[u8], size: Option<u16>) -> Vec<u8> {
    packets(|out| {
        out.op(Op::CRYPT_KEY_CALLBACK);
        out.cstr(data);
        if let Some(size) = size {
            out.short(size);
        }
    })
}

#[test]
fn key_callbacks_follow_the_protocol_version() {
    // Before a version is known, and from 14 on, packets have a size word; those of 13 have none.
    for (number, sized) in [(13, false), (14, true), (19, true)] {
        let mut server = listen(|_| {});
        server.says(&key_callback(b"security", Some(32))).expect("a good packet");
        server.client.connection.reply_key(b"first");
        assert_eq!(server.hears(), key_callback(b"first", Some(0)));

        server.says(&accept(number, LAZY)).expect("a good packet");
        let _attach = server.hears();
        let size = sized.then_some(256);
        // Several may come in a row; an empty answer means that there is no key.
        for reply in [&b"secret"[..], &[]] {
            server.says(&key_callback(b"database", size)).expect("a good packet");
            server.client.connection.reply_key(reply);
            assert_eq!(server.hears(), key_callback(reply, sized.then_some(0)), "protocol {number}");
        }
        server.says(&ok(&[])).expect("a good packet");
        let asked =
            |data: &[u8], reply_limit| Said::KeyCallback(KeyCallback { data: data.into(), reply_limit });
        let callbacks = [asked(b"security", Some(32)), asked(b"database", size), asked(b"database", size)];
        assert_eq!(server.client.said[..3], callbacks, "protocol {number}");
        assert!(matches!(server.client.said[3..], [Said::Attached(_)]));
        // Attached: there is no reason left to ask for a key.
        let error = server.says(&key_callback(b"late", size)).expect_err("not an answer");
        assert!(
            matches!(error, ProtocolError::UnexpectedPacket { op: Op::CRYPT_KEY_CALLBACK, .. }),
            "{error}"
        );
    }
}

#[test]
fn servers_that_accept_what_was_not_offered_are_refused() {
    let only_13_and_15 = |options: &mut ConnectOptions| {
        options.versions = [13, 15].into_iter().filter_map(ProtocolVersion::new).collect();
    };
    let mut architecture = accept(15, LAZY);
    architecture[11] = 36;
    let mut no_flag = accept(15, LAZY);
    no_flag[4..8].copy_from_slice(&[0, 0, 0, 15]);
    for (what, packet) in [
        ("not offered", accept(14, LAZY)),
        ("not offered", accept(19, LAZY)),
        ("protocol version", accept(12, LAZY)),
        ("protocol version", accept(20, LAZY)),
        ("protocol version", no_flag),
        ("architecture 36", architecture),
        ("packet type 3", accept(15, 3)),
        ("compression that was not asked for", accept(15, LAZY | COMPRESS)),
    ] {
        match refused(listen(only_13_and_15), &packet) {
            ProtocolError::InvalidMessage(text) => assert!(text.contains(what), "{what}: {text}"),
            other => panic!("{what}: {other}"),
        }
    }
}

#[test]
fn bad_authentication_data_are_refused_without_an_answer() {
    let mut zero = server_data();
    zero[68..].fill(b'0');
    for (data, expected) in [
        (zero, AuthError::TrivialServerKey),
        (b"\x40\x00salt".to_vec(), AuthError::ServerData("the salt is cut short")),
    ] {
        let auth = Auth { data: &data, plugin: "Srp256", ..Auth::default() };
        let error = refused(listen(|_| {}), &accept_auth(Op::COND_ACCEPT, 19, LAZY, auth));
        assert_eq!(error, ProtocolError::Auth(expected));
    }
}

#[test]
fn an_endless_authentication_is_cut_off() {
    let limits = Limits::default();
    let mut server = listen(|_| {});
    server.says(&cond_accept("Srp256")).expect("a good packet");
    let mut rounds = 1;
    let error = loop {
        match server.says(&cont_auth(&[], "Srp256")) {
            Ok(()) => rounds += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(rounds, limits.auth_steps);
    assert!(matches!(error, ProtocolError::InvalidMessage(_)), "{error}");
    server.client.assert_failed(&error);
}

#[test]
fn requests_wait_for_the_attachment() {
    let mut server = listen(|_| {});
    assert!(matches!(server.client.connection.send(&Ping), Err(ProtocolError::Misuse(_))));
    server.says(&accept(19, LAZY)).expect("a good packet");
    assert!(matches!(server.client.connection.send(&Ping), Err(ProtocolError::Misuse(_))));
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.connection.send(&Ping).is_ok(), "misuse ends nothing");
}

#[test]
fn unusable_options_are_refused_before_anything_is_sent() {
    let open = |change: &dyn Fn(&mut ConnectOptions)| {
        let mut options = options();
        change(&mut options);
        Player::open(options, Limits::default()).err()
    };
    assert_eq!(open(&|_| {}), None);
    assert_eq!(open(&|options| options.srp_private.truncate(31)), Some(AuthError::WeakPrivateKey.into()));
    assert_eq!(open(&|options| options.login = "\"open".into()), Some(AuthError::MissingQuote.into()));
    // A clumplet holds 255 bytes; a truncated login would be a different one.
    let misuse: [&dyn Fn(&mut ConnectOptions); 3] = [
        &|options| options.versions.clear(),
        &|options| options.versions = vec![version(13); 11],
        &|options| options.login = "x".repeat(256),
    ];
    for change in misuse {
        assert!(matches!(open(change), Some(ProtocolError::Misuse(_))));
    }
}

#[test]
fn packets_of_another_phase_are_unexpected() {
    let mut server = listen(|_| {});
    let error = server.says(&cont_auth(&[], "")).expect_err("no accept came before");
    let expected = |op, waiting_for| ProtocolError::UnexpectedPacket { op, waiting_for };
    assert_eq!(error, expected(Op::CONT_AUTH, "the answer to op_connect"));
    for (packet, op) in [(accept(19, LAZY), Op::ACCEPT), (packets(|out| out.op(Op::REJECT)), Op::REJECT)] {
        let mut server = listen(|_| {});
        server.says(&cond_accept("Srp256")).expect("a good packet");
        assert_eq!(server.says(&packet).err(), Some(expected(op, "the answer to op_cont_auth")));
        let mut server = listen(|_| {});
        server.says(&accept(19, LAZY)).expect("a good packet");
        assert_eq!(server.says(&packet).err(), Some(expected(op, "the answer to op_attach")));
    }
    let mut server = listen(|_| {});
    let unknown = server.says(&packets(|out| out.word(0x1234))).expect_err("no such packet");
    assert_eq!(unknown, expected(Op(0x1234), "the answer to op_connect"));
}

#[test]
fn keep_alive_packets_are_skipped_in_every_phase() {
    let dummy = packets(|out| out.op(Op::DUMMY));
    let mut server = listen(|_| {});
    for packet in [cond_accept("Srp256"), ok(&keys("Rot13", &[])), ok(&[])] {
        server.says(&[&dummy[..], &dummy, &packet].concat()).expect("good packets");
        let _ = server.hears();
    }
    assert!(server.client.is_attached());
    assert_eq!(server.client.said.len(), 1);
    server.says(&dummy).expect("a good packet");
    assert_eq!(server.client.connection.stats().packets_received, 3 + 7);
}

#[test]
fn creating_a_database_differs_only_in_the_operation() {
    let connect = |create| {
        let mut server = listen(|options| options.create = create);
        server.says(&accept(19, LAZY)).expect("a good packet");
        server.hears()
    };
    let (attach, create) = (connect(false), connect(true));
    assert_eq!((attach[3], create[3]), (19, 20));
    assert_eq!(attach[4..], create[4..]);
}

#[test]
fn secrets_do_not_show_in_debug_output() {
    let server = listen(|options| options.password = "very secret".into());
    let mut options = options();
    options.password = "very secret".into();
    for text in [format!("{options:?}"), format!("{:?}", server.client.connection)] {
        assert!(!text.contains("very secret") && !text.contains("129, 184, 11"), "{text}");
    }
}
