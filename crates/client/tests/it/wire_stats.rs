//! What connections, statements and cursors say that they cost.

use crate::support::{config, fresh, fresh_closed, rows, run};
use firearrow::config::WireCompression;
use firearrow::{BatchLimits, Connection, Params, WireStats};
use firearrow_testkit::{Target, matrix};

/// What some work costs the connection.
fn spent<T>(connection: &Connection, work: impl FnOnce() -> T) -> (T, WireStats) {
    let before = connection.wire_stats();
    let done = work();
    (done, connection.wire_stats().since(&before))
}

/// A table with `rows` rows of more than 200 bytes.
fn filled(connection: &Connection, rows: u32) {
    run(connection, "CREATE TABLE t (id INTEGER, filler CHAR(200) CHARACTER SET ASCII)");
    run(
        connection,
        &format!(
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < {rows}) DO BEGIN INSERT INTO t VALUES (:i, 'x'); i = i + 1; END
             END"
        ),
    );
}

matrix!(
    wire,
    fn a_cursor_costs_what_its_calls_cost_the_connection(target: &Target) {
        let connection = fresh(target);
        filled(&connection, 5000);
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
        assert_eq!(statement.wire_stats(), WireStats::default(), "preparing is no execution");
        let statement = statement.with_limits(BatchLimits::default().rows(1000).full(true));

        let (mut cursor, first) = spent(&connection, || statement.query(&transaction, ()).expect("it runs"));
        assert_eq!(cursor.wire_stats(), first);
        let mut total = first;
        for _ in 0..2 {
            let (batch, part) = spent(&connection, || cursor.next_batch().expect("rows"));
            assert_eq!(batch.expect("not the end").num_rows(), 1000);
            total += part;
            assert_eq!(cursor.wire_stats(), total);
        }
        // What others do is not its business.
        let (_, others) = spent(&connection, || connection.ping().expect("it answers"));
        assert_eq!(cursor.wire_stats(), total);
        let (rest, part) = spent(&connection, || {
            let mut rest = 0;
            while let Some(batch) = cursor.next_batch().expect("rows") {
                rest += batch.num_rows();
            }
            rest
        });
        total += part;
        assert_eq!(rest, 3000);
        assert_eq!(cursor.wire_stats(), total);
        assert_eq!(statement.wire_stats(), total);
        // Every row is a packet. Those of the fetch that was under way came ahead of the answer to the ping.
        let all = others.packets_received + total.packets_received;
        assert!((5001..5100).contains(&all), "{others:?} {total:?}");
        assert!(total.bytes_received > 3000 * 200, "{total:?}");
        assert!(total.round_trips > 1 && total.receives >= total.round_trips, "{total:?}");
        assert!(total.packets_sent > 2 && total.sends >= total.round_trips, "{total:?}");

        // A second cursor begins at zero, the statement goes on.
        let again = rows(statement.query(&transaction, ()).expect("it runs"));
        assert_eq!(again.num_rows(), 5000);
        let both = statement.wire_stats();
        assert!(both.bytes_received > 2 * 5000 * 200, "{both:?}");
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        cursor.next_batch().expect("rows");
        assert!(cursor.wire_stats().bytes_received < both.bytes_received / 2);
    },
    fn executions_of_a_statement_add_up(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
        let mut total = WireStats::default();
        for id in ["1", "2", "1"] {
            let insert = || statement.execute(&mut transaction, Params::texts([Some(id)]));
            let (done, part) = spent(&connection, insert);
            // One that fails costs as much.
            assert_eq!(done.is_ok(), total.round_trips < 2);
            total += part;
            assert_eq!(statement.wire_stats(), total);
        }
        assert_eq!(total.round_trips, 3);
        let same = statement.clone();
        assert_eq!(same.wire_stats(), total, "a clone is the same statement");
        let delete = transaction.prepare("DELETE FROM t").expect("valid SQL");
        delete.execute(&mut transaction, ()).expect("it runs");
        assert_eq!((delete.wire_stats().round_trips, statement.wire_stats()), (1, total));
    },
    fn compression_is_seen_in_the_bytes_of_the_socket_alone(target: &Target) {
        let mut config = fresh_closed(target);
        filled(&Connection::open(&config).expect("it opens"), 2000);
        let mut cost = |compress| {
            config.compress = if compress { WireCompression::On } else { WireCompression::Off };
            let connection = Connection::open(&config).expect("it opens");
            assert_eq!(connection.info().expect("facts").compressed, compress);
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
            assert_eq!(rows(statement.query(&transaction, ()).expect("it runs")).num_rows(), 2000);
            statement.wire_stats()
        };
        let (plain, zlib) = (cost(false), cost(true));
        assert!(plain.bytes_received > 2000 * 200 && zlib.bytes_received > 2000 * 200, "{plain:?} {zlib:?}");
        assert!(zlib.wire_bytes_received < plain.wire_bytes_received / 4, "{plain:?} {zlib:?}");
        // Without compression both are the same, but for what is encoded and not yet written.
        assert!(plain.wire_bytes_received.abs_diff(plain.bytes_received) < 100, "{plain:?}");
    }
);

matrix!(
    embedded,
    fn an_engine_in_process_costs_no_packets(target: &Target) {
        let connection = Connection::create(&config(target, &target.fresh_url())).expect("it is created");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT 1 FROM RDB$DATABASE").expect("valid SQL");
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        assert_eq!(cursor.next_batch().expect("a row").expect("a row").num_rows(), 1);
        for stats in [cursor.wire_stats(), statement.wire_stats(), connection.wire_stats()] {
            assert_eq!(stats, WireStats::default());
        }
    }
);
