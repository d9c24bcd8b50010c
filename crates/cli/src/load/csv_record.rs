//! The records of CSV (RFC 4180), which tells a quoted empty field from an unquoted one. A record ends with LF, CRLF or
//! CR. Quotes within an unquoted field are part of it.

use std::io::{self, BufRead};

/// Reads records one by one.
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    /// The number of the next line, from 1 on.
    line: u64,
    longest: usize,
}

/// A record; reused to keep its memory.
#[derive(Debug, Default)]
pub(super) struct Record {
    text: String,
    /// Where each field ends, and whether it was quoted.
    ends: Vec<(usize, bool)>,
    /// The line that it begins in, from 1 on.
    pub(super) line: u64,
}

/// What is wrong with the text, and the line.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u64,
    pub(super) kind: FaultKind,
}

#[derive(Debug)]
pub(super) enum FaultKind {
    /// The file ends within a quoted field that began in this line.
    Unclosed,
    /// Text follows a closing quote.
    AfterQuote,
    /// The bytes are not UTF-8.
    Encoding,
    /// The record is longer than this many bytes.
    TooLong(usize),
    /// The record has more fields than this.
    TooMany(usize),
    Io(io::Error),
}

impl Record {
    /// Returns the number of fields.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the fields, and whether each was quoted.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, bool)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, is_quoted)| {
            let field = &self.text[start..end];
            start = end;
            (field, is_quoted)
        })
    }

    /// Whether the line was empty.
    pub(super) fn is_blank(&self) -> bool {
        self.ends == [(0, false)]
    }
}

/// Where the reader is within a field.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Start,
    Plain,
    Quoted,
    /// After a quote within a quoted field: its end, or the first of two.
    Quote,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(input: R, delimiter: u8) -> Self {
        Self { input, delimiter, line: 1, longest: LONGEST }
    }

    /// Reads the next record; `false` at the end.
    pub(super) fn read(&mut self, record: &mut Record) -> Result<bool, Fault> {
        let mut bytes = std::mem::take(&mut record.text).into_bytes();
        bytes.clear();
        record.ends.clear();
        record.line = self.line;
        let found = self.read_bytes(&mut bytes, record)?;
        let line = record.line;
        let text = String::from_utf8(bytes).map_err(|_| Fault { line, kind: FaultKind::Encoding })?;
        // A field may end within a character only if the whole is not UTF-8 by itself.
        if record.ends.iter().any(|&(end, _)| !text.is_char_boundary(end)) {
            return Err(Fault { line, kind: FaultKind::Encoding });
        }
        record.text = text;
        Ok(found)
    }

    fn read_bytes(&mut self, bytes: &mut Vec<u8>, record: &mut Record) -> Result<bool, Fault> {
        let (mut at, mut quote_line) = (At::Start, self.line);
        let mut is_begun = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Fault { line: self.line, kind: FaultKind::Io(error) }),
            };
            if chunk.is_empty() {
                if at == At::Quoted {
                    return Err(Fault { line: quote_line, kind: FaultKind::Unclosed });
                }
                if is_begun {
                    record.ends.push((bytes.len(), at == At::Quote));
                }
                return Ok(is_begun);
            }
            let mut used = 0;
            let mut line_end = None;
            while let Some(&byte) = chunk.get(used) {
                used += 1;
                is_begun = true;
                match (at, byte) {
                    (At::Start, b'"') => (at, quote_line) = (At::Quoted, self.line),
                    (At::Quoted, b'"') => at = At::Quote,
                    (At::Quoted, _) => {
                        bytes.push(byte);
                        self.line += u64::from(byte == b'\n');
                    }
                    (At::Quote, b'"') => {
                        bytes.push(b'"');
                        at = At::Quoted;
                    }
                    (_, byte) if byte == self.delimiter => {
                        record.ends.push((bytes.len(), at == At::Quote));
                        at = At::Start;
                    }
                    (_, b'\r' | b'\n') => {
                        record.ends.push((bytes.len(), at == At::Quote));
                        self.line += 1;
                        line_end = Some(byte);
                        break;
                    }
                    (At::Quote, _) => {
                        return Err(Fault { line: self.line, kind: FaultKind::AfterQuote });
                    }
                    (At::Start | At::Plain, _) => {
                        bytes.push(byte);
                        at = At::Plain;
                    }
                }
            }
            self.input.consume(used);
            if bytes.len() > self.longest {
                return Err(Fault { line: record.line, kind: FaultKind::TooLong(self.longest) });
            }
            if record.ends.len() > MOST_FIELDS {
                return Err(Fault { line: record.line, kind: FaultKind::TooMany(MOST_FIELDS) });
            }
            match line_end {
                Some(b'\r') => return self.skip_line_feed().map(|()| true),
                Some(_) => return Ok(true),
                None => {}
            }
        }
    }

    /// Skips the second byte of CRLF.
    fn skip_line_feed(&mut self) -> Result<(), Fault> {
        let next = self.input.fill_buf().map(|chunk| chunk.first() == Some(&b'\n'));
        match next {
            Ok(true) => self.input.consume(1),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return self.skip_line_feed(),
            Err(error) => return Err(Fault { line: self.line, kind: FaultKind::Io(error) }),
        }
        Ok(())
    }
}

/// Bytes of the longest record; offsets of Arrow's texts end at 2 GiB.
const LONGEST: usize = 1 << 30;
/// More than a table can have columns.
const MOST_FIELDS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    type Fields = Vec<(String, bool)>;

    fn read(text: &[u8], capacity: usize, longest: usize) -> Result<Vec<(u64, Fields)>, Fault> {
        let mut records = Records::new(BufReader::with_capacity(capacity, text), b',');
        records.longest = longest;
        let (mut record, mut all) = (Record::default(), Vec::new());
        while records.read(&mut record)? {
            let fields = record.fields().map(|(field, is_quoted)| (field.to_owned(), is_quoted));
            all.push((record.line, fields.collect()));
        }
        Ok(all)
    }

    /// Fields as a test writes them: a quote before those that were quoted.
    fn shown(text: &[u8]) -> Vec<(u64, Vec<String>)> {
        let all: Vec<Vec<(u64, Fields)>> =
            [1, 2, 3, 4096].iter().map(|capacity| read(text, *capacity, LONGEST).unwrap()).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        let field = |(field, is_quoted): &(String, bool)| match is_quoted {
            true => format!("\"{field}"),
            false => field.clone(),
        };
        all[0].iter().map(|(line, fields)| (*line, fields.iter().map(field).collect())).collect()
    }

    #[test]
    fn fields_are_as_rfc_4180_has_them() {
        for (text, expected) in [
            ("", vec![]),
            ("a,b", vec![(1, vec!["a", "b"])]),
            ("a,b\r\n1,2\r\n", vec![(1, vec!["a", "b"]), (2, vec!["1", "2"])]),
            ("a\nb\rc\r\nd", vec![(1, vec!["a"]), (2, vec!["b"]), (3, vec!["c"]), (4, vec!["d"])]),
            (",\"\",", vec![(1, vec!["", "\"", ""])]),
            ("\"\"", vec![(1, vec!["\""])]),
            ("\n\r\n", vec![(1, vec![""]), (2, vec![""])]),
            ("\"a\nb\r\nc\",x\ny", vec![(1, vec!["\"a\nb\r\nc", "x"]), (4, vec!["y"])]),
            ("\"say \"\"x\"\"\"", vec![(1, vec!["\"say \"x\""])]),
            ("5\" disk,a\"b\"", vec![(1, vec!["5\" disk", "a\"b\""])]),
            (" \"a\"", vec![(1, vec![" \"a\""])]),
            ("\"Zürich ✓\",東京", vec![(1, vec!["\"Zürich ✓", "東京"])]),
        ] {
            let expected: Vec<(u64, Vec<String>)> = expected
                .into_iter()
                .map(|(line, fields)| (line, fields.into_iter().map(str::to_owned).collect()))
                .collect();
            assert_eq!(shown(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn faults_name_their_line() {
        let fault = |text: &[u8]| read(text, 4, 100).unwrap_err();
        let found = |text: &[u8]| {
            let Fault { line, kind } = fault(text);
            (line, format!("{kind:?}"))
        };
        assert_eq!(found(b"a\n\"b\nc"), (2, "Unclosed".into()));
        assert_eq!(found(b"a\n1,\"x\ny\"z\n"), (3, "AfterQuote".into()));
        assert_eq!(found(b"a\nb\nJ\xf6rg\n"), (3, "Encoding".into()));
        // Each half of a character is in another field.
        assert_eq!(found(b"\xc3\",\xb6\n"), (1, "Encoding".into()));
        assert_eq!(found(b"\"\xc3\",\"\xb6\"\n"), (1, "Encoding".into()));
        assert_eq!(found(&[b'x'; 1000]), (1, "TooLong(100)".into()));
        assert_eq!(found(&[&b"a\n\""[..], &[b'x'; 1000]].concat()), (2, "TooLong(100)".into()));
    }

    #[test]
    fn a_line_of_commas_is_bounded() {
        let text = ",".repeat(MOST_FIELDS - 1);
        assert_eq!(read(text.as_bytes(), 4096, 100).unwrap()[0].1.len(), MOST_FIELDS);
        let text = ",".repeat(1 << 20);
        let fault = read(text.as_bytes(), 4096, 100).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::TooMany(_)), "{fault:?}");
    }
}
