//! The commands themselves.

use super::backslash::{Arguments, Command, help};
use super::input::words;
use super::{Next, Shell};
use crate::failure::{Failure, Result};
use crate::output::{Format, print};
use crate::platform::{folders, process};
use crate::runner::{Flow, Listing, PlanForm, Runner};
use crate::terminal;
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;

/// `on`, `off`, or nothing, which changes it.
fn switch(arguments: Arguments<'_>, before: bool) -> Result<bool> {
    match arguments.all.to_ascii_lowercase().as_str() {
        "" => Ok(!before),
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        other => Err(Failure::usage(format!("this takes on or off, not {other}"))),
    }
}

fn tell(runner: &Runner, name: &str, is_on: bool) -> Result<Next> {
    runner.display.remark(&format!("{name} is {}", if is_on { "on" } else { "off" }))?;
    Ok(Next::Continue)
}

fn list(shell: &mut Shell, listing: Listing, arguments: Arguments<'_>) -> Result<Next> {
    let pattern = arguments.all.replace('*', "%").replace('?', "_");
    shell.on_runner(|runner| runner.list(listing, (!pattern.is_empty()).then_some(&pattern)))?;
    Ok(Next::Continue)
}

/// Whether this is a pattern for names, and no name.
fn is_pattern(text: &str) -> bool {
    !text.starts_with('"') && text.contains(['*', '?', '%'])
}

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["\\?", "\\h", "\\help"],
        arguments: "",
        help: "this list",
        run: |_, _| {
            print(&help())?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\q", "\\quit"],
        arguments: "",
        help: "end; asks about changes, and commits them in a script",
        run: |_, _| Ok(Next::End),
    },
    Command {
        names: &["\\d"],
        arguments: "[NAME|PATTERN]",
        help: "describe an object; without NAME, list tables and views",
        run: |shell, arguments| match arguments.all {
            pattern if pattern.is_empty() || is_pattern(pattern) => {
                list(shell, Listing::Tables, arguments)?;
                list(shell, Listing::Views, arguments)
            }
            name => {
                let name = name.to_owned();
                shell.on_runner(|runner| runner.describe(&name))?;
                Ok(Next::Continue)
            }
        },
    },
    Command {
        names: &["\\dt"],
        arguments: "[PATTERN]",
        help: "tables",
        run: |s, a| list(s, Listing::Tables, a),
    },
    Command {
        names: &["\\dv"],
        arguments: "[PATTERN]",
        help: "views",
        run: |s, a| list(s, Listing::Views, a),
    },
    Command {
        names: &["\\di"],
        arguments: "[PATTERN]",
        help: "indexes",
        run: |s, a| list(s, Listing::Indexes, a),
    },
    Command {
        names: &["\\dp"],
        arguments: "[PATTERN]",
        help: "procedures",
        run: |s, a| list(s, Listing::Procedures, a),
    },
    Command {
        names: &["\\df"],
        arguments: "[PATTERN]",
        help: "functions",
        run: |s, a| list(s, Listing::Functions, a),
    },
    Command {
        names: &["\\dy"],
        arguments: "[PATTERN]",
        help: "triggers",
        run: |s, a| list(s, Listing::Triggers, a),
    },
    Command {
        names: &["\\ds"],
        arguments: "[PATTERN]",
        help: "sequences (generators), and their values",
        run: |s, a| list(s, Listing::Sequences, a),
    },
    Command {
        names: &["\\dD"],
        arguments: "[PATTERN]",
        help: "domains",
        run: |s, a| list(s, Listing::Domains, a),
    },
    Command {
        names: &["\\dx"],
        arguments: "[PATTERN]",
        help: "exceptions",
        run: |s, a| list(s, Listing::Exceptions, a),
    },
    Command {
        names: &["\\dk"],
        arguments: "[PATTERN]",
        help: "packages",
        run: |s, a| list(s, Listing::Packages, a),
    },
    Command {
        names: &["\\z"],
        arguments: "[NAME]",
        help: "privileges on an object, members of a role, or all grants",
        run: |shell, arguments| {
            let name = (!arguments.all.is_empty()).then(|| arguments.all.to_owned());
            shell.on_runner(|runner| runner.show_grants(name.as_deref()))?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\dg", "\\du"],
        arguments: "[PATTERN]",
        help: "roles",
        run: |s, a| list(s, Listing::Roles, a),
    },
    Command {
        names: &["\\dS"],
        arguments: "[PATTERN]",
        help: "system tables",
        run: |s, a| list(s, Listing::SystemTables, a),
    },
    Command {
        names: &["\\ddl"],
        arguments: "NAME",
        help: "the DDL of an object",
        run: |shell, arguments| {
            let name = needed(arguments, "NAME")?;
            shell.on_runner(|runner| runner.show_ddl(name))?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\conninfo"],
        arguments: "",
        help: "the database and the connection",
        run: |shell, _| {
            shell.on_runner(|runner| runner.show_database())?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\x"],
        arguments: "[on|off]",
        help: "rows as one line per value",
        run: |shell, arguments| {
            let mut runner = shell.runner.borrow_mut();
            runner.settings.expanded = switch(arguments, runner.settings.expanded)?;
            tell(&runner, "expanded display", runner.settings.expanded)
        },
    },
    Command {
        names: &["\\t"],
        arguments: "[on|off]",
        help: "rows of tables and CSV alone, without names of columns and counts",
        run: |shell, arguments| {
            let mut runner = shell.runner.borrow_mut();
            let is_bare = switch(arguments, runner.display.style.bare)?;
            runner.display.style.bare = is_bare;
            tell(&runner, "rows alone", is_bare)
        },
    },
    Command {
        names: &["\\timing"],
        arguments: "[on|off]",
        help: "time and traffic of each statement",
        run: |shell, arguments| {
            let mut runner = shell.runner.borrow_mut();
            runner.settings.timing = switch(arguments, runner.settings.timing)?;
            tell(&runner, "timing", runner.settings.timing)
        },
    },
    Command {
        names: &["\\plan"],
        arguments: "[on|off|explain|only]",
        help: "the plan before each statement, as a tree, or instead of running it",
        run: plan,
    },
    Command {
        names: &["\\autocommit"],
        arguments: "[on|off]",
        help: "commit every statement at once",
        run: |shell, arguments| {
            let mut runner = shell.runner.borrow_mut();
            runner.settings.auto_commit = switch(arguments, runner.settings.auto_commit)?;
            tell(&runner, "autocommit", runner.settings.auto_commit)
        },
    },
    Command {
        names: &["\\format"],
        arguments: "[table|expanded|csv|json]",
        help: "how rows are shown",
        run: |shell, arguments| {
            let mut runner = shell.runner.borrow_mut();
            if !arguments.all.is_empty() {
                let format = Format::from_str(arguments.all, true).ok().filter(|format| !format.is_binary());
                let format = format.ok_or_else(|| {
                    Failure::usage(
                        "\\format takes table, expanded, csv or json; \\copy writes Parquet and Arrow files",
                    )
                })?;
                runner.display.set_format(format);
            }
            runner.display.remark(&format!("the format is {:?}", runner.display.format()).to_lowercase())?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\pager"],
        arguments: "[on|off]",
        help: "show long output with $FIREARROW_PAGER, $PAGER or less",
        run: |shell, arguments| {
            let mut runner = shell.runner.borrow_mut();
            let is_on = switch(arguments, runner.display.pager.is_some())?;
            runner.display.pager = if is_on { shell.pager.clone() } else { None };
            tell(&runner, "the pager", runner.display.pager.is_some())
        },
    },
    Command {
        names: &["\\o"],
        arguments: "[FILE]",
        help: "write what follows to FILE; without it to the terminal again",
        run: |shell, arguments| {
            if arguments.all.starts_with('|') {
                return Err(Failure::usage("\\o takes a file; \\! runs a command on it afterwards"));
            }
            let path = file("\\o", arguments)?;
            shell.runner.borrow_mut().display.redirect(path.as_deref(), false)?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\i"],
        arguments: "FILE",
        help: "run a script",
        run: |shell, arguments| {
            needed(arguments, "FILE")?;
            let path = file("\\i", arguments)?.unwrap_or_default();
            // EXIT and QUIT end the script, and not the session.
            shell.on_runner(|runner| match runner.input(&path)? {
                Flow::Quit => runner.roll_back().map(|_| ()),
                Flow::Exit => runner.commit().map(|_| ()),
                Flow::Continue => Ok(()),
            })?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\g"],
        arguments: "",
        help: "run what was entered, or the last statement again",
        run: |shell, arguments| go(shell, "\\g", arguments),
    },
    Command {
        names: &["\\gx"],
        arguments: "",
        help: "the same, with one line per value",
        run: |shell, arguments| {
            let before = std::mem::replace(&mut shell.runner.borrow_mut().settings.expanded, true);
            let ran = go(shell, "\\gx", arguments);
            shell.runner.borrow_mut().settings.expanded = before;
            ran
        },
    },
    Command {
        names: &["\\watch"],
        arguments: "[SECONDS]",
        help: "run the last statement again and again, until Ctrl-C",
        run: |shell, arguments| {
            let sql = shell.entered_or_last(arguments.before)?;
            shell.watch(&sql, seconds(arguments.all)?)?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\p"],
        arguments: "",
        help: "show what was entered, or the last statement",
        run: |shell, arguments| {
            let sql = shell.entered_or_last(arguments.before)?;
            print(&format!("{sql}\n"))?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\r"],
        arguments: "",
        help: "forget what was entered",
        run: |_, _| Ok(Next::Continue),
    },
    Command {
        names: &["\\e"],
        arguments: "",
        help: "edit what was entered, or the last statement, in $VISUAL or $EDITOR",
        run: |shell, arguments| {
            let mut text = shell.entered_or_last(arguments.before).unwrap_or_default();
            if arguments.before.trim().is_empty() && !text.is_empty() {
                text.push_str(shell.splitter.terminator());
            }
            let edited = super::edited(&text)?;
            if !edited.is_empty() && edited == text.trim_end() {
                // Whoever leaves the editor without saving does not expect a change to be made again.
                shell.keep(arguments.before);
                terminal::remark("not changed, so not run; \\g runs the last statement again");
                return Ok(Next::Continue);
            }
            // As in psql, what ends with a terminator is run.
            if super::input::is_whole(&edited, shell.splitter.clone()) {
                return shell.run_sql(&edited);
            }
            shell.keep(&edited);
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\copy"],
        arguments: "TABLE|'SQL' FILE [OPTIONS]",
        help: "firearrow copy, over a connection of its own",
        run: |shell, arguments| shell.subcommand("copy", arguments.all),
    },
    Command {
        names: &["\\load"],
        arguments: "FILE --into TABLE [OPTIONS]",
        help: "firearrow load, over a connection of its own; COMMIT or ROLLBACK first",
        run: |shell, arguments| shell.subcommand("load", arguments.all),
    },
    Command {
        names: &["\\c", "\\connect"],
        arguments: "[URL]",
        help: "connect to another database, or to this one again",
        run: |shell, arguments| {
            shell.connect((!arguments.all.is_empty()).then_some(arguments.all))?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\s"],
        arguments: "",
        help: "what was entered before",
        run: |shell, _| {
            let text = shell.history();
            shell.on_runner(|runner| runner.display.text(&text))?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\cd"],
        arguments: "[FOLDER]",
        help: "change the current folder",
        run: |_, arguments| {
            let folder = file("\\cd", arguments)?;
            let folder = folder.unwrap_or_else(|| folders::home().unwrap_or_default());
            std::env::set_current_dir(&folder).map_err(|error| Failure::file(&folder, &error))?;
            Ok(Next::Continue)
        },
    },
    Command {
        names: &["\\!"],
        arguments: "[COMMAND]",
        help: "run a command of the system",
        run: |_, arguments| {
            let mut command = match arguments.all.is_empty() {
                true => process::interactive_shell(),
                false => process::users_shell(arguments.all),
            };
            let status = command.status()?;
            if !status.success() {
                print(&format!("{status}\n"))?;
            }
            Ok(Next::Continue)
        },
    },
];

/// The one file or folder that follows a command. Quotes keep its blanks, and so does a backslash, which completion
/// writes.
fn file(name: &str, arguments: Arguments<'_>) -> Result<Option<PathBuf>> {
    let mut words = words(arguments.all)?.into_iter();
    let path = words.next().map(PathBuf::from);
    match words.next() {
        None => Ok(path),
        Some(_) => Err(Failure::usage(format!("{name} takes one name: quotes keep its blanks"))),
    }
}

/// `\g` and `\gx`.
fn go(shell: &mut Shell, name: &str, arguments: Arguments<'_>) -> Result<Next> {
    if !arguments.all.is_empty() {
        return Err(Failure::usage(format!(
            "{name} takes no argument; \\o FILE writes what follows to a file"
        )));
    }
    let sql = shell.entered_or_last(arguments.before)?;
    shell.statement(&sql)?;
    Ok(Next::Continue)
}

fn plan(shell: &mut Shell, arguments: Arguments<'_>) -> Result<Next> {
    let mut runner = shell.runner.borrow_mut();
    let settings = &mut runner.settings;
    let (plan, only) = match arguments.all.to_ascii_lowercase().as_str() {
        "" if settings.plan.is_some() => (None, false),
        "" | "on" => (Some(PlanForm::Legacy), false),
        "off" => (None, false),
        "explain" => (Some(PlanForm::Explained), false),
        "only" => (Some(settings.plan.unwrap_or(PlanForm::Explained)), true),
        other => return Err(Failure::usage(format!("\\plan takes on, off, explain or only, not {other}"))),
    };
    (settings.plan, settings.plan_only) = (plan, only);
    let text = match (plan, only) {
        (None, _) => "plans are off",
        (Some(_), true) => "plans are shown, and nothing is run",
        (Some(PlanForm::Legacy), false) => "plans are shown",
        (Some(PlanForm::Explained), false) => "plans are shown as trees",
    };
    print(&format!("{text}\n"))?;
    Ok(Next::Continue)
}

fn needed<'a>(arguments: Arguments<'a>, what: &str) -> Result<&'a str> {
    match arguments.all {
        "" => Err(Failure::usage(format!("{what} is missing"))),
        all => Ok(all),
    }
}

fn seconds(text: &str) -> Result<Duration> {
    if text.is_empty() {
        return Ok(Duration::from_secs(2));
    }
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // Without a pause it would be a load test.
    seconds
        .filter(|pause| (SHORTEST_PAUSE..=LONGEST_PAUSE).contains(pause))
        .ok_or_else(|| Failure::usage(format!("\\watch takes seconds from 0.1 to a day, not {text}")))
}

const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_no_load_tests() {
        assert_eq!(seconds("").unwrap(), Duration::from_secs(2));
        assert_eq!(seconds("0.5").unwrap(), Duration::from_millis(500));
        for wrong in ["0", "-1", "x", "0.01", "1e19", "1e99", "nan"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
