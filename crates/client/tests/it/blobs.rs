//! BLOBs as values of columns and parameters.

use crate::support::{fresh, fresh_closed, query, run};
use arrow::array::*;
use firearrow::{BatchLimits, Connection, Params};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

/// Bytes that no neighbour shares.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

matrix!(
    all,
    fn blobs_of_every_length_survive(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
        let lengths =
            [0, 1, 2, 3, 4095, 32768, 65530, 65531, 65533, 65534, 65535, 65536, 65537, 200_000, 3_000_000];
        let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..lengths.len() as i32));
        let blobs: ArrayRef = Arc::new(BinaryArray::from_iter_values(lengths.map(pattern)));
        connection
            .execute_with("INSERT INTO t VALUES (?, ?)", Params::row([ids, Arc::clone(&blobs)]))
            .expect("BLOBs are written");
        let read = query(&connection, "SELECT b, OCTET_LENGTH(b) FROM t ORDER BY id");
        assert!(read.column(0).as_ref() == blobs.as_ref(), "contents differ");
    },
    fn long_text_is_transliterated_by_the_server(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (b BLOB SUB_TYPE TEXT CHARACTER SET WIN1252)");
        let text = "Größe € ".repeat(20_000);
        let values: ArrayRef = Arc::new(StringArray::from(vec![text.as_str()]));
        connection.execute_with("INSERT INTO t VALUES (?)", Params::row([values])).expect("text is written");
        let read = query(&connection, "SELECT b, OCTET_LENGTH(b) FROM t");
        assert_eq!(read.column(0).as_string::<i32>().value(0), text);
        let stored =
            arrow::compute::cast(read.column(1), &arrow::datatypes::DataType::Int64).expect("a number");
        assert_eq!(
            stored.as_primitive::<arrow::datatypes::Int64Type>().value(0),
            text.chars().count() as i64
        );
    },
    fn blob_columns_are_read_row_by_row_over_many_batches(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, a BLOB SUB_TYPE TEXT, b BLOB)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 500) DO BEGIN
                     INSERT INTO t VALUES (:i, 'text ' || :i, IIF(MOD(:i, 3) = 0, NULL, x'00' || :i));
                     i = i + 1;
                 END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT id, a, b FROM t ORDER BY id").expect("valid SQL");
        let statement = statement.with_limits(BatchLimits::default().rows(64));
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        let mut row = 0;
        while let Some(batch) = cursor.next_batch().expect("rows") {
            for index in 0..batch.num_rows() {
                assert_eq!(batch.column(1).as_string::<i32>().value(index), format!("text {row}"));
                let binary = batch.column(2).as_binary::<i32>();
                assert_eq!(binary.is_null(index), row % 3 == 0);
                if row % 3 != 0 {
                    assert_eq!(binary.value(index), [b"\0", row.to_string().as_bytes()].concat());
                }
                row += 1;
            }
        }
        assert_eq!(row, 500);
    },
    fn long_blobs_among_short_ones_stay_in_order(target: &Target) {
        let mut config = fresh_closed(target);
        for inline in [None, Some(0)] {
            config.max_inline_blob_size = inline;
            let connection = Connection::open(&config).expect("it opens");
            run(&connection, "RECREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
            let lengths: Vec<usize> = (0..600)
                .map(|n| match n % 97 {
                    13 => 65_533,
                    14 => 65_534,
                    50 => 300_000,
                    51 => 65_535 * 3,
                    n => n * 3,
                })
                .collect();
            let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..lengths.len() as i32));
            let blobs: ArrayRef = Arc::new(BinaryArray::from_iter_values(lengths.into_iter().map(pattern)));
            connection
                .execute_with("INSERT INTO t VALUES (?, ?)", Params::row([ids, Arc::clone(&blobs)]))
                .expect("BLOBs are written");
            let read = query(&connection, "SELECT b FROM t ORDER BY id");
            assert!(read.column(0).as_ref() == blobs.as_ref(), "contents differ, inline {inline:?}");
        }
    },
    fn batches_of_long_blobs_end_by_bytes(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE BINARY)");
        let count = 600;
        let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..count));
        let blobs: ArrayRef = Arc::new(BinaryArray::from_iter_values((0..count).map(|_| pattern(50_000))));
        connection.execute_with("INSERT INTO t VALUES (?, ?)", Params::row([ids, blobs])).expect("written");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT id, b FROM t ORDER BY id").expect("valid SQL");
        let limit = 400_000;
        let statement = statement.with_limits(BatchLimits::default().bytes(limit));
        let mut rows = 0;
        let mut batches = 0;
        for batch in statement.query(&transaction, ()).expect("it runs") {
            let batch = batch.expect("rows");
            let blobs = batch.column(1).as_binary::<i32>();
            for row in 0..batch.num_rows() {
                let ids = batch.column(0).as_primitive::<arrow::datatypes::Int32Type>();
                assert_eq!(ids.value(row), rows);
                assert_eq!(blobs.value(row), pattern(50_000));
                rows += 1;
            }
            // What was on its way when the limit was met comes along: a window of BLOBs at most.
            assert!(blobs.value_data().len() <= limit + 256 * 50_000, "{}", blobs.value_data().len());
            batches += 1;
        }
        assert_eq!(rows, count);
        assert!(batches > 1);
    },
    fn blobs_that_came_for_one_cursor_do_not_cut_another_one_short(target: &Target) {
        let mut config = fresh_closed(target);
        config.max_blob_cache_size = Some(20_000);
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER, b BLOB SUB_TYPE TEXT)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 200) DO BEGIN INSERT INTO t VALUES (:i, RPAD('', 3000, :i || ' ')); i = i + 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let open = |sql: &str| {
            let limits = BatchLimits::default().rows(3);
            let statement = transaction.prepare(sql).expect("valid SQL").with_limits(limits);
            statement.query(&transaction, ()).expect("it runs")
        };
        let mut cursors = [open("SELECT id, b FROM t"), open("SELECT id + 1, b FROM t")];
        let mut found = [0, 0];
        loop {
            let before = found;
            for (cursor, found) in cursors.iter_mut().zip(&mut found) {
                *found += cursor.next_batch().expect("rows").map_or(0, |batch| batch.num_rows());
            }
            if found == before {
                break;
            }
        }
        assert_eq!(found, [200, 200]);
    }
);

matrix!(
    all,
    fn longer_than_max_blob_is_an_error_that_names_it(target: &Target) {
        let mut config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER, note BLOB)");
        for length in [10, 8000, 6000] {
            run(&connection, &format!("INSERT INTO t VALUES ({length}, RPAD('', {length}, 'x'))"));
        }
        connection.close().expect("nothing is open");
        for (most, is_good) in [("8000", true), ("7999", false)] {
            config.set("max_blob", most).expect("a number of bytes");
            let connection = Connection::open(&config).expect("it opens");
            let result: Result<Vec<_>, _> =
                connection.query("SELECT id, note FROM t").expect("it runs").collect();
            match result {
                Ok(_) => assert!(is_good, "{most}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(!is_good && text.contains("column 2 (\"NOTE\"), row 1"), "{text}");
                    assert!(text.contains(&format!("max_blob={most}")), "{text}");
                }
            }
            connection.ping().expect("nothing is wrong with the connection");
        }
    }
);
