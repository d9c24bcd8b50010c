//! Numbers and datetimes as text.

use super::cell::{Cell, Column, Written};
use super::fault::Fault;
use super::piece::Piece;
use super::plan::Settings;
use super::unit::Unit;
use std::fmt;
use std::marker::PhantomData;

/// Enough for 39 digits, a sign and a point, and for every datetime.
pub(super) const SPACE: usize = 48;

/// ASCII text on the stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rendered {
    pub(super) bytes: [u8; SPACE],
    pub(super) start: usize,
    pub(super) end: usize,
    /// The length of the part before the fraction, without which the text means something else.
    pub(super) whole: usize,
}

impl Rendered {
    pub(super) fn new() -> Self {
        Self { bytes: [b'0'; SPACE], start: 0, end: 0, whole: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes[self.end..][..text.len()].copy_from_slice(text);
        self.end += text.len();
    }

    /// Adds a number with leading zeros.
    #[inline]
    pub(super) fn push_number<const WIDTH: usize>(&mut self, mut number: u32) {
        for byte in self.bytes[self.end..][..WIDTH].iter_mut().rev() {
            *byte = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.end += WIDTH;
    }

    /// What follows is the fraction.
    #[inline]
    pub(super) fn end_whole(&mut self) {
        self.whole = self.end - self.start;
    }

    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

impl fmt::Write for Rendered {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > SPACE - self.end {
            return Err(fmt::Error);
        }
        self.push(text.as_bytes());
        Ok(())
    }
}

/// A column whose values have a text.
pub(super) trait Render: Column {
    fn render(value: Self::Value<'_>, settings: &Settings) -> Result<Rendered, Fault>;
}

/// Values as text.
pub(super) struct AsText<C, U>(PhantomData<(C, U)>);

impl<C: Render, U: Unit + 'static> Cell for AsText<C, U> {
    type Column = C;
    const LEAST: usize = 2 * U::SIZE;
    const TERMINATOR: usize = U::SIZE;

    #[inline]
    unsafe fn put(
        value: C::Value<'_>,
        settings: &Settings,
        data: *mut u8,
        capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault> {
        let rendered = C::render(value, settings)?;
        let rest = rendered.as_bytes().get(piece.position..).unwrap_or_default();
        let length = rest.len() * U::SIZE;
        if data.is_null() {
            return Ok(Written { length, warning: None });
        }
        let room = (capacity / U::SIZE).checked_sub(1).ok_or(Fault::OutOfRange)?;
        if room < rest.len() && room < rendered.whole.saturating_sub(piece.position) {
            return Err(Fault::OutOfRange);
        }
        let fits = room.min(rest.len());
        // SAFETY: these units and the terminator are within the capacity.
        unsafe {
            U::put(&rest[..fits], data);
            U::terminate(data, fits);
        }
        piece.advance(fits, rest.len());
        Ok(Written { length, warning: (fits < rest.len()).then_some(Fault::Cut) })
    }
}
