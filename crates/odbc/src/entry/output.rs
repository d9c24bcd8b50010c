//! Text arguments, in and out.

use crate::abi::{Integer, Pointer, Return, SmallInt};
use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::text::{self, BadText, NarrowEncoding, Text};
use std::borrow::Cow;

/// The encoding of a function's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, or the code page of the process
    Narrow,
    /// UTF-16
    Wide,
}

/// A text argument of either encoding.
#[derive(Clone, Copy)]
pub(super) struct Argument {
    encoding: Encoding,
    text: *const u8,
    length: isize,
}

impl Argument {
    pub(super) fn narrow(text: *const u8, length: impl Into<isize>) -> Self {
        Self { encoding: Encoding::Narrow, text, length: length.into() }
    }

    /// `length` in code units.
    pub(super) fn wide(text: *const u16, length: impl Into<isize>) -> Self {
        Self { encoding: Encoding::Wide, text: text.cast(), length: length.into() }
    }

    /// Its text; `None` for NULL.
    ///
    /// # Safety
    /// It is NULL, or has its length or a terminator.
    pub(super) unsafe fn read(self) -> Result<Option<String>> {
        // SAFETY: the caller's promise.
        let text = unsafe {
            match self.encoding {
                Encoding::Narrow => text::read_narrow(self.text, NarrowEncoding::of_process(), self.length),
                Encoding::Wide => text::read_wide(self.text.cast(), self.length),
            }
        };
        text.map_err(|bad| match bad {
            BadText::Length => Failure::new(State::BUFFER_LENGTH, "a text length is negative"),
            BadText::Encoding => {
                let narrow = NarrowEncoding::of_process();
                let encoding = match self.encoding {
                    Encoding::Narrow => narrow.name(),
                    Encoding::Wide => "UTF-16",
                };
                Failure::new(State::BAD_CHARACTER_VALUE, format!("text is not valid {encoding}"))
            }
        })
    }

    /// Its text, which is required.
    ///
    /// # Safety
    /// As for [`read`](Self::read).
    pub(super) unsafe fn required(self) -> Result<String> {
        // SAFETY: the caller's promise.
        let text = unsafe { self.read() }?;
        text.ok_or_else(|| Failure::new(State::NULL_POINTER, "text is required"))
    }
}

/// How a function counts the length of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    /// UTF-16 code units in wide functions, bytes in narrow ones.
    Characters,
}

/// Where text goes.
#[derive(Clone, Copy)]
pub(super) struct Output {
    pub(super) encoding: Encoding,
    pub(super) unit: Unit,
    pub(super) buffer: Pointer,
    pub(super) capacity: isize,
    pub(super) length: LengthOf,
}

/// Where the length goes: functions have it in two sizes.
#[derive(Clone, Copy)]
pub(super) enum LengthOf {
    Short(*mut SmallInt),
    Long(*mut Integer),
}

impl LengthOf {
    /// # Safety
    /// It is NULL or may be written.
    pub(super) unsafe fn write(self, length: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Short(to) if !to.is_null() => {
                    to.write_unaligned(SmallInt::try_from(length).unwrap_or(SmallInt::MAX));
                }
                Self::Long(to) if !to.is_null() => {
                    to.write_unaligned(Integer::try_from(length).unwrap_or(Integer::MAX));
                }
                _ => {}
            }
        }
    }
}

impl Output {
    /// Of a function that has lengths as `SQLSMALLINT`.
    pub(super) fn short(
        encoding: Encoding,
        unit: Unit,
        buffer: Pointer,
        capacity: SmallInt,
        length: *mut SmallInt,
    ) -> Self {
        Self { encoding, unit, buffer, capacity: capacity as isize, length: LengthOf::Short(length) }
    }

    /// Of a function that has lengths as `SQLINTEGER`.
    pub(super) fn long(
        encoding: Encoding,
        unit: Unit,
        buffer: Pointer,
        capacity: Integer,
        length: *mut Integer,
    ) -> Self {
        Self { encoding, unit, buffer, capacity: capacity as isize, length: LengthOf::Long(length) }
    }

    /// Whether the capacity can be one.
    pub(super) fn check(self) -> Result<()> {
        let is_odd = self.encoding == Encoding::Wide && self.unit == Unit::Bytes && self.capacity % 2 != 0;
        match self.capacity < 0 || is_odd {
            true => Err(Failure::new(State::BUFFER_LENGTH, "a buffer length is negative or odd")),
            false => Ok(()),
        }
    }

    /// Hands out text, and its whole length. Returns whether it was cut.
    ///
    /// # Safety
    /// The buffer and the place of the length are NULL, or may be written.
    pub(super) unsafe fn write(self, text: &Text) -> Result<bool> {
        let narrow = || {
            let narrow = NarrowEncoding::of_process();
            narrow.encode(text.as_str()).map_err(|lacking| {
                let text = format!(
                    "{} has no {lacking:?}, which is in the text: call the wide function",
                    narrow.name()
                );
                Failure::new(State::BAD_CHARACTER_VALUE, text)
            })
        };
        // SAFETY: the caller's promise.
        unsafe { self.write_as(text, narrow) }
    }

    /// As [`write`](Self::write), for people: characters that the code page lacks become numbers.
    ///
    /// # Safety
    /// As for [`write`](Self::write).
    pub(super) unsafe fn tell(self, text: &Text) -> Result<bool> {
        // SAFETY: the caller's promise.
        unsafe { self.write_as(text, || Ok(NarrowEncoding::of_process().encode_with_numbers(text.as_str()))) }
    }

    /// # Safety
    /// As for [`write`](Self::write).
    unsafe fn write_as<'t>(
        self,
        text: &Text,
        narrow: impl FnOnce() -> Result<Cow<'t, [u8]>>,
    ) -> Result<bool> {
        self.check()?;
        let capacity = self.capacity.unsigned_abs();
        // SAFETY: the caller's promise.
        unsafe {
            let written = match (self.encoding, self.unit) {
                (Encoding::Narrow, _) => {
                    text::write_narrow(&narrow()?, NarrowEncoding::of_process(), self.buffer.cast(), capacity)
                }
                (Encoding::Wide, Unit::Characters) => {
                    text::write_wide(text.as_wide(), self.buffer.cast(), capacity)
                }
                (Encoding::Wide, Unit::Bytes) => {
                    text::write_wide(text.as_wide(), self.buffer.cast(), capacity / 2)
                }
            };
            let in_bytes = self.encoding == Encoding::Wide && self.unit == Unit::Bytes;
            self.length.write(if in_bytes { 2 * written.length } else { written.length });
            Ok(written.is_cut)
        }
    }

    /// As [`write`](Self::write); warns if text was cut.
    ///
    /// # Safety
    /// As for [`write`](Self::write).
    pub(super) unsafe fn put(self, text: &Text, diagnostics: &mut Diagnostics) -> Result<()> {
        // SAFETY: the caller's promise.
        if unsafe { self.write(text) }? {
            diagnostics.add(cut());
        }
        Ok(())
    }
}

/// The warning that text did not fit.
pub(super) fn cut() -> Failure {
    Failure::new(State::CUT, "the buffer is too small for the text, which was cut")
}

/// Writes a value through a pointer that may be NULL.
///
/// # Safety
/// It is NULL or may be written.
pub(super) unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the caller's promise.
        unsafe { to.write_unaligned(value) };
    }
}

/// The code of a call that succeeded.
pub(super) const DONE: Result<Return> = Ok(crate::abi::SUCCESS);
