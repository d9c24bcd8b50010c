//! Fetches or inserts through the Firebird client library and prints what it cost, one JSON line per
//! repetition.
#![forbid(unsafe_code)]

use firearrow_fbapi::{Attachment, Library, LoadOptions, Providers, Runtime, RuntimeHint};
use firearrow_peers::arguments::{Arguments, Work};
use firearrow_peers::cpu::CpuTime;
use firearrow_peers::{BlobLoop, InsertLoop, Method, RawLoop, SelectLoop, Wire};
use firearrow_peers::{blob_loop, insert_loop, oltp_terminals, raw_loop, select_loop};
use std::error::Error;
use std::fmt::Display;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    match Arguments::parse(std::env::args().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("firearrow-peer-libfb: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let providers = if arguments.is_remote() { Providers::Remote } else { Providers::Engine };
    let runtime = Runtime::discover(&RuntimeHint { path: arguments.client.clone() })?;
    let library = Library::load(&runtime, &LoadOptions { providers, ..LoadOptions::default() })?;
    let inline = arguments.inline(library.client_version())?;
    let dpb = arguments.dpb(inline)?;
    if arguments.warm_up {
        warm_up(&library, arguments, &dpb)?;
    }
    if arguments.work == Work::Oltp {
        return oltp_terminals(&library, arguments, &dpb, &serde_json::from_str(&arguments.plan)?);
    }
    for _ in 0..arguments.repeat {
        println!("{}", measure(&library, arguments, &dpb, inline)?);
    }
    Ok(())
}

/// Loads what is loaded on first use.
fn warm_up(library: &Arc<Library>, arguments: &Arguments, dpb: &[u8]) -> Result<(), Box<dyn Error>> {
    let attachment = library.attach(&arguments.database, dpb)?;
    raw_loop(&attachment, "SELECT 1 FROM RDB$DATABASE")?;
    Ok(attachment.detach()?)
}

/// One repetition, from connecting to disconnecting, as a line of JSON.
fn measure(
    library: &Arc<Library>,
    arguments: &Arguments,
    dpb: &[u8],
    inline: Option<u32>,
) -> Result<String, Box<dyn Error>> {
    let before = CpuTime::now()?;
    let start = Instant::now();
    let attachment = library.attach(&arguments.database, dpb)?;
    let connect = start.elapsed();
    if let Some(size) = inline {
        check_inline(&attachment, size)?;
    }
    let counts = arguments.is_remote() && library.client_version() >= (5, 0);
    let wire = || if counts { Wire::of(&attachment) } else { Ok(None) };
    let connected = wire()?;
    let mut line = Line::default();
    work(&mut line, &attachment, arguments, connect)?;
    if let (Some(connected), Some(done)) = (connected, wire()?) {
        line.put("bytes_sent", done.bytes_sent);
        line.put("bytes_received", done.bytes_received);
        line.put("round_trips", done.round_trips);
        line.put("connect_round_trips", connected.round_trips);
    }
    let start = Instant::now();
    attachment.detach()?;
    line.put_time("detach_s", start.elapsed());
    let cpu = CpuTime::now()?.since(before);
    line.put_time("cpu_user_s", cpu.user);
    line.put_time("cpu_sys_s", cpu.system);
    if let Some(size) = inline {
        line.put("inline", size);
    }
    Ok(format!("{{{}}}", line.0))
}

/// Does the work, and tells of it.
fn work(
    line: &mut Line,
    attachment: &Attachment,
    arguments: &Arguments,
    connect: Duration,
) -> Result<(), Box<dyn Error>> {
    match arguments.work {
        Work::Fetch => {
            let RawLoop { rows, bytes, checksum, execute, first_row, drain, release } =
                raw_loop(attachment, &arguments.sql)?;
            line.put("rows", rows);
            line.put("bytes", bytes);
            line.put("checksum", format_args!("\"{checksum:016x}\""));
            line.put_time("connect_s", connect);
            line.put_query([execute, first_row, drain, release]);
        }
        Work::Blobs => {
            let BlobLoop { rows, bytes, blobs, blob_bytes, checksum, execute, first_row, drain, release } =
                blob_loop(attachment, &arguments.sql)?;
            line.put("rows", rows);
            line.put("bytes", bytes);
            line.put("blobs", blobs);
            line.put("blob_bytes", blob_bytes);
            line.put("checksum", format_args!("\"{checksum:016x}\""));
            line.put_time("connect_s", connect);
            line.put_query([execute, first_row, drain, release]);
        }
        Work::Select(times) => {
            let cpu = CpuTime::now()?;
            let SelectLoop { rows, prepare, execute, release } =
                select_loop(attachment, &arguments.sql, times)?;
            let cpu = CpuTime::now()?.since(cpu);
            line.put("rows", rows);
            line.put_time("connect_s", connect);
            line.put_time("prepare_s", prepare);
            line.put_time("execute_s", execute);
            line.put_time("release_s", release);
            line.put_work(cpu);
        }
        Work::Oltp => return Err("terminals are no repetition".into()),
        Work::Insert(rows, method) => {
            let cpu = CpuTime::now()?;
            let InsertLoop { rows, prepare, execute, commit, release } =
                insert_loop(attachment, &arguments.sql, rows, method)?;
            let cpu = CpuTime::now()?.since(cpu);
            line.put_work(cpu);
            line.put("rows", rows);
            match method {
                Method::One => line.put("method", "\"one\""),
                Method::Batch(chunk) => {
                    line.put("method", "\"batch\"");
                    line.put("chunk", chunk);
                }
            }
            line.put_time("connect_s", connect);
            line.put_time("prepare_s", prepare);
            line.put_time("execute_s", execute);
            line.put_time("commit_s", commit);
            line.put_time("release_s", release);
        }
    }
    Ok(())
}

/// Fails if the client library has not taken the size. Libraries and servers that do not know of it send no
/// BLOBs along with rows.
fn check_inline(attachment: &Attachment, size: u32) -> Result<(), Box<dyn Error>> {
    match attachment.max_inline_blob_size() {
        Ok(used) if used == size => Ok(()),
        Ok(used) => Err(format!("--inline {size}: the client library takes {used} instead").into()),
        Err(_) if size == 0 => Ok(()),
        Err(error) => Err(format!("--inline needs client and server of Firebird 5.0.3: {error}").into()),
    }
}

/// The members of a JSON object.
#[derive(Default)]
struct Line(String);

impl Line {
    fn put(&mut self, name: &str, value: impl Display) {
        let comma = if self.0.is_empty() { "" } else { "," };
        self.0.push_str(&format!("{comma}\"{name}\":{value}"));
    }

    fn put_time(&mut self, name: &str, time: Duration) {
        self.put(name, format_args!("{:.6}", time.as_secs_f64()));
    }

    /// The processor time of the work alone, without connecting.
    fn put_work(&mut self, cpu: CpuTime) {
        self.put_time("work_user_s", cpu.user);
        self.put_time("work_sys_s", cpu.system);
    }

    fn put_query(&mut self, times: [Duration; 4]) {
        for (name, time) in ["execute_s", "first_row_s", "drain_s", "release_s"].into_iter().zip(times) {
            self.put_time(name, time);
        }
    }
}
