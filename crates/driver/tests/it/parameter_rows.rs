//! Parameter rows that fail, and those around them.

use crate::support::{config, count, fresh, manual, numbers, run, statement};
use arrow::array::*;
use arrow::datatypes::{Int32Type, Schema};
use arrow::error::ArrowError;
use firearrow::{Kind, OnFailure};
use firearrow_driver::{Class, Detail, RowOutcome, Rows, Session, SessionOptions, Statement};
use firearrow_testkit::{Behaviour, Proxy, Target, matrix};
use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A statement that goes on after a row that fails.
fn going_on(session: &Arc<Session>, sql: &str) -> Statement {
    let mut statement = statement(session, sql);
    statement.options.on_failure = OnFailure::Continue;
    statement
}

fn outcomes(statement: &Statement) -> Arc<[RowOutcome]> {
    statement.latest().progress().row_outcomes()
}

/// Rows that failed. Each error must name its row.
fn failed(outcomes: &[RowOutcome]) -> Vec<usize> {
    let failures = outcomes.iter().enumerate().filter_map(|(row, outcome)| match outcome {
        RowOutcome::Failed(error) => Some((row, error)),
        _ => None,
    });
    let named = failures.map(|(row, error)| {
        let details = error.details();
        assert!(details.contains(&(Detail::Row, row.to_string())), "{row}: {details:?}");
        assert!(error.message().contains(&format!("row {row}")), "{row}: {error}");
        row
    });
    named.collect()
}

/// Affected rows; `None` for rows that failed.
fn affected(outcomes: &[RowOutcome]) -> Vec<Option<u64>> {
    let affected = outcomes.iter().map(|outcome| match outcome {
        RowOutcome::Done(affected) => *affected,
        _ => None,
    });
    affected.collect()
}

fn column(array: impl Array + 'static) -> Rows {
    let batch = RecordBatch::try_from_iter([("n", Arc::new(array) as ArrayRef)]).expect("one column");
    of_batches([Ok(batch)])
}

fn of_batches(batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>) -> Rows {
    let batches: Vec<_> = batches.into_iter().collect();
    let schema =
        batches.iter().flatten().next().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
    Rows::new(Box::new(RecordBatchIterator::new(batches, schema))).expect("no panic")
}

/// The column of a result.
fn read(statement: &mut Statement) -> Vec<i32> {
    let mut stream = statement.execute().expect("it runs").stream.expect("it has rows");
    let batches = iter::from_fn(|| stream.next_batch().expect("it reads"));
    batches.flat_map(|batch| batch.column(0).as_primitive::<Int32Type>().values().to_vec()).collect()
}

fn stored(session: &Arc<Session>) -> Vec<i32> {
    read(&mut statement(session, "SELECT n FROM t ORDER BY n"))
}

/// Numbers of rows, and which of them fail.
fn cases() -> Vec<(usize, Vec<usize>)> {
    let mut cases = vec![(1, vec![]), (1, vec![0])];
    for count in [3, 100, 10_000] {
        let (middle, last) = (count / 2, count - 1);
        cases.extend(
            [vec![], vec![0], vec![middle], vec![last], vec![0, middle, last]].map(|bad| (count, bad)),
        );
        cases.push((count, (0..count).collect()));
    }
    cases
}

/// Inserts rows of which some fail in both modes, and reads them back.
fn checked(target: &Target, kind: Kind, rows: impl Fn(usize, &[usize]) -> Rows) {
    for options in [SessionOptions::default(), manual()] {
        let session = fresh(target, options.clone());
        run(&session, "CREATE UNIQUE INDEX i ON t (n)").expect("it is new");
        run(&session, "INSERT INTO t VALUES (-1)").expect("it inserts");
        session.end(true).expect("it commits");
        for (count, bad) in cases() {
            let what = format!("autocommit {}, {count} rows, {} bad", options.autocommit, bad.len());
            let mut insert = going_on(&session, "INSERT INTO t VALUES (?)");
            insert.bind(rows(count, &bad));
            let done = insert.update().unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(done, Some((count - bad.len()) as u64), "{what}");
            let outcomes = outcomes(&insert);
            assert_eq!(outcomes.len(), count, "{what}");
            assert_eq!(failed(&outcomes), bad, "{what}");
            let good: Vec<usize> = (0..count).filter(|row| bad.binary_search(row).is_err()).collect();
            assert!(good.iter().all(|&row| matches!(outcomes[row], RowOutcome::Done(Some(1)))), "{what}");
            for outcome in outcomes.iter() {
                if let RowOutcome::Failed(error) = outcome {
                    assert_eq!(error.client().map(firearrow::Error::kind), Some(kind), "{error}");
                }
            }
            session.end(true).expect("it commits");
            let expected: Vec<i32> = iter::once(-1).chain(good.iter().map(|&row| row as i32)).collect();
            let found = stored(&session);
            if found != expected {
                // Without the index, to tell rows that are not there from an index that does not lead to them.
                let mut unordered = read(&mut statement(&session, "SELECT n + 0 FROM t"));
                unordered.sort_unstable();
                let at =
                    iter::zip(&found, &expected).take_while(|(found, expected)| found == expected).count();
                let index =
                    if unordered == expected { "only the index is wrong" } else { "the table is wrong" };
                let (found, expected) = (&found[at..], &expected[at..]);
                let counts = (found.len(), expected.len());
                panic!(
                    "{what}: {index}, from row {at} on: {:?} and not {:?}, {counts:?} rows",
                    found.first(),
                    expected.first()
                );
            }
            run(&session, "DELETE FROM t WHERE n >= 0").expect("it deletes");
        }
    }
}

matrix!(
    all,
    fn duplicate_keys_fail_alone(target: &Target) {
        checked(target, Kind::Constraint, |count, bad| {
            let value = |row| if bad.binary_search(&row).is_ok() { -1 } else { row as i32 };
            numbers("n", (0..count).map(value))
        });
    },
    fn texts_that_are_no_numbers_fail_alone(target: &Target) {
        checked(target, Kind::Data, |count, bad| {
            let value =
                |row: usize| if bad.binary_search(&row).is_ok() { "x".into() } else { row.to_string() };
            column(StringArray::from_iter_values((0..count).map(value)))
        });
    },
    fn numbers_that_do_not_fit_fail_alone(target: &Target) {
        checked(target, Kind::Data, |count, bad| {
            let value = |row| if bad.binary_search(&row).is_ok() { 1 << 40 } else { row as i64 };
            column(Int64Array::from_iter_values((0..count).map(value)))
        });
    },
    fn by_default_the_first_failure_ends_it(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        run(&session, "CREATE UNIQUE INDEX i ON t (n)").expect("it is new");
        for rows in [vec![1, 2, 1, 3], vec![1, 1]] {
            let mut insert = statement(&session, "INSERT INTO t VALUES (?)");
            insert.bind(numbers("n", rows));
            assert_eq!(insert.update().expect_err("a key comes twice").class(), Class::Client);
            assert!(outcomes(&insert).is_empty());
            assert_eq!(count(&session), 0);
        }
    },
    fn each_row_tells_how_many_it_affected(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let mut insert = statement(&session, "INSERT INTO t VALUES (?)");
        insert.bind(numbers("n", 0..20));
        insert.update().expect("it inserts");
        for rows in [1, 5, 300] {
            let limits: Vec<i32> = (0..rows).map(|row| row * 7 % 25).collect();
            let expected: Vec<Option<u64>> = limits.iter().map(|&limit| Some(limit.min(20) as u64)).collect();
            let mut update = going_on(&session, "UPDATE t SET n = n WHERE n < ?");
            update.bind(numbers("n", limits));
            assert_eq!(update.update().expect("it updates"), Some(expected.iter().flatten().sum()));
            assert_eq!(affected(&outcomes(&update)), expected);
        }
        let mut none = going_on(&session, "UPDATE t SET n = n WHERE n < ?");
        none.bind(numbers("n", []));
        assert_eq!(none.update().expect("there is nothing to do"), Some(0));
        assert!(outcomes(&none).is_empty());
    },
    fn rows_that_fail_return_none(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let session = fresh(target, options);
            run(&session, "CREATE UNIQUE INDEX i ON t (n)").expect("it is new");
            run(&session, "INSERT INTO t VALUES (-1)").expect("it inserts");
            for (count, bad) in cases() {
                let value = |row| if bad.contains(&row) { -1 } else { row as i32 };
                let mut insert = going_on(&session, "INSERT INTO t VALUES (?) RETURNING n");
                insert.bind(numbers("n", (0..count).map(value)));
                let good: Vec<i32> = (0..count as i32).filter(|&row| value(row as usize) == row).collect();
                assert_eq!(read(&mut insert), good);
                let told = outcomes(&insert);
                assert_eq!(failed(&told), bad);
                let expected = (0..count).map(|row| (!bad.contains(&row)).then_some(1));
                assert_eq!(affected(&told), expected.collect::<Vec<_>>());
                session.end(true).expect("it commits");
                assert_eq!(stored(&session), [&[-1], good.as_slice()].concat());
                run(&session, "DELETE FROM t WHERE n >= 0").expect("it deletes");
            }
        }
    },
    fn procedures_fail_one_by_one(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        run(&session, "CREATE EXCEPTION odd 'odd'").expect("it is new");
        let body = "BEGIN INSERT INTO t VALUES (:a); IF (MOD(a, 2) = 1) THEN EXCEPTION odd;";
        run(&session, &format!("CREATE PROCEDURE quiet (a INTEGER) AS {body} END")).expect("it is new");
        let telling =
            format!("CREATE PROCEDURE telling (a INTEGER) RETURNS (b INTEGER) AS {body} b = a * 10; END");
        run(&session, &telling).expect("it is new");
        let even: Vec<i32> = (0..200).filter(|n| n % 2 == 0).collect();
        let odd: Vec<usize> = (0..200).filter(|n| n % 2 == 1).collect();
        for procedure in ["quiet", "telling"] {
            let mut call = going_on(&session, &format!("EXECUTE PROCEDURE {procedure} (?)"));
            call.bind(numbers("n", 0..200));
            match procedure {
                "quiet" => assert_eq!(call.update().expect("it runs"), None),
                _ => assert_eq!(read(&mut call), even.iter().map(|n| n * 10).collect::<Vec<_>>()),
            }
            let told = outcomes(&call);
            assert_eq!((told.len(), failed(&told)), (200, odd.clone()));
            assert!(affected(&told).iter().all(Option::is_none), "nobody counts what a procedure does");
            assert_eq!(stored(&session), even);
            run(&session, "DELETE FROM t").expect("it deletes");
        }
    },
    fn queries_report_at_the_end_of_their_result(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let session = fresh(target, options);
            let mut query =
                going_on(&session, "SELECT CAST(60 / CAST(? AS INTEGER) AS INTEGER) FROM RDB$DATABASE");
            query.bind(numbers("n", [0, 1, 0, 2, 0]));
            assert_eq!(read(&mut query), [60, 30]);
            let told = outcomes(&query);
            assert_eq!((told.len(), failed(&told)), (5, vec![0, 2, 4]));
        }
    },
    fn a_failure_of_the_whole_is_an_error(target: &Target) {
        let part = |from: i32| {
            let ids: ArrayRef = Arc::new(Int32Array::from_iter_values((from..from + 100).map(|n| n.max(1))));
            Ok(RecordBatch::try_from_iter([("n", ids)]).expect("one column"))
        };
        for (options, sql) in [SessionOptions::default(), manual()].into_iter().flat_map(|options| {
            ["INSERT INTO t VALUES (?)", "INSERT INTO t VALUES (?) RETURNING n"]
                .map(|sql| (options.clone(), sql))
        }) {
            let session = fresh(target, options.clone());
            run(&session, "CREATE UNIQUE INDEX i ON t (n)").expect("it is new");
            let mut insert = going_on(&session, sql);
            // Row 1 is a duplicate; then the producer fails.
            let broken = Err(ArrowError::ComputeError("the producer has had enough".into()));
            insert.bind(of_batches([part(0), part(100), broken]));
            let error = insert.update().expect_err("the producer fails");
            assert!(error.message().contains("has had enough"), "{error}");
            let told = outcomes(&insert);
            assert_eq!((told.len(), failed(&told)), (200, vec![1]));
            let undone = told.iter().filter(|outcome| matches!(outcome, RowOutcome::Undone)).count();
            let (expected_undone, expected_rows) = if options.autocommit { (199, 0) } else { (0, 199) };
            assert_eq!((undone, count(&session)), (expected_undone, expected_rows));
            session.end(false).expect("it rolls back");
            assert_eq!(count(&session), 0);
            let mut query = going_on(&session, "SELECT CAST(? AS INTEGER) FROM RDB$DATABASE");
            let broken = Err(ArrowError::ComputeError("the producer has had enough".into()));
            query.bind(of_batches([part(0), broken]));
            query.update().expect_err("the producer fails");
            let told = outcomes(&query);
            let is_expected = |outcome: &RowOutcome| match options.autocommit {
                true => matches!(outcome, RowOutcome::Undone),
                false => matches!(outcome, RowOutcome::Done(None)),
            };
            assert!(told.len() == 100 && told.iter().all(is_expected), "{told:?}");
            // What concerns no row concerns them all.
            for sql in ["INSERT INTO no_such_table VALUES (?)", "INSERT INTO t VALUES (?, ?)", "INSERT"] {
                let mut wrong = going_on(&session, sql);
                wrong.bind(numbers("n", [1]));
                wrong.update().expect_err(sql);
                assert!(outcomes(&wrong).is_empty());
            }
            let nested = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
            insert.bind(column(nested));
            insert.update().expect_err("no list is a number");
            assert!(outcomes(&insert).is_empty());
            assert_eq!(count(&session), 0);
        }
    },
    fn a_time_limit_ends_all_rows(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let endless = "RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";
        let trigger = format!(
            "CREATE TRIGGER wait FOR t BEFORE INSERT AS BEGIN \
             IF (NEW.n > 1) THEN SELECT COUNT(*) FROM {endless} INTO NEW.n; END"
        );
        run(&session, &trigger).expect("it is new");
        let mut insert = going_on(&session, "INSERT INTO t VALUES (?)");
        insert.options.timeout = Some(Duration::from_millis(500));
        // The row that takes for ever is interrupted, which is no failure of its own.
        insert.bind(numbers("n", [0, 0, 2]));
        insert.update().expect_err("its time is up");
        assert!(outcomes(&insert).iter().all(|outcome| !matches!(outcome, RowOutcome::Done(_))));
        assert_eq!(count(&session), 0);
        run(&session, "INSERT INTO t VALUES (1)").expect("the session goes on");
    }
);

matrix!(
    wire,
    fn rows_of_a_transaction_that_is_lost_are_undone(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let near = config(target, &target.fresh_url());
            let direct =
                Arc::new(Session::open(&near, SessionOptions::default()).expect("it can be created"));
            run(&direct, "CREATE TABLE t (n INTEGER UNIQUE)").expect("it is new");
            let firearrow::config::Target::Remote { database, .. } = &near.target else {
                panic!("{target} is a server")
            };
            let proxy =
                Arc::new(Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy"));
            let url = target.server().url_at(proxy.address(), Path::new(database));
            let session = Arc::new(Session::open(&config(target, &url), options).expect("it opens"));
            let mut insert = going_on(&session, "INSERT INTO t VALUES (?)");
            let batch = |values: Vec<i32>| {
                let values: ArrayRef = Arc::new(Int32Array::from(values));
                RecordBatch::try_from_iter([("n", values)]).expect("one column")
            };
            // One of the first rows fails, and the connection breaks while the last ones are still to come.
            let first = batch((0..20_000).map(|n| if n == 1 { 0 } else { n }).collect());
            let (schema, cutter) = (first.schema(), Arc::clone(&proxy));
            let last = iter::once_with(move || {
                cutter.cut();
                Ok(batch(vec![30_000]))
            });
            let rows = RecordBatchIterator::new(iter::once(Ok(first)).chain(last), schema);
            insert.bind(Rows::new(Box::new(rows)).expect("no panic"));
            let error = insert.update().expect_err("the connection is lost");
            assert!(!error.details().iter().any(|(detail, _)| *detail == Detail::Row), "{error:?}");
            for (row, outcome) in outcomes(&insert).iter().enumerate() {
                let is_expected = match outcome {
                    RowOutcome::Undone => row != 1,
                    RowOutcome::Failed(_) => row == 1,
                    _ => false,
                };
                assert!(is_expected, "{row}: {outcome:?}");
            }
            drop((insert, session));
            assert_eq!(count(&direct), 0);
        }
    }
);
