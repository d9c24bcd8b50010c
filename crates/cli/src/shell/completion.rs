//! Completion of keywords, names, files and options.

use super::backslash;
use super::input::words;
use super::names::Names;
use crate::args::Cli;
use crate::ddl;
use crate::runner::{Listing, Runner};
use crate::sql_words::{beginning, fitting, following, is_keyword};
use crate::terminal;
use clap::{Arg, CommandFactory, ValueHint};
use firearrow::catalog::quoted;
use firearrow::sql::{Token, TokenKind, tokens};
use rustyline::Context;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use std::cell::RefCell;
use std::rc::Rc;

pub(super) struct Completion {
    runner: Rc<RefCell<Runner>>,
    names: RefCell<Option<Names>>,
    files: FilenameCompleter,
}

/// What the argument of a command is completed with.
enum Argument {
    Words(Vec<String>),
    Files,
    Names,
}

impl Completion {
    pub(super) fn new(runner: Rc<RefCell<Runner>>) -> Self {
        Self { runner, names: RefCell::new(None), files: FilenameCompleter::new() }
    }

    pub(super) fn forget(&self) {
        self.names.replace(None);
    }

    /// Returns where the word begins that is completed, and what it may become.
    pub(super) fn complete(
        &self,
        text: &str,
        at: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = &text[line..at];
        // A command may also follow SQL in its line.
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        if word.starts_with('\\') {
            let names = backslash::names().filter(|name| name.starts_with(word));
            return Ok((at - word.len(), names.map(|name| pair(name.to_owned())).collect()));
        }
        if let Some(end) = before.find(char::is_whitespace).filter(|_| before.starts_with('\\')) {
            match argument(&before[..end], &before[end..], word) {
                Argument::Files => {
                    let (start, mut found) = self.files.complete(text, at, context)?;
                    found.retain(|file| is_harmless(&file.display));
                    return Ok((start, found));
                }
                Argument::Words(words) => {
                    let words = words.into_iter().filter(|other| other.starts_with(word));
                    return Ok((at - word.len(), words.map(pair).collect()));
                }
                Argument::Names => {}
            }
        }
        let start = word_start(&text[..at]);
        let words = following(&text[..start]);
        if !words.is_empty() {
            return Ok((start, fitting(words.iter(), &text[start..at]).into_iter().map(pair).collect()));
        }
        let mut found = self.names_for(text, start, &text[start..at]);
        found.retain(|name| is_harmless(name));
        Ok((start, found.into_iter().map(pair).collect()))
    }

    fn names_for(&self, text: &str, start: usize, word: &str) -> Vec<String> {
        // The runner is free while something is entered.
        let Ok(runner) = self.runner.try_borrow() else { return Vec::new() };
        let mut names = self.names.borrow_mut();
        // What was known before is better than nothing while changes are open.
        if names.as_ref().is_none_or(|names| !names.is_fresh(&runner) && runner.uncommitted().is_none()) {
            *names = Some(Names::new(&runner));
        }
        let Some(names) = names.as_mut() else { return Vec::new() };
        let mut known = names.of(&runner, Listing::Tables).to_vec();
        if text.contains('$') {
            known.extend_from_slice(names.of(&runner, Listing::SystemTables));
        }
        known.sort();
        if let Some(dot) = word.rfind('.') {
            let (qualifier, rest) = (&word[..dot], &word[dot + 1..]);
            let folded = folded(qualifier);
            let table = tables_of(text, &known)
                .into_iter()
                .find(|(table, alias)| alias.as_ref().unwrap_or(table) == &folded || table == &folded);
            let table = table.map_or(folded, |(table, _)| table);
            let columns = names.columns(&runner, &table);
            let fitting = columns.iter().filter(|name| fits(name, rest));
            return fitting.map(|name| format!("{qualifier}.{}", spelled(name, word))).collect();
        }
        let before = &text[..start];
        let is_argument = before.trim_start().starts_with('\\');
        let mut listings = listings_after(before);
        if is_argument && listings.is_empty() {
            listings = &SELECTABLE;
        }
        let mut found: Vec<String> = Vec::new();
        if listings.is_empty() {
            for (table, _) in tables_of(text, &known) {
                found.extend_from_slice(names.columns(&runner, &table));
            }
            // Without a letter, everything would be listed.
            if !word.is_empty() {
                listings = &ANYWHERE;
            }
        }
        for listing in listings {
            found.extend_from_slice(names.of(&runner, *listing));
            // The system's tables are many, and have a $ in their names.
            if *listing == Listing::Tables && word.contains('$') {
                found.extend_from_slice(names.of(&runner, Listing::SystemTables));
            }
        }
        found.retain(|name| fits(name, word));
        found.sort();
        found.dedup();
        let mut found: Vec<String> = found.iter().map(|name| spelled(name, word)).collect();
        if listings == ANYWHERE {
            found.extend(beginning(word));
        }
        found
    }
}

/// What a query can read.
const SELECTABLE: [Listing; 2] = [Listing::Tables, Listing::Procedures];
/// What may stand anywhere.
const ANYWHERE: [Listing; 3] = [Listing::Tables, Listing::Procedures, Listing::Functions];

/// What the last words of a text ask for; empty if they call for no name.
fn listings_after(before: &str) -> &'static [Listing] {
    let all: Vec<Token<'_>> = tokens(before).collect();
    let last = |back: usize, word: &str| {
        all.len()
            .checked_sub(back + 1)
            .and_then(|index| all.get(index))
            .is_some_and(|token| token.is_word(word))
    };
    let is = |words: &[&str]| words.iter().any(|word| last(0, word));
    let is_sequence = last(0, "FOR") && last(1, "VALUE")
        || last(1, "GEN_ID") && all.last().is_some_and(|token| token.text == "(");
    match () {
        () if is(&["FROM", "JOIN"]) => &SELECTABLE,
        () if is(&["INTO", "UPDATE", "TABLE"]) => &[Listing::Tables],
        () if is(&["VIEW"]) => &[Listing::Views],
        () if is(&["PROCEDURE"]) => &[Listing::Procedures],
        () if is(&["FUNCTION"]) => &[Listing::Functions],
        () if is(&["TRIGGER"]) => &[Listing::Triggers],
        () if is(&["INDEX"]) => &[Listing::Indexes],
        () if is(&["DOMAIN"]) => &[Listing::Domains],
        () if is(&["EXCEPTION"]) => &[Listing::Exceptions],
        () if is(&["PACKAGE"]) => &[Listing::Packages],
        () if is(&["ROLE"]) => &[Listing::Roles],
        () if is(&["SEQUENCE", "GENERATOR"]) || is_sequence => &[Listing::Sequences],
        () => &[],
    }
}

/// What a command takes at the end of its arguments, whose last word is `word`.
fn argument(command: &str, arguments: &str, word: &str) -> Argument {
    // What is open, such as a quotation, is counted by its blanks.
    let all = words(arguments).unwrap_or_else(|_| arguments.split_whitespace().map(str::to_owned).collect());
    let given = all.len() - usize::from(!word.is_empty()).min(all.len());
    let name = command.trim_start_matches('\\');
    if let Some(subcommand) =
        Cli::command().find_subcommand(name).filter(|_| backslash::takes_options(command))
    {
        let options = || subcommand.get_arguments().filter(|option| !option.is_global_set());
        let long = |option: &Arg| option.get_long().map(|long| format!("--{long}"));
        if word.starts_with('-') {
            return Argument::Words(options().filter_map(long).collect());
        }
        let before = given.checked_sub(1).and_then(|last| all.get(last));
        if before.is_some_and(|before| before == "--into") {
            return Argument::Names;
        }
        let with_value = |before: &String| {
            options()
                .find(|option| option.get_action().takes_values() && long(option).as_ref() == Some(before))
        };
        if let Some(option) = before.and_then(with_value) {
            let values: Vec<String> =
                option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
            return match option.get_value_hint() {
                ValueHint::FilePath | ValueHint::AnyPath => Argument::Files,
                _ => Argument::Words(values),
            };
        }
    }
    match backslash::placeholder(command, given) {
        Some("FILE" | "FOLDER" | "URL") => Argument::Files,
        Some("--into") if word.is_empty() => Argument::Words(vec!["--into".to_owned()]),
        Some("--into" | "OPTIONS") => Argument::Files,
        Some(words) if words.contains('|') && words.starts_with(|c: char| c.is_ascii_lowercase()) => {
            Argument::Words(words.split('|').map(str::to_owned).collect())
        }
        _ => Argument::Names,
    }
}

/// Whether the editor may write a text as it is.
fn is_harmless(text: &str) -> bool {
    terminal::line(text) == text
}

fn pair(text: String) -> Pair {
    Pair { display: text.clone(), replacement: text }
}

/// Where the name begins that ends the text, with what qualifies it.
fn word_start(text: &str) -> usize {
    // A quoted name may have blanks.
    let quotes = text.bytes().filter(|byte| *byte == b'"').count();
    if quotes % 2 == 1 {
        return text.rfind('"').unwrap_or(0);
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '"');
    text.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(text.len(), |(index, _)| index)
}

/// A name as the catalog has it.
fn folded(name: &str) -> String {
    match name.strip_prefix('"') {
        Some(rest) => rest.trim_end_matches('"').replace("\"\"", "\""),
        None => name.to_ascii_uppercase(),
    }
}

fn fits(name: &str, word: &str) -> bool {
    match word.strip_prefix('"') {
        Some(rest) => name.starts_with(rest),
        None => name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word)),
    }
}

/// A name as SQL needs it, in the letter case of what was entered.
fn spelled(name: &str, word: &str) -> String {
    match ddl::is_plain(name) && !word.starts_with('"') {
        true if word.chars().any(char::is_lowercase) => name.to_ascii_lowercase(),
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// The tables of a statement, and their aliases.
fn tables_of(text: &str, known: &[String]) -> Vec<(String, Option<String>)> {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let name = |token: &Token<'_>| {
        matches!(token.kind, TokenKind::Word | TokenKind::QuotedName).then(|| folded(token.text))
    };
    let mut tables = Vec::new();
    for (index, token) in all.iter().enumerate() {
        let Some(table) = name(token).filter(|name| known.binary_search(name).is_ok()) else { continue };
        let next = match all.get(index + 1) {
            Some(next) if next.is_word("AS") => all.get(index + 2),
            next => next,
        };
        let alias = next.and_then(name).filter(|alias| !is_keyword(alias));
        tables.push((table, alias));
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_where_names_do() {
        for (text, word) in [
            ("SELECT na", "na"),
            ("SELECT e.na", "e.na"),
            ("SELECT \"my na", "\"my na"),
            ("SELECT \"E\".na", "\"E\".na"),
            ("SELECT (RDB$R", "RDB$R"),
            ("SELECT ", ""),
        ] {
            assert_eq!(&text[word_start(text)..], word, "{text}");
        }
    }

    #[test]
    fn names_keep_the_letter_case_of_what_was_entered() {
        assert_eq!(spelled("SALES", "sa"), "sales");
        assert_eq!(spelled("SALES", "SA"), "SALES");
        assert_eq!(spelled("Mixed case", "mi"), "\"Mixed case\"");
        assert_eq!(spelled("SALES", "\"SA"), "\"SALES\"");
        assert_eq!(spelled("ORDER", "or"), "\"ORDER\"");
        assert!(fits("SALES", "sa") && !fits("SALES", "\"sa") && fits("Größe", "größ") && !fits("A", "ab"));
    }

    #[test]
    fn tables_are_found_with_their_aliases() {
        let known = ["A b".to_owned(), "EMPLOYEE".to_owned(), "SALES".to_owned()];
        let found = tables_of("SELECT  FROM employee e JOIN \"A b\" AS x ON 1 = 1, sales WHERE", &known);
        let expected = [("EMPLOYEE", Some("E")), ("A b", Some("X")), ("SALES", None)];
        let expected = expected.map(|(table, alias)| (table.to_owned(), alias.map(str::to_owned)));
        assert_eq!(found, expected);
        assert_eq!(listings_after("SELECT * from "), SELECTABLE);
        assert!(listings_after("SELECT * FROM t WHERE ").is_empty());
        assert_eq!(listings_after("SELECT NEXT VALUE FOR "), [Listing::Sequences]);
        assert_eq!(listings_after("SELECT GEN_ID("), [Listing::Sequences]);
        assert!(listings_after("SELECT * FROM t FOR ").is_empty());
    }

    #[test]
    fn arguments_are_what_the_list_of_commands_says() {
        let words = |command: &str, arguments: &str, word: &str| match argument(command, arguments, word) {
            Argument::Words(words) => words.join(" "),
            Argument::Files => "files".to_owned(),
            Argument::Names => "names".to_owned(),
        };
        for (command, arguments, word, expected) in [
            ("\\plan", " ", "", "on off explain only"),
            ("\\format", " c", "c", "table expanded csv json"),
            ("\\i", " a", "a", "files"),
            ("\\c", " ", "", "files"),
            ("\\d", " SA", "SA", "names"),
            ("\\copy", " SA", "SA", "names"),
            ("\\copy", " SALES ", "", "files"),
            ("\\copy", " 'SELECT 1 FROM RDB$DATABASE' x", "x", "files"),
            ("\\copy", " SALES a.parquet --compression ", "", "zstd snappy none"),
            ("\\copy", " SALES --force ", "", "files"),
            ("\\load", " a.csv ", "", "--into"),
            ("\\load", " a.csv --into SA", "SA", "names"),
            ("\\load", " a.csv --into SALES --reject ", "", "files"),
            ("\\nothing", " x", "x", "names"),
        ] {
            assert_eq!(words(command, arguments, word), expected, "{command}{arguments}");
        }
        let options = words("\\load", " a.csv --into SALES --", "--");
        assert!(options.contains("--reject") && !options.contains("--timeout"), "{options}");
    }
}
