//! Binary values: as they are, and as hex digits.

use super::cell::{Cell, Column, Written};
use super::fault::Fault;
use super::guid::HEX;
use super::piece::Piece;
use super::plan::Settings;
use super::unit::Unit;
use arrow::array::{BinaryArray, FixedSizeBinaryArray, StringArray};
use std::marker::PhantomData;

/// A column whose values are bytes.
pub(super) trait Binary: Column {
    /// The bytes that an application may see.
    fn bytes<'a>(value: Self::Value<'a>, settings: &Settings) -> &'a [u8];
}

macro_rules! columns {
    ($($array:ty)*) => {$(
        impl Binary for $array {
            #[inline]
            fn bytes<'a>(value: Self::Value<'a>, settings: &Settings) -> &'a [u8] {
                &value[..value.len().min(settings.max_length)]
            }
        }
    )*};
}

columns! { BinaryArray FixedSizeBinaryArray }

impl Binary for StringArray {
    #[inline]
    fn bytes<'a>(value: Self::Value<'a>, settings: &Settings) -> &'a [u8] {
        settings.limited(value).as_bytes()
    }
}

/// Bytes as they are.
pub(super) struct Bytes<C>(PhantomData<C>);

impl<C: Binary> Cell for Bytes<C> {
    type Column = C;
    const LEAST: usize = 1;
    const TERMINATOR: usize = 0;

    #[inline]
    unsafe fn put(
        value: C::Value<'_>,
        settings: &Settings,
        data: *mut u8,
        capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault> {
        piece.forget_units();
        let rest = C::bytes(value, settings).get(piece.position..).unwrap_or_default();
        if data.is_null() {
            return Ok(Written { length: rest.len(), warning: None });
        }
        let fits = rest.len().min(capacity);
        // SAFETY: they are within the capacity.
        unsafe { data.copy_from_nonoverlapping(rest.as_ptr(), fits) };
        piece.advance(fits, rest.len());
        Ok(Written { length: rest.len(), warning: (fits < rest.len()).then_some(Fault::Cut) })
    }
}

/// Bytes as two uppercase hex digits each.
pub(super) struct Hex<C, U>(PhantomData<(C, U)>);

impl<C: Binary, U: Unit + 'static> Cell for Hex<C, U> {
    type Column = C;
    const LEAST: usize = 2 * U::SIZE;
    const TERMINATOR: usize = U::SIZE;

    #[inline]
    unsafe fn put(
        value: C::Value<'_>,
        settings: &Settings,
        data: *mut u8,
        capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault> {
        let rest = C::bytes(value, settings).get(piece.position..).unwrap_or_default();
        let length = rest.len() * 2 * U::SIZE;
        if data.is_null() {
            return Ok(Written { length, warning: None });
        }
        let Some(room) = (capacity / U::SIZE).checked_sub(1) else {
            return Ok(Written { length, warning: Some(Fault::Cut) });
        };
        let fits = rest.len().min(room / 2);
        // SAFETY: two units for each of these bytes and the terminator are within the capacity.
        unsafe {
            for (at, byte) in rest[..fits].iter().enumerate() {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                U::put(&digits, data.add(2 * at * U::SIZE));
            }
            U::terminate(data, 2 * fits);
        }
        piece.advance(fits, rest.len());
        Ok(Written { length, warning: (fits < rest.len()).then_some(Fault::Cut) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::c_type;
    use crate::convert::Wanted;
    use crate::convert::testing::{Call, get, terminated, texts, values, wanted};
    use proptest::prelude::*;

    #[test]
    fn hex_digits_are_cut_in_pairs() {
        let array = BinaryArray::from(vec![Some(&[0x00, 0xAB, 0xFF][..]), Some(b""), None]);
        for c_type in [c_type::CHAR, c_type::WCHAR] {
            let length = if c_type == c_type::CHAR { 6 } else { 12 };
            let fetch = |units| texts(&array, wanted(c_type), units);
            let text = |text: &str, warning| Ok((text.to_owned(), length, warning));
            let empty = Ok((String::new(), 0, None));
            assert_eq!(fetch(7), [text("00ABFF", None), empty.clone(), Err("NULL")]);
            assert_eq!(fetch(6)[..2], [text("00AB", Some("01004")), empty.clone()]);
            assert_eq!(fetch(5)[0], text("00AB", Some("01004")));
            assert_eq!(fetch(2)[0], text("", Some("01004")));
            assert_eq!(fetch(1), [text("", Some("01004")), empty, Err("NULL")]);
        }
    }

    #[test]
    fn max_length_counts_bytes() {
        let array = FixedSizeBinaryArray::try_from_iter([[1_u8, 2, 3]].into_iter()).expect("3 bytes");
        let limited = |c_type| Wanted { max_length: 2, ..wanted(c_type) };
        assert_eq!(values(&array, limited(c_type::BINARY)), [Ok(([1_u8, 2], None))]);
        assert_eq!(texts(&array, limited(c_type::CHAR), 9), [Ok(("0102".to_owned(), 4, None))]);
    }

    #[test]
    fn an_empty_value_is_handed_out_once() {
        let array = BinaryArray::from(vec![&b""[..]]);
        for (c_type, capacity, bytes) in
            [(c_type::BINARY, 4, vec![0xAA; 4]), (c_type::CHAR, 1, vec![0]), (c_type::WCHAR, 2, vec![0, 0])]
        {
            let mut piece = Piece::default();
            let mut call = |capacity| get(&array, 0, wanted(c_type), capacity, &mut piece);
            assert_eq!(call(0), Call::Bytes(vec![], 0, None));
            assert_eq!(call(capacity), Call::Bytes(bytes, 0, None));
            assert_eq!(call(capacity), Call::NoData);
        }
    }

    proptest! {
        #[test]
        fn pieces_make_the_value(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            capacities in prop::collection::vec(0_usize..24, 1..8),
        ) {
            let array = BinaryArray::from(vec![bytes.as_slice()]);
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            for (c_type, unit) in [(c_type::BINARY, 0), (c_type::CHAR, 1), (c_type::WCHAR, 2)] {
                let (mut piece, mut raw, mut text) = (Piece::default(), Vec::new(), String::new());
                let total = if unit == 0 { bytes.len() } else { unit * hex.len() };
                for capacity in capacities.iter().copied().chain(std::iter::repeat(20)) {
                    let left = total - raw.len() - unit * text.len();
                    match get(&array, 0, wanted(c_type), capacity, &mut piece) {
                        Call::Bytes(buffer, length, warning) => {
                            prop_assert_eq!(length, left.cast_signed());
                            if unit == 0 {
                                raw.extend_from_slice(&buffer[..left.min(capacity)]);
                            } else if capacity >= unit {
                                text += &terminated(&buffer, unit == 2);
                            }
                            let is_whole = raw.len() + unit * text.len() == total;
                            prop_assert_eq!(warning, (!is_whole).then_some("01004"));
                        }
                        Call::NoData => break,
                        Call::Failed(state) => prop_assert!(false, "{state}"),
                    }
                }
                let is_same = if unit == 0 { raw == bytes } else { text == hex };
                prop_assert!(is_same);
            }
        }
    }
}
