//! Databases of dialect 1.

use crate::ingest::ingest;
use crate::support::{batch, column, detail, fails, failure, options, query, rows, run, statement};
use adbc_core::error::Status;
use adbc_core::options::{IngestMode, ObjectDepth, OptionDatabase, OptionStatement, OptionValue};
use adbc_core::{Connection, Database, Driver, Optionable, Statement};
use adbc_driver_manager::ManagedDatabase;
use arrow::array::*;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, TimeUnit};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;

fn old_database(target: &Target) -> ManagedDatabase {
    let mut options = options(target, &target.fresh_url());
    options.push((OptionDatabase::Other("adbc.firebird.dialect".into()), OptionValue::Int(1)));
    crate::support::driver().new_database_with_opts(options).expect("valid options")
}

fn ints() -> ArrayRef {
    Arc::new(Int32Array::from(vec![Some(1), Some(2), None]))
}

fn exact(scale: i8) -> ArrayRef {
    let values = vec![Some(123_456_789_012_345_678), None, Some(-1)];
    Arc::new(Decimal128Array::from(values).with_precision_and_scale(18, scale).expect("it fits"))
}

matrix!(
    all,
    fn the_option_is_a_number_or_its_text(target: &Target) {
        let mut database = old_database(target);
        let key = || OptionDatabase::Other("adbc.firebird.dialect".into());
        assert_eq!(database.get_option_int(key()), Ok(1));
        database.set_option(key(), "3".into()).expect("it is one");
        fails(database.set_option(key(), "2".into()), Status::InvalidArguments);
        assert_eq!(database.get_option_string(key()).as_deref(), Ok("3"));
    },
    fn queries_are_of_the_dialect(target: &Target) {
        let mut connection = old_database(target).new_connection().expect("it is created");
        run(&mut connection, "CREATE TABLE t (n NUMERIC(15, 2), s VARCHAR(10))");
        run(&mut connection, "INSERT INTO t VALUES (7 / 2, \"it's\")");
        let all = query(&mut connection, "SELECT n, s, \"text\" FROM t");
        assert_eq!(all.column(0).as_primitive::<Float64Type>().values(), &[3.5]);
        assert_eq!(all.column(1).as_string::<i32>().value(0), "it's");
        assert_eq!(all.column(2).as_string::<i32>().value(0).trim_end(), "text");
        let error = failure(&mut connection, "SELECT CAST(1 AS BIGINT) FROM RDB$DATABASE");
        assert_eq!(error.status, Status::NotImplemented, "{error}");
        assert_eq!(
            detail(&error, "firebird.gds_codes").as_deref().map(|codes| codes.contains("335544796")),
            Some(true)
        );
    },
    fn metadata_is_the_same(target: &Target) {
        let mut connection = old_database(target).new_connection().expect("it is created");
        run(&mut connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n NUMERIC(15, 2), d DATE)");
        run(&mut connection, "INSERT INTO t VALUES (1, 2.5, 'TODAY')");
        let schema = connection.get_table_schema(None, None, "T").expect("it is there");
        let selected = statement(&mut connection, "SELECT * FROM t").execute_schema().expect("it is a query");
        assert_eq!(schema.fields().len(), 3);
        for (field, selected) in schema.fields().iter().zip(selected.fields()) {
            assert_eq!((field.name(), field.data_type()), (selected.name(), selected.data_type()));
            assert_eq!(field.metadata(), selected.metadata());
        }
        assert_eq!(schema.field(2).data_type(), &DataType::Timestamp(TimeUnit::Microsecond, None));
        let objects = connection.get_objects(ObjectDepth::All, None, None, Some("T"), None, None);
        assert_eq!(rows(objects.expect("objects")).num_rows(), 1);
        for approximate in [true, false] {
            let statistics = connection.get_statistics(None, None, Some("T"), approximate);
            assert_eq!(rows(statistics.expect("statistics")).num_rows(), 1);
        }
    },
    fn what_is_ingested_stays_exact(target: &Target) {
        let mut connection = old_database(target).new_connection().expect("it is created");
        let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(0), None, Some(20_000)]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("\"ä\"")]));
        let small = batch([("ID", ints()), ("D", days.clone()), ("S", texts.clone())]);
        assert_eq!(ingest(&mut connection, "SMALL", IngestMode::Create, small.clone()), Ok(Some(3)));
        assert_eq!(ingest(&mut connection, "SMALL", IngestMode::Append, small.clone()), Ok(Some(3)));
        assert_eq!(ingest(&mut connection, "SMALL", IngestMode::Replace, small), Ok(Some(3)));
        let all = query(&mut connection, "SELECT * FROM small");
        assert_eq!(all.column(0), &ints());
        let moments =
            arrow::compute::cast(&days, &DataType::Timestamp(TimeUnit::Microsecond, None)).expect("days");
        assert_eq!((all.column(1), all.column(2)), (&moments, &texts));
        // Not a table that could not be named, and nothing that would be rounded.
        let lower = batch([("id", ints())]);
        let error = fails(ingest(&mut connection, "T", IngestMode::Create, lower), Status::InvalidArguments);
        assert!(error.message.contains("'id'") && error.message.contains("upper-case"), "{error}");
        let long: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MAX), None, Some(i64::MIN)]));
        let wide = batch([("L", long.clone()), ("E", exact(4))]);
        let made = ingest(&mut connection, "WIDE", IngestMode::Create, wide);
        if target.generation() == Generation::V3_0 {
            let error = fails(made, Status::NotImplemented);
            assert!(error.message.contains("\"L\""), "{error}");
            return;
        }
        assert_eq!(made, Ok(Some(3)));
        let all = query(&mut connection, "SELECT * FROM wide");
        let integers = all.column(0).as_primitive::<Decimal128Type>();
        assert_eq!((integers.precision(), integers.scale()), (19, 0));
        assert_eq!(integers.iter().collect::<Vec<_>>(), [Some(i64::MAX.into()), None, Some(i64::MIN.into())]);
        let exact = all.column(1).as_primitive::<Decimal128Type>();
        assert_eq!((exact.value(0), exact.scale()), (123_456_789_012_345_678, 4));
        let key = "CREATE TABLE keyed (id INTEGER NOT NULL PRIMARY KEY, s VARCHAR(10))";
        run(&mut connection, key);
        let pairs = |text: &str| {
            let texts: ArrayRef = Arc::new(StringArray::from(vec![text; 2]));
            batch([("ID", Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef), ("S", texts)])
        };
        for text in ["old", "new"] {
            let mode = "adbc.firebird.ingest.mode.upsert";
            assert_eq!(ingest(&mut connection, "KEYED", mode, pairs(text)), Ok(Some(2)));
        }
        let texts = column(&mut connection, "SELECT s FROM keyed");
        assert_eq!(texts.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("new"); 2]);
    },
    fn partitions_are_read_in_it(target: &Target) {
        let database = old_database(target);
        let mut connection = database.new_connection().expect("it is created");
        run(&mut connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, s VARCHAR(200))");
        run(
            &mut connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER; BEGIN i = 0; WHILE (i < 5000) DO BEGIN \
             INSERT INTO t VALUES (:i, LPAD('', 200, :i)); i = i + 1; END END",
        );
        let mut select = statement(&mut connection, "SELECT id FROM t WHERE s <> \"text\"");
        for (key, value) in [("adbc.firebird.partitions", "2"), ("adbc.firebird.partitions.unsafe", "true")] {
            select.set_option(OptionStatement::from(key), value.into()).expect("it is known");
        }
        let divided = select.execute_partitions().expect("it is divided");
        assert_eq!(divided.partitions.len(), 2);
        let reader = database.new_connection().expect("it opens");
        let read =
            |partition: &Vec<u8>| rows(reader.read_partition(partition).expect("it is read")).num_rows();
        assert_eq!(divided.partitions.iter().map(read).sum::<usize>(), 5000);
    }
);
