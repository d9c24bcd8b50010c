//! Every option on every handle that has it, and those that do not exist.

use crate::support::{database, driver, fails, fresh, options, query, set};
use adbc_core::error::Status;
use adbc_core::options::{OptionConnection, OptionDatabase, OptionStatement, OptionValue};
use adbc_core::{Connection, Database, Driver, Optionable};
use firearrow_adbc::option::{Access, CONNECTION, DATABASE, Kind, OPTIONS, STATEMENT, Spec};
use firearrow_testkit::{Target, matrix};

/// Values that an option takes, and one that it does not.
fn values(spec: &Spec) -> (&'static [&'static str], Option<&'static str>) {
    match spec.key {
        "uri" => (&["firebird://u@host:3050/x"], Some("firebird://host:port/x")),
        "adbc.firebird.charset" => (&["UTF8"], Some("WIN1252")),
        "adbc.firebird.dialect" => (&["3", "1"], Some("2")),
        "adbc.firebird.auth_plugins" => (&["Srp256,Srp"], Some("Kerberos")),
        "adbc.firebird.wire_crypt" => (&["disabled", "required"], Some("perhaps")),
        "adbc.firebird.wire_crypt_plugins" => (&["ChaCha64", "Arc4"], Some("Rot13")),
        "adbc.firebird.wire_compression" => (&["true", "false", "auto"], Some("perhaps")),
        "adbc.firebird.clear_text_warning" => (&["always", "never", "remote"], Some("sometimes")),
        "adbc.firebird.connect_timeout" | "adbc.firebird.read_timeout" | "adbc.firebird.keepalive" => {
            (&["12", "2.5"], Some("long"))
        }
        "adbc.firebird.parallel_workers" => (&["2"], Some("0")),
        "adbc.firebird.db_key" => (&["env:KEY"], Some("secret")),
        "adbc.firebird.server_mode" => (&["super", "classic"], Some("mixed")),
        "adbc.firebird.page_size" => (&["8192"], Some("1")),
        "adbc.firebird.query.max_inline_blob" => (&["0", "1000"], Some("-1")),
        "adbc.connection.transaction.isolation_level" => (
            &[
                "adbc.connection.transaction.isolation.snapshot",
                "adbc.connection.transaction.isolation.default",
            ],
            Some("adbc.connection.transaction.isolation.none"),
        ),
        "adbc.firebird.lock_timeout" => (&["0", "5", "-1"], Some("-2")),
        "adbc.firebird.snapshot_number"
        | "adbc.firebird.statement_timeout"
        | "adbc.firebird.idle_timeout" => (&["0"], Some("-1")),
        "adbc.firebird.query.timeout" => (&["100", "0"], Some("-1")),
        "adbc.firebird.partitions" | "adbc.firebird.ingest.commit_rows" => (&["1", "4", "0"], Some("-1")),
        "adbc.firebird.query.parallel" => (&["0", "64", "1"], Some("65")),
        "adbc.firebird.query.prefetch" => (&["1", "1024", "0"], Some("1025")),
        "adbc.firebird.ingest.batch_bytes" => (&["4096", "16777216"], Some("4095")),
        "adbc.firebird.ingest.time_rounding" => (&["error", "floor"], Some("nearest")),
        "adbc.firebird.query.batch_rows" | "adbc.firebird.query.batch_bytes" => (&["1", "1000"], Some("0")),
        "adbc.firebird.none_encoding" => (&["utf8_lossy", "windows-1252", "binary"], Some("ebcdic")),
        "adbc.firebird.type.int128" => (&["decimal256", "utf8"], Some("int64")),
        "adbc.firebird.type.decfloat" => (&["float64", "decimal128(20,5)"], Some("decimal")),
        "adbc.firebird.type.timestamptz" => (&["with_offset", "utf8"], Some("local")),
        "adbc.firebird.type.timetz" => (&["time64_utc"], Some("utc")),
        "adbc.firebird.type.binary" => (&["binary"], Some("utf8")),
        "adbc.firebird.type.text" => (&["large_utf8", "utf8_view"], Some("binary")),
        "adbc.firebird.type.blobs" => (&["inline", "pipelined", "lazy"], Some("eager")),
        "adbc.firebird.type.max_blob" => (&["1", "65536"], Some("0")),
        "adbc.firebird.type.decimal_precision" => (&["storage", "range"], Some("exact")),
        "adbc.ingest.mode" => (
            &["adbc.ingest.mode.append", "adbc.firebird.ingest.mode.upsert", "adbc.ingest.mode.create"],
            Some("append"),
        ),
        "adbc.ingest.target_catalog" | "adbc.ingest.target_db_schema" => (&[""], None),
        "adbc.statement.exec.incremental" => (&["false"], Some("1")),
        "adbc.firebird.ingest.text" => (&["varchar(20)", "auto"], Some("varchar(9999)")),
        "adbc.firebird.ingest.binary" => (&["varbinary(20)", "auto"], Some("varchar(9)")),
        _ => match spec.kind {
            Kind::Flag => (&["true", "false"], Some("yes")),
            _ => (&["some text"], None),
        },
    }
}

/// Sets, reads back, and refuses.
fn check<H: Optionable<Option = O>, O: for<'a> From<&'a str>>(handle: &mut H, spec: &Spec) {
    let key = spec.key;
    match spec.access {
        Access::Read => {
            fails(handle.set_option(O::from(key), "1".into()), Status::InvalidState);
            return;
        }
        Access::Secret => {
            handle.set_option(O::from(key), values(spec).0[0].into()).expect(key);
            fails(handle.get_option_string(O::from(key)), Status::NotFound);
        }
        Access::Write if spec.default.is_empty() => {}
        Access::Write => {
            assert_eq!(handle.get_option_string(O::from(key)).as_deref(), Ok(spec.default), "{key}")
        }
    }
    let (good, bad) = values(spec);
    for &value in good.iter().filter(|_| spec.access == Access::Write) {
        handle
            .set_option(O::from(key), value.into())
            .unwrap_or_else(|error| panic!("{key}={value}: {error}"));
        let text = handle.get_option_string(O::from(key)).expect(key);
        // URIs come back in one form.
        assert!(text == value || key == "uri", "{key}: {text}");
        assert_eq!(handle.get_option_bytes(O::from(key)).expect(key), text.as_bytes());
        if let Ok(number) = value.parse::<i64>() {
            assert_eq!(handle.get_option_int(O::from(key)), Ok(number), "{key}");
            handle.set_option(O::from(key), number.into()).expect(key);
            assert_eq!(handle.get_option_string(O::from(key)).as_deref(), Ok(value), "{key}");
        }
        if let Ok(number) = value.parse::<f64>() {
            assert_eq!(handle.get_option_double(O::from(key)), Ok(number), "{key}");
            handle.set_option(O::from(key), OptionValue::Double(number)).expect(key);
            assert_eq!(handle.get_option_double(O::from(key)), Ok(number), "{key}");
        } else {
            fails(handle.get_option_int(O::from(key)), Status::InvalidArguments);
            fails(handle.get_option_double(O::from(key)), Status::InvalidArguments);
        }
    }
    if let Some(bad) = bad {
        let error = handle.set_option(O::from(key), bad.into()).expect_err(key);
        assert_eq!(error.status, Status::InvalidArguments, "{key}: {error}");
        assert!(!error.message.is_empty(), "{key}");
    }
}

fn unknown<H: Optionable<Option = O>, O: for<'a> From<&'a str>>(handle: &mut H) {
    for key in ["colour", "adbc.firebird.colour", "adbc.firebird.type.colour", ""] {
        fails(handle.set_option(O::from(key), "red".into()), Status::NotImplemented);
        fails(handle.set_option(O::from(key), 1.into()), Status::NotImplemented);
        fails(handle.get_option_string(O::from(key)), Status::NotFound);
        fails(handle.get_option_bytes(O::from(key)), Status::NotFound);
        fails(handle.get_option_int(O::from(key)), Status::NotFound);
        fails(handle.get_option_double(O::from(key)), Status::NotFound);
    }
}

#[test]
fn databases_have_their_options() {
    for spec in OPTIONS {
        let mut database = driver().new_database().expect("it needs no options");
        if spec.scope.has(DATABASE) {
            check::<_, OptionDatabase>(&mut database, spec);
        } else {
            let set = database.set_option(OptionDatabase::from(spec.key), "1".into());
            fails(set, Status::NotImplemented);
            fails(database.get_option_string(OptionDatabase::from(spec.key)), Status::NotFound);
        }
    }
    let mut database = driver().new_database().expect("it needs no options");
    unknown::<_, OptionDatabase>(&mut database);
    fails(database.new_connection().map(drop), Status::InvalidState);
}

#[test]
fn uris_are_understood_or_refused_at_once() {
    let open = |uri: &str| driver().new_database_with_opts([(OptionDatabase::Uri, uri.into())]);
    for uri in [
        "firebird://user:pw@host:3050/employee?charset=utf8&wire_crypt=required&timeout=5",
        "firebird://host//data/x.fdb?adbc.firebird.query.batch_rows=10&adbc.firebird.type.int128=utf8",
        "firebird://[::1]/x?adbc.firebird.lock_timeout=3&adbc.firebird.query.max_inline_blob=0",
        "inet://host:3051/x.fdb",
        "host/3051:x",
        "/data/x.fdb",
    ] {
        let database = open(uri).unwrap_or_else(|error| panic!("{uri}: {error}"));
        let shown = database.get_option_string(OptionDatabase::Uri).expect("it is known");
        assert!(!shown.contains("pw"), "{shown}");
    }
    for (uri, told) in [
        ("firebird://host/x?colour=red", "colour"),
        ("firebird://host/x?adbc.firebird.colour=red", "adbc.firebird.colour"),
        ("firebird://host/x?charset=WIN1252", "WIN1252"),
        ("firebird://host/x?adbc.firebird.query.batch_rows=0", "batch_rows"),
        ("firebird://host/x?adbc.ingest.target_table=t", "target_table"),
        ("mysql://host/x", "mysql"),
    ] {
        let error = fails(open(uri).map(drop), Status::InvalidArguments);
        assert!(error.message.contains(told), "{uri}: {error}");
    }
    let error = fails(open("firebird://u:s3cret@host:x/y").map(drop), Status::InvalidArguments);
    assert!(!error.message.contains("s3cret"), "{error}");
}

matrix!(
    all,
    fn connections_have_their_options(target: &Target) {
        let mut connection = fresh(target);
        for spec in OPTIONS {
            if spec.scope.has(CONNECTION) {
                check::<_, OptionConnection>(&mut connection, spec);
                if spec.access == Access::Write && !spec.default.is_empty() {
                    set(&mut connection, spec.key, spec.default).expect(spec.key);
                }
            } else {
                let set = connection.set_option(OptionConnection::from(spec.key), "1".into());
                fails(set, Status::NotImplemented);
                fails(connection.get_option_string(OptionConnection::from(spec.key)), Status::NotFound);
            }
        }
        unknown::<_, OptionConnection>(&mut connection);
        for key in ["adbc.connection.catalog", "adbc.connection.db_schema"] {
            fails(connection.get_option_string(OptionConnection::from(key)), Status::NotFound);
            fails(set(&mut connection, key, "x"), Status::NotImplemented);
        }
        assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    },
    fn statements_have_their_options(target: &Target) {
        let mut connection = fresh(target);
        for spec in OPTIONS {
            let mut statement = connection.new_statement().expect("it is cheap");
            if spec.scope.has(STATEMENT) {
                check::<_, OptionStatement>(&mut statement, spec);
            } else {
                let set = statement.set_option(OptionStatement::from(spec.key), "1".into());
                fails(set, Status::NotImplemented);
                fails(statement.get_option_string(OptionStatement::from(spec.key)), Status::NotFound);
            }
        }
        let mut statement = connection.new_statement().expect("it is cheap");
        unknown::<_, OptionStatement>(&mut statement);
        fails(statement.set_option(OptionStatement::Incremental, "true".into()), Status::NotImplemented);
        for key in [OptionStatement::TargetCatalog, OptionStatement::TargetDbSchema] {
            fails(statement.set_option(key, "x".into()), Status::NotImplemented);
        }
    },
    fn options_are_inherited(target: &Target) {
        let url = target.fresh_url();
        let mut given = options(target, &url);
        given.push((OptionDatabase::Other("adbc.firebird.query.batch_rows".into()), 7.into()));
        given.push((OptionDatabase::Other("adbc.firebird.type.trim_char".into()), "true".into()));
        given.push((OptionDatabase::Other("adbc.connection.autocommit".into()), "false".into()));
        let database = driver().new_database_with_opts(given).expect("valid options");
        let pre = (OptionConnection::Other("adbc.firebird.query.timeout".into()), 60_000.into());
        let mut connection = database.new_connection_with_opts([pre]).expect("it is created");
        let flag = connection.get_option_string(OptionConnection::AutoCommit);
        assert_eq!(flag.as_deref(), Ok("false"));
        set(&mut connection, "adbc.firebird.query.batch_bytes", "999").expect("it is known");
        let mut statement = connection.new_statement().expect("it is cheap");
        for (key, value) in [("batch_rows", 7), ("timeout", 60_000), ("batch_bytes", 999)] {
            let key = OptionStatement::Other(format!("adbc.firebird.query.{key}"));
            assert_eq!(statement.get_option_int(key), Ok(value));
        }
        let key = OptionStatement::Other("adbc.firebird.query.batch_rows".into());
        statement.set_option(key.clone(), 3.into()).expect("it is known");
        assert_eq!(connection.new_statement().expect("it is cheap").get_option_int(key), Ok(7));
        let blank = query(&mut connection, "SELECT CAST('a' AS CHAR(3)) FROM RDB$DATABASE");
        assert_eq!(arrow::array::AsArray::as_string::<i32>(blank.column(0)).value(0), "a");
        let wrong = (OptionConnection::Other("adbc.firebird.role".into()), "x".into());
        fails(database.new_connection_with_opts([wrong]).map(drop), Status::NotImplemented);
        let table = (OptionConnection::Other("adbc.ingest.target_table".into()), "t".into());
        fails(database.new_connection_with_opts([table]).map(drop), Status::NotImplemented);
    }
);

matrix!(
    wire,
    fn what_the_uri_says_gives_way_to_options(target: &Target) {
        let url = format!("{}?adbc.firebird.query.batch_rows=5&int128=utf8", target.fresh_url());
        let mut database = database(target, &url);
        let rows = |connection: &adbc_driver_manager::ManagedConnection| {
            connection.get_option_int(OptionConnection::Other("adbc.firebird.query.batch_rows".into()))
        };
        let connection = database.new_connection().expect("it is created");
        assert_eq!(rows(&connection), Ok(5));
        let key = OptionConnection::Other("adbc.firebird.type.int128".into());
        assert_eq!(connection.get_option_string(key).as_deref(), Ok("utf8"));
        let key = OptionDatabase::Other("adbc.firebird.query.batch_rows".into());
        assert_eq!(database.get_option_int(key.clone()), Ok(5));
        database.set_option(key, 8192.into()).expect("it is known");
        assert_eq!(rows(&database.new_connection().expect("it exists")), Ok(8192));
    }
);
