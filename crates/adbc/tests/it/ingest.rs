//! Bound data into tables, in every mode.

use crate::support::{
    autocommit, batch, column, count, detail, fails, failure, fresh, fresh_database, query, run, set,
    sqlstate, statement,
};
use adbc_core::error::{Error, Status};
use adbc_core::options::{IngestMode, OptionStatement, OptionValue};
use adbc_core::{Connection, Database, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedStatement};
use arrow::array::*;
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema};
use arrow::error::ArrowError;
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn texts<'a>(values: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// Rows with an id and a name.
pub(crate) fn people(ids: impl IntoIterator<Item = i32> + Clone) -> RecordBatch {
    let names: Vec<String> = ids.clone().into_iter().map(|id| format!("name {id}")).collect();
    batch([("id", ints(ids)), ("Name", texts(names.iter().map(String::as_str)))])
}

pub(crate) fn target_statement(
    connection: &mut ManagedConnection,
    table: &str,
    mode: impl Into<OptionValue>,
) -> ManagedStatement {
    let mut statement = connection.new_statement().expect("it is cheap");
    statement.set_option(OptionStatement::TargetTable, table.into()).expect("it is known");
    statement.set_option(OptionStatement::IngestMode, mode.into()).expect("it is known");
    statement
}

/// Ingests one batch.
pub(crate) fn ingest(
    connection: &mut ManagedConnection,
    table: &str,
    mode: impl Into<OptionValue>,
    data: RecordBatch,
) -> Result<Option<i64>, Error> {
    let mut statement = target_statement(connection, table, mode);
    statement.bind(data)?;
    statement.execute_update()
}

pub(crate) fn stream(
    batches: Vec<Result<RecordBatch, ArrowError>>,
    schema: &Schema,
) -> Box<dyn RecordBatchReader + Send> {
    Box::new(RecordBatchIterator::new(batches, Arc::new(schema.clone())))
}

fn exists(connection: &mut ManagedConnection, table: &str) -> bool {
    let sql = format!("SELECT COUNT(*) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = '{table}'");
    column(connection, &sql).as_primitive::<Int64Type>().value(0) == 1
}

const UPSERT: &str = "adbc.firebird.ingest.mode.upsert";

matrix!(
    all,
    fn modes_decide_about_tables_that_are_there(target: &Target) {
        let mut connection = fresh(target);
        let error = fails(ingest(&mut connection, "t", IngestMode::Append, people(0..3)), Status::NotFound);
        assert!(error.message.contains('t') && sqlstate(&error) == "42S02", "{error}");
        fails(ingest(&mut connection, "t", UPSERT, people(0..3)), Status::NotFound);
        assert!(!exists(&mut connection, "t"));
        assert_eq!(ingest(&mut connection, "t", IngestMode::Create, people(0..3)), Ok(Some(3)));
        let error =
            fails(ingest(&mut connection, "t", IngestMode::Create, people(0..3)), Status::AlreadyExists);
        assert_eq!(sqlstate(&error), "42S01");
        assert_eq!(count(&mut connection, "\"t\""), 3);
        assert_eq!(ingest(&mut connection, "t", IngestMode::Append, people(3..5)), Ok(Some(2)));
        assert_eq!(ingest(&mut connection, "t", IngestMode::CreateAppend, people(5..6)), Ok(Some(1)));
        let found = query(&mut connection, "SELECT \"id\", \"Name\" FROM \"t\" ORDER BY 1");
        assert_eq!(found, people(0..6).with_schema(found.schema()).expect("the same types"));
        assert_eq!(ingest(&mut connection, "t", IngestMode::Replace, people(9..10)), Ok(Some(1)));
        assert_eq!(count(&mut connection, "\"t\""), 1);
        assert_eq!(ingest(&mut connection, "u", IngestMode::Replace, people(0..2)), Ok(Some(2)));
        assert_eq!(ingest(&mut connection, "v", IngestMode::CreateAppend, people(0..2)), Ok(Some(2)));
        // Names are taken as they are.
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, people(0..2)), Ok(Some(2)));
        assert_eq!(ingest(&mut connection, "a \"b\"; --", IngestMode::Create, people(0..2)), Ok(Some(2)));
        assert_eq!(count(&mut connection, "\"a \"\"b\"\"; --\""), 2);
    },
    fn columns_are_matched_by_name(target: &Target) {
        let mut connection = fresh(target);
        let sql =
            "CREATE TABLE T (\"Name\" VARCHAR(20), D DATE DEFAULT DATE '2020-01-01' NOT NULL, \"id\" BIGINT)";
        run(&mut connection, sql);
        assert_eq!(ingest(&mut connection, "T", IngestMode::Append, people(1..3)), Ok(Some(2)));
        let found = query(&mut connection, "SELECT \"id\", \"Name\", EXTRACT(YEAR FROM D) FROM T ORDER BY 1");
        assert_eq!(found.column(0).as_primitive::<Int64Type>().values(), &[1, 2]);
        assert_eq!(found.column(1).as_string::<i32>().value(1), "name 2");
        let wrong = batch([("id", ints([1])), ("NAMEN", texts(["x"]))]);
        for mode in [IngestMode::Append, IngestMode::CreateAppend] {
            let error = fails(ingest(&mut connection, "T", mode, wrong.clone()), Status::AlreadyExists);
            assert!(error.message.contains("NAMEN"), "{error}");
        }
        assert_eq!(count(&mut connection, "T"), 2);
    },
    fn letter_case_counts_where_names_differ_in_nothing_else(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE people (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20))");
        assert_eq!(ingest(&mut connection, "people", IngestMode::Append, people(0..2)), Ok(Some(2)));
        assert_eq!(ingest(&mut connection, "People", IngestMode::CreateAppend, people(2..3)), Ok(Some(1)));
        assert_eq!(ingest(&mut connection, "pEOPLE", UPSERT, people(2..5)), Ok(Some(3)));
        let mut statement = target_statement(&mut connection, "people", UPSERT);
        let key = OptionStatement::from("adbc.firebird.ingest.key");
        statement.set_option(key, "Id".into()).expect("it is known");
        statement.bind(people(4..6)).expect("it is cheap");
        assert_eq!(statement.execute_update(), Ok(Some(2)));
        drop(statement);
        assert_eq!(count(&mut connection, "PEOPLE"), 6);
        assert!(!exists(&mut connection, "people"));
        // Replacing keeps the names of the table.
        assert_eq!(ingest(&mut connection, "people", IngestMode::Replace, people(0..4)), Ok(Some(4)));
        let names = query(&mut connection, "SELECT id, name FROM people ORDER BY 1");
        assert_eq!(names.num_rows(), 4);
        // Create makes a second table. From then on, the exact name wins.
        assert_eq!(ingest(&mut connection, "people", IngestMode::Create, people(0..1)), Ok(Some(1)));
        assert_eq!(ingest(&mut connection, "people", IngestMode::Append, people(1..2)), Ok(Some(1)));
        assert_eq!((count(&mut connection, "\"people\""), count(&mut connection, "PEOPLE")), (2, 4));
        let error = fails(
            ingest(&mut connection, "PeoplE", IngestMode::Append, people(0..1)),
            Status::InvalidArguments,
        );
        assert!(error.message.contains("\"PEOPLE\", \"people\""), "{error}");
        // So it is for columns.
        run(&mut connection, "CREATE TABLE u (\"a\" INTEGER, a INTEGER, b INTEGER)");
        let data = batch([("A", ints([1])), ("a", ints([2])), ("B", ints([3]))]);
        assert_eq!(ingest(&mut connection, "U", IngestMode::Append, data), Ok(Some(1)));
        let found = query(&mut connection, "SELECT a, \"a\", b FROM u");
        let value = |index: usize| found.column(index).as_primitive::<Int32Type>().value(0);
        assert_eq!([value(0), value(1), value(2)], [1, 2, 3]);
        let twice = batch([("B", ints([1])), ("b", ints([2]))]);
        fails(ingest(&mut connection, "U", IngestMode::Append, twice), Status::AlreadyExists);
        // New names as SQL without quotes makes them.
        let mut statement = target_statement(&mut connection, "upper", IngestMode::Create);
        let upper_case = OptionStatement::from("adbc.firebird.ingest.upper_case");
        statement.set_option(upper_case, "true".into()).expect("it is known");
        statement.bind(people(0..2)).expect("it is cheap");
        assert_eq!(statement.execute_update(), Ok(Some(2)));
        let found = query(&mut connection, "SELECT id, \"Name\" FROM \"UPPER\"");
        assert_eq!(found.num_rows(), 2);
        statement.bind(people(0..2)).expect("it is cheap");
        fails(statement.execute_update(), Status::AlreadyExists);
    },
    fn rows_with_a_known_key_are_updated(target: &Target) {
        let mut connection = fresh(target);
        run(
            &mut connection,
            "CREATE TABLE t (\"id\" INTEGER NOT NULL PRIMARY KEY, \"Name\" VARCHAR(20), n INTEGER)",
        );
        run(&mut connection, "INSERT INTO t VALUES (1, 'old', 5)");
        assert_eq!(ingest(&mut connection, "T", UPSERT, people(1..4)), Ok(Some(3)));
        let found = query(&mut connection, "SELECT \"id\", \"Name\", n FROM t ORDER BY 1");
        assert_eq!(found.column(0).as_primitive::<Int32Type>().values(), &[1, 2, 3]);
        assert_eq!(found.column(1).as_string::<i32>().value(0), "name 1");
        assert_eq!(found.column(2).as_primitive::<Int32Type>().value(0), 5, "what is not given stays");
        run(&mut connection, "CREATE TABLE u (\"id\" INTEGER, \"Name\" VARCHAR(20))");
        let error = fails(ingest(&mut connection, "U", UPSERT, people(1..3)), Status::InvalidArguments);
        assert!(error.message.contains("adbc.firebird.ingest.key"), "{error}");
        for ids in [1..3, 2..4] {
            let mut statement = target_statement(&mut connection, "U", UPSERT);
            let key = OptionStatement::Other("adbc.firebird.ingest.key".into());
            statement.set_option(key, "id".into()).expect("it is known");
            statement.bind(people(ids)).expect("it is taken");
            statement.execute_update().expect("it is written");
        }
        assert_eq!(count(&mut connection, "u"), 3);
        let lacking = batch([("Name", texts(["x"]))]);
        fails(ingest(&mut connection, "T", UPSERT, lacking), Status::InvalidArguments);
    },
    fn data_must_be_there_and_may_be_none(target: &Target) {
        let mut connection = fresh(target);
        let mut statement = target_statement(&mut connection, "t", IngestMode::Create);
        fails(statement.execute_update(), Status::InvalidState);
        fails(statement.prepare(), Status::InvalidState);
        statement.bind_stream(stream(vec![], &people(0..1).schema())).expect("it is taken");
        assert_eq!(statement.execute_update(), Ok(Some(0)));
        assert_eq!(count(&mut connection, "\"t\""), 0);
        let none = RecordBatch::new_empty(Arc::new(Schema::empty()));
        fails(ingest(&mut connection, "x", IngestMode::Create, none), Status::InvalidArguments);
        let twice = RecordBatch::try_from_iter([("a", ints([1])), ("a", ints([1]))]).expect("legal in Arrow");
        fails(ingest(&mut connection, "x", IngestMode::Create, twice), Status::InvalidArguments);
        let long = "x".repeat(64);
        fails(ingest(&mut connection, &long, IngestMode::Create, people(0..1)), Status::InvalidArguments);
        let modern = target.generation() >= Generation::V4_0;
        let fits = "x".repeat(if modern { 63 } else { 31 });
        assert_eq!(ingest(&mut connection, &fits, IngestMode::Create, people(0..1)), Ok(Some(1)));
    },
    fn names_are_what_they_are_or_refused(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (\"id\" INTEGER, \"Name\" VARCHAR(20))");
        for mode in [IngestMode::Create, IngestMode::Append, IngestMode::CreateAppend, IngestMode::Replace] {
            for table in ["", "T ", "T  ", " "] {
                let error =
                    fails(ingest(&mut connection, table, mode, people(0..3)), Status::InvalidArguments);
                assert!(error.message.contains(&format!("'{table}' cannot be a name")), "{error}");
            }
        }
        let blank = batch([("id ", ints([1]))]);
        fails(ingest(&mut connection, "x", IngestMode::Create, blank), Status::InvalidArguments);
        let blank = connection.get_table_schema(None, None, "T ").map(drop);
        fails(blank, Status::NotFound);
        assert_eq!(count(&mut connection, "t"), 0);
        // In front they belong to the name.
        assert_eq!(ingest(&mut connection, " T", IngestMode::Create, people(0..3)), Ok(Some(3)));
        assert_eq!((count(&mut connection, "\" T\""), count(&mut connection, "t")), (3, 0));
    },
    fn decimals_go_where_their_values_fit(target: &Target) {
        let mut connection = fresh(target);
        let decimals = |values: Vec<Option<i128>>| {
            let values = Decimal128Array::from(values).with_precision_and_scale(38, 2).expect("they fit");
            batch([("D", Arc::new(values) as ArrayRef)])
        };
        let fit = vec![Some(123_456_789_012_345_678), Some(-1), None];
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, decimals(fit.clone())), Ok(Some(3)));
        run(&mut connection, "CREATE TABLE u (d NUMERIC(18, 2))");
        assert_eq!(ingest(&mut connection, "U", IngestMode::Append, decimals(fit.clone())), Ok(Some(3)));
        for table in ["t", "u"] {
            let found = column(&mut connection, &format!("SELECT d FROM {table}"));
            let found: Vec<_> = found.as_primitive::<arrow::datatypes::Decimal128Type>().iter().collect();
            assert_eq!(found, fit, "{table}");
        }
        let large = || decimals(vec![Some(1), Some(10_i128.pow(20))]);
        let error = fails(ingest(&mut connection, "U", IngestMode::Append, large()), Status::InvalidData);
        assert_eq!(detail(&error, "firebird.row").as_deref(), Some("1"), "{error}");
        let modern = target.generation() >= Generation::V4_0;
        let done = ingest(&mut connection, "V", IngestMode::Create, large());
        assert_eq!((done.is_ok(), exists(&mut connection, "V")), (modern, modern));
    },
    fn the_same_statement_ingests_and_then_selects(target: &Target) {
        let mut connection = fresh(target);
        let mut statement = target_statement(&mut connection, "t", IngestMode::Create);
        statement.bind(people(0..5)).expect("it is taken");
        assert_eq!(statement.execute_update(), Ok(Some(5)));
        statement.set_sql_query("SELECT * FROM \"t\"").expect("it is text");
        assert_eq!(crate::support::rows(statement.execute().expect("it runs")).num_rows(), 5);
        let table = statement.get_option_string(OptionStatement::TargetTable);
        assert_eq!(table.as_deref(), Ok(""));
        statement.set_option(OptionStatement::TargetTable, "t".into()).expect("it is known");
        statement.set_option(OptionStatement::IngestMode, IngestMode::Append.into()).expect("it is known");
        fails(statement.execute_schema(), Status::InvalidState);
        statement.bind(people(5..7)).expect("it is taken");
        // By a stream, as DB-API does it.
        assert_eq!(statement.execute().expect("it is written").count(), 0);
        assert_eq!(count(&mut connection, "\"t\""), 7);
    },
    fn a_failing_row_undoes_everything(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (\"id\" INTEGER NOT NULL PRIMARY KEY, \"Name\" VARCHAR(20))");
        run(&mut connection, "INSERT INTO t VALUES (1500, 'there')");
        let batches = vec![Ok(people(0..1000)), Ok(people(1000..2000)), Ok(people(2000..3000))];
        let mut statement = target_statement(&mut connection, "T", IngestMode::Append);
        statement.bind_stream(stream(batches, &people(0..1).schema())).expect("it is taken");
        let error = fails(statement.execute_update(), Status::Integrity);
        assert_eq!(detail(&error, "firebird.row").as_deref(), Some("1500"), "{error}");
        assert_eq!(count(&mut connection, "t"), 1);
        // A table that was made for it is gone.
        let column = Field::new("n", DataType::Int32, false);
        let bad = || {
            let good = RecordBatch::try_new(Arc::new(Schema::new(vec![column.clone()])), vec![ints([1])]);
            vec![
                Ok(good.expect("it fits")),
                Err(ArrowError::ComputeError("the producer has had enough".into())),
            ]
        };
        for mode in [IngestMode::Create, IngestMode::CreateAppend] {
            let mut statement = target_statement(&mut connection, "NEW", mode);
            // The first two batches are looked at before anything is made.
            let mut batches = bad();
            batches.insert(0, batches[0].as_ref().map(RecordBatch::clone).map_err(|_| unreachable!()));
            statement.bind_stream(stream(batches, &Schema::new(vec![column.clone()]))).expect("it is taken");
            let error = statement.execute_update().expect_err("the producer fails");
            assert!(error.message.contains("the producer has had enough"), "{error}");
            assert!(!exists(&mut connection, "NEW"));
        }
        // What cannot be read costs nothing.
        run(&mut connection, "CREATE TABLE old (n INTEGER)");
        run(&mut connection, "INSERT INTO old VALUES (7)");
        let mut statement = target_statement(&mut connection, "OLD", IngestMode::Replace);
        statement.bind_stream(stream(bad(), &Schema::new(vec![column]))).expect("it is taken");
        statement.execute_update().expect_err("the producer fails");
        assert_eq!(count(&mut connection, "old"), 1);
    },
    fn values_that_do_not_fit_are_told_with_their_row(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (s VARCHAR(3), n SMALLINT)");
        let fine = || ints([1, 2, 3]);
        for (data, name) in [
            (batch([("N", fine()), ("S", texts(["a", "b", "long"]))]), "parameter 2 (\"S\")"),
            (batch([("S", texts(["a", "b", "c"])), ("N", ints([1, 2, 70_000]))]), "parameter 2 (\"N\")"),
            (batch([("N", texts(["1", "2", "x"])), ("S", texts(["a", "b", "c"]))]), "parameter 1 (\"N\")"),
        ] {
            // Few rows travel one by one, many as batches, and one by itself.
            let many = many(&data);
            for data in [&data, &many] {
                let error = fails(
                    ingest(&mut connection, "T", IngestMode::Append, data.clone()),
                    Status::InvalidData,
                );
                let row = (data.num_rows() - 1).to_string();
                assert_eq!(detail(&error, "firebird.row"), Some(row.clone()), "{error}");
                assert!(error.message.contains(&format!("row {row}: {name}")), "{error}");
                assert_eq!(count(&mut connection, "t"), 0);
            }
            let names = data.schema_ref().fields().iter().map(|field| field.name().as_str());
            let sql = format!("INSERT INTO t ({}) VALUES (?, ?)", names.collect::<Vec<_>>().join(", "));
            let mut one = statement(&mut connection, &sql);
            one.bind(data.slice(2, 1)).expect("it is taken");
            let error = fails(one.execute_update(), Status::InvalidData);
            assert!(error.message.starts_with(name), "{error}");
        }
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]));
        let error = fails(
            ingest(&mut connection, "x", IngestMode::Create, batch([("l", list)])),
            Status::NotImplemented,
        );
        assert!(error.message.contains("\"l\""), "{error}");
        assert!(!exists(&mut connection, "x"));
    },
    fn in_manual_mode_rows_wait_for_the_commit(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        autocommit(&mut connection, false);
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, people(0..5)), Ok(Some(5)));
        assert_eq!((count(&mut connection, "t"), count(&mut other, "t")), (5, 0));
        connection.rollback().expect("it is undone");
        assert!(!exists(&mut connection, "T"));
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, people(0..2)), Ok(Some(2)));
        connection.commit().expect("it is committed");
        assert_eq!(ingest(&mut connection, "T", IngestMode::Append, people(2..5)), Ok(Some(3)));
        connection.commit().expect("it is committed");
        assert_eq!(count(&mut other, "t"), 5);
        // pandas: DROP TABLE, create, rows, commit.
        run(&mut connection, "DROP TABLE t");
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, people(0..2)), Ok(Some(2)));
        connection.commit().expect("it is committed");
        assert_eq!(count(&mut other, "t"), 2);
    },
    fn temporary_tables_are_for_one_connection(target: &Target) {
        let database = fresh_database(target);
        let mut connection = database.new_connection().expect("it is created");
        let mut other = database.new_connection().expect("it exists");
        let mut statement = target_statement(&mut connection, "TEMP", IngestMode::Create);
        statement.set_option(OptionStatement::Temporary, "true".into()).expect("it is known");
        statement.bind(people(0..4)).expect("it is taken");
        assert_eq!(statement.execute_update(), Ok(Some(4)));
        assert_eq!((count(&mut connection, "temp"), count(&mut other, "temp")), (4, 0));
        drop(other);
        drop(statement);
        drop(connection);
        let mut later = database.new_connection().expect("it exists");
        assert!(!exists(&mut later, "TEMP"));
        assert_eq!(failure(&mut later, "SELECT * FROM temp").status, Status::NotFound);
    },
    fn text_is_a_varchar_if_it_fits(target: &Target) {
        let mut connection = fresh(target);
        let long = "ü".repeat(70_000);
        let data = batch([
            ("T", texts(["a", long.as_str()])),
            ("B", Arc::new(BinaryArray::from_vec(vec![b"x", b""])) as _),
        ]);
        assert_eq!(ingest(&mut connection, "BLOBS", IngestMode::Create, data.clone()), Ok(Some(2)));
        let found = query(&mut connection, "SELECT t, b FROM blobs");
        assert_eq!(found.column(0), data.column(0));
        assert_eq!(found.column(1), data.column(1));
        assert_eq!(found.schema().field(0).metadata()["FIREBIRD:type"], "BLOB SUB_TYPE TEXT");
        let short = batch([
            ("T", texts(["a", "größer"])),
            ("B", Arc::new(BinaryArray::from_vec(vec![b"xy", b""])) as _),
        ]);
        for (text, binary, lengths) in
            [("varchar(9)", "varbinary(5)", ("9", "5")), ("auto", "auto", ("64", "64"))]
        {
            set(&mut connection, "adbc.firebird.ingest.text", text).expect("it is known");
            set(&mut connection, "adbc.firebird.ingest.binary", binary).expect("it is known");
            run(&mut connection, "RECREATE TABLE v (n INTEGER)");
            assert_eq!(ingest(&mut connection, "V", IngestMode::Replace, short.clone()), Ok(Some(2)));
            let found = query(&mut connection, "SELECT t, b FROM v");
            let schema = found.schema();
            let fields = (schema.field(0).metadata(), schema.field(1).metadata());
            assert_eq!(
                (fields.0["FIREBIRD:type"].as_str(), fields.1["FIREBIRD:type"].as_str()),
                ("VARCHAR", "VARBINARY")
            );
            assert_eq!((fields.0["FIREBIRD:length"].as_str(), fields.1["FIREBIRD:length"].as_str()), lengths);
            assert_eq!((found.column(0), found.column(1)), (short.column(0), short.column(1)));
        }
        // One that has room stays, with what belongs to it.
        run(&mut connection, "CREATE INDEX v_t ON v (t)");
        let longer = batch([
            ("T", texts(["z".repeat(64).as_str()])),
            ("B", Arc::new(BinaryArray::from_vec(vec![b"x"])) as _),
        ]);
        assert_eq!(ingest(&mut connection, "V", IngestMode::Replace, longer), Ok(Some(1)));
        let index = "SELECT COUNT(*) FROM RDB$INDICES WHERE RDB$INDEX_NAME = 'V_T'";
        assert_eq!(column(&mut connection, index).as_primitive::<Int64Type>().value(0), 1);

        // Twice the longest, all batches counted; a BLOB if it is too long for a row, if there are no rows, or too many to know.
        let eighty = batch([
            ("T", texts(["ü".repeat(80).as_str()])),
            ("B", Arc::new(BinaryArray::from_vec(vec![b"x"])) as _),
        ]);
        let megabyte = || {
            let text = "x".repeat(8000);
            let rows = texts(std::iter::repeat_n(text.as_str(), 130));
            batch([("T", rows), ("B", Arc::new(BinaryArray::from_vec(vec![b"x"; 130])) as _)])
        };
        let many: Vec<_> = (0..70).map(|_| Ok(megabyte())).collect();
        for (batches, expected) in [
            (vec![Ok(short.clone()), Ok(eighty)], ("VARCHAR", Some("256"))),
            (vec![Ok(short.clone()), Ok(megabyte())], ("VARCHAR", Some("8000"))),
            (vec![Ok(data)], ("BLOB SUB_TYPE TEXT", None)),
            (vec![Ok(short.slice(0, 0))], ("BLOB SUB_TYPE TEXT", None)),
            (many, ("BLOB SUB_TYPE TEXT", None)),
        ] {
            let rows: usize =
                batches.iter().map(|batch| batch.as_ref().map_or(0, RecordBatch::num_rows)).sum();
            run(&mut connection, "RECREATE TABLE w (n INTEGER)");
            let mut statement = target_statement(&mut connection, "W", IngestMode::Replace);
            statement.bind_stream(stream(batches, &short.schema())).expect("it is taken");
            assert_eq!(statement.execute_update(), Ok(Some(rows as i64)));
            drop(statement);
            let schema = statement_schema(&mut connection, "SELECT t FROM w");
            let metadata = schema.field(0).metadata();
            let found =
                (metadata["FIREBIRD:type"].as_str(), metadata.get("FIREBIRD:length").map(String::as_str));
            assert_eq!((found.0, found.1.filter(|_| found.0 == "VARCHAR")), expected);
        }
    },
    fn fields_that_are_never_null_stay_so(target: &Target) {
        let mut connection = fresh(target);
        let schema = Schema::new(vec![
            Field::new("A", DataType::Int32, false),
            Field::new("B", DataType::Int32, true),
        ]);
        let data = RecordBatch::try_new(Arc::new(schema), vec![ints([1]), ints([1])]).expect("it fits");
        assert_eq!(ingest(&mut connection, "T", IngestMode::Create, data), Ok(Some(1)));
        assert_eq!(failure(&mut connection, "INSERT INTO t (b) VALUES (2)").status, Status::Integrity);
        run(&mut connection, "INSERT INTO t (a) VALUES (2)");
    },
    fn many_rows_of_many_batches_are_written(target: &Target) {
        let mut connection = fresh(target);
        let batches = (0..40).map(|part| Ok(people(part * 1000..part * 1000 + 1000))).collect();
        let mut statement = target_statement(&mut connection, "T", IngestMode::Create);
        statement
            .set_option(OptionStatement::Other("adbc.firebird.ingest.text".into()), "varchar(20)".into())
            .expect("known");
        statement.bind_stream(stream(batches, &people(0..1).schema())).expect("it is taken");
        assert_eq!(statement.execute_update(), Ok(Some(40_000)));
        let sum = column(&mut connection, "SELECT SUM(CAST(\"id\" AS BIGINT)) FROM t");
        let sum = arrow::compute::cast(&sum, &DataType::Int64).expect("an integer");
        assert_eq!(sum.as_primitive::<Int64Type>().value(0), 39_999 * 20_000);
    }
);

/// The rows with the first of them 500 times in front.
fn many(rows: &RecordBatch) -> RecordBatch {
    let first = std::iter::repeat_n(rows.slice(0, 1), 500).chain([rows.clone()]).collect::<Vec<_>>();
    arrow::compute::concat_batches(rows.schema_ref(), &first).expect("one schema")
}

fn statement_schema(connection: &mut ManagedConnection, sql: &str) -> Schema {
    statement(connection, sql).execute_schema().expect(sql)
}
