//! Values that are supplied at execution.

use super::support::*;
use crate::abi::{self, Len, SmallInt, c_type};
use crate::diagnostics::{Result, State};
use crate::params::{Binding, Pieces, Source, Supplied, read};
use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use proptest::prelude::*;
use std::ptr;

static AT_EXECUTION: Len = abi::DATA_AT_EXEC;

/// A parameter whose value comes at execution, in all sets.
fn binding(c_type: SmallInt) -> Binding {
    Binding {
        number: 1,
        c_type,
        sql_type: 12,
        digits: 0,
        scale: 0,
        // A token, not an address.
        data: ptr::without_provenance(1),
        data_step: 0,
        length: &raw const AT_EXECUTION,
        indicator: &raw const AT_EXECUTION,
        length_step: 0,
        narrow: crate::text::NarrowEncoding::Utf8,
    }
}

fn put(pieces: &mut Pieces, c_type: SmallInt, bytes: &[u8], length: Len) -> Result<(), State> {
    // SAFETY: lengths are at most those of the bytes, which otherwise have a terminator.
    unsafe { pieces.put(&binding(c_type), bytes.as_ptr(), length) }.map_err(|failure| failure.state)
}

/// The text that these pieces are together.
fn joined<'a>(c_type: SmallInt, given: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut supplied = Supplied::default();
    for piece in given {
        put(supplied.pieces(0, 0), c_type, piece, piece.len() as Len).expect("it is a piece");
    }
    let source = Source { supplied: &supplied, sets: &[0], is_call: false };
    // SAFETY: the value is supplied.
    let read = unsafe { read(&[binding(c_type)], source, &[described(VARCHAR)]) }.expect("it is text");
    assert_eq!(read.failed, []);
    read.batch.column(0).as_string::<i32>().value(0).to_owned()
}

proptest! {
    #[test]
    fn pieces_may_end_anywhere(text in ".{0,20}", sizes in prop::collection::vec(1..7_usize, 1..40)) {
        for (c_type, bytes) in [(c_type::CHAR, text.clone().into_bytes()), (c_type::WCHAR, wide(&text))] {
            let (mut pieces, mut rest) = (vec![&b""[..]], bytes.as_slice());
            for size in sizes.iter().cycle() {
                let (piece, after) = rest.split_at(rest.len().min(*size));
                (rest, _) = (after, pieces.push(piece));
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(&joined(c_type, pieces), &text);
        }
    }
}

#[test]
fn pieces_may_have_terminators() {
    let mut pieces = Pieces::default();
    assert_eq!(put(&mut pieces, c_type::CHAR, b"ab\0", abi::NTS), Ok(()));
    assert_eq!(put(&mut pieces, c_type::CHAR, b"cd\0", abi::NTS), Ok(()));
    assert_eq!(pieces, Pieces::Bytes(b"abcd".to_vec()));
    let text = wide("aé");
    let mut pieces = Pieces::default();
    assert_eq!(put(&mut pieces, c_type::WCHAR, &text, 3), Ok(()));
    // The rest of the code unit, then whole ones.
    let rest = [&text[3..], &wide("b\0")].concat();
    assert_eq!(put(&mut pieces, c_type::WCHAR, &rest, abi::NTS), Ok(()));
    assert_eq!(pieces, Pieces::Bytes(wide("aéb")));
}

#[test]
fn null_is_not_a_piece() {
    let mut pieces = Pieces::default();
    assert_eq!(put(&mut pieces, c_type::CHAR, b"", abi::NULL_DATA), Ok(()));
    assert_eq!(pieces, Pieces::Null);
    assert_eq!(put(&mut pieces, c_type::CHAR, b"a", 1), Err(State::NULL_PIECE));
    assert_eq!(put(&mut pieces, c_type::CHAR, b"", abi::NULL_DATA), Err(State::NULL_PIECE));
    let mut pieces = Pieces::default();
    assert_eq!(put(&mut pieces, c_type::CHAR, b"a", 1), Ok(()));
    assert_eq!(put(&mut pieces, c_type::CHAR, b"", abi::NULL_DATA), Err(State::NULL_PIECE));
    assert_eq!(pieces, Pieces::Bytes(b"a".to_vec()));
}

#[test]
fn numbers_come_in_one_piece() {
    let mut pieces = Pieces::default();
    // The length of a number does not matter.
    assert_eq!(put(&mut pieces, c_type::SLONG, &7_i32.to_ne_bytes(), 0), Ok(()));
    assert_eq!(put(&mut pieces, c_type::SLONG, &7_i32.to_ne_bytes(), 4), Err(State::PIECES));
    assert_eq!(pieces, Pieces::Bytes(7_i32.to_ne_bytes().to_vec()));
}

#[test]
fn impossible_pieces_change_nothing() {
    for c_type in [c_type::CHAR, c_type::BINARY, c_type::SLONG] {
        for (length, state) in [
            (abi::DATA_AT_EXEC, State::BUFFER_LENGTH),
            (abi::NO_TOTAL, State::BUFFER_LENGTH),
            (Len::MIN, State::BUFFER_LENGTH),
            (abi::DEFAULT_PARAM, State::DEFAULT_PARAMETER),
        ] {
            let mut pieces = Pieces::default();
            assert_eq!(put(&mut pieces, c_type, b"abcd", length), Err(state), "{length}");
            assert_eq!(pieces, Pieces::Missing);
        }
        for length in [1, abi::NTS] {
            let mut pieces = Pieces::default();
            // SAFETY: NULL is not read.
            let result = unsafe { pieces.put(&binding(c_type), ptr::null(), length) };
            assert_eq!(result.map_err(|failure| failure.state), Err(State::NULL_POINTER));
            assert_eq!(pieces, Pieces::Missing);
        }
    }
}

#[test]
fn each_set_has_its_own_value() {
    let mut supplied = Supplied::default();
    put(supplied.pieces(0, 0), c_type::SLONG, &7_i32.to_ne_bytes(), 4).expect("it is a number");
    put(supplied.pieces(1, 0), c_type::SLONG, b"", abi::NULL_DATA).expect("it is NULL");
    put(supplied.pieces(3, 0), c_type::SLONG, &(-9_i32).to_ne_bytes(), 4).expect("it is a number");
    put(supplied.pieces(4, 0), c_type::CHAR, b"x", 1).expect("it is text");
    let source = Source { supplied: &supplied, sets: &[0, 1, 2, 3, 4], is_call: false };
    // SAFETY: the values are supplied.
    let read =
        unsafe { read(&[binding(c_type::SLONG)], source, &[described(INTEGER)]) }.expect("it can be read");
    let column = read.batch.column(0).as_primitive::<Int32Type>();
    assert_eq!(column.iter().collect::<Vec<_>>(), [Some(7), None, Some(-9)]);
    assert_eq!(read.sets, [0, 1, 3]);
    let failed: Vec<_> = read.failed.iter().map(|(set, failure)| (*set, failure.state)).collect();
    // Nothing for set 2, and not a number for set 4.
    assert_eq!(failed, [(2, State::SEQUENCE), (4, State::SEQUENCE)]);
}

#[test]
fn an_empty_piece_is_an_empty_value() {
    assert_eq!(joined(c_type::CHAR, [&b""[..]]), "");
    assert_eq!(joined(c_type::WCHAR, [&b""[..], b""]), "");
}
