//! Replacing and creating tables: whatever goes wrong, old rows stay until the new ones are whole, and no table stays that
//! nobody filled.

use crate::ingest::target_statement;
use crate::support::{
    autocommit, batch, cancelled_after, column, count, database, detail, fails, fresh, fresh_database,
    options, query, run, wait_until_alone,
};
use adbc_core::error::{Error, Status};
use adbc_core::options::{IngestMode, OptionStatement};
use adbc_core::{Connection, Database, Driver, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedStatement};
use arrow::array::*;
use arrow::datatypes::{Int32Type, Int64Type};
use arrow::error::ArrowError;
use firearrow_testkit::{Behaviour, Proxy, Target, matrix};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Columns of the old table, and others.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Same,
    Other,
}

/// The time that an ingestion has.
const LIMIT: Duration = Duration::from_millis(300);

/// What goes wrong after two batches, which the driver looks at before it begins.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Row,
    Producer,
    Time,
}

fn rows(shape: Shape, ids: std::ops::Range<i32>, text: &str) -> RecordBatch {
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(ids.clone().map(|_| text)));
    match shape {
        Shape::Same => batch([("ID", Arc::new(Int32Array::from_iter_values(ids)) as _), ("S", texts)]),
        Shape::Other => {
            let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids.map(i64::from)));
            batch([("ID", ids), ("S", texts)])
        }
    }
}

fn statement(connection: &mut ManagedConnection, mode: IngestMode) -> ManagedStatement {
    let mut statement = target_statement(connection, "T", mode);
    let key = OptionStatement::from("adbc.firebird.ingest.text");
    statement.set_option(key, "varchar(3)".into()).expect("it is known");
    statement
}

fn ingest(
    connection: &mut ManagedConnection,
    mode: IngestMode,
    data: RecordBatch,
) -> Result<Option<i64>, Error> {
    let mut statement = statement(connection, mode);
    statement.bind(data)?;
    statement.execute_update()
}

/// An ingestion that fails with its third batch.
fn failing(
    connection: &mut ManagedConnection,
    mode: IngestMode,
    shape: Shape,
    fault: Fault,
    commit_rows: i64,
) {
    let mut statement = statement(connection, mode);
    let key = OptionStatement::from("adbc.firebird.ingest.commit_rows");
    statement.set_option(key, commit_rows.into()).expect("it is known");
    if matches!(fault, Fault::Time) {
        let key = OptionStatement::from("adbc.firebird.query.timeout");
        statement.set_option(key, (LIMIT.as_millis() as i64).into()).expect("it is known");
    }
    let schema = rows(shape, 0..1, "new").schema();
    let last = move || match fault {
        Fault::Row => Ok(rows(shape, 300..400, "too long")),
        Fault::Producer => Err(ArrowError::ComputeError("the producer has had enough".into())),
        Fault::Time => {
            thread::sleep(2 * LIMIT);
            Ok(rows(shape, 300..400, "new"))
        }
    };
    let batches = (0..3).map(move |part| Ok(rows(shape, part * 100..part * 100 + 100, "new")));
    let batches = batches.chain(std::iter::once_with(last));
    statement.bind_stream(Box::new(RecordBatchIterator::new(batches, schema))).expect("it is taken");
    let error = statement.execute_update().expect_err("it fails");
    match fault {
        Fault::Row => {
            assert_eq!(error.status, Status::InvalidData, "{error}");
            assert_eq!(detail(&error, "firebird.row").as_deref(), Some("300"), "{error}");
        }
        Fault::Producer => assert!(error.message.contains("had enough"), "{error}"),
        Fault::Time => assert_eq!(error.status, Status::Timeout, "{error}"),
    }
    assert_eq!(detail(&error, "firebird.staging_table"), None, "{error}");
}

fn ids(connection: &mut ManagedConnection) -> Vec<i32> {
    let ids = column(connection, "SELECT CAST(ID AS INTEGER) FROM T ORDER BY 1");
    ids.as_primitive::<Int32Type>().values().to_vec()
}

/// Names of the tables that there are.
fn tables(connection: &mut ManagedConnection) -> Vec<String> {
    let names = column(
        connection,
        "SELECT CAST(TRIM(RDB$RELATION_NAME) AS VARCHAR(63)) FROM RDB$RELATIONS \
         WHERE COALESCE(RDB$SYSTEM_FLAG, 0) = 0 ORDER BY 1",
    );
    names.as_string::<i32>().iter().flatten().map(str::to_owned).collect()
}

fn with_old_rows(target: &Target) -> ManagedConnection {
    let mut connection = fresh(target);
    assert_eq!(ingest(&mut connection, IngestMode::Create, rows(Shape::Same, 7..10, "old")), Ok(Some(3)));
    connection
}

const FAULTS: [Fault; 3] = [Fault::Row, Fault::Producer, Fault::Time];

matrix!(
    all,
    fn old_rows_stay_when_new_ones_fail(target: &Target) {
        let mut connection = with_old_rows(target);
        for shape in [Shape::Same, Shape::Other] {
            for fault in FAULTS {
                for commit_rows in [0, 50] {
                    failing(&mut connection, IngestMode::Replace, shape, fault, commit_rows);
                    assert_eq!(ids(&mut connection), [7, 8, 9], "{shape:?} {fault:?} {commit_rows}");
                    assert_eq!(tables(&mut connection), ["T"], "{shape:?} {fault:?} {commit_rows}");
                }
            }
        }
        assert_eq!(
            ingest(&mut connection, IngestMode::Replace, rows(Shape::Other, 0..5, "new")),
            Ok(Some(5))
        );
        assert_eq!(count(&mut connection, "T"), 5);
    },
    fn in_manual_mode_too_however_it_ends(target: &Target) {
        let mut connection = with_old_rows(target);
        autocommit(&mut connection, false);
        for shape in [Shape::Same, Shape::Other] {
            for fault in FAULTS {
                for commit in [false, true] {
                    failing(&mut connection, IngestMode::Replace, shape, fault, 0);
                    assert_eq!(ids(&mut connection), [7, 8, 9], "{shape:?} {fault:?}");
                    if commit { connection.commit() } else { connection.rollback() }.expect("it ends");
                    assert_eq!(ids(&mut connection), [7, 8, 9], "{shape:?} {fault:?} {commit}");
                    assert_eq!(tables(&mut connection), ["T"], "{shape:?} {fault:?} {commit}");
                    connection.rollback().expect("it ends");
                }
            }
        }
    },
    fn a_rollback_brings_old_rows_back(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        ingest(&mut connection, IngestMode::Create, rows(Shape::Same, 7..10, "old")).expect("it is written");
        autocommit(&mut connection, false);
        let replace = |connection: &mut ManagedConnection| {
            ingest(connection, IngestMode::Replace, rows(Shape::Same, 0..5, "new"))
        };
        assert_eq!(replace(&mut connection), Ok(Some(5)));
        assert_eq!((ids(&mut connection), ids(&mut other)), (vec![0, 1, 2, 3, 4], vec![7, 8, 9]));
        connection.rollback().expect("it is undone");
        assert_eq!(ids(&mut connection), [7, 8, 9]);
        assert_eq!(replace(&mut connection), Ok(Some(5)));
        connection.commit().expect("it stays");
        assert_eq!(ids(&mut other), [0, 1, 2, 3, 4]);
    },
    fn a_table_with_the_same_columns_stays(target: &Target) {
        let mut connection = with_old_rows(target);
        run(&mut connection, "CREATE UNIQUE INDEX I ON T (ID)");
        let id = "SELECT CAST(RDB$RELATION_ID AS BIGINT) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = 'T'";
        let id =
            |connection: &mut ManagedConnection| column(connection, id).as_primitive::<Int64Type>().value(0);
        let before = id(&mut connection);
        for rows in [rows(Shape::Same, 8..12, "new"), rows(Shape::Same, 0..0, "")] {
            let expected = rows.num_rows();
            assert_eq!(ingest(&mut connection, IngestMode::Replace, rows), Ok(Some(expected as i64)));
            assert_eq!((ids(&mut connection).len(), id(&mut connection)), (expected, before));
        }
        run(&mut connection, "INSERT INTO T (ID) VALUES (5)");
        // Its index is one of those that stay.
        let twice = batch([
            ("ID", Arc::new(Int32Array::from(vec![1, 1])) as ArrayRef),
            ("S", Arc::new(StringArray::from(vec!["a", "b"])) as _),
        ]);
        let error = fails(ingest(&mut connection, IngestMode::Replace, twice), Status::Integrity);
        assert_eq!(detail(&error, "firebird.row").as_deref(), Some("1"), "{error}");
        assert_eq!(ids(&mut connection), [5]);
    },
    fn other_columns_make_the_table_anew(target: &Target) {
        let mut connection = with_old_rows(target);
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            for shape in [Shape::Other, Shape::Same] {
                let done = ingest(&mut connection, IngestMode::Replace, rows(shape, 0..300, "new"));
                assert_eq!(done, Ok(Some(300)), "{auto} {shape:?}");
                if !auto {
                    // What defines something is committed at once, with its rows.
                    connection.rollback().expect("it ends");
                }
                let found = query(&mut connection, "SELECT ID, S FROM T ORDER BY ID");
                let expected = rows(shape, 0..300, "new");
                assert_eq!(found.columns(), expected.columns(), "{auto} {shape:?}");
                assert_eq!(tables(&mut connection), ["T"]);
                if !auto {
                    connection.rollback().expect("it ends");
                }
            }
        }
    },
    fn no_row_of_another_table_goes_or_comes(target: &Target) {
        let mut connection = with_old_rows(target);
        run(&mut connection, "CREATE TABLE LOG (N INTEGER)");
        run(&mut connection, "CREATE TRIGGER TR FOR T AFTER DELETE AS BEGIN INSERT INTO LOG VALUES (1); END");
        let new = || rows(Shape::Same, 0..5, "new");
        assert_eq!(ingest(&mut connection, IngestMode::Replace, new()), Ok(Some(5)));
        assert_eq!((count(&mut connection, "LOG"), count(&mut connection, "T")), (0, 5));
        // Deleting would delete there, too; dropping is refused.
        run(&mut connection, "DROP TABLE T");
        run(&mut connection, "CREATE TABLE T (ID INTEGER PRIMARY KEY, S VARCHAR(3) CHARACTER SET UTF8)");
        run(&mut connection, "CREATE TABLE C (ID INTEGER REFERENCES T (ID) ON DELETE CASCADE)");
        run(&mut connection, "INSERT INTO T (ID) VALUES (1)");
        run(&mut connection, "INSERT INTO C VALUES (1)");
        ingest(&mut connection, IngestMode::Replace, new()).expect_err("there is a key to it");
        assert_eq!((count(&mut connection, "C"), ids(&mut connection)), (1, vec![1]));
        assert_eq!(tables(&mut connection), ["C", "LOG", "T"]);
        run(&mut connection, "CREATE VIEW V AS SELECT * FROM LOG");
        let mut view = target_statement(&mut connection, "V", IngestMode::Replace);
        view.bind(new()).expect("it is taken");
        fails(view.execute_update(), Status::AlreadyExists);
    },
    fn a_table_made_in_vain_goes(target: &Target) {
        let mut connection = fresh(target);
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            for mode in [IngestMode::Create, IngestMode::CreateAppend, IngestMode::Replace] {
                for fault in FAULTS {
                    for commit in [false, true] {
                        failing(&mut connection, mode, Shape::Same, fault, 0);
                        if !auto {
                            if commit { connection.commit() } else { connection.rollback() }
                                .expect("it ends");
                        }
                        assert_eq!(
                            tables(&mut connection),
                            Vec::<String>::new(),
                            "{auto} {fault:?} {commit}"
                        );
                    }
                }
            }
        }
    },
    fn a_rollback_takes_a_new_table_along(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        autocommit(&mut connection, false);
        let create = |connection: &mut ManagedConnection| {
            ingest(connection, IngestMode::Create, rows(Shape::Same, 0..5, "new"))
        };
        assert_eq!(create(&mut connection), Ok(Some(5)));
        connection.rollback().expect("it is undone");
        assert_eq!(tables(&mut other), Vec::<String>::new());
        // Not if somebody else has filled it, or made another one of its name.
        assert_eq!(create(&mut connection), Ok(Some(5)));
        run(&mut other, "INSERT INTO T (ID) VALUES (77)");
        connection.rollback().expect("it is undone");
        assert_eq!(ids(&mut other), [77]);
        run(&mut other, "DROP TABLE T");
        assert_eq!(create(&mut connection), Ok(Some(5)));
        connection.commit().expect("it stays");
        connection.rollback().expect("nothing is left to undo");
        assert_eq!(ids(&mut other), [0, 1, 2, 3, 4]);
        run(&mut other, "DROP TABLE T");
        // The end of the connection is a rollback.
        assert_eq!(create(&mut connection), Ok(Some(5)));
        drop(connection);
        assert_eq!(tables(&mut other), Vec::<String>::new());
    },
    fn an_ingestion_that_is_cancelled_leaves_old_rows(target: &Target) {
        let mut connection = with_old_rows(target);
        for (auto, shape) in
            [(true, Shape::Same), (true, Shape::Other), (false, Shape::Same), (false, Shape::Other)]
        {
            autocommit(&mut connection, auto);
            let mut slow = statement(&mut connection, IngestMode::Replace);
            let batches = (0..4).map(move |part| {
                if part == 3 {
                    thread::sleep(Duration::from_millis(700));
                }
                Ok(rows(shape, part * 100..part * 100 + 100, "new"))
            });
            let reader = RecordBatchIterator::new(batches, rows(shape, 0..1, "").schema());
            slow.bind_stream(Box::new(reader)).expect("it is taken");
            cancelled_after(Duration::from_millis(300), slow);
            if !auto {
                connection.commit().expect("it ends");
            }
            assert_eq!(ids(&mut connection), [7, 8, 9], "{auto} {shape:?}");
            assert_eq!(tables(&mut connection), ["T"], "{auto} {shape:?}");
            if !auto {
                connection.rollback().expect("it ends");
            }
        }
    },
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn a_limit_for_statements_does_not_stop_between_two_tables(target: &Target) {
        let mut connection = with_old_rows(target);
        crate::support::set(&mut connection, "adbc.firebird.statement_timeout", "60000")
            .expect("it is known");
        let done = ingest(&mut connection, IngestMode::Replace, rows(Shape::Other, 0..300, "new"));
        assert_eq!(done, Ok(Some(300)));
        // It is there again.
        crate::support::set(&mut connection, "adbc.firebird.statement_timeout", "300").expect("it is known");
        ingest(&mut connection, IngestMode::Replace, rows(Shape::Same, 0..3, "new")).expect("it is written");
        let error = crate::support::failure(&mut connection, crate::cancel::ENDLESS);
        assert_eq!(error.status, Status::Timeout, "{error}");
    }
);

/// The url of the same database through a proxy.
fn through(url: &str, target: &Target, proxy: &Proxy) -> String {
    let server = target.server();
    url.replacen(&format!(":{}", server.port()), &format!(":{}", proxy.port()), 1)
}

matrix!(
    wire,
    fn wherever_the_connection_breaks_the_rows_are_somewhere(target: &Target) {
        const NEW: i32 = 200;
        let url = target.fresh_url();
        // Each time another one: a connection that idles may still use what it has read.
        let direct = || database(target, &url).new_connection().expect("it is created");
        for shape in [Shape::Same, Shape::Other] {
            let set_up = || {
                let mut direct = direct();
                for table in tables(&mut direct) {
                    run(&mut direct, &format!("DROP TABLE \"{table}\""));
                }
                let old = rows(Shape::Same, 7..10, "old");
                ingest(&mut direct, IngestMode::Create, old).expect("it is written");
            };
            let replace = |behaviour: Behaviour| {
                let proxy = Proxy::start(target.server().address(), behaviour).expect("a proxy");
                let given = options(target, &through(&url, target, &proxy));
                let database = crate::support::driver().new_database_with_opts(given).expect("valid options");
                let mut sent = 0;
                let done = database.new_connection().and_then(|mut connection| {
                    sent = proxy.bytes_from_client();
                    ingest(&mut connection, IngestMode::Replace, rows(shape, 0..NEW, "new"))
                });
                (done, sent, proxy.bytes_from_client())
            };
            set_up();
            let (done, first, last) = replace(Behaviour::pass());
            assert_eq!(done, Ok(Some(NEW.into())));
            let mut outcomes = [0; 3];
            const CUTS: u64 = 24;
            for cut in 0..CUTS {
                set_up();
                let bytes = first + (last - first) * cut / CUTS;
                let (done, ..) = replace(Behaviour::cut_from_client(bytes));
                let told = done.as_ref().err().and_then(|error| detail(error, "firebird.staging_table"));
                let mut direct = direct();
                wait_until_alone(&mut direct);
                let mut found = ids(&mut direct);
                let mut outcome = usize::from(found.len() == NEW as usize);
                if found.is_empty() {
                    // Between two tables: all rows are in the one that the error names.
                    let staging =
                        told.unwrap_or_else(|| panic!("{shape:?}, cut {cut}: nothing is told: {done:?}"));
                    assert_eq!(shape, Shape::Other);
                    let sql = format!("SELECT CAST(ID AS INTEGER) FROM \"{staging}\" ORDER BY 1");
                    found = column(&mut direct, &sql).as_primitive::<Int32Type>().values().to_vec();
                    outcome = 2;
                }
                let expected: Vec<i32> = if outcome == 0 { (7..10).collect() } else { (0..NEW).collect() };
                assert_eq!(found, expected, "{shape:?}, cut {cut} at {bytes}: {done:?}");
                outcomes[outcome] += 1;
            }
            assert!(outcomes[0] > 0, "{shape:?}: {outcomes:?}");
        }
    }
);
