//! How often an execution of a prepared statement asks for memory. Each time costs more than most of what is done with it.

use allocation_counter::measure;
use firearrow::{Config, Connection, TransactionOptions, params};
use firearrow_testkit::{Target, matrix};

/// Among them the list of values and the token of the operation.
const MOST_FOR_SELECT: u64 = 5;
const MOST_FOR_INSERT: u64 = 5;
/// It is an error of the engine, with a text.
const MOST_FOR_NO_ROW: u64 = 7;

/// Executions before it counts, and while it does.
const WARM_UP: i32 = 50;
const COUNTED: i32 = 100;

matrix!(
    wire,
    fn executions_ask_for_little_memory(target: &Target) {
        let config = Config::parse(&target.fresh_url()).expect("a valid URL");
        let connection = Connection::create(&config).expect("it is created");
        connection.execute("CREATE TABLE t (id INTEGER, v VARCHAR(20), d DOUBLE PRECISION)").expect("DDL");
        let mut transaction = connection.begin(TransactionOptions::default()).expect("it starts");
        let insert = transaction.prepare("INSERT INTO t VALUES (?, ?, ?)").expect("valid SQL");
        let select = transaction.prepare("SELECT id, v, d FROM t WHERE id = ?").expect("valid SQL");
        let mut all = |first: i32, last: i32| {
            let inserted = measure(|| {
                for id in first..last {
                    let done =
                        insert.execute(&mut transaction, params![id, None::<&str>, 0.5]).expect("it fits");
                    assert_eq!(done.affected_rows, Some(1));
                }
            });
            let selected = measure(|| {
                for id in first..last {
                    let row = select.one_row(&transaction, params![id], |row| Ok((row.get(0)?, row.get(2)?)));
                    assert_eq!(row.expect("it runs"), Some((id, 0.5)));
                }
            });
            let missed = measure(|| {
                for _ in first..last {
                    let none = select.one_row(&transaction, params![-1], |row| row.get::<i32>(0));
                    assert_eq!(none.expect("it runs"), None);
                }
            });
            let each = |total: u64| total.div_ceil(u64::from((last - first).unsigned_abs()));
            [inserted, selected, missed].map(|counted| each(counted.count_total))
        };
        all(0, WARM_UP);
        let [inserted, selected, missed] = all(WARM_UP, WARM_UP + COUNTED);
        assert!(inserted <= MOST_FOR_INSERT, "INSERT: {inserted}");
        assert!(selected <= MOST_FOR_SELECT, "SELECT: {selected}");
        assert!(missed <= MOST_FOR_NO_ROW, "SELECT without a row: {missed}");
    }
);
