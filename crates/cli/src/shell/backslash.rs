//! Commands that begin with a backslash, as psql has them.

use super::commands::COMMANDS;
use super::{Next, Shell};
use crate::failure::{Failure, Result};

/// A command: its names, what follows it, and what it does.
pub(super) struct Command {
    pub(super) names: &'static [&'static str],
    pub(super) arguments: &'static str,
    pub(super) help: &'static str,
    pub(super) run: fn(&mut Shell, Arguments<'_>) -> Result<Next>,
}

/// What follows the name of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments<'a> {
    /// As it was written.
    pub(super) all: &'a str,
    /// SQL that was entered before the command and not yet run.
    pub(super) before: &'a str,
}

/// Runs a command. `before` is SQL that was entered before it and not yet run.
pub(super) fn run(shell: &mut Shell, line: &str, before: &str) -> Result<Next> {
    let line = line.trim();
    let (name, all) = split_name(line);
    let Some(command) = find(name) else {
        shell.keep(before);
        return Err(Failure::usage(match elsewhere(name) {
            Some(here) => format!("there is no command {name}: {here}"),
            None => format!("there is no command {name}{}; \\? lists them", most_like(name)),
        }));
    };
    // As for psql, a semicolon at the end is no part of the arguments.
    let all = without_terminator(all.trim());
    if !USE_IT_UP.contains(&name) {
        shell.keep(before);
    }
    (command.run)(shell, Arguments { all, before })
}

/// Leaves out semicolons at the end, but for one that is the value of an option: `--delimiter ;`
fn without_terminator(arguments: &str) -> &str {
    let bare = arguments.trim_end_matches(';').trim_end();
    let last = bare.split_whitespace().next_back().unwrap_or_default();
    let takes_it = ["--delimiter", "--null"].contains(&last.trim_end_matches('='));
    match arguments[bare.len()..].find(';') {
        Some(semicolon) if takes_it => &arguments[..=bare.len() + semicolon],
        _ => bare,
    }
}

/// What does something with the SQL that was entered; the other commands leave it there.
const USE_IT_UP: [&str; 5] = ["\\g", "\\gx", "\\watch", "\\r", "\\e"];

/// The names of all commands, for completion.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().flat_map(|command| command.names.iter().copied())
}

/// What stands at this place behind a command, as the list of commands calls it. What comes after the last one is one like it.
pub(super) fn placeholder(name: &str, index: usize) -> Option<&'static str> {
    let arguments = find(name)?.arguments;
    let at = arguments.split_whitespace().nth(index).or_else(|| arguments.split_whitespace().last())?;
    Some(at.trim_matches(['[', ']']))
}

/// Whether a command takes the options of the subcommand of its name.
pub(super) fn takes_options(name: &str) -> bool {
    find(name).is_some_and(|command| command.arguments.contains("[OPTIONS]"))
}

fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.names.contains(&name))
}

/// `\dt x` is `\dt` and `x`; a name is letters, or one other character.
fn split_name(line: &str) -> (&str, &str) {
    let letters = line[1..].find(|c: char| !c.is_ascii_alphabetic()).map_or(line.len(), |end| end + 1);
    let end = if letters > 1 { letters } else { 1 + line[1..].chars().next().map_or(0, char::len_utf8) };
    let (name, rest) = line.split_at(end);
    // psql's + asks for more, which is there without it.
    (name, if name.starts_with("\\d") { rest.strip_prefix('+').unwrap_or(rest) } else { rest })
}

/// What does here what a command of psql does.
fn elsewhere(name: &str) -> Option<&'static str> {
    Some(match name {
        "\\l" | "\\list" => "a server does not list its databases; \\c takes the path or alias of one",
        "\\a" | "\\H" | "\\C" | "\\f" | "\\T" | "\\pset" => {
            "\\format sets how rows are shown (such as csv), and \\x shows a line for each value"
        }
        "\\set" | "\\unset" | "\\prompt" | "\\gset" | "\\bind" => {
            "there are no variables; firearrow query --param gives values to the ? of a statement"
        }
        "\\if" | "\\elif" | "\\else" | "\\endif" => "EXECUTE BLOCK has IF",
        "\\echo" | "\\qecho" | "\\warn" => "\\! echo prints a text",
        "\\dn" => "Firebird has no schemas; \\dt lists tables, \\dk packages",
        "\\dT" => "\\dD lists domains",
        "\\ir" => "\\i runs a file",
        "\\w" => "\\o FILE writes results to a file, \\s shows the history",
        "\\encoding" => "text is UTF-8, and the server converts it",
        "\\password" => "ALTER USER name PASSWORD 'text', and it is not kept in the history",
        "\\sf" | "\\sv" | "\\ef" | "\\ev" => "\\ddl NAME prints the DDL of an object",
        _ => return None,
    })
}

fn most_like(name: &str) -> String {
    let nearest =
        names().filter(|known| known.len() > 2 && (known.starts_with(name) || name.starts_with(known)));
    nearest.max_by_key(|known| known.len()).map_or_else(String::new, |known| format!("; {known} is one"))
}

pub(super) fn help() -> String {
    let width = COMMANDS.iter().map(|command| head(command).chars().count()).max().unwrap_or(0);
    let mut text = String::from(
        "SQL ends with a semicolon, or with the SET TERM terminator. Tab completes, Ctrl-C ends the running statement.\n\
         A command begins a line, or follows SQL: SELECT 1 FROM RDB$DATABASE \\gx\n\n",
    );
    for command in COMMANDS {
        text.push_str(&format!("  {:width$}  {}\n", head(command), command.help));
    }
    text.push_str(
        "\nAs in isql: SHOW TABLES, SHOW TABLE NAME …, SET (lists the settings), COMMIT, ROLLBACK, SET TRANSACTION,\n\
         INPUT FILE, OUTPUT [FILE], EXIT (commits) and QUIT (asks about changes, and rolls back in a script).\n\
         DDL is committed at once, in a transaction of its own. Other changes stay open until COMMIT or ROLLBACK, and the\n\
         prompt has a * until then.\n",
    );
    text
}

fn head(command: &Command) -> String {
    format!("{} {}", command.names.join(", "), command.arguments).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_arguments_begin() {
        for (line, expected) in [
            ("\\dt", ("\\dt", "")),
            ("\\dt EMP%", ("\\dt", " EMP%")),
            ("\\dt+ EMP%", ("\\dt", " EMP%")),
            ("\\?", ("\\?", "")),
            ("\\!ls", ("\\!", "ls")),
            ("\\", ("\\", "")),
            ("\\ü", ("\\ü", "")),
        ] {
            assert_eq!(split_name(line), expected, "{line}");
        }
    }

    #[test]
    fn a_separator_is_no_end() {
        for (arguments, expected) in [
            ("T t.csv --delimiter ;", "T t.csv --delimiter ;"),
            ("T t.csv\t--delimiter\t;;", "T t.csv\t--delimiter\t;"),
            ("T t.csv --delimiter=;;", "T t.csv --delimiter=;"),
            ("T t.csv --delimiter", "T t.csv --delimiter"),
            ("T t.csv --force ;", "T t.csv --force"),
            ("T t.csv;;", "T t.csv"),
            (";", ""),
        ] {
            assert_eq!(without_terminator(arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn what_psql_has_is_not_what_is_here() {
        for name in ["\\l", "\\pset", "\\set", "\\echo", "\\dn", "\\sf"] {
            assert!(elsewhere(name).is_some() && names().all(|known| known != name), "{name}");
        }
        assert!(names().all(|known| elsewhere(known).is_none()));
    }

    #[test]
    fn names_are_unique_and_explained() {
        let all: Vec<&str> = names().collect();
        let unique: std::collections::HashSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), unique.len());
        assert!(help().lines().all(|line| line.chars().count() <= 120), "{}", help());
    }
}
