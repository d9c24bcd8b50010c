//! A Python process that is asked line by line.

use firearrow_bench::{Error, python};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("terminal.py");

/// How long an answer may take: connecting, or an operation that waits for locks several times.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes of the longest answer that makes sense, an error with its message.
const LONGEST_ANSWER: usize = 1 << 16;

/// A Python process that answers line by line, and ends with its owner.
pub(super) struct Process {
    child: Child,
    lines: BufReader<UnixStream>,
    /// What it prints: nobody has to read it meanwhile, and children that it leaves keep nobody waiting.
    errors: File,
}

impl Process {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        // A socket, since reading from a pipe has no time limit.
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_write_timeout(Some(PATIENCE))?;
        let output = OwnedFd::from(theirs.try_clone()?);
        let errors = tempfile::tempfile()?;
        let child = Command::new(program)
            .args(python::script(SCRIPT))
            .stdin(OwnedFd::from(theirs))
            .stdout(output)
            .stderr(errors.try_clone()?)
            .spawn()?;
        Ok(Self { child, lines: BufReader::new(ours), errors })
    }

    /// Sends a line, and waits for the answer.
    pub(super) fn ask<A: DeserializeOwned>(&mut self, what: &impl Serialize) -> Result<A, Error> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        // A process that is gone has said why.
        let _ = self.lines.get_mut().write_all(&line);
        match self.line() {
            Ok(answer) if answer.ends_with(b"\n") => Ok(serde_json::from_slice(&answer)?),
            Ok(answer) if answer.is_empty() => Err(Error::other(self.complaint())),
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

    /// A line with its end, or what there is of one that has none or is too long.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        let end = Instant::now() + PATIENCE;
        let mut line = Vec::new();
        while !line.ends_with(b"\n") && line.len() < LONGEST_ANSWER {
            // The limit is one for all of it: it may come in drops.
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            self.lines.get_ref().set_read_timeout(Some(left))?;
            let part = self.lines.fill_buf()?;
            if part.is_empty() {
                break;
            }
            let length = part.iter().position(|byte| *byte == b'\n').map_or(part.len(), |at| at + 1);
            line.extend_from_slice(&part[..length]);
            self.lines.consume(length);
        }
        Ok(line)
    }

    /// What it has printed last before it ended.
    fn complaint(&mut self) -> String {
        // It may have closed its side only. What it says at its end is worth waiting for, a moment long.
        for _ in 0..50 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let mut printed = Vec::new();
        let end = self.errors.seek(SeekFrom::End(0)).unwrap_or(0);
        if self.errors.seek(SeekFrom::Start(end.saturating_sub(LONGEST_ANSWER as u64))).is_ok() {
            let _ = (&self.errors).take(LONGEST_ANSWER as u64).read_to_end(&mut printed);
        }
        let printed = String::from_utf8_lossy(&printed);
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
