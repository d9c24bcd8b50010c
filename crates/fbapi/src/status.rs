//! Status interfaces, and status vectors in both directions.

use crate::Error;
use crate::abi::{IStatus, Word};
use crate::library::Library;
use firearrow_proto::api::status::{StatusArg, StatusVector};
use std::ffi::{CStr, CString, c_char};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// `IStatus::STATE_WARNINGS` and `STATE_ERRORS`.
const STATE_WARNINGS: u32 = 1;
const STATE_ERRORS: u32 = 2;

/// The first word of each element of a status vector (`isc_arg_*`).
mod kind {
    pub(super) const END: isize = 0;
    pub(super) const GDS: isize = 1;
    pub(super) const STRING: isize = 2;
    pub(super) const COUNTED: isize = 3;
    pub(super) const NUMBER: isize = 4;
    pub(super) const INTERPRETED: isize = 5;
    pub(super) const UNIX: isize = 7;
    pub(super) const NEXT_MACH: isize = 15;
    pub(super) const WIN32: isize = 17;
    pub(super) const WARNING: isize = 18;
    pub(super) const SQL_STATE: isize = 19;
}

/// Called with the warnings of each successful call of an attachment and its children, in the thread of the call.
pub(crate) type WarningListener = Arc<OnceLock<Box<dyn Fn(StatusVector) + Send + Sync>>>;

/// Receives errors and warnings of calls. Each object has its own, so that objects of one attachment may live in
/// different threads.
pub(crate) struct Status {
    interface: NonNull<IStatus>,
    listener: WarningListener,
}

// SAFETY: the interface is not bound to a thread; two threads must not use it at once, hence no Sync.
unsafe impl Send for Status {}

impl Status {
    pub(crate) fn new(library: &Library) -> Result<Self, Error> {
        Self::with(library, &WarningListener::default())
    }

    /// Hands the warnings of successful calls to `listener`.
    pub(crate) fn with(library: &Library, listener: &WarningListener) -> Result<Self, Error> {
        Ok(Self { interface: library.new_status()?, listener: Arc::clone(listener) })
    }

    /// The interface with its current contents.
    #[inline]
    pub(crate) fn raw(&self) -> *mut IStatus {
        self.interface.as_ptr()
    }

    /// The interface without errors and warnings of earlier calls; a successful call does not clear them.
    #[inline]
    fn cleared(&self) -> *mut IStatus {
        let raw = self.interface.as_ptr();
        // SAFETY: `self` owns the live interface; both slots exist in every release.
        unsafe {
            if IStatus::state(raw) != 0 {
                IStatus::init(raw);
            }
        }
        raw
    }

    /// Whether the last call reported an error.
    #[inline]
    pub(crate) fn has_error(&self) -> bool {
        self.state() & STATE_ERRORS != 0
    }

    #[inline]
    fn state(&self) -> u32 {
        // SAFETY: `self` owns the live interface.
        unsafe { IStatus::state(self.interface.as_ptr()) }
    }

    /// Makes a call and returns its value if it reported no error.
    #[inline]
    pub(crate) fn call<T>(&self, call: impl FnOnce(*mut IStatus) -> T) -> Result<T, Error> {
        let (value, result) = self.run(call);
        result.map(|()| value)
    }

    /// Makes a call and returns its value in any case.
    #[inline]
    pub(crate) fn run<T>(&self, call: impl FnOnce(*mut IStatus) -> T) -> (T, Result<(), Error>) {
        let value = call(self.cleared());
        let state = self.state();
        if state & STATE_ERRORS != 0 {
            return (value, Err(Error::Status(self.vector())));
        }
        if state & STATE_WARNINGS != 0
            && let Some(listener) = self.listener.get()
        {
            listener(self.warnings());
        }
        (value, Ok(()))
    }

    /// Errors, then warnings, of the last call.
    pub(crate) fn vector(&self) -> StatusVector {
        let mut args = Vec::new();
        // SAFETY: the vectors belong to the live interface, end with 0, and are copied before the next call.
        unsafe {
            read(IStatus::errors(self.interface.as_ptr()), &mut args);
            read(IStatus::warnings(self.interface.as_ptr()), &mut args);
        }
        StatusVector(args)
    }

    /// Warnings of the last call.
    pub(crate) fn warnings(&self) -> StatusVector {
        let mut args = Vec::new();
        // SAFETY: as in `vector`.
        unsafe { read(IStatus::warnings(self.interface.as_ptr()), &mut args) };
        StatusVector(args)
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        // SAFETY: `self` owns the interface, and nothing that it returned is still in use.
        unsafe { IStatus::dispose(self.interface.as_ptr()) };
    }
}

/// Copies a raw vector.
///
/// # Safety
/// `vector` must be null or a well-formed status vector.
unsafe fn read(vector: *const Word, args: &mut Vec<StatusArg>) {
    if vector.is_null() {
        return;
    }
    let mut at = vector;
    // SAFETY: each element is a kind and one word, or for counted strings two; kind 0 ends the vector.
    let mut next = || unsafe {
        let word = *at;
        at = at.add(1);
        word
    };
    loop {
        let kind = next();
        if kind == kind::END {
            return;
        }
        let value = next();
        match kind {
            kind::GDS if value == 0 => {} // the vector of success is (1, 0), end
            kind::GDS => args.push(StatusArg::Gds(value as i32)),
            kind::WARNING => args.push(StatusArg::Warning(value as i32)),
            kind::NUMBER => args.push(StatusArg::Number(value as i32)),
            // SAFETY: the value of these kinds is a string that ends with NUL.
            kind::STRING => args.push(StatusArg::Text(unsafe { text(value as *const c_char) })),
            // SAFETY: as above.
            kind::INTERPRETED => args.push(StatusArg::Interpreted(unsafe { text(value as *const c_char) })),
            // SAFETY: as above.
            kind::SQL_STATE => args.push(StatusArg::SqlState(unsafe { text(value as *const c_char) })),
            kind::COUNTED => {
                let start = next() as *const u8;
                let bytes = if start.is_null() || value <= 0 {
                    &[]
                } else {
                    // SAFETY: the two words are the length of a string and its address.
                    unsafe { std::slice::from_raw_parts(start, value as usize) }
                };
                args.push(StatusArg::Text(String::from_utf8_lossy(bytes).into_owned()));
            }
            kind::UNIX => args.push(StatusArg::System("unix", value as i32)),
            kind::NEXT_MACH => args.push(StatusArg::System("next_mach", value as i32)),
            kind::WIN32 => args.push(StatusArg::System("win32", value as i32)),
            _ => args.push(StatusArg::System("system", value as i32)),
        }
    }
}

/// Copies a string of the library.
///
/// # Safety
/// `text` must be null or a string that ends with NUL.
pub(crate) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the end.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A vector in the library's form, with the strings to which it points.
pub(crate) struct RawVector {
    words: Vec<Word>,
    _strings: Vec<CString>,
}

impl RawVector {
    pub(crate) fn new(vector: &StatusVector) -> Self {
        let mut words = Vec::with_capacity(2 * vector.0.len() + 3);
        let mut strings = Vec::new();
        let mut string = |text: &str| {
            // A NUL inside would end the text early; the library could not print the rest anyway.
            let text = CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default();
            strings.push(text);
            strings.last().map_or(0, |text| text.as_ptr() as Word)
        };
        for arg in &vector.0 {
            let (kind, value) = match arg {
                StatusArg::Gds(code) => (kind::GDS, *code as Word),
                StatusArg::Warning(code) => (kind::WARNING, *code as Word),
                StatusArg::Number(number) => (kind::NUMBER, *number as Word),
                StatusArg::Text(text) => (kind::STRING, string(text)),
                StatusArg::Interpreted(text) => (kind::INTERPRETED, string(text)),
                StatusArg::SqlState(text) => (kind::SQL_STATE, string(text)),
                StatusArg::System("win32", code) => (kind::WIN32, *code as Word),
                StatusArg::System("next_mach", code) => (kind::NEXT_MACH, *code as Word),
                StatusArg::System(_, code) => (kind::UNIX, *code as Word),
            };
            words.extend([kind, value]);
        }
        // fb_interpret looks two elements ahead.
        words.extend([kind::END, 0, 0]);
        Self { words, _strings: strings }
    }

    pub(crate) fn as_ptr(&self) -> *const Word {
        self.words.as_ptr()
    }
}
