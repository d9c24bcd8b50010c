//! Files and child processes that must not outlive this process, and remains that do.

use super::waiting;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static STAYS: Mutex<Option<String>> = Mutex::new(None);

/// Creates a temporary file that is removed even if the process ends early.
pub(crate) fn temporary(create: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    // Created under the lock, so that every existing file is registered. It stays registered; its name is not reused.
    let mut files = lock(&FILES);
    let file = create()?;
    files.push(file.path().to_owned());
    Ok(file)
}

/// Runs a program to its end; it ends with this process at the latest.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    waiting(|| {
        let mut child = start(command)?;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let read = thread::scope(|scope| {
            let errors = scope.spawn(|| err.map_or(Ok(0), |mut err| err.read_to_end(&mut stderr)));
            let read = out.map_or(Ok(0), |mut out| out.read_to_end(&mut stdout));
            read.and(errors.join().unwrap_or(Ok(0)))
        });
        ended(child.id());
        let status = child.wait()?;
        read?;
        Ok(Output { status, stdout, stderr })
    })
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

/// Sets the message about what the command leaves in the database if it ends now; `None` = nothing.
pub(crate) fn stays(text: Option<String>) {
    *lock(&STAYS) = text;
}

/// Returns that message.
pub(crate) fn staying() -> Option<String> {
    lock(&STAYS).clone()
}

/// Removes the files and ends the child processes.
pub(super) fn remove() {
    if let Some(children) = lock_soon(&CHILDREN) {
        for id in children.iter().filter_map(|id| i32::try_from(*id).ok()) {
            // The process may have ended.
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_run_to_their_end() {
        let output = output(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"])).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(3));
        assert!(lock(&CHILDREN).is_empty());
    }
}
