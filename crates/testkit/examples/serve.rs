//! Starts a private server of each version and runs a command against it, or shows its URL and waits for Enter.
//!
//! ```text
//! cargo run -p firearrow-testkit --example serve -- 4.0
//! cargo run -p firearrow-testkit --example serve -- 3.0 4.0 5.0 -- sh -c 'firearrow info "$FIREARROW_URL"'
//! ```
//!
//! The command finds `FIREARROW_URL`, a database that does not exist yet, and `FIREARROW_CLIENT_LIBRARY`, the
//! server's own client library, if there is one. If the command fails and its server no longer works, this ends with 75.

use firearrow_testkit::{Generation, Server};
use std::error::Error;
use std::io;
use std::process::Command;

/// `EX_TEMPFAIL`: the command is not to blame.
const BROKEN: i32 = 75;

fn main() -> Result<(), Box<dyn Error>> {
    let mut versions: Vec<String> = std::env::args().skip(1).collect();
    let split = versions.iter().position(|argument| argument == "--");
    let mut command = split.map(|at| versions.split_off(at)).unwrap_or_default().into_iter().skip(1);
    let command = command.next().map(|program| (program, command.collect::<Vec<_>>()));
    if versions.is_empty() {
        versions = Generation::ALL.map(|generation| generation.number().to_owned()).to_vec();
    }
    for version in versions {
        let generation = Generation::ALL.into_iter().find(|generation| generation.number() == version);
        let generation =
            generation.ok_or_else(|| format!("there is no Firebird {version}: 3.0, 4.0 or 5.0"))?;
        let server = match Server::start(generation) {
            Ok(server) => server,
            Err(skip) => {
                eprintln!("skipped {skip}");
                continue;
            }
        };
        let url = server.url("firearrow");
        let client = server.client_library();
        let Some((program, arguments)) = &command else {
            println!("Firebird {}: {url}", server.version());
            if let Some(client) = client {
                println!("its client library: {}", client.display());
            }
            println!("Enter stops it.");
            io::stdin().read_line(&mut String::new())?;
            continue;
        };
        let mut command = Command::new(program);
        command.args(arguments).env("FIREARROW_URL", url);
        if let Some(client) = client {
            command.env("FIREARROW_CLIENT_LIBRARY", client);
        }
        let status = command.status()?;
        if !status.success() && !server.works() {
            eprintln!("Firebird {version} has stopped working\n{}", server.autopsy());
            drop(server);
            std::process::exit(BROKEN);
        }
        if !status.success() {
            return Err(format!("{program} against Firebird {version}: {status}").into());
        }
    }
    Ok(())
}
