//! Outcomes of matrix tests, for the counts at the end of `make test`.
//!
//! libtest cannot skip a test while it runs, so cargo counts a skipped test as passed. The report distinguishes them.

use std::env;
use std::fmt::{self, Write};
use std::fs::OpenOptions;
use std::io::{self, Write as _};

/// One line of the report.
pub(crate) struct Entry<'a> {
    pub(crate) test: &'a str,
    /// The platform's identifier, `firebird_3_0`.
    pub(crate) target: &'a str,
    /// The display name of the platform, with the exact version if the test ran: `Firebird 3.0.11`.
    pub(crate) server: &'a str,
    pub(crate) outcome: Outcome<'a>,
}

/// How a test ended.
pub(crate) enum Outcome<'a> {
    Ran,
    Failed,
    /// Its server has stopped working, and it runs once more on another one.
    Again,
    Skipped {
        reason: &'a str,
    },
}

/// Appends to the file named by `FIREARROW_TEST_REPORT`, if there is one.
pub(crate) fn append(entry: &Entry<'_>) {
    let Some(path) = env::var_os("FIREARROW_TEST_REPORT").filter(|path| !path.is_empty()) else { return };
    let line = format!("{entry}\n");
    // Several threads and processes append at the same time, and not every system keeps their lines apart. Windows locks only what
    // may be read as well.
    let written: io::Result<()> =
        OpenOptions::new().read(true).create(true).append(true).open(&path).and_then(|mut file| {
            file.lock()?;
            file.write_all(line.as_bytes())
        });
    if let Err(error) = written {
        panic!("FIREARROW_TEST_REPORT={}: {error}", path.display());
    }
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outcome, reason) = match &self.outcome {
            Outcome::Ran => ("ran", None),
            Outcome::Failed => ("failed", None),
            Outcome::Again => ("again", None),
            Outcome::Skipped { reason } => ("skipped", Some(*reason)),
        };
        let fields = [
            ("test", Some(self.test)),
            ("target", Some(self.target)),
            ("server", Some(self.server)),
            ("outcome", Some(outcome)),
            ("reason", reason),
        ];
        let mut separator = '{';
        for (name, value) in fields {
            if let Some(value) = value {
                write!(f, "{separator}\"{name}\":{}", Quoted(value))?;
                separator = ',';
            }
        }
        f.write_char('}')
    }
}

/// A JSON string.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(character))?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_json() {
        let mut entry =
            Entry { test: "a::b", target: "firebird_3_0", server: "Firebird 3.0.11", outcome: Outcome::Ran };
        assert_eq!(
            entry.to_string(),
            r#"{"test":"a::b","target":"firebird_3_0","server":"Firebird 3.0.11","outcome":"ran"}"#
        );
        entry.outcome = Outcome::Skipped { reason: "no \"server\"\n\\" };
        assert!(entry.to_string().ends_with(r#""outcome":"skipped","reason":"no \"server\"\u000a\\"}"#));
    }
}
