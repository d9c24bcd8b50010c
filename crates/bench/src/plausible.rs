//! Whether figures that another process tells of itself can be true.

use crate::error::{Error, Result};
use std::thread;
use std::time::Duration;

/// Phases cannot take longer than it took to get them, and none is negative. Returns their sum, in seconds.
///
/// # Errors
/// If they cannot be true.
pub fn phases(seen: Duration, phases: impl IntoIterator<Item = f64>) -> Result<f64> {
    let seen = seen.as_secs_f64();
    let (mut told, mut are_times) = (0.0, true);
    for phase in phases {
        told += phase;
        are_times &= phase.is_finite() && phase >= 0.0;
    }
    match are_times && told <= seen * 1.02 + 0.02 {
        true => Ok(told),
        false => Err(Error::other(format!("it took {seen:.3} s, and its clock says {told:.3} s"))),
    }
}

/// The processors of this machine could have spent that much time.
///
/// # Errors
/// If nobody can have used so much processor time, or it is negative.
pub fn processor_time(seen: Duration, told: f64) -> Result<()> {
    let seen = seen.as_secs_f64();
    // One more than there seem to be: quotas are averages.
    let processors = thread::available_parallelism().map_or(1, usize::from) + 1;
    match (0.0..=seen * 1.02 * processors as f64 + 0.1).contains(&told) {
        true => Ok(()),
        false => Err(Error::other(format!("it took {seen:.3} s, and says {told:.3} s of processor time"))),
    }
}

/// Executing takes a system call, and no row comes out of nothing.
///
/// # Errors
/// If so many rows cannot have come in so short a time.
pub fn rows(rows: u64, seconds: f64) -> Result<()> {
    match seconds < LEAST_S + LEAST_OF_A_ROW_S * rows as f64 {
        true => Err(Error::other(format!("its clock says {seconds:.1e} s for {rows} rows"))),
        false => Ok(()),
    }
}

/// Nobody moves so many bytes in so short a time, or waits for so many answers.
///
/// # Errors
/// If the traffic cannot be that of a process that was seen to take this long.
pub fn traffic(seen: Duration, bytes: [u64; 2], round_trips: u64) -> Result<()> {
    let seconds = seen.as_secs_f64();
    let most = seconds * MOST_BYTES_PER_S + (1 << 20) as f64;
    for bytes in bytes {
        if bytes as f64 > most {
            return Err(Error::other(format!("it took {seconds:.3} s, and says {bytes} bytes of traffic")));
        }
    }
    match round_trips as f64 > seconds * MOST_TRIPS_PER_S + SOME_TRIPS {
        true => Err(Error::other(format!("it took {seconds:.3} s, and says {round_trips} round trips"))),
        false => Ok(()),
    }
}

/// No machine that this runs on has more.
///
/// # Errors
/// If a process says that it has used more memory.
pub fn memory(bytes: u64) -> Result<()> {
    match bytes > MOST_MEMORY {
        true => Err(Error::other(format!("it says {bytes} bytes of memory"))),
        false => Ok(()),
    }
}

/// 64 GiB/s: more than memory gives one process.
const MOST_BYTES_PER_S: f64 = (1_u64 << 36) as f64;
const MOST_TRIPS_PER_S: f64 = 1e6;
/// For what takes no time that a clock shows.
const SOME_TRIPS: f64 = 1000.0;
/// 16 TiB.
const MOST_MEMORY: u64 = 1 << 44;
const LEAST_S: f64 = 1e-6;
const LEAST_OF_A_ROW_S: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_true_is_found() {
        let second = Duration::from_secs(1);
        assert_eq!(phases(second, [0.25, 0.5]).unwrap(), 0.75);
        for wrong in [&[0.5, 0.6][..], &[-0.1, 0.5], &[f64::NAN], &[f64::INFINITY]] {
            assert!(phases(second, wrong.iter().copied()).is_err(), "{wrong:?}");
        }
        processor_time(second, 0.9).unwrap();
        for wrong in [-0.1, 1e6, f64::NAN] {
            assert!(processor_time(second, wrong).is_err(), "{wrong}");
        }
        rows(1_000_000, 0.002).unwrap();
        rows(0, 1e-5).unwrap();
        traffic(second, [1 << 36, 0], 1_000_000).unwrap();
        traffic(Duration::ZERO, [1 << 20; 2], 1000).unwrap();
        for (bytes, trips) in [([1 << 37, 0], 0), ([0, u64::MAX], 0), ([0; 2], 2_000_000), ([0; 2], u64::MAX)]
        {
            assert!(traffic(second, bytes, trips).is_err(), "{bytes:?} {trips}");
        }
        memory(1 << 44).unwrap();
        assert!(memory((1 << 44) + 1).is_err());
        for (count, seconds) in [(0, 0.0), (1_000_000, 1e-5), (1, 1e-9)] {
            assert!(rows(count, seconds).is_err(), "{count} in {seconds}");
        }
    }
}
