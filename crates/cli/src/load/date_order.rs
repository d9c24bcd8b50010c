//! Dates in figures, whose day and month only their writer can tell apart: `01/05/2024`.

use clap::ValueEnum;
use std::borrow::Cow;

/// The value of `--date-order`: what comes first in dates such as `01/05/2024` and `01-05-2024`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DateOrder {
    /// The day, as in 31/12/2024
    Dmy,
    /// The month, as in 12/31/2024
    Mdy,
}

/// Returns a date, or what begins with one, in a form that means the same everywhere: ISO 8601, or with points where the
/// year has less than four digits, of which the engine chooses the century. Any other text stays as it is.
///
/// `None` if the order is not known, and the figures are not separated by points, between which the day comes first.
pub(super) fn unambiguous(text: &str, order: Option<DateOrder>) -> Option<Cow<'_, str>> {
    let (blanks, date) = text.split_at(text.len() - text.trim_start().len());
    let Some(Figures { first, second, year, separator, rest }) = figures(date) else {
        return Some(Cow::Borrowed(text));
    };
    let (day, month) = match (separator, order) {
        ('.', _) | (_, Some(DateOrder::Dmy)) => (first, second),
        (_, Some(DateOrder::Mdy)) => (second, first),
        (_, None) => return None,
    };
    Some(Cow::Owned(match year.len() {
        4 => format!("{blanks}{year}-{month:0>2}-{day:0>2}{rest}"),
        _ => format!("{blanks}{day}.{month}.{year}{rest}"),
    }))
}

/// Why a text that is no date might be one.
pub(super) fn hint(text: &str) -> &'static str {
    match unambiguous(text, None) {
        None => "; does its day or its month come first? Say so with --date-order dmy or mdy",
        Some(_) => "",
    }
}

/// Three numbers at the beginning of a text, of which the last is a year.
struct Figures<'a> {
    first: &'a str,
    second: &'a str,
    year: &'a str,
    separator: char,
    rest: &'a str,
}

fn figures(text: &str) -> Option<Figures<'_>> {
    let (first, rest) = number(text, 2)?;
    // All that the engine takes; it reads the month first unless they are points.
    let separator = rest.chars().next().filter(|mark| matches!(mark, '.' | '/' | '-' | ',' | ' '))?;
    let (second, rest) = number(&rest[1..], 2)?;
    let (year, rest) = number(rest.strip_prefix(separator)?, 4)?;
    let is_whole = rest.is_empty() || rest.starts_with([' ', 'T', 't']);
    is_whole.then_some(Figures { first, second, year, separator, rest })
}

/// Takes the digits at the beginning: at least one, at most so many.
fn number(text: &str, most: usize) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=most).contains(&digits).then(|| text.split_at(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_mean_the_same_everywhere() {
        for (text, dmy, mdy) in [
            ("01/05/2024", "2024-05-01", "2024-01-05"),
            ("1-5-2024 10:00:00", "2024-05-01 10:00:00", "2024-01-05 10:00:00"),
            ("31/12/2024T10:00:00", "2024-12-31T10:00:00", "2024-31-12T10:00:00"),
            ("01/05/24", "01.05.24", "05.01.24"),
        ] {
            assert_eq!(unambiguous(text, Some(DateOrder::Dmy)).as_deref(), Some(dmy), "{text}");
            assert_eq!(unambiguous(text, Some(DateOrder::Mdy)).as_deref(), Some(mdy), "{text}");
            assert_eq!(unambiguous(text, None), None, "{text}");
            assert!(hint(text).contains("--date-order"));
        }
        for (text, expected) in [
            ("01.05.2024", "2024-05-01"),
            (" 1.5.2024 08:30:00.5", " 2024-05-01 08:30:00.5"),
            ("01.05.24", "01.05.24"),
        ] {
            for order in [None, Some(DateOrder::Dmy), Some(DateOrder::Mdy)] {
                assert_eq!(unambiguous(text, order).as_deref(), Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "2024-05-01",
            "2024/05/01",
            "5-JAN-2024",
            "TODAY",
            "",
            "01/05",
            "01/05-2024",
            "1/2/3/4",
            "001/05/2024",
            "01.05.2024x",
            "ä",
            "10:00:00",
        ] {
            assert_eq!(unambiguous(text, None).as_deref(), Some(text));
            assert_eq!(hint(text), "");
        }
    }
}
