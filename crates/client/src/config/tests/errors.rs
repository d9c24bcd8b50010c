//! What is refused, and that messages name the remedy but no secrets.

use super::{parse, parse_trusted, show};
use crate::config::{Config, ConfigError, KeySource};

#[track_caller]
fn refused(table: &[(&str, &str)]) {
    for (text, remedy) in table {
        match parse(text) {
            Ok(config) => panic!("{text} was accepted as {config:?}"),
            Err(error) => assert!(error.to_string().contains(remedy), "{text}: {error}"),
        }
    }
}

#[test]
fn targets() {
    refused(&[
        ("", "empty"),
        (" \t\n", "empty"),
        ("srv:", "no database"),
        ("srv/3050:", "no database"),
        ("embedded:", "no database"),
        ("inet://srv/", "no database"),
        ("inet://srv:3051", "no database"),
        ("inet://", "no database"),
        ("firebird://", "no database"),
        ("firebird://srv", "no database"),
        ("firebird://srv/", "no database"),
        ("firebird://srv//", "no database"),
        ("firebird://srv:3050/?charset=UTF8", "no database"),
        ("user:password@localhost:3050", "no database"),
        ("user:password@localhost", "no database"),
        ("localhost:3050", "no database"),
        ("user=u;password=p", "no database"),
        ("server=srv;database=", "no database"),
        ("srv/fb_db:x", "host/3050:path"),
        ("srv/0:x", "host/3050:path"),
        ("srv/65536:x", "host/3050:path"),
        ("srv/+1:x", "host/3050:path"),
        ("srv:3050:/data/x.fdb", "host/3050:path"),
        ("::1:x", "brackets"),
        ("fe80::1:x", "brackets"),
        ("[::1:x", "brackets"),
        ("[srv]:x", "brackets"),
        ("[::1]x:y", "brackets"),
        ("[fe80::1%]:x", "brackets"),
        (":x", "no host"),
        ("my host:x", "letters"),
        ("firebird://srv\\x.fdb", "no database"),
        ("firebird://s rv/x", "letters"),
        ("srv://data/x.fdb", "host:/path"),
        ("firebird://a:b:c/x", "%3A"),
        ("firebird://srv:99999/x", "65535"),
        ("firebird://srv:gds/x", "65535"),
        ("firebird://:3051/x", "no host"),
        ("inet://u:p@srv/x", "firebird://user:password@host"),
        ("xnet://x", "inet://localhost"),
        ("wnet://srv/x", "inet://localhost"),
        ("\\\\srv\\share\\x.fdb", "inet://localhost"),
        ("jdbc:firebirdsql:local:x", "inet://localhost"),
        ("jdbc:postgresql://srv/x", "firebird://"),
        ("jdbc:", "firebird://"),
        ("postgres://srv/x", "'postgres://' is unknown"),
        ("profile://name", "firebird://"),
        ("file://srv/x", "file:///path"),
        ("x\0y", "zero byte"),
        ("firebird://srv/x%00", "zero byte"),
        ("port=3051;database=x", "host=…;port=…"),
        ("server=a;database=b:x", "both host and database"),
        ("server=a;database=b:x;database=c", "database is given twice"),
        ("server=a;hostname=b;database=x", "host is given twice"),
        ("server=a/3051;database=x", "letters"),
        ("server=a;port=x;database=x", "65535"),
    ]);
    assert_eq!(parse(&"x".repeat(70_000)), Err(ConfigError::TooLong(65_536)));
}

#[test]
fn characters_that_need_escapes() {
    refused(&[
        ("firebird://u:p@ss@srv/x", "%40"),
        ("firebird://u:p@s/s@srv/x", "%40"),
        ("firebird://u:p/w@srv/x", "%2F"),
        ("firebird://srv/a@b.fdb", "%40"),
        ("u:p@ss@srv/x", "%40"),
        ("u:p/w@srv/x", "%2F"),
        ("u:p?w@srv/x", "%3F"),
        ("srv/3050:a@b.fdb", "%40"),
        ("jdbc:firebirdsql://u:p@ss@srv/x", "%40"),
        ("firebird://u:p#w@srv/x", "%23"),
        ("firebird://srv/a#b.fdb", "%23"),
        ("firebird://srv/x?role=a#b", "%23"),
        ("u:p#w@srv/x", "%23"),
        ("file:///a#b", "%23"),
        ("firebird://u:p?w@srv/x", "%3F"),
        ("firebird://u:100%@srv/x", "%25"),
        ("firebird://u:%4@srv/x", "%25"),
        ("firebird://srv/x?role=50%", "%25"),
        ("firebird://srv/%é", "%25"),
        ("firebird://u:%E4@srv/x", "UTF-8"),
    ]);
}

/// The attack is a slip: the host was `firebird`, and the password a part of the path that it was asked for.
#[test]
fn what_is_almost_a_url_is_no_path() {
    for text in [
        "firebird:/u:hunter2@host/x",
        "firebird:u:hunter2@host/x",
        "firebird//u:hunter2@host/x",
        "firebird/u:hunter2@host/x",
        "firebird//host/x",
        "firebird:\\\\u:hunter2@host\\x",
        "firebird :// u:hunter2@host/x",
        "firebird: //u:hunter2@host/x",
        "Firebird:/u@host/x",
        "firebird:/u:hunter2@host:3050/x?role=r",
        "firebird+fdb:/u:hunter2@host/x",
        "firebirdsql:/u:hunter2/2@host/x",
        "inet:/u:hunter2@host/x",
        "http:/u:hunter2@host/x",
        "file:/u:hunter2@host/x",
        "firebrid:/u:hunter2@host/x",
        "/u:hunter2@host/x",
        "A://@u:hunter2@host/x",
        "//u:hunter2@host/x",
        "://u:hunter2@host/x",
        "srv/3050:/u:hunter2@host/x",
        "[::1]:/u:hunter2@host/x",
        "Server=127.0.0.1;Database=firebird:/u:hunter2@host/x",
        "Server=127.0.0.1;Port=3051;Dbname=inet:/u:hunter2@host/x",
        "jdbc:firebirdsql:/u:hunter2@host/x",
        "inet:///u:hunter2@host/x",
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error, ConfigError::NearUrl, "{text}");
        assert!(error.to_string().contains("://"), "{error}");
    }
    for text in [
        "http://u:hunter2@host/x",
        "https://u:hunter2@host/x",
        "postgresql://u:hunter2@host/x",
        "firebrid://u:hunter2@host/x",
        "firebird;//u:hunter2@host/x",
        "firebird:///u:hunter2@host/x",
        "firebird.//u:hunter2@host/x",
        "firebird=u:hunter2@host/x",
        "jdbc:u:hunter2@host/x",
        "jdbc:firebird//u:hunter2@host/x",
        "file:///u:hunter2@host/x",
    ] {
        let error = parse(text).expect_err(text);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{text}: {error}");
    }
    // Hosts that are called like a scheme, and paths with a colon or an @.
    for (text, expected) in [
        ("firebird:/data/x.fdb", "firebird 3050 /data/x.fdb"),
        ("firebird:employee", "firebird 3050 employee"),
        ("firebird/3051:/data/x.fdb", "firebird 3051 /data/x.fdb"),
        ("firebird:employee?user=a@b", "firebird 3050 employee"),
        ("firebird:secret@srv/x", "srv 3050 x"),
        ("srv/3051:/data/a@b.fdb", "srv 3051 /data/a@b.fdb"),
        ("[::1]/3051:/data/a@b.fdb", "::1 3051 /data/a@b.fdb"),
        ("srv:/data/a@b.fdb?timezone=+02:00", "srv 3050 /data/a@b.fdb"),
        ("srv:C:\\a@b.fdb", "srv 3050 C:\\a@b.fdb"),
        ("inet://srv//data/a:b@c.fdb", "srv 3050 /data/a:b@c.fdb"),
        ("embedded:/data/a:b@c.fdb", "here /data/a:b@c.fdb"),
        ("/data/a:b.fdb", "here /data/a:b.fdb"),
    ] {
        assert_eq!(show(&parse(text).expect(text)), expected, "{text}");
    }
}

#[test]
fn options() {
    refused(&[
        ("srv:x?passwort=p", "is 'password' meant"),
        ("srv:x?wire_cript=p", "is 'wire_crypt' meant"),
        ("srv:x?colour=red", "no option 'colour'"),
        ("database=srv:x;colour=red", "no option 'colour'"),
        ("srv:x?type.user=bob", "no option"),
        ("srv:x?role=a&ROLE=b", "role is given twice"),
        ("srv:x?role=a&role=a", "role is given twice"),
        ("srv:x?timezone=a&sessionTimeZone=b", "session_time_zone is given twice"),
        ("srv:x?read_timeout=1&so_timeout=1", "read_timeout is given twice"),
        ("srv:x?int128=utf8&type.int128=utf8", "int128 is given twice"),
        ("firebird://u@srv/x?user=v", "user is given twice"),
        ("database=firebird://u@srv/x;uid=v", "user is given twice"),
        ("inet4://srv/x?address_family=inet6", "address_family is given twice"),
        ("srv:x?database=y", "names server and database already"),
        ("firebird://srv/x?port=3051", "names server and database already"),
        ("firebird://srv/x?path=relative", "literal or auto"),
        ("srv:x?role=a&readonly", "name=value"),
        ("firebird://srv/x?role", "name=value"),
        ("user=u;pass;database=srv:x", "{…}"),
        ("database=srv:x;Pwd={abc", "doubled"),
        ("database=srv:x;Pwd={abc}d", "doubled"),
        ("database=srv:x;Pwd={a}b};Uid=u", "doubled"),
        ("srv:x?readonly=true", "remove it"),
        ("srv:x?wire_crypt=maybe", "disabled, enabled or required"),
        ("srv:x?wire_crypt=", "disabled, enabled or required"),
        ("srv:x?clear_text_warning=maybe", "remote, always or never"),
        ("srv:x?allow_no_authentication=maybe", "true or false"),
        ("srv:x?wire_crypt_plugin=AES", "ChaCha64, ChaCha and Arc4"),
        ("srv:x?auth_plugins=Win_Sspi", "Srp256"),
        ("srv:x?auth_plugins=,", "Srp256"),
        ("srv:x?compress=maybe", "true, false or auto"),
        ("srv:x?connect_timeout=0", "more than 0 seconds"),
        ("srv:x?connect_timeout=-1", "such as 30"),
        ("srv:x?timeout=1e9", "such as 30"),
        ("srv:x?protocol=12", "13-19"),
        ("srv:x?parallel_workers=0", "1 to 32767"),
        ("srv:x?max_inline_blob_size=65536", "65535"),
        ("srv:x?event_port=0", "from 1 to 65535"),
        ("srv:x?event_port=65536", "from 1 to 65535"),
        ("srv:x?event_port=1&aux_port=1", "event_port is given twice"),
        ("srv:x?page_size=1000", "4096, 8192, 16384 or 32768"),
        ("x?server_mode=SuperClassic", "super or classic"),
        ("srv:x?charset=NONE", "none_encoding"),
        ("srv:x?lc_ctype=WIN1252", "always connects with UTF8"),
        ("srv:x?dialect=2", "3 or 1"),
    ]);
    let long = format!("srv:x?user={}", "u".repeat(256));
    refused(&[(&long, "255 bytes")]);
}

#[test]
fn conflicts() {
    refused(&[
        ("srv:x?server_mode=super", "embedded engine"),
        ("srv:x?config=WireCrypt=Required", "use wire_crypt"),
        ("srv:x?wire_crypt=required&auth_plugins=Legacy_Auth", "add Srp256"),
        ("srv:x?wire_crypt=required&protocol=13-15&ciphers=ChaCha64", "Arc4"),
        // A cipher that is asked for by name is a demand.
        ("srv:x?protocol=13-15&ciphers=ChaCha64", "Arc4"),
        ("srv:x?ciphers=Arc4&auth_plugins=Legacy_Auth", "add Srp256"),
        ("srv:x?ciphers=Arc4&wire_crypt=disabled", "remove one of the two"),
    ]);
    assert!(parse("srv:x?wire_crypt=required&protocol=13-15").is_ok());
    assert!(parse("srv:x?wire_crypt=enabled&auth_plugins=Legacy_Auth").is_ok());
    let mut config = parse("srv:x").expect("valid");
    config.auth_plugins.clear();
    assert!(config.check().is_err());
    config = parse("srv:x").expect("valid");
    config.protocol = 7..=9;
    assert!(config.check().is_err());
    assert_eq!(Config::default().check(), Err(ConfigError::MissingDatabase));
}

#[test]
fn a_database_is_created_or_replaced() {
    let error = parse_trusted("srv:x?create_if_missing=1&overwrite=1").expect_err("both");
    assert!(error.to_string().contains("remove one of the two"), "{error}");
}

#[test]
fn a_text_from_outside_chooses_no_code() {
    refused(&[
        ("x.fdb?client_library=/tmp/evil.so", "FIREARROW_ENGINE"),
        ("firebird:///x.fdb?fbClientLibrary=/tmp", "Config::set"),
        ("firebird:///x.fdb?adbc.firebird.client_library=/tmp", "adbc.firebird.client_library"),
        ("srv:x?engine=/tmp/evil.so", "chooses code"),
        ("srv:x?db_key=cmd:touch /tmp/evil", "FIREARROW_DB_KEY"),
        ("srv:x?db_key=file:/etc/shadow", "Config::db_key"),
        ("srv:x?db_key_in_clear=yes", "FIREARROW_DB_KEY_IN_CLEAR"),
        ("./x.fdb?overwrite=yes", "Config::overwrite"),
        ("srv:x?db_key=env:AWS_SECRET_ACCESS_KEY", "adbc.firebird.db_key"),
        ("srv:x?adbc.firebird.db_key=env:KEY", "chooses code"),
        ("Database=srv:x;DB_KEY=file:/etc/shadow", "secrets to send"),
        ("Database=x.fdb;Client=/tmp/evil.so", "chooses code"),
        ("x.fdb?config=Providers=../../tmp/evil", "adbc.firebird.config"),
        ("x.fdb?ISC_DPB_CONFIG=Providers=../../tmp/evil", "Config::set"),
    ]);
    let front_end = Config::parse_for_front_end("x.fdb?adbc.firebird.config=A=B", &|_| None);
    assert!(matches!(front_end, Err(ConfigError::ApplicationOnly { option: "config", .. })), "{front_end:?}");
    assert!("x.fdb?client_library=/opt/engine".parse::<Config>().is_err());
    let mut config = parse("x.fdb").expect("valid");
    config.set("client_library", "/opt/engine").expect("the application's choice");
    let trusted = Config::parse_trusted("x.fdb?client_library=/opt/engine").expect("the application's text");
    assert_eq!(config.client_library, trusted.client_library);
}

#[test]
fn set_refuses_as_parse_does() {
    let mut config = parse("srv:x").expect("valid");
    for (name, value) in [
        ("database", "y"),
        ("path", "literal"),
        ("nowait", "Y"),
        ("role", "a\0b"),
        ("no_gc", ""),
        ("db_key", "hunter2"),
        ("db_key", "env:"),
        ("blobs", "none"),
    ] {
        assert!(config.set(name, value).is_err(), "{name}");
    }
    assert_eq!(config.set("role", &"x".repeat(70_000)), Err(ConfigError::TooLong(65_536)));
    assert_eq!(Ok(config), parse("srv:x"));
}

#[test]
fn secrets_are_never_shown() {
    // Wrong in every place a password can stand.
    for text in [
        "firebird://u:hunter2@x@srv/x",
        "firebird://u:hunter2#@srv/x",
        "firebird://u:hunter2/@srv/x",
        "firebird://u:hunter2?@srv/x",
        "firebird://u:hunter2%@srv/x",
        "firebird://u:hunter2%FF@srv/x",
        "firebird://u:hunter2/x",
        "firebird://u:hunter2@srv:0/x",
        "firebird://u:hunter2@srv",
        "firebird://u:hunter2@s rv/x",
        "inet://u:hunter2@srv/x",
        "u:hunter2@srv",
        "u:hunter2/@srv/x",
        "u/hunter2@srv:x",
        "u/hunter2:@srv:x",
        "u/hunter2@srv/3050:/x",
        "user=u;password={hunter2;database=srv:x",
        "user=u;password=a;hunter2;database=srv:x",
        "srv:x?password=hunter2&password=hunter2",
        "srv:x?password=a&hunter2",
        "srv:x?db_key=hunter2",
        "srv:x?db_key=key:hunter2",
    ] {
        let error = parse(text).expect_err(text);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{text}: {error}");
    }

    let mut config = parse("firebird://u:hunter2@srv/x").expect("valid");
    config.set("db_key", "cmd:get --token hunter2").expect("valid");
    assert!(matches!(config.db_key, Some(KeySource::Command(_))));
    for _ in 0..2 {
        let shown = format!("{config} {config:?} {:#?} {}", config, config.redacted_url());
        assert!(!shown.contains("hunter2") && shown.contains("***"), "{shown}");
        config.db_key = Some(KeySource::Literal(b"hunter2".to_vec()));
    }
    assert_eq!(config.to_string(), "firebird://u@srv:3050/x");
}

#[test]
fn well_known_password_is_recognized() {
    let known =
        |text: &str| parse(text).expect("valid").password.is_some_and(|password| password.is_well_known());
    assert!(known("firebird://sysdba:masterkey@srv/x"));
    assert!(!known("firebird://sysdba:masterkey2@srv/x"));
}

#[test]
fn switches_of_the_type_mapping_are_checked_at_once() {
    let error = parse("srv:x?type.blobs=many").expect_err("no such policy").to_string();
    assert_eq!(error, "blobs='many' is not possible; it must be one of adaptive, inline, pipelined, lazy");
    let mut config = parse("srv:x?blobs=Lazy").expect("in any case");
    assert_eq!(config.read_options().map(|read| read.blobs), Ok(crate::arrow::BlobPolicy::Lazy));
    config.read.push(("colour".into(), "red".into()));
    assert!(config.check().expect_err("no such switch").to_string().contains("no option 'colour'"));
}
