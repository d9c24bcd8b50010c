//! Dates and times.

use super::{date, datetime, time};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// `date.toordinal` of 1970-01-01.
pub(crate) const EPOCH: i64 = 719_163;
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The most days that are kept.
const KEPT: usize = 1024;

/// Days that were made before: results mostly have the same ones again and again, and a Python object for each costs more than
/// everything else of a value.
#[derive(Default)]
pub(crate) struct Days(Vec<Option<(i32, Py<PyAny>)>>);

impl Days {
    /// For a column of so many rows.
    pub(crate) fn new(rows: usize) -> Self {
        // One or two are not worth the room.
        let room = if rows < 8 { 0 } else { rows.next_power_of_two().min(KEPT) };
        Self((0..room).map(|_| None).collect())
    }

    /// A day, counted from 1970.
    pub(crate) fn day<'py>(&mut self, py: Python<'py>, days: i32) -> PyResult<Bound<'py, PyAny>> {
        let place = days as usize & self.0.len().wrapping_sub(1);
        let Some(known) = self.0.get_mut(place) else { return day(py, days) };
        if let Some((_, object)) = known.as_ref().filter(|(known, _)| *known == days) {
            return Ok(object.bind(py).clone());
        }
        let made = day(py, days)?;
        *known = Some((days, made.clone().unbind()));
        Ok(made)
    }
}

fn day<'py>(py: Python<'py>, days: i32) -> PyResult<Bound<'py, PyAny>> {
    static FROM_ORDINAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make =
        FROM_ORDINAL.get_or_try_init(py, || Ok::<_, PyErr>(date(py)?.getattr("fromordinal")?.unbind()))?;
    make.bind(py).call1((i64::from(days) + EPOCH,))
}

/// A time of day, in microseconds.
pub(crate) fn time_of_day<'py>(py: Python<'py>, micros: i64) -> PyResult<Bound<'py, PyAny>> {
    let (hour, minute, second, micro) = split(micros);
    time(py)?.call1((hour, minute, second, micro))
}

/// A day and a time of day, in microseconds from 1970.
pub(crate) fn moment<'py>(py: Python<'py>, micros: i64) -> PyResult<Bound<'py, PyAny>> {
    let (year, month, day) = civil(micros.div_euclid(DAY));
    let (hour, minute, second, micro) = split(micros.rem_euclid(DAY));
    datetime(py)?.call1((year, month, day, hour, minute, second, micro))
}

/// Hours, minutes, seconds and microseconds.
pub(crate) fn split(micros: i64) -> (i64, i64, i64, i64) {
    let seconds = micros / SECOND;
    (seconds / 3600, seconds / 60 % 60, seconds % 60, micros % SECOND)
}

/// Year, month and day of a day that is counted from 1970.
fn civil(days: i64) -> (i32, u32, u32) {
    // This type has all days that Firebird has.
    let date = i32::try_from(days).ok().and_then(firearrow::Date::from_unix_days);
    date.map_or((0, 0, 0), |date| (date.year(), date.month(), date.day()))
}
