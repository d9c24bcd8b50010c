//! `firearrow shell`: an interactive session.
//!
//! ```text
//!  editor ─► Shell ─┬─ backslash ─► commands ─┐
//!    │              └─ SQL ───────────────────┴─► Runner ─► display, pager
//!    └─ completion ─► the catalog
//! ```

mod backslash;
mod commands;
mod completion;
mod connection;
mod editor;
mod input;
mod names;
mod psql;
mod script;

use crate::args::Cli;
use crate::failure::{Failure, Result};
use crate::interrupt::{self, Conversation};
use crate::open;
use crate::output::{Format, counted, print};
use crate::pager::Pager;
use crate::platform::process;
use crate::runner::{Display, Flow, PlanForm, Runner, Settings, line_number, wrong_script};
use crate::similar::HintTime;
use crate::terminal;
use clap::{Args, Parser, ValueHint};
use editor::{Editor, Entered};
use firearrow::{Kind, Params};
use firearrow_driver::script::{Split, Splitter};
use input::{command_start, words};
use script::Place;
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow shell firebird://alice@db/employee
  firearrow shell demo.fdb
  firearrow shell demo.fdb < script.sql
  firearrow shell demo.fdb -c '\\d T_WIDE' -c 'SELECT COUNT(*) FROM T_WIDE'

SQL ends with a semicolon. \\? lists the commands, most of them those of psql;
SHOW and SET are those of isql. Tab completes keywords, tables and columns.
Ctrl-C ends the running statement, or forgets what was entered; Ctrl-D leaves.

DDL is committed at once, in a transaction of its own. Other changes stay open
until COMMIT or ROLLBACK, and the prompt has a * until then; leaving asks what
to do with them. Queries alone leave no transaction open.

What was entered is kept in ~/.local/state/firearrow/history (or below
$XDG_STATE_HOME; $FIREARROW_HISTORY names another file, or none if it is empty),
except statements with passwords. Long output goes to $FIREARROW_PAGER, $PAGER
or less.

-c and -f run SQL and commands and end, as those of psql do. If standard input
or output is no terminal, standard input is such a script, too. The first error
ends scripts, and what they have not committed is rolled back. firearrow query
runs SQL for programs: with parameters, and as JSON, CSV or Parquet.")]
pub(crate) struct ShellArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// Run SQL or a command of the shell, and end; may be given several times
    #[arg(long, short, value_name = "SQL")]
    pub(crate) command: Vec<String>,
    /// Run the script FILE (- is standard input) after all -c, and end; may be given several times
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Vec<PathBuf>,
    /// Make the engine refuse all changes
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Commit every statement at once
    #[arg(long)]
    pub(crate) autocommit: bool,
    /// How rows are shown, as \format
    #[arg(long, value_parser = Format::parser(|format| !format.is_binary()))]
    pub(crate) format: Option<Format>,
    /// Show the plan before each statement: as a tree, or with =legacy as PLAN (…)
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "explained")]
    pub(crate) plan: Option<PlanForm>,
    /// Show the time and traffic of each statement
    #[arg(long)]
    pub(crate) timing: bool,
}

pub(crate) fn run(args: &ShellArgs, json: bool) -> Result<()> {
    if json {
        return Err(Failure::usage("the shell is for people; firearrow query --json is for programs"));
    }
    let config = open::parse(&args.url)?;
    let url = open::with_whole_path(&args.url, &config);
    let connection = open::open(&config)?;
    let is_script = !args.command.is_empty() || !args.file.is_empty();
    let is_terminal = !is_script && io::stdin().is_terminal() && io::stdout().is_terminal();
    let pager = is_terminal.then(Pager::of_environment).flatten();
    let settings = Settings {
        auto_commit: args.autocommit,
        bail: !is_terminal,
        plan: args.plan,
        timing: args.timing,
        ..Settings::default()
    };
    let mut display = Display::conversation(pager.clone());
    if let Some(format) = args.format {
        display.set_format(format);
    }
    let mut runner = Runner::new(&url, config, connection, settings, display);
    if args.read_only {
        runner.set_read_only();
    }
    let runner = Rc::new(RefCell::new(runner));
    let mut shell = Shell {
        editor: None,
        conversation: None,
        splitter: Splitter::default(),
        last: None,
        kept: String::new(),
        place: None,
        pager,
        runner: Rc::clone(&runner),
    };
    if is_script {
        return shell.scripts(args);
    }
    if !is_terminal {
        return shell.script();
    }
    shell.editor = Some(Editor::new(&runner)?);
    shell.conversation = Some(interrupt::converse());
    shell.greet()?;
    shell.converse()
}

/// A session.
struct Shell {
    runner: Rc<RefCell<Runner>>,
    /// `None` if standard input is a script.
    editor: Option<Editor>,
    conversation: Option<Conversation>,
    splitter: Splitter,
    /// The last statement.
    last: Option<String>,
    /// What the next prompt begins with.
    kept: String,
    /// What is being run of a script.
    place: Option<Place>,
    pager: Option<Pager>,
}

/// Whether the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Continue,
    /// Leaves, and asks what to do with changes.
    End,
    Commit,
    RollBack,
}

impl Shell {
    fn greet(&self) -> Result<()> {
        let engine = self.runner.borrow().connection.info()?.engine_version;
        print(&format!("firearrow {}, Firebird {engine}. \\? is for help.\n", env!("CARGO_PKG_VERSION")))
    }

    fn converse(&mut self) -> Result<()> {
        loop {
            let prompt = self.prompt();
            let splitter = self.splitter.clone();
            let kept = std::mem::take(&mut self.kept);
            self.runner.borrow_mut().hint_time = HintTime::default();
            let Some(editor) = &mut self.editor else { return Ok(()) };
            let next = match editor.read(&prompt, &splitter, &kept)? {
                Entered::Text(text) => match self.accept(&text) {
                    Ok(next) => next,
                    Err(failure) => self.recover(&failure)?,
                },
                Entered::Cancelled => Next::Continue,
                Entered::End => Next::End,
            };
            if interrupt::reason().is_some() {
                return Err(Failure::Stopped);
            }
            if next != Next::Continue && self.end_session(next)? {
                return Ok(());
            }
        }
    }

    /// The name of the database; with * while changes are not committed, and + in a transaction that is open without any.
    fn prompt(&self) -> String {
        let runner = self.runner.borrow();
        let database = runner.config.target.database();
        let name = database.rsplit(['/', '\\']).next().unwrap_or(database);
        let name = name.strip_suffix(".fdb").or_else(|| name.strip_suffix(".FDB")).unwrap_or(name);
        let state = match runner.uncommitted() {
            None => "",
            Some(0) => "+",
            Some(_) => "*",
        };
        format!("{}{state}> ", terminal::line(name))
    }

    /// Runs what was entered.
    fn accept(&mut self, text: &str) -> Result<Next> {
        let trimmed = text.trim();
        match trimmed.to_ascii_lowercase().as_str() {
            "exit" => return Ok(Next::Commit),
            "quit" => return Ok(self.quit()),
            "help" | "help;" | "?" => return backslash::run(self, "\\?", ""),
            _ => {}
        }
        // A command may follow SQL that has not ended.
        if let Some(start) = command_start(trimmed) {
            let mut before = trimmed[..start].trim_end();
            if let Ok(Split { statements, rest }) = self.splitter.clone().split(before)
                && !statements.is_empty()
            {
                match self.run_sql(&before[..before.len() - rest.len()])? {
                    Next::Continue => before = rest,
                    next => return Ok(next),
                }
            }
            let line = trimmed[..start].matches('\n').count();
            let ran = backslash::run(self, &trimmed[start..], before);
            return ran.or_else(|error| self.report_at(line, error));
        }
        self.run_sql(text)
    }

    /// On a terminal, somebody can be asked about changes.
    fn quit(&self) -> Next {
        if self.editor.is_some() { Next::End } else { Next::RollBack }
    }

    /// Runs whole statements. In a script that goes on after errors, one that fails keeps none of the others from
    /// running.
    fn run_sql(&mut self, text: &str) -> Result<Next> {
        let Split { statements, .. } = match self.splitter.split(text) {
            Ok(split) => split,
            Err(error) => return self.report_at(0, wrong_script(error)),
        };
        for (index, statement) in statements.iter().enumerate() {
            self.last = Some((*statement).to_owned());
            match self.on_runner(|runner| runner.step(statement)) {
                Ok(Flow::Continue) => {}
                Ok(Flow::Exit) => return Ok(Next::Commit),
                Ok(Flow::Quit) => return Ok(self.quit()),
                Err(error) if self.editor.is_some() => {
                    let rest = (statements.len() - index - 1) as u64;
                    if rest > 0 {
                        terminal::remark(&counted(rest, "statement", " of this line not run"));
                    }
                    return Err(error);
                }
                Err(error) => _ = self.report_at(line_number(text, statement) - 1, error)?,
            }
        }
        Ok(Next::Continue)
    }

    fn statement(&mut self, sql: &str) -> Result<()> {
        self.last = Some(sql.to_owned());
        self.on_runner(|runner| runner.run(sql, &Params::none()))
    }

    /// Does something that Ctrl-C ends.
    fn on_runner<T>(&self, work: impl FnOnce(&mut Runner) -> Result<T>) -> Result<T> {
        let work = || work(&mut self.runner.borrow_mut());
        match &self.conversation {
            Some(conversation) => conversation.turn(work),
            None => work(),
        }
    }

    /// SQL that was entered and not yet run, or the last statement.
    fn entered_or_last(&self, before: &str) -> Result<String> {
        if !before.trim().is_empty() {
            return Ok(before.trim().to_owned());
        }
        self.last.clone().ok_or_else(|| Failure::usage("there is no statement yet"))
    }

    /// Begins the next prompt with this.
    fn keep(&mut self, text: &str) {
        // A command that follows begins a line.
        self.kept = if text.is_empty() { String::new() } else { format!("{}\n", text.trim_end()) };
    }

    fn history(&self) -> String {
        self.editor.as_ref().map_or_else(String::new, Editor::history)
    }

    /// Runs a statement again and again.
    fn watch(&mut self, sql: &str, pause: Duration) -> Result<()> {
        let Some(conversation) = &self.conversation else {
            return Err(Failure::usage("\\watch needs a terminal, where Ctrl-C ends it"));
        };
        self.last = Some(sql.to_owned());
        let mut rounds = 0;
        conversation.turn(|| {
            loop {
                print(&format!(
                    "every {pause:?}, {} until now; Ctrl-C ends it\n",
                    counted(rounds, "time", "")
                ))?;
                rounds += 1;
                self.runner.borrow_mut().run(sql, &Params::none())?;
                let next = Instant::now() + pause;
                while Instant::now() < next {
                    interrupt::check()?;
                    std::thread::sleep(Duration::from_millis(20).min(pause));
                }
            }
        })
    }

    /// Runs `firearrow copy` or `firearrow load` for this database.
    fn subcommand(&mut self, name: &str, arguments: &str) -> Result<Next> {
        if name == "copy"
            && let Some(ours) = psql::copy(arguments)
        {
            return Err(Failure::usage(ours));
        }
        let words = words(arguments)?;
        if name == "load" && self.runner.borrow().is_read_only() {
            return Err(Failure::usage("this session is read-only"));
        }
        let url = self.runner.borrow().url.clone();
        let line = ["firearrow".to_owned(), name.to_owned(), url].into_iter().chain(words);
        let cli = match Cli::try_parse_from(line) {
            Ok(cli) => cli,
            Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {
                print(&error.to_string())?;
                return Ok(Next::Continue);
            }
            Err(error) => {
                // The usage of the command line names the URL, which is not entered here.
                let text = error.to_string();
                let text = text.split("\n\nUsage:").next().unwrap_or(&text).trim_start_matches("error: ");
                return Err(Failure::usage(firearrow_bench::secret::redact(text)));
            }
        };
        if cli.timeout.is_some() {
            return Err(Failure::usage(
                "--timeout is for the command line; here Ctrl-C ends what takes too long",
            ));
        }
        let uncommitted = self.runner.borrow().uncommitted();
        match name {
            // While it runs, this session cannot commit: it would wait for ever.
            "load" if uncommitted.is_some() => {
                return Err(Failure::usage(
                    "\\load has a connection of its own, which could wait for the transaction that is open here: COMMIT or \
                     ROLLBACK first",
                ));
            }
            "copy" if uncommitted.is_some_and(|changes| changes > 0) => {
                terminal::remark("\\copy has a connection of its own, which sees only what is committed");
            }
            _ => {}
        }
        let Some(conversation) = &self.conversation else {
            crate::run_command(&cli)?;
            return Ok(Next::Continue);
        };
        conversation.turn(|| crate::run_command(&cli))?;
        Ok(Next::Continue)
    }

    /// Commits or rolls back what is open, and returns whether the session ends.
    fn end_session(&mut self, next: Next) -> Result<bool> {
        let changes = self.runner.borrow().uncommitted().unwrap_or(0);
        let commit = match next {
            Next::Commit => true,
            Next::RollBack => false,
            // Nothing that is known of; committing loses nothing of what procedures have written.
            _ if changes == 0 => true,
            _ => {
                let statements = counted(changes, "statement", "");
                let question = format!("The changes of {statements} are not committed. Commit them? [y/N] ");
                let Some(editor) = &mut self.editor else { return Ok(true) };
                match editor.ask(&question, false)? {
                    Some(commit) => commit,
                    None => return Ok(false),
                }
            }
        };
        let ended = match commit {
            true => self.on_runner(Runner::commit),
            false => self.on_runner(Runner::roll_back),
        };
        match ended {
            Ok(text) if changes > 0 => print(&format!("{text}\n"))?,
            Ok(_) => {}
            // A commit that failed is no reason to leave; a lost connection has nothing to roll back.
            Err(failure) if commit => {
                self.recover(&failure)?;
                return Ok(false);
            }
            Err(_) => {}
        }
        Ok(true)
    }
}

/// What an editor makes of a text.
fn edited(text: &str) -> Result<String> {
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
    let editor = editor.unwrap_or_else(|| process::EDITOR.to_owned());
    let file =
        interrupt::temporary(|| tempfile::Builder::new().prefix("firearrow-").suffix(".sql").tempfile())?;
    std::fs::write(file.path(), format!("{text}\n"))?;
    // The user's command may have arguments; the path is one of ours.
    let status = process::shell_with(&editor, file.path()).status()?;
    if !status.success() {
        return Err(Failure::other(format!("{editor}: {status}; set VISUAL or EDITOR")));
    }
    Ok(std::fs::read_to_string(file.path())?.trim_end().to_owned())
}

/// Says why something has not been done.
fn report_failure(failure: &Failure) {
    match failure.client() {
        _ if matches!(failure.reason(), Failure::Stopped) => terminal::remark("cancelled"),
        Some(error) if error.kind() == Kind::Cancelled => terminal::remark("cancelled"),
        _ => terminal::remark(&format!("error: {}", failure.text(false))),
    }
}
