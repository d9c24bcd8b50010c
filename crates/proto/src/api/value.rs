//! Dates and times: converts Firebird's day and tick counts to plain values and back.
//!
//! | type             | stored as                                                 |
//! |------------------|-----------------------------------------------------------|
//! | DATE             | days since 1858-11-17 in the proleptic Gregorian calendar |
//! | TIME             | ticks of 100 µs since midnight                            |
//! | TIMESTAMP        | both                                                      |
//! | … WITH TIME ZONE | the same in UTC, with the number of the zone              |
//!
//! A value outside the legal range is an error, never another date.

use std::fmt;

/// 0001-01-01, the first day.
pub const MIN_DATE: i32 = -678_575;
/// 9999-12-31, the last day.
pub const MAX_DATE: i32 = 2_973_483;
/// 1970-01-01.
pub const UNIX_EPOCH: i32 = 40_587;
/// Time units in a second.
pub const TICKS_PER_SECOND: u32 = 10_000;
/// Time units in a day; every time is less.
pub const TICKS_PER_DAY: u32 = 86_400 * TICKS_PER_SECOND;

const TICKS_PER_MINUTE: u32 = 60 * TICKS_PER_SECOND;
const MICROS_PER_TICK: i64 = 100;

/// Returns a legal date unchanged.
#[inline]
pub fn check_date(date: i32) -> Result<i32, ValueError> {
    if (MIN_DATE..=MAX_DATE).contains(&date) { Ok(date) } else { Err(ValueError::Date(date)) }
}

/// Returns a legal time unchanged.
#[inline]
pub fn check_time(time: u32) -> Result<u32, ValueError> {
    if time < TICKS_PER_DAY { Ok(time) } else { Err(ValueError::Time(i64::from(time))) }
}

/// Days since 1970-01-01. Exact for legal dates; see [`check_date`].
#[inline]
pub fn date_to_unix_days(date: i32) -> i32 {
    date.saturating_sub(UNIX_EPOCH)
}

/// Converts a number of days since 1970-01-01 to a date.
pub fn unix_days_to_date(days: i32) -> Result<i32, ValueError> {
    check_date(days.saturating_add(UNIX_EPOCH))
}

/// Microseconds since midnight.
#[inline]
pub fn time_to_micros(time: u32) -> Result<i64, ValueError> {
    Ok(i64::from(check_time(time)?) * MICROS_PER_TICK)
}

/// Microseconds since 1970-01-01 00:00.
#[inline]
pub fn timestamp_to_micros(date: i32, time: u32) -> Result<i64, ValueError> {
    let days = i64::from(date_to_unix_days(check_date(date)?));
    Ok((days * i64::from(TICKS_PER_DAY) + i64::from(check_time(time)?)) * MICROS_PER_TICK)
}

/// A day as year, month and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CivilDate {
    /// 1 to 9999.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

impl CivilDate {
    /// The calendar day of a date.
    pub fn from_date(date: i32) -> Result<Self, ValueError> {
        // Years that begin in March have the leap day at their end; they repeat every 400 years. All numbers here are
        // positive.
        let days = check_date(date)? - FIRST_MARCH_0;
        let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
        let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Months from March on have 31, 30, 31, 30, 31 days, repeatedly: 153 days in five months.
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let (year, month) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
        Ok(Self { year: 400 * era + year_of_era + year, month: month as u32, day: day as u32 })
    }

    /// The date of this day.
    pub fn to_date(self) -> Result<i32, ValueError> {
        let Self { year, month, day } = self;
        if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return Err(ValueError::Civil(self));
        }
        let (month, day) = (month as i32, day as i32);
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let (era, year_of_era) = (year / 400, year % 400);
        let day_of_year = (153 * month + 2) / 5 + day - 1;
        let day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let date = FIRST_MARCH_0 + era * DAYS_PER_ERA + day_of_era;
        // February 30 would become a day of March.
        if Self::from_date(date) == Ok(self) { Ok(date) } else { Err(ValueError::Civil(self)) }
    }
}

impl fmt::Display for CivilDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// 0000-03-01.
const FIRST_MARCH_0: i32 = -678_881;
/// Days in 400 years.
const DAYS_PER_ERA: i32 = 146_097;

/// A time as `CAST(… AS VARCHAR)` prints it: `13:45:31.1234`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u32);

impl TimeOfDay {
    /// Checks that the time is legal.
    pub fn new(ticks: u32) -> Result<Self, ValueError> {
        check_time(ticks).map(Self)
    }

    /// The wall-clock time `displacement` minutes east of UTC.
    pub fn local(utc: u32, displacement: i16) -> Result<Self, ValueError> {
        let shift = i64::from(displacement) * i64::from(TICKS_PER_MINUTE);
        let local = (i64::from(check_time(utc)?) + shift).rem_euclid(i64::from(TICKS_PER_DAY));
        Ok(Self(local as u32))
    }

    /// Ticks since midnight.
    pub fn ticks(self) -> u32 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, fraction) = (self.0 / TICKS_PER_SECOND, self.0 % TICKS_PER_SECOND);
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        write!(f, "{hours:02}:{minutes:02}:{:02}.{fraction:04}", seconds % 60)
    }
}

/// A `TIME WITH TIME ZONE` as `CAST(… AS VARCHAR)` prints it: `13:45:31.1234 -03:00`,
/// `00:00:00.0000 Europe/Berlin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeTz<'a> {
    /// The wall-clock time in the zone.
    pub local: TimeOfDay,
    /// The name of the zone, or its displacement.
    pub zone: &'a str,
}

impl<'a> TimeTz<'a> {
    /// Converts the stored time, given the zone's name and displacement in minutes. For this type, a region has the
    /// displacement of 2020-01-01.
    pub fn from_utc(utc: u32, zone: &'a str, displacement: i16) -> Result<Self, ValueError> {
        Ok(Self { local: TimeOfDay::local(utc, displacement)?, zone })
    }
}

impl fmt::Display for TimeTz<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.local, self.zone)
    }
}

/// Why a value cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A date before 0001-01-01 or after 9999-12-31, in days since 1858-11-17.
    #[error("the date of day {0} (0 is 1858-11-17) is not in the years 1 to 9999")]
    Date(i32),
    /// A time of day that is negative or longer than a day, in ticks.
    #[error("{0} × 100 µs is not a time of day")]
    Time(i64),
    /// A day that does not exist.
    #[error("{0} is not a day in the years 1 to 9999")]
    Civil(CivilDate),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MICROS_PER_DAY: i64 = TICKS_PER_DAY as i64 * MICROS_PER_TICK;

    fn civil(year: i32, month: u32, day: u32) -> CivilDate {
        CivilDate { year, month, day }
    }

    #[test]
    fn known_dates() {
        for (date, day) in [
            (MIN_DATE, civil(1, 1, 1)),
            (0, civil(1858, 11, 17)),
            (UNIX_EPOCH, civil(1970, 1, 1)),
            (51_544, civil(2000, 1, 1)),
            (51_603, civil(2000, 2, 29)),
            (51_604, civil(2000, 3, 1)),
            (58_849, civil(2020, 1, 1)),
            (61_041, civil(2026, 1, 1)),
            (MAX_DATE, civil(9999, 12, 31)),
        ] {
            assert_eq!(CivilDate::from_date(date), Ok(day));
            assert_eq!(day.to_date(), Ok(date), "{day}");
        }
        assert_eq!(date_to_unix_days(UNIX_EPOCH), 0);
        assert_eq!(date_to_unix_days(0), -40_587);
        assert_eq!(unix_days_to_date(18_262), Ok(58_849));
        assert_eq!(civil(33, 4, 5).to_string(), "0033-04-05");
    }

    /// Walks through the whole calendar by its rules.
    #[test]
    fn every_day_of_the_calendar() {
        let mut date = MIN_DATE;
        for year in 1..=9999 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if leap { 29 } else { 28 };
            for (month, days) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
                for day in 1..=days {
                    assert_eq!(CivilDate::from_date(date), Ok(civil(year, month, day)));
                    assert_eq!(civil(year, month, day).to_date(), Ok(date));
                    date += 1;
                }
                let missing = civil(year, month, days + 1);
                assert_eq!(missing.to_date(), Err(ValueError::Civil(missing)));
            }
        }
        assert_eq!(date, MAX_DATE + 1);
    }

    #[test]
    fn illegal_values_are_errors() {
        for date in [i32::MIN, MIN_DATE - 1, MAX_DATE + 1, i32::MAX] {
            assert_eq!(check_date(date), Err(ValueError::Date(date)));
            assert_eq!(timestamp_to_micros(date, 0), Err(ValueError::Date(date)));
            assert!(CivilDate::from_date(date).is_err());
        }
        for days in [i32::MIN, date_to_unix_days(MIN_DATE) - 1, date_to_unix_days(MAX_DATE) + 1, i32::MAX] {
            assert!(unix_days_to_date(days).is_err(), "{days}");
        }
        assert_eq!(date_to_unix_days(i32::MIN), i32::MIN);
        for time in [TICKS_PER_DAY, u32::MAX] {
            assert_eq!(time_to_micros(time), Err(ValueError::Time(time.into())));
            assert!(timestamp_to_micros(0, time).is_err() && TimeOfDay::new(time).is_err());
            assert!(TimeTz::from_utc(time, "UTC", 0).is_err());
        }
        for day in [civil(0, 12, 31), civil(10_000, 1, 1), civil(i32::MIN, 1, 1), civil(2000, 0, 1)] {
            assert_eq!(day.to_date(), Err(ValueError::Civil(day)));
        }
        for day in [civil(2000, 13, 1), civil(2000, u32::MAX, 1), civil(2000, 1, 0), civil(2000, 1, u32::MAX)]
        {
            assert_eq!(day.to_date(), Err(ValueError::Civil(day)));
        }
    }

    #[test]
    fn times_and_timestamps() {
        assert_eq!(time_to_micros(452_967_890), Ok(45_296_789_000));
        assert_eq!(timestamp_to_micros(UNIX_EPOCH, 0), Ok(0));
        assert_eq!(timestamp_to_micros(UNIX_EPOCH - 1, TICKS_PER_DAY - 1), Ok(-100));
        let first = timestamp_to_micros(MIN_DATE, 0).expect("legal");
        let last = timestamp_to_micros(MAX_DATE, TICKS_PER_DAY - 1).expect("legal");
        assert_eq!((first, last), (-62_135_596_800_000_000, 253_402_300_799_999_900));
    }

    #[test]
    fn times_with_zone() {
        for (utc, zone, displacement, text) in [
            (603_311_234, "-03:00", -180, "13:45:31.1234 -03:00"),
            (0, "UTC", 0, "00:00:00.0000 UTC"),
            (0, "Europe/Berlin", 60, "01:00:00.0000 Europe/Berlin"),
            (TICKS_PER_DAY - 1, "+14:00", 840, "13:59:59.9999 +14:00"),
            (0, "-14:00", -840, "10:00:00.0000 -14:00"),
        ] {
            assert_eq!(
                TimeTz::from_utc(utc, zone, displacement).map(|value| value.to_string()),
                Ok(text.into())
            );
        }
        // Only a broken peer sends a displacement of more than a day, but it must not cause a panic.
        assert_eq!(TimeOfDay::local(0, i16::MIN).map(TimeOfDay::ticks), Ok(211_200_000));
    }

    proptest! {
        #[test]
        fn timestamps_round_trip(date in MIN_DATE..=MAX_DATE, time in 0..TICKS_PER_DAY) {
            let micros = timestamp_to_micros(date, time)?;
            let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY))?;
            let ticks = u32::try_from(micros.rem_euclid(MICROS_PER_DAY) / MICROS_PER_TICK)?;
            prop_assert_eq!((unix_days_to_date(days), ticks), (Ok(date), time));
        }

        #[test]
        fn local_times_lead_back_to_utc(utc in 0..TICKS_PER_DAY, displacement in -840..=840_i16) {
            let local = TimeOfDay::local(utc, displacement)?;
            prop_assert_eq!(TimeOfDay::local(local.ticks(), -displacement)?.ticks(), utc);
        }
    }
}
