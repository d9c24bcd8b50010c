//! Scripts: statements of SQL, and what isql has beside them.

use super::Runner;
use super::transaction::too_much;
use crate::failure::{Failure, Result};
use crate::{byte_order_mark, interrupt, terminal};
use encoding_rs::UTF_8;
use firearrow::Params;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The failure of splitting a script.
pub(crate) fn wrong_script(error: firearrow_driver::Error) -> Failure {
    Failure::usage(error.message())
}

/// The statements of a script.
///
/// # Errors
/// A comment is not closed, which may hide statements, or `SET TERM` is wrong.
pub(crate) fn split(script: &str) -> Result<Vec<&str>> {
    if has_open_comment(script) {
        return Err(Failure::usage("a comment is not closed: /* has no */"));
    }
    firearrow_driver::script::statements(script).map_err(wrong_script)
}

/// Whether a script goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    /// EXIT: commits, and ends.
    Exit,
    /// QUIT: rolls back, and ends.
    Quit,
}

impl Runner {
    /// Runs a statement of a script: SQL, or EXIT, QUIT, INPUT and OUTPUT of isql.
    pub(crate) fn step(&mut self, statement: &str) -> Result<Flow> {
        let first = firearrow::sql::tokens(statement).next();
        let is = |word: &str| first.is_some_and(|token| token.is_word(word));
        let after = first.map_or("", |token| &statement[token.end()..]);
        match () {
            () if is("EXIT") && after.trim().is_empty() => return Ok(Flow::Exit),
            () if is("QUIT") && after.trim().is_empty() => return Ok(Flow::Quit),
            () if is("INPUT") || is("IN") => return self.input(file_name("INPUT", after)?),
            () if is("OUTPUT") || is("OUT") => {
                let file = file_name("OUTPUT", after)?;
                self.display.redirect((!file.as_os_str().is_empty()).then_some(file), true)?;
            }
            () => self.run(statement, &Params::none())?,
        }
        Ok(Flow::Continue)
    }

    /// Runs the script in a file.
    pub(crate) fn input(&mut self, path: &Path) -> Result<Flow> {
        if path.as_os_str().is_empty() {
            return Err(Failure::usage("INPUT needs a file"));
        }
        if self.depth >= DEEPEST {
            return Err(Failure::usage(format!(
                "{} is the {DEEPEST}th script within another one",
                path.display()
            )));
        }
        let script = read_script(path)?;
        self.depth += 1;
        let ran = run_script(self, &path.display().to_string(), &script);
        self.depth -= 1;
        ran
    }
}

/// Returns the file's name that follows INPUT or OUTPUT, without its quotes; it needs them if it contains blanks.
///
/// # Errors
/// The quotation is not closed, or something follows the name. A name on the next line is a statement, after a semicolon that is missing.
fn file_name<'a>(command: &str, after: &'a str) -> Result<&'a Path> {
    let (line, next_lines) = after.trim_end().split_once('\n').unwrap_or((after, ""));
    let line = line.trim();
    let (name, rest) = match line.chars().next().filter(|first| matches!(first, '\'' | '"')) {
        Some(quote) => line[1..].split_once(quote).ok_or_else(|| {
            Failure::usage(format!("{command}: the quotation of the file's name is not closed"))
        })?,
        None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
    };
    match next_lines.split_whitespace().chain(rest.split_whitespace()).next() {
        Some(surplus) => Err(too_much(command, surplus)),
        None => Ok(Path::new(name)),
    }
}

/// Reads a script; - is standard input.
pub(crate) fn read_script(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    match path.to_str() {
        Some("-") => interrupt::waiting(|| io::stdin().read_to_end(&mut bytes))?,
        _ => interrupt::waiting(|| File::open(path)?.read_to_end(&mut bytes))
            .map_err(|error| Failure::file(path, &error))?,
    };
    text(bytes, &path.display().to_string())
}

/// The text of a script: UTF-8, or UTF-16 with the byte order mark that PowerShell and editors on Windows begin it with.
fn text(mut bytes: Vec<u8>, name: &str) -> Result<String> {
    let refused = |error| Failure::other(format!("{name}: {error}"));
    let marked = byte_order_mark::encoding(&bytes).map_err(refused)?;
    if marked.is_none() {
        byte_order_mark::refuse_utf16(&bytes, "save it as UTF-8").map_err(refused)?;
    }
    let (encoding, mark) = marked.unwrap_or((UTF_8, 0));
    let text = bytes.split_off(mark);
    if encoding != UTF_8 {
        let decoded = encoding.decode_without_bom_handling_and_without_replacement(&text);
        let wrong =
            || Failure::other(format!("{name}: it begins as {} and goes on otherwise", encoding.name()));
        return decoded.map(Cow::into_owned).ok_or_else(wrong);
    }
    String::from_utf8(text).map_err(|error| {
        let before = error.as_bytes()[..error.utf8_error().valid_up_to()].iter();
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        Failure::other(format!(
            "{name}, line {line}: not UTF-8; convert it: iconv -f WINDOWS-1252 -t UTF-8 {name}"
        ))
    })
}

/// Scripts that run each other would never end.
const DEEPEST: usize = 16;

/// Splits a script and runs it. With [`Settings::bail`] the first error ends it.
///
/// # Errors
/// The first error, with the line of its statement.
pub(crate) fn run_script(runner: &mut Runner, name: &str, script: &str) -> Result<Flow> {
    let statements = split(script).map_err(|error| Failure::At(name.to_owned(), Box::new(error)))?;
    for statement in statements {
        interrupt::check()?;
        match runner.step(statement) {
            Ok(Flow::Continue) => {}
            Ok(flow) => return Ok(flow),
            Err(error) => {
                let error =
                    Failure::At(format!("{name}, line {}", line_number(script, statement)), Box::new(error));
                runner.report_or_stop(error)?;
            }
        }
    }
    Ok(Flow::Continue)
}

impl Runner {
    /// Commits what a script has left open, or rolls it back if the script failed or wanted that. Reports the first failure,
    /// with what has become of the script's statements.
    pub(crate) fn end_script(&mut self, ran: Result<Flow>) -> Result<()> {
        let ended = match ran {
            Ok(Flow::Continue | Flow::Exit) => self.commit().map(|_| ()),
            Ok(Flow::Quit) => Ok(()),
            Err(failure) => Err(failure),
        };
        let undone = self.roll_back().map(|_| ());
        let Err(failure) = ended.and(undone) else { return self.failures() };
        // Whoever stops reading may not know that the rest was not run.
        let failure = match failure.reason() {
            Failure::PipeClosed => Failure::other(failure.text(false)),
            _ => failure,
        };
        match self.outcome() {
            done if done.is_empty() => Err(failure),
            done => Err(Failure::WithOutcome(Box::new(failure), done)),
        }
    }

    /// Shows an error after which the script goes on, or returns it.
    pub(crate) fn report_or_stop(&mut self, error: Failure) -> Result<()> {
        let is_end = self.settings.bail
            || matches!(error.reason(), Failure::PipeClosed | Failure::Stopped)
            || interrupt::check().is_err()
            || self.connection.is_failed();
        if is_end {
            return Err(error);
        }
        self.failed += 1;
        terminal::remark(&format!("error: {}", error.text(false)));
        Ok(())
    }
}

/// Whether it ends within a comment.
pub(crate) fn has_open_comment(sql: &str) -> bool {
    let end = firearrow::sql::tokens(sql).last().map_or(0, |token| token.end());
    let mut rest = sql[end..].trim_start();
    while !rest.is_empty() {
        let (end, is_open) = match rest.strip_prefix("/*") {
            Some(inside) => (inside.find("*/").map(|end| end + 4), true),
            // Up to the end of the line.
            None => (rest.find('\n'), false),
        };
        let Some(end) = end else { return is_open };
        rest = rest[end..].trim_start();
    }
    false
}

/// The line on which a part of a text begins.
pub(crate) fn line_number(text: &str, part: &str) -> usize {
    let offset = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_may_begin_with_a_byte_order_mark() {
        for bytes in [&b"a\xc3\xb6"[..], b"\xef\xbb\xbfa\xc3\xb6", b"\xff\xfea\0\xf6\0", b"\xfe\xff\0a\0\xf6"]
        {
            assert_eq!(text(bytes.to_vec(), "x").unwrap(), "aö", "{bytes:?}");
        }
        for (bytes, part) in
            [(&b"a\n\xf6"[..], "x, line 2: not UTF-8"), (b"\xff\xfea\0\xf6", "x: it begins as UTF-16LE")]
        {
            let error = text(bytes.to_vec(), "x").unwrap_err().text(false);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn statements_know_their_lines() {
        let script = "-- one\na;\n\nb; c;\n";
        let lines: Vec<usize> = firearrow_driver::script::statements(script)
            .unwrap()
            .iter()
            .map(|each| line_number(script, each))
            .collect();
        assert_eq!(lines, [2, 4, 4]);
    }
}
