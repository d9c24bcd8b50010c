//! A contestant's process, which lives as long as its tournament.

use super::job::{Answer, Done, Job};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::secret;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
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
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    limit: Duration,
    /// It must not appear in what a driver says.
    password: String,
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
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.start(&mut command).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::other("its program is not installed"),
            _ => error.into(),
        })?;
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            // It ends with the output, or when nobody listens any more.
            thread::spawn(move || {
                BufReader::new(output).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
            });
        }
        let errors = child.stderr.take().map(|errors| thread::spawn(move || tail(errors)));
        let input = child.stdin.take();
        let password = job.password.clone();
        let mut process = Self { host, child, input, lines, errors, limit, password };
        match process.ask(&serde_json::to_string(job)?)? {
            Answer::Ready(ready) => Ok((process, ready.ready)),
            Answer::Failed(failed) => Err(process.said(&failed.error)),
            Answer::Done(_) => Err(Error::other("unexpected answer")),
        }
    }

    /// One repetition.
    ///
    /// # Errors
    /// What went wrong with the driver or the process, and phases that take longer than their sum could.
    pub(super) fn turn(&mut self) -> Result<Done> {
        let start = Instant::now();
        let answer = self.ask("again")?;
        let seen = start.elapsed().as_secs_f64();
        match answer {
            Answer::Done(done) if !is_plausible(&done, seen) => {
                let told = done.total_s();
                Err(Error::other(format!("it took {seen:.3} s, and its clock says {told:.3} s")))
            }
            Answer::Done(done) => Ok(*done),
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
        let end = Instant::now() + AT_THE_END;
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(self.ended(status)),
                None if Instant::now() > end => return Err(Error::other("it did not exit")),
                None => thread::sleep(PAUSE),
            }
        }
    }

    fn ask(&mut self, line: &str) -> Result<Answer> {
        // Who has ended does not read; what it says of it is read below.
        if let Some(input) = &mut self.input {
            let _ = input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n"));
            let _ = input.flush();
        }
        let start = Instant::now();
        loop {
            match self.lines.recv_timeout(PAUSE) {
                // Libraries print as well.
                Ok(line) if !line.starts_with('{') => {}
                Ok(line) => {
                    let wrong = |error| Error::other(format!("it printed no answer: {error}"));
                    return serde_json::from_str(&line).map_err(wrong);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.host.check()?;
                    if start.elapsed() > self.limit {
                        return Err(Error::other(format!("no answer within {:?}", self.limit)));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.host.ended(self.child.id());
                    let status = self.child.wait()?;
                    return Err(self.ended(status));
                }
            }
        }
    }

    /// Why it ended: the signal, or what it printed last.
    fn ended(&mut self, status: ExitStatus) -> Error {
        let text = self.errors.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
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
        self.host.ended(self.child.id());
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Phases cannot take longer than it took to get them, and no time is negative.
fn is_plausible(done: &Done, seen: f64) -> bool {
    let times = [done.connect_s, done.execute_s, done.bind_s.unwrap_or(0.0), done.drain_s, done.release_s];
    times.iter().all(|time| *time >= 0.0) && done.total_s() <= seen * 1.02 + 0.02
}

/// The last bytes that somebody prints.
fn tail(mut from: impl Read) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = from.read(&mut piece) {
        kept.extend_from_slice(&piece[..count]);
        let excess = kept.len().saturating_sub(16 * piece.len());
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

const PAUSE: Duration = Duration::from_millis(20);
const AT_THE_END: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Standalone;

    fn shell(script: &str) -> Program {
        Program { path: "sh".into(), arguments: vec!["-c".into(), script.into()] }
    }

    fn start(script: &str) -> Result<(Process<'static>, String)> {
        Process::start(&Standalone, &shell(script), &Job::default(), Duration::from_millis(300))
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
        assert_eq!(failed(missing), "its program is not installed");
        assert_eq!(failed(start(r#"echo '{"error":"no module x"}'"#)), "no module x");
        assert!(failed(start("sleep 30")).contains("no answer within 300ms"));
        let error = failed(start("echo 'a line with password=s3cret' >&2; exit 3"));
        assert_eq!(error, "it ended: exit status: 3: a line with password=***");
        let (mut process, _) = start(&(READY.to_owned() + "kill -SEGV $$")).unwrap();
        assert!(failed(process.turn()).starts_with("it crashed: signal: 11"));
        let (mut process, _) = start(&(READY.to_owned() + &done(0.0) + "kill -SEGV $$")).unwrap();
        process.turn().unwrap();
        assert!(failed(process.finish()).starts_with("it crashed: signal: 11"));
    }

    #[test]
    fn a_clock_that_is_wrong_is_found() {
        for wrong in [5.0, -1.0] {
            let (mut process, _) = start(&(READY.to_owned() + &done(wrong) + "read end")).unwrap();
            assert!(failed(process.turn()).contains("its clock says"));
        }
    }
}
