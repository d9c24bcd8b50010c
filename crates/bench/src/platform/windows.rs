//! Windows.
#![expect(unsafe_code, reason = "the standard library does not tell processor time and room on the disk")]

use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;
use std::process::Child;
use std::ptr;
use std::time::Duration;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// The processor time of this process, all threads together: in user mode and in the kernel.
pub(crate) fn processor_time() -> io::Result<(Duration, Duration)> {
    let none = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let [mut created, mut ended, mut kernel, mut user] = [none; 4];
    // SAFETY: the handle of the own process needs no closing, and the pointers are places for the results.
    let told =
        unsafe { GetProcessTimes(GetCurrentProcess(), &mut created, &mut ended, &mut kernel, &mut user) };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    // In units of 100 ns.
    let duration = |time: FILETIME| {
        Duration::from_nanos(100 * (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)))
    };
    Ok((duration(user), duration(kernel)))
}

/// Windows measures the peak of a whole process only.
pub(crate) fn reset_peak_memory() -> bool {
    false
}

/// Unknown, see [`reset_peak_memory`].
pub(crate) fn peak_memory() -> Option<u64> {
    None
}

/// Bytes that this user may still write to the file system of a folder.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let folder: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let mut free = 0;
    // SAFETY: the path ends with NUL, and the pointer is a place for the result; what is not wanted is null.
    let told = unsafe { GetDiskFreeSpaceExW(folder.as_ptr(), &mut free, ptr::null_mut(), ptr::null_mut()) };
    (told != 0).then_some(free)
}

/// Whether a child has ended, or is none. Its number stays its own as long as its handle is open.
pub(crate) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// New files have the permissions of their folder.
pub(crate) fn as_new_file(_part: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_times_and_room() {
        let (user, kernel) = processor_time().unwrap();
        assert!(user + kernel < Duration::from_secs(3600));
        assert!(free_bytes(&std::env::temp_dir()).unwrap() > 0);
        assert_eq!(free_bytes(Path::new(r"Q:\none")), None);
    }
}
