//! Runs a query through the Firebird client library and prints what it cost, one JSON line per repetition.
#![forbid(unsafe_code)]

use firearrow_fbapi::{Library, LoadOptions, Providers, Runtime, RuntimeHint};
use firearrow_peers::cpu::CpuTime;
use firearrow_peers::{RawLoop, raw_loop};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const USAGE: &str =
    "usage: firearrow-peer-libfb --client PATH --database [HOST[/PORT]:]PATH --user NAME
                            --sql QUERY [--repeat N] [--wire-crypt disabled|enabled] [--compress]

The password is that of FIREARROW_PASSWORD: arguments can be read by every user of a machine.
A database without a host is opened by the engine beside the client library, in this process.";

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
    let is_remote = !arguments.database.starts_with('/') && arguments.database.contains(':');
    let providers = if is_remote { Providers::Remote } else { Providers::Engine };
    let runtime = Runtime::discover(&RuntimeHint { path: arguments.client.clone() })?;
    let library = Library::load(&runtime, &LoadOptions { providers, ..LoadOptions::default() })?;
    let dpb = arguments.dpb(is_remote)?;
    for _ in 0..arguments.repeat {
        println!("{}", measure(&library, arguments, &dpb)?);
    }
    Ok(())
}

/// One repetition, from connecting to disconnecting, as a line of JSON.
fn measure(library: &Arc<Library>, arguments: &Arguments, dpb: &[u8]) -> Result<String, Box<dyn Error>> {
    let before = CpuTime::now()?;
    let start = Instant::now();
    let attachment = library.attach(&arguments.database, dpb)?;
    let connect = start.elapsed();
    let RawLoop { rows, bytes, checksum, execute, first_row, drain, release } =
        raw_loop(&attachment, &arguments.sql)?;
    let start = Instant::now();
    attachment.detach()?;
    let detach = start.elapsed();
    let cpu = CpuTime::now()?.since(before);
    let seconds = |(name, time): (&str, Duration)| format!("\"{name}\":{:.6}", time.as_secs_f64());
    let times = [
        ("connect_s", connect),
        ("execute_s", execute),
        ("first_row_s", first_row),
        ("drain_s", drain),
        ("release_s", release),
        ("detach_s", detach),
        ("cpu_user_s", cpu.user),
        ("cpu_sys_s", cpu.system),
    ];
    let times = times.map(seconds).join(",");
    Ok(format!("{{\"rows\":{rows},\"bytes\":{bytes},\"checksum\":\"{checksum:016x}\",{times}}}"))
}

struct Arguments {
    client: Option<PathBuf>,
    database: String,
    user: String,
    sql: String,
    repeat: u32,
    wire_crypt: Option<&'static str>,
    compress: bool,
}

impl Arguments {
    fn parse(mut given: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut arguments = Self {
            client: None,
            database: String::new(),
            user: "SYSDBA".into(),
            sql: String::new(),
            repeat: 1,
            wire_crypt: None,
            compress: false,
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"));
            match name.as_str() {
                "--client" => arguments.client = Some(value()?.into()),
                "--database" => arguments.database = value()?,
                "--user" => arguments.user = value()?,
                "--sql" => arguments.sql = value()?,
                "--repeat" => arguments.repeat = value()?.parse()?,
                "--wire-crypt" => {
                    arguments.wire_crypt = Some(match value()?.to_ascii_lowercase().as_str() {
                        "disabled" => "Disabled",
                        "enabled" => "Enabled",
                        other => return Err(format!("--wire-crypt {other}\n{USAGE}").into()),
                    });
                }
                "--compress" => arguments.compress = true,
                _ => return Err(format!("{name} is not known\n{USAGE}").into()),
            }
        }
        if arguments.database.is_empty() || arguments.sql.is_empty() {
            return Err(USAGE.into());
        }
        Ok(arguments)
    }

    /// The database parameter block.
    fn dpb(&self, is_remote: bool) -> Result<Vec<u8>, Box<dyn Error>> {
        const USER_NAME: u8 = 28;
        const PASSWORD: u8 = 29;
        const LC_CTYPE: u8 = 48;
        const UTF8_FILENAME: u8 = 77;
        const CONFIG: u8 = 87;
        let mut dpb = vec![1]; // isc_dpb_version1
        let mut put = |tag: u8, value: &str| -> Result<(), Box<dyn Error>> {
            dpb.extend([tag, u8::try_from(value.len()).map_err(|_| format!("parameter {tag} is too long"))?]);
            dpb.extend_from_slice(value.as_bytes());
            Ok(())
        };
        put(USER_NAME, &self.user)?;
        put(LC_CTYPE, "UTF8")?;
        put(UTF8_FILENAME, "")?;
        if is_remote {
            put(PASSWORD, &std::env::var("FIREARROW_PASSWORD").unwrap_or_default())?;
        }
        let crypt = self.wire_crypt.map(|level| format!("WireCrypt = {level}"));
        let compression = self.compress.then(|| "WireCompression = true".to_owned());
        let config: Vec<String> = crypt.into_iter().chain(compression).collect();
        if is_remote && !config.is_empty() {
            put(CONFIG, &config.join("\n"))?;
        }
        Ok(dpb)
    }
}
