//! Settings as a whole.

mod document;
mod servers;

use super::*;
use crate::diagnostics::{Result, State};
use firearrow::Config;
use firearrow::Dialect;
use firearrow::config::{Password, Target, WireCompression, WireCrypt};
use firearrow_driver::{Level, SessionOptions};
use std::time::Duration;

fn with(env: &[(&str, &str)], text: &str, login_timeout: Option<u32>) -> Result<Settings> {
    let variable =
        |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
    settings_in(&variable, &Attributes::parse(text)?, login_timeout)
}

fn of(text: &str) -> Settings {
    with(&[], text, None).unwrap_or_else(|failure| panic!("{text}: {failure:?}"))
}

/// What a registered data source means.
fn of_source(text: &str) -> Settings {
    let attributes = Attributes::parse(text).expect("a list").registered();
    settings_in(&|_| None, &attributes, None).unwrap_or_else(|failure| panic!("{text}: {failure:?}"))
}

fn warnings(settings: &Settings) -> Vec<(State, &str)> {
    settings.warnings.iter().map(|failure| (failure.state, failure.text.as_str())).collect()
}

#[test]
fn little_is_set_by_default() {
    let settings = of("DBNAME=srv:x");
    let target = Target::Remote { host: "srv".into(), port: 3050, database: "x".into() };
    let mut config = Config::new(target);
    config.set_bind = Some("TIME ZONE TO LEGACY".into());
    assert_eq!(settings.config, config);
    assert_eq!(settings.session, SessionOptions { ddl_autocommit: false, ..SessionOptions::default() });
    assert_eq!(warnings(&settings), []);
    assert_eq!(settings.effective.to_string(), "DBNAME=srv:x");
}

#[test]
fn keywords_set_what_they_say() {
    let settings = of(
        "DRIVER={Firebird};DBNAME=srv:x;User=alice;Password={a;b};Role=r;Dialect=1;EnableWireCompression=y;\
         Encrypt=required;AuthPlugins=Srp256,Srp;SetBind={INT128 TO VARCHAR; };SessionTimeZone=Europe/Rome;APP=shop;\
         ReadOnly=Yes;LockTimeoutWaitTransactions=7;TxnIsolation=repeatable read;Timeout=9;AutoDdl=1;CharacterSet=utf8;\
         DbnameAlways=Y;PageSize=8192",
    );
    let config = &settings.config;
    assert_eq!((config.user.as_deref(), config.role.as_deref()), (Some("alice"), Some("r")));
    assert_eq!(config.password.as_ref().map(Password::reveal), Some("a;b"));
    assert_eq!((config.dialect, config.compress), (Dialect::One, WireCompression::On));
    assert_eq!((config.wire_crypt, config.auth_plugins.len()), (WireCrypt::Required, 2));
    assert_eq!(config.set_bind.as_deref(), Some("TIME ZONE TO LEGACY;INT128 TO VARCHAR"));
    assert_eq!(config.session_time_zone.as_deref(), Some("Europe/Rome"));
    assert_eq!(config.process_name.as_deref(), Some("shop"));
    assert_eq!((config.create_if_missing, config.page_size), (true, Some(8192)));
    assert_eq!(config.connect_timeout, Duration::from_secs(9));
    let session = SessionOptions {
        read_only: true,
        level: Level::RepeatableRead,
        lock_timeout: Some(7),
        ..SessionOptions::default()
    };
    assert_eq!(settings.session, session);
    assert_eq!(warnings(&settings), []);
    assert!(!format!("{settings:?}").contains("a;b"));
}

#[test]
fn options_of_the_client_have_their_own_names() {
    let settings = of_source(
        "DBNAME=srv:x;read_timeout=5;Parallel Workers=4;no_gc=y;WireCryptPlugin=ChaCha64;db_key=env:KEY;\
         keepalive=;none_encoding=WIN1252;read_timeout=6;max_inline_blob_size=0;isc_dpb_no_db_triggers=1",
    );
    let config = &settings.config;
    assert_eq!(config.read_timeout, Some(Duration::from_secs(5)));
    assert_eq!((config.parallel_workers, config.no_gc, config.no_db_triggers), (Some(4), true, true));
    assert_eq!((config.ciphers.len(), config.db_key.is_some()), (1, true));
    assert_eq!(config.max_inline_blob_size, Some(0));
    assert_eq!(config.read, [("none_encoding".to_owned(), "WIN1252".to_owned())]);
    assert_eq!(warnings(&settings), []);
    // Two of its names: the first one given wins.
    assert_eq!(
        of("DBNAME=h:x;search_path=a;searchPath=b;isc_dpb_search_path=c").config.search_path.as_deref(),
        Some("a")
    );
}

#[test]
fn every_option_of_the_client_is_a_keyword() {
    for (name, value) in [
        ("address_family", "inet6"),
        ("user", "u"),
        ("role", "r"),
        ("wire_crypt", "required"),
        ("wire_crypt_plugin", "ChaCha"),
        ("clear_text_warning", "never"),
        ("allow_no_authentication", "true"),
        ("wire_compress", "auto"),
        ("auth_plugins", "Srp"),
        ("connect_timeout", "2.5"),
        ("read_timeout", "3"),
        ("event_host", "e"),
        ("event_port", "99"),
        ("keepalive", "4"),
        ("protocol", "13-15"),
        ("max_inline_blob_size", "1"),
        ("max_blob_cache_size", "2"),
        ("dialect", "1"),
        ("session_time_zone", "UTC"),
        ("decfloat_round", "CEILING"),
        ("decfloat_traps", "Inexact"),
        ("search_path", "s"),
        ("parallel_workers", "2"),
        ("no_db_triggers", "true"),
        ("no_gc", "true"),
        ("process_name", "p"),
        ("db_key", "env:K"),
        ("db_key_in_clear", "true"),
        ("create_if_missing", "true"),
        ("overwrite", "true"),
        ("db_charset", "WIN1252"),
        ("force_writes", "false"),
        ("none_encoding", "binary"),
        ("trim_char", "true"),
        ("max_blob", "1000"),
    ] {
        let mut expected = of("DBNAME=h:x").config;
        expected.set(name, value).expect(name);
        let settings = of_source(&format!("DBNAME=h:x;{name}={value}"));
        assert_eq!(settings.config, expected, "{name}");
        assert_eq!(warnings(&settings), [], "{name}");
        assert_eq!(settings.effective.pairs().count(), 2, "{name}");
    }
    for (name, value) in
        [("config", "Providers=Engine13"), ("client_library", "/x"), ("server_mode", "classic")]
    {
        let mut expected = of("DBNAME=/x").config;
        expected.set(name, value).expect(name);
        assert_eq!(of_source(&format!("DBNAME=/x;{name}={value}")).config, expected, "{name}");
    }
}

#[test]
fn a_string_chooses_no_code_and_no_secrets() {
    for option in [
        "db_key=cmd:id",
        "DB-Key=env:HOME",
        "adbc.firebird.db_key=file:/x",
        "db_key_in_clear=1",
        "config=Providers=X",
        "overwrite=1",
    ] {
        let failure = with(&[], &format!("DBNAME=h:x;{option}"), None).expect_err(option);
        assert!(failure.text.contains("is refused in connection strings"), "{option}: {}", failure.text);
        // Nor can it add to a data source that says so itself.
        let mut attributes = Attributes::parse(&format!("DSN=s;{option}")).expect("a list");
        attributes.merge(&Attributes::parse(&format!("DBNAME=h:x;{option}")).expect("a list").registered());
        settings_in(&|_| None, &attributes, None).expect_err(option);
    }
    // Templates leave empty what they do not use.
    of("DBNAME=h:x;db_key=;overwrite=");
}

#[test]
fn what_is_handed_out_connects_again() {
    let mut attributes = Attributes::parse("DSN=s;UID=u").expect("a list");
    attributes.merge(&Attributes::parse("DBNAME=h:x;db_key=env:K;role=r").expect("a list").registered());
    let settings = settings_in(&|_| None, &attributes, None).expect("valid");
    assert!(settings.config.db_key.is_some());
    let text = settings.effective.without_registered_options().to_string();
    assert_eq!(text, "DSN=s;UID=u;DBNAME=h:x;ROLE=r");
}

#[test]
fn a_url_has_options_of_both_kinds() {
    let settings = of(
        "DBNAME={firebird://bob:pw@srv:3051/x?role=r&isolation=snapshot&querytimeout=8&set_bind=INT128%20TO%20CHAR};\
         UID=alice;QueryTimeout=9",
    );
    let config = &settings.config;
    assert_eq!((config.user.as_deref(), config.role.as_deref()), (Some("alice"), Some("r")));
    assert_eq!(config.set_bind.as_deref(), Some("TIME ZONE TO LEGACY;INT128 TO CHAR"));
    assert_eq!((settings.session.level, settings.odbc.query_timeout), (Level::Snapshot, 9));
    assert_eq!(of("URL=firebird://srv/x?adbc.x=1").warnings.len(), 1);
}

#[test]
fn what_has_no_effect_is_a_warning() {
    let settings = of(
        "Driver=F;DBNAME=srv:x;Client=/fb.so;foo=1;CharSet=win1252;UID=a;bar=;INT128=utf8;PORT=3051;SafeThread=Y",
    );
    let expected = [
        (State::OPTION_CHANGED, "PORT is ignored: DBNAME names a server, whose port 3050 is used"),
        (State::BAD_KEYWORD, "unknown keyword 'foo' ignored"),
        (State::BAD_KEYWORD, "unknown keyword 'bar' ignored"),
        (State::OPTION_CHANGED, "int128 is ignored: it is about Arrow columns"),
        (
            State::OPTION_CHANGED,
            "CHARSET=WIN1252 is the encoding of text of CHARACTER SET NONE; the connection has UTF8, to and from which the \
             server converts all others",
        ),
        (State::OPTION_CHANGED, "CLIENT is ignored: the driver speaks to servers without a client library"),
    ];
    assert_eq!(warnings(&settings), expected);
    assert_eq!(settings.effective.to_string(), "DRIVER=F;DBNAME=srv:x;CHARSET=win1252;UID=a");
    assert_eq!(settings.config.read, [("none_encoding".to_owned(), "WIN1252".to_owned())]);
    // None of these is a reason to read columns as something else.
    for (text, reason) in [
        ("NONE", "the connection always has UTF8, to and from which the server converts"),
        ("DOS437", "the connection always has UTF8, to and from which the server converts"),
        ("KLINGON", "'KLINGON' is no known character set, and the connection always has UTF8"),
        ("WIN1252;none_encoding=utf8_lossy", "none_encoding is given, too"),
    ] {
        let settings = of(&format!("DBNAME=srv:x;CHARSET={text}"));
        let reason = format!("CHARSET is ignored: {reason}");
        assert_eq!(warnings(&settings), [(State::OPTION_CHANGED, reason.as_str())]);
        assert!(settings.config.read.iter().all(|(_, value)| value == "utf8_lossy"));
        assert_eq!(settings.effective.get("CHARSET"), None);
    }
}

#[test]
fn the_effective_attributes_connect_again() {
    let settings = of(
        "DSN=shop;Driver=F;DBNAME={/a;b};Client=/x.so;PWD={p;}}w};Description=d;FileDSN=f;wire_crypt_plugin=Arc4",
    );
    let text = settings.effective.to_string();
    assert_eq!(text, "DSN=shop;DBNAME={/a;b};CLIENT=/x.so;PWD={p;}}w};wire_crypt_plugin=Arc4");
    let again = of(&text);
    assert_eq!((again.config, again.effective), (settings.config, settings.effective));
}

#[test]
fn embedded_engines_have_a_library() {
    let settings = of("DBNAME=/x.fdb;FBCLIENT=/opt/libfbclient.so;PAGESIZE=1024");
    assert_eq!(settings.config.client_library.as_deref(), Some("/opt/libfbclient.so"));
    assert_eq!(
        (settings.config.target, settings.warnings.len()),
        (Target::Embedded { path: "/x.fdb".into() }, 0)
    );
}

#[test]
fn the_time_to_connect_is_limited_by_keyword_then_attribute() {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    for (text, attribute, expected) in [
        ("", None, Duration::from_secs(30)),
        ("", Some(7), Duration::from_secs(7)),
        ("", Some(0), YEAR),
        ("", Some(u32::MAX), YEAR),
        ("TIMEOUT=5", Some(7), Duration::from_secs(5)),
        ("LoginTimeout=0", Some(7), YEAR),
        ("connect_timeout=500ms", None, Duration::from_millis(500)),
        ("TIMEOUT=", Some(7), Duration::from_secs(7)),
    ] {
        let settings = with(&[], &format!("DBNAME=h:x;{text}"), attribute).expect(text);
        assert_eq!(settings.config.connect_timeout, expected, "{text}");
    }
}

#[test]
fn locks_and_levels_have_many_forms() {
    for (text, expected) in [
        ("", None),
        ("NOWAIT=N", None),
        ("NOWAIT=Y", Some(0)),
        ("NOWAIT=Y;LOCKTIMEOUT=5", Some(0)),
        ("LOCKTIMEOUT=5", Some(5)),
        ("LOCKTIMEOUT=0", None),
        ("LOCKTIMEOUT=32767", Some(32_767)),
    ] {
        assert_eq!(of(&format!("DBNAME=h:x;{text}")).session.lock_timeout, expected, "{text}");
    }
    for (text, expected) in [
        ("", Level::Default),
        ("READCOMMITTED", Level::ReadCommitted),
        ("Read Committed", Level::ReadCommitted),
        ("READ_UNCOMMITTED", Level::ReadUncommitted),
        ("snapshot", Level::Snapshot),
        ("CONSISTENCY", Level::Serializable),
        ("Serializable", Level::Serializable),
    ] {
        assert_eq!(of(&format!("DBNAME=h:x;ISOLATION={text}")).session.level, expected, "{text}");
    }
}

#[test]
fn rules_of_types_can_be_switched_off() {
    for (text, expected) in [
        ("ENABLECOMPATBIND=Y", Some("TIME ZONE TO LEGACY")),
        ("SETCOMPATBIND={;DECFLOAT TO CHAR;;}", Some("TIME ZONE TO LEGACY;DECFLOAT TO CHAR")),
        ("SETCOMPATBIND=DECFLOAT TO CHAR;ENABLECOMPATBIND=N", None),
    ] {
        assert_eq!(of(&format!("DBNAME=h:x;{text}")).config.set_bind.as_deref(), expected, "{text}");
    }
}

#[test]
fn the_environment_fills_what_is_missing() {
    let env = [("ISC_USER", "u"), ("FIREARROW_PASSWORD", "p"), ("FIREARROW_PASSWORD_FILE", "/none")];
    let settings = with(&env, "DBNAME=h:x", None).expect("valid");
    let password = |settings: &Settings| settings.config.password.clone();
    assert_eq!(settings.config.user.as_deref(), Some("u"));
    assert_eq!(password(&settings), Some(Password::new("p")));
    assert_eq!(settings.effective.to_string(), "DBNAME=h:x");
    let settings = with(&env[2..], "DBNAME=h:x;UID=a;PWD=b", None).expect("the file is not needed");
    assert_eq!((settings.config.user.as_deref(), password(&settings)), (Some("a"), Some(Password::new("b"))));
    let failure = with(&env[2..], "DBNAME=h:x;PWD=", None).expect_err("no such file");
    assert!(failure.text.starts_with("environment: the password file /none"), "{}", failure.text);
}

#[test]
fn a_misspelt_keyword_is_ignored_with_the_right_one() {
    let settings = of("DBNAME=h:x;WireCript=required");
    assert_eq!(
        warnings(&settings),
        [(State::BAD_KEYWORD, "unknown keyword 'WireCript' ignored; did you mean wire_crypt?")]
    );
}

#[test]
fn wrong_values_name_keyword_and_choices() {
    for (text, expected) in [
        ("READONLY=x", "READONLY='x' is not possible; it must be Y or N"),
        ("ISOLATION=x", "ISOLATION='x' is not possible; it must be READCOMMITTED, SNAPSHOT or CONSISTENCY"),
        (
            "LOCKTIMEOUT=32768",
            "LOCKTIMEOUT='32768' is not possible; it must be a whole number from 0 to 32767",
        ),
        ("TIMEOUT=-1", "TIMEOUT: connect_timeout='-1' is not possible"),
        ("TIMEOUT=4294967296", "TIMEOUT='4294967296' is not possible"),
        ("ENCRYPT=x", "WIRECRYPT: wire_crypt='x' is not possible; it must be disabled, enabled or required"),
        ("DIALECT=2", "DIALECT: dialect='2' is not possible; it must be 3 or 1"),
        ("AUTHPLUGINS=Win_Sspi", "AUTHPLUGINS: auth_plugins='Win_Sspi' is not possible"),
        ("CREATE_DB=Y;PAGESIZE=1024", "PAGESIZE: page_size='1024' is not possible"),
        ("event_port=x", "event_port: event_port='x' is not possible; it must be a port"),
        ("none_encoding=x", "none_encoding: none_encoding='x' is not possible; it must be utf8"),
        ("wire_crypt=disabled;ciphers=Arc4", "wire_crypt=disabled and a cipher"),
    ] {
        let failure = with(&[], &format!("DBNAME=h:x;{text}"), None).expect_err(text);
        assert_eq!(failure.state, State::GENERAL, "{text}");
        assert!(failure.text.starts_with(expected), "{text}: {}", failure.text);
    }
    for (text, expected) in [
        ("db_key=secret", "db_key: db_key='***' is not possible"),
        ("CREATE_DB=Y;overwrite=y", "create_if_missing keeps a database that exists"),
    ] {
        let source = Attributes::parse(&format!("DBNAME=h:x;{text}")).expect("a list").registered();
        let failure = settings_in(&|_| None, &source, None).expect_err(text);
        assert!(failure.text.starts_with(expected), "{text}: {}", failure.text);
    }
}

#[test]
fn hostile_attributes_are_refused_or_ignored() {
    let long = "x".repeat(100_000);
    for name in
        ["UID", "PWD", "ROLE", "CLIENT", "DBNAME", "ISOLATION", "WIRECRYPT", "TIMEZONE", "read_timeout"]
    {
        let failure = with(&[], &format!("{name}={long};DBNAME=/x;SERVER=h"), None);
        if let Err(failure) = failure {
            assert!(failure.text.len() < 400, "{name}: {}", failure.text.len());
        }
    }
    let many: String = (0..999).map(|n| format!("k{n}={n};")).collect();
    let settings = of(&format!("{many}DBNAME=h:x"));
    assert_eq!((settings.warnings.len(), settings.effective.pairs().count()), (999, 1));
}
