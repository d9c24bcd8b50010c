//! Dates and times with time zones, from the text that the client makes of them: local time, displacement, and the region if
//! there is one, such as `2024-10-27 02:30:00.0000 +02:00 Europe/Berlin`.

use super::{datetime, time, timedelta, timezone};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// A `datetime` with a `ZoneInfo`, or with a fixed displacement if there is no region or Python does not know it.
pub(crate) fn moment<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut parts = text.split(' ');
    let (Some(date), Some(clock), Some(offset)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(malformed(text));
    };
    let [year, month, day] = numbers(date, '-').ok_or_else(|| malformed(text))?;
    let (hour, minute, second, micro) = clock_of(clock).ok_or_else(|| malformed(text))?;
    let minutes = displacement(offset).ok_or_else(|| malformed(text))?;
    let fixed = fixed(py, minutes)?;
    let local = datetime(py)?.call1((year, month, day, hour, minute, second, micro, &fixed))?;
    match parts.next().map(|name| region(py, name)).transpose()?.flatten() {
        // From the instant, so that of an hour that comes twice, in autumn, it is the right one.
        Some(region) => match local.call_method1("astimezone", (region,)) {
            Ok(moved) => Ok(moved),
            // Near the ends of the calendar, the instant may be out of range in UTC.
            Err(_) => Ok(local),
        },
        None => Ok(local),
    }
}

/// A `time` with a fixed displacement or a region.
pub(crate) fn time_of_day<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let (clock, zone) = text.split_once(' ').ok_or_else(|| malformed(text))?;
    let (hour, minute, second, micro) = clock_of(clock).ok_or_else(|| malformed(text))?;
    let zone = match displacement(zone) {
        Some(minutes) => fixed(py, minutes)?,
        None => region(py, zone)?.ok_or_else(|| malformed(text))?,
    };
    time(py)?.call1((hour, minute, second, micro, zone))
}

fn malformed(text: &str) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(format!("'{text}' is not a time with a zone that Python knows"))
}

/// Numbers between separators.
fn numbers<const N: usize>(text: &str, separator: char) -> Option<[u32; N]> {
    let mut found = [0; N];
    let mut parts = text.split(separator);
    for number in &mut found {
        *number = parts.next()?.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

/// `02:30:00.1234`: hours, minutes, seconds, microseconds.
fn clock_of(text: &str) -> Option<(u32, u32, u32, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let [hour, minute, second] = numbers(whole, ':')?;
    let micro = format!("{fraction:0<6}").parse().ok()?;
    Some((hour, minute, second, micro))
}

/// `+02:00` in minutes.
fn displacement(text: &str) -> Option<i32> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let [hours, minutes] = numbers::<2>(&text[1..], ':')?;
    Some(sign * (hours * 60 + minutes) as i32)
}

/// A `timezone`, made once for each displacement.
fn fixed<'py>(py: Python<'py>, minutes: i32) -> PyResult<Bound<'py, PyAny>> {
    cached(py, &minutes.into_pyobject(py)?.into_any(), || {
        let zone = match minutes {
            0 => timezone(py)?.getattr("utc")?,
            _ => timezone(py)?.call1((timedelta(py)?.call1((0, 0, 0, 0, minutes))?,))?,
        };
        Ok(Some(zone))
    })?
    .ok_or_else(|| malformed(""))
}

/// A `ZoneInfo`; `None` if there is no such region in Python's tables.
fn region<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    cached(py, &name.into_pyobject(py)?.into_any(), || {
        let zone = py.import("zoneinfo")?.getattr("ZoneInfo")?.call1((name,));
        Ok(zone.ok())
    })
}

/// Looks a zone up, or makes it. There are some hundreds of them.
fn cached<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    make: impl FnOnce() -> PyResult<Option<Bound<'py, PyAny>>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static KNOWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let known = KNOWN.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if let Some(zone) = known.get_item(key)? {
        return Ok(Some(zone).filter(|zone| !zone.is_none()));
    }
    let zone = make()?;
    known.set_item(key, zone.as_ref())?;
    Ok(zone)
}
