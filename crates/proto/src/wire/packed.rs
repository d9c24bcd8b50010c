//! Rows as they travel: a null bitmap, then the values that are not NULL (protocol 13 and later).

use super::error::{DecodeError, invalid, present};
use crate::api::layout::{FieldKind, FieldLayout, RowLayout};
use crate::api::row::NULL_POSITION;
use std::sync::Arc;

/// A [`RowLayout`] prepared for measuring and packing rows.
#[derive(Clone, Debug)]
pub struct PackedFormat {
    layout: Arc<RowLayout>,
    bitmap: usize,
    runs: Box<[Run]>,
    blr: Box<[u8]>,
}

/// Fields of fixed width and VARYINGs after them, whose null bits are in one word.
#[derive(Clone, Debug, Default)]
struct Run {
    /// Where the word begins in the null bitmap, in bytes.
    word: usize,
    /// How many bits of the word precede those of this run.
    shift: u32,
    /// A bit for each field of fixed width, the first in bit 0.
    mask: u64,
    /// The width of each of them.
    widths: Vec<u32>,
    /// The position of each, from that of the first, if none is NULL.
    offsets: Vec<u32>,
    /// Their length together, if none is NULL.
    length: u32,
    /// The declared maximum of bytes of each VARYING.
    maxima: Vec<u32>,
    /// The number of the first field's column, from 1.
    column: usize,
}

impl PackedFormat {
    /// Prepares `layout`.
    pub fn new(layout: Arc<RowLayout>) -> Self {
        Self { bitmap: layout.bitmap_length(), runs: runs(layout.fields()), blr: layout.blr().into(), layout }
    }

    /// The layout it was made from.
    pub fn layout(&self) -> &Arc<RowLayout> {
        &self.layout
    }

    /// The BLR of the layout.
    pub fn blr(&self) -> &[u8] {
        &self.blr
    }

    /// Finds the values of the row that begins at `at` in `bytes`, appends their positions and returns where the row
    /// ends. Leaves `positions` unchanged on error.
    pub fn measure(&self, bytes: &[u8], at: usize, positions: &mut Vec<u32>) -> Result<usize, DecodeError> {
        let first = positions.len();
        let result = self.walk(bytes, at, positions);
        if result.is_err() {
            positions.truncate(first);
        }
        result
    }

    fn walk(&self, bytes: &[u8], at: usize, positions: &mut Vec<u32>) -> Result<usize, DecodeError> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(invalid("rows beyond 4 GiB"));
        }
        let begin = at + self.bitmap;
        let bitmap = present(bytes.get(at..begin))?;
        let first = positions.len();
        positions.resize(first + self.layout.fields().len(), NULL_POSITION);
        let mut slots = &mut positions[first..];
        let mut end = begin;
        for run in &self.runs {
            let nulls = run.nulls(bitmap)?;
            let (fixed, varying) = (run.widths.len(), run.maxima.len());
            let slots = slots.split_off_mut(..fixed + varying).unwrap_or_default();
            let (fixed, varying) = slots.split_at_mut(fixed);
            end = run.walk_fixed(nulls, end, fixed);
            end = run.walk_varying(nulls >> run.widths.len(), bytes, end, varying)?;
        }
        // Positions beyond the bytes do not count: there is no row.
        if end > bytes.len() { Err(DecodeError::Incomplete) } else { Ok(end) }
    }

    /// The most bytes that a row can take.
    pub fn max_row_length(&self) -> usize {
        self.runs.iter().map(Run::max_length).fold(self.bitmap, usize::saturating_add)
    }

    /// Packs one native message (see [`RowLayout`]) and appends it to `out`. `None`, with `out` unchanged, if the
    /// message is too short or a VARYING in it is longer than declared.
    pub fn pack(&self, message: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        let done = self.pack_fields(message, out);
        if done.is_none() {
            out.truncate(start);
        }
        done
    }

    fn pack_fields(&self, message: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let bitmap = out.len();
        out.resize(bitmap + self.bitmap, 0);
        for (index, field) in self.layout.fields().iter().enumerate() {
            let null = message.get(field.null_offset..field.null_offset + 2)?;
            if null != [0, 0] {
                out[bitmap + index / 8] |= 1 << (index % 8);
                continue;
            }
            pack_value(field.kind, message.get(field.offset..)?, out)?;
        }
        Some(())
    }
}

impl Run {
    /// The most bytes that its fields can take.
    fn max_length(&self) -> usize {
        let varying = self.maxima.iter().map(|max| (4 + *max as usize + 3) & !3);
        varying.fold(self.length as usize, usize::saturating_add)
    }

    /// The null bits from the first of the run on.
    #[inline(always)]
    fn nulls(&self, bitmap: &[u8]) -> Result<u64, DecodeError> {
        let word = bitmap.get(self.word..).and_then(|rest| rest.first_chunk());
        Ok(u64::from(u32::from_le_bytes(*present(word)?) >> self.shift))
    }

    /// The positions of the fields of fixed width, the first of which begins at `at`. Returns where they end.
    #[inline(always)]
    fn walk_fixed(&self, nulls: u64, at: usize, slots: &mut [u32]) -> usize {
        if nulls & self.mask == 0 {
            for (slot, offset) in slots.iter_mut().zip(&self.offsets) {
                *slot = (at as u32).wrapping_add(*offset);
            }
            return at + self.length as usize;
        }
        let (mut end, mut nulls) = (at, nulls);
        for (slot, width) in slots.iter_mut().zip(&self.widths) {
            // All ones for a value, zero for NULL: which columns are NULL cannot be predicted, so no branch depends on it.
            let is_value = (nulls as u32 & 1).wrapping_sub(1);
            nulls >>= 1;
            *slot = end as u32 | !is_value;
            end += (width & is_value) as usize;
        }
        end
    }

    /// Likewise for the VARYINGs, the first of which begins at `at`.
    #[inline(always)]
    fn walk_varying(
        &self,
        mut nulls: u64,
        bytes: &[u8],
        at: usize,
        slots: &mut [u32],
    ) -> Result<usize, DecodeError> {
        let mut end = at;
        for (index, (slot, max)) in slots.iter_mut().zip(&self.maxima).enumerate() {
            if nulls & 1 == 0 {
                *slot = end as u32;
                let word = bytes.get(end..).and_then(|rest| rest.first_chunk::<4>());
                let length = u32::from_be_bytes(*present(word)?) & 0xffff;
                if length > *max {
                    return Err(self.too_long(index, length));
                }
                end += (4 + length as usize + 3) & !3;
            }
            nulls >>= 1;
        }
        Ok(end)
    }

    #[cold]
    fn too_long(&self, index: usize, length: u32) -> DecodeError {
        let (column, max) = (self.column + self.widths.len() + index, self.maxima[index]);
        invalid(format!("{length} bytes in column {column} declared as VARCHAR of {max} bytes"))
    }
}

/// Number of fields whose null bits share a word.
const WORD: usize = 32;

/// Divides the fields into runs.
fn runs(fields: &[FieldLayout]) -> Box<[Run]> {
    let mut runs: Vec<Run> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let max = match field.kind {
            FieldKind::Varying(max) => Some(max),
            _ => None,
        };
        let begins = |run: &Run| index % WORD == 0 || max.is_none() && !run.maxima.is_empty();
        if runs.last().is_none_or(begins) {
            let shift = (index % WORD) as u32;
            runs.push(Run { word: index / WORD * 4, shift, column: index + 1, ..Run::default() });
        }
        let Some(run) = runs.last_mut() else { break };
        if let Some(max) = max {
            run.maxima.push(max.into());
        } else {
            let width = field.kind.packed().map_or(0, |width| width as u32);
            run.mask |= 1 << run.widths.len();
            run.widths.push(width);
            run.offsets.push(run.length);
            run.length += width;
        }
    }
    runs.into()
}

/// Appends the value at the start of `from`: little-endian native bytes in, big-endian words out. `None` if it is
/// incomplete, or a VARYING longer than declared.
pub(super) fn pack_value(kind: FieldKind, from: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match kind {
        FieldKind::Nothing => {}
        FieldKind::Text(length) => put_padded(from.get(..length.into())?, out),
        FieldKind::Varying(max) => {
            let length = u16::from_le_bytes(bytes_at(from, 0)?);
            if length > max {
                return None;
            }
            out.extend_from_slice(&u32::from(length).to_be_bytes());
            put_padded(from.get(2..2 + usize::from(length))?, out);
        }
        FieldKind::Boolean => put_padded(from.get(..1)?, out),
        FieldKind::Short => put_signed(from, 0, out)?,
        FieldKind::Long | FieldKind::Float | FieldKind::Date | FieldKind::Time => put_word(from, 0, out)?,
        FieldKind::Int64 | FieldKind::Double | FieldKind::Dec16 => {
            out.extend_from_slice(&u64::from_le_bytes(bytes_at(from, 0)?).to_be_bytes());
        }
        FieldKind::Int128 | FieldKind::Dec34 => {
            out.extend_from_slice(&u128::from_le_bytes(bytes_at(from, 0)?).to_be_bytes());
        }
        FieldKind::Timestamp | FieldKind::Blob | FieldKind::Array => {
            put_word(from, 0, out)?;
            put_word(from, 4, out)?;
        }
        FieldKind::TimeTz => {
            put_word(from, 0, out)?;
            put_unsigned(from, 4, out)?;
        }
        FieldKind::TimeTzEx => {
            put_word(from, 0, out)?;
            put_unsigned(from, 4, out)?;
            put_signed(from, 6, out)?;
        }
        FieldKind::TimestampTz => {
            put_word(from, 0, out)?;
            put_word(from, 4, out)?;
            put_unsigned(from, 8, out)?;
        }
        FieldKind::TimestampTzEx => {
            put_word(from, 0, out)?;
            put_word(from, 4, out)?;
            put_unsigned(from, 8, out)?;
            put_signed(from, 10, out)?;
        }
    }
    Some(())
}

fn bytes_at<const N: usize>(from: &[u8], at: usize) -> Option<[u8; N]> {
    from.get(at..)?.first_chunk().copied()
}

fn put_word(from: &[u8], at: usize, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(&u32::from_le_bytes(bytes_at(from, at)?).to_be_bytes());
    Some(())
}

/// A 16-bit number as a word.
fn put_signed(from: &[u8], at: usize, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(&i32::from(i16::from_le_bytes(bytes_at(from, at)?)).to_be_bytes());
    Some(())
}

/// A 16-bit number without a sign as a word.
fn put_unsigned(from: &[u8], at: usize, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(&u32::from(u16::from_le_bytes(bytes_at(from, at)?)).to_be_bytes());
    Some(())
}

/// Bytes, filled up to a multiple of four.
fn put_padded(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[0; 3][..bytes.len().wrapping_neg() & 3]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::layout::FieldLayout;
    use crate::api::row::{PackedRows, RowSource};

    fn format(kinds: &[FieldKind]) -> PackedFormat {
        PackedFormat::new(Arc::new(RowLayout::new(kinds.iter().map(|&kind| FieldLayout::plain(kind)))))
    }

    /// The row of appendix A.5: INTEGER 7, VARCHAR 'abc', BIGINT NULL, BOOLEAN true.
    const ROW: [u8; 20] = [4, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 3, b'a', b'b', b'c', 0, 1, 0, 0, 0];

    #[test]
    fn measures_the_reference_row_at_every_cut() {
        let format = format(&[FieldKind::Long, FieldKind::Varying(5), FieldKind::Int64, FieldKind::Boolean]);
        let mut positions = Vec::new();
        for cut in 0..ROW.len() {
            assert_eq!(format.measure(&ROW[..cut], 0, &mut positions), Err(DecodeError::Incomplete));
            assert!(positions.is_empty());
        }
        assert_eq!(format.measure(&ROW, 0, &mut positions), Ok(20));
        assert_eq!(positions, [4, 8, NULL_POSITION, 16]);
        let rows = PackedRows { bytes: &ROW, positions: &positions, columns: 4, rows: 1 };
        assert!(rows.field(0, 2).is_none());
        assert_eq!(rows.field(0, 3).map(|bytes| bytes[0]), Some(1));
    }

    #[test]
    fn rows_with_and_without_nulls_are_measured_alike() {
        let format =
            format(&[FieldKind::Short, FieldKind::Varying(9), FieldKind::Varying(9), FieldKind::Int64]);
        let full = [
            &[0; 4][..],
            &[0, 0, 0, 1],
            &[0, 0, 0, 5, b'a', b'b', b'c', b'd', b'e', 0, 0, 0],
            &[0, 0, 0, 0],
            &[0; 8],
        ]
        .concat();
        let mut positions = Vec::new();
        assert_eq!(format.measure(&full, 0, &mut positions), Ok(32));
        assert_eq!(positions, [4, 8, 20, 24]);
        // A bit that no column has: the row goes the other way.
        let mut marked = full.clone();
        marked[0] = 0x80;
        let mut others = Vec::new();
        assert_eq!(format.measure(&marked, 0, &mut others), Ok(32));
        assert_eq!(positions, others);
        for cut in 0..full.len() {
            assert_eq!(format.measure(&full[..cut], 0, &mut positions), Err(DecodeError::Incomplete));
        }
        assert_eq!(positions.len(), 4);
    }

    /// A row of INTEGER, BIGINT and VARCHARs of five bytes, and the positions of its values.
    fn packed(kinds: &[FieldKind], nulls: &[usize]) -> (Vec<u8>, Vec<u32>) {
        let mut row = vec![0; kinds.len().div_ceil(32) * 4];
        nulls.iter().for_each(|column| row[column / 8] |= 1 << (column % 8));
        let mut positions = Vec::new();
        for (column, kind) in kinds.iter().enumerate() {
            let is_null = nulls.contains(&column);
            positions.push(if is_null { NULL_POSITION } else { row.len() as u32 });
            match kind {
                _ if is_null => {}
                FieldKind::Varying(_) => row.extend_from_slice(&[0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]),
                FieldKind::Int64 => row.extend_from_slice(&[0; 8]),
                _ => row.extend_from_slice(&[0, 0, 0, 1]),
            }
        }
        (row, positions)
    }

    /// VARYINGs in a row, fields of fixed width between them and at the borders of words.
    #[test]
    fn runs_of_any_length_are_measured() {
        let kinds: Vec<_> = (0..100)
            .map(|column| match column {
                0 | 30..=35 | 64..=95 => FieldKind::Varying(8),
                40..=50 => FieldKind::Int64,
                _ => FieldKind::Long,
            })
            .collect();
        let format = format(&kinds);
        for nulls in [&[][..], &[0, 31, 32, 39, 40, 50, 63, 64, 95, 96], &[99]] {
            let (row, expected) = packed(&kinds, nulls);
            let mut positions = Vec::new();
            assert_eq!(format.measure(&row, 0, &mut positions), Ok(row.len()));
            assert_eq!(positions, expected);
            for cut in 0..row.len() {
                assert_eq!(format.measure(&row[..cut], 0, &mut positions), Err(DecodeError::Incomplete));
            }
            assert_eq!(positions.len(), 100);
        }
    }

    #[test]
    fn a_value_longer_than_declared_is_named_by_its_column() {
        let kinds = [FieldKind::Long, FieldKind::Varying(9), FieldKind::Varying(2), FieldKind::Varying(9)];
        let row = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, b'a', b'b', b'c', 0, 0, 0, 0, 0];
        let failed = format(&kinds).measure(&row, 0, &mut Vec::new());
        let failed = format!("{failed:?}");
        assert!(failed.contains("3 bytes in column 3 declared as VARCHAR of 2 bytes"), "{failed}");
    }

    #[test]
    fn null_bits_of_many_columns_are_in_several_words() {
        let mut kinds = vec![FieldKind::Long; 70];
        kinds[32] = FieldKind::Varying(4);
        let format = format(&kinds);
        let nulls = [3, 8, 31, 32, 33, 64, 69];
        let (row, expected) = packed(&kinds, &nulls);
        let mut positions = Vec::new();
        assert_eq!(format.measure(&row, 0, &mut positions), Ok(row.len()));
        assert_eq!(positions, expected);
    }

    #[test]
    fn packs_the_reference_row() {
        let format = format(&[FieldKind::Long, FieldKind::Varying(5), FieldKind::Int64, FieldKind::Boolean]);
        let layout = Arc::clone(format.layout());
        let mut message = vec![0; layout.native_length()];
        let fields = layout.fields();
        message[fields[0].offset] = 7;
        message[fields[1].offset] = 3;
        message[fields[1].offset + 2..][..3].copy_from_slice(b"abc");
        message[fields[2].null_offset..][..2].copy_from_slice(&[0xff, 0xff]);
        message[fields[3].offset] = 1;
        let mut out = Vec::new();
        assert_eq!(format.pack(&message, &mut out), Some(()));
        assert_eq!(out, ROW);
    }

    #[test]
    fn a_varying_beyond_its_declaration_is_invalid() {
        let format = format(&[FieldKind::Varying(2)]);
        let row = [0, 0, 0, 0, 0, 0, 0, 3, b'a', b'b', b'c', 0];
        assert!(matches!(format.measure(&row, 0, &mut Vec::new()), Err(DecodeError::Invalid(_))));
    }
}
