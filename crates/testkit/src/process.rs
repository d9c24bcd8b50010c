//! Child processes: servers that must never outlive the test, and tools with a deadline.
#![expect(unsafe_code, reason = "prctl, setrlimit, kill, waitpid and atexit have no safe wrapper in std")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::leftover;

/// A server process. It is killed when dropped, when the test process exits, and when the test process dies.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    exited: Option<ExitStatus>,
}

impl Process {
    /// Starts `command` as the leader of a process group of its own, so that Ctrl-C reaches the test process alone.
    pub(crate) fn spawn(mut command: Command) -> io::Result<Self> {
        let parent = std::process::id();
        command.process_group(0);
        // SAFETY: between fork and exec the closure makes only system calls, which are async-signal-safe.
        unsafe { command.pre_exec(move || die_with(parent)) };
        let child = on_keeper_thread(command)?;
        leftover::register_process(child.id());
        Ok(Self { child, exited: None })
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
        let deadline = Instant::now() + REAP_LIMIT;
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
            let id = self.id();
            leftover::reap_process(id, || {
                // Its files are about to be removed, so a graceful shutdown would save nothing.
                kill_group(id);
                reap(id);
                Some(())
            });
        }
    }
}

/// Runs a tool to its end, or kills it after `limit`.
pub(crate) fn run(mut command: Command, limit: Duration) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn()?;
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        kill_group(id);
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("{command:?} took longer than {limit:?}")))
    })
}

/// Calls `handler` when the process exits, including through `std::process::exit`.
pub(crate) fn at_exit(handler: fn()) {
    static HANDLER: OnceLock<fn()> = OnceLock::new();
    extern "C" fn call() {
        if let Some(handler) = HANDLER.get() {
            // A panic must not leave a C function, and no caller is left to report it to.
            let _ = std::panic::catch_unwind(handler);
        }
    }
    if HANDLER.set(handler).is_ok() {
        // SAFETY: `call` is a function of this program, which stays loaded until the process has ended.
        unsafe { libc::atexit(call) };
    }
}

/// Limits the memory that this process may allocate from now on. Allocations beyond that fail, which ends it.
pub(crate) fn limit_memory(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: setrlimit(2) reads the structure and keeps nothing of it.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) };
    assert!(result == 0, "setrlimit: {}", io::Error::last_os_error());
}

/// What the threads of a process wait for in the kernel, one line each.
pub(crate) fn threads(id: u32) -> String {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{id}/task")) else {
        return format!("process {id} is gone");
    };
    let read = |path: std::path::PathBuf, name: &str| {
        std::fs::read_to_string(path.join(name)).unwrap_or_default().trim().to_owned()
    };
    let of_task = |task: std::io::Result<std::fs::DirEntry>| {
        let path = task.ok()?.path();
        let stat = read(path.clone(), "stat");
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('?');
        let (waits, call) = (read(path.clone(), "wchan"), read(path.clone(), "syscall"));
        Some(format!("  {} {state} {waits} {call}", read(path, "comm")))
    };
    let lines: Vec<String> = tasks.filter_map(of_task).collect();
    format!("process {id} has {} threads:\n{}", lines.len(), lines.join("\n"))
}

/// Kills a process and its group; whoever holds it reaps it.
pub(crate) fn kill(id: u32) {
    kill_group(id);
}

/// Whether a process exists and is not a zombie.
pub(crate) fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name in parentheses may be anything; the state follows it.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Kills the process group led by `id`.
pub(crate) fn kill_group(id: u32) {
    // SAFETY: kill(2) touches no memory of this process.
    unsafe { libc::kill(-id.cast_signed(), libc::SIGKILL) };
}

/// Waits for a killed child, so that it has closed its files.
pub(crate) fn reap(id: u32) {
    let deadline = Instant::now() + REAP_LIMIT;
    // SAFETY: waitpid(2) accepts a null pointer in place of a status.
    while unsafe { libc::waitpid(id.cast_signed(), std::ptr::null_mut(), libc::WNOHANG) } == 0
        && Instant::now() < deadline
    {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Asks the kernel to kill this child when its parent dies.
fn die_with(parent: u32) -> io::Result<()> {
    // SAFETY: prctl(2) with these arguments and getppid(2) touch no memory.
    let (result, current_parent) =
        unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL), libc::getppid()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // The parent may have died before the request was made.
    if current_parent == parent.cast_signed() { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}

/// Spawns from a thread that never ends.
///
/// To the kernel, the parent of a child is the *thread* that spawned it, and libtest ends the thread of each test. A
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
const REAP_LIMIT: Duration = Duration::from_secs(5);

#[cfg(test)]
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
        assert!(!is_running(process.id()));
    }

    #[test]
    fn a_process_runs_until_it_has_ended() {
        let mut child = sleep(60).spawn().unwrap();
        assert!(is_running(child.id()));
        child.kill().unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        // Nobody has reaped it.
        while is_running(child.id()) {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(2));
        }
        child.wait().unwrap();
    }

    #[test]
    fn slow_tool_is_killed() {
        let error = run(sleep(60), Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
