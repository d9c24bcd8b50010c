//! Ingestion: tables for rows, and what errors tell.

use crate::support::{count, fresh, numbers, run};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchIterator, StringArray};
use firearrow_driver::{
    Class, Detail, IngestOptions, Mode, Rows, SessionOptions, Statement, StatementOptions,
};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

matrix!(
    all,
    fn modes_do_what_they_say(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let ingest = |mode, table: &str, rows| {
            let mut statement = Statement::new(&session, StatementOptions::default());
            statement.bind(numbers("N", rows));
            statement.ingest(&IngestOptions { table: table.into(), mode, ..IngestOptions::default() })
        };
        let error = ingest(Mode::Create, "T", 0..1).expect_err("it exists");
        assert_eq!((error.class(), error.sqlstate()), (Class::Exists, Some("42S01")));
        assert_eq!(error.details(), [(Detail::Table, "T".to_owned())]);
        let error = ingest(Mode::Append, "X", 0..1).expect_err("it does not exist");
        assert_eq!((error.class(), error.sqlstate()), (Class::NotFound, Some("42S02")));
        assert_eq!(ingest(Mode::Append, "T", 0..3).expect("it appends"), 3);
        assert_eq!(ingest(Mode::Replace, "T", 0..2).expect("it replaces"), 2);
        assert_eq!(count(&session), 2);
        assert_eq!(ingest(Mode::Create, "X", 0..5).expect("it creates"), 5);
        let error = ingest(Mode::Upsert, "X", 0..1).expect_err("it has no key");
        assert!(error.class() == Class::Argument && error.message().ends_with("in key"), "{error}");
    },
    fn text_without_character_set_is_ingested_as_it_is_read(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        run(&session, "CREATE TABLE x (v VARCHAR(9) CHARACTER SET NONE)").expect("it is new");
        let mut options = StatementOptions::default();
        options.read.set("none_encoding", "WIN1252").expect("it is a code page");
        for mode in [Mode::Append, Mode::Replace] {
            let mut statement = Statement::new(&session, options.clone());
            let names: ArrayRef = Arc::new(StringArray::from(vec!["Jörg"]));
            let batch = RecordBatch::try_from_iter([("V", names)]).expect("one column");
            let schema = batch.schema();
            let rows = Rows::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
            statement.bind(rows.expect("no panic"));
            let given = IngestOptions { table: "X".into(), mode, ..IngestOptions::default() };
            assert_eq!(statement.ingest(&given).expect("it is ingested"), 1);
            // The bytes of WIN1252 after an append; the column that a replacement makes has UTF8.
            let bytes = if mode == Mode::Append { "4AF67267" } else { "4AC3B67267" };
            let sql = format!(
                "DELETE FROM t WHERE (SELECT CAST(v AS VARCHAR(9) CHARACTER SET OCTETS) FROM x) <> x'{bytes}'"
            );
            run(&session, "INSERT INTO t VALUES (1)").expect("it is there");
            let before = count(&session);
            run(&session, &sql).expect("it runs");
            assert_eq!(count(&session), before, "{mode:?}");
        }
    },
    fn committed_rows_are_told(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        run(&session, "CREATE UNIQUE INDEX i ON t (n)").expect("it is new");
        let mut statement = Statement::new(&session, StatementOptions::default());
        statement.bind(numbers("N", [1, 2, 3, 1]));
        let options = IngestOptions {
            table: "T".into(),
            mode: Mode::Append,
            commit_rows: 2,
            ..IngestOptions::default()
        };
        let error = statement.ingest(&options).expect_err("a key comes twice");
        let details = error.details();
        for expected in [(Detail::RowsCommitted, "2"), (Detail::Row, "3")] {
            assert!(
                details.iter().any(|(detail, value)| (*detail, value.as_str()) == expected),
                "{details:?}"
            );
        }
        assert_eq!(count(&session), 2);
        assert_eq!(statement.ingest(&options).expect_err("the rows are gone").class(), Class::State);
    }
);
