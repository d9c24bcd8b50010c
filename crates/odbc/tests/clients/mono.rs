//! System.Data.Odbc, as Mono has it.

use crate::sandbox::{Sandbox, program, script, skip};
use firearrow_testkit::{Skip, Target, matrix};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The program, compiled once per process.
fn compiled(target: &Target) -> Result<PathBuf, Skip> {
    static COMPILED: OnceLock<Result<(TempDir, PathBuf), String>> = OnceLock::new();
    let compile = |compiler: &PathBuf| {
        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        let program = folder.path().join("client.exe");
        let mut command = Command::new(compiler);
        command.arg(format!("-out:{}", program.display())).arg("-r:System.Data.dll").arg(script("mono.cs"));
        let output = command.output().expect("the compiler starts");
        match output.status.success() {
            true => Ok((folder, program)),
            // Without this package, the compiler does not find the assembly.
            false if !PathBuf::from("/usr/lib/mono/4.5/System.Data.dll").exists() => {
                Err("no System.Data: install libmono-system-data4.0-cil".to_owned())
            }
            false => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        }
    };
    let compiler = program("mcs", "mono-mcs", target)?;
    match COMPILED.get_or_init(|| compile(&compiler)) {
        Ok((_, program)) => Ok(program.clone()),
        Err(reason) => Err(skip(target, reason)),
    }
}

fn check(target: &Target, part: &str) -> Result<Sandbox, Skip> {
    let mono = program("mono", "mono-runtime", target)?;
    let client = compiled(target)?;
    let sandbox = Sandbox::new(target);
    let mut command = sandbox.command(mono);
    command.arg(client).arg(part);
    sandbox.check(command);
    Ok(sandbox)
}

matrix!(
    all,
    fn mono_reads_values_and_tables(target: &Target) -> Result<(), Skip> {
        check(target, "read").map(drop)
    },
    fn mono_writes_with_parameters_and_transactions(target: &Target) -> Result<(), Skip> {
        let sandbox = check(target, "write")?;
        assert_eq!(
            sandbox.value("SELECT LIST(ID || ':' || NAME, ',') FROM (SELECT * FROM PARENT ORDER BY ID)"),
            "1:Zoë €😀,3:kept"
        );
        Ok(())
    },
    fn mono_sees_errors_and_time_limits(target: &Target) -> Result<(), Skip> {
        check(target, "errors").map(drop)
    },
);
