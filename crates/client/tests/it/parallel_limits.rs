//! Parallel reading where rows and BLOBs are long: it holds a bounded number of bounded batches.

use crate::support::{config, fresh_closed, query, rows, run};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Int32Type;
use firearrow::{BatchLimits, Connection, Cursor, Parallelism, Transaction, TransactionOptions, params};
use firearrow_testkit::{Target, matrix};
use std::io::Write;

const READERS: usize = 3;
/// The bytes of a batch.
const LIMIT: usize = 1 << 20;
const LONG_BLOB: usize = 100 << 20;

fn reading(transaction: &Transaction, readers: usize) -> Cursor {
    let statement = transaction.prepare("SELECT * FROM t").expect("valid SQL");
    let limits = BatchLimits::default().bytes(LIMIT).full(true);
    let statement = statement.with_limits(limits).with_parallel(readers);
    let cursor = statement.query(transaction, ()).expect("it runs");
    if readers > 1 {
        assert_eq!(cursor.parallel(), &Parallelism::Readers(readers));
    }
    cursor
}

/// Bytes that no other row has.
fn pattern(seed: usize, length: usize) -> Vec<u8> {
    (seed..seed + length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

matrix!(
    // Before 4.0 connections do not share snapshots.
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn rows_of_64_kb_fill_small_batches(target: &Target) {
        let mut config = config(target, &target.fresh_url());
        config.page_size = Some(4096);
        let connection = Connection::create(&config).expect("it is created");
        run(
            &connection,
            "CREATE TABLE t (id INTEGER, a VARCHAR(32500) CHARACTER SET OCTETS, b VARCHAR(32500) CHARACTER SET OCTETS)",
        );
        // Every twentieth is as long as it is declared, and none can be compressed.
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; DECLARE n INTEGER; DECLARE most INTEGER;
                 DECLARE x VARCHAR(32500) CHARACTER SET OCTETS; BEGIN
                 WHILE (i < 8000) DO BEGIN
                     x = GEN_UUID() || GEN_UUID(); n = 32; most = IIF(MOD(i, 20) = 0, 32500, 200);
                     WHILE (n < most) DO BEGIN x = x || LEFT(x, most - n); n = OCTET_LENGTH(x); END
                     INSERT INTO t VALUES (:i, :x, REVERSE(:x)); i = i + 1;
                 END
             END",
        );
        // Blocks that mention SET may have changed the settings of their connection.
        let connection = Connection::open(&config).expect("it opens");
        let transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
        let plain = rows(reading(&transaction, 1));
        assert_eq!(plain.num_rows(), 8_000);
        let mut cursor = reading(&transaction, READERS);
        let mut batches: Vec<RecordBatch> = Vec::new();
        while let Some(batch) = cursor.next_batch().expect("it is read") {
            let bytes: usize = batch.columns().iter().map(|column| column.get_array_memory_size()).sum();
            // One row goes beyond the limit, and buffers grow by doubling.
            assert!(bytes <= 2 * (LIMIT + 66_000), "{bytes} bytes in {} rows", batch.num_rows());
            assert!(cursor.most_batches_ahead() <= READERS + 2);
            batches.push(batch);
        }
        let parallel = arrow::compute::concat_batches(&cursor.schema(), &batches).expect("one schema");
        assert!(parallel == plain, "rows differ");
    },
    fn blobs_of_100_mb_keep_their_places(target: &Target) {
        let mut config = fresh_closed(target);
        config.read_timeout = None;
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY, filler VARCHAR(2000))");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction
            .prepare("INSERT INTO t VALUES (?, ?, RPAD('', 2000, UUID_TO_CHAR(GEN_UUID())))")
            .expect("valid SQL");
        for id in 0..4_000 {
            if id == 2_000 {
                let mut blob = transaction.create_blob().expect("it is created");
                blob.write_all(&pattern(id, LONG_BLOB)).expect("it is written");
                let blob = blob.finish().expect("it is complete");
                insert.execute(&mut transaction, params![id as i32, blob]).expect("it fits");
            } else if id % 10 == 0 {
                insert.execute(&mut transaction, params![id as i32, pattern(id, 50)]).expect("it fits");
            } else {
                insert.execute(&mut transaction, params![id as i32, None::<&[u8]>]).expect("it fits");
            }
        }
        transaction.commit().expect("it commits");
        let transaction = connection.begin(TransactionOptions::reading()).expect("it starts");
        let mut cursor = reading(&transaction, READERS);
        let mut next = 0;
        while let Some(batch) = cursor.next_batch().expect("it is read") {
            assert!(cursor.most_batches_ahead() <= READERS + 2);
            let blobs = batch.column(1).as_binary::<i32>();
            for (row, id) in batch.column(0).as_primitive::<Int32Type>().values().iter().enumerate() {
                assert_eq!(*id as usize, next, "the order of one reader");
                let expected = match next {
                    2_000 => Some(LONG_BLOB),
                    id if id % 10 == 0 => Some(50),
                    _ => None,
                };
                let found = blobs.is_valid(row).then(|| blobs.value(row));
                assert_eq!(found.map(<[u8]>::len), expected, "row {next}");
                assert!(found.is_none_or(|found| found == pattern(next, found.len())), "row {next}");
                next += 1;
            }
        }
        assert_eq!(next, 4_000);
        drop(cursor);
        assert_eq!(query(&connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    }
);
