//! Hides passwords in texts to be shown.

/// Replaces what looks like a password: `user:…@` after `://` or at the start of a word, and the values of `password=`
/// and `pwd=`. Messages of the argument parser and the engine may repeat their input.
#[must_use]
pub fn redact(text: &str) -> String {
    let text = keywords(&spaced_logins(text));
    let mut redacted = String::with_capacity(text.len());
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end_matches(char::is_whitespace);
        redacted.push_str(&login(word));
        redacted.push_str(&part[word.len()..]);
    }
    redacted
}

/// Replaces what looks like a password, and a password that is known, wherever it stands.
#[must_use]
pub fn hide(text: &str, password: &str) -> String {
    let text = redact(text);
    if password.is_empty() { text } else { text.replace(password, "***") }
}

/// `://user:a secret@host` becomes `://user:***@host`: somebody may have forgotten to encode a space.
fn spaced_logins(text: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        hidden.push_str(before);
        rest = after;
        let line = &after[..after.find('\n').unwrap_or(after.len())];
        let line = &line[..line.find("://").unwrap_or(line.len())];
        let word = &line[..line.find(char::is_whitespace).unwrap_or(line.len())];
        let colon = word.find(':').filter(|colon| !word.contains('@') && !word[..*colon].contains('/'));
        if let (Some(colon), Some(end)) = (colon, line.rfind('@')) {
            hidden.push_str(&line[..=colon]);
            hidden.push_str("***");
            rest = &after[end..];
        }
    }
    hidden + rest
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

/// `password=secret` becomes `password=***`. A secret with spaces ends where the next keyword begins.
fn keywords(text: &str) -> String {
    let mut text = text.to_owned();
    for keyword in ["password=", "pwd="] {
        let mut from = 0;
        while let Some(at) = text[from..].to_ascii_lowercase().find(keyword) {
            let start = from + at + keyword.len();
            let line = &text[start..];
            let line = &line[..line.find('\n').unwrap_or(line.len())];
            let end = line.find(['&', ';', '\'', '"']).or_else(|| line.find(char::is_whitespace));
            let end = start + end.unwrap_or(line.len());
            text.replace_range(start..end, "***");
            from = start + "***".len();
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
            ("no firebird://u:pa ss@h/x here", "no firebird://u:***@h/x here"),
            ("tcp://h:3050 is closed\nmail@x", "tcp://h:3050 is closed\nmail@x"),
            ("http://h/a:b and c@d", "http://h/a:b and c@d"),
            ("user=u;password=pa ss;role=r", "user=u;password=***;role=r"),
            ("password=secret was wrong", "password=*** was wrong"),
            ("line\n  two", "line\n  two"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }
}
