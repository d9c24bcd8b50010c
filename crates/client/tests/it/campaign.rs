//! A session with a bit of everything, and a path to the server that breaks at each of its steps: always a typed error,
//! never a wait, never a wrong row, and all or nothing in the database.

use crate::support::{at, column, fresh_closed, run};
use arrow::array::*;
use arrow::datatypes::{Int32Type, Int64Type};
use firearrow::{CommitOutcome, Config, Connection, Error, Kind, OnFailure, Params, ReadOptions};
use firearrow_testkit::{Behaviour, Proxy, Target, matrix};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROWS: i32 = 3000;
const WRITTEN: i32 = 300;

/// A database with a table to read, and one to write.
fn database(target: &Target) -> Config {
    let config = fresh_closed(target);
    let connection = Connection::open(&config).expect("it opens");
    run(&connection, "CREATE TABLE source (id INTEGER, name VARCHAR(80), note BLOB SUB_TYPE TEXT)");
    run(&connection, "CREATE TABLE target (id INTEGER PRIMARY KEY, note BLOB SUB_TYPE TEXT)");
    run(
        &connection,
        &format!(
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < {ROWS}) DO BEGIN
                     INSERT INTO source VALUES (:i, 'name ' || :i,
                         IIF(MOD(:i, 100) = 0, RPAD('', 5000, :i || ' '), 'note ' || :i));
                     i = i + 1;
                 END
             END"
        ),
    );
    config
}

fn note(id: i32) -> String {
    if id % 100 == 0 {
        let pattern = format!("{id} ");
        pattern.chars().cycle().take(5000).collect()
    } else {
        format!("note {id}")
    }
}

/// Checks every value of a batch that begins with row `first`.
fn check(batch: &RecordBatch, first: i32) {
    for row in 0..batch.num_rows() {
        let id = first + row as i32;
        assert_eq!(batch.column(0).as_primitive::<Int32Type>().value(row), id);
        assert_eq!(batch.column(1).as_string::<i32>().value(row), format!("name {id}"));
        assert_eq!(batch.column(2).as_string::<i32>().value(row), note(id));
    }
}

/// Reads, writes, fails, cancels nothing, commits. After each step `step` gets the bytes that have come by then.
fn session(config: &Config, step: &mut dyn FnMut(&Connection)) -> Result<(), Error> {
    let connection = Connection::open(config)?;
    step(&connection);
    let mut transaction = connection.begin(Default::default())?;
    step(&connection);
    for policy in ["adaptive", "pipelined"] {
        let mut options = ReadOptions::default();
        options.set("blobs", policy).expect("a policy");
        let statement = transaction.prepare("SELECT id, name, note FROM source ORDER BY id")?;
        let mut cursor = statement.with_read_options(options).query(&transaction, ())?;
        step(&connection);
        let mut read = 0;
        while let Some(batch) = cursor.next_batch()? {
            check(&batch, read);
            read += batch.num_rows() as i32;
            step(&connection);
        }
        assert_eq!(read, ROWS, "a result that ends early must be an error");
    }
    // Half a result.
    let mut half = transaction.query("SELECT id, name, note FROM source ORDER BY id")?;
    check(&half.next_batch()?.expect("there are rows"), 0);
    drop(half);
    step(&connection);
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..WRITTEN));
    let notes: ArrayRef = Arc::new(StringArray::from_iter_values((0..WRITTEN).map(note)));
    let rows = RecordBatch::try_from_iter([("id", ids), ("note", notes)]).expect("equal lengths");
    let insert = transaction.prepare("INSERT INTO target VALUES (?, ?)")?;
    let done = insert.execute_rows(&mut transaction, &rows, OnFailure::Continue)?;
    assert_eq!((done.rows, done.failures.len()), (WRITTEN as usize, 0));
    step(&connection);
    // One that fails: the session goes on, unless the path is broken.
    let again = insert
        .execute(&mut transaction, Params::row([rows.column(0).slice(0, 1), rows.column(1).slice(0, 1)]));
    let error = again.expect_err("a duplicate");
    if error.kind() != Kind::Constraint {
        return Err(error);
    }
    step(&connection);
    let error = transaction.query("SELECT nothing FROM nowhere").expect_err("no such table");
    if error.kind() != Kind::Syntax {
        return Err(error);
    }
    step(&connection);
    transaction.execute("UPDATE target SET note = 'changed' WHERE id = 0")?;
    step(&connection);
    drop(insert);
    transaction.commit()?;
    step(&connection);
    connection.ping()?;
    step(&connection);
    connection.close()
}

/// What `session` left: nothing, or everything.
fn committed(connection: &Connection) -> bool {
    let count = column(connection, "SELECT COUNT(*) FROM target").as_primitive::<Int64Type>().value(0);
    assert!(count == 0 || count == i64::from(WRITTEN), "{count} rows");
    if count > 0 {
        let notes = column(connection, "SELECT note FROM target ORDER BY id");
        let notes = notes.as_string::<i32>();
        assert_eq!(notes.value(0), "changed");
        assert!((1..WRITTEN).all(|id| notes.value(id as usize) == note(id)));
        run(connection, "DELETE FROM target");
    }
    count > 0
}

/// Waits until the server has noticed that the others are gone: nothing of them may be left over.
fn wait_until_alone(connection: &Connection) {
    let others = "SELECT COUNT(*) FROM MON$ATTACHMENTS
                  WHERE MON$SYSTEM_FLAG = 0 AND MON$ATTACHMENT_ID <> CURRENT_CONNECTION";
    let deadline = Instant::now() + Duration::from_secs(20);
    // Firebird 4.0.5 may die of this question while attachments are ending, so they get time to end first.
    std::thread::sleep(Duration::from_millis(100));
    while column(connection, others).as_primitive::<Int64Type>().value(0) > 0 {
        assert!(Instant::now() < deadline, "attachments are left over");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// `original` through a proxy to the same server, without encryption so that positions mean the same each time.
fn through(target: &Target, original: &Config, proxy: &Proxy) -> Config {
    let mut config = at(target, original, proxy.address(), "wire_crypt=disabled");
    config.connect_timeout = Duration::from_secs(5);
    config.read_timeout = Some(Duration::from_secs(5));
    config
}

/// Where to break a direction: at the end of each step, one byte before and behind, and in the middle of it.
fn positions(ends: &[u64]) -> Vec<u64> {
    let mut positions = vec![1, 2, 3, 4, 5, 30];
    let mut last = 0;
    for &end in ends {
        positions.extend([end - 1, end, end + 1, last + (end - last) / 2]);
        last = end;
    }
    positions.sort_unstable();
    positions.dedup();
    positions
}

matrix!(
    wire,
    fn a_break_at_any_step_is_told_and_leaves_all_or_nothing(target: &Target) {
        let original = database(target);
        let direct = Connection::open(&original).expect("it opens");
        let probe = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
        let (mut received, mut sent) = (Vec::new(), Vec::new());
        session(&through(target, &original, &probe), &mut |connection| {
            let stats = connection.wire_stats();
            received.push(stats.bytes_received);
            sent.push(stats.bytes_sent);
        })
        .expect("nothing is broken");
        assert!(committed(&direct));
        assert!(received.len() > 12, "{received:?}");
        let mut cases = Vec::new();
        cases.extend(positions(&received).into_iter().map(|at| (at, Behaviour::cut_from_server(at))));
        cases.extend(positions(&sent).into_iter().map(|at| (at, Behaviour::cut_from_client(at))));
        // Each takes a while: every server breaks at a third of them, and over Tokio at another one.
        let first = target.generation() as usize + usize::from(module_path!().starts_with("over_tokio"));
        let mut outcomes = (0, 0);
        for (at, behaviour) in cases.into_iter().skip(first % 3).step_by(3) {
            let proxy = Proxy::start(target.server().address(), behaviour).expect("a proxy");
            let start = Instant::now();
            let result = session(&through(target, &original, &proxy), &mut |_| {});
            assert!(start.elapsed() < Duration::from_secs(20), "cut at {at}: {:?}", start.elapsed());
            drop(proxy);
            // What had reached the server by then may still be going on.
            wait_until_alone(&direct);
            let is_committed = committed(&direct);
            match result {
                Err(error) => {
                    assert!(
                        matches!(error.kind(), Kind::Closed | Kind::Timeout | Kind::CommitUnknown),
                        "cut at {at}, {behaviour:?}: {:?} {error}",
                        error.kind()
                    );
                    match error.lost_commit().map(|lost| lost.outcome) {
                        Some(CommitOutcome::Committed) => assert!(is_committed, "cut at {at}: {error}"),
                        Some(CommitOutcome::RolledBack) => assert!(!is_committed, "cut at {at}: {error}"),
                        Some(CommitOutcome::Unknown) | None => {}
                    }
                    outcomes.0 += 1;
                }
                // Reads run a little ahead of what a step needs: a cut there meets nobody.
                Ok(()) => {
                    assert!(is_committed, "cut at {at}: success, but nothing is there");
                    outcomes.1 += 1;
                }
            }
        }
        assert!(outcomes.0 > 20, "{outcomes:?}");
        println!("{target}: {} breaks told, {} behind the end", outcomes.0, outcomes.1);
    },
    fn an_attachment_that_is_shut_down_is_told(target: &Target) {
        let original = database(target);
        let direct = Connection::open(&original).expect("it opens");
        let victim = Connection::open(&original).expect("it opens");
        let transaction = victim.begin(Default::default()).expect("it starts");
        let own = "SELECT CURRENT_CONNECTION FROM RDB$DATABASE";
        let mut number = transaction.query(own).expect("it runs");
        let number = number.next_batch().expect("it reads").expect("a row");
        let number = arrow::util::display::array_value_to_string(number.column(0), 0).expect("a number");
        let mut cursor = transaction.query("SELECT a.id, b.name FROM source a, source b").expect("it runs");
        cursor.next_batch().expect("it reads").expect("rows");
        run(&direct, &format!("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = {number}"));
        let error = loop {
            match cursor.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("nine million rows have not been read"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), Kind::Closed, "{error}");
        assert!(victim.ping().is_err());
    }
);
