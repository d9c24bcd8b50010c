//! The C functions of a driver or a driver manager, which is loaded at run time.

#![allow(unsafe_code, non_snake_case)]

use super::abi::{Handle, Pointer, Return};
use crate::error::{Error, Result};
use std::path::Path;

macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The functions by their names. They stay valid as long as the library.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "system" fn($($argument),*) -> Return,)*
        }

        impl Functions {
            fn of(library: &libloading::Library) -> std::result::Result<Self, libloading::Error> {
                // SAFETY: the standard declares the functions of these names with these types.
                unsafe {
                    Ok(Self { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* })
                }
            }
        }
    };
}

functions! {
    SQLAllocHandle(i16, Handle, *mut Handle);
    SQLFreeHandle(i16, Handle);
    SQLFreeStmt(Handle, u16);
    SQLSetEnvAttr(Handle, i32, Pointer, i32);
    SQLSetConnectAttr(Handle, i32, Pointer, i32);
    SQLSetStmtAttr(Handle, i32, Pointer, i32);
    SQLDriverConnect(Handle, Handle, *const u8, i16, *mut u8, i16, *mut i16, u16);
    SQLDisconnect(Handle);
    SQLEndTran(i16, Handle, i16);
    SQLGetInfo(Handle, u16, Pointer, i16, *mut i16);
    SQLPrepare(Handle, *const u8, i32);
    SQLExecute(Handle);
    SQLExecDirect(Handle, *const u8, i32);
    SQLBindParameter(Handle, u16, i16, i16, i16, usize, i16, Pointer, isize, *mut isize);
    SQLDescribeColW(Handle, u16, *mut u16, i16, *mut i16, *mut i16, *mut usize, *mut i16, *mut i16);
    SQLNumResultCols(Handle, *mut i16);
    SQLBindCol(Handle, u16, i16, Pointer, isize, *mut isize);
    SQLFetch(Handle);
    SQLFetchScroll(Handle, i16, isize);
    SQLGetData(Handle, u16, i16, Pointer, isize, *mut isize);
    SQLGetDiagRec(i16, Handle, i16, *mut u8, *mut i32, *mut u8, i16, *mut i16);
}

/// A loaded driver or driver manager.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) functions: Functions,
    /// Unloaded after its functions are gone.
    _library: libloading::Library,
}

impl Library {
    /// Loads a library by its path, or by a name that the system's loader finds.
    pub(super) fn load(path: &Path) -> Result<Self> {
        let failed = |error| Error::other(format!("cannot load {}: {error}", path.display()));
        // SAFETY: the user names a driver, whose code would run in any application.
        let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        let functions = Functions::of(&library).map_err(failed)?;
        Ok(Self { functions, _library: library })
    }
}
