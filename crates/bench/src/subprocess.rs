//! A program that answers in lines, such as a contestant of a benchmark.
//!
//! ```text
//!  ask ─► writer ─► stdin   ┌─────────┐  stdout ─► reader ─► one loop: an answer, the end, or the limit
//!                           │ process │
//!                           └─────────┘  stderr ─► tail
//! ```
//!
//! Whatever it does with its pipes, nothing here waits longer than the limit: only threads read and write.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::platform;
use crate::secret;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a program may take, and how much it may say.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until it has answered.
    pub time: Duration,
    /// Bytes of a line.
    pub line: u64,
}

/// For work whose length nobody knows: longer than any that is done to measure something.
impl Default for Limits {
    fn default() -> Self {
        Self::within(Duration::from_secs(6 * 3600))
    }
}

impl Limits {
    /// Lines that are not too long, within a time.
    #[must_use]
    pub fn within(time: Duration) -> Self {
        Self { time, line: 1 << 20 }
    }
}

/// A program that is talked with. It ends with its owner, and with this process.
pub struct Subprocess<'a> {
    kept: Kept<'a>,
    input: Option<Sender<String>>,
    lines: Receiver<Heard>,
    errors: Option<Tail>,
    limits: Limits,
    /// It must not appear in what a driver says.
    password: String,
}

/// What comes from its output.
enum Heard {
    /// A line that may be an answer.
    Line(String),
    TooLong,
}

impl<'a> Subprocess<'a> {
    /// Starts a program. Errors made of what it prints do not contain the password.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(host: &'a dyn Host, mut command: Command, limits: Limits, password: &str) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut kept = Kept::spawn(host, &mut command)?;
        // The threads end with the pipes, or when nobody listens any more.
        let (sender, lines) = sync_channel(ANSWERS);
        if let Some(output) = kept.child.stdout.take() {
            thread::spawn(move || answers(output, limits.line, &sender));
        }
        let errors = kept.errors();
        let (input, orders) = channel::<String>();
        if let Some(mut to) = kept.child.stdin.take() {
            thread::spawn(move || {
                // A program that has ended does not read; the reason is read from its other pipes.
                orders.iter().all(|line| to.write_all(line.as_bytes()).and_then(|()| to.flush()).is_ok())
            });
        }
        Ok(Self { kept, input: Some(input), lines, errors, limits, password: password.to_owned() })
    }

    /// Runs a program that answers once. Also returns how long it was seen to take for that.
    ///
    /// # Errors
    /// If it cannot be started, fails, or prints something else than such an answer.
    pub fn once<T: DeserializeOwned>(
        host: &'a dyn Host,
        command: Command,
        limits: Limits,
        password: &str,
    ) -> Result<(T, Duration)> {
        let start = Instant::now();
        let mut program = Self::spawn(host, command, limits, password)?;
        let line = program.hear()?;
        let seen = start.elapsed();
        // The parser's message may repeat what the program said.
        let answer = serde_json::from_str(&line)
            .map_err(|error| program.said(&format!("it did not print a result: {error}")));
        program.finish()?;
        Ok((answer?, seen))
    }

    /// Sends a line. A program that has ended does not read it, which [`hear`](Self::hear) reports.
    pub fn tell(&self, line: String) {
        if let Some(input) = &self.input {
            let _ = input.send(line + "\n");
        }
    }

    /// Whether it is running and has printed nothing. Otherwise, the line it has printed is lost.
    pub fn is_silent(&self) -> bool {
        matches!(self.lines.try_recv(), Err(TryRecvError::Empty))
    }

    /// Lets the process end.
    ///
    /// # Errors
    /// If it crashes now.
    pub fn finish(mut self) -> Result<()> {
        self.input = None;
        match self.wait(AT_THE_END)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.ended(status)),
            None => Err(Error::other("it did not exit")),
        }
    }

    /// The next line that may be an answer, which begins with `{`.
    ///
    /// # Errors
    /// If it ends, says too much, or says nothing within the limit.
    pub fn hear(&mut self) -> Result<String> {
        let start = Instant::now();
        loop {
            self.kept.host.check()?;
            let left = self.limits.time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(Error::other(format!("no answer within {:?}", self.limits.time)));
            }
            match self.lines.recv_timeout(left.min(PAUSE)) {
                Ok(Heard::Line(line)) => return Ok(line),
                Ok(Heard::TooLong) => {
                    return Err(Error::other(format!(
                        "it printed a line of more than {} bytes",
                        self.limits.line
                    )));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(match self.wait(left.min(AFTER_ITS_OUTPUT))? {
                        Some(status) => self.ended(status),
                        None => Error::other("it closed its output, and did not exit"),
                    });
                }
            }
        }
    }

    /// Waits for its end.
    fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.kept.reap()? {
                return Ok(Some(status));
            }
            self.kept.host.check()?;
            if start.elapsed() >= limit {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Why it ended: the signal, or what it printed last.
    fn ended(&mut self, status: ExitStatus) -> Error {
        let last = self.errors.as_ref().map_or_else(String::new, Tail::last_line);
        let how = if status.code().is_none() { "it crashed" } else { "it ended" };
        self.said(format!("{how}: {status}: {last}").trim_end_matches(": "))
    }

    /// What it says of itself, as an error.
    #[must_use]
    pub fn said(&self, text: &str) -> Error {
        Error::other(self.hide(text))
    }

    /// An error of looking at what it says, without its password.
    #[must_use]
    pub fn refused(&self, error: &Error) -> Error {
        Error::other(error.hidden(&self.password))
    }

    /// What it says, without its password.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        secret::hide(text, &self.password)
    }
}

/// A program that runs. It ends with its owner, and with this process.
pub struct Kept<'a> {
    host: &'a dyn Host,
    child: Child,
    /// Set once it is reaped: its number may be another's.
    status: Option<ExitStatus>,
}

impl<'a> Kept<'a> {
    /// Starts a program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(host: &'a dyn Host, command: &mut Command) -> Result<Self> {
        let child = host.start(command).map_err(|error| {
            let program = command.get_program().to_string_lossy();
            Error::other(format!("{program} cannot be started: {error}"))
        })?;
        Ok(Self { host, child, status: None })
    }

    /// Begins to read its standard error, if that is piped.
    pub fn errors(&mut self) -> Option<Tail> {
        self.child.stderr.take().map(Tail::of)
    }

    /// Its status, if it has ended.
    fn reap(&mut self) -> Result<Option<ExitStatus>> {
        if self.status.is_none() && platform::has_ended(&mut self.child) {
            self.host.ended(self.child.id());
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        let start = Instant::now();
        // A process that the kernel does not let go of ends later.
        while matches!(self.reap(), Ok(None)) && start.elapsed() < SOON {
            let _ = self.child.kill();
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Sends the lines that may be answers. Libraries print as well.
fn answers(output: impl Read, longest: u64, to: &SyncSender<Heard>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.by_ref().take(longest + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(count) if count as u64 > longest => {
                let _ = to.send(Heard::TooLong);
                return;
            }
            Ok(_) if line[0] != b'{' => {}
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if to.send(Heard::Line(text)).is_err() {
                    return;
                }
            }
        }
    }
}

/// The last that a program prints to its standard error; somebody has to read it, or the program would wait.
#[derive(Debug)]
pub struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Tail {
    fn of(from: impl Read + Send + 'static) -> Self {
        let kept = Arc::default();
        let thread = thread::spawn({
            let kept = Arc::clone(&kept);
            move || read(from, &kept)
        });
        Self { kept, thread }
    }

    /// The last line, when all has been read or a moment later: others may hold the pipe.
    #[must_use]
    pub fn last_line(&self) -> String {
        let start = Instant::now();
        while !self.thread.is_finished() && start.elapsed() < SOON {
            thread::sleep(PAUSE);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
    }
}

/// Keeps the last bytes.
fn read(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece[..count]);
                let excess = kept.len().saturating_sub(16 * piece.len());
                kept.drain(..excess);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Answers that wait for somebody who asks.
const ANSWERS: usize = 4;
const PAUSE: Duration = Duration::from_millis(20);
const SOON: Duration = Duration::from_secs(1);
const AFTER_ITS_OUTPUT: Duration = Duration::from_secs(5);
const AT_THE_END: Duration = Duration::from_secs(20);
