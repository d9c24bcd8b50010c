//! Connection strings and options.

use crate::{error, options};
use firearrow::Config;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};

/// Reads a URL, DSN or list of keywords, and the options that come on top. Only the latter may name code to run, because
/// they come from the program itself.
pub(crate) fn read(py: Python<'_>, database: &str, options: &Bound<'_, PyDict>) -> PyResult<Config> {
    let mut config = Config::parse(database).map_err(|failed| configuration(py, &failed))?;
    for (name, value) in options {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let value = text(&name, &value)?;
        config.set(&name, &value).map_err(|failed| configuration(py, &failed))?;
    }
    Ok(config)
}

/// Refuses what [`read`] and the options of a transaction would refuse, without a connection.
#[pyfunction]
pub(crate) fn check_options(
    py: Python<'_>,
    database: &str,
    given: &Bound<'_, PyDict>,
    isolation: Option<&str>,
) -> PyResult<()> {
    read(py, database, given)?;
    options::transaction(py, isolation, false, None, None, true).map(drop)
}

/// The value of an option as the text that the client reads.
fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(if flag.is_true() { "true" } else { "false" }.to_owned());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_string());
    }
    if value.is_instance_of::<PyFloat>() {
        // Seconds, as everywhere in Python.
        let seconds: f64 = value.extract()?;
        return Ok(format!("{}ms", (seconds * 1000.0).round()));
    }
    let wrong = || PyTypeError::new_err(format!("option {name} must be a str, int, float or bool"));
    value.extract().map_err(|_| wrong())
}

fn configuration(py: Python<'_>, failed: &impl std::fmt::Display) -> PyErr {
    error::interface(py, failed.to_string())
}
