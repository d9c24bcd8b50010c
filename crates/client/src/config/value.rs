//! The values of options: text to what it means.

use super::error::ConfigError;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The text given to one option.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    option: &'static str,
    text: &'a str,
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;
const NANOS_PER_MILLI: u128 = 1_000_000;
/// Longer waits make no sense, and the clock of some systems cannot add them.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

impl<'a> Value<'a> {
    pub(super) fn new(option: &'static str, text: &'a str) -> Self {
        Self { option, text }
    }

    pub(super) fn error(self, expected: &'static str) -> ConfigError {
        ConfigError::value(self.option, self.text, expected)
    }

    /// Free text. Templates leave values empty that they do not use.
    pub(super) fn text(self) -> Option<String> {
        (!self.text.is_empty()).then(|| self.text.to_owned())
    }

    pub(super) fn flag(self) -> Result<bool, ConfigError> {
        let is = |words: [&str; 5]| words.iter().any(|word| word.eq_ignore_ascii_case(self.text));
        match () {
            () if is(["true", "yes", "on", "y", "1"]) => Ok(true),
            () if is(["false", "no", "off", "n", "0"]) => Ok(false),
            () => Err(self.error("true or false")),
        }
    }

    /// True, false, or this word, in any case.
    pub(super) fn flag_or<T>(
        self,
        word: &str,
        other: T,
        of: impl Fn(bool) -> T,
        expected: &'static str,
    ) -> Result<T, ConfigError> {
        match self.text.eq_ignore_ascii_case(word) {
            true => Ok(other),
            false => self.flag().map(of).map_err(|_| self.error(expected)),
        }
    }

    /// One of these words, in any case.
    pub(super) fn choice<T: Copy>(
        self,
        words: &[(&str, T)],
        expected: &'static str,
    ) -> Result<T, ConfigError> {
        let chosen = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(self.text));
        chosen.map(|(_, meaning)| *meaning).ok_or_else(|| self.error(expected))
    }

    /// Several names in order of preference, in any case; as in `firebird.conf` separated by commas,
    /// semicolons or blanks.
    pub(super) fn list<T: Copy + PartialEq>(
        self,
        all: &[T],
        name: fn(T) -> &'static str,
        expected: &'static str,
    ) -> Result<Vec<T>, ConfigError> {
        let mut list = Vec::new();
        for word in self.text.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty()) {
            let known = all.iter().find(|item| name(**item).eq_ignore_ascii_case(word));
            let item = *known.ok_or_else(|| self.error(expected))?;
            if !list.contains(&item) {
                list.push(item);
            }
        }
        if list.is_empty() { Err(self.error(expected)) } else { Ok(list) }
    }

    /// A number without sign.
    pub(super) fn number(
        self,
        range: RangeInclusive<u32>,
        expected: &'static str,
    ) -> Result<u32, ConfigError> {
        let number = digits(self.text).and_then(|number| u32::try_from(number).ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| self.error(expected))
    }

    /// Seconds, or milliseconds where `ms` follows.
    pub(super) fn duration(self) -> Result<Duration, ConfigError> {
        let (number, unit) = match self.text.strip_suffix("ms") {
            Some(number) => (number, NANOS_PER_MILLI),
            None => (self.text.strip_suffix('s').unwrap_or(self.text), NANOS_PER_SECOND),
        };
        self.time(number, unit)
    }

    /// Milliseconds.
    pub(super) fn milliseconds(self) -> Result<Duration, ConfigError> {
        self.time(self.text, NANOS_PER_MILLI)
    }

    /// Exact decimal arithmetic: what [`write_duration`] wrote comes back as it was.
    fn time(self, number: &str, unit: u128) -> Result<Duration, ConfigError> {
        let parse = || {
            let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
            let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
            let part = digits(fraction)?.checked_mul(unit)? / scale;
            let nanos = digits(whole)?.checked_mul(unit)?.checked_add(part)?;
            let seconds = u64::try_from(nanos / NANOS_PER_SECOND).ok()?;
            // The remainder is below a thousand million and fits.
            Some(Duration::new(seconds, (nanos % NANOS_PER_SECOND) as u32)).filter(|time| *time <= LONGEST)
        };
        parse().ok_or_else(|| self.error("a number of seconds up to one year, such as 30, 2.5 or 500ms"))
    }

    /// As [`Value::duration`]; 0 means without limit.
    pub(super) fn limit(self) -> Result<Option<Duration>, ConfigError> {
        Ok(Some(self.duration()?).filter(|time| !time.is_zero()))
    }

    /// `15`, `13-17` or `13..17`, within `range`.
    pub(super) fn versions(self, range: RangeInclusive<u16>) -> Result<RangeInclusive<u16>, ConfigError> {
        let split = self.text.split_once("..").or_else(|| self.text.split_once('-'));
        let (first, last) = split.unwrap_or((self.text, self.text));
        let version = |text: &str| {
            let number = digits(text.trim()).and_then(|number| u16::try_from(number).ok());
            number.filter(|number| range.contains(number))
        };
        match (version(first), version(last)) {
            (Some(first), Some(last)) if first <= last => Ok(first..=last),
            _ => Err(self.error("a version or a range within 13-19, such as 15 or 13-17")),
        }
    }
}

/// A number of plain digits; `parse` would let a sign pass.
fn digits(text: &str) -> Option<u128> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// Seconds with as many decimals as needed.
pub(super) fn write_duration(time: Duration) -> String {
    let text = format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, nanos) in [
            ("30", 30_000_000_000),
            ("0", 0),
            ("2.5", 2_500_000_000),
            ("2.5s", 2_500_000_000),
            ("500ms", 500_000_000),
            ("0.000000001", 1),
            ("0.0000000019", 1),
            ("1.5ms", 1_500_000),
        ] {
            assert_eq!(Value::new("keepalive", text).duration(), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        let long = "9".repeat(60);
        for text in ["", ".", "s", "ms", "-1", "+1", "1e3", "1 s", "1.", ".5", "31622401", &long, "0.x"] {
            assert!(Value::new("keepalive", text).duration().is_err(), "{text}");
        }
        assert!(Value::new("keepalive", &format!("0.{long}")).duration().is_err());
    }

    #[test]
    fn written_durations_come_back() {
        for time in [(0, 0), (30, 0), (100, 0), (1, 1), (2, 500_000_000), (31_622_400, 0)] {
            let time = Duration::new(time.0, time.1);
            let text = write_duration(time);
            assert_eq!(Value::new("keepalive", &text).duration(), Ok(time), "{text}");
        }
        assert_eq!(write_duration(Duration::from_millis(2500)), "2.5");
        assert_eq!(write_duration(Duration::from_secs(100)), "100");
    }

    #[test]
    fn version_ranges() {
        for (text, expected) in
            [("15", 15..=15), ("13-17", 13..=17), ("13..17", 13..=17), (" 13 - 19 ", 13..=19)]
        {
            assert_eq!(Value::new("protocol", text).versions(13..=19), Ok(expected), "{text}");
        }
        for text in ["", "12", "20", "17-13", "13-", "-13", "13-17-19", "x", "65549", "99999999999"] {
            assert!(Value::new("protocol", text).versions(13..=19).is_err(), "{text}");
        }
    }
}
