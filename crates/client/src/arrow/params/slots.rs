//! One field of all messages, into which the values of a column are written.

use super::error::{Reason, RowReason};
use arrow::array::{Array, ArrowPrimitiveType, AsArray, UInt64Array};
use arrow::buffer::NullBuffer;
use firearrow_proto::api::layout::FieldLayout;

/// The null indicator for NULL.
const NULL: [u8; 2] = [0xff, 0xff];

/// The positions of one field in native messages, which are all zero so far.
pub(super) struct Slots<'a> {
    messages: &'a mut [u8],
    stride: usize,
    offset: usize,
    null_offset: usize,
}

impl<'a> Slots<'a> {
    pub(super) fn new(messages: &'a mut [u8], stride: usize, field: &FieldLayout) -> Self {
        Self { messages, stride, offset: field.offset, null_offset: field.null_offset }
    }

    /// Marks every row NULL.
    pub(super) fn set_all_null(&mut self) {
        for message in self.messages.chunks_exact_mut(self.stride) {
            message[self.null_offset..][..2].copy_from_slice(&NULL);
        }
    }

    /// Marks the rows that are NULL, and writes nothing else.
    pub(super) fn flag(&mut self, nulls: Option<&NullBuffer>) {
        for (row, message) in self.messages.chunks_exact_mut(self.stride).enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                message[self.null_offset..][..2].copy_from_slice(&NULL);
            }
        }
    }

    /// Writes a value of `N` bytes into each row that is not NULL.
    #[inline]
    pub(super) fn fill<const N: usize>(
        &mut self,
        nulls: Option<&NullBuffer>,
        value: impl Fn(usize) -> Result<[u8; N], Reason>,
    ) -> Result<(), RowReason> {
        for (row, message) in self.messages.chunks_exact_mut(self.stride).enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                message[self.null_offset..][..2].copy_from_slice(&NULL);
            } else {
                let value = value(row).map_err(|reason| reason.in_row(row))?;
                message[self.offset..][..N].copy_from_slice(&value);
            }
        }
        Ok(())
    }

    /// Writes ids of BLOBs: two words in host byte order, the high one first.
    pub(super) fn fill_ids(&mut self, ids: &UInt64Array) -> Result<(), RowReason> {
        self.fill(ids.nulls(), |row| Ok(ids.value(row).rotate_left(32).to_le_bytes()))
    }

    /// Writes text or bytes that are known to fit as VARYING.
    pub(super) fn fill_varying<'v>(&mut self, nulls: Option<&NullBuffer>, value: impl Fn(usize) -> &'v [u8]) {
        for (row, message) in self.messages.chunks_exact_mut(self.stride).enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                message[self.null_offset..][..2].copy_from_slice(&NULL);
            } else {
                let value = value(row);
                message[self.offset..][..2].copy_from_slice(&(value.len() as u16).to_le_bytes());
                message[self.offset + 2..][..value.len()].copy_from_slice(value);
            }
        }
    }
}

/// Writes a column into its slots.
pub(super) type Write = Box<dyn Fn(&dyn Array, &mut Slots<'_>) -> Result<(), RowReason> + Send + Sync>;

/// How the values of one parameter get into the messages.
pub(super) enum Plan {
    /// Only whether they are NULL: the parameter of `? IS NULL`.
    Flag,
    /// All of them are NULL, of this type.
    Null(FieldLayout),
    /// With a function, into a field that is the same for all batches.
    Fixed { field: FieldLayout, write: Write },
    /// As ids of existing BLOBs, in this field.
    Ids(FieldLayout),
    /// As arrays that the messages refer to.
    Array(super::array::ArrayPlan),
    /// As text or bytes, in a field as wide as the batch needs or in BLOBs.
    Bytes(super::bytes::BytesPlan),
}

/// A plan for values of an Arrow type that is an array of plain numbers.
pub(super) fn primitive<A: ArrowPrimitiveType, const N: usize>(
    field: FieldLayout,
    convert: impl Fn(A::Native) -> Result<[u8; N], Reason> + Send + Sync + 'static,
) -> Plan {
    Plan::Fixed {
        field,
        write: Box::new(move |array, slots| {
            let array = array.as_primitive::<A>();
            let values = array.values();
            slots.fill(array.nulls(), |row| convert(values[row]))
        }),
    }
}
