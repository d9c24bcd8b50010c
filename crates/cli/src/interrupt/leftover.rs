//! Files and child processes that must not outlive this process, and remains that do.

use super::waiting;
use crate::platform::process::{await_end, terminate};
use crate::platform::terminal::Attributes;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, tempfile};

static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static TERMINAL: Mutex<Option<Attributes>> = Mutex::new(None);
static STAYS: Mutex<Option<String>> = Mutex::new(None);

/// Creates a temporary file that is removed even if the process ends early.
pub(crate) fn temporary(create: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    // Created under the lock, so that every existing file is registered. It stays registered; its name is not reused.
    let mut files = lock(&FILES);
    let file = create()?;
    files.push(file.path().to_owned());
    Ok(file)
}

/// Runs a program to its end; it ends with this process at the latest. Processes that it leaves in the background are not waited for.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    // Whoever reads a pipe waits for all that can write into it.
    let (mut out, mut err) = (tempfile()?, tempfile()?);
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?);
    waiting(|| {
        let mut child = start(command)?;
        let id = child.id();
        await_end(&mut child);
        ended(id);
        Ok(Output { status: child.wait()?, stdout: content(&mut out)?, stderr: content(&mut err)? })
    })
}

fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Starts a program that ends with this process at the latest, unless [`ended`] comes first.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    let mut children = lock(&CHILDREN);
    let child = command.spawn()?;
    children.push(child.id());
    Ok(child)
}

/// Forgets a program before it is waited for: afterwards another process may have its number.
pub(crate) fn ended(id: u32) {
    lock(&CHILDREN).retain(|known| *known != id);
}

/// Keeps the terminal's attributes until the guard is dropped: a process that ends while a line is edited restores them.
pub(crate) fn keep_terminal() -> TerminalGuard {
    // Without a terminal there is nothing to keep.
    *lock(&TERMINAL) = Attributes::current();
    TerminalGuard
}

#[must_use]
pub(crate) struct TerminalGuard;

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        *lock(&TERMINAL) = None;
    }
}

/// Sets the message about what the command leaves in the database if it ends now; `None` = nothing.
pub(crate) fn stays(text: Option<String>) {
    *lock(&STAYS) = text;
}

/// Returns that message.
pub(crate) fn staying() -> Option<String> {
    lock(&STAYS).clone()
}

/// Removes the files, ends the child processes and restores the terminal.
pub(super) fn remove() {
    if let Some(attributes) = lock_soon(&TERMINAL).as_deref().and_then(Option::as_ref) {
        attributes.restore();
    }
    if let Some(children) = lock_soon(&CHILDREN) {
        children.iter().for_each(|id| terminate(*id));
    }
    if let Some(files) = lock_soon(&FILES) {
        for file in files.iter() {
            // The file may have been renamed or removed.
            let _ = fs::remove_file(file);
        }
        // Keeps the lock, so that no more files are created.
        std::mem::forget(files);
    }
}

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that creates a file may hang, for example on a dead network drive.
fn lock_soon<T>(mutex: &'static Mutex<T>) -> Option<MutexGuard<'static, T>> {
    let end = Instant::now() + SOON;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

const SOON: Duration = Duration::from_millis(100);

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    #[test]
    fn programs_are_run_to_their_end() {
        let output = output(Command::new("sh").args(["-c", "echo $$; echo err >&2; exit 3"])).unwrap();
        let id: u32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        assert_eq!(output.stderr, b"err\n");
        assert_eq!(output.status.code(), Some(3));
        // Other tests have programs of their own meanwhile.
        assert!(!lock(&CHILDREN).contains(&id));
    }

    #[test]
    fn programs_in_the_background_are_not_waited_for() {
        let begin = Instant::now();
        let output = output(Command::new("sh").args(["-c", "sleep 100 & echo $!"])).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(50), "it waited");
        let id = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        kill(Pid::from_raw(id), Signal::SIGKILL).unwrap();
    }
}
