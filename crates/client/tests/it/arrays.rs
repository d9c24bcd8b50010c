//! Array columns: lists out, lists in, and what SQL sees of them.

use crate::elements::{all_elements, insert, list, lists};
use crate::support::{column, cost, fresh, fresh_closed, query, run};
use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, Int32Type};
use firearrow::{BatchLimits, Connection, Kind, Params};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// What SQL makes of the first elements of `t.a`, or `None` if one of them is no character.
fn characters(connection: &Connection, last: usize) -> Option<Vec<String>> {
    let elements: Vec<String> = (1..=last).map(|element| format!("a[{element}]")).collect();
    let sql = format!("SELECT {} FROM t", elements.join(", "));
    let batch = connection.query(&sql).expect("valid").next_batch().ok()?.expect("one row");
    let texts = batch.columns().iter().map(|column| column.as_string::<i32>().value(0).to_owned());
    let texts: Vec<String> = texts.collect();
    // That is what servers make of most bytes without a character.
    (!texts.iter().any(|text| text == "\0")).then_some(texts)
}

matrix!(
    all,
    fn elements_of_every_type_survive(target: &Target) {
        all_elements(target);
    },
    fn dimensions_are_lists_of_lists(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a SMALLINT [2, 0:2, -1:0])");
        let inner = lists(Arc::new(Int16Array::from_iter_values(0..24)), 2, &[true; 12]);
        let given = lists(lists(inner, 3, &[true; 4]), 2, &[true, false, true]);
        insert(&connection, [Arc::clone(&given)]).expect("arrays are written");
        let batch = query(&connection, "SELECT a FROM t");
        assert!(batch.column(0).as_ref() == given.as_ref(), "{:?}", batch.column(0));
        let metadata = batch.schema().field(0).metadata().clone();
        assert_eq!(metadata["FIREBIRD:array_bounds"], "1:2,0:2,-1:0");
        assert_eq!((&*metadata["FIREBIRD:type"], &*metadata["FIREBIRD:column"]), ("SMALLINT", "A"));
        // Row-major, as SQL counts them.
        let batch =
            query(&connection, "SELECT a[1,0,-1], a[1,0,0], a[1,1,-1], a[2,2,0] FROM t WHERE a[1,0,0] = 1");
        let elements: Vec<i16> = batch
            .columns()
            .iter()
            .map(|column| column.as_primitive::<arrow::datatypes::Int16Type>().value(0))
            .collect();
        assert_eq!(elements, [0, 1, 2, 11]);
    },
    fn lists_of_every_kind_are_taken(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a NUMERIC(9, 2) [2, 2])");
        let pairs = FixedSizeListArray::new(
            Arc::new(Field::new("x", DataType::Int32, false)),
            2,
            // Null lists of fixed size have values, which must not matter.
            ints([1, 2, 3, 4, -1, -1, -1, -1, 5, 6, 7, 8]),
            None,
        );
        let field = Arc::new(Field::new("y", pairs.data_type().clone(), true));
        let nulls = Some(NullBuffer::from(vec![true, false, true]));
        let fixed: ArrayRef = Arc::new(FixedSizeListArray::new(field, 2, Arc::new(pairs), nulls));
        let large = |values: &ArrayRef| {
            let inner = DataType::LargeList(Arc::new(Field::new_list_field(DataType::Int32, true)));
            cast(values, &DataType::LargeList(Arc::new(Field::new_list_field(inner, true))))
                .expect("lists to lists")
        };
        insert(&connection, [large(&fixed)]).expect("large lists");
        // A slice does not begin with its first value.
        insert(&connection, [fixed.slice(1, 2)]).expect("lists of fixed size");
        let read = column(&connection, "SELECT a FROM t");
        let flat = read.as_list::<i32>().values().as_list::<i32>().values().clone();
        let hundredths = flat.as_primitive::<arrow::datatypes::Decimal128Type>().values().to_vec();
        assert_eq!(hundredths, [100, 200, 300, 400, 500, 600, 700, 800, 500, 600, 700, 800]);
        let nulls: Vec<bool> = (0..5).map(|row| read.is_null(row)).collect();
        assert_eq!(nulls, [false, true, false, true, false]);
    },
    fn texts_keep_their_blanks_and_characters(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (v VARCHAR(7)[4] CHARACTER SET WIN1252, u VARCHAR(3)[4] CHARACTER SET UTF8,
                 c CHAR(3)[4] CHARACTER SET WIN1251, o CHAR(3)[4] CHARACTER SET OCTETS)",
        );
        let octets: ArrayRef = Arc::new(BinaryArray::from(vec![&b""[..], b"\0a", b"a\0", b"\xff\0\xff"]));
        let columns = [
            texts(&["", "  ", "€ ü ", "äöüßÄÖÜ"]),
            texts(&["", "   ", "🐘 ", "日本語"]),
            texts(&["", " ж ", "Жук", "\0x"]),
            octets,
        ];
        insert(&connection, columns.clone().map(list)).expect("written");
        let batch = query(&connection, "SELECT * FROM t");
        let values = |column: usize| batch.column(column).as_list::<i32>().values().clone();
        assert_eq!(values(0).as_string::<i32>(), columns[0].as_string::<i32>());
        assert_eq!(values(1).as_string::<i32>(), columns[1].as_string::<i32>());
        assert_eq!(values(2).as_string::<i32>(), texts(&["   ", " ж ", "Жук", "\0x "]).as_string::<i32>());
        assert_eq!(values_of(&values(3)), [b"\0\0\0", b"\0a\0", b"a\0\0", b"\xff\0\xff"]);
        let lengths = query(
            &connection,
            "SELECT CHAR_LENGTH(v[2]), CHAR_LENGTH(v[3]), OCTET_LENGTH(v[3]), CHAR_LENGTH(u[3]), v[4] FROM t",
        );
        for (index, length) in [2, 4, 4, 2].into_iter().enumerate() {
            let found = cast(lengths.column(index), &DataType::Int32).expect("a number");
            assert_eq!(found.as_primitive::<Int32Type>().value(0), length, "{index}");
        }
        assert_eq!(lengths.column(4).as_string::<i32>().value(0), "äöüßÄÖÜ");
    },
    fn every_single_byte_character_set_is_read_as_sql_reads_it(target: &Target) {
        let connection = fresh(target);
        let sets = query(
            &connection,
            "SELECT TRIM(RDB$CHARACTER_SET_NAME) FROM RDB$CHARACTER_SETS
             WHERE RDB$BYTES_PER_CHARACTER = 1 AND RDB$CHARACTER_SET_ID > 4",
        );
        let mut tried = 0;
        for name in sets.column(0).as_string::<i32>().iter().flatten() {
            // As bytes, so that nothing is converted on the way in.
            let bytes: Vec<[u8; 1]> = (1..=255_u8).map(|byte| [byte]).collect();
            run(&connection, &format!("RECREATE TABLE t (a VARCHAR(1) [1:255] CHARACTER SET {name})"));
            let values: ArrayRef = Arc::new(BinaryArray::from_iter_values(bytes));
            insert(&connection, [list(values)]).unwrap_or_else(|error| panic!("{name}: {error}"));
            let ours = connection.query("SELECT a FROM t").and_then(|mut cursor| cursor.next_batch());
            if name == "DOS864" {
                // Its percent sign is not that of ASCII.
                assert_eq!(ours.map(|_| ()).map_err(|error| error.kind()), Err(Kind::Unsupported));
                continue;
            }
            // The bytes before the first one that has no character.
            let (mut defined, mut end) = (0, 256);
            while end - defined > 1 {
                let last = if defined == 0 && end == 256 { 255 } else { usize::midpoint(defined, end) };
                match characters(&connection, last) {
                    Some(_) => defined = last,
                    None => end = last,
                }
            }
            let sql = characters(&connection, defined).unwrap_or_default();
            match ours {
                Ok(Some(batch)) => {
                    assert_eq!(defined, 255, "{name} has bytes without characters");
                    let ours = batch.column(0).as_list::<i32>().values().clone();
                    assert_eq!(*ours.as_string::<i32>(), StringArray::from(sql), "{name}");
                }
                Ok(None) => panic!("one row"),
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Data, "{name}: {error}");
                    assert!(defined < 255, "{name}: {error}");
                    assert!(error.to_string().contains(&format!("element [{}]", sql.len() + 1)), "{error}");
                }
            }
            tried += 1;
        }
        assert!(tried > 30, "{tried}");
    },
    fn arrays_of_any_length_come_among_blobs(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (id INTEGER, b BLOB, a INTEGER [0:40000], s VARCHAR(5) [3], c BLOB SUB_TYPE TEXT)",
        );
        let rows = 150;
        let valid: Vec<bool> = (0..rows).map(|row| row % 3 != 1).collect();
        let count = valid.iter().filter(|valid| **valid).count() as i32;
        let long = lists(ints(0..count * 40_001), 40_001, &valid);
        let short: Vec<String> = (0..rows * 3).map(|n| n.to_string()).collect();
        let short = lists(Arc::new(StringArray::from(short)), 3, &vec![true; rows]);
        let texts: Vec<Option<String>> = (0..rows).map(|n| valid[n].then(|| n.to_string())).collect();
        let text: ArrayRef = Arc::new(StringArray::from(texts));
        let ids = ints(0..rows as i32);
        let blobs = cast(&text, &DataType::Binary).expect("text is bytes");
        let columns = [ids, blobs, long, short, text];
        insert(&connection, columns.clone()).expect("written");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM t ORDER BY id").expect("valid SQL");
        for limits in [BatchLimits::default(), BatchLimits::default().rows(7).bytes(1 << 20)] {
            let statement = statement.clone().with_limits(limits);
            let mut batches = 0;
            let mut read: Vec<Vec<ArrayRef>> = vec![Vec::new(); columns.len()];
            for batch in statement.query(&transaction, ()).expect("it runs") {
                let batch = batch.expect("rows");
                for (all, column) in read.iter_mut().zip(batch.columns()) {
                    all.push(Arc::clone(column));
                }
                batches += 1;
            }
            for (given, read) in columns.iter().zip(&read) {
                let read: Vec<&dyn Array> = read.iter().map(AsRef::as_ref).collect();
                assert!(concat(&read).expect("one type").as_ref() == given.as_ref());
            }
            assert!(batches > if limits.rows == 7 { rows / 7 } else { 0 }, "{batches}");
        }
    },
    fn lists_that_do_not_fit_are_refused(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a INTEGER [2:3, 2])");
        let pair = |a: i32, b: i32| list(ints([a, b]));
        let nulled = |values: ArrayRef, at: usize| {
            let valid: Vec<bool> = (0..values.len()).map(|index| index != at).collect();
            let data = values.to_data().into_builder().nulls(Some(NullBuffer::from(valid)));
            make_array(data.build().expect("as many bits as values"))
        };
        let both = |first: ArrayRef, second: ArrayRef| concat(&[&first, &second]).expect("one type");
        let cases: [(ArrayRef, Kind, &[&str]); 8] = [
            (ints([1]), Kind::Unsupported, &["2 dimension(s)", "list of list of values"]),
            (pair(1, 2), Kind::Unsupported, &["2 dimension(s)"]),
            (list(list(list(ints([1])))), Kind::Unsupported, &["2 dimension(s)"]),
            (list(pair(1, 2)), Kind::Data, &["dimension 1 of A [2:3, 1:2]", "has 1"]),
            (
                list(both(pair(1, 2), list(ints([1, 2, 3])))),
                Kind::Data,
                &["dimension 2", "has 3", "2 elements"],
            ),
            (list(nulled(both(pair(1, 2), pair(1, 2)), 1)), Kind::Data, &["NULL as a whole"]),
            (
                list(both(pair(1, 2), list(nulled(ints([1, 2]), 1)))),
                Kind::Data,
                &["element [3, 2]", "never NULL", "make the whole array NULL"],
            ),
            (list(both(pair(1, 2), pair(3, 4))).slice(0, 0), Kind::Parameter, &[]),
        ];
        for (given, kind, words) in cases {
            match insert(&connection, [given]) {
                Ok(()) => assert!(words.is_empty(), "{words:?}"),
                Err(error) => {
                    assert_eq!(error.kind(), kind, "{error}");
                    for word in words {
                        assert!(!words.is_empty() && error.to_string().contains(word), "{word}: {error}");
                    }
                }
            }
        }
        // The values of elements are as exact as those of other parameters.
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.5, 4.0]));
        let error = insert(&connection, [list(lists(doubles, 2, &[true; 2]))]).expect_err("no integer");
        assert_eq!(error.kind(), Kind::Data);
        assert!(error.to_string().contains("element [3, 1]") && error.to_string().contains("3.5"), "{error}");
        let empty = column(&connection, "SELECT COUNT(*) FROM t");
        assert_eq!(empty.as_primitive::<arrow::datatypes::Int64Type>().value(0), 0);
    },
    fn strings_that_engines_would_cut_are_refused(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a VARCHAR(5) [2] CHARACTER SET OCTETS)");
        let values: ArrayRef = Arc::new(BinaryArray::from(vec![&b"ab"[..], b"a\0b"]));
        let error = insert(&connection, [list(values)]).expect_err("a zero byte");
        assert_eq!(error.kind(), Kind::Data);
        assert!(error.to_string().contains("element [2]: a zero byte"), "{error}");
        // Engines would write over what is behind the second one.
        for (values, at) in [(["123456", ""], 1), (["", "123456"], 2)] {
            let error = insert(&connection, [list(texts(&values))]).expect_err("too long");
            assert_eq!(error.kind(), Kind::Data, "{error}");
            assert!(error.to_string().contains(&format!("element [{at}]: 6 bytes are too long")), "{error}");
        }
        insert(&connection, [list(texts(&["12345", ""]))]).expect("they fit");
        let read = column(&connection, "SELECT a FROM t");
        assert_eq!(values_of(read.as_list::<i32>().values()), [&b"12345"[..], b""]);
        // Engines find these out themselves.
        run(&connection, "RECREATE TABLE t (a CHAR(5) [2] CHARACTER SET WIN1252)");
        let error = insert(&connection, [list(texts(&["", "123456"]))]).expect_err("too long");
        assert_eq!(error.kind(), Kind::Data, "{error}");
        assert!(error.to_string().contains("parameter 1"), "{error}");
    },
    fn characters_that_a_set_does_not_have_are_refused(target: &Target) {
        let connection = fresh(target);
        for (set, bad, good) in
            [("WIN1252", "ж", "ü"), ("ASCII", "ü", "u"), ("UNICODE_FSS", "🐘", "本"), ("ISO8859_1", "€", "é")]
        {
            for kind in ["CHAR", "VARCHAR"] {
                run(&connection, &format!("RECREATE TABLE t (a {kind}(3) [2] CHARACTER SET {set})"));
                for values in [[bad, "a"], ["a", bad]] {
                    let error = insert(&connection, [list(texts(&values))]).expect_err(set);
                    assert_eq!(error.kind(), Kind::Data, "{error}");
                    assert!(error.to_string().contains(set), "{error}");
                }
                insert(&connection, [list(texts(&["a", good]))]).expect(set);
                let read = query(&connection, "SELECT a, a[2] FROM t");
                let list = read.column(0).as_list::<i32>().values().clone();
                let expected = if kind == "CHAR" { format!("{good}  ") } else { good.to_owned() };
                assert_eq!(list.as_string::<i32>().value(1), expected, "{kind} {set}");
                assert_eq!(read.column(1).as_string::<i32>().value(0), expected, "{kind} {set}");
            }
        }
    },
    fn text_of_several_bytes_is_written_and_read_by_elements(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a VARCHAR(3) [3] CHARACTER SET SJIS_0208)");
        insert(&connection, [list(texts(&["日本語", "", "a本"]))]).expect("the server converts it");
        let read = query(&connection, "SELECT a[1], a[2], a[3] FROM t");
        let values: Vec<&str> =
            read.columns().iter().map(|column| column.as_string::<i32>().value(0)).collect();
        assert_eq!(values, ["日本語", "", "a本"]);
        let error = connection.query("SELECT a FROM t").and_then(|mut cursor| cursor.next_batch());
        let error = error.expect_err("nobody converts it");
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.to_string().contains("SJIS_0208") && error.to_string().contains("\"A\"[1]"), "{error}");
    },
    fn failed_rows_among_arrays_are_told(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, a INTEGER [2])");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
        let ids = ints((0..100).map(|id| if id == 50 { 49 } else { id }));
        let given = lists(ints(0..200), 2, &[true; 100]);
        let rows = RecordBatch::try_from_iter([("id", ids), ("a", given)]).expect("equal lengths");
        let done = statement
            .execute_rows(&mut transaction, &rows, firearrow::OnFailure::Continue)
            .expect("rows fail by themselves");
        let failed: Vec<usize> = done.failures.iter().map(|failure| failure.row).collect();
        assert_eq!((done.rows, done.affected_rows, failed), (100, Some(99), vec![50]));
        transaction.commit().expect("it commits");
        let sum = column(&connection, "SELECT SUM(a[1]) FROM t");
        let sum = cast(&sum, &DataType::Int64).expect("a number");
        assert_eq!(sum.as_primitive::<arrow::datatypes::Int64Type>().value(0), 9900 - 100);
    },
    fn arrays_come_through_views_and_returning(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE DOMAIN pair AS INTEGER [2]");
        run(&connection, "CREATE TABLE t (id INTEGER, a pair)");
        run(&connection, "CREATE VIEW v (x, y) AS SELECT id, a FROM t");
        let given = list(ints([7, 8]));
        insert(&connection, [ints([1]), Arc::clone(&given)]).expect("written");
        for sql in [
            "SELECT y FROM v",
            "SELECT q.z FROM (SELECT a AS z FROM t) q",
            "WITH q AS (SELECT a FROM t) SELECT a FROM q",
            "SELECT x.a FROM t x LEFT JOIN t y ON y.id = x.id",
            "SELECT (SELECT a FROM t) FROM RDB$DATABASE",
        ] {
            match connection.query(sql).and_then(|mut cursor| cursor.next_batch()) {
                Ok(batch) => {
                    let batch = batch.expect("a row");
                    assert!(batch.column(0).as_ref() == given.as_ref(), "{sql}: {:?}", batch.column(0));
                }
                Err(error) => panic!("{sql}: {error}"),
            }
        }
        let update = connection.prepare("UPDATE t SET a = ? WHERE id = 1 RETURNING a").expect("valid SQL");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let other = list(ints([-1, i32::MAX]));
        let batch =
            update.query(&transaction, Params::row([Arc::clone(&other)])).expect("it runs").next_batch();
        let batch = batch.expect("a row").expect("a row");
        assert!(batch.column(0).as_ref() == other.as_ref(), "{:?}", batch.column(0));
    },
    fn arrays_without_a_column_are_refused(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a INTEGER [2])");
        insert(&connection, [list(ints([7, 8]))]).expect("written");
        run(
            &connection,
            "CREATE PROCEDURE p RETURNS (x INTEGER) AS BEGIN SELECT a[1] FROM t INTO x; SUSPEND; END",
        );
        let read = column(&connection, "SELECT x FROM p");
        assert_eq!(read.as_primitive::<Int32Type>().value(0), 7);
        // Described as an array of no column.
        let error = connection.query("SELECT MAX(a) FROM t").and_then(|mut cursor| cursor.next_batch());
        let error = error.expect_err("nobody knows what is in it");
        assert_eq!(error.kind(), Kind::Unsupported, "{error}");
        assert!(error.to_string().contains("select from the table itself"), "{error}");
        // The engine itself has no others.
        for sql in [
            "SELECT COALESCE(a, a) FROM t",
            "SELECT a FROM t UNION ALL SELECT a FROM t",
            "EXECUTE BLOCK RETURNS (x TYPE OF COLUMN t.a) AS BEGIN SELECT a FROM t INTO x; SUSPEND; END",
        ] {
            let result = connection.query(sql).and_then(|mut cursor| cursor.next_batch());
            let error = result.map(|batch| format!("{batch:?}")).expect_err(sql);
            assert!(!error.gds_codes().is_empty() || error.kind() == Kind::Unsupported, "{sql}: {error}");
        }
    },
    fn columns_declared_anew_are_noticed(target: &Target) {
        let config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (a INTEGER [2])");
        insert(&connection, [list(ints([1, 2]))]).expect("written");
        assert_eq!(query(&connection, "SELECT a FROM t").num_rows(), 1);
        // By this connection: known at once.
        run(&connection, "RECREATE TABLE t (a INTEGER [0:2])");
        insert(&connection, [list(ints([1, 2, 3]))]).expect("written");
        let read = column(&connection, "SELECT a FROM t");
        assert_eq!(read.as_list::<i32>().values().as_ref(), ints([1, 2, 3]).as_ref());
        // Behind its back.
        let alter = |declaration: &str| {
            let sql = format!("RECREATE TABLE t (a {declaration})");
            run(&connection, &format!("EXECUTE BLOCK AS BEGIN EXECUTE STATEMENT '{sql}'; END"));
        };
        alter("SMALLINT [2]");
        // What does not fit the old declaration makes the new one known.
        insert(&connection, [list(ints([1, 2]))]).expect("they fit");
        assert_eq!(column(&connection, "SELECT a FROM t").as_list::<i32>().value_length(0), 2);
        alter("INTEGER [2, 2]");
        let four = lists(ints(1..5), 2, &[true; 2]);
        insert(&connection, [list(four)]).expect("they fit");
        alter("INTEGER [3]");
        let sql = "INSERT INTO t VALUES (?)";
        let transaction = connection.begin(Default::default()).expect("it starts");
        let stale = transaction.prepare(sql).expect("valid SQL").parameters()[0].array.clone();
        assert_eq!(stale.map(|shape| shape.count()), Some(4), "nothing has been asked");
        drop(transaction);
        insert(&connection, [list(ints([1, 2, 3]))]).expect("they fit");
        // Rows are there before it shows: told once, then known.
        let other = Connection::open(&config).expect("it opens");
        run(&other, "ALTER TABLE t ADD b INTEGER [2]");
        run(&other, "UPDATE t SET b = NULL");
        assert_eq!(query(&connection, "SELECT a, b FROM t").num_rows(), 1);
    }
);

fn values_of(values: &ArrayRef) -> Vec<&[u8]> {
    match values.data_type() {
        DataType::FixedSizeBinary(_) => values.as_fixed_size_binary().iter().flatten().collect(),
        _ => values.as_binary::<i32>().iter().flatten().collect(),
    }
}

matrix!(
    wire,
    fn arrays_take_few_round_trips(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, a INTEGER [4], b VARCHAR(10) [2])");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let rows = 1000;
        let insert = transaction.prepare("INSERT INTO t VALUES (?, ?, ?)").expect("valid SQL");
        let words: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows * 2).map(|n| n.to_string())));
        let columns =
            [ints(0..rows), lists(ints(0..rows * 4), 4, &[true; 1000]), lists(words, 2, &[true; 1000])];
        let trips = cost(&connection, || {
            insert.execute(&mut transaction, Params::row(columns.clone())).expect("written");
        });
        // One for the arrays of each column, one for all rows; in pieces of 64 KB and more.
        assert!(trips <= 9, "{trips}");
        let select = transaction.prepare("SELECT * FROM t ORDER BY id").expect("valid SQL");
        let trips = cost(&connection, || {
            let read = crate::support::rows(select.query(&transaction, ()).expect("it runs"));
            assert!(read.column(1).as_ref() == columns[1].as_ref());
            assert!(read.column(2).as_ref() == columns[2].as_ref());
        });
        assert!(trips <= 9, "{trips}");
    },
    fn arrays_are_looked_up_once(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a INTEGER [2], b INTEGER [3])");
        run(&connection, "CREATE TABLE u (a INTEGER [2])");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let prepare = |sql: &str| cost(&connection, || drop(transaction.prepare(sql).expect("valid SQL")));
        // A transaction of the connection's own and the catalog's statement; its rows.
        assert_eq!(prepare("SELECT a FROM t"), 3);
        assert_eq!(prepare("SELECT b FROM t"), 1);
        assert_eq!(prepare("INSERT INTO t VALUES (?, ?)"), 1);
        // Another relation, by the same statement.
        assert_eq!(prepare("SELECT a FROM u"), 2);
    }
);
