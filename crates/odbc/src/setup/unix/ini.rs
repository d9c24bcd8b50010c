//! The text of an ini file as unixODBC reads it. Changes leave comments, order and other sections as they are.

use std::io;
use std::ops::Range;

/// unixODBC reads no more of a line.
const LONGEST_LINE: usize = 998;

/// An ini file, line by line. Bytes rather than text: other sections may have any encoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ini {
    /// With their terminators.
    lines: Vec<Vec<u8>>,
}

impl Ini {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        Self { lines: bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect() }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lines.concat()
    }

    /// The names of the sections, each once.
    pub(super) fn sections(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.lines.iter().filter_map(|line| header(line)) {
            let name = String::from_utf8_lossy(name).into_owned();
            if !names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
                names.push(name);
            }
        }
        names
    }

    pub(super) fn has(&self, section: &str) -> bool {
        self.find(section).is_some()
    }

    /// The entries of a section.
    pub(super) fn entries(&self, section: &str) -> io::Result<Option<Vec<(String, String)>>> {
        let Some(lines) = self.find(section) else { return Ok(None) };
        let properties = self.lines[lines].iter().filter_map(|line| property(line));
        let entries = properties.map(|(name, value)| Ok((text(name, section)?, text(value, section)?)));
        entries.collect::<io::Result<_>>().map(Some)
    }

    /// Sets entries of a section, which is appended if it is missing. Its other entries stay.
    pub(super) fn set(&mut self, section: &str, entries: &[(&str, &str)]) -> io::Result<()> {
        for (name, value) in entries {
            check_line(name, value)?;
        }
        self.end_last_line();
        if self.find(section).is_none() {
            if self.lines.last().is_some_and(|line| !is_blank(line)) {
                self.lines.push(b"\n".to_vec());
            }
            self.lines.push(format!("[{section}]\n").into_bytes());
        }
        for (name, value) in entries {
            let line = format!("{name} = {value}\n").into_bytes();
            let Some(lines) = self.find(section) else { continue };
            let is_same = |line: &Vec<u8>| {
                property(line).is_some_and(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()))
            };
            match self.lines[lines.clone()].iter().position(is_same) {
                Some(at) => self.lines[lines.start + at] = line,
                None => {
                    let last = self.lines[lines.clone()].iter().rposition(|line| property(line).is_some());
                    self.lines.insert(last.map_or(lines.start, |at| lines.start + at + 1), line);
                }
            }
        }
        Ok(())
    }

    /// Removes a section. Returns whether there was one. What follows its last entry stays: it tends to be the comment of
    /// the next section.
    pub(super) fn remove(&mut self, section: &str) -> bool {
        let mut was_there = false;
        // Below it another section of this name would come to light.
        while let Some(lines) = self.find(section) {
            was_there = true;
            let last = self.lines[lines.clone()].iter().rposition(|line| property(line).is_some());
            let end = last.map_or(lines.start, |at| lines.start + at + 1);
            let mut start = lines.start - 1;
            let follows_blank = start > 0 && is_blank(&self.lines[start - 1]);
            if follows_blank && self.lines.get(end).is_none_or(|line| is_blank(line)) {
                start -= 1;
            }
            self.lines.drain(start..end);
        }
        was_there
    }

    /// The lines of a section, without its header. The first one of a name counts.
    fn find(&self, section: &str) -> Option<Range<usize>> {
        let is_header = |line: &Vec<u8>| header(line).is_some();
        let is_section = |line: &Vec<u8>| {
            header(line).is_some_and(|name| name.eq_ignore_ascii_case(section.trim().as_bytes()))
        };
        let start = self.lines.iter().position(is_section)? + 1;
        let end = self.lines[start..].iter().position(is_header).map_or(self.lines.len(), |at| start + at);
        Some(start..end)
    }

    fn end_last_line(&mut self) {
        if let Some(line) = self.lines.last_mut().filter(|line| !line.ends_with(b"\n")) {
            line.push(b'\n');
        }
    }
}

/// The name of the section that a line begins.
fn header(line: &[u8]) -> Option<&[u8]> {
    let name = line.strip_prefix(b"[")?;
    let end = name.iter().position(|byte| *byte == b']').unwrap_or(name.len());
    Some(name[..end].trim_ascii())
}

/// The name and value of a line. unixODBC skips indented lines.
fn property(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = *line.first()?;
    if matches!(first, b'#' | b';' | b'[') || first.is_ascii_whitespace() {
        return None;
    }
    let end = line.iter().position(|byte| *byte == b'=')?;
    Some((line[..end].trim_ascii(), line[end + 1..].trim_ascii()))
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn text(bytes: &[u8], section: &str) -> io::Result<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.map(str::to_owned).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("section [{section}] contains text that is not UTF-8"),
        )
    })
}

/// Whether a line reads back as what it is made of. The value is not repeated: it may be a password.
fn check_line(name: &str, value: &str) -> io::Result<()> {
    let wrong = |why: &str| {
        Err(io::Error::new(io::ErrorKind::InvalidInput, format!("the value of {name} {why} in an ini file")))
    };
    let line = format!("{name} = {value}");
    if value.contains(['\n', '\r', '\0']) {
        return wrong("contains a line break or zero byte, which cannot be");
    }
    if value.trim_ascii() != value {
        return wrong("begins or ends with a blank, which would be lost");
    }
    if line.len() > LONGEST_LINE {
        return wrong("is longer than a line can be");
    }
    match property(line.as_bytes()) {
        Some((known, _)) if known == name.as_bytes() => Ok(()),
        _ => wrong("cannot be stored in an ini file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "; drivers\n\n[ODBC]\nTrace = No\n\n# the shop\n[Shop] ; x\nDriver=Firebird\n\n  Indented = 1\n\
                        # pw\nPassword = a=b; c \r\nnothing\n=x\n\n# another\n[ other ]\nDbname=h:x";

    fn entries(ini: &Ini, section: &str) -> Option<Vec<(String, String)>> {
        ini.entries(section).expect("UTF-8")
    }

    #[test]
    fn sections_are_read_as_unixodbc_does() {
        let ini = Ini::parse(FILE.as_bytes());
        assert_eq!(ini.sections(), ["ODBC", "Shop", "other"]);
        let pairs = |list: &[(&str, &str)]| -> Option<Vec<(String, String)>> {
            Some(list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
        };
        let shop = pairs(&[("Driver", "Firebird"), ("Password", "a=b; c"), ("", "x")]);
        assert_eq!(entries(&ini, "sHOP"), shop);
        assert_eq!(entries(&ini, "Other"), pairs(&[("Dbname", "h:x")]));
        assert_eq!(entries(&ini, "odbc"), pairs(&[("Trace", "No")]));
        assert_eq!(entries(&ini, "none"), None);
        assert_eq!(entries(&Ini::parse(b"[a\nb=1"), "a"), pairs(&[("b", "1")]));
    }

    #[test]
    fn other_encodings_harm_their_section_only() {
        let ini = Ini::parse(b"[a]\nx=\xE9\n[b]\nx=\xC3\xA9\n[c]\nx=\0\n");
        for section in ["a", "c"] {
            assert_eq!(ini.entries(section).expect_err(section).kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(entries(&ini, "b"), Some(vec![("x".into(), "é".into())]));
    }

    #[test]
    fn changes_keep_everything_else() {
        let mut ini = Ini::parse(FILE.as_bytes());
        ini.set("shop", &[("DRIVER", "Firearrow"), ("Dbname", "h:y")]).expect("lines");
        ini.set("New", &[("Driver", "x")]).expect("lines");
        let expected = FILE
            .replace("Driver=Firebird\n", "DRIVER = Firearrow\n")
            .replace("nothing\n=x\n", "nothing\n=x\nDbname = h:y\n")
            + "\n\n[New]\nDriver = x\n";
        assert_eq!(String::from_utf8_lossy(&ini.bytes()), expected);
        assert!(ini.remove("SHOP") && !ini.remove("shop"));
        let expected = "; drivers\n\n[ODBC]\nTrace = No\n\n# the shop\n\n# another\n[ other ]\nDbname=h:x\n\n[New]\nDriver = x\n";
        assert_eq!(String::from_utf8_lossy(&ini.bytes()), expected);
        let mut ini = Ini::parse(b"[a]\nx=1\n[b]\ny=1\n[A]\nz=1\n");
        assert!(ini.remove("a"));
        assert_eq!(ini.bytes(), b"[b]\ny=1\n");
    }

    #[test]
    fn what_would_not_read_back_is_refused() {
        let mut ini = Ini::default();
        let long = "x".repeat(1000);
        for (name, value) in [
            ("a", "x\n[evil]"),
            ("a", "x\r"),
            ("a", "x\0"),
            ("a", " x"),
            ("a", "x\t"),
            ("a", long.as_str()),
            ("", "x"),
            ("a=b", "x"),
            ("[a", "x"),
            (";a", "x"),
            (" a", "x"),
        ] {
            let error = ini.set("s", &[(name, value)]).expect_err(value);
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(!error.to_string().contains("evil"));
        }
        assert_eq!(ini, Ini::default());
    }

    proptest! {
        #[test]
        fn what_is_added_reads_back_and_goes_again(
            file in "([a-c]=[a-c ]{0,3}\n|\\[[a-c]\\]\n|#x\n|\n){0,20}",
            value in "[!-~]{0,20}",
        ) {
            let before = Ini::parse(file.as_bytes());
            let mut ini = before.clone();
            ini.set("Added", &[("Driver", "x"), ("Value", &value)]).expect("lines");
            let expected = vec![("Driver".to_owned(), "x".to_owned()), ("Value".to_owned(), value)];
            prop_assert_eq!(entries(&ini, "added"), Some(expected));
            for section in before.sections() {
                prop_assert_eq!(entries(&ini, &section), entries(&before, &section));
            }
            prop_assert!(ini.remove("ADDED"));
            // But for blank lines at the end.
            let trimmed = |ini: &Ini| ini.bytes().trim_ascii_end().to_vec();
            prop_assert_eq!(trimmed(&ini), trimmed(&before));
        }
    }
}
