//! Windows.
//!
//! Programs of the system are started by their full paths, and what the shell starts is not looked for in the current
//! folder: anybody may have put a program there.
#![expect(
    unsafe_code,
    reason = "the standard library does not tell which file contains an address, nor keep access lists"
)]

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::ptr;
use windows_sys::Win32::Foundation::HMODULE;
use windows_sys::Win32::Storage::FileSystem::ReplaceFileW;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleFileNameW,
    GetModuleHandleExW, GetModuleHandleW,
};

/// The longest path that Windows allows, in UTF-16 units.
const LONGEST: usize = 32_768;

/// A program of Windows, such as `taskkill.exe`.
pub fn program(name: &str) -> PathBuf {
    let windows = env::var_os("SystemRoot").filter(|path| Path::new(path).is_absolute());
    windows.map_or_else(|| r"C:\Windows".into(), PathBuf::from).join("System32").join(name)
}

/// A command line for the system's shell.
pub fn shell(line: &str) -> Command {
    let mut shell = Command::new(program("cmd.exe"));
    // The shell has quoting rules of its own: it removes the first and the last quote, and nothing else.
    shell.args(["/D", "/S", "/C"]).raw_arg(format!("\"{line}\""));
    shell.env("NoDefaultCurrentDirectoryInExePath", "1");
    shell
}

/// Does nothing: `kill_family` finds children by their parents. Ctrl-C in the console still reaches them.
pub fn own_family(_command: &mut Command) {}

/// Kills a child with everything it has started.
pub fn kill_family(child: &mut Child) {
    // It may have ended.
    let _ = kill_tree(child.id());
}

/// Kills a process with everything it has started.
///
/// # Errors
/// There is no such process, or no right to kill it.
pub fn kill_tree(id: u32) -> io::Result<()> {
    let mut command = Command::new(program("taskkill.exe"));
    command.args(["/F", "/T", "/PID", &id.to_string()]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("taskkill: {status}"))) }
}

/// Moves a file to the place of another one on the same volume, and gives it that one's access list and attributes.
///
/// # Errors
/// There is no other one, or no right to replace it.
pub fn replace_file(new: &Path, old: &Path) -> io::Result<()> {
    let wide = |path: &Path| path.as_os_str().encode_wide().chain([0]).collect::<Vec<u16>>();
    let (new, old) = (wide(new), wide(old));
    // SAFETY: the paths end with NUL; without a name for a backup there is none, and the rest is reserved.
    let done = unsafe { ReplaceFileW(old.as_ptr(), new.as_ptr(), ptr::null(), 0, ptr::null(), ptr::null()) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The file that contains this code: a program, or a library loaded into another one.
pub fn own_file() -> Option<PathBuf> {
    let here = own_file as fn() -> Option<PathBuf> as *const u16;
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    let mut module = ptr::null_mut();
    // SAFETY: with the first flag the name is an address, here one of a function of this module, which stays loaded.
    let found = unsafe { GetModuleHandleExW(flags, here, &mut module) };
    if found == 0 { None } else { file_of(module) }
}

/// The file of a library of this name that is loaded into this process, whoever has loaded it.
pub fn file_of_loaded(name: &str) -> Option<PathBuf> {
    let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
    // SAFETY: the name ends with NUL.
    file_of(unsafe { GetModuleHandleW(name.as_ptr()) })
}

fn file_of(module: HMODULE) -> Option<PathBuf> {
    // A null handle would mean the program itself.
    if module.is_null() {
        return None;
    }
    let mut path = vec![0; LONGEST];
    // SAFETY: the buffer has the length given.
    let length = unsafe { GetModuleFileNameW(module, path.as_mut_ptr(), LONGEST as u32) } as usize;
    (1..LONGEST).contains(&length).then(|| OsString::from_wide(&path[..length]).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_code_knows_its_file() {
        let own = own_file().unwrap();
        assert_eq!(own.file_name(), env::current_exe().unwrap().file_name());
    }

    #[test]
    fn a_file_takes_the_place_of_another() {
        let folder = env::temp_dir().join(format!("firearrow-replace-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (new, old) = (folder.join("new"), folder.join("old"));
        std::fs::write(&new, "new").unwrap();
        replace_file(&new, &old).unwrap_err();
        std::fs::write(&old, "old").unwrap();
        replace_file(&new, &old).unwrap();
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "new");
        assert!(!new.exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn loaded_libraries_have_files() {
        assert!(file_of_loaded("kernel32.dll").unwrap().is_file());
        assert_eq!(file_of_loaded("no-such-library.dll"), None);
    }

    #[test]
    fn the_shell_keeps_quotes() {
        let output = shell(r#"echo "a b"&& echo c"#).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).replace('\r', ""), "\"a b\"\nc\n");
    }
}
