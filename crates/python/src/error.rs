//! Errors as exceptions of PEP 249, which are classes of `firearrow.errors`.

use firearrow::Kind;
use firearrow_driver::{Class, Error};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Returns the exception for an error of the client or the driver layer.
pub(crate) fn of(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error = error.into();
    make(py, name(&error), &error).unwrap_or_else(|failed| failed)
}

/// Returns the exception for something that the caller did wrong.
pub(crate) fn programming(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let error = Error::state(message);
    make(py, "ProgrammingError", &error).unwrap_or_else(|failed| failed)
}

/// Returns the exception for an operation on something that is closed.
pub(crate) fn interface(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let error = Error::state(message);
    make(py, "InterfaceError", &error).unwrap_or_else(|failed| failed)
}

/// Returns the exception for something that cannot be done here.
pub(crate) fn not_supported(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let error = Error::new(Class::Unsupported, message);
    make(py, "NotSupportedError", &error).unwrap_or_else(|failed| failed)
}

/// Returns the exception for a time limit that has passed.
pub(crate) fn timeout(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let error = Error::new(Class::Timeout, message).with_sqlstate("HYT00");
    make(py, "OperationalError", &error).unwrap_or_else(|failed| failed)
}

/// Returns the exception for a result that is larger than the caller allows.
pub(crate) fn too_large(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let error = Error::new(Class::Timeout, message).with_sqlstate("54000");
    let made = make(py, "OperationalError", &error).unwrap_or_else(|failed| failed);
    match made.value(py).setattr("kind", "TooLarge") {
        Ok(()) => made,
        Err(failed) => failed,
    }
}

/// Returns the exception for a value that a parameter or a column of Arrow cannot hold.
pub(crate) fn data(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let error = Error::argument(message);
    make(py, "DataError", &error).unwrap_or_else(|failed| failed)
}

/// Calls `firearrow.errors.make`.
fn make(py: Python<'_>, name: &str, error: &Error) -> PyResult<PyErr> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = MAKE.import(py, "firearrow.errors", "make")?;
    let details = PyDict::new(py);
    for (detail, value) in error.details() {
        details.set_item(detail.name(), value)?;
    }
    let kind = error.client().map(|client| format!("{:?}", client.kind()));
    let made = make.call1((name, error.message(), error.sqlstate(), kind, details))?;
    Ok(PyErr::from_value(made))
}

/// The name of the exception's class.
fn name(error: &Error) -> &'static str {
    let Some(client) = error.client().filter(|_| error.class() == Class::Client) else {
        return match error.class() {
            Class::Cancelled | Class::Timeout | Class::Io => "OperationalError",
            Class::State | Class::Argument | Class::NotFound | Class::Exists => "ProgrammingError",
            Class::Unsupported => "NotSupportedError",
            _ => "InternalError",
        };
    };
    match client.kind() {
        Kind::Configuration | Kind::Misuse => "InterfaceError",
        Kind::Syntax | Kind::Parameter | Kind::Changed | Kind::Permission => "ProgrammingError",
        Kind::Constraint => "IntegrityError",
        Kind::Data => "DataError",
        Kind::Unsupported => "NotSupportedError",
        Kind::Protocol | Kind::Other => "InternalError",
        Kind::Engine => "DatabaseError",
        // The server, the network, the clock, or another transaction.
        _ => "OperationalError",
    }
}

/// What to write in place of SQL of another database; see `firearrow_driver::foreign_sql`.
#[pyfunction]
pub(crate) fn advice_for_sql(message: &str) -> Option<&'static str> {
    firearrow_driver::foreign_sql::advice(message)
}
