//! Days and microseconds as dates and times.

use super::fault::Fault;
use crate::abi::{Date, Time};

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_DAY: i64 = 24 * 60 * 60 * MICROS_PER_SECOND;

/// The date of a day since 1970-01-01.
#[inline]
pub(super) fn date(day: i64) -> Result<Date, Fault> {
    /// Days from 0000-03-01, where the eras of 400 years begin, to 1970-01-01.
    const FROM_ERA: i64 = 719_468;
    /// 0001-01-01 and 9999-12-31.
    const FIRST: i64 = -719_162;
    const LAST: i64 = 2_932_896;
    if !(FIRST..=LAST).contains(&day) {
        return Err(Fault::DatetimeOverflow);
    }
    // Years begin in March here, so that the day of a leap year is their last one.
    let day = (day + FROM_ERA) as u32;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = 400 * era + year_of_era + u32::from(month <= 2);
    Ok(Date { year: year as i16, month: month as u16, day: day as u16 })
}

/// The time of day, and its microseconds.
#[inline]
pub(super) fn time(micros: i64) -> Result<(Time, u32), Fault> {
    if !(0..MICROS_PER_DAY).contains(&micros) {
        return Err(Fault::DatetimeOverflow);
    }
    let seconds = (micros / MICROS_PER_SECOND) as u32;
    let fraction = (micros % MICROS_PER_SECOND) as u32;
    let time = Time {
        hour: (seconds / 3600) as u16,
        minute: (seconds / 60 % 60) as u16,
        second: (seconds % 60) as u16,
    };
    Ok((time, fraction))
}

#[inline]
pub(super) fn date_and_time(micros: i64) -> Result<(Date, Time, u32), Fault> {
    let date = date(micros.div_euclid(MICROS_PER_DAY))?;
    let (time, fraction) = time(micros.rem_euclid(MICROS_PER_DAY))?;
    Ok((date, time, fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(year: i16, month: u16, day: u16) -> Date {
        Date { year, month, day }
    }

    /// Counts the days one by one.
    #[test]
    fn every_date_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1, 1, 1);
        for number in -719_162..=2_932_896 {
            assert_eq!(date(number), Ok(at(year, month, day)), "{number}");
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 if is_leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (year, month, day) = match (month, day == last) {
                (_, false) => (year, month, day + 1),
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
            };
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
        assert_eq!(date(0), Ok(at(1970, 1, 1)));
        assert_eq!(date(-40_587), Ok(at(1858, 11, 17)));
        for beyond in [-719_163, 2_932_897, i64::MIN, i64::MAX] {
            assert_eq!(date(beyond), Err(Fault::DatetimeOverflow));
        }
    }
}
