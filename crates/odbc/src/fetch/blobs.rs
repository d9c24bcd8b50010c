//! BLOBs of a result. Its batches have ids in their place: they are read when somebody wants them, short ones many at
//! a time, since each request for one costs a round trip.

use super::long::{LongValue, malformed};
use crate::abi::SmallInt;
use crate::convert::{Got, Piece, Slots, Writer};
use crate::diagnostics::Result;
use arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryBuilder, LargeBinaryArray, StringArray, StringBuilder, UInt64Array,
};
use firearrow_driver::{Blob, Stream};
use std::ops::Range;
use std::sync::Arc;

/// BLOBs up to this many bytes, which one answer of a server has room for, are read ahead.
const SHORT: u64 = 64 << 10;
/// BLOBs up to this many bytes are read whole, so that all their lengths are known.
const MEDIUM: u64 = 1 << 20;
/// No more are read ahead once this many bytes have come.
const ENOUGH: usize = 4 << 20;
/// Rows to read ahead at first, and at most.
const FEWEST: usize = 16;
const MOST: usize = 1024;

/// The values of one column.
#[derive(Debug)]
pub(crate) struct Blobs {
    is_text: bool,
    /// Whether stored text is UTF-8, so that its length is that of the value.
    is_exact: bool,
    /// Rows to read ahead next time.
    next: usize,
    chunk: Option<Chunk>,
}

/// Values of consecutive rows.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) rows: Range<u64>,
    /// NULL for values that are apart.
    pub(crate) values: ArrayRef,
    /// In the order of rows.
    apart: Vec<(u64, Apart)>,
}

/// Rows whose values are together, and the one after them that is apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) together: Range<u64>,
    pub(crate) apart: Option<(u64, Apart)>,
}

/// Why a value is not among those of its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// It is the BLOB with this id, and long.
    Long(u64),
    /// It is no text.
    Malformed,
}

impl Apart {
    /// The id of a long one.
    pub(crate) fn id(self) -> Result<u64> {
        match self {
            Self::Long(id) => Ok(id),
            Self::Malformed => Err(malformed()),
        }
    }
}

/// A value that is read on its own.
#[derive(Debug)]
pub(crate) enum Single {
    /// The only row of an array.
    Whole(ArrayRef),
    Long(Box<LongValue>),
}

impl Single {
    /// Hands out the next piece of it.
    ///
    /// # Safety
    /// The slot is NULL or may be written.
    pub(crate) unsafe fn get(
        &mut self,
        writer: &Writer,
        c_type: SmallInt,
        slot: &Slots,
        piece: &mut Piece,
    ) -> Result<Got> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Whole(array) => writer.get(array.as_ref(), 0, slot, piece),
                Self::Long(long) => long.get(c_type, writer.narrow(), slot, piece),
            }
        }
    }
}

impl Blobs {
    pub(crate) fn new(is_text: bool, is_exact: bool) -> Self {
        Self { is_text, is_exact: is_exact || !is_text, next: FEWEST, chunk: None }
    }

    /// The values at hand, if the one of this row is among them.
    pub(crate) fn find(&self, row: u64) -> Option<&Chunk> {
        self.chunk.as_ref().filter(|chunk| chunk.rows.contains(&row))
    }

    /// How many rows to read from this one on, where somebody wants so many.
    pub(crate) fn count(&self, row: u64, wanted: usize) -> usize {
        let goes_back = self.chunk.as_ref().is_some_and(|chunk| row < chunk.rows.start);
        match goes_back || self.next == 1 {
            true => 1,
            false => self.next.max(wanted).min(MOST),
        }
    }

    /// Reads the values of rows from this one on, of which at least the first is there then.
    pub(crate) fn read(&mut self, stream: &Stream, ids: &UInt64Array, row: u64) -> Result<()> {
        let contents = stream.read_short_blobs(ids, SHORT, ENOUGH)?;
        let chunk = Chunk::new(&contents, ids, row, self.is_text);
        // Long ones are asked for in vain.
        self.next = match 2 * chunk.apart.len() > contents.len() {
            true => 1,
            false => (4 * self.next).min(MOST),
        };
        self.chunk = Some(chunk);
        Ok(())
    }

    /// Begins to read a value on its own.
    pub(crate) fn open(&self, stream: &Stream, id: u64, max_length: usize) -> Result<Single> {
        let mut blob = stream.open_blob(id)?;
        if blob.stored_length() > MEDIUM {
            let long = LongValue::new(blob, self.is_text, self.is_exact, max_length);
            return Ok(Single::Long(Box::new(long)));
        }
        let contents = whole(&mut blob)?;
        Ok(Single::Whole(match self.is_text {
            true => {
                let text = String::from_utf8(contents).map_err(|_| malformed())?;
                Arc::new(StringArray::from(vec![text]))
            }
            false => Arc::new(BinaryArray::from(vec![contents.as_slice()])),
        }))
    }
}

fn whole(blob: &mut Blob) -> Result<Vec<u8>> {
    const STEP: usize = 64 << 10;
    let mut contents = Vec::new();
    loop {
        let start = contents.len();
        contents.resize(start + STEP, 0);
        let read = blob.read(&mut contents[start..])?;
        contents.truncate(start + read);
        if read == 0 {
            return Ok(contents);
        }
    }
}

impl Chunk {
    fn new(contents: &LargeBinaryArray, ids: &UInt64Array, row: u64, is_text: bool) -> Self {
        let mut apart = Vec::new();
        let mut add = |at: usize, why| apart.push((row + at as u64, why));
        let is_long = |at: usize| contents.is_null(at) && ids.is_valid(at);
        let bytes = contents.value_data().len();
        let values: ArrayRef = if is_text {
            let mut values = StringBuilder::with_capacity(contents.len(), bytes);
            for (at, value) in contents.iter().enumerate() {
                let text = value.map(str::from_utf8);
                match text {
                    Some(Err(_)) => add(at, Apart::Malformed),
                    None if is_long(at) => add(at, Apart::Long(ids.value(at))),
                    _ => {}
                }
                values.append_option(text.and_then(Result::ok));
            }
            Arc::new(values.finish())
        } else {
            let mut values = BinaryBuilder::with_capacity(contents.len(), bytes);
            for (at, value) in contents.iter().enumerate() {
                if is_long(at) {
                    add(at, Apart::Long(ids.value(at)));
                }
                values.append_option(value);
            }
            Arc::new(values.finish())
        };
        Self { rows: row..row + contents.len() as u64, values, apart }
    }

    /// Why the value of a row is not among the others, if it is not.
    pub(crate) fn apart(&self, row: u64) -> Option<Apart> {
        let at = self.apart.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(self.apart[at].1)
    }

    /// The place of a row among the values.
    pub(crate) fn place(&self, row: u64) -> usize {
        (row - self.rows.start) as usize
    }

    /// These rows, divided where a value is apart.
    pub(crate) fn parts(&self, rows: Range<u64>) -> Vec<Part> {
        let mut start = rows.start;
        let mut parts = Vec::new();
        for (row, apart) in self.apart.iter().filter(|(row, _)| rows.contains(row)) {
            parts.push(Part { together: start..*row, apart: Some((*row, *apart)) });
            start = row + 1;
        }
        parts.push(Part { together: start..rows.end, apart: None });
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;

    #[test]
    fn long_and_malformed_values_are_apart() {
        let contents: [Option<&[u8]>; 5] = [Some(b"a"), None, None, Some(b"\xFF"), Some(b"b")];
        let contents = LargeBinaryArray::from_iter(contents);
        let ids = UInt64Array::from(vec![Some(1), None, Some(3), Some(4), Some(5)]);
        let text = Chunk::new(&contents, &ids, 10, true);
        let values: Vec<_> = text.values.as_string::<i32>().iter().collect();
        assert_eq!(values, [Some("a"), None, None, None, Some("b")]);
        let (long, malformed) = ((12, Apart::Long(3)), (13, Apart::Malformed));
        assert_eq!(text.apart, [long, malformed]);
        assert_eq!(
            [10, 11, 12, 13].map(|row| text.apart(row)),
            [None, None, Some(long.1), Some(malformed.1)]
        );
        let part = |together, apart| Part { together, apart };
        let parts = [part(10..12, Some(long)), part(13..13, Some(malformed)), part(14..15, None)];
        assert_eq!(text.parts(10..15), parts);
        assert_eq!(text.parts(10..12), [part(10..12, None)]);
        let bytes = Chunk::new(&contents, &ids, 10, false);
        assert_eq!(bytes.apart, [long]);
        assert_eq!(bytes.values.as_binary::<i32>().value(bytes.place(13)), b"\xFF");
    }

    #[test]
    fn who_goes_on_reads_more_at_a_time() {
        let mut blobs = Blobs::new(true, true);
        assert_eq!((blobs.count(0, 1), blobs.count(0, 100), blobs.count(0, 5000)), (16, 100, 1024));
        let none = UInt64Array::from(vec![None::<u64>; 3]);
        blobs.chunk = Some(Chunk::new(&LargeBinaryArray::new_null(3), &none, 5, true));
        assert_eq!((blobs.count(8, 1), blobs.count(4, 1)), (16, 1));
        assert!(blobs.find(7).is_some() && blobs.find(8).is_none());
    }
}
