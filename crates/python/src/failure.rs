//! Errors that occur while the GIL is released.

use crate::error;
use arrow::error::ArrowError;
use firearrow::Error;
use pyo3::prelude::*;

/// An error that becomes an exception later.
pub(crate) enum Failure {
    Client(Error),
    /// Of the driver layer.
    Driver(Box<firearrow_driver::Error>),
    /// The caller did something wrong.
    Programming(&'static str),
    /// The values of the parameters.
    Parameters(String),
    /// Of Arrow data.
    Reader(ArrowError),
    /// A value that its type cannot hold.
    Value(String),
    /// More than the caller wants to keep.
    TooLarge(String),
    Closed,
    OtherProcess,
    Ended,
    /// Something else is closed.
    Interface(&'static str),
    Internal(&'static str),
}

pub(crate) const OTHER_PROCESS: &str =
    "the connection belongs to the process that opened it: open another one after a fork";

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Client(error)
    }
}

impl From<firearrow_driver::Error> for Failure {
    fn from(error: firearrow_driver::Error) -> Self {
        Self::Driver(Box::new(error))
    }
}

impl Failure {
    pub(crate) fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Client(failed) => error::of(py, failed),
            Self::Driver(failed) => error::of(py, *failed),
            Self::Programming(text) => error::programming(py, text),
            Self::Parameters(text) => error::programming(py, text),
            Self::Reader(failed) => error::of(py, failed),
            Self::Value(text) => error::data(py, text),
            Self::TooLarge(text) => error::too_large(py, text),
            Self::OtherProcess => error::interface(py, OTHER_PROCESS),
            Self::Closed => error::interface(py, "the connection is closed"),
            Self::Ended => error::interface(py, "the transaction has ended, or its connection is closed"),
            Self::Interface(text) => error::interface(py, text),
            Self::Internal(text) => pyo3::exceptions::PyRuntimeError::new_err(text),
        }
    }
}
