//! A little of everything, for engines that need a process of their own.

use crate::support::{batch, column, fails, fresh_database, query, rows, run, statement};
use adbc_core::error::Status;
use adbc_core::options::{IngestMode, ObjectDepth, OptionStatement};
use adbc_core::{Connection, Database, Optionable, Statement};
use arrow::array::*;
use arrow::datatypes::{DataType, Int64Type};
use firearrow_testkit::{Generation, Target};
use std::sync::Arc;

const ROWS: i32 = 5000;

/// What is ingested comes back: by queries, by partitions, and in the metadata.
pub(crate) fn the_driver_works(target: &Target) {
    let database = fresh_database(target);
    let mut connection = database.new_connection().expect("it is created");
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..ROWS));
    let cents = Decimal128Array::from_iter_values((0..ROWS).map(i128::from));
    let cents: ArrayRef = Arc::new(cents.with_precision_and_scale(12, 2).expect("it fits"));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..ROWS).map(|id| format!("{id:200}"))));
    let data = batch([("ID", ids.clone()), ("Cents", cents.clone()), ("TEXT", texts.clone())]);
    let mut ingesting = connection.new_statement().expect("it is cheap");
    let option = |key: &str| OptionStatement::from(key);
    ingesting.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
    ingesting.set_option(OptionStatement::IngestMode, IngestMode::Create.into()).expect("it is known");
    ingesting.set_option(option("adbc.firebird.ingest.text"), "varchar(200)".into()).expect("it is known");
    ingesting.bind(data).expect("it is data");
    assert_eq!(ingesting.execute_update(), Ok(Some(ROWS.into())));

    let all = query(&mut connection, "SELECT * FROM t ORDER BY id");
    assert_eq!(all.columns(), [ids, cents, texts]);
    let parameters = batch([("id", Arc::new(Int64Array::from(vec![7, 8])) as ArrayRef)]);
    let mut select = statement(&mut connection, "SELECT id FROM t WHERE id = ?");
    select.bind(parameters).expect("it is data");
    assert_eq!(rows(select.execute().expect("it runs")).num_rows(), 2);

    let schema = connection.get_table_schema(None, None, "T").expect("it is there");
    assert_eq!(schema.field(1).data_type(), &DataType::Decimal128(12, 2));
    let selected = statement(&mut connection, "SELECT * FROM t").execute_schema().expect("a query");
    assert!(
        schema.fields().iter().zip(selected.fields()).all(|(one, other)| one.metadata() == other.metadata())
    );
    fails(connection.get_table_schema(None, None, "t"), Status::NotFound);
    for depth in [ObjectDepth::Catalogs, ObjectDepth::Schemas, ObjectDepth::Tables, ObjectDepth::All] {
        let objects = connection.get_objects(depth, None, None, Some("T"), None, None).expect("objects");
        assert_eq!(rows(objects).num_rows(), 1);
    }
    for approximate in [true, false] {
        let statistics = connection.get_statistics(None, None, Some("T"), approximate).expect("statistics");
        assert_eq!(rows(statistics).num_rows(), 1);
    }
    assert!(rows(connection.get_info(None).expect("facts")).num_rows() > 10);
    assert_eq!(rows(connection.get_table_types().expect("types")).num_rows(), 5);

    let mut divided = statement(&mut connection, "SELECT id FROM t");
    divided.set_option(option("adbc.firebird.partitions"), 2.into()).expect("it is known");
    let partitions = divided.execute_partitions().expect("it is divided").partitions;
    // There are no common snapshots before Firebird 4.
    assert_eq!(partitions.len(), if target.generation() == Generation::V3_0 { 1 } else { 2 });
    let read =
        |partition: &Vec<u8>| rows(connection.read_partition(partition).expect("it is read")).num_rows();
    assert_eq!(partitions.iter().map(read).sum::<usize>(), ROWS as usize);

    run(&mut connection, "DELETE FROM t WHERE id >= 10");
    let left = column(&mut connection, "SELECT COUNT(*) FROM t");
    assert_eq!(left.as_primitive::<Int64Type>().value(0), 10);
}
