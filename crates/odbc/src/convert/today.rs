//! The current date.

use super::calendar::date;
use crate::abi::Date;
use crate::platform;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current date: the local one on 64-bit systems, that of UTC on others.
pub(super) fn today() -> Date {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed());
    local(seconds).unwrap_or_else(|| utc(seconds))
}

fn utc(seconds: i64) -> Date {
    date(seconds.div_euclid(24 * 60 * 60)).unwrap_or(Date { year: 1970, month: 1, day: 1 })
}

fn local(seconds: i64) -> Option<Date> {
    let [year, month, day] = platform::local_date(seconds)?;
    let year = i16::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
    Some(Date { year, month: u16::try_from(month).ok()?, day: u16::try_from(day).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No zone is further than 14 hours from UTC.
    #[test]
    fn the_local_date_is_near_that_of_utc() {
        for seconds in [0, 951_782_400, 1_709_164_800, 4_102_444_799] {
            let near = [utc(seconds - 14 * 3600), utc(seconds), utc(seconds + 14 * 3600)];
            assert!(near.contains(&local(seconds).unwrap_or(near[1])), "{seconds}");
        }
        assert_eq!(utc(951_782_400), Date { year: 2000, month: 2, day: 29 });
        assert!(today().year >= 2025);
    }
}
