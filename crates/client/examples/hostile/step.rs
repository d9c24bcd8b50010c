//! What sessions do. Each step says whether it saw what the database holds.

use super::database::{NUMBERS, ROWS, list_row};
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Int32Type, Int64Type, UInt64Type};
use firearrow::catalog::Name;
use firearrow::{
    BatchLimits, Connection, Cursor, Error, Kind, OnFailure, Params, PartitionOptions, ReadOptions, Result,
    ScrollOptions, Statement, TransactionOptions,
};
use firearrow_testkit::Choice;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

type Step = fn(&Connection, &mut Choice) -> Result<bool>;

/// All steps by name.
pub(crate) const STEPS: &[(&str, Step)] = &[
    ("info", info),
    ("every type", every_type),
    ("every type", every_type),
    ("numbers", numbers),
    ("half a result", half_a_result),
    ("lazy blobs", lazy_blobs),
    ("blob stream", blob_stream),
    ("arrays", arrays),
    ("array parameters", array_parameters),
    ("parameters", parameters),
    ("many rows", many_rows),
    ("returning", returning),
    ("returning many", returning_many),
    ("scrolling", scrolling),
    ("catalog", catalog),
    ("failures", failures),
    ("savepoints", savepoints),
    ("transactions", transactions),
    ("statistics", statistics),
    ("partitions", partitions),
    ("plan", plan),
    ("immediate", immediate),
    ("events", events),
    ("cancelling", cancelling),
    ("time limit", time_limit),
    ("limbo", limbo),
    ("autocommit", autocommit),
];

/// Runs for longer than any session.
const ENDLESS: &str = "SELECT COUNT(*) FROM numbers a, numbers b, numbers c";

/// The values of the switches that change how much is decoded, and when.
const SWITCHES: [(&str, &[&str]); 6] = [
    ("blobs", &["adaptive", "inline", "pipelined", "lazy"]),
    ("text", &["utf8", "utf8_view", "large_utf8"]),
    ("timestamptz", &["utc", "with_offset", "utf8"]),
    ("int128", &["decimal128", "decimal256", "utf8"]),
    ("decfloat", &["utf8", "float64"]),
    ("decimal_precision", &["declared", "storage"]),
];

fn drain(cursor: Cursor) -> Result<usize> {
    let mut cursor = cursor;
    let mut rows = 0;
    while let Some(batch) = cursor.next_batch()? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

/// The statement with switches and limits that are chosen.
fn varied(statement: Statement, choice: &mut Choice) -> Statement {
    let mut options = ReadOptions::default();
    for (name, values) in SWITCHES {
        options.set(name, choice.of(values)).expect("a value of the switch");
    }
    let rows = choice.of(&[1, 7, 100, 65_536]);
    statement.with_read_options(options).with_limits(BatchLimits::default().rows(rows))
}

fn people(ids: impl Iterator<Item = i32> + Clone, long: i32) -> RecordBatch {
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(ids.clone().map(|id| format!("name {id}"))));
    let note = |id| if id % long == 0 { "long note ".repeat(2000) } else { format!("note {id}") };
    let notes: ArrayRef = Arc::new(StringArray::from_iter_values(ids.clone().map(note)));
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(ids));
    RecordBatch::try_from_iter([("id", ids), ("name", names), ("note", notes)]).expect("equal lengths")
}

/// Whether it failed as it should; any other failure is passed on.
fn fails<T>(result: Result<T>, kinds: &[Kind]) -> Result<bool> {
    match result {
        Ok(_) => Ok(false),
        Err(error) if kinds.contains(&error.kind()) => Ok(true),
        Err(error) => Err(error),
    }
}

fn info(connection: &Connection, _: &mut Choice) -> Result<bool> {
    connection.ping()?;
    let info = connection.info()?;
    Ok(!format!("{info:?}").is_empty())
}

fn every_type(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::default())?;
    let statement = varied(transaction.prepare("SELECT * FROM everything ORDER BY id")?, choice);
    let rows = drain(statement.query(&transaction, ())?)?;
    transaction.commit()?;
    Ok(rows == ROWS as usize)
}

fn numbers(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let mut next = 0;
    let mut same = true;
    for batch in connection.query("SELECT id, half FROM numbers ORDER BY id")? {
        let batch = batch.map_err(reading)?;
        let ids = batch.column(0).as_primitive_opt::<Int32Type>();
        same &= ids.is_some_and(|ids| ids.values().iter().copied().eq(next..next + batch.num_rows() as i32));
        next += batch.num_rows() as i32;
    }
    Ok(same && next == NUMBERS)
}

fn half_a_result(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let transaction = connection.begin_lazy(TransactionOptions::reading())?;
    let limits = BatchLimits::default().rows(100);
    let statement = transaction.prepare("SELECT id, half FROM numbers")?.with_limits(limits);
    let mut cursor = statement.query(&transaction, ())?;
    let mut rows = 0;
    for _ in 0..choice.below(5) {
        rows += cursor.next_batch()?.map_or(0, |batch| batch.num_rows());
    }
    if choice.once_in(2) {
        cursor.close()?;
        transaction.rollback()?;
    }
    Ok(rows.is_multiple_of(100))
}

fn lazy_blobs(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let mut options = ReadOptions::default();
    options.set("blobs", "lazy").expect("a value of the switch");
    let statement = transaction.prepare("SELECT text, bytes FROM everything WHERE id < 60")?;
    let mut cursor = statement.with_read_options(options).query(&transaction, ())?;
    let mut read = 0;
    while let Some(batch) = cursor.next_batch()? {
        for column in batch.columns() {
            let Some(ids) = column.as_primitive_opt::<UInt64Type>() else { return Ok(false) };
            read += transaction.read_blobs(ids)?.len();
        }
    }
    // Ids that no column gave are for the server to refuse.
    let refused = transaction.read_blobs(&UInt64Array::from(vec![0xdead_beef_0000_0001]));
    Ok(fails(refused, ENGINE)? && read == 120)
}

fn blob_stream(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let mut options = ReadOptions::default();
    options.set("blobs", "lazy").expect("a value of the switch");
    let statement = transaction.prepare("SELECT text FROM everything WHERE MOD(id, 50) = 0")?;
    let mut cursor = statement.with_read_options(options).query(&transaction, ())?;
    let Some(batch) = cursor.next_batch()? else { return Ok(false) };
    let Some(ids) = batch.column(0).as_primitive_opt::<UInt64Type>().filter(|ids| !ids.is_empty()) else {
        return Ok(false);
    };
    let mut reader = transaction.open_blob(ids.value(0))?;
    let mut bytes = Vec::new();
    let read = if choice.once_in(3) {
        BufReader::new(&mut reader).take(100).read_until(b'x', &mut bytes)
    } else {
        // A BLOB without end is met by the limits of the client, not by those of this program.
        reader.read_to_end(&mut bytes)
    };
    read.map_err(reading_bytes)?;
    Ok(bytes.starts_with(b"note note "))
}

fn arrays(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = varied(transaction.prepare("SELECT * FROM lists ORDER BY id")?, choice);
    Ok(drain(statement.query(&transaction, ())?)? == 20)
}

fn array_parameters(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let mut transaction = connection.begin(TransactionOptions::default())?;
    let insert = "INSERT INTO list_target VALUES (?, ?, ?)";
    for id in 0..3 {
        transaction.execute_with(insert, Params::row(list_row(id)))?;
    }
    let rows = drain(transaction.query("SELECT * FROM list_target")?)?;
    transaction.rollback()?;
    Ok(rows == 3)
}

fn parameters(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::default())?;
    let statement = transaction.prepare("SELECT * FROM everything WHERE id = ? OR v = ? OR ts = ?")?;
    let mut rows = 0;
    for id in ["1", "17", "200"] {
        let values = [Some(id), Some("none"), None];
        rows += drain(statement.query(&transaction, Params::texts(values))?)?;
    }
    // Parameters are checked here or there, but they are.
    let wrong = statement.query(&transaction, Params::texts([Some("x"), None, None])).and_then(drain);
    Ok(fails(wrong, &[Kind::Data])? && rows == 3)
}

fn many_rows(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let mut transaction = connection.begin(TransactionOptions::default())?;
    let insert = transaction.prepare("INSERT INTO target (id, name, note) VALUES (?, ?, ?)")?;
    let count = 1 + choice.below(400) as i32;
    let done = insert.execute_rows(&mut transaction, &people(0..count, 50), OnFailure::Continue)?;
    // One of them is there already.
    let policy = choice.of(&[OnFailure::Stop, OnFailure::Continue]);
    let again = insert.execute_rows(&mut transaction, &people(count - 1..count + 20, 50), policy)?;
    transaction.commit()?;
    Ok(done.rows == count as usize && done.failures.is_empty() && again.failures.len() == 1)
}

fn returning(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::default())?;
    let sql = "INSERT INTO target (id, name, note) VALUES (?, ?, ?) RETURNING id, note, moment";
    let rows = drain(transaction.query_with(sql, people(5..6, 1))?)?;
    transaction.commit()?;
    Ok(rows == 1)
}

fn returning_many(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::default())?;
    let sql = "INSERT INTO target (id, name, note) VALUES (?, ?, ?) RETURNING id, name, note, moment";
    let insert = varied(transaction.prepare(sql)?, choice);
    let mut cursor = insert.query_rows(&transaction, &people(0..150, 40), OnFailure::Continue)?;
    let mut rows = 0;
    while let Some(batch) = cursor.next_batch()? {
        rows += batch.num_rows();
    }
    let executed = cursor.close()?;
    transaction.commit()?;
    Ok(rows == 150 && executed.rows == 150)
}

fn scrolling(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let options = ScrollOptions::default().memory(8 << 20).keep_rows(choice.once_in(2));
    let statement = varied(transaction.prepare("SELECT * FROM everything ORDER BY id")?, choice);
    let statement = statement.with_scroll_options(options);
    let mut cursor = statement.query_scrollable(&transaction, ())?;
    let rows = |batch: Option<RecordBatch>| batch.map_or(0, |batch| batch.num_rows());
    let found = [
        rows(cursor.next(10)?),
        rows(cursor.last()?),
        rows(cursor.prior(3)?),
        rows(cursor.absolute(7)?),
        rows(cursor.relative(-3)?),
        rows(cursor.first()?),
        rows(cursor.absolute(100_000)?),
    ];
    cursor.close()?;
    Ok(found == [10, 1, 3, 1, 1, 1, 0])
}

fn catalog(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let catalog = connection.catalog()?.with_system_tables(choice.once_in(2));
    let name = choice.of(&[Name::Any, Name::Is("EVERYTHING"), Name::Like("%E%")]);
    let tables = catalog.tables(name)?.len();
    let columns = catalog.columns(name, Name::Any)?.len();
    let constraints = catalog.constraints(name)?.len();
    let indexes = catalog.indexes(name)?.len();
    Ok(tables > 0 && columns > 15 && constraints > 0 && indexes > 0)
}

fn failures(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let mut transaction = connection.begin(TransactionOptions::default())?;
    let syntax = fails(transaction.execute("SELEKT 1"), &[Kind::Syntax])?;
    let unknown = fails(transaction.query("SELECT nothing FROM nowhere"), &[Kind::Syntax])?;
    let division = transaction.query("SELECT 1 / (id - 5) FROM numbers").and_then(drain);
    let division = fails(division, &[Kind::Data, Kind::Engine])?;
    let twice = transaction.execute("INSERT INTO numbers VALUES (1, 1)");
    let twice = fails(twice, &[Kind::Constraint])?;
    transaction.commit()?;
    Ok(syntax && unknown && division && twice)
}

fn savepoints(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let mut transaction = connection.begin(TransactionOptions::default())?;
    transaction.execute_with("INSERT INTO target (id, name, note) VALUES (?, ?, ?)", people(1..2, 9))?;
    transaction.savepoint("one")?;
    transaction.execute("UPDATE target SET name = 'other'")?;
    transaction.rollback_to_savepoint("one")?;
    transaction.release_savepoint("one")?;
    let rows = drain(transaction.query("SELECT id FROM target WHERE name = 'name 1'")?)?;
    transaction.commit()?;
    Ok(rows == 1)
}

fn transactions(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let mut transaction = connection.begin(TransactionOptions::default())?;
    let number = transaction.number()?;
    transaction.execute("INSERT INTO target (id) VALUES (1)")?;
    transaction.commit_retaining()?;
    let changed = transaction.has_changes()?;
    transaction.execute("INSERT INTO target (id) VALUES (2)")?;
    transaction.rollback_retaining()?;
    match transaction.snapshot_number() {
        Ok(_) => {}
        Err(error) if error.kind() == Kind::Unsupported => {}
        Err(error) => return Err(error),
    }
    transaction.commit()?;
    Ok(number > 0 && changed)
}

fn statistics(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let before = connection.counters()?;
    let statistics = connection.statistics()?;
    let spent = connection.counters()?.since(&before);
    Ok(!format!("{statistics:?} {spent:?}").is_empty())
}

fn partitions(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let options = PartitionOptions::default().wanted(3).without_snapshot(true);
    let query = connection.partition("SELECT id, half FROM numbers", (), &options)?;
    let mut rows = 0;
    for partition in query.partitions() {
        rows += drain(connection.read_partition(partition, BatchLimits::default())?)?;
    }
    Ok(rows == NUMBERS as usize)
}

fn plan(connection: &Connection, choice: &mut Choice) -> Result<bool> {
    let statement = connection.prepare("SELECT * FROM everything e JOIN numbers n ON n.id = e.id")?;
    Ok(statement.plan(choice.once_in(2))?.contains("PRIMARY"))
}

fn immediate(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let mut transaction = connection.begin_lazy(TransactionOptions::default())?;
    transaction.execute_immediate("INSERT INTO target (id) VALUES (1)")?;
    let updated = transaction.execute("UPDATE target SET id = 2")?;
    let deleted = transaction.execute("DELETE FROM target")?;
    transaction.commit()?;
    Ok((updated.affected_rows, deleted.affected_rows) == (Some(1), Some(1)))
}

fn events(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let name = format!("event {}", std::process::id());
    let listener = connection.events(&[&name, "another"])?;
    connection.execute(&format!("EXECUTE BLOCK AS BEGIN POST_EVENT '{name}'; END"))?;
    let counts = listener.wait(Duration::from_millis(200))?;
    listener.close()?;
    Ok(counts.is_some_and(|counts| counts.get(&name) == 1))
}

fn cancelling(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let handle = connection.cancel_handle();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(60));
        handle.cancel()
    });
    let result = connection.query(ENDLESS).and_then(drain);
    canceller.join().expect("cancelling does not panic");
    fails(result, &[Kind::Cancelled])
}

fn time_limit(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = transaction.prepare(ENDLESS)?.with_timeout(Some(Duration::from_millis(80)));
    let late = fails(statement.query(&transaction, ()).and_then(drain), &[Kind::Timeout])?;
    transaction.rollback()?;
    Ok(late)
}

fn limbo(connection: &Connection, _: &mut Choice) -> Result<bool> {
    connection.limbo_transactions()?;
    let mut transaction = connection.begin(TransactionOptions::default())?;
    transaction.execute("INSERT INTO target (id) VALUES (1)")?;
    transaction.prepare_commit(b"hostile")?;
    transaction.rollback()?;
    Ok(true)
}

fn autocommit(connection: &Connection, _: &mut Choice) -> Result<bool> {
    let inserted = connection.execute("INSERT INTO target (id) VALUES (3)")?;
    let rows = connection.query("SELECT COUNT(*) FROM target")?.next_batch()?;
    let count = rows.and_then(|rows| Some(rows.column(0).as_primitive_opt::<Int64Type>()?.value(0)));
    Ok(inserted.affected_rows == Some(1) && count == Some(0))
}

/// The failures of a server that knows what it was asked.
const ENGINE: &[Kind] = &[Kind::Engine, Kind::Syntax, Kind::Data, Kind::Database, Kind::Closed];

fn reading(error: arrow::error::ArrowError) -> Error {
    match error {
        arrow::error::ArrowError::ExternalError(inner) => {
            *inner.downcast::<Error>().expect("a cursor fails with an error of its own")
        }
        other => panic!("{other}"),
    }
}

fn reading_bytes(error: std::io::Error) -> Error {
    let inner = error.into_inner().expect("a BLOB fails with an error of its own");
    *inner.downcast::<Error>().expect("a BLOB fails with an error of its own")
}
