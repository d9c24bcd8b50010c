//! GUIDs: 16 bytes in the order of RFC 4122, and their text.

use super::cell::{Column, Convert, Converted};
use super::fault::Fault;
use super::plan::Settings;
use super::rendered::{Render, Rendered};
use crate::abi::Guid;
use arrow::array::{BinaryArray, FixedSizeBinaryArray, StringArray};

/// Bytes before which the text has a hyphen.
const GROUPS: [usize; 4] = [4, 6, 8, 10];

pub(super) const HEX: &[u8; 16] = b"0123456789ABCDEF";

macro_rules! columns {
    ($($array:ty)*) => {$(
        impl Convert<$array> for Guid {
            #[inline]
            fn convert(bytes: &[u8], _: &Settings) -> Converted<Self> {
                Ok((guid(bytes.try_into().map_err(|_| Fault::NotALiteral)?), None))
            }
        }

        /// The text of columns that are described as `SQL_GUID`.
        impl Render for $array {
            fn render(bytes: <Self as Column>::Value<'_>, _: &Settings) -> Result<Rendered, Fault> {
                Ok(text(bytes.try_into().map_err(|_| Fault::NotALiteral)?))
            }
        }
    )*};
}

columns! { BinaryArray FixedSizeBinaryArray }

impl Convert<StringArray> for Guid {
    fn convert(text: &str, _: &Settings) -> Converted<Self> {
        Ok((guid(&parse(text).ok_or(Fault::NotALiteral)?), None))
    }
}

fn guid(bytes: &[u8; 16]) -> Guid {
    let &[a, b, c, d, e, f, g, h, data4 @ ..] = bytes;
    Guid {
        data1: u32::from_be_bytes([a, b, c, d]),
        data2: u16::from_be_bytes([e, f]),
        data3: u16::from_be_bytes([g, h]),
        data4,
    }
}

/// Uppercase, as the engine's `UUID_TO_CHAR` has it.
fn text(bytes: &[u8; 16]) -> Rendered {
    let mut text = Rendered::new();
    for (at, byte) in bytes.iter().enumerate() {
        if GROUPS.contains(&at) {
            text.push(b"-");
        }
        text.push(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
    text.end_whole();
    text
}

fn parse(text: &str) -> Option<[u8; 16]> {
    let mut text = text.as_bytes().trim_ascii();
    let mut bytes = [0; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        if GROUPS.contains(&at) {
            text = text.strip_prefix(b"-")?;
        }
        let (&[high, low], rest) = text.split_first_chunk::<2>()?;
        *byte = (digit(high)? << 4) | digit(low)?;
        text = rest;
    }
    text.is_empty().then_some(bytes)
}

fn digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::c_type;
    use crate::convert::testing::{texts, values, wanted};
    use crate::convert::{Wanted, plan};
    use arrow::datatypes::DataType;

    const TEXT: &str = "00112233-4455-6677-8899-AABBCCDDEEFF";
    const BYTES: [u8; 16] =
        [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
    const GUID: Guid = Guid {
        data1: 0x0011_2233,
        data2: 0x4455,
        data3: 0x6677,
        data4: [0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF],
    };

    #[test]
    fn bytes_and_text_are_the_same_guid() {
        let guid = wanted(c_type::GUID);
        let fixed = FixedSizeBinaryArray::try_from_iter([BYTES].into_iter()).expect("16 bytes");
        assert_eq!(values(&fixed, guid), [Ok((GUID, None))]);
        let binary = BinaryArray::from(vec![&BYTES[..], &BYTES[1..], b""]);
        assert_eq!(values(&binary, guid), [Ok((GUID, None)), Err("22018"), Err("22018")]);
        let lower = format!(" {} ", TEXT.to_lowercase());
        let array = StringArray::from(vec![TEXT, &lower, &TEXT[1..], &TEXT[..35], "", "é"]);
        let bad = Err("22018");
        assert_eq!(values(&array, guid), [Ok((GUID, None)), Ok((GUID, None)), bad, bad, bad, bad]);
        let shifted = TEXT.replace("-4455", "4-455");
        let long = format!("{TEXT}0");
        let array = StringArray::from(vec![shifted.as_str(), &long, "0011223+-4455-6677-8899-AABBCCDDEEFF"]);
        assert_eq!(values(&array, guid), [bad, bad, bad]);
    }

    #[test]
    fn a_guid_column_has_the_text_of_guids() {
        let binary = BinaryArray::from(vec![&BYTES[..], b"x"]);
        let as_guid = |c_type| Wanted { is_guid: true, ..wanted(c_type) };
        for c_type in [c_type::CHAR, c_type::WCHAR] {
            let length = if c_type == c_type::CHAR { 36 } else { 72 };
            let whole = Ok((TEXT.to_owned(), length, None));
            assert_eq!(texts(&binary, as_guid(c_type), 37), [whole, Err("22018")]);
            assert_eq!(texts(&binary, as_guid(c_type), 36)[0], Err("22003"));
            assert_eq!(texts(&binary, wanted(c_type), 37)[0].as_ref().unwrap().0, TEXT.replace('-', ""));
        }
    }

    #[test]
    fn other_sizes_are_no_guids() {
        let plan = |bytes| plan(&DataType::FixedSizeBinary(bytes), &wanted(c_type::GUID));
        assert!(plan(16).is_ok());
        assert_eq!(plan(8).unwrap_err().state.as_str(), "07006");
    }
}
