//! The values of keywords: text to what it means.

use super::Attributes;
use super::keyword::plain;
use crate::diagnostics::{Failure, Result, State};
use firearrow_driver::shortened;
use std::ops::RangeInclusive;

/// The text that a keyword has.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    keyword: &'static str,
    text: &'a str,
}

impl<'a> Value<'a> {
    /// The value of a keyword, if it is not empty.
    pub(super) fn of(attributes: &'a Attributes, keyword: &'static str) -> Option<Self> {
        attributes.filled(keyword).map(|text| Self { keyword, text })
    }

    pub(super) fn text(self) -> &'a str {
        self.text
    }

    /// A value that is not possible.
    pub(super) fn error(self, expected: &str) -> Failure {
        let text: String =
            shortened(self.text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let keyword = self.keyword;
        Failure::new(State::GENERAL, format!("{keyword}='{text}' is not possible; it must be {expected}"))
    }

    pub(super) fn flag(self) -> Result<bool> {
        const WORDS: [(&str, bool); 10] = [
            ("Y", true),
            ("YES", true),
            ("TRUE", true),
            ("ON", true),
            ("1", true),
            ("N", false),
            ("NO", false),
            ("FALSE", false),
            ("OFF", false),
            ("0", false),
        ];
        self.choice(&WORDS, "Y or N")
    }

    /// One of these words. Case, blanks, hyphens and underscores do not count.
    pub(super) fn choice<T: Copy>(self, words: &[(&str, T)], expected: &str) -> Result<T> {
        let found = words.iter().find(|(word, _)| plain(word).eq(plain(self.text)));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| self.error(expected))
    }

    pub(super) fn number(self, range: RangeInclusive<u32>) -> Result<u32> {
        // `parse` alone would accept a plus sign.
        let is_number = self.text.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.text.parse().ok().filter(|number| is_number && range.contains(number));
        number.ok_or_else(|| self.error(&format!("a whole number from {} to {}", range.start(), range.end())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value<'_> {
        Value { keyword: "READONLY", text }
    }

    #[test]
    fn flags_have_many_words() {
        for text in ["Y", "yes", "True", "on", "1"] {
            assert_eq!(value(text).flag(), Ok(true), "{text}");
        }
        for text in ["n", "NO", "false", "Off", "0"] {
            assert_eq!(value(text).flag(), Ok(false), "{text}");
        }
        for text in ["", "2", "maybe", "ja"] {
            let failure = value(text).flag().expect_err(text);
            let expected = format!("READONLY='{text}' is not possible; it must be Y or N");
            assert_eq!((failure.state, failure.text), (State::GENERAL, expected));
        }
    }

    #[test]
    fn numbers_have_a_range() {
        assert_eq!(value("0").number(0..=9), Ok(0));
        assert_eq!(value("09").number(0..=9), Ok(9));
        for text in ["10", "-1", "+1", "1.5", "x", "1 ", "99999999999999999999"] {
            let failure = value(text).number(0..=9).expect_err(text);
            assert!(failure.text.ends_with("it must be a whole number from 0 to 9"), "{}", failure.text);
        }
    }

    #[test]
    fn messages_stay_short_and_on_one_line() {
        let failure = value(&"a\n".repeat(1000)).error("b");
        assert!(failure.text.len() < 200 && !failure.text.contains('\n'), "{}", failure.text);
    }
}
