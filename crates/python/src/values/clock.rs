//! Dates and times.

use super::{date, datetime, time};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::OnceLock;

/// `date.toordinal` of 1970-01-01.
pub(crate) const EPOCH: i64 = 719_163;
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// 1900-01-01, counted from 1970.
const FIRST: i32 = -25_567;
/// Days that are kept together, and how many times: up to 2101.
const TOGETHER: usize = 512;
const PIECES: usize = 144;

type Piece = [PyOnceLock<Py<PyAny>>; TOGETHER];

/// Days of these two centuries, each made once: to make one takes longer than everything else of a value.
static KNOWN: [OnceLock<Box<Piece>>; PIECES] = [const { OnceLock::new() }; PIECES];

/// A day, counted from 1970.
pub(crate) fn day<'py>(py: Python<'py>, days: i32) -> PyResult<Bound<'py, PyAny>> {
    let place = days.wrapping_sub(FIRST) as usize;
    let Some(piece) = KNOWN.get(place / TOGETHER) else { return new_day(py, days) };
    let piece = piece.get_or_init(|| Box::new([const { PyOnceLock::new() }; TOGETHER]));
    let known =
        piece[place % TOGETHER].get_or_try_init(py, || Ok::<_, PyErr>(new_day(py, days)?.unbind()))?;
    Ok(known.bind(py).clone())
}

fn new_day<'py>(py: Python<'py>, days: i32) -> PyResult<Bound<'py, PyAny>> {
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
