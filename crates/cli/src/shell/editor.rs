//! The line editor: what is entered, its history, and when a statement has ended.

use super::completion::Completion;
use super::input::{command_start, is_bare, is_whole};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::platform::folders;
use crate::runner::Runner;
use crate::terminal;
use firearrow_bench::secret;
use firearrow_driver::script::Splitter;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::{FileHistory, History, SearchDirection};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Helper};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What somebody entered.
pub(super) enum Entered {
    Text(String),
    /// Ctrl-C
    Cancelled,
    /// Ctrl-D
    End,
}

pub(super) struct Editor {
    editor: rustyline::Editor<Assistant, FileHistory>,
    /// Where the history is kept.
    file: Option<PathBuf>,
}

/// Helps while something is entered.
struct Assistant {
    completion: Completion,
    /// Finds where statements end; `None` while a question is answered.
    splitter: RefCell<Option<Splitter>>,
}

impl Editor {
    pub(super) fn new(runner: &Rc<RefCell<Runner>>) -> Result<Self> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .max_history_size(10_000)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(failure)?
            // Statements are pasted, too, with their tabs.
            .bracketed_paste(true)
            .build();
        let mut editor = rustyline::Editor::with_config(config).map_err(failure)?;
        editor.set_helper(Some(Assistant {
            completion: Completion::new(Rc::clone(runner)),
            splitter: RefCell::new(None),
        }));
        let mut file = history_file();
        if let Some(path) = &file
            && let Err(error) = load(&mut editor, path)
        {
            terminal::remark(&format!("nothing is kept of this session: {}: {error}", path.display()));
            file = None;
        }
        Ok(Self { editor, file })
    }

    /// Reads whole statements, or a command; begins with `kept`.
    pub(super) fn read(&mut self, prompt: &str, splitter: &Splitter, kept: &str) -> Result<Entered> {
        self.expect(Some(splitter.clone()));
        match self.line(prompt, kept)? {
            Entered::Text(text) => {
                self.remember(&text);
                Ok(Entered::Text(text))
            }
            other => Ok(other),
        }
    }

    /// Asks a question until it is answered; Enter alone means `default`. `None` = Ctrl-C or Ctrl-D.
    pub(super) fn ask(&mut self, question: &str, default: bool) -> Result<Option<bool>> {
        self.expect(None);
        loop {
            let Entered::Text(text) = self.line(question, "")? else { return Ok(None) };
            match text.trim().to_ascii_lowercase().as_str() {
                "" => return Ok(Some(default)),
                "y" | "yes" => return Ok(Some(true)),
                "n" | "no" => return Ok(Some(false)),
                _ => {}
            }
        }
    }

    /// What was entered before, a line each.
    pub(super) fn history(&self) -> String {
        let history = self.editor.history();
        let entry = |index| history.get(index, SearchDirection::Forward).ok().flatten();
        (0..history.len()).filter_map(entry).map(|entry| format!("{}\n", entry.entry)).collect()
    }

    /// Forgets the names of tables and columns.
    pub(super) fn forget_names(&self) {
        if let Some(assistant) = self.editor.helper() {
            assistant.completion.forget();
        }
    }

    fn expect(&mut self, splitter: Option<Splitter>) {
        if let Some(assistant) = self.editor.helper() {
            assistant.splitter.replace(splitter);
        }
    }

    fn line(&mut self, prompt: &str, kept: &str) -> Result<Entered> {
        let _attributes = interrupt::keep_terminal();
        match interrupt::waiting(|| self.editor.readline_with_initial(prompt, (kept, ""))) {
            Ok(text) => Ok(Entered::Text(text)),
            Err(ReadlineError::Interrupted) => Ok(Entered::Cancelled),
            Err(ReadlineError::Eof) => Ok(Entered::End),
            Err(error) => Err(failure(error)),
        }
    }

    fn remember(&mut self, text: &str) {
        if text.trim().is_empty() || is_secret(text) || self.editor.add_history_entry(text).is_err() {
            return;
        }
        // At once: the session may end at any time.
        if let Some(path) = &self.file
            && let Err(error) = self.editor.append_history(path)
        {
            terminal::remark(&format!("the history is not kept any more: {}: {error}", path.display()));
            self.file = None;
        }
    }
}

/// Reads what earlier sessions have kept, and tries whether this one can keep something.
fn load(editor: &mut rustyline::Editor<Assistant, FileHistory>, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let io = |error| match error {
        ReadlineError::Io(error) => error,
        error => io::Error::other(error),
    };
    if path.try_exists()? {
        // A device may never end.
        if !path.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        std::fs::OpenOptions::new().append(true).open(path)?;
        editor.load_history(path).map_err(io)?;
    } else {
        editor.save_history(path).map_err(io)?;
    }
    Ok(())
}

/// `$FIREARROW_HISTORY`, or where programs keep their state.
fn history_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("FIREARROW_HISTORY") {
        return (!path.is_empty()).then(|| path.into());
    }
    Some(folders::state()?.join("firearrow").join("history"))
}

/// Whether a password may be in it.
fn is_secret(text: &str) -> bool {
    secret::redact(text) != text || text.to_ascii_uppercase().contains("PASSWORD")
}

fn failure(error: ReadlineError) -> Failure {
    match error {
        ReadlineError::Io(error) => error.into(),
        error => Failure::other(error.to_string()),
    }
}

impl Helper for Assistant {}

impl Highlighter for Assistant {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        // Faint, as no part of what is entered.
        format!("\u{1b}[2m{hint}\u{1b}[0m").into()
    }
}

/// Shown after the cursor, and never taken over into what is entered.
struct Remark(String);

impl Hint for Remark {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Assistant {
    type Hint = Remark;

    fn hint(&self, text: &str, at: usize, _: &Context<'_>) -> Option<Remark> {
        let splitter = self.splitter.borrow();
        let remark = splitter.as_ref().filter(|_| at == text.len()).and_then(|s| unfinished(text, s));
        remark.map(|remark| Remark(format!("   {remark}")))
    }
}

/// What tells somebody that a statement has not ended: after Enter, and where a word is entered that would leave the shell
/// or ask for help elsewhere.
fn unfinished(text: &str, splitter: &Splitter) -> Option<String> {
    let (before, line) = text.rsplit_once('\n')?;
    let is_new = line.trim().is_empty();
    let last = if is_new { before.lines().next_back().unwrap_or_default() } else { line };
    if !(is_new || is_bare(last)) || before.trim().is_empty() || has_ended(text, splitter) {
        return None;
    }
    let clear = "press Control-C to clear the input buffer";
    if command_start(&format!("{before}\n\\?")).is_none() {
        return Some(format!("… a quote or comment is open; {clear}"));
    }
    let terminator = splitter.terminator();
    Some(match last.trim().to_ascii_lowercase().as_str() {
        "help" | "?" => format!("Use \\? for help or {clear}."),
        "exit" | "quit" => format!("Use \\q to leave or {clear}."),
        // Inside a procedure, it ends no statement.
        last if last.ends_with(terminator) => "…".to_owned(),
        _ => format!("… until {terminator} or \\g"),
    })
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let splitter = self.splitter.borrow();
        let is_done = splitter.as_ref().is_none_or(|splitter| has_ended(context.input(), splitter));
        Ok(if is_done { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Whether what was entered can be run.
fn has_ended(text: &str, splitter: &Splitter) -> bool {
    is_bare(text) || command_start(text.trim()).is_some() || is_whole(text, splitter.clone())
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if self.splitter.borrow().is_none() {
            return Ok((at, Vec::new()));
        }
        self.completion.complete(line, at, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_ends_with_a_statement_or_a_command() {
        let ended = |text: &str| has_ended(text, &Splitter::default());
        for text in ["", "\\d", "SELECT 1\n\\g", "SELECT 1 \\gx", "exit", "Quit", "SELECT 1;", "?"] {
            assert!(ended(text), "{text}");
        }
        for text in ["SELECT 1", "exits", "CREATE PROCEDURE p AS BEGIN\nx = 1;", "SELECT '\\"] {
            assert!(!ended(text), "{text}");
        }
    }

    #[test]
    fn unfinished_statements_say_so() {
        let told = |text: &str| unfinished(text, &Splitter::default()).unwrap_or_default();
        assert_eq!(told("SELECT 1\n"), "… until ; or \\g");
        assert_eq!(told("EXECUTE BLOCK AS BEGIN\nx = 1;\n"), "…");
        assert!(told("SELECT 'a\n").contains("a quote or comment is open"));
        for word in ["help", "HELP\n", "?"] {
            assert!(
                told(&format!("SELECT 1\n{word}")).starts_with("Use \\? for help or press Control-C"),
                "{word}"
            );
        }
        for word in ["exit", "Quit\n"] {
            assert!(told(&format!("SELECT 1\n{word}")).starts_with("Use \\q to leave"), "{word}");
        }
        for text in ["", "\n", "SELECT 1", "SELECT 1\nFROM t", "SELECT 1;\n", "exit\n"] {
            assert_eq!(told(text), "", "{text}");
        }
    }

    #[test]
    fn statements_with_passwords_are_not_kept() {
        assert!(is_secret("CREATE USER a PASSWORD 'x';") && is_secret("\\c firebird://a:b@h/x"));
        assert!(is_secret("EXECUTE BLOCK AS BEGIN EXECUTE STATEMENT 'ALTER USER a PASSWORD ''s'''; END;"));
        assert!(!is_secret("SELECT 'pass' FROM t;"));
    }
}
