//! Compression where earlier connections have found a slow link.

use crate::support::{at, fresh_closed, run};
use firearrow::Connection;
use firearrow::config::{Config, WireCompression};
use firearrow_testkit::{Target, matrix};
use firearrow_wan::{Link, WanProxy};
use std::time::Duration;

/// Bits per second.
const SLOW: u64 = 8_000_000;

fn reads(config: &Config) -> bool {
    let connection = Connection::open(config).expect("it opens");
    let rows: usize = connection
        .query("SELECT s FROM t")
        .expect("it runs")
        .map(|batch| batch.expect("rows").num_rows())
        .sum();
    assert_eq!(rows, 1000);
    let is_compressed = connection.info().expect("facts").compressed;
    connection.close().expect("nothing is open");
    is_compressed
}

matrix!(
    wire,
    fn a_slow_link_is_found_by_the_first_connection(target: &Target) {
        let original = fresh_closed(target);
        let connection = Connection::open(&original).expect("it opens");
        run(&connection, "CREATE TABLE t (s CHAR(500) CHARACTER SET ASCII)");
        let fill = "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN WHILE (i < 1000) DO BEGIN \
            INSERT INTO t VALUES (:i); i = i + 1; END END";
        run(&connection, fill);
        connection.close().expect("nothing is open");
        let server = target.server().address().to_string();
        let link = Link::new(Duration::from_millis(2), Some(SLOW));
        let slow = WanProxy::start(([127, 0, 0, 1], 0).into(), server, link).expect("it listens");
        let mut config = at(target, &original, slow.address(), "");
        config.compress = WireCompression::Auto;
        assert!(!reads(&config), "nothing is known yet");
        assert!(reads(&config), "the link is slow");
        assert!(reads(&config), "and still is");
        config.compress = WireCompression::Off;
        assert!(!reads(&config));
    }
);
