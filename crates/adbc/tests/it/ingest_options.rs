//! How ingestion commits, what it sends at a time, and what it does with digits that Firebird has no room for.

use crate::support::{autocommit, batch, column, count, detail, fails, fresh, query, run};
use adbc_core::error::{Error, Status};
use adbc_core::options::{IngestMode, OptionStatement};
use adbc_core::{Connection, Optionable, Statement};
use adbc_driver_manager::ManagedConnection;
use arrow::array::*;
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use arrow::error::ArrowError;
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

fn ids(values: impl IntoIterator<Item = i32>) -> RecordBatch {
    batch([("ID", Arc::new(Int32Array::from_iter_values(values)) as ArrayRef)])
}

/// Appends to table T.
fn append(
    connection: &mut ManagedConnection,
    batches: Vec<RecordBatch>,
    options: &[(&str, &str)],
) -> Result<Option<i64>, Error> {
    let mut statement = connection.new_statement().expect("it is cheap");
    statement.set_option(OptionStatement::TargetTable, "T".into())?;
    statement.set_option(OptionStatement::IngestMode, IngestMode::CreateAppend.into())?;
    for (key, value) in options {
        let key = format!("adbc.firebird.ingest.{key}");
        statement.set_option(OptionStatement::from(key.as_str()), (*value).into())?;
    }
    let schema = batches[0].schema();
    statement.bind_stream(Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema)))?;
    let written = statement.execute_update()?;
    let inserted = statement.get_option_int(OptionStatement::from("adbc.firebird.records.inserted"))?;
    assert_eq!(written, Some(inserted));
    Ok(written)
}

fn sum(connection: &mut ManagedConnection) -> i64 {
    column(connection, "SELECT CAST(SUM(ID) AS BIGINT) FROM T").as_primitive::<Int64Type>().value(0)
}

matrix!(
    all,
    fn commits_come_between_rows(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE T (ID INTEGER PRIMARY KEY)");
        // Parts end within batches and reach over them.
        let batches = vec![ids(0..130), ids(130..140), ids(140..350)];
        assert_eq!(append(&mut connection, batches, &[("commit_rows", "100")]), Ok(Some(350)));
        assert_eq!((count(&mut connection, "T"), sum(&mut connection)), (350, (0..350).sum::<i32>().into()));
    },
    fn what_is_committed_stays(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE T (ID INTEGER PRIMARY KEY)");
        let twice: Vec<i32> = (0..250).chain([7]).chain(251..400).collect();
        let batches = vec![ids(twice[..180].to_vec()), ids(twice[180..].to_vec())];
        let error = append(&mut connection, batches.clone(), &[("commit_rows", "100")])
            .expect_err("a key comes twice");
        assert_eq!(detail(&error, "firebird.row").as_deref(), Some("250"), "{error}");
        assert_eq!(detail(&error, "firebird.rows_committed").as_deref(), Some("200"), "{error}");
        assert!(error.message.contains("200 rows are committed"), "{error}");
        assert_eq!(count(&mut connection, "T"), 200);
        // Without it nothing stays.
        run(&mut connection, "DELETE FROM T");
        let error = append(&mut connection, batches, &[]).expect_err("a key comes twice");
        assert_eq!(detail(&error, "firebird.row").as_deref(), Some("250"), "{error}");
        assert_eq!(detail(&error, "firebird.rows_committed"), None);
        assert_eq!(count(&mut connection, "T"), 0);
    },
    fn a_new_table_stays_with_its_committed_rows(target: &Target) {
        let mut connection = fresh(target);
        for (rows, left) in [("5", 30), ("0", 0)] {
            let mut statement = connection.new_statement().expect("it is cheap");
            statement.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
            let key = OptionStatement::from("adbc.firebird.ingest.commit_rows");
            statement.set_option(key, rows.into()).expect("it is known");
            let batches = [
                Ok(ids(0..10)),
                Ok(ids(10..20)),
                Ok(ids(20..30)),
                Err(ArrowError::ComputeError("gone".into())),
            ];
            let reader = RecordBatchIterator::new(batches, ids(0..1).schema());
            statement.bind_stream(Box::new(reader)).expect("it is data");
            let error = statement.execute_update().expect_err("the data ends with an error");
            assert!(error.message.contains("gone"), "{error}");
            let told = (left > 0).then(|| left.to_string());
            assert_eq!(detail(&error, "firebird.rows_committed"), told, "{error}");
            let there =
                column(&mut connection, "SELECT COUNT(*) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = 'T'");
            assert_eq!(there.as_primitive::<Int64Type>().value(0), i64::from(left > 0));
            if left > 0 {
                assert_eq!(count(&mut connection, "T"), left);
                run(&mut connection, "DROP TABLE T");
            }
        }
    },
    fn commits_are_the_callers_in_manual_mode(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE T (ID INTEGER)");
        autocommit(&mut connection, false);
        fails(append(&mut connection, vec![ids(0..3)], &[("commit_rows", "2")]), Status::InvalidState);
        assert_eq!(append(&mut connection, vec![ids(0..3)], &[]), Ok(Some(3)));
        connection.commit().expect("it can be committed");
        // It must not cost the table that is there.
        let mut replace = connection.new_statement().expect("it is cheap");
        replace.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
        replace.set_option(OptionStatement::IngestMode, IngestMode::Replace.into()).expect("it is known");
        let key = OptionStatement::from("adbc.firebird.ingest.commit_rows");
        replace.set_option(key, "2".into()).expect("it is known");
        replace.bind(ids(0..1)).expect("it is data");
        fails(replace.execute_update(), Status::InvalidState);
        assert_eq!(count(&mut connection, "T"), 3);
    },
    fn pieces_have_any_size(target: &Target) {
        let mut connection = fresh(target);
        for bytes in ["4096", "16777216"] {
            let batches = vec![ids(0..20_000), ids(20_000..50_000)];
            assert_eq!(append(&mut connection, batches, &[("batch_bytes", bytes)]), Ok(Some(50_000)));
            assert_eq!(sum(&mut connection), (0..50_000i64).sum::<i64>(), "{bytes}");
            run(&mut connection, "DELETE FROM T");
        }
    },
    fn digits_are_cut_off_or_refused(target: &Target) {
        let mut connection = fresh(target);
        let micros = vec![1_000_000, 1_000_100, 123_456, -42];
        let times = batch([("MOMENT", Arc::new(TimestampMicrosecondArray::from(micros)) as ArrayRef)]);
        let error =
            append(&mut connection, vec![times.clone()], &[("time_rounding", "error")]).expect_err("digits");
        assert_eq!(detail(&error, "firebird.row").as_deref(), Some("2"), "{error}");
        assert!(error.message.contains("time_rounding=floor"), "{error}");
        assert_eq!(append(&mut connection, vec![times], &[("time_rounding", "floor")]), Ok(Some(4)));
        let read = query(&mut connection, "SELECT MOMENT FROM T");
        let read = read.column(0).as_primitive::<TimestampMicrosecondType>().values().to_vec();
        assert_eq!(read, [1_000_000, 1_000_100, 123_400, -100]);
        // It is the same for parameters.
        let mut insert = connection.new_statement().expect("it is cheap");
        insert.set_sql_query("INSERT INTO T VALUES (?)").expect("it is text");
        let key = OptionStatement::from("adbc.firebird.ingest.time_rounding");
        insert.set_option(key, "error".into()).expect("it is known");
        let one = batch([("MOMENT", Arc::new(TimestampMicrosecondArray::from(vec![1])) as ArrayRef)]);
        insert.bind(one).expect("it is data");
        let error = insert.execute_update().expect_err("digits");
        assert!(error.message.contains("100 µs"), "{error}");
    },
);
