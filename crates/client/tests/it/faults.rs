//! A path to the server that misbehaves.

use crate::support::{at, fresh_closed, query, run};
use firearrow::{Config, Connection, Error, Kind};
use firearrow_testkit::{Behaviour, Proxy, Target, matrix};
use std::time::{Duration, Instant};

/// `original` through a proxy to the same server.
fn through(target: &Target, original: &Config, proxy: &Proxy, options: &str) -> Config {
    let mut config = at(target, original, proxy.address(), options);
    config.connect_timeout = Duration::from_secs(2);
    config.read_timeout = Some(Duration::from_secs(2));
    config
}

/// A session with a bit of everything; how many rows it saw.
fn session(config: &Config) -> Result<usize, Error> {
    let connection = Connection::open(config)?;
    let transaction = connection.begin(Default::default())?;
    let mut rows = 0;
    let mut cursor = transaction.query("SELECT id, name, note FROM t ORDER BY id")?;
    while let Some(batch) = cursor.next_batch()? {
        rows += batch.num_rows();
    }
    drop(cursor);
    transaction.commit()?;
    connection.close()?;
    Ok(rows)
}

fn database(target: &Target) -> Config {
    let config = fresh_closed(target);
    let connection = Connection::open(&config).expect("it opens");
    run(&connection, "CREATE TABLE t (id INTEGER, name VARCHAR(40), note BLOB SUB_TYPE TEXT)");
    run(
        &connection,
        "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
             WHILE (i < 20) DO BEGIN INSERT INTO t VALUES (:i, 'name ' || :i, 'note ' || :i); i = i + 1; END
         END",
    );
    config
}

const ROWS: usize = 20;

matrix!(
    wire,
    fn bytes_may_arrive_in_any_pieces(target: &Target) {
        let original = database(target);
        for options in
            ["wire_crypt=disabled", "wire_crypt=enabled", "wire_crypt=enabled&wire_compression=true"]
        {
            for most in [1, 7, 100] {
                let mut pieces = Behaviour::split(most);
                if options.contains("compression") {
                    // A server that gets op_crypt in pieces joins its cipher before the end of the compressed packet.
                    pieces.from_client = Default::default();
                }
                let proxy = Proxy::start(target.server().address(), pieces).expect("a proxy");
                let mut config = through(target, &original, &proxy, options);
                config.connect_timeout = Duration::from_secs(20);
                config.read_timeout = Some(Duration::from_secs(20));
                assert_eq!(session(&config).unwrap_or_else(|e| panic!("{options}, {most}: {e}")), ROWS);
            }
        }
    },
    fn a_cut_anywhere_is_an_error_and_never_a_short_result(target: &Target) {
        let original = database(target);
        let probe = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
        let plain = "wire_crypt=disabled";
        assert_eq!(session(&through(target, &original, &probe, plain)).expect("nothing is cut"), ROWS);
        let total = probe.bytes_from_server();
        assert!(total > 2000, "{total} bytes");
        // The last packet confirms the detach; a cut there may go unnoticed.
        let mut cut = 1;
        while cut < total - 40 {
            let proxy =
                Proxy::start(target.server().address(), Behaviour::cut_from_server(cut)).expect("a proxy");
            match session(&through(target, &original, &proxy, plain)) {
                Err(error) => {
                    let expected = matches!(error.kind(), Kind::Closed | Kind::CommitUnknown);
                    assert!(expected, "cut at {cut}: {error}");
                }
                Ok(rows) => panic!("cut at {cut} of {total}: {rows} rows and no error"),
            }
            cut += 1 + total / 60;
        }
    }
);

// The client alone decides: nothing reaches it, whatever the release.
matrix!(
    [firebird_4_0],
    fn a_stalled_server_runs_into_the_read_timeout(target: &Target) {
        let original = database(target);
        let probe = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
        session(&through(target, &original, &probe, "wire_crypt=disabled")).expect("nothing is stalled");
        let total = probe.bytes_from_server();
        for at in [200, total / 2, total * 3 / 4] {
            let proxy =
                Proxy::start(target.server().address(), Behaviour::stall_from_server(at)).expect("a proxy");
            let mut config = through(target, &original, &proxy, "wire_crypt=disabled");
            config.connect_timeout = Duration::from_millis(800);
            config.read_timeout = Some(Duration::from_millis(400));
            let start = Instant::now();
            let error = session(&config).expect_err("nothing comes any more");
            let expected = matches!(error.kind(), Kind::Timeout | Kind::CommitUnknown);
            assert!(expected, "stalled at {at}: {error}");
            assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        }
    },
    fn a_failed_connection_stays_failed(target: &Target) {
        let original = database(target);
        let proxy = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
        let connection = Connection::open(&through(target, &original, &proxy, "")).expect("it opens");
        assert_eq!(query(&connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
        drop(proxy);
        assert_eq!(connection.ping().expect_err("the path is gone").kind(), Kind::Closed);
        assert!(connection.is_failed());
        assert_eq!(connection.ping().expect_err("still gone").kind(), Kind::Closed);
    }
);
