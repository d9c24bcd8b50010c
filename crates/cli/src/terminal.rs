//! Text for people. Text from a server or a file may contain characters that control a terminal, so these are escaped
//! wherever the text goes, because most of it ends up on a terminal sooner or later. Data for programs (CSV, JSON,
//! Arrow and Parquet) stays unchanged.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Escapes everything that does not belong in a line, as `\n`, `\r`, `\t`,
/// and `\u{1b}` for other control characters and for those that change the direction of the following
/// text.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_harmful)
}

/// Escapes the same characters except line breaks.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && is_harmful(c))
}

/// Prints text on standard error. A failure cannot be reported anywhere.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{}", lines(text));
}

/// Like [`remark`], but replaces the status line if a terminal shows one. Waits only briefly: another thread may hold
/// standard error while its reader has stopped reading.
pub(crate) fn notice(text: &str) {
    let begin = if io::stderr().is_terminal() { CLEAR } else { "" };
    let text = format!("{begin}{}\n", lines(text));
    let (done, is_done) = mpsc::channel();
    let print = move || {
        let _ = io::stderr().write_all(text.as_bytes());
        let _ = done.send(());
    };
    if thread::Builder::new().spawn(print).is_ok() {
        let _ = is_done.recv_timeout(LONG_ENOUGH);
    }
}

/// Shows a status line, on a terminal only.
pub(crate) fn status(text: &str) {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "{CLEAR}{}", line(text));
    }
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !is_escaped(c) => escaped.push(c),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            // Writing to a String cannot fail.
            c => drop(write!(escaped, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(escaped)
}

/// Control characters (C0, DEL, C1), separators of lines and paragraphs, and characters that override or isolate a text
/// direction, with which a name can look like another one.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";
const LONG_ENOUGH: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_the_rest_stays() {
        for (text, expected) in [
            ("Zürich ✓ 東京 שלום", "Zürich ✓ 東京 שלום"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("a\x1b[2Jb\x7f", "a\\u{1b}[2Jb\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\r\tb\0", "a\\r\\tb\\u{0}"),
            ("\u{202e}txt.exe\u{202c}", "\\u{202e}txt.exe\\u{202c}"),
            ("\u{2066}x\u{2069}\u{2028}", "\\u{2066}x\\u{2069}\\u{2028}"),
        ] {
            assert_eq!(line(text), expected);
            assert_eq!(lines(text), expected);
        }
        assert_eq!(line("one\ntwo"), "one\\ntwo");
        assert_eq!(lines("one\n  two\x08"), "one\n  two\\u{8}");
        assert!(matches!(line("plain"), Cow::Borrowed(_)));
    }
}
