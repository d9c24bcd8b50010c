//! Linux; other Unix systems tell less.

use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

/// The processor time of this process, all threads together: in user mode and in the kernel.
pub(crate) fn processor_time() -> io::Result<(Duration, Duration)> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    // According to the manual, never negative.
    let duration = |time: TimeVal| Duration::from_micros(time.num_microseconds().unsigned_abs());
    Ok((duration(usage.user_time()), duration(usage.system_time())))
}

/// Makes the kernel measure the peak from now on; some containers forbid it.
pub(crate) fn reset_peak_memory() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak of this process's memory since then, in bytes.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Bytes that the file system of a folder has left.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(folder).ok()?;
    // Their types differ between systems.
    #[allow(clippy::useless_conversion, reason = "not on every system")]
    Some(u64::from(found.blocks_available()) * u64::from(found.fragment_size()))
}

/// Whether a child has ended, or is none. Its number stays its own until it is waited for.
pub(crate) fn has_ended(child: &mut Child) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    let found = waitid(Id::Pid(Pid::from_raw(child.id().cast_signed())), flags);
    !matches!(found, Ok(WaitStatus::StillAlive) | Err(Errno::EINTR))
}

/// Gives a temporary file the permissions of any new file: what the umask leaves of them.
pub(crate) fn as_new_file(part: &mut tempfile::Builder<'_, '_>) {
    part.permissions(Permissions::from_mode(0o666));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_can_be_read() {
        assert!(peak_memory().unwrap() > 1 << 20);
    }
}
