//! Days.

use firearrow_proto::api::value::{CivilDate, date_to_unix_days, unix_days_to_date};
use std::fmt;

/// A day from 0001-01-01 to 9999-12-31 in the proleptic Gregorian calendar, which is the range of DATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    /// The day of this year, month (1 to 12) and day of the month; `None` if there is none.
    ///
    /// ```
    /// use firearrow::Date;
    ///
    /// let leap_day = Date::new(2024, 2, 29).expect("2024 is a leap year");
    /// assert_eq!(leap_day.to_string(), "2024-02-29");
    /// assert_eq!(Date::new(2023, 2, 29), None);
    /// ```
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        CivilDate { year, month, day }.to_date().ok().map(|date| Self(date_to_unix_days(date)))
    }

    /// The day this many days after 1970-01-01, as Arrow's date32 counts.
    pub fn from_unix_days(days: i32) -> Option<Self> {
        unix_days_to_date(days).ok().map(|_| Self(days))
    }

    /// Returns the days since 1970-01-01, negative before.
    pub fn unix_days(self) -> i32 {
        self.0
    }

    /// Returns the year, 1 to 9999.
    pub fn year(self) -> i32 {
        self.civil().year
    }

    /// Returns the month, 1 to 12.
    pub fn month(self) -> u32 {
        self.civil().month
    }

    /// Returns the day of the month, 1 to 31.
    pub fn day(self) -> u32 {
        self.civil().day
    }

    fn civil(self) -> CivilDate {
        unix_days_to_date(self.0).and_then(CivilDate::from_date).expect("only days in the calendar are made")
    }
}

/// `2024-02-29`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.civil().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_year_month_and_day() {
        for (days, year, month, day) in
            [(-719_162, 1, 1, 1), (0, 1970, 1, 1), (19_782, 2024, 2, 29), (2_932_896, 9999, 12, 31)]
        {
            let date = Date::new(year, month, day).unwrap();
            assert_eq!(date.unix_days(), days);
            assert_eq!(Date::from_unix_days(days), Some(date));
            assert_eq!((date.year(), date.month(), date.day()), (year, month, day));
        }
        assert_eq!(Date::new(33, 4, 5).unwrap().to_string(), "0033-04-05");
    }

    #[test]
    fn days_outside_the_calendar_are_none() {
        for days in [-719_163, 2_932_897, i32::MIN, i32::MAX] {
            assert_eq!(Date::from_unix_days(days), None);
        }
        for (year, month, day) in [(0, 1, 1), (10_000, 1, 1), (2023, 2, 29), (2024, 13, 1), (2024, 0, 1)] {
            assert_eq!(Date::new(year, month, day), None);
        }
    }
}
