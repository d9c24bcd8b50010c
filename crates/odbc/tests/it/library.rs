//! The library as Windows loads it.

use crate::odbc::{ENV, Handle, Return, SUCCESS};
use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr};
use std::fs;
use std::mem::transmute;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::{FreeLibrary, HMODULE};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress, LoadLibraryW};

/// The one that cargo has just built.
fn library() -> PathBuf {
    std::env::current_exe().expect("a test has a path").with_file_name("firearrowodbc.dll")
}

fn wide(path: &Path) -> Vec<u16> {
    OsStr::new(path).encode_wide().chain([0]).collect()
}

type Function = unsafe extern "system" fn() -> isize;

struct Loaded(HMODULE);

impl Loaded {
    fn new(path: &Path) -> Self {
        // SAFETY: the path ends with a zero.
        let module = unsafe { LoadLibraryW(wide(path).as_ptr()) };
        assert!(!module.is_null(), "{}: {}", path.display(), std::io::Error::last_os_error());
        Self(module)
    }

    fn function(&self, name: &CStr) -> Function {
        // SAFETY: the name ends with a zero.
        let function = unsafe { GetProcAddress(self.0, name.as_ptr().cast()) };
        function.unwrap_or_else(|| panic!("{name:?} is not exported"))
    }

    fn environment(&self) -> Handle {
        type Allocate = unsafe extern "system" fn(i16, Handle, *mut Handle) -> Return;
        let mut handle = null_mut();
        // SAFETY: it has this type.
        let code = unsafe {
            let function = self.function(c"SQLAllocHandle");
            transmute::<Function, Allocate>(function)(ENV, null_mut(), &mut handle)
        };
        assert_eq!(code, SUCCESS);
        handle
    }

    fn free(&self, handle: Handle) -> Return {
        type Free = unsafe extern "system" fn(i16, Handle) -> Return;
        // SAFETY: as above.
        unsafe { transmute::<Function, Free>(self.function(c"SQLFreeHandle"))(ENV, handle) }
    }
}

fn is_loaded(path: &Path) -> bool {
    // SAFETY: the path ends with a zero.
    !unsafe { GetModuleHandleW(wide(path).as_ptr()) }.is_null()
}

#[test]
fn copies_of_the_library_have_handles_of_their_own_and_stay_loaded_once_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let copies = ["one.dll", "two.dll"].map(|name| folder.path().join(name));
    let [one, two] = copies.each_ref().map(|path| {
        fs::copy(library(), path).expect("it was built");
        Loaded::new(path)
    });
    let (first, second) = (one.environment(), two.environment());
    assert_eq!((one.free(first), two.free(second)), (SUCCESS, SUCCESS));
    assert_ne!(one.free(first), SUCCESS, "it was freed");
    let third = two.environment();
    assert_ne!(one.free(third), SUCCESS, "it is not of this copy");
    assert_eq!(two.free(third), SUCCESS);
    // Their threads run their code.
    let unused = Loaded::new(&library());
    for loaded in [&one, &two, &unused] {
        // SAFETY: it was loaded once.
        assert_ne!(unsafe { FreeLibrary(loaded.0) }, 0);
    }
    let [one, two] = copies.each_ref().map(|path| is_loaded(path));
    assert_eq!([one, two, is_loaded(&library())], [true, true, false]);
    // Windows removes no file of a loaded library.
    let _ = folder.keep();
}

/// Nothing but the functions of ODBC and of its installer, by their plain names.
#[test]
fn all_functions_are_exported_and_nothing_else() {
    let (_, list) =
        include_str!("../../../odbc-library/exports.def").split_once("EXPORTS\n").expect("a list");
    let functions: BTreeSet<_> = list.lines().map(|name| name.trim().to_owned()).collect();
    assert_eq!(exports(&fs::read(library()).expect("it was built")), functions);
}

/// The names in the export table of a 64-bit library.
fn exports(file: &[u8]) -> BTreeSet<String> {
    let long = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize;
    let short = |at: usize| usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
    let header = long(0x3c);
    let (sections, optional) = (short(header + 6), header + 24);
    let first = optional + short(header + 20);
    let place = |address: usize| {
        let within = (0..sections).map(|number| first + 40 * number).find(|section| {
            let (size, start) = (long(section + 16), long(section + 12));
            (start..start + size).contains(&address)
        });
        within.map(|section| address - long(section + 12) + long(section + 20)).expect("it is in a section")
    };
    let table = place(long(optional + 112));
    let (count, names) = (long(table + 24), place(long(table + 32)));
    let name = |number: usize| {
        let text = &file[place(long(names + 4 * number))..];
        CStr::from_bytes_until_nul(text).expect("it ends").to_str().expect("ASCII").to_owned()
    };
    (0..count).map(name).collect()
}
