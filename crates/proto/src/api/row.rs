//! Rows as the two backends deliver them: blocks of packed rows from the wire, arrays of native messages from the
//! engine. [`RowSource`] gives access to the columns of either.

use super::layout::RowLayout;
use std::ops::Range;

/// Byte order and widths of field values. Each reader takes a slice that *begins* with the value and returns `None` if
/// it is too short.
pub trait ValueFormat {
    /// SMALLINT storage.
    fn i16(bytes: &[u8]) -> Option<i16>;
    /// INTEGER, DATE, TIME storage.
    fn i32(bytes: &[u8]) -> Option<i32>;
    /// BIGINT storage.
    fn i64(bytes: &[u8]) -> Option<i64>;
    /// INT128 storage.
    fn i128(bytes: &[u8]) -> Option<i128>;
    /// Bits of FLOAT.
    fn f32(bytes: &[u8]) -> Option<f32>;
    /// Bits of DOUBLE PRECISION.
    fn f64(bytes: &[u8]) -> Option<f64>;
    /// DECFLOAT(16): the 64 bits of IEEE decimal64 (densely packed decimal).
    fn dec16(bytes: &[u8]) -> Option<u64>;
    /// DECFLOAT(34): the 128 bits of IEEE decimal128.
    fn dec34(bytes: &[u8]) -> Option<u128>;
    /// Date and time words of TIMESTAMP.
    fn timestamp(bytes: &[u8]) -> Option<(i32, u32)>;
    /// UTC time and zone id.
    fn time_tz(bytes: &[u8]) -> Option<(u32, u16)>;
    /// UTC time, zone id and displacement in minutes.
    fn time_tz_ex(bytes: &[u8]) -> Option<(u32, u16, i16)>;
    /// UTC date, UTC time and zone id.
    fn timestamp_tz(bytes: &[u8]) -> Option<(i32, u32, u16)>;
    /// UTC date, UTC time, zone id and displacement in minutes.
    fn timestamp_tz_ex(bytes: &[u8]) -> Option<(i32, u32, u16, i16)>;
    /// The bytes of a VARYING value.
    fn varying(bytes: &[u8]) -> Option<&[u8]>;
    /// The opaque id of a BLOB or array; the same number in both formats.
    fn quad(bytes: &[u8]) -> Option<u64>;
}

/// Complete rows of one layout.
pub trait RowSource {
    /// How the values are stored.
    type Format: ValueFormat;
    /// Number of rows.
    fn row_count(&self) -> usize;
    /// One item for each of these rows, in order: the bytes that begin with the value, or `None` for NULL. The slice may
    /// extend beyond the value. What is the same for all rows is looked up once. Iterators of known length make the
    /// loops of callers fast.
    fn column(&self, column: usize, rows: Range<usize>) -> impl Iterator<Item = Option<&[u8]>>;
    /// One field, as [`RowSource::column`] returns it.
    fn field(&self, row: usize, column: usize) -> Option<&[u8]> {
        self.column(column, row..row + 1).next()?
    }
}

/// Values as they travel: big-endian, everything in units of four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packed;

/// Values as the engine lays them out in memory on this (little-endian) host.
#[derive(Clone, Copy, Debug)]
pub struct Native;

#[inline]
fn head<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

impl ValueFormat for Packed {
    #[inline]
    fn i16(bytes: &[u8]) -> Option<i16> {
        Self::i32(bytes).map(|word| word as i16)
    }
    #[inline]
    fn i32(bytes: &[u8]) -> Option<i32> {
        head(bytes, 0).map(i32::from_be_bytes)
    }
    #[inline]
    fn i64(bytes: &[u8]) -> Option<i64> {
        head(bytes, 0).map(i64::from_be_bytes)
    }
    #[inline]
    fn i128(bytes: &[u8]) -> Option<i128> {
        head(bytes, 0).map(i128::from_be_bytes)
    }
    #[inline]
    fn f32(bytes: &[u8]) -> Option<f32> {
        head(bytes, 0).map(f32::from_be_bytes)
    }
    #[inline]
    fn f64(bytes: &[u8]) -> Option<f64> {
        head(bytes, 0).map(f64::from_be_bytes)
    }
    #[inline]
    fn dec16(bytes: &[u8]) -> Option<u64> {
        head(bytes, 0).map(u64::from_be_bytes)
    }
    #[inline]
    fn dec34(bytes: &[u8]) -> Option<u128> {
        head(bytes, 0).map(u128::from_be_bytes)
    }
    #[inline]
    fn timestamp(bytes: &[u8]) -> Option<(i32, u32)> {
        Some((Self::i32(bytes)?, u32::from_be_bytes(head(bytes, 4)?)))
    }
    #[inline]
    fn time_tz(bytes: &[u8]) -> Option<(u32, u16)> {
        Some((u32::from_be_bytes(head(bytes, 0)?), u32::from_be_bytes(head(bytes, 4)?) as u16))
    }
    #[inline]
    fn time_tz_ex(bytes: &[u8]) -> Option<(u32, u16, i16)> {
        let (time, zone) = Self::time_tz(bytes)?;
        Some((time, zone, i32::from_be_bytes(head(bytes, 8)?) as i16))
    }
    #[inline]
    fn timestamp_tz(bytes: &[u8]) -> Option<(i32, u32, u16)> {
        let (date, time) = Self::timestamp(bytes)?;
        Some((date, time, u32::from_be_bytes(head(bytes, 8)?) as u16))
    }
    #[inline]
    fn timestamp_tz_ex(bytes: &[u8]) -> Option<(i32, u32, u16, i16)> {
        let (date, time, zone) = Self::timestamp_tz(bytes)?;
        Some((date, time, zone, i32::from_be_bytes(head(bytes, 12)?) as i16))
    }
    #[inline]
    fn varying(bytes: &[u8]) -> Option<&[u8]> {
        let length = u32::from_be_bytes(head(bytes, 0)?) as u16;
        bytes.get(4..4 + usize::from(length))
    }
    #[inline]
    fn quad(bytes: &[u8]) -> Option<u64> {
        head(bytes, 0).map(u64::from_be_bytes)
    }
}

impl ValueFormat for Native {
    #[inline]
    fn i16(bytes: &[u8]) -> Option<i16> {
        head(bytes, 0).map(i16::from_le_bytes)
    }
    #[inline]
    fn i32(bytes: &[u8]) -> Option<i32> {
        head(bytes, 0).map(i32::from_le_bytes)
    }
    #[inline]
    fn i64(bytes: &[u8]) -> Option<i64> {
        head(bytes, 0).map(i64::from_le_bytes)
    }
    #[inline]
    fn i128(bytes: &[u8]) -> Option<i128> {
        head(bytes, 0).map(i128::from_le_bytes)
    }
    #[inline]
    fn f32(bytes: &[u8]) -> Option<f32> {
        head(bytes, 0).map(f32::from_le_bytes)
    }
    #[inline]
    fn f64(bytes: &[u8]) -> Option<f64> {
        head(bytes, 0).map(f64::from_le_bytes)
    }
    #[inline]
    fn dec16(bytes: &[u8]) -> Option<u64> {
        head(bytes, 0).map(u64::from_le_bytes)
    }
    #[inline]
    fn dec34(bytes: &[u8]) -> Option<u128> {
        head(bytes, 0).map(u128::from_le_bytes)
    }
    #[inline]
    fn timestamp(bytes: &[u8]) -> Option<(i32, u32)> {
        Some((Self::i32(bytes)?, u32::from_le_bytes(head(bytes, 4)?)))
    }
    #[inline]
    fn time_tz(bytes: &[u8]) -> Option<(u32, u16)> {
        Some((u32::from_le_bytes(head(bytes, 0)?), u16::from_le_bytes(head(bytes, 4)?)))
    }
    #[inline]
    fn time_tz_ex(bytes: &[u8]) -> Option<(u32, u16, i16)> {
        let (time, zone) = Self::time_tz(bytes)?;
        Some((time, zone, i16::from_le_bytes(head(bytes, 6)?)))
    }
    #[inline]
    fn timestamp_tz(bytes: &[u8]) -> Option<(i32, u32, u16)> {
        let (date, time) = Self::timestamp(bytes)?;
        Some((date, time, u16::from_le_bytes(head(bytes, 8)?)))
    }
    #[inline]
    fn timestamp_tz_ex(bytes: &[u8]) -> Option<(i32, u32, u16, i16)> {
        let (date, time, zone) = Self::timestamp_tz(bytes)?;
        Some((date, time, zone, i16::from_le_bytes(head(bytes, 10)?)))
    }
    #[inline]
    fn varying(bytes: &[u8]) -> Option<&[u8]> {
        let length = u16::from_le_bytes(head(bytes, 0)?);
        bytes.get(2..2 + usize::from(length))
    }
    #[inline]
    fn quad(bytes: &[u8]) -> Option<u64> {
        // ISC_QUAD is two host words, high word first, as on the wire.
        let high = u32::from_le_bytes(head(bytes, 0)?);
        let low = u32::from_le_bytes(head(bytes, 4)?);
        Some(u64::from(high) << 32 | u64::from(low))
    }
}

/// An array of native messages, one stride apart.
#[derive(Clone, Copy, Debug)]
pub struct NativeRows<'a> {
    layout: &'a RowLayout,
    bytes: &'a [u8],
    rows: usize,
}

impl<'a> NativeRows<'a> {
    /// Wraps `rows` messages of `layout`, one [`RowLayout::native_stride`] apart; `None` if `bytes` is too short.
    pub fn new(layout: &'a RowLayout, bytes: &'a [u8], rows: usize) -> Option<Self> {
        (bytes.len() >= rows.checked_mul(layout.native_stride())?).then_some(Self { layout, bytes, rows })
    }
}

impl RowSource for NativeRows<'_> {
    type Format = Native;

    fn row_count(&self) -> usize {
        self.rows
    }

    #[inline(always)]
    fn column(&self, column: usize, rows: Range<usize>) -> impl Iterator<Item = Option<&[u8]>> {
        let field = &self.layout.fields()[column];
        let (offset, null_offset) = (field.offset, field.null_offset);
        let stride = self.layout.native_stride();
        let messages = self.bytes[rows.start * stride..rows.end * stride].chunks_exact(stride);
        messages.map(move |message| {
            let is_null = message[null_offset..][..2] != [0, 0];
            if is_null { None } else { Some(&message[offset..]) }
        })
    }
}

/// The position that stands for NULL in [`PackedRows`].
pub const NULL_POSITION: u32 = u32::MAX;

/// Complete rows in a piece of the receive buffer, with the position of every value.
#[derive(Clone, Copy, Debug)]
pub struct PackedRows<'a> {
    /// The receive buffer.
    pub bytes: &'a [u8],
    /// Position of each value, row by row; [`NULL_POSITION`] for NULL.
    pub positions: &'a [u32],
    /// Number of columns.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
}

impl RowSource for PackedRows<'_> {
    type Format = Packed;

    fn row_count(&self) -> usize {
        self.rows
    }

    #[inline(always)]
    fn column(&self, column: usize, rows: Range<usize>) -> impl Iterator<Item = Option<&[u8]>> {
        let (bytes, columns) = (self.bytes, self.columns);
        let positions = self.positions[rows.start * columns..rows.end * columns].chunks_exact(columns);
        positions.map(move |positions| match positions[column] {
            NULL_POSITION => None,
            at => Some(&bytes[at as usize..]),
        })
    }
}
