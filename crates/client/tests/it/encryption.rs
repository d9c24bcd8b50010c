//! Databases that are encrypted on disk, by the sample plugins that Firebird 4.0 and 5.0 bring along: their key is
//! one byte, which the server asks the client for while it attaches.

use crate::support::{config, query, run};
use arrow::array::RecordBatch;
use firearrow::config::KeySource;
use firearrow::{Config, Connection, Kind};
use firearrow_testkit::{Server, ServerConfig, Target, matrix};
use std::time::{Duration, Instant};

const MARKER: &str = "readable only while nothing is encrypted";

fn key(byte: u8) -> Option<KeySource> {
    Some(KeySource::Literal(vec![byte]))
}

/// Whether the text stands in the file as it is.
fn is_readable(config: &Config) -> bool {
    let file = std::fs::read(config.target.database()).expect("the server's files are readable");
    file.windows(MARKER.len()).any(|bytes| bytes == MARKER.as_bytes())
}

fn wait_until_encrypted(connection: &Connection) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let encrypted = query(connection, "SELECT 1 FROM MON$DATABASE WHERE MON$CRYPT_STATE = 1");
        if encrypted.num_rows() == 1 {
            return;
        }
        assert!(Instant::now() < deadline, "encrypting takes too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn rows(config: &Config) -> Result<RecordBatch, firearrow::Error> {
    let connection = Connection::open(config)?;
    Ok(query(&connection, "SELECT * FROM t"))
}

matrix!(
    [firebird_4_0, firebird_5_0],
    fn an_encrypted_database_needs_its_key(target: &Target) {
        let plugin = "KeyHolderPlugin = fbSampleKeyHolder";
        let settings = ServerConfig { extra: vec![plugin.to_owned()], ..ServerConfig::default() };
        let server = Server::start_with(target.generation(), &settings).expect("the shared one runs as well");
        let mut config = config(target, &server.url("encrypted"));
        config.db_key = key(0x5a);
        let connection = Connection::create(&config).expect("a database can be created");
        run(&connection, "CREATE TABLE t (id INTEGER, filler VARCHAR(100))");
        run(&connection, &format!("INSERT INTO t VALUES (1, '{MARKER}')"));
        let expected = query(&connection, "SELECT * FROM t");
        assert!(is_readable(&config));
        run(&connection, "ALTER DATABASE ENCRYPT WITH \"fbSampleDbCrypt\"");
        wait_until_encrypted(&connection);
        connection.close().expect("nothing is open");
        assert!(!is_readable(&config));

        assert_eq!(rows(&config).expect("the key fits"), expected);

        config.db_key = None;
        let error = rows(&config).expect_err("no key");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
        assert!(error.message().contains("FIREARROW_DB_KEY"), "{error}");

        config.db_key = key(0x33);
        let error = rows(&config).expect_err("the wrong key");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");

        config.db_key = Some(KeySource::Command("echo Z".to_owned()));
        assert_eq!(rows(&config).expect("a command may bring the key"), expected);
    }
);
