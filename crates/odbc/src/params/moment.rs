//! Text for dates, times and timestamps, in the form that the server reads.
//!
//! The server knows neither escapes nor the `T` of ISO 8601, refuses more than four digits after the seconds, and takes
//! neither a timestamp for a DATE nor for a TIME. Text in other forms than those of ODBC is left to the server.

use super::target::Target;
use super::text::malformed;
use crate::diagnostics::{Failure, Result, State};
use std::borrow::Cow;

/// The digits after the seconds that Firebird stores.
const FRACTION: usize = 4;

/// Text like `2024-05-06 07:08:09.1234 +02:00`, or a part of it.
#[derive(Debug, PartialEq, Eq)]
struct Moment<'a> {
    date: Option<&'a str>,
    time: Option<Time<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Time<'a> {
    /// Hours, minutes, and mostly seconds.
    clock: &'a str,
    fraction: &'a str,
    /// With whatever separates it from the time.
    zone: &'a str,
}

/// Returns the text for a date, a time or a timestamp.
pub(super) fn normal(text: &str, target: Target) -> Result<Cow<'_, str>> {
    let text = unescaped(text.trim_matches(' '))?;
    let Some(moment) = Moment::parse(text) else { return Ok(text.into()) };
    match (target, moment) {
        (Target::Date, Moment { date: Some(date), time: Some(time) }) if time.zone.is_empty() => {
            if !time.is_midnight() {
                let message = format!("{text} is not a date: it has a time");
                return Err(Failure::new(State::DATETIME_OVERFLOW, message));
            }
            Ok(date.into())
        }
        (Target::Time, Moment { time: Some(time), .. }) => Ok(time.text().into()),
        (Target::Time, Moment { date: Some(_), time: None }) => Err(malformed("a time")),
        (Target::Timestamp, Moment { date: Some(date), time: Some(time) }) => {
            Ok(format!("{date} {}", time.text()).into())
        }
        _ => Ok(text.into()),
    }
}

/// What is in the quotes of `{d '…'}`, `{t '…'}` or `{ts '…'}`; text without braces as it is.
fn unescaped(text: &str) -> Result<&str> {
    let Some(escape) = text.strip_prefix('{') else { return Ok(text) };
    let inner = escape.strip_suffix('}').and_then(|escape| {
        let (keyword, literal) = escape.split_once('\'')?;
        let keyword = keyword.trim_matches(' ');
        let is_known = ["d", "t", "ts"].iter().any(|known| keyword.eq_ignore_ascii_case(known));
        literal.trim_end_matches(' ').strip_suffix('\'').filter(|_| is_known)
    });
    inner.map(|inner| inner.trim_matches(' ')).ok_or_else(|| malformed("a date or time literal"))
}

impl<'a> Moment<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (date, rest) = match text.split_at_checked(10) {
            Some((date, rest)) if has_form(date, "0000-00-00") => (Some(date), rest),
            _ => (None, text),
        };
        let time = match (date, rest) {
            (Some(_), "") => return Some(Self { date, time: None }),
            (Some(_), rest) => rest.strip_prefix([' ', 'T'])?,
            (None, rest) => rest,
        };
        let clock_end = time.find(|byte: char| !byte.is_ascii_digit() && byte != ':').unwrap_or(time.len());
        let (clock, rest) = time.split_at(clock_end);
        if !has_form(clock, "00:00:00") && !has_form(clock, "00:00") {
            return None;
        }
        let (fraction, zone) = match rest.strip_prefix('.') {
            Some(rest) => {
                let end = rest.find(|byte: char| !byte.is_ascii_digit()).unwrap_or(rest.len());
                rest.split_at(end)
            }
            None => ("", rest),
        };
        let is_zone = zone.is_empty() || zone.starts_with([' ', '+', '-']);
        is_zone.then_some(Self { date, time: Some(Time { clock, fraction, zone }) })
    }
}

impl Time<'_> {
    fn is_midnight(&self) -> bool {
        self.clock.chars().chain(self.fraction.chars()).all(|digit| matches!(digit, '0' | ':'))
    }

    /// Without the digits that Firebird does not store: clients always send microseconds.
    fn text(&self) -> String {
        let fraction = &self.fraction[..self.fraction.len().min(FRACTION)];
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{}{point}{fraction}{}", self.clock, self.zone)
    }
}

/// Whether text has digits where `form` has zeros, and otherwise the same characters.
fn has_form(text: &str, form: &str) -> bool {
    let is_like = |(byte, form): (u8, u8)| byte == form || form == b'0' && byte.is_ascii_digit();
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(is_like)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gets_the_form_of_the_server() {
        use Target::{Date, Time, Timestamp};
        for (target, given, expected) in [
            (Date, "2024-02-29", "2024-02-29"),
            (Date, " {d '2024-02-29'} ", "2024-02-29"),
            (Date, "{D'2024-02-29'}", "2024-02-29"),
            (Date, "2024-02-29 00:00:00", "2024-02-29"),
            (Date, "{ts '2024-02-29 00:00:00.000000'}", "2024-02-29"),
            (Date, "29.02.2024", "29.02.2024"),
            (Date, "today", "today"),
            (Date, "2024-02-30", "2024-02-30"),
            (Time, "12:34:56.1234567", "12:34:56.1234"),
            (Time, "12:34:56.9", "12:34:56.9"),
            (Time, "12:34:56.", "12:34:56"),
            (Time, "12:34", "12:34"),
            (Time, "{ t '12:34:56' }", "12:34:56"),
            (Time, "2024-02-29 12:34:56.99999", "12:34:56.9999"),
            (Time, "12:34:56.123456 +02:00", "12:34:56.1234 +02:00"),
            (Time, "12:34:56 AM", "12:34:56 AM"),
            (Timestamp, "2024-02-29", "2024-02-29"),
            (Timestamp, "2024-02-29T12:34:56.123456", "2024-02-29 12:34:56.1234"),
            (Timestamp, "{TS '2024-02-29 12:34:56'}", "2024-02-29 12:34:56"),
            (Timestamp, "2024-02-29 12:34:56.123456+02:00", "2024-02-29 12:34:56.1234+02:00"),
            (Timestamp, "2024-02-29 12:34:56.123456 Europe/Berlin", "2024-02-29 12:34:56.1234 Europe/Berlin"),
            (Timestamp, "12:34:56", "12:34:56"),
            (Timestamp, "now", "now"),
            (Timestamp, "2024-02-29 noon", "2024-02-29 noon"),
            (Timestamp, "2024-02-2é", "2024-02-2é"),
            (Timestamp, "", ""),
        ] {
            assert_eq!(normal(given, target).as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn text_that_would_lose_something_is_refused() {
        let state = |text, target| normal(text, target).map_err(|failure| failure.state);
        for text in ["2024-02-29 00:00:01", "2024-02-29 00:00:00.00001", "{ts '2024-02-29 23:00:00'}"] {
            assert_eq!(state(text, Target::Date), Err(State::DATETIME_OVERFLOW), "{text}");
        }
        assert_eq!(state("2024-02-29", Target::Time), Err(State::BAD_CHARACTER_VALUE));
        for text in ["{", "{}", "{d}", "{d '}", "{d 2024-02-29}", "{x '2024-02-29'}", "{d '2024-02-29'"] {
            assert_eq!(state(text, Target::Date), Err(State::BAD_CHARACTER_VALUE), "{text}");
        }
    }
}
