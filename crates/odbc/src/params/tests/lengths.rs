//! Lengths, indicators and pointers, also impossible ones.

use super::buffers::{Buffers, Layout};
use super::support::*;
use crate::abi::{self, Len, c_type};
use crate::diagnostics::{Failure, State};
use crate::params::{Binding, Given, Read, Source, Supplied, given, read};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int32Type};
use std::ptr;

fn binding(c_type: i16, length: Option<&Len>, indicator: Option<&Len>) -> Binding {
    let pointer = |len: Option<&Len>| len.map_or(ptr::null(), ptr::from_ref);
    Binding {
        number: 1,
        c_type,
        sql_type: 12,
        digits: 0,
        scale: 0,
        data: c"abc".as_ptr().cast(),
        data_step: 4,
        length: pointer(length),
        indicator: pointer(indicator),
        length_step: 8,
        narrow: crate::text::NarrowEncoding::Utf8,
    }
}

/// Reads sets of a binding for a parameter.
fn read_sets(binding: &Binding, number: u16, sets: &[usize], is_call: bool) -> Result<Read, Failure> {
    let supplied = Supplied::default();
    let source = Source { supplied: &supplied, sets, is_call };
    // SAFETY: the tests' buffers have these sets, or fail before they are read.
    unsafe { read(std::slice::from_ref(binding), source, &[described(number)]) }
}

fn states(read: &Read) -> Vec<State> {
    read.failed.iter().map(|(_, failure)| failure.state).collect()
}

#[test]
fn indicators_say_what_is_given() {
    let given = |length: Option<&Len>, indicator: Option<&Len>| {
        // SAFETY: there is one set.
        unsafe { given(&binding(c_type::CHAR, length, indicator), 0) }.map_err(|failure| failure.state)
    };
    let value = Ok(Given::Value);
    for (length, expected) in [
        (0, value),
        (Len::MAX, value),
        (abi::NTS, value),
        (abi::NULL_DATA, Ok(Given::Null)),
        (abi::DEFAULT_PARAM, Ok(Given::Default)),
        (abi::DATA_AT_EXEC, Ok(Given::AtExecution(None))),
        (-100, Ok(Given::AtExecution(Some(0)))),
        (-105, Ok(Given::AtExecution(Some(5)))),
        (Len::MIN, Ok(Given::AtExecution(Some(Len::MAX as usize - 99)))),
        (abi::NO_TOTAL, Err(State::BUFFER_LENGTH)),
        (abi::COLUMN_IGNORE, Err(State::BUFFER_LENGTH)),
        (-7, Err(State::BUFFER_LENGTH)),
        (-99, Err(State::BUFFER_LENGTH)),
    ] {
        assert_eq!(given(Some(&length), Some(&length)), expected, "{length}");
        assert_eq!(given(Some(&length), None), expected, "{length}");
        assert_eq!(given(None, Some(&length)), expected, "{length}");
        assert_eq!(given(Some(&length), Some(&0)), expected, "{length}");
        assert_eq!(given(Some(&length), Some(&abi::NULL_DATA)), Ok(Given::Null), "{length}");
    }
    assert_eq!(given(None, None), value);
}

#[test]
fn without_a_length_values_end_at_their_terminator() {
    let text = read_sets(&binding(c_type::CHAR, None, None), VARCHAR, &[0], false).expect("it is text");
    assert_eq!(text.batch.column(0).as_string::<i32>().value(0), "abc");
    let binary = read_sets(&binding(c_type::BINARY, None, None), BLOB, &[0], false).expect("it is binary");
    assert_eq!(binary.batch.column(0).as_binary::<i32>().value(0), b"abc");
    // Only the indicator of NULL matters of an indicator by itself.
    let text = read_sets(&binding(c_type::CHAR, None, Some(&1)), VARCHAR, &[0], false).expect("it is text");
    assert_eq!(text.batch.column(0).as_string::<i32>().value(0), "abc");
    let length = 2;
    let text =
        read_sets(&binding(c_type::CHAR, Some(&length), None), VARCHAR, &[0], false).expect("it is text");
    assert_eq!(text.batch.column(0).as_string::<i32>().value(0), "ab");
}

#[test]
fn lengths_of_numbers_do_not_matter() {
    for length in [0, 1, 99, abi::NTS] {
        let number = binding(c_type::SLONG, Some(&length), None);
        let read = read_sets(&number, INTEGER, &[0], false).expect("it is a number");
        let expected = i32::from_ne_bytes(*b"abc\0");
        assert_eq!(read.batch.column(0).as_primitive::<Int32Type>().values(), &[expected], "{length}");
    }
}

#[test]
fn impossible_lengths_fail_alone() {
    for (c_type, number) in [(c_type::CHAR, VARCHAR), (c_type::SLONG, INTEGER)] {
        let lengths: [Len; 5] = [1, -7, abi::NULL_DATA, abi::NO_TOTAL, 2];
        let binding = Binding { data_step: 0, ..binding(c_type, Some(&lengths[0]), None) };
        let read = read_sets(&binding, number, &[0, 1, 2, 3, 4], false).expect("it can be read");
        assert_eq!((&read.sets[..], read.batch.num_rows()), (&[0, 2, 4][..], 3));
        assert_eq!(read.batch.column(0).null_count(), 1);
        assert_eq!(states(&read), [State::BUFFER_LENGTH; 2]);
        let places: Vec<_> =
            read.failed.iter().map(|(set, failure)| (*set, failure.row, failure.column)).collect();
        assert_eq!(places, [(1, Some(2), Some(1)), (3, Some(4), Some(1))]);
    }
}

#[test]
fn null_pointers_are_no_values() {
    for (c_type, number) in [(c_type::CHAR, VARCHAR), (c_type::WCHAR, INTEGER), (c_type::SLONG, INTEGER)] {
        for length in [None, Some(&4), Some(&abi::NTS)] {
            let binding = Binding { data: ptr::null(), ..binding(c_type, length, length) };
            let read = read_sets(&binding, number, &[0], false).expect("it fails by itself");
            assert_eq!(states(&read), [State::NULL_POINTER], "{c_type}");
        }
        let null = Binding { data: ptr::null(), ..binding(c_type, Some(&abi::NULL_DATA), None) };
        let read = read_sets(&null, number, &[0], false).expect("it is NULL");
        assert_eq!((read.batch.column(0).null_count(), read.failed), (1, vec![]));
    }
    let empty = Binding { data: ptr::null(), ..binding(c_type::CHAR, Some(&0), None) };
    let read = read_sets(&empty, VARCHAR, &[0], false).expect("it is empty text");
    assert_eq!(read.batch.column(0).as_string::<i32>().value(0), "");
}

#[test]
fn sets_beyond_the_address_space_fail() {
    let lengths = [0; 1];
    for c_type in [c_type::CHAR, c_type::SLONG] {
        for (data_step, length_step) in [(usize::MAX, 0), (0, usize::MAX), (usize::MAX / 2, usize::MAX / 2)] {
            let binding = Binding { data_step, length_step, ..binding(c_type, Some(&lengths[0]), None) };
            let read = read_sets(&binding, INTEGER, &[usize::MAX], false).expect("it fails by itself");
            assert_eq!(states(&read), [State::BUFFER_LENGTH], "{data_step} {length_step}");
            assert_eq!(read.failed[0].0, usize::MAX);
        }
    }
}

#[test]
fn defaults_are_refused() {
    let default = binding(c_type::CHAR, Some(&abi::DEFAULT_PARAM), None);
    for (is_call, state) in [(false, State::DEFAULT_PARAMETER), (true, State::NOT_IMPLEMENTED)] {
        let read = read_sets(&default, VARCHAR, &[0], is_call).expect("it fails by itself");
        assert_eq!(states(&read), [state]);
    }
}

#[test]
fn null_goes_into_any_parameter() {
    for number in [VARCHAR, INTEGER, DOUBLE, DECFLOAT, BOOLEAN, DATE, TIME, TIMESTAMP, BLOB, ARRAY, NULL] {
        for c_type in
            [c_type::CHAR, c_type::BINARY, c_type::GUID, c_type::SLONG, c_type::TYPE_DATE, 101, 4711]
        {
            let null = binding(c_type, Some(&abi::NULL_DATA), None);
            let read = read_sets(&null, number, &[0, 0], false).expect("NULL is legal");
            assert_eq!(read.batch.column(0).logical_null_count(), 2, "{c_type} {number}");
        }
    }
    let null = binding(c_type::BINARY, Some(&abi::NULL_DATA), None);
    let read = read_sets(&null, DATE, &[0], false).expect("NULL is legal");
    assert_eq!(read.batch.column(0).data_type(), &DataType::Null);
}

#[test]
fn the_number_of_parameters_matters() {
    let supplied = Supplied::default();
    let sets = [0, 1, 2];
    let source = Source { supplied: &supplied, sets: &sets, is_call: false };
    // SAFETY: nothing is read.
    let failure = unsafe { read(&[], source, &[described(INTEGER)]) }.expect_err("it is not bound");
    assert_eq!(failure.state, State::PARAMETER_COUNT);
    // SAFETY: as above.
    let read =
        unsafe { read(&[binding(c_type::CHAR, None, None)], source, &[]) }.expect("too many are legal");
    assert_eq!((read.batch.num_columns(), read.batch.num_rows()), (0, 3));
    let nothing = Buffers::new(&[parameter(c_type::SLONG, INTEGER, vec![])], Layout::default());
    let read = read_sets(&nothing.bindings[0], INTEGER, &[], false).expect("no set is legal");
    assert_eq!((read.batch.num_columns(), read.batch.num_rows()), (1, 0));
}
