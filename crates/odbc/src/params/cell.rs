//! The values of one parameter, before they are converted.

use super::binding::{Binding, Given, classify};
use super::pieces::{Pieces, Supplied};
use crate::abi::{self, Len};
use crate::diagnostics::{Failure, Result, State};
use arrow::buffer::NullBuffer;
use std::slice;

/// Rows of a column that failed.
pub(super) type Failed = Vec<(usize, Failure)>;

/// Where values come from besides the buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// What `SQLPutData` gave.
    pub(crate) supplied: &'a Supplied,
    /// The sets that are wanted, counted from 0.
    pub(crate) sets: &'a [usize],
    /// Whether the statement calls a procedure.
    pub(crate) is_call: bool,
}

/// The values of one parameter in all sets.
pub(super) enum Cells<'a> {
    /// Values of a fixed length, all of them in the application's buffer.
    Strided(Strided<'a>),
    /// The bytes of each value, `None` for NULL. Values of a fixed length have it.
    Listed(Vec<Option<&'a [u8]>>),
}

/// Values that are as far from each other as their sets.
pub(super) struct Strided<'a> {
    first: *const u8,
    step: usize,
    sets: &'a [usize],
}

/// A type of which any bytes are a value.
///
/// # Safety
/// That must be so.
pub(super) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($name:ty),*) => { $(
        // SAFETY: it consists of numbers.
        unsafe impl Plain for $name {}
    )* };
}

plain!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);
plain!(abi::Numeric, abi::Guid, abi::Date, abi::Time, abi::Timestamp);

impl<'a> Cells<'a> {
    /// Finds the values of a parameter, counted from 0. Sets without a usable value become NULL, and failed.
    ///
    /// # Safety
    /// The buffers of `binding` are NULL or may be read, for these sets and as long as the values are used.
    pub(super) unsafe fn find(
        binding: &Binding,
        parameter: usize,
        source: Source<'a>,
        failed: &mut Failed,
    ) -> Self {
        let Source { supplied, sets, is_call } = source;
        // SAFETY: the caller's promise.
        if binding.fixed_size().is_some() && unsafe { all_in_buffer(binding, sets) } {
            return Self::Strided(Strided { first: binding.data, step: binding.data_step, sets });
        }
        let cells = sets.iter().enumerate().map(|(row, &set)| {
            // SAFETY: the caller's promise.
            unsafe { cell(binding, set, supplied.get(set, parameter), is_call) }.unwrap_or_else(|failure| {
                failed.push((row, failure));
                None
            })
        });
        Self::Listed(cells.collect())
    }

    pub(super) fn is_all_null(&self) -> bool {
        match self {
            Self::Strided(_) => false,
            Self::Listed(cells) => cells.iter().all(Option::is_none),
        }
    }

    pub(super) fn nulls(&self) -> Option<NullBuffer> {
        match self {
            Self::Listed(cells) if cells.iter().any(Option::is_none) => {
                Some(cells.iter().map(Option::is_some).collect())
            }
            _ => None,
        }
    }

    /// Converts values of a fixed length.
    pub(super) fn convert<T: Plain, N: Copy + Default>(
        &self,
        failed: &mut Failed,
        convert: impl Fn(T) -> Result<N>,
    ) -> Vec<N> {
        let mut converted = |row, value| {
            convert(value).unwrap_or_else(|failure| {
                failed.push((row, failure));
                N::default()
            })
        };
        match self {
            Self::Strided(Strided { first, step, sets }) => {
                let values = sets.iter().enumerate().map(|(row, set)| {
                    // SAFETY: `all_in_buffer` has checked the offsets; any bytes are a value.
                    let value = unsafe { first.add(set * step).cast::<T>().read_unaligned() };
                    converted(row, value)
                });
                values.collect()
            }
            Self::Listed(cells) => {
                let values = cells.iter().enumerate().map(|(row, cell)| match cell {
                    Some(bytes) => converted(row, plain(bytes)),
                    None => N::default(),
                });
                values.collect()
            }
        }
    }

    /// The bytes of text or binary values.
    pub(super) fn listed(&self) -> &[Option<&'a [u8]>] {
        match self {
            Self::Listed(cells) => cells,
            Self::Strided(_) => &[],
        }
    }
}

fn plain<T: Plain>(bytes: &[u8]) -> T {
    assert_eq!(bytes.len(), size_of::<T>(), "a value of a fixed length has that length");
    // SAFETY: the bytes are there, and any bytes are a value.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// Whether all these sets have values in the buffer, at valid offsets.
///
/// # Safety
/// As for [`Cells::find`].
unsafe fn all_in_buffer(binding: &Binding, sets: &[usize]) -> bool {
    let Some(&last) = sets.iter().max() else { return false };
    if binding.data.is_null() || binding.address(last).is_err() || binding.check_lengths(last).is_err() {
        return false;
    }
    let has_lengths = |first: *const Len| {
        let is_length = |set: &usize| {
            let place = first.cast::<u8>().wrapping_add(set * binding.length_step);
            // SAFETY: the caller's promise; the offset of the last set is valid.
            unsafe { place.cast::<Len>().read_unaligned() >= 0 }
        };
        first.is_null() || sets.iter().all(is_length)
    };
    has_lengths(binding.length) && (binding.indicator == binding.length || has_lengths(binding.indicator))
}

/// The bytes of a value, `None` for NULL.
///
/// # Safety
/// As for [`Cells::find`].
unsafe fn cell<'a>(
    binding: &Binding,
    set: usize,
    pieces: &'a Pieces,
    is_call: bool,
) -> Result<Option<&'a [u8]>> {
    // SAFETY: the caller's promise.
    let indication = unsafe { binding.indication(set) }?;
    match classify(indication)? {
        Given::Null => Ok(None),
        Given::Default => Err(default_parameter(is_call)),
        Given::AtExecution(_) => match pieces {
            Pieces::Null => Ok(None),
            Pieces::Bytes(bytes) if binding.fixed_size().is_none_or(|size| size == bytes.len()) => {
                Ok(Some(bytes))
            }
            _ => Err(Failure::new(State::SEQUENCE, "no data was supplied for the parameter")),
        },
        Given::Value => {
            let data = binding.address(set)?;
            // Without a length, text and binary data end at a terminator, says Microsoft's page about SQLBindParameter
            // (the argument StrLen_or_IndPtr).
            let length = indication.unwrap_or(abi::NTS);
            let length = binding.fixed_size().or_else(|| usize::try_from(length).ok());
            if binding.data.is_null() {
                let nothing: &[u8] = &[];
                let message = "the parameter has a length, but its data is a null pointer";
                let failure = || Failure::new(State::NULL_POINTER, message);
                return if length == Some(0) { Ok(Some(nothing)) } else { Err(failure()) };
            }
            // SAFETY: the caller's promise.
            let length = length.unwrap_or_else(|| unsafe { terminated(data, binding.is_wide()) });
            // SAFETY: as above.
            Ok(Some(unsafe { slice::from_raw_parts(data, length) }))
        }
    }
}

/// The bytes before the terminator.
///
/// # Safety
/// There is one.
pub(super) unsafe fn terminated(data: *const u8, is_wide: bool) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        match is_wide {
            true => 2 * (0..).find(|&at| data.cast::<u16>().add(at).read_unaligned() == 0).unwrap_or(0),
            false => (0..).find(|&at| *data.add(at) == 0).unwrap_or(0),
        }
    }
}

/// The failure of `SQL_DEFAULT_PARAM`, in a call of a procedure or elsewhere.
pub(super) fn default_parameter(is_call: bool) -> Failure {
    match is_call {
        true => {
            Failure::new(State::NOT_IMPLEMENTED, "leave a parameter with a default out of the call instead")
        }
        false => Failure::new(State::DEFAULT_PARAMETER, "only parameters of procedures have defaults"),
    }
}
