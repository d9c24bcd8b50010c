//! How arguments of the catalog functions select objects by name.

use super::{Error, Result, Scope};
use firearrow::catalog::{Catalog, Name, Table};

/// `SQL_SEARCH_PATTERN_ESCAPE`
const ESCAPE: char = '\\';

impl Scope<'_> {
    /// Whether anything can be in this catalog and schema: both are nameless.
    pub(super) fn has(&self, catalog: Option<&str>, schema: Option<&str>) -> Result<bool> {
        if self.identifiers && schema.is_none() {
            return Err(Error::null("the name of the schema"));
        }
        Ok(self.is_nameless(catalog) && self.is_nameless(schema))
    }

    fn is_nameless(&self, argument: Option<&str>) -> bool {
        argument.is_none_or(|text| match self.identifiers {
            true => identifier(text).is_empty(),
            false => text.bytes().all(|byte| byte == b'%'),
        })
    }
}

/// The names that a pattern argument selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    All,
    One(String),
    Matching(Pattern),
}

impl Selection {
    /// `argument` is called `called` if it is NULL in identifier mode.
    pub(super) fn new(scope: &Scope<'_>, argument: Option<&str>, called: &str) -> Result<Self> {
        match argument {
            None if scope.identifiers => Err(Error::null(called)),
            None => Ok(Self::All),
            Some(text) if scope.identifiers => Ok(Self::One(identifier(text))),
            Some(text) => Ok(Self::of_pattern(text)),
        }
    }

    pub(super) fn of_pattern(text: &str) -> Self {
        let pattern = Pattern::new(text);
        match pattern.literal() {
            Some(name) => Self::One(without_blanks(&name)),
            None => Self::Matching(pattern),
        }
    }

    /// The names to ask the catalog for: all selected ones, and perhaps more.
    pub(super) fn query(&self) -> Query {
        match self {
            Self::All => Query::All,
            Self::One(name) => Query::One(name.clone()),
            Self::Matching(pattern) => Query::Like(pattern.query()),
        }
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::One(wanted) => wanted == name,
            Self::Matching(pattern) => pattern.matches(name),
        }
    }
}

/// A [`Name`] that owns its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Query {
    All,
    One(String),
    Like(String),
}

impl Query {
    pub(super) fn name(&self) -> Name<'_> {
        match self {
            Self::All => Name::Any,
            Self::One(name) => Name::Is(name),
            Self::Like(pattern) => Name::Like(pattern),
        }
    }
}

/// A search pattern: `%` stands for any text, `_` for any character, and `\` makes them and itself literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Token>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    AnyText,
    AnyCharacter,
    Character(char),
}

impl Pattern {
    fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '%' => Token::AnyText,
                '_' => Token::AnyCharacter,
                // Before other characters it is one like them.
                ESCAPE => {
                    let escaped = characters.next_if(|next| matches!(*next, '%' | '_' | ESCAPE));
                    Token::Character(escaped.unwrap_or(ESCAPE))
                }
                other => Token::Character(other),
            });
        }
        Self(tokens)
    }

    /// The only name that matches, if nothing in the pattern stands for something else.
    fn literal(&self) -> Option<String> {
        let character = |token: &Token| match token {
            Token::Character(character) => Some(*character),
            _ => None,
        };
        self.0.iter().map(character).collect()
    }

    /// As a pattern without escapes, which may match more.
    fn query(&self) -> String {
        let character = |token: &Token| match token {
            Token::AnyText => '%',
            Token::AnyCharacter => '_',
            Token::Character(character) => wildcard_for(*character),
        };
        self.0.iter().map(character).collect()
    }

    /// Takes time proportional to the product of both lengths at most.
    fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut token, mut at) = (0, 0);
        // Where to go on when the text for the last `%` turns out to be too short.
        let mut retry = None;
        loop {
            match self.0.get(token) {
                Some(Token::AnyText) => {
                    token += 1;
                    retry = Some((token, at));
                    continue;
                }
                Some(Token::AnyCharacter) if at < name.len() => {
                    (token, at) = (token + 1, at + 1);
                    continue;
                }
                Some(Token::Character(wanted)) if name.get(at) == Some(wanted) => {
                    (token, at) = (token + 1, at + 1);
                    continue;
                }
                None if at == name.len() => return true,
                _ => {}
            }
            match retry {
                Some((after, from)) if from < name.len() => {
                    retry = Some((after, from + 1));
                    (token, at) = (after, from + 1);
                }
                _ => return false,
            }
        }
    }
}

/// The character itself, or one that also stands for it where nothing can be escaped.
pub(super) fn wildcard_for(character: char) -> char {
    if character == '%' { '_' } else { character }
}

/// An argument that is no pattern and names one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    name: String,
    /// In upper case, for when there is no such table.
    folded: Option<String>,
}

impl Literal {
    pub(super) fn new(scope: &Scope<'_>, argument: Option<&str>, called: &str) -> Result<Self> {
        let text = argument.ok_or_else(|| Error::null(called))?;
        if scope.identifiers {
            return Ok(Self { name: identifier(text), folded: None });
        }
        let name = without_blanks(text);
        let folded = name.to_ascii_uppercase();
        Ok(Self { folded: (folded != name).then_some(folded), name })
    }

    /// The table with this name, or else with its upper-case form.
    pub(super) fn table(&self, catalog: &Catalog) -> Result<Option<Table>> {
        let find = |name: &str| catalog.tables(Name::Is(name)).map(|mut tables| tables.pop());
        match (find(&self.name)?, &self.folded) {
            (None, Some(folded)) => Ok(find(folded)?),
            (found, _) => Ok(found),
        }
    }

    /// The name of that table. Asks the engine only if there are two candidates.
    pub(super) fn table_name(&self, catalog: &Catalog) -> Result<String> {
        match &self.folded {
            Some(folded) => Ok(self.table(catalog)?.map_or_else(|| folded.clone(), |table| table.name)),
            None => Ok(self.name.clone()),
        }
    }
}

/// The name that an identifier stands for. Like the engine, folds nothing but ASCII.
fn identifier(text: &str) -> String {
    let text = text.trim_matches(' ');
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => without_blanks(&quoted.replace("\"\"", "\"")),
        None => text.to_ascii_uppercase(),
    }
}

/// Trailing blanks are no part of a name.
fn without_blanks(name: &str) -> String {
    name.trim_end_matches(' ').to_owned()
}
