//! Console events and child processes.

use firearrow_system::kill_tree;
pub(crate) use firearrow_system::shell;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

/// Numbers of signals, for the exit statuses that users know from other systems. All console events are reported as the
/// first.
pub(crate) const SIGINT: i32 = 2;
pub(crate) const SIGHUP: i32 = 1;
pub(crate) const SIGQUIT: i32 = 3;
pub(crate) const SIGTERM: i32 = 15;

/// The status with which the system's shell ends if there is no such program.
pub(crate) const NOT_FOUND: i32 = 9009;
/// A pager that users expect. `more` is always there, but does not know colours or long lines.
pub(crate) const PAGER: &str = "less.exe";

/// Calls `take` on Ctrl-C and Ctrl-Break, in a thread of its own. When the console is closed it is called, too, but
/// Windows may end this process before it has done anything.
pub(crate) fn on_signal(take: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    let take = Mutex::new(take);
    let handler = move || (take.lock().unwrap_or_else(PoisonError::into_inner))(SIGINT);
    ctrlc::set_handler(handler).map_err(io::Error::other)
}

/// Ends this process.
pub(crate) fn exit(status: i32) -> ! {
    std::process::exit(status)
}

/// Makes a program take the place of this one, which waits for it and ends as it does. Returns why it could not.
pub(crate) fn become_program(mut command: Command) -> io::Error {
    // Both programs get Ctrl-C, and only the other one has something to end.
    if let Err(error) = ctrlc::set_handler(|| ()) {
        return io::Error::other(error);
    }
    match command.status() {
        Ok(status) => exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// Ends a child with everything it has started; it may have ended.
pub(crate) fn terminate(id: u32) {
    let _ = kill_tree(id);
}

/// Ends a process at once, with everything it has started.
pub(crate) fn kill(id: NonZeroU32) -> io::Result<()> {
    kill_tree(id.get())
}

/// Waits until a child has ended. Its number stays its own as long as its handle is open.
pub(crate) fn await_end(child: &mut Child) {
    // The next call reports the error.
    let _ = child.wait();
}

/// The editor to use if the user has not chosen one.
pub(crate) const EDITOR: &str = "notepad";

/// A command line for the system's shell, followed by a path, which cannot contain quotes on Windows.
pub(crate) fn shell_with(line: &str, path: &Path) -> Command {
    shell(&format!("{line} \"{}\"", path.display()))
}

/// A command line for the user's shell, which is the system's.
pub(crate) fn users_shell(line: &str) -> Command {
    shell(line)
}

/// A shell that asks for commands.
pub(crate) fn interactive_shell() -> Command {
    let mut command = Command::new(firearrow_system::program("cmd.exe"));
    command.arg("/D").env("NoDefaultCurrentDirectoryInExePath", "1");
    command
}
