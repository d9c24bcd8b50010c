//! What the process of a contestant is told, and what it answers.

use super::job::{Answer, Done, Job};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::subprocess::{Limits, Subprocess};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

/// A contestant that runs, as long as its tournament.
pub(super) struct Process<'a>(Subprocess<'a>);

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
        let mut process = Self(Subprocess::spawn(host, command, Limits::within(limit), &job.password)?);
        match process.ask(serde_json::to_string(job)?)? {
            Answer::Ready(ready) => {
                let version = process.0.hide(&ready.ready);
                Ok((process, version))
            }
            Answer::Failed(failed) => Err(process.0.said(&failed.error)),
            Answer::Done(_) => Err(Error::other("unexpected answer")),
        }
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
                // Errors may repeat what it said; that its hashes are none would be found later.
                let checked = done
                    .check(seen)
                    .and_then(|()| done.check_least(seen))
                    .and_then(|()| done.found().map(drop));
                checked.map_err(|error| self.0.refused(&error))?;
                Ok(*done)
            }
            Answer::Failed(failed) => Err(self.0.said(&failed.error)),
            Answer::Ready(_) => Err(Error::other("unexpected answer")),
        }
    }

    /// Lets the process end.
    ///
    /// # Errors
    /// If it crashes now.
    pub(super) fn finish(self) -> Result<()> {
        self.0.finish()
    }

    fn ask(&mut self, line: String) -> Result<Answer> {
        self.0.tell(line);
        let line = self.0.hear()?;
        serde_json::from_str(&line).map_err(|error| self.0.said(&format!("it printed no answer: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Standalone;

    const PAUSE: Duration = Duration::from_millis(20);

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
        let (mut process, ready) = start(&(READY.to_owned() + &done(0.001) + "read end")).unwrap();
        assert_eq!(ready, "x 1");
        assert_eq!(process.turn().unwrap().rows, 1);
        assert!(failed(process.finish()).contains("it ended: exit status: 1"));
    }

    #[test]
    fn nothing_that_it_says_shows_the_password() {
        let password = r#"s3;cr et@x"q"#;
        let start = |script: &str| {
            let job = Job { password: password.to_owned(), ..Job::default() };
            Process::start(&Standalone, &shell(script), &job, Duration::from_secs(30))
        };
        let shown = r#"password=s3;cr et@x\"q"#;
        let ready = format!(r#"read job; printf '%s\n' '{{"ready":"x {shown}"}}'; read turn; "#);
        let answer = |more: &str| {
            format!(
                r#"{ready}printf '%s\n' '{{"rows":1,"connect_s":0,"execute_s":0,"drain_s":0.001,"release_s":0,"cpu_s":0,{more}}}'; read end"#
            )
        };
        for more in [format!(r#""hashes":["{shown}"]"#), format!(r#""more":{{"{shown}":1}}"#)] {
            let (mut process, version) = start(&answer(&more)).unwrap();
            assert_eq!(version, "x password=***");
            let error = failed(process.turn());
            assert!(error.contains("***") && !error.contains("et@") && !error.contains('q'), "{error}");
        }
        let error = failed(start(&format!(r#"read job; printf '%s\n' '{{"error":"no {shown}"}}'"#)));
        assert_eq!(error, "no password=***");
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
        let (mut process, _) = start(&(READY.to_owned() + &done(0.001) + "kill -SEGV $$")).unwrap();
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
