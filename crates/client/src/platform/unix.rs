//! Linux and other Unix systems.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// A command line for the system's shell, which leads a group of processes of its own.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line).process_group(0);
    shell
}

/// Kills a [`shell`] with everything it has started.
pub(crate) fn kill_family(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}
