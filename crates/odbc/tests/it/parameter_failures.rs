//! Arrays of parameters of which some sets fail.

use crate::odbc::*;
use crate::parameter::*;
use crate::parameter_arrays::Told;
use crate::support::{Connection, fresh, fresh_string, unconnected};
use firearrow_testkit::{Target, matrix};

const ROLLBACK: i16 = 1;
const AUTOCOMMIT: i32 = 102;

const SUCCEEDED: u16 = 0;
const FAILED: u16 = 5;

/// IDs of a table, in order.
fn ids(connection: &Connection) -> Vec<String> {
    connection.texts("SELECT ID FROM T ORDER BY ID").into_iter().flatten().flatten().collect()
}

fn table(target: &Target) -> Connection {
    let connection = fresh(target);
    connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, V VARCHAR(5), N NUMERIC(9, 2))");
    connection
}

/// Ten sets: 3 has a taken key, 5 a text that is too long, 6 no number, 8 no key.
fn ten_sets() -> [Values; 3] {
    let keys = [1, 2, 3, 2, 5, 6, 7, 8, -1, 10].map(|key| (key > 0).then_some(key));
    let texts = ["a", "b", "c", "d", "e", "too long", "g", "h", "i", "j"].map(Some);
    let numbers = ["1", "2.5", "3", "4", "5", "6", "x", "8", "9", "10"].map(Some);
    [Values::integers(&keys), Values::texts(&texts), Values::texts(&numbers)]
}

const STATES: [(isize, &str); 4] = [(4, "23000"), (6, "22001"), (7, "22018"), (9, "23000")];

matrix!(
    all,
    fn failing_sets_may_be_errors(target: &Target) {
        let connection = unconnected(380);
        connection.connect(&(fresh_string(target) + ";FAILEDSETS=ERROR"));
        connection.run("CREATE TABLE T (ID INTEGER PRIMARY KEY)");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?)");
        for (keys, code, rows) in [([1, 2, 3], SUCCESS, 3), ([4, 1, 5], ERROR, 5), ([1, 2, 3], ERROR, 5)] {
            let mut values = Values::integers(&keys.map(Some));
            statement.bind(1, INPUT, &mut values);
            let told = Told::about(&statement, 3);
            assert_eq!(statement.execute(), code, "{:?}", statement.records());
            assert_eq!(told.processed, 3);
            assert_eq!(connection.texts("SELECT COUNT(*) FROM T"), [[Some(rows.to_string())]]);
        }
        assert_eq!(statement.state(), "23000");
    },
    fn failing_sets_leave_the_others(target: &Target) {
        let connection = table(target);
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?, ?, ?)");
        let mut sets = ten_sets();
        for (number, values) in (1..).zip(&mut sets) {
            statement.bind(number, INPUT, values);
        }
        let told = Told::about(&statement, 10);
        assert_eq!(statement.execute(), SUCCESS_WITH_INFO);
        let mut expected = [SUCCEEDED; 10];
        for (row, _) in STATES {
            expected[row as usize - 1] = FAILED;
        }
        assert_eq!((&told.statuses[..], told.processed), (&expected[..], 10));
        let records = statement.records();
        let mut found: Vec<(isize, &str)> = (1..)
            .zip(&records)
            .map(|(at, record)| (statement.row_of_record(at), record.state.as_str()))
            .collect();
        assert!(found.is_sorted(), "records come in the order of their rows: {found:?}");
        found.sort_unstable();
        assert_eq!(found, STATES, "{records:?}");
        assert_eq!(statement.row_count(), 6);
        // They are committed: another connection's transaction would see them, and so does a rollback.
        assert_eq!(connection.end(ROLLBACK), SUCCESS);
        assert_eq!(ids(&connection), ["1", "2", "3", "5", "8", "10"]);
    },
    fn failing_sets_leave_the_others_in_a_transaction(target: &Target) {
        let connection = table(target);
        assert_eq!(connection.set(AUTOCOMMIT, 0), SUCCESS);
        let statement = connection.statement();
        statement.run("INSERT INTO T VALUES (100, NULL, NULL)");
        statement.prepare("INSERT INTO T VALUES (?, ?, ?)");
        let mut sets = ten_sets();
        for (number, values) in (1..).zip(&mut sets) {
            statement.bind(number, INPUT, values);
        }
        let told = Told::about(&statement, 10);
        assert_eq!(statement.execute(), SUCCESS_WITH_INFO);
        assert_eq!(told.statuses.iter().filter(|status| **status == FAILED).count(), 4);
        assert_eq!(ids(&connection).len(), 7);
        assert_eq!(connection.end(ROLLBACK), SUCCESS);
        assert_eq!(ids(&connection), Vec::<String>::new());
    },
    fn failures_of_all_sets_are_an_error(target: &Target) {
        let connection = table(target);
        connection.run("INSERT INTO T VALUES (1, NULL, NULL)");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T (ID) VALUES (?)");
        let mut values = Values::integers(&[Some(1), None, Some(1)]);
        statement.bind(1, INPUT, &mut values);
        let told = Told::about(&statement, 3);
        assert_eq!(statement.execute(), ERROR);
        let states: Vec<_> = statement.records().into_iter().map(|record| record.state).collect();
        assert_eq!(states, ["23000"; 3]);
        assert_eq!([1, 2, 3].map(|record| statement.row_of_record(record)), [1, 2, 3]);
        assert_eq!((&told.statuses[..], told.processed), (&[FAILED; 3][..], 3));
        let mut texts = Values::texts(&[Some("x"), Some("y"), Some("")]);
        statement.bind(1, INPUT, &mut texts);
        assert_eq!(statement.execute(), ERROR);
        let states: Vec<_> = statement.records().into_iter().map(|record| record.state).collect();
        assert_eq!(states, ["22018"; 3]);
        assert_eq!(ids(&connection), ["1"]);
        // The statement can be executed again.
        let mut good = Values::integers(&[Some(2), Some(3), Some(4)]);
        statement.bind(1, INPUT, &mut good);
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(ids(&connection), ["1", "2", "3", "4"]);
    },
    fn a_single_set_that_fails_is_an_error(target: &Target) {
        let connection = table(target);
        let statement = connection.statement();
        statement.prepare("INSERT INTO T (ID) VALUES (?)");
        let mut value = Values::integers(&[None]);
        statement.bind(1, INPUT, &mut value);
        let told = Told::about(&statement, 1);
        assert_eq!(statement.execute(), ERROR);
        assert_eq!(
            (statement.state().as_str(), &told.statuses[..], told.processed),
            ("23000", &[FAILED][..], 1)
        );
    },
    fn sets_that_return_rows_can_fail(target: &Target) {
        let connection = table(target);
        let statement = connection.statement();
        statement.prepare("INSERT INTO T (ID) VALUES (?) RETURNING ID");
        let mut values = Values::integers(&[Some(1), Some(1), None, Some(4)]);
        statement.bind(1, INPUT, &mut values);
        let told = Told::about(&statement, 4);
        assert_eq!(statement.execute(), SUCCESS_WITH_INFO, "{:?}", statement.records());
        assert_eq!((&told.statuses[..], told.processed), (&[SUCCEEDED, FAILED, FAILED, SUCCEEDED][..], 4));
        assert_eq!([1, 2].map(|record| statement.row_of_record(record)), [2, 3]);
        let rows: Vec<_> = statement.all_texts().into_iter().flatten().flatten().collect();
        assert_eq!(rows, ["1", "4"]);
        assert_eq!(ids(&connection), ["1", "4"]);
    },
    fn thousands_of_sets_fail_one_by_one(target: &Target) {
        let connection = table(target);
        let statement = connection.statement();
        statement.prepare("INSERT INTO T (ID) VALUES (?)");
        // Every hundredth repeats the key before it.
        let key = |at: i32| Some(if at % 100 == 99 { at - 1 } else { at });
        let mut values = Values::integers(&(0..5000).map(key).collect::<Vec<_>>());
        statement.bind(1, INPUT, &mut values);
        let told = Told::about(&statement, 5000);
        assert_eq!(statement.execute(), SUCCESS_WITH_INFO);
        assert_eq!(told.processed, 5000);
        for (at, status) in told.statuses.iter().enumerate() {
            assert_eq!(*status, if at % 100 == 99 { FAILED } else { SUCCEEDED }, "{at}");
        }
        assert_eq!(statement.records().len(), 50);
        assert_eq!([1, 2, 50].map(|record| statement.row_of_record(record)), [100, 200, 5000]);
        assert_eq!(statement.row_count(), 4950);
        assert_eq!(
            connection.texts("SELECT COUNT(*) FROM T WHERE MOD(ID, 100) <> 99")[0][0].as_deref(),
            Some("4950")
        );
    },
);
