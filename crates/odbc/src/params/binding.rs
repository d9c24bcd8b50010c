//! Where the values of a parameter are, and what its lengths and indicators say.

use crate::abi::{self, Len, SmallInt, c_type};
use crate::diagnostics::{Failure, Result, State};
use crate::text::NarrowEncoding;

/// One bound parameter, as the APD and the IPD together describe it. Bind offsets are part of the pointers.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    /// The number of the parameter as the application counts, from 1.
    pub(crate) number: usize,
    /// The type of the buffer, never `SQL_C_DEFAULT`.
    pub(crate) c_type: SmallInt,
    /// As bound by `SQLBindParameter`.
    pub(crate) sql_type: SmallInt,
    /// `DecimalDigits`
    pub(crate) digits: SmallInt,
    /// The APD's scale, for `SQL_C_NUMERIC`: the one in the structure is for output only.
    pub(crate) scale: SmallInt,
    pub(crate) data: *const u8,
    /// Bytes from one value to the next.
    pub(crate) data_step: usize,
    /// The octet length; may be NULL.
    pub(crate) length: *const Len,
    /// May be NULL, or the same as `length`.
    pub(crate) indicator: *const Len,
    /// Bytes from one length, and from one indicator, to the next.
    pub(crate) length_step: usize,
    /// The encoding of `SQL_C_CHAR`.
    pub(crate) narrow: NarrowEncoding,
}

/// The encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Narrow(NarrowEncoding),
    /// UTF-16
    Wide,
}

/// What a set has for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Null,
    /// `SQL_DEFAULT_PARAM`
    Default,
    /// A value that comes with `SQLPutData`, and its length if that was announced.
    AtExecution(Option<usize>),
    /// A value in the buffer.
    Value,
}

/// Returns what a set has for a parameter.
///
/// # Safety
/// The lengths and indicators of `binding` are NULL, or may be read for this set.
pub(crate) unsafe fn given(binding: &Binding, set: usize) -> Result<Given> {
    // SAFETY: the caller's promise.
    classify(unsafe { binding.indication(set) }?)
}

/// What a length or indicator means; `None` without one.
pub(crate) fn classify(indication: Option<Len>) -> Result<Given> {
    match indication {
        None | Some(0.. | abi::NTS) => Ok(Given::Value),
        Some(abi::NULL_DATA) => Ok(Given::Null),
        Some(abi::DEFAULT_PARAM) => Ok(Given::Default),
        Some(abi::DATA_AT_EXEC) => Ok(Given::AtExecution(None)),
        Some(length) if length <= abi::LEN_DATA_AT_EXEC_OFFSET => {
            let announced = abi::LEN_DATA_AT_EXEC_OFFSET.checked_sub(length);
            Ok(Given::AtExecution(announced.and_then(|length| usize::try_from(length).ok())))
        }
        Some(length) => Err(bad_length(length)),
    }
}

pub(super) fn bad_length(length: Len) -> Failure {
    Failure::new(State::BUFFER_LENGTH, format!("{length} is not a valid length or indicator"))
}

impl Binding {
    /// The length of a set's value, or what stands in its place.
    ///
    /// # Safety
    /// As for [`given`].
    pub(crate) unsafe fn indication(&self, set: usize) -> Result<Option<Len>> {
        let at = |pointer: *const Len| -> Result<Option<Len>> {
            if pointer.is_null() {
                return Ok(None);
            }
            let place = pointer.cast::<u8>().wrapping_add(offset(set, self.length_step)?);
            // SAFETY: the caller's promise.
            Ok(Some(unsafe { place.cast::<Len>().read_unaligned() }))
        };
        let length = at(self.length)?;
        let indicator = if self.indicator == self.length { length } else { at(self.indicator)? };
        Ok(match (length, indicator) {
            (_, Some(abi::NULL_DATA)) => indicator,
            // An indicator of its own has no lengths.
            (None, Some(..0)) => indicator,
            (length, _) => length,
        })
    }

    /// The address of a set's value.
    pub(super) fn address(&self, set: usize) -> Result<*const u8> {
        Ok(self.data.wrapping_add(offset(set, self.data_step)?))
    }

    /// Checks that the lengths of a set are within the address space.
    pub(super) fn check_lengths(&self, set: usize) -> Result<()> {
        offset(set, self.length_step).map(|_| ())
    }

    /// The bytes of a value of a fixed length; `None` for text and binary. Of unknown types, nothing is read.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        use c_type::*;
        Some(match self.c_type {
            CHAR | WCHAR | BINARY => return None,
            BIT | TINYINT | STINYINT | UTINYINT => 1,
            SHORT | SSHORT | USHORT => 2,
            LONG | SLONG | ULONG | FLOAT => 4,
            DOUBLE | SBIGINT | UBIGINT => 8,
            NUMERIC => size_of::<abi::Numeric>(),
            GUID => size_of::<abi::Guid>(),
            DATE | TYPE_DATE => size_of::<abi::Date>(),
            TIME | TYPE_TIME => size_of::<abi::Time>(),
            TIMESTAMP | TYPE_TIMESTAMP => size_of::<abi::Timestamp>(),
            _ => 0,
        })
    }

    pub(super) fn is_wide(&self) -> bool {
        self.c_type == c_type::WCHAR
    }

    /// The encoding of its text.
    pub(super) fn encoding(&self) -> Encoding {
        if self.is_wide() { Encoding::Wide } else { Encoding::Narrow(self.narrow) }
    }

    /// Whether it was bound as a binary SQL type, for which text is hexadecimal.
    pub(super) fn is_bound_as_binary(&self) -> bool {
        use crate::abi::sql_type::{BINARY, LONGVARBINARY, VARBINARY};
        matches!(self.sql_type, BINARY | VARBINARY | LONGVARBINARY)
    }

    /// The digits after the decimal point to which numbers are rounded: those with which it was bound as
    /// `SQL_DECIMAL` or `SQL_NUMERIC`.
    pub(super) fn decimal_digits(&self) -> Result<Option<u8>> {
        use crate::abi::sql_type::{DECIMAL, NUMERIC};
        if !matches!(self.sql_type, DECIMAL | NUMERIC) {
            return Ok(None);
        }
        let digits = u8::try_from(self.digits).ok().filter(|&digits| digits <= super::decimal::MAX_DIGITS);
        digits.map(Some).ok_or_else(|| {
            Failure::new(State::PRECISION, format!("{} is not a valid number of decimal digits", self.digits))
        })
    }
}

fn offset(set: usize, step: usize) -> Result<usize> {
    let offset = set.checked_mul(step).filter(|&offset| isize::try_from(offset).is_ok());
    offset.ok_or_else(|| {
        Failure::new(State::BUFFER_LENGTH, "the array of parameters exceeds the address space")
    })
}
