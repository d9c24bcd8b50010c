//! Linux: the only system on which tests start servers.
#![expect(unsafe_code, reason = "prctl, setrlimit, kill, waitpid and atexit have no safe wrapper in std")]

use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// The client library of an embedded engine.
pub(crate) const CLIENT_LIBRARY: &str = "libfbclient.so.2";

/// How long a read may take before it looks whether its connection was shut down. Here that wakes it.
pub(crate) const READ_LOOK: Option<Duration> = None;
/// How long a write may take before its connection ends. Here a shutdown ends it.
pub(crate) const WRITE_LIMIT: Option<Duration> = None;

/// Whether `library` is a file for programs like this one.
pub(crate) fn can_load(library: &Path) -> bool {
    let machine = |path: &Path| {
        let mut header = [0; 20];
        fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)).ok()?;
        Some([header[18], header[19]]) // e_machine of elf(5)
    };
    let this = std::env::current_exe().ok();
    machine(library).is_some_and(|found| this.and_then(|this| machine(&this)).is_none_or(|own| own == found))
}

/// Makes `command` the leader of a process group of its own, so that Ctrl-C reaches this process alone, and lets the kernel kill
/// it when this process dies.
pub(crate) fn bind(command: &mut Command) {
    let parent = std::process::id();
    command.process_group(0);
    // SAFETY: between fork and exec the closure makes only system calls, which are async-signal-safe.
    unsafe { command.pre_exec(move || die_with(parent)) };
}

/// Kills a child and its group, and waits until it has closed its files.
pub(crate) fn end(child: &mut Child) {
    kill_group(child.id());
    reap(child.id());
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

/// Resets the peak memory use that the kernel keeps. Older kernels cannot: there the peak is that of the whole time.
pub(crate) fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak memory use since the last reset, in KiB.
pub(crate) fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// How many bytes are free on the disk of `folder`, if the system says so.
pub(crate) fn free_room(folder: &Path) -> Option<u64> {
    let disk = nix::sys::statvfs::statvfs(folder).ok()?;
    Some(disk.blocks_available().saturating_mul(disk.fragment_size()))
}

/// Whether a process exists and is not a zombie.
pub(crate) fn is_running(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name in parentheses may be anything; the state follows it.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// What the threads of a process wait for in the kernel, one line each.
pub(crate) fn threads(id: u32) -> String {
    let Ok(tasks) = fs::read_dir(format!("/proc/{id}/task")) else {
        return format!("process {id} is gone");
    };
    let read =
        |path: &Path, name: &str| fs::read_to_string(path.join(name)).unwrap_or_default().trim().to_owned();
    let of_task = |task: io::Result<fs::DirEntry>| {
        let path = task.ok()?.path();
        let stat = read(&path, "stat");
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('?');
        let (waits, call) = (read(&path, "wchan"), read(&path, "syscall"));
        Some(format!("  {} {state} {waits} {call}", read(&path, "comm")))
    };
    let lines: Vec<String> = tasks.filter_map(of_task).collect();
    format!("process {id} has {} threads:\n{}", lines.len(), lines.join("\n"))
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

const REAP_LIMIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_runs_until_it_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
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
}
