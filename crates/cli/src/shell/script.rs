//! Scripts: standard input where it is no terminal, and what -c and -f name.

use super::input::{command_start, contains, is_bare, is_whole};
use super::{Next, Shell, ShellArgs};
use crate::failure::{Failure, Result};
use crate::runner::{Flow, read_script};
use std::path::Path;

impl Shell {
    /// Standard input as a script.
    pub(super) fn script(&mut self) -> Result<()> {
        let script = read_script(Path::new("-"))?;
        let ran = self.lines(None, &script);
        self.end_script(ran)
    }

    /// What the arguments name, as one script.
    pub(super) fn scripts(&mut self, args: &ShellArgs) -> Result<()> {
        let ran = self.run_scripts(args);
        self.end_script(ran)
    }

    fn run_scripts(&mut self, args: &ShellArgs) -> Result<Next> {
        let mut scripts: Vec<_> = args.command.iter().map(|script| (None, script.clone())).collect();
        for path in &args.file {
            scripts.push((Some(path.display().to_string()), read_script(path)?));
        }
        for (name, script) in scripts {
            match self.lines(name, &script)? {
                // As in psql, \q ends a single file.
                Next::Continue | Next::End => {}
                next => return Ok(next),
            }
        }
        Ok(Next::End)
    }

    fn end_script(&mut self, ran: Result<Next>) -> Result<()> {
        let ran = ran.map(|next| if next == Next::RollBack { Flow::Quit } else { Flow::Exit });
        self.runner.borrow_mut().end_script(ran)
    }

    /// Runs the lines of a script, and returns how it wants to end. Its errors have their places.
    fn lines(&mut self, name: Option<String>, script: &str) -> Result<Next> {
        let (mut sql, mut changes_terminator) = (String::new(), false);
        self.place = Some(Place { name, line: 1 });
        for (index, line) in script.lines().enumerate() {
            if sql.trim().is_empty() {
                (sql, changes_terminator) = (String::new(), false);
                self.begin_at(index + 1);
            }
            let is_first = sql.is_empty();
            sql.push_str(line);
            sql.push('\n');
            changes_terminator |= contains(line, "SET TERM");
            let may_end =
                line.contains('\\') || contains(line, self.splitter.terminator()) || changes_terminator;
            // Looking at all of a long statement after each line would take ages.
            if !may_end && !is_first {
                continue;
            }
            if command_start(&sql).is_some() || is_bare(&sql) || is_whole(&sql, self.splitter.clone()) {
                match self.accept(&std::mem::take(&mut sql))? {
                    Next::Continue => {}
                    next => return Ok(next),
                }
                sql = std::mem::take(&mut self.kept);
            }
        }
        if sql.trim().is_empty() {
            return Ok(Next::End);
        }
        let mut splitter = self.splitter.clone();
        // An error comes again when it is run.
        let _ = splitter.split(&sql);
        let rest = format!("{sql}\n{}", splitter.terminator());
        if !is_whole(&rest, self.splitter.clone()) {
            let text =
                "the script ends in the middle of a statement or comment; nothing of that statement is run";
            return Err(self.at(0, Failure::other(text)));
        }
        self.run_sql(&rest)
    }

    fn begin_at(&mut self, line: usize) {
        if let Some(place) = &mut self.place {
            place.line = line;
        }
    }

    /// An error with its place in the script, so many lines after the beginning of what is run.
    fn at(&self, lines: usize, error: Failure) -> Failure {
        let Some(Place { name, line }) = &self.place else { return error };
        let line = line + lines;
        let place =
            name.as_ref().map_or_else(|| format!("line {line}"), |name| format!("{name}, line {line}"));
        Failure::At(place, Box::new(error))
    }

    /// Shows an error after which a script goes on. Returns it if the script ends, with its place, and to whoever types.
    pub(super) fn report_at(&mut self, lines: usize, error: Failure) -> Result<Next> {
        if self.editor.is_some() {
            return Err(error);
        }
        let error = self.at(lines, error);
        self.runner.borrow_mut().report_or_stop(error)?;
        Ok(Next::Continue)
    }
}

/// Where in a script something is: its name, if it has one, and the line on which that begins.
pub(super) struct Place {
    name: Option<String>,
    line: usize,
}
