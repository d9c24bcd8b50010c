//! Dates, times and timestamps from their structures.
//!
//! The client cuts what is below Firebird's resolution of 100 µs, towards the past. So does the driver, which has the
//! fraction by itself.

use super::binding::Binding;
use super::cell::{Cells, Failed};
use super::column::{Bytes, no_conversion};
use super::number::primitive;
use super::target::Target;
use crate::abi::{self, c_type};
use crate::diagnostics::{Failure, Result, State};
use arrow::array::ArrayRef;
use arrow::datatypes::{Date32Type, Time64MicrosecondType, TimestampMicrosecondType};

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// Nanoseconds in Firebird's unit of time.
const TICK: u32 = 100_000;
/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH: i32 = 719_162;

pub(super) fn column(
    cells: &Cells<'_>,
    binding: &Binding,
    target: Target,
    failed: &mut Failed,
) -> Result<ArrayRef> {
    match binding.c_type {
        c_type::DATE | c_type::TYPE_DATE => dates(cells, target, failed),
        c_type::TIME | c_type::TYPE_TIME => times(cells, target, failed),
        _ => timestamps(cells, target, failed),
    }
}

fn dates(cells: &Cells<'_>, target: Target, failed: &mut Failed) -> Result<ArrayRef> {
    use Target::{Any, Binary, Date, Text, Timestamp};
    match target {
        // The client writes the text of a date.
        Date | Timestamp | Text | Binary | Any => {
            let days = cells.convert(failed, |date: abi::Date| days(date.year, date.month, date.day));
            Ok(primitive::<Date32Type>(days, cells.nulls()))
        }
        _ => Err(no_conversion("a date")),
    }
}

fn times(cells: &Cells<'_>, target: Target, failed: &mut Failed) -> Result<ArrayRef> {
    let clock = |time: abi::Time| Clock::new(time.hour, time.minute, time.second, 0);
    match target {
        // The server adds the current date to become a timestamp.
        Target::Time | Target::Timestamp | Target::Any => {
            let micros = cells.convert(failed, |time| Ok(clock(time)?.micros()));
            Ok(primitive::<Time64MicrosecondType>(micros, cells.nulls()))
        }
        Target::Text | Target::Binary => text(cells, failed, |time| Ok(clock(time)?.text())),
        _ => Err(no_conversion("a time")),
    }
}

fn timestamps(cells: &Cells<'_>, target: Target, failed: &mut Failed) -> Result<ArrayRef> {
    let parts = |from: abi::Timestamp| {
        let days = days(from.year, from.month, from.day)?;
        Ok::<_, Failure>((days, Clock::new(from.hour, from.minute, from.second, from.fraction)?))
    };
    let nulls = cells.nulls();
    match target {
        Target::Date => {
            let days = cells.convert(failed, |from: abi::Timestamp| {
                let (days, clock) = parts(from)?;
                if clock.micros() == 0 && from.fraction == 0 {
                    return Ok(days);
                }
                Err(Failure::new(State::DATETIME_OVERFLOW, "the timestamp for a date has a time"))
            });
            Ok(primitive::<Date32Type>(days, nulls))
        }
        Target::Time => {
            let micros = cells.convert(failed, |from| Ok(parts(from)?.1.micros()));
            Ok(primitive::<Time64MicrosecondType>(micros, nulls))
        }
        Target::Timestamp | Target::Any => {
            let micros = cells.convert(failed, |from| {
                let (days, clock) = parts(from)?;
                Ok(i64::from(days) * MICROS_PER_DAY + clock.micros())
            });
            Ok(primitive::<TimestampMicrosecondType>(micros, nulls))
        }
        Target::Text | Target::Binary => text(cells, failed, |from: abi::Timestamp| {
            let (_, clock) = parts(from)?;
            Ok(format!("{:04}-{:02}-{:02} {}", from.year, from.month, from.day, clock.text()))
        }),
        _ => Err(no_conversion("a timestamp")),
    }
}

/// Text of structures. The client always writes four digits after the seconds, for which a column may be too short.
fn text<T: super::cell::Plain>(
    cells: &Cells<'_>,
    failed: &mut Failed,
    text: impl Fn(T) -> Result<String>,
) -> Result<ArrayRef> {
    let given = cells.convert::<T, Option<T>>(failed, |value| Ok(Some(value)));
    let mut column = Bytes::new(cells.nulls());
    for (row, value) in given.into_iter().enumerate() {
        let text = value.map_or(Ok(String::new()), &text);
        let text = text.unwrap_or_else(|failure| {
            failed.push((row, failure));
            String::new()
        });
        column.push(text.as_bytes())?;
    }
    column.text()
}

/// A time of day.
#[derive(Clone, Copy, Debug)]
struct Clock {
    hour: u16,
    minute: u16,
    second: u16,
    /// In Firebird's unit.
    ticks: u32,
}

impl Clock {
    fn new(hour: u16, minute: u16, second: u16, nanos: u32) -> Result<Self> {
        if hour > 23 || minute > 59 || second > 59 || nanos > 999_999_999 {
            let message = format!("{hour}:{minute}:{second} and {nanos} nanoseconds is not a time of day");
            return Err(Failure::new(State::BAD_DATETIME, message));
        }
        Ok(Self { hour, minute, second, ticks: nanos / TICK })
    }

    fn micros(self) -> i64 {
        let seconds = (i64::from(self.hour) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second);
        seconds * MICROS_PER_SECOND + i64::from(self.ticks) * 100
    }

    /// With the fraction if there is one.
    fn text(self) -> String {
        let Self { hour, minute, second, ticks } = self;
        let clock = format!("{hour:02}:{minute:02}:{second:02}");
        if ticks == 0 { clock } else { format!("{clock}.{ticks:04}") }
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i16, month: u16, day: u16) -> Result<i32> {
    let text = || format!("{year}-{month}-{day}");
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if is_leap { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = usize::from(month).checked_sub(1).and_then(|month| months.get(month));
    if !length.is_some_and(|length| (1..=*length).contains(&day)) {
        return Err(Failure::new(State::BAD_DATETIME, format!("{} is not a date", text())));
    }
    if !(1..=9999).contains(&year) {
        return Err(Failure::new(
            State::DATETIME_OVERFLOW,
            format!("{} is beyond the years 1 to 9999", text()),
        ));
    }
    let years = i32::from(year) - 1;
    let before: u16 = months[..usize::from(month) - 1].iter().sum();
    Ok(365 * years + years / 4 - years / 100 + years / 400 + i32::from(before + day - 1) - UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Date32Array;
    use proptest::prelude::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(days(1970, 1, 1), Ok(0));
        assert_eq!(days(1, 1, 1), Ok(-719_162));
        assert_eq!(days(9999, 12, 31), Ok(2_932_896));
        assert_eq!(days(2000, 2, 29), Ok(11_016));
        for (year, month, day) in
            [(2023, 2, 29), (1900, 2, 29), (2024, 0, 1), (2024, 13, 1), (2024, 4, 31), (2024, 1, 0)]
        {
            let state = days(year, month, day).map_err(|failure| failure.state);
            assert_eq!(state, Err(State::BAD_DATETIME), "{year}-{month}-{day}");
        }
        for year in [0, -1, 10_000, i16::MAX, i16::MIN] {
            assert_eq!(days(year, 1, 1).map_err(|failure| failure.state), Err(State::DATETIME_OVERFLOW));
        }
    }

    #[test]
    fn times_end_before_midnight() {
        let micros = |hour, minute, second, nanos| {
            Clock::new(hour, minute, second, nanos).map(Clock::micros).map_err(|failure| failure.state)
        };
        assert_eq!(micros(23, 59, 59, 999_999_999), Ok(86_399_999_900));
        assert_eq!(micros(0, 0, 0, 99_999), Ok(0));
        for (hour, minute, second, nanos) in [
            (24, 0, 0, 0),
            (0, 60, 0, 0),
            (0, 0, 60, 0),
            (0, 0, 0, 1_000_000_000),
            (u16::MAX, 0, 0, u32::MAX),
        ] {
            assert_eq!(micros(hour, minute, second, nanos), Err(State::BAD_DATETIME));
        }
    }

    proptest! {
        #[test]
        fn days_lead_back_to_the_date(expected in -719_162..=2_932_896) {
            let date = Date32Array::from(vec![expected]).value_as_date(0).expect("it is in the calendar");
            let text = date.to_string();
            let mut parts = text.split('-').map(|part| part.parse::<u16>().expect("a number"));
            let mut part = || parts.next().expect("three parts");
            let (year, month, day) = (part(), part(), part());
            prop_assert_eq!(days(year as i16, month, day), Ok(expected));
        }
    }
}
