//! Work for an instruction counter: what one row of a query, or one execution of a small statement, costs the client.
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect=instructions::measured instructions URL query 1 'SELECT * FROM T_WIDE'
//! valgrind --tool=callgrind --toggle-collect=instructions::measured instructions URL select 2000
//! valgrind --tool=callgrind --toggle-collect=instructions::measured instructions URL insert 2000
//! ```
//!
//! `?wire_crypt=disabled` leaves the cipher out.

use firearrow::{Connection, Params, ToParam, TransactionOptions};
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Its first column is the parameter.
const SELECT: &str = "SELECT CAST(? AS INTEGER), CAST('firearrow' AS VARCHAR(20)), 2.5E0 FROM RDB$DATABASE";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [url, what, times, ref sql @ ..] = arguments[..] else {
        return Err("usage: instructions URL query|select|insert TIMES [SQL]".into());
    };
    let (connection, times) = (Connection::connect(url)?, times.parse()?);
    let rows = match (what, sql) {
        ("query", [sql]) => query(&connection, times, sql)?,
        ("select", []) => select(&connection, times)?,
        ("insert", []) => insert(&connection, times)?,
        _ => return Err("query needs SQL, select and insert have their own".into()),
    };
    println!("{rows} rows, {:?}", connection.wire_stats());
    Ok(())
}

/// What the counter counts.
#[inline(never)]
fn measured(work: &mut dyn FnMut() -> Result<usize>) -> Result<usize> {
    work()
}

fn query(connection: &Connection, times: i32, sql: &str) -> Result<usize> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = transaction.prepare(sql)?;
    measured(&mut || {
        let mut rows = 0;
        for _ in 0..times {
            let mut cursor = statement.query(&transaction, ())?;
            while let Some(batch) = cursor.next_batch()? {
                rows += batch.num_rows();
            }
        }
        Ok(rows)
    })
}

fn select(connection: &Connection, times: i32) -> Result<usize> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = transaction.prepare(SELECT)?;
    let once = |number: i32| -> Result<()> {
        let found = statement.one_row(&transaction, [number], |row| {
            Ok((row.get::<i32>(0)?, row.get::<&str>(1)?.len(), row.get::<f64>(2)?))
        })?;
        if found == Some((number, 9, 2.5)) { Ok(()) } else { Err(format!("{number}: {found:?}").into()) }
    };
    // What the first execution makes is used by the others.
    once(0)?;
    measured(&mut || {
        (0..times).try_for_each(once)?;
        Ok(times as usize)
    })
}

fn insert(connection: &Connection, times: i32) -> Result<usize> {
    let columns: Vec<String> = (1..=10).map(|number| format!("C{number} INTEGER")).collect();
    connection.execute(&format!("RECREATE TABLE T_SMALL ({})", columns.join(", ")))?;
    let mut transaction = connection.begin(TransactionOptions::default())?;
    let statement = transaction.prepare("INSERT INTO T_SMALL VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut once = |row: i32| -> Result<()> {
        let values = (0..10).map(|column| (row + column).to_scalar());
        let inserted = statement.execute(&mut transaction, Params::values(values.collect()))?;
        if inserted.affected_rows == Some(1) { Ok(()) } else { Err(format!("{row}: {inserted:?}").into()) }
    };
    once(0)?;
    measured(&mut || {
        (0..times).try_for_each(&mut once)?;
        Ok(times as usize)
    })
}
