//! Arrays: their element type, how they are stored, and how a request names elements.

use super::descriptor::Descriptor;
use super::layout::{FieldKind, FieldLayout};

/// Most dimensions that an array can be declared with.
pub const MAX_DIMENSIONS: usize = 16;

/// The shape of an array column: an element type and bounds. An element is never NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    element: Descriptor,
    bounds: Vec<(i32, i32)>,
    count: usize,
}

impl ArrayShape {
    /// Describes an array with these inclusive bounds, one pair for each dimension. `None` if such an array cannot
    /// exist: engines count elements in 32 bits.
    pub fn new(element: Descriptor, bounds: Vec<(i32, i32)>) -> Option<Self> {
        if bounds.is_empty() || bounds.len() > MAX_DIMENSIONS {
            return None;
        }
        let lengths = bounds.iter().map(|&(lower, upper)| {
            usize::try_from(i64::from(upper) - i64::from(lower) + 1).ok().filter(|&length| length > 0)
        });
        let count = lengths.into_iter().try_fold(1_usize, |count, length| count.checked_mul(length?))?;
        i32::try_from(count).ok()?;
        Some(Self { element, bounds, count })
    }

    /// The element, described as a column.
    pub fn element(&self) -> &Descriptor {
        &self.element
    }

    /// First and last subscript of each dimension. The last dimension varies fastest.
    pub fn bounds(&self) -> &[(i32, i32)] {
        &self.bounds
    }

    /// Number of elements in each dimension.
    pub fn lengths(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        self.bounds.iter().map(|&(lower, upper)| (i64::from(upper) - i64::from(lower) + 1) as usize)
    }

    /// Number of all elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The subscripts of the element at `index`, as SQL writes them: `[1, -2]`.
    pub fn subscripts(&self, index: usize) -> String {
        let mut rest = index;
        let mut subscripts = Vec::with_capacity(self.bounds.len());
        for (&(lower, _), length) in self.bounds.iter().zip(self.lengths()).rev() {
            subscripts.push((i64::from(lower) + (rest % length) as i64).to_string());
            rest /= length;
        }
        subscripts.reverse();
        format!("[{}]", subscripts.join(", "))
    }

    /// Finds the elements in a stored array, which its id opens as a BLOB: a header (`InternalArrayDesc` of ods.h, the
    /// same from Firebird 3.0 to 5.0), then values as in native messages, without gaps. Elements after the last one
    /// ever written are not stored; the engine treats them as zeros.
    ///
    /// # Errors
    /// The header must match this shape; `field` is the layout of an element.
    pub fn stored<'a>(&self, field: &FieldLayout, bytes: &'a [u8]) -> Result<&'a [u8], ArrayError> {
        let (header, repeats) = bytes.split_at_checked(HEADER).ok_or(ArrayError::Short)?;
        let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let long = |bytes: &[u8], at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_le_bytes(*word))
        };
        let dimensions = self.bounds.len();
        let size = field.kind.native().1;
        let is_text = matches!(field.kind, FieldKind::Text(_) | FieldKind::Varying(_));
        let is_exact =
            matches!(field.kind, FieldKind::Short | FieldKind::Long | FieldKind::Int64 | FieldKind::Int128);
        let length = HEADER + REPEAT * dimensions;
        let total = size.checked_mul(self.count).ok_or(ArrayError::Other)?;
        let (descriptor, elements) = (repeats, bytes.get(length..).ok_or(ArrayError::Short)?);
        let is_same = header[0] == VERSION
            && usize::from(header[1]) == dimensions
            && usize::from(short(4)) == size
            && usize::from(short(6)) == length
            && long(header, 8) == u32::try_from(self.count).ok()
            && long(header, 12) == u32::try_from(total).ok()
            && Some(descriptor[0]) == stored_type(field.kind)
            && (!is_exact || descriptor[1] as i8 == field.scale)
            && (!is_text || descriptor[4] == field.charset)
            && self.bounds.iter().enumerate().all(|(dimension, &(lower, upper))| {
                let bound = |at| long(repeats, dimension * REPEAT + at).map(|word| word as i32);
                bound(16) == Some(lower) && bound(20) == Some(upper)
            });
        if !is_same || elements.len() > total {
            return Err(ArrayError::Other);
        }
        Ok(elements)
    }

    /// The most bytes that a stored array of this shape takes; `field` is the layout of an element.
    pub fn most_stored(&self, field: &FieldLayout) -> usize {
        let elements = field.kind.native().1.saturating_mul(self.count);
        elements.saturating_add(HEADER + REPEAT * self.bounds.len())
    }

    /// Describes how to send all elements to the engine as values of `element`, for this column of a relation. VARYING
    /// means strings that end with a zero byte.
    pub fn slice_format(&self, relation: &str, column: &str, element: &FieldLayout) -> SliceFormat {
        let mut out = vec![sdl::VERSION1, sdl::STRUCT, 1]; // of one member
        element.write_blr(&mut out);
        for (item, name) in [(sdl::RELATION, relation), (sdl::FIELD, column)] {
            // Names have 63 characters of at most four bytes.
            let name = &name.as_bytes()[..name.len().min(255)];
            out.extend_from_slice(&[item, name.len() as u8]);
            out.extend_from_slice(name);
        }
        for ((lower, upper), variable) in self.bounds.iter().zip(0..) {
            out.extend_from_slice(&[sdl::DO2, variable]);
            for bound in [lower, upper] {
                out.push(sdl::LONG_INTEGER);
                out.extend_from_slice(&bound.to_le_bytes());
            }
        }
        let dimensions = self.bounds.len() as u8;
        out.extend_from_slice(&[sdl::ELEMENT, 1, sdl::SCALAR, 0, dimensions]); // of member 0
        for variable in 0..dimensions {
            out.extend_from_slice(&[sdl::VARIABLE, variable]);
        }
        out.push(sdl::EOC);
        SliceFormat { sdl: out, kind: element.kind, count: self.count }
    }
}

/// How the elements of new arrays are sent. In native form they follow each other without gaps. A VARYING element is a
/// string that ends with a zero byte, in two bytes more than declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceFormat {
    sdl: Vec<u8>,
    kind: FieldKind,
    count: usize,
}

impl SliceFormat {
    /// Slice description language: type of the elements, relation, column, subscripts.
    pub fn sdl(&self) -> &[u8] {
        &self.sdl
    }

    /// The kind of each element.
    pub fn kind(&self) -> FieldKind {
        self.kind
    }

    /// Bytes per element.
    pub fn element_size(&self) -> usize {
        self.kind.native().1
    }

    /// Bytes per array. Engines count them in 32-bit signed integers.
    pub fn size(&self) -> Option<usize> {
        let size = self.element_size().checked_mul(self.count)?;
        i32::try_from(size).ok().map(|_| size)
    }

    /// Checks the elements of one array. `None` if their length is wrong or a string has no end: the engine would read
    /// on in search of it.
    pub fn slice<'a>(&'a self, bytes: &'a [u8]) -> Option<Slice<'a>> {
        let mut elements = bytes.chunks_exact(self.element_size().max(1));
        let is_string = matches!(self.kind, FieldKind::Varying(_));
        let has_ends = !is_string || elements.all(|element| element.last() == Some(&0));
        (has_ends && self.size() == Some(bytes.len())).then_some(Slice { format: self, bytes })
    }
}

/// The elements of an array to create.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    format: &'a SliceFormat,
    bytes: &'a [u8],
}

impl<'a> Slice<'a> {
    /// Their format.
    pub fn format(&self) -> &'a SliceFormat {
        self.format
    }

    /// The native values.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Why stored bytes do not hold an array of the expected shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    /// The bytes end within the header.
    #[error("the stored array ends within its header")]
    Short,
    /// The header describes another shape.
    #[error(
        "the array is not stored as its column was declared when the statement was prepared (or by a server of \
         another byte order); prepare it again, or select single elements"
    )]
    Other,
}

/// `isc_sdl_*`.
mod sdl {
    pub(super) const VERSION1: u8 = 1;
    pub(super) const RELATION: u8 = 2;
    pub(super) const FIELD: u8 = 4;
    pub(super) const STRUCT: u8 = 6;
    pub(super) const VARIABLE: u8 = 7;
    pub(super) const SCALAR: u8 = 8;
    pub(super) const LONG_INTEGER: u8 = 11;
    pub(super) const DO2: u8 = 34;
    pub(super) const ELEMENT: u8 = 36;
    pub(super) const EOC: u8 = 255;
}

/// `IAD_VERSION_1`.
const VERSION: u8 = 1;
/// Bytes before the part that repeats for each dimension.
const HEADER: usize = 16;
/// Bytes for each dimension: a descriptor (used in the first only), a stride and two bounds.
const REPEAT: usize = 24;

/// The engine's internal number of a type (`dsc_pub.h`).
fn stored_type(kind: FieldKind) -> Option<u8> {
    Some(match kind {
        FieldKind::Text(_) => 1,
        FieldKind::Varying(_) => 3,
        FieldKind::Short => 8,
        FieldKind::Long => 9,
        FieldKind::Float => 11,
        FieldKind::Double => 12,
        FieldKind::Date => 14,
        FieldKind::Time => 15,
        FieldKind::Timestamp => 16,
        FieldKind::Int64 => 19,
        FieldKind::Boolean => 21,
        FieldKind::Dec16 => 22,
        FieldKind::Dec34 => 23,
        FieldKind::Int128 => 24,
        FieldKind::TimeTz => 25,
        FieldKind::TimestampTz => 26,
        FieldKind::TimeTzEx
        | FieldKind::TimestampTzEx
        | FieldKind::Blob
        | FieldKind::Array
        | FieldKind::Nothing => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(bounds: &[(i32, i32)]) -> ArrayShape {
        ArrayShape::new(Descriptor::default(), bounds.to_vec()).expect("legal bounds")
    }

    /// INTEGER [0:1, -1:1] as Firebird stores it.
    fn stored() -> Vec<u8> {
        let mut bytes = vec![1, 2, 1, 0, 4, 0, 64, 0, 6, 0, 0, 0, 24, 0, 0, 0];
        for (kind, stride, lower, upper) in [(9_u8, 3_u32, 0_i32, 1_i32), (0, 1, -1, 1)] {
            bytes.extend_from_slice(&[kind, 0, u8::from(kind != 0) * 4, 0]);
            bytes.extend_from_slice(&[0; 8]);
            bytes.extend_from_slice(&stride.to_le_bytes());
            bytes.extend_from_slice(&lower.to_le_bytes());
            bytes.extend_from_slice(&upper.to_le_bytes());
        }
        bytes.extend((1..=6_i32).flat_map(i32::to_le_bytes));
        bytes
    }

    #[test]
    fn bounds_are_counted_and_checked() {
        let shape = shape(&[(0, 1), (-1, 1)]);
        assert_eq!((shape.count(), shape.lengths().collect::<Vec<_>>()), (6, vec![2, 3]));
        assert_eq!((shape.subscripts(0), shape.subscripts(5)), ("[0, -1]".into(), "[1, 1]".into()));
        let illegal: [&[(i32, i32)]; 5] =
            [&[], &[(2, 1)], &[(i32::MIN, i32::MAX)], &[(1, 65536), (1, 65536)], &[(1, 1); 17]];
        for bounds in illegal {
            assert_eq!(ArrayShape::new(Descriptor::default(), bounds.to_vec()), None, "{bounds:?}");
        }
    }

    #[test]
    fn stored_elements_are_found_after_their_header() {
        let (shape, field) = (shape(&[(0, 1), (-1, 1)]), FieldLayout::plain(FieldKind::Long));
        let bytes = stored();
        assert_eq!(shape.stored(&field, &bytes), Ok(&bytes[64..]));
        // Elements that were never written are missing at the end.
        assert_eq!(shape.stored(&field, &bytes[..72]), Ok(&bytes[64..72]));
        for cut in 0..64 {
            assert_eq!(shape.stored(&field, &bytes[..cut]), Err(ArrayError::Short));
        }
        let mut long = bytes.clone();
        long.push(0);
        assert_eq!(shape.stored(&field, &long), Err(ArrayError::Other));
    }

    #[test]
    fn another_shape_is_refused() {
        let (shape, field) = (shape(&[(0, 1), (-1, 1)]), FieldLayout::plain(FieldKind::Long));
        // Everything in the header but the number of members, the rest of the descriptors and the strides.
        let said = [0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
        for at in said.into_iter().chain(32..40).chain(56..64) {
            let mut bytes = stored();
            bytes[at] ^= 0x40;
            assert_eq!(shape.stored(&field, &bytes), Err(ArrayError::Other), "byte {at}");
        }
        let date = FieldLayout::plain(FieldKind::Date);
        assert_eq!(shape.stored(&date, &stored()), Err(ArrayError::Other));
    }

    #[test]
    fn sdl_names_column_and_elements() {
        let format = shape(&[(1, 3)]).slice_format("T", "A", &FieldLayout::plain(FieldKind::Long));
        let expected = [
            &[1, 6, 1, 8, 0, 2, 1, b'T', 4, 1, b'A', 34, 0, 11, 1, 0, 0, 0, 11, 3, 0, 0, 0][..],
            &[36, 1, 8, 0, 1, 7, 0, 255],
        ];
        assert_eq!(format.sdl(), expected.concat());
        assert_eq!(format.slice(&[0; 12]).map(|slice| slice.bytes().len()), Some(12));
        assert!(format.slice(&[0; 11]).is_none() && format.slice(&[0; 16]).is_none());
    }

    #[test]
    fn strings_without_an_end_are_refused() {
        let format = shape(&[(1, 2)]).slice_format("T", "A", &FieldLayout::plain(FieldKind::Varying(1)));
        assert!(format.slice(b"a\0\0b\0\0").is_some());
        assert!(format.slice(b"a\0\0abc").is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            upper in 1..5_i32,
            width in 0..9_u16,
        ) {
            let shape = shape(&[(1, upper), (0, 2)]);
            let field = FieldLayout::plain(FieldKind::Varying(width));
            if let Ok(elements) = shape.stored(&field, &bytes) {
                prop_assert!(elements.len() <= shape.count() * (usize::from(width) + 2));
            }
        }
    }
}
