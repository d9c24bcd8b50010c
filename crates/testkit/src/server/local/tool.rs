//! Programs that run to their end.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::system;

/// Runs a tool to its end, or kills it after `limit`.
pub(super) fn run(mut command: Command, limit: Duration) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn()?;
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        system::kill_group(id);
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("{command:?} took longer than {limit:?}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_tool_is_killed() {
        let mut sleep = Command::new("sleep");
        sleep.arg("60");
        let error = run(sleep, Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
