//! Other systems than Linux, by the standard library alone. Tests start no servers here (see `host.rs`), only workers of campaigns.

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// The client library of an embedded engine.
pub(crate) const CLIENT_LIBRARY: &str = if cfg!(windows) { "fbclient.dll" } else { "libfbclient.dylib" };

/// How long a read may take before it looks whether its connection was shut down: under Wine 8 that does not wake it.
pub(crate) const READ_LOOK: Option<Duration> = Some(Duration::from_millis(20));
/// How long a write may take before its connection ends: under Wine 8 a shutdown does not end it. How much of it was sent is not known
/// then, so that it cannot go on.
pub(crate) const WRITE_LIMIT: Option<Duration> = Some(Duration::from_secs(5));

/// Whether `library` is a file for programs like this one.
pub(crate) fn can_load(library: &Path) -> bool {
    library.file_name().is_some_and(|name| name == CLIENT_LIBRARY) && library.is_file()
}

/// Does nothing: a worker ends when its standard input is closed, which the end of this process does.
pub(crate) fn bind(_command: &mut Command) {}

/// Kills a child and waits for it.
pub(crate) fn end(child: &mut Child) {
    if child.kill().is_ok() {
        let _ = child.wait();
    }
}

/// Does nothing: workers end by themselves, and the next test process removes the folders.
pub(crate) fn at_exit(_handler: fn()) {}

/// Does nothing: see [`at_exit`].
pub(crate) fn kill_group(_id: u32) {}

/// Does nothing: see [`at_exit`].
pub(crate) fn reap(_id: u32) {}

/// Does nothing: the memory of workers has no limit here.
pub(crate) fn limit_memory(_bytes: u64) {}

/// Does nothing: the peak is not measured here.
pub(crate) fn reset_peak() {}

/// Zero: the peak is not measured here.
pub(crate) fn peak() -> u64 {
    0
}

/// Not known here.
pub(crate) fn free_room(_folder: &Path) -> Option<u64> {
    None
}

/// Assumed, since only the processes of servers are asked for, and those run at a host.
pub(crate) fn is_running(_id: u32) -> bool {
    true
}
