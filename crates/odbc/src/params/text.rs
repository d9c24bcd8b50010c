//! Text for parameters of any type.
//!
//! The server reads most of it. The driver reads what the server would read less exactly (floating-point numbers), not at
//! all (truth values, hexadecimal digits, GUIDs) or only in its own form (dates and times).

use super::binding::{Binding, Encoding};
use super::cell::{Cells, Failed};
use super::column::{Bytes, no_conversion};
use super::number::{booleans, primitive, truth_of_float};
use super::target::Target;
use super::{binary, float, guid, moment};
use crate::abi::sql_type;
use crate::diagnostics::{Failure, Result, State};
use arrow::array::ArrayRef;
use arrow::datatypes::{Float32Type, Float64Type};
use std::borrow::Cow;

pub(super) fn column(
    cells: &Cells<'_>,
    binding: &Binding,
    target: Target,
    failed: &mut Failed,
) -> Result<ArrayRef> {
    let encoding = binding.encoding();
    let nulls = cells.nulls();
    match target {
        Target::Text | Target::Binary | Target::Any if binding.is_bound_as_binary() => {
            bytes(cells, encoding, failed, hexadecimal)?.binary()
        }
        Target::Binary if binding.sql_type == sql_type::GUID => {
            bytes(cells, encoding, failed, |text| Ok(Cow::Owned(guid::parse(text)?.to_vec())))?.binary()
        }
        // Its bytes need not be text.
        Target::Binary if !binding.is_wide() => binary::column(cells, target),
        Target::Binary => bytes(cells, encoding, failed, |text| Ok(text.as_bytes().into()))?.binary(),
        Target::Text | Target::Any => {
            bytes(cells, encoding, failed, |text| Ok(text.as_bytes().into()))?.text()
        }
        Target::Exact | Target::Decfloat => {
            bytes(cells, encoding, failed, |text| Ok(text.trim_matches(' ').as_bytes().into()))?.text()
        }
        Target::Date | Target::Time | Target::Timestamp => {
            let normal = bytes(cells, encoding, failed, |text| {
                Ok(match moment::normal(text, target)? {
                    Cow::Borrowed(text) => text.as_bytes().into(),
                    Cow::Owned(text) => text.into_bytes().into(),
                })
            });
            normal?.text()
        }
        Target::Float => Ok(primitive::<Float32Type>(values(cells, encoding, failed, float::parse), nulls)),
        Target::Double => Ok(primitive::<Float64Type>(values(cells, encoding, failed, float::parse), nulls)),
        Target::Boolean => Ok(booleans(values(cells, encoding, failed, truth), nulls)),
        Target::Array => Err(no_conversion("text")),
    }
}

/// Converts each text to a value of a fixed length.
fn values<N: Default>(
    cells: &Cells<'_>,
    encoding: Encoding,
    failed: &mut Failed,
    convert: impl Fn(&str) -> Result<N>,
) -> Vec<N> {
    let values = cells.listed().iter().enumerate().map(|(row, cell)| {
        let Some(cell) = cell else { return N::default() };
        decoded(cell, encoding).and_then(|text| convert(&text)).unwrap_or_else(|failure| {
            failed.push((row, failure));
            N::default()
        })
    });
    values.collect()
}

/// Converts each text to bytes or other text.
fn bytes(
    cells: &Cells<'_>,
    encoding: Encoding,
    failed: &mut Failed,
    convert: impl for<'t> Fn(&'t str) -> Result<Cow<'t, [u8]>>,
) -> Result<Bytes> {
    let mut column = Bytes::new(cells.nulls());
    for (row, cell) in cells.listed().iter().enumerate() {
        let text = decoded(cell.unwrap_or_default(), encoding);
        let converted = text.as_deref().map_err(Clone::clone).and_then(|text| match cell {
            Some(_) => convert(text),
            None => Ok(Cow::default()),
        });
        let converted = converted.unwrap_or_else(|failure| {
            failed.push((row, failure));
            Cow::default()
        });
        column.push(&converted)?;
    }
    Ok(column)
}

fn decoded(bytes: &[u8], encoding: Encoding) -> Result<Cow<'_, str>> {
    if let Encoding::Narrow(narrow) = encoding {
        let text = narrow.decode(bytes);
        return text.ok_or_else(|| bad_value(&format!("the text is not {}", narrow.name())));
    }
    let (units, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Failure::new(State::BUFFER_LENGTH, "UTF-16 text has an odd number of bytes"));
    }
    let mut text = String::with_capacity(bytes.len() / 2);
    for character in char::decode_utf16(units.iter().map(|&unit| u16::from_ne_bytes(unit))) {
        text.push(character.map_err(|_| bad_value("the text has half of a surrogate pair"))?);
    }
    Ok(Cow::Owned(text))
}

/// For binary SQL types, two characters are a byte.
fn hexadecimal(text: &str) -> Result<Cow<'_, [u8]>> {
    binary::from_hex(text.as_bytes()).map(Cow::Owned).ok_or_else(|| malformed("pairs of hexadecimal digits"))
}

fn truth(text: &str) -> Result<bool> {
    match text.trim_matches(' ') {
        text if text.eq_ignore_ascii_case("true") => Ok(true),
        text if text.eq_ignore_ascii_case("false") => Ok(false),
        text => truth_of_float(float::parse(text).map_err(|failure| match failure.state {
            State::OUT_OF_RANGE => failure,
            _ => malformed("a truth value"),
        })?),
    }
}

/// The failure of text that is not what the parameter takes.
pub(super) fn malformed(wanted: &str) -> Failure {
    bad_value(&format!("the text is not {wanted}"))
}

fn bad_value(message: &str) -> Failure {
    Failure::new(State::BAD_CHARACTER_VALUE, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::NarrowEncoding;
    use crate::text::testing::win1251;

    #[test]
    fn numbers_and_words_are_truth_values() {
        let truth = |text| truth(text).map_err(|failure| failure.state);
        for (text, value) in
            [("1", true), ("0", false), (" TRUE ", true), ("False", false), ("1.0", true), ("-0", false)]
        {
            assert_eq!(truth(text), Ok(value), "{text}");
        }
        assert_eq!(truth("0.5"), Err(State::TOO_LONG));
        assert_eq!(
            (truth("2"), truth("-1"), truth("1e999")),
            ([(); 3]).map(|()| Err(State::OUT_OF_RANGE)).into()
        );
        for text in ["", "yes", "unknown", "truefalse", "nan"] {
            assert_eq!(truth(text), Err(State::BAD_CHARACTER_VALUE), "{text}");
        }
    }

    #[test]
    fn text_is_decoded_strictly() {
        let wide = |text: &[u16]| text.iter().flat_map(|unit| unit.to_ne_bytes()).collect::<Vec<u8>>();
        let (utf8, page) =
            (Encoding::Narrow(NarrowEncoding::Utf8), Encoding::Narrow(NarrowEncoding::Page(win1251())));
        let decoded = |bytes: &[u8], encoding| {
            decoded(bytes, encoding).map(Cow::into_owned).map_err(|failure| failure.state)
        };
        assert_eq!(decoded("ä€😀\0".as_bytes(), utf8), Ok("ä€😀\0".into()));
        assert_eq!(decoded(&wide(&[0xE4, 0xD83D, 0xDE00, 0]), Encoding::Wide), Ok("ä😀\0".into()));
        assert_eq!(decoded(&[0xC3], utf8), Err(State::BAD_CHARACTER_VALUE));
        assert_eq!(decoded(b"\xC4a", page), Ok("Дa".into()));
        assert_eq!(decoded(b"\x98", page), Err(State::BAD_CHARACTER_VALUE));
        for lone in [&[0xD83D][..], &[0xDE00], &[0xDE00, 0xD83D], &[0x61, 0xD83D, 0x61]] {
            assert_eq!(decoded(&wide(lone), Encoding::Wide), Err(State::BAD_CHARACTER_VALUE), "{lone:?}");
        }
        assert_eq!(decoded(&[0x61, 0, 0x62], Encoding::Wide), Err(State::BUFFER_LENGTH));
    }
}
