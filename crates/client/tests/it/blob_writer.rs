//! BLOBs that are written in pieces, and bound by their ids.

use crate::support::{fresh, fresh_closed, query, run};
use arrow::array::*;
use firearrow::asynchronous;
use firearrow::{Connection, Transaction, params};
use firearrow_testkit::{Target, matrix};
use std::io::Write;
use std::sync::Arc;

/// Bytes that no neighbour shares.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

const LENGTHS: [usize; 5] = [0, 1, 65535, 65536, 3_000_000];

/// In pieces of some odd size.
fn written(transaction: &Transaction, contents: &[u8], piece: usize) -> u64 {
    let mut blob = transaction.create_blob().expect("it is created");
    contents.chunks(piece).for_each(|piece| blob.write_all(piece).expect("it is written"));
    blob.finish().expect("it is complete")
}

fn rows(connection: &Connection, table: &str) -> usize {
    query(connection, &format!("SELECT 1 FROM {table}")).num_rows()
}

matrix!(
    all,
    fn what_is_written_in_pieces_is_read_back(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for (index, length) in LENGTHS.into_iter().enumerate() {
            let id = written(&transaction, &pattern(length), 1 + length / 7);
            let inserted = transaction
                .execute_with("INSERT INTO t VALUES (?, ?)", params![index as i32, id])
                .expect("a row takes it");
            assert_eq!(inserted.affected_rows, Some(1));
        }
        transaction.execute_with("INSERT INTO t VALUES (9, ?)", params![None::<u64>]).expect("NULL");
        transaction.commit().expect("it commits");
        let read = query(&connection, "SELECT b, OCTET_LENGTH(b) FROM t ORDER BY id");
        let blobs = read.column(0).as_binary::<i32>();
        for (index, length) in LENGTHS.into_iter().enumerate() {
            assert!(blobs.value(index) == pattern(length), "{length} bytes differ");
        }
        assert!(blobs.is_null(LENGTHS.len()));
    },
    fn text_is_utf_8_whatever_the_column_has(target: &Target) {
        let connection = fresh(target);
        let text = "Größe € ".repeat(20_000);
        for charset in ["UTF8", "WIN1252"] {
            run(&connection, &format!("RECREATE TABLE t (b BLOB SUB_TYPE TEXT CHARACTER SET {charset})"));
            let mut transaction = connection.begin(Default::default()).expect("it starts");
            let id = written(&transaction, text.as_bytes(), 10_001);
            transaction.execute_with("INSERT INTO t VALUES (?)", params![id]).expect("a row takes it");
            transaction.commit().expect("it commits");
            let read = query(&connection, "SELECT b FROM t WHERE CHAR_LENGTH(b) = 160000");
            assert_eq!(read.num_rows(), 1, "{charset}");
            assert_eq!(read.column(0).as_string::<i32>().value(0), text, "{charset}");
        }
    },
    fn a_column_of_ids_goes_into_many_rows(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let ids = (0..300).map(|row| (row % 3 > 0).then(|| written(&transaction, &pattern(row), 64)));
        let ids: UInt64Array = ids.collect();
        let rows: ArrayRef = Arc::new(Int32Array::from_iter_values(0..300));
        let parameters = firearrow::Params::row([rows, Arc::new(ids) as ArrayRef]);
        transaction.execute_with("INSERT INTO t VALUES (?, ?)", parameters).expect("rows take them");
        transaction.commit().expect("it commits");
        let read = query(&connection, "SELECT b FROM t ORDER BY id");
        let blobs = read.column(0).as_binary::<i32>();
        for row in 0..300 {
            assert_eq!(blobs.is_null(row), row % 3 == 0);
            assert!(blobs.is_null(row) || blobs.value(row) == pattern(row), "{row}");
        }
    },
    fn what_is_dropped_leaves_nothing(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB SUB_TYPE BINARY)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        for length in LENGTHS {
            let mut blob = transaction.create_blob().expect("it is created");
            blob.write_all(&pattern(length)).expect("it is written");
            blob.flush().expect("it is sent");
        }
        // The connection is in step, and other BLOBs are what they were.
        let ids = [written(&transaction, b"one", 2), written(&transaction, b"two", 2)];
        for id in ids {
            transaction.execute_with("INSERT INTO t VALUES (?)", params![id]).expect("a row takes it");
        }
        let unknown = transaction.execute_with("INSERT INTO t VALUES (?)", params![0x4321_u64]);
        assert!(!unknown.expect_err("there is no such BLOB").gds_codes().is_empty());
        transaction.commit().expect("it commits");
        let read = query(&connection, "SELECT b FROM t");
        let blobs: Vec<_> = read.column(0).as_binary::<i32>().iter().flatten().collect();
        assert_eq!(blobs, [b"one", b"two"]);
    },
    fn several_are_written_in_turns(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let mut blobs: Vec<_> = (0..3).map(|_| transaction.create_blob().expect("it is created")).collect();
        for piece in pattern(900_000).chunks(50_000) {
            // Whole BLOBs in between name theirs "the one created last".
            assert_eq!(written(&transaction, piece, 50_000) >> 32, 0);
            blobs.iter_mut().for_each(|blob| blob.write_all(piece).expect("it is written"));
        }
        for (row, blob) in (0..).zip(blobs) {
            let whole: &[u8] = b"whole";
            let row = params![row, blob.finish().expect("it is complete")];
            transaction.execute_with("INSERT INTO t VALUES (?, ?)", row).expect("a row takes it");
            transaction.execute_with("INSERT INTO t VALUES (9, ?)", params![whole]).expect("it is written");
        }
        transaction.commit().expect("it commits");
        let read = query(&connection, "SELECT b FROM t WHERE id < 9");
        assert_eq!(read.num_rows(), 3);
        assert!(read.column(0).as_binary::<i32>().iter().all(|blob| blob == Some(&pattern(900_000))));
    },
    fn it_ends_with_its_transaction(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB)");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let mut blob = transaction.create_blob().expect("it is created");
        blob.write_all(b"gone").expect("it is written");
        transaction.rollback().expect("it ends");
        // The next one may have the same name at the server.
        let transaction = connection.begin(Default::default()).expect("it starts");
        let mut other = transaction.create_blob().expect("it is created");
        other.write_all(b"here").expect("it is written");
        assert!(blob.flush().is_err());
        drop(blob);
        let id = other.finish().expect("it is complete");
        let mut transaction = transaction;
        transaction.execute_with("INSERT INTO t VALUES (?)", params![id]).expect("a row takes it");
        transaction.commit().expect("it commits");
        assert_eq!(rows(&connection, "t"), 1);
    },
    fn asynchronous_connections_write_them_too(target: &Target) {
        let config = fresh_closed(target);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let connection = asynchronous::Connection::open(&config).await.expect("it opens");
            connection.execute("CREATE TABLE t (b BLOB SUB_TYPE BINARY)").await.expect("valid SQL");
            let mut transaction = connection.begin(Default::default()).await.expect("it starts");
            let mut dropped = transaction.create_blob().await.expect("it is created");
            dropped.write(b"nothing").await.expect("it is written");
            drop(dropped);
            let mut blob = transaction.create_blob().await.expect("it is created");
            for piece in pattern(1_000_000).chunks(70_000) {
                blob.write(piece).await.expect("it is written");
            }
            let id = blob.finish().await.expect("it is complete");
            transaction.execute_with("INSERT INTO t VALUES (?)", params![id]).await.expect("a row takes it");
            transaction.commit().await.expect("it commits");
            connection.close().await.expect("nothing is open");
        });
        let connection = Connection::open(&config).expect("it opens");
        let read = query(&connection, "SELECT b FROM t");
        assert!(read.column(0).as_binary::<i32>().value(0) == pattern(1_000_000));
    }
);
