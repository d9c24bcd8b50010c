//! Decimals, and integers beyond 64 bits.

use super::decimal;
use arrow::datatypes::i256;
use pyo3::prelude::*;

/// `decimal.Decimal` of an unscaled number, with exactly these digits after the point, whatever the context's precision.
pub(crate) fn of_i128<'py>(py: Python<'py>, unscaled: i128, scale: i8) -> PyResult<Bound<'py, PyAny>> {
    decimal(py)?.call1((firearrow::Decimal::new(unscaled, scale).to_string(),))
}

/// The same of a wider number.
pub(crate) fn of_i256<'py>(py: Python<'py>, unscaled: i256, scale: i8) -> PyResult<Bound<'py, PyAny>> {
    match unscaled.to_i128() {
        Some(unscaled) => of_i128(py, unscaled, scale),
        None => decimal(py)?.call1((format!("{unscaled}E-{scale}"),)),
    }
}

/// An `int` of any length.
pub(crate) fn integer_of_i256<'py>(py: Python<'py>, value: i256) -> PyResult<Bound<'py, PyAny>> {
    match value.to_i128() {
        Some(value) => Ok(value.into_pyobject(py)?.into_any()),
        None => py.get_type::<pyo3::types::PyInt>().call1((value.to_string(),)),
    }
}
