//! Errors: status, SQLSTATE and details, at once and in the middle of a stream.

use crate::raw::Raw;
use crate::support::{
    autocommit, database, detail, fails, failure, fresh, fresh_database, get, options, query, run, set,
    sqlstate,
};
use adbc_core::error::Status;
use adbc_core::options::{OptionDatabase, OptionValue};
use adbc_core::{Connection, Database, Driver, Optionable};
use firearrow_testkit::{Generation, Target, matrix};

matrix!(
    all,
    fn statuses_follow_what_the_engine_says(target: &Target) {
        let mut connection = fresh(target);
        run(
            &mut connection,
            "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n SMALLINT CHECK (n < 100), s VARCHAR(3))",
        );
        run(&mut connection, "CREATE TABLE c (id INTEGER REFERENCES t (id))");
        run(&mut connection, "CREATE VIEW v AS SELECT * FROM t");
        run(&mut connection, "INSERT INTO t VALUES (1, 1, 'a')");
        for (sql, status, state) in [
            ("SELECT * FROM missing", Status::NotFound, "42S02"),
            ("SELECT missing FROM t", Status::NotFound, "42S22"),
            ("EXECUTE PROCEDURE missing", Status::NotFound, "42000"),
            ("SELECT NEXT VALUE FOR missing FROM RDB$DATABASE", Status::NotFound, "42000"),
            ("DROP TABLE missing", Status::NotFound, ""),
            ("CREATE TABLE t (a INTEGER)", Status::AlreadyExists, "42S01"),
            ("SELEC 1", Status::InvalidArguments, "42000"),
            ("", Status::InvalidArguments, ""),
            ("INSERT INTO t VALUES (1)", Status::InvalidArguments, "21S01"),
            ("SELECT ? FROM RDB$DATABASE", Status::InvalidArguments, "HY004"),
            ("INSERT INTO t VALUES (1, 1, 'a')", Status::Integrity, "23000"),
            ("INSERT INTO t VALUES (2, 200, 'a')", Status::Integrity, "23000"),
            ("INSERT INTO t VALUES (NULL, 1, 'a')", Status::Integrity, "23000"),
            ("INSERT INTO c VALUES (9)", Status::Integrity, "23000"),
            ("DROP TABLE t", Status::Integrity, ""),
            ("SELECT 1 / 0 FROM RDB$DATABASE", Status::InvalidData, "22012"),
            ("SELECT CAST('x' AS INTEGER) FROM RDB$DATABASE", Status::InvalidData, "22018"),
            ("INSERT INTO t VALUES (3, 1, 'long')", Status::InvalidData, "22001"),
            ("INSERT INTO t VALUES (3, 99999, 'a')", Status::InvalidData, "22003"),
            (
                "SELECT (SELECT RDB$RELATION_ID FROM RDB$RELATIONS) FROM RDB$DATABASE",
                Status::InvalidData,
                "21000",
            ),
            ("SELECT CAST(1 AS NUMERIC(99, 2)) FROM RDB$DATABASE", Status::InvalidArguments, "HY104"),
            (
                "CREATE TABLE w (a CHAR(8000) CHARACTER SET UTF8, b CHAR(8000) CHARACTER SET UTF8, \
                 c CHAR(8000) CHARACTER SET UTF8)",
                Status::InvalidArguments,
                "54000",
            ),
        ] {
            let error = failure(&mut connection, sql);
            assert_eq!(error.status, status, "{sql}: {error}");
            assert!(state.is_empty() || sqlstate(&error) == state, "{sql}: {error}");
        }
        assert_eq!(query(&mut connection, "SELECT * FROM t").num_rows(), 1);
        // Firebird 3 lets it pass.
        if target.generation() > Generation::V3_0 {
            let error = failure(&mut connection, "CREATE PROCEDURE p AS BEGIN SUSPEND; END");
            assert_eq!(
                (error.status, sqlstate(&error).as_str()),
                (Status::InvalidArguments, "42000"),
                "{error}"
            );
        }
    },
    fn details_name_codes_and_places(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER NOT NULL, CONSTRAINT pk_t PRIMARY KEY (id))");
        run(&mut connection, "INSERT INTO t VALUES (7)");
        let error = failure(&mut connection, "INSERT INTO t VALUES (7)");
        assert_eq!(detail(&error, "firebird.gds").as_deref(), Some("335544665"));
        assert_eq!(detail(&error, "firebird.constraint").as_deref(), Some("PK_T"));
        assert!(detail(&error, "firebird.table").is_some_and(|table| table.contains('T')));
        assert!(detail(&error, "firebird.key").is_some_and(|key| key.contains('7')), "{:?}", error.details);
        assert_eq!(detail(&error, "firebird.sqlcode").as_deref(), Some("-803"));
        assert_eq!(detail(&error, "firebird.sqlstate").as_deref(), Some("23000"));
        assert_eq!(detail(&error, "firebird.retryable"), None);
        let error = failure(&mut connection, "SELECT *\nFROM missing");
        assert_eq!(detail(&error, "firebird.line").as_deref(), Some("2"));
        assert_eq!(detail(&error, "firebird.column").as_deref(), Some("6"));
        let codes = detail(&error, "firebird.gds_codes").expect("they are told");
        let names = detail(&error, "firebird.gds_names").expect("they are told");
        assert_eq!(codes.split(',').count(), names.split(',').count());
        let mut both = codes.split(',').zip(names.split(','));
        assert!(both.any(|both| both == ("335544580", "dsql_relation_err")), "{codes}: {names}");
    },
    fn errors_in_the_middle_of_a_stream_are_whole(target: &Target) {
        let raw = Raw::fresh(target);
        // Without ORDER BY: sorting would meet the error before the first row.
        let sql = "WITH RECURSIVE n AS (SELECT 1 i FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < 150) \
            SELECT 10 / (20000 - (a.i * 150 + b.i)) FROM n a, n b";
        let (mut stream, _) = raw.stream(sql).expect("it runs");
        let mut rows = 0;
        let failure = loop {
            match stream.next() {
                Ok(batch) => rows += batch.expect("there is more").num_rows(),
                Err(failure) => break failure,
            }
        };
        assert!(rows >= 8192, "{rows}");
        assert_eq!(failure.number, 22);
        let error = failure.error.expect("it is told");
        assert_eq!((error.status, sqlstate(&error).as_str()), (Status::InvalidData, "22012"), "{error}");
        assert_eq!(error.message, failure.message);
        let codes = detail(&error, "firebird.gds_codes").expect("they are told");
        assert!(codes.contains("335544778"), "{codes}");
        // Consumers may even release it.
        stream.release_error();
        assert!(stream.next().expect("nothing comes after an error").is_none());
        stream.release();
        assert_eq!(raw.execute("SELECT 1 FROM RDB$DATABASE").expect("it works").0.len(), 1);
    },
    fn conflicts_can_be_tried_again(target: &Target) {
        let database = fresh_database(target);
        let mut first = database.new_connection().expect("it is created");
        let mut second = database.new_connection().expect("it exists");
        run(&mut first, "CREATE TABLE t (n INTEGER)");
        run(&mut first, "INSERT INTO t VALUES (1)");
        autocommit(&mut first, false);
        run(&mut first, "UPDATE t SET n = 2");
        set(&mut second, "adbc.firebird.lock_timeout", "0").expect("it is known");
        let error = failure(&mut second, "UPDATE t SET n = 3");
        assert_eq!((error.status, sqlstate(&error).as_str()), (Status::IO, "40001"), "{error}");
        assert_eq!(detail(&error, "firebird.retryable").as_deref(), Some("true"));
        first.commit().expect("it commits");
        assert_eq!(run(&mut second, "UPDATE t SET n = 3"), Some(1));
    },
    fn a_database_that_is_not_there_is_not_found(target: &Target) {
        let url = target.fresh_url();
        let given =
            options(target, &url).into_iter().filter(|(key, _)| !key.as_ref().contains("create_if_missing"));
        let database = crate::support::driver().new_database_with_opts(given).expect("valid options");
        fails(database.new_connection().map(drop), Status::NotFound);
    }
);

matrix!(
    wire,
    fn logins_are_refused_without_telling_secrets(target: &Target) {
        let url = target.fresh_url();
        drop(database(target, &url).new_connection().expect("it is created"));
        let mut given = options(target, &url);
        given.push((OptionDatabase::Password, "s3cret-and-wrong".into()));
        let database = crate::support::driver().new_database_with_opts(given).expect("valid options");
        let error = fails(database.new_connection().map(drop), Status::Unauthenticated);
        assert_eq!(sqlstate(&error), "28000");
        assert!(!error.message.contains("s3cret"), "{error}");
        fails(database.get_option_string(OptionDatabase::Password), Status::NotFound);
        let uri = database.get_option_string(OptionDatabase::Uri).expect("it is known");
        assert!(!uri.contains("masterkey") && !uri.contains("s3cret"), "{uri}");
    },
    fn clear_text_is_told_and_named_ciphers_are_demanded(target: &Target) {
        let url = target.fresh_url();
        let with = |more: &[(&str, &str)]| {
            let mut given = options(target, &url);
            given.extend(more.iter().map(|(key, value)| {
                (OptionDatabase::Other(format!("adbc.firebird.{key}")), OptionValue::from(*value))
            }));
            crate::support::driver().new_database_with_opts(given).expect("valid options").new_connection()
        };
        let warnings = |connection| get(&connection, "adbc.firebird.warnings").expect("it is known");
        let plain = ("wire_crypt", "disabled");
        assert_eq!(warnings(with(&[plain]).expect("it connects")), "", "on this machine");
        let told = warnings(with(&[plain, ("clear_text_warning", "always")]).expect("it connects"));
        assert!(told.contains("not encrypted") && told.contains("wire_crypt=required"), "{told}");
        assert!(!told.contains('\n'), "{told}");
        // Two options that are fine one by one.
        fails(with(&[plain, ("wire_crypt_plugins", "Arc4")]).map(drop), Status::InvalidArguments);
    },
    fn a_uri_names_no_key(target: &Target) {
        for source in ["cmd:touch /tmp/evil", "file:/etc/shadow", "env:HOME"] {
            let uri = format!("{}?adbc.firebird.db_key={source}", target.fresh_url());
            let given = [(OptionDatabase::Uri, uri.as_str().into())];
            let made = crate::support::driver().new_database_with_opts(given);
            let error = fails(made.map(drop), Status::InvalidArguments);
            assert!(error.message.contains("FIREARROW_DB_KEY"), "{error}");
        }
    },
    fn a_server_that_is_not_there_is_an_io_error(_target: &Target) {
        let uri = "firebird://SYSDBA:masterkey@127.0.0.1:1/nothing";
        let database = crate::support::driver().new_database_with_opts([(OptionDatabase::Uri, uri.into())]);
        let error = fails(database.expect("valid options").new_connection().map(drop), Status::IO);
        assert_eq!(sqlstate(&error), "08001");
    },
    fn rights_are_told(target: &Target) {
        let url = target.fresh_url();
        let mut connection = database(target, &url).new_connection().expect("it is created");
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        let user = format!("U{}", std::process::id());
        run(&mut connection, &format!("CREATE OR ALTER USER {user} PASSWORD 'pw'"));
        let mut given = options(target, &url);
        given.push((OptionDatabase::Username, user.as_str().into()));
        given.push((OptionDatabase::Password, "pw".into()));
        let database = crate::support::driver().new_database_with_opts(given).expect("valid options");
        let mut guest = database.new_connection().expect("it may connect");
        for sql in ["SELECT * FROM t", "CREATE TABLE x (n INTEGER)"] {
            let error = failure(&mut guest, sql);
            assert_eq!(error.status, Status::Unauthorized, "{sql}: {error}");
        }
        drop(guest);
        run(&mut connection, &format!("DROP USER {user}"));
    }
);
