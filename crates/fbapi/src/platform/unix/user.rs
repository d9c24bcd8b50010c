//! The user of this process according to the system: the environment is not reliable.

use std::ffi::{CStr, OsStr, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Room for the strings of one record; the system asks for more only in large directories of users.
const RECORD: usize = 64 << 10;

/// The user id that determines access to files.
pub(crate) fn id() -> u32 {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// A user's record.
#[derive(Debug)]
struct Record {
    name: Vec<u8>,
    home: PathBuf,
}

fn record() -> Option<Record> {
    let mut entry = MaybeUninit::<libc::passwd>::uninit();
    let mut strings = vec![0; RECORD];
    let mut found = std::ptr::null_mut();
    // SAFETY: the buffer has the length given; `entry` is filled if `found` is not null afterwards.
    let code = unsafe {
        libc::getpwuid_r(id(), entry.as_mut_ptr(), strings.as_mut_ptr(), strings.len(), &mut found)
    };
    if code != 0 || found.is_null() {
        return None;
    }
    // SAFETY: it was found, so the record is filled, and its strings lie in `strings`.
    let entry = unsafe { entry.assume_init() };
    // SAFETY: as above; both strings end with NUL or are null.
    let (name, home) = unsafe { (bytes(entry.pw_name)?, bytes(entry.pw_dir)?) };
    Some(Record { name, home: OsStr::from_bytes(&home).into() })
}

/// The home folder of this user in the system's records, if it is an absolute path.
pub(crate) fn home() -> Option<PathBuf> {
    record().map(|record| record.home).filter(|home| home.is_absolute())
}

/// Whether only root and this user are in the group. Many systems give each user a group of the same name, and make
/// files writable for it.
pub(crate) fn is_private_group(gid: u32) -> bool {
    if gid == 0 {
        return true;
    }
    let mut entry = MaybeUninit::<libc::group>::uninit();
    let mut strings = vec![0; RECORD];
    let mut found = std::ptr::null_mut();
    // SAFETY: the buffer has the length given; `entry` is filled if `found` is not null afterwards.
    let code =
        unsafe { libc::getgrgid_r(gid, entry.as_mut_ptr(), strings.as_mut_ptr(), strings.len(), &mut found) };
    if code != 0 || found.is_null() {
        return false;
    }
    // SAFETY: it was found, so the record is filled, and its strings lie in `strings`.
    let entry = unsafe { entry.assume_init() };
    let Some(user) = record() else { return false };
    // SAFETY: as above; the name ends with NUL or is null.
    if unsafe { bytes(entry.gr_name) }.is_none_or(|name| name != user.name) {
        return false;
    }
    let mut member = entry.gr_mem;
    // SAFETY: the list lies in `strings` and ends with a null pointer.
    while !member.is_null() && unsafe { !(*member).is_null() } {
        // SAFETY: the pointer is not null, so it is the name of a member.
        if unsafe { bytes(*member) }.is_none_or(|name| name != user.name) {
            return false;
        }
        // SAFETY: the null pointer at the end of the list has not been reached.
        member = unsafe { member.add(1) };
    }
    true
}

/// # Safety
/// `text` is null or ends with NUL.
unsafe fn bytes(text: *const c_char) -> Option<Vec<u8>> {
    // SAFETY: the caller vouches for it.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_record_has_an_absolute_home() {
        // Containers may run as a user without a record.
        if let Some(record) = record() {
            assert!(!record.name.is_empty());
            assert!(home().is_none_or(|home| home.is_absolute()));
        }
        assert!(is_private_group(0));
        assert!(!is_private_group(u32::MAX - 7));
    }
}
