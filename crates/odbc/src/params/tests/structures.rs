//! GUIDs, dates and times.

use super::buffers::Parameter;
use super::support::*;
use crate::abi::{c_type, sql_type};
use crate::diagnostics::State;
use arrow::array::*;
use firearrow::Descriptor;

#[test]
fn guids_are_bytes_or_text() {
    let bytes = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 1, 2, 3, 4, 5, 6, 7, 8];
    let text = "01234567-89AB-CDEF-0102-030405060708";
    let guid = [
        &0x0123_4567_u32.to_ne_bytes()[..],
        &0x89AB_u16.to_ne_bytes(),
        &0xCDEF_u16.to_ne_bytes(),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    ];
    let given = parameter(c_type::GUID, VARCHAR, some(&[&guid.concat()]));
    check(given.clone(), StringArray::from(vec![text]), &[]);
    let octets = octets();
    for described in [octets.clone(), described(BLOB)] {
        check(Parameter { described, ..given.clone() }, BinaryArray::from(vec![&bytes[..]]), &[]);
    }
    let as_guid = |described: Descriptor| Parameter {
        sql_type: sql_type::GUID,
        described,
        ..parameter(c_type::CHAR, VARCHAR, texts(&[text, "no GUID"]))
    };
    check(as_guid(octets), BinaryArray::from(vec![&bytes[..]]), &[(1, State::BAD_CHARACTER_VALUE)]);
    check(as_guid(described(VARCHAR)), StringArray::from(vec![text, "no GUID"]), &[]);
}

fn shorts(parts: &[i16]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.to_ne_bytes()).collect()
}

fn timestamp(parts: &[i16], nanos: u32) -> Vec<u8> {
    [shorts(parts), nanos.to_ne_bytes().to_vec()].concat()
}

#[test]
fn structures_for_dates_and_times() {
    let dates = some(&[&shorts(&[1969, 12, 31]), &shorts(&[2023, 2, 29]), &shorts(&[0, 1, 1])]);
    let failed = [(1, State::BAD_DATETIME), (2, State::DATETIME_OVERFLOW)];
    for number in [DATE, TIMESTAMP, VARCHAR, BLOB, NULL] {
        for c_type in [c_type::DATE, c_type::TYPE_DATE] {
            check(parameter(c_type, number, dates.clone()), Date32Array::from(vec![-1]), &failed);
        }
    }
    let times = some(&[&shorts(&[23, 59, 58]), &shorts(&[24, 0, 0])]);
    let failed = [(1, State::BAD_DATETIME)];
    for c_type in [c_type::TIME, c_type::TYPE_TIME] {
        for number in [TIME, TIMESTAMP] {
            let expected = Time64MicrosecondArray::from(vec![86_398_000_000]);
            check(parameter(c_type, number, times.clone()), expected, &failed);
        }
        check(parameter(c_type, VARCHAR, times.clone()), StringArray::from(vec!["23:59:58"]), &failed);
    }
}

#[test]
fn timestamps_are_cut_and_not_rounded() {
    let values = some(&[
        &timestamp(&[1969, 12, 31, 23, 59, 59], 999_999_999),
        &timestamp(&[1970, 1, 2, 0, 0, 0], 0),
        &timestamp(&[1970, 1, 1, 0, 0, 0], 1_000_000_000),
        &timestamp(&[10_000, 1, 1, 0, 0, 0], 0),
        &timestamp(&[1970, 1, 2, 0, 0, 0], 99_999),
    ]);
    let failed = [(2, State::BAD_DATETIME), (3, State::DATETIME_OVERFLOW)];
    let day = 86_400_000_000;
    for c_type in [c_type::TIMESTAMP, c_type::TYPE_TIMESTAMP] {
        let given = |number| parameter(c_type, number, values.clone());
        check(given(TIMESTAMP), TimestampMicrosecondArray::from(vec![-100, day, day]), &failed);
        check(given(TIME), Time64MicrosecondArray::from(vec![day - 100, 0, 0]), &failed);
        let with_time =
            [&[(0, State::DATETIME_OVERFLOW)][..], &failed, &[(4, State::DATETIME_OVERFLOW)]].concat();
        check(given(DATE), Date32Array::from(vec![1]), &with_time);
        let expected = vec!["1969-12-31 23:59:59.9999", "1970-01-02 00:00:00", "1970-01-02 00:00:00"];
        check(given(VARCHAR), StringArray::from(expected), &failed);
    }
}
