//! Commits whose answer gets lost, as applications see them.

use crate::support::{
    autocommit, batch, column, count, detail, fresh, options, run, sqlstate, statement, wait_until_alone,
};
use adbc_core::error::{Error, Status};
use adbc_core::options::{IngestMode, OptionStatement};
use adbc_core::{Connection, Database, Driver, Optionable, Statement};
use adbc_driver_manager::ManagedConnection;
use arrow::array::*;
use arrow::datatypes::Int64Type;
use firearrow_testkit::{Behaviour, Proxy, Side, Target, matrix};
use std::path::Path;
use std::sync::Arc;

/// The operation that commits.
const COMMIT: u32 = 30;

/// A direct connection to a new database with a table `T`, one through a proxy, and the proxy.
fn connections(target: &Target) -> (ManagedConnection, ManagedConnection, Arc<Proxy>) {
    let server = target.server();
    let mut direct = fresh(target);
    run(&mut direct, "CREATE TABLE T (ID INTEGER)");
    let name = column(&mut direct, "SELECT MON$DATABASE_NAME FROM MON$DATABASE");
    let name = name.as_string::<i32>().value(0).to_owned();
    let proxy = Arc::new(Proxy::start(server.address(), Behaviour::pass()).expect("a proxy"));
    let url = server.url_at(proxy.address(), Path::new(&name));
    let url = format!("{url}{}wire_crypt=disabled", if url.contains('?') { '&' } else { '?' });
    let through = crate::support::driver()
        .new_database_with_opts(options(target, &url))
        .expect("valid options")
        .new_connection()
        .expect("it opens");
    (direct, through, proxy)
}

/// The rows of `T`, once the server has noticed that the other connection is gone.
fn rows_of_t(direct: &mut ManagedConnection) -> i64 {
    wait_until_alone(direct);
    count(direct, "T")
}

fn assert_lost(error: &Error, commit: &str) {
    assert_eq!(error.status, Status::Unknown, "{error}");
    assert_eq!(sqlstate(error), "08007", "{error}");
    assert_eq!(detail(error, "firebird.commit").as_deref(), Some(commit), "{error}");
}

matrix!(
    wire,
    fn a_lost_commit_of_manual_mode_is_cleared_up(target: &Target) {
        for (lost, commit, rows) in [(Side::Server, "committed", 1), (Side::Client, "rolled_back", 0)] {
            let (mut direct, mut through, proxy) = connections(target);
            autocommit(&mut through, false);
            run(&mut through, "INSERT INTO T VALUES (1)");
            let number = column(&mut through, "SELECT CURRENT_TRANSACTION FROM RDB$DATABASE");
            let number = number.as_primitive::<Int64Type>().value(0).to_string();
            proxy.lose_next(lost);
            let error = through.commit().expect_err("its answer is lost");
            assert_lost(&error, commit);
            assert_eq!(detail(&error, "firebird.transaction"), Some(number), "{error}");
            drop(through);
            assert_eq!(rows_of_t(&mut direct), rows, "{lost:?}");
        }
    },
    fn a_lost_commit_of_autocommit_is_unknown(target: &Target) {
        let (mut direct, mut through, proxy) = connections(target);
        run(&mut through, "INSERT INTO T VALUES (1)");
        proxy.lose_next(Side::Server);
        let error = statement(&mut through, "INSERT INTO T VALUES (1)").execute_update();
        assert_lost(&error.expect_err("its answer is lost"), "unknown");
        drop(through);
        // Answers come one by one: the first may get lost before the server has read the commit.
        assert!((1..=2).contains(&rows_of_t(&mut direct)));
    },
    fn rows_of_a_lost_commit_are_counted_if_they_are_there(target: &Target) {
        let (mut direct, mut through, proxy) = connections(target);
        let mut ingest = through.new_statement().expect("it is cheap");
        ingest.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
        ingest.set_option(OptionStatement::IngestMode, IngestMode::Append.into()).expect("it is known");
        let key = OptionStatement::from("adbc.firebird.ingest.commit_rows");
        ingest.set_option(key, "100".into()).expect("it is known");
        let part = |start: i32| {
            let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(start..start + 100));
            batch([("ID", ids)])
        };
        let schema = part(0).schema();
        let armed = Arc::clone(&proxy);
        let batches = (0..5).map(move |number| {
            // The rows before these have been committed.
            if number == 2 {
                armed.lose_answer_to(COMMIT);
            }
            Ok(part(number * 100))
        });
        ingest.bind_stream(Box::new(RecordBatchIterator::new(batches, schema))).expect("it is data");
        let error = ingest.execute_update().expect_err("the answer to a commit is lost");
        assert_lost(&error, "committed");
        let told = detail(&error, "firebird.rows_committed").expect("some rows are there");
        assert_eq!(told, "300", "{error}");
        drop((ingest, through));
        assert_eq!(rows_of_t(&mut direct).to_string(), told);
    }
);
