//! What holds for every configuration and for every text.

use super::{empty, parse, parse_trusted};
use crate::config::{
    AddressFamily, ClearTextWarning, Config, KeySource, Password, ServerMode, Target, WireCompression,
};
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::crypt::CipherKind;
use firearrow_proto::wire::packet::connect::WireCrypt;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use std::time::Duration;

/// Any text, rich in characters that mean something in some form.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z/:@#?&=;%{}\\\\\\[\\]+ .,\"'ä€]{1,12}", "[^\0]{1,8}"]
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zä][a-z0-9ä_.-]{0,8}", Just("::1".to_owned()), Just("fe80::1%eth0".to_owned())]
}

fn target() -> impl Strategy<Value = Target> {
    let path = prop_oneof![text(), "/{0,3}[a-z./\\\\]{0,8}x", "/?[A-Za-z]:[/\\\\]x"];
    (path, of((host(), 1..=u16::MAX))).prop_map(|(database, server)| match server {
        Some((host, port)) => Target::Remote { host, port, database },
        None => Target::Embedded { path: database },
    })
}

fn time() -> impl Strategy<Value = Duration> {
    let seconds = prop_oneof![1..100_u64, 1..=31_622_399_u64];
    (seconds, prop_oneof![Just(0), Just(500_000_000), 0..1_000_000_000_u32])
        .prop_map(|(seconds, nanos)| Duration::new(seconds, nanos))
}

fn who(config: Config) -> impl Strategy<Value = Config> {
    let texts =
        [of(text()), of(text()), of(text()), of(text()), of(text()), of(text()), of(text()), of(text())];
    (of(text()), of(text()), texts).prop_map(move |(user, password, texts)| {
        let [role, zone, bind, round, traps, path, process, library] = texts;
        Config {
            user,
            password: password.map(Password::from),
            role,
            session_time_zone: zone,
            set_bind: bind,
            decfloat_round: round,
            decfloat_traps: traps,
            search_path: path,
            process_name: process,
            client_library: library,
            ..config.clone()
        }
    })
}

fn wire(config: Config) -> impl Strategy<Value = Config> {
    (
        select(vec![AddressFamily::Any, AddressFamily::V4, AddressFamily::V6]),
        select(vec![WireCrypt::Disabled, WireCrypt::Enabled, WireCrypt::Required]),
        subsequence(CipherKind::ALL.to_vec(), 0..=3).prop_shuffle(),
        subsequence(AuthPlugin::ALL.to_vec(), 1..=6).prop_shuffle(),
        (time(), of(time()), of(time())),
        (of(host()), of(1..=u16::MAX)),
        (13..=19_u16, 13..=19_u16),
        (
            any::<[bool; 3]>(),
            select(vec![ClearTextWarning::Remote, ClearTextWarning::Always, ClearTextWarning::Never]),
            select(vec![WireCompression::Off, WireCompression::On, WireCompression::Auto]),
        ),
    )
        .prop_map(
            move |(
                family,
                crypt,
                ciphers,
                plugins,
                times,
                events,
                versions,
                ([triggers, gc, nobody], warning, compress),
            )| {
                Config {
                    address_family: family,
                    wire_crypt: crypt,
                    ciphers,
                    auth_plugins: plugins,
                    connect_timeout: times.0,
                    read_timeout: times.1,
                    event_host: events.0,
                    event_port: events.1,
                    keepalive: times.2,
                    protocol: versions.0.min(versions.1)..=versions.0.max(versions.1),
                    compress,
                    no_db_triggers: triggers,
                    no_gc: gc,
                    allow_no_authentication: nobody,
                    clear_text_warning: warning,
                    ..config.clone()
                }
            },
        )
}

fn rest(config: Config) -> impl Strategy<Value = Config> {
    let embedded = matches!(config.target, Target::Embedded { .. });
    let key = prop_oneof![text().prop_map(KeySource::Env), text().prop_map(KeySource::File)];
    (
        (of(text()), of(select(vec![ServerMode::Super, ServerMode::Classic]))),
        (of(1..=32767_u16), of(0..=65535_u32), of(any::<u32>())),
        (of(key), any::<bool>()),
        (any::<[bool; 2]>(), of(select(vec![4096, 8192, 16384, 32768])), of(text()), of(any::<bool>())),
        subsequence(vec![("int128", "utf8"), ("text", "UTF8_VIEW"), ("none_encoding", "win1252")], 0..=3),
    )
        .prop_map(move |(engine, numbers, key, creation, read)| Config {
            engine_config: engine.0.filter(|_| embedded),
            server_mode: engine.1.filter(|_| embedded),
            parallel_workers: numbers.0,
            max_inline_blob_size: numbers.1,
            max_blob_cache_size: numbers.2,
            db_key: key.0,
            db_key_in_clear: key.1,
            create_if_missing: creation.0[0],
            overwrite: creation.0[1],
            page_size: creation.1,
            db_charset: creation.2,
            force_writes: creation.3,
            read: read.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            ..config.clone()
        })
}

fn config() -> impl Strategy<Value = Config> {
    let config = target().prop_map(Config::new).prop_flat_map(who).prop_flat_map(wire).prop_flat_map(rest);
    config.prop_filter("contradictions are refused", |config| config.check().is_ok())
}

/// Pieces of all forms, put together at random: deeper reaching than random characters.
fn soup() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "firebird://",
        "firebird+fdb:",
        "jdbc:firebirdsql:",
        "inet://",
        "inet6:",
        "file://",
        "embedded:",
        "//",
        "/",
        "\\",
        ":",
        "@",
        "[",
        "]",
        "::1",
        "?",
        "&",
        ";",
        "=",
        "{",
        "}",
        "}}",
        "%",
        "%2F",
        "%00",
        "%c3",
        "#",
        "srv",
        "C",
        "3050",
        "user",
        "Pwd",
        "database",
        "Driver",
        "path=literal",
        "timeout",
        "9999999999999999999",
        "0.",
        "-",
        " ",
        "\u{e9}",
        "type.",
        "isc_dpb_",
        "adbc.",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// What stands between a scheme and a login, right and wrong.
fn separator() -> impl Strategy<Value = &'static str> {
    select(vec![
        "://", ":/", ":", "//", "/", ":///", "", " ", ";//", ".//", ": //", " ://", "=", "=//", ":://", "::",
        ":\\\\", "/:/", "@", "://@", ":?", "#//",
    ])
}

fn scheme() -> impl Strategy<Value = String> {
    let known = select(vec![
        "firebird",
        "Firebird",
        "firebirdsql",
        "firebird+fdb",
        "jdbc:firebirdsql",
        "jdbc:firebird",
        "jdbc",
        "inet",
        "inet4",
        "xnet",
        "file",
        "http",
        "https",
        "postgresql",
        "mysql",
        "",
    ]);
    prop_oneof![known.prop_map(str::to_owned), "[a-zA-Z+:/]{1,10}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn own_url_and_password_make_an_equal_config(config in config()) {
        let url = config.redacted_url();
        let parsed = parse_trusted(&url).map_err(|error| TestCaseError::fail(format!("{url}: {error}")))?;
        prop_assert_eq!(Config { password: config.password.clone(), ..parsed }, config, "{}", url);
    }

    #[test]
    fn password_in_a_url_arrives(password in text(), user in text()) {
        let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        let parsed = parse(&format!("firebird://{}:{}@srv/x", escape(&user), escape(&password))).expect("escaped");
        prop_assert_eq!(parsed.user, Some(user));
        prop_assert_eq!(parsed.password, Some(Password::from(password)));
    }

    /// However a URL is misspelled: its password is understood as one, or the text is refused and nothing repeats it.
    #[test]
    fn a_password_is_never_a_part_of_host_or_path(
        scheme in scheme(),
        separator in separator(),
        user in "[a-z][a-z0-9_]{0,5}",
        password in "hunter[A-Za-z0-9/?#%&;:=+~^$ !*-]{0,5}2",
        rest in select(vec!["@host/x", "@host:3050/x", "@host/3050:x", "@host//data/x.fdb", "@[::1]/x", "@host/x?role=r"]),
    ) {
        let text = format!("{scheme}{separator}{user}:{password}{rest}");
        match Config::parse_for_front_end(&text, &empty) {
            Err(error) => {
                let shown = format!("{error} {error:?}");
                prop_assert!(!shown.contains(&password) && !shown.contains("hunter"), "{}: {}", text, shown);
            }
            Ok((config, _)) => {
                let shown = format!("{config} {config:?}");
                prop_assert!(!shown.contains("hunter"), "{}: {}", text, shown);
                prop_assert!(config.password.is_some_and(|found| found.reveal().contains("hunter")), "{}", text);
            }
        }
    }

    #[test]
    fn password_in_braces_arrives(password in text()) {
        let text = format!("Pwd={{{}}};Dbname=srv:x", password.replace('}', "}}"));
        prop_assert_eq!(parse(&text).expect("in braces").password, Some(Password::from(password)));
    }

    #[test]
    fn any_text_is_understood_or_refused(text in prop_oneof![text(), soup(), any::<String>()]) {
        if let Ok((config, _)) = Config::parse_for_front_end(&text, &empty) {
            // What was understood can be written, and sent.
            let again = parse_trusted(&config.redacted_url());
            prop_assert_eq!(again.map(|again| again.target), Ok(config.target.clone()), "{}", config);
            config.dpb_for_create();
        }
    }

    #[test]
    fn any_option_is_set_or_refused(name in prop_oneof![text(), soup()], value in prop_oneof![text(), soup()]) {
        // The result does not matter, only that there is one.
        let _ = Config::default().set(&name, &value);
    }
}
