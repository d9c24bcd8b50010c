//! What a connection in autocommit that does nothing more still holds: no lock that keeps others from altering tables.

use crate::ingest::{ingest, people};
use crate::support::{database, query, run, set, statement};
use adbc_core::options::IngestMode;
use adbc_core::{Database, Statement};
use adbc_driver_manager::ManagedConnection;
use firearrow_testkit::{Target, matrix};
use std::time::{Duration, Instant};

type Work = fn(&mut ManagedConnection);

const WORKS: [(&str, Work); 8] = [
    ("INSERT … RETURNING", |connection| {
        drop(query(connection, "INSERT INTO \"T\" VALUES (9, 'x') RETURNING \"id\""));
    }),
    ("UPDATE … RETURNING", |connection| {
        drop(query(connection, "UPDATE \"T\" SET \"Name\" = 'y' WHERE \"id\" = 7 RETURNING \"id\""));
    }),
    ("DELETE … RETURNING", |connection| {
        drop(query(connection, "DELETE FROM \"T\" WHERE \"id\" = 7 RETURNING \"id\""))
    }),
    ("a query", |connection| drop(query(connection, "SELECT * FROM \"T\""))),
    ("a query that is not read to its end", |connection| {
        let mut query = statement(connection, "SELECT a.\"id\" FROM \"T\" a, \"T\" b, \"T\" c");
        drop(query.execute().expect("it runs").next());
    }),
    ("many rows", |connection| {
        let mut insert = statement(connection, "INSERT INTO \"T\" VALUES (?, ?)");
        insert.bind(people(0..100)).expect("it is taken");
        assert_eq!(insert.execute_update().expect("they fit"), Some(100));
    }),
    ("an ingestion", |connection| {
        assert_eq!(ingest(connection, "T", IngestMode::Append, people(0..100)), Ok(Some(100)));
    }),
    ("ExecuteSchema", |connection| {
        drop(statement(connection, "SELECT * FROM \"T\"").execute_schema().expect("it is valid"));
    }),
];

matrix!(
    all,
    fn an_idle_connection_locks_no_tables(target: &Target) {
        let database = database(target, &target.fresh_url());
        for (who, work) in WORKS {
            let mut connection = database.new_connection().expect("it opens");
            ingest(&mut connection, "T", IngestMode::Create, people(0..200)).expect("a new table");
            drop(connection);
            let mut connection = database.new_connection().expect("it opens");
            work(&mut connection);
            let mut other = database.new_connection().expect("it opens");
            // Engines that have the table in their cache let go of it only for those who wait.
            set(&mut other, "adbc.firebird.lock_timeout", "1").expect("it is known");
            if let Err(error) = statement(&mut other, "DROP TABLE \"T\"").execute_update() {
                panic!("{who} keeps others from dropping the table: {error}");
            }
            drop(connection);
        }
    },
    fn an_idle_connection_lets_others_replace_a_table(target: &Target) {
        let database = database(target, &target.fresh_url());
        let mut connection = database.new_connection().expect("it opens");
        ingest(&mut connection, "T", IngestMode::Create, people(0..10)).expect("a new table");
        run(&mut connection, "INSERT INTO \"T\" VALUES (10, 'x')");
        drop(query(&mut connection, "INSERT INTO \"T\" VALUES (11, 'y') RETURNING \"id\""));
        let mut other = database.new_connection().expect("it opens");
        let begin = Instant::now();
        assert_eq!(ingest(&mut other, "T", IngestMode::Replace, people(0..5)), Ok(Some(5)));
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        assert_eq!(query(&mut connection, "SELECT * FROM \"T\"").num_rows(), 5);
    }
);
