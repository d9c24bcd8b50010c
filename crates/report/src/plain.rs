//! Text from records, which may come from anybody, on one line.

use std::borrow::Cow;

/// The text without characters that control a terminal, and without those that turn the direction of what follows.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    match text.contains(is_harmful) {
        false => text.into(),
        true => text
            .chars()
            .filter_map(|c| if is_break(c) { Some(' ') } else { (!is_harmful(c)).then_some(c) })
            .collect(),
    }
}

/// The first characters of a text, with a sign that there are more.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.chars().count() > most {
        false => text.into(),
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_is_dropped_and_the_rest_stays() {
        assert_eq!(plain("Zürich ✓ 東京 שלום"), "Zürich ✓ 東京 שלום");
        assert_eq!(plain("a\x1b[2Jb\r\nc\u{202e}d\0"), "a[2Jb  cd");
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shortened("abcde", 5), "abcde");
        assert_eq!(shortened("äbcdef", 5), "äbcd…");
    }
}
