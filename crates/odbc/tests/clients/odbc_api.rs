//! The Rust crate odbc-api. Its program links unixODBC, so it is a package of its own.

use crate::sandbox::{Sandbox, script, skip};
use firearrow_testkit::{Skip, Target, matrix};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program, built once per process.
fn built(target: &Target) -> Result<PathBuf, Skip> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build).clone().map_err(|reason| skip(target, reason))
}

fn build() -> Result<PathBuf, String> {
    // Next to this test, so that it stays built.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("odbc-api");
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--locked", "--manifest-path"]);
    command.arg(script("odbc_api/Cargo.toml")).arg("--target-dir").arg(&folder);
    let output = command.output().expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(folder.join("debug/odbc-api-client"));
    }
    match () {
        () if errors.contains("-lodbc") => Err("no libodbc.so: install unixodbc-dev".to_owned()),
        () if errors.contains("download") || errors.contains("registry") => {
            Err("no odbc-api: its crates cannot be fetched".to_owned())
        }
        () => panic!("{errors}"),
    }
}

matrix!(
    all,
    fn odbc_api_reads_and_writes(target: &Target) -> Result<(), Skip> {
        let client = built(target)?;
        let sandbox = Sandbox::new(target);
        sandbox.check(sandbox.command(client));
        assert_eq!(
            sandbox
                .value("SELECT COUNT(*) || ' ' || COUNT(NAME) || ' ' || SUM(CHAR_LENGTH(NAME)) FROM PARENT"),
            "2501 2501 13896"
        );
        Ok(())
    },
);
