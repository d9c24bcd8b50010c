//! Many connections at once: what an idle asynchronous one takes, and what busy ones do in comparison with threads.
//!
//! ```sh
//! FIREARROW_URL=firebird://… cargo run --release -p firearrow --features tokio --example connections -- [idle] [busy] [turns]
//! ```
//!
//! The database must exist; nothing in it is changed. Prints one line per figure.

use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use firearrow::{Config, Connection, Params, asynchronous};
use std::env;
use std::error::Error;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

/// A small query with a parameter: one round trip, a handful of rows.
const QUERY: &str =
    "SELECT FIRST 10 R.RDB$RELATION_ID FROM RDB$RELATIONS R WHERE R.RDB$RELATION_ID > ? ORDER BY 1";

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// How long each way works in a turn.
const TURN: Duration = Duration::from_millis(1000);

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse::<usize>());
    let mut next = |default| arguments.next().unwrap_or(Ok(default));
    let (idle, busy, turns) = (next(1000)?, next(20)?, next(9)?);
    let config = Config::parse(&env::var("FIREARROW_URL")?)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(keep_idle(&config, idle))?;
    let mut ratios = Vec::new();
    for _ in 0..turns {
        let threads = busy_threads(&config, busy)?;
        let tasks = runtime.block_on(busy_tasks(&config, busy))?;
        println!("{busy} threads {threads:.0} queries/s, {busy} tasks on one thread {tasks:.0} queries/s");
        ratios.push(tasks / threads);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "ratio of {turns} turns: median {:.3}, {:.3} to {:.3}",
        ratios[turns / 2],
        ratios[0],
        ratios[turns - 1]
    );
    Ok(())
}

/// Bytes of memory that this process has in use.
fn resident() -> Result<usize> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<usize>()? * 1024)
}

async fn keep_idle(config: &Config, count: usize) -> Result<()> {
    // What the first one takes is not for each.
    let first = asynchronous::Connection::open(config).await?;
    check_async(&first).await?;
    let before = resident()?;
    let mut connections = Vec::with_capacity(count);
    for _ in 0..count {
        let connection = asynchronous::Connection::open(config).await?;
        check_async(&connection).await?;
        connections.push(connection);
    }
    let each = (resident()? - before) / count.max(1);
    println!("{count} idle connections: {:.1} KiB each", each as f64 / 1024.0);
    for connection in connections {
        connection.close().await?;
    }
    Ok(())
}

async fn check_async(connection: &asynchronous::Connection) -> Result<()> {
    let mut cursor = connection.query_with(QUERY, Params::texts([Some("0")])).await?;
    let mut rows = 0;
    while let Some(batch) = cursor.next_batch().await? {
        rows += batch
            .column(0)
            .as_primitive_opt::<arrow::datatypes::Int16Type>()
            .map_or(0, |column| column.iter().count());
        rows += batch.column(0).as_primitive_opt::<Int32Type>().map_or(0, |column| column.iter().count());
    }
    if rows == 10 { Ok(()) } else { Err(format!("{rows} rows where 10 are").into()) }
}

fn check(connection: &Connection) -> Result<()> {
    let mut rows = 0;
    for batch in connection.query_with(QUERY, Params::texts([Some("0")]))? {
        rows += batch?.num_rows();
    }
    if rows == 10 { Ok(()) } else { Err(format!("{rows} rows where 10 are").into()) }
}

fn busy_threads(config: &Config, count: usize) -> Result<f64> {
    let connections = (0..count).map(|_| Connection::open(config)).collect::<Result<Vec<_>, _>>()?;
    let begin = Instant::now();
    let work = |connection: Connection| -> Result<u64> {
        let mut queries = 0;
        while begin.elapsed() < TURN {
            check(&connection)?;
            queries += 1;
        }
        Ok(queries)
    };
    let queries: Result<u64> = thread::scope(|scope| {
        let threads: Vec<_> = connections.into_iter().map(|each| scope.spawn(|| work(each))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?).sum()
    });
    Ok(queries? as f64 / begin.elapsed().as_secs_f64())
}

async fn busy_tasks(config: &Config, count: usize) -> Result<f64> {
    let mut connections = Vec::new();
    for _ in 0..count {
        connections.push(asynchronous::Connection::open(config).await?);
    }
    let begin = Instant::now();
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|connection| {
            tokio::spawn(async move {
                let mut queries = 0_u64;
                while begin.elapsed() < TURN {
                    check_async(&connection).await?;
                    queries += 1;
                }
                Ok::<_, Box<dyn Error + Send + Sync>>(queries)
            })
        })
        .collect();
    let mut queries = 0;
    for task in tasks {
        queries += task.await??;
    }
    Ok(queries as f64 / begin.elapsed().as_secs_f64())
}
