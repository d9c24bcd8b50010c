//! Every form of connection string that is in use, and what it means.

use super::{empty, parse, parse_trusted, show};
use crate::config::{
    AddressFamily, ClearTextWarning, Config, ConfigError, KeySource, Password, ServerMode, Target,
    WireCompression,
};
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::crypt::CipherKind;
use firearrow_proto::wire::packet::connect::WireCrypt;
use std::time::Duration;

#[track_caller]
fn targets(table: &[(&str, &str)]) {
    for (text, expected) in table {
        let config = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(show(&config), *expected, "{text}");
        // The canonical form means the same.
        let url = config.redacted_url();
        let again = parse(&url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(Config { password: config.password.clone(), ..again }, config, "{text} as {url}");
    }
}

#[test]
fn native_locators() {
    targets(&[
        ("localhost:/data/x.fdb", "localhost 3050 /data/x.fdb"),
        ("  localhost:employee\n", "localhost 3050 employee"),
        ("db.example/3051:/data/x.fdb", "db.example 3051 /data/x.fdb"),
        ("db.example/3051:employee", "db.example 3051 employee"),
        ("db.example/gds_db:employee", "db.example 3050 employee"),
        ("db.example/GDS_DB:employee", "db.example 3050 employee"),
        ("127.0.0.1:employee", "127.0.0.1 3050 employee"),
        // The path is literal.
        ("srv:data/x.fdb", "srv 3050 data/x.fdb"),
        ("srv:/data/a%40b@c#d;e f.fdb", "srv 3050 /data/a%40b@c#d;e f.fdb"),
        ("srv:/data/x.fdb?", "srv 3050 /data/x.fdb?"),
        ("srv:/data/what?.fdb", "srv 3050 /data/what?.fdb"),
        ("srv:/daten/größe.fdb", "srv 3050 /daten/größe.fdb"),
        // A single letter in front of a slash is a drive, else a host.
        ("srv:C:\\data\\x.fdb", "srv 3050 C:\\data\\x.fdb"),
        ("srv/3051:C:/data/x.fdb", "srv 3051 C:/data/x.fdb"),
        ("c:employee", "c 3050 employee"),
        ("C:\\data\\x.fdb", "here C:\\data\\x.fdb"),
        ("c:/data/x.fdb", "here c:/data/x.fdb"),
        // IPv6.
        ("[::1]:/data/x.fdb", "::1 3050 /data/x.fdb"),
        ("[::1]/3051:employee", "::1 3051 employee"),
        ("[fe80::1%eth0]:employee", "fe80::1%eth0 3050 employee"),
        // Paths of this machine.
        ("/data/x.fdb", "here /data/x.fdb"),
        ("/data/a:b.fdb", "here /data/a:b.fdb"),
        ("./x.fdb", "here ./x.fdb"),
        ("../data/x.fdb", "here ../data/x.fdb"),
        ("data/x.fdb", "here data/x.fdb"),
        ("x.fdb", "here x.fdb"),
        ("employee", "here employee"),
        ("embedded:employee", "here employee"),
        ("embedded:data/a:b%20.fdb", "here data/a:b%20.fdb"),
        ("Embedded:\\\\?\\C:\\x.fdb", "here \\\\?\\C:\\x.fdb"),
        ("file:///data/a%20b.fdb", "here /data/a b.fdb"),
        ("file:///C:/data/x.fdb", "here C:/data/x.fdb"),
        ("file://C:/data/x.fdb", "here C:/data/x.fdb"),
        ("file://./x.fdb", "here ./x.fdb"),
    ]);
}

#[test]
fn inet_locators() {
    targets(&[
        ("inet://srv/employee", "srv 3050 employee"),
        ("inet://srv:3051/employee", "srv 3051 employee"),
        ("inet://srv:gds_db/employee", "srv 3050 employee"),
        ("inet://srv:3051//data/x.fdb", "srv 3051 /data/x.fdb"),
        ("INET://srv/data/x.fdb", "srv 3050 data/x.fdb"),
        ("inet://srv/C:\\data\\x.fdb", "srv 3050 C:\\data\\x.fdb"),
        ("inet://[::1]/employee", "::1 3050 employee"),
        ("inet6://[::1]:3051//data/x.fdb", "::1 3051 /data/x.fdb"),
        ("inet4://srv/employee", "srv 3050 employee"),
        // Without a host: a server on this machine.
        ("inet:///data/x.fdb", "localhost 3050 /data/x.fdb"),
        ("inet://C:\\data\\x.fdb", "localhost 3050 C:\\data\\x.fdb"),
        ("inet://C:/data/x.fdb", "localhost 3050 C:/data/x.fdb"),
        ("inet://employee", "localhost 3050 employee"),
    ]);
    let family = |text| parse(text).map(|config| config.address_family);
    assert_eq!(family("inet://srv/x"), Ok(AddressFamily::Any));
    assert_eq!(family("inet4://srv/x"), Ok(AddressFamily::V4));
    assert_eq!(family("inet6://srv/x"), Ok(AddressFamily::V6));
}

#[test]
fn urls() {
    targets(&[
        // The path rule.
        ("firebird://srv/employee", "srv 3050 employee"),
        ("firebird://srv/x.fdb", "srv 3050 x.fdb"),
        ("firebird://srv//x.fdb", "srv 3050 /x.fdb"),
        ("firebird://srv/data/x.fdb", "srv 3050 /data/x.fdb"),
        ("firebird://srv//data/x.fdb", "srv 3050 /data/x.fdb"),
        ("firebird://srv///data/x.fdb", "srv 3050 /data/x.fdb"),
        ("firebird://srv/%2Fdata%2fx.fdb", "srv 3050 /data/x.fdb"),
        ("firebird://srv/./x.fdb", "srv 3050 ./x.fdb"),
        ("firebird://srv/C:/data/x.fdb", "srv 3050 C:/data/x.fdb"),
        ("firebird://srv//C:/data/x.fdb", "srv 3050 C:/data/x.fdb"),
        ("firebird://srv/E:\\fbdata\\test.fdb", "srv 3050 E:\\fbdata\\test.fdb"),
        ("firebird://srv/\\\\nas\\share\\x.fdb", "srv 3050 \\\\nas\\share\\x.fdb"),
        ("firebird://srv/data/x.fdb?path=literal", "srv 3050 data/x.fdb"),
        ("firebird://srv//data/x.fdb?path=literal", "srv 3050 /data/x.fdb"),
        ("firebird://srv///data/x.fdb?path=literal", "srv 3050 //data/x.fdb"),
        ("firebird://srv/data/x.fdb?PATH=auto", "srv 3050 /data/x.fdb"),
        // Host and port.
        ("Firebird://srv:3051/employee?", "srv 3051 employee"),
        ("firebird://[::1]:3051/employee", "::1 3051 employee"),
        ("firebird://[::1]/employee", "::1 3050 employee"),
        ("firebird://[fe80::1%25eth0]/employee", "fe80::1%eth0 3050 employee"),
        ("firebird://user:pw@srv:3051/a%40b%23c.fdb", "srv 3051 a@b#c.fdb"),
        // The mixture with the native form that DuckDB's examples have.
        ("firebird://srv:/data/x.fdb", "srv 3050 /data/x.fdb"),
        ("firebird://srv:/x.fdb", "srv 3050 /x.fdb"),
        // No host: embedded.
        ("firebird:///data/x.fdb", "here /data/x.fdb"),
        ("firebird:////data/x.fdb", "here /data/x.fdb"),
        ("firebird:///employee", "here employee"),
        ("firebird:///./x.fdb", "here ./x.fdb"),
        ("firebird:///C:/data/x.fdb", "here C:/data/x.fdb"),
        ("firebird://C:/data/x.fdb", "here C:/data/x.fdb"),
        ("firebird://C:\\data\\x.fdb", "here C:\\data\\x.fdb"),
        ("firebird://sysdba@/data/x.fdb", "here /data/x.fdb"),
        // SQLAlchemy.
        ("firebird+firebird://u:p@localhost///home/me/x.fdb", "localhost 3050 /home/me/x.fdb"),
        ("firebird+fdb://u:p@localhost:3050/C:/x.fdb", "localhost 3050 C:/x.fdb"),
        ("firebird+firearrow:////home/me/x.fdb", "here /home/me/x.fdb"),
        ("firebirdsql+syn://u:p@localhost//home/me/x.fdb", "localhost 3050 /home/me/x.fdb"),
        // The Go driver leaves out the scheme.
        ("user:password@localhost:3050/dbname", "localhost 3050 dbname"),
        ("user:password@localhost/dbname", "localhost 3050 dbname"),
        ("user:password@localhost:3050/C:/db.fdb", "localhost 3050 C:/db.fdb"),
        ("user:password@localhost:3050/path/to/db.fdb", "localhost 3050 /path/to/db.fdb"),
        ("user@localhost/dbname", "localhost 3050 dbname"),
        ("localhost:3051/dbname", "localhost 3051 dbname"),
        ("[::1]:3051/dbname", "::1 3051 dbname"),
        // Jaybird.
        ("jdbc:firebirdsql://srv:3051/employee", "srv 3051 employee"),
        ("jdbc:firebirdsql://srv//data/x.fdb?user=u&password=p", "srv 3050 /data/x.fdb"),
        ("jdbc:firebirdsql://192.168.5.5/E:\\fbdata\\test.fdb", "192.168.5.5 3050 E:\\fbdata\\test.fdb"),
        ("jdbc:firebird://srv/employee", "srv 3050 employee"),
        ("JDBC:firebirdsql:java://srv/employee", "srv 3050 employee"),
        ("jdbc:firebirdsql:native:srv/3051:/data/x.fdb", "srv 3051 /data/x.fdb"),
        (
            "jdbc:firebirdsql:192.168.10.11/3050:D:/Database.fdb?encoding=UTF-8",
            "192.168.10.11 3050 D:/Database.fdb",
        ),
        ("jdbc:firebirdsql:srv:employee", "srv 3050 employee"),
        ("jdbc:firebirdsql:/data/x.fdb", "localhost 3050 /data/x.fdb"),
        ("jdbc:firebirdsql:///data/x.fdb", "localhost 3050 /data/x.fdb"),
        ("jdbc:firebirdsql:C:/data/x.fdb", "localhost 3050 C:/data/x.fdb"),
        ("jdbc:firebirdsql:embedded:/data/x.fdb", "here /data/x.fdb"),
    ]);
}

#[test]
fn keyword_lists() {
    targets(&[
        ("Driver={Firebird/InterBase(r) driver};Dbname=srv:/data/x.fdb;Uid=u;Pwd=p", "srv 3050 /data/x.fdb"),
        ("DRIVER=Firebird;DBNAME=srv/3051:C:\\data\\x.fdb;CHARSET=;ROLE=;", "srv 3051 C:\\data\\x.fdb"),
        ("user=u;password=p;database=host:/x", "host 3050 /x"),
        ("; user = u ;; database = host:/with blank.fdb ;", "host 3050 /with blank.fdb"),
        ("database={host:/a;b}}c.fdb};user=u", "host 3050 /a;b}c.fdb"),
        ("User=u;Database=employee;DataSource=srv;Port=3051;Dialect=3", "srv 3051 employee"),
        ("server=[::1];database=data/x.fdb", "::1 3050 data/x.fdb"),
        ("server=::1;database=C:\\x.fdb", "::1 3050 C:\\x.fdb"),
        ("database=/data/x.fdb", "here /data/x.fdb"),
        ("Initial Catalog=inet6://srv/employee", "srv 3050 employee"),
        ("database=firebird://srv/employee?role=r;user=u", "srv 3050 employee"),
    ]);
    let config = parse("Uid=\"Alice\";Pwd={a;b}}c=d };Dbname=srv:x").expect("valid");
    assert_eq!(config.user.as_deref(), Some("\"Alice\""));
    assert_eq!(config.password, Some("a;b}c=d ".into()));
}

#[test]
fn user_info_is_decoded() {
    for (text, user, password) in [
        ("firebird://srv/x", None, None),
        ("firebird://bob@srv/x", Some("bob"), None),
        ("firebird://bob:@srv/x", Some("bob"), Some("")),
        ("firebird://:pw@srv/x", None, Some("pw")),
        ("firebird://bob:a:b+c@srv/x", Some("bob"), Some("a:b+c")),
        ("firebird://%22Bob%22:p%40s%23%2F%25@srv/x", Some("\"Bob\""), Some("p@s#/%")),
        ("firebird://b%C3%B6b:%E2%82%AC@srv/x", Some("böb"), Some("€")),
        ("bob:s%40@srv/x", Some("bob"), Some("s@")),
        ("srv:x?user=bob&password=a%26b", Some("bob"), Some("a&b")),
        ("jdbc:firebirdsql://srv/x?user=bob;password=pw", Some("bob"), Some("pw")),
        ("firebird://srv/x?isc_dpb_user_name=bob", Some("bob"), None),
    ] {
        let config = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(config.user.as_deref(), user, "{text}");
        assert_eq!(config.password.as_ref().map(Password::reveal), password, "{text}");
    }
}

#[test]
fn every_option_arrives() {
    let text = "firebird://srv/x?user=bob&password=pw&role=r&wireCrypt=REQUIRED&wire_crypt_plugin=arc4,ChaCha&\
        wire_compress=Y&auth_plugin_list=Srp, legacy_auth,srp&timeout=2.5&so_timeout=1500&\
        aux_host=gate.example&RemoteAuxPort=13051&dummy_packet_interval=60&protocol=13-17&timezone=+02:00&dataTypeBind=int128 to varchar;decfloat to legacy&\
        decfloat_round=half_up&decfloat_traps=overflow,underflow&searchPath=a, b&parallel_workers=4&\
        no_db_triggers=1&no_gc=on&maxInlineBlobSize=0&max_blob_cache_size=10485760&process_name=app&\
        client=/lib/libfbclient.so&db_key=env:KEY&db_key_in_clear=1&allow_no_authentication=yes&\
        clear_text_warning=Never&createDatabaseIfNotExist=true&page_size=16384&\
        db_charset=WIN1252&forced_writes=false&charset=utf-8&dialect=3&address_family=inet6&\
        type.int128=utf8&adbc.firebird.none_encoding=windows-1252";
    let target = Target::Remote { host: "srv".into(), port: 3050, database: "x".into() };
    let text_of = |text: &str| Some(text.to_owned());
    let expected = Config {
        address_family: AddressFamily::V6,
        user: text_of("bob"),
        password: Some("pw".into()),
        role: text_of("r"),
        wire_crypt: WireCrypt::Required,
        ciphers: vec![CipherKind::Arc4, CipherKind::ChaCha],
        compress: WireCompression::On,
        auth_plugins: vec![AuthPlugin::Srp, AuthPlugin::Legacy],
        connect_timeout: Duration::from_millis(2500),
        read_timeout: Some(Duration::from_millis(1500)),
        event_host: text_of("gate.example"),
        event_port: Some(13051),
        keepalive: Some(Duration::from_secs(60)),
        protocol: 13..=17,
        session_time_zone: text_of("+02:00"),
        set_bind: text_of("int128 to varchar;decfloat to legacy"),
        decfloat_round: text_of("half_up"),
        decfloat_traps: text_of("overflow,underflow"),
        search_path: text_of("a, b"),
        parallel_workers: Some(4),
        no_db_triggers: true,
        no_gc: true,
        max_inline_blob_size: Some(0),
        max_blob_cache_size: Some(10_485_760),
        process_name: text_of("app"),
        client_library: text_of("/lib/libfbclient.so"),
        db_key: Some(KeySource::Env("KEY".into())),
        db_key_in_clear: true,
        allow_no_authentication: true,
        clear_text_warning: ClearTextWarning::Never,
        create_if_missing: true,
        page_size: Some(16384),
        db_charset: text_of("WIN1252"),
        force_writes: Some(false),
        read: vec![("int128".into(), "utf8".into()), ("none_encoding".into(), "windows-1252".into())],
        ..Config::new(target)
    };
    assert_eq!(parse_trusted(text).as_ref(), Ok(&expected));
    let again = parse_trusted(&expected.redacted_url()).expect("own URL");
    assert_eq!(Config { password: Some("pw".into()), ..again }, expected);

    let local = parse_trusted(
        "./x.fdb?overwrite=yes&server_mode=Classic&config=DefaultDbCachePages=600%0AA=B&db_key=file:/k",
    )
    .expect("valid");
    assert!(local.overwrite);
    assert_eq!(local.server_mode, Some(ServerMode::Classic));
    assert_eq!(local.engine_config.as_deref(), Some("DefaultDbCachePages=600\nA=B"));
    assert_eq!(local.db_key, Some(KeySource::File("/k".into())));
    assert_eq!(parse_trusted(&local.redacted_url()), Ok(local));
}

#[test]
fn zero_switches_limits_off() {
    let config = parse("srv:x?read_timeout=0&keepalive=0").expect("valid");
    assert_eq!((config.read_timeout, config.keepalive), (None, None));
    assert_eq!(parse("srv:x?so_timeout=0").map(|config| config.read_timeout), Ok(None));
}

#[test]
fn go_and_jaybird_words_for_encryption() {
    for (word, expected) in [
        ("true", WireCrypt::Enabled),
        ("false", WireCrypt::Disabled),
        ("DEFAULT", WireCrypt::Enabled),
        ("Required", WireCrypt::Required),
    ] {
        let parsed = parse(&format!("srv:x?wire_crypt={word}"));
        assert_eq!(parsed.map(|config| config.wire_crypt), Ok(expected), "{word}");
    }
}

#[test]
fn environment_fills_what_is_missing() {
    let env = |name: &str| {
        let value = match name {
            "ISC_USER" => "isc",
            "ISC_PASSWORD" => "iscpw",
            "FIREARROW_PASSWORD" => "ourpw",
            "FIREARROW_USER" => "",
            _ => return None,
        };
        Some(value.to_owned())
    };
    for (text, user, password) in [
        ("srv:x", "isc", "ourpw"),
        ("firebird://bob@srv/x", "bob", "ourpw"),
        ("firebird://bob:@srv/x", "bob", ""),
        ("user=bob;pwd=pw;database=srv:x", "bob", "pw"),
        ("/data/x.fdb", "isc", "ourpw"),
    ] {
        let config = Config::parse_with_env(text, &env).expect("valid");
        assert_eq!(config.user.as_deref(), Some(user), "{text}");
        assert_eq!(config.password, Some(password.into()), "{text}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("password");
    std::fs::write(&path, "from a file \nand a second line").expect("a file");
    let env = |name: &str| match name {
        "FIREARROW_PASSWORD_FILE" => Some(path.display().to_string()),
        "ISC_PASSWORD" => Some("iscpw".to_owned()),
        "FIREARROW_DB_KEY" => Some("env:KEY".to_owned()),
        _ => None,
    };
    let config = Config::parse_with_env("srv:x", &env).expect("valid");
    assert_eq!(config.password, Some("from a file ".into()));
    assert_eq!(config.db_key, Some(KeySource::Env("KEY".into())));
    let config = Config::parse_with_env("firebird://u:pw@srv/x", &env).expect("valid");
    assert_eq!(config.password, Some("pw".into()));
    std::fs::write(&path, "\u{feff}pw\r\n").expect("a file");
    assert_eq!(Config::parse_with_env("srv:x", &env).expect("valid").password, Some("pw".into()));
    std::fs::write(&path, [0xff, 0xfe, b'p', 0]).expect("a file");
    let error = Config::parse_with_env("srv:x", &env).expect_err("UTF-16").to_string();
    assert!(error.contains("save it as UTF-8"), "{error}");
    std::fs::write(&path, [0xff]).expect("a file");
    let error = Config::parse_with_env("srv:x", &env).expect_err("no text").to_string();
    assert!(error.contains("FIREARROW_PASSWORD_FILE") && error.contains("UTF-8"), "{error}");
    std::fs::remove_file(&path).expect("it is there");
    assert!(matches!(Config::parse_with_env("srv:x", &env), Err(ConfigError::PasswordFile { .. })));
    assert!(Config::parse_with_env("/x.fdb", &env).is_ok(), "the engine in this process asks for none");

    let config = parse("srv:x").expect("valid");
    assert_eq!((&config.user, config.login(), &config.password), (&None, "SYSDBA", &None));
}

#[test]
fn front_ends_get_their_options() {
    let text = "Driver=Firebird;Dbname=srv:x;ReadOnly=Y;NOWAIT=N;Role=r";
    let (config, pairs) = Config::parse_for_front_end(text, &empty).expect("valid");
    assert_eq!(config.role.as_deref(), Some("r"));
    assert_eq!(pairs, [("readonly".into(), "Y".into()), ("nowait".into(), "N".into())]);

    let text = "firebird://srv/x?adbc.firebird.query.batch_rows=1000&adbc.firebird.role=r";
    let (config, pairs) = Config::parse_for_front_end(text, &empty).expect("valid");
    assert_eq!(config.role.as_deref(), Some("r"));
    assert_eq!(pairs, [("adbc.firebird.query.batch_rows".into(), "1000".into())]);
    let name = "adbc.firebird.query.batch_rows".to_owned();
    assert_eq!(parse(text), Err(ConfigError::FrontEndOption { name }));
}

#[test]
fn set_replaces() {
    let mut config = parse("srv:x?role=a&type.int128=utf8").expect("valid");
    config.set("ROLE", "b").expect("valid");
    config.set("int128", "decimal256").expect("valid");
    assert_eq!(config.role.as_deref(), Some("b"));
    assert_eq!(config.read, [("int128".to_owned(), "decimal256".to_owned())]);
}
