//! Types that are rarely met, and the switches for them: what is written is read back.

use crate::support::{batch, column, count, fails, fresh, query, run, set, statement};
use adbc_core::error::Status;
use adbc_core::options::{IngestMode, OptionStatement};
use adbc_core::{Connection, Optionable, Statement};
use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::*;
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

/// Lists of the same length each; some may be NULL.
fn lists(values: ArrayRef, length: usize, valid: &[bool]) -> ArrayRef {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(valid.iter().map(|_| length));
    Arc::new(ListArray::new(field, offsets, values, Some(NullBuffer::from(valid.to_vec()))))
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

matrix!(
    all,
    fn arrays_are_lists_both_ways(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER, a INTEGER [3], b VARCHAR(5) [0:1, 2])");
        let words: ArrayRef =
            Arc::new(StringArray::from(vec!["a", "b", "c", "größe", "", "", "", "", "5", "6", "7", "8"]));
        let data = batch([
            ("ID", ints(1..4)),
            ("A", lists(ints(1..10), 3, &[true, false, true])),
            ("B", lists(lists(words, 2, &[true; 6]), 2, &[true, false, true])),
        ]);
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?, ?, ?)");
        insert.bind(data.clone()).expect("it is taken");
        assert_eq!(insert.execute_update(), Ok(Some(3)));
        let found = query(&mut connection, "SELECT a, b FROM t ORDER BY id");
        for (row, expected) in [(0, Some([1, 2, 3])), (1, None), (2, Some([7, 8, 9]))] {
            let list = found.column(0).as_list::<i32>();
            assert_eq!(list.is_valid(row), expected.is_some());
            if let Some(expected) = expected {
                assert_eq!(list.value(row).as_primitive::<Int32Type>().values(), &expected);
            }
        }
        let list = found.column(1).as_list::<i32>();
        assert!(list.is_null(1));
        for (row, expected) in [(0, [["a", "b"], ["c", "größe"]]), (2, [["5", "6"], ["7", "8"]])] {
            let outer = list.value(row);
            for (at, expected) in expected.into_iter().enumerate() {
                let inner = outer.as_list::<i32>().value(at);
                assert_eq!(inner.as_string::<i32>(), &StringArray::from(expected.to_vec()));
            }
        }
        // Ingested into the table that has the arrays.
        let mut append = connection.new_statement().expect("it is cheap");
        append.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
        append.set_option(OptionStatement::IngestMode, IngestMode::Append.into()).expect("it is known");
        append.bind(data).expect("it is taken");
        assert_eq!(append.execute_update(), Ok(Some(3)));
        let twice = query(&mut connection, "SELECT a, b FROM t ORDER BY id");
        for row in 0..3 {
            for column in 0..2 {
                let (once, again) = (found.column(column).slice(row, 1), twice.column(column));
                assert_eq!(&again.slice(2 * row, 1), &once);
                assert_eq!(&again.slice(2 * row + 1, 1), &once);
            }
        }
    },
    fn blobs_may_be_left_where_they_are(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER, s BLOB SUB_TYPE TEXT, b BLOB)");
        run(&mut connection, "INSERT INTO t VALUES (1, 'text', 'bytes')");
        run(&mut connection, "INSERT INTO t VALUES (2, NULL, NULL)");
        run(&mut connection, "INSERT INTO t VALUES (3, 'other', 'bytes')");
        set(&mut connection, "adbc.firebird.type.blobs", "lazy").expect("it is known");
        let found = query(&mut connection, "SELECT s, b FROM t ORDER BY id");
        let mut ids = Vec::new();
        for (index, sql) in ["BLOB SUB_TYPE TEXT", "BLOB SUB_TYPE BINARY"].into_iter().enumerate() {
            let column = found.column(index).as_primitive::<UInt64Type>();
            assert_eq!(column.iter().map(|id| id.is_some()).collect::<Vec<_>>(), [true, false, true]);
            ids.extend(column.iter().flatten());
            assert_eq!(found.schema().field(index).metadata()["FIREBIRD:type"], sql);
        }
        ids.sort_unstable();
        ids.dedup();
        assert!(ids.len() == 4 && ids[0] != 0, "each BLOB has its own: {ids:?}");
        set(&mut connection, "adbc.firebird.type.blobs", "adaptive").expect("it is known");
        let values = column(&mut connection, "SELECT s FROM t ORDER BY id");
        assert_eq!(values.as_string::<i32>(), &StringArray::from(vec![Some("text"), None, Some("other")]));
    }
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn the_hour_that_comes_twice_is_two_texts(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER, z TIMESTAMP WITH TIME ZONE)");
        for (id, value) in [
            (1, "TIMESTAMP '2024-10-27 00:30:00 UTC' AT TIME ZONE 'Europe/Berlin'"),
            (2, "TIMESTAMP '2024-10-27 01:30:00.1234 UTC' AT TIME ZONE 'Europe/Berlin'"),
            (3, "TIMESTAMP '2024-10-27 02:30:00 -05:30'"),
            (4, "NULL"),
            (5, "TIMESTAMP '2024-10-27 02:30:00 UTC'"),
        ] {
            run(&mut connection, &format!("INSERT INTO t VALUES ({id}, {value})"));
        }
        set(&mut connection, "adbc.firebird.type.timestamptz", "utf8").expect("it is known");
        let texts = column(&mut connection, "SELECT z FROM t ORDER BY id");
        assert_eq!(
            texts.as_string::<i32>(),
            &StringArray::from(vec![
                Some("2024-10-27 02:30:00.0000 +02:00 Europe/Berlin"),
                Some("2024-10-27 02:30:00.1234 +01:00 Europe/Berlin"),
                Some("2024-10-27 02:30:00.0000 -05:30"),
                None,
                Some("2024-10-27 02:30:00.0000 +00:00 UTC"),
            ])
        );
        // The texts are parameters that mean the same instants in the same zones, also one by one.
        let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(11..16));
        let rows = crate::support::batch([("id", ids), ("z", texts)]);
        for rows in [rows.slice(0, 3), rows.slice(3, 1), rows.slice(4, 1)] {
            let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?, ?)");
            insert.bind(rows).expect("it is taken");
            insert.execute_update().expect("it is written");
        }
        let same = "SELECT COUNT(*) FROM t a JOIN t b ON b.id = a.id + 10 WHERE a.z IS NOT DISTINCT FROM b.z \
            AND CAST(a.z AS VARCHAR(60)) IS NOT DISTINCT FROM CAST(b.z AS VARCHAR(60))";
        assert_eq!(column(&mut connection, same).as_primitive::<Int64Type>().value(0), 5);
        // Other texts are for the engine to understand.
        for (text, good) in [
            ("2024-10-27 02:30 Europe/Berlin", true),
            ("2024-10-27 02:30:00.0000 +02:00 Europe/Nowhere", false),
            ("2024-10-27 02:30:00.0000 +02:00 +02:00", false),
            ("2024-02-30 02:30:00.0000 +02:00 Europe/Berlin", false),
        ] {
            let mut insert = statement(&mut connection, "INSERT INTO t VALUES (99, ?)");
            let text: ArrayRef = Arc::new(StringArray::from(vec![text]));
            insert.bind(crate::support::batch([("z", text)])).expect("it is taken");
            assert_eq!(insert.execute_update().is_ok(), good);
        }
    },
    fn offsets_of_time_zones_are_kept(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER, z TIMESTAMP WITH TIME ZONE)");
        for (id, value) in [
            (1, "TIMESTAMP '2020-01-01 10:00:00.1234 +02:00'"),
            (2, "NULL"),
            (3, "TIMESTAMP '2020-06-01 00:00:00 -03:30'"),
            (4, "TIMESTAMP '2020-06-01 12:00:00 Europe/Berlin'"),
        ] {
            run(&mut connection, &format!("INSERT INTO t VALUES ({id}, {value})"));
        }
        set(&mut connection, "adbc.firebird.type.timestamptz", "with_offset").expect("it is known");
        let check = |found: &RecordBatch| {
            let schema = found.schema();
            let metadata = schema.field(0).metadata();
            assert_eq!(metadata["ARROW:extension:name"], "arrow.timestamp_with_offset");
            assert_eq!(metadata["FIREBIRD:type"], "TIMESTAMP WITH TIME ZONE");
            let structs = found.column(0).as_struct();
            let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
            let fields = vec![
                Field::new("timestamp", utc, false),
                Field::new("offset_minutes", DataType::Int16, false),
            ];
            assert_eq!(structs.fields(), &Fields::from(fields));
            let instants = structs.column(0).as_primitive::<TimestampMicrosecondType>();
            let offsets = structs.column(1).as_primitive::<Int16Type>();
            let values: Vec<Option<(i64, i16)>> = (0..structs.len())
                .map(|row| structs.is_valid(row).then(|| (instants.value(row), offsets.value(row))))
                .collect();
            let second = 1_000_000;
            assert_eq!(
                values,
                [
                    Some((1_577_865_600 * second + 123_400, 120)),
                    None,
                    Some((1_590_982_200 * second, -210)),
                    Some((1_591_005_600 * second, 120)),
                ]
            );
        };
        let found = query(&mut connection, "SELECT z FROM t ORDER BY id");
        check(&found);
        // The same into a new table, into the old one, and as parameters.
        let data = query(&mut connection, "SELECT id + 10 AS id, z FROM t ORDER BY id");
        for (table, mode) in [("NEW", IngestMode::Create), ("T", IngestMode::Append)] {
            let mut ingest = connection.new_statement().expect("it is cheap");
            ingest.set_option(OptionStatement::TargetTable, table.into()).expect("it is known");
            ingest.set_option(OptionStatement::IngestMode, mode.into()).expect("it is known");
            ingest.bind(data.clone()).expect("it is taken");
            assert_eq!(ingest.execute_update(), Ok(Some(4)));
            check(&query(&mut connection, &format!("SELECT z FROM {table} WHERE id > 10 ORDER BY id")));
        }
        run(&mut connection, "DELETE FROM t");
        let mut insert = statement(&mut connection, "INSERT INTO t VALUES (?, ?)");
        insert.bind(data).expect("it is taken");
        assert_eq!(insert.execute_update(), Ok(Some(4)));
        check(&query(&mut connection, "SELECT z FROM t ORDER BY id"));
    },
    fn int128_has_room_in_decimal256(target: &Target) {
        let mut connection = fresh(target);
        let sql = "SELECT CAST('-170141183460469231731687303715884105728' AS INT128), CAST(5 AS INT128), \
                   CAST(NULL AS INT128) FROM RDB$DATABASE";
        fails(statement(&mut connection, sql).execute_update(), Status::InvalidData);
        set(&mut connection, "adbc.firebird.type.int128", "decimal256").expect("it is known");
        let found = query(&mut connection, sql);
        for (index, expected) in [Some(i128::MIN), Some(5), None].into_iter().enumerate() {
            let column = found.column(index);
            assert_eq!(*column.data_type(), DataType::Decimal256(39, 0));
            let value = column.is_valid(0).then(|| column.as_primitive::<Decimal256Type>().value(0));
            assert_eq!(value, expected.map(i256::from_i128));
        }
    },
    fn decfloat_may_be_a_decimal(target: &Target) {
        let mut connection = fresh(target);
        set(&mut connection, "adbc.firebird.type.decfloat", "decimal128(20,5)").expect("it is known");
        let sql = "SELECT CAST(1.5 AS DECFLOAT(34)), CAST('-999999999999999.99999' AS DECFLOAT(34)), \
                   CAST('2E+3' AS DECFLOAT(16)), CAST(NULL AS DECFLOAT(16)) FROM RDB$DATABASE";
        let found = query(&mut connection, sql);
        let expected = [Some(150_000), Some(1 - 10i128.pow(20)), Some(200_000_000), None];
        for (column, expected) in found.columns().iter().zip(expected) {
            assert_eq!(*column.data_type(), DataType::Decimal128(20, 5));
            let value = column.is_valid(0).then(|| column.as_primitive::<Decimal128Type>().value(0));
            assert_eq!(value, expected);
        }
        for value in ["1E+20", "1.234567", "1E-30"] {
            let sql = format!("SELECT CAST('{value}' AS DECFLOAT(34)) FROM RDB$DATABASE");
            fails(statement(&mut connection, &sql).execute_update(), Status::InvalidData);
        }
    },
    fn decimals_of_more_than_34_digits_are_refused(target: &Target) {
        let mut connection = fresh(target);
        let wide = |value: i256| {
            let values = Decimal256Array::from(vec![i256::ONE, value]);
            let values = values.with_precision_and_scale(60, 0).expect("they fit");
            batch([("V", Arc::new(values) as ArrayRef)])
        };
        let power = |digits: u32| i256::from_i128(10).checked_pow(digits).expect("there is room");
        let mut ingest = |value| {
            let mut ingest = connection.new_statement().expect("it is cheap");
            ingest.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
            ingest.set_option(OptionStatement::IngestMode, IngestMode::Replace.into()).expect("it is known");
            ingest.bind(wide(value)).expect("it is taken");
            ingest.execute_update()
        };
        let error = fails(ingest(power(40).wrapping_add(i256::ONE)), Status::InvalidData);
        assert!(error.message.contains("\"V\"") && error.message.contains("row 1"), "{error}");
        assert_eq!(ingest(power(40)), Ok(Some(2)), "one digit and an exponent");
        assert_eq!(count(&mut connection, "t"), 2);
        let found = column(&mut connection, "SELECT v FROM t ORDER BY v");
        let texts = found.as_string::<i32>();
        assert_eq!((texts.value(0), texts.value(1).parse()), ("1", Ok(1e40)));
    }
);
