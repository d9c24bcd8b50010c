//! What the tests of conversions share: buffers that are unaligned, and guarded against writes outside of them.

use super::{Got, Piece, Slots, Wanted, fixed_size, plan};
use crate::abi::{Len, NULL_DATA, SmallInt, c_type};
use arrow::array::Array;

const GUARD: u8 = 0xAA;
const UNTOUCHED: Len = -77;

/// Nothing but a C type.
pub(super) fn wanted(c_type: SmallInt) -> Wanted {
    Wanted { c_type, ..Wanted::default() }
}

/// The buffers of a bound column.
pub(super) struct Buffers {
    bytes: Vec<u8>,
    pub(super) lengths: Vec<Len>,
    step: usize,
    capacity: usize,
}

impl Buffers {
    pub(super) fn new(rows: usize, capacity: usize) -> Self {
        // An odd step, so that no other row is aligned.
        let step = (capacity + 2) | 1;
        let bytes = vec![GUARD; 1 + rows * step];
        Self { bytes, lengths: vec![UNTOUCHED; rows], step, capacity }
    }

    pub(super) fn slots(&mut self) -> Slots {
        let lengths = self.lengths.as_mut_ptr();
        Slots {
            data: self.bytes[1..].as_mut_ptr(),
            data_step: self.step,
            capacity: self.capacity,
            length: lengths,
            indicator: lengths,
            length_step: size_of::<Len>(),
        }
    }

    /// A row's buffer, behind which nothing was written.
    pub(super) fn row(&self, row: usize) -> &[u8] {
        let (bytes, guard) = self.bytes[1 + row * self.step..][..self.step].split_at(self.capacity);
        assert!(guard.iter().all(|&byte| byte == GUARD), "a write beyond row {row}");
        bytes
    }
}

/// A value or its length, with a warning; or a failure. States are as applications see them.
pub(super) type Outcome<T> = Result<(T, Option<&'static str>), &'static str>;

/// Fetches all rows into fixed values (or into `SQL_C_BINARY` of that size).
pub(super) fn values<T: Copy>(array: &dyn Array, wanted: Wanted) -> Vec<Outcome<T>> {
    let size = size_of::<T>();
    if wanted.c_type != c_type::BINARY {
        assert_eq!(fixed_size(wanted.c_type), Some(size));
    }
    fetch(array, wanted, size, |bytes, length| {
        assert_eq!(length, size.cast_signed());
        // SAFETY: it has the size of this type, all of whose bit patterns are valid.
        unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
    })
}

/// A text, its length and a warning.
pub(super) type TextOutcome = Result<(String, Len, Option<&'static str>), &'static str>;

/// Fetches all rows as text into buffers of so many code units.
pub(super) fn texts(array: &dyn Array, wanted: Wanted, units: usize) -> Vec<TextOutcome> {
    let is_wide = wanted.c_type == c_type::WCHAR;
    let capacity = if is_wide { 2 * units } else { units };
    fetch(array, wanted, capacity, |bytes, length| (terminated(bytes, is_wide), length))
        .into_iter()
        .map(|outcome| outcome.map(|((text, length), warning)| (text, length, warning)))
        .collect()
}

/// The text before the terminator.
pub(super) fn terminated(bytes: &[u8], is_wide: bool) -> String {
    if is_wide {
        let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let units: Vec<u16> = units.collect();
        let end = units.iter().position(|&unit| unit == 0).expect("a terminator");
        String::from_utf16(&units[..end]).expect("whole pairs")
    } else {
        let end = bytes.iter().position(|&byte| byte == 0).expect("a terminator");
        String::from_utf8(bytes[..end].to_vec()).expect("whole characters")
    }
}

fn fetch<T>(
    array: &dyn Array,
    wanted: Wanted,
    capacity: usize,
    value: impl Fn(&[u8], Len) -> T,
) -> Vec<Outcome<T>> {
    let writer = plan(array.data_type(), &wanted).expect("a conversion");
    let mut buffers = Buffers::new(array.len(), capacity);
    let mut failures = vec![None; array.len()];
    // SAFETY: the buffers have these rows.
    unsafe {
        writer.write(array, 0..array.len(), &buffers.slots(), &mut |row, failure| {
            assert!(failures[row].replace(failure.state).is_none(), "one report for each row");
        });
    }
    let outcome = |(row, state): (usize, &Option<crate::diagnostics::State>)| match *state {
        Some(state) if !state.is_warning() => {
            buffers.row(row);
            Err(state.as_str())
        }
        _ if buffers.lengths[row] == NULL_DATA => Err("NULL"),
        warning => Ok((
            value(buffers.row(row), buffers.lengths[row]),
            warning.map(crate::diagnostics::State::as_str),
        )),
    };
    failures.iter().enumerate().map(outcome).collect()
}

/// What one call of `SQLGetData` returned: bytes of the buffer, the length, and the state of a warning.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Call {
    Bytes(Vec<u8>, Len, Option<&'static str>),
    NoData,
    Failed(&'static str),
}

/// Calls `SQLGetData` with a buffer of so many bytes.
pub(super) fn get(array: &dyn Array, row: usize, wanted: Wanted, capacity: usize, piece: &mut Piece) -> Call {
    let writer = plan(array.data_type(), &wanted).expect("a conversion");
    let mut buffers = Buffers::new(1, capacity);
    // SAFETY: the buffers have one row.
    let got = unsafe { writer.get(array, row, &buffers.slots(), piece) };
    let bytes = buffers.row(0).to_vec();
    match got {
        Ok(Got::Done) => Call::Bytes(bytes, buffers.lengths[0], None),
        Ok(Got::Warned(failure)) => Call::Bytes(bytes, buffers.lengths[0], Some(failure.state.as_str())),
        Ok(Got::NoData) => Call::NoData,
        Err(failure) => Call::Failed(failure.state.as_str()),
    }
}
