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

/// Replaces a password that is known, wherever it stands, and what looks like one. The known one comes first: a pattern
/// ends where a password may go on, and would leave its tail.
#[must_use]
pub fn hide(text: &str, password: &str) -> String {
    redact(&known(text, password))
}

/// Replaces a password, even if characters of it are written as JSON, URLs, SQL or connection strings have them.
fn known(text: &str, password: &str) -> String {
    if password.is_empty() {
        return text.to_owned();
    }
    let forms: Vec<Vec<String>> = password.chars().map(forms).collect();
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match written(rest, &forms) {
            Some(end) => {
                hidden.push_str("***");
                rest = &rest[end..];
            }
            None => {
                hidden.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    hidden
}

/// Where a password ends with which a text begins.
fn written(text: &str, forms: &[Vec<String>]) -> Option<usize> {
    let mut ends = vec![0];
    for forms in forms {
        let longer = |end: &usize| {
            let end = *end;
            let fits = move |form: &&String| {
                // Digits of an escape may be of either case; a character by itself may not.
                let is_escape = form.len() > 2 && form.is_ascii();
                let is_same =
                    |there: &str| there == form.as_str() || is_escape && there.eq_ignore_ascii_case(form);
                text.get(end..end + form.len()).is_some_and(is_same)
            };
            forms.iter().filter(fits).map(move |form| end + form.len())
        };
        ends = ends.iter().flat_map(longer).collect();
        // A character that stands for itself can also begin an escape, so there may be several.
        ends.sort_unstable();
        ends.dedup();
    }
    ends.pop()
}

/// How a character may be written.
fn forms(c: char) -> Vec<String> {
    let mut forms = vec![c.to_string(), format!("\\{c}")];
    forms.push(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")).collect());
    forms.push(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect());
    match c {
        ' ' => forms.push("+".to_owned()),
        '\n' => forms.push("\\n".to_owned()),
        '\r' => forms.push("\\r".to_owned()),
        '\t' => forms.push("\\t".to_owned()),
        '\'' | '"' | '}' => forms.push(format!("{c}{c}")),
        _ => {}
    }
    forms
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
            // In connection strings of ODBC braces keep a semicolon together with the rest.
            let braces = line.strip_prefix('{').and_then(|rest| rest.find('}')).map(|at| at + 2);
            let end = start + braces.or(end).unwrap_or(line.len());
            text.replace_range(start..end, "***");
            from = start + "***".len();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{hide, redact};

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
            ("UID=u;PWD={s3;cr et};X=1", "UID=u;PWD=***;X=1"),
            ("line\n  two", "line\n  two"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn a_known_password_is_hidden_to_its_end_and_however_it_is_written() {
        let password = "s3;cr et@x\"q\\é%";
        for text in [
            format!("password={password}"),
            format!("firebird://u:{password}@h/x"),
            format!("it said {password}."),
            format!("it said {}.", serde_json::to_string(password).unwrap()),
            format!("it said {password:?}."),
            "firebird://u:s3%3Bcr%20et%40x%22q%5C%C3%A9%25@h/x".to_owned(),
            "firebird://u:s3%3bcr+et@x%22q%5c%c3%a9%25@h/x".to_owned(),
            r#"{"p": "s3;cr et@x\"q\\\u00e9%"}"#.to_owned(),
        ] {
            let hidden = hide(&text, password);
            let tails = ["s3", "cr", "et@", "x\"", "q", "é", "%25", "u00"];
            assert!(tails.iter().all(|tail| !hidden.contains(tail)), "{text}: {hidden}");
            assert!(hidden.contains("***"), "{text}: {hidden}");
        }
        assert_eq!(hide("sql state: 28000", "sa"), "sql state: 28000");
        assert_eq!(hide("a%41b", "%41"), "a***b");
        assert_eq!(hide("a%2541b", "%41"), "a***b");
        assert_eq!(hide("is it AB or ab?", "ab"), "is it AB or ***?");
        assert_eq!(hide("ünknown", ""), "ünknown");
    }
}
