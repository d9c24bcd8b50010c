//! Queries read in parts.

use crate::support::{fresh, fresh_closed, rows, run};
use arrow::array::*;
use arrow::datatypes::{DataType, Int64Type};
use firearrow::{
    Config, Connection, Cursor, Kind, LockResolution, Params, Partition, PartitionOptions, PartitionedQuery,
    ReadOptions, TransactionOptions, WhyPlain,
};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const ROWS: i64 = 20_000;

/// A database with `ROWS` rows of 200 bytes.
fn filled(target: &Target) -> (Config, Connection) {
    let config = fresh_closed(target);
    let connection = Connection::open(&config).expect("it opens");
    run(&connection, "CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, a INTEGER, text VARCHAR(200))");
    fill(&connection, "INSERT INTO t VALUES (:i, MOD(:i, 10), LPAD('', 200, :i))");
    (config, connection)
}

fn fill(connection: &Connection, insert: &str) {
    let block = format!(
        "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN WHILE (i < {ROWS}) DO BEGIN {insert}; i = i + 1; END END"
    );
    run(connection, &block);
}

fn wanted(wanted: usize) -> PartitionOptions {
    PartitionOptions::default().wanted(wanted).without_snapshot(true)
}

/// Count and sum of the first column.
fn sums(cursor: Cursor) -> (i64, i64) {
    let batch = rows(cursor);
    let column = arrow::compute::cast(batch.column(0), &DataType::Int64).expect("integers");
    let column = column.as_primitive::<Int64Type>();
    (column.len() as i64, arrow::compute::sum(column).unwrap_or_default())
}

/// Each part by a connection of its own, through bytes.
fn read_all(config: &Config, query: &PartitionedQuery) -> Vec<(i64, i64)> {
    let read = |partition: &Partition| {
        let partition = Partition::from_bytes(&partition.to_bytes().expect("bytes")).expect("a partition");
        let connection = Connection::open(config).expect("it opens");
        let cursor = connection.read_partition(&partition, Default::default()).expect("it is read");
        assert_eq!(cursor.schema(), query.schema());
        sums(cursor)
    };
    query.partitions().iter().map(read).collect()
}

fn total(parts: &[(i64, i64)]) -> (i64, i64) {
    parts.iter().fold((0, 0), |(count, sum), part| (count + part.0, sum + part.1))
}

matrix!(
    all,
    fn parts_together_are_the_whole(target: &Target) {
        let (config, connection) = filled(target);
        for sql in [
            "SELECT id FROM t",
            "SELECT x.id, x.text FROM t AS x WHERE x.a < 5 OR x.a = 7 -- not all\n;",
            "SELECT * FROM \"T\" WHERE a IS NOT NULL",
        ] {
            let whole = sums(connection.query(sql).expect("it runs"));
            let query = connection.partition(sql, (), &wanted(4)).expect("it is divided");
            assert_eq!(query.partitions().len(), 4, "{sql}");
            let parts = read_all(&config, &query);
            assert_eq!(total(&parts), whole, "{sql}");
            let least = whole.0 / 10;
            assert!(parts.iter().all(|part| part.0 > least), "not in balance: {parts:?}");
        }
    },
    fn automatic_parts_come_to_the_whole(target: &Target) {
        let (config, connection) = filled(target);
        let query = connection.partition("SELECT id FROM t", (), &wanted(0)).expect("it is planned");
        assert_eq!(total(&read_all(&config, &query)), (ROWS, ROWS * (ROWS - 1) / 2));
        let query = connection.partition("SELECT id FROM t", (), &wanted(1)).expect("it is planned");
        assert_eq!(query.partitions().len(), 1);
        let sql = query.partitions()[0].sql();
        assert_eq!(sql, "SELECT id FROM t");
    },
    fn parts_see_one_snapshot_while_others_write(target: &Target) {
        let (config, connection) = filled(target);
        let query = connection.partition("SELECT id FROM t", (), &wanted(5)).expect("it is divided");
        if target.generation() < Generation::V4_0 {
            assert!(query.partitions().iter().all(|partition| partition.snapshot().is_none()));
            return;
        }
        let numbers: Vec<_> = query.partitions().iter().map(Partition::snapshot).collect();
        assert!(numbers[0].is_some() && numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
        let (stop, written) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let writer = Connection::open(&config).expect("it opens");
                let mut id = ROWS;
                while !stop.load(Ordering::Relaxed) {
                    run(&writer, &format!("INSERT INTO t VALUES ({id}, 1, 'new')"));
                    run(&writer, &format!("UPDATE t SET id = id + 1000000 WHERE id = {}", id - ROWS));
                    run(&writer, &format!("DELETE FROM t WHERE id = {}", 2 * ROWS - id - 1));
                    id += 1;
                    written.store(true, Ordering::Relaxed);
                }
            });
            while !written.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let parts = read_all(&config, &query);
            stop.store(true, Ordering::Relaxed);
            assert_eq!(total(&parts), (ROWS, ROWS * (ROWS - 1) / 2));
        });
        let now = sums(connection.query("SELECT id FROM t").expect("it runs"));
        assert_ne!(now.1, ROWS * (ROWS - 1) / 2, "nothing was written meanwhile");
    },
    fn fixed_borders_stay_when_the_table_grows(target: &Target) {
        let (config, connection) = filled(target);
        let options = PartitionOptions::default().pages(100).without_snapshot(true);
        let divide =
            || connection.partition("SELECT id FROM t WHERE a < 9", (), &options).expect("it is planned");
        let before = divide();
        if target.generation() < Generation::V4_0 {
            assert_eq!((before.partitions().len(), before.why_plain()), (1, Some(&WhyPlain::OldEngine)));
            return;
        }
        let parts = read_all(&config, &before);
        assert!(parts.len() > 2, "{parts:?}");
        assert_eq!(total(&parts).0, ROWS / 10 * 9);
        let sqls = |query: &PartitionedQuery| -> Vec<String> {
            query.partitions().iter().map(|partition| partition.sql().to_owned()).collect()
        };
        fill(&connection, &format!("INSERT INTO t VALUES ({ROWS} + :i, 1, LPAD('', 200, :i))"));
        // A row is changed in place: its page stays the same.
        run(&connection, "UPDATE t SET text = text || '' WHERE id = 0");
        let after = divide();
        let same = parts.len() - 1;
        assert!(after.partitions().len() > parts.len() && sqls(&before)[..same] == sqls(&after)[..same]);
        // Who wrote the rows that a snapshot sees.
        let columns = |query: &PartitionedQuery, index: usize| {
            let partition = query.partitions()[index].with_columns("COUNT(*), MAX(RDB$RECORD_VERSION)");
            let cursor = connection.read_partition(&partition.expect("it is plain"), Default::default());
            let batch = rows(cursor.expect("it is read"));
            [0, 1].map(|column| batch.column(column).as_primitive::<Int64Type>().value(0))
        };
        let (first_then, first_now) = (columns(&before, 0), columns(&after, 0));
        assert_eq!((first_then[0], first_now[0]), (parts[0].0, parts[0].0));
        assert!(first_then[1] < first_now[1], "{first_then:?} {first_now:?}");
        assert_eq!(columns(&before, 1), columns(&after, 1));
        // Functions of the database may depend on anything.
        run(&connection, "CREATE FUNCTION f (x INTEGER) RETURNS INTEGER AS BEGIN RETURN x; END");
        let query = connection.partition("SELECT f(a) FROM t", (), &options).expect("it is planned");
        assert_eq!(query.why_plain(), Some(&WhyPlain::Volatile));
        run(&connection, "CREATE TABLE empty (id INTEGER)");
        let query = connection.partition("SELECT id FROM empty", (), &options).expect("it is planned");
        assert_eq!((read_all(&config, &query), query.why_plain()), (vec![(0, 0)], None));
    },
    fn servers_without_snapshots_divide_only_when_told(target: &Target) {
        let (config, connection) = filled(target);
        let options = PartitionOptions::default().wanted(3).without_snapshot(false);
        let query = connection.partition("SELECT id FROM t", (), &options).expect("it is planned");
        let has_snapshots = target.generation() >= Generation::V4_0;
        assert_eq!(query.partitions().len(), if has_snapshots { 3 } else { 1 });
        assert_eq!(query.why_plain(), if has_snapshots { None } else { Some(&WhyPlain::OldEngine) });
        assert_eq!(query.partitions()[0].snapshot().is_some(), has_snapshots);
        assert_eq!(total(&read_all(&config, &query)), (ROWS, ROWS * (ROWS - 1) / 2));
    },
    fn what_is_no_plain_query_is_one_part(target: &Target) {
        let (config, connection) = filled(target);
        run(&connection, "CREATE VIEW v AS SELECT id FROM t");
        run(&connection, "CREATE GLOBAL TEMPORARY TABLE g (id INTEGER) ON COMMIT PRESERVE ROWS");
        run(&connection, "CREATE TABLE few (id INTEGER)");
        run(&connection, "CREATE PROCEDURE p RETURNS (id INTEGER) AS BEGIN id = 5; SUSPEND; END");
        let few = match target.generation() {
            Generation::V3_0 => WhyPlain::NoKey,
            _ => WhyPlain::Small,
        };
        for (sql, why) in [
            ("SELECT COUNT(*) FROM t", WhyPlain::Aggregated),
            ("SELECT MAX(id) FROM t WHERE a > 3", WhyPlain::Aggregated),
            ("SELECT DISTINCT a FROM t", WhyPlain::Sorted),
            ("SELECT FIRST 10 id FROM t", WhyPlain::Limited),
            ("SELECT id FROM t ORDER BY id", WhyPlain::Sorted),
            ("SELECT id FROM t WHERE id > 10 ROWS 7", WhyPlain::Limited),
            ("SELECT a, COUNT(*) FROM t GROUP BY a", WhyPlain::Aggregated),
            ("SELECT id FROM t UNION ALL SELECT id FROM t", WhyPlain::Subquery),
            ("SELECT ROW_NUMBER() OVER (ORDER BY id) FROM t", WhyPlain::Aggregated),
            ("SELECT t.id FROM t JOIN t u ON u.id = t.id WHERE t.id < 100", WhyPlain::Join),
            ("SELECT id FROM t WHERE id = (SELECT MAX(id) FROM t)", WhyPlain::Subquery),
            ("SELECT (SELECT COUNT(*) FROM few) FROM t", WhyPlain::Subquery),
            ("SELECT 42 FROM RDB$DATABASE", WhyPlain::NoTable),
            ("SELECT id FROM v", WhyPlain::NoTable),
            ("SELECT id FROM g", WhyPlain::NoTable),
            ("SELECT id FROM few", few),
            ("SELECT id FROM p", WhyPlain::NoTable),
            ("SELECT id FROM t WHERE a = 1 AND CURRENT_TIMESTAMP > DATE '2000-01-01'", WhyPlain::Volatile),
        ] {
            let whole = sums(connection.query(sql).expect("it runs"));
            let query = connection.partition(sql, (), &wanted(4)).expect("it is planned");
            assert_eq!(query.partitions().len(), 1, "{sql}");
            assert_eq!(query.why_plain(), Some(&why), "{sql}");
            assert_eq!(total(&read_all(&config, &query)), whole, "{sql}");
        }
    },
    fn conditions_that_an_index_serves_stay_right(target: &Target) {
        let (config, connection) = filled(target);
        for sql in ["SELECT id FROM t WHERE id BETWEEN 100 AND 300", "SELECT id FROM t WHERE id = 5"] {
            let whole = sums(connection.query(sql).expect("it runs"));
            let query = connection.partition(sql, (), &wanted(4)).expect("it is planned");
            assert_eq!(total(&read_all(&config, &query)), whole, "{sql}");
        }
    },
    fn a_part_whose_leader_has_gone_is_an_error(target: &Target) {
        let (_, connection) = filled(target);
        let query = connection.partition("SELECT id FROM t", (), &wanted(2)).expect("it is divided");
        let part = query.partitions()[1].clone();
        let _ = connection.read_partition(&part, Default::default()).expect("its leader is there");
        drop(query);
        run(&connection, "DELETE FROM t");
        match connection.read_partition(&part, Default::default()) {
            Err(error) => {
                assert_eq!(error.kind(), Kind::Misuse, "{error}");
                assert!(error.message().contains("divide the query anew"), "{error}");
            }
            Ok(cursor) => {
                assert!(target.generation() < Generation::V4_0, "it read another snapshot");
                assert_eq!(sums(cursor), (0, 0));
            }
        }
    },
    fn a_part_of_another_database_is_an_error(target: &Target) {
        let connection = fresh(target);
        let query =
            connection.partition("SELECT 1 FROM rdb$database", (), &wanted(0)).expect("it is planned");
        let other = fresh(target);
        // Its snapshot number means nothing there, if it exists at all.
        let error = other
            .read_partition(&query.partitions()[0], Default::default())
            .map(drop)
            .expect_err("it is elsewhere");
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
    },
    fn parameters_and_switches_travel_along(target: &Target) {
        let (config, connection) = filled(target);
        let mut read = ReadOptions::default();
        read.set("text", "large_utf8").expect("a switch");
        let sql = "SELECT id, text, CAST(? AS VARCHAR(10)) FROM t WHERE a = ? OR text = ?";
        let row = || {
            Params::row([
                Arc::new(StringArray::from(vec!["é"])) as ArrayRef,
                Arc::new(Int32Array::from(vec![3])),
                Arc::new(StringArray::from(vec![None::<&str>])),
            ])
        };
        let query = connection.partition_reading(sql, row(), &wanted(3), &read).expect("it is divided");
        assert_eq!(query.partitions().len(), 3);
        assert_eq!(query.schema().field(1).data_type(), &DataType::LargeUtf8);
        assert_eq!(total(&read_all(&config, &query)).0, ROWS / 10);
        let first =
            rows(connection.read_partition(&query.partitions()[0], Default::default()).expect("it is read"));
        assert_eq!(first.column(2).as_string::<i64>().value(0), "é");
        let two = RecordBatch::try_from_iter([("a", Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef)])
            .expect("rows");
        let error =
            connection.partition("SELECT id FROM t WHERE a = ?", two, &wanted(2)).expect_err("two rows");
        assert_eq!(error.kind(), Kind::Misuse);
    },
    fn only_queries_have_parts(target: &Target) {
        let (_, connection) = filled(target);
        let error = connection.partition("DELETE FROM t", (), &wanted(2)).expect_err("no rows");
        assert_eq!(error.kind(), Kind::Misuse);
        let error =
            connection.partition("SELECT nothing FROM t", (), &wanted(2)).expect_err("no such column");
        assert_eq!(error.kind(), Kind::Syntax);
        assert_eq!(sums(connection.query("SELECT id FROM t").expect("it runs")).0, ROWS);
    },
    fn names_of_any_kind_are_divided(target: &Target) {
        let config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        run(
            &connection,
            "CREATE TABLE \"it's \"\"x\"\" ä\" (\"Key ß\" INTEGER NOT NULL PRIMARY KEY, t CHAR(100))",
        );
        fill(&connection, "INSERT INTO \"it's \"\"x\"\" ä\" VALUES (:i, '')");
        let sql = "SELECT \"Key ß\" FROM \"it's \"\"x\"\" ä\"";
        let query = connection.partition(sql, (), &wanted(3)).expect("it is divided");
        assert_eq!(query.partitions().len(), 3);
        assert_eq!(total(&read_all(&config, &query)), (ROWS, ROWS * (ROWS - 1) / 2));
    },
    fn keys_far_apart_are_divided(target: &Target) {
        let config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        for (table, values) in [
            ("narrow", vec![-5, -4, 7]),
            ("wide", vec![i64::MIN, -3, 0, 12, i64::MAX]),
            ("high", vec![i64::MAX - 2, i64::MAX - 1, i64::MAX]),
            ("one", vec![42]),
            ("none", vec![]),
        ] {
            run(
                &connection,
                &format!("CREATE TABLE \"{table}\" (k BIGINT NOT NULL, l INTEGER, PRIMARY KEY (k, l))"),
            );
            for value in &values {
                run(&connection, &format!("INSERT INTO \"{table}\" VALUES ({value}, 0)"));
            }
            let sql = format!("SELECT l, k FROM \"{table}\"");
            let query = connection.partition(&sql, (), &wanted(3)).expect("it is planned");
            assert_eq!(total(&read_all(&config, &query)).0, values.len() as i64, "{table}");
        }
    },
    fn planning_takes_few_round_trips(target: &Target) {
        let (_, connection) = filled(target);
        let before = connection.wire_stats();
        let query = connection.partition("SELECT id FROM t", (), &wanted(4)).expect("it is divided");
        let planned = connection.wire_stats().since(&before).round_trips;
        assert!(planned <= 24, "{planned}");
        let before = connection.wire_stats();
        let _ = connection.read_partition(&query.partitions()[0], Default::default()).expect("it is read");
        let read = connection.wire_stats().since(&before).round_trips;
        assert!(read <= 6, "{read}");
    },
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn a_table_can_be_dropped_while_its_snapshot_is_held(target: &Target) {
        let (config, connection) = filled(target);
        let query = connection.partition("SELECT id FROM t", (), &wanted(4)).expect("it is divided");
        let other = Connection::open(&config).expect("it opens");
        let options = TransactionOptions::default().lock_resolution(LockResolution::Timeout(5));
        let mut dropping = other.begin(options).expect("it begins");
        dropping.execute("DROP TABLE t").expect("it is prepared");
        dropping.commit().expect("nobody uses it");
        let failed = Connection::open(&config)
            .expect("it opens")
            .read_partition(&query.partitions()[0], Default::default())
            .expect_err("it is gone");
        let text = failed.to_string();
        assert!(text.contains("is not defined") || text.contains("Table unknown"), "{text}");
    },
    fn a_snapshot_with_the_number_of_another_one_is_not_read(target: &Target) {
        let (config, connection) = filled(target);
        connection.close().expect("nothing is left of it");
        // Numbers of snapshots begin anew with the first attachment.
        let divide = || {
            let connection = Connection::open(&config).expect("it opens");
            let query = connection.partition("SELECT id FROM t", (), &wanted(2)).expect("it is divided");
            (connection, query)
        };
        let (first, query) = divide();
        let part = query.partitions()[0].clone();
        drop(query);
        first.close().expect("nothing is open");
        let (second, query) = divide();
        let error =
            second.read_partition(&part, Default::default()).map(drop).expect_err("its leader has gone");
        assert_eq!(error.kind(), Kind::Misuse, "{error}");
        assert!(error.message().contains("divide the query anew"), "{error}");
        assert_eq!(query.partitions()[0].snapshot(), part.snapshot(), "two leaders, one number");
        let _ =
            second.read_partition(&query.partitions()[0], Default::default()).expect("its leader is there");
    }
);
