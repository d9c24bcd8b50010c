//! Tells the command what it was built from, and for what: `firearrow --version --verbose` prints it.

use std::env;
use std::path::Path;
use std::process::Command;

const UNKNOWN: &str = "unknown";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    set("TARGET", &variable("TARGET").unwrap_or_default());
    let rustc = variable("RUSTC").and_then(|rustc| output(&rustc, &["--version"]));
    set("RUSTC", rustc.as_deref().map_or(UNKNOWN, |text| text.trim_start_matches("rustc ")));
    let (commit, time) = commit().unwrap_or_else(|| (UNKNOWN.to_owned(), UNKNOWN.to_owned()));
    set("COMMIT", &commit);
    set("COMMIT_TIME", &time);
}

/// The commit and its time: those that the builder names, or those of the checkout.
fn commit() -> Option<(String, String)> {
    for name in ["FIREARROW_COMMIT", "FIREARROW_COMMIT_TIME"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if let Some(commit) = variable("FIREARROW_COMMIT") {
        return Some((commit, variable("FIREARROW_COMMIT_TIME").unwrap_or_else(|| UNKNOWN.to_owned())));
    }
    // Builds for tests do not ask, because they would compile this crate again after every commit.
    if variable("PROFILE")? != "release" {
        return None;
    }
    // The sources may lie in a checkout of something else.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    let shown = git(&["log", "-1", "--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"])?;
    let (commit, time) = shown.split_once(' ')?;
    Some((commit.to_owned(), time.to_owned()))
}

fn set(name: &str, value: &str) {
    println!("cargo::rustc-env=FIREARROW_BUILD_{name}={value}");
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn git(arguments: &[&str]) -> Option<String> {
    output("git", arguments)
}

/// What a program prints, if it succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).env("TZ", "UTC").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
