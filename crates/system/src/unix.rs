//! Linux and other Unix systems.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};

/// A command line for the system's shell.
pub fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line);
    shell
}

/// Makes a command and what it will start a family of their own, which the terminal's signals do not reach.
pub fn own_family(command: &mut Command) {
    command.process_group(0);
}

/// Kills the [family](own_family) of a child. Nobody has waited for it yet, so its number is still its own.
pub fn kill_family(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// The file that contains this code: a program, or a library loaded into another one. Only Linux tells.
pub fn own_file() -> Option<PathBuf> {
    let here = own_file as fn() -> Option<PathBuf> as usize;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (from, rest) = line.split_once('-')?;
        let (to, _) = rest.split_once(' ')?;
        let range = usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?;
        range.contains(&here).then(|| line.find('/').map(|start| PathBuf::from(&line[start..])))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_code_knows_its_file() {
        assert_eq!(own_file(), std::env::current_exe().ok());
    }

    #[test]
    fn a_family_is_killed_as_a_whole() {
        let mut command = shell("sleep 60 & sleep 60; true");
        own_family(&mut command);
        let mut child = command.spawn().unwrap();
        kill_family(&mut child);
        assert!(!child.wait().unwrap().success());
    }
}
