//! What stands before the decimals of numbers in CSV.

use super::infer::is_digits;
use std::borrow::Cow;

/// What stands before the decimals of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Point,
    Comma,
}

impl DecimalMark {
    /// Returns a number as the engine reads it; `None` for one with a point where a comma is expected, or with several
    /// commas: nobody can tell whether they separate decimals or thousands.
    pub(super) fn with_point(self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Point => Some(Cow::Borrowed(text)),
            Self::Comma if text.contains('.') || text.matches(',').count() > 1 => None,
            Self::Comma => Some(Cow::Owned(text.replace(',', "."))),
        }
    }

    /// Why a text that is no number might be one.
    pub(super) fn hint(self, text: &str) -> &'static str {
        match self {
            Self::Point if has_decimal_comma(text) => "; CSV with decimal commas needs --decimal-comma",
            Self::Comma if text.contains('.') => "; with --decimal-comma, numbers have no points",
            _ => "",
        }
    }
}

/// Whether a text is a number whose decimals follow a comma. In `1,200` it may separate thousands.
pub(crate) fn has_decimal_comma(text: &str) -> bool {
    let number = text.trim().trim_start_matches(['-', '+']);
    number.split_once(',').is_some_and(|(whole, decimals)| {
        let may_be_thousands = decimals.len() == 3 && whole.len() <= 3 && !whole.starts_with('0');
        is_digits(whole) && is_digits(decimals) && !may_be_thousands
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_become_points() {
        for (text, expected) in
            [("2,50", Some("2.50")), ("-7", Some("-7")), ("2.5", None), ("1,2,3", None), ("", Some(""))]
        {
            assert_eq!(DecimalMark::Comma.with_point(text).as_deref(), expected, "{text}");
            assert_eq!(DecimalMark::Point.with_point(text).as_deref(), Some(text));
        }
        assert!(["2,50", "-1,0", " 1,5 ", "1234,567", "0,125"].into_iter().all(has_decimal_comma));
        assert!(!["2.50", "1,", ",5", "1,2,3", "a,b", "", "1,200"].into_iter().any(has_decimal_comma));
    }
}
