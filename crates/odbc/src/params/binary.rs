//! Binary values, and hexadecimal text for them.

use super::cell::Cells;
use super::column::{Bytes, no_conversion};
use super::target::Target;
use crate::diagnostics::Result;
use arrow::array::ArrayRef;

/// Bytes for binary parameters, and for text, whose character set they are in.
pub(super) fn column(cells: &Cells<'_>, target: Target) -> Result<ArrayRef> {
    if !matches!(target, Target::Text | Target::Binary | Target::Any) {
        return Err(no_conversion("binary data"));
    }
    let mut column = Bytes::new(cells.nulls());
    for cell in cells.listed() {
        column.push(cell.unwrap_or_default())?;
    }
    column.binary()
}

/// The bytes of which these are the hexadecimal digits.
pub(super) fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::from_hex;

    #[test]
    fn two_digits_are_a_byte() {
        assert_eq!(from_hex(b"00fFa9"), Some(vec![0, 0xFF, 0xA9]));
        assert_eq!(from_hex(b""), Some(vec![]));
        for bad in ["0", "000", "0g", " 00", "0x00", "é"] {
            assert_eq!(from_hex(bad.as_bytes()), None, "{bad}");
        }
    }
}
