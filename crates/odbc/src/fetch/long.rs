//! Long BLOBs, which are handed out as they arrive.

use crate::abi::{self, SmallInt};
use crate::convert::{Form, Got, Piece, Slots};
use crate::diagnostics::{Failure, Result, State};
use crate::text::NarrowEncoding;
use firearrow_driver::Blob;

/// Bytes to read at a time.
const PART: usize = 64 << 10;

/// A BLOB that is being handed out.
#[derive(Debug)]
pub(crate) struct LongValue {
    blob: Blob,
    is_text: bool,
    /// Bytes that have arrived.
    part: Vec<u8>,
    /// Bytes of them that were handed out.
    taken: usize,
    /// The end of the last whole character among them.
    whole: usize,
    at_end: bool,
    /// Bytes that are left, where that is known.
    left: Option<u64>,
    /// Bytes that the application wants at most.
    most: u64,
    is_done: bool,
    /// Why nothing more can be read.
    failed: Option<Failure>,
}

impl LongValue {
    /// `is_exact` says that the stored length is that of the contents; `max_length` is 0 for all of it.
    pub(crate) fn new(blob: Blob, is_text: bool, is_exact: bool, max_length: usize) -> Self {
        let most = if max_length == 0 { u64::MAX } else { max_length as u64 };
        // A limit may fall into a character.
        let is_known = is_exact && (!is_text || blob.stored_length() <= most);
        let left = is_known.then(|| blob.stored_length().min(most));
        Self {
            blob,
            is_text,
            part: Vec::new(),
            taken: 0,
            whole: 0,
            at_end: false,
            left,
            most,
            is_done: false,
            failed: None,
        }
    }

    /// Hands out the next piece. Its length is that before the call, or `SQL_NO_TOTAL` while that is not known.
    ///
    /// # Safety
    /// The slot is NULL or may be written.
    pub(crate) unsafe fn get(
        &mut self,
        c_type: SmallInt,
        narrow: NarrowEncoding,
        slot: &Slots,
        piece: &mut Piece,
    ) -> Result<Got> {
        if self.is_done {
            return Ok(Got::NoData);
        }
        let form = Form::new(c_type, self.is_text, narrow).ok_or_else(|| {
            let text = "the value is too long for any C type but text and bytes";
            Failure::new(State::OUT_OF_RANGE, text)
        })?;
        let before = self.left.and_then(|left| form.length(left));
        let capacity = if slot.data.is_null() { 0 } else { slot.capacity };
        let mut written = 0;
        while capacity - written >= form.terminator() && !self.next_part()?.is_empty() {
            let part = &self.part[self.taken..self.whole];
            let (data, room) = (slot.data.wrapping_add(written), capacity - written);
            // SAFETY: the rest of the buffer has room for a terminator.
            let put = unsafe { form.put(part, data, room, piece) }?;
            if (put.read, put.written) == (0, 0) {
                break;
            }
            written += put.written;
            self.take(put.read);
        }
        self.is_done = capacity > 0 && self.next_part()?.is_empty();
        let length = match (before, self.is_done) {
            (_, true) => written as isize,
            (Some(length), false) => isize::try_from(length).unwrap_or(abi::NO_TOTAL),
            (None, false) => abi::NO_TOTAL,
        };
        // SAFETY: the caller's promise.
        unsafe { slot.set(length) };
        match self.is_done {
            true => Ok(Got::Done),
            false => Ok(Got::Warned(Failure::new(State::CUT, "the value does not fit into the buffer"))),
        }
    }

    fn take(&mut self, bytes: usize) {
        self.taken += bytes;
        self.most -= bytes as u64;
        self.left = self.left.map(|left| left.saturating_sub(bytes as u64));
    }

    /// What has arrived and was not handed out, up to a whole character; empty at the end.
    fn next_part(&mut self) -> Result<&[u8]> {
        while self.taken == self.whole && !self.at_end {
            if let Some(failure) = &self.failed {
                return Err(failure.clone());
            }
            // What follows a part that cannot be read must not be taken for it.
            self.read_part().inspect_err(|failure| self.failed = Some(failure.clone()))?;
        }
        Ok(&self.part[self.taken..self.whole])
    }

    fn read_part(&mut self) -> Result<()> {
        self.part.drain(..self.taken);
        (self.taken, self.whole) = (0, 0);
        let rest = self.part.len();
        self.part.resize(rest + PART, 0);
        let read = self.blob.read(&mut self.part[rest..])?;
        self.part.truncate(rest + read);
        self.at_end = read == 0;
        self.whole = self.whole_characters().inspect_err(|_| self.at_end = false)?;
        if self.whole as u64 > self.most {
            self.cut();
        }
        Ok(())
    }

    /// The application wants no more.
    fn cut(&mut self) {
        let most = self.most as usize;
        let is_boundary = |end: &usize| !self.is_text || self.part[*end] & 0xC0 != 0x80;
        self.whole = (0..=most).rev().find(is_boundary).unwrap_or(0);
        (self.at_end, self.left) = (true, Some(self.whole as u64));
    }

    fn whole_characters(&self) -> Result<usize> {
        if !self.is_text {
            return Ok(self.part.len());
        }
        match str::from_utf8(&self.part) {
            Ok(_) => Ok(self.part.len()),
            Err(error) if error.error_len().is_none() && !self.at_end => Ok(error.valid_up_to()),
            Err(_) => Err(malformed()),
        }
    }
}

/// Text without a character set may be anything.
pub(crate) fn malformed() -> Failure {
    Failure::new(State::BAD_CHARACTER_VALUE, "the text is not valid UTF-8: its column has no character set")
}
