//! A contestant of `firearrow bench driver`: rsfbclient. See bench/peers/README.md.

use chrono::{DateTime, NaiveDateTime};
use rsfbclient::{Queryable, Row, SqlType};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::BufRead;
use std::time::Instant;
use std::{fs, io};

#[derive(Deserialize)]
struct Job {
    sql: String,
    columns: Vec<Column>,
    host: String,
    port: u16,
    database: String,
    user: String,
    password: String,
    encrypted: bool,
    compressed: bool,
}

#[derive(Deserialize)]
struct Column {
    name: String,
    kind: String,
}

#[derive(Default, Serialize)]
struct Done {
    rows: u64,
    hashes: Vec<String>,
    connect_s: f64,
    execute_s: f64,
    drain_s: f64,
    release_s: f64,
    cpu_s: f64,
    peak_rss_bytes: Option<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut lines = io::stdin().lock().lines();
    let job: Job = serde_json::from_str(&lines.next().ok_or("no job")??)?;
    let unable = match (job.host.is_empty(), job.compressed, job.encrypted) {
        (true, ..) => Some("its pure_rust client reads from servers only"),
        (_, true, _) => Some("it does not compress"),
        (.., false) => Some("it always encrypts, and the others do not here"),
        _ => None,
    };
    if let Some(reason) = unable {
        println!("{}", serde_json::json!({ "error": reason }));
        return Ok(());
    }
    println!("{}", serde_json::json!({ "ready": "rsfbclient 0.29" }));
    for line in lines {
        line?;
        match turn(&job) {
            Ok(done) => println!("{}", serde_json::to_string(&done)?),
            Err(error) => println!("{}", serde_json::json!({ "error": error.to_string() })),
        }
    }
    Ok(())
}

fn turn(job: &Job) -> Result<Done, Box<dyn Error>> {
    let is_fresh = fs::write("/proc/self/clear_refs", "5").is_ok();
    let cpu = processor();
    let mut last = Instant::now();
    let mut lap = || std::mem::replace(&mut last, Instant::now()).elapsed().as_secs_f64();
    let mut done = Done::default();
    let mut connection = rsfbclient::builder_pure_rust()
        .host(&job.host)
        .port(job.port)
        .db_name(&job.database)
        .user(&job.user)
        .pass(&job.password)
        .connect()?;
    done.connect_s = lap();
    let mut sums = vec![0_u64; job.columns.len()];
    {
        let rows = connection.query_iter::<(), Row>(&job.sql, ())?;
        done.execute_s = lap();
        for row in rows {
            for ((sum, column), value) in sums.iter_mut().zip(&job.columns).zip(row?.cols) {
                *sum = sum.wrapping_add(hash(value.value, column)?);
            }
            done.rows += 1;
        }
        done.drain_s = lap();
    }
    connection.close()?;
    done.release_s = lap();
    done.cpu_s = processor() - cpu;
    done.peak_rss_bytes = is_fresh.then(peak).flatten();
    done.hashes = sums.iter().map(|sum| format!("{sum:016x}")).collect();
    Ok(done)
}

/// The hash of a value: crates/bench/src/demo/checksum.rs.
fn hash(value: SqlType, column: &Column) -> Result<u64, String> {
    let kind = column.kind.as_str();
    Ok(match (value, kind) {
        (SqlType::Null, _) => mix(1),
        (SqlType::Integer(value), "int16" | "int32" | "int64") => {
            mix(mix(value as u64) ^ (value >> 63) as u64 ^ 2)
        }
        (SqlType::Floating(value), "float32" | "float64") => mix(value.to_bits() ^ 3 << 60),
        (SqlType::Boolean(value), "boolean") => mix(u64::from(value) ^ 4 << 60),
        (SqlType::Timestamp(value), "timestamp") => mix(moment(value).timestamp_micros() as u64 ^ 5 << 60),
        (SqlType::Timestamp(value), "date") => {
            mix(moment(value).timestamp().div_euclid(86_400) as u64 ^ 6 << 60)
        }
        (SqlType::Text(value), "text") => words(value.as_bytes(), 7),
        (SqlType::Binary(value), "binary") => words(&value, 9),
        (value, _) => {
            let value = format!("{value:?}");
            let of = value.split('(').next().unwrap_or_default();
            return Err(format!("column {} ({kind}) has values of the kind {of}; its figures are withheld", column.name));
        }
    })
}

fn moment(value: NaiveDateTime) -> DateTime<chrono::Utc> {
    value.and_utc()
}

fn words(value: &[u8], kind: u64) -> u64 {
    let mut hash = mix(value.len() as u64 ^ kind << 60);
    for piece in value.chunks(8) {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        hash = mix(hash ^ u64::from_le_bytes(word));
    }
    hash
}

fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Processor time of the process in seconds, in the kernel's units of 10 ms.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields).unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
