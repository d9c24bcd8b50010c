//! Hides passwords in texts to be shown.

/// Replaces what looks like a password: `user:…@` after `://` or at the start of a word, and the values of `password=`
/// and `pwd=`. Messages of the argument parser and the engine may repeat their input.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end_matches(char::is_whitespace);
        redacted.push_str(&keywords(&login(word)));
        redacted.push_str(&part[word.len()..]);
    }
    redacted
}

/// Replaces a password that is known, wherever it stands.
#[must_use]
pub fn hide(text: &str, password: &str) -> String {
    if password.is_empty() { text.to_owned() } else { text.replace(password, "***") }
}

/// `user:secret@host` becomes `user:***@host`.
fn login(word: &str) -> String {
    let start = word.find("://").map_or(0, |at| at + 3);
    // A password may contain an unencoded @, so the last one of the word counts: hiding too much is better than hiding
    // too little.
    let Some(end) = word.rfind('@') else { return word.to_owned() };
    if end < start {
        return word.to_owned();
    }
    match word[start..end].find(':') {
        Some(colon) => format!("{}***{}", &word[..=start + colon], &word[end..]),
        None => word.to_owned(),
    }
}

/// `password=secret` becomes `password=***`.
fn keywords(word: &str) -> String {
    let mut text = word.to_owned();
    for keyword in ["password=", "pwd="] {
        let mut from = 0;
        while let Some(at) = text[from..].to_ascii_lowercase().find(keyword) {
            let start = from + at + keyword.len();
            let end = text[start..].find(['&', ';', '\'', '"']).map_or(text.len(), |end| start + end);
            text.replace_range(start..end, "***");
            from = start;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn passwords_are_hidden_and_the_rest_stays() {
        for (text, expected) in [
            ("cannot reach firebird://u:s3@h/x now", "cannot reach firebird://u:***@h/x now"),
            ("'firebird://u:p@ss@h:3050/x'", "'firebird://u:***@h:3050/x'"),
            ("firebird://u@h:3050/x", "firebird://u@h:3050/x"),
            ("u:secret@h/x?role=r", "u:***@h/x?role=r"),
            ("database=h:x;user=u;password=secret;role=r", "database=h:x;user=u;password=***;role=r"),
            ("/a.fdb?Password=secret&pwd=other", "/a.fdb?Password=***&pwd=***"),
            ("a: b@c", "a: b@c"),
            ("line\n  two", "line\n  two"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }
}
