//! A contestant's process, which lives as long as its tournament.
//!
//! ```text
//!  ask ─► writer ─► stdin   ┌─────────┐  stdout ─► reader ─► one loop: an answer, the end, or the limit
//!                           │ process │
//!                           └─────────┘  stderr ─► tail
//! ```
//!
//! Whatever it does with its pipes, nothing here waits longer than the limit: only threads read and write.

use super::job::{Answer, Done, Job};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::secret;
use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

/// A contestant that runs.
pub(super) struct Process<'a> {
    host: &'a dyn Host,
    child: Child,
    /// Set once it is reaped: its number may be another's.
    status: Option<ExitStatus>,
    input: Option<Sender<String>>,
    lines: Receiver<Heard>,
    errors: Option<JoinHandle<()>>,
    complaints: Arc<Mutex<Vec<u8>>>,
    limit: Duration,
    /// It must not appear in what a driver says.
    password: String,
}

/// What comes from its output.
enum Heard {
    /// A line that may be an answer.
    Line(String),
    TooLong,
}

impl<'a> Process<'a> {
    /// Starts a contestant, which has to load its driver; returns what it says it is.
    ///
    /// # Errors
    /// Why it cannot take part.
    pub(super) fn start(
        host: &'a dyn Host,
        program: &Program,
        job: &Job,
        limit: Duration,
    ) -> Result<(Self, String)> {
        let mut command = Command::new(&program.path);
        command.args(&program.arguments);
        let mut process = Self::spawn(host, command, limit, job.password.clone())?;
        match process.ask(serde_json::to_string(job)?)? {
            Answer::Ready(ready) => Ok((process, ready.ready)),
            Answer::Failed(failed) => Err(process.said(&failed.error)),
            Answer::Done(_) => Err(Error::other("unexpected answer")),
        }
    }

    /// Starts a program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn spawn(
        host: &'a dyn Host,
        mut command: Command,
        limit: Duration,
        password: String,
    ) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.start(&mut command).map_err(|error| {
            let program = command.get_program().to_string_lossy();
            Error::other(format!("{program} cannot be started: {error}"))
        })?;
        // The threads end with the pipes, or when nobody listens any more.
        let (sender, lines) = sync_channel(ANSWERS);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || answers(output, &sender));
        }
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&complaints);
        let errors = child.stderr.take().map(|errors| thread::spawn(move || tail(errors, &kept)));
        let (input, orders) = channel::<String>();
        if let Some(mut to) = child.stdin.take() {
            thread::spawn(move || {
                // Who has ended does not read; what it says of it is read elsewhere.
                orders.iter().all(|line| to.write_all(line.as_bytes()).and_then(|()| to.flush()).is_ok())
            });
        }
        Ok(Self { host, child, status: None, input: Some(input), lines, errors, complaints, limit, password })
    }

    /// One repetition.
    ///
    /// # Errors
    /// What went wrong with the driver or the process, and figures that cannot be true.
    pub(super) fn turn(&mut self) -> Result<Done> {
        let start = Instant::now();
        let answer = self.ask("again".to_owned())?;
        let seen = start.elapsed();
        match answer {
            Answer::Done(done) => {
                done.check(seen)?;
                done.check_least(seen)?;
                Ok(*done)
            }
            Answer::Failed(failed) => Err(self.said(&failed.error)),
            Answer::Ready(_) => Err(Error::other("unexpected answer")),
        }
    }

    /// Lets the process end.
    ///
    /// # Errors
    /// If it crashes now.
    pub(super) fn finish(mut self) -> Result<()> {
        self.input = None;
        match self.wait(AT_THE_END)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.ended(status)),
            None => Err(Error::other("it did not exit")),
        }
    }

    fn ask(&mut self, line: String) -> Result<Answer> {
        if let Some(input) = &self.input {
            let _ = input.send(line + "\n");
        }
        let line = self.hear()?;
        serde_json::from_str(&line).map_err(|error| Error::other(format!("it printed no answer: {error}")))
    }

    /// The next line that may be an answer.
    ///
    /// # Errors
    /// If it ends, says too much, or says nothing within the limit.
    pub(super) fn hear(&mut self) -> Result<String> {
        let start = Instant::now();
        loop {
            self.host.check()?;
            let left = self.limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(Error::other(format!("no answer within {:?}", self.limit)));
            }
            match self.lines.recv_timeout(left.min(PAUSE)) {
                Ok(Heard::Line(line)) => return Ok(line),
                Ok(Heard::TooLong) => {
                    return Err(Error::other(format!("it printed a line of more than {LONGEST} bytes")));
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
            if let Some(status) = self.reap()? {
                return Ok(Some(status));
            }
            self.host.check()?;
            if start.elapsed() >= limit {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Its status, if it has ended.
    fn reap(&mut self) -> Result<Option<ExitStatus>> {
        if self.status.is_none() {
            let id = self.child.id();
            // Its number stays its own until it is waited for without the last flag.
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            match waitid(Id::Pid(Pid::from_raw(id.cast_signed())), flags) {
                Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
                _ => {
                    self.host.ended(id);
                    self.status = self.child.try_wait()?;
                }
            }
        }
        Ok(self.status)
    }

    /// Why it ended: the signal, or what it printed last.
    fn ended(&mut self, status: ExitStatus) -> Error {
        // Others may hold its pipe.
        let start = Instant::now();
        while self.errors.as_ref().is_some_and(|thread| !thread.is_finished()) && start.elapsed() < SOON {
            thread::sleep(PAUSE);
        }
        let text = self.complaints.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let how = if status.code().is_none() { "it crashed" } else { "it ended" };
        self.said(format!("{how}: {status}: {last}").trim_end_matches(": "))
    }

    fn said(&self, text: &str) -> Error {
        let text = secret::redact(text);
        Error::other(match self.password.as_str() {
            "" => text,
            password => text.replace(password, "***"),
        })
    }
}

impl Drop for Process<'_> {
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
fn answers(output: impl Read, to: &SyncSender<Heard>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(count) if count as u64 > LONGEST => {
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

/// Keeps the last bytes that somebody prints.
fn tail(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..count]);
        let excess = kept.len().saturating_sub(16 * piece.len());
        kept.drain(..excess);
    }
}

/// The longest line, in bytes.
const LONGEST: u64 = 1 << 20;
/// Answers that wait for somebody who asks.
const ANSWERS: usize = 4;
const PAUSE: Duration = Duration::from_millis(20);
const SOON: Duration = Duration::from_secs(1);
const AFTER_ITS_OUTPUT: Duration = Duration::from_secs(5);
const AT_THE_END: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Standalone;

    fn shell(script: &str) -> Program {
        Program { path: "sh".into(), arguments: vec!["-c".into(), script.into()] }
    }

    fn start(script: &str) -> Result<(Process<'static>, String)> {
        start_within(Duration::from_secs(30), script)
    }

    fn start_within(limit: Duration, script: &str) -> Result<(Process<'static>, String)> {
        Process::start(&Standalone, &shell(script), &Job::default(), limit)
    }

    /// An error as text.
    fn failed<T>(result: Result<T>) -> String {
        result.err().expect("it must fail").to_string()
    }

    const READY: &str = r#"read job; echo noise; echo '{"ready":"x 1"}'; read turn; "#;

    fn done(drain_s: f64) -> String {
        format!(
            r#"echo '{{"rows":1,"connect_s":0,"execute_s":0,"drain_s":{drain_s},"release_s":0,"cpu_s":0}}'; "#
        )
    }

    #[test]
    fn a_contestant_answers_and_ends() {
        let (mut process, ready) = start(&(READY.to_owned() + &done(0.0) + "read end")).unwrap();
        assert_eq!(ready, "x 1");
        assert_eq!(process.turn().unwrap().rows, 1);
        assert!(failed(process.finish()).contains("it ended: exit status: 1"));
    }

    #[test]
    fn whoever_fails_crashes_or_says_nothing_is_named() {
        let missing = Program { path: "/no/such/program".into(), arguments: vec![] };
        let missing = Process::start(&Standalone, &missing, &Job::default(), PAUSE);
        assert!(failed(missing).contains(" cannot be started: No such file"));
        assert_eq!(failed(start(r#"echo '{"error":"no module x"}'"#)), "no module x");
        assert!(failed(start_within(PAUSE, "sleep 30")).contains("no answer within 20ms"));
        let error = failed(start("echo 'a line with password=s3cret' >&2; exit 3"));
        assert_eq!(error, "it ended: exit status: 3: a line with password=***");
        let (mut process, _) = start(&(READY.to_owned() + "kill -SEGV $$")).unwrap();
        assert!(failed(process.turn()).starts_with("it crashed: signal: 11"));
        let (mut process, _) = start(&(READY.to_owned() + &done(0.0) + "kill -SEGV $$")).unwrap();
        process.turn().unwrap();
        assert!(failed(process.finish()).starts_with("it crashed: signal: 11"));
    }

    #[test]
    fn whatever_a_contestant_does_with_its_pipes_there_is_an_end() {
        // Each of them lives on for longer than anybody waits.
        for (script, text) in [
            ("read job; exec >&-; exec sleep 600", "it closed its output, and did not exit"),
            (r"read job; printf '\377\376\n'; exec sleep 600", "no answer within 2s"),
            ("read job; exec yes noise", "no answer within 2s"),
            ("read job; exec yes '{'", "it printed no answer"),
            ("read job; exec tr '\\0' a </dev/zero", "it printed a line of more than 1048576 bytes"),
        ] {
            assert_eq!(failed(start_within(Duration::from_secs(2), script)).split(": ").next(), Some(text));
        }
    }

    #[test]
    fn what_a_contestant_leaves_in_the_background_is_not_waited_for() {
        let script = "read job; echo gone >&2; sleep 600 >/dev/null & echo $! >&2; exit 3";
        let begin = Instant::now();
        let error = failed(start_within(Duration::from_secs(100), script));
        assert!(begin.elapsed() < Duration::from_secs(90), "it waited");
        let (how, id) = error.rsplit_once(": ").unwrap();
        assert_eq!(how, "it ended: exit status: 3");
        Command::new("kill").arg(id).status().unwrap();
    }

    #[test]
    fn who_does_not_read_is_not_waited_for() {
        let long = Job { sql: "x".repeat(1 << 20), ..Job::default() };
        let program = shell("exec sleep 600");
        let error = failed(Process::start(&Standalone, &program, &long, Duration::from_secs(1)));
        assert_eq!(error, "no answer within 1s");
    }

    #[test]
    fn who_is_stopped_is_reaped_before_its_number_is_forgotten() {
        #[derive(Default)]
        struct Stopping(std::cell::Cell<Option<u32>>);
        impl Host for Stopping {
            fn check(&self) -> Result<()> {
                Err(Error::Stopped)
            }
            fn ended(&self, id: u32) {
                // A zombie until then.
                let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
                assert!(state.contains(") Z "), "{state}");
                self.0.set(Some(id));
            }
        }
        let host = Stopping::default();
        let stopped = Process::start(&host, &shell("exec yes"), &Job::default(), Duration::from_secs(600));
        assert!(matches!(stopped, Err(Error::Stopped)));
        let id = host.0.get().expect("it has ended");
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn a_clock_that_is_wrong_is_found() {
        for wrong in [5.0, -1.0] {
            let (mut process, _) = start(&(READY.to_owned() + &done(wrong) + "read end")).unwrap();
            assert!(failed(process.turn()).contains("its clock says"));
        }
    }
}
