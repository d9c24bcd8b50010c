//! One session with a hostile server, from the handshake to the end.

use super::step::STEPS;
use firearrow::config::Target;
use firearrow::{Config, Connection, Error};
use firearrow_testkit::Choice;
use std::time::Duration;

/// The longest wait for one answer; a silent server costs each session this much.
const PATIENCE: Duration = Duration::from_millis(700);

/// Plays the session of this seed through `port` and says how it ended: `ok`, `other values` where the answers were not
/// those of the database, or the kind of its first error.
pub(crate) fn play(seed: u64, port: u16, url: &str) -> String {
    let mut choice = Choice::from_seed(seed.wrapping_mul(3));
    let config = config(&mut choice, port, url);
    match Connection::open(&config) {
        Err(error) => label(seed, "connecting", &error) + " (connecting)",
        Ok(connection) => use_it(seed, connection, &mut choice),
    }
}

fn config(choice: &mut Choice, server_port: u16, url: &str) -> Config {
    let mut config = Config::parse(url).expect("the campaign's URL is valid");
    if let Target::Remote { port, .. } = &mut config.target {
        *port = server_port;
    }
    // Mostly in the clear, where damage reaches the decoder.
    let (encrypted, compressed) = choice.of(&[
        (false, false),
        (false, false),
        (false, false),
        (false, true),
        (true, false),
        (true, true),
    ]);
    let options = [
        ("wire_crypt", if encrypted { "required" } else { "disabled" }),
        ("wire_compression", if compressed { "true" } else { "false" }),
        ("auth_plugins", choice.of(&["Srp256", "Srp", "Srp512,Srp224"])),
    ];
    for (name, value) in options {
        config.set(name, value).expect("an option and a value of it");
    }
    config.connect_timeout = 2 * PATIENCE;
    config.read_timeout = Some(PATIENCE);
    config
}

fn use_it(seed: u64, connection: Connection, choice: &mut Choice) -> String {
    let mut first = None;
    let mut same = true;
    for _ in 0..2 + choice.below(6) {
        let (name, step) = choice.of(STEPS);
        match step(&connection, choice) {
            Ok(expected) => same &= expected,
            Err(error) => {
                let label = label(seed, name, &error);
                first.get_or_insert(label);
            }
        }
        if connection.is_failed() {
            // From here on everything fails, and at once.
            assert!(connection.ping().is_err(), "a failed connection answers");
            break;
        }
    }
    if let Err(error) = connection.close() {
        first.get_or_insert_with(|| label(seed, "closing", &error));
    }
    first.unwrap_or_else(|| if same { "ok" } else { "other values" }.into())
}

fn label(seed: u64, step: &str, error: &Error) -> String {
    eprintln!("seed {seed}, {step}: {:?}: {error}", error.kind());
    format!("{:?}", error.kind())
}
