//! Options of transactions and of results.

use crate::error;
use firearrow::arrow::{DecimalPrecision, Int128As, TimestampTzAs, TimetzAs};
use firearrow::{Isolation, LockResolution, ReadOptions, TransactionOptions};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use std::time::Duration;

/// A number from Python that is in the range of the type.
pub(crate) struct Bounded<T>(pub(crate) T);

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Bounded<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        object.extract::<T>().map(Self).map_err(|failed| {
            let (py, failed) = (object.py(), failed.into());
            match failed.is_instance_of::<PyOverflowError>(py) {
                true => error::programming(py, format!("{} is out of range", shown(&object))),
                false => failed,
            }
        })
    }
}

/// A number for a message, cut off if it is long.
fn shown(number: &Bound<'_, PyAny>) -> String {
    number.str().map_or_else(|_| "the number".to_owned(), |text| text.to_string().chars().take(40).collect())
}

/// Seconds of Python.
pub(crate) fn duration(py: Python<'_>, seconds: f64) -> PyResult<Duration> {
    let wrong =
        |_| error::programming(py, format!("invalid time limit: {seconds} s; pass None for no limit"));
    Duration::try_from_secs_f64(seconds).map_err(wrong)
}

/// Returns the options of a transaction. `lock_timeout` is in seconds: 0 = fail at once, `None` = wait.
pub(crate) fn transaction(
    py: Python<'_>,
    isolation: Option<&str>,
    read_only: bool,
    lock_timeout: Option<Bounded<f64>>,
    snapshot: Option<Bounded<u64>>,
    has_firebird4: bool,
) -> PyResult<TransactionOptions> {
    let isolation = match isolation.map(|name| name.to_ascii_lowercase().replace(['-', ' '], "_")).as_deref()
    {
        None | Some("snapshot" | "concurrency" | "repeatable_read") => Isolation::Snapshot,
        Some("read_committed") if has_firebird4 => Isolation::ReadCommittedReadConsistency,
        Some("read_committed" | "read_committed_record_version") => Isolation::ReadCommittedRecordVersion,
        Some("read_committed_no_record_version") => Isolation::ReadCommittedNoRecordVersion,
        Some("read_committed_read_consistency") => Isolation::ReadCommittedReadConsistency,
        Some("snapshot_table_stability" | "consistency" | "serializable") => {
            Isolation::SnapshotTableStability
        }
        Some(other) => {
            return Err(error::programming(
                py,
                format!(
                    "there is no isolation level '{other}'; the levels are snapshot, read_committed, \
                     read_committed_record_version, read_committed_no_record_version, \
                     read_committed_read_consistency and snapshot_table_stability"
                ),
            ));
        }
    };
    let lock = match lock_timeout.map(|seconds| seconds.0) {
        None => LockResolution::Wait,
        Some(0.0) => LockResolution::NoWait,
        Some(seconds) if seconds > 0.0 && seconds <= 32767.0 => {
            // The engine counts whole seconds.
            LockResolution::Timeout(seconds.ceil() as u16)
        }
        Some(seconds) => {
            return Err(error::programming(
                py,
                format!("a lock timeout of {seconds} s: it must be 0 to 32767 s; None waits indefinitely"),
            ));
        }
    };
    let options = TransactionOptions::default().isolation(isolation).lock_resolution(lock);
    Ok(options.read_only(read_only).at_snapshot(snapshot.map(|number| number.0)))
}

/// How rows are read that become Python objects: without loss. Arrow's defaults keep fewer digits, and no time zone.
pub(crate) fn for_rows(options: &ReadOptions) -> ReadOptions {
    options
        .clone()
        .int128(Int128As::Decimal256)
        .decimal_precision(DecimalPrecision::Range)
        .decfloat(firearrow::arrow::DecfloatAs::Utf8)
        .timestamptz(TimestampTzAs::Utf8)
        .timetz(TimetzAs::Utf8)
}
