//! Dates in figures, whose day and month only their writer can tell apart: `01/05/2024`.

use crate::datetime;
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
/// year has fewer than four digits, because the engine chooses its century. Any other text stays as it is.
///
/// `None` for a text that the engine would read as a date with the month first, if its order is not known, or if it has
/// no day, month and year in that order. Between points the day comes first.
pub(super) fn unambiguous(text: &str, order: Option<DateOrder>) -> Option<Cow<'_, str>> {
    let (blanks, date) = text.split_at(text.len() - text.trim_start_matches(BLANKS).len());
    match Form::of(date) {
        Form::Other => Some(Cow::Borrowed(text)),
        Form::Points(figures) => Some(match figures.date(DateOrder::Dmy) {
            Some(date) => Cow::Owned(format!("{blanks}{date}")),
            None => Cow::Borrowed(text),
        }),
        Form::Marks(figures) => Some(Cow::Owned(format!("{blanks}{}", figures.date(order?)?))),
        Form::Unreadable => None,
    }
}

/// Whether this is a date in figures of which the day and the month look alike.
pub(super) fn needs_order(text: &str) -> bool {
    matches!(Form::of(text.trim_start_matches(BLANKS)), Form::Marks(_))
}

/// Why a text that is no date might be one.
pub(super) fn hint(text: &str, order: Option<DateOrder>) -> &'static str {
    match order {
        _ if unambiguous(text, order).is_some() => "",
        _ if [DateOrder::Dmy, DateOrder::Mdy]
            .iter()
            .all(|order| unambiguous(text, Some(*order)).is_none()) =>
        {
            "; a date is day, month and year with one mark between them"
        }
        None => "; does its day or its month come first? Say so with --date-order dmy or mdy",
        Some(DateOrder::Dmy) => "; with --date-order dmy it must be day, month and year",
        Some(DateOrder::Mdy) => "; with --date-order mdy it must be month, day and year",
    }
}

/// What the engine skips between figures.
const BLANKS: [char; 2] = [' ', '\t'];
/// What may be between the figures of a date, besides blanks and points.
const MARKS: [char; 3] = ['/', '-', ','];

/// How a text begins.
enum Form<'a> {
    /// Not with two numbers of at most two digits: with a year, with the name of a month in between, or it is no date.
    Other,
    Points(Figures<'a>),
    Marks(Figures<'a>),
    /// As a date of which something is missing, such as its year, or in which something else follows.
    Unreadable,
}

/// The three numbers of a date.
struct Figures<'a> {
    first: &'a str,
    second: &'a str,
    year: &'a str,
    /// What follows, without blanks around it.
    time: &'a str,
}

impl<'a> Form<'a> {
    fn of(date: &'a str) -> Self {
        let Some((first, rest)) = number(date, 2) else { return Self::Other };
        let next = rest.trim_start_matches(BLANKS);
        let mark = match next.chars().next() {
            Some(mark) if mark == '.' || MARKS.contains(&mark) => mark,
            Some(digit) if digit.is_ascii_digit() && next.len() < rest.len() => ' ',
            _ => return Self::Other,
        };
        let rest = next.strip_prefix(mark).unwrap_or(next).trim_start_matches(BLANKS);
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Self::Other;
        }
        match (Figures::after(first, mark, rest), mark) {
            (Some(figures), '.') => Self::Points(figures),
            (Some(figures), _) => Self::Marks(figures),
            // The engine would add the year of today.
            (None, '.') if !is_day_and_month(rest) => Self::Other,
            (None, _) => Self::Unreadable,
        }
    }
}

impl<'a> Figures<'a> {
    /// The second number, the year and the time, after the first number and a mark.
    fn after(first: &'a str, mark: char, rest: &'a str) -> Option<Self> {
        let (second, rest) = number(rest, 2)?;
        let next = rest.trim_start_matches(BLANKS);
        let rest = match mark {
            ' ' => next,
            _ => next.strip_prefix(mark)?.trim_start_matches(BLANKS),
        };
        let (year, rest) = number(rest, 4)?;
        let time = rest.trim_matches(BLANKS);
        let is_separate = time.len() < rest.len() && !time.starts_with(['/', '-', ',', '.']);
        let time = match time.strip_prefix(['T', 't']) {
            Some(time) if !time.is_empty() => time,
            _ if time.is_empty() || is_separate => time,
            _ => return None,
        };
        Some(Self { first, second, year, time })
    }

    /// `None` if there is no such day.
    fn date(&self, order: DateOrder) -> Option<String> {
        let Self { first, second, year, time } = *self;
        let (day, month) = match order {
            DateOrder::Dmy => (first, second),
            DateOrder::Mdy => (second, first),
        };
        let in_range =
            |figures: &str, most: u8| figures.parse().is_ok_and(|number| (1..=most).contains(&number));
        if !in_range(day, 31) || !in_range(month, 12) {
            return None;
        }
        let blank = if time.is_empty() { "" } else { " " };
        if year.len() < 4 {
            return Some(format!("{day}.{month}.{year}{blank}{}", datetime::for_engine(time)));
        }
        let date = format!("{year}-{month:0>2}-{day:0>2}");
        datetime::date(&date)?;
        Some(format!("{date}{blank}{time}"))
    }
}

/// Whether a number is all that follows the first one and a point, as in `31.12.`
fn is_day_and_month(rest: &str) -> bool {
    number(rest, 2).is_some_and(|(_, rest)| rest.trim_matches(BLANKS).trim_start_matches('.').is_empty())
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
            ("01/05/2024", Some("2024-05-01"), Some("2024-01-05")),
            ("1-5-2024 10:00:00", Some("2024-05-01 10:00:00"), Some("2024-01-05 10:00:00")),
            ("01,05,2024", Some("2024-05-01"), Some("2024-01-05")),
            ("01 05 2024", Some("2024-05-01"), Some("2024-01-05")),
            (" 01 / 05 /\t2024\t", Some(" 2024-05-01"), Some(" 2024-01-05")),
            ("31/12/2024T10:00:00", Some("2024-12-31 10:00:00"), None),
            ("01/05/24", Some("01.05.24"), Some("05.01.24")),
            (
                "1/5/24T10:00:00.123456+02:00",
                Some("1.5.24 10:00:00.1234 +02:00"),
                Some("5.1.24 10:00:00.1234 +02:00"),
            ),
            ("29/2/2023", None, None),
            ("0/5/24", None, None),
            // The engine would read all of these with the month first.
            ("01/05", None, None),
            ("01 05", None, None),
            ("01/05-2024", None, None),
            ("01/05/2024-10:00", None, None),
            ("01/05/2024,10:00", None, None),
            ("1/2/3/4", None, None),
            ("01/05/2024x", None, None),
            ("01/05/2024T", None, None),
            ("01/05/20245", None, None),
        ] {
            assert_eq!(unambiguous(text, Some(DateOrder::Dmy)).as_deref(), dmy, "{text}");
            assert_eq!(unambiguous(text, Some(DateOrder::Mdy)).as_deref(), mdy, "{text}");
            assert_eq!(unambiguous(text, None), None, "{text}");
            let is_known = dmy.is_some() || mdy.is_some();
            assert_eq!(hint(text, None).contains("Say so"), is_known, "{text}");
            assert_eq!(hint(text, None).contains("day, month and year"), !is_known, "{text}");
            assert_eq!(
                hint(text, Some(DateOrder::Dmy)).contains("day, month and year"),
                dmy.is_none(),
                "{text}"
            );
        }
    }

    #[test]
    fn the_day_comes_first_between_points() {
        for (text, expected) in [
            ("01.05.2024", "2024-05-01"),
            (" 1. 5. 2024  08:30:00.5", " 2024-05-01 08:30:00.5"),
            ("01.05.24", "01.05.24"),
            ("31.13.2024", "31.13.2024"),
            ("29.02.2023", "29.02.2023"),
            ("01.05.2024x", "01.05.2024x"),
            ("192.168.1.1", "192.168.1.1"),
            ("10.168.1.1", "10.168.1.1"),
        ] {
            for order in [None, Some(DateOrder::Dmy), Some(DateOrder::Mdy)] {
                assert_eq!(unambiguous(text, order).as_deref(), Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn dates_without_year_are_refused() {
        for text in ["01.05", "1.5.", " 31. 12. ", "20.5", "01/05", "5-1"] {
            assert_eq!(unambiguous(text, None), None, "{text}");
            assert_eq!(hint(text, None), "; a date is day, month and year with one mark between them");
            assert!(!needs_order(text), "{text}");
        }
        assert!(!needs_order("2,50") && needs_order("1/2/24"));
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "2024-05-01",
            "2024/05/01",
            "2024.05.01",
            "5-JAN-2024",
            "5,Jan,2024",
            "5 JAN 2024",
            "TODAY",
            "",
            "ä",
            "7",
            "7-",
            "10:00:00",
            "001/05/2024",
        ] {
            assert_eq!(unambiguous(text, None).as_deref(), Some(text));
            assert_eq!(hint(text, None), "");
        }
    }
}
