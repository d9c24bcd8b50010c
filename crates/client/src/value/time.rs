//! Times of day and timestamps, with a time zone and without.

use super::date::Date;
use std::fmt;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// The engine takes displacements of up to 14 hours.
const MOST_MINUTES: u16 = 14 * 60;

/// A time of day in microseconds. Firebird stores units of 100 µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The time of this hour, minute, second and microsecond; `None` if there is none. There are no leap seconds.
    pub fn new(hour: u32, minute: u32, second: u32, micros: u32) -> Option<Self> {
        let is_legal = hour < 24 && minute < 60 && second < 60 && micros < 1_000_000;
        let seconds = u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second);
        is_legal.then(|| Self(seconds * 1_000_000 + u64::from(micros)))
    }

    /// The time this many microseconds after midnight, as Arrow's time64 counts.
    pub fn from_micros(micros: i64) -> Option<Self> {
        (0..DAY).contains(&micros).then_some(Self(micros.unsigned_abs()))
    }

    /// Returns the microseconds since midnight.
    pub fn micros(self) -> i64 {
        self.0 as i64
    }

    /// Returns the hour, 0 to 23.
    pub fn hour(self) -> u32 {
        (self.0 / 3_600_000_000) as u32
    }

    /// Returns the minute, 0 to 59.
    pub fn minute(self) -> u32 {
        (self.0 / 60_000_000 % 60) as u32
    }

    /// Returns the second, 0 to 59.
    pub fn second(self) -> u32 {
        (self.0 / 1_000_000 % 60) as u32
    }

    /// Returns the microseconds of the second, 0 to 999,999.
    pub fn microsecond(self) -> u32 {
        (self.0 % 1_000_000) as u32
    }
}

/// `13:45:31.1234`, as the engine writes it; with six digits if there are any that Firebird does not store.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}.", self.hour(), self.minute(), self.second())?;
        match self.microsecond() {
            micros if micros % 100 == 0 => write!(f, "{:04}", micros / 100),
            micros => write!(f, "{micros:06}"),
        }
    }
}

/// A date and a time of day, in no time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    date: Date,
    time: Time,
}

impl Timestamp {
    /// This time on this day.
    pub fn new(date: Date, time: Time) -> Self {
        Self { date, time }
    }

    /// The time this many microseconds after 1970-01-01 00:00, as Arrow's timestamp counts; `None` outside the years 1 to 9999.
    pub fn from_unix_micros(micros: i64) -> Option<Self> {
        let days = i32::try_from(micros.div_euclid(DAY)).ok()?;
        Some(Self { date: Date::from_unix_days(days)?, time: Time::from_micros(micros.rem_euclid(DAY))? })
    }

    /// Returns the microseconds since 1970-01-01 00:00, negative before.
    pub fn unix_micros(self) -> i64 {
        i64::from(self.date.unix_days()) * DAY + self.time.micros()
    }

    /// Returns the day.
    pub fn date(self) -> Date {
        self.date
    }

    /// Returns the time of day.
    pub fn time(self) -> Time {
        self.time
    }
}

/// `2024-02-29 13:45:31.1234`, as the engine writes it.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.date, self.time)
    }
}

/// An instant, and the displacement of its time zone where that is known.
///
/// Columns of TIMESTAMP WITH TIME ZONE are read as instants alone, with their displacement (`timestamptz=with_offset`), or as text with
/// all that the engine stores (`timestamptz=utf8`); see [`TimestampTzAs`](crate::arrow::TimestampTzAs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimestampTz {
    utc: Timestamp,
    offset_minutes: Option<i16>,
}

impl TimestampTz {
    /// An instant, given in UTC.
    pub fn from_utc(utc: Timestamp) -> Self {
        Self { utc, offset_minutes: None }
    }

    /// An instant, given in UTC, in a zone this many minutes east of it; `None` for more than 14 hours.
    pub fn with_offset(utc: Timestamp, minutes: i16) -> Option<Self> {
        (minutes.unsigned_abs() <= MOST_MINUTES).then_some(Self { utc, offset_minutes: Some(minutes) })
    }

    /// Returns the instant in UTC.
    pub fn utc(self) -> Timestamp {
        self.utc
    }

    /// Returns how many minutes the zone is east of UTC, if that is known.
    pub fn offset_minutes(self) -> Option<i16> {
        self.offset_minutes
    }

    /// Returns the wall-clock time in the zone; `None` if the displacement is not known, or outside the years 1 to 9999.
    pub fn local(self) -> Option<Timestamp> {
        let shift = i64::from(self.offset_minutes?) * 60 * SECOND;
        Timestamp::from_unix_micros(self.utc.unix_micros() + shift)
    }
}

/// `2024-02-29 13:45:31.1234 +01:00`, or in UTC with `UTC` at its end.
impl fmt::Display for TimestampTz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.local(), self.offset_minutes) {
            (Some(local), Some(minutes)) => {
                let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
                write!(f, "{local} {sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            _ => write!(f, "{} UTC", self.utc),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_parts() {
        let time = Time::new(13, 45, 31, 123_400).unwrap();
        assert_eq!((time.hour(), time.minute(), time.second(), time.microsecond()), (13, 45, 31, 123_400));
        assert_eq!(Time::from_micros(time.micros()), Some(time));
        assert_eq!(time.to_string(), "13:45:31.1234");
        assert_eq!(Time::new(0, 0, 0, 7).unwrap().to_string(), "00:00:00.000007");
        for micros in [-1, DAY, i64::MIN, i64::MAX] {
            assert_eq!(Time::from_micros(micros), None);
        }
        for (hour, minute, second, micros) in
            [(24, 0, 0, 0), (0, 60, 0, 0), (0, 0, 60, 0), (0, 0, 0, 1_000_000)]
        {
            assert_eq!(Time::new(hour, minute, second, micros), None);
        }
    }

    #[test]
    fn timestamps_before_1970_are_days_and_times() {
        let timestamp = Timestamp::from_unix_micros(-100).unwrap();
        assert_eq!(timestamp.to_string(), "1969-12-31 23:59:59.9999");
        assert_eq!(timestamp, Timestamp::new(timestamp.date(), timestamp.time()));
        for micros in [-719_162 * DAY, -100, 0, 2_932_897 * DAY - 1] {
            assert_eq!(Timestamp::from_unix_micros(micros).map(Timestamp::unix_micros), Some(micros));
        }
        for micros in [-719_162 * DAY - 1, 2_932_897 * DAY, i64::MIN, i64::MAX] {
            assert_eq!(Timestamp::from_unix_micros(micros), None);
        }
    }

    #[test]
    fn instants_are_written_in_their_zone() {
        let utc = Timestamp::from_unix_micros(0).unwrap();
        let shown = |minutes| TimestampTz::with_offset(utc, minutes).map(|instant| instant.to_string());
        assert_eq!(shown(90).as_deref(), Some("1970-01-01 01:30:00.0000 +01:30"));
        assert_eq!(shown(-180).as_deref(), Some("1969-12-31 21:00:00.0000 -03:00"));
        assert_eq!(TimestampTz::from_utc(utc).to_string(), "1970-01-01 00:00:00.0000 UTC");
        assert_eq!((shown(841), shown(-841), shown(i16::MIN)), (None, None, None));
        // Where the zone leaves the calendar, the instant is what counts.
        let last = Timestamp::from_unix_micros(2_932_897 * DAY - 100).unwrap();
        let last = TimestampTz::with_offset(last, 60).unwrap();
        assert_eq!((last.local(), last.to_string().as_str()), (None, "9999-12-31 23:59:59.9999 UTC"));
    }
}
