//! Child processes that must never outlive the test.

use std::io;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::{leftover, system};

/// A server or a worker. It is killed when dropped, when the test process exits, and when the test process dies.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    exited: Option<ExitStatus>,
}

impl Process {
    /// Starts `command`.
    pub(crate) fn spawn(mut command: Command) -> io::Result<Self> {
        system::bind(&mut command);
        let process = Self { child: on_keeper_thread(command)?, exited: None };
        leftover::register_process(process.id());
        Ok(process)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status if the process has ended by itself.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        if self.exited.is_none() {
            let child = &mut self.child;
            self.exited = leftover::reap_process(child.id(), || child.try_wait().ok().flatten());
        }
        self.exited
    }

    /// Takes the pipes to its standard input and output, if it was started with pipes.
    pub(crate) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// Waits for the end of a process that is about to end, and describes it.
    pub(crate) fn wait_for_exit(&mut self) -> String {
        let deadline = Instant::now() + EXIT_LIMIT;
        loop {
            match self.exit_status() {
                Some(status) => return status.to_string(),
                None if Instant::now() > deadline => return "it does not end".to_owned(),
                None => thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.exited.is_none() {
            let child = &mut self.child;
            leftover::reap_process(child.id(), || {
                // Its files are about to be removed, so a graceful shutdown would save nothing.
                system::end(child);
                Some(())
            });
        }
    }
}

/// Spawns from a thread that never ends.
///
/// To Linux, the parent of a child is the *thread* that spawned it, and libtest ends the thread of each test. A
/// shared server started there would be killed together with the first test that used it.
fn on_keeper_thread(command: Command) -> io::Result<Child> {
    type Job = (Command, Sender<io::Result<Child>>);
    static KEEPER: OnceLock<Sender<Job>> = OnceLock::new();
    let keeper = KEEPER.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        thread::spawn(move || {
            for (mut command, answer) in jobs {
                let _ = answer.send(command.spawn());
            }
        });
        sender
    });
    let (answer, result) = mpsc::channel();
    keeper.send((command, answer)).expect("the keeper thread runs as long as the process");
    result.recv_timeout(SPAWN_LIMIT).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

const SPAWN_LIMIT: Duration = Duration::from_secs(10);
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// With programs that only Linux has for sure.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn sleep(seconds: u32) -> Command {
        let mut command = Command::new("sleep");
        command.arg(seconds.to_string());
        command
    }

    fn is_alive(id: u32) -> bool {
        std::path::Path::new(&format!("/proc/{id}")).exists()
    }

    #[test]
    fn process_survives_the_thread_that_started_it() {
        let process = thread::spawn(|| Process::spawn(sleep(60)).unwrap()).join().unwrap();
        thread::sleep(Duration::from_millis(50));
        let id = process.id();
        assert!(is_alive(id));
        drop(process);
        assert!(!is_alive(id));
    }

    #[test]
    fn exit_is_noticed() {
        let mut process = Process::spawn(sleep(0)).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while process.exit_status().is_none() {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(2));
        }
        assert!(process.exit_status().unwrap().success());
        assert!(!system::is_running(process.id()));
    }
}
