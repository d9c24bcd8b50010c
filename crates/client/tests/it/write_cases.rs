//! What many rows of parameters must do everywhere; the embedded engines of old releases have it in binaries of their own.

use crate::support::{column, fresh, fresh_closed, query, run};
use arrow::array::*;
use arrow::datatypes::{DataType, Int32Type, Int64Type, Schema};
use arrow::error::ArrowError;
use firearrow::{
    Connection, Kind, OnFailure, Params, RowsExecuted, Statement, Transaction, TransactionOptions, params,
};
use firearrow_testkit::Target;
use std::sync::Arc;

/// A batch of these columns.
pub(crate) fn batch(columns: impl IntoIterator<Item = ArrayRef>) -> RecordBatch {
    let columns = columns.into_iter().enumerate().map(|(n, column)| (n.to_string(), column, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("equal lengths")
}

pub(crate) fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

pub(crate) fn texts<'a>(values: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

pub(crate) fn failed_rows(done: &RowsExecuted) -> Vec<usize> {
    done.failures.iter().map(|failure| failure.row).collect()
}

/// One number of a transaction that goes on.
pub(crate) fn number(transaction: &Transaction, sql: &str) -> i64 {
    let rows = crate::support::rows(transaction.query(sql).expect(sql));
    rows.column(0).as_primitive::<Int64Type>().value(0)
}

/// Batches of `size` rows.
pub(crate) fn pieces(rows: &RecordBatch, size: usize) -> impl RecordBatchReader + use<> {
    let starts: Vec<usize> = (0..rows.num_rows()).step_by(size).collect();
    let rows = rows.clone();
    let schema = rows.schema();
    let slice = move |start: usize| Ok(rows.slice(start, size.min(rows.num_rows() - start)));
    RecordBatchIterator::new(starts.into_iter().map(slice), schema)
}

/// Row, kind and gds codes of a failure.
type Failure = (usize, Kind, Vec<i32>);

/// What a report says, in a form that can be compared.
fn report(done: &RowsExecuted) -> (usize, Option<u64>, &[Option<u64>], Vec<Failure>) {
    let failures =
        done.failures.iter().map(|each| (each.row, each.error.kind(), each.error.gds_codes())).collect();
    assert_eq!(done.affected_by_row.len(), done.rows);
    assert_eq!(done.affected_rows.unwrap_or(0), done.affected_by_row.iter().flatten().sum::<u64>());
    for row in failed_rows(done) {
        assert_eq!(done.affected_by_row[row], None, "{row}");
    }
    (done.rows, done.affected_rows, &done.affected_by_row, failures)
}

/// Runs the statement in one go, which makes batches where there are any, and in pieces that are too small for them.
/// The reports must be equal and say that these rows failed; so must be what is in the table afterwards.
fn both_ways(
    transaction: &mut Transaction,
    statement: &Statement,
    rows: &RecordBatch,
    sum: &str,
    what: &str,
) -> RowsExecuted {
    let mut seen = Vec::new();
    for small in [false, true] {
        transaction.execute_immediate("SAVEPOINT before").expect("a savepoint");
        let done = match small {
            false => statement.execute_rows(transaction, rows, OnFailure::Continue),
            true => statement.execute_stream(transaction, pieces(rows, 20), OnFailure::Continue),
        };
        let done = done.unwrap_or_else(|error| panic!("{what}: {error}"));
        let sum = number(transaction, sum);
        seen.push((done, sum));
        transaction.execute_immediate("ROLLBACK TO SAVEPOINT before").expect("it is there");
    }
    let (small, small_sum) = seen.pop().expect("two");
    let (large, large_sum) = seen.pop().expect("two");
    assert_eq!(report(&large), report(&small), "{what}");
    assert_eq!(large_sum, small_sum, "{what}");
    large
}

/// A failure of each kind at some rows: batches and executions must tell the same.
pub(crate) fn failures_are_told_the_same(target: &Target) {
    let connection = fresh(target);
    for sql in [
        "CREATE TABLE parent (id INTEGER NOT NULL PRIMARY KEY)",
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, parent INTEGER REFERENCES parent, s SMALLINT, \
         v VARCHAR(3), d DATE, CHECK (s <> 13))",
        "CREATE EXCEPTION unwanted 'unwanted'",
        "CREATE TRIGGER refuse FOR t BEFORE INSERT AS BEGIN IF (NEW.s = 77) THEN EXCEPTION unwanted; END",
        "INSERT INTO parent VALUES (1)",
    ] {
        run(&connection, sql);
    }
    let total = 500;
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)").expect("valid SQL");
    let sum = "SELECT CAST(COALESCE(SUM(id * id), 0) AS BIGINT) FROM t";
    for at in [&[0][..], &[123], &[499], &[7, 200, 201]] {
        let plain = || (vec![1; total], vec![1; total], vec!["abc"; total], vec!["2020-01-01"; total]);
        let mut ids: Vec<i32> = (0..total as i32).collect();
        for what in ["none", "duplicate", "parent", "check", "trigger", "number", "text", "date"] {
            let (mut parents, mut numbers, mut words, mut dates) = plain();
            ids.iter_mut().zip(0..).for_each(|(id, row)| *id = row);
            for &row in at {
                match what {
                    "duplicate" if row > 0 => ids[row] = 0,
                    "parent" => parents[row] = 2,
                    "check" => numbers[row] = 13,
                    "trigger" => numbers[row] = 77,
                    "number" => numbers[row] = 70_000,
                    "text" => words[row] = "abcd",
                    "date" => dates[row] = "no date",
                    _ => {}
                }
            }
            let rows = batch([ints(ids.clone()), ints(parents), ints(numbers), texts(words), texts(dates)]);
            let done = both_ways(&mut transaction, &statement, &rows, sum, what);
            let expected: Vec<usize> = match what {
                "none" => Vec::new(),
                "duplicate" => at.iter().copied().filter(|row| *row > 0).collect(),
                _ => at.to_vec(),
            };
            assert_eq!((done.rows, failed_rows(&done)), (total, expected), "{what}");
            assert_eq!(done.affected_rows, Some((total - done.failures.len()) as u64), "{what}");
            let kind = match what {
                "duplicate" | "parent" | "check" => Kind::Constraint,
                "trigger" => Kind::Engine,
                _ => Kind::Data,
            };
            assert!(done.failures.iter().all(|failure| failure.error.kind() == kind), "{what}: {done:?}");
        }
    }
}

/// Rows that another transaction holds.
pub(crate) fn conflicts_are_told_the_same(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n INTEGER)");
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let insert = transaction.prepare("INSERT INTO t VALUES (?, 0)").expect("valid SQL");
    let done =
        insert.execute_rows(&mut transaction, &batch([ints(0..300)]), OnFailure::Stop).expect("it runs");
    assert!(done.failures.is_empty(), "{done:?}");
    transaction.commit().expect("it commits");
    let mut holder = connection.begin(Default::default()).expect("it starts");
    holder.execute("UPDATE t SET n = 1 WHERE id IN (17, 170, 299)").expect("it holds them");
    let options = TransactionOptions::default()
        .lock_resolution(firearrow::LockResolution::NoWait)
        .isolation(firearrow::Isolation::ReadCommittedRecordVersion);
    let mut transaction = connection.begin(options).expect("it starts");
    for sql in ["UPDATE t SET n = n + 5 WHERE id = ?", "DELETE FROM t WHERE id = ?"] {
        let statement = transaction.prepare(sql).expect("valid SQL");
        let sum = "SELECT CAST(COALESCE(SUM(id * (n + 1)), 0) AS BIGINT) FROM t";
        let done = both_ways(&mut transaction, &statement, &batch([ints(0..300)]), sum, sql);
        assert_eq!((done.rows, failed_rows(&done)), (300, vec![17, 170, 299]), "{sql}");
        assert_eq!(done.affected_rows, Some(297), "{sql}");
        assert!(done.failures.iter().all(|failure| failure.error.kind() == Kind::Conflict), "{done:?}");
    }
    holder.rollback().expect("it ends");
}

/// Engines describe 256 failures of a batch.
pub(crate) fn hundreds_of_failures_are_all_described(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY)");
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
    let rows = batch([ints((0..3000).map(|n| n / 2))]);
    let sum = "SELECT COUNT(*) FROM t";
    let done = both_ways(&mut transaction, &statement, &rows, sum, "every second row");
    assert_eq!(failed_rows(&done), (0..1500).map(|n| n * 2 + 1).collect::<Vec<_>>());
    for failure in &done.failures {
        let text = failure.error.message();
        assert!(text.contains(&format!("\"ID\" = {}", failure.row / 2)), "{}: {text}", failure.row);
    }
}

/// BLOBs of all lengths get to their rows, also when the batch is done again.
pub(crate) fn blobs_of_all_lengths_arrive(target: &Target) {
    let connection = fresh(target);
    run(
        &connection,
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, s SMALLINT, b BLOB, \
         u BLOB SUB_TYPE TEXT CHARACTER SET UTF8, w BLOB SUB_TYPE TEXT CHARACTER SET WIN1252)",
    );
    let total = 150;
    let length = |row: usize| [0, 1, 2, 3, 5, 1000, 8191, 70_000, 0, 33_333][row % 10];
    let bytes = |row: usize| -> Vec<u8> { (0..length(row)).map(|n| (n * 7 + row) as u8).collect() };
    let mut binary: Vec<Option<Vec<u8>>> =
        (0..total).map(|row| (row % 11 != 3).then(|| bytes(row))).collect();
    // Too long to travel with a batch.
    binary[75] = Some((0..9 << 20).map(|n: u32| (n % 253) as u8).collect());
    let binary: ArrayRef = Arc::new(BinaryArray::from_iter(binary));
    let words: Vec<Option<String>> =
        (0..total).map(|row| (row % 13 != 5).then(|| "zwölf €".repeat(length(row) / 30))).collect();
    let words: ArrayRef = Arc::new(StringArray::from(words));
    for bad in [None, Some(0), Some(74), Some(149)] {
        let mut numbers = vec![1; total];
        if let Some(row) = bad {
            numbers[row] = 70_000;
        }
        run(&connection, "DELETE FROM t");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)").expect("valid SQL");
        let ids = ints(0..total as i32);
        let rows = batch([ids, ints(numbers), binary.clone(), words.clone(), words.clone()]);
        let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Continue).expect("it ends");
        assert_eq!((done.rows, failed_rows(&done)), (total, Vec::from_iter(bad)));
        transaction.commit().expect("it commits");
        let read = query(&connection, "SELECT b, u, w FROM t ORDER BY id");
        let keep: BooleanArray = (0..total).map(|row| Some(Some(row) != bad)).collect();
        for (index, expected) in [&binary, &words, &words].into_iter().enumerate() {
            let expected = arrow::compute::filter(expected, &keep).expect("equal lengths");
            assert!(read.column(index).as_ref() == expected.as_ref(), "column {index}, {bad:?}");
        }
    }
}

/// BLOBs get to their rows through a statement that has written others in earlier transactions. Engines remember the
/// numbers of temporary BLOBs beyond a transaction's end, and throw away new ones that have the same.
pub(crate) fn blobs_arrive_in_later_transactions(target: &Target) {
    let connection = fresh(target);
    run(
        &connection,
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, b BLOB SUB_TYPE TEXT CHARACTER SET UTF8)",
    );
    let kept = connection.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
    let mut first = 0;
    for round in 0..6 {
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let new;
        let statement = if round < 3 {
            &kept
        } else {
            new = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
            &new
        };
        let batches = [808, 192].map(|count| {
            let ids = first..first + count;
            first += count;
            let texts = ids.clone().map(|id| format!("the text of row {id}"));
            let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
            batch([ints(ids), texts])
        });
        let schema = batches[0].schema();
        let batches = RecordBatchIterator::new(batches.map(Ok), schema);
        let done = statement.execute_stream(&mut transaction, batches, OnFailure::Stop).expect("it ends");
        assert_eq!((done.rows, failed_rows(&done)), (1000, vec![]), "{round}: {:?}", done.failures.first());
        transaction.commit().expect("it commits");
    }
    let right = "SELECT COUNT(*) FROM t WHERE CAST(b AS VARCHAR(50)) = 'the text of row ' || id";
    assert_eq!(query(&connection, right).column(0).as_primitive::<Int64Type>().value(0), i64::from(first));
}

/// What is in the rows does not depend on how they come in batches.
pub(crate) fn streams_count_over_all_batches(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v VARCHAR(200) CHARACTER SET ASCII)");
    let total = 12_000;
    let mut ids: Vec<i32> = (0..total).collect();
    (ids[4000], ids[8011], ids[11_999]) = (3, 4, 5);
    let mut words: Vec<String> = ids.iter().map(|id| "x".repeat((id / 100) as usize % 150)).collect();
    words[6001] = "y".repeat(201);
    let rows = batch([ints(ids), texts(words.iter().map(String::as_str))]);
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
    for size in [1, 63, 64, 1000, 5000, 12_000] {
        let reader = pieces(&rows, size);
        let done = statement.execute_stream(&mut transaction, reader, OnFailure::Continue).expect("it ends");
        assert_eq!((done.rows, failed_rows(&done)), (12_000, vec![4000, 6001, 8011, 11_999]), "{size}");
        assert_eq!(done.affected_rows, Some(11_996), "{size}");
        let expected: usize = (0..words.len())
            .filter(|row| ![4000, 6001, 8011, 11_999].contains(row))
            .map(|row| words[row].len())
            .sum();
        let sum = number(&transaction, "SELECT CAST(SUM(CHAR_LENGTH(v)) AS BIGINT) FROM t");
        assert_eq!(sum, expected as i64, "{size}");
        transaction.execute("DELETE FROM t").expect("deleted");
    }
}

/// An error of the reader ends it; what was read before is done and told.
pub(crate) fn a_reader_that_fails_leaves_what_it_gave(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY)");
    let schema = batch([ints(0..1)]).schema();
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare("INSERT INTO t VALUES (?)").expect("valid SQL");
    let part = |first: i32, rows: i32| Ok(batch([ints(first..first + rows)]));
    let broken = || Err(ArrowError::ParseError("line 7".into()));
    let other = || Ok(batch([texts(["1"])]));
    for (what, last, kind) in [("reader", broken(), Kind::Data), ("another schema", other(), Kind::Parameter)]
    {
        let batches = vec![part(0, 1000), part(1000, 5), part(999, 100), last, part(5000, 10)];
        let reader = RecordBatchIterator::new(batches, Arc::clone(&schema));
        let error = statement
            .execute_stream(&mut transaction, reader, OnFailure::Continue)
            .expect_err("the reader fails");
        assert_eq!(error.kind(), kind, "{what}: {error}");
        assert!(error.message().starts_with("after 1105 rows had been executed: "), "{error}");
        let done = error.rows_executed().expect("it is told");
        assert_eq!((done.rows, done.affected_rows), (1105, Some(1099)), "{what}");
        assert_eq!(failed_rows(done), (1005..1011).collect::<Vec<_>>(), "{what}");
        assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 1099, "{what}");
        transaction.execute("DELETE FROM t").expect("deleted");
    }
    // Without a row it is the error alone.
    let reader = RecordBatchIterator::new(vec![broken()], Arc::clone(&schema));
    let error = statement.execute_stream(&mut transaction, reader, OnFailure::Stop).expect_err("it fails");
    assert!(error.message().starts_with("reading the rows"), "{error}");
    let nothing = RecordBatchIterator::new(vec![], Arc::new(Schema::empty()));
    let error = statement.execute_stream(&mut transaction, nothing, OnFailure::Stop).expect_err("no column");
    assert_eq!(error.kind(), Kind::Parameter);
    let nothing = RecordBatchIterator::new(vec![], schema);
    let done = statement.execute_stream(&mut transaction, nothing, OnFailure::Stop).expect("nothing to do");
    assert_eq!((done.rows, done.affected_rows), (0, None));
}

/// A cursor of the same connection, and even of the same transaction, supplies the rows.
pub(crate) fn a_cursor_of_the_same_connection_is_a_reader(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER, v VARCHAR(200) CHARACTER SET ASCII)");
    run(&connection, "CREATE TABLE copy (id INTEGER, v VARCHAR(100) CHARACTER SET ASCII)");
    let lengths = (0..20_000).map(|id| if id == 17_000 { 150 } else { (id / 200) as usize });
    let words: Vec<String> = lengths.map(|length| "x".repeat(length)).collect();
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let rows = batch([ints(0..20_000), texts(words.iter().map(String::as_str))]);
    let fill = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
    let done = fill.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it runs");
    assert!(done.failures.is_empty(), "{done:?}");
    let copy = transaction.prepare("INSERT INTO copy VALUES (?, ?)").expect("valid SQL");
    let cursor = transaction.query("SELECT id, v FROM t").expect("it opens");
    let done = copy.execute_stream(&mut transaction, cursor, OnFailure::Continue).expect("it ends");
    assert_eq!((done.rows, failed_rows(&done), done.affected_rows), (20_000, vec![17_000], Some(19_999)));
    let difference = "SELECT COUNT(*) FROM t JOIN copy ON t.id = copy.id AND t.v = copy.v";
    assert_eq!(number(&transaction, difference), 19_999);
    transaction.commit().expect("it commits");
    assert_eq!(column(&connection, "SELECT COUNT(*) FROM copy").as_primitive::<Int64Type>().value(0), 19_999);
}

/// Values that cannot be sent are failures of their rows, as values that the engine refuses are.
pub(crate) fn values_that_cannot_be_sent_fail_their_rows(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n NUMERIC(9, 2), d DATE)");
    let total = 400;
    let mut ids: Vec<i32> = (0..total).collect();
    ids[350] = 1;
    let amounts: Vec<i128> =
        (0..total as i128).map(|row| row * 10 + i128::from([60, 399].contains(&row))).collect();
    let amounts = Decimal128Array::from(amounts).with_precision_and_scale(20, 3).expect("they fit");
    // The first one is long before year 1; another one shares its row with a fraction of a cent.
    let days = Date32Array::from_iter_values(
        (0..total).map(|row| if [20, 60].contains(&row) { -4_000_000 } else { row }),
    );
    let rows = batch([ints(ids), Arc::new(amounts), Arc::new(days)]);
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare("INSERT INTO t VALUES (?, ?, ?)").expect("valid SQL");
    let sum = "SELECT CAST(SUM(n * 100) AS BIGINT) FROM t";
    let done = both_ways(&mut transaction, &statement, &rows, sum, "refused values");
    assert_eq!((done.rows, failed_rows(&done)), (400, vec![20, 60, 350, 399]));
    assert_eq!(done.affected_rows, Some(396));
    assert!(done.failures[0].error.message().contains("row 20"), "{:?}", done.failures[0]);
    let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it ends");
    assert_eq!((done.rows, failed_rows(&done)), (21, vec![20]));
    assert_eq!(number(&transaction, "SELECT COUNT(*) FROM t"), 20);
    drop((statement, transaction));
    still_in_step(&connection);
}

pub(crate) fn still_in_step(connection: &Connection) {
    assert!(!connection.is_failed());
    assert_eq!(query(connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
}

/// Text for CHARACTER SET NONE is written in the code page in which it is read, however it gets there.
pub(crate) fn text_without_character_set_has_its_code_page(target: &Target) {
    const INSERT: &str = "INSERT INTO t (id, c, v, b, a) VALUES (?, ?, ?, ?, ?)";
    let mut config = fresh_closed(target);
    let plain = Connection::open(&config).expect("it can be opened");
    run(
        &plain,
        "CREATE TABLE t (id INTEGER, c CHAR(6) CHARACTER SET NONE, v VARCHAR(40) CHARACTER SET NONE, \
         b BLOB SUB_TYPE TEXT CHARACTER SET NONE, a VARCHAR(5) [2] CHARACTER SET NONE, \
         u VARCHAR(40) CHARACTER SET UTF8)",
    );
    config.read.push(("none_encoding".into(), "WIN1252".into()));
    let connection = Connection::open(&config).expect("a second connection");
    // Single values, which take another way than arrays.
    connection
        .execute_with(
            "INSERT INTO t (id, c, v, u) VALUES (?, ?, ?, ?)",
            params![0, "Jörg", "Jörg €", "Jörg €"],
        )
        .expect("all characters are there");
    // Rows: enough of them for the bulk interface, as every array of text.
    // Two elements of an array.
    let arrays: ArrayRef = {
        let mut lists = FixedSizeListBuilder::new(StringBuilder::new(), 2);
        lists.values().append_value("é");
        lists.values().append_value("abc");
        lists.append(true);
        Arc::new(lists.finish())
    };
    let many = |array: &ArrayRef| {
        let indices = UInt32Array::from(vec![0; 300]);
        arrow::compute::take(array, &indices, None).expect("row 0 is there")
    };
    let text = texts(["Jörg €"]);
    let kinds = [
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
    ];
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let insert = transaction.prepare(INSERT).expect("valid SQL");
    for kind in &kinds {
        let text = arrow::compute::cast(&text, kind).expect("text is text");
        let name = arrow::compute::cast(&texts(["Jörg"]), kind).expect("text is text");
        let rows = batch([ints(vec![1; 300]), many(&name), many(&text), many(&text), many(&arrays)]);
        let done = insert.execute_rows(&mut transaction, &rows, OnFailure::Stop);
        assert_eq!(done.unwrap_or_else(|error| panic!("{kind}: {error}")).affected_rows, Some(300));
    }
    let long = format!("ü{}", "€ß".repeat(20_000));
    let row = batch([ints([2]), texts(["ä"]), texts(["Ÿ"]), texts([long.as_str()]), arrays]);
    insert.execute(&mut transaction, row).expect("one row");
    // What the code page lacks is refused, with the place and a remedy; the bulk interface goes on.
    let done = insert.execute_rows(
        &mut transaction,
        &batch([
            ints([3, 3]),
            texts(["Ł", "é"]),
            texts(["", ""]),
            texts(["", ""]),
            new_null_array(&DataType::Null, 2),
        ]),
        OnFailure::Continue,
    );
    let done = done.expect("its rows fail, not the whole");
    assert_eq!((failed_rows(&done), done.affected_rows), (vec![0], Some(1)));
    let error = &done.failures[0].error;
    let message = error.to_string();
    assert_eq!(error.kind(), Kind::Data);
    for part in ["parameter 2", "'Ł' is not in windows-1252", "none_encoding"] {
        assert!(message.contains(part), "{message}");
    }
    transaction.commit().expect("it commits");
    let error =
        connection.execute_with("INSERT INTO t (v) VALUES (?)", params!["Ł"]).expect_err("it lacks it");
    let message = error.to_string();
    assert!(message.starts_with("parameter 1") && message.contains("'Ł' is not in"), "{message}");

    // The bytes, as a connection without the option sees them.
    let bytes = |sql: &str| query(&plain, sql);
    let seen = bytes(
        "SELECT CAST(TRIM(c) AS VARCHAR(9) CHARACTER SET OCTETS), CAST(v AS VARCHAR(40) CHARACTER SET OCTETS), \
         CAST(CAST(b AS VARCHAR(40) CHARACTER SET OCTETS) AS VARCHAR(40) CHARACTER SET OCTETS), \
         CAST(a[1] AS VARCHAR(5) CHARACTER SET OCTETS), u, COUNT(*) FROM t WHERE id < 2 \
         GROUP BY 1, 2, 3, 4, 5 ORDER BY 6",
    );
    let column = |index: usize| -> Vec<Option<Vec<u8>>> {
        let column = arrow::compute::cast(seen.column(index), &DataType::Binary).expect("bytes");
        column.as_binary::<i32>().iter().map(|value| value.map(<[u8]>::to_vec)).collect()
    };
    let (name, text) = (Some(b"J\xf6rg".to_vec()), Some(b"J\xf6rg \x80".to_vec()));
    assert_eq!(column(0), [name.clone(), name]);
    assert_eq!(column(1), [text.clone(), text.clone()]);
    assert_eq!(column(2), [None, text]);
    assert_eq!(column(3), [None, Some(vec![0xe9])]);
    assert_eq!(column(4), [Some("Jörg €".into()), None], "UTF8 stays UTF-8");
    assert_eq!(seen.column(5).as_primitive::<Int64Type>().value(1), 4 * 300);
    let lengths = bytes("SELECT OCTET_LENGTH(b) FROM t WHERE id = 2");
    let lengths = arrow::compute::cast(lengths.column(0), &DataType::Int64).expect("a number");
    assert_eq!(lengths.as_primitive::<Int64Type>().value(0), 40_001);

    // Conditions find them, and they read back as they were.
    for name in ["Jörg €", "Ÿ"] {
        let found = crate::support::rows(
            connection.query_with("SELECT DISTINCT v FROM t WHERE v = ?", params![name]).expect("it runs"),
        );
        assert_eq!(found.column(0).as_string::<i32>().iter().collect::<Vec<_>>(), [Some(name)]);
    }
    let found = query(&connection, "SELECT b, a FROM t WHERE id = 2");
    assert_eq!(found.column(0).as_string::<i32>().value(0), long);
    let list = found.column(1).as_list::<i32>().value(0);
    assert_eq!(list.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("é"), Some("abc")]);

    // Without the option, bytes are UTF-8.
    plain.execute_with("INSERT INTO t (id, v) VALUES (?, ?)", params![9, "é"]).expect("it is taken");
    let seen = query(&plain, "SELECT CAST(v AS VARCHAR(40) CHARACTER SET OCTETS), v FROM t WHERE id = 9");
    assert_eq!(seen.column(0).as_binary::<i32>().value(0), "é".as_bytes());
    assert_eq!(seen.column(1).as_string::<i32>().value(0), "é");
}

/// Results of arithmetic are stored as the decimals that were meant, whatever the storage; others are refused.
pub(crate) fn floats_are_the_decimals_that_were_meant(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (a NUMERIC(4, 2), b NUMERIC(9, 2), c NUMERIC(18, 4), d INTEGER)");
    let insert = "INSERT INTO t VALUES (?, ?, ?, ?)";
    let rows = [
        (1.1 + 2.2, "3.30", "3.3000"),
        (0.1 + 0.2, "0.30", "0.3000"),
        (-(1.0 - 0.9), "-0.10", "-0.1000"),
        (11.899999999999999, "11.90", "11.9000"),
    ];
    // As single values and as rows.
    for (value, ..) in &rows {
        let whole = 0.07 * 100.0;
        connection.execute_with(insert, params![*value, *value, *value, whole]).expect("15 digits fit");
    }
    let doubles = || -> ArrayRef { Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.0))) };
    let floats: ArrayRef =
        Arc::new(Float32Array::from_iter_values(rows.iter().map(|row| (row.0 as f32).next_up())));
    let whole: ArrayRef = Arc::new(Float64Array::from(vec![4.35 * 100.0; 4]));
    let given = batch([floats, doubles(), doubles(), whole]);
    let done = connection.execute_with(insert, Params::from(&given)).expect("6 and 15 digits fit");
    assert_eq!(done.affected_rows, Some(4));
    // The engine's own text of them.
    let seen = query(
        &connection,
        "SELECT CAST(a AS VARCHAR(20)), CAST(b AS VARCHAR(20)), CAST(c AS VARCHAR(20)), d FROM t",
    );
    for row in 0..8 {
        let text = |column: usize| seen.column(column).as_string::<i32>().value(row).to_owned();
        let (_, short, long) = rows[row % 4];
        assert_eq!((text(0).as_str(), text(1).as_str(), text(2).as_str()), (short, short, long));
        assert_eq!(seen.column(3).as_primitive::<Int32Type>().value(row), if row < 4 { 7 } else { 435 });
    }
    let error =
        connection.execute_with(insert, params![0.0, 0.333, 0.0, 0.0]).expect_err("it would be rounded");
    let message = error.to_string();
    assert!(
        message.contains("0.333 does not fit NUMERIC scale 2; round it to 2 decimals first"),
        "{message}"
    );
    let sum = query(&connection, "SELECT COUNT(*) FROM t WHERE b = 3.3 OR c = 0.3");
    assert_eq!(sum.column(0).as_primitive::<Int64Type>().value(0), 4);
}

/// A batch of rows without columns executes the statement once for each row.
pub(crate) fn rows_without_parameters_are_executed(target: &Target) {
    let connection = fresh(target);
    run(&connection, "CREATE TABLE t (id INTEGER GENERATED BY DEFAULT AS IDENTITY, v INTEGER DEFAULT 7)");
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare("INSERT INTO t DEFAULT VALUES").expect("valid SQL");
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let rows = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)
        .expect("rows need no columns");
    let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop).expect("it ends");
    assert_eq!((done.rows, done.affected_rows), (3, Some(3)));
    assert_eq!(number(&transaction, "SELECT CAST(COUNT(*) * 100 + SUM(v) AS BIGINT) FROM t"), 321);
    transaction.rollback().expect("it ends");
    still_in_step(&connection);
}
