//! Windows.
//!
//! Programs of the system are started by their full paths, and what the shell starts is not looked for in the current
//! folder: anybody may have put a program there.

use std::env;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A command line for the system's shell.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new(of_system("cmd.exe"));
    // The shell has quoting rules of its own: it removes the first and the last quote, and nothing else.
    shell.args(["/D", "/S", "/C"]).raw_arg(format!("\"{line}\""));
    shell.env("NoDefaultCurrentDirectoryInExePath", "1");
    shell
}

/// Kills a [`shell`] with everything it has started.
pub(crate) fn kill_family(child: &mut Child) {
    let mut command = Command::new(of_system("taskkill.exe"));
    command.args(["/F", "/T", "/PID", &child.id().to_string()]);
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// A program of Windows.
fn of_system(name: &str) -> PathBuf {
    let windows = env::var_os("SystemRoot").filter(|path| Path::new(path).is_absolute());
    windows.map_or_else(|| r"C:\Windows".into(), PathBuf::from).join("System32").join(name)
}
