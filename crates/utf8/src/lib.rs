//! String arrays from bytes that may or may not be UTF-8.
//!
//! Arrow's own constructors check with the standard library, which is slow where texts are short and not ASCII. They can
//! be told that a check was made elsewhere, which is `unsafe`: hence this crate, which does nothing else.

use arrow::array::{GenericStringArray, OffsetSizeTrait};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

/// Returns the array of the strings between these offsets; `None` unless there is an offset, none is less than the one
/// before, all bytes between them are UTF-8, every offset lies on a character boundary, and there is one null flag per
/// string.
pub fn string_array<O: OffsetSizeTrait>(
    offsets: ScalarBuffer<O>,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Option<GenericStringArray<O>> {
    let count = offsets.len().checked_sub(1)?;
    if nulls.as_ref().is_some_and(|nulls| nulls.len() != count) || !are_strings(&offsets, &values) {
        return None;
    }
    // SAFETY: there is an offset, the first one is not negative, and they never decrease.
    let offsets = unsafe { OffsetBuffer::new_unchecked(offsets) };
    // SAFETY: the last offset is within the values, and what is between any two of them is UTF-8.
    Some(unsafe { GenericStringArray::new_unchecked(offsets, values, nulls) })
}

/// Whether the offsets never decrease, and what is between each two of them is UTF-8.
///
/// Bytes before the first offset and after the last one belong to no string.
fn are_strings<O: OffsetSizeTrait>(offsets: &[O], values: &[u8]) -> bool {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return false };
    let (Some(start), Some(end)) = (first.to_usize(), last.to_usize()) else { return false };
    let Some(text) = values.get(start..end) else { return false };
    // No branch for each offset.
    let decreases = |any, (before, offset): (&O, &O)| any | (offset < before);
    if offsets.iter().zip(&offsets[1..]).fold(false, decreases) {
        return false;
    }
    if text.is_ascii() {
        return true;
    }
    // No offset lies beyond the last one, and only the end of the text has no byte. The bytes within characters are 0x80 to
    // 0xbf.
    let is_within = |offset: &O| text.get(offset.as_usize() - start).is_some_and(|byte| (*byte as i8) < -64);
    simdutf8::basic::from_utf8(text).is_ok()
        && !offsets.iter().fold(false, |any, offset| any | is_within(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(offsets: Vec<i32>, values: &[u8], nulls: Option<Vec<bool>>) -> Option<GenericStringArray<i32>> {
        string_array(offsets.into(), values.into(), nulls.map(NullBuffer::from))
    }

    #[test]
    fn strings_are_what_lies_between_the_offsets() {
        let array = of(vec![0, 2, 2, 5], "üa😀".as_bytes(), None);
        assert!(array.is_none(), "the last string ends within a character");
        let array = of(vec![0, 2, 2, 7], "üa😀".as_bytes(), Some(vec![true, false, true])).expect("UTF-8");
        assert_eq!(array.iter().collect::<Vec<_>>(), [Some("ü"), None, Some("a😀")]);
    }

    #[test]
    fn what_arrow_refuses_is_refused() {
        assert!(of(vec![0, 4], b"abc", None).is_none(), "beyond the bytes");
        assert!(of(vec![0, 1, 2], "ü".as_bytes(), None).is_none(), "a character in two parts");
        assert!(of(vec![0, 1], b"a", Some(vec![true, true])).is_none(), "more nulls than strings");
        assert!(of(vec![0, 3], b"\xed\xa0\x80", None).is_none(), "a surrogate");
        assert!(of(vec![0], b"\xff", None).is_some(), "a byte that belongs to no string");
        assert!(of(vec![1, 2], b"\xffa\xff", None).is_some(), "bytes around the strings");
        assert!(of(vec![0], b"", None).is_some());
        assert!(of(vec![], b"", None).is_none(), "no offset");
        for text in ["aaaa", "üü"] {
            assert!(of(vec![0, 4, 2, 4], text.as_bytes(), None).is_none(), "less than the one before");
            assert!(of(vec![-2, 2], text.as_bytes(), None).is_none(), "negative");
            assert!(of(vec![0, -2], text.as_bytes(), None).is_none(), "the last one is negative");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        /// Arrow's own constructor is the reference.
        #[test]
        fn agrees_with_arrow(
            values in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                "\\PC{0,100}".prop_map(String::into_bytes),
                "[a-zäß😀]{0,100}".prop_map(String::into_bytes),
            ],
            ends in prop::collection::vec(0..220_i32, 1..10),
        ) {
            let mut offsets = ends;
            offsets.sort_unstable();
            let offsets = ScalarBuffer::from(offsets);
            let values = Buffer::from_vec(values);
            let theirs = GenericStringArray::try_new(OffsetBuffer::new(offsets.clone()), values.clone(), None).ok();
            prop_assert_eq!(string_array(offsets, values, None), theirs);
        }
    }
}
