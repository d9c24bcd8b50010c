//! Authentication data of a server, its key block, and logins as users type them.

use firearrow_proto::wire::auth::srp::Client;
use firearrow_proto::wire::auth::{AuthPlugin, account_name};
use firearrow_proto::wire::crypt::{CipherKind, KEY_TYPE, KeyBlock, choose, new_cipher};
use std::sync::LazyLock;

/// A tiny private key, to keep the arithmetic cheap.
static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    let mut private = [0; 32];
    private[31] = 7;
    Client::new(&private).expect("a long enough key")
});

pub(crate) fn run(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    match choice {
        0..=5 => {
            let plugin = AuthPlugin::ALL[usize::from(*choice)];
            match CLIENT.respond(plugin, "SYSDBA", "masterkey", bytes) {
                Ok(proof) => {
                    assert!(plugin.has_session_key());
                    assert!(
                        proof.m1_hex.len() <= 128
                            && proof.m1_hex.bytes().all(|digit| digit.is_ascii_hexdigit())
                    );
                    let again = CLIENT.respond(plugin, "SYSDBA", "masterkey", bytes).expect("as before");
                    assert_eq!((&again.m1_hex, again.session_key), (&proof.m1_hex, proof.session_key));
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        6..=7 => {
            let Ok(groups) = KeyBlock::parse(bytes) else { return };
            let has_iv = *choice == 7;
            let Some(choice) = choose(&groups, has_iv, &CipherKind::ALL) else { return };
            assert_eq!(choice.key_type, KEY_TYPE);
            assert!(has_iv || !choice.kind.needs_iv());
            // The chosen cipher must work, as its vector was checked. A counter near its end is legal but useless.
            let started = new_cipher(choice.kind, &[7; 20], choice.iv.as_deref());
            let mut stream = [0; 40];
            started.expect("a usable vector").apply(&mut stream).ok();
        }
        8 => {
            let text = String::from_utf8_lossy(bytes);
            match account_name(&text) {
                Ok(name) => assert!(name.len() <= text.len()),
                Err(error) => assert!(text.starts_with(['"', '\'']), "{text}: {error}"),
            }
        }
        _ => {}
    }
}
