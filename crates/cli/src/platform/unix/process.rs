//! Signals and child processes.

pub(crate) use firearrow_system::shell;
use nix::errno::Errno;
use nix::sys::signal::{self, Signal};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use signal_hook::consts::SIGXFSZ;
pub(crate) use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;
use std::num::NonZeroU32;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::{fs, io, thread};

/// The status with which the system's shell ends if there is no such program.
pub(crate) const NOT_FOUND: i32 = 127;
/// A pager that users expect.
pub(crate) const PAGER: &str = "less";

/// Calls `take` with each signal that is to end the command, in a thread of its own.
pub(crate) fn on_signal(mut take: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    // nohup(1) lets the command outlive its terminal; a shell that starts a background job lets it ignore Ctrl-\.
    let others = [SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGXFSZ].into_iter().chain(others))?;
    let work = move || {
        // A file that has reached its maximum size (`ulimit -f`) makes the write fail, which is enough.
        signals.forever().filter(|signal| *signal != SIGXFSZ).for_each(&mut take);
    };
    thread::Builder::new().name("signals".to_owned()).spawn(work).map(drop)
}

/// Whether the parent process set this signal to be ignored. Only Linux can tell without unsafe code.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored(&status).is_some_and(|set| set & 1 << (signal - 1) != 0)
}

/// Parses the set of ignored signals.
fn ignored(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// Ends this process without the exit handlers of libraries: they could wait for other threads.
pub(crate) fn exit(status: i32) -> ! {
    low_level::exit(status)
}

/// Makes a program take the place of this one. Returns why it could not.
pub(crate) fn become_program(mut command: Command) -> io::Error {
    command.exec()
}

/// Asks a child to end; it may have ended.
pub(crate) fn terminate(id: u32) {
    if let Ok(id) = i32::try_from(id) {
        let _ = signal::kill(Pid::from_raw(id), Signal::SIGTERM);
    }
}

/// Ends a process at once.
pub(crate) fn kill(id: NonZeroU32) -> io::Result<()> {
    Ok(signal::kill(Pid::from_raw(id.get().cast_signed()), Signal::SIGKILL)?)
}

/// Waits until a child has ended. Its number stays its own until it is waited for in the usual way.
pub(crate) fn await_end(child: &mut Child) {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    while waitid(Id::Pid(Pid::from_raw(child.id().cast_signed())), flags) == Err(Errno::EINTR) {}
}

/// A shell that asks for commands: the user's.
pub(crate) fn interactive_shell() -> Command {
    Command::new(user_shell())
}

/// A command line for the user's shell.
pub(crate) fn users_shell(line: &str) -> Command {
    let mut command = Command::new(user_shell());
    command.args(["-c", line]);
    command
}

fn user_shell() -> String {
    std::env::var("SHELL").unwrap_or_else(|_| "sh".to_owned())
}

/// The editor to use if the user has not chosen one.
pub(crate) const EDITOR: &str = "vi";

/// A command line for the system's shell, followed by a path.
pub(crate) fn shell_with(line: &str, path: &Path) -> Command {
    let mut command = shell(&format!("{line} \"$1\""));
    command.arg("sh").arg(path);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_a_set() {
        let status = "SigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert_eq!(ignored(status), Some(0x1001));
        assert_eq!(ignored("Name:\tfirearrow\n"), None);
        assert!(ignored(&fs::read_to_string("/proc/self/status").unwrap()).is_some());
    }
}
