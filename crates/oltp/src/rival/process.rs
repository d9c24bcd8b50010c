//! A Python process that is asked line by line.

use crate::plan::PATIENCE;
use firearrow_bench::{Error, Host, Kept, Result, Tail, python};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("terminal.py");

/// Bytes of the longest answer that makes sense, an error with its message.
const LONGEST_ANSWER: usize = 1 << 16;

/// A conversation with a Python process, line by line. Whoever has [`Kept`] ends the process.
#[derive(Debug)]
pub(super) struct Process {
    lines: BufReader<UnixStream>,
    /// What it prints besides.
    errors: Option<Tail>,
}

impl Process {
    pub(super) fn start<'a>(host: &'a dyn Host, program: &Path) -> Result<(Kept<'a>, Self)> {
        // A socket, since reading from a pipe has no time limit.
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_write_timeout(Some(PATIENCE))?;
        let output = OwnedFd::from(theirs.try_clone()?);
        let mut command = Command::new(program);
        command.args(python::script(SCRIPT)).stdin(OwnedFd::from(theirs)).stdout(output);
        let mut kept = Kept::spawn(host, command.stderr(Stdio::piped()))?;
        let errors = kept.errors();
        Ok((kept, Self { lines: BufReader::new(ours), errors }))
    }

    /// Sends a line, and waits for the answer.
    pub(super) fn ask<A: DeserializeOwned>(&mut self, what: &impl Serialize) -> Result<A> {
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
            let part = match self.lines.fill_buf() {
                // Somebody has stopped this process for a while.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                part => part?,
            };
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
    fn complaint(&self) -> String {
        match self.errors.as_ref().map(Tail::last_line) {
            Some(last) if !last.is_empty() => last,
            _ => "the process of a terminal has ended".to_owned(),
        }
    }
}
