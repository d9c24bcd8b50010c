//! Completion of keywords, names and files.

use super::backslash;
use crate::ddl;
use crate::runner::Runner;
use crate::terminal;
use firearrow::CancelToken;
use firearrow::catalog::{Name, quoted};
use firearrow::sql::{Token, TokenKind, tokens};
use rustyline::Context;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub(super) struct Completion {
    runner: Rc<RefCell<Runner>>,
    names: RefCell<Option<Names>>,
    files: FilenameCompleter,
}

/// Names of the database, as far as they were needed.
struct Names {
    tables: Vec<String>,
    /// Procedures, which can be selected from like tables.
    procedures: Vec<String>,
    columns: HashMap<String, Vec<String>>,
    /// When they were asked for.
    since: Instant,
    /// How many statements had defined something by then.
    definitions: u64,
}

/// Somebody who presses Tab does not wait longer than this.
const PATIENCE: Duration = Duration::from_secs(2);
/// Others may define something, too.
const FRESH: Duration = Duration::from_secs(60);

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
            let (name, arguments) = before.split_at(end);
            let is_first = !arguments.trim_start().contains(char::is_whitespace);
            let is_table = arguments.split_whitespace().rev().take(2).any(|word| word == "--into");
            let is_file = match name {
                "\\i" | "\\o" | "\\cd" | "\\c" | "\\connect" => true,
                "\\copy" => !is_first,
                "\\load" => !is_table,
                _ => false,
            };
            if is_file {
                return self.files.complete(text, at, context);
            }
            let words = match name {
                "\\format" => &["table", "expanded", "csv", "json"][..],
                "\\plan" => &["on", "off", "explain", "only"],
                "\\x" | "\\timing" | "\\autocommit" | "\\pager" => &["on", "off"],
                _ => &[],
            };
            if !words.is_empty() {
                let words = words.iter().filter(|other| other.starts_with(word));
                return Ok((at - word.len(), words.map(|word| pair((*word).to_owned())).collect()));
            }
        }
        let start = word_start(&text[..at]);
        let mut found = self.names_for(text, start, &text[start..at]);
        // The editor writes them as they are.
        found.retain(|name| terminal::line(name) == *name);
        Ok((start, found.into_iter().map(pair).collect()))
    }

    fn names_for(&self, text: &str, start: usize, word: &str) -> Vec<String> {
        // The runner is free while something is entered.
        let Ok(runner) = self.runner.try_borrow() else { return Vec::new() };
        self.load(&runner);
        let mut names = self.names.borrow_mut();
        let Some(names) = names.as_mut() else { return keywords(word) };
        if let Some(dot) = word.rfind('.') {
            let (qualifier, rest) = (&word[..dot], &word[dot + 1..]);
            let folded = folded(qualifier);
            let table = tables_of(text, &names.tables)
                .into_iter()
                .find(|(table, alias)| alias.as_ref().unwrap_or(table) == &folded || table == &folded);
            let table = table.map_or(folded, |(table, _)| table);
            let columns = names.columns(&runner, &table);
            let fitting = columns.iter().filter(|name| fits(name, rest));
            return fitting.map(|name| format!("{qualifier}.{}", spelled(name, word))).collect();
        }
        let those = |all: &[&[String]]| -> Vec<String> {
            let all = all.iter().flat_map(|names| names.iter());
            all.filter(|name| fits(name, word)).map(|name| spelled(name, word)).collect()
        };
        let before = &text[..start];
        // Procedures can be selected from.
        if before.trim_start().starts_with('\\') || follows(before, &["FROM", "JOIN"]) {
            return those(&[&names.tables, &names.procedures]);
        }
        if follows(before, &["PROCEDURE"]) {
            return those(&[&names.procedures]);
        }
        if follows(before, &["INTO", "UPDATE", "TABLE", "VIEW"]) {
            return those(&[&names.tables]);
        }
        let mut found = Vec::new();
        for (table, _) in tables_of(text, &names.tables) {
            let columns = names.columns(&runner, &table);
            found.extend(columns.iter().filter(|name| fits(name, word)).map(|name| spelled(name, word)));
        }
        found.sort();
        found.dedup();
        // Without a letter, everything would be listed.
        if !word.is_empty() {
            found.extend(keywords(word));
            found.extend(those(&[&names.tables, &names.procedures]));
        }
        found
    }

    /// Asks the catalog if that is needed.
    fn load(&self, runner: &Runner) {
        let mut names = self.names.borrow_mut();
        let is_fresh =
            |names: &Names| names.since.elapsed() < FRESH && names.definitions == runner.definitions();
        if names.as_ref().is_some_and(is_fresh) {
            return;
        }
        // A call that has to be cancelled may cost the connection, and the changes with it.
        if runner.uncommitted().is_some() {
            return;
        }
        // Without an answer, keywords are still completed, and nobody waits for the next one for a while.
        let patience = CancelToken::after(PATIENCE);
        let tables = patience.run(|| runner.connection.catalog()?.tables(Name::Any));
        let procedures = patience.run(|| runner.connection.catalog()?.procedures(Name::Any));
        let tables = tables.unwrap_or_default().into_iter().map(|table| table.name);
        let mut tables: Vec<String> = tables.collect();
        tables.sort();
        let procedures = procedures.unwrap_or_default().into_iter().filter(|each| each.package.is_none());
        let procedures = procedures.map(|each| each.name).collect();
        let (since, definitions) = (Instant::now(), runner.definitions());
        *names = Some(Names { tables, procedures, columns: HashMap::new(), since, definitions });
    }
}

impl Names {
    fn columns(&mut self, runner: &Runner, table: &str) -> &[String] {
        if !self.columns.contains_key(table) && runner.uncommitted().is_some() {
            return &[];
        }
        self.columns.entry(table.to_owned()).or_insert_with(|| {
            let ask = || runner.connection.catalog()?.columns(Name::Is(table), Name::Any);
            let columns = CancelToken::after(PATIENCE).run(ask).unwrap_or_default();
            columns.into_iter().map(|column| column.name).collect()
        })
    }
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

fn keywords(word: &str) -> Vec<String> {
    let fitting = KEYWORDS.iter().filter(|keyword| fits(keyword, word));
    let is_lower = word.chars().any(char::is_lowercase);
    fitting
        .map(|keyword| if is_lower { keyword.to_ascii_lowercase() } else { (*keyword).to_owned() })
        .collect()
}

/// Whether one of these words comes last.
fn follows(before: &str, words: &[&str]) -> bool {
    tokens(before).last().is_some_and(|last| words.iter().any(|word| last.is_word(word)))
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
        let alias = next.and_then(name).filter(|alias| !KEYWORDS.contains(&alias.as_str()));
        tables.push((table, alias));
    }
    tables
}

/// The words of SQL that are entered most.
const KEYWORDS: [&str; 162] = [
    "ACTIVE",
    "ADD",
    "AFTER",
    "ALL",
    "ALTER",
    "ALWAYS",
    "AND",
    "AS",
    "ASC",
    "AUTONOMOUS",
    "AVG",
    "BEFORE",
    "BEGIN",
    "BETWEEN",
    "BIGINT",
    "BLOB",
    "BLOCK",
    "BODY",
    "BOOLEAN",
    "BY",
    "CASCADE",
    "CASE",
    "CAST",
    "CHAR",
    "CHARACTER",
    "CHECK",
    "COALESCE",
    "COLLATE",
    "COLUMN",
    "COMMENT",
    "COMMIT",
    "COMPUTED",
    "CONSTRAINT",
    "COUNT",
    "CREATE",
    "CROSS",
    "CURRENT_DATE",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "CURSOR",
    "DATE",
    "DECFLOAT",
    "DECIMAL",
    "DECLARE",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DESCENDING",
    "DISTINCT",
    "DO",
    "DOMAIN",
    "DOUBLE",
    "DROP",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPTION",
    "EXECUTE",
    "EXISTS",
    "EXTRACT",
    "FETCH",
    "FIRST",
    "FLOAT",
    "FOR",
    "FOREIGN",
    "FROM",
    "FULL",
    "FUNCTION",
    "GENERATED",
    "GENERATOR",
    "GRANT",
    "GROUP",
    "HAVING",
    "IDENTITY",
    "IF",
    "IN",
    "INACTIVE",
    "INDEX",
    "INNER",
    "INSERT",
    "INT128",
    "INTEGER",
    "INTO",
    "IS",
    "ISOLATION",
    "JOIN",
    "KEY",
    "LEFT",
    "LEVEL",
    "LIKE",
    "LIST",
    "LOCK",
    "MATCHING",
    "MAX",
    "MERGE",
    "MIN",
    "NEXT",
    "NOT",
    "NULL",
    "NUMERIC",
    "OF",
    "OFFSET",
    "ON",
    "ONLY",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PACKAGE",
    "PARTITION",
    "PLAN",
    "POSITION",
    "PRECISION",
    "PRIMARY",
    "PROCEDURE",
    "READ",
    "RECREATE",
    "REFERENCES",
    "RETURNING",
    "RETURNS",
    "REVOKE",
    "RIGHT",
    "ROLE",
    "ROLLBACK",
    "ROWS",
    "SAVEPOINT",
    "SELECT",
    "SEQUENCE",
    "SET",
    "SHOW",
    "SIMILAR",
    "SKIP",
    "SMALLINT",
    "SNAPSHOT",
    "STARTING",
    "SUBSTRING",
    "SUM",
    "SUSPEND",
    "TABLE",
    "THEN",
    "TIME",
    "TIMESTAMP",
    "TO",
    "TRANSACTION",
    "TRIGGER",
    "TRIM",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "UPPER",
    "USER",
    "USING",
    "VALUE",
    "VALUES",
    "VARCHAR",
    "VIEW",
    "WHEN",
    "WHERE",
    "WHILE",
    "WITH",
    "WORK",
    "ZONE",
];

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
        assert_eq!(keywords("sel"), ["select"]);
        assert_eq!(keywords("SUSP"), ["SUSPEND"]);
    }

    #[test]
    fn tables_are_found_with_their_aliases() {
        let known = ["A b".to_owned(), "EMPLOYEE".to_owned(), "SALES".to_owned()];
        let found = tables_of("SELECT  FROM employee e JOIN \"A b\" AS x ON 1 = 1, sales WHERE", &known);
        let expected = [("EMPLOYEE", Some("E")), ("A b", Some("X")), ("SALES", None)];
        let expected = expected.map(|(table, alias)| (table.to_owned(), alias.map(str::to_owned)));
        assert_eq!(found, expected);
        assert!(follows("SELECT * from ", &["FROM"]) && !follows("SELECT * FROM t WHERE ", &["FROM"]));
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }
}
