//! Metadata as plain values. Their details are tested where ADBC's shapes are made of them.

use crate::support::{fresh, numbers, run, statement};
use arrow::datatypes::DataType;
use firearrow::ReadOptions;
use firearrow::catalog::{ConstraintKind, Name, TableKind};
use firearrow_driver::metadata::{
    DescribedTable, Measure, Value, described_tables, statistics, table_schema, tables,
};
use firearrow_driver::{Class, SessionOptions};
use firearrow_testkit::{Target, matrix};

matrix!(
    all,
    fn tables_come_with_what_belongs_to_them(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        run(&session, "CREATE TABLE a (id INTEGER NOT NULL PRIMARY KEY, n INTEGER)").expect("it is new");
        run(&session, "CREATE VIEW v AS SELECT id FROM a").expect("it is new");
        let connection = session.connection().expect("it works");
        let is_user = |kind| kind != TableKind::System;
        let found = tables(connection, Name::Any, is_user).expect("tables");
        assert_eq!(found.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["A", "T", "V"]);
        let found = described_tables(connection, Name::Any, Name::Is("N"), is_user).expect("tables");
        let has_key = |each: &DescribedTable| {
            each.constraints.iter().any(|constraint| constraint.kind == ConstraintKind::PrimaryKey)
        };
        let told: Vec<_> =
            found.iter().map(|each| (each.table.name.as_str(), each.columns.len(), has_key(each))).collect();
        assert_eq!(told, [("A", 1, true), ("T", 1, false), ("V", 0, false)]);
        let system = |is_wanted: fn(TableKind) -> bool| {
            described_tables(connection, Name::Is("RDB$RELATIONS"), Name::Any, is_wanted).expect("tables")
        };
        assert!(system(|kind| kind != TableKind::System).is_empty());
        assert!(system(|_| true)[0].columns.len() > 5);
    },
    fn statistics_have_values_and_say_whether_they_are_exact(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let mut insert = statement(&session, "INSERT INTO t VALUES (?)");
        insert.bind(numbers("n", [3, 1, 4, 1, 5]));
        insert.update().expect("it inserts");
        let connection = session.connection().expect("it works");
        let of = |approximate, measure, column: Option<&str>| {
            let found = statistics(connection, Name::Is("T"), approximate).expect("statistics");
            let found =
                found.into_iter().find(|each| each.measure == measure && each.column.as_deref() == column);
            found.map(|each| (each.value, each.is_approximate))
        };
        for (measure, value) in [
            (Measure::NullCount, 0),
            (Measure::DistinctCount, 4),
            (Measure::MinValue, 1),
            (Measure::MaxValue, 5),
            (Measure::MaxByteWidth, 4),
        ] {
            assert_eq!(of(false, measure, Some("N")), Some((Value::Integer(value), false)), "{measure:?}");
        }
        assert_eq!(of(false, Measure::RowCount, None), Some((Value::Integer(5), false)));
        assert_eq!(of(true, Measure::RowCount, None), Some((Value::Integer(5), false)), "there is no key");
        assert_eq!(of(true, Measure::MaxByteWidth, Some("N")), Some((Value::Float(4.0), true)));
        assert_eq!(of(true, Measure::MinValue, Some("N")), None);
    },
    fn a_table_has_a_schema(target: &Target) {
        let session = fresh(target, SessionOptions::default());
        let connection = session.connection().expect("it works");
        let schema = |table| table_schema(connection, table, &ReadOptions::default());
        let found = schema("T").expect("it exists");
        assert_eq!((found.fields().len(), found.field(0).data_type()), (1, &DataType::Int32));
        let error = schema("t").expect_err("letter case counts");
        assert_eq!((error.class(), error.sqlstate()), (Class::NotFound, Some("42S02")));
    }
);
