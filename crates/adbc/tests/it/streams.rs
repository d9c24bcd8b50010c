//! Streams: several at once, on other threads, beyond the life of what made them, and without copies.

use crate::raw::Raw;
use crate::support::{NUMBERS, autocommit, count, fails, fresh, fresh_database, query, rows, run, statement};
use adbc_core::error::Status;
use adbc_core::options::OptionStatement;
use adbc_core::{Connection, Database, Optionable, Statement};
use arrow::array::*;
use arrow::datatypes::Int32Type;
use firearrow_testkit::{Target, matrix};
use std::thread;

fn numbers() -> Vec<i32> {
    (1..=20_000).collect()
}

fn values(batch: &RecordBatch) -> &[i32] {
    batch.column(0).as_primitive::<Int32Type>().values()
}

matrix!(
    all,
    fn several_streams_are_read_in_turns(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            let mut streams: Vec<_> =
                (0..3).map(|_| statement(&mut connection, NUMBERS).execute().expect("it runs")).collect();
            let mut found = vec![Vec::new(); 3];
            while found.iter().any(|values| values.len() < 20_000) {
                for (stream, found) in streams.iter_mut().zip(&mut found) {
                    if let Some(batch) = stream.next() {
                        found.extend_from_slice(values(&batch.expect("it is read")));
                    }
                }
                // Between their batches something else is done.
                run(&mut connection, "INSERT INTO t VALUES (1)");
            }
            assert!(found.iter().all(|found| *found == numbers()));
            assert!(streams.iter_mut().all(|stream| stream.next().is_none()));
        }
        assert!(count(&mut connection, "t") > 0);
    },
    fn streams_are_read_in_threads(target: &Target) {
        let mut connection = fresh(target);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let stream = statement(&mut connection, NUMBERS).execute().expect("it runs");
                thread::spawn(move || values(&rows(stream)).to_vec())
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().expect("it ends"), numbers());
        }
    },
    fn streams_survive_what_made_them(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it can be created");
        let mut select = statement(&mut connection, NUMBERS);
        let mut stream = select.execute().expect("it runs");
        let first = stream.next().expect("a batch").expect("it is read");
        drop(select);
        drop(connection);
        drop(database);
        let rest = rows(stream);
        assert_eq!([values(&first), values(&rest)].concat(), numbers());
    },
    fn running_again_leaves_earlier_streams_alone(target: &Target) {
        let mut connection = fresh(target);
        let mut select = statement(&mut connection, NUMBERS);
        select.prepare().expect("it is valid");
        let mut first = select.execute().expect("it runs");
        let begun = first.next().expect("a batch").expect("it is read").num_rows();
        let second = select.execute().expect("it runs again");
        assert_eq!(values(&rows(second)), numbers());
        assert_eq!(rows(first).num_rows(), 20_000 - begun);
    },
    fn an_unfinished_stream_is_closed_without_reading_it(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        run(&mut connection, &format!("INSERT INTO t {NUMBERS}"));
        for _ in 0..3 {
            let mut stream = statement(&mut connection, "SELECT n FROM t").execute().expect("it runs");
            stream.next().expect("a batch").expect("it is read");
        }
        // Nothing uses the table any more.
        run(&mut connection, "DROP TABLE t");
    },
    fn batches_are_as_large_as_told(target: &Target) {
        let mut connection = fresh(target);
        let mut select = statement(&mut connection, NUMBERS);
        for (key, value, largest) in [("batch_rows", 1000, 1000), ("batch_bytes", 4000, 1000)] {
            let key = OptionStatement::Other(format!("adbc.firebird.query.{key}"));
            select.set_option(key.clone(), value.into()).expect("it is known");
            let batches: Vec<RecordBatch> =
                select.execute().expect("it runs").collect::<Result<_, _>>().expect("it is read");
            assert!(batches.iter().all(|batch| batch.num_rows() <= largest), "{key:?}");
            assert!(batches.len() >= 20);
            select.set_option(key, 1_000_000.into()).expect("it is known");
        }
    },
    fn wide_and_long_values_arrive(target: &Target) {
        let mut connection = fresh(target);
        let columns: Vec<String> = (0..100).map(|n| format!("c{n} INTEGER")).collect();
        run(&mut connection, &format!("CREATE TABLE w ({})", columns.join(", ")));
        let column: ArrayRef = std::sync::Arc::new(Int32Array::from_iter_values(0..1000));
        let mut insert =
            statement(&mut connection, &format!("INSERT INTO w VALUES ({})", vec!["?"; 100].join(",")));
        let names: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let data = names.iter().map(|name| (name.as_str(), std::sync::Arc::clone(&column)));
        insert.bind(crate::support::batch(data)).expect("it is taken");
        assert_eq!(insert.execute_update().expect("it inserts"), Some(1000));
        let found = query(&mut connection, "SELECT * FROM w ORDER BY c0");
        assert!(found.num_columns() == 100 && found.columns().iter().all(|found| **found == *column));
        run(&mut connection, "CREATE TABLE b (s BLOB SUB_TYPE TEXT, b BLOB)");
        let (text, bytes) = ("ü".repeat(65_536), vec![0u8; 131_072]);
        let mut insert = statement(&mut connection, "INSERT INTO b VALUES (?, ?)");
        let texts: ArrayRef = std::sync::Arc::new(StringArray::from(vec![text.as_str()]));
        let blobs: ArrayRef = std::sync::Arc::new(BinaryArray::from_vec(vec![bytes.as_slice()]));
        insert.bind(crate::support::batch([("s", texts), ("b", blobs)])).expect("it is taken");
        insert.execute_update().expect("it inserts");
        let found = query(&mut connection, "SELECT s, b FROM b");
        assert_eq!(found.column(0).as_string::<i32>().value(0), text);
        assert_eq!(found.column(1).as_binary::<i32>().value(0), bytes);
    },
    fn a_stream_ends_with_its_transaction(target: &Target) {
        let mut connection = fresh(target);
        autocommit(&mut connection, false);
        for commit in [true, false] {
            let mut stream = statement(&mut connection, NUMBERS).execute().expect("it runs");
            stream.next().expect("a batch").expect("it is read");
            if commit { connection.commit() } else { connection.rollback() }.expect("it ends");
            let error = stream.next().expect("an answer").expect_err("its transaction is over");
            assert!(error.to_string().contains("transaction"), "{error}");
            assert_eq!(query(&mut connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
        }
        autocommit(&mut connection, true);
        let stream = statement(&mut connection, NUMBERS).execute().expect("it runs");
        fails(connection.commit(), Status::InvalidState);
        assert_eq!(rows(stream).num_rows(), 20_000);
    },
    fn the_status_of_a_lost_transaction_is_told(target: &Target) {
        let raw = Raw::fresh(target);
        let connection = (&raw const raw.connection).cast_mut();
        let (key, value) = (c"adbc.connection.autocommit", c"false");
        crate::raw::call!(raw.table, ConnectionSetOption(connection, key.as_ptr(), value.as_ptr()))
            .expect("known");
        let (mut stream, _) = raw.stream(NUMBERS).expect("it runs");
        crate::raw::call!(raw.table, ConnectionCommit(connection)).expect("it commits");
        let failure = stream.next().expect_err("its transaction is over");
        assert_eq!(failure.error.map(|error| error.status), Some(Status::InvalidState));
    }
);
