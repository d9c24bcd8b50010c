//! Datetime literals: text as a date, a time or a timestamp.

use super::cell::{Convert, Converted};
use super::datetime::timestamp;
use super::fault::Fault;
use super::number::fraction_cut;
use super::plan::Settings;
use crate::abi::{Date, Time, Timestamp};
use arrow::array::StringArray;

/// What a literal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Date(Date),
    Time(Clock),
    Timestamp(Date, Clock),
}

/// A time of day with its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    time: Time,
    nanos: u32,
    /// Whether there was less than a nanosecond more.
    is_cut: bool,
}

impl Clock {
    fn has_fraction(self) -> bool {
        self.nanos != 0 || self.is_cut
    }
}

impl Convert<StringArray> for Date {
    fn convert(text: &str, _: &Settings) -> Converted<Self> {
        match Moment::parse(text).ok_or(Fault::NotALiteral)? {
            Moment::Date(date) => Ok((date, None)),
            Moment::Time(_) => Err(Fault::NotALiteral),
            Moment::Timestamp(date, clock) => {
                Ok((date, fraction_cut(clock.time != Time::default() || clock.has_fraction())))
            }
        }
    }
}

impl Convert<StringArray> for Time {
    fn convert(text: &str, _: &Settings) -> Converted<Self> {
        match Moment::parse(text).ok_or(Fault::NotALiteral)? {
            Moment::Date(_) => Err(Fault::NotALiteral),
            Moment::Time(clock) | Moment::Timestamp(_, clock) => {
                Ok((clock.time, fraction_cut(clock.has_fraction())))
            }
        }
    }
}

impl Convert<StringArray> for Timestamp {
    fn convert(text: &str, settings: &Settings) -> Converted<Self> {
        let (date, clock) = match Moment::parse(text).ok_or(Fault::NotALiteral)? {
            Moment::Date(date) => return Ok((timestamp(date, Time::default(), 0), None)),
            Moment::Time(clock) => (settings.today, clock),
            Moment::Timestamp(date, clock) => (date, clock),
        };
        Ok((timestamp(date, clock.time, clock.nanos), fraction_cut(clock.is_cut)))
    }
}

impl Moment {
    /// Reads `yyyy-mm-dd`, `hh:mm:ss[.f]`, both with a blank or a `T` between them, and the escapes `{d '…'}`,
    /// `{t '…'}` and `{ts '…'}` of these.
    fn parse(text: &str) -> Option<Self> {
        let text = text.as_bytes().trim_ascii();
        let Some(escape) = text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}")) else {
            return Self::plain(text);
        };
        let escape = escape.trim_ascii();
        let end = escape.iter().position(|byte| !byte.is_ascii_alphabetic())?;
        let (kind, quoted) = escape.split_at(end);
        let plain = Self::plain(quoted.trim_ascii().strip_prefix(b"'")?.strip_suffix(b"'")?)?;
        let expected: &[u8] = match plain {
            Self::Date(_) => b"d",
            Self::Time(_) => b"t",
            Self::Timestamp(..) => b"ts",
        };
        kind.eq_ignore_ascii_case(expected).then_some(plain)
    }

    fn plain(text: &[u8]) -> Option<Self> {
        if text.get(2) == Some(&b':') {
            return clock(text).map(Self::Time);
        }
        let (first, rest) = text.split_at_checked(10)?;
        let date = date(first)?;
        match rest {
            [] => Some(Self::Date(date)),
            [b' ' | b'T', rest @ ..] => Some(Self::Timestamp(date, clock(rest.trim_ascii_start())?)),
            _ => None,
        }
    }
}

fn date(text: &[u8]) -> Option<Date> {
    let &[a, b, c, d, b'-', m, n, b'-', x, y] = text else { return None };
    let (year, month, day) = (number(&[a, b, c, d])?, number(&[m, n])?, number(&[x, y])?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let is_date = year >= 1 && (1..=12).contains(&month) && (1..=last).contains(&day);
    is_date.then_some(Date { year: year as i16, month: month as u16, day: day as u16 })
}

fn clock(text: &[u8]) -> Option<Clock> {
    let (&[h, i, b':', m, n, b':', s, t], fraction) = text.split_first_chunk::<8>()? else { return None };
    let (hour, minute, second) = (number(&[h, i])?, number(&[m, n])?, number(&[s, t])?);
    let (nanos, is_cut) = match fraction {
        [] => (0, false),
        [b'.', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            let (known, beyond) = digits.split_at(digits.len().min(9));
            let nanos = number(known)? * 10_u32.pow(9 - known.len() as u32);
            (nanos, beyond.iter().any(|&digit| digit != b'0'))
        }
        _ => return None,
    };
    let is_time = hour < 24 && minute < 60 && second < 60;
    let time = Time { hour: hour as u16, minute: minute as u16, second: second as u16 };
    is_time.then_some(Clock { time, nanos, is_cut })
}

/// At most nine digits as a number.
fn number(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::c_type;
    use crate::convert::testing::{values, wanted};
    use proptest::prelude::*;

    const DAY: Date = Date { year: 2024, month: 2, day: 29 };
    const NOON: Time = Time { hour: 12, minute: 0, second: 1 };

    fn of(time: Time, nanos: u32) -> Clock {
        Clock { time, nanos, is_cut: false }
    }

    #[test]
    fn literals_have_several_forms() {
        for text in ["2024-02-29", " 2024-02-29\t", "{d '2024-02-29'}", "{ D'2024-02-29' }"] {
            assert_eq!(Moment::parse(text), Some(Moment::Date(DAY)), "{text}");
        }
        for text in ["12:00:01.5", "12:00:01.500000000", "{t '12:00:01.5'}"] {
            assert_eq!(Moment::parse(text), Some(Moment::Time(of(NOON, 500_000_000))), "{text}");
        }
        for text in ["2024-02-29 12:00:01", "2024-02-29T12:00:01", "{ts '2024-02-29 12:00:01.0000'}"] {
            assert_eq!(Moment::parse(text), Some(Moment::Timestamp(DAY, of(NOON, 0))), "{text}");
        }
        let tiny = Clock { is_cut: true, ..of(NOON, 123_456_789) };
        assert_eq!(Moment::parse("12:00:01.1234567891"), Some(Moment::Time(tiny)));
    }

    #[test]
    fn other_text_is_no_literal() {
        let bad = [
            "",
            "x",
            "2023-02-29",
            "1900-02-29",
            "2024-04-31",
            "0000-01-01",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "24-01-01",
            "2024-1-01",
            "2024/01/01",
            "12:00",
            "24:00:00",
            "12:60:00",
            "12:00:60",
            "12:00:00.",
            "1:00:00",
            "12:00:00.x",
            "2024-02-29 12",
            "2024-02-29x12:00:00",
            "{d '12:00:00'}",
            "{ts '2024-02-29'}",
            "{d 2024-02-29}",
            "{d '2024-02-29'",
            "{}",
            "{d}",
            "{d '}",
            "+024-02-29",
            "2024-02-29é12:00:00",
            "éééééé",
        ];
        for text in bad {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_cut_or_refused() {
        let array = StringArray::from(vec![
            "2024-02-29",
            "12:00:01",
            "12:00:01.5",
            "2024-02-29 00:00:00",
            "2024-02-29 12:00:01.0000000001",
            "2024-02-30",
        ]);
        let (cut, bad) = (Some("01S07"), "22018");
        let dates = [Ok((DAY, None)), Err(bad), Err(bad), Ok((DAY, None)), Ok((DAY, cut)), Err(bad)];
        assert_eq!(values(&array, wanted(c_type::TYPE_DATE)), dates);
        let midnight = Time::default();
        let times =
            [Err(bad), Ok((NOON, None)), Ok((NOON, cut)), Ok((midnight, None)), Ok((NOON, cut)), Err(bad)];
        assert_eq!(values(&array, wanted(c_type::TYPE_TIME)), times);
        let stamps = values::<Timestamp>(&array, wanted(c_type::TYPE_TIMESTAMP));
        let day = Ok((timestamp(DAY, midnight, 0), None));
        assert_eq!((stamps[0], stamps[3]), (day, day));
        assert_eq!(stamps[4..], [Ok((timestamp(DAY, NOON, 0), cut)), Err(bad)]);
        let (today, warning) = stamps[2].expect("a timestamp");
        assert_eq!((today.hour, today.second, today.fraction, warning), (12, 1, 500_000_000, None));
        assert!(today.year >= 2025);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-:.0-9T{}dts' é]{0,30}") {
            let _ = Moment::parse(&text);
        }
    }
}
