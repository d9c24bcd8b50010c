//! A Python process that is asked line by line.

use firearrow_bench::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SCRIPT: &str = include_str!("terminal.py");

/// How long an answer may take: connecting, or an operation that waits for locks several times.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes of the longest answer that makes sense, an error with its message.
const LONGEST_ANSWER: u64 = 1 << 16;

/// A Python process that answers line by line, and ends with its owner.
pub(super) struct Process {
    child: Child,
    lines: BufReader<UnixStream>,
}

impl Process {
    pub(super) fn start(python: &Path) -> io::Result<Self> {
        // A socket, since reading from a pipe has no time limit.
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        ours.set_write_timeout(Some(PATIENCE))?;
        let output = OwnedFd::from(theirs.try_clone()?);
        let child = Command::new(python)
            .args(["-c", SCRIPT])
            .stdin(OwnedFd::from(theirs))
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self { child, lines: BufReader::new(ours) })
    }

    /// Sends a line, and waits for the answer.
    pub(super) fn ask<A: DeserializeOwned>(&mut self, what: &impl Serialize) -> Result<A, Error> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        // A process that is gone has said why.
        let _ = self.lines.get_mut().write_all(&line);
        let mut answer = String::new();
        let read = self.lines.by_ref().take(LONGEST_ANSWER).read_line(&mut answer);
        match read {
            Ok(_) if answer.ends_with('\n') => Ok(serde_json::from_str(&answer)?),
            Ok(0) => Err(Error::other(self.complaint())),
            // It has ended without reading what it was asked.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                Err(Error::other(self.complaint()))
            }
            Ok(_) => Err(Error::other("the process of a terminal has broken off, or says too much")),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(Error::other(format!(
                    "the process of a terminal has not answered within {} s",
                    PATIENCE.as_secs()
                )))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What it has printed last before it ended.
    fn complaint(&mut self) -> String {
        // It may have closed its side only.
        let _ = self.child.kill();
        let mut printed = String::new();
        if let Some(errors) = self.child.stderr.take() {
            let _ = errors.take(LONGEST_ANSWER).read_to_string(&mut printed);
        }
        match printed.lines().rfind(|line| !line.trim().is_empty()) {
            Some(last) => last.to_owned(),
            None => "the process of a terminal has ended".to_owned(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
