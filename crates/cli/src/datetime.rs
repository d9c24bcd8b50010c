//! Dates and times as texts, in the forms of ISO 8601 that programs write.

use arrow::compute::kernels::cast_utils::Parser;
use arrow::datatypes::Date32Type;
use arrow::temporal_conversions::MICROSECONDS;
use std::borrow::Cow;

/// Digits of a second that the engine keeps.
const ENGINE_DIGITS: usize = 4;
/// Most digits of a second that are read; any below the engine's are cut off, as for Arrow's times.
const MOST_DIGITS: usize = 9;
const SECONDS_OF_DAY: i64 = 86_400;

/// Returns the days since 1970 of `2024-05-01`.
pub(crate) fn date(text: &str) -> Option<i32> {
    let has_form = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    // Firebird's calendar begins with the year 1.
    let in_range = has_form && !text.starts_with("0000");
    in_range.then(|| Date32Type::parse(text)).flatten()
}

/// Returns the microseconds since 1970 of `2024-05-01 14:30:00` or `2024-05-01T14:30:00.123456`.
pub(crate) fn timestamp(text: &str) -> Option<i64> {
    let (day, rest) = split_day(text)?;
    let Time { seconds, fraction, .. } = time(rest).filter(|time| time.rest.is_empty())?;
    let micros: i64 = format!("{fraction:0<6.6}").parse().ok()?;
    let days = i64::from(date(day)?);
    Some((days * SECONDS_OF_DAY + seconds) * MICROSECONDS + micros)
}

/// Returns a time, timestamp or timestamp with zone in the form that the engine reads: with a blank for the T, no more digits
/// than it has, and a zone after a blank. Any other text stays as it is.
pub(crate) fn for_engine(text: &str) -> Cow<'_, str> {
    let (day, rest) = match split_day(text) {
        Some((day, rest)) => (Some(day), rest),
        None => (None, text),
    };
    let Some(Time { fraction, rest: zone, .. }) = time(rest) else { return Cow::Borrowed(text) };
    let clock = &rest[..rest.len() - zone.len()];
    let cut = fraction.len().saturating_sub(ENGINE_DIGITS);
    let clock = &clock[..clock.len() - cut];
    let zone = match zone.trim_start() {
        "Z" | "z" => "+00:00",
        zone => zone,
    };
    let mut normal = day.map_or_else(String::new, |day| format!("{day} "));
    normal.push_str(clock);
    if !zone.is_empty() {
        normal.push(' ');
        normal.push_str(zone);
    }
    if normal == text { Cow::Borrowed(text) } else { Cow::Owned(normal) }
}

/// The day, and what comes after the T or the blank.
fn split_day(text: &str) -> Option<(&str, &str)> {
    let (day, rest) = text.split_at_checked(10)?;
    date(day)?;
    Some((day, rest.strip_prefix(['T', 't', ' '])?))
}

/// A time of day at the beginning of a text.
struct Time<'a> {
    seconds: i64,
    /// The digits after the point.
    fraction: &'a str,
    rest: &'a str,
}

fn time(text: &str) -> Option<Time<'_>> {
    let number = |at: usize, most: i64| -> Option<i64> {
        let digits =
            text.get(at..at + 2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse().ok().filter(|number| *number <= most)
    };
    let has_colons = text.get(2..3) == Some(":") && text.get(5..6) == Some(":");
    let (hour, minute, second) = (number(0, 23)?, number(3, 59)?, number(6, 59)?);
    if !has_colons {
        return None;
    }
    let (mut fraction, mut rest) = ("", text.get(8..)?);
    if let Some(digits) = rest.strip_prefix('.') {
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        if !(1..=MOST_DIGITS).contains(&end) {
            return None;
        }
        (fraction, rest) = digits.split_at(end);
    }
    Some(Time { seconds: (hour * 60 + minute) * 60 + second, fraction, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_dates_and_timestamps_are_read() {
        assert_eq!(date("1970-01-02"), Some(1));
        assert_eq!(date("0001-01-01"), Some(-719_162));
        for text in ["0000-01-01", "2023-02-29", "2024-5-1", "2024-05-01 ", "20240501", "+024-05-01"] {
            assert_eq!(date(text), None, "{text}");
        }
        assert_eq!(timestamp("1970-01-01T00:00:01.5"), Some(1_500_000));
        assert_eq!(timestamp("1969-12-31 23:59:59.999999999"), Some(-1));
        for text in
            ["1970-01-01", "1970-01-01 24:00:00", "1970-01-01 10:00", "1970-01-01 10:00:00 +02:00", "é"]
        {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn the_engine_gets_its_own_form() {
        for (text, expected) in [
            ("2024-05-01T14:30:00", "2024-05-01 14:30:00"),
            ("2024-05-01 14:30:00.123456789", "2024-05-01 14:30:00.1234"),
            ("2024-05-01T14:30:00.1234+02:00", "2024-05-01 14:30:00.1234 +02:00"),
            ("2024-05-01T14:30:00.123400Z", "2024-05-01 14:30:00.1234 +00:00"),
            ("2024-05-01T14:30:00 Europe/Berlin", "2024-05-01 14:30:00 Europe/Berlin"),
            (
                "2024-05-01 14:30:00.1234 +02:00 Europe/Berlin",
                "2024-05-01 14:30:00.1234 +02:00 Europe/Berlin",
            ),
            ("14:30:00.123456", "14:30:00.1234"),
            ("14:30:00-03:00", "14:30:00 -03:00"),
            // The engine decides about these.
            ("01.05.2024 14:30", "01.05.2024 14:30"),
            ("2024-05-01", "2024-05-01"),
            ("now", "now"),
            ("", ""),
            ("14:3é", "14:3é"),
        ] {
            assert_eq!(for_engine(text), expected);
        }
    }
}
