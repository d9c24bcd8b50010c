//! Users and groups as Windows names them: security identifiers.

use std::ffi::c_void;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;
use std::{io, ptr};
use windows_sys::Win32::Foundation::{CloseHandle, ERROR_SUCCESS, HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, GetNamedSecurityInfoW, SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, GetAce, GetTokenInformation,
    INHERIT_ONLY_ACE, OWNER_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID, TOKEN_QUERY, TOKEN_USER,
    TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// `ACCESS_ALLOWED_ACE_TYPE`.
const ALLOWED: u8 = 0;
/// Entries that also allow something, under a condition or for a part: `ACCESS_ALLOWED_COMPOUND_ACE_TYPE`, and those for
/// objects and callbacks. Their user is elsewhere, so they count as somebody's.
const ALLOWED_OTHERWISE: [u8; 4] = [4, 5, 9, 11];

/// In place of an identifier: users whom a condition names.
const OTHERS: &str = "others, under a condition";

/// Who may do what with a file or folder.
#[derive(Debug)]
pub(super) struct Access {
    /// The owner's identifier, such as `S-1-5-18`.
    pub(super) owner: String,
    /// Identifiers with the rights that they are given; `None` if everybody may do everything.
    pub(super) allowed: Option<Vec<(String, u32)>>,
}

/// Memory that the system allocated for us.
struct Local(*mut c_void);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: the system has allocated it for the caller to free, once.
        unsafe { LocalFree(self.0) };
    }
}

/// Reads the owner and the access list of a file or folder.
pub(super) fn access(path: &Path) -> io::Result<Access> {
    let name = path.as_os_str().encode_wide().chain([0]).collect::<Vec<u16>>();
    let mut owner: PSID = ptr::null_mut();
    let mut list: *mut ACL = ptr::null_mut();
    let mut descriptor: PSECURITY_DESCRIPTOR = ptr::null_mut();
    let wanted = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    // SAFETY: the name ends with NUL; the other pointers are places for results, or null for what is not wanted.
    let code = unsafe {
        GetNamedSecurityInfoW(
            name.as_ptr(),
            SE_FILE_OBJECT,
            wanted,
            &mut owner,
            ptr::null_mut(),
            &mut list,
            ptr::null_mut(),
            &mut descriptor,
        )
    };
    if code != ERROR_SUCCESS {
        return Err(io::Error::from_raw_os_error(code.cast_signed()));
    }
    let _descriptor = Local(descriptor);
    // SAFETY: owner and list lie in the descriptor, which lives until the end of this function.
    let (owner, allowed) =
        unsafe { (text(owner)?, if list.is_null() { None } else { Some(entries(list)?) }) };
    Ok(Access { owner, allowed })
}

/// The entries of an access list that allow something for the object itself.
///
/// # Safety
/// `list` is a valid access list.
unsafe fn entries(list: *const ACL) -> io::Result<Vec<(String, u32)>> {
    // SAFETY: the caller vouches for it.
    let count = unsafe { (*list).AceCount };
    let mut found = Vec::new();
    for index in 0..u32::from(count) {
        let mut entry: *mut c_void = ptr::null_mut();
        // SAFETY: the list is valid, and the pointer is a place for the result.
        if unsafe { GetAce(list, index, &mut entry) } == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: every entry begins with this header.
        let header = unsafe { *entry.cast::<ACE_HEADER>() };
        let is_plain = header.AceType == ALLOWED;
        if !is_plain && !ALLOWED_OTHERWISE.contains(&header.AceType)
            || u32::from(header.AceFlags) & INHERIT_ONLY_ACE != 0
        {
            continue;
        }
        let entry = entry.cast::<ACCESS_ALLOWED_ACE>();
        // SAFETY: an entry that allows something begins with the header and the rights.
        let mask = unsafe { (*entry).Mask };
        let user = match is_plain {
            // SAFETY: the identifier of a plain entry begins in its last field.
            true => unsafe { text((&raw mut (*entry).SidStart).cast()) }?,
            false => OTHERS.into(),
        };
        found.push((user, mask));
    }
    Ok(found)
}

/// The user of this process.
pub(super) fn own() -> io::Result<String> {
    let mut token: HANDLE = ptr::null_mut();
    // SAFETY: the handle of the own process needs no closing, and the pointer is a place for the result.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // In units that are aligned for the structure; a user's identifier has at most 68 bytes.
    let mut user = [0_u64; 32];
    let mut length = 0;
    // SAFETY: the buffer has the length given.
    let told = unsafe {
        GetTokenInformation(
            token,
            TokenUser,
            user.as_mut_ptr().cast(),
            size_of_val(&user) as u32,
            &mut length,
        )
    };
    let error = io::Error::last_os_error();
    // SAFETY: the token is ours, and is not used after this.
    unsafe { CloseHandle(token) };
    if told == 0 {
        return Err(error);
    }
    // SAFETY: the buffer begins with this structure, whose identifier lies in the buffer.
    unsafe { text((*user.as_ptr().cast::<TOKEN_USER>()).User.Sid) }
}

/// The text of an identifier.
///
/// # Safety
/// `sid` is a valid identifier.
unsafe fn text(sid: PSID) -> io::Result<String> {
    let mut text: *mut u16 = ptr::null_mut();
    // SAFETY: the caller vouches for the identifier; the pointer is a place for the result.
    if unsafe { ConvertSidToStringSidW(sid, &mut text) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let _text = Local(text.cast());
    // SAFETY: the result ends with NUL.
    let length = (0..).take_while(|at| unsafe { *text.add(*at) } != 0).count();
    // SAFETY: that many units lie before it.
    Ok(String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(text, length) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_this_process_belongs_to_its_user_or_to_administrators() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let access = access(file.path()).unwrap();
        let owners = [own().unwrap(), "S-1-5-32-544".to_owned()];
        assert!(owners.contains(&access.owner), "{access:?}");
        assert!(access.allowed.is_none_or(|allowed| !allowed.is_empty()));
        assert!(super::access(Path::new(r"C:\no such file")).is_err());
    }
}
