//! Runs the command.

use firearrow_testkit::{Server, Target};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Standard output.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text was asked for")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.text()).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Panics unless the run succeeded.
    #[track_caller]
    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    /// Panics unless the run failed with this status and an error that contains all of `texts`.
    #[track_caller]
    pub(crate) fn failure(self, code: i32, texts: &[&str]) -> Self {
        assert_eq!(self.code, code, "{}\n{}", String::from_utf8_lossy(&self.stdout), self.stderr);
        assert!(self.stderr.contains("error: ") || self.stderr.contains("{\"error\":"), "{}", self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "no {text:?} in {}", self.stderr);
        }
        self
    }
}

/// The command, not yet run, with nothing in its environment that could change what it does.
pub(crate) fn prepare(target: Option<&Target>, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firearrow"));
    command.args(arguments).stdin(Stdio::null());
    for name in [
        "ISC_USER",
        "ISC_PASSWORD",
        "FIREARROW_USER",
        "FIREARROW_PASSWORD",
        "FIREARROW_PASSWORD_FILE",
        "FIREARROW_DB_KEY",
        "FIREARROW_PEER",
    ] {
        command.env_remove(name);
    }
    if let Some(Target::Embedded(embedded)) = target {
        command.env("FIREARROW_ENGINE", &embedded.engine);
    }
    command
}

/// Runs the command.
pub(crate) fn firearrow(target: &Target, arguments: &[&str]) -> Outcome {
    finish(prepare(Some(target), arguments).output().expect("the command starts"))
}

/// Runs the command where no database is needed.
pub(crate) fn plain(arguments: &[&str]) -> Outcome {
    finish(prepare(None, arguments).output().expect("the command starts"))
}

/// Every test checks this along the way: no password in any output.
pub(crate) fn finish(output: Output) -> Outcome {
    let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
    let stdout = String::from_utf8_lossy(&output.stdout);
    for secret in [Server::PASSWORD, SECRET] {
        assert!(!stderr.contains(secret) && !stdout.contains(secret), "{stdout}\n{stderr}");
    }
    Outcome { code: output.status.code().unwrap_or(-1), stdout: output.stdout, stderr }
}

/// A database with demo tables of this many rows.
pub(crate) fn demo(target: &Target, rows: &str) -> String {
    target.copied_url(rows, |url| drop(firearrow(target, &["create-demo", url, "--rows", rows]).success()))
}

/// A path as an argument.
/// As much of a library of this system as is looked at, with a function.
pub(crate) fn like_a_library(function: &str) -> Vec<u8> {
    let program = std::env::current_exe().expect("a test has a path");
    let mut head = [0; 64];
    std::fs::File::open(program).and_then(|mut file| file.read_exact(&mut head)).expect("it is a program");
    [&head, function.as_bytes()].concat()
}

pub(crate) fn argument(path: &Path) -> &str {
    path.to_str().expect("temporary folders have simple names")
}

/// A password for tests about passwords.
pub(crate) const SECRET: &str = "s3cr3t-p4ss";
