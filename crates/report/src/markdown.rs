//! Figures as Markdown.

use crate::figures::Figures;
use crate::plain::plain;
use crate::record::Record;
use crate::tables::{circumstances, how_to_read, notes, rows, titles, warnings};

/// Formats records as Markdown.
#[must_use]
pub fn markdown(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        let figures = Figures::of(record);
        text += &format!("# {}: {}\n\n", escaped(&record.head.benchmark), escaped(&record.head.title));
        for warning in warnings(&figures) {
            text += &format!("**{}**\n\n", escaped(&warning));
        }
        for (name, value) in circumstances(record) {
            text += &format!("- {}: {}\n", escaped(&name), escaped(&value));
        }
        for table in &figures.tables {
            text += &format!("\n## {}\n\n", escaped(&table.head.title));
            let titles: Vec<String> = titles(table).iter().map(|title| escaped(title)).collect();
            text += &format!("| | | {} |\n|---|---|{}\n", titles.join(" | "), "---:|".repeat(titles.len()));
            for row in rows(table) {
                let (case, contestant) = (escaped(row.case), escaped(&row.contestant));
                text += &format!("| {case} | {contestant} | {} |\n", row.cells.join(" | "));
            }
            for note in notes(table) {
                text += &format!("\n{}\n", escaped(&note));
            }
        }
        for check in record.end.iter().flat_map(|end| &end.checks) {
            text += &format!("\nChecked: {}\n", escaped(check));
        }
        text += &format!("\n{}\n\n", how_to_read(&figures));
    }
    text
}

/// Text that Markdown shows as it is, on one line: no markup, no links, no names that are notified.
fn escaped(text: &str) -> String {
    let text = plain(text);
    let text = text.trim();
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let is_within_word = |other: Option<char>| other.is_some_and(char::is_alphanumeric);
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '|' | '\\' | '`' | '*' | '[' | ']' | '#' | '~' | '@' | '$' => shown.extend(['\\', c]),
            '_' if is_within_word(before) && is_within_word(next) => shown.push(c),
            '_' => shown.extend(['\\', c]),
            // A list, a line, an underlined heading.
            '-' | '+' | '=' if before.is_none() => shown.extend(['\\', c]),
            '.' | ')' if is_number(&shown) && next.is_none_or(char::is_whitespace) => {
                shown.extend(['\\', c]);
            }
            // What would become a link by itself.
            ':' if next == Some('/') => shown.extend(['\\', c]),
            '.' if is_www(&shown) => shown.extend(['\\', c]),
            c => shown.push(c),
        }
        before = Some(c);
    }
    shown
}

fn is_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

/// A number that a list may begin with.
fn is_number(text: &str) -> bool {
    (1..10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::record;

    #[test]
    fn columns_without_a_value_are_left_out() {
        let mut record = record();
        record.tables[0].columns.push("round_trips".into());
        assert!(!markdown(&[record]).contains("round trips"));
    }

    #[test]
    fn markdown_has_medians_and_ratios() {
        let text = markdown(&[record()]);
        assert!(text.contains("| | | elapsed | ratio (above 1: firearrow is better) | rows |"), "{text}");
        assert!(text.contains("| one | firearrow | 3.00 s (1.00 s – 5.00 s) | 1 | 10 |"), "{text}");
        assert!(
            text.contains("| one | rival | 6.00 s (2.00 s – 10.0 s) | 2.00 [2.00; 2.00] | 10 |"),
            "{text}"
        );
        assert!(!text.contains("interrupted"), "{text}");
    }

    #[test]
    fn parts_are_marked() {
        let mut part = record();
        part.end = None;
        assert!(markdown(&[part.clone()]).contains("**The run was interrupted"));
        part.head.environment.insert("is_optimised".into(), false.into());
        assert!(markdown(&[part]).contains("debug build"));
    }

    #[test]
    fn names_are_no_markup() {
        let mut record = record();
        for sample in &mut record.samples {
            sample.case = "=1+1 | <b>\n# x".into();
        }
        record.head.title = "`a` [b](c)".into();
        record.tables[0].notes = vec!["~~~".into(), "1. one".into()];
        let markdown = markdown(&[record]);
        assert!(markdown.starts_with("# demo: \\`a\\` \\[b\\](c)\n"), "{markdown}");
        assert!(markdown.contains("| \\=1+1 \\| &lt;b&gt; \\# x | firearrow |"), "{markdown}");
        assert!(markdown.contains("\n\\~\\~\\~\n\n1\\. one\n"), "{markdown}");
    }

    #[test]
    fn every_kind_of_markup_is_escaped() {
        for (text, expected) in [
            ("T_INT10, 5.0.4", "T_INT10, 5.0.4"),
            ("5.0", "5.0"),
            ("5) a", "5\\) a"),
            ("5.", "5\\."),
            ("_a_ a_ _b", "\\_a\\_ a\\_ \\_b"),
            ("---", "\\---"),
            ("+ a - b", "\\+ a - b"),
            ("    code", "code"),
            ("> a && b", "&gt; a &amp;&amp; b"),
            ("&lt;", "&amp;lt;"),
            ("see http://a.b and www.a.b", "see http\\://a.b and www\\.a.b"),
            ("@user $x$", "\\@user \\$x\\$"),
            ("a\u{202e}b\u{1b}[1mc\u{2029}d", "ab\\[1mc d"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }
}
