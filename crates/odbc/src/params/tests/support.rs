//! What most tests begin with.

use crate::abi::{SmallInt, sql_type};
use crate::diagnostics::{Result, State};
use crate::params::tests::buffers::{Buffers, Layout, Parameter};
use crate::params::{Read, Source, Supplied, read};
use arrow::array::{Array, ArrayRef};
use firearrow::Descriptor;
use std::sync::Arc;

/// A parameter as the server describes it, by the number of its type.
pub(super) fn described(number: u16) -> Descriptor {
    let mut descriptor = Descriptor::default();
    descriptor.sql_type.0 = number;
    descriptor
}

pub(super) const VARCHAR: u16 = 448;
pub(super) const DOUBLE: u16 = 480;
pub(super) const FLOAT: u16 = 482;
pub(super) const INTEGER: u16 = 496;
pub(super) const TIMESTAMP: u16 = 510;
pub(super) const BLOB: u16 = 520;
pub(super) const ARRAY: u16 = 540;
pub(super) const TIME: u16 = 560;
pub(super) const DATE: u16 = 570;
pub(super) const BIGINT: u16 = 580;
pub(super) const INT128: u16 = 32752;
pub(super) const DECFLOAT: u16 = 32762;
pub(super) const BOOLEAN: u16 = 32764;
pub(super) const NULL: u16 = 32766;

/// VARCHAR CHARACTER SET OCTETS
pub(super) fn octets() -> Descriptor {
    Descriptor { sql_type: described(VARCHAR).sql_type, sub_type: 1, ..Descriptor::default() }
}

/// A parameter that is bound with the SQL type of `number`'s text.
pub(super) fn parameter(c_type: SmallInt, number: u16, values: Vec<Option<Vec<u8>>>) -> Parameter {
    Parameter {
        c_type,
        sql_type: sql_type::VARCHAR,
        digits: 0,
        scale: 0,
        described: described(number),
        ends_with_zero: false,
        values,
    }
}

pub(super) fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_ne_bytes).collect()
}

/// The column of this parameter's values, and the states of those that failed by their set.
pub(super) fn column(parameter: Parameter) -> Result<(ArrayRef, Vec<(usize, State)>)> {
    let sets: Vec<usize> = (0..parameter.values.len()).collect();
    let buffers = Buffers::new(std::slice::from_ref(&parameter), Layout::default());
    let supplied = Supplied::default();
    let source = Source { supplied: &supplied, sets: &sets, is_call: false };
    // SAFETY: the buffers have all sets.
    let Read { batch, sets, failed } = unsafe { read(&buffers.bindings, source, &[parameter.described]) }?;
    assert_eq!(batch.num_rows(), sets.len());
    assert!(failed.iter().all(|(set, failure)| (failure.row, failure.column) == (Some(set + 1), Some(1))));
    Ok((batch.column(0).clone(), failed.into_iter().map(|(set, failure)| (set, failure.state)).collect()))
}

pub(super) fn some(values: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    values.iter().map(|value| Some(value.to_vec())).collect()
}

pub(super) fn texts(texts: &[&str]) -> Vec<Option<Vec<u8>>> {
    some(&texts.iter().map(|text| text.as_bytes()).collect::<Vec<_>>())
}

/// Compares the good values of a parameter, and the sets that fail.
pub(super) fn check(parameter: Parameter, expected: impl Array + 'static, failed: &[(usize, State)]) {
    let what = format!("{parameter:?}");
    let (array, states) = column(parameter).expect(&what);
    assert_eq!(&array, &(Arc::new(expected) as ArrayRef), "{what}");
    assert_eq!(states, failed, "{what}");
}
