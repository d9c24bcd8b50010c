//! JSON lines as rows of texts: one object per line. Numbers keep their digits, as texts.

use super::csv::{NO_UTF8, at_line, broken};
use super::input::{self, Text};
use super::skipped::Skipped;
use super::source::{ENOUGH_BYTES, MOST_ROWS, Part, Reading, Source, Texts, texts};
use crate::failure::Result;
use arrow::datatypes::SchemaRef;
use firearrow_bench::text::size;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

pub(super) struct Json {
    path: PathBuf,
    input: Text,
    /// The number of the next line, from 1 on.
    line: u64,
    /// Lines that were read for their keys.
    ahead: Vec<(u64, String)>,
    schema: SchemaRef,
    /// Where each key belongs.
    places: HashMap<String, usize>,
    /// Keys that are left out, whatever their values are.
    skipped: Skipped,
}

impl Json {
    /// Opens a file. Unless its columns are given, the keys of its first lines are its columns.
    pub(super) fn open(path: &Path, reading: &Reading, given: Option<&SchemaRef>) -> Result<Self> {
        let input = input::text(path, reading.encoding, &reading.read)?;
        let mut json = Self {
            path: path.to_owned(),
            input,
            line: 1,
            ahead: Vec::new(),
            schema: texts([].into_iter()),
            places: HashMap::new(),
            skipped: reading.skipped.clone(),
        };
        let names = match given {
            Some(schema) => schema.fields().iter().map(|field| field.name().clone()).collect(),
            None => json.look_ahead()?,
        };
        if names.is_empty() && !json.ahead.is_empty() && !json.skipped.is_empty() {
            return Err(json.skipped.nothing_left());
        }
        json.schema = texts(names.iter().map(String::as_str));
        json.places = names.into_iter().enumerate().map(|(index, name)| (name, index)).collect();
        Ok(json)
    }

    /// Reads the lines of the first batch, and returns their keys in the order of their appearance.
    fn look_ahead(&mut self) -> Result<Vec<String>> {
        let (mut names, mut seen, mut bytes) = (Vec::new(), HashMap::new(), 0);
        while self.ahead.len() < MOST_ROWS && bytes < ENOUGH_BYTES {
            let Some((number, line)) = self.read_line()? else { break };
            for (key, _) in self.object(number, &line)?.0 {
                if !self.skipped.has(&key) && seen.insert(key.clone().into_owned(), ()).is_none() {
                    names.push(key.into_owned());
                }
            }
            bytes += line.len();
            self.ahead.push((number, line));
        }
        self.ahead.reverse();
        Ok(names)
    }

    /// Returns the next line that is not blank, and its number.
    fn read_line(&mut self) -> Result<Option<(u64, String)>> {
        loop {
            let number = self.line;
            let mut bytes = Vec::new();
            let read = self.input.by_ref().take(LONGEST as u64).read_until(b'\n', &mut bytes);
            let read = read.map_err(|error| broken(&self.path, number, &error))?;
            if read == 0 {
                return Ok(None);
            }
            if read == LONGEST && bytes.last() != Some(&b'\n') {
                let what = format!("the line is longer than {}", size(LONGEST as u64));
                return Err(at_line(&self.path, number, &what));
            }
            self.line += 1;
            let line = String::from_utf8(bytes).map_err(|_| at_line(&self.path, number, NO_UTF8))?;
            if !line.trim().is_empty() {
                return Ok(Some((number, line)));
            }
        }
    }

    fn object<'a>(&self, number: u64, line: &'a str) -> Result<Object<'a>> {
        serde_json::from_str(line).map_err(|error| {
            let what = match line.trim_start().as_bytes().first() {
                // It ends before the object does.
                Some(b'{') if error.is_eof() => {
                    let text = described(&error);
                    format!("no JSON object, which must be on one line (jq -c . FILE makes it so): {text}")
                }
                Some(b'{') => format!("no JSON object: {}", described(&error)),
                Some(b'[') => {
                    "a JSON list; a file has one object per line, as jq -c '.[]' FILE makes them".to_owned()
                }
                _ => "no JSON object; a file has one object per line".to_owned(),
            };
            at_line(&self.path, number, &what)
        })
    }

    /// Adds a line as a row.
    fn push(&self, number: u64, line: &str, rows: &mut Texts) -> Result<()> {
        let fail = |what: String| at_line(&self.path, number, &what);
        let mut values: Vec<Option<Cow<'_, str>>> = vec![None; self.places.len()];
        let mut is_there = vec![false; self.places.len()];
        for (key, value) in self.object(number, line)?.0 {
            let Some(&place) = self.places.get(key.as_ref()) else {
                if self.skipped.has(&key) {
                    continue;
                }
                return Err(fail(format!(
                    "the key {key:?} is not among the keys of the first lines, which decide the columns; \
                     add it to the first line, as null"
                )));
            };
            if std::mem::replace(&mut is_there[place], true) {
                return Err(fail(format!("the key {key:?} comes twice")));
            }
            values[place] = value_text(value).map_err(|what| fail(format!("{key:?} is {what}")))?;
        }
        rows.push(number, values.iter().map(Option::as_deref));
        Ok(())
    }
}

impl Source for Json {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn next(&mut self) -> Result<Option<Part>> {
        let mut rows = Texts::new(&self.schema);
        while !rows.is_full() {
            let line = match self.ahead.pop() {
                Some(line) => Some(line),
                None => self.read_line()?,
            };
            let Some((number, line)) = line else { break };
            self.push(number, &line, &mut rows)?;
        }
        rows.finish()
    }
}

/// The text of a value; `None` is NULL.
fn value_text(value: &RawValue) -> Result<Option<Cow<'_, str>>, &'static str> {
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'"') => {
            let text: Result<Key<'_>, _> = serde_json::from_str(raw);
            text.map(|text| Some(text.0)).map_err(|_| "not valid text")
        }
        Some(b'{' | b'[') => Err("an object or a list; load those from Parquet or Arrow"),
        _ => Ok(Some(Cow::Borrowed(raw))),
    }
}

/// Returns what the parser says, without its line, which is always the first.
fn described(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

/// Keys and values of an object, in order, also those that come twice.
struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Deserialize<'a> for Object<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'a> Visitor<'a> for Members {
            type Value = Object<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Object<'a>, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'a>, &RawValue>()? {
                    members.push((key, value));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Text without a copy, unless it has escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Bytes of the longest line.
const LONGEST: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_digits_and_repetitions() {
        let line = r#"{"b":1.10,"a":"x\n","b":12345678901234567890123,"c":null,"d":[1],"é":true}"#;
        let object: Object<'_> = serde_json::from_str(line).unwrap();
        let members: Vec<(String, Result<Option<String>, &str>)> = object
            .0
            .into_iter()
            .map(|(key, value)| (key.into_owned(), value_text(value).map(|text| text.map(Cow::into_owned))))
            .collect();
        let text = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(members[0], ("b".to_owned(), text("1.10")));
        assert_eq!(members[1], ("a".to_owned(), text("x\n")));
        assert_eq!(members[2], ("b".to_owned(), text("12345678901234567890123")));
        assert_eq!(members[3], ("c".to_owned(), Ok(None)));
        assert!(members[4].1.is_err());
        assert_eq!(members[5], ("é".to_owned(), text("true")));
    }
}
