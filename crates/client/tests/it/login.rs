//! Getting in: plugins, ciphers, compression, and being turned away.

use crate::support::{at, column, fresh_closed};
use firearrow::config::{CipherKind, ClearTextWarning, WireCrypt};
use firearrow::{Config, Connection, Kind, Warning};
use firearrow_testkit::WireCrypt as ServerCrypt;
use firearrow_testkit::{Generation, Server, ServerConfig, Target, matrix};

/// `config` with more options, given as in a URL.
fn with(config: &Config, target: &Target, options: &str) -> Config {
    let mut changed = at(target, config, target.server().address(), options);
    changed.read_timeout = config.read_timeout;
    changed
}

fn works(config: &Config) -> Result<Connection, firearrow::Error> {
    let connection = Connection::open(config)?;
    assert_eq!(column(&connection, "SELECT 1 FROM RDB$DATABASE").len(), 1);
    Ok(connection)
}

matrix!(
    wire,
    fn every_cipher_and_compression_carries_rows(target: &Target) {
        let config = fresh_closed(target);
        let ciphers: &[&str] =
            if target.generation() == Generation::V3_0 { &["Arc4"] } else { &["ChaCha64", "ChaCha", "Arc4"] };
        for cipher in ciphers {
            for compress in ["false", "true"] {
                let options =
                    format!("wire_crypt=required&wire_crypt_plugin={cipher}&wire_compression={compress}");
                let connection =
                    works(&with(&config, target, &options)).unwrap_or_else(|e| panic!("{options}: {e}"));
                let info = connection.info().expect("info is answered");
                assert_eq!(info.cipher.as_deref(), Some(*cipher));
                assert_eq!(info.compressed, compress == "true", "{options}");
                let batch = crate::support::query(&connection, "SELECT * FROM RDB$FIELDS");
                assert!(batch.num_rows() > 100);
            }
        }
        let plain = works(&with(&config, target, "wire_crypt=disabled")).expect("plain works, too");
        assert_eq!(plain.info().expect("info").cipher, None);
    },
    fn the_best_cipher_is_chosen(target: &Target) {
        let info = works(&fresh_closed(target)).expect("it opens").info().expect("info");
        let best = if target.generation() == Generation::V3_0 { "Arc4" } else { "ChaCha64" };
        assert_eq!(info.cipher.as_deref(), Some(best));
    },
    fn every_protocol_version_down_to_13_works(target: &Target) {
        let config = fresh_closed(target);
        let newest = match target.generation() {
            Generation::V3_0 => 15,
            Generation::V4_0 => 17,
            Generation::V5_0 => 19,
        };
        for version in 13..=newest {
            for crypt in ["disabled", "enabled"] {
                let options = format!("protocol={version}&wire_crypt={crypt}");
                let connection =
                    works(&with(&config, target, &options)).unwrap_or_else(|e| panic!("{options}: {e}"));
                assert_eq!(connection.info().expect("info").protocol, Some(version));
            }
        }
    },
    fn srp_plugins_that_the_server_has_log_in(target: &Target) {
        let config = fresh_closed(target);
        let plugins: &[&str] = match target.generation() {
            Generation::V3_0 => &["Srp"],
            _ => &["Srp256", "Srp"],
        };
        for plugin in plugins {
            works(&with(&config, target, &format!("auth_plugins={plugin}")))
                .unwrap_or_else(|e| panic!("{plugin}: {e}"));
        }
    },
    fn a_server_without_the_first_plugin_takes_one_more_round_trip_once(target: &Target) {
        let plugins = ["Srp", "Legacy_Auth"].map(String::from).to_vec();
        let settings = ServerConfig { auth_server: Some(plugins), ..ServerConfig::default() };
        let server = Server::start_with(target.generation(), &settings).expect("the shared one runs as well");
        // The server drops data that were made for Srp256 and asks again, for Srp. The next connection knows that.
        for (options, trips) in [("", 5), ("", 4), ("?auth_plugins=Srp256,Srp", 4)] {
            let url = server.url("employee") + options;
            let connection =
                Connection::create(&Config::parse(&url).expect("a valid URL")).expect("Srp works");
            assert_eq!(connection.wire_stats().round_trips, trips, "{options}");
            connection.drop_database().expect("it is dropped");
        }
    },
    fn a_legacy_account_logs_in_on_demand(target: &Target) {
        let mut config = fresh_closed(target);
        config.user = Some("LEGACYTEST".into());
        config.password = Some("legacy".into());
        let error = Connection::open(&config).expect_err("Legacy_Auth is not offered by default");
        assert_eq!(error.kind(), Kind::Login, "{error}");
        assert!(error.to_string().contains("Legacy_Auth"), "{error}");
        config.auth_plugins = vec![firearrow::config::AuthPlugin::Legacy];
        config.wire_crypt = WireCrypt::Disabled;
        let connection = Connection::open(&config).expect("the legacy account logs in");
        assert_eq!(connection.info().expect("info").user, "LEGACYTEST");
    },
    fn wrong_credentials_are_told_apart_from_the_rest(target: &Target) {
        let config = fresh_closed(target);
        let wrong = |change: &dyn Fn(&mut Config)| {
            let mut config = config.clone();
            change(&mut config);
            Connection::open(&config).expect_err("it must fail")
        };
        let error = wrong(&|config| config.password = Some("nonsense".into()));
        assert_eq!(error.kind(), Kind::Login, "{error}");
        let message = error.to_string();
        // The account is one of Srp: advice about another plugin would lead astray.
        assert!(!message.contains("nonsense") && !message.contains("Legacy_Auth"), "{message}");
        assert!(
            message.starts_with("the server refused the login of SYSDBA: user name or password is wrong")
                || message.starts_with("Your user name and password are not defined"),
            "{message}"
        );
        for password in [None, Some("".into())] {
            let error = wrong(&|config| config.password.clone_from(&password));
            assert_eq!(error.kind(), Kind::Login, "{error}");
            let message = error.to_string();
            assert!(message.starts_with("no password was given for SYSDBA: give one"), "{message}");
        }
        let error = wrong(&|config| config.user = Some("NOBODY".into()));
        assert_eq!(error.kind(), Kind::Login, "{error}");
        let error = wrong(&|config| {
            if let firearrow::config::Target::Remote { database, .. } = &mut config.target {
                database.push_str(".missing");
            }
        });
        assert_eq!(error.kind(), Kind::Database, "{error}");
        let error = wrong(&|config| {
            if let firearrow::config::Target::Remote { port, .. } = &mut config.target {
                *port = 1;
            }
        });
        assert_eq!(error.kind(), Kind::Unreachable, "{error}");
        let error = wrong(&|config| {
            if let firearrow::config::Target::Remote { host, .. } = &mut config.target {
                *host = "no-such-host.invalid".into();
            }
        });
        assert_eq!(error.kind(), Kind::Unreachable, "{error}");
    },
    fn encryption_levels_that_do_not_fit_are_explained(target: &Target) {
        let settings = |wire_crypt| ServerConfig { wire_crypt, ..ServerConfig::default() };
        let start = |wire_crypt| Server::start_with(target.generation(), &settings(wire_crypt));
        let required = start(ServerCrypt::Required).expect("the shared one runs as well");
        let url = |server: &Server| server.url("employee");
        let mut config = Config::parse(&url(&required)).expect("a valid URL");
        config.wire_crypt = WireCrypt::Disabled;
        let error = Connection::create(&config).expect_err("the server insists");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
        config.wire_crypt = WireCrypt::Required;
        Connection::create(&config).expect("both insist").drop_database().expect("it is dropped");
        let disabled = start(ServerCrypt::Disabled).expect("the shared one runs as well");
        let mut config = Config::parse(&url(&disabled)).expect("a valid URL");
        config.wire_crypt = WireCrypt::Required;
        let error = Connection::create(&config).expect_err("the server cannot");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
        config.wire_crypt = WireCrypt::Enabled;
        let connection = Connection::create(&config).expect("plain is allowed");
        assert_eq!(connection.info().expect("info").cipher, None);
        assert_eq!(connection.warnings(), [], "nobody is in between on this machine");
        connection.drop_database().expect("it is dropped");
        config.clear_text_warning = ClearTextWarning::Always;
        let connection = Connection::create(&config).expect("plain is allowed");
        assert!(matches!(connection.warnings(), [Warning::ClearText { .. }]), "{:?}", connection.warnings());
        assert!(!connection.wire_stats().encrypted);
        connection.drop_database().expect("it is dropped");
        // Whoever names a cipher wants that one.
        config.ciphers = vec![CipherKind::Arc4];
        let error = Connection::create(&config).expect_err("the server cannot");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
    },
    fn a_cipher_that_the_server_lacks_is_an_error(target: &Target) {
        let mut config = fresh_closed(target);
        if target.generation() == Generation::V3_0 {
            config.ciphers = vec![CipherKind::ChaCha64, CipherKind::ChaCha];
            let error = Connection::open(&config).expect_err("Firebird 3 has Arc4 only");
            assert_eq!(error.kind(), Kind::Configuration, "{error}");
            assert!(error.message().contains("ChaCha64, ChaCha"), "{error}");
        }
        config.ciphers = vec![CipherKind::Arc4];
        let connection = works(&config).expect("every server has it");
        assert_eq!(connection.info().expect("info").cipher.as_deref(), Some("Arc4"));
        assert!(connection.wire_stats().encrypted && connection.warnings().is_empty());
    },
    fn an_idle_connection_is_kept_alive(target: &Target) {
        let mut config = fresh_closed(target);
        config.keepalive = Some(std::time::Duration::from_millis(50));
        let connection = Connection::open(&config).expect("it opens");
        let before = connection.wire_stats();
        std::thread::sleep(std::time::Duration::from_millis(400));
        let spent = connection.wire_stats().since(&before);
        assert!(spent.packets_sent >= 2, "{spent:?}");
        assert_eq!(spent.packets_received, 0);
        assert_eq!(column(&connection, "SELECT 1 FROM RDB$DATABASE").len(), 1);
    },
    fn options_reach_the_engine(target: &Target) {
        let config = fresh_closed(target);
        let owner = Connection::open(&config).expect("it opens");
        crate::support::run(&owner, "CREATE ROLE tester");
        crate::support::run(&owner, "GRANT tester TO SYSDBA");
        let role = works(&with(&config, target, "role=tester")).expect("it opens").info().expect("info");
        assert_eq!(role.role, "TESTER");
        if target.generation() >= Generation::V4_0 {
            let connection = works(&with(&config, target, "session_time_zone=Asia/Tokyo")).expect("it opens");
            let zone =
                column(&connection, "SELECT RDB$GET_CONTEXT('SYSTEM', 'SESSION_TIMEZONE') FROM RDB$DATABASE");
            assert_eq!(arrow::array::AsArray::as_string::<i32>(&zone).value(0), "Asia/Tokyo");
        }
        let error = Connection::open(&with(&config, target, "set_bind=nonsense")).err();
        assert_eq!(error.is_some(), target.generation() >= Generation::V4_0);
    }
);

#[test]
fn options_that_cannot_work_are_refused_before_anything_is_sent() {
    for (options, part) in [
        ("wire_crypts=required", "wire_crypt"),
        ("charset=WIN1252", "UTF8"),
        ("dialect=2", "dialect"),
        ("protocol=12", "13"),
        ("auth_plugins=Srp999", "Srp"),
    ] {
        let error = Config::parse(&format!("firebird://u:p@localhost/db?{options}")).expect_err(options);
        assert!(error.to_string().contains(part), "{options}: {error}");
    }
}
