//! What engines count.

use crate::support::{column, config, fresh, fresh_closed, run};
use arrow::array::{Array, AsArray};
use arrow::datatypes::Int32Type;
use firearrow::{Connection, Counters, TableCounters};
use firearrow_testkit::{Target, matrix};

/// `RDB$RELATION_ID` of a table.
fn id_of(connection: &Connection, table: &str) -> u16 {
    let sql = format!(
        "SELECT CAST(RDB$RELATION_ID AS INTEGER) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = '{table}'"
    );
    column(connection, &sql).as_primitive::<Int32Type>().value(0) as u16
}

/// What `work` does to a table.
fn done(connection: &Connection, table: u16, work: impl FnOnce()) -> TableCounters {
    let before = connection.counters().expect("counters");
    work();
    let spent = connection.counters().expect("counters").since(&before);
    spent.tables.get(&table).copied().unwrap_or_default()
}

fn fill(connection: &Connection, rows: u32) {
    run(
        connection,
        &format!(
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < {rows}) DO BEGIN INSERT INTO t VALUES (:i, 0); i = i + 1; END
             END"
        ),
    );
}

matrix!(
    all,
    fn work_on_rows_is_counted_by_table(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n INTEGER)");
        run(&connection, "CREATE TABLE u (id INTEGER)");
        let (t, u) = (id_of(&connection, "T"), id_of(&connection, "U"));
        assert_eq!(done(&connection, t, || fill(&connection, 100)).inserts, 100);
        let read = done(&connection, t, || {
            assert_eq!(column(&connection, "SELECT COUNT(*) FROM t").len(), 1);
        });
        assert_eq!((read.sequential_reads, read.indexed_reads, read.inserts), (100, 0, 0));
        let read = done(&connection, t, || {
            assert_eq!(column(&connection, "SELECT n FROM t WHERE id IN (1, 2, 3)").len(), 3);
        });
        assert_eq!((read.sequential_reads, read.indexed_reads), (0, 3));
        let changed = done(&connection, t, || run(&connection, "UPDATE t SET n = 1 WHERE id < 10"));
        assert_eq!((changed.updates, changed.inserts, changed.deletes), (10, 0, 0));
        let removed = done(&connection, t, || run(&connection, "DELETE FROM t WHERE id < 5"));
        assert_eq!(removed.deletes, 5);
        let undone = done(&connection, t, || {
            let mut transaction = connection.begin(Default::default()).expect("it starts");
            transaction.execute("INSERT INTO t VALUES (1000, 1)").expect("it inserts");
            transaction.rollback().expect("it rolls back");
        });
        assert_eq!((undone.inserts, undone.backouts), (1, 1));
        assert_eq!(done(&connection, u, || fill(&connection, 0)), TableCounters::default());
        let all = connection.counters().expect("counters");
        assert!(all.total().inserts >= 101 && !all.tables.contains_key(&u), "{all:?}");
    },
    fn pages_are_counted_for_everybody_and_rows_for_each(target: &Target) {
        let config = fresh_closed(target);
        let (first, second) = (
            Connection::open(&config).expect("it opens"),
            Connection::open(&config).expect("it opens twice"),
        );
        run(&first, "CREATE TABLE t (id INTEGER, n INTEGER)");
        let t = id_of(&first, "T");
        let before = [&first, &second].map(|connection| connection.counters().expect("counters"));
        fill(&first, 2000);
        let after = [&first, &second].map(|connection| connection.counters().expect("counters"));
        let spent: Vec<Counters> =
            after.iter().zip(&before).map(|(after, before)| after.since(before)).collect();
        assert_eq!(spent[0].tables[&t].inserts, 2000);
        assert!(!spent[1].tables.contains_key(&t), "{spent:?}");
        for spent in &spent {
            assert!(spent.page_fetches > 2000 && spent.page_marks > 2000, "{spent:?}");
            assert!(spent.page_writes > 0, "{spent:?}");
        }
    },
    fn the_state_of_a_database_is_told(target: &Target) {
        let mut config = config(target, &target.fresh_url());
        config.page_size = Some(16384);
        config.force_writes = Some(false);
        let connection = Connection::create(&config).expect("it is created");
        let statistics = connection.statistics().expect("statistics");
        let info = connection.info().expect("info");
        assert_eq!((statistics.page_size, statistics.forced_writes), (16384, false));
        assert_eq!((&statistics.ods, statistics.page_size), (&info.ods, info.page_size));
        assert_eq!(statistics.sweep_interval, 20_000);
        assert!(statistics.page_buffers >= 50 && statistics.memory > 100_000, "{statistics:?}");
        assert!(statistics.max_memory >= statistics.memory, "{statistics:?}");
        let (used, free) = (statistics.pages_used.expect("known"), statistics.pages_free.expect("known"));
        assert!(used > 50 && used <= statistics.pages && free <= statistics.pages, "{statistics:?}");
        let size = std::fs::metadata(config.target.database()).expect("the file is here").len();
        assert!(statistics.pages * 16384 <= size, "{statistics:?} in {size} bytes");

        run(&connection, "CREATE TABLE t (id INTEGER, n INTEGER)");
        fill(&connection, 50_000);
        let holder = connection.begin(Default::default()).expect("it starts");
        let number = holder.number().expect("a number");
        for _ in 0..10 {
            run(&connection, "INSERT INTO t VALUES (1, 1)");
        }
        let later = connection.statistics().expect("statistics");
        assert!(later.pages > statistics.pages && later.pages_used > statistics.pages_used, "{later:?}");
        assert!(later.next_transaction >= number + 10, "{later:?}, {number}");
        assert!(later.oldest_interesting <= number && later.oldest_active <= number, "{later:?}, {number}");
        assert!(later.oldest_active >= statistics.oldest_active && later.oldest_snapshot > 0, "{later:?}");
    },
    fn many_tables_have_counters_too(target: &Target) {
        let connection = fresh(target);
        const TABLES: usize = 300;
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for n in 0..TABLES {
            transaction.execute_immediate(&format!("CREATE TABLE t{n} (id INTEGER)")).expect("valid SQL");
        }
        transaction.commit().expect("it commits");
        let before = connection.counters().expect("counters");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for n in 0..TABLES {
            transaction.execute_immediate(&format!("INSERT INTO t{n} VALUES (1)")).expect("it inserts");
        }
        transaction.commit().expect("it commits");
        let spent = connection.counters().expect("counters").since(&before);
        assert_eq!(spent.tables.values().filter(|table| table.inserts == 1).count(), TABLES);
    }
);

matrix!(
    wire,
    fn each_takes_one_round_trip(target: &Target) {
        let connection = fresh(target);
        let before = connection.wire_stats().round_trips;
        connection.counters().expect("counters");
        connection.statistics().expect("statistics");
        assert_eq!(connection.wire_stats().round_trips - before, 2);
    }
);
