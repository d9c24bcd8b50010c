//! Connection strings and options.

use crate::{error, options};
use firearrow::Config;
use firearrow::config::{ConfigError, Target};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};

/// Reads a URL, DSN or list of keywords, and the options that come on top. Only the latter may name code to run, because
/// they come from the program itself.
pub(crate) fn read(py: Python<'_>, database: &str, options: &Bound<'_, PyDict>) -> PyResult<Config> {
    Ok(understand(py, database, options)?.0)
}

/// The most rows and bytes that are kept of a result.
type Most = (Option<u64>, Option<u64>);

/// [`read`], and what the text says of results.
fn understand(py: Python<'_>, database: &str, options: &Bound<'_, PyDict>) -> PyResult<(Config, Most)> {
    let wrong = |failed: ConfigError| configuration(py, &failed);
    let env = |name: &str| std::env::var(name).ok();
    let (mut config, others) = Config::parse_for_front_end(database, &env).map_err(wrong)?;
    let mut most = Most::default();
    for (name, value) in others {
        let (slot, option, expected) = match name.replace(['_', '-', ' '], "").as_str() {
            "maxresultrows" => (&mut most.0, "max_result_rows", "a number of rows"),
            "maxresultbytes" => (&mut most.1, "max_result_bytes", "a number of bytes"),
            _ => return Err(wrong(ConfigError::FrontEndOption { name })),
        };
        let number = value.parse().map_err(|_| {
            wrong(ConfigError::InvalidValue {
                option,
                value: value.chars().take(60).collect(),
                expected: expected.into(),
            })
        })?;
        if slot.replace(number).is_some() {
            return Err(wrong(ConfigError::Duplicate(option.into())));
        }
    }
    for (name, value) in options {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let value = text(&name, &value)?;
        config.set(&name, &value).map_err(wrong)?;
    }
    Ok((config, most))
}

/// Refuses what [`read`] and the options of a transaction would refuse, without a connection. Returns the most rows and bytes
/// of results that the text allows.
#[pyfunction]
pub(crate) fn check_options(
    py: Python<'_>,
    database: &str,
    given: &Bound<'_, PyDict>,
    isolation: Option<&str>,
) -> PyResult<Most> {
    let (_, most) = understand(py, database, given)?;
    options::transaction(py, isolation, false, None, None, true)?;
    Ok(most)
}

/// Whether a database is reached through a server, not opened in this process.
#[pyfunction]
pub(crate) fn is_on_server(py: Python<'_>, database: &str, options: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(matches!(read(py, database, options)?.target, Target::Remote { .. }))
}

/// The value of an option as the text that the client reads.
fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(if flag.is_true() { "true" } else { "false" }.to_owned());
    }
    if value.is_instance_of::<PyInt>() {
        // Python refuses to write those with thousands of digits.
        let text =
            value.str().map_err(|_| error::interface(value.py(), format!("{name} is out of range")))?;
        return Ok(text.to_string());
    }
    if value.is_instance_of::<PyFloat>() {
        // Seconds, as everywhere in Python.
        let seconds: f64 = value.extract()?;
        return Ok(format!("{}ms", (seconds * 1000.0).round()));
    }
    let wrong = || {
        let kind = value.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
        error::interface(value.py(), format!("option {name} must be a str, int, float or bool, not {kind}"))
    };
    value.extract().map_err(|_| wrong())
}

fn configuration(py: Python<'_>, failed: &impl std::fmt::Display) -> PyErr {
    error::interface(py, failed.to_string())
}
