//! What must neither be lost nor done twice: rows of procedures, tables with names that others had, uncommitted work.

use crate::ingest::{ingest, people, stream, target_statement};
use crate::support::{
    autocommit, cancelled_after, column, count, detail, fails, failure, fresh, fresh_database, query, run,
    set, statement,
};
use adbc_core::error::Status;
use adbc_core::options::{IngestMode, OptionStatement};
use adbc_core::{Connection, Database, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedStatement};
use arrow::array::*;
use arrow::datatypes::{Int32Type, SchemaRef};
use arrow::error::ArrowError;
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const TIMEOUT: &str = "adbc.firebird.query.timeout";

/// A producer that does something before its last batch.
struct Producer<F> {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    between: Option<F>,
}

impl<F: FnOnce()> Iterator for Producer<F> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.pop()?;
        if self.batches.is_empty()
            && let Some(between) = self.between.take()
        {
            between();
        }
        Some(Ok(batch))
    }
}

impl<F: FnOnce()> RecordBatchReader for Producer<F> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Ingests 40 rows into T in four batches, of which the driver looks at two before it begins, and does something before
/// the last one.
fn filling(connection: &mut ManagedConnection, between: impl FnOnce() + Send + 'static) -> ManagedStatement {
    let mut filling = target_statement(connection, "T", IngestMode::Create);
    let batches: Vec<_> = [30, 20, 10, 0].map(|first| people(first..first + 10)).into();
    let reader = Producer { schema: batches[0].schema(), batches, between: Some(between) };
    filling.bind_stream(Box::new(reader)).expect("it is taken");
    filling
}

fn temporary(connection: &mut ManagedConnection, mode: IngestMode) -> ManagedStatement {
    let mut statement = target_statement(connection, "T", mode);
    statement.set_option(OptionStatement::Temporary, "true".into()).expect("it is known");
    statement.bind(people(0..4)).expect("it is taken");
    statement
}

matrix!(
    all,
    fn a_table_with_the_name_of_a_temporary_one_stays(target: &Target) {
        let database = fresh_database(target);
        for by_sql in [true, false] {
            let mut connection = database.new_connection().expect("it is created");
            assert_eq!(temporary(&mut connection, IngestMode::Replace).execute_update(), Ok(Some(4)));
            if by_sql {
                run(&mut connection, "DROP TABLE t");
                assert_eq!(ingest(&mut connection, "T", IngestMode::Create, people(0..7)), Ok(Some(7)));
            } else {
                assert_eq!(ingest(&mut connection, "T", IngestMode::Replace, people(0..7)), Ok(Some(7)));
            }
            drop(connection);
            let mut later = database.new_connection().expect("it exists");
            assert_eq!(count(&mut later, "t"), 7);
        }
    },
    fn a_temporary_table_of_somebody_else_stays(target: &Target) {
        let database = fresh_database(target);
        let mut maker = database.new_connection().expect("it is created");
        assert_eq!(temporary(&mut maker, IngestMode::Create).execute_update(), Ok(Some(4)));
        for commit_rows in ["0", "2"] {
            let mut other = database.new_connection().expect("it exists");
            // What it replaces are its own rows, in the table as it is.
            let mut replace = temporary(&mut other, IngestMode::Replace);
            let key = OptionStatement::from("adbc.firebird.ingest.commit_rows");
            replace.set_option(key, commit_rows.into()).expect("it is known");
            assert_eq!(replace.execute_update(), Ok(Some(4)));
            assert_eq!(count(&mut other, "t"), 4);
            drop((replace, other));
            assert_eq!(count(&mut maker, "t"), 4, "commit_rows={commit_rows}");
        }
    },
    fn rows_for_a_temporary_table_do_not_go_to_another_one(target: &Target) {
        let mut connection = fresh(target);
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, people(0..7)), Ok(Some(7)));
        for mode in [IngestMode::Append, IngestMode::CreateAppend] {
            let error = fails(temporary(&mut connection, mode).execute_update(), Status::AlreadyExists);
            assert_eq!(detail(&error, "firebird.table").as_deref(), Some("T"));
        }
        assert_eq!(count(&mut connection, "t"), 7);
    },
    fn definitions_do_not_commit_what_was_changed(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        run(&mut connection, "CREATE TABLE u (n INTEGER)");
        autocommit(&mut connection, false);
        // A transaction sees the monitoring tables as they were when it looked first.
        query(&mut connection, "SELECT MON$DATABASE_NAME FROM MON$DATABASE");
        assert_eq!(count(&mut connection, "t"), 0);
        run(&mut connection, "INSERT INTO u VALUES (1)");
        failure(&mut connection, "DROP TABLE t");
        connection.rollback().expect("it is undone");
        assert_eq!(count(&mut connection, "u"), 0);
        connection.commit().expect("it ends");
        run(&mut connection, "DROP TABLE t");
    },
    fn definitions_leave_snapshots_and_open_results_alone(target: &Target) {
        const ISOLATION: &str = "adbc.connection.transaction.isolation_level";
        let mut connection = fresh(target);
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, people(0..7)), Ok(Some(7)));
        autocommit(&mut connection, false);
        set(&mut connection, ISOLATION, "snapshot").expect("it is known");
        assert_eq!(count(&mut connection, "t"), 7);
        set(&mut connection, ISOLATION, "default").expect("it is known");
        failure(&mut connection, "DROP TABLE t");
        connection.commit().expect("it goes on");
        let mut select = statement(&mut connection, "SELECT * FROM t");
        select
            .set_option(OptionStatement::Other("adbc.firebird.query.batch_rows".into()), 2.into())
            .expect("it is known");
        let mut open = select.execute().expect("it runs");
        open.next().expect("a batch").expect("it is read");
        failure(&mut connection, "DROP TABLE t");
        assert_eq!(open.map(|batch| batch.expect("it goes on").num_rows()).sum::<usize>(), 5);
        run(&mut connection, "DROP TABLE t");
    },
    fn what_a_block_did_stays_when_its_end_is_not_read(target: &Target) {
        const BLOCK: &str =
            "EXECUTE BLOCK RETURNS (n INTEGER) AS BEGIN INSERT INTO t VALUES (1); n = 1; SUSPEND; END";
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        let mut open = statement(&mut connection, BLOCK).execute().expect("it runs");
        open.next().expect("a batch").expect("it is read");
        drop(open);
        assert_eq!(count(&mut connection, "t"), 1);
        // Unless it fails.
        let fails = BLOCK.replace("SUSPEND;", "SUSPEND; n = 1 / 0; SUSPEND;");
        let result: Result<Vec<_>, _> =
            statement(&mut connection, &fails).execute().expect("it runs").collect();
        result.expect_err("it divides by zero");
        assert_eq!(count(&mut connection, "t"), 1);
    },
    fn procedures_run_once(target: &Target) {
        let mut connection = fresh(target);
        for sql in [
            "CREATE TABLE t (n INTEGER)",
            "CREATE TABLE c (b VARCHAR(9) CHARACTER SET NONE)",
            "INSERT INTO c VALUES (_OCTETS x'41')",
            "CREATE PROCEDURE p RETURNS (b VARCHAR(9) CHARACTER SET NONE) AS \
             BEGIN INSERT INTO t VALUES (1); SELECT FIRST 1 b FROM c INTO :b; END",
        ] {
            run(&mut connection, sql);
        }
        autocommit(&mut connection, false);
        assert_eq!(query(&mut connection, "EXECUTE PROCEDURE p").num_rows(), 1);
        run(&mut connection, "UPDATE c SET b = _OCTETS x'FF'");
        // Its row cannot be decoded, which is seen when it has run.
        fails(statement(&mut connection, "EXECUTE PROCEDURE p").execute().map(drop), Status::InvalidData);
        assert_eq!(count(&mut connection, "t"), 2);
    },
    fn statements_that_others_have_changed_go_on(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        run(&mut connection, "CREATE TABLE t (n NUMERIC(4, 2), m INTEGER)");
        autocommit(&mut connection, false);
        let insert = |connection: &mut ManagedConnection, value: i128| {
            let mut insert = statement(connection, "INSERT INTO t (n) VALUES (?)");
            let value = Decimal128Array::from(vec![value]).with_precision_and_scale(9, 2).expect("it fits");
            insert.bind(crate::support::batch([("n", Arc::new(value) as ArrayRef)])).expect("it is taken");
            let done = insert.execute_update();
            connection.commit().expect("it ends");
            done
        };
        let returning = "INSERT INTO t (m) VALUES (1) RETURNING n, m";
        assert_eq!(insert(&mut connection, 1234), Ok(Some(1)));
        query(&mut connection, returning);
        connection.commit().expect("it ends");
        insert(&mut connection, 1_000_000).expect_err("it is too large");
        let mut other = database.new_connection().expect("it exists");
        run(&mut other, "ALTER TABLE t ALTER n TYPE NUMERIC(9, 2), ALTER m TYPE BIGINT");
        assert_eq!(insert(&mut connection, 1_000_000), Ok(Some(1)));
        // Whatever is told, it is done once, and the next time it is known.
        let before = count(&mut connection, "t");
        connection.commit().expect("it ends");
        let failed = statement(&mut connection, returning).execute().is_err();
        connection.rollback().expect("it is undone");
        assert_eq!(query(&mut connection, returning).num_rows(), 1, "{failed}");
        assert_eq!(count(&mut connection, "t"), before + 1);
    },
    fn whoever_supplies_rows_cannot_end_their_transaction(target: &Target) {
        let mut connection = fresh(target);
        autocommit(&mut connection, false);
        let mut same = connection.clone();
        let between = move || {
            fails(same.commit(), Status::InvalidState);
            fails(same.rollback(), Status::InvalidState);
        };
        let mut ingesting = filling(&mut connection, between);
        // Otherwise they would be read before the transaction begins, to see how long texts are.
        let text = OptionStatement::Other("adbc.firebird.ingest.text".into());
        ingesting.set_option(text, "blob".into()).expect("it is known");
        assert_eq!(ingesting.execute_update(), Ok(Some(40)));
        drop(ingesting);
        connection.commit().expect("it ends");
        assert_eq!(count(&mut connection, "t"), 40);
    },
    fn an_ingestion_whose_producer_waits_is_cancelled(target: &Target) {
        for auto in [true, false] {
            let mut connection = fresh(target);
            autocommit(&mut connection, auto);
            let slow = filling(&mut connection, || thread::sleep(Duration::from_secs(1)));
            cancelled_after(Duration::from_millis(300), slow);
            if !auto {
                connection.rollback().expect("it ends");
            }
            assert_eq!(
                ingest(&mut connection, "T", IngestMode::Replace, people(0..1)),
                Ok(Some(1)),
                "the connection goes on"
            );
        }
    },
    fn ingestions_and_many_rows_have_their_time(target: &Target) {
        let mut connection = fresh(target);
        let mut slow = filling(&mut connection, || thread::sleep(Duration::from_secs(1)));
        let limit = OptionStatement::Other(TIMEOUT.into());
        slow.set_option(limit.clone(), 500.into()).expect("it is known");
        let begin = Instant::now();
        fails(slow.execute_update(), Status::Timeout);
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        drop(slow);
        fails(statement(&mut connection, "SELECT * FROM t").execute().map(drop), Status::NotFound);
        let mut endless = statement(&mut connection, &format!("{} WHERE ? = 1", crate::cancel::ENDLESS));
        endless.set_option(limit, 500.into()).expect("it is known");
        let ones: ArrayRef = Arc::new(Int32Array::from(vec![1, 1]));
        let ones = crate::support::batch([("n", ones)]);
        endless.bind_stream(stream(vec![Ok(ones.clone())], &ones.schema())).expect("it is taken");
        fails(endless.execute().and_then(exhausted), Status::Timeout);
    },
    fn data_by_name_needs_names(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (a INTEGER, b INTEGER)");
        let mut insert = statement(&mut connection, "INSERT INTO t (a, b) VALUES (?, ?)");
        insert
            .set_option(OptionStatement::Other("adbc.statement.bind_by_name".into()), "true".into())
            .expect("known");
        let number = |number| Arc::new(Int32Array::from(vec![number])) as ArrayRef;
        insert.bind(crate::support::batch([("b", number(1)), ("a", number(2))])).expect("it is taken");
        fails(insert.execute_update(), Status::InvalidArguments);
        assert_eq!(count(&mut connection, "t"), 0);
    },
    fn changes_through_a_stream_see_what_is_committed(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (n INTEGER)");
        run(&mut connection, "INSERT INTO t VALUES (0)");
        let update = "UPDATE t SET n = (SELECT MON$ISOLATION_MODE FROM MON$TRANSACTIONS \
            WHERE MON$TRANSACTION_ID = CURRENT_TRANSACTION)";
        drop(statement(&mut connection, update).execute().expect("it runs"));
        let mode = column(&mut connection, "SELECT n FROM t").as_primitive::<Int32Type>().value(0);
        // 2 to 4 are those of READ COMMITTED.
        assert!((2..=4).contains(&mode), "{mode}");
    }
);

/// Reads everything.
fn exhausted(reader: Box<dyn RecordBatchReader + Send + '_>) -> Result<(), adbc_core::error::Error> {
    for batch in reader {
        if let Err(error) = batch {
            let status = if error.to_string().contains("time") { Status::Timeout } else { Status::Unknown };
            return Err(adbc_core::error::Error::with_message_and_status(error.to_string(), status));
        }
    }
    Ok(())
}
