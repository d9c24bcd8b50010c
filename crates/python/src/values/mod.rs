//! Python's classes for values, looked up once.

pub(crate) mod clock;
pub(crate) mod number;
pub(crate) mod zone;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A class, or another attribute of a module, that is looked up once.
macro_rules! imported {
    ($($(#[$doc:meta])* $name:ident = $module:literal, $attribute:literal;)+) => { $(
        $(#[$doc])*
        pub(crate) fn $name(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
            static FOUND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            FOUND.import(py, $module, $attribute)
        }
    )+ };
}

imported! {
    /// `decimal.Decimal`.
    decimal = "decimal", "Decimal";
    /// `datetime.date`.
    date = "datetime", "date";
    /// `datetime.time`.
    time = "datetime", "time";
    /// `datetime.datetime`.
    datetime = "datetime", "datetime";
    /// `datetime.timedelta`.
    timedelta = "datetime", "timedelta";
    /// `datetime.timezone`.
    timezone = "datetime", "timezone";
    /// `uuid.UUID`.
    uuid = "uuid", "UUID";
    /// `enum.Enum`.
    enumeration = "enum", "Enum";
    /// `firearrow.blob.BlobId`, the id of a BLOB that was written.
    blob_id = "firearrow.blob", "BlobId";
    /// `firearrow.adapters.adapt`, which makes a parameter of an object of any other class.
    adapt = "firearrow.adapters", "adapt";
}
