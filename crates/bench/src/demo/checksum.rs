//! Checksums of columns.

use crate::error::{Error, Result};
use arrow::array::{Array, ArrayAccessor, ArrayIter, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};

/// The version of the checksums and of the generated rows. It increases when either changes, because figures of
/// different versions are not comparable.
pub const FORMAT_VERSION: i32 = 1;

/// Computes the checksum of all values of an array, which does not depend on their order, batches or integer width. Add
/// the checksums of several batches with `wrapping_add`.
///
/// The checksum of a column is the wrapping sum, over its rows, of one 64-bit hash per value:
///
/// | value | hash |
/// |---|---|
/// | NULL | `mix(1)` |
/// | integer, decimal | `mix(mix(low) ^ high ^ scale << 56 ^ 2)`: halves of the unscaled 128-bit two's complement |
/// | double, float (widened) | `mix(bits ^ 3 << 60)` |
/// | boolean | `mix(0 or 1 ^ 4 << 60)` |
/// | timestamp (µs), date (days) since 1970 | `mix(value ^ 5 << 60)`, `mix(value ^ 6 << 60)` |
/// | text | `h = mix(length ^ 7 << 60)`, then `h = mix(h ^ word)` for each 8 bytes of UTF-8, little-endian, zeros after the last |
/// | time (µs since midnight), bytes | as a timestamp with 8, as a text with 9 in place of 7 |
///
/// `mix` is the finalizer of splitmix64. Nothing depends on the machine. The sum deliberately ignores the order of
/// rows: SQL guarantees none.
///
/// # Errors
/// [`Error::Other`] for other types.
pub fn checksum(array: &dyn Array) -> Result<u64> {
    Ok(match array.data_type() {
        DataType::Int16 => sum(array.as_primitive::<Int16Type>(), |value| number(value.into(), 0)),
        DataType::Int32 => sum(array.as_primitive::<Int32Type>(), |value| number(value.into(), 0)),
        DataType::Int64 => sum(array.as_primitive::<Int64Type>(), |value| number(value.into(), 0)),
        DataType::Decimal128(_, scale) => {
            sum(array.as_primitive::<Decimal128Type>(), |value| number(value, *scale))
        }
        DataType::Float32 => sum(array.as_primitive::<Float32Type>(), |value| float(value.into())),
        DataType::Float64 => sum(array.as_primitive::<Float64Type>(), float),
        DataType::Boolean => sum(array.as_boolean(), boolean),
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            sum(array.as_primitive::<TimestampMicrosecondType>(), timestamp)
        }
        DataType::Date32 => sum(array.as_primitive::<Date32Type>(), |value| date(value.into())),
        DataType::Time64(TimeUnit::Microsecond) => sum(array.as_primitive::<Time64MicrosecondType>(), time),
        DataType::Utf8 => sum(array.as_string::<i32>(), |value| text(value.as_bytes())),
        DataType::LargeUtf8 => sum(array.as_string::<i64>(), |value| text(value.as_bytes())),
        DataType::Utf8View => sum(array.as_string_view(), |value| text(value.as_bytes())),
        DataType::Binary => sum(array.as_binary::<i32>(), bytes),
        DataType::LargeBinary => sum(array.as_binary::<i64>(), bytes),
        DataType::BinaryView => sum(array.as_binary_view(), bytes),
        other => return Err(Error::other(format!("checksums of {other} are not defined"))),
    })
}

/// The finalizer of splitmix64, by Sebastiano Vigna; public domain.
pub(crate) fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn sum<A: ArrayAccessor>(array: A, hash: impl Fn(A::Item) -> u64) -> u64 {
    ArrayIter::new(array).fold(0, |sum: u64, value| sum.wrapping_add(value.map_or(NULL, &hash)))
}

/// The hash of NULL, `mix(1)`.
pub(crate) const NULL: u64 = 0x910a_2dec_8902_5cc1;

pub(crate) fn number(value: i128, scale: i8) -> u64 {
    let (low, high) = (value as u64, (value >> 64) as u64);
    mix(mix(low) ^ high ^ (u64::from(scale as u8) << 56) ^ 2)
}

pub(crate) fn float(value: f64) -> u64 {
    mix(value.to_bits() ^ 3 << 60)
}

pub(crate) fn boolean(value: bool) -> u64 {
    mix(u64::from(value) ^ 4 << 60)
}

pub(crate) fn timestamp(microseconds: i64) -> u64 {
    mix(microseconds as u64 ^ 5 << 60)
}

pub(crate) fn date(days: i64) -> u64 {
    mix(days as u64 ^ 6 << 60)
}

pub(crate) fn time(microseconds: i64) -> u64 {
    mix(microseconds as u64 ^ 8 << 60)
}

pub(crate) fn text(utf8: &[u8]) -> u64 {
    words(utf8, 7)
}

pub(crate) fn bytes(value: &[u8]) -> u64 {
    words(value, 9)
}

fn words(value: &[u8], kind: u64) -> u64 {
    let (words, rest) = value.as_chunks::<8>();
    let mut hash = mix(value.len() as u64 ^ kind << 60);
    for word in words {
        hash = mix(hash ^ u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        hash = mix(hash ^ u64::from_le_bytes(word));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, Int16Array, Int64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn order_and_width_do_not_matter_and_values_do() {
        let of = |values: Vec<Option<i64>>| checksum(&Int64Array::from(values)).unwrap();
        let narrow = checksum(&Int16Array::from(vec![None, Some(-7), Some(3)])).unwrap();
        assert_eq!(of(vec![Some(3), None, Some(-7)]), narrow);
        assert_eq!(of(vec![Some(3), None]).wrapping_add(of(vec![Some(-7)])), narrow);
        assert_ne!(of(vec![Some(3), Some(0), Some(-7)]), narrow);
        assert_ne!(of(vec![Some(3), None, Some(7)]), narrow);
        assert_ne!(of(vec![Some(3), None]), of(vec![Some(3), None, None]));
    }

    #[test]
    fn scale_and_text_boundaries_count() {
        let decimal = |scale| -> ArrayRef {
            Arc::new(Decimal128Array::from(vec![1234_i128]).with_precision_and_scale(18, scale).unwrap())
        };
        assert_ne!(checksum(&decimal(2)).unwrap(), checksum(&decimal(4)).unwrap());
        let of = |texts: &[&str]| checksum(&StringArray::from(texts.to_vec())).unwrap();
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["", "x"]), of(&["\0", "x"]));
        assert_ne!(of(&["12345678"]), of(&["12345678\0"]));
    }

    /// Existing databases contain these sums: a change needs a new format version.
    #[test]
    fn definition_is_frozen() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(checksum(&Int64Array::from(vec![Some(-1)])).unwrap(), mix(mix(u64::MAX) ^ u64::MAX ^ 2));
        assert_eq!(checksum(&BooleanArray::from(vec![None, Some(true)])).unwrap(), {
            mix(1).wrapping_add(mix(1 | 1 << 62))
        });
        assert_eq!(text(b"abc"), mix(mix(3 ^ 7 << 60) ^ 0x63_6261));
        assert_eq!((NULL, bytes(b"")), (mix(1), mix(9 << 60)));
    }
}
