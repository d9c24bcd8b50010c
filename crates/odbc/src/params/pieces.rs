//! Values that applications supply at execution, in pieces.

use super::binding::{Binding, bad_length};
use super::cell::terminated;
use crate::abi::{self, Len};
use crate::diagnostics::{Failure, Result, State};
use std::collections::HashMap;
use std::slice;

/// The values that were supplied at execution, by set and parameter, both counted from 0.
#[derive(Debug, Default)]
pub(crate) struct Supplied {
    values: HashMap<(usize, usize), Pieces>,
}

impl Supplied {
    /// Returns the value of a parameter, to add pieces to it.
    pub(crate) fn pieces(&mut self, set: usize, parameter: usize) -> &mut Pieces {
        self.values.entry((set, parameter)).or_default()
    }

    /// Whether a parameter was supplied, NULL included.
    pub(crate) fn has(&self, set: usize, parameter: usize) -> bool {
        *self.get(set, parameter) != Pieces::Missing
    }

    pub(super) fn get(&self, set: usize, parameter: usize) -> &Pieces {
        self.values.get(&(set, parameter)).unwrap_or(&Pieces::Missing)
    }
}

/// What `SQLPutData` gave for one parameter. Pieces are joined before they are read, so they may end anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// Nothing so far.
    #[default]
    Missing,
    Null,
    Bytes(Vec<u8>),
}

impl Pieces {
    /// Adds a piece.
    ///
    /// # Safety
    /// `data` is NULL, or may be read up to `length` or its terminator, or as a value of a fixed length.
    pub(crate) unsafe fn put(&mut self, binding: &Binding, data: *const u8, length: Len) -> Result<()> {
        let is_first = *self == Self::Missing;
        match length {
            0.. | abi::NTS => {}
            abi::NULL_DATA if is_first => {
                *self = Self::Null;
                return Ok(());
            }
            abi::NULL_DATA => return Err(concatenated()),
            abi::DEFAULT_PARAM => return Err(super::cell::default_parameter(false)),
            length => return Err(bad_length(length)),
        }
        let start = match self {
            Self::Null => return Err(concatenated()),
            Self::Missing => 0,
            Self::Bytes(bytes) => bytes.len(),
        };
        let length = match (binding.fixed_size(), usize::try_from(length)) {
            (Some(_), _) if !is_first => {
                return Err(Failure::new(State::PIECES, "only text and binary data can be sent in pieces"));
            }
            // The application's length does not matter.
            (Some(size), _) => Some(size),
            (None, length) => length.ok(),
        };
        if data.is_null() && length != Some(0) {
            return Err(Failure::new(State::NULL_POINTER, "the piece of data is a null pointer"));
        }
        let piece: &[u8] = match length {
            Some(0) => &[],
            // SAFETY: the caller's promise.
            Some(length) => unsafe { slice::from_raw_parts(data, length) },
            None => {
                // The previous piece may have ended inside a code unit.
                let begun = if binding.is_wide() { start % 2 } else { 0 };
                // SAFETY: as above.
                unsafe {
                    let rest = terminated(data.add(begun), binding.is_wide());
                    slice::from_raw_parts(data, begun + rest)
                }
            }
        };
        if is_first {
            *self = Self::Bytes(Vec::new());
        }
        let Self::Bytes(bytes) = self else { return Err(concatenated()) };
        let has_room = bytes.try_reserve(piece.len());
        has_room.map_err(|_| Failure::new(State::MEMORY, "there is no memory for the piece of data"))?;
        bytes.extend_from_slice(piece);
        Ok(())
    }
}

fn concatenated() -> Failure {
    Failure::new(State::NULL_PIECE, "NULL cannot be one of several pieces")
}
