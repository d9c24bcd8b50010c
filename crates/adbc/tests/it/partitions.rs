//! Partitioned results.

use crate::support::{batch, database, fails, fresh_database, rows, run, statement};
use adbc_core::error::Status;
use adbc_core::options::OptionStatement;
use adbc_core::{Connection, Database, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedStatement};
use arrow::array::*;
use arrow::datatypes::{DataType, Int32Type};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;
use std::thread;

const ROWS: i64 = 20_000;

fn filled(target: &Target) -> (ManagedDatabase, ManagedConnection) {
    let database = fresh_database(target);
    let mut connection = database.new_connection().expect("it can be created");
    run(
        &mut connection,
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n NUMERIC(9, 2), text VARCHAR(200))",
    );
    run(
        &mut connection,
        &format!(
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN WHILE (i < {ROWS}) DO BEGIN \
             INSERT INTO t VALUES (:i, :i / 4.00, LPAD('', 200, :i)); i = i + 1; END END"
        ),
    );
    (database, connection)
}

fn wanted(statement: &mut ManagedStatement, partitions: i64) {
    let option = |key: &str| OptionStatement::Other(key.into());
    statement.set_option(option("adbc.firebird.partitions"), partitions.into()).expect("it is known");
    statement.set_option(option("adbc.firebird.partitions.unsafe"), "true".into()).expect("it is known");
}

fn ids(batch: &RecordBatch) -> Vec<i32> {
    batch.column(0).as_primitive::<Int32Type>().values().to_vec()
}

matrix!(
    all,
    fn partitions_come_to_the_whole(target: &Target) {
        let (database, mut connection) = filled(target);
        let mut select = statement(&mut connection, "SELECT id, n FROM t");
        wanted(&mut select, 3);
        let result = select.execute_partitions().expect("it is divided");
        assert_eq!((result.partitions.len(), result.rows_affected), (3, -1));
        assert_eq!(result.schema.field(1).data_type(), &DataType::Decimal128(9, 2));
        let readers = result.partitions.iter().map(|partition| {
            let database = database.clone();
            let partition = partition.clone();
            let schema = Arc::new(result.schema.clone());
            thread::spawn(move || {
                let connection = database.new_connection().expect("it can be created");
                let reader = connection.read_partition(partition).expect("it is read");
                assert_eq!(reader.schema(), schema);
                ids(&rows(reader))
            })
        });
        let readers: Vec<_> = readers.collect();
        let parts: Vec<_> = readers.into_iter().map(|reader| reader.join().expect("it ends")).collect();
        assert!(parts.iter().all(|part| part.len() > 2000));
        let mut all = parts.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..ROWS as i32));
    },
    fn descriptors_keep_no_secrets_and_their_leader_decides(target: &Target) {
        let (database, mut connection) = filled(target);
        let mut select = statement(&mut connection, "SELECT id FROM t");
        wanted(&mut select, 2);
        let parts = select.execute_partitions().expect("it is divided").partitions;
        let text = String::from_utf8_lossy(&parts[1]).into_owned();
        assert!(text.contains("SELECT id FROM t") && !text.contains("masterkey"), "{text}");
        let reader = database.new_connection().expect("it can be created");
        rows(reader.read_partition(&parts[1]).expect("its leader is there"));
        // Dividing again ends the division before; so does the statement's end.
        let again = select.execute_partitions().expect("it is divided again").partitions;
        let has_snapshots = target.generation() >= Generation::V4_0;
        let is_gone = |part: &[u8]| match reader.read_partition(part) {
            Ok(stream) => {
                rows(stream);
                false
            }
            Err(error) => {
                assert_eq!(error.status, Status::InvalidState, "{error}");
                assert!(error.message.contains("divide the query anew"), "{error}");
                true
            }
        };
        assert_eq!(is_gone(&parts[0]), has_snapshots);
        assert!(!is_gone(&again[0]));
        drop(select);
        assert_eq!(is_gone(&again[0]), has_snapshots);
    },
    fn wrong_descriptors_are_refused(target: &Target) {
        let (_, mut connection) = filled(target);
        let mut select = statement(&mut connection, "SELECT id FROM t");
        let part = select.execute_partitions().expect("it is divided").partitions.remove(0);
        for wrong in [&b""[..], b"no descriptor", &part[..part.len() - 1]] {
            fails(connection.read_partition(wrong).map(drop), Status::InvalidArguments);
        }
        let mut damaged = part.clone();
        damaged[30] ^= 1;
        fails(connection.read_partition(&damaged).map(drop), Status::InvalidArguments);
        let other = fresh_database(target).new_connection().expect("it can be created");
        fails(other.read_partition(&part).map(drop), Status::InvalidArguments);
    },
    fn what_cannot_be_divided_is_one_partition_or_refused(target: &Target) {
        let (database, mut connection) = filled(target);
        let reader = database.new_connection().expect("it can be created");
        for sql in
            ["SELECT 42 FROM RDB$DATABASE", "SELECT COUNT(*) FROM t", "SELECT FIRST 5 id FROM t ORDER BY id"]
        {
            let mut select = statement(&mut connection, sql);
            wanted(&mut select, 4);
            let parts = select.execute_partitions().expect("it is planned").partitions;
            assert_eq!(parts.len(), 1, "{sql}");
            let found = rows(reader.read_partition(&parts[0]).expect("it is read"));
            assert_eq!(found, rows(select.execute().expect("it runs")), "{sql}");
        }
        fails(
            connection.new_statement().expect("a statement").execute_partitions().map(drop),
            Status::InvalidState,
        );
        fails(
            statement(&mut connection, "DELETE FROM t").execute_partitions().map(drop),
            Status::InvalidState,
        );
        fails(
            statement(&mut connection, "SELECT x FROM nowhere").execute_partitions().map(drop),
            Status::NotFound,
        );
    },
    fn parameters_travel_with_their_partitions(target: &Target) {
        let (database, mut connection) = filled(target);
        let mut select = statement(&mut connection, "SELECT id FROM t WHERE n < ?");
        wanted(&mut select, 2);
        let bound = |values: Vec<i32>| batch([("n", Arc::new(Int32Array::from(values)) as ArrayRef)]);
        select.bind(bound(vec![2500])).expect("it fits");
        let parts = select.execute_partitions().expect("it is divided").partitions;
        let reader = database.new_connection().expect("it can be created");
        let found: usize =
            parts.iter().map(|part| rows(reader.read_partition(part).expect("it is read")).num_rows()).sum();
        assert_eq!((parts.len(), found), (2, 10_000));
        select.bind(bound(vec![1, 2])).expect("it fits");
        fails(select.execute_partitions().map(drop), Status::InvalidArguments);
    },
    fn partitions_are_read_in_other_databases_handles(target: &Target) {
        // Another handle of the same database, as in another process.
        let url = target.fresh_url();
        let mut connection = database(target, &url).new_connection().expect("it can be created");
        run(&mut connection, "CREATE TABLE t (id INTEGER)");
        run(&mut connection, "INSERT INTO t VALUES (7)");
        let mut select = statement(&mut connection, "SELECT id FROM t");
        let parts = select.execute_partitions().expect("it is planned").partitions;
        let reader = database(target, &url).new_connection().expect("it can be opened");
        run(&mut connection, "INSERT INTO t VALUES (8)");
        let found = ids(&rows(reader.read_partition(&parts[0]).expect("it is read")));
        let has_snapshots = target.generation() >= Generation::V4_0;
        assert_eq!(found, if has_snapshots { vec![7] } else { vec![7, 8] });
    },
);
