//! SQL of dialect 1, and databases of that dialect.

use crate::support::{column, config, query, rows, run};
use arrow::array::*;
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type, TimeUnit};
use firearrow::catalog::{BaseType, Name};
use firearrow::{Config, Connection, Dialect, Kind, Params, Partition, PartitionOptions};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

/// A database of dialect 1, and how others get at it.
fn old_database(target: &Target) -> (Config, Connection) {
    let mut config = config(target, &target.fresh_url());
    config.set("dialect", "1").expect("it is an option");
    let connection = Connection::create(&config).expect("it can be created");
    run(
        &connection,
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n NUMERIC(15, 2), m NUMERIC(9, 2), d DATE, s VARCHAR(10))",
    );
    (config, connection)
}

matrix!(
    all,
    fn text_stands_in_double_quotes(target: &Target) {
        let (_, connection) = old_database(target);
        assert_eq!((connection.dialect(), connection.info().expect("facts").dialect), (Dialect::One, 1));
        run(&connection, "INSERT INTO t VALUES (1, 1234567890123.45, 1.25, '2020-01-02 03:04:05', \"it's\")");
        let insert = "INSERT INTO t VALUES (?, ?, ?, ?, ?)";
        let values: [ArrayRef; 5] = [
            Arc::new(Int32Array::from(vec![2])),
            Arc::new(Float64Array::from(vec![0.5])),
            Arc::new(Decimal128Array::from(vec![-725]).with_precision_and_scale(9, 2).expect("it fits")),
            Arc::new(TimestampMicrosecondArray::from(vec![1_600_000_000_000_000])),
            Arc::new(StringArray::from(vec!["\"ä\""])),
        ];
        connection.execute_with(insert, Params::row(values.clone())).expect("it is inserted");
        let all = query(&connection, "SELECT * FROM t ORDER BY id");
        let types: Vec<_> = all.schema().fields().iter().map(|field| field.data_type().clone()).collect();
        let moment = DataType::Timestamp(TimeUnit::Microsecond, None);
        let exact = all.column(2).as_primitive::<arrow::datatypes::Decimal128Type>();
        assert_eq!((exact.values().to_vec(), exact.scale()), (vec![125, -725], 2));
        assert_eq!(
            [&types[0], &types[1], &types[3], &types[4]],
            [&DataType::Int32, &DataType::Float64, &moment, &DataType::Utf8]
        );
        assert_eq!(all.column(1).as_primitive::<Float64Type>().values(), &[1_234_567_890_123.45, 0.5]);
        assert_eq!(all.column(3).slice(1, 1).as_ref(), values[3].as_ref());
        assert_eq!(
            all.column(4).as_string::<i32>().iter().collect::<Vec<_>>(),
            [Some("it's"), Some("\"ä\"")]
        );
        // The same text, twice, so that the second time it is known.
        for _ in 0..2 {
            let half = column(&connection, "SELECT 7 / 2 FROM RDB$DATABASE");
            assert_eq!(half.as_primitive::<Float64Type>().values(), &[3.5]);
        }
    },
    fn each_statement_is_of_one_dialect(target: &Target) {
        let (_, connection) = old_database(target);
        let sql = "SELECT 7 / 2, \"ID\" FROM \"T\"";
        assert_eq!(connection.prepare(sql).expect_err("a table cannot be text").kind(), Kind::Syntax);
        run(&connection, "INSERT INTO t (id) VALUES (1)");
        let transaction = connection.begin(Default::default()).expect("it begins");
        for statement in [
            connection.prepare_in(Dialect::Three, sql).expect("valid SQL"),
            transaction.prepare_in(Dialect::Three, sql).expect("valid SQL"),
        ] {
            let all = rows(statement.query(&transaction, ()).expect("it runs"));
            let numbers = arrow::compute::cast(all.column(0), &DataType::Int32).expect("integers");
            assert_eq!(numbers.as_primitive::<Int32Type>().values(), &[3]);
        }
        // What one dialect knows of a text does not mislead the other.
        let text = "SELECT 7 / 2 FROM RDB$DATABASE";
        let new = connection.prepare_in(Dialect::Three, text).expect("valid SQL");
        assert_ne!(new.schema().expect("known types").field(0).data_type(), &DataType::Float64);
        assert_eq!(column(&connection, text).as_primitive::<Float64Type>().values(), &[3.5]);
    },
    fn what_a_dialect_lacks_is_unsupported(target: &Target) {
        let (config, connection) = old_database(target);
        let error = connection.query("SELECT CAST(1 AS BIGINT) FROM RDB$DATABASE").expect_err("no BIGINT");
        assert_eq!(error.kind(), Kind::Unsupported, "{error}");
        let new = Connection::open(&Config { dialect: Dialect::Three, ..config }).expect("it opens");
        for sql in ["CREATE TABLE u (b BIGINT)", "CREATE TABLE \"u\" (i INTEGER)"] {
            let error = new.execute(sql).expect_err("databases of dialect 1 have no such things");
            assert_eq!(error.kind(), Kind::Unsupported, "{sql}: {error}");
        }
        run(&new, "INSERT INTO \"T\" (\"ID\") VALUES (1)");
        assert_eq!(column(&connection, "SELECT id FROM t").len(), 1);
    },
    fn the_catalog_does_not_depend_on_it(target: &Target) {
        let (_, connection) = old_database(target);
        let catalog = connection.catalog().expect("it begins");
        let columns = catalog.columns(Name::Is("T"), Name::Any).expect("they are there");
        let types: Vec<_> = columns.iter().map(|column| column.data_type.base).collect();
        assert_eq!(types[0], BaseType::Integer);
        assert_eq!((types[1], types[3]), (BaseType::DoublePrecision, BaseType::Timestamp));
        assert_eq!(catalog.constraints(Name::Is("T")).expect("they are there").len(), 1);
        assert_eq!(catalog.indexes(Name::Is("T")).expect("they are there").len(), 1);
    },
    fn partitions_are_read_in_the_dialect_of_the_query(target: &Target) {
        const ROWS: i64 = 20_000;
        let (config, connection) = old_database(target);
        run(
            &connection,
            &format!(
                "EXECUTE BLOCK AS DECLARE i INTEGER; BEGIN i = 0; WHILE (i < {ROWS}) DO BEGIN \
                 INSERT INTO t (id, s) VALUES (:i, \"text\"); i = i + 1; END END"
            ),
        );
        let options = PartitionOptions::default().wanted(3).without_snapshot(true);
        let sql = "SELECT id FROM t WHERE s = \"text\" AND 1 / 2 > 0.4";
        let divided = connection.partition(sql, (), &options).expect("it is divided");
        assert_eq!(divided.partitions().len(), 3);
        let reader = Connection::open(&Config { dialect: Dialect::Three, ..config }).expect("it opens");
        let read = |partition: &Partition| {
            let partition = Partition::from_bytes(&partition.to_bytes().expect("bytes")).expect("it is one");
            let ids = rows(reader.read_partition(&partition, Default::default()).expect("it is read"));
            let ids = arrow::compute::cast(ids.column(0), &DataType::Int64).expect("integers");
            let ids = ids.as_primitive::<Int64Type>();
            (ids.len() as i64, arrow::compute::sum(ids).unwrap_or_default())
        };
        let parts: Vec<_> = divided.partitions().iter().map(read).collect();
        assert!(parts.iter().all(|part| part.0 > 0), "{parts:?}");
        let (count, sum) = parts.iter().fold((0, 0), |all, part| (all.0 + part.0, all.1 + part.1));
        assert_eq!((count, sum), (ROWS, ROWS * (ROWS - 1) / 2));
        // A text that is a time is another one each time, in these quotes, too.
        let now = "SELECT id FROM t WHERE d IS NULL OR d < \"now\"";
        assert_eq!(connection.partition(now, (), &options).expect("it is one").partitions().len(), 1);
    }
);
