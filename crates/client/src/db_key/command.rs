//! A command that prints a key.

use super::{LONGEST_KEY, failed, too_long};
use crate::error::{Error, Kind, Result};
use firearrow_system as system;
use std::io::{self, Read};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked whether a command that has closed its output has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns what the command prints. At `deadline` it is killed, with everything it has started. It has no terminal.
pub(super) fn output(command: &str, deadline: Instant) -> Result<Vec<u8>> {
    let mut shell = system::shell(command);
    system::own_family(&mut shell);
    let mut child =
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|error| cannot_run(&error))?;
    match finish(&mut child, deadline) {
        Ok((text, status)) if status.success() => Ok(text),
        Ok((_, status)) => Err(failed(format!("db_key: the command failed ({status})"))),
        Err(error) => {
            kill(&mut child);
            Err(error)
        }
    }
}

/// Waits for the end of the output, then for that of the command.
fn finish(child: &mut Child, deadline: Instant) -> Result<(Vec<u8>, ExitStatus)> {
    let Some(stdout) = child.stdout.take() else { return Err(failed("db_key: the command has no output")) };
    let text = within(deadline, move || {
        let mut text = Vec::new();
        stdout.take(LONGEST_KEY + 1).read_to_end(&mut text).map(|_| text)
    });
    let text = text?.map_err(|error| cannot_run(&error))?;
    if text.len() as u64 > LONGEST_KEY {
        return Err(too_long());
    }
    Ok((text, wait(child, deadline)?))
}

/// Reads in a thread, and does not wait for it beyond `deadline`: pipes and network drives may take for ever.
pub(super) fn within<T: Send + 'static>(
    deadline: Instant,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        // Nobody listens any more when the time is up.
        let _ = sender.send(read());
    };
    thread::Builder::new().name("firearrow-key".into()).spawn(read).map_err(|error| cannot_run(&error))?;
    receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|_| late())
}

fn wait(child: &mut Child, deadline: Instant) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().map_err(|error| cannot_run(&error))? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            return Err(late());
        }
        thread::sleep(PAUSE);
    }
}

/// Ends the command and its children. Nobody has waited for it yet, so its number is still its own.
fn kill(child: &mut Child) {
    system::kill_family(child);
    let _ = child.kill();
    let _ = child.wait();
}

fn late() -> Error {
    Error::new(Kind::Timeout, "connecting took longer than connect_timeout: db_key gave no key in time")
}

fn cannot_run(error: &io::Error) -> Error {
    failed(format!("db_key: the command cannot be run: {error}"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_takes_too_long_is_killed_with_its_children() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        for command in [
            // A child of the shell, which holds the output.
            format!("(sleep 1; touch '{}') & sleep 60; true", first.display()),
            // The output is closed, the command goes on.
            format!("exec >&-; (sleep 1; touch '{}'); sleep 60", second.display()),
        ] {
            let start = Instant::now();
            let error = output(&command, start + Duration::from_millis(300)).expect_err("too slow");
            assert_eq!(error.kind(), Kind::Timeout, "{error}");
            assert!(start.elapsed() < Duration::from_secs(5));
            assert!(!error.message().contains("sleep"), "{error}");
        }
        thread::sleep(Duration::from_millis(1500));
        assert!(!first.exists() && !second.exists(), "they went on");
    }
}
