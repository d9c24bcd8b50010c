//! Values of columns as functions of the row number.

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array, StringBuilder, TimestampMicrosecondArray,
};
use md5::{Digest, Md5};
use std::sync::Arc;

/// The values of a column as functions of the row number, which starts at 0; `None` is NULL.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values {
    /// Integers of 16 bits.
    Int16(fn(u64) -> Option<i16>),
    /// Integers of 32 bits.
    Int32(fn(u64) -> Option<i32>),
    /// Integers of 64 bits.
    Int64(fn(u64) -> Option<i64>),
    /// Single precision.
    Float32(fn(u64) -> Option<f32>),
    /// Double precision.
    Float64(fn(u64) -> Option<f64>),
    /// Booleans.
    Boolean(fn(u64) -> Option<bool>),
    /// Decimals: precision and scale in digits, then the unscaled value.
    Decimal(u8, i8, fn(u64) -> Option<i128>),
    /// Timestamps in microseconds since 1970.
    Timestamp(fn(u64) -> Option<i64>),
    /// Dates in days since 1970.
    Date(fn(u64) -> Option<i32>),
    /// Texts: the function appends to the string, or returns `false` for NULL.
    Text(fn(u64, &mut String) -> bool),
}

impl Values {
    /// Returns an array of the values of these rows.
    ///
    /// # Panics
    /// If a decimal has a precision that Arrow does not support; those of [`TABLES`](super::TABLES) are valid.
    pub fn array(&self, rows: impl Iterator<Item = u64>) -> ArrayRef {
        match *self {
            Self::Int16(value) => Arc::new(rows.map(value).collect::<Int16Array>()),
            Self::Int32(value) => Arc::new(rows.map(value).collect::<Int32Array>()),
            Self::Int64(value) => Arc::new(rows.map(value).collect::<Int64Array>()),
            Self::Float32(value) => Arc::new(rows.map(value).collect::<Float32Array>()),
            Self::Float64(value) => Arc::new(rows.map(value).collect::<Float64Array>()),
            Self::Boolean(value) => Arc::new(rows.map(value).collect::<BooleanArray>()),
            Self::Decimal(precision, scale, value) => {
                let array = rows.map(value).collect::<Decimal128Array>();
                let array = array.with_precision_and_scale(precision, scale);
                Arc::new(array.expect("the tables have legal precisions"))
            }
            Self::Timestamp(value) => Arc::new(rows.map(value).collect::<TimestampMicrosecondArray>()),
            Self::Date(value) => Arc::new(rows.map(value).collect::<Date32Array>()),
            Self::Text(value) => {
                let mut builder = StringBuilder::new();
                let mut text = String::new();
                for row in rows {
                    text.clear();
                    builder.append_option(value(row, &mut text).then_some(text.as_str()));
                }
                Arc::new(builder.finish())
            }
        }
    }
}

/// Appends words of `length` characters in all.
pub(super) fn words(seed: u64, length: u64, text: &mut String) -> bool {
    let mut seed = seed;
    let mut left = length as usize;
    while left > 0 {
        let word = WORDS[(seed % WORDS.len() as u64) as usize];
        seed = seed.rotate_right(5).wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        for c in word.chars().take(left) {
            text.push(c);
            left -= 1;
        }
    }
    true
}

/// Appends the MD5 digest of a number and a suffix as hexadecimal digits.
pub(super) fn digest(number: u64, suffix: &str, text: &mut String) -> bool {
    let mut hash = Md5::new();
    hash.update(number.to_string());
    hash.update(suffix);
    for byte in hash.finalize() {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    true
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Mostly ASCII, like most data; some words need two or three bytes per character.
const WORDS: [&str; 32] = [
    "arrow ",
    "batch ",
    "column ",
    "page ",
    "record ",
    "Zürich ",
    "index ",
    "query ",
    "fire ",
    "bird ",
    "row ",
    "snapshot ",
    "a ",
    "of ",
    "Łódź ",
    "value ",
    "stream ",
    "buffer ",
    "commit ",
    "plan ",
    "table ",
    "東京 ",
    "the ",
    "engine ",
    "cursor ",
    "fetch ",
    "text ",
    "number ",
    "San José ",
    "time ",
    "zone ",
    "server ",
];
