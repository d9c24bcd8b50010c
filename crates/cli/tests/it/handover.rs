//! `firearrow bench` and `firearrow oltp` start the program `firearrow-bench`.

use crate::command::{finish, plain};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

#[test]
fn the_program_is_looked_for_beside_the_command_only() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, path) = (folder.path().join("firearrow"), folder.path().join("path"));
    shell("cp \"$1\" \"$2\"", [Path::new(env!("CARGO_BIN_EXE_firearrow")), &alone]);
    fs::create_dir(&path).unwrap();
    script(&path.join("firearrow-bench"), "echo 'another one'");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&alone);
        finish(command.args(arguments).env("PATH", &path).current_dir(&path).output().unwrap())
    };
    for arguments in [&["bench", "fetch", "x.fdb"][..], &["oltp", "run", "x.fdb"]] {
        let outcome = run(arguments).failure(1, &["/firearrow-bench, which is missing"]);
        assert_eq!(outcome.text(), "");
    }
    let error = run(&["bench", "fetch", "x.fdb", "--json"]).failure(1, &["which is missing"]);
    assert!(error.stderr.starts_with("{\"error\":"), "{}", error.stderr);
    // What needs no benchmark works.
    let help = run(&["bench", "fetch", "--help"]).success();
    assert!(help.text().contains("Usage: firearrow bench fetch"), "{}", help.text());
    run(&["bench", "fetch"]).failure(2, &["<URL>"]);
    // Beside the command it is taken, whatever else there is, with the arguments as they are.
    let beside = folder.path().join("firearrow-bench");
    script(&beside, "printf '<%s>' \"$@\"; exit 7");
    let outcome = run(&["bench", "fetch", "x y.fdb", "--sql", "-- a\nSELECT 1", "--timeout=9s"]);
    assert_eq!(
        (outcome.code, outcome.text()),
        (7, "<bench><fetch><x y.fdb><--sql><-- a\nSELECT 1><--timeout=9s>")
    );
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o644)).unwrap();
    run(&["bench", "fetch", "x.fdb"]).failure(1, &["firearrow-bench: Permission denied"]);
    // What somebody else may have put there.
    let refused = || run(&["bench", "fetch", "x.fdb"]).failure(1, &["firearrow-bench is not started"]);
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o777)).unwrap();
    refused();
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o755)).unwrap();
    if nix::unistd::geteuid().is_root() {
        chown(&beside, Some(65534), None).unwrap();
        refused();
    }
    let elsewhere = path.join("elsewhere");
    fs::rename(&beside, &elsewhere).unwrap();
    symlink(elsewhere, &beside).unwrap();
    refused();
    fs::remove_file(&beside).unwrap();
    fs::create_dir(&beside).unwrap();
    refused();
}

/// Makes a program.
fn script(path: &Path, text: &str) {
    let text = format!("#!/bin/sh\n{text}\n");
    shell("printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"", [Path::new(&text), path]);
}

/// Programs are written by another process: one that this process forks for another test at that moment would keep the file open for
/// writing, and then it cannot be run.
fn shell(text: &str, arguments: [&Path; 2]) {
    assert!(Command::new("sh").args(["-c", text, "sh"]).args(arguments).status().unwrap().success());
}

#[test]
fn the_program_does_nothing_else() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firearrow-bench"));
    let outcome = finish(command.args(["query", "x.fdb", "SELECT 1"]).output().unwrap());
    outcome.failure(2, &["this program runs `bench` and `oltp`"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_firearrow-bench"));
    command.args(["bench", "fetch", "x.fdb"]).env("FIREARROW_BENCH_STARTED_BY", "0.0.9");
    finish(command.output().unwrap()).failure(1, &["firearrow is version 0.0.9", "from one archive"]);
    plain(&["bench", "fetch", "/no/such/file.fdb"]).failure(1, &["/no/such/file.fdb"]);
}
